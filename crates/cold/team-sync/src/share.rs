//! A team memory that was opened: reading it, and changing it here.

use crate::merging::is_emptied;
use crate::repository::Team;
use crate::{Error, record};
use base::{Env, Timestamp, files};
use memory::history::{self, Removal};
use memory::{Delta, Memory};
use place::{Folder, MEMORY, Mode, Place, Reason};
use std::path::{Path, PathBuf};
use text::sanitize;

/// The longest name of an author, in characters.
const MAX_AUTHOR_CHARS: usize = 60;

/// How much of the end of the log is searched before a line is written again, in bytes.
const LOG_TAIL: usize = 8 * 1024;

/// The author where neither git nor the environment names one.
const UNKNOWN_AUTHOR: &str = "unknown";

/// A team memory.
pub struct Share {
    folder: Folder,
    /// The repository that shares it; `None` where there is none, or none that can be used.
    team: Option<Team>,
    /// Why the repository cannot be used.
    obstacle: Option<Reason>,
    env: Env,
}

impl Share {
    /// Opens the team memory for a session in `cwd`. It may be outside a repository, or in one without a remote.
    pub fn open(cwd: &Path, env: &Env) -> Result<Self, Error> {
        if let Some(refusal) = Folder::refusal(cwd) {
            return Err(crate::repository::Error::from(refusal).into());
        }
        let (team, obstacle) = match Team::open(cwd, env) {
            Ok(team) => (Some(team), None),
            // What is there can be read and changed here all the same.
            Err(crate::repository::Error::NoRepository(_)) => (None, None),
            Err(error @ (crate::repository::Error::NoGit(_) | crate::repository::Error::Sha256)) => {
                (None, Some(Reason::Unusable(error.to_string())))
            }
            Err(crate::repository::Error::NotSetUp(root)) => return Err(Error::NotSetUp(root)),
            Err(error) => return Err(error.into()),
        };
        let folder = match &team {
            Some(team) => Folder::in_mode(team.place().clone(), team.mode()),
            None => Folder::find(cwd),
        };
        let folder = folder.ok_or_else(|| {
            let root = Place::find(cwd).map(|place| place.repository.root);
            Error::NotSetUp(root.unwrap_or_else(|| cwd.to_owned()))
        })?;
        Ok(Self { folder, team, obstacle, env: env.clone() })
    }

    /// Asks a failing remote even while it is to be left alone: for a person who waits for the answer.
    #[must_use]
    pub fn insistent(self) -> Self {
        Self { team: self.team.map(Team::insistent), ..self }
    }

    /// Returns the folder, as it was when the memory was opened.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the repository that shares the memory; `None` where nothing does.
    pub fn team(&self) -> Option<&Team> {
        self.team.as_ref()
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// Returns why nothing can be shared where nothing can.
    pub(crate) fn obstacle(&self) -> Reason {
        self.obstacle.clone().unwrap_or(Reason::NoRemote)
    }

    /// Returns what the user is called: git's `user.name`, else `$USER`.
    pub fn author(&self) -> String {
        let root = self.folder.wyren.parent().unwrap_or(&self.folder.wyren);
        let name = crate::repository::user_name(root, &self.env)
            .or_else(|| self.env.text("USER"))
            .unwrap_or_default();
        let name = sanitize::one_line(&name, MAX_AUTHOR_CHARS);
        if name.is_empty() { UNKNOWN_AUTHOR.to_owned() } else { name }
    }

    /// Returns the memory of the whole team, as far as this clone knows.
    pub fn memory(&self) -> Result<Memory, Error> {
        Ok(Memory::parse(&self.text()?))
    }

    /// Returns the text of the memory; empty when there is none yet.
    pub(crate) fn text(&self) -> Result<String, Error> {
        let copy = self.copy().join(MEMORY);
        self.refuse_links(&copy)?;
        if let Some(text) = read(&copy)? {
            return Ok(text);
        }
        match self.agreed(MEMORY)? {
            Some(contents) => String::from_utf8(contents).map_err(|_| Error::NotText(copy)),
            // Before the first sync there is no copy beside the tracked file.
            None => Ok(read(&self.folder.wyren.join(MEMORY))?.unwrap_or_default()),
        }
    }

    /// Changes the memory: `edit` gets it as it is and returns it as it is to be, under the lock. What leaves it goes to
    /// the history, with who removed it and why. Nothing is published: that is [`Share::sync`]'s.
    pub fn change(&self, by: &str, why: &str, edit: impl FnOnce(&Memory) -> Memory) -> Result<Delta, Error> {
        self.change_with(|before| {
            let after = edit(before);
            let delta = memory::diff(before, &after);
            let removals = history::removals(&delta, Timestamp::now(), by, why);
            (Some((after, removals)), delta)
        })
    }

    /// Changes the memory as [`Share::change`] does. `edit` returns the memory with what left it, or `None` to write nothing,
    /// and a result for the caller.
    pub fn change_with<T>(
        &self,
        edit: impl FnOnce(&Memory) -> (Option<(Memory, Vec<Removal>)>, T),
    ) -> Result<T, Error> {
        let _lock = self.lock()?;
        let path = self.copy().join(MEMORY);
        let text = self.text()?;
        let before = Memory::parse(&text);
        let (changed, result) = edit(&before);
        let Some((after, removals)) = changed else { return Ok(result) };
        if is_emptied(&before, &after) {
            return Err(Error::Emptied(before.entries().count()));
        }
        let rendered = after.render();
        if rendered != text || !path.exists() {
            // The history first: a process killed in between writes a removal twice at worst, and loses none.
            self.remember(&removals)?;
            self.refuse_links(&path)?;
            self.begin_copy()?;
            files::write_atomic(&path, rendered.as_bytes()).map_err(Error::file(&path))?;
        }
        Ok(result)
    }

    /// Appends what left the memory to the history of this clone. Private parts and secrets do not go with it.
    pub fn remember(&self, removals: &[Removal]) -> Result<(), Error> {
        record::append(&self.folder.state(), removals)
    }

    /// Appends a line to `.wyren/log`, as far as that is possible.
    pub fn log(&self, message: &str) {
        let _ = place::log::append(&self.folder.wyren, Timestamp::now(), "", message);
    }

    /// Does the same, unless the log's last line of that kind says so already: for what may happen at every prompt.
    pub fn log_once(&self, message: &str) {
        log_once(&self.folder.wyren, message);
    }

    /// Returns the folder that `memory.md`, `broadcast/` and `lessons/` are changed in.
    pub(crate) fn copy(&self) -> PathBuf {
        let state = self.folder.state();
        let is_shared = self.team.as_ref().is_none_or(|team| team.remote().is_some());
        let is_beside = self.folder.mode == Some(Mode::Branch) && (is_shared || state.join(MEMORY).is_file());
        if is_beside { state } else { self.folder.wyren.clone() }
    }

    /// Keeps others from writing the local copy until the lock is dropped.
    pub(crate) fn lock(&self) -> Result<base::lock::Lock, Error> {
        let wyren = &self.folder.wyren;
        crate::repository::lock_copy(wyren).map_err(Error::file(wyren))?.ok_or(Error::Busy)
    }

    /// Returns a file of a copy that is gone, as with `git clean`, as the last sync left it. What the tracked file lacks of that
    /// was not removed.
    pub(crate) fn agreed(&self, file: &str) -> Result<Option<Vec<u8>>, Error> {
        let team = self.team.as_ref().filter(|team| team.mode() == Mode::Branch);
        Ok(team.map(|team| team.last_file(file)).transpose()?.flatten())
    }

    /// Notes where the copy comes from that is about to be written for the first time. The lock on it is held.
    pub(crate) fn begin_copy(&self) -> Result<(), Error> {
        Ok(self.team.as_ref().map_or(Ok(()), Team::begin_copy)?)
    }

    /// Fails when a file of ours, or a folder on the way to it, is a link.
    pub(crate) fn refuse_links(&self, path: &Path) -> Result<(), Error> {
        Ok(crate::repository::refuse_links(&self.folder.wyren, path)?)
    }
}

/// Appends a line to the log of a `.wyren/` folder, unless the log's last line of that kind says so already.
pub fn log_once(wyren: &Path, message: &str) {
    let text = files::read_end(&place::log::file(wyren), LOG_TAIL).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let kind = message.split(':').next().unwrap_or(message);
    let said = text.lines().rev().filter_map(|line| line.split_once("] ")).map(|(_, said)| said);
    let message = sanitize::one_line(message, usize::MAX);
    if said.into_iter().find(|said| said.starts_with(kind)) != Some(&message) {
        let _ = place::log::append(wyren, Timestamp::now(), "", &message);
    }
}

/// Reads a text; `None` when there is no file. A link would lead out of the repository, and what it leads to be published.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Error> {
    crate::repository::refuse_link(path)?;
    let bytes = files::read_capped_if_there(path, files::cap::SHARED).map_err(Error::file(path))?;
    bytes.map(String::from_utf8).transpose().map_err(|_| Error::NotText(path.to_owned()))
}
