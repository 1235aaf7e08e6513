//! `cache/status.json`: what the status line shows and would take too long to find out. It holds numbers, names that the user
//! gave, and the task in progress of each session, for which `wyren forget` removes it. Its reader takes it for absent when
//! anything about it is wrong.

use base::paths::name_of;
use base::{Paths, digest, files};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The version that this code reads and writes.
const VERSION: u32 = 1;

/// The most that is read of the file, in bytes.
const CAP: usize = 256 * 1024;

/// How many projects are kept: those that were shown last.
const MOST_PROJECTS: usize = 32;

/// How many sessions are kept: those whose task was looked for last. And for how long after that, in milliseconds.
const MOST_TASKS: usize = 32;
const TASK_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// How long what is known of a project or a session is fresh, in milliseconds.
pub const FRESH_MILLIS: u64 = 10_000;

/// All of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    v: u32,
    /// The day (UTC) that `spent_micros` is about, such as `2026-11-16`.
    pub day: String,
    /// What Wyren's model calls cost that day, in millionths of a dollar.
    pub spent_micros: u64,
    /// By the name of their root folder ([`name_of`]).
    pub projects: BTreeMap<String, Project>,
    /// By the digest of the session's id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tasks: BTreeMap<String, Task>,
}

/// The task in progress of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Task {
    /// When it was looked for, in milliseconds since 1970.
    at: u64,
    /// Absent where none is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
}

/// What is known of one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Project {
    /// When that was found out, in milliseconds since 1970.
    pub at: u64,
    /// The branch that `ahead`, `behind` and `dirty` are about.
    pub branch: Option<String>,
    /// Commits that the branch's upstream does not have.
    pub ahead: u64,
    /// Commits of the upstream that the branch does not have.
    pub behind: u64,
    /// Files that differ from the last commit, or are not in it.
    pub dirty: u64,
    /// Entries of teammates since yesterday; absent without a team memory.
    pub news: Option<u64>,
    /// Lessons that were shown today.
    pub lessons: u64,
    /// The name of the work context that is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

impl Status {
    /// Reads the cache; an empty one when there is none of this version.
    pub fn read(paths: &Paths) -> Self {
        let bytes = files::read_capped(&paths.status_cache(), CAP).ok();
        let status: Option<Self> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        status.filter(|status| status.v == VERSION).unwrap_or_default()
    }

    /// Returns what is known of the project with a root folder.
    pub fn project(&self, root: &Path) -> Option<&Project> {
        self.projects.get(&name_of(root))
    }

    /// Keeps what is known of a project, and lets go of those that were not shown for longest.
    pub fn set_project(&mut self, root: &Path, project: Project) {
        self.projects.insert(name_of(root), project);
        while self.projects.len() > MOST_PROJECTS {
            let oldest =
                self.projects.iter().min_by_key(|(_, project)| project.at).map(|(name, _)| name.clone());
            oldest.and_then(|name| self.projects.remove(&name));
        }
    }

    /// Returns the task in progress of a session.
    pub fn task(&self, session: &str) -> Option<&str> {
        self.task_of(session)?.subject.as_deref()
    }

    /// Returns when the task in progress of a session was looked for, in milliseconds since 1970.
    pub fn task_at(&self, session: &str) -> Option<u64> {
        self.task_of(session).map(|task| task.at)
    }

    fn task_of(&self, session: &str) -> Option<&Task> {
        self.tasks.get(&digest::short_hex(session.as_bytes()))
    }

    /// Keeps the task in progress of a session, `None` for none, and lets go of those that are old.
    pub fn set_task(&mut self, session: &str, subject: Option<String>, now: u64) {
        self.tasks.retain(|_, task| now.abs_diff(task.at) < TASK_MILLIS);
        let name = digest::short_hex(session.as_bytes());
        self.tasks.insert(name, Task { at: now, subject });
        while self.tasks.len() > MOST_TASKS {
            let oldest = self.tasks.iter().min_by_key(|(_, task)| task.at).map(|(name, _)| name.clone());
            oldest.and_then(|name| self.tasks.remove(&name));
        }
    }

    /// Writes the cache. The caller holds [`Paths::status_lock`] from before it was read.
    pub fn write(&self, paths: &Paths) -> io::Result<()> {
        let status = Self { v: VERSION, ..self.clone() };
        files::write_atomic(&paths.status_cache(), &serde_json::to_vec(&status)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_its_own_task_for_a_day() {
        let mut status = Status::default();
        status.set_task("a", Some("Draw".to_owned()), 1_000);
        status.set_task("b", Some("Test".to_owned()), 2_000);
        assert_eq!(
            (status.task("a"), status.task("b"), status.task("c")),
            (Some("Draw"), Some("Test"), None)
        );
        status.set_task("a", None, 3_000);
        assert_eq!((status.task("a"), status.task("b")), (None, Some("Test")));
        let looked_for = ["a", "b", "c"].map(|session| status.task_at(session));
        assert_eq!(looked_for, [Some(3_000), Some(2_000), None]);
        status.set_task("c", None, 2_000 + TASK_MILLIS);
        assert_eq!(status.task("b"), None);
        for number in 0..=MOST_TASKS {
            status.set_task(&number.to_string(), Some("Draw".to_owned()), 3_000 + number as u64);
        }
        assert_eq!((status.tasks.len(), status.task("0")), (MOST_TASKS, None));
    }
}
