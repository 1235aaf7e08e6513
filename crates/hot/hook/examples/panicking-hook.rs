//! A hook that panics, to show that a turn goes on undisturbed.

use hook::{SessionStart, Silence};
use std::process::ExitCode;

fn main() -> ExitCode {
    hook::run("panicking-hook", Silence::Empty, |call: SessionStart, _host| {
        panic!("a defect in the hook; the session is {:?}", call.session_id)
    })
}
