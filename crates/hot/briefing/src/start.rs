//! The beginning of a session: the whole memory, or what a resumed window has missed.

use base::Timestamp;
use base::log::Level;
use base::trust::{Identity, Trust};
use hook::event::Source;
use hook::{Answer, Event, Host, Outcome, SessionStart};
use memory::{Authors, BroadcastFile, Frame, INJECTION_UNITS, Memory, inject, without_comments};
use place::{FetchState, Folder};
use std::path::Path;

use crate::error::log_injection;
use crate::news::{self, Audience, Length, News};
use crate::pull::{self, Launch, Pulled};
use crate::snapshot::{self, Snapshot};
use crate::view::View;
use crate::{Error, rewrite, voice};

/// Where the rest of a memory is that is too long to be told.
const REST: &str = "wyren memory show";

/// Answers the beginning of a session.
pub fn answer(call: &SessionStart, host: &Host) -> Outcome<SessionStart> {
    answer_with(call, host, &|arguments, folder| pull::launch(&host.paths, arguments, folder))
}

/// Answers the beginning of a session; `launch` starts what asks the remote.
pub fn answer_with(call: &SessionStart, host: &Host, launch: &Launch<'_>) -> Outcome<SessionStart> {
    let found = folder(&host.cwd(call), host, launch).unwrap_or_else(|error| {
        host.log(Level::Error, &error.whole());
        None
    });
    let Some(folder) = found else {
        return Ok(voice::speak(Answer::silent(), call, host, None, voice::introduced(Vec::new(), host)));
    };
    if let Some(session) = call.session_id() {
        // Before the look: what arrives after it has a note of its own.
        let _ = place::news::take(&host.paths, session);
    }
    let file = call.session_id().map(|session| snapshot::file(&folder.state(), session));
    let known = file.as_deref().and_then(Snapshot::read);
    let fetched = FetchState::read(&folder.wyren);
    let warned = known.as_ref().and_then(|known| known.rewrite.clone());
    let warning = rewrite::warning(&fetched, warned.as_deref());
    let mut view = View::look(&folder);
    let trust = if view.has_skills() || view.has_lessons() { trust(&folder, host) } else { None };
    let memory = view.memory();
    let (fence, authors) = (host.fence(call), authors(&folder, host));
    let frame = Frame { fence: &fence, authors: &authors, now: host.started };
    let mut news = match &known {
        // The window still has the text.
        Some(known) if call.source() == Source::Resume => {
            let audience = Audience {
                session: call.session_id(),
                warning: &warning,
                trust: trust.as_ref(),
                frame,
                length: Length::Full,
            };
            news::since(known.clone(), &view, memory.as_deref(), &audience)
        }
        _ => whole(&view, memory.as_deref(), &warning, trust.as_ref(), frame),
    };
    news.told.rewrite = fetched.rewritten_from;
    let is_shown = !news.text.is_empty();
    let notices = voice::about_memory(&folder, &view, trust.as_ref(), &news.untrusted, host);
    let answer =
        voice::speak(Answer::context(news.text), call, host, Some(&folder), voice::introduced(notices, host));
    Ok(answer.rest_at(REST).afterwards(move || {
        let logged = if is_shown { log_injection(&folder.wyren, "", "session-start") } else { Ok(()) };
        let kept = file.map_or(Ok(()), |file| remember(&file, known.as_ref(), &news.told)).and(logged);
        kept.inspect_err(|error| error.note(&folder.wyren, "")).map_err(Into::into)
    }))
}

/// Stores what a session has seen, and removes the files of old sessions.
fn remember(file: &Path, known: Option<&Snapshot>, told: &Snapshot) -> Result<(), Error> {
    let now = Timestamp::now();
    // Replacing a file costs many times what a look at it does.
    let kept = if known == Some(told) { snapshot::touch(file, now) } else { told.write(file) };
    snapshot::clean_up(file, now);
    kept
}

/// Finds the team's memory, as the remote has it now where that can be had in time.
fn folder(cwd: &Path, host: &Host, launch: &Launch<'_>) -> Result<Option<Folder>, Error> {
    let Some(folder) = Folder::find(cwd) else { return pull::discover(cwd, host, launch) };
    match pull::at_start(&folder, host, launch) {
        Ok(Pulled::Awaited) => Ok(Folder::find(cwd)),
        Ok(Pulled::NotAwaited) => Ok(Some(folder)),
        Err(error) => {
            error.note(&folder.wyren, "");
            host.log(Level::Error, &error.whole());
            Ok(Some(folder))
        }
    }
}

/// Returns what the user trusts of the project of a memory; `None` when it was never trusted.
pub(crate) fn trust(folder: &Folder, host: &Host) -> Option<Trust> {
    Trust::read(&host.paths, folder.wyren.parent()?, Identity::of)
}

/// Returns who brought the entries of a memory, as far as the last syncs know.
pub(crate) fn authors(folder: &Folder, host: &Host) -> Authors {
    Authors(place::authors::read(&host.paths.authors_file(&folder.wyren)))
}

fn whole(view: &View, memory: Option<&str>, warning: &str, trust: Option<&Trust>, frame: Frame<'_>) -> News {
    let broadcast = view.broadcast(trust);
    let told = news::everything(view, memory, &broadcast);
    let mut untrusted = Vec::new();
    let files: Vec<BroadcastFile<'_>> = broadcast
        .iter()
        .map(|file| BroadcastFile {
            path: &file.path,
            body: &file.body,
            is_trusted: news::is_trusted(file, trust, &mut untrusted),
        })
        .collect();
    let warning = if warning.is_empty() { String::new() } else { format!("{warning}\n\n") };
    let budget = INJECTION_UNITS.saturating_sub(warning.encode_utf16().count());
    let injection = inject(&Memory::parse(&without_comments(&told.memory)), &files, budget, frame);
    News { text: format!("{warning}{}", injection.text).trim_end().to_owned(), told, untrusted }
}
