//! UserPromptSubmit: records what the user asked, unless it is private.

use hook::{Answer, Arena, Silence, UserPromptSubmit, commands};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("prompt-record", Silence::Continue, |call: UserPromptSubmit, host| {
        if !commands::is_answered(&call, host) {
            capture::record_prompt(&call, host)?;
        }
        Ok(Answer::silent())
    })
}
