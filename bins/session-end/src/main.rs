//! SessionEnd: has the turns distilled that the session leaves behind, and starts the worker when something waits for it.

use hook::{Answer, Arena, Event as _, SessionEnd, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-end", Silence::Continue, |call: SessionEnd, host| {
        let ended = schedule::end(&call, host);
        if call.agent_id().is_none() {
            queue::nudge(&host.paths, call.session_id(), host.started)?;
        }
        ended?;
        Ok(Answer::silent())
    })
}
