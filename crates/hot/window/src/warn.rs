//! The warning that little of the window is left: once per threshold, the most urgent alone, and again after a compaction.
//!
//! What is given with a tool's result costs the prompt cache from there on, so a window gets three of these at most.

use crate::size::{Around, Window};
use crate::{Notes, ORDINARY, Size};
use base::log::Level;
use hook::{Answer, Event as _, Host, Keep, PostToolUse};
use std::path::{Path, PathBuf};
use transcript::tail::{self, LastUsage};
use transcript::{Scope, subagent};

/// The setting that turns the warning off.
const SETTING: &str = "window.warn";

/// How much is left when the model is warned, in percent; the most urgent last.
pub const THRESHOLDS: [u64; 3] = [30, 20, 10];

/// What the model of the main window is to do at each of [`THRESHOLDS`].
const ADVICE: [&str; 3] = [
    "Finish the current step before you begin another.",
    "Finish this step, then offer the user a handoff (`/wyren:handoff`) or `/compact`.",
    "Stop here. Say what is done, what is open and what failed, and ask the user for `/wyren:handoff` and then `/clear`, or \
     for `/compact`.",
];

/// The same for a subagent, which can ask the user for nothing.
const SUBAGENT_ADVICE: [&str; 3] = [
    "Finish the current step before you begin another.",
    "Finish this step, then report what is done and what is open.",
    "Stop here and report what is done, what is open and what failed.",
];

/// Returns a warning, if little of the window is left in which a call ended and that is new to it.
pub fn warn(call: &PostToolUse, host: &Host, last: Option<&LastUsage>) -> Option<Answer<PostToolUse>> {
    let last = last?;
    let used = last.usage.context_tokens();
    let claims = host.claims(call);
    let notes = Notes::beside(&claims);
    // The usual case ends here: no window is smaller than an ordinary one, unless the client says so.
    if reached(used, ORDINARY).is_none() && !Size::may_be_small(&notes, &host.env) {
        return None;
    }
    let window = Window { used, is_subagent: call.agent_id().is_some(), model: last.model.as_deref() };
    if used > ORDINARY && !window.is_subagent && !notes.was_large() {
        let noted = notes.set_large();
        noted.unwrap_or_else(|error| {
            host.log(Level::Warn, &format!("could not note the window's size: {error}"))
        });
    }
    let size = size_of(window, &notes, call, host);
    let reached = reached(used, size.tokens)?;
    if !host.settings().is_on(SETTING) {
        return None;
    }
    // Another size is another window: warnings about one that was taken for smaller do not count.
    let name = |threshold: u64| format!("window-{}-{threshold}", size.tokens);
    let claim = claims.take(&name(THRESHOLDS[reached]), Keep::UntilCompaction)?;
    for threshold in &THRESHOLDS[..reached] {
        claims.take_for_good(&name(*threshold), Keep::UntilCompaction);
    }
    let warning = Answer::context(text(used, &size, reached, window.is_subagent)).claiming([claim]);
    Some(capture::left_of_window(warning, call, host, left(used, &size), THRESHOLDS[reached]))
}

/// Returns the size of the window of a call.
pub(crate) fn size_of(window: Window<'_>, notes: &Notes, call: &PostToolUse, host: &Host) -> Size {
    let project = host.env.get("CLAUDE_PROJECT_DIR").map_or_else(|| host.cwd(call), PathBuf::from);
    Size::of(window, notes, &Around { env: &host.env, paths: &host.paths, project })
}

/// Returns the usage of the last message in the window of a call.
pub fn last_usage(call: &PostToolUse, host: &Host) -> Option<LastUsage> {
    // Transcripts of other agents have other forms.
    if host.agent().is_some() || call.session_id().is_none() {
        return None;
    }
    let main = Path::new(call.transcript_path.as_deref().filter(|path| !path.is_empty())?);
    let found = match call.agent_id() {
        Some(agent) => tail::last_usage(&subagent::transcript_path(main, agent)?, Scope::Subagent),
        None => tail::last_usage(main, Scope::Main),
    };
    // The client may keep no transcript.
    found.unwrap_or_else(|error| {
        host.log(Level::Debug, &base::error::with_causes(&error));
        None
    })
}

/// Returns the most urgent threshold that is reached, as its place in [`THRESHOLDS`].
fn reached(used: u64, size: u64) -> Option<usize> {
    let left = u128::from(size.saturating_sub(used)) * 100;
    THRESHOLDS.iter().rposition(|percent| left <= u128::from(*percent) * u128::from(size))
}

/// Returns what is left of a window, in percent.
fn left(used: u64, size: &Size) -> u64 {
    size.tokens.saturating_sub(used) * 100 / size.tokens.max(1)
}

fn text(used: u64, size: &Size, reached: usize, is_subagent: bool) -> String {
    let left = left(used, size);
    let advice = if is_subagent { SUBAGENT_ADVICE } else { ADVICE }[reached];
    let (used, all, origin) = (thousands(used), thousands(size.tokens), size.origin.words());
    format!(
        "Wyren: {left}% of the context window is left: {used} of {all} tokens are in use (size: {origin}). {advice}"
    )
}

/// Returns a number of tokens as people write it: `144k`, `1M`.
pub fn thousands(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        _ if tokens.is_multiple_of(1_000_000) => format!("{}M", tokens / 1_000_000),
        _ => format!("{}k", tokens.saturating_add(500) / 1_000),
    }
}
