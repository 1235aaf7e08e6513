//! What the fixture's clones do as members of a team.

use base::Env;
pub(crate) use fixture::{Clone, World, git, try_git};
use place::FetchState;
use std::time::{Duration, Instant};
use team_sync::repository::init_side;
use team_sync::repository::{ByLine, Files, Published, Team};

/// Ten seconds from now.
pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

/// The contents of a shared file as text.
pub(crate) fn text(contents: Option<Vec<u8>>) -> Option<String> {
    contents.map(|contents| String::from_utf8(contents).unwrap())
}

/// A world with clones that are set up.
pub(crate) trait TeamWorld {
    /// Makes a clone in side mode.
    fn side_clone(&self, name: &str) -> Clone;
}

impl TeamWorld for World {
    #[track_caller]
    fn side_clone(&self, name: &str) -> Clone {
        let clone = self.clone_called(name);
        clone.init_side();
        clone
    }
}

/// A clone that shares a memory.
pub(crate) trait TeamClone {
    /// Sets it up for side mode.
    fn init_side(&self);

    /// Opens its team memory.
    fn team(&self) -> Team;

    /// What its last fetch saw.
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
        init_side(&place::Place::find(&self.root).unwrap(), &Env::process()).unwrap();
    }

    #[track_caller]
    fn team(&self) -> Team {
        Team::open(&self.root, &Env::process()).unwrap()
    }

    fn state(&self) -> FetchState {
        FetchState::read(&self.root.join(".wyren"))
    }

    #[track_caller]
    fn publish(&self, files: &[(&str, Option<&str>)]) -> Published {
        let files: Files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.map(|text| text.as_bytes().to_vec())))
            .collect();
        self.untouched(|| self.team().publish(&files, Some("0123456789"), &ByLine, soon()).unwrap())
    }

    #[track_caller]
    fn land(&self, files: &[(&str, Option<&str>)]) {
        let published = self.publish(files);
        assert!(matches!(published, Published::Landed(_)), "{published:?}");
    }

    #[track_caller]
    fn sync(&self) -> Published {
        self.untouched(|| self.team().sync(None, &ByLine, soon()).unwrap().0)
    }
}
