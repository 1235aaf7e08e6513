//! What the text of a failure says: whether the command itself was wrong, and the line that says so.

use text::sanitize;

/// What programs print when they were called the wrong way, in lower case.
const USAGE: [&str; 34] = [
    "unknown option",
    "unknown flag",
    "unknown argument",
    "unknown command",
    "unknown subcommand",
    "unknown switch",
    "unknown parameter",
    "unrecognized",
    "unrecognised",
    "unexpected argument",
    "unexpected option",
    "invalid option",
    "invalid flag",
    "invalid argument",
    "invalid choice",
    "illegal option",
    "no such option",
    "no such command",
    "no such subcommand",
    "is not a git command",
    "not a valid",
    "command not found",
    "not recognized as",
    "usage:",
    "try '",
    "did you mean",
    "is deprecated",
    "has been removed",
    "no longer support",
    "is not supported",
    "not supported",
    "missing required",
    "required argument",
    "must be specified",
];

/// What they print when they could not run where they were run, in lower case.
const SURROUNDINGS: [&str; 22] = [
    "externally-managed-environment",
    "eresolve",
    "permission denied",
    "eacces",
    "not a tty",
    "not a terminal",
    "no tty",
    "the input device is not a tty",
    "timed out",
    "timeout",
    "requires",
    "need to specify",
    "you must",
    "please run",
    "please use",
    "try running",
    "set-upstream",
    "refusing to",
    "divergent branches",
    "unrelated histories",
    "non-interactive",
    "interactive",
];

/// What marks the line that tells most.
const TELLING: [&str; 12] = [
    "error",
    "fatal",
    "unknown",
    "unexpected",
    "unrecognized",
    "invalid",
    "illegal",
    "not found",
    "denied",
    "cannot",
    "failed",
    "timed out",
];

/// The most characters of a line that is quoted.
const MAX_LINE_CHARS: usize = 200;

/// Why a command failed, as far as its text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It was called the wrong way.
    Usage,
    /// It could not run as it was called, here.
    Surroundings,
    /// It ran, and what it ran on is wrong: a test, a file, a compiler's complaint.
    Matter,
}

/// Returns why a command failed.
pub fn cause(error: &str) -> Cause {
    let lower = error.to_lowercase();
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    if has(&USAGE) {
        Cause::Usage
    } else if has(&SURROUNDINGS) {
        Cause::Surroundings
    } else {
        Cause::Matter
    }
}

/// Returns the line of an error that tells most; empty where it has none.
pub fn line(error: &str) -> String {
    let lines: Vec<String> = error
        .lines()
        .map(|line| sanitize::one_line(line, MAX_LINE_CHARS))
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty() && !line.starts_with("Exit code") && line != "Error:")
        .collect();
    let lower: Vec<String> = lines.iter().map(|line| line.to_lowercase()).collect();
    let by =
        |phrases: &[&str]| lower.iter().position(|line| phrases.iter().any(|phrase| line.contains(phrase)));
    // A line of usage only lists what there is.
    let is_list = |at: &usize| !lower[*at].starts_with("usage:") && !lower[*at].starts_with("try '");
    let at =
        by(&USAGE).filter(is_list).or_else(|| by(&TELLING).filter(is_list)).or_else(|| by(&SURROUNDINGS));
    at.or((!lines.is_empty()).then_some(0)).map(|at| lines[at].clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_call_differs_from_a_wrong_world() {
        assert_eq!(cause("Exit code 2\nerror: unexpected argument '--nocapture' found"), Cause::Usage);
        assert_eq!(cause("Exit code 127\nbash: docker-compose: command not found"), Cause::Usage);
        assert_eq!(cause("error: externally-managed-environment"), Cause::Surroundings);
        assert_eq!(cause("test result: FAILED. 1 passed; 2 failed"), Cause::Matter);
    }

    #[test]
    fn the_line_that_tells_most_is_quoted() {
        let error =
            "Exit code 2\nerror: unexpected argument '--nocapture' found\n\nUsage: cargo test [OPTIONS]";
        assert_eq!(line(error), "error: unexpected argument '--nocapture' found");
        assert_eq!(line("Exit code 1\nsomething odd"), "something odd");
        assert_eq!(line("Exit code 1"), "");
    }
}
