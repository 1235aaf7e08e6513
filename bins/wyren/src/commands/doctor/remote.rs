//! The git remote of the team memory: answers, and takes a push.

use super::{Check, Subject};
use std::time::{Duration, Instant};
use team_sync::Share;
use team_sync::repository::Reach;
use text::sanitize;

const NAME: &str = "remote";

/// How long the remote may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// In characters.
const MAX_CHARS: usize = 300;

pub(super) fn check(subject: &Subject<'_>) -> Check {
    // The check of the team memory says what is wrong with it.
    let share = std::env::current_dir().ok().and_then(|cwd| Share::open(&cwd, subject.env).ok());
    let Some(share) = share else { return Check::good(NAME, "no team memory here, so none is needed") };
    let Some(team) = share.team().filter(|team| team.remote().is_some()) else {
        return Check::good(NAME, "the repository has none; its memory stays on this machine");
    };
    let name = sanitize::one_line(team.remote().unwrap_or_default(), MAX_CHARS);
    if subject.is_hurried {
        return Check::good(NAME, format!("{name}; not checked here, run wyren doctor in a terminal"));
    }
    // Without leave to publish, nothing that is about publishing is asked for.
    let is_to_push = matches!(share.leave(), Ok(Some(_)));
    match team.reach(is_to_push, Instant::now() + PATIENCE) {
        Ok(Reach::Writable) => Check::good(NAME, format!("{name} can be read, and takes a push")),
        Ok(Reach::Readable) => Check::good(NAME, format!("{name} can be read")),
        Ok(Reach::ReadOnly(words)) => {
            let words = sanitize::one_line(&words, MAX_CHARS);
            let message =
                format!("{name} can be read, but takes no push, so what you decide stays here: {words}");
            Check::bad(
                NAME,
                message,
                format!(
                    "ask for the right to push, or correct the address: git remote -v; then git push --dry-run {name}"
                ),
            )
        }
        Ok(Reach::Failed(reason)) => {
            let reason = sanitize::one_line(&reason.to_string(), MAX_CHARS);
            let message = format!("{name} cannot be reached: {reason}. Changes stay here until it can");
            Check::odd(NAME, message, format!("git ls-remote {name}"))
        }
        Err(error) => Check::odd(NAME, error.to_string(), format!("git ls-remote {name}")),
    }
}
