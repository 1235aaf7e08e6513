//! PreToolUse and PostToolUse of ExitPlanMode: keeps every plan that the model shows, and which ones the user accepts.

use hook::{Answer, Arena, AroundTool, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("plan-archive", Silence::Empty, |call: AroundTool, host| {
        capture::record_plan(&call, host)?;
        Ok(Answer::silent())
    })
}
