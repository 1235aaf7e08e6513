//! Sources of documents in files: which there are at a place, whether they changed, and what they hold.

use super::ledger::FileRow;
use super::{lesson, team};
use crate::document::Document;
use base::project::Project;
use base::{Paths, digest};
use lessons::layers::{self, Layer, SHIPPED_INDEX};
use place::Folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// How many files of a folder are looked at to see whether it changed. A project's lessons have their own limits.
const MAX_FILES: usize = 2_000;

/// What a source holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Memory,
    History,
    Broadcast,
    Lessons(Layer),
}

impl What {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Memory, "memory"),
        (Self::History, "history"),
        (Self::Broadcast, "broadcast"),
        (Self::Lessons(Layer::Project), "lessons"),
        (Self::Lessons(Layer::Personal), "personal lessons"),
        (Self::Lessons(Layer::Shipped), "shipped lessons"),
    ];
    const OF_PROJECT: [Self; 4] =
        [Self::Memory, Self::History, Self::Broadcast, Self::Lessons(Layer::Project)];
    const OF_USER: [Self; 2] = [Self::Lessons(Layer::Personal), Self::Lessons(Layer::Shipped)];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(what, _)| *what == self).map_or("", |(_, name)| name)
    }
}

/// A source of documents in files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    what: What,
    /// The key of its project; empty for what belongs to every project.
    project: String,
    /// The top of the project's work tree; empty for what belongs to every project.
    root: PathBuf,
}

impl Source {
    /// Returns the sources of the user, and those of the project that a folder is in.
    pub(super) fn at(folder: Option<&Path>) -> Vec<Self> {
        let own = What::OF_USER.map(|what| Self { what, project: String::new(), root: PathBuf::new() });
        let mut sources = own.to_vec();
        if let Some(Project { key, root, .. }) = folder.map(Project::of) {
            let of_project = |what| Self { what, project: key.clone(), root: root.clone() };
            sources.extend(What::OF_PROJECT.map(of_project));
        }
        sources
    }

    /// Returns the source that a row is about.
    pub(super) fn named(row: &FileRow) -> Option<Self> {
        let (what, _) = What::ALL.into_iter().find(|(_, name)| *name == row.source)?;
        Some(Self { what, project: row.project.clone(), root: PathBuf::from(&row.root) })
    }

    /// Says whether it holds what left a team memory.
    pub(super) fn is_history(&self) -> bool {
        self.what == What::History
    }

    /// Returns the row of this source, as it is now.
    pub(super) fn row(&self, paths: &Paths) -> FileRow {
        FileRow {
            source: self.what.name().to_owned(),
            project: self.project.clone(),
            root: self.root.to_string_lossy().into_owned(),
            fingerprint: self.fingerprint(paths).unwrap_or_default(),
        }
    }

    /// Returns what tells whether it changed; `None` where there is nothing.
    fn fingerprint(&self, paths: &Paths) -> Option<String> {
        let path = self.path(paths)?;
        let mut seed = path.to_string_lossy().into_owned();
        match self.what {
            // The lessons that ship change with the plugin alone.
            What::Lessons(Layer::Shipped) => {
                let index = path.join(SHIPPED_INDEX);
                seed.push_str(&stamp(&index).or_else(|| stamp(&path))?);
                seed.push_str(env!("CARGO_PKG_VERSION"));
            }
            What::Lessons(_) | What::Broadcast => {
                seed.push_str(&stamp(&path)?);
                add_folder(&path, &mut seed, &mut 0);
            }
            What::Memory | What::History => seed.push_str(&stamp(&path)?),
        }
        Some(digest::short_hex(seed.as_bytes()))
    }

    fn path(&self, paths: &Paths) -> Option<PathBuf> {
        match self.what {
            What::Memory => Some(Folder::find(&self.root)?.memory()),
            What::History => Some(team::history_file(&Folder::find(&self.root)?)),
            What::Broadcast => Some(Folder::find(&self.root)?.broadcast()),
            What::Lessons(Layer::Project) => place::lessons_folder(&self.root),
            What::Lessons(layer) => {
                let own = layers::Source::own(paths).into_iter();
                own.map(|source| (source.layer, source.place))
                    .find_map(|(of, place)| (of == layer).then_some(place))
            }
        }
    }

    /// Reads the documents.
    pub(super) fn documents(&self, paths: &Paths) -> Vec<Document> {
        let Some(path) = self.path(paths) else { return Vec::new() };
        match self.what {
            What::Memory => team::memory(&path, &self.project),
            What::History => team::history(&path, &self.project),
            What::Broadcast => team::broadcast(&path, &self.project),
            What::Lessons(layer) => lesson::documents(paths, layer, path, &self.project),
        }
    }
}

/// Returns the size and the time of a file or folder.
fn stamp(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let size = if metadata.is_dir() { 0 } else { metadata.len() };
    Some(format!("\n{size} {modified}"))
}

/// Adds what is in a folder, and below it, in no order of the system's.
fn add_folder(folder: &Path, seed: &mut String, count: &mut usize) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.take(MAX_FILES).flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        *count += 1;
        if *count > MAX_FILES {
            return;
        }
        seed.push_str(&path.file_name().unwrap_or_default().to_string_lossy());
        seed.push_str(&stamp(&path).unwrap_or_default());
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
            add_folder(&path, seed, count);
        }
    }
}
