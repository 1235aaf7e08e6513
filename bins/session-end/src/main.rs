//! SessionEnd: has the turns distilled that the session leaves behind.

use hook::{Answer, Arena, SessionEnd, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-end", Silence::Continue, |call: SessionEnd, host| {
        schedule::end(&call, host)?;
        Ok(Answer::silent())
    })
}
