//! The end of a session, and of a window: what it has left is asked to be distilled. The session may never come back, and after
//! a compaction the model knows less of it.

use crate::ask::ask;
use crate::marks;
use crate::watermark::{Hold, key};
use hook::{Event, Host, PreCompact, SessionEnd};
use place::Folder;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// How long the end waits for its place in the watermark: there is no later turn to make up for it.
const PATIENCE: Duration = Duration::from_millis(300);

/// Asks for the distillation of what a session has left when it ends. Returns whether it did, as [`count`](crate::count).
pub fn end(call: &SessionEnd, host: &Host) -> Result<bool, Box<dyn Error>> {
    see_to(call, call.transcript_path.as_deref(), "session end", host)
}

/// Asks for the distillation of what a session has left before its window is compacted. Returns whether it did.
pub fn compaction(call: &PreCompact, host: &Host) -> Result<bool, Box<dyn Error>> {
    see_to(call, call.transcript_path.as_deref(), "compaction", host)
}

fn see_to<E: Event>(
    call: &E,
    transcript: Option<&str>,
    what: &str,
    host: &Host,
) -> Result<bool, Box<dyn Error>> {
    if call.agent_id().is_some() || !host.settings().is_on("distill.enabled") {
        return Ok(false);
    }
    let Some(folder) = Folder::find(&host.cwd(call)) else { return Ok(false) };
    let ended = end_in(&folder, call, transcript, host);
    if let Err(error) = &ended {
        let _ = place::log::append(&folder.wyren, host.started, "", &format!("{what} failed: {error}"));
    }
    ended
}

fn end_in<E: Event>(
    folder: &Folder,
    call: &E,
    transcript: Option<&str>,
    host: &Host,
) -> Result<bool, Box<dyn Error>> {
    let transcript = transcript.filter(|path| !path.is_empty());
    let Some(session) = call.session_id().or_else(|| Path::new(transcript?).file_stem()?.to_str()) else {
        return Ok(false);
    };
    let Some(mut hold) = Hold::take(&folder.state(), PATIENCE)? else {
        return Err("could not look at the watermark: it is in use".into());
    };
    let is_left = is_left(&hold, session, transcript);
    if is_left {
        let session = hold.watermark.session_mut(session, transcript);
        session.cwd = Some(host.cwd(call).to_string_lossy().into_owned());
        let key = key(&session.id);
        // One that runs already is no obstacle: the worker does one after the other.
        ask(&mut hold, folder, &host.paths, Some(&key), std::slice::from_ref(&key), host.started)?;
    }
    Ok(is_left)
}

/// Says whether a session has left something. A turn that was interrupted is not counted, but it is in the transcript.
fn is_left(hold: &Hold, id: &str, transcript: Option<&str>) -> bool {
    let session = hold.watermark.session(id);
    let Some(transcript) = transcript.or_else(|| session?.transcript.as_deref()) else { return false };
    if session.is_some_and(|session| session.turns > 0) {
        return true;
    }
    let distilled = || marks::mark(hold.state(), &hold.watermark, id).offset.unwrap_or_default();
    fs::metadata(transcript).is_ok_and(|metadata| metadata.len() > distilled())
}
