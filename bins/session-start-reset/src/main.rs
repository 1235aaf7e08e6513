//! SessionStart: lets what was shown before be shown again, as far as the window forgot it, and notes the model.

use hook::event::Source;
use hook::{Answer, Arena, SessionStart, Silence};
use std::process::ExitCode;
use window::Notes;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("session-start-reset", Silence::Empty, |call: SessionStart, host| {
        let claims = host.claims(&call);
        match call.source() {
            Source::Startup | Source::Clear => claims.forget_all()?,
            Source::Compact => claims.forget_compacted()?,
            Source::Resume => {}
        }
        claims.clean_up(host.started);
        Notes::beside(&claims).begin(&call)?;
        Ok(Answer::silent())
    })
}
