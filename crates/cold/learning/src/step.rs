//! What has to be done before a command can work: it failed, one other thing was done, and then the same command worked.

use crate::change::{self, has_word, is_plain};
use crate::failure;
use crate::quoting::escaped;
use lessons::Trigger;
use shell::Command;

/// Programs that change one thing once: the next time there is nothing to do, or something else.
const ONCE: [&str; 23] = [
    "chmod", "chown", "cp", "curl", "dropdb", "git", "kill", "killall", "ln", "mkdir", "mv", "open", "perl",
    "pkill", "psql", "python", "python3", "rm", "sed", "ssh", "tee", "touch", "unzip",
];
/// What git does that others wait for.
const GIT_STEPS: [&str; 3] = ["lfs", "push", "submodule"];
/// Words of a step that are about one person, or undo something.
const NO_STEPS: [&str; 12] = [
    "auth", "clean", "delete", "destroy", "down", "kill", "login", "logout", "prune", "remove", "rm", "stop",
];
/// Words of a step that makes one thing, which is there for good.
const MAKES_ONE: [&str; 4] = ["add", "create", "createdb", "new"];
/// Words of a step that starts something.
const STARTS: [&str; 9] = ["db", "infra", "serve", "server", "service", "services", "start", "started", "up"];
/// Words of a step that looks for mistakes, which makes nothing that others need.
const CHECKS: [&str; 12] = [
    "bench",
    "check",
    "clippy",
    "eslint",
    "fmt",
    "format",
    "lint",
    "spec",
    "test",
    "tests",
    "typecheck",
    "vet",
];
/// Words of a step that gets what it is given: one package is there for good.
const GETS: [&str; 6] = ["add", "download", "get", "i", "install", "pull"];
/// What an error says that asks for a step.
const ASKS: [&str; 9] =
    ["before", "first", "have you run", "must", "need", "please run", "run ", "try running", "you should"];
/// What an error says of something that is not there yet, beside names that are not known.
const ABSENT: [&str; 15] = [
    "could not load cache",
    "enoent",
    "has not been",
    "have not been",
    "is missing",
    "missing",
    "not been built",
    "not built",
    "not generated",
    "not initialized",
    "not installed",
    "not yet",
    "out of date",
    "unresolved import",
    "up to date",
];
/// What an error says of something that does not run, beside a refused connection.
const DOWN: [&str; 8] = [
    "can't connect",
    "cannot connect",
    "could not connect",
    "daemon running",
    "failed to connect",
    "is not running",
    "server running",
    "unable to connect",
];
/// Programs that only ask whether something answers.
const ASKING: [&str; 6] = ["curl", "http", "nc", "ping", "telnet", "wget"];
/// The longest step. In bytes.
const MAX_STEP: usize = 200;

/// A command that failed, and what was done before it worked.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The command, as it was run both times.
    pub command: String,
    pub step: String,
    pub error: String,
    /// What the model said was the cause.
    pub announced: Option<String>,
    /// Whether the error or the model named the step.
    pub is_named: bool,
    /// What tells the command from others of its program.
    pub base: Vec<String>,
}

impl Prepared {
    /// Returns what a command waited for, of the things that were done since it failed; `said` is what the model and the user
    /// said meanwhile. `None` where that may have been something else.
    pub fn between(command: &str, steps: &[String], error: &str, said: &str) -> Option<Self> {
        Self::found(command, steps, error, said, false)
    }

    /// Returns what a command waited for that was done in the line in which it worked.
    pub fn in_line(command: &str, line: &str, error: &str, said: &str) -> Option<Self> {
        let step = Self::of_line(command, line)?;
        Self::found(command, &[step], error, said, true)
    }

    fn found(command: &str, steps: &[String], error: &str, said: &str, is_in_line: bool) -> Option<Self> {
        let failed = change::of_line(command).filter(|_| !change::is_look(command))?;
        let base = base(&failed)?;
        let (lower, said) = (error.to_lowercase(), said.to_lowercase());
        let is_down = failure::is_unanswered(error) || DOWN.iter().any(|phrase| lower.contains(phrase));
        let is_absent = failure::is_about_name(error) || ABSENT.iter().any(|phrase| lower.contains(phrase));
        let asks = ASKS.iter().any(|phrase| lower.contains(phrase));
        let is_asking = ASKING.contains(&failed.program());
        let named = steps.iter().find(|step| {
            own(step).is_some_and(|step| {
                is_lasting(&step, true)
                    && (is_named(&step, &lower)
                        || is_named(&step, &said)
                        || (asks && is_hinted(&step, &lower)))
            })
        });
        // What nothing names must be all that was done.
        let is_explained = |step: &Command| {
            (is_down && starts(step))
                || (is_absent && !is_down && (makes(step) || is_setting(step)))
                || (is_in_line && !failure::is_judgement(error) && (makes(step) || is_setting(step)))
        };
        let only = || match steps {
            [only] => own(only).filter(|step| is_lasting(step, false) && !is_asking && is_explained(step)),
            _ => None,
        };
        let step = named.or_else(|| only().and(steps.first()))?;
        Some(Self {
            command: command.to_owned(),
            step: step.clone(),
            error: error.to_owned(),
            announced: None,
            is_named: named.is_some(),
            base,
        })
    }

    /// Returns what is done in a line before the command that it ends with.
    fn of_line(command: &str, line: &str) -> Option<String> {
        let (old, new) = (direct(command), direct(line));
        let ([failed], [step, last]) = (&old[..], &new[..]) else { return None };
        let is_it =
            change::shape(failed) == change::shape(last) && step.start < last.start && last.place == 0;
        let step = line.get(step.start..last.start).filter(|_| is_it)?;
        Some(step.trim().trim_end_matches(['&', ';']).trim().to_owned())
    }

    /// Returns what fires on a line that begins with the command: behind the step it is as it should be.
    pub fn trigger(&self) -> Trigger {
        let line = escaped(&self.base.join(" ")).replace(' ', r"\s+");
        let before = r"^\s*(cd\s+\S+\s*&&\s*)?([\w./=-]+\s+){0,3}([\w./-]+/)?";
        Trigger { raw: vec![format!(r"{before}{line}\b")], ..change::pattern(&self.base, &[], &[]) }
    }

    /// Returns what the command is called, in a few words.
    pub fn name(&self) -> String {
        self.base.join(" ")
    }
}

/// Returns what tells a command from others of its program; `None` where that is nothing.
fn base(command: &Command) -> Option<Vec<String>> {
    let mut base = vec![command.program().to_owned()];
    base.extend(change::subcommand(command));
    base.extend(change::script(command));
    // `cmake --build`.
    if base.len() == 1
        && !change::is_interpreter(&base[0])
        && let Some(first) = change::words(command).first().filter(|word| word.starts_with("--"))
    {
        base.push(first.clone());
    }
    let is_broad = base.len() == 1 && change::is_interpreter(command.program());
    (!is_broad && base.iter().all(|word| word.split([':', '/']).all(is_plain))).then_some(base)
}

/// Returns the commands of a line that do something for what follows: where the shell is does not count, nor what is piped into.
fn direct(line: &str) -> Vec<Command> {
    const BESIDE: [&str; 7] = ["cd", "echo", "printf", "pwd", "set", "sleep", "true"];
    let mut commands = shell::commands(line);
    commands.retain(|command| {
        command.depth == 0
            && command.place == 0
            && !command.words.is_empty()
            && !BESIDE.contains(&command.program())
    });
    commands
}

/// Returns the one command that a step is.
fn own(step: &str) -> Option<Command> {
    if step.len() > MAX_STEP || step.contains('\n') {
        return None;
    }
    let mut commands = direct(step);
    if commands.len() == 1 { commands.pop() } else { None }
}

/// Says whether a line only sets up the shell for what follows.
pub fn is_setting_up(line: &str) -> bool {
    own(line).is_some_and(|step| is_setting(&step))
}

fn is_setting(step: &Command) -> bool {
    ["source", ".", "export", "eval", "nvm", "conda", "fnm", "pyenv", "rbenv", "asdf", "mise"]
        .contains(&step.program())
}

/// Returns the words of a command, those apart that are joined.
fn parts(command: &Command) -> Vec<String> {
    let words = command.words.iter().map(|word| word.text.as_str());
    let words = words.flat_map(|word| word.split(|it: char| !it.is_ascii_alphanumeric()));
    words.filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
}

fn has_one(command: &Command, list: &[&str]) -> bool {
    parts(command).iter().any(|part| list.contains(&part.as_str()))
}

/// Says whether a step is to be done each time, by everybody.
fn is_lasting(step: &Command, is_named: bool) -> bool {
    let subcommand = change::subcommand(step);
    let is_of_git = step.program() == "git"
        && is_named
        && subcommand.first().is_some_and(|word| GIT_STEPS.contains(&word.as_str()));
    let has_file = change::script(step).is_some();
    is_plain(step.program())
        && (is_of_git || has_file || !ONCE.contains(&step.program()))
        && !has_one(step, &NO_STEPS)
        && (is_named || !has_one(step, &MAKES_ONE))
        && !step.is_background
}

fn starts(step: &Command) -> bool {
    let is_container = ["docker", "nerdctl", "podman"].contains(&step.program());
    has_one(step, &STARTS)
        || (is_container && change::subcommand(step).first().is_some_and(|word| word == "run"))
}

fn makes(step: &Command) -> bool {
    let gets = has_one(step, &GETS) || step.program() == "brew";
    let is_list = |word: &str| word.contains("require") || word == "." || word.ends_with(".txt");
    let words = change::words(step);
    let behind = words.iter().skip(change::subcommand(step).len()).filter(|word| !word.starts_with('-'));
    let of_packages = behind.filter(|word| !is_list(word)).count() > 0;
    let is_of_one = gets && of_packages;
    !is_of_one && !has_one(step, &CHECKS)
}

/// Says whether a text, in lower case, names a step: its program and what that is to do.
fn is_named(step: &Command, text: &str) -> bool {
    let mut name = vec![step.program().to_lowercase()];
    name.extend(change::subcommand(step));
    name.extend(change::script(step));
    let whole = name.join(" ");
    name.len() > 1 && has_word(text, &whole)
}

/// Says whether a text, in lower case, that asks for something names what a step does: "push the branch first".
fn is_hinted(step: &Command, text: &str) -> bool {
    change::subcommand(step).last().is_some_and(|word| word.len() > 3 && has_word(text, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(command: &str, steps: &[&str], error: &str) -> Option<String> {
        let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
        Prepared::between(command, &steps, error, "").map(|it| it.step)
    }

    #[test]
    fn what_a_command_waited_for_is_found() {
        for (command, done, error) in [
            (
                "gh pr create --fill",
                "git push -u origin HEAD",
                "aborted: you must first push the current branch",
            ),
            ("terraform plan", "terraform init", "to initialize, run:\n  terraform init"),
            (
                "go test ./store",
                "docker compose up -d db",
                "dial tcp 127.0.0.1:5432: connect: connection refused",
            ),
            ("npm test", "npm ci", "sh: 1: jest: not found"),
            (
                "cargo test -p web",
                "npm run build",
                "error: couldn't read `web/dist/app.js`: No such file or directory",
            ),
            (
                "dotnet ef database update",
                "dotnet tool restore",
                "Run \"dotnet tool restore\" to make it available.",
            ),
            ("pytest", "pip install -r requirements-dev.txt", "ModuleNotFoundError: No module named 'httpx'"),
            (
                "docker build .",
                "colima start",
                "Cannot connect to the Docker daemon. Is the docker daemon running?",
            ),
        ] {
            assert_eq!(step(command, &[done], error).as_deref(), Some(done), "{command}");
        }
    }

    #[test]
    fn what_was_done_once_or_by_the_way_is_no_step() {
        for (command, done, error) in [
            ("npm run dev", &["kill 4411"][..], "listen EADDRINUSE: address already in use :::3000"),
            (
                "git pull --rebase",
                &["git stash"],
                "error: cannot pull with rebase: You have unstaged changes.",
            ),
            ("python load.py", &["pip install pyyaml"], "ModuleNotFoundError: No module named 'yaml'"),
            ("docker compose up", &["docker rm -f db"], "Conflict. The container name is already in use"),
            ("npm test", &["npm ci", "npm run lint"], "sh: 1: jest: not found"),
            ("npm test", &["npm ci"], "1 failing"),
            ("npm test", &["npm run lint"], "Error: Cannot find module './cart'"),
            ("curl localhost:3000", &["npm run start"], "curl: (7) Failed to connect: Connection refused"),
            ("aws s3 ls", &["aws sso login"], "Token has expired, please run aws sso login"),
            ("ls build", &["mkdir build"], "ls: build: No such file or directory"),
            ("kubectl apply -f a.yaml", &["kubectl create ns shop"], "namespaces \"shop\" not found"),
            ("git push", &["sleep 5"], "Could not resolve host: github.com"),
        ] {
            assert_eq!(step(command, done, error), None, "{command}");
        }
    }

    #[test]
    fn a_step_may_be_in_the_line_that_worked() {
        let in_line = |command: &str, line: &str, error: &str| {
            Prepared::in_line(command, line, error, "").map(|it| it.step)
        };
        for (command, line, error, expected) in [
            ("yarn build", "yarn codegen && yarn build", "TS2307: no types", Some("yarn codegen")),
            ("yarn build", "cd web && yarn codegen; yarn build", "no types", Some("yarn codegen")),
            (
                "pytest",
                "source .venv/bin/activate && pytest",
                "No module named 'flask'",
                Some("source .venv/bin/activate"),
            ),
            ("npm ci", "nvm use 22 && npm ci", "npm error code EBADENGINE", Some("nvm use 22")),
            ("yarn build", "yarn build && yarn codegen", "no types", None),
            ("yarn build", "yarn codegen && yarn build --silent", "no types", None),
            ("yarn test", "yarn lint && yarn test", "1 failing\n  AssertionError", None),
        ] {
            assert_eq!(in_line(command, line, error).as_deref(), expected, "{line}");
        }
    }
}
