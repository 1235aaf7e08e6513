//! Moving from an earlier system to Wyren: finds it, imports what it holds, and switches its hooks off. All of it can be undone.
//!
//! [`SYSTEMS`] has one row per system; [`found`] looks for them, [`Plan::of`] says what would be done, [`act`] does it and
//! [`undo`] takes it back. Every step is in the [`Journal`] before it is taken, so that a run that was killed loses nothing.
//! No file of an earlier system is changed or deleted: its hooks are in the client's files.

mod act;
mod command;
mod find;
mod importers;
mod journal;
mod plan;
mod systems;
mod undo;

pub use act::{Done, Report, act};
pub use find::{Found, Hooks, Plugin, found, is_of_node, node_programs};
pub use importers::{Importer, Look};
pub use journal::{Journal, Step};
pub use plan::{Choice, Edit, Import, Link, Part, Plan};
pub use systems::{Record, SYSTEMS, System, named};
pub use undo::{Undone, undo};

use base::{Env, Paths};
use install::settings::file;
use std::io;
use std::path::{Path, PathBuf};

/// Whose machine it is, and where they are.
#[derive(Clone, Debug)]
pub struct Around {
    /// The environment.
    pub env: Env,
    /// Wyren's folders.
    pub paths: Paths,
    /// The folder that a session here takes its project's settings from.
    pub project: PathBuf,
}

impl Around {
    fn home(&self) -> Option<PathBuf> {
        base::system::home(&self.env)
    }

    /// Returns the client's folder of the user.
    fn client(&self) -> PathBuf {
        self.paths.client().unwrap_or_default()
    }

    /// Returns the folder that a variable names.
    fn folder_in(&self, variable: &str) -> Option<PathBuf> {
        self.env.get(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
    }

    /// Returns the settings files that a session here reads, the one with the last word at the end.
    fn settings(&self) -> Vec<Settings> {
        let project = self.project.join(".claude");
        let mut files = vec![Settings { path: self.client().join("settings.json"), is_shared: false }];
        // The Node version installs into a folder of the user's choice.
        let chosen = self.folder_in("WYREN_HOME").or_else(|| self.folder_in("CLAUDE_HOME"));
        files.extend(chosen.map(|folder| Settings { path: folder.join("settings.json"), is_shared: false }));
        files.push(Settings { path: project.join("settings.json"), is_shared: true });
        files.push(Settings { path: project.join("settings.local.json"), is_shared: false });
        let mut seen: Vec<PathBuf> = Vec::new();
        files.retain(|file| {
            let is_new = !seen.contains(&file.path);
            seen.push(file.path.clone());
            is_new
        });
        files
    }

    /// Returns the file in which a user switches off what a project's shared settings have on.
    fn local_settings(&self) -> PathBuf {
        self.project.join(".claude/settings.local.json")
    }
}

/// A settings file of the client.
#[derive(Clone, Debug)]
struct Settings {
    path: PathBuf,
    /// Whether it is a project's, for everyone who works on it.
    is_shared: bool,
}

/// Why something could not be done. What was done before it is in the journal.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Settings(#[from] file::Error),
    #[error(transparent)]
    Lessons(#[from] lessons_admin::Error),
    #[error(transparent)]
    Config(#[from] config::Error),
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("could not read {}: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{} was written by a later version of Wyren, which can undo it", .0.display())]
    Later(PathBuf),
    #[error(transparent)]
    File(#[from] base::files::Error),
    /// The caller's report failed, so nothing more was done.
    #[error(transparent)]
    Stopped(io::Error),
}

/// A result of a migration.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| Self::File(base::files::Error::at(path)(error))
    }
}

#[cfg(test)]
mod tests;
