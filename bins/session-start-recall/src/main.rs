//! SessionStart: shows an index of earlier work in this project, from the journal; nothing on resume.

use hook::{Arena, SessionStart, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-start-recall", Silence::Empty, |call: SessionStart, host| {
        Ok(journal::recall::answer(&call, host))
    })
}
