//! PostToolUse: shows what the team changed during the turn, once per turn.

use hook::{Arena, PostToolUse, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("context-monitor", Silence::Empty, |call: PostToolUse, host| {
        let answer = briefing::during::answer(&call, host)?;
        Ok(capture::told(answer, &call, host))
    })
}
