//! What was made of turns whose calls have lost their payloads.
//!
//! The tables are derived, so what retention takes from the observations would be missing when they are made anew. Before it
//! does, it keeps what was made of the turn in one observation of the kind `made`, under the ids that it had: one more
//! observation rather than one for each entry, so that a turn is either made of its calls or was kept, never in between; and no
//! `entry` observation, since that would have an id of its own and could no longer be amended under the one that people know.

use crate::entry::{Entry, Summary};
use crate::make::{self, Made};
use crate::turn::{Observed, Turn};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::observations::retain::LET_GO;

/// The kind of the observation.
pub(crate) const KIND: &str = "made";

/// The data of the observation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Kept {
    pub(crate) entries: Vec<Of<Entry>>,
    pub(crate) summaries: Vec<Of<Summary>>,
}

/// Something that was made, with the observation that it began with: rows differ from one database to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Of<T> {
    pub(crate) anchor: (String, String),
    pub(crate) made: T,
}

/// Makes the entries and the summary of a turn, or takes those that were kept of it.
pub(crate) fn make(turn: &Turn) -> Made {
    let Some(kept) = turn.observed.iter().find(|observed| observed.kind == KIND) else {
        return make::make(&without_husks(turn));
    };
    // What came whole is still there.
    let given = given(turn);
    let mut made = match &*given {
        [] => Made::default(),
        _ => make::make(&Turn { observed: given, ..turn.clone() }),
    };
    let Ok(Kept { entries, summaries }) = serde_json::from_value(kept.data.clone()) else { return made };
    made.entries.extend(entries.into_iter().map(|of| (row(turn, kept, &of.anchor), of.made)));
    made.summaries.extend(summaries.into_iter().map(|of| (row(turn, kept, &of.anchor), of.made)));
    made
}

/// Returns what has to be kept of a turn.
pub(crate) fn keep(turn: &Turn) -> Kept {
    let Made { entries, summaries } = make(turn);
    let anchor = |row: i64| {
        let observed = turn.observed.iter().find(|observed| observed.row == row);
        observed.map(|observed| (observed.kind.clone(), observed.id.clone())).unwrap_or_default()
    };
    let is_made = |anchor: &(String, String)| !is_given(&anchor.0);
    Kept {
        entries: entries
            .into_iter()
            .map(|(row, made)| Of { anchor: anchor(row), made })
            .filter(|of| is_made(&of.anchor))
            .collect(),
        summaries: summaries
            .into_iter()
            .map(|(row, made)| Of { anchor: anchor(row), made })
            .filter(|of| is_made(&of.anchor))
            .collect(),
    }
}

impl Kept {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.summaries.is_empty()
    }
}

/// Returns the row of what something began with; that of what was kept where it is gone.
fn row(turn: &Turn, kept: &Observed, (kind, id): &(String, String)) -> i64 {
    let anchor = turn.observed.iter().find(|observed| observed.kind == *kind && observed.id == *id);
    anchor.unwrap_or(kept).row
}

fn is_given(kind: &str) -> bool {
    matches!(kind, "entry" | "summary")
}

fn given(turn: &Turn) -> Vec<Observed> {
    turn.observed.iter().filter(|observed| is_given(&observed.kind)).cloned().collect()
}

/// Returns a turn without the calls of which nothing is left to tell.
fn without_husks(turn: &Turn) -> Turn {
    let is_husk = |observed: &&Observed| observed.data.get(LET_GO).and_then(Value::as_bool) == Some(true);
    let observed = turn.observed.iter().filter(|observed| !is_husk(observed)).cloned().collect();
    Turn { observed, ..turn.clone() }
}
