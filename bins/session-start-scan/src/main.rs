//! SessionStart: queues a scan for lessons at startup, when the last one is older than `lessons.scan_interval_hours`.

use hook::{Answer, Arena, SessionStart, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-start-scan", Silence::Empty, |call: SessionStart, host| {
        schedule::see_to_scan(&call, host)?;
        Ok(Answer::silent())
    })
}
