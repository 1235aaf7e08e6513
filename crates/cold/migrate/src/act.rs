//! Does what a plan says: imports first, then switches hooks off, so that a failed import leaves the earlier system at work.

use crate::importers::Look;
use crate::journal::{Journal, Step};
use crate::plan::{Edit, Link, Part, Plan};
use crate::{Around, Error, Result};
use base::{Timestamp, digest, files};
use install::settings::file;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The mode of a settings file that is made.
const MODE_IF_NEW: u32 = 0o600;

/// Something that was done.
#[derive(Debug)]
pub enum Done<'a> {
    /// A step is in the journal, and not taken yet.
    Recorded,
    Imported {
        part: &'a Part,
        what: &'static str,
        source: &'a Path,
        look: Look,
    },
    Disabled {
        edit: &'a Edit,
        backup: Option<PathBuf>,
    },
    Unlinked(&'a Path),
    Linked(&'a Path),
}

/// Takes notice of what was done; where it fails, nothing more is done.
pub type Report<'a> = dyn FnMut(Done<'_>) -> io::Result<()> + 'a;

/// Carries out a plan and reports each thing that was done; a report that fails ends it. Returns what could not be done. The
/// caller holds the lock of the client's files from before the plan was made.
pub fn act(
    plan: &Plan,
    around: &Around,
    journal: &mut Journal,
    report: &mut Report<'_>,
) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for part in &plan.parts {
        for import in part.imports.iter().filter(|import| import.look.new > 0) {
            match (import.importer.import)(around, &import.source, journal, report) {
                Ok(look) => {
                    let (what, source) = (import.importer.what, &*import.source);
                    report(Done::Imported { part, what, source, look }).map_err(Error::Stopped)?;
                }
                Err(stopped @ Error::Stopped(_)) => return Err(stopped),
                Err(error) => {
                    problems.push(format!("could not import {}: {error}", import.source.display()));
                }
            }
        }
    }
    if !problems.is_empty() {
        problems.push("the hooks of the earlier systems were left on".to_owned());
        return Ok(problems);
    }
    for edit in &plan.edits {
        match disable(edit, journal, report) {
            Ok(backup) => report(Done::Disabled { edit, backup }).map_err(Error::Stopped)?,
            Err(Error::Settings(error)) => {
                journal.drop_last()?;
                problems.push(error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    for path in plan.parts.iter().flat_map(|part| &part.unlinks) {
        match unlink(path, journal, report) {
            Ok(()) => report(Done::Unlinked(path)).map_err(Error::Stopped)?,
            Err(stopped @ Error::Stopped(_)) => return Err(stopped),
            Err(error) => problems.push(format!("could not take {} from the PATH: {error}", path.display())),
        }
    }
    for link in plan.parts.iter().filter_map(|part| part.link.as_ref()).filter(|link| link.is_due) {
        match make(link, journal, report) {
            Ok(()) => report(Done::Linked(&link.place)).map_err(Error::Stopped)?,
            Err(stopped @ Error::Stopped(_)) => return Err(stopped),
            Err(error) => problems.push(format!("could not make {}: {error}", link.place.display())),
        }
    }
    Ok(problems)
}

fn disable(edit: &Edit, journal: &mut Journal, report: &mut Report<'_>) -> Result<Option<PathBuf>> {
    let mut now = Timestamp::now();
    while file::backup_name(&edit.path, now).exists() {
        now = Timestamp::from_millis(now.millis() + 1);
    }
    let digest = |text: &String| digest::sha256_hex(text.as_bytes());
    journal.record(Step::Settings {
        path: edit.path.clone(),
        before: edit.before.as_ref().map(digest),
        after: digest(&edit.after),
        backup: edit.before.is_some().then(|| file::backup_name(&edit.path, now)),
        hooks: edit.hooks.clone(),
        members: edit.members.clone(),
        plugins: edit.plugins.clone(),
    })?;
    report(Done::Recorded).map_err(Error::Stopped)?;
    let change = file::edited(&edit.path, edit.before.clone(), edit.after.clone());
    Ok(file::apply(&change, now, MODE_IF_NEW)?)
}

fn make(link: &Link, journal: &mut Journal, report: &mut Report<'_>) -> Result<()> {
    let (path, program) = (link.place.clone(), link.program.clone());
    let folders = path.ancestors().skip(1).filter(|folder| !folder.exists()).map(Path::to_owned).collect();
    journal.record(Step::Link { path, program, folders })?;
    report(Done::Recorded).map_err(Error::Stopped)?;
    if let Err(error) = install::link::link(&link.place, &link.program) {
        journal.drop_last()?;
        return Err(Error::at(&link.place)(error));
    }
    Ok(())
}

fn unlink(path: &Path, journal: &mut Journal, report: &mut Report<'_>) -> Result<()> {
    let at = Error::at(path);
    let metadata = fs::symlink_metadata(path).map_err(Error::at(path))?;
    let (link, text) = if metadata.is_symlink() {
        (Some(fs::read_link(path).map_err(Error::at(path))?), None)
    } else {
        (None, Some(files::read_text_capped(path, files::cap::TEXTS).map_err(Error::at(path))?))
    };
    let mode = text.as_ref().and_then(|_| mode_of(&metadata));
    journal.record(Step::Program { path: path.to_owned(), link, text, mode })?;
    report(Done::Recorded).map_err(Error::Stopped)?;
    if let Err(error) = fs::remove_file(path) {
        journal.drop_last()?;
        return Err(at(error));
    }
    Ok(())
}

#[cfg(unix)]
fn mode_of(metadata: &fs::Metadata) -> Option<u32> {
    Some(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777)
}

#[cfg(not(unix))]
fn mode_of(_metadata: &fs::Metadata) -> Option<u32> {
    None
}
