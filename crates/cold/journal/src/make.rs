//! From a turn to entries and a summary: pure, without a model, the same whenever it is done.

mod change;
mod given;
mod lines;
mod mood;
mod offer;
pub(crate) mod prose;
mod run;
mod story;
mod summary;
mod symbol;
mod work;

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
    let mut made = given::make(turn);
    let story = story::of(turn);
    let has_calls = story.parts.iter().any(|part| part.calls > 0);
    // An imported turn has a prompt and what another system made of it.
    if !has_calls && story.end.is_none() && !(made.entries.is_empty() && made.summaries.is_empty()) {
        return made;
    }
    let words = work::Words::of(&story, &turn.before);
    made.entries.extend(work::entries(turn, &story, &words));
    if made.summaries.is_empty() {
        made.summaries.extend(summary::of(turn, &story, &words));
    }
    given::retitle(turn, &mut made.entries);
    made
}
