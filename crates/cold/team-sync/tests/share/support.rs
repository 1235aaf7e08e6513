//! What the fixture's clones do with the memory that they share.

use base::Env;
pub(crate) use fixture::{Clone, World, git, try_git};
use std::time::{Duration, Instant};
use team_sync::repository::Published;
use team_sync::repository::init_side;
use team_sync::{Share, Synced};

/// What branch mode ignores.
pub(crate) const IGNORED: (&str, &str) = (".gitignore", ".wyren/state/\n.wyren/log\n");

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

/// A world with a memory.
pub(crate) trait ShareWorld {
    /// Makes a remote whose main tracks a memory with decisions.
    fn with_memory(entries: &[&str]) -> Self;

    /// Makes a clone in side mode.
    fn side_clone(&self, name: &str) -> Clone;
}

impl ShareWorld for World {
    fn with_memory(entries: &[&str]) -> Self {
        Self::new(&[(".wyren/memory.md", &decisions(entries)), IGNORED])
    }

    #[track_caller]
    fn side_clone(&self, name: &str) -> Clone {
        let clone = self.clone_called(name);
        init_side(&place::Place::find(&clone.root).unwrap(), &Env::process()).unwrap();
        clone
    }
}

/// A clone that shares a memory.
pub(crate) trait ShareClone {
    /// Opens its team memory.
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
        Share::open(&self.root, &Env::process()).unwrap().insistent()
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
        let synced = self.sync();
        assert!(matches!(synced.published, Published::Landed(_)), "{synced:?}");
        synced
    }
}
