//! PreToolUse: stops a loop, shows the lessons that this call needs, or refuses it.

use hook::{Arena, PreToolUse, Silence};
use lessons::{inject, layers};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("lesson-inject", Silence::EmptyObject, |call: PreToolUse, host| {
        let may_keep = || capture::may_record_coming_call(&call, host);
        let lessons = || inject::answer(&call, host, layers::compile_beside, may_keep);
        let answer = attempts::pause(&call, host).unwrap_or_else(lessons);
        Ok(capture::refused(capture::told_about_call(answer, &call, host), &call, host))
    })
}
