//! SessionEnd: records the end, takes back leave for the session, requests the distillation of the remaining turns, and starts the worker when something waits.

use hook::{Answer, Arena, Event as _, SessionEnd, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-end", Silence::Continue, |call: SessionEnd, host| {
        let recorded = capture::record_end(&call, host);
        let ended = schedule::end(&call, host);
        let taken_back = call.session_id().map_or(Ok(()), |session| base::allowed::end(&host.paths, session));
        if call.agent_id().is_none() && !matches!(ended, Ok(true)) {
            queue::nudge_at_end(&host.paths, call.session_id(), host.started)?;
        }
        Ok(Answer::silent()
            .afterwards(|| Ok(recorded?))
            .afterwards(|| ended.map(drop))
            .afterwards(|| Ok(taken_back?)))
    })
}
