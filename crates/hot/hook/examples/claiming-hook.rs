//! A hook that speaks when it wins a claim, to show that exactly one of many wins.

use hook::{Answer, Keep, SessionStart, Silence};
use std::process::ExitCode;

fn main() -> ExitCode {
    hook::run("claiming-hook", Silence::Empty, |call: SessionStart, host| {
        Ok(match host.claims(&call).take("the-one", Keep::UntilClear) {
            Some(claim) => Answer::context("won").claiming([claim]),
            None => Answer::silent(),
        })
    })
}
