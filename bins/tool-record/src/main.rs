//! PostToolUse, PostToolUseFailure: notes a failure for the end of loops, and records the call with its result.

use hook::{Answer, Arena, Silence, ToolOutcome};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("tool-record", Silence::Continue, |call: ToolOutcome, host| {
        attempts::observe(&call, host, || capture::may_record_call(&call, host));
        capture::record_tool(&call, host)?;
        Ok(Answer::silent())
    })
}
