//! What the fixture's clones do as members of a team.

use base::Env;
pub(crate) use fixture::{Clone, World, git, try_git};
use place::FetchState;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use team_sync::repository::{ByLine, Error, Leave, Outgoing, Published, Team, init_side};
use team_sync::{Share, Synced};

/// What branch mode ignores.
pub(crate) const IGNORED: (&str, &str) = (".gitignore", ".wyren/state/\n.wyren/log\n");

/// Returns the environment of the user of the clone at `root`.
pub(crate) fn env_of(root: &Path) -> Env {
    Env::fixed([("WYREN_DATA_DIR", data_of(root)), ("HOME", data_of(root).join("home"))])
}

/// Returns the data folder of the user of the clone at `root`. It is where git lists nothing.
pub(crate) fn data_of(root: &Path) -> PathBuf {
    let repository = base::project::Repository::above(root);
    repository.map_or_else(|| root.to_owned(), |repository| repository.common_folder).join("data-of-user")
}

/// Twenty seconds from now: machines that build meanwhile are slow.
pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Returns a memory with decisions.
pub(crate) fn decisions(entries: &[&str]) -> String {
    let mut text = "# Wyren Memory\n\n## Decisions\n\n".to_owned();
    for entry in entries {
        text.push_str(&format!("- {entry}\n"));
    }
    text
}

/// Returns the contents of a shared file as text.
pub(crate) fn text(contents: Option<Vec<u8>>) -> Option<String> {
    contents.map(|contents| String::from_utf8(contents).unwrap())
}

/// Returns a shared file as the last fetch saw it.
pub(crate) fn remote_file(team: &Team, path: &str) -> Result<Option<Vec<u8>>, Error> {
    team.remote_tip()?.map_or(Ok(None), |tip| team.file_at(&tip, path))
}

/// Puts files into the local copy, or removes them for the whole team, and publishes it.
pub(crate) fn publish_files(
    team: &Team,
    files: &[(&str, Option<&str>)],
    deadline: Instant,
) -> Result<Published, Error> {
    let mut removed = Vec::new();
    for (path, text) in files {
        let file = team.copy_folder().join(path);
        match text {
            Some(text) => base::files::write_atomic(&file, text.as_bytes()).unwrap(),
            None => {
                base::files::remove_if_there(&file).unwrap();
                removed.push((*path).to_owned());
            }
        }
    }
    let leave = given(team)?;
    let outgoing = Outgoing { session: Some("0123456789"), removed: &removed, ..Outgoing::with(&leave) };
    team.publish(&outgoing, &ByLine, deadline)
}

/// Returns the leave to publish that the user of a clone gives.
pub(crate) fn given(team: &Team) -> Result<Leave, Error> {
    let env = env_of(&team.place().main_root);
    team.give_leave("test", &env)?;
    Ok(team.leave(&env)?.unwrap())
}

/// A remote with clones that are set up.
pub(crate) trait TeamWorld {
    /// Makes a remote whose main tracks a memory with decisions.
    fn with_memory(entries: &[&str]) -> Self;

    /// Makes a clone in side mode.
    fn side_clone(&self, name: &str) -> Clone;
}

impl TeamWorld for World {
    fn with_memory(entries: &[&str]) -> Self {
        Self::new(&[(".wyren/memory.md", &decisions(entries)), IGNORED])
    }

    #[track_caller]
    fn side_clone(&self, name: &str) -> Clone {
        let clone = self.clone_called(name);
        clone.init_side();
        clone
    }
}

/// A clone that shares files.
pub(crate) trait TeamClone {
    /// Sets it up for side mode.
    fn init_side(&self);

    /// Opens its repository.
    fn team(&self) -> Team;

    /// Returns what its last fetch saw.
    fn state(&self) -> FetchState;

    /// Publishes shared files, and checks that nothing of the user's changed.
    fn publish(&self, files: &[(&str, Option<&str>)]) -> Published;

    /// Publishes shared files, which must land.
    fn land(&self, files: &[(&str, Option<&str>)]);

    /// Syncs, and checks that nothing of the user's changed.
    fn sync(&self) -> Published;
}

impl TeamClone for Clone {
    #[track_caller]
    fn init_side(&self) {
        init_side(&place::Place::find(&self.root).unwrap(), &env_of(&self.root)).unwrap();
    }

    #[track_caller]
    fn team(&self) -> Team {
        Team::open(&self.root, &env_of(&self.root)).unwrap()
    }

    fn state(&self) -> FetchState {
        FetchState::read(&self.root.join(".wyren"))
    }

    #[track_caller]
    fn publish(&self, files: &[(&str, Option<&str>)]) -> Published {
        self.untouched(|| publish_files(&self.team(), files, soon()).unwrap())
    }

    #[track_caller]
    fn land(&self, files: &[(&str, Option<&str>)]) {
        let published = self.publish(files);
        assert!(matches!(published, Published::Landed(_)), "{published:?}");
    }

    #[track_caller]
    fn sync(&self) -> Published {
        self.untouched(|| {
            let team = self.team();
            let leave = given(&team).unwrap();
            team.exchange(Some(&Outgoing::with(&leave)), &ByLine, soon()).unwrap().published
        })
    }
}

/// A clone that shares a memory.
pub(crate) trait ShareClone {
    /// Opens its team memory. The user lets the clone publish.
    fn share(&self) -> Share;

    /// Returns the memory that its readers see.
    fn memory(&self) -> String;

    /// Returns the decisions that its readers see.
    fn decisions(&self) -> Vec<String>;

    /// Returns the decisions that its readers see, in alphabetical order.
    fn sorted_decisions(&self) -> Vec<String>;

    /// Adds a decision, without publishing it.
    fn decide(&self, text: &str);

    /// Takes a decision back, without publishing that.
    fn take_back(&self, text: &str);

    /// Syncs, and checks that nothing of the user's changed.
    fn sync(&self) -> Synced;

    /// Syncs; what was changed must land.
    fn land(&self) -> Synced;
}

impl ShareClone for Clone {
    #[track_caller]
    fn share(&self) -> Share {
        let share = Share::open(&self.root, &env_of(&self.root)).unwrap().insistent();
        share.give_leave("test").unwrap();
        share
    }

    #[track_caller]
    fn memory(&self) -> String {
        self.share().memory().unwrap().render()
    }

    #[track_caller]
    fn decisions(&self) -> Vec<String> {
        let memory = self.share().memory().unwrap();
        memory.entries().map(|(_, entry)| entry.text().into_owned()).collect()
    }

    #[track_caller]
    fn sorted_decisions(&self) -> Vec<String> {
        let mut decisions = self.decisions();
        decisions.sort();
        decisions
    }

    #[track_caller]
    fn decide(&self, text: &str) {
        let add = |memory: &memory::Memory| {
            let mut memory = memory.clone();
            memory.add_distinct("Decisions", text, &memory::Provenance::default());
            memory
        };
        assert_eq!(self.share().change("Ada", "decided", add).unwrap().len(), 1);
    }

    #[track_caller]
    fn take_back(&self, text: &str) {
        let remove = |memory: &memory::Memory| {
            let mut memory = memory.clone();
            memory.remove("Decisions", text).unwrap();
            memory
        };
        self.share().change("Ada", "taken back", remove).unwrap();
    }

    #[track_caller]
    fn sync(&self) -> Synced {
        self.untouched(|| self.share().sync(Some("0123456789"), soon()).unwrap())
    }

    #[track_caller]
    fn land(&self) -> Synced {
        let synced = ShareClone::sync(self);
        assert!(matches!(synced.published, Published::Landed(_)), "{synced:?}");
        synced
    }
}
