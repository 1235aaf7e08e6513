//! Capture: what happened becomes an [`Observation`], which hooks append to the spool; the worker or the next `wyren`
//! command drains the spool into the database.
//!
//! Hooks link this crate, so it knows no SQLite. A writer needs no daemon and no lock that could be left behind; what
//! it has written survives the death of any process. Large values are cut and secrets taken out *before* anything is
//! written ([`shrink`]).
//!
//! ```text
//! spool/<session>/<hour>.jsonl    observations, one JSON object per line
//! spool/<session>/bulk/<name>     the observation of a line that would be longer than 64 KiB
//! spool/<session>/private         the last prompt was wholly private: nothing under it is recorded
//! spool/.unrecorded               which prompts were left out ([`Unrecorded`])
//! ```

mod observation;
pub mod plan;
mod read;
mod record;
mod rules;
pub mod sent;
pub mod shrink;
pub mod task;
mod unrecorded;
mod write;

pub use observation::{
    CLAUDE_CODE, Data, Fields, Kept, Observation, Prompt, Refused, SessionEnd, SessionStart, Told, ToolCall,
    TurnEnd, VERSION,
};
pub use plan::{Plan, record_plan};
pub use read::{Batch, Done, SpoolFile};
pub use record::Error as RecordError;
pub use record::{
    carry_privacy_to_subagent, left_of_window, may_record_call, may_record_coming_call, record_end,
    record_prompt, record_start, record_tool, record_turn_end, refused, told, told_about_call, told_as,
    told_with_prompt,
};
pub use rules::{Rule, Rules};
pub use task::{Task, record_task};
pub use unrecorded::{Unrecorded, Why};
pub use write::{Error, Spool};
