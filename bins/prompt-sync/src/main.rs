//! UserPromptSubmit: shows the session what the team has changed since its last prompt.

use hook::{Arena, Silence, UserPromptSubmit};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("prompt-sync", Silence::Empty, |call: UserPromptSubmit, host| {
        briefing::prompt::answer(&call, host)
    })
}
