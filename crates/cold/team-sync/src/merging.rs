//! How shared files are merged, what of them is published, and what cannot be meant.

use crate::repository::{ByLine, Merge};
use crate::secrets::{self, Filtered, HeldBack};
use memory::Memory;
use place::MEMORY;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// From this many entries on, a memory that says nothing any more was emptied by accident.
const SEVERAL: usize = 2;

/// Merges memory.md by entry and other files by line, and notes what it kept back and what it passed over.
#[derive(Debug, Default)]
pub struct Merging {
    held_back: RefCell<BTreeMap<String, Vec<HeldBack>>>,
    accidents: RefCell<BTreeSet<String>>,
}

impl Merging {
    /// Returns what was kept back so far, by file and line.
    pub fn held_back(&self) -> Vec<HeldBack> {
        self.held_back.borrow().values().flatten().cloned().collect()
    }

    /// Returns the files that a teammate emptied, removed or broke, and that stayed as they were.
    pub fn accidents(&self) -> Vec<String> {
        self.accidents.borrow().iter().cloned().collect()
    }
}

impl Merge for Merging {
    fn merge(
        &self,
        path: &str,
        base: Option<&[u8]>,
        ours: Option<&[u8]>,
        theirs: Option<&[u8]>,
    ) -> Option<Vec<u8>> {
        let (Some(our_bytes), Some(their_bytes)) = (ours, theirs) else {
            return ours.or(theirs).map(<[u8]>::to_vec);
        };
        let texts = (std::str::from_utf8(our_bytes), std::str::from_utf8(their_bytes));
        let (ours, theirs) = match texts {
            (Ok(ours), Ok(theirs)) => (ours, theirs),
            // What is no text has no lines that could be merged; what is text wins over what is none.
            (Err(_), Ok(_)) => return Some(their_bytes.to_vec()),
            (_, Err(_)) => return Some(our_bytes.to_vec()),
        };
        if path != MEMORY {
            return ByLine.merge(path, base, Some(our_bytes), Some(their_bytes));
        }
        let base = base.and_then(|base| std::str::from_utf8(base).ok()).unwrap_or_default();
        let merged = memory::merge(&Memory::parse(base), &Memory::parse(ours), &Memory::parse(theirs));
        Some(merged.memory.render().into_bytes())
    }

    fn published<'a>(&self, path: &str, contents: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        let mut held_back = self.held_back.borrow_mut();
        let (published, held) = match std::str::from_utf8(contents) {
            Ok(text) => {
                let filtered = Filtered::of(text);
                let published = match filtered.published() {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                };
                (Some(published), filtered.held_back(path))
            }
            Err(_) => match secrets::held_back_whole(path, contents) {
                Some(held) => (None, vec![held]),
                None => (Some(Cow::Borrowed(contents)), Vec::new()),
            },
        };
        if held.is_empty() {
            held_back.remove(path);
        } else {
            held_back.insert(path.to_owned(), held);
        }
        published
    }

    fn restored(&self, path: &str, local: &[u8], merged: Vec<u8>) -> Vec<u8> {
        let (Ok(text), Ok(merged_text)) = (std::str::from_utf8(local), std::str::from_utf8(&merged)) else {
            return if secrets::held_back_whole(path, local).is_some() { local.to_vec() } else { merged };
        };
        let filtered = Filtered::of(text);
        let published = filtered.published();
        if published == text {
            return merged;
        }
        match filtered.restored(merged_text) {
            Some(restored) => restored.into_bytes(),
            None => {
                self.merge(path, Some(published.as_bytes()), Some(local), Some(&merged)).unwrap_or(merged)
            }
        }
    }

    fn is_accident(&self, path: &str, base: &[u8], side: Option<&[u8]>) -> bool {
        let Some(base) = std::str::from_utf8(base).ok().filter(|_| path == MEMORY) else { return false };
        let is_accident = match side.map(std::str::from_utf8) {
            Some(Ok(side)) => is_emptied(&Memory::parse(base), &Memory::parse(side)),
            // Removed, or no text.
            _ => !base.trim().is_empty(),
        };
        if is_accident {
            self.accidents.borrow_mut().insert(path.to_owned());
        }
        is_accident
    }
}

/// Returns whether a memory that said several things says nothing any more. That is an accident: the last entry goes
/// one day, but not all of them at once.
pub(crate) fn is_emptied(before: &Memory, after: &Memory) -> bool {
    let is_nothing = || after.render().trim().is_empty() && !before.is_blank();
    after.is_blank() && (before.entries().count() >= SEVERAL || is_nothing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emptied_memory_is_an_accident_and_a_last_entry_is_not() {
        let merging = Merging::default();
        let check = |base: &str, side: Option<&str>, expected: bool| {
            let side = side.map(str::as_bytes);
            assert_eq!(merging.is_accident(MEMORY, base.as_bytes(), side), expected, "{base:?} {side:?}");
        };
        let one = "# Wyren Memory\n\n## Decisions\n\n- one\n";
        let two = "# Wyren Memory\n\n## Decisions\n\n- one\n- two\n";
        check(two, Some("# Wyren Memory\n"), true);
        check(one, Some("# Wyren Memory\n"), false);
        check(one, Some("\n"), true);
        check(one, None, true);
        check(two, Some(one), false);
        check("", None, false);
        assert!(merging.is_accident(MEMORY, one.as_bytes(), Some(b"\xff\xfe")));
        assert!(!merging.is_accident("broadcast/x", b"x\n", None));
        assert_eq!(merging.accidents(), [MEMORY]);
    }
}
