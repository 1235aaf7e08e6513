//! PostToolUse: warns when little of the window is left; repeats the reminders of the start when it has moved on; else shows what the
//! team changed during the turn, once per turn.

use hook::{Answer, Arena, PostToolUse, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("context-monitor", Silence::Empty, |call: PostToolUse, host| {
        window::note_mode(&call, call.permission_mode.as_deref(), host);
        let last = window::last_usage(&call, host);
        let answer = match window::warn(&call, host, last.as_ref()) {
            Some(warning) => warning,
            None if window::is_time_to_repeat(&call, host, last.as_ref()) => {
                Answer::context(lessons::start::again(host, &call))
            }
            None => briefing::during::answer(&call, host)?,
        };
        Ok(capture::told(answer, &call, host))
    })
}
