//! A hook that speaks when it wins a claim, to show that exactly one of many wins.

use hook::{Answer, Keep, SessionStart, Silence};
use std::process::ExitCode;

fn main() -> ExitCode {
    hook::run("claiming-hook", Silence::Empty, |call: SessionStart, host| {
        let won = host.claims(&call).take("the-one", Keep::UntilClear);
        Ok(if won { Answer::context("won") } else { Answer::silent() })
    })
}
