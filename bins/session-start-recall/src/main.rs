//! SessionStart: shows the plan and tasks that a new window goes on with, and an index of earlier work; nothing on resume.

use hook::{Arena, SessionStart, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    journal::recall::prepare();
    hook::run("session-start-recall", Silence::Empty, |call: SessionStart, host| {
        Ok(journal::recall::answer(&call, host))
    })
}
