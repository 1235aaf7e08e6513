//! Takes a migration back, the last step first. A file that is as the migration left it becomes what it was, byte for byte;
//! from one that changed since, only the migration's own part is taken back.

use crate::importers::claude_mem;
use crate::journal::{Journal, Step};
use crate::{Around, Error, Result};
use base::{Timestamp, digest, files};
use config::{Config, Source};
use install::link;
use install::ours::Surroundings;
use install::settings::beneath;
use install::settings::file;
use install::settings::others;
use lessons_admin::catalogue::Places;
use lessons_admin::import;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The result of taking one step back.
#[derive(Debug, PartialEq, Eq)]
pub enum Undone {
    /// The step was never taken, or is taken back already.
    Nothing,
    /// The file is what it was.
    Restored(PathBuf),
    /// The file changed since; the migration's part is taken back.
    TakenBack(PathBuf),
    /// Lessons were removed; these changed since and stay.
    Lessons { removed: usize, changed: Vec<PathBuf> },
    /// Records left the database.
    Records { removed: u64 },
    /// The link is gone.
    Unlinked(PathBuf),
    /// Something else is at its place by now, and stays.
    Left(PathBuf),
}

/// Takes every step back and reports each result; a report that fails ends it. Returns what could not be done: those steps stay
/// in the journal, with all before them.
pub fn undo(
    around: &Around,
    journal: &mut Journal,
    report: &mut dyn FnMut(Undone) -> io::Result<()>,
) -> Result<Vec<String>> {
    while let Some(step) = journal.steps.last().cloned() {
        match take_back(around, &step) {
            Ok(undone) => report(undone).map_err(Error::Stopped)?,
            Err(error) => return Ok(vec![error.to_string()]),
        }
        journal.drop_last()?;
    }
    Ok(Vec::new())
}

fn take_back(around: &Around, step: &Step) -> Result<Undone> {
    match step {
        Step::Settings { .. } => settings(around, step),
        Step::Config { before, after, values } => config_file(around, before.as_deref(), after, values),
        Step::Lessons { files, folders, .. } => {
            let places =
                Places { paths: around.paths.clone(), cwd: around.project.clone(), env: around.env.clone() };
            let there = files.iter().filter(|(file, _)| file.exists()).count();
            let changed = import::take_back(&places, files)?;
            // The deepest first; one that holds something stays.
            for folder in folders.iter().rev() {
                let _ = fs::remove_dir(folder);
            }
            Ok(Undone::Lessons { removed: there - changed.len(), changed })
        }
        Step::Records { after, .. } => {
            Ok(Undone::Records { removed: claude_mem::take_back(around, *after)? })
        }
        Step::Program { path, link, text, mode } => program(path, link.as_deref(), text.as_deref(), *mode),
        Step::Link { path, program, folders } => {
            let there = link::look(path, program);
            if there == link::Link::Theirs {
                return Ok(Undone::Left(path.clone()));
            }
            files::remove_if_there(path).map_err(Error::at(path))?;
            // The deepest first; one that holds something stays.
            for folder in folders.iter().rev() {
                let _ = fs::remove_dir(folder);
            }
            let is_gone = there == link::Link::Missing;
            Ok(if is_gone { Undone::Nothing } else { Undone::Unlinked(path.clone()) })
        }
    }
}

fn settings(around: &Around, step: &Step) -> Result<Undone> {
    let Step::Settings { path, before, after, backup, hooks, members, plugins } = step else {
        return Ok(Undone::Nothing);
    };
    let now = file::read(path)?;
    let digest_of = |text: &str| digest::sha256_hex(text.as_bytes());
    let is_as_before = now.as_deref().map(digest_of) == *before;
    // A backup that the user changed is theirs.
    let kept = match backup {
        Some(backup) => file::read(backup)?.filter(|text| Some(digest_of(text)) == *before),
        None => None,
    };
    let ours = backup.clone().filter(|_| kept.is_some());
    if is_as_before {
        if let Some(backup) = ours {
            files::remove_if_there(&backup).map_err(Error::at(&backup))?;
        }
        return Ok(Undone::Nothing);
    }
    let is_untouched = now.as_deref().map(digest_of).as_ref() == Some(after);
    if is_untouched && (kept.is_some() || before.is_none()) {
        let change = file::restored(path, now, kept, ours);
        file::apply(&change, Timestamp::now(), 0o600)?;
        return Ok(Undone::Restored(path.clone()));
    }
    let text = now.clone().unwrap_or_default();
    // What `wyren install` added since is no change of the user's: it stays, and the rest becomes what it was.
    if kept.is_some() || before.is_none() {
        let surroundings =
            Surroundings { home: around.home(), project: around.project.clone(), ..Surroundings::default() };
        let is_edited = |text: &str| digest_of(text) == *after;
        let beneath =
            beneath::beneath(path, &text, kept.as_deref().unwrap_or_default(), is_edited, &surroundings);
        if let Some(beneath) = beneath {
            // The migration's backup stays in place of that of the installation, for `wyren uninstall`.
            let change = file::restored(path, now, Some(beneath.text), beneath.backup);
            file::apply(&change, Timestamp::now(), 0o600)?;
            return Ok(Undone::TakenBack(path.clone()));
        }
    }
    let back = || {
        let mut text = others::with_entries(&text, hooks)?;
        for (key, value) in members {
            text = others::with_member(&text, key, value)?;
        }
        let words = others::plugins(&text)?;
        for (id, before) in plugins {
            // Where the user switched it on again, their word counts.
            if words.get(id) == Some(&serde_json::Value::Bool(false)) {
                text = others::with_plugin(&text, id, before.as_ref())?;
            }
        }
        Ok(text)
    };
    let text = back().map_err(|error| file::Error::Refused(path.clone(), error))?;
    let change = file::restored(path, now, Some(text), ours);
    file::apply(&change, Timestamp::now(), 0o600)?;
    Ok(Undone::TakenBack(path.clone()))
}

fn config_file(
    around: &Around,
    before: Option<&str>,
    after: &str,
    values: &std::collections::BTreeMap<String, String>,
) -> Result<Undone> {
    let path = around.paths.config_file();
    let now = file::read(&path)?;
    if now.as_deref() == before {
        return Ok(Undone::Nothing);
    }
    if now.as_deref().map(|text| digest::sha256_hex(text.as_bytes())).as_deref() == Some(after) {
        config::replace(&around.paths, before)?;
        return Ok(Undone::Restored(path));
    }
    let present = Config::load(&base::Env::fixed::<String, String>([]), &around.paths);
    let is_as_set = |name: &str, value: &str| {
        present.get(name).is_ok_and(|setting| setting.value == value && setting.source != Source::Default)
    };
    // Only values that were at their defaults were set.
    let ours: Vec<(&str, Option<&str>)> = values
        .iter()
        .filter(|(name, value)| is_as_set(name, value))
        .map(|(name, _)| (name.as_str(), None))
        .collect();
    config::replace(&around.paths, Some(&config::text_with(&around.paths, &ours)?))?;
    Ok(Undone::TakenBack(path))
}

fn program(path: &Path, link: Option<&Path>, text: Option<&str>, mode: Option<u32>) -> Result<Undone> {
    if path.symlink_metadata().is_ok() {
        let is_same = match (link, text) {
            (Some(link), _) => fs::read_link(path).is_ok_and(|target| target == link),
            (_, Some(text)) => files::read_text_capped(path, files::cap::TEXTS).is_ok_and(|now| now == text),
            _ => false,
        };
        return Ok(if is_same { Undone::Nothing } else { Undone::Left(path.to_owned()) });
    }
    if let Some(text) = text {
        files::write_atomic_with(path, |file| {
            io::Write::write_all(file, text.as_bytes())?;
            set_mode(file, mode)
        })
        .map_err(Error::at(path))?;
    }
    #[cfg(unix)]
    if let Some(link) = link {
        std::os::unix::fs::symlink(link, path).map_err(Error::at(path))?;
    }
    Ok(Undone::Restored(path.to_owned()))
}

#[cfg(unix)]
fn set_mode(file: &fs::File, mode: Option<u32>) -> io::Result<()> {
    let permissions = mode.map(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode);
    permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))
}

#[cfg(not(unix))]
fn set_mode(_file: &fs::File, _mode: Option<u32>) -> io::Result<()> {
    Ok(())
}
