//! The end of a turn: it is counted, and what is due is asked for.

use crate::ask::ask;
use crate::leftovers::MAX_AT_ONCE;
use crate::watermark::{Counted, Hold, Turn, key};
use base::Timestamp;
use base::settings::Settings;
use hook::event::Event as _;
use hook::{Host, Stop};
use place::Folder;
use place::node::Trigger;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

/// How long a turn waits for its place in the watermark, which others hold for a millisecond.
const PATIENCE: Duration = Duration::from_millis(200);

/// Returns the team's memory that a turn counts for. A subagent's turn is part of its parent's; a turn that a hook prolonged
/// was counted when it first ended.
pub fn folder(call: &Stop, host: &Host) -> Option<Folder> {
    let is_counted = call.agent_id().is_none() && call.stop_hook_active != Some(true);
    if is_counted { Folder::find(&host.cwd(call)) } else { None }
}

/// Counts the turn that has just ended for the memory in `folder`, and asks for a distillation when one is due. Returns
/// whether it did: the worker that was started for it, or runs already, does all other work as well.
pub fn count(call: &Stop, host: &Host, folder: &Folder) -> Result<bool, Box<dyn Error>> {
    let counted = count_in(folder, &host.cwd(call), call, host);
    if let Err(error) = &counted {
        let _ = place::log::append(&folder.wyren, host.started, "", &format!("stop failed: {error}"));
    }
    counted
}

fn count_in(folder: &Folder, cwd: &Path, call: &Stop, host: &Host) -> Result<bool, Box<dyn Error>> {
    let (state, now, settings) = (folder.state(), host.started, host.settings());
    let transcript = call.transcript_path.as_deref().filter(|path| !path.is_empty());
    let Some(mut hold) = Hold::take(&state, PATIENCE)? else {
        // Written without the lock, this count could undo a mark that a distillation sets just now, and its turns would be
        // distilled again. A turn that is not counted delays the next distillation by one turn and loses nothing.
        return Err("could not count the turn: the watermark is in use".into());
    };
    // Without an id the transcript tells sessions apart; with neither there is nothing to distill.
    let Some(session) = call.session_id().or_else(|| Path::new(transcript?).file_stem()?.to_str()) else {
        hold.watermark.turns_since_distill += 1;
        hold.watermark.last_turn_at = Some(now.millis());
        hold.write(now)?;
        return Ok(false);
    };
    let counted = hold.watermark.count(Turn { session, transcript, cwd, at: now });
    let own = key(session);
    let due = due(&hold, own.clone(), counted, settings, now);
    let trigger =
        if due.is_empty() || hold.watermark.is_running(now) { None } else { Trigger::claim(&state, now)? };
    match trigger {
        Some(_) => ask(&mut hold, folder, &host.paths, Some(&own), &due, now)?,
        None => hold.write(now)?,
    }
    Ok(trigger.is_some())
}

/// Returns the keys of the sessions that are to be distilled now: this one, and a few that were left behind.
fn due(hold: &Hold, own: String, counted: Counted, settings: &Settings, now: Timestamp) -> Vec<String> {
    if !settings.is_on("distill.enabled") {
        return Vec::new();
    }
    let idle = settings.number("distill.idle_ms");
    let has_transcript =
        hold.watermark.sessions.get(&own).is_some_and(|session| session.transcript.is_some());
    let is_due = has_transcript
        && (counted.turns >= settings.number("distill.turns")
            || counted.pause.is_some_and(|pause| pause > idle));
    let mut due = hold.watermark.leftovers(now, idle);
    due.retain(|key| *key != own);
    due.truncate(MAX_AT_ONCE);
    if is_due {
        due.insert(0, own);
    }
    due
}
