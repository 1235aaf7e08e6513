//! A handoff in the words of the session that goes on from it: what not to try again and what is open first, and verbatim.

use crate::folder::{capital, others, task_line};
use crate::{Kept, Name};
use base::Timestamp;
use team_sync::Since;
use work::contexts::{Git, STALE_DAYS};

const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1_000;
/// The most files that are listed.
const MOST_FILES: usize = 60;
/// How much of a commit's name is shown, in characters.
const SHORT: usize = 10;

const TASKS: &str = "The tasks that were open. Add each to the task list that is not there yet (TaskCreate or TodoWrite), in this order, with the \
     metadata {\"persistent_id\": \"<its id>\", \"skip_persistence\": true} where it has an id:";

/// What the next session reads.
#[derive(Clone, Copy, Debug)]
pub struct Resume<'a> {
    pub kept: &'a Kept,
    /// What happened in the repository since, and what it is like now; `None` where that is not known.
    pub since: Option<&'a (Since, Git)>,
    pub now: Timestamp,
}

impl Resume<'_> {
    /// Returns how many days old it is.
    pub fn days(&self) -> u64 {
        self.now.millis_since(self.kept.at) / MILLIS_PER_DAY
    }

    /// Says whether much may have changed since.
    pub fn is_stale(&self) -> bool {
        self.now.millis_since(self.kept.at) > STALE_DAYS * MILLIS_PER_DAY
    }

    /// Returns the text for a session that goes on from it.
    pub fn text(&self) -> String {
        self.whole(TASKS)
    }

    /// Returns the text for a session that asks what was left: it says of no task what to do with it.
    pub fn to_read(&self) -> String {
        self.whole("")
    }

    fn whole(&self, instruction: &str) -> String {
        let Kept { handoff, .. } = self.kept;
        let mut text =
            format!("# Handoff {}: {}\n\nSaved {}.\n", self.kept.name(), handoff.title, self.kept.at);
        if self.is_stale() {
            let days = self.days();
            text.push_str(&format!(
                "\nSTALE: this handoff is {days} days old. Check what it says against the code before you rely on it.\n"
            ));
        }
        let (first, rest) = (self.first(instruction), self.rest());
        format!("{text}{first}{}{rest}", self.repository())
    }

    /// Returns the sections and tasks alone, in the same order.
    pub fn sections(&self) -> String {
        format!("{}{}", self.first(""), self.rest())
    }

    /// Returns what must not be tried again, and what is open.
    fn first(&self, instruction: &str) -> String {
        let mut text = self.section(Name::DeadEnds, "None were noted.");
        text.push_str(&self.section(Name::Pending, "Nothing was noted."));
        let tasks: String = self.kept.handoff.tasks.iter().map(task_line).collect();
        if !tasks.is_empty() {
            let blank = if instruction.is_empty() { "" } else { "\n\n" };
            text.push_str(&format!("\n## Open tasks\n\n{instruction}{blank}{tasks}"));
        }
        text
    }

    fn rest(&self) -> String {
        let mut text = String::new();
        for name in [Name::Summary, Name::Decisions, Name::Plan, Name::CompletedWork, Name::Context] {
            if !self.kept.text(name).is_empty() {
                text.push_str(&self.section(name, ""));
            }
        }
        for (name, other) in others(self.kept) {
            text.push_str(&format!("\n## {}\n\n{other}\n", capital(name)));
        }
        text
    }

    fn section(&self, name: Name, nothing: &str) -> String {
        let text = Some(self.kept.text(name)).filter(|text| !text.is_empty()).unwrap_or(nothing);
        format!("\n## {}\n\n{text}\n", capital(name.label()))
    }

    /// Returns what happened in the repository since the handoff was saved.
    fn repository(&self) -> String {
        let mut text = "\n## The repository since then\n\n".to_owned();
        let Some(then) = &self.kept.handoff.tree else { return String::new() };
        let Some((since, now)) = self.since else {
            return text + "Not known: this folder is in no repository, or git does not answer.\n";
        };
        let branch = |git: &Git| git.branch.clone().unwrap_or_else(|| "no branch".to_owned());
        match (branch(then), branch(now)) {
            (then, now) if then == now => text.push_str(&format!("Branch: {now}\n")),
            (then, now) => text.push_str(&format!("Branch: {then} then, {now} now\n")),
        }
        let short = |commit: &Option<String>| match commit {
            Some(commit) => commit.chars().take(SHORT).collect(),
            None => "none".to_owned(),
        };
        if then.commit.is_none() {
            text.push_str(&format!("Commit: none then, {} now.\n", short(&now.commit)));
            return text;
        }
        if !since.is_known {
            text.push_str(&format!(
                "Commit: {} then, {} now. This repository does not have the first one, so they cannot be compared.\n",
                short(&then.commit),
                short(&now.commit)
            ));
            return text;
        }
        match since.count {
            0 => text.push_str(&format!("No commits since {}.\n", short(&then.commit))),
            count => {
                let noun = if count == 1 { "commit" } else { "commits" };
                text.push_str(&format!("{count} {noun} since {}:\n", short(&then.commit)));
                for (name, subject) in &since.commits {
                    text.push_str(&format!("- {name} {subject}\n"));
                }
                if count > since.commits.len() {
                    text.push_str(&format!("- {} more\n", count - since.commits.len()));
                }
            }
        }
        let files = self.files(since, now, then);
        if files.is_empty() {
            text.push_str("No file differs from that commit.\n");
            return text;
        }
        text.push_str("Files that differ from that commit:\n");
        for line in files.iter().take(MOST_FILES) {
            text.push_str(line);
        }
        if files.len() > MOST_FILES {
            text.push_str(&format!("- {} more\n", files.len() - MOST_FILES));
        }
        text
    }

    fn files(&self, since: &Since, now: &Git, then: &Git) -> Vec<String> {
        let new = now.changed.iter().filter(|path| !since.files.iter().any(|(_, known)| known == *path));
        let new = new.map(|path| ('?', path));
        let all = since.files.iter().map(|(status, path)| (*status, path)).chain(new);
        let line = |(status, path): (char, &String)| {
            let what = match status {
                'A' => "added",
                'D' => "deleted",
                '?' => "not in git",
                _ => "changed",
            };
            let open = if now.changed.contains(path) && status != '?' { ", not committed" } else { "" };
            // Whether its contents are the same is not known.
            let was_open = then.changed.contains(path);
            let before = if was_open { ", had changes when the handoff was saved" } else { "" };
            format!("- {path} ({what}{open}{before})\n")
        };
        all.map(line).collect()
    }
}
