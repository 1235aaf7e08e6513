//! PreToolUse: shows what was done and learned in this file before, once per file and window.

use hook::{Arena, PreToolUse, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("file-recall", Silence::Empty, |call: PreToolUse, host| {
        let answer = recall::file::answer(&call, host);
        Ok(capture::told(answer, &call, host))
    })
}
