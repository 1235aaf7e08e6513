//! What the output of a check says: how many tests passed and failed, which ones, and the first error.
//!
//! One pass over the lines, whatever program wrote them: the forms differ enough to be told apart, and a `make test` may run
//! any of them.

/// The most names of failing tests that are kept.
const MOST_NAMES: usize = 4;
/// The longest error that is kept, in characters.
const MOST_ERROR_CHARS: usize = 110;

/// What an output says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// Names of tests that failed.
    pub(super) failing: Vec<String>,
    /// The first error.
    pub(super) error: Option<String>,
    /// A line that sums up what was done: `Apply complete! Resources: 2 added`.
    pub(super) figure: Option<String>,
    /// Whether something failed although the exit status may not say so.
    pub(super) has_failed: bool,
    /// Whether it says that all is well.
    pub(super) has_passed: bool,
}

impl Report {
    /// Reads an output.
    pub(super) fn of(output: &str) -> Self {
        let mut report = Self::default();
        let mut is_in_trace = false;
        for line in output.lines() {
            let line = line.trim();
            // Nearly every line of a long output is one of these.
            if line.is_empty() || line.ends_with("... ok") {
                continue;
            }
            report.read_counts(line);
            report.read_names(line);
            report.read_figure(line);
            report.read_error(line, &mut is_in_trace);
        }
        report.has_failed |= report.failed > 0;
        report
    }

    fn read_counts(&mut self, line: &str) {
        let bare = line.trim_matches(['=', ' ']);
        // cargo: `test result: ok. 12 passed; 1 failed; 0 ignored`. One line per program that was tested.
        if let Some(rest) = bare.strip_prefix("test result:") {
            self.passed += number_before(rest, "passed").unwrap_or_default();
            self.failed += number_before(rest, "failed").unwrap_or_default();
            self.has_passed |= rest.trim_start().starts_with("ok");
            return;
        }
        if bare.starts_with("Test Files")
            || bare.starts_with("Test Suites:")
            || bare.starts_with("Snapshots:")
        {
            return;
        }
        // The others sum up once; the last one counts.
        let is_sum = bare.starts_with("Tests")
            || bare.starts_with("Summary")
            || bare.starts_with("Passed!")
            || bare.starts_with("Failed!")
            || bare.starts_with("OK (")
            || bare.contains(" in ")
            || bare.contains("examples,")
            || bare.ends_with("passing")
            || bare.ends_with("failing")
            || bare.contains("passing (")
            || bare.starts_with(|c: char| c.is_ascii_digit());
        if !is_sum {
            return;
        }
        // ctest: `90% tests passed, 1 tests failed out of 10`.
        if let (Some(failed), Some(all)) =
            (number_before(bare, "tests failed"), number_behind(bare, "out of"))
        {
            (self.failed, self.passed) = (failed, all.saturating_sub(failed));
            return;
        }
        for (word, is_failure) in [
            ("passed", false),
            ("passing", false),
            ("tests run", false),
            ("failed", true),
            ("failing", true),
            ("failures", true),
            ("failure", true),
            ("errors", true),
            ("error", true),
        ] {
            let Some(count) = number_before(bare, word) else { continue };
            match is_failure {
                true => self.failed = self.failed.max(count),
                false => self.passed = count,
            }
        }
        if let Some(examples) = number_before(bare, "examples") {
            self.passed = examples.saturating_sub(
                number_before(bare, "failures").or(number_before(bare, "failure")).unwrap_or_default(),
            );
        }
        if let Some(rest) = bare.strip_prefix("OK (") {
            self.passed = number_before(rest, "tests").or(number_before(rest, "test")).unwrap_or(self.passed);
        }
        for mark in ["Failed:", "Failures:"] {
            if let Some(count) = number_behind(bare, mark) {
                self.failed = self.failed.max(count);
            }
        }
        if let Some(count) = number_behind(bare, "Passed:") {
            self.passed = count;
        }
    }

    fn read_names(&mut self, line: &str) {
        let name = if let Some(rest) = line.strip_prefix("test ") {
            rest.strip_suffix("... FAILED").map(str::trim)
        } else if let Some(rest) = line.strip_prefix("FAILED ") {
            // pytest: `FAILED tests/test_x.py::test_y - AssertionError: …`.
            rest.split(" - ").next().filter(|name| name.contains("::"))
        } else if let Some(rest) = line.strip_prefix("--- FAIL: ") {
            rest.split_whitespace().next()
        } else if let Some(rest) = ["✕ ", "✗ ", "× "].iter().find_map(|mark| line.strip_prefix(mark)) {
            Some(without_time(rest))
        } else if let Some(rest) = line.strip_prefix("FAIL ") {
            rest.rsplit_once(" > ").map(|(_, name)| name.trim())
        } else if let Some(rest) = line.strip_prefix("● ") {
            rest.rsplit_once(" › ").map(|(_, name)| name.trim())
        } else if let Some(rest) = line.strip_prefix("rspec ./") {
            rest.split_once(" # ").map(|(_, name)| name.trim())
        } else {
            None
        };
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.has_failed = true;
            let name = name.rsplit("::").next().unwrap_or(name).to_owned();
            if self.failing.len() < MOST_NAMES && !self.failing.contains(&name) {
                self.failing.push(name);
            }
        }
    }

    fn read_figure(&mut self, line: &str) {
        let sums = ["Apply complete!", "Destroy complete!", "Plan: ", "No changes.", "REVISION:", "STATUS:"];
        let is_sum = sums.iter().any(|mark| line.starts_with(mark))
            || line.contains("successfully rolled out")
            || (line.contains("/") && (line.ends_with(" configured") || line.ends_with(" created")))
            || line.starts_with("Successfully tagged")
            || line.starts_with("Deployed to")
            || line.starts_with("Found 0 errors")
            || (line.starts_with("✖ ") && line.contains("problem"))
            || (line.starts_with("Found ") && line.contains("error"));
        if is_sum {
            self.figure = Some(cut(line));
        }
        self.has_passed |= line.starts_with("All checks passed")
            || line.starts_with("Success: no issues")
            || line.contains("successfully rolled out");
        let found_errors =
            line.strip_prefix("Found ").and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
        self.has_failed |= found_errors.is_some_and(|count| count > 0) && line.contains("error");
        self.has_failed |= line.starts_with("✖ ") && line.contains("problem") && !line.contains("(0 errors");
    }

    fn read_error(&mut self, line: &str, is_in_trace: &mut bool) {
        if line.starts_with("Traceback (most recent call last)") {
            *is_in_trace = true;
            return;
        }
        let is_exception = *is_in_trace
            && line.split_once(':').is_some_and(|(name, _)| {
                !name.contains(' ')
                    && (name.ends_with("Error") || name.ends_with("Exception") || name.contains('.'))
            });
        if is_exception {
            *is_in_trace = false;
        }
        let is_strong = line.starts_with("error[")
            || line.starts_with("error: could not compile")
            || line.contains(": error TS")
            || line.starts_with("npm ERR!")
            || line.starts_with("npm error")
            || line.starts_with("make: ***")
            || line.starts_with("ERROR: failed to")
            || line.starts_with("FAIL\t")
            || line.starts_with("fatal: ");
        self.has_failed |= is_strong;
        let lower = line.get(..line.floor_char_boundary(24)).unwrap_or_default().to_ascii_lowercase();
        let is_error = is_strong
            || is_exception
            || lower.starts_with("error")
            || lower.starts_with("fatal")
            || lower.starts_with("e   ")
            || lower.starts_with("panic")
            || lower.starts_with("assertionerror")
            || lower.starts_with("assertion `")
            || lower.starts_with("syntaxerror")
            || line.contains("Exception:")
            || line.contains("Error: ")
            || line.contains(" panicked at")
            || line.contains("error: ")
            || line.contains("command not found")
            || line.contains("timed out")
            || line.contains("onnection refused")
            || line.contains("No such file or directory")
            || line.contains("ermission denied");
        let is_weak = line.starts_with("error: could not compile")
            || line.starts_with("error: test failed")
            || line.starts_with("Error Code");
        if is_error && !is_weak && self.error.is_none() {
            self.error = Some(cut(line.strip_prefix("E   ").unwrap_or(line).trim()));
        }
    }
}

fn cut(line: &str) -> String {
    text::sanitize::one_line(line, MOST_ERROR_CHARS)
}

/// Returns a test's name without the time that it took: `name (12 ms)`.
fn without_time(name: &str) -> &str {
    let name = name.trim();
    let bare = name
        .rsplit_once(" (")
        .filter(|(_, time)| time.ends_with("ms)") || time.ends_with("s)"))
        .map_or(name, |(name, _)| name);
    let bare = bare
        .rsplit_once(' ')
        .filter(|(_, time)| time.ends_with("ms") && time.starts_with(|c: char| c.is_ascii_digit()))
        .map_or(bare, |(name, _)| name);
    bare.rsplit_once(" > ").map_or(bare, |(_, name)| name)
}

/// Returns the number right before a word.
fn number_before(text: &str, word: &str) -> Option<u64> {
    for (at, _) in text.match_indices(word) {
        let before = text[..at].trim_end();
        let is_word = text[at + word.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric());
        let digits = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |place| place + 1);
        if is_word
            && before.len() < at
            && let Ok(number) = before[digits..].parse()
        {
            return Some(number);
        }
    }
    None
}

fn number_behind(text: &str, mark: &str) -> Option<u64> {
    let rest = text.split_once(mark)?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, passed: u64, failed: u64, failing: &[&str], error: &str) {
        let report = Report::of(output);
        assert_eq!((report.passed, report.failed), (passed, failed), "{output}");
        assert_eq!(report.failing, failing, "{output}");
        assert_eq!(report.error.as_deref().unwrap_or_default(), error, "{output}");
        assert_eq!(report.has_failed, failed > 0 || !failing.is_empty(), "{output}");
    }

    #[test]
    fn outputs_of_test_runners_are_understood() {
        check(
            "running 2 tests\ntest auth::tests::expired ... FAILED\ntest auth::tests::ok ... ok\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n",
            1,
            1,
            &["expired"],
            "",
        );
        check(
            "test result: ok. 12 passed; 0 failed; 0 ignored\ntest result: ok. 3 passed; 0 failed",
            15,
            0,
            &[],
            "",
        );
        check(
            "FAILED tests/test_a.py::test_x - AssertionError: 1 != 2\n==== 1 failed, 40 passed in 1.20s ====",
            40,
            1,
            &["test_x"],
            "FAILED tests/test_a.py::test_x - AssertionError: 1 != 2",
        );
        check(
            "Tests:       1 failed, 12 passed, 13 total\n  ✕ keeps order (5 ms)",
            12,
            1,
            &["keeps order"],
            "",
        );
        check(" Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 11 passed (13)", 11, 2, &[], "");
        check(
            "--- FAIL: TestGet (0.00s)\nFAIL\tpkg/store\t0.01s",
            0,
            0,
            &["TestGet"],
            "FAIL\tpkg/store\t0.01s".replace('\t', " ").as_str(),
        );
        check("12 examples, 2 failures", 10, 2, &[], "");
        check("90% tests passed, 1 tests failed out of 10", 9, 1, &[], "");
        check("100% tests passed, 0 tests failed out of 10", 10, 0, &[], "");
        check("OK (12 tests, 30 assertions)", 12, 0, &[], "");
        check("  12 passing (30ms)\n  1 failing", 12, 1, &[], "");
    }

    #[test]
    fn the_first_error_is_kept() {
        let report =
            Report::of("Compiling x\nerror[E0382]: borrow of moved value: `a`\nerror: could not compile `x`");
        assert_eq!(
            (report.has_failed, report.error.as_deref()),
            (true, Some("error[E0382]: borrow of moved value: `a`"))
        );
        let report = Report::of(
            "Traceback (most recent call last):\n  File \"a\"\nsqlite3.OperationalError: no such table: orders",
        );
        assert_eq!(report.error.as_deref(), Some("sqlite3.OperationalError: no such table: orders"));
        let report = Report::of("Apply complete! Resources: 2 added, 1 changed, 0 destroyed.");
        assert_eq!(
            report.figure.as_deref(),
            Some("Apply complete! Resources: 2 added, 1 changed, 0 destroyed.")
        );
    }
}
