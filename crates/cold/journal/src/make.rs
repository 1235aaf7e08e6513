//! From a turn to entries and a summary: pure, without a model, the same whenever it is done.

mod given;

use crate::entry::{Entry, Summary};
use crate::turn::Turn;

/// What was made of a turn, each with the row of the observation that it begins with.
#[derive(Clone, Debug, Default)]
pub struct Made {
    pub entries: Vec<(i64, Entry)>,
    pub summaries: Vec<(i64, Summary)>,
}

/// Makes the entries and the summary of a turn.
pub fn make(turn: &Turn) -> Made {
    given::make(turn)
}
