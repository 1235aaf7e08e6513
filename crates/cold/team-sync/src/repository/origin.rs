//! Where the local copy of branch mode came from: `.wyren/state/copy-of` names the commit whose shared files it had last.
//!
//! All branches of a work tree have one copy, and each has a state of its own in `refs/wyren/local`. The first time that the copy
//! meets a branch, what the branch has and the copy does not was removed only if it was there when they parted.

use crate::repository::Error;
use crate::repository::fetch;
use crate::repository::objects::Snapshot;
use crate::repository::team::Team;
use base::files;
use git2::Oid;
use place::{MEMORY, Mode, state_folder};
use std::path::PathBuf;
use std::time::Instant;

impl Team {
    /// Notes that the local copy is about to be made of what HEAD has. The process that makes it calls this first, and holds its lock;
    /// a copy that is there stays what it was.
    pub fn begin_copy(&self) -> Result<(), Error> {
        if self.mode == Mode::Branch && !self.copy_folder().join(MEMORY).exists() {
            // One that was there and is gone is made of what was agreed on, which is no commit's.
            let is_first = self.local(&self.refs()?)?.base.is_none();
            self.note_origin(if is_first { self.head()? } else { None })?;
        }
        Ok(())
    }

    /// Notes which commit the local copy has everything of.
    pub(crate) fn note_origin(&self, commit: Option<Oid>) -> Result<(), Error> {
        if self.mode == Mode::Side || (commit.is_some() && self.origin() == commit) {
            return Ok(());
        }
        // Without a commit nothing is known.
        let text = commit.map(|commit| format!("{commit}\n")).unwrap_or_default();
        let path = self.origin_file();
        files::write_atomic(&path, text.as_bytes()).map_err(Error::file(&path))
    }

    /// Returns what the first merge with a branch is based on: the shared files where the remote's tip and the commit that the
    /// copy came from parted. None are known where they have nothing in common, and then nothing counts as removed.
    pub(crate) fn first_base(&self, tip: Oid, deadline: Instant) -> Result<Snapshot, Error> {
        match self.mode {
            Mode::Side => Ok(Snapshot::new()),
            Mode::Branch if !self.origin_file().exists() => self.fork_point(tip, deadline),
            Mode::Branch => match self.origin() {
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

    fn origin(&self) -> Option<Oid> {
        Oid::from_str(files::read_text_capped(&self.origin_file(), files::cap::POINTER).ok()?.trim()).ok()
    }

    fn origin_file(&self) -> PathBuf {
        state_folder(&self.folder).join("copy-of")
    }
}
