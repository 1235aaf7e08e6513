//! SessionStart: asks the model to report lessons, once per window.

use hook::event::Source;
use hook::{Answer, SessionStart, Silence};
use std::process::ExitCode;

fn main() -> ExitCode {
    hook::run("session-start-lessons", Silence::Empty, |call: SessionStart, _host| {
        Ok(match call.source() {
            // The window still holds the text.
            Source::Resume => Answer::silent(),
            Source::Startup | Source::Clear | Source::Compact => Answer::context(lessons::PROTOCOL),
        })
    })
}
