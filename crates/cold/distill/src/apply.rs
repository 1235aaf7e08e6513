//! Step three: the operations change the memory, and the watermark says so.

use crate::intent::Intent;
use crate::progress::Begun;
use crate::session::{Session, Step, Work};
use crate::size::Room;
use crate::{Error, progress};
use base::Timestamp;
use base::left::HOW_TO_BRING_BACK;
use distiller::{Applied, Context, Operation, SESSION_FIELD};
use memory::history::Removal;
use team_sync::Share;
use text::{privacy, redact, sanitize};

/// The longest part of an entry in the log, in characters.
const MAX_LOGGED_CHARS: usize = 100;

/// Applies an intent, and marks how far the session is distilled by it. Returns `None` when the intent was dropped.
pub(crate) fn apply(
    work: &Work<'_>,
    intent: &Intent,
    ended: Option<&Begun>,
) -> Result<Option<Applied>, Error> {
    if let Some(note) = &intent.journal
        && let Err(error) = note.keep(work.session)
    {
        // The journal has a summary by rules all the same.
        work.log(&format!("distiller: the summary was not kept: {error}"));
    }
    let when = Timestamp::from_millis(intent.when);
    let room = Room::of(&work.share, &work.share.memory()?, when);
    let context = Context {
        session: &intent.session,
        author: &intent.author,
        when,
        evidence: &intent.evidence,
        clearance: room.clearance(work.taken.get()),
    };
    let applied = match change(&work.share, &intent.operations, &context) {
        Ok(applied) => Some(applied),
        // The same messages would lead to the same intent again.
        Err(error @ team_sync::Error::Emptied(_)) => {
            work.log(&format!("distiller: the intent was dropped: {error}"));
            None
        }
        Err(error) => return Err(error.into()),
    };
    work.reached(Step::Changed);
    if let Some(applied) = &applied {
        work.taken.update(|taken| taken + applied.taken);
        work.session.tell(&work.share, applied);
    }
    progress::mark(work, &intent.next, ended)?;
    work.reached(Step::Marked);
    // A file that went with its project is not called written.
    if let Some(applied) = applied.as_ref().filter(|_| work.gone().is_none()) {
        log(work, intent, applied);
    }
    Ok(applied)
}

/// Applies operations to the memory as it is now, under its lock. Writes nothing when nothing changes.
pub(crate) fn change(
    share: &Share,
    operations: &[Operation],
    context: &Context<'_>,
) -> Result<Applied, team_sync::Error> {
    share.change_with(|memory| {
        let applied = distiller::apply(memory, operations, context);
        let changed = applied.is_changed().then(|| (applied.memory.clone(), applied.removals.clone()));
        (changed, applied)
    })
}

/// Returns how many entries the history says that an intent took out without anything in their place.
pub(crate) fn noted(share: &Share, intent: &Intent) -> usize {
    let when = Timestamp::from_millis(intent.when).to_string();
    let is_of_it = |removal: &&Removal| {
        removal.when == when && removal.replaced_by.is_none() && removal.other.contains_key(SESSION_FIELD)
    };
    share.noted().map_or(0, |history| history.removals.iter().filter(is_of_it).count())
}

impl Session<'_> {
    /// Notes the size of a memory that was changed, and says what left it without anything in its place: in the log, and to
    /// the person at their next prompt.
    pub(crate) fn tell(&self, share: &Share, applied: &Applied) {
        self.note_size(share, &applied.memory);
        let is_unreplaced = |removal: &&Removal| removal.replaced_by.is_none();
        let left: Vec<String> = applied.removals.iter().filter(is_unreplaced).map(described).collect();
        if left.is_empty() {
            return;
        }
        let line = format!("distiller: left the memory: {}; {HOW_TO_BRING_BACK}", left.join(", "));
        self.observer.line(&line);
        share.log(&line);
        // The log and `wyren status` say it, too.
        let _ = base::left::note(self.paths, &share.folder().wyren, left.len());
    }
}

fn described(removal: &Removal) -> String {
    let text = sanitize::one_line(&redact::redact(&privacy::strip(&removal.text).text), MAX_LOGGED_CHARS);
    format!("\"{text}\" ({})", removal.why)
}

fn log(work: &Work<'_>, intent: &Intent, applied: &Applied) {
    for refused in &applied.refused {
        work.log(&format!("distiller: refused an operation: {}", refused.why));
    }
    let uuid = intent.next.uuid.as_deref().unwrap_or("-");
    let chars = applied.memory.render().chars().count();
    let did = if applied.is_changed() { "wrote" } else { "kept" };
    let path = work.share.folder().memory();
    work.log(&format!("distiller: {did} {} ({chars} chars). last_uuid={uuid}", path.display()));
}
