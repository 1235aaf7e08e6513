//! SessionEnd: records that the session ended, and has the turns distilled that it leaves behind.

use hook::{Answer, Arena, SessionEnd, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-end", Silence::Continue, |call: SessionEnd, host| {
        let recorded = capture::record_end(&call, host);
        schedule::end(&call, host)?;
        recorded?;
        Ok(Answer::silent())
    })
}
