//! A prompt: shows what the team has changed since this session's last one.

use base::log::Level;
use base::trust::{Item, Trust};
use hook::{Answer, Event, Host, Outcome, UserPromptSubmit};
use memory::Frame;
use place::node::{UpsState, last_injected, write_last_injected};
use place::{FetchState, Folder};
use std::path::{Path, PathBuf};

use crate::error::log_injection;
use crate::news::{self, Audience, Length, News};
use crate::pull::{self, Launch, Pulled};
use crate::snapshot::{self, Snapshot};
use crate::view::{View, tellable_memory};
use crate::{Error, rewrite, start, voice};
use place::log::PROMPT_TAG;

pub fn answer(call: &UserPromptSubmit, host: &Host) -> Outcome<UserPromptSubmit> {
    answer_with(call, host, &|arguments, folder| pull::launch(&host.paths, arguments, folder))
}

/// Answers a prompt; `launch` starts what asks the remote.
pub fn answer_with(call: &UserPromptSubmit, host: &Host, launch: &Launch<'_>) -> Outcome<UserPromptSubmit> {
    let cwd = host.cwd(call);
    let Some(found) = Folder::find(&cwd) else {
        return Ok(voice::speak(Answer::silent(), call, host, None, Vec::new()));
    };
    let (folder, fetched) = pulled(found, &cwd, host, launch);
    if let Some(session) = call.session_id() {
        // Before the look: what arrives after it has a note of its own. A note that stays costs a tool call a look.
        let _ = place::news::take(&host.paths, session);
    }
    let file = call.session_id().map(|session| snapshot::file(&folder.state(), session));
    let known = file.as_deref().and_then(Snapshot::read);
    let Some(composed) = Composed::of(call, host, &folder, (file, known), fetched, Length::Full) else {
        return Ok(voice::speak(Answer::silent(), call, host, Some(&folder), Vec::new()));
    };
    let Composed { text, view, trust, untrusted, kept } = composed;
    let notices = voice::about_memory(&folder, &view, trust.as_ref(), &untrusted, host);
    let is_shown = !text.is_empty();
    let answer = voice::speak(Answer::context(text), call, host, Some(&folder), notices);
    Ok(answer.afterwards(move || kept.finish(&folder, is_shown.then_some("user-prompt-submit"))))
}

/// News for a session, and what is kept once it is shown.
pub(crate) struct Composed {
    pub(crate) text: String,
    view: View,
    trust: Option<Trust>,
    untrusted: Vec<Item>,
    pub(crate) kept: Kept,
}

impl Composed {
    /// Composes what the session of `call` has not seen yet; `None` when nothing changed. `file` and `known` are its snapshot.
    pub(crate) fn of(
        call: &impl Event,
        host: &Host,
        folder: &Folder,
        (file, known): (Option<PathBuf>, Option<Snapshot>),
        fetched: FetchState,
        length: Length,
    ) -> Option<Self> {
        let session = call.session_id();
        let mut view = View::look(folder);
        if let Some(known) = &known
            && known.stamps.still_hold(&view.stamps)
            && known.rewrite == fetched.rewritten_from
        {
            return None;
        }

        let memory = view.memory();
        let mut ups = UpsState::read(&folder.state());
        let start = known.clone().unwrap_or_else(|| of_clone(folder, &ups, &view, memory.as_deref()));
        // Sessions without an id share one warning per clone.
        let warned = if session.is_some() { start.rewrite.clone() } else { ups.rewrite() };
        let warning = rewrite::warning(&fetched, warned.as_deref());
        let trust = if view.has_skills() || view.has_lessons() { start::trust(folder, host) } else { None };
        let (fence, authors) = (host.fence(call), start::authors(folder, host));
        let frame = Frame { fence: &fence, authors: &authors, now: host.started };
        let audience = Audience { session, warning: &warning, trust: trust.as_ref(), frame, length };
        let News { text, mut told, untrusted } = news::since(start, &view, memory.as_deref(), &audience);
        told.rewrite = fetched.rewritten_from;

        let known_ups = ups.clone();
        if memory.is_some() {
            ups.note(&told.memory, view.memory_millis().filter(|_| memory.as_ref() == Some(&told.memory)));
        }
        if session.is_none() {
            ups.note_rewrite(told.rewrite.as_deref());
        }
        let kept = Kept {
            state: folder.state(),
            snapshot: file.filter(|_| known.as_ref() != Some(&told)),
            ups: Some(ups).filter(|ups| *ups != known_ups),
            has_memory: memory.is_some(),
            told,
        };
        Some(Self { text, view, trust, untrusted, kept })
    }
}

/// Returns the memory as the remote has it now, where that can be had in time, and what is known about the remote.
fn pulled(folder: Folder, cwd: &Path, host: &Host, launch: &Launch<'_>) -> (Folder, FetchState) {
    let fetched = FetchState::read(&folder.wyren);
    match pull::at_prompt(&folder, &fetched, host, launch) {
        Ok(Pulled::Awaited) => {
            let folder = Folder::find(cwd).unwrap_or(folder);
            let fetched = FetchState::read(&folder.wyren);
            (folder, fetched)
        }
        Ok(Pulled::NotAwaited) => (folder, fetched),
        Err(error) => {
            error.note(&folder.wyren, PROMPT_TAG);
            host.log(Level::Error, &error.whole());
            (folder, fetched)
        }
    }
}

/// Returns what a session without a snapshot counts as having seen: the clone's last injected memory, else everything.
fn of_clone(folder: &Folder, ups: &UpsState, view: &View, memory: Option<&str>) -> Snapshot {
    let everything = news::everything(view, memory, &view.broadcast(None));
    let is_known = |memory: &str| ups.is_as_of(view.memory_millis()) || ups.is_about(memory);
    if !ups.is_seeded() || memory.is_some_and(is_known) {
        return everything;
    }
    // The Node version keeps the whole file, including the parts that are not shown.
    Snapshot { memory: tellable_memory(last_injected(&folder.state())), ..everything }
}

/// What is kept once the answer is written.
pub(crate) struct Kept {
    /// The folder of what is never shared.
    state: PathBuf,
    /// Where the session's snapshot goes, when it changed.
    snapshot: Option<PathBuf>,
    /// The memory last injected in this clone, when it changed.
    ups: Option<UpsState>,
    /// Whether there is a memory at all.
    has_memory: bool,
    /// What the session has seen.
    told: Snapshot,
}

impl Kept {
    /// Keeps it, and logs that the session was given something at `event`.
    pub(crate) fn finish(
        &self,
        folder: &Folder,
        event: Option<&str>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let logged = event.map_or(Ok(()), |event| log_injection(&folder.wyren, PROMPT_TAG, event));
        let written = self.write().and(logged);
        written.inspect_err(|error| error.note(&folder.wyren, PROMPT_TAG)).map_err(Into::into)
    }

    /// Writes the snapshot first: after a crash in between, only sessions without one get the text again.
    fn write(&self) -> Result<(), Error> {
        self.snapshot.as_deref().map_or(Ok(()), |file| self.told.write(file))?;
        let Some(ups) = &self.ups else { return Ok(()) };
        let injected =
            if self.has_memory { write_last_injected(&self.state, &self.told.memory) } else { Ok(()) };
        ups.write(&self.state).and(injected).map_err(Error::write(&self.state))
    }
}
