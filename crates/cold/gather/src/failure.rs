//! What of the output of a failure is worth keeping.

use crate::budget::{ERROR_CHARS, ERRORS};
use std::borrow::Cow;

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
    "expected",
    "not exist",
    "already exists",
    "expired",
    "violation",
    "rejected",
    "unauthorized",
    "did not",
    ": no ",
    "received",
    "but was",
    "stopiteration",
    "interrupt",
    "segmentation",
    "not supported",
    "no space",
];

/// What tools say beside what went wrong.
const ASIDE: &[&str] = &["warning:", "Warning:", "WARN ", "[warn", "eprecat", "npm notice", "note:", "hint:"];

/// Words of those in which a program itself says what was wrong.
const MESSAGES: &[&str] =
    &["error", "exception", "expected", "panicked", "fatal", "received", "but was", "violat", "denied"];

/// How many lines below a panic belong to it: the message, and both sides of a comparison.
const PANIC_LINES: usize = 3;

/// What the client puts around the errors of its own tools.
const TAGS: [&str; 2] = ["<tool_use_error>", "</tool_use_error>"];

/// Words behind a count of what failed, of what passed, and of what was counted.
const FAILING: &[&str] =
    &["failed", "failing", "failure", "failures", "fail", "fails", "error", "errors", "errored"];
const PASSING: &[&str] = &["passed", "passing", "pass", "ok", "succeeded"];
const COUNTED: &[&str] = &[
    "test",
    "tests",
    "spec",
    "specs",
    "example",
    "examples",
    "assertions",
    "runs",
    "files",
    "suites",
    "file",
    "scenarios",
];

/// Reads the sum of a test runner: how many failed, and whether it says that something passed or ran. `2 failed, 11 passed`,
/// `Tests run: 5, Failures: 0`, `PASS=14 ERROR=0`, `12 examples, 0 failures`, `19/20 passed`, and `1 failed` by itself.
fn sum(line: &str) -> Option<(u64, bool)> {
    if line.len() > 400 {
        return None;
    }
    let line = line.to_ascii_lowercase();
    let words: Vec<&str> = line
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, ':' | '=' | '.' | '/')))
        .filter(|word| !word.is_empty())
        .collect();
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let of_all = word
            .split_once('/')
            .and_then(|(some, all)| Some((some.parse::<u64>().ok()?, all.parse::<u64>().ok()?)));
        if let Some((some, all)) = of_all {
            let is_passing = words[at + 1..].iter().take(2).any(|word| PASSING.contains(word));
            if is_passing && some <= all {
                counts.extend([("tests", all), ("failed", all - some)]);
            }
        } else if let Some((name, number)) = word.split_once('=') {
            counts.extend(number.parse().ok().map(|number| (name, number)));
        } else if let Some(name) = word.strip_suffix(':') {
            let name = if name == "run" { "tests" } else { name };
            counts.extend(words.get(at + 1).and_then(|next| next.parse().ok()).map(|number| (name, number)));
        } else if let Ok(number) = word.parse::<u64>() {
            // `1 tests failed`.
            for name in words[at + 1..].iter().take(2).map(|name| name.trim_end_matches([':', '.'])) {
                counts.push((name, number));
                if !COUNTED.contains(&name) {
                    break;
                }
            }
        }
    }
    // `# fail 1`.
    if let [word, number] = words.as_slice() {
        counts.extend(number.parse().ok().map(|number| (*word, number)));
    }
    let has = |wanted: &[&str]| counts.iter().any(|(word, _)| wanted.contains(word));
    let failed: u64 =
        counts.iter().filter(|(word, _)| FAILING.contains(word)).map(|(_, number)| number).sum();
    let has_passed = counts.iter().any(|(word, number)| PASSING.contains(word) && *number > 0);
    let (has_failed, has_counted, is_alone) = (has(FAILING), has(COUNTED), words.len() == 2);
    let is_sum = has_passed || has_failed && (has_counted || is_alone);
    is_sum.then_some((failed, has_passed || (has_counted && has_failed && failed == 0)))
}

/// Returns an output as a terminal shows it in the end: without colours, and of each line what was written last.
pub(crate) fn plain(output: &str) -> Cow<'_, str> {
    if !output.contains(['\u{1b}', '\r', '\u{8}']) {
        return Cow::Borrowed(output);
    }
    let mut shown = String::with_capacity(output.len());
    for line in output.split('\n') {
        let line = line.trim_end_matches('\r');
        let line = line.rsplit('\r').find(|line| !line.trim().is_empty()).unwrap_or(line);
        if !shown.is_empty() {
            shown.push('\n');
        }
        let mut characters = line.chars().peekable();
        while let Some(character) = characters.next() {
            match (character, characters.peek()) {
                ('\u{1b}', Some('[')) => {
                    characters.next();
                    characters.by_ref().find(|c| ('@'..='~').contains(c));
                }
                ('\u{1b}', Some(']')) => {
                    characters.by_ref().find(|c| matches!(c, '\u{7}' | '\\'));
                }
                ('\u{1b}', _) => {
                    characters.next();
                }
                ('\u{8}', _) => {
                    shown.pop();
                }
                _ => shown.push(character),
            }
        }
    }
    Cow::Owned(shown)
}

/// Returns the lines that say what went wrong, each with the line below it that says more; the last line where none does.
pub(crate) fn telling_lines(output: &str) -> Vec<String> {
    let mut output = plain(output).into_owned();
    for tag in TAGS {
        output = output.replace(tag, "");
    }
    let whole: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let lines: Vec<&str> = whole.iter().map(|line| bare(line)).collect();
    let is_code = |line: &str| line.starts_with("Exit code ");
    let is_silent = |at: usize| {
        is_code(lines[at])
            || is_frame(lines[at])
            || is_progress(whole[at])
            || is_fine(lines[at])
            || is_source(lines[at])
    };
    // Each with what is below it.
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut aside: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut is_in_trace = false;
    for (at, line) in lines.iter().enumerate() {
        // What follows the frames of a trace is its message, whatever it is called.
        let ends_trace = is_in_trace && indent(whole[at]) == 0 && !is_frame(line);
        is_in_trace = line.starts_with("Traceback (") || is_in_trace && !ends_trace;
        let is_known = |known: &(&str, Vec<&str>)| known.0 == *line || known.1.contains(line);
        if is_silent(at) || (is_in_trace && !ends_trace) || told.iter().any(is_known) {
            continue;
        }
        let lower = line.to_lowercase();
        if ASIDE.iter().any(|word| line.contains(word)) && !lower.contains("error:") {
            aside.push((line, Vec::new()));
            continue;
        }
        // pytest marks what it says of a failure with an `E`.
        let says_it = ends_trace || line.starts_with("E  ") || is_diagnostic(line);
        if !says_it && !TELLING.iter().any(|word| lower.contains(word)) {
            continue;
        }
        // A panic of Rust has its message, and what was compared, on lines of their own.
        let is_panic = line.contains("panicked at ") && line.ends_with(':');
        let is_below = |next: &usize| {
            *next < lines.len() && !is_silent(*next) && (is_panic || indent(whole[at]) < indent(whole[*next]))
        };
        let most = if is_panic { PANIC_LINES } else { 1 };
        let below = (at + 1..=at + most).take_while(is_below).map(|next| lines[next]).collect();
        told.push((line, below));
    }
    if told.is_empty() {
        told = aside;
    }
    // Sums say least, and messages most.
    let is_message = |line: &str| {
        let lower = line.to_lowercase();
        line.starts_with("E  ") || is_diagnostic(line) || MESSAGES.iter().any(|word| lower.contains(word))
    };
    let keeps: [&dyn Fn(&str) -> bool; 2] = [&|line| sum(line).is_none(), &is_message];
    for keep in keeps {
        let says =
            |(line, below): &(&str, Vec<&str>)| keep(line) || below.iter().any(|line| is_message(line));
        if told.len() > ERRORS && told.iter().any(says) {
            told.retain(says);
        }
    }
    // The first says what failed, the last how it ended.
    if told.len() > ERRORS {
        told.drain(ERRORS - 1..told.len() - 1);
    }
    let mut told: Vec<&str> =
        told.into_iter().flat_map(|(line, below)| std::iter::once(line).chain(below)).collect();
    told.truncate(2 * ERRORS);
    if told.is_empty() {
        let says = |at: &usize| !is_silent(*at);
        let last = (0..lines.len()).rev().find(says).or((!lines.is_empty()).then_some(0));
        told.extend(last.map(|at| lines[at]));
    }
    told.into_iter().map(excerpt).collect()
}

/// Returns a line without the frame that tools draw around it.
fn bare(line: &str) -> &str {
    line.trim().trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '│' | '╷' | '╵' | '┃' | '║' | '⎯' | '─' | '━')
    })
}

/// Says whether a line is what a compiler or linter says of a place: `src/a.py:14:5: F841 Local variable …`.
fn is_diagnostic(line: &str) -> bool {
    let mut parts = line.splitn(4, ':');
    let is_file = parts.next().is_some_and(|file| file.contains('.') && !file.contains(' '));
    let mut is_number = || {
        parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    is_file && is_number() && is_number() && parts.next().is_some_and(|said| said.trim().contains(' '))
}

/// Says whether a line is a frame of a stack.
fn is_frame(line: &str) -> bool {
    let is_place = |rest: &str| rest.contains(['(', '/', ':', '.']);
    let numbered = line.strip_prefix('#').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    line.strip_prefix("at ").is_some_and(is_place)
        || line.starts_with("File \"")
        || line.starts_with("from ") && line.contains(":in ")
        || line.starts_with("... ") && line.ends_with(" more")
        || numbered.is_some_and(|rest| rest.trim_start().starts_with("0x"))
        || line.starts_with("goroutine ")
        || line.contains(".go:") && line.contains(" +0x")
        || line.starts_with("note: run with `RUST_BACKTRACE")
}

/// Says whether a line is of the source that a compiler shows below an error.
fn is_source(line: &str) -> bool {
    line.trim_start_matches('>')
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .trim_start()
        .starts_with('|')
}

/// Says whether a line is a bar that fills, a spinner or a rule.
fn is_progress(line: &str) -> bool {
    let drawn = line
        .chars()
        .filter(|c| {
            matches!(
                c,
                '█' | '░'
                    | '▒'
                    | '▓'
                    | '━'
                    | '╸'
                    | '═'
                    | '='
                    | '#'
                    | '-'
                    | '.'
                    | '_'
                    | '*'
                    | '~'
                    | '>'
                    | '⎯'
                    | '─'
                    | '⠋'
                    | '⠙'
                    | '⠹'
                    | '⠸'
            )
        })
        .count();
    let all = line.chars().filter(|c| !c.is_whitespace()).count();
    all >= 4 && drawn * 2 >= all
}

/// Says whether a line is of something that went well, whatever its name says.
fn is_fine(line: &str) -> bool {
    const MARKS: [&str; 7] = ["✓ ", "✔ ", "√ ", "ok ", "PASS ", "PASSED ", "--- PASS"];
    MARKS.iter().any(|mark| line.starts_with(mark))
        || line.ends_with("... ok")
        || line.ends_with(" PASSED")
        || line.starts_with("test result: ok")
        || sum(line).is_some_and(|(failed, has_passed)| failed == 0 && has_passed)
}

/// Returns a line as long as it may be; of a longer one the part that tells.
fn excerpt(line: &str) -> String {
    let line = line.trim_start_matches("E   ").trim();
    if line.chars().count() > ERROR_CHARS {
        let lower = line.to_ascii_lowercase();
        let told = TELLING.iter().filter_map(|word| lower.find(word)).min().unwrap_or_default();
        if line[..told].chars().count() > ERROR_CHARS / 2 {
            let from = line.floor_char_boundary(told.saturating_sub(LEAD_BYTES));
            return text::sanitize::one_line(&format!("…{}", &line[from..]), ERROR_CHARS);
        }
    }
    text::sanitize::one_line(line, ERROR_CHARS)
}

/// How much of a long line is kept before what tells, in bytes.
const LEAD_BYTES: usize = 40;

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

    #[track_caller]
    fn check(output: &str, expected: &[&str]) {
        assert_eq!(telling_lines(output), expected, "{output}");
    }

    #[test]
    fn the_message_is_kept_and_not_the_frames_of_its_stack() {
        check(
            "Exit code 1\nTraceback (most recent call last):\n  File \"/p/timeout_errors.py\", line 3, in fail\n    run()\ndecimal.Clamp: no digits left",
            &["decimal.Clamp: no digits left"],
        );
        check(
            "thread 'cart::adds' panicked at src/cart.rs:41:9:\nleft over: 3 items\nnote: run with `RUST_BACKTRACE=1`",
            &["thread 'cart::adds' panicked at src/cart.rs:41:9:", "left over: 3 items"],
        );
        check(
            "Exception in thread \"main\" java.lang.IllegalStateException: no pool\n\tat shop.ErrorPool.fail(ErrorPool.java:9)\n\tat shop.Main.main(Main.java:3)\nCaused by: java.io.IOException: no route to db-2\n\t... 12 more",
            &[
                "Exception in thread \"main\" java.lang.IllegalStateException: no pool",
                "Caused by: java.io.IOException: no route to db-2",
            ],
        );
        check(
            "/p/node_modules/x/errors.js:12\n    throw new TypeError('x')\n    ^\n\nTypeError: total.toFixed is not a function\n    at Error.build (/p/src/fail.js:3:9)\n    at node:internal/errors:500:28",
            &[
                "/p/node_modules/x/errors.js:12",
                "throw new TypeError('x')",
                "TypeError: total.toFixed is not a function",
            ],
        );
    }

    #[test]
    fn colours_bars_and_what_went_well_are_left_out() {
        check(
            "\u{1b}[31m\u{1b}[1mAssertionError\u{1b}[22m: expected 1 to be 2\u{1b}[39m",
            &["AssertionError: expected 1 to be 2"],
        );
        check(
            "Downloading  10%\rDownloading  90%\rerror: checksum mismatch for serde\n━━━━━━━━╸ 3/4 errors",
            &["error: checksum mismatch for serde"],
        );
        check(
            "test rejects_expired ... ok\n✓ fails on invalid input (3 ms)\nFAIL src/a.test.ts",
            &["FAIL src/a.test.ts"],
        );
        check(
            "warning: unused variable `x`\nerror: no rules expected `;`",
            &["error: no rules expected `;`"],
        );
        check("warning: unused variable `x`\n1 warning emitted", &["warning: unused variable `x`"]);
        let long = format!("{{\"data\":\"{}\",\"error\":\"quota exceeded for eu-1\"}}", "x".repeat(2_000));
        let told = telling_lines(&long);
        assert!(told[0].contains("quota exceeded for eu-1"), "{told:?}");
    }
}
