//! How long a hook takes on this machine: an event that holds nothing, from start to end.

use super::{Check, Subject};
use crate::bounded;
use crate::wired::Wiring;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NAME: &str = "speed";

/// The hook that runs before every tool call.
const HOOK: &str = "lesson-inject";

/// How often it is run; the run in the middle counts, so that one slow run says nothing.
const RUNS: usize = 5;

/// A hook that takes longer is felt: one runs before and one after every call of a tool.
const SLOW: Duration = Duration::from_millis(50);

/// How long one run may take.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn check(subject: &Subject<'_>) -> Check {
    if subject.is_hurried {
        return Check::good(NAME, "not checked here; run wyren doctor in a terminal");
    }
    let folder = subject.paths.plugin().unwrap_or_default();
    let program = folder.join("bin").join(format!("{HOOK}{}", std::env::consts::EXE_SUFFIX));
    if !super::plugin::is_program(&program) {
        return Check::good(NAME, "not measured: this program is in no plugin folder");
    }
    let mut command = Command::new(&program);
    // Nothing is recorded about it.
    command.env("WYREN_LOG", "false");
    let shown = program.display();
    let reinstall = || {
        let cwd = std::env::current_dir().unwrap_or_default();
        let wiring = Wiring::read(subject.env, subject.paths, &cwd);
        super::plugin::reinstall(subject, &wiring, &folder)
    };
    // The first run shows that there is an end to wait for, and brings the program into memory.
    match bounded::run(&mut command, PATIENCE) {
        Ok(Some(finished)) if finished.status.success() => {}
        Ok(Some(finished)) => {
            let message = format!("{shown} ended with {}", finished.status);
            return Check::bad(NAME, message, reinstall());
        }
        Ok(None) => {
            let message = format!("{shown} took longer than {} s", PATIENCE.as_secs());
            return Check::bad(NAME, message, ADVICE);
        }
        Err(error) => {
            let message = format!("{shown} could not be started: {error}");
            return Check::bad(NAME, message, reinstall());
        }
    }
    let times = (0..RUNS).map(|_| {
        let began = Instant::now();
        command.stdin(Stdio::null()).output().map(|_| began.elapsed())
    });
    match times.collect::<Result<Vec<Duration>, _>>() {
        Ok(mut times) => {
            times.sort();
            judge(times[RUNS / 2])
        }
        Err(error) => Check::odd(NAME, format!("{shown} could not be started again: {error}"), ADVICE),
    }
}

const ADVICE: &str =
    "keep the plugin and the data folder on a local disk, and exclude them from virus scanners";

fn judge(time: Duration) -> Check {
    let millis = time.as_secs_f64() * 1_000.0;
    let message = format!("a hook takes {millis:.1} ms");
    if time <= SLOW {
        return Check::good(NAME, message);
    }
    Check::odd(
        NAME,
        format!("{message}, and one runs around every call of a tool: Claude Code is slower for it"),
        ADVICE,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Health;

    #[test]
    fn a_hook_that_is_felt_is_named_with_its_time() {
        let quick = judge(Duration::from_micros(1_540));
        assert_eq!((quick.health, &*quick.message), (Health::Good, "a hook takes 1.5 ms"));
        let slow = judge(Duration::from_millis(120));
        assert_eq!(slow.health, Health::Odd);
        assert!(slow.message.starts_with("a hook takes 120.0 ms"), "{slow:?}");
    }
}
