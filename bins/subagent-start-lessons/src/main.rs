//! SubagentStart: gives a subagent the team's memory and the directives that the user wants followed.

use hook::{Answer, Arena, Silence, SubagentStart};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("subagent-start-lessons", Silence::Empty, |call: SubagentStart, host| {
        capture::carry_privacy_to_subagent(&call, host);
        let reminders = lessons::start::for_subagent(host, &call);
        let text = briefing::subagent::text(&call, host, &reminders);
        Ok(capture::told(Answer::context(text), &call, host))
    })
}
