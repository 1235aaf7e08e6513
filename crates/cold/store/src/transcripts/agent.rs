//! The agents whose transcripts can be imported.

use hook::Platform;

/// An agent that keeps transcripts in a form that is read here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Agent {
    #[default]
    ClaudeCode,
    Codex,
    Cursor,
}

impl Agent {
    /// Returns the agent's name, as observations have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => Platform::ClaudeCode.name(),
            Self::Codex => Platform::Codex.name(),
            Self::Cursor => Platform::Cursor.name(),
        }
    }
}
