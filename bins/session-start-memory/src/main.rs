//! SessionStart: gets what the team remembers and tells it to the session.

use hook::{Arena, SessionStart, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-start-memory", Silence::Empty, |call: SessionStart, host| {
        team::start::answer(&call, host)
    })
}
