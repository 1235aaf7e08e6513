//! Whether a person gave a command, and what their command allows.

use crate::exit::Ending;
use crate::terminal::{self, DIM};
use anyhow::Result;
use base::settings::Settings;
use base::{Env, Paths};
use std::io::Write as _;
use team_sync::Share;
use text::sanitize;

/// Set by the client for what the model runs.
const MODEL_VARIABLE: &str = "CLAUDECODE";

/// In characters.
const MAX_CHARS: usize = 200;

/// Returns whether a person gave the command, and not the model in its shell.
pub(crate) fn is_here(env: &Env) -> bool {
    env.get(MODEL_VARIABLE).is_none()
}

/// Fails unless a person gave the command; `what` is what only they do.
pub(crate) fn must_be_here(env: &Env, what: &str) -> Result<()> {
    if is_here(env) {
        return Ok(());
    }
    Err(Ending::failed(format!("wyren: only you {what}: run this in a terminal, outside Claude Code")).into())
}

/// Takes a person's command for their leave that this clone publishes, and says once what it means. The model's commands
/// publish only where a person gave leave before.
pub(crate) fn allow_publishing(share: &Share, env: &Env, command: &str) -> Result<()> {
    if !is_here(env) || !share.give_leave(command)? {
        return Ok(());
    }
    let destinations = share.team().map(|team| team.destinations()).unwrap_or_default();
    if destinations.is_empty() {
        return Ok(());
    }
    let is_named = |destination: &&String| !destination.starts_with("address:");
    let named: Vec<&str> = destinations.iter().filter(is_named).map(String::as_str).collect();
    let where_to = if named.is_empty() { "its remote".to_owned() } else { named.join(", ") };
    let where_to = sanitize::one_line(&where_to, MAX_CHARS);
    let settings = Settings::read(env, &Paths::of(env).hook_settings());
    let how = if settings.is_on("memory.publish") {
        ", also in the background. To stop that: wyren config set memory.publish false"
    } else {
        " when you run `wyren sync` (memory.publish is off)."
    };
    Ok(writeln!(
        terminal::errors(),
        "{DIM}From now on Wyren publishes the team memory of this clone to {where_to}{how}{DIM:#}"
    )?)
}
