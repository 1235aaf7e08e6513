//! Stop: counts the turn, and has the session distilled when enough of them have come together.

use hook::{Answer, Arena, Silence, Stop};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("stop-distill", Silence::Empty, |call: Stop, host| {
        schedule::count(&call, host)?;
        Ok(Answer::silent())
    })
}
