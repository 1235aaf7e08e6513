//! The hooks: have run, each of them, without errors.

use super::{Check, Subject};
use crate::commands::log;
use crate::person;
use crate::terminal::counted;
use crate::when;
use crate::wired::Wiring;
use base::Timestamp;
use base::settings::Settings;
use install::ours;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const NAME: &str = "hooks";
const DAY_MILLIS: u64 = 86_400_000;

/// In how many sessions a hook must be missing: one may have been ended, or its log have been rotated in between.
const SESSIONS: usize = 3;

/// An event that cannot happen in a session without the other.
const IMPLIED: [(&str, &str); 2] = [("Stop", "UserPromptSubmit"), ("UserPromptSubmit", "SessionStart")];

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let settings = Settings::read(subject.env, &subject.paths.hook_settings());
    if !settings.is_on("log.enabled") {
        return Check::odd(
            NAME,
            "the hook log is off, so this cannot be checked",
            "wyren config set log.enabled true",
        );
    }
    let file = subject.paths.hook_log();
    let mut lines = log::read_lines(&base::log::rotated(&file)).unwrap_or_default();
    lines.extend(log::read_lines(&file).unwrap_or_default());
    let runs: Vec<Run> = lines.iter().filter_map(|line| Run::read(line)).collect();
    // Runs that said nothing are logged at the lowest level alone.
    let is_complete = settings.get("log.level") == "debug";
    if runs.is_empty() {
        let cwd = std::env::current_dir().unwrap_or_default();
        let wiring = Wiring::read(subject.env, subject.paths, &cwd);
        let is_wired = !wiring.plugins.is_empty() || !wiring.by_hand.is_empty();
        return none_yet(is_wired, &super::agents::titles(subject.env), &person::name(subject.env));
    }
    judge(&runs, is_complete, installed_at(subject), subject.now)
}

/// One line of the log.
#[derive(Debug)]
struct Run {
    at: String,
    hook: String,
    event: String,
    session: Option<String>,
    is_error: bool,
}

impl Run {
    fn read(line: &str) -> Option<Self> {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        Some(Self {
            at: text("ts"),
            hook: text("hook"),
            event: text("event"),
            session: line["session"].as_str().map(str::to_owned),
            is_error: matches!(line["level"].as_str(), Some("error" | "alert")),
        })
    }
}

/// Returns when the plugin that runs was put there.
fn installed_at(subject: &Subject<'_>) -> Option<Timestamp> {
    let folder = subject.paths.installed_plugin();
    Some(std::fs::metadata(folder).ok()?.modified().ok()?.into())
}

fn none_yet(is_wired: bool, agents: &[&str], wyren: &str) -> Check {
    let message = "no hook has run yet; the next session runs them";
    match is_wired {
        true => Check::odd(NAME, message, "claude"),
        false if !agents.is_empty() => {
            Check::odd(NAME, message, format!("start a session of {}", agents.join(" or ")))
        }
        false => {
            let message = "no hook has run yet, and Claude Code has neither the plugin nor hooks of Wyren";
            Check::odd(NAME, message, format!("{wyren} install"))
        }
    }
}

fn judge(runs: &[Run], is_complete: bool, installed: Option<Timestamp>, now: Timestamp) -> Check {
    let hooks: BTreeSet<&str> = runs.iter().map(|run| run.hook.as_str()).collect();
    // Timestamps of one format sort as text.
    let Some(newest) = runs.iter().map(|run| run.at.as_str()).max() else {
        return none_yet(true, &[], "wyren");
    };
    let yesterday = Timestamp::from_millis(now.millis().saturating_sub(DAY_MILLIS)).to_string();
    let mut errors: BTreeMap<&str, usize> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.is_error && run.at >= yesterday) {
        *errors.entry(&run.hook).or_default() += 1;
    }
    if !errors.is_empty() {
        let failed: Vec<String> = errors.iter().map(|(hook, count)| format!("{hook} {count}×")).collect();
        let message = format!("errors in the last 24 hours: {}", failed.join(", "));
        return Check::odd(NAME, message, "wyren log --hooks --level error");
    }
    if is_complete && let Some(message) = missing(runs) {
        return Check::odd(NAME, message, "claude --debug shows why");
    }
    let shown = newest.parse().map_or_else(|_| newest.to_owned(), when::local);
    if let Some(installed) = installed.filter(|installed| newest < installed.to_string().as_str()) {
        let installed = when::local(installed);
        let message =
            format!("no session since Wyren was installed at {installed}; the last hook ran at {shown}");
        return Check::good(NAME, message);
    }
    let hooks = counted(hooks.len(), "hook has", "hooks have");
    Check::good(NAME, format!("{hooks} run, most recently at {shown}"))
}

/// Looks for a hook, or for all hooks of an event, that the client did not run in the last sessions that it should have run in.
fn missing(runs: &[Run]) -> Option<String> {
    // By event and session, in the order in which sessions came to it: which hooks ran.
    let mut seen: BTreeMap<&str, Vec<(&str, BTreeSet<&str>)>> = BTreeMap::new();
    for run in runs {
        let Some(session) = run.session.as_deref() else { continue };
        let sessions = seen.entry(&run.event).or_default();
        match sessions.iter_mut().rev().find(|(known, _)| *known == session) {
            Some((_, hooks)) => drop(hooks.insert(&run.hook)),
            None => sessions.push((session, BTreeSet::from([run.hook.as_str()]))),
        }
    }
    for (event, hooks) in ours::hooks_of_events() {
        let sessions = seen.get(event.as_str()).map(Vec::as_slice).unwrap_or_default();
        let Some(last) = sessions.len().checked_sub(SESSIONS).map(|from| &sessions[from..]) else { continue };
        let never = hooks.iter().find(|hook| last.iter().all(|(_, ran)| !ran.contains(hook.as_str())));
        if let Some(hook) = never {
            return Some(format!(
                "{hook} did not run in the last {SESSIONS} sessions, though other hooks of {event} did: Claude Code does not start it"
            ));
        }
    }
    IMPLIED.iter().find_map(|(later, earlier)| {
        let sessions = |event: &str| seen.get(event).map(Vec::as_slice).unwrap_or_default();
        let last = sessions(later).len().checked_sub(SESSIONS).map(|from| &sessions(later)[from..])?;
        let has_earlier = |session: &str| sessions(earlier).iter().any(|(known, _)| *known == session);
        let is_missing = last.iter().all(|(session, _)| !has_earlier(session));
        is_missing.then(|| {
            format!(
                "no hook of {earlier} ran in the last {SESSIONS} sessions: Claude Code does not start them"
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Health;

    fn run(session: &str, event: &str, hook: &str) -> Run {
        Run {
            at: "2026-11-17T10:00:00.000Z".to_owned(),
            hook: hook.to_owned(),
            event: event.to_owned(),
            session: Some(session.to_owned()),
            is_error: false,
        }
    }

    fn now() -> Timestamp {
        "2026-11-17T12:00:00.000Z".parse().unwrap()
    }

    /// Returns the runs of whole sessions, without those that `is_left_out` names.
    fn sessions(count: usize, is_left_out: impl Fn(&str, &str) -> bool) -> Vec<Run> {
        let mut runs = Vec::new();
        for number in 0..count {
            for (event, hooks) in ours::hooks_of_events() {
                let hooks = hooks.iter().filter(|hook| !is_left_out(&event, hook));
                runs.extend(hooks.map(|hook| run(&format!("s{number}"), &event, hook)));
            }
        }
        runs
    }

    #[test]
    fn a_hook_that_the_client_does_not_start_is_named() {
        let whole = judge(&sessions(3, |_, _| false), true, None, now());
        assert_eq!(whole.health, Health::Good, "{whole:?}");
        let without = |_: &str, hook: &str| hook == "prompt-record";
        let check = judge(&sessions(3, without), true, None, now());
        assert_eq!(check.health, Health::Odd, "{check:?}");
        assert!(check.message.starts_with("prompt-record did not run"), "{check:?}");
        assert_eq!(judge(&sessions(2, without), true, None, now()).health, Health::Good, "too few sessions");
        assert_eq!(
            judge(&sessions(3, without), false, None, now()).health,
            Health::Good,
            "silent runs are not logged"
        );
    }

    #[test]
    fn a_user_of_another_agent_alone_is_not_sent_to_claude_code() {
        let check = none_yet(false, &["Codex"], "wyren");
        assert_eq!(check.fix.as_deref(), Some("start a session of Codex"));
        assert!(!check.message.contains("Claude Code"), "{check:?}");
        assert_eq!(none_yet(false, &[], "wyren").fix.as_deref(), Some("wyren install"));
    }

    #[test]
    fn an_event_whose_hooks_the_client_does_not_start_is_named() {
        let check = judge(&sessions(3, |event, _| event == "UserPromptSubmit"), true, None, now());
        assert_eq!(check.health, Health::Odd, "{check:?}");
        assert!(check.message.starts_with("no hook of UserPromptSubmit ran"), "{check:?}");
    }

    #[test]
    fn runs_from_before_the_installation_are_not_taken_for_sessions_since() {
        let runs = sessions(1, |_, _| false);
        let installed = Some("2026-11-17T11:00:00.000Z".parse().unwrap());
        let check = judge(&runs, true, installed, now());
        assert!(check.message.starts_with("no session since Wyren was installed"), "{check:?}");
        let before = Some("2026-11-17T09:00:00.000Z".parse().unwrap());
        assert!(judge(&runs, true, before, now()).message.contains("hooks have run"));
    }
}
