//! What is worth keeping of a failed call's output.

use crate::budget::{ERROR_CHARS, ERRORS};

/// Words by which tools say what went wrong.
const TELLING: &[&str] = &[
    "error",
    "fail",
    "panick",
    "exception",
    "denied",
    "forbidden",
    "refused",
    "cannot",
    "could not",
    "can't",
    "unable",
    "not found",
    "no such",
    "undefined",
    "unknown",
    "invalid",
    "timeout",
    "timed out",
    "race",
    "fatal",
    "conflict",
    "missing",
    "mismatch",
    "unexpected",
    "deadline",
    "killed",
    "abort",
    "warning:",
    "expected",
    "not exist",
    "already exists",
    "expired",
    "violation",
    "rejected",
    "unauthorized",
    "did not",
    ": no ",
];

/// What the client puts around the errors of its own tools.
const TAGS: [&str; 2] = ["<tool_use_error>", "</tool_use_error>"];

/// What build tools and test runners print only when something failed.
const VERDICTS: &[&str] = &[
    "BUILD FAILED",
    "BUILD FAILURE",
    "TEST FAILED",
    "TESTS FAILED",
    "test result: FAILED",
    "error: could not compile",
    "error: test failed",
    "--- FAIL: ",
    "FAIL\t",
    "FAILED (",
    "make: ***",
    "ninja: build stopped",
    "npm ERR!",
    "npm error",
];

/// What a program prints that dies; a test that passes may print it, too.
const DEATHS: &[&str] = &["Traceback (most recent call last)", "panicked at "];

/// What test runners print of tests that pass.
const PASSED: &[&str] = &["test result: ok", " passed"];

/// Programs whose output is what others printed or wrote.
const READERS: &[&str] = &[
    "awk",
    "cat",
    "curl",
    "docker",
    "echo",
    "find",
    "gh",
    "git",
    "glab",
    "grep",
    "head",
    "jq",
    "journalctl",
    "kubectl",
    "less",
    "ls",
    "printf",
    "rg",
    "sed",
    "sort",
    "ssh",
    "strings",
    "tail",
    "zcat",
];

/// Says whether a command failed though it ended well: what is behind a pipe, or before `|| true`, loses its exit code.
pub(crate) fn is_hidden(command: &str, output: &str) -> bool {
    let first = command.rsplit([';', '\n']).find(|part| part.contains('|')).unwrap_or_default();
    let first = first.split("&&").find(|part| part.contains('|')).unwrap_or_default();
    let is_setting = |word: &&str| word.contains('=');
    let program = first.split_whitespace().find(|word| !is_setting(word)).unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    let has = |words: &[&str]| output.lines().any(|line| words.iter().any(|word| line.contains(word)));
    !program.is_empty()
        && !READERS.contains(&program)
        && (has(VERDICTS) || output.lines().any(counts_failures) || (has(DEATHS) && !has(PASSED)))
}

/// Says whether a line is the sum of a test runner in which some failed: `2 failed, 11 passed`.
fn counts_failures(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_count = |word: &str| word.parse::<u32>().is_ok_and(|count| count > 0);
    let fails = words
        .windows(2)
        .any(|pair| is_count(pair[0]) && pair[1].trim_end_matches([',', ';', '.']) == "failed");
    fails && words.iter().any(|word| word.starts_with("pass"))
}

/// Returns the lines that say what went wrong, each with the indented line below it that says more; the last line where none
/// does.
pub(crate) fn telling_lines(output: &str) -> Vec<String> {
    let mut output = output.to_owned();
    for tag in TAGS {
        output = output.replace(tag, "");
    }
    let whole: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let lines: Vec<&str> = whole.iter().map(|line| line.trim()).collect();
    let is_code = |line: &str| line.starts_with("Exit code ");
    let is_telling = |line: &str| {
        let line = line.to_lowercase();
        TELLING.iter().any(|word| line.contains(word))
    };
    let mut told: Vec<&str> = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !is_code(line) && is_telling(line)) {
        let below =
            lines.get(at + 1).filter(|_| indent(whole[at]) < indent(whole.get(at + 1).unwrap_or(&"")));
        for line in [Some(line), below].into_iter().flatten() {
            if !told.contains(line) {
                told.push(line);
            }
        }
    }
    // The first says what failed, the last how it ended.
    if told.len() > ERRORS {
        let last = told[told.len() - 1];
        told.truncate(ERRORS - 1);
        told.push(last);
    }
    if told.is_empty() {
        told.extend(lines.iter().rev().find(|line| !is_code(line)).or(lines.first()).copied());
    }
    told.into_iter().map(|line| text::sanitize::one_line(line, ERROR_CHARS)).collect()
}

/// Returns how far a line is indented, behind the time that a log begins with.
fn indent(line: &str) -> usize {
    let time = line.find(|c: char| !(c.is_ascii_digit() || "[]:.-TZ".contains(c))).unwrap_or(line.len());
    let time = if line[..time].contains(':') { time } else { 0 };
    line[time..].len() - line[time..].trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_its_telling_lines_and_not_its_progress() {
        let output = "Exit code 1\n==> building gate\n#12 DONE 48.1s\nerror: deployment \"gate\" exceeded its progress deadline";
        assert_eq!(telling_lines(output), ["error: deployment \"gate\" exceeded its progress deadline"]);
        assert_eq!(telling_lines("Exit code 3"), ["Exit code 3"]);
        assert_eq!(telling_lines("Exit code 2\nso it ends"), ["so it ends"]);
        assert_eq!(telling_lines("<tool_use_error>File has not been read yet.</tool_use_error>").len(), 1);
        assert!(telling_lines("").is_empty());
        let many: String = (0..50).map(|n| format!("error {n}\n")).collect();
        assert_eq!(telling_lines(&many), ["error 0", "error 1", "error 2", "error 49"]);
    }

    #[test]
    fn the_indented_line_below_an_error_says_more() {
        let rust = "error[E0425]: cannot find value `x`\n  --> src/lib.rs:4:5\n   |\n4  | x\nerror: aborting";
        assert_eq!(
            telling_lines(rust),
            ["error[E0425]: cannot find value `x`", "--> src/lib.rs:4:5", "error: aborting"]
        );
        let log = "21:04:23  Database Error in model a (a.sql)\n21:04:23    column \"op\" is ambiguous\n21:04:24  Done.";
        assert_eq!(
            telling_lines(log),
            ["21:04:23 Database Error in model a (a.sql)", "21:04:23 column \"op\" is ambiguous"]
        );
    }

    #[test]
    fn a_failure_behind_a_pipe_is_known_by_the_verdict_of_its_tool() {
        let failed = "collected 3 items\n1 failed, 2 passed in 0.1s";
        assert!(is_hidden("python -m pytest -q 2>&1 | tail -3", failed));
        assert!(is_hidden("cd app && CI=1 npm test 2>&1 | tee log", "npm ERR! Test failed."));
        assert!(is_hidden("make check || true", "make: *** [check] Error 2"));
        let dead = "thread 'main' panicked at src/main.rs:4:5:\nboom";
        assert!(is_hidden("cargo run 2>&1 | tail -5", dead));
        assert!(!is_hidden(
            "cargo test 2>&1 | tail -5",
            &format!("{dead}\ntest result: ok. 2 passed; 0 failed")
        ));
        assert!(!is_hidden("python -m pytest -q", failed), "its exit code says it");
        assert!(!is_hidden("python -m pytest -q | tail -1", "0 failed, 3 passed"));
        assert!(!is_hidden("cat build.log | grep FAILED", "** BUILD FAILED **"));
        assert!(!is_hidden("git log --oneline | head", "4be19a2 Explain BUILD FAILED"));
    }
}
