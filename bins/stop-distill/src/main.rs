//! Stop: counts the turn, has the session distilled when enough of them have come together, starts the worker when something
//! waits for it, and else looks for the team's news, which the next prompt then finds.

use hook::{Answer, Arena, Event as _, Silence, Stop};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("stop-distill", Silence::Empty, |call: Stop, host| {
        let folder = schedule::folder(&call, host);
        let counted = folder.as_ref().map_or(Ok(false), |folder| schedule::count(&call, host, folder));
        // At most one program is started: the worker that distills drains the spool and syncs as well.
        if call.agent_id().is_none() && !matches!(counted, Ok(true)) {
            let started = queue::nudge(&host.paths, call.session_id(), host.started)?;
            if let (Some(folder), false) = (&folder, matches!(started, queue::Start::Started(_))) {
                briefing::pull::at_stop(folder, host)?;
            }
        }
        Ok(Answer::silent().afterwards(|| counted.map(drop)))
    })
}
