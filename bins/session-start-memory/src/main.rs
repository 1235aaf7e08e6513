//! SessionStart: records the start, requests the distillation of earlier sessions, fetches and shows the team memory.

use hook::{Arena, SessionStart, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-start-memory", Silence::Empty, |call: SessionStart, host| {
        schedule::see_to_leftovers(&host.cwd(&call), host);
        let recorded = capture::record_start(&call, host);
        let answer = briefing::start::answer(&call, host)?;
        // What could not be recorded is logged; the session gets its memory all the same.
        Ok(capture::told(answer, &call, host).afterwards(|| Ok(recorded?)))
    })
}
