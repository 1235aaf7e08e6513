//! The lessons: none is left out because it cannot be read or is over a limit.

use super::{Check, Subject};
use crate::terminal::counted;
use lessons_admin::catalogue::{Catalogue, Places};
use text::sanitize;

const NAME: &str = "lessons";

/// How much of a file's name and of a reason is shown, in characters.
const SHOWN_CHARS: usize = 120;

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let Ok(cwd) = std::env::current_dir() else {
        return Check::good(NAME, "the current folder no longer exists; nothing to check");
    };
    let places = Places { paths: subject.paths.clone(), cwd, env: subject.env.clone() };
    let catalogue = Catalogue::read(&places);
    let count = counted(catalogue.in_use().count(), "lesson", "lessons");
    let Some((layer, file, flaw)) = catalogue.flaws.first() else {
        return Check::good(NAME, format!("{count}, none left out"));
    };
    let shown = |text: &str| sanitize::one_line(text, SHOWN_CHARS);
    let file = shown(&file.file_name().unwrap_or_default().to_string_lossy());
    let more = match catalogue.flaws.len() {
        1 => String::new(),
        all => format!(" (and {} more)", all - 1),
    };
    let (layer, field, reason) = (layer.name(), shown(&flaw.field), shown(&flaw.reason));
    let message = format!("{count}; left out: {file} ({layer}), {field}: {reason}{more}");
    Check::odd(NAME, message, "wyren lessons doctor")
}
