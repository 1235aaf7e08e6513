//! Where the local copy of branch mode came from: `.wyren/state/copy-of` names the commit whose shared files it had last, and
//! below that the copy itself, by a random name.
//!
//! All branches of a work tree have one copy, and each has a state of its own in `refs/wyren/local`. The first time that the copy
//! meets a branch, what the branch has and the copy does not was removed only if it was there when they parted. A copy that was
//! lost, as with `git clean`, and begun anew has another name, and so meets every branch but its first for the first time.

use crate::repository::Error;
use crate::repository::fetch;
use crate::repository::local::Local;
use crate::repository::objects::Snapshot;
use crate::repository::team::Team;
use base::files;
use git2::Oid;
use place::{MEMORY, Mode, state_folder};
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::time::Instant;

impl Team {
    /// Notes that the local copy is about to be made of what HEAD has. The process that makes it calls this first, and holds its lock;
    /// a copy that is there stays what it was.
    pub fn begin_copy(&self) -> Result<(), Error> {
        if self.mode == Mode::Branch && !self.copy_folder().join(MEMORY).exists() {
            // One that was there and is gone is made of what was agreed on, which is no commit's.
            let mut refs = self.refs()?;
            let local = self.local(&refs)?;
            if local.base.is_none() {
                self.note_origin_anew(self.head()?)?;
                return Ok(());
            }
            let copy = self.note_origin_anew(None)?;
            match self.note(&mut refs, &Local { copy, ..local }) {
                // A sync notes another state just now. What both agreed on is then not known, and nothing counts as removed.
                Err(Error::Busy) => {}
                noted => noted?,
            }
        }
        Ok(())
    }

    /// Notes which commit the local copy has everything of.
    pub(crate) fn note_origin(&self, commit: Option<Oid>) -> Result<(), Error> {
        let (origin, copy) = self.origin_and_copy();
        if self.mode == Mode::Side || (commit.is_some() && origin == commit) {
            return Ok(());
        }
        self.write_origin(commit, copy)
    }

    /// Notes which commit a copy has everything of that is about to be begun, and gives it a name. Returns the name.
    pub(crate) fn note_origin_anew(&self, commit: Option<Oid>) -> Result<Option<Oid>, Error> {
        if self.mode == Mode::Side {
            return Ok(None);
        }
        let random =
            [RandomState::new(), RandomState::new(), RandomState::new()].map(|state| state.hash_one(0));
        let name: String = random.iter().map(|part| format!("{part:016x}")).collect();
        let copy = name.get(..40).and_then(|name| Oid::from_str(name).ok());
        self.write_origin(commit, copy)?;
        Ok(copy)
    }

    fn write_origin(&self, commit: Option<Oid>, copy: Option<Oid>) -> Result<(), Error> {
        // Without a commit nothing is known.
        let line = |id: Option<Oid>| id.map(|id| id.to_string()).unwrap_or_default();
        let text = match copy {
            Some(_) => format!("{}\n{}\n", line(commit), line(copy)),
            None => commit.map(|commit| format!("{commit}\n")).unwrap_or_default(),
        };
        let path = self.origin_file();
        files::write_atomic(&path, text.as_bytes()).map_err(Error::file(&path))
    }

    /// Returns whether a state is about the copy that is there. One that is gone has left its state to the next.
    pub(crate) fn is_of_copy(&self, local: &Local) -> bool {
        self.mode == Mode::Side
            || !self.copy_folder().join(MEMORY).exists()
            || local.copy == self.origin_and_copy().1
    }

    /// Returns what the first merge with a branch is based on: the shared files where the remote's tip and the commit that the
    /// copy came from parted. None are known where they have nothing in common, and then nothing counts as removed.
    pub(crate) fn first_base(&self, tip: Oid, deadline: Instant) -> Result<Snapshot, Error> {
        match self.mode {
            Mode::Side => Ok(Snapshot::new()),
            Mode::Branch if !self.origin_file().exists() => self.fork_point(tip, deadline),
            Mode::Branch => match self.origin_and_copy().0 {
                Some(origin) => self.parting(&origin.to_string(), tip, deadline),
                None => Ok(Snapshot::new()),
            },
        }
    }

    /// Returns the shared files at the commit where the user's branch and the remote's parted; none in side mode.
    pub(crate) fn fork_point(&self, tip: Oid, deadline: Instant) -> Result<Snapshot, Error> {
        match self.mode {
            Mode::Side => Ok(Snapshot::new()),
            Mode::Branch => self.parting("HEAD", tip, deadline),
        }
    }

    pub(crate) fn parting(&self, commit: &str, tip: Oid, deadline: Instant) -> Result<Snapshot, Error> {
        let output = self.git.local(&["merge-base", commit, &tip.to_string()])?;
        let parted = Oid::from_str(&output.line()).ok().filter(|_| output.is_success());
        if let Some(parted) = parted {
            fetch::partial_objects(self, parted, deadline);
        }
        self.objects.snapshot(parted)
    }

    /// Returns the commit, and the name of the copy.
    pub(crate) fn origin_and_copy(&self) -> (Option<Oid>, Option<Oid>) {
        let text = files::read_text_capped(&self.origin_file(), files::cap::POINTER).unwrap_or_default();
        let mut lines = text.lines();
        let mut id = || lines.next().and_then(|line| Oid::from_str(line.trim()).ok());
        (id(), id())
    }

    fn origin_file(&self) -> PathBuf {
        state_folder(&self.folder).join("copy-of")
    }
}
