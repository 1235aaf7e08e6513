//! An entry taken apart for those who read it: what it says, who wrote it, and when.
//!
//! A handoff note has its moment in front and, left outside a session, its author alone behind it:
//! `[2026-11-16T09:11:32Z] Checkout is next [by Ada]`. Both belong to the text by which entries are compared, but not to
//! what a person or a model reads.

use std::borrow::Cow;

use crate::memory::Entry;
use crate::provenance;

/// What an entry says, without the moment and the name of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note<'a> {
    pub text: Cow<'a, str>,
    /// Who the entry says wrote it.
    pub author: Option<String>,
    /// The moment that a note begins with, in RFC 3339.
    pub stamp: Option<String>,
}

impl Entry {
    /// Takes the entry apart. Without a moment in front, brackets at the end that are no tag are text.
    pub fn note(&self) -> Note<'_> {
        let (text, author) = (self.text(), self.provenance().author);
        let Some(stamp) = provenance::leading_stamp(&text).map(str::to_owned) else {
            return Note { text, author, stamp: None };
        };
        // The stamp and its brackets.
        let from = text.len() - text[stamp.len() + 2..].trim_start().len();
        let signature = provenance::signature(&text[from..]);
        let (to, signed) = match signature {
            Some((before, author)) => (from + before.len(), Some(author)),
            None => (text.len(), None),
        };
        let text = match text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[from..to]),
            Cow::Owned(text) => Cow::Owned(text[from..to].to_owned()),
        };
        Note { text, author: author.or(signed), stamp: Some(stamp) }
    }
}

#[cfg(test)]
mod tests {
    use crate::Memory;

    #[test]
    fn review_24_a_note_is_taken_apart_in_one_way() {
        for (entry, text, author, stamp) in [
            ("[2026-11-16T09:11:32.758Z] Cart is next [by Ada]", "Cart is next", Some("Ada"), true),
            ("[2026-11-16T09:11:32Z] Cart [session 21484d94, by Ada]", "Cart", Some("Ada"), true),
            ("[2026-11-16T09:11:32Z] Cart [by Ada, 2026-11-16]", "Cart", Some("Ada"), true),
            ("[2026-11-16T09:11:32Z] First.\n\n  Second. [by Ada]", "First.\n\n  Second.", Some("Ada"), true),
            (
                "[2026-11-16T09:11:32Z] Run\n  ```\n  x\n  ```\n  [by Ada]",
                "Run\n  ```\n  x\n  ```",
                Some("Ada"),
                true,
            ),
            ("[2026-11-16T09:11:32Z] [by Ada]", "[by Ada]", None, true),
            ("[2026-11-16T09:11:32Z] see [1]", "see [1]", None, true),
            ("Use tabs [by Ada, 2026-11-16]", "Use tabs", Some("Ada"), false),
            ("slow [by design]", "slow [by design]", None, false),
            ("[x] done [by Ada]", "[x] done [by Ada]", None, false),
        ] {
            let memory = Memory::parse(&format!("## Handoff notes\n- {entry}\n"));
            let (_, entry) = memory.entries().next().unwrap();
            let note = entry.note();
            assert_eq!(
                (&*note.text, note.author.as_deref(), note.stamp.is_some()),
                (text, author, stamp),
                "{entry:?}"
            );
        }
    }
}
