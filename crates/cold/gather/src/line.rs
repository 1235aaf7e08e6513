//! What a line of shell does, and whether that went well: by its exit status where that is its own, else by what it printed.
//!
//! The client knows one exit status for a line, that of its end. A pipe, `;`, `|| true` and a loop hide those before it.

use crate::failure;
use crate::thread::Ending;
use distiller::clean_cut;
use outcome::Family;
use shell::{Command, Origin};
use std::borrow::Cow;

/// Programs that show what is there.
const LOOKERS: &[&str] = &[
    "ack", "ag", "bat", "cat", "cmp", "column", "comm", "cut", "diff", "du", "egrep", "fd", "fgrep", "file",
    "find", "grep", "head", "jq", "less", "ls", "more", "nl", "od", "pgrep", "ps", "readlink", "realpath",
    "rev", "rg", "sort", "stat", "strings", "tail", "tr", "tree", "type", "uniq", "wc", "which", "xxd", "yq",
    "zcat", "awk", "sed", "df", "locate", "hexdump", "tac", "paste",
];
/// Of those, the ones that end with 1 where nothing is found or nothing differs.
const SEARCHERS: &[&str] = &[
    "ack", "ag", "cmp", "command", "diff", "egrep", "fd", "fgrep", "grep", "pgrep", "rg", "test", "type",
    "which", "[",
];
/// Subcommands of git that show what is there.
const GIT_LOOKS: &[&str] = &[
    "blame",
    "cat-file",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "reflog",
    "remote",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];
/// Programs that prepare or end, and whose success says nothing.
const FILLERS: &[&str] = &[
    "", ".", ":", "[", "cd", "clear", "command", "date", "exit", "export", "false", "mkdir", "popd", "pushd",
    "pwd", "return", "set", "shift", "shopt", "sleep", "source", "tee", "test", "true", "ulimit", "umask",
    "unset", "xargs", "wait",
];
/// Programs that say something themselves.
const SPEAKERS: &[&str] = &["echo", "printf"];
/// Shells that run an argument.
const SHELLS: &[&str] = &["bash", "dash", "sh", "zsh"];
/// The longest last line of an output that is kept, in characters.
const LAST_CHARS: usize = 160;
/// How much of an output is looked through, in bytes.
const OUTPUT_BYTES: usize = 64 * 1024;
const END_BYTES: usize = 8 * 1024;

/// What a line of shell does.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// What it does, the same for each way to look at its output; nothing where only the whole line says it.
    pub(crate) key: String,
    /// The program and subcommand of what it does last.
    pub(crate) name: String,
    /// Whether it only looks at what is there.
    pub(crate) is_look: bool,
    /// Whether it ends with a program that fails where nothing is found.
    searches: bool,
    /// What is needed to judge it where its exit status hides that of what it does.
    hidden: Option<Box<Hidden>>,
}

/// A line whose exit status is not that of all that it does.
#[derive(Debug)]
struct Hidden {
    script: String,
    commands: Vec<Command>,
    work: Vec<Work>,
}

/// A command that does something.
#[derive(Debug)]
struct Work {
    /// Its place among the commands of the line.
    at: usize,
    /// Whose summaries it may print.
    families: Vec<Family>,
    /// Whether its output is what others printed or wrote.
    shows_others: bool,
}

impl Line {
    pub(crate) fn of(script: &str) -> Self {
        let commands = shell::commands(script);
        let work = work(&commands);
        let last = commands.iter().rfind(|command| is_direct(command));
        let searches = last.is_some_and(|last| {
            SEARCHERS.contains(&last.program()) || last.program() == "git" && subcommand(last) == "grep"
        });
        let texts: Vec<String> = work.iter().map(|work| words_of(&commands[work.at])).collect();
        let mut line = Self {
            key: if is_loop(script) { String::new() } else { texts.join(" && ") },
            name: work.last().map(|work| name_of(&commands[work.at])).unwrap_or_default(),
            is_look: only_looks(&commands),
            searches,
            hidden: None,
        };
        if !work.is_empty() && Self::may_hide(script) {
            let found = outcome::endings(script, &commands, "", Some(true));
            if work.iter().any(|work| found[work.at].may_have_failed) {
                line.hidden = Some(Box::new(Hidden { script: script.to_owned(), commands, work }));
            }
        }
        line
    }

    /// Says whether a line has something in it that may hide how a part of it ended. Most have not, and need no closer look.
    pub(crate) fn may_hide(script: &str) -> bool {
        script.contains(['|', ';', '\n', '!'])
            || script.replace("&&", "").contains("& ")
            || script.trim_end().ends_with('&')
    }

    /// Returns how a call of it ended that the client says has failed, or not.
    pub(crate) fn ending(&self, is_error: bool, output: &str) -> Ending {
        let output = failure::plain(output);
        let output = match output.len() > OUTPUT_BYTES {
            // What tells is at the beginning or at the end, and what is in between is not looked for in vain.
            true => {
                let head = &output[..output.floor_char_boundary(OUTPUT_BYTES - END_BYTES)];
                let end = &output[output.ceil_char_boundary(output.len() - END_BYTES)..];
                Cow::Owned(format!("{head}\n…\n{end}"))
            }
            false => output,
        };
        let failed = || Ending::Failed(failure::telling_lines(&clean_cut(&output, OUTPUT_BYTES)));
        if is_error {
            return match (self.searches && found_nothing(&output), &self.hidden) {
                (false, _) => failed(),
                (true, None) => Ending::Done,
                (true, Some(_)) => Ending::Ran,
            };
        }
        match self.hidden.as_ref().map(|hidden| hidden.has_passed(&output)) {
            None | Some(Some(true)) => Ending::Done,
            Some(Some(false)) => failed(),
            Some(None) => Ending::Ran,
        }
    }
}

impl Hidden {
    /// Returns whether all that a line does went well, where the line ended well: by exit statuses where those are seen, else by
    /// what was printed, if that says so.
    fn has_passed(&self, output: &str) -> Option<bool> {
        let found = outcome::endings(&self.script, &self.commands, output, Some(true));
        // Of `! make` a failure is what was wanted.
        let is_failure = |work: &Work| {
            found[work.at].ending == outcome::Ending::Failed && !self.commands[work.at].is_negated
        };
        if self.work.iter().any(is_failure) {
            return Some(false);
        }
        let hidden: Vec<&Work> = self.work.iter().filter(|work| found[work.at].may_have_failed).collect();
        if hidden.is_empty() {
            return Some(true);
        }
        // What sums it up is at the end.
        let end = &output[output.ceil_char_boundary(output.len().saturating_sub(END_BYTES))..];
        // What says that all is well says it of one command, and that is the last that prints.
        let is_about_it =
            hidden.len() == 1 && self.work.last().is_some_and(|last| std::ptr::eq(last, hidden[0]));
        let (of_git, others): (Vec<&Work>, Vec<&Work>) = hidden
            .into_iter()
            .filter(|work| !work.shows_others)
            .partition(|work| self.commands[work.at].program() == "git");
        let git_says: Vec<bool> =
            of_git.iter().filter_map(|work| outcome::repository_says(&self.commands[work.at], end)).collect();
        if git_says.contains(&false) {
            return Some(false);
        }
        if others.is_empty() {
            return git_says.first().copied().filter(|_| is_about_it);
        }
        let printed = outcome::Output::read(end);
        // Whichever form a summary has, it is of the only program that prints.
        let families = match is_about_it {
            true => printed.families(),
            false => others.iter().flat_map(|work| work.families.iter().copied()).collect(),
        };
        let report = printed.report(&families);
        // A program that passes may print an error that it expects; beside others, it is of one of them.
        if report.has_failed || report.has_error && !is_about_it {
            return Some(false);
        }
        match report.has_passed || report.passed > 0 {
            true => is_about_it.then_some(true),
            false => report.has_error.then_some(false),
        }
    }
}

/// Returns what commands do that do more than look, prepare or speak. A shell that runs a string does what is in that.
fn work(commands: &[Command]) -> Vec<Work> {
    let mut found = Vec::new();
    let mut deepest = 0;
    for (at, command) in commands.iter().enumerate() {
        let is_in_string = command.origin == Origin::ShellString && (1..=deepest).contains(&command.depth);
        if !is_direct(command) && !is_in_string {
            continue;
        }
        let runs_string = runs_string(command);
        if runs_string || is_direct(command) {
            deepest = if runs_string { command.depth + 1 } else { 0 };
        }
        let inner = commands.iter().rfind(|other| is_at(other, command));
        let runs_work = command.program() == "xargs" && inner.is_some_and(does_work);
        if !runs_string && (does_work(command) || runs_work) {
            let inner = inner.unwrap_or(command);
            let shows_others = outcome::shows_others(inner) || looks(inner);
            found.push(Work { at, families: outcome::families(inner), shows_others });
        }
    }
    found
}

/// Returns the last line of an output that says something.
pub(crate) fn last_line(output: &str) -> String {
    let clean = clean_cut(&failure::plain(output), usize::MAX / 2);
    let line = clean.lines().rev().find(|line| line.chars().any(char::is_alphanumeric));
    text::sanitize::one_line(line.unwrap_or_default(), LAST_CHARS)
}

fn is_direct(command: &Command) -> bool {
    command.origin == Origin::Direct && command.depth == 0
}

/// Says whether a command is run by the other one, at its place.
fn is_at(inner: &Command, outer: &Command) -> bool {
    inner.origin == Origin::Wrapped && (inner.pipeline, inner.place) == (outer.pipeline, outer.place)
}

/// Says whether a command does more than look, prepare or speak.
fn does_work(command: &Command) -> bool {
    let program = command.program();
    !(FILLERS.contains(&program) || SPEAKERS.contains(&program) || looks(command))
}

fn looks(command: &Command) -> bool {
    let has = |options: &[&str]| {
        command.words.iter().skip(1).any(|word| options.iter().any(|option| word.text.starts_with(option)))
    };
    match command.program() {
        "git" => {
            let sub = subcommand(command);
            GIT_LOOKS.contains(&sub)
                || sub == "branch" && command.words.len() == 2
                || sub == "stash" && has(&["list", "show"])
        }
        "find" | "fd" => !has(&["-delete", "-exec", "-ok", "-x"]),
        "sed" | "yq" => !has(&["-i", "--in-place"]),
        "sort" => !has(&["-o"]),
        program => LOOKERS.contains(&program),
    }
}

/// Says whether commands look at what is there and change nothing.
fn only_looks(commands: &[Command]) -> bool {
    let writes = |command: &Command| {
        let into_file = command.redirects.iter().any(|redirect| {
            redirect.operator.contains('>')
                && !redirect.operator.ends_with('&')
                && redirect.target.text != "/dev/null"
        });
        into_file || matches!(command.program(), "tee" | "mkdir")
    };
    let speaks = commands.iter().any(|command| SPEAKERS.contains(&command.program()));
    let ends = |command: &Command| matches!(command.program(), "exit" | "return" | "false");
    !commands.is_empty()
        && !commands.iter().any(|command| does_work(command) || writes(command) || ends(command))
        && (!speaks || commands.iter().any(looks))
}

/// Returns the first word behind a program that is no option.
fn subcommand(command: &Command) -> &str {
    outcome::subcommands(command).next().unwrap_or_default()
}

fn words_of(command: &Command) -> String {
    command.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns a program with its subcommand, if the word behind it is like one.
fn name_of(command: &Command) -> String {
    let sub = subcommand(command);
    let is_sub = sub.starts_with(|c: char| c.is_ascii_lowercase())
        && sub
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-:".contains(&byte));
    if is_sub { format!("{} {sub}", command.program()) } else { command.program().to_owned() }
}

/// Says whether the last word of a command is a line of shell that it runs.
fn runs_string(command: &Command) -> bool {
    let has_option = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    SHELLS.contains(&command.program())
        && command.words.len() == 3
        && has_option(&command.words[1].text)
        && !command.words[2].text.is_empty()
}

/// Says whether a search printed no more than that it failed, or that it counted nothing.
fn found_nothing(output: &str) -> bool {
    output.lines().map(str::trim).all(|line| line.is_empty() || line == "Exit code 1" || line == "0")
}

fn is_loop(script: &str) -> bool {
    has_word(script, "do") && has_word(script, "done")
}

fn has_word(text: &str, wanted: &str) -> bool {
    text.split(|c: char| c.is_whitespace() || c == ';').any(|word| word == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, output: &str, expected: &str) {
        let ended = match Line::of(command).ending(output.starts_with("Exit code "), output) {
            Ending::Done => "passed",
            Ending::Ran => "ran",
            Ending::Failed(_) => "failed",
            other => panic!("{other:?}"),
        };
        assert_eq!(ended, expected, "{command}\n{output}");
    }

    #[test]
    fn a_hidden_failure_is_known_by_what_the_tool_prints() {
        let failed = "collected 3 items\n1 failed, 2 passed in 0.1s";
        check("python -m pytest -q 2>&1 | tail -3", failed, "failed");
        check("cd app && CI=1 npm test 2>&1 | tee log", "npm ERR! Test failed.", "failed");
        check("make check || true", "make: *** [check] Error 2", "failed");
        let dead = "thread 'main' panicked at src/main.rs:4:5:\nboom";
        check("cargo run 2>&1 | tail -5", dead, "failed");
        check("cargo test 2>&1 | tail -5", &format!("{dead}\ntest result: ok. 2 passed; 0 failed"), "passed");
        check("python -m pytest -q | tail -1", "0 failed, 3 passed", "passed");
        check("npx eslint src | tail -4; echo done", "✖ 3 problems (2 errors, 1 warning)\ndone", "failed");
        check(
            "go test ./... | grep -v 'no test files'",
            "--- FAIL: TestGet (0.00s)\nFAIL\tshop/cart\t0.1s",
            "failed",
        );
        check(
            "mvn -q verify | tail -20",
            "[ERROR] Tests run: 9, Failures: 2, Errors: 0, Skipped: 0",
            "failed",
        );
        check(
            "docker build . 2>&1 | tail -3",
            "ERROR: failed to solve: process \"/bin/sh -c npm ci\" did not complete",
            "failed",
        );
        check(
            "git push 2>&1 | tail -2",
            " ! [rejected]  main -> main (fetch first)\nerror: failed to push some refs",
            "failed",
        );
        check("dotnet test | tail -1", "Failed!  - Failed:     1, Passed:    10, Skipped:     0", "failed");
        check("bundle exec rspec | tail -2", "12 examples, 2 failures", "failed");
        check(
            "./gradlew test --console=plain | tail",
            "9 tests completed, 1 failed\nBUILD FAILED in 3s",
            "failed",
        );
        check("make test; ls build", "make: *** [Makefile:4: test] Error 1\na.out", "failed");
        check("./deploy.sh > log 2>&1; echo \"exit code: $?\"; tail log", "exit code: 7\nno route", "failed");
    }

    #[test]
    fn what_shows_no_verdict_was_only_run() {
        check("./import.sh orders.csv | tail -2", "row 200\nrow 201", "ran");
        check("make || true", "cc -o a a.c", "ran");
        check("npm run build; npm run docs", "docs written to out/", "ran");
        check("cargo test 2>&1 | grep -c panicked", "Exit code 1\n0", "ran");
        check("cargo test 2>&1 | tail -1", "", "ran");
        check("for f in a b; do ./convert $f; done", "b done", "ran");
        check("(cd web && npm run build) | tail -1", "dist/index.html", "ran");
        check("if ./migrate; then ./seed; fi", "12 rows", "ran");
        check("kubectl logs deploy/gate | grep ERROR | tail -3", "ERROR: could not reach db", "ran");
        check("ssh web1 'journalctl -u shop' | tail -5", "error: 3 failed, 2 passed", "ran");
        check("make lint; npm test | tail -3", "12 passed", "ran");
        check("bash -c 'make | tail -1'", "ld a.o", "ran");
    }

    #[test]
    fn an_exit_status_that_is_the_commands_own_is_believed() {
        check("python -m pytest -q", "3 passed", "passed");
        check("cd app && make && ./run --once", "ok", "passed");
        check("cd app; make", "cc", "passed");
        check("set -euo pipefail; make | tee log; ./run | tail -1", "x", "passed");
        check("make || exit 1", "cc", "passed");
        check("cat build.log | grep FAILED", "** BUILD FAILED **", "passed");
        check("git log --oneline | head", "4be19a2 Explain BUILD FAILED", "passed");
        check("git commit -qm x && git push 2>&1 | tail -1", "   77ab310..91d00ce  main -> main", "passed");
        check("make test; cat log", "Exit code 1\nno log", "failed");
        check("./deploy.sh > log 2>&1; echo exit=$?", "exit=0", "passed");
        check("sudo -u ci make install", "cp a /usr/bin", "passed");
        check("bash -c 'cd web && make'", "cc", "passed");
        check("CI=1 npm test", "Exit code 1\n1 failing", "failed");
        // What was printed says which way was taken.
        check("if ./migrate; then echo yes; fi", "yes", "passed");
        check("if ./migrate; then echo yes; else echo no; fi", "no", "failed");
        check("test -f .env || cp .env.example .env", "", "passed");
    }

    #[test]
    fn a_search_that_finds_nothing_has_not_failed() {
        for command in
            ["grep -rn apply_v1 .", "cd src && rg -l Foo", "which eksctl", "git grep Foo", "ls | grep x"]
        {
            check(command, "Exit code 1", "passed");
            assert!(Line::of(command).is_look, "{command}");
        }
        check("grep -c x a", "Exit code 1\n0", "passed");
        check("grep x nowhere", "Exit code 2\ngrep: nowhere: No such file or directory", "failed");
    }

    #[test]
    fn what_only_looks_differs_from_what_does_something() {
        for command in [
            "ls -la",
            "cd src && cat a.rs | head -20",
            "pwd && ls",
            "git status --short; git diff --stat",
            "echo '---'; cat a",
            "find . -name '*.go' | xargs wc -l",
            "sed -n 1,20p a.rs",
            "git -C /p log -3",
        ] {
            assert!(Line::of(command).is_look, "{command}");
        }
        for command in [
            "echo hi; pwd",
            "make",
            "cat > a <<'E'\nx\nE",
            "sed -i s/a/b/ a.rs",
            "find . -name '*.o' -delete",
            "git checkout -- a",
            "ls | xargs rm",
            "grep x a > b",
            "kubectl get pods",
            "exit 3",
            "sort -o a a",
            "cat a | tee b",
        ] {
            assert!(!Line::of(command).is_look, "{command}");
        }
    }

    #[test]
    fn the_same_work_is_one_however_its_output_is_cut() {
        let key = |command: &str| Line::of(command).key;
        assert_eq!(key("cd a && pytest -q 2>&1 | tail -5"), key("cd a; pytest -q | grep FAILED"));
        assert_ne!(key("pytest -q a"), key("pytest -q b"));
        assert_eq!(Line::of("cd eks && terraform apply -auto-approve | tail").name, "terraform apply");
        assert_eq!(Line::of("psql shop_dev -c 'select 1'").name, "psql");
    }

    #[test]
    fn tools_say_it_in_many_ways() {
        check("mix test 2>&1 | tail -4", "Finished in 0.3 seconds\n14 tests, 2 failures", "failed");
        check("mix test 2>&1 | tail -4", "Finished in 0.3 seconds\n14 tests, 0 failures", "passed");
        check(
            "npx tsc --noEmit | head -5",
            "src/cart.ts(14,5): error TS2322: Type 'string' is not assignable",
            "failed",
        );
        check("vendor/bin/phpunit | tail -3", "FAILURES!\nTests: 12, Assertions: 30, Failures: 1.", "failed");
        check("vendor/bin/phpunit | tail -3", "OK (12 tests, 30 assertions)", "passed");
        check(
            "swift test 2>&1 | tail -2",
            "Executed 12 tests, with 1 failure (0 unexpected) in 0.9 seconds",
            "failed",
        );
        check("swift build 2>&1 | tail -2", "Sources/A.swift:3:9: error: cannot find 'x' in scope", "failed");
        check(
            "terraform apply -auto-approve | tail -1",
            "Apply complete! Resources: 2 added, 0 changed, 0 destroyed.",
            "passed",
        );
        check(
            "helm upgrade gate ./chart | tail -2",
            "Error: UPGRADE FAILED: timed out waiting for the condition",
            "failed",
        );
        check("node --test | tail -5", "# tests 9\n# pass 8\n# fail 1", "failed");
        check("node --test | tail -5", "# tests 9\n# pass 9\n# fail 0", "passed");
        check("prove -r t | tail -2", "Files=3, Tests=40\nResult: FAIL", "failed");
        check(
            "sbt test | tail -2",
            "[error] (Test / test) sbt.TestsFailedException: Tests unsuccessful",
            "failed",
        );
        check(
            "bazel test //... | tail -2",
            "//a:b_test  FAILED in 0.4s\nExecuted 3 out of 3 tests: 2 tests pass and 1 fails locally.",
            "failed",
        );
        check("pip install -r r.txt | tail -1", "Successfully installed flask-3.1.0", "passed");
        check(
            "pip install -r r.txt 2>&1 | tail -1",
            "ERROR: No matching distribution found for flask==9",
            "failed",
        );
        check("cargo clippy 2>&1 | tail -1; cargo fmt --check", "error: could not compile `a`", "failed");
        check("yarn build | tail -2", "✨  Done in 3.21s.", "ran");
        check("php artisan migrate | tail -2", "SQLSTATE[42S01]: Base table or view already exists", "ran");
        check("flutter test | tail -1", "00:03 +14 -1: Some tests failed.", "failed");
        check("flutter test | tail -1", "00:03 +14: All tests passed!", "passed");
        check(
            "zig build test 2>&1 | tail -2",
            "error: the following build command failed with exit code 1",
            "failed",
        );
        check("dune runtest 2>&1 | head", "Fatal error: exception Failure(\"no\")", "failed");
        check(
            "ansible-playbook site.yml | tail -2",
            "web1 : ok=12 changed=3 unreachable=0 failed=1 skipped=0",
            "failed",
        );
        check(
            "ansible-playbook site.yml | tail -2",
            "web1 : ok=12 changed=3 unreachable=0 failed=0 skipped=0",
            "passed",
        );
    }
    #[test]
    fn several_commands_on_a_line_are_judged_by_what_each_prints() {
        check("npm ci; npm test", "npm error code EUSAGE\n> test\n  5 passing (3ms)", "failed");
        check(
            "pytest -q; npx jest 2>&1 | tail",
            "3 passed in 0.1s\nTests:       1 failed, 1 total",
            "failed",
        );
        check("git pull; make | tail -1", "Already up to date.\ncc", "ran");
        check("git pull 2>&1 | tail -1", "CONFLICT (content): Merge conflict in a.rs", "failed");
        check("git merge next | tail -2", "Fast-forward\n a.rs | 2 +-", "passed");
        check(
            "for p in a b; do (cd $p && npm test); done",
            "Tests:       2 passed, 2 total\nTests:       1 failed, 1 passed, 2 total",
            "failed",
        );
        check(
            "cargo test | tail -1; echo \"exit: ${PIPESTATUS[0]}\"",
            "test result: ok. 3 passed; 0 failed\nexit: 0",
            "passed",
        );
        check("cargo test | tee log; exit ${PIPESTATUS[0]}", "x", "passed");
        check("make > log 2>&1 && echo OK || { echo BROKEN; tail log; }", "BROKEN\ncc", "failed");
        check("make > log 2>&1 && echo OK || { echo BROKEN; tail log; }", "OK", "passed");
        check("docker exec web npm test | tail -3", "Tests:       1 failed, 12 passed, 13 total", "failed");
        check("docker compose logs web | tail -3", "1 failed, 2 passed in 0.3s", "ran");
        check("docker exec web cat log | tail -3; ls", "1 failed, 2 passed in 0.3s", "ran");
        check("curl -s localhost/health | jq .", "{\"error\": 1}", "ran");
        check("! ./guard.sh bad", "refused", "ran");
        check("./check.sh | tail -1", "19/20 tests passed", "failed");
        check("./check.sh | tail -1", "20/20 passed", "passed");
        check("tsx scripts/seed.ts | tail -3", "TypeError: x is not a function\n    at a", "failed");
        check("go run ./cmd/seed | tail", "panic: runtime error: index out of range", "failed");
        check("bash -c 'make; ./run' | tail -1", "make: *** [all] Error 1\nhello", "failed");
    }
}
