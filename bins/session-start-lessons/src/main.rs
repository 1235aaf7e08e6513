//! SessionStart: asks the model to report lessons and reminds it of the standing ones, once per window.

use hook::event::Source;
use hook::{Answer, Arena, SessionStart, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-start-lessons", Silence::Empty, |call: SessionStart, host| {
        Ok(match call.source() {
            // The window still holds the text.
            Source::Resume => Answer::silent(),
            Source::Startup | Source::Clear | Source::Compact => {
                capture::told(lessons::start::for_session(host, &call), &call, host)
            }
        })
    })
}
