//! SubagentStart: shows a subagent the directives.

use hook::{Answer, Arena, Silence, SubagentStart};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("subagent-start-lessons", Silence::Empty, |call: SubagentStart, host| {
        Ok(Answer::context(lessons::start::for_subagent(host, &host.cwd(&call))))
    })
}
