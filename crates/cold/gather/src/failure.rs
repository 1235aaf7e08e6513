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
];

/// What the client puts around the errors of its own tools.
const TAGS: [&str; 2] = ["<tool_use_error>", "</tool_use_error>"];

/// Returns the lines that say what went wrong; the last one where none does.
pub(crate) fn telling_lines(output: &str) -> Vec<String> {
    let mut output = output.to_owned();
    for tag in TAGS {
        output = output.replace(tag, "");
    }
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_code = |line: &str| line.starts_with("Exit code ");
    let is_telling = |line: &str| {
        let line = line.to_lowercase();
        TELLING.iter().any(|word| line.contains(word))
    };
    let mut told: Vec<&str> = Vec::new();
    for line in lines.iter().copied().filter(|line| !is_code(line) && is_telling(line)) {
        if !told.contains(&line) {
            told.push(line);
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
}
