//! SessionStart: has distilled what earlier sessions have left, gets what the team remembers and tells it to this one.

use hook::{Arena, SessionStart, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-start-memory", Silence::Empty, |call: SessionStart, host| {
        schedule::see_to_leftovers(&host.cwd(&call), host);
        let answer = briefing::start::answer(&call, host)?;
        Ok(capture::told(answer, &call, host))
    })
}
