//! The client's status line: model, project, window, team memory, lessons and spending.

use hook::Arena;
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    statusline::run();
    // With another code the client would show nothing.
    ExitCode::SUCCESS
}
