//! `drain`: what hooks recorded goes from the spool into the database, a bounded piece at a time.

use crate::handler::{Context, Handler, Progress};
use base::error::with_causes;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::{Rules, Spool};
use search::sources;
use std::time::Duration;
use store::Store;
use store::jobs::Failure;
use store::observations::{Drain, Drained};

/// The name of the kind.
pub(crate) const KIND: &str = "drain";

/// What one piece drains: some seconds at most, and far more than a day of work records.
const MAX_LINES: usize = 20_000;

/// How long one piece writes the search index.
const INDEX_PIECE: Duration = Duration::from_secs(3);

/// Does jobs of this kind.
pub(super) struct DrainSpool;

impl Handler for DrainSpool {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
        let now = Timestamp::now();
        let piece = drain(&mut context.store, &context.env, &context.paths, now);
        let piece = piece.map_err(|error| Failure::Again(error.to_string()))?;
        Ok(if piece.is_last { Progress::Done } else { Progress::Again { not_before: now } })
    }
}

/// A piece of the spool that was drained.
pub(crate) struct Piece {
    pub(crate) is_last: bool,
    /// Whether another process is draining: how far that comes is not known.
    pub(crate) is_elsewhere: bool,
    /// Why tables could not be derived from it.
    pub(crate) derive_errors: Vec<String>,
}

/// Drains a piece of the spool, looks into the transcripts of turns that ended for what no event told, derives from both, and
/// writes what hooks look up of it and what is searched. Another process that is draining does the same work.
pub(crate) fn drain(
    store: &mut Store,
    env: &Env,
    paths: &Paths,
    now: Timestamp,
) -> Result<Piece, store::Error> {
    let (spool, rules) =
        (Spool::new(paths.spool()), Rules::of(&Settings::read(env, &paths.hook_settings()), env));
    let drained = Drain::unbounded(&spool).at_most(MAX_LINES).following(&rules).run(store, now)?;
    Ok(match drained {
        Drained::Busy => Piece { is_last: true, is_elsewhere: true, derive_errors: Vec::new() },
        Drained::Done(progress) => {
            let mut derive_errors = progress.derive_errors;
            if !(progress.is_complete && progress.is_derived) {
                return Ok(Piece { is_last: false, is_elsewhere: false, derive_errors });
            }
            // Once all is there: a large spool comes in many pieces.
            let cached = journal::file_cache::refresh(store, paths);
            derive_errors
                .extend(cached.err().map(|error| format!("the cache of files: {}", with_causes(&error))));
            let indexed = sources::refresh(store, paths, None, INDEX_PIECE);
            // Without progress the next piece would come no further.
            let is_last =
                indexed.as_ref().map_or(true, |indexed| indexed.is_complete || indexed.documents == 0);
            if let Err(error) = indexed.as_ref()
                && !error.is_busy()
            {
                derive_errors.push(format!("the search index: {}", with_causes(error)));
            }
            let judged = if is_last { effect::refresh_if_due(store, env, paths, now) } else { Ok(()) };
            derive_errors
                .extend(judged.err().map(|error| format!("what lessons did: {}", with_causes(&error))));
            Piece { is_last, is_elsewhere: false, derive_errors }
        }
    })
}
