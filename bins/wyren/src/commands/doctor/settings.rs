//! The settings: no unknown names or invalid values in the files.

use super::{Check, Subject};
use config::Config;

const NAME: &str = "settings";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let config = Config::load(subject.env, subject.paths);
    let Some(complaint) = config.complaints().first() else {
        return Check::good(NAME, "all settings are valid");
    };
    let more = match config.complaints().len() {
        1 => String::new(),
        all => format!(" (and {} more)", all - 1),
    };
    let name = if complaint.name.is_empty() { "the file" } else { &complaint.name };
    let message = format!("ignored: {name} in {}: {}{more}", complaint.file.display(), complaint.reason);
    Check::odd(NAME, message, "wyren config list")
}
