//! The team memory of the project: shared, with no decision pending.

use super::super::sync::remedy;
use super::{Check, Subject};
use crate::terminal::counted;
use crate::when;
use base::Timestamp;
use place::{FetchState, Mode};
use team_sync::Share;

const NAME: &str = "team memory";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let Ok(cwd) = std::env::current_dir() else {
        return Check::good(NAME, "the current folder no longer exists; nothing to check");
    };
    let share = match Share::open(&cwd, subject.env) {
        Ok(share) => share,
        Err(team_sync::Error::NotSetUp(_)) => {
            return Check::good(NAME, "none in this project; `wyren init` starts one");
        }
        // Nothing is broken: what is there is left alone until the user decides.
        Err(team_sync::Error::Sync(team_sync::repository::Error::Refused(refusal))) => {
            return Check::odd(NAME, "nothing here is read or shared", refusal.to_string());
        }
        Err(error) => return Check::bad(NAME, error.to_string(), "wyren status"),
    };
    let state = FetchState::read(&share.folder().wyren);
    if let Ok(Some(rewritten)) = share.rewritten() {
        let lost = rewritten.vanished.len() + rewritten.files.len();
        let lost = counted(lost, "entry or file is", "entries or files are");
        let message = format!("the shared history was rewritten; {lost} missing there and kept here");
        return Check::odd(NAME, message, "wyren sync --restore, or wyren sync --accept");
    }
    if let Some(error) = &state.error {
        let message =
            format!("the remote failed {} in a row: {error}", counted(state.failures, "time", "times"));
        return Check::odd(NAME, message, "wyren sync");
    }
    let last = share.last_sync();
    if let Some(error) = &last.error {
        return Check::bad(NAME, format!("the last sync failed: {error}"), "wyren sync");
    }
    if let Some(first) = last.left_out.first() {
        let message = match last.left_out.len() - 1 {
            0 => format!("left out: .wyren/{}: {}", first.path, first.why),
            more => format!("left out: .wyren/{}: {}, and {more} more", first.path, first.why),
        };
        return Check::odd(NAME, message, remedy(first));
    }
    if share.team().is_some() && matches!(share.leave(), Ok(None)) {
        return match share.count_unpublished() {
            0 => Check::good(
                NAME,
                "read only: this clone publishes once you run `wyren sync` here in a terminal",
            ),
            kept => {
                let kept = counted(kept, "change stays", "changes stay");
                let message = format!("{kept} on this machine: you have not let this clone publish");
                Check::odd(NAME, message, "wyren sync, in a terminal")
            }
        };
    }
    if share.has_unpublished() {
        return Check::odd(NAME, "local changes are not pushed yet", "wyren sync");
    }
    match share.held_back().len() {
        0 => Check::good(NAME, describe(&share, &state, subject.now)),
        held => {
            let message = format!(
                "{} held back and not published",
                counted(held, "private or secret part is", "private or secret parts are")
            );
            Check::good(NAME, message)
        }
    }
}

fn describe(share: &Share, state: &FetchState, now: Timestamp) -> String {
    let team = share.team().filter(|team| team.remote().is_some());
    let Some(team) = team else { return "local only: the repository has no remote".to_owned() };
    let mode = match team.mode() {
        Mode::Side => "on its own branch",
        Mode::Branch => "on the checked-out branch",
    };
    match state.fetched_at {
        0 => format!("shared {mode}; not fetched yet"),
        fetched => {
            let age = when::ago(Timestamp::from_millis(fetched), now);
            format!("shared {mode}; last fetched {age}")
        }
    }
}
