//! Step three: the operations change the memory, and the watermark says so.

use crate::intent::Intent;
use crate::progress::Begun;
use crate::session::{Step, Work};
use crate::{Error, progress};
use base::Timestamp;
use distiller::{Applied, Context, Operation};
use team_sync::Share;

/// Applies an intent, and marks how far the session is distilled by it. Returns `None` when the intent was dropped.
pub(crate) fn apply(
    work: &Work<'_>,
    intent: &Intent,
    ended: Option<&Begun>,
) -> Result<Option<Applied>, Error> {
    let context = Context {
        session: &intent.session,
        author: &intent.author,
        when: Timestamp::from_millis(intent.when),
        evidence: &intent.evidence,
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
