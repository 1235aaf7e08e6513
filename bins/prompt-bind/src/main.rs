//! UserPromptSubmit: answers `/wyren:status` and the other commands of Wyren without a model; binds the session to a context.

use hook::{Arena, Silence, UserPromptSubmit, commands};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("prompt-bind", Silence::Empty, |call: UserPromptSubmit, host| {
        commands::answer(&call, host).unwrap_or_else(|| binding::answer(&call, host))
    })
}
