//! PostToolUse: records what changes in the client's list of tasks.

use hook::{Answer, Arena, PostToolUse, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("task-record", Silence::Empty, |call: PostToolUse, host| {
        capture::record_task(&call, host)?;
        Ok(Answer::silent())
    })
}
