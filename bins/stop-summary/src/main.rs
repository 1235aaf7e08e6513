//! Stop, StopFailure: records how the turn ended, and the model's last message.

use hook::{Answer, Arena, Silence, TurnEnd};
use std::process::ExitCode;
use transcript::tail;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("stop-summary", Silence::Empty, |call: TurnEnd, host| {
        capture::record_turn_end(&call, host, tail::last_reply)?;
        Ok(Answer::silent())
    })
}
