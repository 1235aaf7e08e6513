//! The lessons: none is left out because it cannot be read or is over a limit.

use super::{Check, Repair, Subject};
use crate::terminal::counted;
use base::files;
use lessons::index::Index;
use lessons_admin::catalogue::{Catalogue, Places};
use std::path::PathBuf;
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
    let damaged = damaged(subject);
    if let Some(first) = damaged.first() {
        let message = format!(
            "the index {} is damaged; a hook that needs it is slow until it is made again",
            first.display()
        );
        let repair = Repair::new("remove it, so that the next hook makes it again", move || {
            damaged.iter().try_for_each(|file| Ok(files::remove_if_there(file).map(drop)?))
        });
        return Check::odd(NAME, message, "wyren doctor --fix").with(repair);
    }
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

/// Returns the files of indexes that cannot be read.
fn damaged(subject: &Subject<'_>) -> Vec<PathBuf> {
    let cached = files::files_in(&subject.paths.cache().join("lessons"));
    let indexes = cached.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "idx"));
    let is_sound = |file: &PathBuf| {
        let index = files::read_capped(file, MAX_INDEX).ok().and_then(|bytes| Index::new(bytes).ok());
        index.is_some_and(|index| {
            let count = u32::try_from(index.len()).unwrap_or(u32::MAX);
            (0..count).all(|number| index.entry(number).is_ok())
        })
    };
    indexes.filter(|file| !is_sound(file)).collect()
}

/// The most bytes of an index that are read: far above that of 10,000 lessons.
const MAX_INDEX: usize = 256 * 1024 * 1024;
