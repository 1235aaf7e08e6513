//! The sections that `memory.md` is known to have, their order, and what counts as the same section.

/// Notes that one session leaves to the next, newest first, at the top of the file.
pub const HANDOFF: &str = "Handoff notes";
/// What was decided.
pub const DECISIONS: &str = "Decisions";
/// What was tried or considered and is not to be tried again.
pub const REJECTED: &str = "Rejected paths";
/// What looks wrong and is intentional.
pub const WORKAROUNDS: &str = "Live workarounds";
/// What is broken and left so for now.
pub const BROKEN: &str = "Known broken state";
/// What came into scope or left it.
pub const SCOPE: &str = "Scope changes";
/// Questions without an answer.
pub const QUESTIONS: &str = "Open questions";
/// The text of CLAUDE.md on the day of `wyren init`.
pub const SEEDED: &str = "Seeded from CLAUDE.md";

/// The known sections in the order of the file.
pub const ORDER: [&str; 8] = [HANDOFF, DECISIONS, REJECTED, WORKAROUNDS, BROKEN, SCOPE, QUESTIONS, SEEDED];

/// The sections of entries, the most load-bearing first: the order in which they are shown when not all of them fit.
pub const LOAD_BEARING: [&str; 7] = [HANDOFF, DECISIONS, WORKAROUNDS, BROKEN, REJECTED, SCOPE, QUESTIONS];

/// Returns what two spellings of one section's name have in common.
pub(crate) fn key(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    for word in name.split_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        key.extend(word.chars().flat_map(char::to_lowercase));
    }
    key
}

/// Returns the place of the section in `ORDER`, when it is a known one.
pub(crate) fn rank(name: &str) -> Option<usize> {
    let key = key(name);
    ORDER.iter().position(|known| known.to_lowercase() == key)
}

/// Returns whether the section is a set of entries. Any other one is free text, whose lines have an order.
pub(crate) fn is_of_entries(name: &str) -> bool {
    rank(name).is_some_and(|rank| ORDER[rank] != SEEDED)
}

/// Returns whether new entries go to the top of the section.
pub(crate) fn is_newest_first(name: &str) -> bool {
    key(name) == key(HANDOFF)
}
