//! Keeping the note, and refusing the third attempt.

use crate::note::{Attempt, Note, Outcome, Step, is_bookkeeping};
use base::log::Level;
use base::{Paths, files};
use hook::{Answer, Event, Host, Keep, PreToolUse, Refuser, ToolOutcome};
use std::fs;
use std::path::PathBuf;

/// The name of the note beside a window's claims. No claim has it: their names hold no dot.
const NOTE: &str = ".attempts";

/// The setting that turns all of this off.
const SETTING: &str = "lessons.loops";

/// Takes note of how a call ended. `may_keep` says whether anything about this session may be kept at all.
pub fn observe(call: &ToolOutcome, host: &Host, may_keep: impl FnOnce() -> bool) {
    let Some(tool) = call.tool_name.as_deref().filter(|tool| !is_bookkeeping(tool)) else { return };
    let outcome = match &call.error {
        _ if call.is_interrupt == Some(true) => Outcome::Interrupted,
        Some(error) => Outcome::Failed(error),
        None => Outcome::Succeeded,
    };
    let is_failure = matches!(outcome, Outcome::Failed(_));
    // The usual case ends here: nothing failed, nothing is noted.
    if !is_failure && !host.has_note(call, NOTE) {
        return;
    }
    let Some(file) = file(call, host) else { return };
    let ended = host.started.millis();
    let duration = call.duration_ms.filter(|millis| millis.is_finite() && *millis > 0.0).unwrap_or(0.0);
    let shown = hook::shown_input(call.tool_input);
    let attempt = Attempt {
        tool,
        key: hook::call_key(tool, call.tool_input),
        shown: &shown,
        prompt: call.prompt_id.as_deref().unwrap_or_default(),
        begun: ended.saturating_sub(duration as u64),
        ended,
    };
    let note = files::read_text_capped(&file, files::cap::STATE).ok().and_then(|text| Note::parse(&text));
    let step = match Note::after(note.as_ref(), &attempt, outcome) {
        Step::Write(_) if !(host.settings().is_on(SETTING) && may_keep()) => Step::Forget,
        step => step,
    };
    let done = match step {
        Step::Keep => Ok(()),
        Step::Forget => fs::remove_file(&file)
            .or_else(|error| if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }),
        Step::Write(note) => files::write_atomic(&file, note.render().as_bytes()),
    };
    if let Err(error) = done {
        host.log(Level::Warn, &format!("could not note the attempt: {error}"));
    }
}

/// Refuses a call once that failed twice with the same error while nothing changed; `None` for every other call.
pub fn pause(call: &PreToolUse, host: &Host) -> Option<Answer<PreToolUse>> {
    // The usual case ends here: nothing failed.
    if call.has_run() || !host.has_note(call, NOTE) || !host.settings().is_on(SETTING) {
        return None;
    }
    let tool = call.tool_name.as_deref()?;
    let note = Note::parse(&files::read_text_capped(&file(call, host)?, files::cap::STATE).ok()?)?;
    let now = host.started.millis();
    let attempt = Attempt {
        tool,
        key: hook::call_key(tool, call.tool_input),
        shown: "",
        prompt: call.prompt_id.as_deref().unwrap_or_default(),
        begun: now,
        ended: now,
    };
    if !note.is_loop(&attempt) || host.paths.is_private(call.session_id()?) {
        return None;
    }
    // Each run of failures pauses once; the next one begins at another time.
    let name = format!("loop@{:016x}@{}", note.call, note.first);
    let claim = host.claims(call).take(&name, Keep::UntilCompaction).filter(hook::Claim::is_kept)?;
    Some(Answer::deny(Refuser::Loop, note.reason(&host.fence(call))).claiming([claim]))
}

/// Removes the notes of all sessions: they hold the beginning of an error.
pub fn forget_notes(paths: &Paths) {
    let folders =
        |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    // <claims>/<session>/<window>/<until>/<note>
    for until in folders(paths.claims().to_owned()).flat_map(folders).flat_map(folders) {
        let _ = fs::remove_file(until.join(NOTE));
    }
}

/// Returns the note's file; `None` where the window's claims cannot be kept in the usual place.
fn file(call: &impl Event, host: &Host) -> Option<PathBuf> {
    host.claims(call).note_file(NOTE).filter(|file| file.starts_with(host.paths.claims()))
}
