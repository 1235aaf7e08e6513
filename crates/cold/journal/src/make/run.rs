//! What the commands of a turn did: checks and their outcomes, commits, deployments, files moved and removed.

use outcome::{Ending, Family, Found, Output, Report, endings, families, git_verb, repository_says};
use shell::Command;
use text::sanitize;

/// The longest subject of a commit or title of a pull request that is shown, in characters.
const MOST_SUBJECT_CHARS: usize = 90;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
    Interrupted,
    /// It goes on in the background.
    Background,
    /// The transcript does not say: lines name the command, and not whether it went well.
    Unknown,
}

/// One run of a program whose outcome says something.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// What people call it: `cargo test`, `npm run lint`.
    pub(super) name: String,
    pub(super) outcome: Outcome,
    pub(super) report: Report,
    /// Whether its success alone is worth a word.
    pub(super) is_check: bool,
}

/// What a command did to the repository, the files or the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// A sentence without its end: `committed "Check expiry"`.
    Did(String),
    /// A commit: its abbreviated hash, where git printed it, and its subject.
    Committed(String, String),
    Moved(String, String),
    Removed(String),
    /// A file was written by the command.
    Wrote(String),
    /// Files were put back to the last commit; those in the folder of the call when the list is empty.
    Restored(Vec<String>),
    /// All files of the repository were put back to the last commit.
    RestoredAll,
    /// Of these words, those that are files were put back.
    PutBack(Vec<String>),
    /// Files were put back to an earlier commit, and later commits are gone.
    Undone,
    /// The last commit was reverted.
    Reverted,
    /// Changes were put away, with those of new files; all of them when the list is empty.
    Stashed(Vec<String>, bool),
    Unstashed,
    /// What was put away is gone.
    Dropped,
    /// New files were removed; all of them when the list is empty.
    Cleaned(Vec<String>),
    /// Changes were chosen for the next commit; all of them when the list is empty.
    Staged(Vec<String>),
    /// What was chosen was committed, or all.
    Settled(bool),
    /// A file was copied, over another one if there is one.
    Copied(String, String),
    /// A file was written anew by the command.
    Replaced(String),
    /// A file was read.
    Read(String),
}

/// What one command line did.
#[derive(Clone, Debug, Default)]
pub(super) struct Ran {
    pub(super) runs: Vec<Run>,
    pub(super) acts: Vec<Act>,
}

/// Returns what a command line did, with its output and its outcome as the client saw it.
pub(super) fn of(script: &str, printed: &str, outcome: Outcome) -> Ran {
    let commands = shell::commands(script);
    let succeeded = match outcome {
        Outcome::Passed => Some(true),
        Outcome::Failed => Some(false),
        _ => None,
    };
    let found = endings(script, &commands, printed, succeeded);
    let mut ran = Ran::default();
    let steps = steps(&commands, &found);
    if matches!(outcome, Outcome::Interrupted | Outcome::Background) {
        steps.iter().for_each(|step| ran.add(step, outcome, Report::default()));
        return ran;
    }
    let output = Output::read(printed);
    let reports = reports(&commands, &steps, &output);
    let suspects = suspects(&steps, &output, printed, is_open(&commands, &found));
    let blamed =
        if suspects.is_empty() { Vec::new() } else { failed(&steps, suspects.clone(), printed, &output) };
    for (at, (step, report)) in steps.iter().zip(reports).enumerate() {
        let is_suspect = suspects.contains(&at);
        let outcome = match (blamed.first(), blamed.last()) {
            // What comes behind it was not run.
            (_, Some(last)) if is_suspect && at > *last => continue,
            (Some(first), Some(last)) if is_suspect && at >= *first => {
                if at == *last {
                    ran.runs.push(together(&steps, &blamed, report, &output));
                }
                continue;
            }
            (Some(_), _) if is_suspect => Outcome::Passed,
            _ => match step.outcome(&report, printed) {
                Some(outcome) => outcome,
                None => continue,
            },
        };
        let is_done = outcome == Outcome::Passed || outcome == Outcome::Unknown && !step.is_claim();
        if is_done {
            act(step.command, printed, &mut ran.acts);
        }
        let is_worth_a_line = match outcome {
            Outcome::Passed => !step.named.is_git,
            // Without an outcome, the name of a mere look says nothing.
            Outcome::Unknown => step.named.is_check || step.is_claim(),
            _ => true,
        };
        if is_worth_a_line {
            ran.add(step, outcome, report);
        }
    }
    for (command, found) in commands.iter().zip(&found) {
        match found.ending {
            Ending::Succeeded => files(command, &mut ran.acts),
            Ending::Unknown if !found.is_suspect => files(command, &mut ran.acts),
            _ => {}
        }
    }
    ran
}

impl Ran {
    /// Adds a run. A program that is run twice on a line has one, with the worse outcome.
    fn add(&mut self, step: &Step<'_>, outcome: Outcome, report: Report) {
        let rank = |outcome| match outcome {
            Outcome::Passed => 0,
            Outcome::Background | Outcome::Interrupted => 1,
            Outcome::Unknown => 2,
            Outcome::Failed => 3,
        };
        match self.runs.iter_mut().find(|run| run.name == step.named.name) {
            Some(run) if rank(run.outcome) >= rank(outcome) => {}
            Some(run) => (run.outcome, run.report) = (outcome, report),
            None => self.runs.push(Run {
                name: step.named.name.clone(),
                outcome,
                report,
                is_check: step.named.is_check,
            }),
        }
    }
}

/// A command of a line whose outcome says something.
struct Step<'c> {
    command: &'c Command,
    named: Named,
    found: Found,
    /// Whose summaries it may print into the output.
    families: Vec<Family>,
}

impl Step<'_> {
    /// Returns how it ended, by its exit status where that is seen, else by what it says itself; none where it may not have been
    /// run.
    fn outcome(&self, report: &Report, printed: &str) -> Option<Outcome> {
        let says = match self.named.is_git {
            true => repository_says(self.command, printed),
            false if report.has_failed => Some(false),
            false if report.has_passed || report.passed > 0 => Some(true),
            false => None,
        };
        let says = says.map(|is_well| if is_well { Outcome::Passed } else { Outcome::Failed });
        match self.found.ending {
            Ending::Skipped => None,
            Ending::Failed => Some(Outcome::Failed),
            // Tests that failed are no success, whatever ran them says.
            Ending::Succeeded if report.failed > 0 => Some(Outcome::Failed),
            Ending::Succeeded => Some(Outcome::Passed),
            Ending::Unknown => Some(says.unwrap_or(Outcome::Unknown)),
            Ending::Perhaps => says,
        }
    }

    /// Returns whether it puts something into a repository or a forge: shown only when it is known.
    fn is_claim(&self) -> bool {
        const CLAIMS: [&str; 9] = [
            "git commit",
            "git push",
            "git merge",
            "git rebase",
            "git cherry-pick",
            "git revert",
            "git pull",
            "git tag",
            "git am",
        ];
        self.named.is_git
            && (!self.named.name.starts_with("git ") || CLAIMS.contains(&self.named.name.as_str()))
    }
}

fn steps<'c>(commands: &'c [Command], found: &[Found]) -> Vec<Step<'c>> {
    let named = commands.iter().zip(found).filter_map(|(command, found)| {
        let named = name(command)?;
        let families = if is_silent(command, commands) { Vec::new() } else { families(command) };
        Some(Step { command, named, found: *found, families })
    });
    named.collect()
}

/// Returns whether a line may have failed because a look found nothing: `grep -q x a && cargo test`.
fn is_open(commands: &[Command], found: &[Found]) -> bool {
    const LOOKS: [&str; 12] =
        ["grep", "egrep", "rg", "test", "[", "diff", "cmp", "which", "command", "pgrep", "find", "jq"];
    let is_look = |command: &Command| LOOKS.contains(&command.program());
    commands.iter().zip(found).any(|(command, found)| found.is_suspect && is_look(command))
}

/// Returns whether what a command prints goes to a file that the line does not show.
fn is_silent(command: &Command, commands: &[Command]) -> bool {
    let last =
        commands.iter().find(|other| other.pipeline == command.pipeline && other.is_last).unwrap_or(command);
    let is_output =
        |operator: &str| matches!(operator, ">" | ">>" | "1>" | "1>>" | "&>" | "&>>" | ">|" | ">&");
    let target = last.redirects.iter().rfind(|redirect| is_output(&redirect.operator));
    let Some(target) = target.map(|redirect| redirect.target.text.as_str()) else { return false };
    let is_shown = |other: &Command| {
        other.start > last.start
            && READERS.contains(&other.program())
            && other.words.iter().any(|word| word.text == target)
    };
    !matches!(target, "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "1" | "2" | "&1" | "&2")
        && !commands.iter().any(is_shown)
}

/// Programs that show files.
const READERS: [&str; 12] =
    ["cat", "tail", "head", "less", "more", "bat", "grep", "egrep", "rg", "sed", "awk", "zcat"];

/// Returns whether a line shows what others wrote earlier: a file, a log, the history.
fn shows_others(commands: &[Command]) -> bool {
    let written = |word: &str| {
        let tee =
            |other: &&Command| other.program() == "tee" && other.words.iter().any(|known| known.text == word);
        commands.iter().any(|other| other.redirects.iter().any(|redirect| redirect.target.text == word))
            || commands.iter().any(|other| tee(&other))
    };
    commands.iter().any(|command| {
        let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.text.as_str()).collect();
        let plain: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let has_file = plain
            .last()
            .is_some_and(|file| !written(file) && !file.bytes().all(|byte| byte.is_ascii_digit()));
        match command.program() {
            "git" => git_verb(&words)
                .is_some_and(|(verb, _)| matches!(verb, "log" | "show" | "diff" | "grep" | "blame")),
            "gh" | "glab" => plain.iter().any(|word| matches!(*word, "view" | "checks" | "list" | "diff")),
            "docker" | "kubectl" | "podman" => plain.contains(&"logs"),
            "journalctl" => true,
            program => command.place == 0 && has_file && READERS.contains(&program),
        }
    })
}

/// Returns what each step says: the summaries in an output go to the step that prints such, if there is one.
fn reports(commands: &[Command], steps: &[Step<'_>], output: &Output) -> Vec<Report> {
    let most = steps.iter().map(|step| step.families.len()).max().unwrap_or_default();
    let shows_others = shows_others(commands);
    let mut own: Vec<Vec<Family>> = vec![Vec::new(); steps.len()];
    for family in output.families() {
        let said = output.report(&[family]);
        let mut owners: Vec<usize> = (0..steps.len())
            .filter(|at| steps[*at].families.contains(&family) && steps[*at].found.ending != Ending::Skipped)
            .filter(|at| !shows_others || steps[*at].families.len() < MANY_FAMILIES)
            .collect();
        let mut prefer = |is_meant: &dyn Fn(&Step<'_>) -> bool| {
            if owners.iter().any(|at| is_meant(&steps[*at])) {
                owners.retain(|at| is_meant(&steps[*at]));
            }
        };
        prefer(&|step| step.families.len() < MANY_FAMILIES.min(most));
        if said.passed + said.failed > 0 || !said.failing.is_empty() {
            prefer(&|step| is_of_testing(&step.named.name));
        }
        if matches!(family, Family::Script | Family::Tap) {
            prefer(&|step| matches!(step.command.program(), "npm" | "pnpm" | "yarn" | "bun" | "node"));
        }
        if said.has_failed {
            prefer(&|step| step.found.ending != Ending::Succeeded);
        }
        let names: std::collections::BTreeSet<&str> =
            owners.iter().map(|at| steps[*at].named.name.as_str()).collect();
        if names.len() == 1 {
            owners.iter().for_each(|at| own[*at].push(family));
        }
    }
    // A figure is of what came last.
    let reporter = steps.iter().rposition(|step| step.named.is_check && !step.named.is_git);
    let report = |(at, own): (usize, &Vec<Family>)| {
        let mut report = output.report(own);
        report.figure = report.figure.filter(|_| Some(at) == reporter);
        report
    };
    own.iter().enumerate().map(report).collect()
}

/// A program that may print the summaries of more families runs others.
const MANY_FAMILIES: usize = 5;

/// Returns the steps of a failed line of which one failed.
fn suspects(steps: &[Step<'_>], output: &Output, printed: &str, is_open: bool) -> Vec<usize> {
    let may_fail = |step: &Step<'_>| {
        let ending = step.found.ending;
        let is_choice = matches!(step.named.name.as_str(), "git add" | "git stage");
        step.found.is_suspect
            && !matches!(ending, Ending::Succeeded | Ending::Skipped)
            && (!is_choice || ending == Ending::Failed)
    };
    let suspects: Vec<usize> = (0..steps.len()).filter(|at| may_fail(&steps[*at])).collect();
    let speaks = |at: &usize| {
        let step = &steps[*at];
        step.found.ending == Ending::Failed
            || output.report(&step.families).has_failed
            || step.named.is_git && repository_says(step.command, printed) == Some(false)
    };
    let is_worth_a_line = suspects.iter().any(speaks) || output.report(&[]).error.is_some();
    if is_open && !is_worth_a_line { Vec::new() } else { suspects }
}

/// Returns the suspects of which one failed, in their order: of those that may have, the ones that the output speaks of.
fn failed(steps: &[Step<'_>], mut suspects: Vec<usize>, printed: &str, output: &Output) -> Vec<usize> {
    let report = output.report(&output.families());
    let mut prefer = |is_meant: &dyn Fn(usize) -> bool| {
        let meant: Vec<usize> = suspects.iter().copied().filter(|at| is_meant(*at)).collect();
        if !meant.is_empty() {
            suspects = meant;
        }
    };
    let is_git = |at: usize| steps[at].named.is_git;
    let is_of_git = GIT_ERRORS.iter().any(|error| printed.contains(error));
    let is_of_tests = report.failed > 0 || !report.failing.is_empty();
    if let Some(commit) = steps.iter().position(|step| step.named.name == "git commit") {
        let is_quiet = steps[commit].command.words.iter().any(|word| is_quiet_option(&word.text));
        match commit_subject(printed) {
            Some(_) => prefer(&|at| at > commit),
            None if !is_quiet => prefer(&|at| at <= commit),
            None => {}
        }
    }
    if is_of_tests {
        prefer(&|at| is_of_testing(&steps[at].named.name) && output.report(&steps[at].families).has_failed);
        prefer(&|at| is_of_testing(&steps[at].named.name));
    } else if is_of_git {
        prefer(&is_git);
    } else if report.has_failed {
        prefer(&|at| !is_git(at) && output.report(&steps[at].families).has_failed);
        prefer(&|at| !is_git(at));
    } else if report.error.is_some() {
        prefer(&|at| !is_git(at));
    }
    suspects
}

/// Returns whether an option of `git commit` has it print no line about the commit.
fn is_quiet_option(word: &str) -> bool {
    word == "--quiet" || word.starts_with('-') && !word.starts_with("--") && word.contains('q')
}

/// What git prints when it is the one that failed.
const GIT_ERRORS: [&str; 6] = [
    "fatal: ",
    "nothing to commit",
    "no changes added to commit",
    "failed to push",
    "[rejected]",
    "CONFLICT (",
];

/// Returns whether a program of this name counts tests.
fn is_of_testing(name: &str) -> bool {
    const RUNNERS: [&str; 17] = [
        "vitest",
        "jest",
        "mocha",
        "ava",
        "rspec",
        "phpunit",
        "pest",
        "playwright",
        "cypress",
        "bats",
        "tox",
        "nox",
        "nextest",
        "karma",
        "tap",
        "rake",
        "mvn",
    ];
    name.contains("test") || name.split([' ', ':']).any(|word| RUNNERS.contains(&word))
}

/// Returns the run of steps of which one failed: the output does not say which.
fn together(steps: &[Step<'_>], failed: &[usize], own: Report, output: &Output) -> Run {
    let names: Vec<&str> = failed.iter().map(|at| steps[*at].named.name.as_str()).collect();
    // What they print belongs to one of them, or to the only one.
    let is_whole = failed.len() > 1 || own.is_empty() && steps.len() == 1;
    let report = if is_whole { output.report(&output.families()) } else { own };
    Run {
        name: sanitize::one_line(&names.join(TOGETHER), MOST_SUBJECT_CHARS),
        outcome: Outcome::Failed,
        report,
        is_check: failed.iter().any(|at| steps[*at].named.is_check),
    }
}

/// What is between the names of steps that failed together.
const TOGETHER: &str = " && ";

/// Returns whether a run that passed settles a failed one: it is the same, the last of those that failed together, or runs all
/// tests of the project where a runner had failed by itself.
pub(super) fn settles(passed: &Run, failed: &Run) -> bool {
    let is_end = |before: &str| before.is_empty() || before.ends_with(TOGETHER);
    failed.name.strip_suffix(passed.name.as_str()).is_some_and(is_end)
        || (passed.outcome == Outcome::Passed
            && runs_all_tests(&passed.name)
            && failed.name.split(TOGETHER).all(is_of_testing))
}

/// Returns whether a command of this name is how a project runs all its tests: `npm test`, `make check`.
fn runs_all_tests(name: &str) -> bool {
    let (program, rest) = name.split_once(' ').unwrap_or((name, ""));
    let is_general = matches!(
        program,
        "npm"
            | "pnpm"
            | "yarn"
            | "bun"
            | "make"
            | "just"
            | "task"
            | "rake"
            | "nx"
            | "turbo"
            | "gradle"
            | "gradlew"
            | "mvn"
            | "mvnw"
            | "cargo"
            | "tox"
            | "nox"
    );
    let verb = rest.strip_prefix("run ").unwrap_or(rest);
    is_general
        && (matches!(verb, "test" | "tests" | "check" | "verify" | "xtask test")
            || matches!(program, "tox" | "nox"))
}

/// A program by the name that people call it.
struct Named {
    name: String,
    is_check: bool,
    is_git: bool,
}

fn name(command: &Command) -> Option<Named> {
    let program = command.program();
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let plain = plain_words(program, &words);
    let sub = plain.first().copied().unwrap_or_default();
    let check = |name: String| Some(Named { name, is_check: true, is_git: false });
    let with_sub = || check(joined(program, sub));
    match program {
        "" | "cd" | "ls" | "cat" | "pwd" | "echo" | "printf" | "head" | "tail" | "grep" | "rg" | "egrep"
        | "find" | "fd" | "wc" | "which" | "env" | "sleep" | "tree" | "jq" | "yq" | "awk" | "sed"
        | "sort" | "uniq" | "true" | "false" | "date" | "ps" | "type" | "stat" | "file" | "less" | "more"
        | "cut" | "tr" | "xargs" | "tee" | "diff" | "test" | "[" | "export" | "set" | "source" | "."
        | "mkdir" | "touch" | "chmod" | "chown" | "ln" | "cp" | "mv" | "rm" | "rmdir" | "basename"
        | "dirname" | "realpath" | "du" | "df" | "whoami" | "uname" | "id" | "hostname" | "exit" | "kill"
        | "pkill" | "lsof" | "time" | "sudo" | "bash" | "sh" | "zsh" | "column" | "nl" | "xxd"
        | "hexdump" | "md5sum" | "sha256sum" | "read" | "wait" | "nohup" | "timeout" | "command"
        | "history" | "alias" | "unset" | "shopt" | "ulimit" | "trap" | "seq" | "yes" | "bat" | "ag"
        | "ack" | "locate" | "watch" | "clear" | "open" | "man" | "tar" | "unzip" | "zip" | "gzip"
        | "gunzip" | "base64" | "mktemp" | "rev" | "paste" | "comm" | "join" | "split" | "strings"
        | "top" | "htop" | "free" | "uptime" | "nproc" | "getconf" | "eval" | "popd" | "pushd" | "dirs"
        | "let" | "local" | "return" | "shift" | "break" | "continue" | "ssh" | "npx" | "bunx" | "uvx"
        | "pipx" | "doas" | "nice" | "stdbuf" | "xcbeautify" | "xcpretty" | "pino-pretty" | "bunyan"
        | "tap-spec" | "colordiff" | "delta" | "ts" | "pv" | "nc" | "ncat" | "ping" | "telnet" | "dig"
        | "nslookup" | "traceroute" => None,
        "git" => git(&words),
        "gh" | "glab" => match (sub, plain.get(1).copied().unwrap_or_default()) {
            (
                "pr" | "issue" | "release" | "mr" | "run" | "workflow",
                verb @ ("create" | "merge" | "close" | "comment" | "review" | "edit" | "watch" | "run"
                | "ready"),
            ) => Some(Named {
                name: format!("{program} {sub} {verb}"),
                is_check: true,
                is_git: verb != "watch" && verb != "run",
            }),
            _ => None,
        },
        "cargo" => match sub {
            "fmt" if words.contains(&"--check") => check("cargo fmt --check".into()),
            "" | "fmt" | "metadata" | "tree" | "search" | "locate-project" | "help" => None,
            "nextest" => check("cargo nextest".into()),
            "xtask" => check(joined("cargo xtask", plain.get(1).copied().unwrap_or_default())),
            "add" | "remove" | "install" | "update" => {
                check(joined(&format!("cargo {sub}"), &plain[1..].join(" ")))
            }
            "t" => check("cargo test".into()),
            "b" => check("cargo build".into()),
            "c" => check("cargo check".into()),
            _ => with_sub(),
        },
        "npm" | "pnpm" | "yarn" | "bun" => match sub {
            "run" | "run-script" => {
                check(joined(&format!("{program} run"), plain.get(1).copied().unwrap_or_default()))
            }
            "t" | "test" => check(format!("{program} test")),
            "ls" | "list" | "view" | "info" | "why" | "outdated" | "config" | "root" | "bin"
            | "--version" => None,
            "i" | "install" | "add" | "remove" | "uninstall" | "ci" | "update" | "upgrade" => {
                check(joined(&format!("{program} {sub}"), &plain[1..].join(" ")))
            }
            "" if program == "npm" => None,
            "" => check(format!("{program} install")),
            _ => with_sub(),
        },
        "pip" | "pip3" | "uv" | "poetry" | "pipenv" | "conda" | "brew" | "apt" | "apt-get" | "gem"
        | "bundle" | "composer" | "pdm" => match sub {
            "install" | "add" | "remove" | "sync" | "lock" | "update" | "upgrade" | "uninstall"
            | "require" => check(joined(&format!("{program} {sub}"), &plain[1..].join(" "))),
            _ => None,
        },
        "go" | "terraform" | "tofu" | "helm" | "dotnet" | "mix" | "swift" | "flutter" | "dart" | "deno"
        | "alembic" | "flyway" | "sqlx" | "diesel" | "prisma" | "knex" | "dbmate" | "goose" | "atlas"
        | "pulumi" | "fly" | "flyctl" | "vercel" | "netlify" | "heroku" | "serverless" | "sls"
        | "wrangler" | "cdk" | "gradle" | "gradlew" | "mvn" | "mvnw" | "make" | "just" | "task" | "rake"
        | "rails" | "turbo" | "nx" | "mdbook" | "mkdocs" | "hugo" | "systemctl" | "service" | "supabase"
        | "firebase" | "typeorm" | "sequelize" | "drizzle-kit" | "buf" | "pre-commit" | "tox" | "nox"
        | "ruff" | "bazel" | "cmake" | "zig" | "stack" | "cabal" | "sbt" | "ansible" => {
            let second = plain.get(1).copied().unwrap_or_default();
            match (program, sub) {
                ("cmake", _) if words.contains(&"--build") => check("cmake --build".to_owned()),
                ("terraform" | "tofu", "show" | "output" | "state" | "fmt" | "version" | "providers")
                | ("helm", "list" | "status" | "get" | "history" | "template" | "search" | "repo")
                | ("go", "list" | "env" | "doc" | "version" | "fmt")
                | ("systemctl" | "service", "status" | "list-units" | "is-active" | "cat")
                | ("fly" | "flyctl" | "heroku", "logs" | "status") => None,
                ("sqlx" | "diesel" | "prisma" | "supabase" | "go", _)
                    if matches!(sub, "migrate" | "migration" | "db" | "mod" | "database") =>
                {
                    check(joined(&format!("{program} {sub}"), second))
                }
                ("systemctl", _) => check(format!("{program} {sub} {second}")),
                _ => with_sub(),
            }
        }
        "docker" | "podman" => match (sub, plain.get(1).copied().unwrap_or_default()) {
            ("compose", verb) if !matches!(verb, "ps" | "logs" | "config" | "top" | "images" | "ls") => {
                check(joined("docker compose", verb))
            }
            ("build" | "push" | "run" | "pull" | "buildx" | "stop" | "rm" | "restart" | "start", _) => {
                with_sub()
            }
            _ => None,
        },
        "docker-compose" if !matches!(sub, "ps" | "logs" | "config") => check(joined("docker compose", sub)),
        "kubectl" | "oc" => match sub {
            "get" | "logs" | "describe" | "config" | "top" | "explain" | "version" | "api-resources" | ""
            | "cluster-info" | "exec" | "debug" | "attach" | "port-forward" | "auth" | "events" | "wait" => {
                None
            }
            "rollout" => check(format!("kubectl rollout {}", plain.get(1).copied().unwrap_or_default())),
            "config-map" => None,
            _ => check(format!("kubectl {sub}")),
        },
        "python" | "python3" | "node" | "ruby" | "php" | "perl" | "ts-node" | "tsx" | "Rscript"
        | "ansible-playbook" => {
            let verb = plain.get(1).copied().unwrap_or_default();
            match sub {
                "" => None,
                "manage.py" | "artisan" => check(joined(sub, verb)),
                file if file.contains('.') || file.contains('/') => {
                    Some(Named { name: base_name(file).to_owned(), is_check: true, is_git: false })
                }
                _ => None,
            }
        }
        "psql" | "mysql" | "sqlite3" | "mongosh" | "redis-cli" => words
            .iter()
            .position(|word| matches!(*word, "-f" | "--file"))
            .and_then(|at| words.get(at + 1))
            .map(|file| Named {
                name: format!("{program} {}", base_name(file)),
                is_check: true,
                is_git: false,
            })
            .or(Some(Named { name: program.to_owned(), is_check: false, is_git: false })),
        "curl" | "wget" | "http" | "aws" | "gcloud" | "az" | "rsync" | "scp" | "openssl" => {
            let name = if matches!(program, "aws" | "gcloud" | "az") {
                joined(&joined(program, sub), plain.get(1).copied().unwrap_or_default())
            } else {
                program.to_owned()
            };
            Some(Named { name, is_check: matches!(program, "rsync" | "scp"), is_git: false })
        }
        "pytest" | "py.test" => check("pytest".into()),
        "playwright" | "cypress" | "vitest" | "jest" | "mocha" | "ava" | "tsc" | "vue-tsc" | "eslint"
        | "prettier" | "biome" | "stylelint" | "mypy" | "black" | "flake8" | "pyright" | "pylint"
        | "isort" | "rspec" | "rubocop" | "phpunit" | "phpstan" | "pest" | "golangci-lint"
        | "staticcheck" | "shellcheck" | "shfmt" | "hadolint" | "yamllint" | "markdownlint"
        | "actionlint" | "ctest" | "ninja" | "meson" | "xcodebuild" | "swiftlint" | "ktlint" | "detekt"
        | "checkstyle" | "clang-tidy" | "cppcheck" | "valgrind" | "hyperfine" | "wrk" | "k6" | "ab"
        | "bats" | "nextest" | "webpack" | "vite" | "rollup" | "esbuild" | "sphinx-build" | "vale"
        | "lychee" | "tflint" | "tfsec" | "trivy" | "semgrep" | "bandit" | "unittest" | "webpack-cli"
        | "tap" | "karma" | "lighthouse" | "axe" | "pa11y" | "nyc" | "c8" | "coverage" => {
            check(program.to_owned())
        }
        "next" | "nuxt" | "remix" | "astro" | "ng" | "vue-cli-service" | "expo" | "react-scripts" => {
            with_sub()
        }
        _ => {
            let is_script = command.words.first().is_some_and(|word| word.text.contains('/'))
                || program.ends_with(".sh")
                || program.ends_with(".py");
            Some(Named { name: program.to_owned(), is_check: is_script, is_git: false })
        }
    }
}

/// Returns the words that are neither options nor the values of those that come before a subcommand.
fn plain_words<'w>(program: &str, words: &[&'w str]) -> Vec<&'w str> {
    let takes_value = |word: &str| match program {
        "kubectl" | "oc" | "helm" => matches!(
            word,
            "-n" | "--namespace" | "--context" | "--kubeconfig" | "--kube-context" | "-f" | "--filename"
        ),
        "docker" | "podman" | "docker-compose" => {
            matches!(word, "-f" | "--file" | "-p" | "--project-name" | "--context" | "-H")
        }
        "npm" | "pnpm" | "yarn" | "bun" => {
            matches!(word, "--prefix" | "--filter" | "-w" | "--workspace" | "--cwd" | "-C" | "--dir")
        }
        "make" | "just" | "gradle" | "gradlew" | "mvn" | "ninja" => {
            matches!(word, "-C" | "-f" | "--directory" | "-j")
        }
        "gh" | "glab" => matches!(word, "-R" | "--repo"),
        "ansible-playbook" | "ansible" => {
            matches!(
                word,
                "-i" | "--inventory"
                    | "-l"
                    | "--limit"
                    | "-t"
                    | "--tags"
                    | "-e"
                    | "--extra-vars"
                    | "-u"
                    | "--user"
            )
        }
        _ => false,
    };
    let mut plain = Vec::new();
    let mut is_value = false;
    for word in words {
        let is_option = word.starts_with(['-', '+']);
        if !is_option && !is_value {
            plain.push(*word);
        }
        is_value = is_option && takes_value(word);
    }
    plain
}

fn joined(one: &str, other: &str) -> String {
    let name = format!("{one} {other}");
    sanitize::one_line(name.trim(), 48)
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the name of a `git` command that changes something.
fn git(words: &[&str]) -> Option<Named> {
    let verb = git_verb(words)?.0;
    let is_known = matches!(
        verb,
        "commit"
            | "push"
            | "merge"
            | "rebase"
            | "cherry-pick"
            | "revert"
            | "tag"
            | "checkout"
            | "switch"
            | "restore"
            | "reset"
            | "stash"
            | "mv"
            | "rm"
            | "pull"
            | "clone"
            | "bisect"
            | "am"
            | "apply"
            | "clean"
            | "branch"
            | "worktree"
            | "add"
            | "stage"
    );
    is_known.then(|| Named { name: format!("git {verb}"), is_check: false, is_git: true })
}

/// Adds what a command did, apart from its outcome.
fn act(command: &Command, output: &str, acts: &mut Vec<Act>) {
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    match command.program() {
        "git" => git_act(command, &words, output, acts),
        "gh" | "glab" => acts.extend(hub_act(&words, output)),
        _ => {}
    }
}

fn git_act(command: &Command, words: &[&str], output: &str, acts: &mut Vec<Act>) {
    let Some((verb, rest)) = git_verb(words) else { return };
    let input = command.input.as_deref();
    let plain: Vec<&str> = rest.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let first = plain.first().copied().unwrap_or_default();
    let has = |option: &str| rest.contains(&option);
    let has_letter = |letter: char| {
        rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let did = |text: String| Act::Did(text);
    // Where `git -C` and `cd` are, `.` is all there is.
    let into = words.iter().position(|word| *word == "-C").and_then(|at| words.get(at + 1)).copied();
    let places = |paths: &[&str]| -> Vec<String> {
        let placed = paths.iter().map(|path| placed(command, into, path)).collect::<Vec<_>>();
        if placed.iter().any(String::is_empty) { Vec::new() } else { placed }
    };
    let restored = |paths: &[&str]| {
        if paths.contains(&":/") { Act::RestoredAll } else { Act::Restored(places(paths)) }
    };
    let behind_dashes = rest.iter().position(|word| *word == "--").map(|at| &rest[at + 1..]);
    match verb {
        "add" | "stage" => {
            let is_all = has("--all") || has_letter('A') || has_letter('u');
            acts.push(Act::Staged(if is_all { Vec::new() } else { places(&plain) }));
        }
        "clean" if has("--dry-run") || has_letter('n') => {}
        "clean" => acts.push(Act::Cleaned(places(&plain))),
        "commit" => {
            acts.push(Act::Settled(has("--all") || has_letter('a')));
            let subject = commit_subject(output)
                .or_else(|| message(rest, &["-m", "--message", "-am", "-a -m"]))
                .or_else(|| {
                    input.and_then(|input| {
                        input.lines().find(|line| !line.trim().is_empty()).map(str::to_owned)
                    })
                });
            let subject = subject.map(|subject| subject_line(&subject)).filter(|subject| !subject.is_empty());
            let amended = if has("--amend") { "amended the commit" } else { "" };
            match subject {
                Some(subject) if amended.is_empty() => {
                    acts.push(Act::Committed(commit_hash(output, &subject), subject))
                }
                Some(subject) => acts.push(did(format!("{amended} \"{subject}\""))),
                None if !amended.is_empty() => acts.push(did(amended.to_owned())),
                None => acts.push(did("committed".to_owned())),
            }
        }
        "push" => {
            let force = rest.iter().any(|word| word.starts_with("--force") || *word == "-f");
            // `HEAD` is the branch that is checked out.
            let target = plain.iter().copied().filter(|word| *word != "HEAD").collect::<Vec<_>>().join(" ");
            let how = if force { "force-pushed" } else { "pushed" };
            let target = if target.is_empty() { String::new() } else { format!(" to {target}") };
            acts.push(did(format!("{how}{target}")));
        }
        "merge" if !first.is_empty() => acts.push(did(format!("merged {first}"))),
        "rebase" if !first.is_empty() => acts.push(did(format!("rebased onto {first}"))),
        "cherry-pick" if !first.is_empty() => acts.push(did(format!("cherry-picked {first}"))),
        "revert" => {
            let what = commit_subject(output).map_or_else(
                || format!("reverted commit {first}"),
                |subject| format!("committed \"{subject}\""),
            );
            acts.push(did(what));
            let is_last = plain.iter().any(|word| matches!(*word, "HEAD" | "@"));
            acts.push(if is_last { Act::Reverted } else { Act::Restored(Vec::new()) });
        }
        "tag" if !first.is_empty() && !has("-d") && !asks_for_tags(rest) => {
            acts.push(did(format!("tagged {first}")));
        }
        "checkout" | "switch" if has("-b") || has("-c") || has("-B") || has("-C") => {
            acts.push(did(format!("created branch {first}")))
        }
        "checkout" if behind_dashes.is_some() => {
            acts.push(restored(behind_dashes.unwrap_or_default()));
        }
        "checkout" | "switch" if has("--force") || has("--discard-changes") || has_letter('f') => {
            acts.push(Act::RestoredAll);
        }
        "checkout" if matches!(first, "." | ":/") => acts.push(restored(&plain)),
        "checkout" | "switch" if plain.len() == 1 && has_switched_to(first, output) => {
            acts.push(did(format!("switched to branch {first}")))
        }
        // Without `--` only git knows whether a word is a file or a branch.
        "checkout" if output.contains("Updated ") && output.contains(" from ") => {
            let files = plain.iter().copied().filter(|word| word.contains(['.', '/']) && !word.contains('~'));
            let files: Vec<&str> = files.collect();
            acts.push(restored(if files.is_empty() { &plain } else { &files }));
        }
        "checkout" => acts.push(Act::PutBack(places(&plain))),
        "restore" if !(has("--staged") || has_letter('S')) || has("--worktree") || has_letter('W') => {
            let source = rest.iter().position(|word| matches!(*word, "-s" | "--source"));
            let source = source.and_then(|at| rest.get(at + 1));
            let files: Vec<&str> = plain.iter().copied().filter(|word| Some(word) != source).collect();
            acts.push(restored(&files));
        }
        "reset" if has("--hard") && matches!(first, "" | "HEAD" | "@") => acts.push(Act::RestoredAll),
        "reset" if has("--hard") => {
            acts.push(Act::Undone);
            acts.push(did(format!("reset to {first}")));
        }
        "stash" if output.contains("No local changes to save") => {}
        "stash" if matches!(first, "" | "push" | "save") => {
            let message = rest.iter().position(|word| matches!(*word, "-m" | "--message"));
            let message = message.and_then(|at| rest.get(at + 1));
            let files = match (first, behind_dashes) {
                ("push", Some(files)) => files.to_vec(),
                ("push", None) => plain[1..].iter().copied().filter(|word| Some(word) != message).collect(),
                _ => Vec::new(),
            };
            let with_new = has("--include-untracked") || has("--all") || has_letter('u') || has_letter('a');
            acts.push(Act::Stashed(places(&files), with_new));
            acts.push(did("stashed the changes".to_owned()));
        }
        "stash" if matches!(first, "pop" | "apply") => acts.push(Act::Unstashed),
        "stash" if matches!(first, "drop" | "clear") => acts.push(Act::Dropped),
        "mv" if plain.len() == 2 => acts.push(Act::Moved(plain[0].to_owned(), plain[1].to_owned())),
        "rm" if !has("--cached") => acts.extend(plain.iter().map(|path| Act::Removed((*path).to_owned()))),
        "branch" if has("-d") || has("-D") => acts.push(did(format!("deleted branch {first}"))),
        "worktree" if first == "add" => {
            acts.push(did(format!("added worktree {}", plain.get(1).copied().unwrap_or_default())))
        }
        _ => {}
    }
}

/// Returns whether git says that it switched to this branch, or to the local one of a remote's. The output is that of all commands of
/// the line.
fn has_switched_to(branch: &str, output: &str) -> bool {
    let is_it = |line: &str| {
        let name = line.split_once("witched to")?.1.split('\'').nth(1)?;
        let remote = branch.strip_suffix(name).filter(|_| !name.is_empty())?;
        (remote.is_empty() || remote.ends_with('/')).then_some(())
    };
    output.lines().any(|line| is_it(line).is_some())
}

/// Returns a path as the folder of the line has it: with the last `cd` and `git -C`; empty for all.
fn placed(command: &Command, into: Option<&str>, path: &str) -> String {
    if path.starts_with(['/', '~', '$', ':']) {
        return path.trim_start_matches(":/").to_owned();
    }
    let folders = command.folder.as_deref().into_iter().chain(into);
    let parts = folders.chain([path]).map(|part| part.trim_start_matches("./").trim_end_matches('/'));
    let parts: Vec<&str> = parts.filter(|part| !matches!(*part, "" | ".")).collect();
    parts.join("/")
}

/// Returns whether `git tag` lists tags.
fn asks_for_tags(words: &[&str]) -> bool {
    let lists = [
        "--list",
        "--contains",
        "--no-contains",
        "--points-at",
        "--merged",
        "--no-merged",
        "--sort",
        "--format",
    ];
    words.iter().any(|word| {
        let name = word.split('=').next().unwrap_or(word);
        matches!(name, "-l" | "-n" | "-v" | "--verify") || lists.contains(&name)
    })
}

/// Returns the subject that git prints: `[main 1a2b3c4] Check expiry`.
fn commit_subject(output: &str) -> Option<String> {
    let line = output.lines().map(str::trim).find(|line| line.starts_with('[') && line.contains("] "))?;
    let (head, subject) = line.split_once("] ")?;
    let is_commit = head.split_whitespace().last().is_some_and(is_hash);
    is_commit.then(|| subject_line(subject))
}

/// Returns the abbreviated hash that git prints: `[main 1a2b3c4] Check expiry`, or `1a2b3c4 Check expiry` in a log.
fn commit_hash(output: &str, subject: &str) -> String {
    let subject = subject.trim_end_matches('…');
    let hash = output.lines().map(str::trim).find_map(|line| {
        let (head, rest) = match line.strip_prefix('[') {
            Some(line) => line.split_once("] ")?,
            None => line.split_once(' ')?,
        };
        head.split_whitespace().last().filter(|hash| is_hash(hash) && rest.contains(subject))
    });
    hash.unwrap_or_default().to_owned()
}

fn is_hash(word: &str) -> bool {
    word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn subject_line(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    sanitize::one_line(first, MOST_SUBJECT_CHARS)
}

/// Returns the value of the first of these options.
fn message(words: &[&str], options: &[&str]) -> Option<String> {
    for (at, word) in words.iter().enumerate() {
        if options.contains(word) || (word.starts_with('-') && !word.starts_with("--") && word.ends_with('m'))
        {
            return words.get(at + 1).filter(|text| !text.starts_with("$(")).map(|text| (*text).to_owned());
        }
        if let Some(value) = options.iter().find_map(|option| word.strip_prefix(option)?.strip_prefix('=')) {
            return Some(value.to_owned());
        }
    }
    None
}

/// Returns what a command of a forge did.
fn hub_act(words: &[&str], output: &str) -> Option<Act> {
    let plain: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let (kind, verb) = (plain.first()?, plain.get(1)?);
    let what = match *kind {
        "pr" | "mr" => "pull request",
        "issue" => "issue",
        "release" => "release",
        _ => return None,
    };
    let title = message(words, &["--title", "-t"])
        .map(|title| format!(" \"{}\"", subject_line(&title)))
        .unwrap_or_default();
    let number = output
        .lines()
        .filter_map(|line| line.trim().rsplit_once('/').filter(|(before, _)| before.starts_with("http")))
        .find_map(|(_, number)| number.parse::<u64>().ok())
        .map(|number| format!(" #{number}"))
        .unwrap_or_default();
    let target = plain
        .get(2)
        .copied()
        .filter(|_| title.is_empty())
        .map(|target| format!(" {target}"))
        .unwrap_or_default();
    let done = match *verb {
        "create" => "opened",
        "merge" => "merged",
        "close" => "closed",
        "comment" => "commented on",
        "review" => "reviewed",
        "edit" => "edited",
        _ => return None,
    };
    let number = if target.is_empty() { number } else { String::new() };
    Some(Act::Did(format!("{done} {what}{number}{target}{title}")))
}

/// Adds the files that a command moved, removed, wrote or read.
fn files(command: &Command, acts: &mut Vec<Act>) {
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let plain: Vec<&str> =
        words.iter().copied().filter(|word| !word.starts_with('-') && !word.contains(['$', '*'])).collect();
    let at = |path: &str| placed(command, None, path);
    match command.program() {
        "mv" if plain.len() == 2 => acts.push(Act::Moved(at(plain[0]), at(plain[1]))),
        "rm" => acts.extend(plain.iter().filter(|path| is_source(path)).map(|path| Act::Removed(at(path)))),
        "sed" | "perl" if words.iter().any(|word| word.starts_with("-i") || *word == "-pi") => {
            acts.extend(plain.iter().skip(1).filter(|path| is_source(path)).map(|path| Act::Wrote(at(path))));
        }
        "cp" if plain.len() == 2 => acts.push(Act::Copied(at(plain[0]), at(plain[1]))),
        "tee" => {
            let is_more = words.iter().any(|word| matches!(*word, "-a" | "--append"));
            let wrote = if is_more { Act::Wrote } else { Act::Replaced };
            acts.extend(plain.iter().filter(|path| is_source(path)).map(|path| wrote(at(path))));
        }
        "cat" | "head" | "tail" | "less" | "bat" => {
            acts.extend(
                plain.iter().filter(|path| is_source(path)).map(|path| Act::Read((*path).to_owned())),
            );
        }
        _ => {}
    }
    for redirect in &command.redirects {
        let is_written = matches!(redirect.operator.as_str(), ">" | ">>" | "1>" | "&>");
        let target = redirect.target.text.as_str();
        if is_written && is_source(target) && !redirect.target.is_dynamic {
            let wrote = if redirect.operator == ">>" { Act::Wrote } else { Act::Replaced };
            acts.push(wrote(at(target)));
        }
    }
}

/// Returns whether a path is one of a project's files, not a log or a temporary one.
pub(super) fn is_source(path: &str) -> bool {
    let name = base_name(path);
    !path.starts_with("/dev/")
        && !path.starts_with("/tmp/")
        && !path.starts_with("/proc/")
        && name.contains('.')
        && !name.ends_with(".log")
        && name != "."
        && name != ".."
        && !name.ends_with(".tmp")
        && !is_copy(path)
}

/// Returns whether a file is a copy that was put aside, by its name.
fn is_copy(path: &str) -> bool {
    path.ends_with('~') || [".bak", ".orig", ".old", ".backup", ".save"].iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, output: &str, outcome: Outcome, runs: &[(&str, Outcome)], acts: &[Act]) {
        let ran = of(script, output, outcome);
        let found: Vec<(&str, Outcome)> =
            ran.runs.iter().map(|run| (run.name.as_str(), run.outcome)).collect();
        assert_eq!(found, runs, "{script}");
        // The story tells what is only kept for later.
        let is_worth_a_line = |act: &&Act| !matches!(act, Act::Staged(_) | Act::Settled(_));
        assert_eq!(
            ran.acts.iter().filter(is_worth_a_line).collect::<Vec<_>>(),
            acts.iter().collect::<Vec<_>>(),
            "{script}"
        );
    }

    #[test]
    fn commands_that_check_the_work_have_names_and_outcomes() {
        use Outcome::{Failed, Passed};
        check(
            "cd api && cargo test -p x 2>&1 | tail -5",
            "test result: ok. 2 passed; 0 failed",
            Passed,
            &[("cargo test", Passed)],
            &[],
        );
        check(
            "cargo test | tail",
            "test result: FAILED. 1 passed; 1 failed",
            Passed,
            &[("cargo test", Failed)],
            &[],
        );
        check(
            "cargo fmt && cargo clippy && cargo test",
            "",
            Failed,
            &[("cargo clippy && cargo test", Failed)],
            &[],
        );
        check("npx vitest run src", "", Passed, &[("vitest", Passed)], &[]);
        check("python -m pytest -q", "", Passed, &[("pytest", Passed)], &[]);
        check("npm run build", "", Failed, &[("npm run build", Failed)], &[]);
        check("ls -la; git status", "", Passed, &[], &[]);
        check("./scripts/backup.sh", "", Passed, &[("backup.sh", Passed)], &[]);
        check("kubectl rollout status deploy/api", "", Passed, &[("kubectl rollout status", Passed)], &[]);
    }

    #[test]
    fn of_commands_on_one_line_the_output_tells_which_failed_and_none_behind_it_was_run() {
        use Outcome::{Failed, Passed};
        let red = "test result: FAILED. 13 passed; 1 failed";
        let fix = |hash: &str| Act::Committed(hash.into(), "Fix".into());
        let pushed = || Act::Did("pushed".into());
        let whole = "cargo test && git commit -am 'Fix' && git push";
        check(whole, red, Failed, &[("cargo test", Failed)], &[]);
        check(
            whole,
            "test result: ok. 14 passed\n[main 1a2b3c4] Fix\n ! [rejected] main -> main (fetch first)",
            Failed,
            &[("cargo test", Passed), ("git push", Failed)],
            &[fix("1a2b3c4")],
        );
        check(
            "npx tsc --noEmit && npm test",
            "src/a.ts(3,5): error TS2322: Type 'string' is not assignable",
            Failed,
            &[("tsc && npm test", Failed)],
            &[],
        );
        check(
            "npm run lint && npm test",
            " FAIL  a.test.ts > adds",
            Failed,
            &[("npm run lint", Passed), ("npm test", Failed)],
            &[],
        );
        check(
            "cd api && npm run build; npm test",
            "",
            Failed,
            &[("npm run build", Outcome::Unknown), ("npm test", Failed)],
            &[],
        );
        check(
            "git add -A && git commit -m \"$(cat <<'E'\nFix\nE\n)\" && git push",
            "On branch main\nnothing to commit, working tree clean",
            Failed,
            &[("git commit", Failed)],
            &[],
        );
        // A pipe hides the exit status of the tests, and git comes behind them.
        check(
            "cargo test 2>&1 | tail -5; git commit -qam Fix && git push",
            red,
            Passed,
            &[("cargo test", Failed)],
            &[fix(""), pushed()],
        );
        let ran = of("cargo test && git push", "test result: ok. 14 passed", Passed);
        assert_eq!(ran.runs[0].report.passed, 14);
    }

    /// Writes what a line did: `+` passed, with how many tests, `-` failed, `?` was run; then what it did.
    fn shown(script: &str, output: &str, outcome: Outcome) -> String {
        let ran = of(script, output, outcome);
        let run = |run: &Run| {
            let mark = match run.outcome {
                Outcome::Passed => '+',
                Outcome::Failed => '-',
                _ => '?',
            };
            let count = if run.report.passed > 0 { run.report.passed.to_string() } else { String::new() };
            format!("{}{mark}{count}", run.name)
        };
        let act = |act: &Act| match act {
            Act::Did(what) => Some(what.clone()),
            Act::Committed(_, subject) => Some(format!("committed {subject}")),
            _ => None,
        };
        let told: Vec<String> = ran.runs.iter().map(run).chain(ran.acts.iter().filter_map(act)).collect();
        told.join(", ")
    }

    #[track_caller]
    fn check_all(cases: &[(&str, &str, Outcome, &str)]) {
        let wrong = cases.iter().filter_map(|(script, output, outcome, expected)| {
            let shown = shown(script, output, *outcome);
            (shown != *expected).then(|| format!("{script}\n  is      {shown}\n  must be {expected}\n"))
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), cases.len(), wrong.concat());
    }

    #[test]
    fn a_line_says_passed_only_where_that_is_known() {
        use Outcome::{Failed, Passed};
        let rejected =
            "[main 1a2b3c4] x\n ! [rejected] main -> main (fetch first)\nerror: failed to push some refs";
        check_all(&[
            ("cargo test | tail -5", "", Passed, "cargo test?"),
            ("make 2>&1 | head", "cc -c a.c\nmake: *** [a.o] Error 1", Passed, "make-"),
            ("npm test; git status", "", Passed, "npm test?"),
            ("npm test || true", "npm ERR! Test failed.", Passed, "npm test-"),
            ("pytest -q &", "", Passed, "pytest?"),
            ("set +e; pytest; echo done", "done", Passed, "pytest?"),
            ("if npm run build; then echo built; fi", "built", Passed, "npm run build+"),
            ("git push 2>&1 | tail -1", "error: failed to push some refs to 'x'", Passed, "git push-"),
            ("git commit -m 'x' 2>&1 | tail -3", "", Passed, "git commit?"),
            ("git commit -m x | cat; git push || true", rejected, Passed, "git push-, committed x"),
            ("go test ./... | tail -20", "ok  \tshop/cart\t0.01s", Passed, "go test+"),
            (
                "timeout 60 cargo test > /tmp/t.log 2>&1; echo \"exit=$?\"; tail -3 /tmp/t.log",
                "exit=101\ntest result: FAILED. 3 passed; 1 failed",
                Passed,
                "cargo test-3",
            ),
            (
                "cargo test -q > /tmp/out 2>&1; grep 'test result' /tmp/out",
                "test result: ok. 4 passed; 0 failed",
                Passed,
                "cargo test+4",
            ),
            ("git add -A && git commit -qm x && git push -q | cat", "", Passed, "git push?, committed x"),
            ("gh pr create --fill | cat", "", Passed, "gh pr create?"),
            ("npx tsc --noEmit | head -20", "src/a.ts(3,5): error TS2322: no", Passed, "tsc-"),
            ("ruff check . || true", "Found 3 errors.", Passed, "ruff check-"),
            (
                "npm run lint; npm test",
                " FAIL  a.test.ts > adds\nTests  1 failed | 2 passed (3)",
                Failed,
                "npm run lint?, npm test-2",
            ),
            ("grep -q x a && cargo test", "", Failed, ""),
            ("cargo test | grep -c FAILED", "0", Failed, "cargo test?"),
            ("cargo build && cargo test | tail", "", Failed, "cargo build && cargo test-"),
            ("ls dist && npm publish", "ls: cannot access 'dist': No such file or directory", Failed, ""),
        ]);
    }

    #[test]
    fn words_of_failure_are_none_and_counts_are_of_who_counted() {
        use Outcome::Passed;
        let both = "test result: ok. 12 passed; 0 failed\nTests:       3 passed, 3 total";
        check_all(&[
            ("cargo fmt && cargo test && npm test", both, Passed, "cargo test+12, npm test+3"),
            ("grep -c FAILED log && ls tests", "3\ntest_error.py", Passed, ""),
            ("cat build.log; make", "BUILD FAILED\n3 failed, 2 passed in 1s", Passed, "make+"),
            ("./deploy.sh", "0 failed, 3 ok\nError handling enabled", Passed, "deploy.sh+"),
            ("pytest", "tests/test_error.py::test_failed_login PASSED\n1 passed in 0.1s", Passed, "pytest+1"),
            (
                "(cd api && cargo test) ; (cd web && npm test)",
                "test result: FAILED. 1 passed; 1 failed\nTests:       3 passed, 3 total",
                Passed,
                "cargo test-1, npm test+3",
            ),
            (
                "cargo build && ./target/debug/app",
                "FAILED_LOGIN_COUNT=3\nerror: 0",
                Passed,
                "cargo build+, app+",
            ),
            ("npm run report", "Processed 12 rows, 3 errors in log.txt", Passed, "npm run report+"),
        ]);
    }

    #[test]
    fn other_lines_claim_no_more_than_is_known() {
        use Outcome::{Failed, Passed};
        let conflict = "CONFLICT (content): Merge conflict in a";
        let pushed = "To github.com:o/r.git\n   1a2b3c4..2b3c4d5  main -> main";
        let log = "1a2b3c4 make test: 3 failed, 2 passed\ntest result: ok. 9 passed; 0 failed";
        let rails = "12 runs, 30 assertions, 0 failures, 0 errors, 0 skips\nTests:       4 passed, 4 total";
        check_all(&[
            ("yarn test --ci | tee out.txt", "", Passed, "yarn test?"),
            (
                "cd web && pnpm build 2>&1 | tail -20",
                " ELIFECYCLE  Command failed with exit code 1.",
                Passed,
                "pnpm build-",
            ),
            ("mvn -q verify; echo finished", "finished", Passed, "mvn verify?"),
            ("gradle test || echo 'tests are red'", "tests are red", Passed, "gradle test-"),
            (
                "for d in a b; do (cd $d && go test ./...); done",
                "ok  \ta\t0.1s\nFAIL\tb\t0.2s",
                Passed,
                "go test-",
            ),
            (
                "docker build -t x . 2>&1 | grep -i error",
                "ERROR: failed to solve: process",
                Passed,
                "docker build-",
            ),
            ("ssh ci 'make test | tail -1'", "", Passed, "make test?"),
            ("bash -c 'pytest; true'", "", Passed, "pytest?"),
            (
                "set -o pipefail; dotnet test | tail -3",
                "Passed!  - Failed:     0, Passed:     7, Skipped: 0",
                Passed,
                "dotnet test+7",
            ),
            (
                "terraform apply -auto-approve | tail",
                "Apply complete! Resources: 2 added",
                Passed,
                "terraform apply+",
            ),
            ("git pull --rebase; npm ci", conflict, Passed, "git pull-, npm ci+"),
            ("git push origin main 2>&1 | tail -2", pushed, Passed, "pushed to origin main"),
            (
                "git commit -am 'Fix it' || true",
                "nothing to commit, working tree clean",
                Passed,
                "git commit-",
            ),
            ("npm publish & wait", "", Passed, "npm publish?"),
            ("cargo clippy 2>&1 | grep -c warning", "0", Passed, "cargo clippy?"),
            ("! cargo test", "test result: FAILED. 1 passed; 1 failed", Passed, "cargo test-1"),
            ("pytest -x || exit 1; git push", "5 passed in 1.0s", Passed, "pytest+5, pushed"),
            ("cargo test --no-run && cargo test | head -3", "running 3 tests", Passed, "cargo test?"),
            ("vitest run > /dev/null 2>&1", "", Passed, "vitest+"),
            ("phpunit | grep -v Deprecated", "OK (12 tests, 30 assertions)", Passed, "phpunit+12"),
            (
                "pnpm lint && pnpm test",
                "✖ 3 problems (2 errors, 1 warning)",
                Failed,
                "pnpm lint && pnpm test-",
            ),
            ("test -f x && make", "", Failed, ""),
            (
                "cargo test; echo done; exit 1",
                "test result: ok. 3 passed; 0 failed\ndone",
                Failed,
                "cargo test+3",
            ),
            ("npm run build | tee log", "", Failed, "npm run build-"),
            ("cd missing && npm test", "bash: line 1: cd: missing: No such file or directory", Failed, ""),
            (
                "flake8 . ; mypy src",
                "Found 2 errors in 1 file (checked 3 source files)",
                Failed,
                "flake8?, mypy-",
            ),
            (
                "python manage.py test",
                "test_error_page ... ok\nRan 3 tests in 0.1s\n\nOK",
                Passed,
                "manage.py test+3",
            ),
            ("npm run dev:check", "[error] 0 errors\nfailed: 0", Passed, "npm run dev:check+"),
            ("git log --oneline | head; cargo test", log, Passed, "cargo test+9"),
            (
                "gh run view 12 --log | tail; npm test",
                "Tests:       1 failed, 3 passed, 4 total",
                Passed,
                "npm test+",
            ),
            ("find . -name '*_test.go' | wc -l && go build ./...", "12", Passed, "go build+"),
            ("rails test && npx jest", rails, Passed, "rails test+12, jest+4"),
        ]);
    }

    #[test]
    fn a_run_that_passes_settles_what_failed_before() {
        let run = |name: &str, outcome: Outcome| Run {
            name: name.to_owned(),
            outcome,
            report: Report::default(),
            is_check: true,
        };
        for (passed, failed, is_settled) in [
            ("tsc", "tsc", true),
            ("npm test", "tsc && npm test", true),
            ("npm test", "vitest", true),
            ("make check", "pytest", true),
            ("tsc", "tsc && npm test", false),
            ("npm test", "npm run lint && vitest", false),
            ("npm test", "npm run lint", false),
            ("pytest", "vitest", false),
            ("test", "npm test", false),
        ] {
            let settled = settles(&run(passed, Outcome::Passed), &run(failed, Outcome::Failed));
            assert_eq!(settled, is_settled, "{passed}, {failed}");
        }
        assert!(!settles(&run("npm test", Outcome::Failed), &run("vitest", Outcome::Failed)));
    }

    #[test]
    fn without_an_exit_status_the_outcome_is_what_tests_counted() {
        use Outcome::{Failed, Passed, Unknown};
        let cases = [
            ("test result: ok. 2 passed; 0 failed", Passed),
            ("test result: FAILED. 1 passed; 1 failed", Failed),
            ("", Unknown),
        ];
        for (output, outcome) in cases {
            check("cargo test", output, Unknown, &[("cargo test", outcome)], &[]);
        }
    }

    #[test]
    fn what_runs_inside_of_a_container_is_named_and_what_lists_tags_makes_none() {
        use Outcome::{Failed, Passed};
        check("kubectl -n web exec api-1 -- ss -s", "", Failed, &[("ss", Failed)], &[]);
        check("git tag --contains 1a2b3c4", "v1\n", Passed, &[], &[]);
        check("git tag -a v2 -m two", "", Passed, &[], &[Act::Did("tagged v2".into())]);
        check(
            "ansible-playbook -i inventory/prod site.yml --limit web -t tls",
            "",
            Passed,
            &[("site.yml", Passed)],
            &[],
        );
        check("xcodebuild test | xcbeautify", "", Failed, &[("xcodebuild", Failed)], &[]);
        check("git push -u origin HEAD", "", Passed, &[], &[Act::Did("pushed to origin".into())]);
    }

    #[test]
    fn of_several_checkouts_on_a_line_each_has_its_own_answer() {
        let file = || Act::Restored(vec!["src/a.rs".into()]);
        let switched = |branch: &str| Act::Did(format!("switched to branch {branch}"));
        let both = "Updated 1 path from the index\nSwitched to branch 'main'\nYour branch is up to date.";
        for (script, output, acts) in [
            ("git checkout src/a.rs && git checkout main", both, vec![file(), switched("main")]),
            ("git checkout main; git checkout src/a.rs", both, vec![switched("main"), file()]),
            ("git checkout main src/a.rs && git switch main", both, vec![file(), switched("main")]),
            ("git switch topic", "Switched to branch 'topic'", vec![switched("topic")]),
            ("git checkout fix/a.b", "Switched to a new branch 'fix/a.b'", vec![switched("fix/a.b")]),
            ("git checkout -t up/topic", "Switched to a new branch 'topic'", vec![switched("up/topic")]),
            ("git checkout lib", "Updated 2 paths from 1a2b3c4", vec![Act::Restored(vec!["lib".into()])]),
        ] {
            check(script, output, Outcome::Passed, &[], &acts);
        }
    }

    #[test]
    fn what_commands_did_is_known() {
        use Outcome::{Failed, Passed};
        let committed = |hash: &str, subject: &str| Act::Committed(hash.into(), subject.into());
        check(
            "git add -A && git commit -m 'Check expiry'",
            "",
            Passed,
            &[],
            &[committed("", "Check expiry")],
        );
        check(
            "git commit -F - <<'E'\nDo it\n\nBody\nE",
            "[main 1a2b3c4] Do it\n 1 file changed",
            Passed,
            &[],
            &[committed("1a2b3c4", "Do it")],
        );
        check("git push origin main", "", Failed, &[("git push", Failed)], &[]);
        check("git mv a.rs b.rs", "", Passed, &[], &[Act::Moved("a.rs".into(), "b.rs".into())]);
        check("rm -f src/a.rs", "", Passed, &[], &[Act::Removed("src/a.rs".into())]);
        check("git checkout -- src/a.rs", "", Passed, &[], &[Act::Restored(vec!["src/a.rs".into()])]);
        for script in ["git reset --hard", "git reset -q --hard HEAD", "git checkout -f", "git restore :/"] {
            check(script, "", Passed, &[], &[Act::RestoredAll]);
        }
        check("git checkout .", "", Passed, &[], &[Act::Restored(Vec::new())]);
        check("cat > notes.md <<E\nx\nE", "", Passed, &[], &[Act::Replaced("notes.md".into())]);
        check(
            "gh pr create --title 'Check expiry' --body x",
            "https://github.com/o/r/pull/42",
            Passed,
            &[],
            &[Act::Did("opened pull request #42 \"Check expiry\"".into())],
        );
    }
}
