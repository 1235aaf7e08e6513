//! Which agent runs the hook: its names for tools, and its way to be answered.

/// Gemini's name for the event before a tool runs.
pub const BEFORE_TOOL: &str = "BeforeTool";
/// Gemini's name for the event after it.
pub const AFTER_TOOL: &str = "AfterTool";

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
}

impl Platform {
    /// Returns the platform that `LESSONS_AGENT_PLATFORM` names; an unknown one is Claude Code.
    pub fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("codex") => Self::Codex,
            Some("gemini") => Self::Gemini,
            _ => Self::ClaudeCode,
        }
    }

    /// Returns the platform that an event's name tells; both Claude Code and Codex have the same.
    pub fn of_event(name: &str) -> Self {
        if matches!(name, BEFORE_TOOL | AFTER_TOOL) { Self::Gemini } else { Self::ClaudeCode }
    }

    /// Returns Claude Code's name for a tool of this platform.
    pub fn canonical_tool(self, tool: &str) -> &str {
        match (self, tool) {
            (Self::Codex, "shell" | "local_shell" | "shell_command" | "exec_command" | "container.exec")
            | (Self::Gemini, "run_shell_command") => "Bash",
            (Self::Codex | Self::Gemini, "read_file") | (Self::Gemini, "read_many_files") => "Read",
            (Self::Codex, "apply_patch") | (Self::Gemini, "replace_in_file" | "replace") => "Edit",
            (Self::Codex | Self::Gemini, "write_file") => "Write",
            (Self::Codex | Self::Gemini, "find_files") | (Self::Gemini, "glob") => "Glob",
            (Self::Gemini, "search_file_content" | "grep_search") => "Grep",
            (Self::Gemini, "web_fetch") => "WebFetch",
            (Self::Gemini, "google_web_search") => "WebSearch",
            // The client uses both names.
            (Self::ClaudeCode, "Task") => "Agent",
            _ => tool,
        }
    }
}
