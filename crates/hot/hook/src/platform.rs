//! Which agent runs the hook: its names for tools, and its way to be answered.

use std::ffi::OsString;

/// Gemini's name for the event before a tool runs, here that of every agent that takes no context there.
pub const BEFORE_TOOL: &str = "BeforeTool";
/// Gemini's name for the event after it.
pub const AFTER_TOOL: &str = "AfterTool";

/// The argument of a hook that names the agent that runs it. Claude Code's wiring has none.
const ARGUMENT: &str = "--agent";

/// The agent that a hook answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// Claude Code.
    #[default]
    ClaudeCode,
    /// Codex: takes the answers of Claude Code, but drops one with a field or a decision that it does not know.
    Codex,
    /// Gemini CLI: takes a decision at the top level, and context for a tool only after the tool has run.
    Gemini,
    /// Cursor: has answers of its own, and takes context at the start of a session and after a tool has run.
    Cursor,
    /// OpenCode: has no hooks but modules. The one that `wyren install` writes understands the answers of Claude Code, and
    /// hands context on after a tool has run.
    OpenCode,
}

impl Platform {
    /// Every agent but Claude Code.
    pub const OTHERS: [Self; 4] = [Self::Codex, Self::Gemini, Self::Cursor, Self::OpenCode];

    /// Returns the platform that `LESSONS_AGENT_PLATFORM` names; an unknown one is Claude Code.
    pub fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("codex") => Self::Codex,
            Some("gemini") => Self::Gemini,
            _ => Self::ClaudeCode,
        }
    }

    /// Returns the platform that a hook's arguments name; `None` for Claude Code, and for an unknown one.
    pub(crate) fn of_arguments(mut arguments: impl ExactSizeIterator<Item = OsString>) -> Option<Self> {
        // The usual case ends here.
        if arguments.len() < 3 || arguments.nth(1)? != ARGUMENT {
            return None;
        }
        let name = arguments.next()?;
        Self::OTHERS.into_iter().find(|platform| name == platform.name())
    }

    /// Returns the platform that an event's name tells; both Claude Code and Codex have the same.
    pub fn of_event(name: &str) -> Self {
        if matches!(name, BEFORE_TOOL | AFTER_TOOL) { Self::Gemini } else { Self::ClaudeCode }
    }

    /// Returns the platform's name, as arguments and observations have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::OpenCode => "opencode",
        }
    }

    /// Says whether the model gets a hint with the result of a call, and nothing before the call but a refusal.
    pub fn takes_hints_late(self) -> bool {
        matches!(self, Self::Gemini | Self::Cursor | Self::OpenCode)
    }

    /// Returns Claude Code's name for a tool of this platform.
    pub fn canonical_tool(self, tool: &str) -> &str {
        match (self, tool) {
            (Self::Codex, "shell" | "local_shell" | "shell_command" | "exec_command" | "container.exec")
            | (Self::Gemini, "run_shell_command")
            | (Self::Cursor, "Shell")
            | (Self::OpenCode, "bash") => "Bash",
            (Self::Codex | Self::Gemini, "read_file")
            | (Self::Gemini, "read_many_files")
            | (Self::OpenCode, "read") => "Read",
            (Self::Codex, "apply_patch")
            | (Self::Gemini, "replace_in_file" | "replace")
            | (Self::Cursor, "StrReplace")
            | (Self::OpenCode, "edit" | "multiedit" | "patch" | "apply_patch") => "Edit",
            (Self::Codex | Self::Gemini, "write_file") | (Self::OpenCode, "write") => "Write",
            (Self::Codex | Self::Gemini, "find_files")
            | (Self::Gemini, "glob")
            | (Self::OpenCode, "glob" | "list") => "Glob",
            (Self::Gemini, "search_file_content" | "grep_search") | (Self::OpenCode, "grep") => "Grep",
            (Self::Gemini, "web_fetch") | (Self::OpenCode, "webfetch") => "WebFetch",
            (Self::Gemini, "google_web_search") | (Self::OpenCode, "websearch") => "WebSearch",
            // The client uses both names.
            (Self::ClaudeCode | Self::Cursor, "Task") | (Self::OpenCode, "task") => "Agent",
            _ => tool,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_the_one_that_the_wiring_names() {
        let of = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            Platform::of_arguments(words.into_iter())
        };
        for platform in Platform::OTHERS {
            assert_eq!(of(&["lesson-inject", "--agent", platform.name()]), Some(platform));
        }
        for words in [
            &["lesson-inject"][..],
            &["lesson-inject", "--agent"],
            &["x", "--agent", "emacs"],
            &["x", "a", "codex"],
        ] {
            assert_eq!(of(words), None, "{words:?}");
        }
    }
}
