//! Stop: counts the turn, has the session distilled when enough of them have come together, and starts the worker when
//! something waits for it.

use hook::{Answer, Arena, Event as _, Silence, Stop};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("stop-distill", Silence::Empty, |call: Stop, host| {
        let counted = schedule::count(&call, host);
        // At most one program is started: the worker that distills drains the spool as well.
        if call.agent_id().is_none() && !matches!(counted, Ok(true)) {
            queue::nudge(&host.paths, call.session_id(), host.started)?;
        }
        Ok(Answer::silent().afterwards(|| counted.map(drop)))
    })
}
