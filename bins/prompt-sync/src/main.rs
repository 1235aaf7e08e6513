//! UserPromptSubmit: shows the session what the team has changed since its last prompt.

use hook::{Arena, Silence, UserPromptSubmit};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("prompt-sync", Silence::Empty, |call: UserPromptSubmit, host| {
        let answer = briefing::prompt::answer(&call, host)?;
        Ok(capture::told_with_prompt(answer, &call, host))
    })
}
