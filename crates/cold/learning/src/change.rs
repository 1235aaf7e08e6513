//! How a command was changed until it worked, and the patterns that fit the old form and not the new one.

use crate::failure::{self, Cause};
use lessons::Trigger;
use shell::{Command, Origin};

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
/// Programs whose first word is a file or a text, never a subcommand.
const NO_SUBCOMMANDS: [&str; 40] = [
    "awk", "bash", "cat", "cd", "chmod", "chown", "cp", "curl", "diff", "du", "echo", "env", "find", "grep",
    "gzip", "head", "jq", "kill", "ln", "ls", "mkdir", "mv", "node", "perl", "ps", "pytest", "python",
    "python3", "rg", "rm", "rsync", "ruby", "scp", "sed", "sh", "sort", "ssh", "tail", "tar", "xargs",
];
/// Programs that only move the shell, or say something: what follows them is meant.
const BESIDE: [&str; 10] =
    ["cd", "echo", "export", "set", "source", "true", "false", "sleep", "pwd", "printf"];
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
}

impl Change {
    /// Compares a script that failed with one that succeeded. `None` where they have no command in common that was changed, or
    /// several, or where only what the command works on was changed.
    pub fn between(before: &str, after: &str, error: &str) -> Option<Self> {
        let (old, new) = (own(before), own(after));
        if old.len().max(new.len()) > MAX_COMMANDS {
            return None;
        }
        let texts = |commands: &[Command]| commands.iter().map(shape).collect::<Vec<_>>();
        let (old_texts, new_texts) = (texts(&old), texts(&new));
        let gone: Vec<&Command> = old.iter().filter(|command| !new_texts.contains(&shape(command))).collect();
        let came: Vec<&Command> = new.iter().filter(|command| !old_texts.contains(&shape(command))).collect();
        let error = error.to_lowercase();
        let mut pairs = Vec::new();
        for before in &gone {
            for after in &came {
                pairs.extend(Self::of(before, after, &error));
            }
        }
        if pairs.len() > 1 {
            pairs.retain(|pair| error.contains(&pair.before.program().to_lowercase()));
        }
        // Of several it cannot be said which one was the mistake.
        if pairs.len() == 1 { pairs.pop() } else { None }
    }

    fn of(before: &Command, after: &Command, error: &str) -> Option<Self> {
        let mut change = Self {
            before: before.clone(),
            after: after.clone(),
            removed: Vec::new(),
            added: Vec::new(),
            conditions: Vec::new(),
            subcommand: None,
            program: None,
            is_separated: false,
        };
        let (old, new) = (before.program(), after.program());
        let (old_words, new_words) = (words(before), words(after));
        if old != new {
            // Another program for the same work: only where the first one is not there, or says so itself.
            let is_missing = error.contains("not found")
                || error.contains("not recognized")
                || error.contains(&new.to_lowercase());
            // `docker-compose up` and `docker compose up`.
            let joined = new_words.first().map(|word| format!("{new}-{word}"));
            let is_same_work = !old_words.is_empty() && old_words.iter().all(|word| new_words.contains(word))
                || joined.as_deref() == Some(old)
                || new.starts_with(old);
            if !is_missing || !is_same_work || !is_plain(old) {
                return None;
            }
            let new = joined.filter(|joined| joined == old).map_or(new.to_owned(), |_| {
                format!("{new} {}", new_words.first().map(String::as_str).unwrap_or_default())
            });
            change.program = Some((old.to_owned(), new));
            return Some(change);
        }
        let (old_flags, new_flags) = (flags(&old_words), flags(&new_words));
        change.removed = old_flags.iter().filter(|flag| !new_flags.contains(flag)).cloned().collect();
        change.added = new_flags.iter().filter(|flag| !old_flags.contains(flag)).cloned().collect();
        change.is_separated =
            new_words.iter().any(|word| word == "--") && !old_words.iter().any(|word| word == "--");
        change.conditions = conditions(before, after);
        let (old_sub, new_sub) = (subcommand(before), subcommand(after));
        if old_sub != new_sub && !old_sub.is_empty() && !new_sub.is_empty() {
            let (old_sub, new_sub) = (old_sub.join(" "), new_sub.join(" "));
            // A slip of the fingers is no lesson.
            if distance(&old_sub, &new_sub) <= 2 {
                return None;
            }
            change.subcommand = Some((old_sub, new_sub));
        }
        let is_changed = !change.removed.is_empty()
            || !change.added.is_empty()
            || !change.conditions.is_empty()
            || change.subcommand.is_some()
            || change.is_separated;
        is_changed.then_some(change)
    }

    /// Says whether the change answers the error: the error is about the call, or names what was changed.
    pub fn answers(&self, error: &str) -> bool {
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
            Cause::Surroundings => {
                is_named || !self.added.is_empty() || !self.conditions.is_empty() || self.program.is_some()
            }
            Cause::Matter => is_named,
        }
    }

    /// Returns triggers that fit the old form and may not fit the new one, the broadest first.
    pub fn triggers(&self, error: &str) -> Vec<Trigger> {
        if let Some((old, _)) = &self.program {
            let mut base = vec![old.clone()];
            base.extend(subcommand(&self.before));
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
        let mut base = vec![program];
        base.extend(subcommand(&self.before));
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
            if !behind.is_empty() {
                triggers.push(pattern(&base, &behind, &["--".to_owned()]));
            }
        }
        if removed.is_empty() && !without.is_empty() {
            triggers.push(pattern(&base, &[], &without));
            for count in 1..=shared.len().min(MAX_FLAGS) {
                triggers.push(pattern(&base, &shared[..count], &without));
            }
        }
        triggers
    }
}

/// Returns the commands of a script that do its work: those that are written in it, without what only moves the shell.
fn own(script: &str) -> Vec<Command> {
    let mut commands = shell::commands(script);
    commands.retain(|command| {
        matches!(command.origin, Origin::Direct | Origin::Wrapped)
            && !command.words.is_empty()
            && !BESIDE.contains(&command.program())
    });
    // What runs another command is there a second time as that command.
    let starts: Vec<(usize, usize)> = commands.iter().map(|command| (command.start, command.depth)).collect();
    let mut at = 0;
    commands.retain(|command| {
        at += 1;
        let is_around =
            starts.get(at).is_some_and(|(start, depth)| *depth > command.depth && *start >= command.start);
        !(is_around && matches!(command.program(), "sudo" | "xargs" | "npx" | "doas"))
    });
    commands
}

/// Returns a command with what is around it: two of the same shape do not differ.
fn shape(command: &Command) -> String {
    let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    format!(
        "{} {:?} {:?} {}",
        words.join("\u{1f}"),
        command.assignments,
        command.wrappers,
        has_input(command)
    )
}

fn words(command: &Command) -> Vec<String> {
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
        if word.text.starts_with('-') || !is_keyword(&word.text) {
            break;
        }
        found.push(word.text.clone());
        let has_second = found.len() == 1 && TWO_WORDS.contains(&word.text.as_str());
        if !has_second {
            break;
        }
    }
    found
}

/// Says whether a word may be a subcommand: no path, no number, no name of a file.
fn is_keyword(word: &str) -> bool {
    (2..=24).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b':')
        && word.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
}

/// Says whether a word means nothing else in a pattern.
fn is_plain(word: &str) -> bool {
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
        if !before.wrappers.contains(wrapper) && is_plain(wrapper) && *wrapper != "env" {
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

fn pattern(base: &[String], flags: &[String], without: &[String]) -> Trigger {
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
        let change = Change::between(before, after, error);
        let triggers = change.filter(|change| change.answers(error)).map(|change| change.triggers(error));
        let found: Vec<String> = triggers
            .unwrap_or_default()
            .iter()
            .map(|trigger| match &trigger.without[..] {
                [] => trigger.commands.join("; "),
                without => format!("{} without {}", trigger.commands.join("; "), without.join(", ")),
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

    #[test]
    fn a_program_or_subcommand_may_be_replaced() {
        check(
            "docker-compose up -d",
            "docker compose up -d",
            "bash: docker-compose: command not found",
            &["docker-compose", "docker-compose up"],
        );
        check("kubectl log web", "kubectl logs web", "unknown command \"log\"", &[]);
        check(
            "rustup toolchain-add nightly",
            "rustup toolchain install nightly",
            "error: no such command: `toolchain-add`",
            &["rustup toolchain-add"],
        );
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
