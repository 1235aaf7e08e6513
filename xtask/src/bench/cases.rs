//! Which runs of each program are measured. A new hook, or a new way that a hook can go, is a row in [`CASES`].

/// Returns the text of a payload that the real client sent.
macro_rules! payload {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/payloads/", $name, ".json"))
    };
}

/// One way to run a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// What the table calls this run.
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static [&'static str],
    /// What the program reads.
    pub(crate) payload: &'static str,
    pub(crate) answer: Answer,
    /// Whether the program only parses its input and stays silent, so that the budgets of a silent hook hold.
    pub(crate) only_parses: bool,
}

impl Case {
    /// Returns a run without arguments, of which nothing more is known.
    pub(crate) const fn plain(name: &'static str, payload: &'static str) -> Self {
        Self { name, arguments: &[], payload, answer: Answer::Any, only_parses: false }
    }
}

/// What a program must print for the run to count: a hook that fails is quick, and must not pass for a fast one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing, or one of the answers that say nothing.
    Silent,
    /// Something to read.
    Text,
    /// Whatever it likes.
    Any,
}

impl Answer {
    /// Says whether what a program printed is such an answer.
    pub(crate) fn allows(self, printed: &str) -> bool {
        let silent = matches!(printed.trim(), "" | "{}" | r#"{"continue":true,"suppressOutput":true}"#);
        match self {
            Self::Silent => silent,
            Self::Text => !silent,
            Self::Any => true,
        }
    }
}

/// What is measured of each program in `bin/`, in the order of the table.
const CASES: &[(&str, Case)] = &[
    (
        "session-start-lessons",
        Case {
            name: "resume",
            arguments: &[],
            payload: payload!("SessionStart.resume"),
            answer: Answer::Silent,
            only_parses: true,
        },
    ),
    (
        "session-start-lessons",
        Case {
            name: "startup",
            arguments: &[],
            payload: payload!("SessionStart.startup"),
            answer: Answer::Text,
            only_parses: false,
        },
    ),
    (
        "session-start-reset",
        Case {
            name: "resume",
            arguments: &[],
            payload: payload!("SessionStart.resume"),
            answer: Answer::Silent,
            only_parses: false,
        },
    ),
    (
        "session-start-reset",
        Case {
            name: "startup",
            arguments: &[],
            payload: payload!("SessionStart.startup"),
            answer: Answer::Silent,
            only_parses: false,
        },
    ),
    (
        "wyren",
        Case {
            name: "--version",
            arguments: &["--version"],
            payload: "",
            answer: Answer::Text,
            only_parses: false,
        },
    ),
];

/// What a program without a row reads, by the event that it is wired to.
const BY_EVENT: &[(&str, &str)] = &[
    ("Notification", payload!("Notification.permission_prompt")),
    ("PermissionRequest", payload!("PermissionRequest.Bash")),
    ("PostToolUse", payload!("PostToolUse.Bash")),
    ("PostToolUseFailure", payload!("PostToolUseFailure.Bash")),
    ("PreCompact", payload!("PreCompact.auto")),
    ("PreToolUse", payload!("PreToolUse.Bash")),
    ("SessionEnd", payload!("SessionEnd.other")),
    ("SessionStart", DEFAULT_PAYLOAD),
    ("Stop", payload!("Stop")),
    ("SubagentStart", payload!("SubagentStart")),
    ("SubagentStop", payload!("SubagentStop")),
    ("UserPromptSubmit", payload!("UserPromptSubmit")),
];

/// What the yardsticks and the programs of `--against` find on their standard input.
pub(crate) const DEFAULT_PAYLOAD: &str = payload!("SessionStart.startup");

/// Returns what is measured of a program that is wired to `event`; nothing when there is neither a row nor an event.
pub(crate) fn of(binary: &str, event: Option<&str>) -> Vec<Case> {
    let rows: Vec<Case> = CASES.iter().filter(|(name, _)| *name == binary).map(|(_, case)| *case).collect();
    if !rows.is_empty() {
        return rows;
    }
    let by_event = BY_EVENT.iter().find(|(name, _)| Some(*name) == event);
    by_event.map(|&(name, payload)| Case::plain(name, payload)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(cases: &[Case]) -> Vec<&str> {
        cases.iter().map(|case| case.name).collect()
    }

    #[test]
    fn every_row_names_a_program_that_exists() {
        let binaries = crate::workspace::binaries().unwrap();
        for (binary, case) in CASES {
            assert!(binaries.iter().any(|name| name == binary), "{binary} {}", case.name);
        }
    }

    #[test]
    fn a_program_without_a_row_is_measured_by_its_event() {
        assert_eq!(names(&of("session-start-lessons", Some("SessionStart"))), ["resume", "startup"]);
        assert_eq!(names(&of("not-yet-written", Some("PostToolUse"))), ["PostToolUse"]);
        assert!(of("not-yet-written", None).is_empty());
    }

    #[test]
    fn every_payload_is_one_of_its_event() {
        for (event, payload) in BY_EVENT {
            let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
            assert_eq!(payload["hook_event_name"], *event);
        }
    }

    #[test]
    fn an_answer_that_says_nothing_is_silent() {
        assert!(Answer::Silent.allows(""));
        assert!(Answer::Silent.allows("{}\n"));
        assert!(!Answer::Silent.allows(r#"{"hookSpecificOutput":{}}"#));
        assert!(!Answer::Text.allows("{}"));
        assert!(Answer::Text.allows("wyren 0.1.0"));
    }
}
