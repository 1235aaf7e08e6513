//! Files that every session of the team gets: `broadcast/`, and the skills in it.

use crate::repository::Published;
use crate::{Error, Share, Synced, repository};
use base::files;
use place::Reason;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Instant;

/// Where skills are, relative to `.wyren/`.
const SKILLS: &str = "broadcast/skills";

/// The version of `state/unbroadcast.json`.
const VERSION: u32 = 1;

/// The most removals that wait.
const MAX_QUEUED: usize = 100;

/// What waits to be removed from the remote, as [`repository::LeftOut`] names it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Queue {
    v: u32,
    paths: Vec<String>,
}

/// A broadcast that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The file, relative to `.wyren/`.
    pub path: String,
    /// Whether it was left out here, so that only the remote had it.
    pub is_left_out: bool,
    /// The result of the sync.
    pub synced: Synced,
}

impl Share {
    /// Puts a skill into the local copy, in place of one of that name. Returns its path, relative to `.wyren/`. Nothing is
    /// published: that is [`Share::sync`]'s.
    pub fn broadcast_skill(&self, name: &str, contents: &[u8]) -> Result<String, Error> {
        let path = format!("{SKILLS}/{}", plain(name)?);
        let _lock = self.lock()?;
        let file = self.copy().join(&path);
        self.refuse_links(&file)?;
        files::write_atomic(&file, contents).map_err(Error::file(&file))?;
        Ok(path)
    }

    /// Takes a broadcast back, here and for the team; `None` when there is none of that name. A name is a path below
    /// `broadcast/`, or that of a skill, whose ending may be left out.
    pub fn unbroadcast(
        &self,
        name: &str,
        session: Option<&str>,
        deadline: Instant,
    ) -> Result<Option<Removed>, Error> {
        if let Some(path) = self.broadcasts()?.into_iter().find(|path| is_called(path, name)) {
            let synced = self.sync_without(std::slice::from_ref(&path), session, deadline)?;
            return Ok(Some(Removed { path, is_left_out: false, synced }));
        }
        // What is left out is not here, and has to be looked for on the remote.
        let Some(team) = self.team() else { return Ok(None) };
        let left_out = team.left_out()?.into_iter().map(|it| it.path).filter(|path| path != place::MEMORY);
        let Some(path) = left_out.into_iter().find(|path| is_called(path, name)) else { return Ok(None) };
        let mut removed = team.known_files()?;
        let is_shelf = [place::BROADCAST, SKILLS, place::LESSONS].contains(&&*path);
        // Of a folder that all broadcasts are in, those that are here stay.
        removed.retain(|file| !is_shelf && (*file == path || file.starts_with(&format!("{path}/"))));
        let synced = self.sync_taking_away(std::slice::from_ref(&path), &removed, session, deadline)?;
        let is_queued = match &synced.published {
            // Nothing of it was decided.
            Published::Queued(Reason::Busy | Reason::Detached | Reason::NotAllowed | Reason::NoRemote) => {
                false
            }
            Published::Queued(_) => true,
            Published::Landed(_) | Published::Nothing => false,
        };
        if is_queued {
            let mut queued = self.queued_removals();
            queued.retain(|it| *it != path);
            queued.push(path.clone());
            self.queue_removals(&queued)?;
        }
        Ok(Some(Removed { path, is_left_out: true, synced }))
    }

    /// Returns what is left out on the remote and is to be removed there with the next sync.
    pub(crate) fn queued_removals(&self) -> Vec<String> {
        let text = files::read_capped(&self.queue_file(), files::cap::STATE).unwrap_or_default();
        let queue: Queue = serde_json::from_slice(&text).unwrap_or_default();
        if queue.v == VERSION { queue.paths } else { Vec::new() }
    }

    /// Replaces that.
    pub(crate) fn queue_removals(&self, paths: &[String]) -> Result<(), Error> {
        let file = self.queue_file();
        if paths.is_empty() {
            return files::remove_if_there(&file).map(|_| ()).map_err(Error::file(&file));
        }
        let newest = paths.iter().rev().take(MAX_QUEUED).rev().cloned().collect();
        let mut text = serde_json::to_vec(&Queue { v: VERSION, paths: newest }).unwrap_or_default();
        text.push(b'\n');
        files::write_atomic(&file, &text).map_err(Error::file(&file))
    }

    fn queue_file(&self) -> PathBuf {
        self.folder().state().join("unbroadcast.json")
    }

    /// Returns whether [`Share::unbroadcast`] would find something of that name.
    pub fn is_broadcast(&self, name: &str) -> Result<bool, Error> {
        if self.broadcasts()?.iter().any(|path| is_called(path, name)) {
            return Ok(true);
        }
        let Some(team) = self.team() else { return Ok(false) };
        Ok(team.left_out()?.iter().any(|it| it.path != place::MEMORY && is_called(&it.path, name)))
    }

    /// Returns the paths of what is broadcast, relative to `.wyren/`, skills first.
    pub fn broadcasts(&self) -> Result<Vec<String>, Error> {
        let mut paths = Vec::new();
        let root = self.copy();
        let mut folders = vec![PathBuf::from("broadcast")];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(root.join(&folder)) else { continue };
            for entry in entries.flatten() {
                let path = folder.join(entry.file_name());
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(path),
                    Ok(kind) if kind.is_file() && entry.file_name() != ".gitkeep" => {
                        let path = path.to_str().filter(|path| !files::is_temporary(path));
                        paths.extend(path.map(|path| path.replace('\\', "/")));
                    }
                    _ => {}
                }
            }
        }
        // What others broadcast and this clone has not merged yet.
        if let Some(team) = self.team() {
            let theirs = team.remote_files()?.into_iter();
            paths.extend(theirs.filter(|path| path.starts_with("broadcast/") && !path.ends_with(".gitkeep")));
        }
        paths.sort_by_key(|path| (!path.starts_with(SKILLS), path.clone()));
        paths.dedup();
        Ok(paths)
    }
}

/// Returns the name if it can be one of a file.
fn plain(name: &str) -> Result<&str, Error> {
    let is_plain = !name.is_empty()
        && !name.starts_with('.')
        && !files::is_temporary(name)
        && repository::can_be_shared(name);
    if is_plain { Ok(name) } else { Err(Error::BadName(name.to_owned())) }
}

/// Returns whether a broadcast is the one that `name` means.
fn is_called(path: &str, name: &str) -> bool {
    let skill = path.strip_prefix(SKILLS).map(|rest| rest.trim_start_matches('/'));
    let stem = skill.map(|skill| skill.rsplit_once('.').map_or(skill, |(stem, _)| stem));
    path == name || path.strip_prefix("broadcast/") == Some(name) || skill == Some(name) || stem == Some(name)
}
