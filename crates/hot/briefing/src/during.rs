//! A tool call: shows what the team changed during the turn, once per turn.
//!
//! A sync that brings news leaves a note for the session ([`place::news`]). Without one a call costs one `stat`. What is not
//! told here, because the turn had its news already or a process was killed, the next prompt tells.

use hook::{Answer, Event as _, Host, Keep, Outcome, PostToolUse};
use place::{FetchState, Folder, news};

use crate::news::Length;
use crate::prompt::Composed;
use crate::snapshot::{self, Snapshot};

/// Answers the end of a tool call. A subagent's window is not told: its parent's is.
pub fn answer(call: &PostToolUse, host: &Host) -> Outcome<PostToolUse> {
    let waiting = |session: &&str| call.agent_id().is_none() && news::is_waiting(&host.paths, session);
    let Some(session) = call.session_id().filter(waiting) else { return Ok(Answer::silent()) };
    let Some(folder) = Folder::find(&host.cwd(call)) else { return Ok(Answer::silent()) };
    let file = snapshot::file(&folder.state(), session);
    // The note is about another clone, or nothing says what is new here: a prompt goes by what the clone has seen.
    if !file.exists() {
        return Ok(Answer::silent());
    }
    // Calls of one turn may end at the same moment: one of them has the claim.
    let claim = match call.prompt_id() {
        Some(prompt) => match host.claims(call).take(&format!("news-{prompt}"), Keep::UntilCompaction) {
            None => return Ok(Answer::silent()),
            claim => claim,
        },
        None => None,
    };
    // Before the look: what arrives after it has a note of its own.
    if !news::take(&host.paths, session)? {
        return Ok(Answer::silent());
    }
    let Some(known) = Snapshot::read(&file) else { return Ok(Answer::silent()) };
    let fetched = FetchState::read(&folder.wyren);
    let composed = Composed::of(call, host, &folder, (Some(file), Some(known)), fetched, Length::Short);
    let Some(Composed { text, kept, .. }) = composed else { return Ok(Answer::silent()) };
    if text.is_empty() {
        return Ok(Answer::silent().afterwards(move || {
            let kept = kept.finish(&folder, None);
            // Free again: the turn may still have its news.
            drop(claim);
            kept
        }));
    }
    let answer = Answer::context(text).afterwards(move || kept.finish(&folder, Some("post-tool-use")));
    Ok(answer.claiming(claim))
}
