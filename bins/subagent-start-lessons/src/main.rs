//! SubagentStart: gives a subagent the directives that its parent has.

use hook::{Answer, Arena, Silence, SubagentStart};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("subagent-start-lessons", Silence::Empty, |call: SubagentStart, host| {
        let text = lessons::start::for_subagent(host, &call);
        Ok(capture::told(Answer::context(text), &call, host))
    })
}
