//! `.wyren/log`: what happened to the team's memory in this clone, as the Node version writes it.
//!
//! The one before it is below `state/`, which is never shared: only the log itself is ignored by name.

use crate::state_folder;
use base::{Timestamp, files};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use text::{redact, sanitize};

/// The size at which the log is rotated; one older file is kept.
pub const MAX_BYTES: u64 = 1024 * 1024;

/// The longest message, in characters.
const MAX_CHARS: usize = 2_000;

/// The tag of what happens at a prompt.
pub const PROMPT_TAG: &str = "ups";

/// Returns the log of a `.wyren/` folder.
pub fn file(wyren: &Path) -> PathBuf {
    wyren.join("log")
}

/// Returns the log that was rotated last.
pub fn rotated(wyren: &Path) -> PathBuf {
    state_folder(wyren).join("log.1")
}

/// Appends `[<time>] [tag] message`; an empty tag is left out.
pub fn append(wyren: &Path, now: Timestamp, tag: &str, message: &str) -> io::Result<()> {
    let message = sanitize::one_line(&redact::redact(message), MAX_CHARS);
    let tag = if tag.is_empty() { String::new() } else { format!("[{tag}] ") };
    let path = file(wyren);
    let mut log = files::open_append_here(&path)?;
    // Two that rotate at once lose the older file at worst, never the line.
    if log.metadata()?.len() >= MAX_BYTES && rotate(wyren).is_ok() {
        log = files::open_append_here(&path)?;
    }
    log.write_all(format!("[{now}] {tag}{message}\n").as_bytes())
}

fn rotate(wyren: &Path) -> io::Result<()> {
    files::create_private_folder(&state_folder(wyren))?;
    fs::rename(file(wyren), rotated(wyren))
}

/// Appends the line that tells `wyren status` and `wyren log` of a text given to a session at `event`.
pub fn injection(wyren: &Path, tag: &str, event: &str) -> io::Result<()> {
    append(wyren, Timestamp::now(), tag, &format!("injection: {event}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_look_like_the_node_systems() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp::from_millis(1_794_796_001_123);
        append(folder.path(), now, "", "injection: session-start").unwrap();
        append(folder.path(), now, PROMPT_TAG, "injection: user-prompt-submit\nsecond").unwrap();
        assert_eq!(
            fs::read_to_string(file(folder.path())).unwrap(),
            format!("[{now}] injection: session-start\n[{now}] [ups] injection: user-prompt-submit second\n")
        );
        assert!(now.to_string().ends_with(".123Z"));
    }

    #[cfg(unix)]
    #[test]
    fn a_log_that_is_a_link_gets_no_line() {
        let folder = tempfile::tempdir().unwrap();
        let (wyren, config) = (folder.path().join(".wyren"), folder.path().join("config"));
        fs::create_dir(&wyren).unwrap();
        fs::write(&config, "[core]\n").unwrap();
        std::os::unix::fs::symlink("../config", file(&wyren)).unwrap();
        assert!(append(&wyren, Timestamp::now(), "", "x").is_err());
        assert_eq!(fs::read_to_string(&config).unwrap(), "[core]\n");
    }

    #[test]
    fn the_log_rotates_at_a_fixed_size() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(file(folder.path()), vec![b'x'; usize::try_from(MAX_BYTES).unwrap()]).unwrap();
        append(folder.path(), Timestamp::now(), "", "new").unwrap();
        assert_eq!(fs::metadata(rotated(folder.path())).unwrap().len(), MAX_BYTES);
        assert!(fs::metadata(file(folder.path())).unwrap().len() < 100);
    }
}
