//! Which prompts hooks left out, and why. The client's transcripts have them all the same: what reads a transcript later leaves
//! out the same prompts, and what was done under them, though the rule that held then is long gone: a pause that ended, recording
//! switched off for one session, a private prompt that another session went on under.
//!
//! One line per prompt: a digest of the client's id of it, and a letter. There is no text in it.

use base::{digest, files};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

/// The name of the file, in the folder of the spool.
const NAME: &str = ".unrecorded";
/// How much of the file's end counts: the prompts of many years.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Why a prompt is not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is wholly private.
    Private,
    /// Its folder is excluded, or recording is paused there.
    Project,
    /// Recording is off.
    Off,
}

impl Why {
    fn letter(self) -> &'static str {
        match self {
            Self::Private => "p",
            Self::Project => "e",
            Self::Off => "o",
        }
    }

    fn of(letter: &str) -> Option<Self> {
        [Self::Private, Self::Project, Self::Off].into_iter().find(|why| why.letter() == letter)
    }
}

/// The prompts that hooks left out, by their digests, which are sorted. Hooks have none: they read no transcript.
#[derive(Clone, Default)]
pub struct Unrecorded(Option<Arc<[(u64, Why)]>>);

impl Unrecorded {
    /// Reads the notes in the folder of the spool; a file that cannot be read has none.
    pub(crate) fn read(spool: &Path) -> Self {
        let bytes = files::read_end(&file(spool), MAX_BYTES).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let notes = text.lines().filter_map(|line| line.split_once(' '));
        let notes = notes.filter_map(|(digest, letter)| Some((number(digest)?, Why::of(letter)?)));
        let mut notes: Vec<(u64, Why)> = notes.collect();
        // The last that was noted of a prompt counts.
        notes.reverse();
        notes.sort_by_key(|(digest, _)| *digest);
        notes.dedup_by_key(|(digest, _)| *digest);
        Self(Some(notes.into()))
    }

    /// Returns why the prompt with the client's id was left out; `None` where it was not, or has no id.
    pub fn why(&self, prompt_id: Option<&str>) -> Option<Why> {
        let notes = self.0.as_deref().filter(|notes| !notes.is_empty())?;
        let digest = number(&name(prompt_id.filter(|id| !id.is_empty())?))?;
        let at = notes.binary_search_by_key(&digest, |(digest, _)| *digest).ok()?;
        notes.get(at).map(|(_, why)| *why)
    }
}

/// Says how many there are: which they are tells no one anything.
impl fmt::Debug for Unrecorded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Unrecorded({})", self.0.as_deref().map_or(0, <[_]>::len))
    }
}

/// Notes that a prompt is left out.
pub(crate) fn note(spool: &Path, prompt_id: &str, why: Why) -> (PathBuf, io::Result<()>) {
    let file = file(spool);
    let noted = files::open_append(&file).and_then(|mut open| {
        // As in the spool, a writer that was killed spoils no line but its own.
        io::Write::write_all(&mut open, format!("\n{} {}\n", name(prompt_id), why.letter()).as_bytes())
    });
    (file, noted)
}

fn file(spool: &Path) -> PathBuf {
    spool.join(NAME)
}

/// Returns the number that a digest of 16 hexadecimal digits is.
fn number(digest: &str) -> Option<u64> {
    u64::from_str_radix(digest, 16).ok().filter(|_| digest.len() == 16)
}

fn name(prompt_id: &str) -> String {
    digest::short_hex(prompt_id.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_was_left_out_is_known_by_its_id_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Unrecorded::read(folder.path()).why(Some("a")), None);
        for (id, why) in [("a", Why::Off), ("b", Why::Project), ("a", Why::Private)] {
            note(folder.path(), id, why).1.unwrap();
        }
        let text = std::fs::read_to_string(file(folder.path())).unwrap();
        assert!(text.lines().all(|line| [0, 18].contains(&line.len())), "{text}");
        let read = Unrecorded::read(folder.path());
        assert_eq!([Some("a"), Some("b")].map(|id| read.why(id)), [Some(Why::Private), Some(Why::Project)]);
        assert_eq!([Some("c"), Some(""), None].map(|id| read.why(id)), [None; 3]);
    }

    #[test]
    fn what_a_killed_writer_left_hides_no_other_line() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(file(folder.path()), "nonsense x\nabc p\n0123456789").unwrap();
        note(folder.path(), "a", Why::Private).1.unwrap();
        assert_eq!(Unrecorded::read(folder.path()).why(Some("a")), Some(Why::Private));
    }
}
