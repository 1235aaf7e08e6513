//! How a command was changed until it worked, and the patterns that fit the old form and not the new one.

use crate::failure::{self, Cause};
use crate::quoting::{self, Quoting};
use lessons::Trigger;
use shell::{Command, Origin};
use std::collections::BTreeSet;

/// First words of a subcommand that a second word belongs to: `git remote add`, `docker compose up`.
const TWO_WORDS: [&str; 34] = [
    "auth",
    "bisect",
    "buildx",
    "cluster",
    "compose",
    "config",
    "container",
    "context",
    "db",
    "ec2",
    "env",
    "image",
    "issue",
    "lambda",
    "mod",
    "network",
    "pip",
    "pr",
    "release",
    "remote",
    "repo",
    "rollout",
    "run",
    "s3",
    "secret",
    "stash",
    "state",
    "submodule",
    "system",
    "tool",
    "volume",
    "workflow",
    "workspace",
    "worktree",
];
/// Programs whose subcommands are two words: a group and what is done in it.
const GROUPED: [&str; 7] = ["aws", "az", "doctl", "gcloud", "gh", "oci", "vault"];
/// Programs of which one does everything that another does.
const SAME_WORK: [&[&str]; 13] = [
    &["npm", "pnpm", "yarn", "bun", "cnpm"],
    &["npx", "bunx", "pnpx"],
    &["pip", "pip3", "uv", "poetry", "pdm", "pipenv", "conda"],
    &["docker", "podman", "nerdctl"],
    &["docker-compose", "podman-compose"],
    &["grep", "egrep", "rg", "ag", "ack"],
    &["python", "python2", "python3"],
    &["vim", "vi", "nano", "emacs"],
    &["jest", "vitest", "mocha"],
    &["make", "just", "task", "mage"],
    &["mvn", "mvnw", "gradle", "gradlew"],
    &["eslint", "biome", "oxlint"],
    &["terraform", "tofu"],
];
/// Programs whose first word is a file, a name or a text, never a subcommand.
const NO_SUBCOMMANDS: [&str; 79] = [
    "ack", "ag", "ansible", "autopep8", "black", "cc", "clang", "createdb", "dot", "dropdb", "egrep",
    "esbuild", "eslint", "ffmpeg", "flake8", "g++", "gcc", "gunicorn", "isort", "jest", "less", "mocha",
    "mypy", "mysql", "nano", "open", "phpunit", "prettier", "psql", "pylint", "rspec", "rubocop", "sqlite3",
    "tee", "touch", "tsc", "uvicorn", "vim", "wc", "awk", "bash", "cat", "cd", "chmod", "chown", "cp",
    "curl", "diff", "du", "echo", "env", "find", "grep", "gzip", "head", "jq", "kill", "ln", "ls", "mkdir",
    "mv", "node", "perl", "ps", "pytest", "python", "python3", "rg", "rm", "rsync", "ruby", "scp", "sed",
    "sh", "sort", "ssh", "tail", "tar", "xargs",
];
/// Programs that only run another one.
const ALWAYS_AROUND: [&str; 8] = ["doas", "env", "nice", "npx", "nohup", "sudo", "timeout", "xargs"];
/// Programs that run another one on another machine.
const ELSEWHERE: [&str; 5] = ["docker", "kubectl", "nerdctl", "podman", "ssh"];
/// Programs that run a file which they are given.
const INTERPRETERS: [&str; 8] = ["bash", "node", "perl", "php", "python", "python3", "ruby", "sh"];
/// Programs that only move the shell, or say something: what follows them is meant.
const BESIDE: [&str; 10] =
    ["cd", "echo", "export", "set", "source", "true", "false", "sleep", "pwd", "printf"];
/// Flags that name the folder or the file which a command works in.
const FOLDER_FLAGS: [&str; 16] = [
    "-C",
    "-chdir",
    "-f",
    "-p",
    "--chdir",
    "--config",
    "--cwd",
    "--dir",
    "--directory",
    "--file",
    "--filter",
    "--manifest-path",
    "--prefix",
    "--project",
    "--root",
    "--workspace",
];
/// Flags that ask for a terminal.
const TERMINAL_FLAGS: [&str; 6] = ["-i", "-it", "-t", "-ti", "--interactive", "--tty"];
/// Flags that put a check aside: that a command succeeds with one of them does not make it a mistake without.
const OVERRIDES: [&str; 15] = [
    "--allow-dirty",
    "--allow-empty",
    "--allow-unrelated-histories",
    "--break-system-packages",
    "--force",
    "--hard",
    "--ignore-scripts",
    "--insecure",
    "--no-check",
    "--no-check-certificate",
    "--no-gpg-sign",
    "--no-strict-ssl",
    "--no-verify",
    "--no-verify-ssl",
    "--skip-checks",
];
/// Programs whose `-f` or `-D` puts a check aside, or whose `-b` or `-c` makes what was not there.
const SHORT_OVERRIDES: [(&str, &str); 11] = [
    ("curl", "-k"),
    ("docker", "-f"),
    ("git", "-B"),
    ("git", "-C"),
    ("git", "-D"),
    ("git", "-b"),
    ("git", "-c"),
    ("git", "-f"),
    ("mv", "-f"),
    ("podman", "-f"),
    ("rm", "-f"),
];
/// Flags that have a command repair what it found, or only look for it.
const REPAIRS: [&str; 15] = [
    "-u",
    "-w",
    "--accept",
    "--apply",
    "--bless",
    "--check",
    "--diff",
    "--dry-run",
    "--fix",
    "--list-different",
    "--snapshot-update",
    "--unsafe-fixes",
    "--update",
    "--update-snapshots",
    "--write",
];
/// What `-f` of a program for containers puts a check aside of: elsewhere it names a file.
const REMOVALS: [&str; 5] = ["down", "kill", "prune", "rm", "rmi"];
/// Names that the main branch of a repository has.
const MAIN_BRANCHES: [&str; 6] = ["dev", "develop", "development", "main", "master", "trunk"];
/// Programs that run what a project has given a name.
const RUNNERS: [&str; 14] = [
    "bun", "composer", "invoke", "just", "make", "mage", "mise", "nox", "npm", "pnpm", "poe", "rake", "task",
    "yarn",
];
/// What such names are for: one of another line is other work.
const TASKS: [&[&str]; 9] = [
    &["test", "tests", "spec", "specs", "unit", "e2e"],
    &["lint", "eslint"],
    &["build", "compile", "bundle", "dist"],
    &["fmt", "format", "prettier"],
    &["typecheck", "types", "tsc", "mypy"],
    &["start", "serve", "dev", "run", "up", "watch"],
    &["doc", "docs"],
    &["clean"],
    &["deploy", "release", "publish"],
];
/// Flags that change what a command prints and not what it does.
const SHOWN: [&str; 25] = [
    "-q",
    "-v",
    "-vv",
    "-vvv",
    "--backtrace",
    "--color",
    "--colour",
    "--debug",
    "--info",
    "--log-level",
    "--no-color",
    "--no-pager",
    "--no-progress",
    "--nocapture",
    "--oneline",
    "--progress",
    "--quiet",
    "--reporter",
    "--show-output",
    "--silent",
    "--stacktrace",
    "--stat",
    "--tb",
    "--trace",
    "--verbose",
];
/// Variables that do the same.
const SHOWN_VARIABLES: [&str; 7] =
    ["DEBUG=", "FORCE_COLOR=", "LOG_LEVEL=", "NO_COLOR=", "RUST_BACKTRACE=", "RUST_LOG=", "VERBOSE="];
/// Subcommands that take names which hold everywhere, and those that only show something.
const INSTALLS: [&str; 7] = ["add", "get", "i", "install", "pull", "require", "tap"];
const LOOKS: [&str; 23] = [
    "current", "describe", "heads", "diff", "help", "history", "images", "info", "inspect", "list", "log",
    "logs", "ls", "outdated", "ps", "search", "show", "status", "tree", "version", "view", "whoami", "why",
];
/// Programs that only show something.
const LOOKING: [&str; 24] = [
    "awk", "cat", "command", "date", "df", "diff", "du", "env", "file", "find", "grep", "head", "jq", "ls",
    "printenv", "ps", "rg", "stat", "tail", "tree", "type", "uname", "wc", "which",
];
/// The longest value of a flag or a variable that is compared. In bytes.
const MAX_VALUE: usize = 40;
/// The most commands of a script: of more it cannot be said which one was the mistake.
const MAX_COMMANDS: usize = 8;
/// The most flags of one pattern: more is one particular call.
const MAX_FLAGS: usize = 2;

/// A command that failed, and the form of it that worked.
#[derive(Clone, Debug)]
pub struct Change {
    /// The command that failed, by itself.
    pub before: Command,
    /// The command that worked.
    pub after: Command,
    /// Flags that are gone, and flags that came.
    pub removed: Vec<String>,
    pub added: Vec<String>,
    /// What else came: `@timeout`, `NAME=`, `<`, as the conditions of a lesson.
    pub conditions: Vec<String>,
    /// The subcommand that was replaced.
    pub subcommand: Option<(String, String)>,
    /// The program that was replaced.
    pub program: Option<(String, String)>,
    /// Whether something was put behind `--`.
    pub is_separated: bool,
    /// The value that was replaced.
    pub value: Option<Value>,
    /// Whether another program was put around the command, with its words as they were.
    pub is_around: bool,
    /// Whether another program took the place of one that does the same work.
    pub is_kin: bool,
    /// The quotes that came.
    pub quoting: Option<Quoting>,
    /// The flag that came before the subcommand, or behind it, and whether it came before.
    pub order: Option<(String, bool)>,
    /// The folder that the same command worked in, as it was written.
    pub folder: Option<String>,
    /// The path of the same program that worked: `.venv/bin/pip`.
    pub path: Option<String>,
    /// What ran the command and does not any more, and whether that is not there at all.
    pub wrapper: Option<(String, bool)>,
    /// What the command works on now, where it was given nothing.
    pub argument: Option<String>,
    /// The flag that got an empty value: `-i` of `sed -i ''`.
    pub emptied: Option<String>,
    /// Whether it answers what is so in this project alone: a port, a variable, a folder, a tool that was chosen.
    pub is_of_project: bool,
}

/// The value of a flag or of a variable that was replaced by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The flag, or the variable's name.
    pub of: String,
    pub old: String,
    pub new: String,
    pub is_variable: bool,
}

impl Change {
    /// Compares a script that failed with one that succeeded; `said` is what the user wrote between them. `None` where they have no
    /// command in common that was changed, or several, or where only what the command works on was changed.
    pub fn between(before: &str, after: &str, error: &str, said: &str) -> Option<Self> {
        let (old, new) = (own(before, &programs(after)), own(after, &programs(before)));
        if old.len().max(new.len()) > MAX_COMMANDS {
            return None;
        }
        let texts = |commands: &[Command]| commands.iter().map(shape).collect::<Vec<_>>();
        let (old_texts, new_texts) = (texts(&old), texts(&new));
        let gone: Vec<&Command> = old.iter().filter(|command| !new_texts.contains(&shape(command))).collect();
        let came: Vec<&Command> = new.iter().filter(|command| !old_texts.contains(&shape(command))).collect();
        let is_judged = failure::is_judgement(error);
        let (error, said) = (error.to_lowercase(), said.to_lowercase());
        if gone.is_empty() && came.is_empty() {
            let quoted = old.iter().zip(&new).find_map(|(old, new)| Self::quoted(old, new));
            return quoted.or_else(|| match (&old[..], &new[..]) {
                ([old], [new]) if !is_judged => Self::moved(before, old, new, &error),
                _ => None,
            });
        }
        let mut pairs = Vec::new();
        for before in &gone {
            for after in &came {
                pairs.extend(Self::of(before, after, &error, &said, is_judged));
            }
        }
        // What runs elsewhere as it did is not what was changed: `docker compose exec web x` and `docker compose run web x`.
        if pairs.len() > 1 {
            let is_same = |one: &Command, other: &Command| {
                one.program() == other.program() && words(one) == words(other)
            };
            let is_outer = |pair: &Self| {
                ELSEWHERE.contains(&pair.before.program()) && pair.before.program() == pair.after.program()
            };
            if pairs.iter().any(is_outer) {
                pairs.retain(|pair| {
                    is_outer(pair) || !is_same(&pair.before, &pair.after) && pair.program.is_none()
                });
            }
        }
        // `docker compose exec web rspec` is both a command and what is around one.
        if pairs.iter().any(|pair| pair.conditions.iter().any(|it| it.starts_with('@'))) {
            pairs.retain(|pair| !is_around(&pair.before, &pair.after));
        }
        if pairs.len() > 1 {
            pairs.retain(|pair| error.contains(&pair.before.program().to_lowercase()));
        }
        // Of several it cannot be said which one was the mistake.
        if pairs.len() == 1 { pairs.pop() } else { None }
    }

    fn none(before: &Command, after: &Command) -> Self {
        Self {
            before: before.clone(),
            after: after.clone(),
            removed: Vec::new(),
            added: Vec::new(),
            conditions: Vec::new(),
            subcommand: None,
            program: None,
            is_separated: false,
            value: None,
            is_around: false,
            is_kin: false,
            quoting: None,
            order: None,
            folder: None,
            path: None,
            wrapper: None,
            argument: None,
            emptied: None,
            is_of_project: false,
        }
    }

    /// The same words, some of which are quoted now.
    fn quoted(before: &Command, after: &Command) -> Option<Self> {
        let quoting = Quoting::between(before, after)?;
        Some(Self { quoting: Some(quoting), ..Self::none(before, after) })
    }

    /// The same command in another folder, where the error says that something was not there. `error` is in lower case.
    fn moved(script: &str, before: &Command, after: &Command, error: &str) -> Option<Self> {
        let folder = after.folder.clone().filter(|_| before.folder.is_none())?;
        let is_plain =
            !folder.contains("..") && folder.split('/').all(|part| part.is_empty() || is_plain(part));
        let is_about_place = failure::is_elsewhere(error) || failure::is_about_name(error);
        let is_known = is_plain && is_about_place && !is_look(script);
        is_known.then(|| Self { folder: Some(folder), is_of_project: true, ..Self::none(before, after) })
    }

    /// `error` and `said` are in lower case.
    fn of(before: &Command, after: &Command, error: &str, said: &str, is_judged: bool) -> Option<Self> {
        let mut change = Self::none(before, after);
        if let Some(change) = Self::quoted(before, after) {
            return Some(change);
        }
        let (old, new) = (before.program(), after.program());
        let (old_words, new_words) = (words(before), words(after));
        if is_question(&new_words) {
            return None;
        }
        if let Some(wrapper) = unwrapped(before, after, error) {
            return Some(Self { wrapper: Some(wrapper), ..change });
        }
        if let Some(path) = located(before, after).filter(|_| !is_judged) {
            return Some(Self { path: Some(path), is_of_project: true, ..change });
        }
        if old != new {
            // Another program for the same work: only where the first one is not there, or says so itself.
            let is_missing = error.contains("not found")
                || error.contains("not recognized")
                || error.contains(&new.to_lowercase());
            // `docker-compose up` and `docker compose up`.
            let joined = new_words.first().map(|word| format!("{new}-{word}"));
            // `dotenv -- pytest`: whatever the program around it is.
            let is_around = is_around(before, after);
            // `php artisan migrate` and `sail artisan migrate`.
            let is_of_call = failure::cause(error) != Cause::Matter;
            let is_subject = |word: &String| {
                is_keyword(word) || (is_of_call && word.len() > 2 && word.contains(['.', '/']))
            };
            let has_same_words =
                old_words == new_words && !LOOKING.contains(&new) && old_words.iter().any(is_subject);
            let is_kin = !is_around
                && !is_judged
                && !LOOKING.contains(&old)
                && (has_same_words || (is_same_program(old, new) && is_for_same(before, after)));
            // "Run `make migrate` instead."
            let is_advised = new_words.first().is_some_and(|word| {
                word.len() > 2
                    && !word.starts_with('-')
                    && has_word(error, &format!("{new} {word}").to_lowercase())
            });
            let is_same_work = is_around
                || !old_words.is_empty() && old_words.iter().all(|word| new_words.contains(word))
                || joined.as_deref() == Some(old)
                || new.starts_with(old);
            // Someone said that the one is used and not the other.
            let is_chosen = has_word(said, &old.to_lowercase()) && has_word(said, &new.to_lowercase());
            // The error does not know what it was asked for, and what was run then was named before.
            let is_unknown = failure::cause(error) == Cause::Usage
                || failure::is_about_name(error)
                || error.contains("not defined");
            let is_named_otherwise = is_unknown
                && new.len() > 2
                && has_word(said, &new.to_lowercase())
                && subcommand(before).last().is_some_and(|word| has_word(error, word))
                && !LOOKING.contains(&new)
                && !INTERPRETERS.contains(&new);
            let is_known = is_missing || is_chosen || is_around;
            if !(is_known && is_same_work || is_kin || is_advised || is_named_otherwise) || !is_plain(old) {
                return None;
            }
            change.is_kin = is_kin && !is_known;
            change.is_of_project = (!is_missing && is_chosen) || is_kin || is_advised || is_named_otherwise;
            change.is_around = is_around && !is_missing && !is_chosen;
            if change.is_around {
                change.program = Some((old.to_owned(), new.to_owned()));
                return Some(change);
            }
            let new = joined.filter(|joined| joined == old).map_or(new.to_owned(), |_| {
                format!("{new} {}", new_words.first().map(String::as_str).unwrap_or_default())
            });
            change.program = Some((old.to_owned(), new));
            return Some(change);
        }
        if let Some(flag) = emptied(&old_words, &new_words).filter(|_| !is_judged) {
            return Some(Self { emptied: Some(flag), is_of_project: true, ..change });
        }
        change.order = order(&old_words, &new_words);
        if change.order.is_some() {
            return Some(change);
        }
        let (old_flags, new_flags) = (flags(&old_words), flags(&new_words));
        change.removed = old_flags.iter().filter(|flag| !new_flags.contains(flag)).cloned().collect();
        change.added = new_flags.iter().filter(|flag| !old_flags.contains(flag)).cloned().collect();
        change.is_separated =
            new_words.iter().any(|word| word == "--") && !old_words.iter().any(|word| word == "--");
        change.conditions = conditions(before, after);
        let is_sent_back = after.is_background && !before.is_background && failure::is_hang(error);
        if is_sent_back {
            change.conditions.push("&".to_owned());
        }
        let (old_sub, new_sub) = (subcommand(before), subcommand(after));
        // `vitest src` and `vitest run src`: a word that was forgotten.
        let forgotten = forgotten(before, after);
        // `docker compose --env-file x up` has the subcommand of `docker compose up`.
        let is_split = |short: &[String], long: &[String], words: &[String]| {
            long.starts_with(short) && long[short.len()..].iter().all(|word| words.contains(word))
        };
        if let Some(word) = &forgotten {
            change.conditions.push(word.clone());
        } else if old_sub != new_sub
            && !old_sub.is_empty()
            && !new_sub.is_empty()
            && !is_split(&new_sub, &old_sub, &new_words)
            && !is_split(&old_sub, &new_sub, &old_words)
        {
            let (old_sub, new_sub) = (old_sub.join(" "), new_sub.join(" "));
            // A slip of the fingers is no lesson.
            if distance(&old_sub, &new_sub) <= 2 {
                return None;
            }
            change.subcommand = Some((old_sub, new_sub));
        }
        // `ruff --fix` and `ruff check --fix`: the subcommand was forgotten, and the error has it.
        if old_sub.is_empty()
            && forgotten.is_none()
            && let Some(missing) = new_sub.first().filter(|word| has_word(error, word))
            && old_words.first().is_some_and(|word| word.starts_with('-'))
        {
            change.conditions.push(missing.clone());
        }
        if let Some(argument) =
            given(before, after).filter(|_| !is_judged && failure::asks_for_argument(error))
        {
            return Some(Self { argument: Some(argument), is_of_project: true, ..change });
        }
        let is_changed = !change.removed.is_empty()
            || !change.added.is_empty()
            || !change.conditions.is_empty()
            || change.subcommand.is_some()
            || change.is_separated;
        if !is_changed {
            let (value, is_of_project) = value(before, after, error)?;
            return Some(Self { value: Some(value), is_of_project, ..change });
        }
        change.is_of_project = [error, said].iter().any(|text| change.has_named_variable(text))
            || change.has_named_wrapper(error)
            || change.has_named_folder(error)
            || change.is_renamed(error)
            || is_sent_back
            || change.has_named_value(error)
            || (failure::cause(error) != Cause::Usage && change.is_named_in(said));
        Some(change)
    }

    /// Says whether it sets a variable that the error names, in lower case.
    fn has_named_variable(&self, error: &str) -> bool {
        let names = self.conditions.iter().filter_map(|condition| condition.strip_suffix('='));
        names.map(str::to_lowercase).any(|name| has_word(error, &name))
    }

    /// Says whether the error, in lower case, names both the flag that came and its value: `--features sqlite`.
    fn has_named_value(&self, error: &str) -> bool {
        let words = words(&self.after);
        self.removed.is_empty()
            && self.added.iter().any(|flag| {
                let name = flag.trim_start_matches('-').trim_end_matches('s').to_lowercase();
                let at = words.iter().position(|word| word.split('=').next() == Some(flag));
                let value = at.and_then(|at| match words[at].split_once('=') {
                    Some((_, value)) => Some(value),
                    None => words.get(at + 1).map(String::as_str),
                });
                let is_named = |value: &str| {
                    value.len() > 2 && !value.starts_with('-') && has_word(error, &value.to_lowercase())
                };
                name.len() > 3 && error.contains(&name) && value.is_some_and(is_named)
            })
    }

    /// Says whether another of the names that a project gives took the place of one that it does not have.
    fn is_other_task(&self, error: &str) -> bool {
        let Some((old, new)) = &self.subcommand else { return false };
        let last = |words: &str| words.rsplit(' ').next().unwrap_or_default().to_owned();
        let (old, new) = (last(old), last(new));
        let task = |name: &str| {
            TASKS.iter().position(|task| name.split(['-', ':']).any(|part| task.contains(&part)))
        };
        let is_same_task = match (task(&old), task(&new)) {
            (Some(old), Some(new)) => old == new,
            _ => true,
        };
        RUNNERS.contains(&self.before.program())
            && failure::is_about_name(error)
            && has_word(&error.to_lowercase(), &old)
            && is_same_task
            && self.has_same_rest(0)
    }

    /// Says whether another subcommand did the same with the same things: `docker compose exec` and `docker compose run`.
    fn is_other_way(&self, error: &str) -> bool {
        let is_removal = |(_, new): &(String, String)| new.split(' ').any(|word| REMOVALS.contains(&word));
        self.subcommand.as_ref().is_some_and(|it| !is_removal(it))
            && !error.to_lowercase().contains("timeout")
            && self.has_same_rest(2)
            && !is_look(&self.after.text())
    }

    /// Says whether both forms have the same words behind the subcommand, flags apart, and at least so many.
    fn has_same_rest(&self, least: usize) -> bool {
        let rest = |command: &Command, flags: &[String]| -> Vec<String> {
            let words = words(command).into_iter().skip(subcommand(command).len());
            words.filter(|word| !flags.contains(word)).collect()
        };
        let (old, new) = (rest(&self.before, &self.removed), rest(&self.after, &self.added));
        old == new && old.len() >= least
    }

    /// Says whether the flag that came was named in full, in lower case, before it was used.
    fn is_named_in(&self, said: &str) -> bool {
        self.removed.is_empty()
            && matches!(&self.added[..], [only] if only.starts_with("--") && has_word(said, &only.to_lowercase()))
    }

    /// Says whether it runs below what the error names, in lower case.
    fn has_named_wrapper(&self, error: &str) -> bool {
        let names = self.conditions.iter().filter_map(|condition| condition.strip_prefix('@'));
        names.map(str::to_lowercase).any(|name| has_word(error, &name))
    }

    /// Says whether it has the right name of the script or target that the error, in lower case, does not know.
    fn is_renamed(&self, error: &str) -> bool {
        let last = |words: &str| words.rsplit(' ').next().unwrap_or_default().to_owned();
        self.subcommand.as_ref().is_some_and(|(old, new)| {
            let (old, new) = (last(old), last(new));
            failure::is_about_name(error) && has_word(error, &old) && is_related(&old, &new)
        })
    }

    /// Says whether it only puts a check aside, has the command repair what it found, or changes what is shown.
    pub fn is_no_correction(&self, error: &str) -> bool {
        let is_of_flags = self.program.is_none()
            && self.subcommand.is_none()
            && self.value.is_none()
            && self.quoting.is_none()
            && self.order.is_none()
            && self.folder.is_none()
            && self.path.is_none()
            && self.wrapper.is_none()
            && self.emptied.is_none()
            && self.argument.is_none()
            && self.conditions.iter().all(|it| SHOWN_VARIABLES.contains(&it.as_str()))
            && !self.is_separated
            && !(self.added.is_empty() && self.removed.is_empty() && self.conditions.is_empty());
        let is_override = |flag: &String| {
            let short = (self.before.program(), flag.as_str());
            let is_removal = !ELSEWHERE.contains(&short.0)
                || subcommand(&self.before).iter().any(|word| REMOVALS.contains(&word.as_str()));
            OVERRIDES.contains(&flag.as_str()) || (SHORT_OVERRIDES.contains(&short) && is_removal)
        };
        let is_beside = |flag: &String| {
            // `git push -u` sets what the branch follows.
            let is_repair =
                REPAIRS.contains(&flag.as_str()) && (self.before.program(), flag.as_str()) != ("git", "-u");
            // A pager waits for a key.
            let is_shown =
                SHOWN.contains(&flag.as_str()) && !(failure::is_hang(error) && flag == "--no-pager");
            is_repair || is_shown || is_override(flag)
        };
        // A flag that the command does not know is a mistake, whatever it would do.
        let is_known = self.removed.is_empty() || failure::cause(error) != Cause::Usage;
        let are_overrides = is_known && !self.added.is_empty() && self.added.iter().all(is_override);
        let are_beside = is_known && self.added.iter().chain(&self.removed).all(is_beside);
        is_of_flags && (are_overrides || are_beside)
    }

    /// Says whether what was changed must be what helped, where nothing else was done in between: the command does the same work
    /// on the same things, and failed by the way it was called.
    pub fn is_all_that_changed(&self, error: &str) -> bool {
        let is_of_call = self.is_around
            || self.is_kin
            || forgotten(&self.before, &self.after).is_some()
            || self.is_other_task(error)
            || self.is_other_way(error)
            || (self.program.is_none()
                && self.subcommand.is_none()
                && self.added.len() + self.removed.len() + self.conditions.len() <= MAX_FLAGS
                && is_same_work(self));
        let has_told = !failure::line(error).is_empty();
        is_of_call && has_told && !failure::is_judgement(error)
    }

    /// Says whether it names the folder that the command did not run in.
    fn has_named_folder(&self, error: &str) -> bool {
        failure::is_elsewhere(error)
            && self.removed.is_empty()
            && self.added.iter().any(|flag| FOLDER_FLAGS.contains(&flag.as_str()))
    }

    /// Says whether the change answers the error: the error is about the call, or names what was changed.
    pub fn answers(&self, error: &str) -> bool {
        // That one is used here and not the other shows in nothing but what was done.
        if self.is_kin {
            return false;
        }
        // Of these it was seen that the error, or what the user wrote, is about them.
        if self.value.is_some() || self.is_of_project {
            return true;
        }
        if self.wrapper.is_some() {
            return true;
        }
        if self.quoting.is_some() || self.order.is_some() {
            return !failure::is_of_network(error);
        }
        let lower = error.to_lowercase();
        let names = |word: &String| word.len() > 1 && lower.contains(&word.to_lowercase());
        let is_named = self.removed.iter().chain(&self.added).any(names);
        match failure::cause(error) {
            // A subcommand that was replaced must be what it complains about.
            Cause::Usage => {
                self.subcommand.as_ref().is_none_or(|(old, _)| {
                    let last = old.rsplit(' ').next().unwrap_or(old);
                    lower.contains(last) || is_named
                }) && (self.removed.is_empty() || is_named || self.removed.len() <= MAX_FLAGS)
            }
            Cause::Surroundings if self.subcommand.as_ref().is_some_and(|(old, _)| !lower.contains(old)) => {
                is_named
            }
            Cause::Surroundings => {
                let is_for_terminal = |flag: &String| TERMINAL_FLAGS.contains(&flag.as_str());
                is_named
                    || (failure::is_about_terminal(error) && self.removed.iter().any(is_for_terminal))
                    || !self.added.is_empty()
                    || !self.conditions.is_empty()
                    || self.is_separated
                    || self.program.is_some()
            }
            Cause::Matter => {
                let is_advised =
                    |(old, new): &(String, String)| is_same_program(old, new) && has_word(&lower, new);
                is_named || self.program.as_ref().is_some_and(is_advised)
            }
        }
    }

    /// Returns triggers that fit the old form and may not fit the new one, the broadest first.
    pub fn triggers(&self, error: &str) -> Vec<Trigger> {
        if let Some(quoting) = &self.quoting {
            return quoting.trigger(&self.before).into_iter().collect();
        }
        if let Some((wrapper, is_not_there)) = &self.wrapper {
            if *is_not_there {
                let raw = format!(r"(^|[;&|(]\s*){}\s", quoting::escaped(wrapper));
                return vec![Trigger { raw: vec![raw], ..Trigger::default() }];
            }
            let base = [self.before.program().to_owned()];
            return vec![Trigger { with: vec![format!("@{wrapper}")], ..pattern(&base, &[], &[]) }];
        }
        if let Some(flag) = &self.emptied {
            let (program, flag) = (self.before.program().to_owned(), flag.clone());
            let line = format!(r"\b{}\s+{}", quoting::escaped(&program), quoting::escaped(&flag));
            let raw = vec![format!(r#"{line}\s+(['"][^'"]|[^'"\s])"#)];
            return vec![Trigger { raw, ..pattern(&[program], &[flag], &[]) }];
        }
        if self.path.is_some() {
            let mut base = vec![self.before.program().to_owned()];
            base.extend(subcommand(&self.before));
            let line = quoting::escaped(&base.join(" ")).replace(' ', r"\s+");
            return vec![Trigger {
                raw: vec![format!(r"(^|[;&|(]\s*){line}\b")],
                ..pattern(&base, &[], &[])
            }];
        }
        if self.folder.is_some() {
            let mut base = vec![self.before.program().to_owned()];
            base.extend(subcommand(&self.before));
            base.extend(script(&self.before));
            // At the beginning of the line, where nothing has moved the shell.
            let wrapped = self.before.wrappers.iter().filter(|wrapper| **wrapper != "env");
            let words: Vec<String> =
                wrapped.map(|wrapper| (*wrapper).to_owned()).chain(base.iter().cloned()).collect();
            let line = quoting::escaped(&words.join(" ")).replace(' ', r"\s+");
            let raw = vec![format!(r"^\s*(\./)?{line}")];
            return vec![Trigger { raw, ..pattern(&base, &[], &[]) }];
        }
        if let Some((old, _)) = &self.program {
            let mut base = vec![old.clone()];
            base.extend(subcommand(&self.before));
            if !self.is_around && self.is_of_project {
                base.extend(script(&self.before));
                // Only where one takes the place of the other in everything is it about all of its calls.
                if !is_same_program(old, self.after.program()) {
                    return vec![pattern(&base, &[], &[])];
                }
            }
            if self.is_around {
                base.extend(script(&self.before));
                return vec![pattern(&base, &[], &[])];
            }
            return vec![pattern(std::slice::from_ref(old), &[], &[]), pattern(&base, &[], &[])];
        }
        let program = self.before.program().to_owned();
        if !is_plain(&program) {
            return Vec::new();
        }
        if let Some((old, _)) = &self.subcommand {
            let mut base = vec![program];
            base.extend(old.split(' ').map(str::to_owned));
            return vec![pattern(&base, &[], &[])];
        }
        if let Some((flag, false)) = &self.order {
            let raw = format!(r"\b{}\s+{}\b", quoting::escaped(&program), quoting::escaped(flag));
            return vec![Trigger { raw: vec![raw], ..pattern(&[program], std::slice::from_ref(flag), &[]) }];
        }
        let mut base = vec![program];
        base.extend(subcommand(&self.before));
        if let Some((flag, true)) = &self.order {
            let last = base.last().map(|word| quoting::escaped(word)).unwrap_or_default();
            let raw = format!(r"\b{last}\b.*\s{}\b", quoting::escaped(flag));
            return vec![Trigger { raw: vec![raw], ..pattern(&base, std::slice::from_ref(flag), &[]) }];
        }
        if self.argument.is_some() {
            let line = quoting::escaped(&base.join(" ")).replace(' ', r"\s+");
            let raw = vec![format!(r"\b{line}(\s+-[^\s&|;]*)*\s*($|[&|;])")];
            return vec![Trigger { raw, ..pattern(&base, &[], &[]) }];
        }
        if self.is_of_project {
            base.extend(script(&self.before));
        }
        if let Some(value) = &self.value {
            let trigger = if value.of.is_empty() {
                let star = if value.old.contains("://") { "*" } else { "" };
                pattern(&base, &["...".to_owned(), format!("{}{star}", value.old)], &[])
            } else if value.is_variable {
                // What is wrong for one script is wrong for all.
                let base = match &base[..] {
                    [program, group, _] if TWO_WORDS.contains(&group.as_str()) => {
                        vec![program.clone(), group.clone()]
                    }
                    _ => base,
                };
                Trigger { with: vec![format!("{}={}*", value.of, value.old)], ..pattern(&base, &[], &[]) }
            } else {
                pattern(&base, &[format!("{}={}", value.of, value.old)], &[])
            };
            return vec![trigger];
        }
        let lower = error.to_lowercase();
        let named: Vec<String> =
            self.removed.iter().filter(|flag| lower.contains(&flag.to_lowercase())).cloned().collect();
        let removed = if named.is_empty() { self.removed.clone() } else { named };
        let shared: Vec<String> = flags(&words(&self.before))
            .into_iter()
            .filter(|flag| !self.removed.contains(flag) && is_plain(flag))
            .collect();
        let mut without: Vec<String> = self.added.iter().filter(|flag| is_plain(flag)).cloned().collect();
        without.extend(self.conditions.iter().cloned());
        let mut triggers = Vec::new();
        if !removed.is_empty() && removed.len() <= MAX_FLAGS {
            triggers.push(pattern(&base, &removed, &[]));
            if !without.is_empty() {
                triggers.push(pattern(&base, &removed, &without));
            }
        }
        if self.is_separated {
            // What is behind `--` now was a flag of the command before.
            let behind: Vec<String> = words(&self.after)
                .into_iter()
                .skip_while(|word| word != "--")
                .skip(1)
                .filter(|word| word.starts_with('-') && is_plain(word))
                .take(MAX_FLAGS)
                .collect();
            let was_there = behind.iter().any(|flag| words(&self.before).contains(flag));
            if was_there {
                triggers.push(pattern(&base, &behind, &["--".to_owned()]));
            } else if !behind.is_empty() {
                // Nothing but what it works on, up to the end of the command.
                let line = quoting::escaped(&base.join(" ")).replace(' ', r"\s+");
                let raw = format!(r"\b{line}(\s+[^-\s&|;][^\s&|;]*)*\s*($|[&|;])");
                triggers.push(Trigger { raw: vec![raw], ..pattern(&base, &[], &[]) });
            }
        }
        if removed.is_empty() && !without.is_empty() {
            // What is put before the subcommand is about all of them.
            let is_ahead = words(&self.after).first().is_some_and(|word| self.added.contains(word));
            if is_ahead && base.len() > 1 && script(&self.before).is_none() {
                triggers.push(pattern(&base[..1], &[], &without));
            }
            triggers.push(pattern(&base, &[], &without));
            for count in 1..=shared.len().min(MAX_FLAGS) {
                triggers.push(pattern(&base, &shared[..count], &without));
            }
            // What is put between the words of the subcommand.
            let new = words(&self.after);
            let place = |word: &String| new.iter().position(|other| other == word);
            let last = base.last().and_then(place);
            if base.len() > 1
                && self.conditions.is_empty()
                && self.added.iter().all(|flag| place(flag) < last)
            {
                let line = quoting::escaped(&base.join(" ")).replace(' ', r"\s+");
                triggers.push(Trigger { raw: vec![format!(r"\b{line}\b")], ..pattern(&base, &[], &[]) });
            }
        }
        triggers
    }
}

/// Returns the value that a command was given and should not have been, and whether that is so in this project alone. `error` is
/// in lower case and must name it.
fn value(before: &Command, after: &Command, error: &str) -> Option<(Value, bool)> {
    let named = |value: Value| {
        let is_named = has_word(error, &value.old.to_lowercase());
        (is_named && value.old != value.new).then_some(value)
    };
    let changed: Vec<_> = before
        .assignments
        .iter()
        .filter_map(|(name, old)| {
            let (_, new) = after.assignments.iter().find(|(other, _)| other == name)?;
            (old != new).then_some((name, old, new))
        })
        .collect();
    if let [(name, old, new)] = changed[..] {
        // Of `--max=1` the error names what is before the value.
        let head = |text: &str| text.split('=').next().unwrap_or_default().to_owned();
        let is_head = old.contains('=') && head(old) != head(new);
        let old = if is_head { head(old) } else { old.clone() };
        let is_plain = old.len() <= MAX_VALUE && is_plain(&old) && is_plain(name);
        let value = Value { of: name.clone(), old, new: new.clone(), is_variable: true };
        return Some((named(value).filter(|_| is_plain)?, false));
    }
    let (old, new) = (words(before), words(after));
    let mut different = (0..old.len().min(new.len())).filter(|at| old[*at] != new[*at]);
    let (Some(at), None, true) = (different.next(), different.next(), old.len() == new.len()) else {
        return None;
    };
    let is_flag = |word: &str| word.len() > 1 && word.starts_with('-');
    let split = |word: &str| word.split_once('=').map(|(flag, value)| (flag.to_owned(), value.to_owned()));
    let (of, old, new) = match (split(&old[at]), split(&new[at])) {
        (Some((flag, old)), Some((same, new))) if is_flag(&flag) && flag == same => (flag, old, new),
        _ => {
            let flag = old[..at].last().filter(|flag| is_flag(flag) && !flag.contains('='));
            (flag.cloned().unwrap_or_default(), old[at].clone(), new[at].clone())
        }
    };
    if let (Some(old), Some(new)) = (origin(&old), origin(&new)) {
        // Nothing answers there: something else does elsewhere.
        let port = old.rsplit(':').next().unwrap_or_default();
        let is_it = old != new && failure::is_unanswered(error) && has_word(error, port);
        let value = Value { of: String::new(), old: old.to_owned(), new: new.to_owned(), is_variable: false };
        return is_it.then_some((value, true));
    }
    let is_short = |text: &String| (2..=MAX_VALUE).contains(&text.len()) && is_plain(text) && !is_flag(text);
    if ![&old, &new].into_iter().all(is_short) || !(of.is_empty() || is_plain(&of)) {
        return None;
    }
    let value = named(Value { of, old, new, is_variable: false })?;
    let is_port = !value.of.is_empty()
        && [&value.old, &value.new].into_iter().all(|text| is_number(text) && text.len() <= 5);
    if is_port {
        return failure::is_unanswered(error).then_some((value, true));
    }
    // The main branch has one name.
    let is_main_branch = |name: &String| MAIN_BRANCHES.contains(&name.as_str());
    if before.program() == "git"
        && failure::is_about_name(error)
        && is_main_branch(&value.old)
        && is_main_branch(&value.new)
    {
        return Some((value, true));
    }
    // The same thing by its right name. What git works on has another name each time.
    let takes_names = !value.of.is_empty() || subcommand(before).iter().any(|word| *word != value.old);
    let is_name = |word: &str| {
        word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_:".contains(&byte))
    };
    if before.program() != "git"
        && takes_names
        && failure::is_about_name(error)
        && is_name(&value.old)
        && is_name(&value.new)
        && is_related(&value.old, &value.new)
    {
        let is_everywhere = subcommand(before).iter().any(|word| INSTALLS.contains(&word.as_str()));
        return Some((value, !is_everywhere));
    }
    if value.of.is_empty() {
        return None;
    }
    // Only a word of a few that the command names: another file or branch is another call.
    let is_choice = failure::is_about_value(error) && has_word(error, &value.new.to_lowercase());
    (is_choice && !is_slip(&value.old, &value.new)).then_some((value, false))
}

/// The names of this machine.
const LOCAL_HOSTS: [&str; 4] = ["localhost", "127.0.0.1", "0.0.0.0", "host.docker.internal"];

/// Returns the beginning of an address of this machine up to its port: `http://localhost:8080`.
fn origin(word: &str) -> Option<&str> {
    let start = word.find("://")? + 3;
    let end = word[start..].find(['/', '?', '#']).map_or(word.len(), |end| start + end);
    let (host, port) = word[start..end].rsplit_once(':')?;
    // Another machine's name is nothing for a pattern.
    let is_plain = LOCAL_HOSTS.contains(&host)
        && is_number(port)
        && word[..start - 3].bytes().all(|byte| byte.is_ascii_lowercase());
    is_plain.then(|| &word[..end])
}

/// Says whether a word is the other one, mistyped.
fn is_slip(old: &str, new: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(old) == sorted(new) || (old.len().min(new.len()) > 4 && distance(old, new) <= 2)
}

/// Says whether one name is the other one in full, or a part of it: `yaml` and `pyyaml`, `engine` and `shop-engine`. A slip of the
/// fingers is none.
fn is_related(old: &str, new: &str) -> bool {
    let (old, new) = (old.to_lowercase(), new.to_lowercase());
    let has_part = |one: &str, other: &str| {
        let mut parts = one.split(|character: char| !character.is_ascii_alphanumeric());
        parts.any(|part| part.len() > 2 && other.contains(part))
    };
    old.len().abs_diff(new.len()) > 1
        && distance(&old, &new) > 1
        && (has_part(&old, &new) || has_part(&new, &old))
}

/// Says whether a script only shows something: whatever it was, it repaired nothing.
pub fn is_look(script: &str) -> bool {
    shell::commands(script).iter().all(|command| {
        let words = words(command);
        command.words.is_empty()
            || BESIDE.contains(&command.program())
            || LOOKING.contains(&command.program())
            || is_question(&words)
            || subcommand(command).last().is_some_and(|word| {
                let verb = word.split('-').next().unwrap_or_default();
                LOOKS.contains(&word.as_str()) || (verb != word && (verb == "get" || LOOKS.contains(&verb)))
            })
            || (command.program() == "kubectl" && words.first().is_some_and(|word| word == "get"))
    })
}

/// Says whether one of two programs does everything that the other does.
pub fn is_same_program(old: &str, new: &str) -> bool {
    SAME_WORK.iter().any(|programs| programs.contains(&old) && programs.contains(&new))
}

/// Says whether two commands of programs for the same work are about the same things: the words behind the subcommand, or the
/// subcommand itself where nothing is behind it.
pub fn is_for_same(before: &Command, after: &Command) -> bool {
    let rest = |command: &Command| -> Vec<String> {
        let is_word = |word: &String| !word.starts_with('-') && word != "run" && word != "exec";
        let words: Vec<String> = words(command).into_iter().filter(is_word).collect();
        let of_call = subcommand(command).iter().filter(|word| is_word(word)).count();
        if words.len() > of_call { words[of_call..].to_vec() } else { words }
    };
    let (old, new) = (rest(before), rest(after));
    let is_install =
        |words: &[String]| words.is_empty() || words.iter().all(|word| INSTALLS.contains(&word.as_str()));
    (is_install(&old) && is_install(&new)) || (!old.is_empty() && old.iter().all(|word| new.contains(word)))
}

/// Returns the flag that is on the other side of the subcommand now, and whether it came before it: of the same words.
fn order(old: &[String], new: &[String]) -> Option<(String, bool)> {
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort_unstable();
        words
    };
    if old == new || sorted(old) != sorted(new) {
        return None;
    }
    let is_flag = |word: &&String| word.len() > 1 && word.starts_with('-') && *word != "--";
    let place = |words: &[String], word: &String| words.iter().position(|other| other == word);
    // A word that may be a subcommand, first in the one and behind a flag in the other.
    let subcommand = old
        .iter()
        .find(|word| is_keyword(word) && (place(old, word) == Some(0)) != (place(new, word) == Some(0)))?;
    let is_first = place(old, subcommand) == Some(0);
    let flag = if is_first { new.first() } else { old.first() }.filter(|word| is_flag(word))?;
    let name = flag.split('=').next().unwrap_or(flag);
    (is_plain(name) && !old.iter().any(|word| word == "--")).then(|| (name.to_owned(), is_first))
}

/// Returns the one word that came into a command, before everything that it works on.
fn forgotten(before: &Command, after: &Command) -> Option<String> {
    let (old, new) = (words(before), words(after));
    let is_word = |word: &String| !word.starts_with('-');
    let at = new.iter().position(is_word)?;
    let is_it = before.program() == after.program()
        && !NO_SUBCOMMANDS.contains(&before.program())
        && new.len() == old.len() + 1
        && is_keyword(&new[at])
        && old.iter().any(is_word)
        && new[..at] == old[..at]
        && new[at + 1..] == old[at..];
    is_it.then(|| new[at].clone())
}

/// Says whether the whole of a command is the end of another one, as it is.
fn is_around(before: &Command, after: &Command) -> bool {
    let whole = |command: &Command| -> Vec<String> {
        let texts = command.words.iter().map(|word| word.text.as_str());
        texts.map(|text| text.strip_prefix("./").unwrap_or(text).to_owned()).collect()
    };
    let (before, after) = (whole(before), whole(after));
    !before.is_empty() && after.len() > before.len() && after.ends_with(&before)
}

/// Returns what ran the command before and does not now, where the error, in lower case, is about that, and whether it is not
/// there.
fn unwrapped(before: &Command, after: &Command, error: &str) -> Option<(String, bool)> {
    let first = |wrapper: &str| wrapper.split(' ').next().unwrap_or_default().to_owned();
    let gone = before.wrappers.iter().map(|wrapper| first(wrapper));
    let gone: Vec<String> =
        gone.filter(|name| !after.wrappers.iter().any(|wrapper| first(wrapper) == *name)).collect();
    let [wrapper] = &gone[..] else { return None };
    let is_not_there = failure::is_not_there(error, wrapper);
    let is_same = words(before) == words(after) && before.program() == after.program();
    let is_of_root = ["doas", "sudo"].contains(&wrapper.as_str())
        && ["root", "sudo", "superuser"].iter().any(|word| has_word(error, word));
    let is_it = is_plain(wrapper) && (is_not_there && is_around_same(before, after) || is_of_root && is_same);
    is_it.then(|| (wrapper.clone(), is_not_there))
}

/// Says whether the words of a command are the end of another one, whatever runs that.
fn is_around_same(before: &Command, after: &Command) -> bool {
    let texts =
        |command: &Command| -> Vec<String> { command.words.iter().map(|word| word.text.clone()).collect() };
    texts(after).ends_with(&texts(before))
}

/// Returns the flag behind which an empty word came.
fn emptied(old: &[String], new: &[String]) -> Option<String> {
    let at = new.iter().position(String::is_empty).filter(|at| *at > 0)?;
    let is_it = new.len() == old.len() + 1 && new[..at] == old[..at] && new[at + 1..] == old[at..];
    new.get(at - 1).filter(|flag| is_it && flag.starts_with('-') && is_plain(flag)).cloned()
}

/// Returns the one word behind a subcommand and its flags that came, where there was none.
fn given(before: &Command, after: &Command) -> Option<String> {
    let (old, new) = (words(before), words(after));
    let count = subcommand(before).len();
    let at = (0..new.len()).find(|at| old.get(*at) != new.get(*at)).filter(|at| *at >= count)?;
    let is_it = count > 0
        && new.len() == old.len() + 1
        && new[at + 1..] == old[at..]
        && old[count..].iter().all(|word| word.starts_with('-') && is_plain(word))
        && new[at].split('/').all(is_plain)
        && !new[at].starts_with('-');
    is_it.then(|| new[at].clone())
}

/// Returns the path of a program that was called by its name before, with the same words.
fn located(before: &Command, after: &Command) -> Option<String> {
    let (old, new) = (&before.words.first()?.text, &after.words.first()?.text);
    let is_it = before.program() == after.program()
        && !old.contains('/')
        && new.contains('/')
        && !new.starts_with(['/', '~', '$'])
        && words(before) == words(after);
    is_it.then(|| new.clone())
}

/// Says whether both forms work on the same things: beside flags they have the same words, those apart that may be the values of
/// flags which came or went.
fn is_same_work(change: &Change) -> bool {
    let (old, new) = (words(&change.before), words(&change.after));
    let all = |words: &[String], flags: &[String], has_values: bool| -> Vec<String> {
        let is_flag = |word: &String| word.len() > 1 && word.starts_with('-');
        let is_value = |at: usize| has_values && at > 0 && flags.contains(&words[at - 1]);
        let kept = words.iter().enumerate().filter(|(at, word)| !is_flag(word) && !is_value(*at));
        kept.map(|(_, word)| word.clone()).collect()
    };
    let ways = [(false, false), (false, true), (true, false), (true, true)];
    ways.into_iter()
        .any(|(of_old, of_new)| all(&old, &change.removed, of_old) == all(&new, &change.added, of_new))
}

/// Says whether a text has a word, and not only as a part of another. Both are in lower case.
pub fn has_word(text: &str, word: &str) -> bool {
    let is_inside = |character: char| character.is_ascii_alphanumeric() || character == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            !text[..at].chars().next_back().is_some_and(is_inside)
                && !text[at + word.len()..].chars().next().is_some_and(is_inside)
        })
}

/// Returns the command that a line is about: behind `cd` and what runs another.
pub fn of_line(line: &str) -> Option<Command> {
    own(line, &programs(line)).into_iter().next()
}

pub fn programs(script: &str) -> BTreeSet<String> {
    shell::commands(script).iter().map(|command| command.program().to_owned()).collect()
}

/// Returns the commands of a script that do its work: those that are written in it, without what only moves the shell.
pub fn own(script: &str, others: &BTreeSet<String>) -> Vec<Command> {
    let mut commands = shell::commands(script);
    commands.retain(|command| {
        matches!(command.origin, Origin::Direct | Origin::Wrapped)
            && !command.words.is_empty()
            && !BESIDE.contains(&command.program())
    });
    // What runs another command is there a second time as that command. One of both is meant: the inner one where the
    // script that it is compared with has it as well.
    let mut is_left: Vec<bool> = vec![false; commands.len()];
    for (at, pair) in commands.windows(2).enumerate() {
        let (outer, inner) = (&pair[0], &pair[1]);
        let is_around = inner.depth > outer.depth
            && inner.start >= outer.start
            && inner.wrappers.iter().any(|wrapper| wrapper.split(' ').next() == Some(outer.program()));
        // Where the inner one runs elsewhere, either may be meant.
        if is_around && !ELSEWHERE.contains(&outer.program()) {
            let is_inner = ALWAYS_AROUND.contains(&outer.program()) || others.contains(inner.program());
            is_left[if is_inner { at } else { at + 1 }] = true;
        }
    }
    let mut is_left = is_left.into_iter();
    commands.retain(|_| !is_left.next().unwrap_or_default());
    commands
}

/// Returns a command with what is around it: two of the same shape do not differ.
pub fn shape(command: &Command) -> String {
    let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    format!(
        "{} {:?} {:?} {} {}",
        words.join("\u{1f}"),
        command.assignments,
        command.wrappers,
        has_input(command),
        command.is_background
    )
}

pub fn words(command: &Command) -> Vec<String> {
    command.words.iter().skip(1).map(|word| word.text.clone()).collect()
}

/// Returns the names of a command's own flags, each once: not what is behind `--`.
fn flags(words: &[String]) -> Vec<String> {
    let mut flags: Vec<String> = Vec::new();
    for word in words.iter().take_while(|word| *word != "--") {
        let name = word.split('=').next().unwrap_or(word);
        if name.len() > 1
            && name.starts_with('-')
            && !is_number(name)
            && !flags.iter().any(|flag| flag == name)
        {
            flags.push(name.to_owned());
        }
    }
    flags
}

/// Says whether a program was asked how it is called.
fn is_question(words: &[String]) -> bool {
    words.iter().any(|word| matches!(word.as_str(), "--help" | "--version"))
        || matches!(words.first().map(String::as_str), Some("help" | "version"))
        || (words.len() <= 2 && words.last().is_some_and(|word| word == "-h"))
}

fn is_number(word: &str) -> bool {
    word.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Returns the words that say what a command does: `git remote add` of `git -C x remote add origin`.
pub fn subcommand(command: &Command) -> Vec<String> {
    if NO_SUBCOMMANDS.contains(&command.program()) {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for word in command.words.iter().skip(1) {
        if word.text.starts_with('-') && found.is_empty() {
            // The value of an option before the subcommand is none.
            return found;
        }
        if word.text.starts_with('-') || !(is_keyword(&word.text) || TWO_WORDS.contains(&word.text.as_str()))
        {
            break;
        }
        found.push(word.text.clone());
        // What follows `docker run` is an image.
        let is_image = word.text == "run" && ELSEWHERE.contains(&command.program());
        let is_group = TWO_WORDS.contains(&word.text.as_str()) || GROUPED.contains(&command.program());
        let has_second = found.len() == 1 && is_group && !is_image;
        if !has_second {
            break;
        }
    }
    found
}

/// Says whether a program runs whatever file it is given.
pub fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(&program)
}

/// Returns the file that an interpreter runs.
pub fn script(command: &Command) -> Option<String> {
    let word = &command.words.get(1).filter(|_| INTERPRETERS.contains(&command.program()))?.text;
    let is_file = !word.starts_with('-') && word.contains('.') && word.split('/').all(is_plain);
    is_file.then(|| word.clone())
}

/// Says whether a word may be a subcommand: no path, no number, no name of a file.
fn is_keyword(word: &str) -> bool {
    (2..=24).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b':')
        && word.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
}

/// Says whether a word means nothing else in a pattern.
pub fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte))
}

fn has_input(command: &Command) -> bool {
    command.place > 0
        || command.input.is_some()
        || command.redirects.iter().any(|redirect| redirect.operator.starts_with('<'))
}

/// Returns what is around the new form and not around the old one, as conditions of a lesson.
fn conditions(before: &Command, after: &Command) -> Vec<String> {
    let mut found = Vec::new();
    for wrapper in &after.wrappers {
        if !before.wrappers.contains(wrapper) && wrapper.split(' ').all(is_plain) && *wrapper != "env" {
            found.push(format!("@{wrapper}"));
        }
    }
    for (name, _) in &after.assignments {
        if !before.assignments.iter().any(|(other, _)| other == name) && is_plain(name) {
            found.push(format!("{name}="));
        }
    }
    if has_input(after) && !has_input(before) {
        found.push("<".to_owned());
    }
    found
}

pub fn pattern(base: &[String], flags: &[String], without: &[String]) -> Trigger {
    let words: Vec<&str> = base.iter().chain(flags).map(String::as_str).collect();
    Trigger { commands: vec![words.join(" ")], without: without.to_vec(), ..Trigger::default() }
}

/// Returns how many letters must be changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, wanted) in other.iter().enumerate() {
            let least =
                (diagonal + usize::from(letter != *wanted)).min(row[place] + 1).min(row[place + 1] + 1);
            diagonal = row[place + 1];
            row[place + 1] = least;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, error: &str, expected: &[&str]) {
        check_said(before, after, error, "", expected);
    }

    #[track_caller]
    fn check_said(before: &str, after: &str, error: &str, said: &str, expected: &[&str]) {
        let change = Change::between(before, after, error, said);
        let triggers = change.filter(|change| change.answers(error)).map(|change| change.triggers(error));
        let found: Vec<String> = triggers
            .unwrap_or_default()
            .iter()
            .map(|trigger| {
                let mut text = trigger.commands.join("; ");
                for (name, items) in [("without", &trigger.without), ("with", &trigger.with)] {
                    if !items.is_empty() {
                        text.push_str(&format!(" {name} {}", items.join(", ")));
                    }
                }
                text
            })
            .collect();
        assert_eq!(found, expected, "{before} -> {after}");
    }

    #[test]
    fn a_flag_that_is_gone_is_the_pattern() {
        let error = "error: unexpected argument '--jobs-max' found";
        check(
            "cargo build --jobs-max 4",
            "cargo build --jobs 4",
            error,
            &["cargo build --jobs-max", "cargo build --jobs-max without --jobs"],
        );
        check(
            "cd web && tsc --watchfiles",
            "cd web && tsc --watch",
            "error TS5023: Unknown compiler option '--watchfiles'.",
            &["tsc --watchfiles", "tsc --watchfiles without --watch"],
        );
    }

    #[test]
    fn what_came_is_a_condition() {
        check(
            "terraform apply",
            "terraform apply -auto-approve",
            "Error: error asking for approval: interactive",
            &["terraform apply without -auto-approve"],
        );
        check(
            "npx prisma migrate dev",
            "CI=1 npx prisma migrate dev",
            "non-interactive is not supported",
            &["prisma migrate without CI="],
        );
        check(
            "cargo test --nocapture",
            "cargo test -- --nocapture",
            "unexpected argument '--nocapture'",
            &["cargo test --nocapture", "cargo test --nocapture without --"],
        );
    }

    /// Checks the pattern and the expressions of the only trigger.
    #[track_caller]
    fn check_raw(before: &str, after: &str, error: &str, pattern: &str, fires: &str, leaves: &str) {
        let change = Change::between(before, after, error, "").filter(|change| change.answers(error));
        let triggers = change.map(|change| change.triggers(error)).unwrap_or_default();
        let [.., trigger] = &triggers[..] else { panic!("{before} -> {after}: none") };
        assert_eq!(trigger.commands.concat(), pattern, "{before} -> {after}");
        let lesson = lessons::Lesson { trigger: trigger.clone(), ..lessons::Lesson::default() };
        for (call, is_wrong) in [(before, true), (fires, true), (after, false), (leaves, false)] {
            let verdict = lessons_admin::rehearsal::judge(&lesson, call);
            let applies = matches!(verdict, Ok(lessons::trigger::Verdict::Applies { .. }));
            assert_eq!(applies, is_wrong, "{:?}: {call}", trigger.raw);
        }
    }

    #[test]
    fn the_place_of_a_program_and_what_it_is_given_are_in_the_line() {
        check_raw(
            "pip install httpx",
            "python3 -m venv .venv && .venv/bin/pip install httpx",
            "error: externally-managed-environment",
            "pip install",
            "cd api && pip install rich",
            ".venv/bin/pip install rich",
        );
        check_raw(
            "sed -i 's/a/b/' x.txt",
            "sed -i '' 's/a/b/' x.txt",
            "sed: 1: \"x.txt\": invalid command code x",
            "sed -i",
            "sed -i s/a/b/ y",
            "sed -i.bak s/a/b/ y",
        );
        check_raw(
            "timeout 5 ./serve",
            "gtimeout 5 ./serve",
            "zsh: command not found: timeout",
            "",
            "timeout 9 make",
            "gtimeout 9 make",
        );
        check_raw(
            "dotnet test",
            "dotnet test Shop.sln",
            "MSB1011: Specify which project or solution file to use",
            "dotnet test",
            "dotnet test --no-build | tail",
            "dotnet test Api.sln",
        );
        check_raw(
            "docker compose up -d",
            "docker compose --env-file .env.dev up -d",
            "invalid argument: env-file is missing",
            "docker compose up",
            "docker compose up web",
            "docker compose --env-file x up",
        );
        check_raw(
            "git log -p src/cart.ts",
            "git --no-pager log -p src/cart.ts",
            "Command timed out after 2m",
            "git log",
            "git log src/tax.ts",
            "git --no-pager log",
        );
        check(
            "rspec spec/models",
            "docker compose exec web rspec spec/models",
            "bash: rspec: command not found",
            &["rspec without @docker compose exec"],
        );
    }

    #[test]
    fn a_flag_and_its_value_that_the_error_names_are_what_was_missing() {
        check(
            "cargo test cart",
            "cargo test --features sqlite cart",
            "error[E0433]: cannot find `sql`\n note: gated behind the `sqlite` feature",
            &["cargo test without --features"],
        );
        check("cargo test cart", "cargo test --features sqlite cart", "error[E0433]: cannot find `sql`", &[]);
        check(
            "git checkout master",
            "git checkout develop",
            "error: pathspec 'master' did not match any file(s) known to git",
            &["git checkout ... master"],
        );
        check(
            "git checkout cart",
            "git checkout basket",
            "error: pathspec 'cart' did not match any file(s) known to git",
            &[],
        );
    }

    #[test]
    fn another_task_of_a_project_is_what_was_meant_where_it_is_for_the_same_work() {
        for (before, after, error, is_it) in [
            ("make test", "make check", "make: *** No rule to make target 'test'.", true),
            ("npm run spec", "npm run test:browser", "npm error Missing script: \"spec\"", true),
            ("just fmt", "just test", "error: justfile does not contain recipe `fmt`: not found", false),
            ("npm run lint", "npm run build", "npm error Missing script: \"lint\"", false),
            ("git brunch", "git checkout", "git: 'brunch' not found", false),
            ("docker compose exec web ls a", "docker compose run web ls a", "\"web\" is not running", true),
            ("docker compose stop web db a", "docker compose kill web db a", "no answer", false),
        ] {
            let change = Change::between(before, after, error, "").unwrap();
            assert_eq!(change.is_all_that_changed(error), is_it, "{before} -> {after}");
        }
    }

    #[test]
    fn a_program_or_subcommand_may_be_replaced() {
        check(
            "docker-compose up -d",
            "docker compose up -d",
            "bash: docker-compose: command not found",
            &["docker-compose", "docker-compose up"],
        );
        check(
            "ruff --fix src",
            "ruff check --fix src",
            "error: unexpected argument '--fix' found\n  tip: `ruff check` has this option",
            &["ruff without check", "ruff --fix without check"],
        );
        // It was only asked how it is called.
        check("psql shop --csv-output", "psql --help", "psql: unrecognized option '--csv-output'", &[]);
        check("kubectl log web", "kubectl logs web", "unknown command \"log\"", &[]);
        check(
            "rustup toolchain-add nightly",
            "rustup toolchain install nightly",
            "error: no such command: `toolchain-add`",
            &["rustup toolchain-add"],
        );
    }

    #[test]
    fn a_value_that_the_command_refuses_by_its_name_is_the_pattern() {
        check(
            "gh pr list --state opened",
            "gh pr list --state open",
            "invalid argument \"opened\" for \"--state\" flag: valid values are {open|closed|merged|all}",
            &["gh pr list --state=opened"],
        );
        check(
            "kubectl get pods --output table",
            "kubectl get pods --output wide",
            "error: unable to match a printer: \"table\" is invalid, allowed formats are: json,wide,yaml",
            &["kubectl get --output=table"],
        );
        check(
            "redis-cli -p 6379 ping",
            "redis-cli -p 6380 ping",
            "Could not connect to Redis at 127.0.0.1:6379: Connection refused",
            &["redis-cli -p=6379"],
        );
        check(
            "RUSTFLAGS=--deny-warnings cargo build",
            "RUSTFLAGS=-Dwarnings cargo build",
            "error: Unrecognized option: '--deny-warnings'",
            &["cargo build with RUSTFLAGS=--deny-warnings*"],
        );
        check(
            "curl -s http://localhost:8080/health",
            "curl -s http://localhost:9090/health",
            "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Connection refused",
            &["curl ... http://localhost:8080*"],
        );
        // Another branch, another port that is free: another call.
        check(
            "git switch -c cart",
            "git switch -c cart2",
            "fatal: a branch named 'cart' already exists",
            &[],
        );
        check("serve -p 3000 dist", "serve -p 3001 dist", "EADDRINUSE: address already in use :::3000", &[]);
    }

    #[test]
    fn what_the_error_misses_is_a_condition() {
        check(
            "python manage.py migrate",
            "DATABASE_URL=postgres://localhost/shop python manage.py migrate",
            "KeyError: 'DATABASE_URL'",
            &["python manage.py without DATABASE_URL="],
        );
        check(
            "cargo test",
            "cargo test --manifest-path engine/Cargo.toml",
            "error: could not find `Cargo.toml` in `/home/ada/shop` or any parent directory",
            &["cargo test without --manifest-path"],
        );
        check(
            "apt-get install graphviz",
            "apt-get install -y graphviz",
            "Do you want to continue? [Y/n] Abort.",
            &["apt-get install without -y"],
        );
        check(
            "rspec spec/cart_spec.rb",
            "bundle exec rspec spec/cart_spec.rb",
            "Prepending `bundle exec` to your command may solve this. (Gem::LoadError)",
            &["rspec without @bundle exec"],
        );
        check_said(
            "aws s3 ls",
            "AWS_PROFILE=dev aws s3 ls",
            "Unable to locate credentials.",
            "AWS_PROFILE must be dev here.",
            &["aws s3 ls without AWS_PROFILE="],
        );
        check_said(
            "uvicorn app:app",
            "uvicorn app:app --app-dir src",
            "Could not import module \"app\".",
            "app.py is in src, so it needs --app-dir.",
            &["uvicorn without --app-dir"],
        );
        check(
            "docker run -it alpine cat x",
            "docker run alpine cat x",
            "the input device is not a TTY",
            &["docker run -it"],
        );
        check("docker pull node", "docker pull --quiet node", "net/http: TLS handshake timeout", &[]);
    }

    #[test]
    fn the_right_name_of_the_same_thing_is_a_lesson() {
        check(
            "pip install yaml",
            "pip install pyyaml",
            "ERROR: No matching distribution found for yaml",
            &["pip install ... yaml"],
        );
        check(
            "systemctl restart mysql-server",
            "systemctl restart mysql",
            "Failed to restart mysql-server.service: Unit mysql-server.service not found.",
            &["systemctl restart ... mysql-server"],
        );
        check(
            "npm run tests",
            "npm run unit-tests",
            "npm error Missing script: \"tests\"",
            &["npm run tests"],
        );
        for (before, after, error) in [
            ("pip install reqests", "pip install requests", "No matching distribution found for reqests"),
            (
                "git checkout cart",
                "git checkout cart-totals",
                "error: pathspec 'cart' did not match any file(s)",
            ),
            ("cat cart", "cat cart-totals", "cat: cart: No such file or directory"),
            ("docker logs web", "docker logs cache", "Error: No such container: web"),
        ] {
            check(before, after, error, &[]);
        }
    }

    #[test]
    fn what_was_forgotten_misplaced_or_meant_for_another_program_is_a_lesson() {
        check(
            "npx vitest src/cart",
            "npx vitest run src/cart",
            "Command timed out after 2m 0.0s",
            &["vitest without run"],
        );
        check(
            "pnpm test --filter web",
            "pnpm --filter web test",
            "Missing script: test",
            &["pnpm test --filter"],
        );
        check(
            "docker -d compose up",
            "docker compose up -d",
            "unknown shorthand flag: 'd' in -d",
            &["docker -d"],
        );
        check(
            "npm run typecheck",
            "cd web && npm run typecheck",
            "Missing script: \"typecheck\"",
            &["npm run typecheck"],
        );
        check(
            "curl -s http://x/a?b=1",
            "curl -s 'http://x/a?b=1'",
            "no matches found: http://x/a?b=1",
            &["curl"],
        );
        // A test that fails in both, and what was only looked at.
        check("npm test", "cd web && npm test", "1 failing", &[]);
        check("cat a.txt", "cd web && cat a.txt", "cat: a.txt: No such file or directory", &[]);
        for (before, after, error) in [
            ("npm install zod", "pnpm add zod", "npm error Unsupported URL Type \"workspace:\": workspace:*"),
            ("php artisan migrate", "./vendor/bin/sail artisan migrate", "getaddrinfo for mysql failed"),
            ("pip install -r requirements.txt", "uv pip install -r requirements.txt", "No module named pip"),
        ] {
            assert!(is_all(before, after, error), "{before} -> {after}");
        }
        let judged = "FAIL src/cart.test.ts";
        assert!(Change::between("npm test", "pnpm test", judged, "").is_none());
    }

    #[test]
    fn what_never_ends_belongs_into_the_background() {
        let error = "Command timed out after 2m 0.0s\n VITE ready";
        check("npm run dev", "npm run dev > dev.log 2>&1 &", error, &["npm run dev without &"]);
        check("npm run dev", "npm run dev &", "Error: no such file", &[]);
    }

    #[track_caller]
    fn is_all(before: &str, after: &str, error: &str) -> bool {
        let change = Change::between(before, after, error, "");
        let change = change.unwrap_or_else(|| panic!("{before} -> {after}"));
        change.is_all_that_changed(error) && !change.is_no_correction(error)
    }

    #[test]
    fn what_alone_was_changed_is_what_helped() {
        for (before, after, error) in [
            (
                "kubectl logs web",
                "kubectl logs web -c app",
                "error: a container name must be specified for pod web",
            ),
            (
                "git cherry-pick abc",
                "git cherry-pick -m 1 abc",
                "error: commit abc is a merge but no -m option was given.",
            ),
            (
                "npm run build",
                "NODE_OPTIONS=--max-old-space-size=8192 npm run build",
                "JavaScript heap out of memory",
            ),
            ("aws s3 ls", "aws s3 ls --profile shop", "An error occurred (AccessDenied)"),
            ("go vet ./...", "dotenv go vet ./...", "panic: DATABASE_URL is empty"),
        ] {
            assert!(is_all(before, after, error), "{before} -> {after}");
        }
        for (before, after, error) in [
            // It did something else, on something else, or was only shown in another way.
            ("pytest tests", "pytest tests -k cart", "1 failed, FAILED tests/test_a.py"),
            ("cargo build", "cargo build --lib", "error[E0412]: cannot find type"),
            ("make all", "make all --silent", "make: *** [all] Error 1"),
            ("git merge topic", "git merge -X theirs topic", "CONFLICT (content): Merge conflict in a"),
            ("grep cart src", "grep -i cart src", "Exit code 1"),
        ] {
            assert!(!is_all(before, after, error), "{before} -> {after}");
        }
    }

    #[test]
    fn what_puts_a_check_aside_or_repairs_what_was_found_corrects_nothing() {
        for (before, after, error) in [
            (
                "git worktree remove wt",
                "git worktree remove --force wt",
                "fatal: 'wt' contains modified or untracked files, use --force to delete it",
            ),
            (
                "git branch -d topic",
                "git branch -D topic",
                "error: the branch 'topic' is not fully merged. If you are sure you want to delete it, run 'git branch -D topic'",
            ),
            (
                "npx eslint src",
                "npx eslint src --fix",
                "2 errors potentially fixable with the `--fix` option.",
            ),
            (
                "npx prettier --check .",
                "npx prettier --write .",
                "Code style issues found. Run Prettier with --write to fix.",
            ),
            (
                "npx jest src",
                "npx jest src -u",
                "1 snapshot failed. Inspect your code changes or run with `-u` to update them.",
            ),
            (
                "curl https://x",
                "curl -k https://x",
                "curl: (60) SSL certificate problem: self-signed certificate",
            ),
        ] {
            let change = Change::between(before, after, error, "").unwrap();
            assert!(change.is_no_correction(error), "{before} -> {after}");
        }
        let error = "error: unexpected argument '--fix' found";
        let change = Change::between("ruff format --fix src", "ruff format src", error, "").unwrap();
        assert!(!change.is_no_correction(error));
    }

    #[test]
    fn another_program_is_a_lesson_where_the_user_names_it_as_the_right_one() {
        let (before, after) = ("npx jest src/cart.test.ts", "npx vitest run src/cart.test.ts");
        let error = "SyntaxError: Cannot use import statement outside a module";
        check(before, after, error, &[]);
        check_said(before, after, error, "This project uses vitest, not jest.", &["jest", "jest"]);
    }

    #[test]
    fn what_a_command_works_on_is_no_lesson() {
        for (before, after, error) in [
            ("cat src/man.rs", "cat src/main.rs", "cat: src/man.rs: No such file or directory"),
            ("cargo test a", "cargo test b", "test a ... FAILED"),
            ("cargo test -p a", "cargo test -p b", "error: package `a` not found"),
            ("make", "make", "error"),
            ("npm test", "npm test --silent", "1 failing"),
            ("ls a && cat b", "pwd", "no such file"),
        ] {
            check(before, after, error, &[]);
        }
    }
}
