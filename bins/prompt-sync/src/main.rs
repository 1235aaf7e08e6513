//! UserPromptSubmit: shows the session what the team has changed since its last prompt, and, where the user wants it,
//! what the journal has about something that the prompt names.

use hook::{Answer, Arena, Silence, UserPromptSubmit, commands};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("prompt-sync", Silence::Empty, |call: UserPromptSubmit, host| {
        if commands::is_answered(&call, host) {
            return Ok(Answer::silent());
        }
        window::note_mode(&call, call.permission_mode.as_deref(), host);
        let answer = briefing::prompt::answer(&call, host)?;
        let answer = recall::prompt::beside(answer, &call, host);
        Ok(capture::told_with_prompt(answer, &call, host))
    })
}
