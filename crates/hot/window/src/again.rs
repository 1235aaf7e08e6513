//! Whether a window has moved on so far that its standing lessons are to be shown again: by how full it is, once per threshold, and by
//! the number of calls where that is unknown. A compaction starts anew, since the session starts with them again.

use crate::size::Window;
use crate::warn::size_of;
use crate::{Notes, ORDINARY, Size};
use base::log::Level;
use base::settings;
use hook::{Event as _, Host, Keep, PostToolUse};
use transcript::tail::LastUsage;

/// How full a window is when they are shown again, in percent.
const AT: &str = "lessons.again_at";

/// After how many calls they are shown again where it is unknown how full the window is.
const AFTER_CALLS: &str = "lessons.again_after_calls";

/// The most times that calls alone bring them back in a window.
const MOST_BY_CALLS: u64 = 3;

/// Says whether standing lessons are to be shown again after a call, and notes that they are. A subagent has its own from its start.
pub fn is_time_to_repeat(call: &PostToolUse, host: &Host, last: Option<&LastUsage>) -> bool {
    if host.agent().is_some()
        || call.session_id().is_none()
        || call.agent_id().is_some()
        || host.is_headless()
    {
        return false;
    }
    match last {
        Some(last) => is_full_enough(call, host, last),
        None => are_calls_enough(call, host),
    }
}

fn is_full_enough(call: &PostToolUse, host: &Host, last: &LastUsage) -> bool {
    let used = last.usage.context_tokens();
    let at = host.settings().get(AT);
    let thresholds: Vec<u64> = settings::list(&at).filter_map(|percent| percent.parse().ok()).collect();
    let reached = |size: u64| {
        let is_reached = |percent: &u64| u128::from(used) * 100 >= u128::from(size) * u128::from(*percent);
        thresholds.iter().copied().filter(is_reached).max()
    };
    let claims = host.claims(call);
    let notes = Notes::beside(&claims);
    let name = |percent: u64| format!("lessons-again-{percent}");
    // The usual case ends here: no window is smaller than an ordinary one, unless the client says so.
    let is_small = Size::may_be_small(&notes, &host.env);
    if !is_small && reached(ORDINARY).is_none_or(|percent| claims.is_taken(&name(percent))) {
        return false;
    }
    let window = Window { used, is_subagent: false, model: last.model.as_deref() };
    let Some(percent) = reached(size_of(window, &notes, call, host).tokens) else { return false };
    // The lower ones are over with it.
    for lower in thresholds.iter().filter(|lower| **lower < percent) {
        claims.take_for_good(&name(*lower), Keep::UntilCompaction);
    }
    claims.take_for_good(&name(percent), Keep::UntilCompaction)
}

fn are_calls_enough(call: &PostToolUse, host: &Host) -> bool {
    let every = host.settings().number(AFTER_CALLS);
    if every == 0 {
        return false;
    }
    let claims = host.claims(call);
    if claims.is_taken(&calls_name(MOST_BY_CALLS)) {
        return false;
    }
    match Notes::beside(&claims).count_call() {
        Ok(calls) if calls.is_multiple_of(every) => {
            // Those before a compaction do not count again: their claims are free, and the number goes on.
            let times = (1..=MOST_BY_CALLS).find(|times| !claims.is_taken(&calls_name(*times)));
            times.is_some_and(|times| claims.take_for_good(&calls_name(times), Keep::UntilCompaction))
        }
        Ok(_) => false,
        Err(error) => {
            host.log(Level::Warn, &format!("could not count the call: {error}"));
            false
        }
    }
}

fn calls_name(times: u64) -> String {
    format!("lessons-again-by-calls-{times}")
}
