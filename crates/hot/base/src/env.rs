//! The environment a program was started in, passed in so that tests bring their own.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// Set by the client, if only to nothing, for every program that it starts: `wyren` takes it for a sign that the model gave
/// the command.
pub const MODEL_VARIABLE: &str = "CLAUDECODE";

/// An agent, and the variable that it sets for the programs in its model's shell.
#[derive(Clone, Copy, Debug)]
pub struct Shell {
    /// As in `--agent`.
    pub agent: &'static str,
    /// As people call it.
    pub title: &'static str,
    pub variable: &'static str,
}

/// Every agent whose shell is known by a variable.
pub const SHELLS: [Shell; 5] = [
    Shell { agent: "claude-code", title: "Claude Code", variable: MODEL_VARIABLE },
    Shell { agent: "codex", title: "Codex", variable: "CODEX_THREAD_ID" },
    Shell { agent: "cursor", title: "Cursor", variable: "CURSOR_AGENT" },
    Shell { agent: "gemini", title: "Gemini CLI", variable: "GEMINI_CLI" },
    Shell { agent: "opencode", title: "OpenCode", variable: "OPENCODE" },
];

/// Set by `prompt-bind`, which runs `wyren` for a prompt such as `/wyren:trust`.
pub const PROMPT_VARIABLE: &str = "WYREN_IN_PROMPT";

/// Looks up environment variables, of this process or of a fixed set.
#[derive(Clone, Debug, Default)]
pub struct Env {
    fixed: Option<BTreeMap<String, OsString>>,
}

impl Env {
    /// Returns the environment of this process.
    pub fn process() -> Self {
        Self { fixed: None }
    }

    /// Returns an environment that consists of `variables` alone.
    pub fn fixed<N: Into<String>, V: Into<OsString>>(variables: impl IntoIterator<Item = (N, V)>) -> Self {
        let fixed = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { fixed: Some(fixed) }
    }

    /// Says whether this is the environment of this process, so that the system may be asked as well.
    pub fn is_process(&self) -> bool {
        self.fixed.is_none()
    }

    /// Returns the value of a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<OsString> {
        let value = match &self.fixed {
            Some(variables) => variables.get(name).cloned(),
            None => std::env::var_os(name),
        };
        value.filter(|value| !value.is_empty())
    }

    /// Says whether a variable is set, be it to nothing.
    pub fn is_set(&self, name: &str) -> bool {
        match &self.fixed {
            Some(variables) => variables.contains_key(name),
            None => std::env::var_os(name).is_some(),
        }
    }

    /// Returns the value of a variable that is set, not empty and valid UTF-8.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.into_string().ok()
    }

    /// Says whether a variable switches something on: set, and neither `0`, `false`, `no` nor `off`.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| {
            !["0", "false", "no", "off"].iter().any(|off| value.eq_ignore_ascii_case(off))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let env = Env::fixed([("A", ""), ("B", "x")]);
        assert_eq!(env.get("A"), None);
        assert_eq!(env.text("B").as_deref(), Some("x"));
        assert_eq!(env.get("C"), None);
    }

    #[test]
    fn a_switch_is_on_unless_it_says_off() {
        let env = Env::fixed([("ONE", "1"), ("TRUE", "true"), ("ZERO", "0"), ("OFF", "OFF")]);
        assert!(env.is_on("ONE") && env.is_on("TRUE"));
        assert!(!env.is_on("ZERO") && !env.is_on("OFF") && !env.is_on("UNSET"));
    }
}
