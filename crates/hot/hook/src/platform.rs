//! Which agent runs the hook: its names for tools, and its way to be answered.

/// The agent that a hook answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// Claude Code.
    #[default]
    ClaudeCode,
    /// Codex: takes a decision at the top level, and no context.
    Codex,
    /// Gemini CLI: takes context and decision at the top level.
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

    /// Returns Claude Code's name for a tool of this platform.
    pub fn canonical_tool(self, tool: &str) -> &str {
        match (self, tool) {
            (Self::Codex, "shell" | "local_shell" | "exec_command" | "container.exec")
            | (Self::Gemini, "run_shell_command") => "Bash",
            (Self::Codex | Self::Gemini, "read_file") => "Read",
            (Self::Codex, "apply_patch") | (Self::Gemini, "replace_in_file" | "replace") => "Edit",
            (Self::Codex | Self::Gemini, "write_file") => "Write",
            (Self::Codex | Self::Gemini, "find_files") | (Self::Gemini, "glob") => "Glob",
            (Self::Gemini, "search_file_content") => "Grep",
            (Self::Gemini, "web_fetch") => "WebFetch",
            // The client uses both names.
            (Self::ClaudeCode, "Task") => "Agent",
            _ => tool,
        }
    }
}
