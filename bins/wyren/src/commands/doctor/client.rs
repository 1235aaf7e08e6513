//! The client: there, and new enough for every event that Wyren's hooks are wired to.

use super::{Check, Subject};
use crate::claude::{self, Version};
use install::ours;

const NAME: &str = "client";

/// The events that not every client has, with the first version that does. A client that meets an unknown event in a file of
/// hooks leaves out all hooks of that file, so those of each version have a file of their own.
const SINCE: [(&str, Version); 4] = [
    ("SessionEnd", Version([1, 0, 85])),
    ("SubagentStart", Version([2, 1, 0])),
    ("PostToolUseFailure", Version([2, 1, 0])),
    ("StopFailure", Version([2, 1, 78])),
];

/// The first client with plugins.
const PLUGINS: Version = Version([2, 0, 12]);

pub(super) fn check(subject: &Subject<'_>) -> Check {
    if subject.is_hurried {
        return Check::good(NAME, "not checked here; run wyren doctor in a terminal");
    }
    let Some(program) = claude::program(subject.env, subject.paths) else {
        let message = "Claude Code was not found on the PATH, so its version is not known, and Wyren cannot register with it";
        return Check::odd(NAME, message, "install Claude Code, or add its folder to the PATH");
    };
    let shown = program.display().to_string();
    match claude::version(&program) {
        Ok(version) => judge(version, &shown),
        Err(problem) => Check::odd(NAME, format!("{shown} {problem}"), format!("{shown} --version")),
    }
}

fn judge(version: Version, program: &str) -> Check {
    let update = "claude update";
    if version < PLUGINS {
        let message = format!("Claude Code {version} has no plugins ({program}); hooks in its settings work");
        return Check::bad(NAME, message, format!("{update}, or: wyren install --settings"));
    }
    let events = ours::hooks_of_events();
    let unknown: Vec<&str> = SINCE
        .iter()
        .filter(|(event, since)| version < *since && events.contains_key(*event))
        .map(|(event, _)| *event)
        .collect();
    if unknown.is_empty() {
        return Check::good(
            NAME,
            format!("Claude Code {version} knows all {} events of the hooks", events.len()),
        );
    }
    let message = format!(
        "Claude Code {version} does not know {}: the hooks of those events do not run",
        unknown.join(", ")
    );
    Check::odd(NAME, message, update)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Health;
    use tables::hooks::Since;

    #[test]
    fn an_old_client_is_named_with_the_events_it_does_not_know() {
        for (version, health, words) in [
            ([2, 1, 197], Health::Good, "knows all"),
            ([2, 1, 78], Health::Good, "knows all"),
            ([2, 1, 77], Health::Odd, "does not know StopFailure:"),
            ([2, 1, 0], Health::Odd, "does not know StopFailure:"),
            ([2, 0, 60], Health::Odd, "SubagentStart, PostToolUseFailure, StopFailure:"),
            ([1, 0, 90], Health::Bad, "no plugins"),
        ] {
            let check = judge(Version(version), "/usr/bin/claude");
            assert_eq!(check.health, health, "{check:?}");
            assert!(check.message.contains(words), "{check:?}");
        }
    }

    /// An event that a later hook brings needs a row, unless every client with plugins has it.
    #[test]
    fn every_event_that_older_clients_do_not_know_has_a_row() {
        let events = ours::hooks_of_events();
        let newer = tables::hooks::EVENTS
            .iter()
            .filter(|event| event.since != Since::Plugins && events.contains_key(event.name));
        for event in newer {
            assert!(SINCE.iter().any(|(name, _)| *name == event.name), "{}", event.name);
        }
    }
}
