//! What a person can attach to a prompt: the team memory and the last summaries.

use crate::desk::Desk;

/// Something to read.
pub(crate) struct Listed {
    pub(crate) uri: &'static str,
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
}

const MEMORY: &str = "wyren://memory";
const SUMMARIES: &str = "wyren://summaries";

pub(crate) const LISTED: &[Listed] = &[
    Listed { uri: MEMORY, name: "memory.md", about: "The team memory of this project." },
    Listed {
        uri: SUMMARIES,
        name: "recent summaries",
        about: "What the last turns in this project asked for and completed.",
    },
];

/// Returns the text of a resource; `None` where there is no such resource.
pub(crate) fn read(desk: &Desk, uri: &str) -> Option<Result<String, String>> {
    match uri {
        MEMORY => Some(Ok(desk.team_memory())),
        SUMMARIES => Some(desk.summaries()),
        _ => None,
    }
}
