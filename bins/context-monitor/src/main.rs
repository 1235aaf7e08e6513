//! PostToolUse: shows what the team changed during the turn, once per turn.

use hook::{Answer, Arena, PostToolUse, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("context-monitor", Silence::Empty, |_call: PostToolUse, _host| Ok(Answer::silent()))
}
