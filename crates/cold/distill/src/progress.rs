//! How far a session is distilled, and that a distillation runs: what the watermark and the marks say.

use crate::Error;
use crate::session::{Session, Work};
use base::lock::Lock;
use base::{Timestamp, files};
use place::node;
use schedule::watermark::key;
use schedule::{Hold, Watermark, marks};
use std::io;
use std::path::Path;
use std::time::Duration;
use transcript::Mark;

/// How long to wait for another distillation of the same clone.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

/// How long to wait for the watermark, which hooks hold for a millisecond.
const WATERMARK_PATIENCE: Duration = Duration::from_secs(5);

/// The state of a session when its distillation began.
#[derive(Default)]
pub(crate) struct Begun {
    /// Its counted turns: the slices contain them all.
    turns: u64,
    /// The time of the request, in milliseconds since 1970.
    requested_at: u64,
    pub(crate) bad_answers: u64,
    pub(crate) mark: Option<Mark>,
}

/// Keeps other distillations of the clone out until the lock is dropped.
pub fn lock(state: &Path) -> Result<Lock, Error> {
    files::refuse_link(state)?;
    Lock::exclusive(&state.join("distill.lock"), LOCK_PATIENCE)?.ok_or(Error::Busy)
}

/// Notes that a distillation runs; returns the state before it.
pub(crate) fn begin(work: &Work<'_>) -> Result<Begun, Error> {
    let (session, now) = (work.session, work.session.now);
    let mut hold = hold(&work.state)?;
    // The Node version's distiller does not take our lock.
    if hold.watermark.is_running_elsewhere(now) {
        // Writes down since when it is known: it does not say when it began.
        hold.write(now)?;
        return Err(Error::Busy);
    }
    let begun = session.begun(&work.state, &mut hold.watermark);
    let noted = hold.watermark.session_mut(session.id, None);
    noted.requested_at = now.millis().max(noted.requested_at);
    noted.cwd = Some(session.cwd.to_string_lossy().into_owned());
    hold.watermark.set_running(Some(std::process::id()));
    hold.write(now)?;
    Ok(begun)
}

/// Notes how far the session is distilled; at the end of what was begun, also that nothing runs any more.
pub(crate) fn mark(work: &Work<'_>, next: &Mark, ended: Option<&Begun>) -> Result<(), Error> {
    note(work.session, &work.state, next, ended)
}

fn note(session: &Session<'_>, state: &Path, next: &Mark, ended: Option<&Begun>) -> Result<(), Error> {
    if let Some(begun) = ended {
        node::settle(Timestamp::from_millis(begun.requested_at), Timestamp::now());
    }
    let turns = ended.map_or(0, |begun| begun.turns);
    let mut hold = hold(state)?;
    let transcript = session.transcript.to_string_lossy().into_owned();
    let watermark = &mut hold.watermark;
    watermark.turns_since_distill = watermark.turns_since_distill.saturating_sub(turns);
    let noted = watermark.session_mut(session.id, Some(&transcript));
    noted.turns = noted.turns.saturating_sub(turns);
    noted.set_mark(next);
    (noted.distilled_at, noted.bad_answers) = (session.now.millis(), 0);
    let noted = noted.clone();
    watermark.last_uuid = next.uuid.clone().or_else(|| watermark.last_uuid.take());
    watermark.last_distilled_at = Some(session.now.millis());
    watermark.last_transcript = Some(transcript);
    if ended.is_some() && !watermark.is_running_elsewhere(session.now) {
        watermark.clear_running();
    }
    hold.write(session.now)?;
    Ok(marks::keep(state, &noted, session.now)?)
}

/// Notes that nothing runs any more and that the session is still to be distilled.
pub(crate) fn give_up(work: &Work<'_>, bad_answers: Option<u64>) -> Result<(), Error> {
    let mut hold = hold(&work.state)?;
    let noted = hold.watermark.session_mut(work.session.id, None);
    noted.turns = noted.turns.max(1);
    noted.bad_answers = bad_answers.unwrap_or(noted.bad_answers);
    hold.watermark.clear_running();
    Ok(hold.write(work.session.now)?)
}

impl Session<'_> {
    /// Returns the state in which a distillation would begin, and takes the session into the watermark.
    pub(crate) fn begun(&self, state: &Path, watermark: &mut Watermark) -> Begun {
        let mut mark = marks::mark(state, watermark, self.id);
        let noted = watermark.session_mut(self.id, Some(&self.transcript.to_string_lossy()));
        if mark.uuid.is_none() {
            // The first session in a folder of the Node version takes over its record just now.
            mark.uuid.clone_from(&noted.uuid);
        }
        Begun {
            turns: noted.turns,
            requested_at: noted.requested_at,
            bad_answers: noted.bad_answers,
            mark: self.settings.since.clone().or_else(|| mark.known()),
        }
    }

    /// Returns where the session was distilled last.
    pub(crate) fn last_mark(&self, state: &Path) -> Option<Mark> {
        marks::mark(state, &Watermark::read(state), self.id).known()
    }

    /// Notes how far a session is distilled that was distilled by other means.
    pub fn note(&self, state: &Path, next: &Mark) -> Result<(), Error> {
        note(self, state, next, Some(&Begun::default()))
    }

    /// Notes that the session is still to be distilled, after the last attempt of a job failed.
    pub fn leave(&self) -> Result<(), Error> {
        let work = Work::open(self)?;
        let mut hold = hold(&work.state)?;
        let noted = hold.watermark.session_mut(self.id, None);
        noted.turns = noted.turns.max(1);
        Ok(hold.write(self.now)?)
    }

    /// Forgets a session that does not belong to the clone, and logs that.
    pub fn disown(&self) -> Result<(), Error> {
        let work = Work::open(self)?;
        let transcript = self.transcript.display();
        work.log(&format!("distiller: nothing in {transcript} happened here; it was ignored"));
        let mut hold = hold(&work.state)?;
        hold.watermark.sessions.remove(&key(self.id));
        if !hold.watermark.is_running_elsewhere(self.now) {
            hold.watermark.clear_running();
        }
        Ok(hold.write(self.now)?)
    }
}

fn hold(state: &Path) -> Result<Hold, Error> {
    let busy = || io::Error::new(io::ErrorKind::WouldBlock, "the watermark is in use");
    Ok(Hold::take(state, WATERMARK_PATIENCE)?.ok_or_else(busy)?)
}
