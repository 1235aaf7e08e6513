//! The settings of claude-mem, and what becomes of each.

/// A setting of claude-mem that is one of ours, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaudeMemSetting {
    /// Its name in `~/.claude-mem/settings.json` and in the environment.
    pub name: &'static str,
    /// Its default there. claude-mem writes every default into the file, so only another value is the user's own.
    pub default: &'static str,
    /// Our name for it.
    pub key: &'static str,
}

const fn setting(name: &'static str, default: &'static str, key: &'static str) -> ClaudeMemSetting {
    ClaudeMemSetting { name, default, key }
}

/// The settings that are ours, too.
pub const CLAUDE_MEM_SETTINGS: &[ClaudeMemSetting] = &[
    setting("CLAUDE_MEM_CONTEXT_FULL_COUNT", "0", "recall.full"),
    setting("CLAUDE_MEM_CONTEXT_FULL_FIELD", "narrative", "recall.full_field"),
    setting("CLAUDE_MEM_CONTEXT_OBSERVATIONS", "50", "recall.entries"),
    setting("CLAUDE_MEM_CONTEXT_SESSION_COUNT", "10", "recall.summaries"),
    setting("CLAUDE_MEM_CONTEXT_SHOW_LAST_MESSAGE", "false", "recall.last_message"),
    setting("CLAUDE_MEM_CONTEXT_SHOW_LAST_SUMMARY", "true", "recall.last_summary"),
    setting("CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS", "false", "recall.show_tokens"),
    setting("CLAUDE_MEM_EXCLUDED_PROJECTS", "", "capture.excluded_projects"),
    setting(
        "CLAUDE_MEM_SKIP_TOOLS",
        "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion",
        "capture.skip_tools",
    ),
];

/// The settings about the text of a session's start that have no counterpart, each with the reason.
pub const CLAUDE_MEM_LEFT_OUT: &[(&str, &str)] = &[
    ("CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_AMOUNT", "no savings are shown: no model wrote the entries"),
    ("CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_PERCENT", "no savings are shown: no model wrote the entries"),
    ("CLAUDE_MEM_CONTEXT_SHOW_TERMINAL_OUTPUT", "the index is for the model; `wyren log` is for you"),
    ("CLAUDE_MEM_CONTEXT_SHOW_WORK_TOKENS", "no model wrote the entries, so none cost any"),
    ("CLAUDE_MEM_WELCOME_HINT_ENABLED", "a project without entries gets no text"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use base::settings::{KEYS, Variable, key};
    use std::collections::BTreeSet;

    #[test]
    fn every_variable_of_claude_mem_that_a_setting_has_can_be_imported_and_no_other() {
        let variables = KEYS.iter().flat_map(|key| key.variables.iter().map(move |variable| (key, variable)));
        let ours: BTreeSet<(&str, &str)> = variables
            .filter_map(|(key, variable)| match variable {
                Variable::Value(name) => Some((*name, key.name)),
                Variable::Off(_) => None,
            })
            .filter(|(name, _)| name.starts_with("CLAUDE_MEM_"))
            .collect();
        let listed: BTreeSet<(&str, &str)> =
            CLAUDE_MEM_SETTINGS.iter().map(|setting| (setting.name, setting.key)).collect();
        assert_eq!(listed, ours);
        for (name, reason) in CLAUDE_MEM_LEFT_OUT {
            assert!(!reason.is_empty() && !listed.iter().any(|(known, _)| known == name), "{name}");
        }
    }

    #[test]
    fn every_default_of_claude_mem_is_a_value_of_ours() {
        for setting in CLAUDE_MEM_SETTINGS {
            let checked = key(setting.key).map(|key| key.check(setting.default));
            assert!(matches!(checked, Some(Ok(_))), "{setting:?}: {checked:?}");
        }
    }
}
