//! Cursor's transcripts below a folder, and the folders that their sessions worked in.

use super::{Session, blocks_of};
use base::files;
use capture::Fields;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use transcript::{stream, tree};

const TRANSCRIPTS: &str = "agent-transcripts";
const SUBAGENTS: &str = "subagents";
/// Where Cursor notes that the user trusts a folder, with its path.
const TRUSTED: &str = ".workspace-trusted";
/// The fields of inputs that have a path.
const PATHS: [&str; 5] = ["working_directory", "path", "file_path", "target_file", "target_directory"];

/// The sessions that were found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) sessions: Vec<Session>,
    /// Subagents without the transcript of their session.
    pub(crate) orphans: u64,
    pub(crate) unreadable: u64,
}

/// Finds the transcripts below a folder: Cursor's `projects`, or one project's.
pub(crate) fn find(folder: &Path) -> Result<Found, transcript::Error> {
    let walked = tree::walk(folder)?;
    let mut sessions: Vec<Session> = Vec::new();
    let mut helpers: BTreeMap<PathBuf, Vec<(PathBuf, String)>> = BTreeMap::new();
    let mut folders: HashMap<PathBuf, Vec<PathBuf>> = HashMap::new();
    for path in walked.transcripts {
        let Some(project) = project_of(&path) else { continue };
        folders.entry(project.to_owned()).or_default().push(path.clone());
        let id = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match path.parent().filter(|parent| parent.file_name() == Some(OsStr::new(SUBAGENTS))) {
            Some(folder) => {
                let session = folder.parent().unwrap_or(folder).to_owned();
                helpers.entry(session).or_default().push((path, id));
            }
            None => sessions.push(Session { path, id, cwd: String::new(), helpers: Vec::new() }),
        }
    }
    let folders: HashMap<PathBuf, String> =
        folders.into_iter().map(|(project, paths)| (project.clone(), workspace(&project, &paths))).collect();
    for session in &mut sessions {
        let own = session.path.parent().filter(|folder| folder.file_name() == Some(OsStr::new(&session.id)));
        // Earlier versions wrote `<session>.jsonl` without a folder of its own.
        let own = own.map_or_else(|| session.path.with_extension(""), Path::to_owned);
        session.helpers = helpers.remove(&own).unwrap_or_default();
        let project = project_of(&session.path);
        session.cwd = project.and_then(|project| folders.get(project)).cloned().unwrap_or_default();
    }
    let orphans = helpers.values().map(|helpers| helpers.len() as u64).sum();
    Ok(Found { sessions, orphans, unreadable: walked.unreadable_folders })
}

/// Returns the folder that Cursor keeps for a project, of a transcript in it.
fn project_of(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.file_name() == Some(OsStr::new(TRANSCRIPTS)))?.parent()
}

/// Returns the folder that a project is: as Cursor noted it, else the path in a call whose name is that of Cursor's folder.
fn workspace(project: &Path, transcripts: &[PathBuf]) -> String {
    let name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let noted = files::read_if_there(&project.join(TRUSTED)).ok().flatten();
    let noted = noted.and_then(|note| {
        let note = String::from_utf8(note).ok()?;
        Some(Fields::read(&note)?.text("workspacePath")?.into_owned())
    });
    if let Some(path) = noted.filter(|path| is_absolute(path)) {
        return path;
    }
    transcripts.iter().find_map(|path| named_in(path, &name)).unwrap_or_default()
}

fn named_in(path: &Path, name: &str) -> Option<String> {
    let mut file = files::open_regular(path).ok()?;
    let mut found = None;
    let read = stream::read_lines(&mut file, 0, |_, line| {
        if found.is_none() && line.contains("\"tool_use\"") {
            found = named_in_line(line, name);
        }
    });
    read.ok().and(found)
}

fn named_in_line(line: &str, name: &str) -> Option<String> {
    let fields = Fields::read(line)?;
    let message = Fields::read(fields.get("message")?.get())?;
    blocks_of(message.get("content")?).iter().find_map(|block| {
        let input = Fields::read(block.get("input")?.get())?;
        PATHS.iter().find_map(|field| above(&input.text(field)?, name))
    })
}

/// Returns the folder at or above a path that Cursor would give this name.
fn above(path: &str, name: &str) -> Option<String> {
    if !is_absolute(path) || name.is_empty() {
        return None;
    }
    let ends = path.char_indices().filter(|(_, letter)| matches!(letter, '/' | '\\')).map(|(at, _)| at);
    let ends = ends.chain([path.len()]);
    ends.map(|end| &path[..end]).find(|folder| encoded(folder) == name).map(str::to_owned)
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
        || matches!(path.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
}

/// Returns the name that Cursor gives to a folder: runs of what is no letter or digit become one hyphen.
fn encoded(path: &str) -> String {
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_the_name_that_cursor_gives_it() {
        for (path, name, expected) in [
            ("/home/dev/my.shop/src/a.rs", "home-dev-my-shop", Some("/home/dev/my.shop")),
            ("/home/dev/my.shop", "home-dev-my-shop", Some("/home/dev/my.shop")),
            ("C:\\Users\\dev\\shop\\a.rs", "C-Users-dev-shop", Some("C:\\Users\\dev\\shop")),
            ("/etc/hosts", "home-dev-shop", None),
            ("src/home/dev/shop", "home-dev-shop", None),
            ("/", "", None),
        ] {
            assert_eq!(above(path, name).as_deref(), expected, "{path}");
        }
    }
}
