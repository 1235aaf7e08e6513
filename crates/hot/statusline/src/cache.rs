//! `cache/status.json`: what the status line shows and would take too long to find out. It holds numbers and the names that the
//! user gave; its reader takes it for absent when anything about it is wrong.

use base::paths::name_of;
use base::{Paths, files};
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

/// How long what is known of a project is fresh, in milliseconds.
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
    /// The task in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
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

    /// Writes the cache. The caller holds [`Paths::status_lock`] from before it was read.
    pub fn write(&self, paths: &Paths) -> io::Result<()> {
        let status = Self { v: VERSION, ..self.clone() };
        files::write_atomic(&paths.status_cache(), &serde_json::to_vec(&status)?)
    }
}
