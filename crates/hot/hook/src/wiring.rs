//! One answer where a hook is wired twice, by the plugin and in a `settings.json`.
//!
//! The client runs both, in parallel and with the same input, and sets `CLAUDE_PLUGIN_ROOT` for the plugin's run only. At
//! the start of a session the two meet in a file:
//!
//! ```text
//! <claims>/<session>.starts/<hook>    the way and the time of the last start that was answered and not met by the other way
//! <claims>/<session>.starts/plugin    the plugin runs in this session
//! ```
//!
//! The first run locks the file of its hook, answers, and writes down that it did; the second waits for the lock, finds
//! that, and stays silent. Should the first be killed, its lock goes with it, and the second answers. From then on a run
//! that `settings.json` wired finds the plugin's note and stays silent; the plugin's runs look for nothing.
//!
//! The folder is beside the session's claims and not among them, for a start forgets those.

use crate::claims::is_private;
use base::{Timestamp, digest, files};
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// The two runs of one start begin this close to each other: both are over by then, see the time-outs in `hooks.json`.
const SAME_START_MILLIS: u64 = 10_000;

/// What the names of the folders end with.
const ENDING: &str = ".starts";

/// What a file begins with that speaks of no start.
const VOID: &[u8] = b"-";

/// The file that says that the plugin runs in a session. No hook has this name.
const PLUGIN: &str = "plugin";

/// The way in which a run of a hook was wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the plugin's own hook files.
    Plugin,
    /// By hand, in a `settings.json`, or for another agent.
    Manual,
}

impl Way {
    const fn name(self) -> &'static str {
        match self {
            Self::Plugin => "plugin",
            Self::Manual => "manual",
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Plugin => Self::Manual,
            Self::Manual => Self::Plugin,
        }
    }
}

/// A start of a session that this run answers.
#[derive(Debug)]
pub(crate) struct Start {
    way: Way,
    /// Locked until the process ends.
    file: File,
    /// How many bytes the file has.
    length: usize,
}

/// Whether this run answers the start of a session.
#[derive(Debug)]
pub(crate) enum Turn {
    /// Yes; there may be nowhere to write that down.
    Ours(Option<Start>),
    /// The run of the other way has answered.
    Theirs,
}

impl Start {
    /// Notes that the start was answered.
    pub(crate) fn answered(mut self, now: Timestamp) {
        let line = format!("{} {}", self.way.name(), now.millis());
        let is_written = self.file.rewind().and_then(|()| self.file.write_all(line.as_bytes())).is_ok();
        if is_written && line.len() < self.length {
            let _ = self.file.set_len(line.len() as u64);
        }
    }
}

/// Decides whether this run answers the start of a session, and waits for the run of the other way where that one is at it.
/// Whatever fails on the way, this run answers: better twice than never.
pub(crate) fn meet(roots: &[&Path], session: &str, hook: &str, way: Way, now: Timestamp) -> Turn {
    let Some(root) = roots.iter().find(|root| is_private(root)) else { return Turn::Ours(None) };
    let folder = folder(root, session);
    let Some(mut file) = open(&folder, hook) else { return Turn::Ours(None) };
    if base::system::lock(&file).is_err() {
        return Turn::Ours(None);
    }
    let mut last = String::new();
    let _ = file.read_to_string(&mut last);
    let is_met = last.split_once(' ').is_some_and(|(name, at)| {
        let at = at.parse().map(Timestamp::from_millis);
        name == way.other().name() && at.is_ok_and(|at| now.millis_since(at) < SAME_START_MILLIS)
    });
    // Met or begun: either way the file speaks of no earlier start any more. It keeps its length: some file systems write a
    // file to the disk that was emptied and filled again, which takes as long as all the rest.
    let is_void = last.is_empty() || file.rewind().and_then(|()| file.write_all(VOID)).is_ok();
    let note = folder.join(PLUGIN);
    match way {
        Way::Plugin => drop(files::private_options().write(true).create(true).truncate(false).open(note)),
        // The plugin may be gone since. If it is not, its run comes after this one and writes the note again.
        Way::Manual if !is_met => drop(fs::remove_file(note)),
        Way::Manual => {}
    }
    match is_met {
        true => Turn::Theirs,
        false => Turn::Ours(is_void.then_some(Start { way, file, length: last.len() })),
    }
}

/// Returns whether the plugin runs in a session: two `stat`s when it does not.
pub(crate) fn is_of_plugin(roots: &[&Path], session: &str) -> bool {
    let note = |root: &Path| folder(root, session).join(PLUGIN);
    let found = roots.iter().find(|root| note(root).symlink_metadata().is_ok());
    // In a shared temp folder anyone could have made it, and silence us.
    found.is_some_and(|found| roots.iter().find(|root| is_private(root)) == Some(found))
}

fn folder(root: &Path, session: &str) -> PathBuf {
    root.join(digest::short_hex(session.as_bytes()) + ENDING)
}

fn open(folder: &Path, hook: &str) -> Option<File> {
    let open = || {
        let path = folder.join(hook);
        files::private_options().read(true).write(true).create(true).truncate(false).open(path)
    };
    open().or_else(|_| files::create_private_folder(folder).and_then(|()| open())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const HOOK: &str = "session-start-lessons";
    const NOON: u64 = 1_800_000_000_000;

    struct Place {
        _folder: tempfile::TempDir,
        root: PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            Self { root: folder.path().join("claims"), _folder: folder }
        }

        fn meet(&self, way: Way, seconds: u64) -> Turn {
            meet(&[&self.root], "s", HOOK, way, Timestamp::from_millis(NOON + seconds * 1_000))
        }

        /// Runs a hook at the start of the session; returns whether it spoke.
        fn start(&self, way: Way, seconds: u64) -> bool {
            match self.meet(way, seconds) {
                Turn::Ours(start) => {
                    start.unwrap().answered(Timestamp::from_millis(NOON + seconds * 1_000));
                    true
                }
                Turn::Theirs => false,
            }
        }

        fn is_of_plugin(&self) -> bool {
            is_of_plugin(&[&self.root], "s")
        }
    }

    #[test]
    fn of_two_runs_of_one_start_one_speaks_whichever_comes_first() {
        for (first, second) in [(Way::Plugin, Way::Manual), (Way::Manual, Way::Plugin)] {
            let place = Place::new();
            // Startup, and two compactions shortly after.
            for seconds in [0, 2, 3] {
                assert!(place.start(first, seconds), "{first:?}");
                assert!(!place.start(second, seconds), "{second:?}");
                assert!(place.is_of_plugin());
            }
        }
    }

    #[test]
    fn with_one_wiring_every_start_speaks() {
        for way in [Way::Plugin, Way::Manual] {
            let place = Place::new();
            assert!([0, 0, 1, 50].iter().all(|seconds| place.start(way, *seconds)), "{way:?}");
            assert_eq!(place.is_of_plugin(), way == Way::Plugin);
        }
    }

    #[test]
    fn a_wiring_that_goes_or_comes_between_two_starts_loses_nothing() {
        let place = Place::new();
        assert!(place.start(Way::Plugin, 0) && !place.start(Way::Manual, 0));
        assert!(place.start(Way::Manual, 60), "the plugin is gone");
        assert!(!place.is_of_plugin(), "later runs of the other wiring must not stay silent");
        assert!(place.start(Way::Plugin, 120) && !place.start(Way::Manual, 120));
        assert!(place.is_of_plugin());
        assert!(place.start(Way::Plugin, 180) && place.start(Way::Plugin, 240), "the settings are gone");
    }

    #[test]
    fn a_run_that_is_killed_leaves_the_start_to_the_other() {
        let place = Place::new();
        let Turn::Ours(Some(killed)) = place.meet(Way::Plugin, 0) else { panic!("the first run answers") };
        drop(killed);
        assert!(place.start(Way::Manual, 0));
    }

    #[test]
    fn what_a_file_said_before_is_gone_however_long_it_was() {
        let place = Place::new();
        assert!(place.start(Way::Plugin, 0));
        let file = folder(&place.root, "s").join(HOOK);
        fs::write(&file, format!("manual {} and a word more", NOON + 1_000)).unwrap();
        assert!(place.start(Way::Plugin, 1), "no time was written there");
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("plugin {}", NOON + 1_000));
    }

    #[test]
    fn the_second_run_waits_until_the_first_has_spoken() {
        let place = Place::new();
        let Turn::Ours(Some(first)) = place.meet(Way::Plugin, 0) else { panic!("the first run answers") };
        let (told, heard) = mpsc::channel();
        std::thread::scope(|scope| {
            let place = &place;
            scope.spawn(move || told.send(matches!(place.meet(Way::Manual, 0), Turn::Theirs)).unwrap());
            assert!(heard.try_recv().is_err(), "it does not go on before the first has spoken");
            first.answered(Timestamp::from_millis(NOON));
            assert!(heard.recv().unwrap(), "it stays silent then");
        });
    }

    #[test]
    fn runs_in_parallel_speak_once() {
        let place = Place::new();
        let spoke = |way| std::iter::once(way).filter(|way| place.start(*way, 0)).count();
        for _ in 0..50 {
            let total = std::thread::scope(|scope| {
                let runs = [Way::Plugin, Way::Manual].map(|way| scope.spawn(move || spoke(way)));
                runs.into_iter().map(|run| run.join().unwrap()).sum::<usize>()
            });
            assert_eq!(total, 1);
            assert!(place.is_of_plugin());
        }
    }

    #[test]
    fn a_folder_that_cannot_be_used_silences_no_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for way in [Way::Plugin, Way::Manual] {
            let turn = meet(&[&file], "s", HOOK, way, Timestamp::from_millis(NOON));
            assert!(matches!(turn, Turn::Ours(None)), "{turn:?}");
        }
        assert!(!is_of_plugin(&[&file], "s"));
    }

    #[cfg(unix)]
    #[test]
    fn a_note_in_a_folder_that_is_a_link_silences_no_run() {
        let place = Place::new();
        assert!(place.start(Way::Plugin, 0));
        let link = place.root.with_file_name("link");
        std::os::unix::fs::symlink(&place.root, &link).unwrap();
        assert!(!is_of_plugin(&[&link], "s"));
        assert!(is_of_plugin(&[&place.root], "s"));
    }
}
