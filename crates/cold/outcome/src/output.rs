//! What an output says: how many tests passed and failed, which ones, whether a build broke, and the first error.
//!
//! One pass over the lines. A line counts only when all of it has the form of a summary, so that words such as `error` in names
//! and logs do not; and it counts for the programs that print that form.

use crate::family::Family;
use std::collections::BTreeMap;

/// The most names of failing tests that are kept.
const MOST_NAMES: usize = 4;
/// The longest name of a test, and the longest error, that is kept, in characters.
const MOST_NAME_CHARS: usize = 100;
const MOST_ERROR_CHARS: usize = 110;

/// What programs of some families say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub passed: u64,
    pub failed: u64,
    /// Names of tests that failed.
    pub failing: Vec<String>,
    /// The first error.
    pub error: Option<String>,
    /// A line that sums up what was done: `Apply complete! Resources: 2 added`.
    pub figure: Option<String>,
    /// Whether something failed although the exit status may not say so.
    pub has_failed: bool,
    /// Whether it says that all is well.
    pub has_passed: bool,
    /// Whether a line reports an error. A program that goes on prints one, too, and so does a test that passes.
    pub has_error: bool,
}

impl Report {
    /// Reads an output, whichever programs wrote it.
    pub fn of(printed: &str) -> Self {
        let output = Output::read(printed);
        output.report(&output.families())
    }

    /// Returns whether it says anything about tests or a build.
    pub fn is_empty(&self) -> bool {
        self.passed + self.failed == 0 && self.failing.is_empty() && !self.has_failed && !self.has_passed
    }
}

/// What an output says, by the programs that may have said it.
#[derive(Clone, Debug, Default)]
pub struct Output {
    by: BTreeMap<Family, Said>,
    error: Option<String>,
    figure: Option<String>,
    has_error: bool,
    /// Whether the lines are those of an exception's trace.
    is_in_trace: bool,
    /// Whether the lines are those of cargo's `failures:`.
    is_in_failures: bool,
    /// What mocha says of failing tests: how far the number of the last is indented.
    numbered: Option<usize>,
    is_behind_failing: bool,
    /// How many tests unittest ran.
    ran: u64,
}

#[derive(Clone, Debug, Default)]
struct Said {
    passed: u64,
    failed: u64,
    failing: Vec<String>,
    is_broken: bool,
    has_died: bool,
    is_fine: bool,
}

/// What a line counts.
struct Sum {
    family: Family,
    passed: u64,
    failed: u64,
    /// Whether there is one such line per program that was tested, or one for all.
    is_part: bool,
}

impl Sum {
    fn of(family: Family, passed: u64, failed: u64) -> Self {
        Self { family, passed, failed, is_part: false }
    }
}

impl Output {
    /// Reads an output.
    pub fn read(printed: &str) -> Self {
        let mut output = Self::default();
        for line in printed.lines() {
            let plain;
            let line = if line.contains('\u{1b}') {
                plain = without_colours(line);
                plain.as_str()
            } else {
                line
            };
            let bare = line.trim();
            // Nearly every line of a long output is one of these.
            if bare.is_empty() || bare.ends_with("... ok") {
                continue;
            }
            if let Some(sum) = output.sum(bare) {
                output.add(&sum);
            }
            output.read_name(line, bare);
            output.read_build(bare);
            output.read_figure(bare);
            output.read_error(bare);
            output.has_error = output.has_error || reports_error(bare);
        }
        output
    }

    /// Returns the families whose programs said something.
    pub fn families(&self) -> Vec<Family> {
        self.by.keys().copied().collect()
    }

    /// Returns what programs of these families said.
    pub fn report(&self, families: &[Family]) -> Report {
        let mut report =
            Report { error: self.error.clone(), figure: self.figure.clone(), ..Report::default() };
        report.has_error = self.has_error;
        let said: Vec<&Said> = families.iter().filter_map(|family| self.by.get(family)).collect();
        for said in &said {
            report.passed += said.passed;
            report.failed += said.failed;
            for name in &said.failing {
                if report.failing.len() < MOST_NAMES && !report.failing.contains(name) {
                    report.failing.push(name.clone());
                }
            }
            report.has_failed |= said.is_broken || said.failed > 0;
            report.has_passed |= said.is_fine;
        }
        // A test that passes may print what a program prints that dies.
        let is_tested = report.passed > 0 || report.has_passed;
        report.has_failed |= !is_tested && said.iter().any(|said| said.has_died);
        report.has_passed &= !report.has_failed;
        report
    }

    fn said(&mut self, family: Family) -> &mut Said {
        self.by.entry(family).or_default()
    }

    fn add(&mut self, sum: &Sum) {
        let said = self.said(sum.family);
        if sum.is_part {
            said.passed += sum.passed;
            said.failed += sum.failed;
        } else {
            // mocha and others say each on a line of its own.
            said.passed = if sum.passed > 0 { sum.passed } else { said.passed };
            said.failed = said.failed.max(sum.failed);
        }
        said.is_fine |= sum.failed == 0 && sum.passed > 0;
    }

    /// Returns what a line counts, if all of it is a summary.
    fn sum(&mut self, line: &str) -> Option<Sum> {
        let bare = line.trim_matches(['=', ' ', '─', '━']);
        if let Some(rest) = bare.strip_prefix("test result:") {
            self.said(Family::Rust).is_fine |= rest.trim_start().starts_with("ok");
            let (passed, failed) = (number_before(rest, "passed"), number_before(rest, "failed"));
            let (passed, failed) = (passed.unwrap_or_default(), failed.unwrap_or_default());
            return Some(Sum { is_part: true, ..Sum::of(Family::Rust, passed, failed) });
        }
        if let Some((_, rest)) =
            bare.strip_prefix("Summary [").and_then(|rest| rest.split_once(" tests run: "))
        {
            let count = |word| number_before(rest, word).unwrap_or_default();
            let failed = count("failed") + count("timed out") + count("exec failed");
            return Some(Sum::of(Family::Rust, count("passed"), failed));
        }
        if let Some(rest) = bare.strip_prefix("Test Suites:").or(bare.strip_prefix("Test Files ")) {
            let failed = number_before(rest, "failed").unwrap_or_default();
            self.said(Family::Script).is_broken |= failed > 0;
            return None;
        }
        if let Some(sum) = self.sum_with_keys(bare) {
            return Some(sum);
        }
        if let Some(rest) = bare.strip_prefix("Tests:").or(bare.strip_prefix("Tests ")) {
            let (rest, behind) = without_end(rest.trim());
            let family = if behind.contains("assertion") { Family::Php } else { Family::Script };
            return sum_of(family, &counted(rest)?);
        }
        if let Some(rest) = bare.strip_prefix("ok | ").or(bare.strip_prefix("FAILED | ")) {
            return sum_of(Family::Script, &counted(without_end(rest).0)?);
        }
        if let Some((numbers, text)) = bare.rsplit_once(": ")
            && (text == "All tests passed!" || text == "Some tests failed.")
        {
            let number =
                |mark| numbers.rsplit_once(mark).and_then(|(_, rest)| leading(rest)).unwrap_or_default();
            return Some(Sum::of(Family::Dart, number('+'), number('-')));
        }
        if let Some((mark, count)) = line.trim_start_matches(['#', 'ℹ', ' ']).split_once(' ')
            && line.starts_with(['#', 'ℹ'])
            && let Ok(count) = count.parse()
        {
            return match mark {
                "pass" => Some(Sum::of(Family::Tap, count, 0)),
                "fail" => Some(Sum::of(Family::Tap, 0, count)),
                _ => None,
            };
        }
        if let Some(rest) =
            bare.strip_prefix("Executed ").and_then(|rest| rest.split_once(" tests: ")).map(|(_, rest)| rest)
            && bare.contains(" out of ")
        {
            // Bazel.
            let count = |words: [&str; 2]| {
                words.iter().find_map(|word| number_before(rest, word)).unwrap_or_default()
            };
            return Some(Sum::of(
                Family::Runner,
                count(["tests pass", "test passes"]),
                count(["fails", "fail"]),
            ));
        }
        if let Some(rest) = bare.strip_prefix("DONE ") {
            let rest = rest.rsplit_once(" in ").map_or(rest, |(rest, _)| rest);
            return sum_of(Family::Go, &counted(rest)?);
        }
        if bare.contains([':', '='])
            && let Some(counts) = keyed(bare).or_else(|| titled(bare))
        {
            let sum = sum_of(Family::Plain, &counts)?;
            // What a script counts may be rows as well as tests: where it ends well, that counts.
            let said = self.said(Family::Plain);
            said.is_broken |= sum.failed > 0;
            said.is_fine |= sum.failed == 0 && sum.passed > 0;
            return None;
        }
        if !bare.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        if let Some(counts) = scenarios(bare) {
            return sum_of(Family::Plain, &counts);
        }
        if let (Some(failed), Some(all)) =
            (number_before(bare, "tests failed"), number_behind(bare, "out of"))
        {
            return Some(Sum::of(Family::Native, all.saturating_sub(failed), failed));
        }
        if bare.ends_with("FAILED TEST") || bare.ends_with("FAILED TESTS") {
            return Some(Sum::of(Family::Native, 0, leading(bare)?));
        }
        if let Some((some, rest)) = bare.split_once('/')
            && let Some((all, rest)) = rest.split_once(' ')
            && let mut words = rest.trim_end_matches('.').split(' ')
            && words.clone().count() <= 2
            && matches!(words.next_back(), Some("passed" | "passing" | "pass" | "ok"))
            && let (Ok(some), Ok(all)) = (some.parse::<u64>(), all.parse::<u64>())
            && some <= all
        {
            return Some(Sum::of(Family::Plain, some, all - some));
        }
        let timed = bare.rsplit_once(" in ").filter(|(_, time)| {
            time.starts_with(|c: char| c.is_ascii_digit()) && time.trim_end_matches(')').contains(['s', ':'])
        });
        if let Some((bare, _)) = timed {
            return sum_of(Family::Python, &counted(bare)?);
        }
        let counts = counted(without_end(bare).0)?;
        let has = |words: &[&str]| counts.iter().any(|(_, word)| words.contains(word));
        let family = if has(&["example", "examples", "runs", "run", "assertion", "assertions"]) {
            Family::Ruby
        } else if has(&["tests completed", "test completed"]) {
            Family::Jvm
        } else if has(&["test", "tests", "doctest", "doctests", "property", "properties"]) {
            Family::Plain
        } else {
            Family::Script
        };
        self.is_behind_failing |= has(&["failing"]);
        sum_of(family, &counts)
    }

    /// Returns what a line counts in which names are before the numbers.
    fn sum_with_keys(&mut self, bare: &str) -> Option<Sum> {
        let count = |mark: &str| number_behind(bare, mark).unwrap_or_default();
        let log =
            bare.trim_start_matches(['[', ']']).trim_start_matches("ERROR]").trim_start_matches("INFO]");
        let log = log.trim_start_matches("WARNING]").trim_start();
        if log.starts_with("Tests run:") {
            let is_total = !log.contains("Time elapsed") && !log.contains(" in ");
            let (failed, all) = (count("Failures:") + count("Errors:"), count("Tests run:"));
            let passed = all.saturating_sub(failed + count("Skipped:"));
            return is_total.then(|| Sum::of(Family::Jvm, passed, failed));
        }
        if bare.contains("unreachable=") && bare.contains(" failed=") {
            // Ansible, a line for each host. It counts what was done, not tests.
            let failed = count(" failed=") + count(" unreachable=");
            let said = self.said(Family::Deploy);
            *(if failed > 0 { &mut said.is_broken } else { &mut said.is_fine }) = true;
            return None;
        }
        if let Some((_, rest)) = bare.split_once("Done. PASS=") {
            // dbt.
            return Some(Sum::of(Family::Python, leading(rest)?, number_behind(rest, " ERROR=")?));
        }
        if bare.starts_with("Tests: ") && bare.contains("Assertions:") {
            let failed = count("Failures:") + count("Errors:");
            return Some(Sum::of(Family::Php, count("Tests:").saturating_sub(failed), failed));
        }
        if let Some(rest) = bare.strip_prefix("OK (")
            && let Some(tests) = number_before(rest, "tests").or(number_before(rest, "test"))
        {
            let family = if rest.contains("assertion") { Family::Php } else { Family::Jvm };
            return Some(Sum::of(family, tests, 0));
        }
        if let Some(rest) = bare.strip_prefix("Ran ")
            && let Some(tests) = number_before(rest, "tests").or(number_before(rest, "test"))
        {
            self.ran = tests;
            return None;
        }
        if self.ran > 0 && (bare == "OK" || bare.starts_with("OK (") && bare.contains('=')) {
            return Some(Sum { is_part: true, ..Sum::of(Family::Python, std::mem::take(&mut self.ran), 0) });
        }
        if let Some(rest) = bare.strip_prefix("FAILED (").filter(|rest| rest.contains('=')) {
            let failed = number_behind(rest, "failures=").unwrap_or_default()
                + number_behind(rest, "errors=").unwrap_or_default()
                + number_behind(rest, "unexpected successes=").unwrap_or_default();
            let passed = std::mem::take(&mut self.ran).saturating_sub(failed);
            return Some(Sum { is_part: true, ..Sum::of(Family::Python, passed, failed) });
        }
        if bare.starts_with("Passed!  - ") || bare.starts_with("Failed!  - ") {
            return Some(Sum {
                is_part: true,
                ..Sum::of(Family::Dotnet, count("Passed:"), count("Failed:"))
            });
        }
        if bare.starts_with("Test summary: total:") {
            return Some(Sum::of(Family::Dotnet, count("succeeded:"), count("failed:")));
        }
        if let Some(rest) = bare.strip_prefix("Executed ").filter(|rest| rest.contains(" failure")) {
            let failed =
                number_before(rest, "failures").or(number_before(rest, "failure")).unwrap_or_default();
            let all = number_before(rest, "tests").or(number_before(rest, "test"))?;
            return Some(Sum::of(Family::Swift, all.saturating_sub(failed), failed));
        }
        let google = bare.strip_prefix("[  PASSED  ] ").and_then(leading);
        google.map(|passed| Sum::of(Family::Native, passed, 0))
    }

    fn read_name(&mut self, raw: &str, line: &str) {
        if self.is_in_failures && !raw.starts_with("    ") && line != "failures:" && !line.starts_with("----")
        {
            self.is_in_failures = false;
        }
        let depth = raw.len() - raw.trim_start().len();
        if let Some((family, name)) = self.name(raw, line, depth) {
            let name = text::sanitize::one_line(name.trim(), MOST_NAME_CHARS);
            let said = self.said(family);
            // Of a test in Go that has failed with one inside of it, that one says more.
            if family == Family::Go {
                said.failing.retain(|known| !name.starts_with(&format!("{known}/")));
                let is_around = said.failing.iter().any(|known| known.starts_with(&format!("{name}/")));
                if is_around {
                    return;
                }
            }
            if !name.is_empty() && said.failing.len() < MOST_NAMES && !said.failing.contains(&name) {
                said.failing.push(name);
            }
        }
    }

    /// Returns the name of the test that a line says has failed.
    fn name<'l>(&mut self, raw: &str, line: &'l str, depth: usize) -> Option<(Family, &'l str)> {
        let behind_path = |name: &'l str| {
            let end = name.find(['[', '(']).unwrap_or(name.len());
            name[..end].rfind("::").map_or(name, |at| &name[at + 2..])
        };
        if let Some(rest) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix("... FAILED")) {
            self.said(Family::Rust).is_broken = true;
            return Some((Family::Rust, behind_path(rest.trim())));
        }
        if line == "failures:" {
            self.is_in_failures = true;
            return None;
        }
        if let Some(rest) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.said(Family::Rust).is_broken = true;
            return Some((Family::Rust, behind_path(rest)));
        }
        if self.is_in_failures && depth == 4 && !line.contains(char::is_whitespace) {
            return Some((Family::Rust, behind_path(line)));
        }
        let nextest =
            ["FAIL [", "TIMEOUT [", "SIGABRT [", "SIGSEGV ["].iter().find_map(|mark| line.strip_prefix(mark));
        if let Some((_, rest)) = nextest.and_then(|rest| rest.split_once(']')) {
            let name = rest.split_whitespace().last()?;
            return Some((Family::Rust, behind_path(name)));
        }
        if let Some(rest) = line.strip_prefix("FAILED ").or(line.strip_prefix("ERROR ")) {
            if let Some(name) =
                rest.split(" - ").next().filter(|name| name.contains("::") && name.contains(".py"))
            {
                self.said(Family::Python).is_broken = true;
                return Some((Family::Python, behind_path(name)));
            }
            let file = rest.split(" - ").next().filter(|file| file.ends_with(".py") && !file.contains(' '));
            if let Some(file) = file {
                self.said(Family::Python).is_broken = true;
                return Some((Family::Python, file));
            }
            // Pest.
            return rest.rsplit_once(" > ").map(|(_, name)| (Family::Php, name));
        }
        if let Some((name, _)) = line
            .split_once(" FAILED")
            .filter(|(name, _)| name.contains(".py::") && !name.contains(char::is_whitespace))
        {
            return Some((Family::Python, behind_path(name)));
        }
        if let Some((name, class)) = line
            .strip_prefix("FAIL: ")
            .or(line.strip_prefix("ERROR: "))
            .and_then(|rest| rest.split_once(" ("))
            && class.ends_with(')')
            && !name.contains(' ')
        {
            return Some((Family::Python, name));
        }
        if let Some(rest) = line.strip_prefix("--- FAIL: ") {
            self.said(Family::Go).is_broken = true;
            return rest.split_whitespace().next().map(|name| (Family::Go, name));
        }
        if let Some(rest) = line.strip_prefix("=== FAIL: ") {
            return rest.split_whitespace().nth(1).map(|name| (Family::Go, name));
        }
        self.name_of_script(raw, line, depth).or_else(|| self.name_of_others(line))
    }

    fn name_of_script<'l>(&mut self, raw: &str, line: &'l str, depth: usize) -> Option<(Family, &'l str)> {
        let innermost = |name: &'l str| {
            let name = [" > ", " › "].iter().find_map(|mark| Some(name.rsplit_once(mark)?.1)).unwrap_or(name);
            name.trim_end_matches(['─', ' '])
        };
        if let Some(rest) = ["✕ ", "✗ ", "× ", "✖ ", "✘ "].iter().find_map(|mark| line.strip_prefix(mark))
        {
            let is_timed = without_time(rest) != rest.trim();
            let is_other = rest.starts_with(|c: char| c.is_ascii_digit())
                || rest.ends_with(':')
                || rest.ends_with(')') && !is_timed;
            if line.starts_with('✘') && rest.starts_with("Test ") {
                let name = rest["Test ".len()..].split([' ', '(']).next()?;
                return (name != "run").then_some((Family::Swift, name));
            }
            self.said(Family::Script).is_broken |= is_timed || line.starts_with('✕');
            return (!is_other).then(|| (Family::Script, innermost(without_time(rest))));
        }
        if let Some(rest) = line.strip_prefix("⨯ ") {
            return Some((Family::Php, innermost(without_time(rest))));
        }
        if let Some(rest) = line.strip_prefix("(fail) ") {
            self.said(Family::Script).is_broken = true;
            let rest = rest.rsplit_once(" [").map_or(rest, |(name, _)| name);
            return Some((Family::Script, innermost(rest)));
        }
        if let Some(rest) = line.strip_prefix("FAIL ") {
            let rest = rest.trim();
            let file = rest.split(" > ").next().unwrap_or(rest).rsplit(' ').next().unwrap_or(rest);
            let is_file = [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".mts", ".vue", ".svelte"]
                .iter()
                .any(|end| file.ends_with(end));
            self.said(Family::Script).is_broken |= is_file;
            return rest.rsplit_once(" > ").map(|(_, name)| (Family::Script, name.trim()));
        }
        if let Some(rest) = line.strip_prefix("● ") {
            let is_note = ["Console", "Test suite failed to run", "Validation", "Deprecation", "Cannot "]
                .iter()
                .any(|note| rest.starts_with(note));
            return (!is_note).then(|| (Family::Script, innermost(rest)));
        }
        if let Some((before, name)) = line.split_once(" › ")
            && (before.contains(") ") || before.starts_with('['))
            && name.contains(" › ")
        {
            return Some((Family::Script, innermost(name)));
        }
        if let Some(name) =
            line.strip_suffix(')').and_then(|line| line.rsplit_once(" ... FAILED (")).map(|(name, _)| name)
        {
            return Some((Family::Script, name));
        }
        if let Some(rest) = line.strip_prefix("not ok ") {
            let name = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches([' ', '-']);
            let is_put_off = name.contains("# TODO") || name.contains("# SKIP") || name.contains("# skip");
            self.said(Family::Tap).is_broken |= !is_put_off;
            return (!is_put_off).then(|| (Family::Tap, name.split(" # ").next().unwrap_or(name)));
        }
        // mocha: the number is at the first of several titles, and a colon behind the last.
        if self.is_behind_failing {
            if let Some((number, rest)) = line.split_once(") ")
                && number.parse::<u32>().is_ok()
            {
                self.numbered = Some(depth);
                return rest.strip_suffix(':').map(|name| {
                    self.numbered = None;
                    (Family::Script, name)
                });
            }
            if self.numbered.is_some_and(|number| depth > number) && raw.starts_with(' ') {
                return line.strip_suffix(':').map(|name| {
                    self.numbered = None;
                    (Family::Script, name)
                });
            }
        }
        None
    }

    fn name_of_others<'l>(&mut self, line: &'l str) -> Option<(Family, &'l str)> {
        let innermost = |name: &'l str| {
            let end = name.find(['(', '[']).unwrap_or(name.len());
            name[..end].rfind('.').map_or(name, |at| &name[at + 1..])
        };
        if let Some((_, name)) = line.strip_suffix(" FAILED").and_then(|rest| rest.rsplit_once(" > ")) {
            self.said(Family::Jvm).is_broken = true;
            return Some((Family::Jvm, name.trim_end_matches("()")));
        }
        let log = line.strip_prefix("[ERROR]").unwrap_or(line).trim_start();
        if (log.contains("<<< FAILURE!") || log.contains("<<< ERROR!")) && !log.starts_with("Tests run:") {
            let name = log.split([' ', '(']).next()?;
            return Some((Family::Jvm, innermost(name)));
        }
        if line.starts_with("[ERROR]")
            && let Some((name, rest)) = log.split_once(':')
            && rest.starts_with(|c: char| c.is_ascii_digit())
            && name.contains('.')
            && !name.contains(['/', ' '])
        {
            let name = name.split("->").last().unwrap_or(name);
            return Some((Family::Jvm, innermost(name)));
        }
        if let Some((_, name)) = line.strip_prefix("rspec ./").and_then(|rest| rest.split_once(" # ")) {
            self.said(Family::Ruby).is_broken = true;
            return Some((Family::Ruby, name));
        }
        if let Some((class, name)) = line.split_once("#test_")
            && class.chars().all(|c| c.is_alphanumeric() || c == ':' || c == '_')
            && !class.is_empty()
        {
            let start = line.len() - name.len() - "test_".len();
            let end = line[start..].find([' ', ':', '[', '(']).map_or(line.len(), |end| start + end);
            return Some((Family::Ruby, &line[start..end]));
        }
        if let Some((number, rest)) = line.split_once(") ")
            && number.parse::<u32>().is_ok()
        {
            if let Some(rest) = rest.strip_prefix("test ").filter(|rest| rest.ends_with(')')) {
                return rest.rsplit_once(" (").map(|(name, _)| (Family::Plain, name));
            }
            let name = rest.split(" with data set").next().unwrap_or(rest);
            return name
                .rsplit_once("::")
                .filter(|_| !name.contains(' '))
                .map(|(_, name)| (Family::Php, name));
        }
        let dotnet = line.strip_suffix(" [FAIL]").and_then(|rest| rest.split_whitespace().last());
        let dotnet = dotnet.or_else(|| {
            let rest = line.strip_prefix("Failed ").or(line.strip_prefix("failed "))?;
            let (name, time) = rest.rsplit_once(" [").or(rest.rsplit_once(" ("))?;
            let is_time = time.trim_end_matches([']', ')']).ends_with('s')
                && time.starts_with(|c: char| c.is_ascii_digit() || c == '<');
            is_time.then_some(name)
        });
        if let Some(name) = dotnet {
            self.said(Family::Dotnet).is_broken = true;
            return Some((Family::Dotnet, innermost(name)));
        }
        if let Some((name, _)) = line.strip_prefix("Test Case '").and_then(|rest| rest.split_once("' failed"))
        {
            let name = name.trim_start_matches("-[").trim_end_matches(']');
            return Some((Family::Swift, name.rsplit([' ', '.']).next().unwrap_or(name)));
        }
        if let Some(rest) = line.strip_prefix("[  FAILED  ] ").filter(|rest| rest.contains('.')) {
            self.said(Family::Native).is_broken = true;
            return rest.split([' ', ',']).next().map(|name| (Family::Native, name));
        }
        let ctest = ["(Failed)", "(SEGFAULT)", "(Timeout)", "(Not Run)"]
            .iter()
            .find_map(|end| line.strip_suffix(end));
        if let Some((number, name)) = ctest.and_then(|rest| rest.split_once(" - "))
            && number.trim().parse::<u32>().is_ok()
        {
            return Some((Family::Native, name));
        }
        let dart = line.strip_suffix(" [E]").and_then(|rest| rest.rsplit_once(": "));
        dart.map(|(_, name)| (Family::Dart, name))
    }

    /// Reads what compilers, linters and those that run others say in the end.
    fn read_build(&mut self, line: &str) {
        let begins = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
        let mut broken: Vec<Family> = Vec::new();
        let mut fine: Vec<Family> = Vec::new();
        if begins(&["error[E", "error: could not compile", "error: test failed", "error: build failed"]) {
            broken.push(Family::Rust);
        }
        if begins(&["ERROR: No matching distribution", "ERROR: Could not find a version"]) {
            broken.push(Family::Python);
        }
        if begins(&["Successfully installed "]) {
            fine.push(Family::Python);
        }
        if begins(&["[error] "]) {
            broken.push(Family::Jvm);
        }
        if begins(&["Finished `", "Finished dev", "Finished release"]) {
            fine.push(Family::Rust);
        }
        match line {
            // The last line of unittest, without the number of tests before it.
            "OK" if self.ran == 0 => fine.push(Family::Python),
            "No issues found!" => fine.push(Family::Dart),
            "Result: FAIL" => broken.push(Family::Tap),
            "Result: PASS" => fine.push(Family::Tap),
            _ => {}
        }
        if begins(&["CMake Error"])
            || line.ends_with(" error generated.")
            || line.ends_with(" errors generated.")
        {
            broken.push(Family::Native);
        }
        let said = line.trim_matches(|c: char| !c.is_alphanumeric());
        let is_any = |texts: &[&str]| texts.iter().any(|text| said.eq_ignore_ascii_case(text));
        if is_any(&["all tests passed", "tests passed"])
            || line.starts_with("All ") && count_of(said, "All ", " tests passed")
        {
            fine.push(Family::Plain);
        }
        if is_any(&["some tests failed", "tests failed", "test failed"])
            || said.split_once(" out of ").is_some_and(|(failed, all)| {
                failed.parse().is_ok_and(|failed: u64| failed > 0) && all.contains(" tests failed")
            })
        {
            broken.push(Family::Plain);
        }
        if begins(&["Saved the plan to:", "Successfully applied "]) {
            fine.push(Family::Deploy);
        }
        if begins(&["Successfully built ", "Successfully tagged "]) {
            fine.push(Family::Runner);
        }
        let count = |before: &str, behind: &str| {
            let (count, _) = line.split_once(before)?.1.split_once(behind)?;
            count.trim().parse::<u64>().ok()
        };
        if line.contains(": error TS")
            || begins(&[
                "Failed to compile",
                "error during build:",
                "[vite]: Rollup failed",
                "Code style issues found",
            ])
            || line.starts_with("✖ ") && count("✖ ", " problem").is_some() && !line.contains("(0 errors")
        {
            broken.push(Family::Script);
        }
        if let Some(errors) = count("Found ", " error").filter(|_| begins(&["Found ", "[ERROR] Found "])) {
            let families = match () {
                () if line.starts_with('[') => &[Family::Php][..],
                () if line.contains("source file") => &[Family::Python],
                () => &[Family::Script, Family::Python],
            };
            if errors > 0 { broken.extend(families) } else { fine.extend(families) }
        }
        if begins(&[
            "BUILD FAILED",
            "BUILD FAILURE",
            "[INFO] BUILD FAILURE",
            "FAILURE: Build failed",
            "[ERROR] COMPILATION ERROR",
        ]) {
            broken.push(Family::Jvm);
        }
        if begins(&["** BUILD FAILED **", "** TEST FAILED **"]) {
            broken.push(Family::Swift);
        }
        if begins(&["Build FAILED."]) {
            broken.push(Family::Dotnet);
        }
        // `main.c:3:5: error: …`, also of javac and swiftc.
        let place =
            line.split_once(": error: ").or(line.split_once(": fatal error: ")).map(|(place, _)| place);
        if place.is_some_and(|place| place.contains(':') && place.ends_with(|c: char| c.is_ascii_digit())) {
            broken.extend([Family::Native, Family::Jvm, Family::Swift]);
        }
        if begins(&["ninja: build stopped"]) {
            broken.push(Family::Native);
        }
        if line == "FAIL" || begins(&["FAIL\t"]) || line.ends_with("[build failed]") {
            broken.push(Family::Go);
        }
        let is_of_make = line.split_once(": *** ").is_some_and(|(program, rest)| {
            program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '[' || c == ']').ends_with("make")
                && (rest.contains("Error") || rest.contains("Stop."))
        });
        if is_of_make
            || begins(&[
                "npm ERR! ",
                "npm error ",
                "error Command failed with exit code",
                "ERROR: failed to ",
                "task: Failed to run",
            ])
            || line.contains("ELIFECYCLE") && line.contains("ommand failed")
            || line.starts_with("error: Recipe `")
            || line.starts_with("error: script \"")
            || begins(&["ERR_PNPM_", "ERROR: Job failed"])
            || matches!(line, "rake aborted!" | "rails aborted!")
            || line.starts_with("//") && line.contains(" FAILED in ")
        {
            broken.push(Family::Runner);
        }
        if line.contains(" files inspected, ") || line.contains(" file inspected, ") {
            let is_fine = line.contains("no offenses");
            if is_fine { fine.push(Family::Ruby) } else { broken.push(Family::Ruby) }
        }
        if begins(&[
            "Error from server",
            "error: ",
            "Error: UPGRADE FAILED",
            "Error: INSTALLATION FAILED",
            "│ Error:",
        ]) {
            broken.push(Family::Deploy);
        }
        match line {
            "All checks passed!" => fine.push(Family::Python),
            "[OK] No errors" => fine.push(Family::Php),
            "All matched files use Prettier code style!" => fine.push(Family::Script),
            "Build succeeded." => fine.push(Family::Dotnet),
            "PASS" => fine.push(Family::Go),
            "0 issues." => fine.push(Family::Go),
            _ => {}
        }
        if line.starts_with("Success: no issues found") {
            fine.push(Family::Python);
        }
        if line.starts_with("ok  \t")
            || line.starts_with("ok \t")
            || line.starts_with("ok  ") && line.ends_with(['s', ')'])
        {
            fine.push(Family::Go);
        }
        if begins(&["BUILD SUCCESSFUL", "BUILD SUCCESS", "[INFO] BUILD SUCCESS"]) {
            fine.push(Family::Jvm);
        }
        if begins(&["** BUILD SUCCEEDED **", "** TEST SUCCEEDED **"]) {
            fine.push(Family::Swift);
        }
        if begins(&["Compiled successfully", "✓ built in "]) || line.contains(" compiled successfully") {
            fine.push(Family::Script);
        }
        if begins(&["Apply complete!", "Destroy complete!", "No changes."])
            || line.contains("successfully rolled out")
        {
            fine.push(Family::Deploy);
        }
        broken.into_iter().for_each(|family| self.said(family).is_broken = true);
        fine.into_iter().for_each(|family| self.said(family).is_fine = true);
        let died = match () {
            () if line.starts_with("Traceback (most recent call last)") => Some(Family::Python),
            () if line.contains("panicked at ") => Some(Family::Rust),
            () if line.starts_with("panic: ") || line.starts_with("fatal error: all goroutines") => {
                Some(Family::Go)
            }
            () if line.starts_with("Exception in thread ") => Some(Family::Jvm),
            () if line.starts_with("Unhandled exception") => Some(Family::Dotnet),
            () => None,
        };
        died.into_iter().for_each(|family| self.said(family).has_died = true);
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
    }

    fn read_error(&mut self, line: &str) {
        if line.starts_with("Traceback (most recent call last)") {
            self.is_in_trace = true;
            return;
        }
        let is_exception = self.is_in_trace
            && line.split_once(':').is_some_and(|(name, _)| {
                !name.contains(' ')
                    && (name.ends_with("Error") || name.ends_with("Exception") || name.contains('.'))
            });
        if is_exception {
            self.is_in_trace = false;
        }
        let lower = line.get(..line.floor_char_boundary(24)).unwrap_or_default().to_ascii_lowercase();
        let is_error = is_exception
            || line.contains(": error TS")
            || line.starts_with("npm ERR!")
            || line.starts_with("npm error")
            || line.starts_with("make: ***")
            || line.starts_with("FAIL\t")
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

/// How a line begins that reports an error, in lower case.
const ERROR_HEADS: &[&str] = &["error:", "error[", "fatal:", "fatal error:", "[error]", "** (", "panic:"];
/// What reports one within a line.
const ERRORS_WITHIN: &[&str] = &[": error:", ": fatal error:", ": error TS", ": command not found"];

/// Returns whether a line reports an error.
fn reports_error(line: &str) -> bool {
    let line = line.trim_start_matches(['│', '╷', '✖', '×', '❌', ' ']);
    let begins = |head: &&str| line.get(..head.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(head));
    line.starts_with("Traceback (most recent call last)")
        || ERROR_HEADS.iter().any(begins)
        || line.contains("panicked at ")
        || line.contains(": ") && (ERRORS_WITHIN.iter().any(|mark| line.contains(mark)) || is_exception(line))
}

/// Returns whether a line is an exception with its message: `PG::UniqueViolation: …`, `java.io.IOException: no route`.
fn is_exception(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, said)| {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:$".contains(&byte));
        let is_class = name.ends_with("Error") || name.ends_with("Exception") || name.contains("::");
        is_name && is_class && name.starts_with(|c: char| c.is_ascii_alphabetic()) && !said.is_empty()
    })
}

/// Words that test runners count.
const COUNTED: &[(&str, i8)] = &[
    ("passed", 1),
    ("passing", 1),
    ("pass", 1),
    ("tests passed", 1),
    ("test passed", 1),
    ("tests failed", -1),
    ("test failed", -1),
    ("failed", -1),
    ("failing", -1),
    ("fail", -1),
    ("failures", -1),
    ("failure", -1),
    ("errors", -1),
    ("error", -1),
    ("timed out", -1),
    ("skipped", 0),
    ("skips", 0),
    ("skip", 0),
    ("total", 0),
    ("todo", 0),
    ("pending", 0),
    ("pendings", 0),
    ("ignored", 0),
    ("filtered out", 0),
    ("measured", 0),
    ("warnings", 0),
    ("warning", 0),
    ("deselected", 0),
    ("xfailed", 0),
    ("xpassed", 0),
    ("rerun", 0),
    ("reruns", 0),
    ("flaky", 0),
    ("did not run", 0),
    ("interrupted", 0),
    ("omissions", 0),
    ("notifications", 0),
    ("excluded", 0),
    ("invalid", 0),
    ("incomplete", 0),
    ("risky", 0),
    ("deprecated", 0),
    ("subtests passed", 0),
    ("assertions", 0),
    ("assertion", 0),
    ("snapshots", 0),
    // How many there were.
    ("examples", 2),
    ("example", 2),
    ("runs", 2),
    ("run", 2),
    ("tests completed", 2),
    ("test completed", 2),
    ("tests", 2),
    ("test", 2),
    ("doctests", 2),
    ("doctest", 2),
    ("properties", 2),
    ("property", 2),
];

/// Takes `1 failed, 12 passed` apart, if it consists of nothing else.
fn counted(text: &str) -> Option<Vec<(u64, &'static str)>> {
    let pieces = text.split([',', '|', ';']).map(str::trim);
    let counts = pieces.map(|piece| {
        let (count, word) = piece.split_once(' ')?;
        let word = word.trim().trim_end_matches('.');
        let (word, _) = COUNTED.iter().find(|(known, _)| *known == word)?;
        Some((count.parse().ok()?, *word))
    });
    counts.collect()
}

/// Takes `Passed: 12, Failed: 1` apart, if it consists of nothing else.
fn keyed(text: &str) -> Option<Vec<(u64, &'static str)>> {
    if !text.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let pieces = text.trim_start_matches(['#', ' ']).split([',', '|', ';']).map(str::trim);
    let counts = pieces.map(|piece| {
        let (word, count) = piece.split_once(':').or(piece.split_once('='))?;
        let (known, _) = COUNTED.iter().find(|(known, _)| known.eq_ignore_ascii_case(word.trim()))?;
        Some((count.trim().parse().ok()?, *known))
    });
    counts.collect()
}

/// What is before the counts of a script's own, in lower case: `Results: 12 passed, 1 failed`.
const TITLES: &[&str] =
    &["result", "results", "summary", "total", "totals", "done", "finished", "complete", "completed"];

/// Takes `Results: 12 passed, 1 failed` apart.
fn titled(text: &str) -> Option<Vec<(u64, &'static str)>> {
    let (title, rest) = text.split_once(':')?;
    let last = title.rsplit(' ').next().unwrap_or_default();
    let is_title = TITLES.iter().any(|known| known.eq_ignore_ascii_case(last));
    counted(without_end(rest.trim()).0).filter(|_| is_title)
}

/// Takes `13 scenarios (12 passed, 1 failed)` apart.
fn scenarios(text: &str) -> Option<Vec<(u64, &'static str)>> {
    let (all, inside) = text.strip_suffix(')')?.split_once(" (")?;
    let (count, word) = all.split_once(' ')?;
    let is_counted =
        count.parse::<u64>().is_ok() && matches!(word, "scenario" | "scenarios" | "tests" | "test");
    counted(inside).filter(|_| is_counted)
}

/// Sums up counts; nothing where none is of tests that passed or failed.
fn sum_of(family: Family, counts: &[(u64, &'static str)]) -> Option<Sum> {
    let sum = |kind: i8| -> Option<u64> {
        let of_kind = counts.iter().filter(|(_, word)| COUNTED.contains(&(word, kind)));
        of_kind.map(|(count, _)| *count).reduce(|one, other| one + other)
    };
    let (passed, failed, all) = (sum(1), sum(-1), sum(2));
    let passed = passed.or(all.map(|all| all.saturating_sub(failed.unwrap_or_default())));
    if passed.is_none() && failed.is_none() || all.is_some() && failed.is_none() && sum(1).is_none() {
        return None;
    }
    Some(Sum::of(family, passed.unwrap_or_default(), failed.unwrap_or_default()))
}

/// Returns whether a line has a number between these, whatever follows.
fn count_of(line: &str, before: &str, behind: &str) -> bool {
    line.strip_prefix(before)
        .and_then(|rest| rest.split_once(behind))
        .is_some_and(|(number, _)| number.parse::<u64>().is_ok())
}

fn cut(line: &str) -> String {
    text::sanitize::one_line(line, MOST_ERROR_CHARS)
}

/// Returns a line without the codes that colour it.
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut pieces = line.split("\u{1b}[");
    plain.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let end = piece.find(|c: char| c.is_ascii_alphabetic()).map_or(piece.len(), |at| at + 1);
        plain.push_str(&piece[end..]);
    }
    plain
}

/// Takes off what is in parentheses at the end: `12 passing (30ms)`.
fn without_end(text: &str) -> (&str, &str) {
    match text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        Some((before, inside)) => (before.trim_end(), inside),
        None => (text, ""),
    }
}

/// Returns a test's name without the time that it took: `name (12 ms)`.
fn without_time(name: &str) -> &str {
    let name = name.trim();
    let is_time = |time: &str| {
        let time = time.trim_end_matches(')');
        (time.ends_with("ms") || time.ends_with('s')) && time.starts_with(|c: char| c.is_ascii_digit())
    };
    let bare = name
        .rsplit_once(" (")
        .filter(|(_, time)| time.ends_with(')') && is_time(time))
        .map_or(name, |(name, _)| name);
    bare.rsplit_once(' ').filter(|(_, time)| is_time(time)).map_or(bare, |(name, _)| name.trim_end())
}

/// Returns the number that a text begins with.
fn leading(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
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
    leading(text.split_once(mark)?.1.trim_start())
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

    #[track_caller]
    fn check_all(cases: &[(&str, &str, u64, u64, &[&str])]) {
        let wrong = cases.iter().filter_map(|(who, output, passed, failed, failing)| {
            let report = Report::of(output);
            let is_right = (report.passed, report.failed, report.has_failed) == (*passed, *failed, true)
                && report.failing == *failing;
            (!is_right).then(|| format!("{who}: {report:?}\n"))
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), cases.len(), wrong.concat());
    }

    #[test]
    fn tests_that_failed_are_named() {
        check_all(&[
            (
                "pytest",
                "FAILED tests/test_cart.py::TestCart::test_total[EUR::net] - assert 1 == 2\nERROR tests/test_db.py::test_connect - OperationalError\n=== 1 failed, 3 passed, 1 error in 0.5s ===",
                3,
                2,
                &["test_total[EUR::net]", "test_connect"],
            ),
            (
                "unittest",
                "FAIL: test_total (tests.test_cart.CartTest.test_total)\n-----\nRan 4 tests in 0.002s\n\nFAILED (failures=1)",
                3,
                1,
                &["test_total"],
            ),
            (
                "jest",
                "FAIL src/cart.test.ts\n  ● Cart › adds tax\n\n    expect(received)\n\nTests:       1 failed, 3 passed, 4 total",
                3,
                1,
                &["adds tax"],
            ),
            (
                "vitest",
                " FAIL  src/cart.test.ts > Cart > adds tax\nAssertionError: no\n Test Files  1 failed (1)\n      Tests  1 failed | 3 passed (4)",
                3,
                1,
                &["adds tax"],
            ),
            (
                "go",
                "--- FAIL: TestCart (0.00s)\n    --- FAIL: TestCart/adds_tax (0.00s)\nFAIL\nFAIL\tshop/cart\t0.01s",
                0,
                0,
                &["TestCart/adds_tax"],
            ),
            (
                "nextest",
                "        FAIL [   0.005s] shop cart::tests::adds_tax\n     Summary [   0.05s] 4 tests run: 3 passed, 1 failed, 0 skipped\n        FAIL [   0.005s] shop cart::tests::adds_tax",
                3,
                1,
                &["adds_tax"],
            ),
            (
                "cargo",
                "failures:\n    cart::tests::adds_tax\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored",
                3,
                1,
                &["adds_tax"],
            ),
            (
                "gradle",
                "CartTest > addsTax() FAILED\n    org.opentest4j.AssertionFailedError at CartTest.java:12\n\n4 tests completed, 1 failed\n\nBUILD FAILED in 3s",
                3,
                1,
                &["addsTax"],
            ),
            (
                "maven",
                "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in shop.CartTest\n[ERROR] shop.CartTest.addsTax -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] Failures: \n[ERROR]   CartTest.addsTax:12 expected: <1> but was: <2>\n[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0",
                3,
                1,
                &["addsTax"],
            ),
            (
                "rspec",
                "Failures:\n\n  1) Cart adds tax\n     Failure/Error: expect(1).to eq 2\n\n4 examples, 1 failure\n\nrspec ./spec/cart_spec.rb:12 # Cart adds tax",
                3,
                1,
                &["Cart adds tax"],
            ),
            (
                "phpunit",
                "1) Tests\\CartTest::testAddsTax\nFailed asserting that 1 matches 2.\n\nFAILURES!\nTests: 4, Assertions: 9, Failures: 1.",
                3,
                1,
                &["testAddsTax"],
            ),
            (
                "dotnet",
                "  Failed Shop.Tests.CartTests.AddsTax(rate: 0.19) [12 ms]\n  Error Message:\nFailed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 12 ms - Shop.Tests.dll (net8.0)",
                3,
                1,
                &["AddsTax(rate: 0.19)"],
            ),
            (
                "mocha",
                "  3 passing (12ms)\n  1 failing\n\n  1) Cart\n       adds tax:\n\n      AssertionError: 1 == 2",
                3,
                1,
                &["adds tax"],
            ),
            (
                "ctest",
                "75% tests passed, 1 tests failed out of 4\n\nThe following tests FAILED:\n\t  3 - cart_tax (Failed)",
                3,
                1,
                &["cart_tax"],
            ),
            (
                "googletest",
                "[  FAILED  ] Cart.AddsTax (0 ms)\n[  PASSED  ] 3 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Cart.AddsTax\n\n 1 FAILED TEST",
                3,
                1,
                &["Cart.AddsTax"],
            ),
            (
                "node",
                "✖ adds tax (1.2ms)\nℹ tests 4\nℹ pass 3\nℹ fail 1\n✖ failing tests:",
                3,
                1,
                &["adds tax"],
            ),
            (
                "exunit",
                "  1) test adds tax (Shop.CartTest)\n     test/cart_test.exs:3\n\n4 tests, 1 failure",
                3,
                1,
                &["adds tax"],
            ),
            (
                "playwright",
                "  1) [chromium] › cart.spec.ts:3:5 › Cart › adds tax ────\n  1 failed\n    [chromium] › cart.spec.ts:3:5 › Cart › adds tax\n  3 passed (5.2s)",
                3,
                1,
                &["adds tax"],
            ),
            (
                "bun",
                "(fail) Cart > adds tax [0.52ms]\n\n 3 pass\n 1 fail\n 9 expect() calls",
                3,
                1,
                &["adds tax"],
            ),
            (
                "xctest",
                "Test Case '-[ShopTests.CartTests testAddsTax]' failed (0.002 seconds).\nExecuted 4 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds",
                3,
                1,
                &["testAddsTax"],
            ),
        ]);
    }

    #[test]
    fn tests_that_failed_are_named_in_other_forms() {
        check_all(&[
            (
                "pytest -v",
                "tests/test_cart.py::test_tax FAILED    [ 50%]\ntests/test_cart.py::test_sum PASSED [100%]\n====== 1 failed, 1 passed, 2 warnings in 0.12s ======",
                1,
                1,
                &["test_tax"],
            ),
            (
                "pytest, when it collects",
                "ERROR tests/test_cart.py - ModuleNotFoundError: No module named 'x'\n!!!!! Interrupted: 1 error during collection !!!!!\n1 error in 0.10s",
                0,
                1,
                &["tests/test_cart.py"],
            ),
            (
                "vitest, its list",
                "   × Cart > adds tax 5ms\n     → expected 1 to be 2\n      Tests  1 failed (1)",
                0,
                1,
                &["adds tax"],
            ),
            (
                "jest, its list",
                "  Cart\n    ✓ sums (2 ms)\n    ✕ adds tax (3 ms)\n\nTests:       1 failed, 1 passed, 2 total",
                1,
                1,
                &["adds tax"],
            ),
            (
                "gotestsum",
                "=== FAIL: shop/cart TestTax (0.00s)\n\nDONE 4 tests, 1 failure in 1.204s",
                3,
                1,
                &["TestTax"],
            ),
            (
                "gradle, Kotlin",
                "CartTest > adds tax() FAILED\n    java.lang.AssertionError\n\n2 tests completed, 1 failed",
                1,
                1,
                &["adds tax"],
            ),
            (
                "surefire of old",
                "addsTax(shop.CartTest)  Time elapsed: 0.01 sec  <<< FAILURE!\nTests run: 2, Failures: 1, Errors: 0, Skipped: 0",
                1,
                1,
                &["addsTax"],
            ),
            (
                "minitest",
                "  1) Failure:\nCartTest#test_adds_tax [test/cart_test.rb:9]:\nExpected: 1\n\n2 runs, 3 assertions, 1 failures, 0 errors, 0 skips",
                1,
                1,
                &["test_adds_tax"],
            ),
            (
                "pest",
                "   FAILED  Tests\\Feature\\CartTest > it adds tax\n  Tests:    1 failed, 1 passed (3 assertions)",
                1,
                1,
                &["it adds tax"],
            ),
            (
                "xunit",
                "[xUnit.net 00:00:00.52]     Shop.Tests.CartTests.AddsTax [FAIL]\nFailed!  - Failed:     1, Passed:     1, Skipped:     0, Total:     2",
                1,
                1,
                &["AddsTax"],
            ),
            ("tap", "ok 1 - sums\nnot ok 2 - adds tax\n# pass 1\n# fail 1", 1, 1, &["adds tax"]),
            ("deno", "adds tax ... FAILED (3ms)\n\nFAILED | 1 passed | 1 failed (10ms)", 1, 1, &["adds tax"]),
            (
                "flutter",
                "00:02 +1 -1: /app/test/cart_test.dart: adds tax [E]\n00:02 +1 -1: Some tests failed.",
                1,
                1,
                &["adds tax"],
            ),
            (
                "vitest, coloured",
                "\u{1b}[31m FAIL \u{1b}[39m src/cart.test.ts > adds tax\n Tests  \u{1b}[31m1 failed\u{1b}[39m | \u{1b}[32m1 passed\u{1b}[39m (2)",
                1,
                1,
                &["adds tax"],
            ),
            (
                "rustdoc",
                "test src/lib.rs - sum (line 3) ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored",
                1,
                1,
                &["src/lib.rs - sum (line 3)"],
            ),
            (
                "rspec, its end",
                "2 examples, 1 failure, 1 pending\nrspec ./spec/a_spec.rb[1:2] # Cart when empty adds tax",
                1,
                1,
                &["Cart when empty adds tax"],
            ),
        ]);
    }

    #[test]
    fn words_of_failure_alone_say_nothing() {
        for output in [
            "0 failed",
            "FAILED_LOGIN_COUNT=3",
            "src/error_test.go: handles error",
            "test errors::failed_login_is_refused ... ok\ntest result: ok. 1 passed; 0 failed",
            "Processed 12 rows, 3 errors in log.txt",
            "ok 1 - fails on error",
            "Found 0 errors",
            "Error handling: done",
            "warning: 2 failed logins",
            "3 files changed, 12 insertions(+)",
            "PASS src/error.test.ts",
            "Compiling thiserror v1.0",
            "WARN retry failed 1 time",
            "Errors: 0, Warnings: 2",
            "not ok 2 - later # TODO",
            "error.rs\nfailed.rs",
            "0 errors, 2 warnings",
            "Failed: 0",
            "web1 : ok=3 changed=1 unreachable=0 failed=0",
            "make[1]: Leaving directory '/src/error'",
            "Test Suites: 3 passed, 3 total",
            "Build succeeded.\n    0 Warning(s)\n    0 Error(s)",
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0",
            "no failures found",
            "retrying after failure (1/3)",
            "12 tests, 0 failures",
            "test_failure.py ....    [100%]\n4 passed in 0.1s",
            "--- PASS: TestFailure (0.00s)",
            "FAIL_FAST=1",
        ] {
            let report = Report::of(output);
            assert!(
                !report.has_failed && report.failed == 0 && report.failing.is_empty(),
                "{output}: {report:?}"
            );
        }
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
    #[test]
    fn what_others_print_in_the_end_is_understood() {
        for (line, output, expected) in [
            ("pnpm build", "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  web@1.0.0 build: `vite build`", Some(false)),
            ("dbt build", "21:04:24  Done. PASS=14 WARN=0 ERROR=2 SKIP=0 TOTAL=16", Some(false)),
            ("dbt build", "21:04:24  Done. PASS=16 WARN=0 ERROR=0 SKIP=0 TOTAL=16", Some(true)),
            ("cmake -B build", "CMake Error at CMakeLists.txt:3 (find_package):", Some(false)),
            ("clang a.c", "1 error generated.", Some(false)),
            ("rake db:migrate", "rake aborted!\nPG::UndefinedTable: ERROR: relation", Some(false)),
            ("cargo build", "    Finished `dev` profile [unoptimized] target(s) in 2.1s", Some(true)),
            ("docker build -t a .", "Successfully tagged a:latest", Some(true)),
            ("bazel test //...", "Executed 3 out of 3 tests: 3 tests pass.", Some(true)),
            ("bazel test //...", "Executed 3 out of 3 tests: 1 test passes and 2 fail locally.", Some(false)),
            ("bazel test //...", "//a:b_test                 FAILED in 0.4s", Some(false)),
            ("prove -r t", "Files=3, Tests=40\nResult: PASS", Some(true)),
            ("prove -r t", "Result: FAIL", Some(false)),
            ("pip install a", "ERROR: No matching distribution found for a==9", Some(false)),
            ("pip install a", "Successfully installed a-9.0", Some(true)),
            ("ansible-playbook a.yml", "web1 : ok=12 changed=3 unreachable=0 failed=0 skipped=0", Some(true)),
            (
                "ansible-playbook a.yml",
                "web1 : ok=12 changed=3 unreachable=1 failed=0 skipped=0",
                Some(false),
            ),
            ("sbt test", "[error] (Test / test) sbt.TestsFailedException: Tests unsuccessful", Some(false)),
            ("bats t", "19/20 tests passed", Some(false)),
            ("bats t", "20/20 passed", Some(true)),
            ("./wake.sh", "0/20 wakeups ok", Some(false)),
            ("make", "12/13 files copied", None),
            ("pip install a", "Requirement already satisfied: a", None),
        ] {
            let report = Output::read(output).report(&crate::families(&shell::commands(line)[0]));
            let verdict = if report.has_failed { Some(false) } else { report.has_passed.then_some(true) };
            assert_eq!(verdict, expected, "{line}: {output}");
        }
    }

    #[test]
    fn sums_that_scripts_print_themselves_are_understood() {
        for (output, expected) in [
            ("Results: 12 passed, 1 failed", Some(false)),
            ("Results: 12 passed, 0 failed", Some(true)),
            ("Passed: 12, Failed: 1", Some(false)),
            ("Total: 12 | Passed: 12 | Failed: 0", Some(true)),
            ("Test summary: 3 errors", Some(false)),
            ("12 scenarios (2 failed, 10 passed)", Some(false)),
            ("12 scenarios (12 passed)", Some(true)),
            ("# PASS:  11\n# FAIL:  1", Some(false)),
            ("2 tests failed", Some(false)),
            ("12 tests passed", Some(true)),
            ("All 12 tests passed (0.01s)", Some(true)),
            ("1 out of 12 tests failed (0.02s)", Some(false)),
            ("✅ All tests passed!", Some(true)),
            ("Some tests failed", Some(false)),
            ("OK", Some(true)),
            ("Failed: 0", None),
            ("user: 12, failed: never", None),
            ("web1: 3 failed", None),
            ("retry 3: 1 failed", None),
            ("errors: none", None),
            ("12 rows (2 failed, 10 written)", None),
        ] {
            let report = Report::of(output);
            let is_of_tests = output.contains("tests") || output.contains("scenarios");
            assert!(report.failed == 0 || is_of_tests, "{output}: {report:?}");
            let verdict = if report.has_failed { Some(false) } else { report.has_passed.then_some(true) };
            assert_eq!(verdict, expected, "{output}: {report:?}");
        }
    }

    #[test]
    fn a_line_that_reports_an_error_differs_from_one_that_names_it() {
        for line in [
            "error: the following build command failed with exit code 1",
            "Fatal error: exception Failure(\"no\")",
            "src/a.c:3:5: error: expected ';'",
            "java.io.IOException: no route to db-2",
            "PG::UniqueViolation: duplicate key",
            "sh: 1: pnpm: command not found",
        ] {
            assert!(Report::of(line).has_error, "{line}");
        }
        for line in [
            "0 errors",
            "test errors::parse ... ok",
            "Compiling thiserror v1.0",
            "retry after error",
            "err.log",
        ] {
            assert!(!Report::of(line).has_error, "{line}");
        }
    }
}
