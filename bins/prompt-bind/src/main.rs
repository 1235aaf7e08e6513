//! UserPromptSubmit: answers `/wyren:status` and the other commands of Wyren without a model.

use hook::{Answer, Arena, Silence, UserPromptSubmit};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("prompt-bind", Silence::Empty, |_call: UserPromptSubmit, _host| Ok(Answer::silent()))
}
