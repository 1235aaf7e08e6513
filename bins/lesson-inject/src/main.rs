//! PreToolUse: says the lessons that this call is about to need, or refuses it.

use hook::{Arena, PreToolUse, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("lesson-inject", Silence::EmptyObject, |call: PreToolUse, host| {
        Ok(capture::told(lessons::inject::answer(&call, host), &call, host))
    })
}
