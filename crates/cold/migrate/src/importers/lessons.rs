//! The lessons of lessons-learned: a database, else a manifest, of any of its ages.

use super::{Importer, Look};
use crate::act::{Done, Report};
use crate::journal::{Journal, Step};
use crate::{Around, Error, Result, find, systems};
use base::digest;
use lessons_admin::catalogue::Places;
use lessons_admin::import::{self, Imported, Outcome};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The database, below a data folder.
const DATABASE: &str = "lessons.db";
/// What its hooks read, made from the database.
const MANIFEST: &str = "lesson-manifest.json";
/// Where it keeps copies of the database, below the home.
const BACKUPS: &str = ".lessons-learned-backups";

pub(crate) const IMPORTER: Importer = Importer { what: "lessons", sources, look, import: import_from };

/// Returns the folders that may hold its data: those of its plugin, which are replaced on update and stay behind, those of its
/// hooks, and the one that the environment names.
pub(crate) fn data_folders(around: &Around) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = around.folder_in("LESSONS_DATA_DIR").into_iter().collect();
    let roots = find::plugin_folders(around, "lessons-learned");
    folders.extend(roots.iter().map(|root| root.join("data")));
    let hooks = systems::named("lessons-learned").map(|system| find::hook_folders(system, around));
    let roots = hooks.into_iter().flatten().filter_map(|folder| folder.parent().map(Path::to_owned));
    folders.extend(roots.map(|root| root.join("data")));
    let mut seen = BTreeSet::new();
    folders.retain(|folder| {
        let is_its = [DATABASE, MANIFEST, "config.json"].iter().any(|name| folder.join(name).is_file());
        is_its && seen.insert(base::files::canonical(folder))
    });
    folders
}

/// Returns what to import: every database, the newest first, so that its words count; without one, the newest backup, else the
/// newest manifest.
fn sources(around: &Around) -> Vec<PathBuf> {
    let folders = data_folders(around);
    let in_folders =
        |name: &str| -> Vec<PathBuf> { folders.iter().map(|folder| folder.join(name)).collect() };
    let mut databases: Vec<PathBuf> = around.folder_in("LESSONS_DB_PATH").into_iter().collect();
    databases.extend(in_folders(DATABASE));
    let databases = newest_first(databases);
    if !databases.is_empty() {
        return databases;
    }
    let backups = around.folder_in("LESSONS_BACKUP_DIR");
    let backups = backups.or_else(|| around.home().map(|home| home.join(BACKUPS)));
    let is_database = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "db");
    let copies = backups.map(|folder| base::files::files_in(&folder)).unwrap_or_default();
    let mut rest = newest_first(copies.into_iter().filter(is_database).collect());
    rest.extend(newest_first(in_folders(MANIFEST)));
    rest.truncate(1);
    rest
}

fn newest_first(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    let time =
        |file: &PathBuf| file.metadata().and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut files: Vec<PathBuf> = files.into_iter().filter(|file| file.is_file()).collect();
    files.retain(|file| seen.insert(base::files::canonical(file)));
    files.sort_by_key(|file| std::cmp::Reverse(time(file)));
    files
}

fn places(around: &Around) -> Places {
    Places { paths: around.paths.clone(), cwd: around.project.clone(), env: around.env.clone() }
}

fn look(around: &Around, source: &Path) -> Result<Look> {
    Ok(looked(&import::preview(&places(around), source, false)?.imported))
}

fn looked(imported: &Imported) -> Look {
    let new = imported.rows.iter().filter(|row| row.outcome == Outcome::Added).count();
    let mut remarks = imported.remarks.clone();
    let odd = imported.rows.iter().filter(|row| row.outcome == Outcome::Added && !row.remarks.is_empty());
    remarks.extend(odd.map(|row| format!("{}: {}", row.slug, row.remarks.join("; "))));
    Look { new, all: imported.rows.len(), remarks }
}

fn import_from(
    around: &Around,
    source: &Path,
    journal: &mut Journal,
    report: &mut Report<'_>,
) -> Result<Look> {
    let places = places(around);
    let preview = import::preview(&places, source, false)?;
    if preview.files.is_empty() {
        return Ok(looked(&preview.imported));
    }
    let files: Vec<(PathBuf, String)> = preview
        .files
        .iter()
        .map(|(file, text)| (file.clone(), digest::sha256_hex(text.as_bytes())))
        .collect();
    let parents = files.iter().flat_map(|(file, _)| file.ancestors().skip(1));
    let missing = parents.filter(|folder| folder.starts_with(around.paths.data()) && !folder.exists());
    let folders: BTreeSet<PathBuf> = missing.map(Path::to_owned).collect();
    journal.record(Step::Lessons { source: source.to_owned(), files, folders })?;
    report(Done::Recorded).map_err(Error::Stopped)?;
    Ok(looked(&import::import(&places, source, false)?))
}
