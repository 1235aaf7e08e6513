//! A hook that hangs, to show that its deadline ends it.

use hook::{SessionEnd, Silence};
use std::process::ExitCode;

fn main() -> ExitCode {
    hook::run("hanging-hook", Silence::Continue, |_call: SessionEnd, _host| {
        loop {
            std::thread::park();
        }
    })
}
