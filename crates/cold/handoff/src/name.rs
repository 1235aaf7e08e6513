//! The names that sections of a handoff have, and the file of each.

use work::contexts::{DEAD_ENDS, PENDING};

/// A section that has a place of its own. Others are kept under the name that they came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// In the index, above everything.
    Summary,
    CompletedWork,
    Decisions,
    DeadEnds,
    Pending,
    Context,
    Plan,
    /// The whole conversation, which only those have who ask for it.
    Thread,
}

/// What names are compared by, what a person calls the section, and its file.
const NAMES: [(Name, &str, &str); 8] = [
    (Name::Summary, "summary", "index.md"),
    (Name::CompletedWork, "completed work", "completed-work.md"),
    (Name::Decisions, "decisions", "decisions.md"),
    (Name::DeadEnds, DEAD_ENDS, "dead-ends.md"),
    (Name::Pending, PENDING, "pending.md"),
    (Name::Context, "context", "context.md"),
    (Name::Plan, "plan", "plan.md"),
    (Name::Thread, "thread", "thread.md"),
];

/// Other words for a section: those of aiwcli, and those that come to mind.
const ALIASES: [(&str, Name); 15] = [
    ("completed", Name::CompletedWork),
    ("done", Name::CompletedWork),
    ("files", Name::CompletedWork),
    ("decision", Name::Decisions),
    ("dead end", Name::DeadEnds),
    ("deadends", Name::DeadEnds),
    ("failed approaches", Name::DeadEnds),
    ("pending work", Name::Pending),
    ("pending items", Name::Pending),
    ("next steps", Name::Pending),
    ("next", Name::Pending),
    ("open", Name::Pending),
    ("context notes", Name::Context),
    ("notes", Name::Context),
    ("goal", Name::Summary),
];

impl Name {
    /// The sections of a handoff that a session is asked for, in the order of the folder.
    pub const ASKED: [Self; 6] =
        [Self::CompletedWork, Self::Decisions, Self::DeadEnds, Self::Pending, Self::Context, Self::Plan];

    /// Returns the section that a heading names, in any case, with blanks, `-` or `_` between its words, and with a number or a
    /// sign around them.
    pub fn of(heading: &str) -> Option<Self> {
        Self::read(heading).map(|(name, _)| name)
    }

    /// Returns the section that a heading names, and whether it does so in words that name little else.
    pub(crate) fn read(heading: &str) -> Option<(Self, bool)> {
        let plain = heading.to_lowercase().replace(['-', '_'], " ");
        let plain = plain.trim_matches(|c: char| !c.is_alphabetic());
        let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        let own = NAMES.iter().find(|(_, label, _)| *label == plain).map(|(name, ..)| (*name, true));
        let alias = || ALIASES.iter().find(|(alias, _)| *alias == plain);
        // One word is as likely a part of another section: `### Files`.
        own.or_else(|| alias().map(|(alias, name)| (*name, alias.contains(' '))))
    }

    /// Returns what a person calls it.
    pub fn label(self) -> &'static str {
        self.row().1
    }

    /// Returns the name of its file.
    pub fn file(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> &'static (Self, &'static str, &'static str) {
        // Every name has a row, in this order.
        &NAMES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_24_names_are_known_in_any_case_and_spelling() {
        for heading in ["Dead ends", "DEAD-ENDS", "dead_ends", "  Dead  Ends: ", "Failed approaches"] {
            assert_eq!(Name::of(heading), Some(Name::DeadEnds), "{heading}");
        }
        assert_eq!(Name::of("Next steps"), Some(Name::Pending));
        assert_eq!(Name::of("files"), Some(Name::CompletedWork));
        assert_eq!(Name::of("Risks"), None);
        assert_eq!(Name::of(""), None);
    }

    #[test]
    fn every_name_has_its_own_row() {
        for (name, label, file) in NAMES {
            assert_eq!((name.label(), name.file()), (label, file));
            assert_eq!(Name::of(label), Some(name));
        }
    }
}
