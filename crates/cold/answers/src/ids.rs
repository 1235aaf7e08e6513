//! What is remembered, by the ids that people and models type.

use crate::{Error, counted, when};
use base::Paths;
use base::project::Project;
use journal::find::{self, Item, Origin};
use journal::read;
use search::sources::{self, Loaded};
use search::{Document, Kind};
use std::path::Path;
use store::Store;
use text::sanitize;

/// In characters.
const MAX_TITLE: usize = 80;
const MAX_ID: usize = 40;
/// How many entries are named where none was found.
const EXAMPLES: usize = 3;

/// Returns the entry or summary whose id begins with what was typed. `undone` says what was not done.
pub fn find(store: &Store, cwd: &Path, typed: &str, undone: &str) -> Result<Item, Error> {
    let mut found = find::by_prefix(store, typed)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(unknown(store, cwd, "no entry or summary has", typed, undone)?),
        _ => Err(more_than_one(&found.iter().map(line).collect::<Vec<_>>(), typed, undone)),
    }
}

/// Returns whatever has an id that begins with what was typed: what a search finds.
pub fn find_any(store: &Store, paths: &Paths, cwd: &Path, typed: &str) -> Result<Loaded, Error> {
    find_any_in(&[], store, paths, cwd, typed)
}

/// The same in these projects, in all without one. A whole id may be of any other: only that one can be meant by it.
pub fn find_any_in(
    projects: &[String],
    store: &Store,
    paths: &Paths,
    cwd: &Path,
    typed: &str,
) -> Result<Loaded, Error> {
    let mut found = sources::by_prefix(store, paths, typed)?;
    let is_whole = |loaded: &Loaded| sources::id_of(&loaded.document.key).eq_ignore_ascii_case(typed.trim());
    found.retain(|loaded| {
        projects.is_empty() || projects.contains(&loaded.document.project) || is_whole(loaded)
    });
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(unknown(store, cwd, "nothing has", typed, "")?),
        _ => {
            let lines: Vec<String> = found.iter().map(|loaded| document_line(&loaded.document)).collect();
            Err(more_than_one(&lines, typed, ""))
        }
    }
}

/// Something that has an id, whole.
pub enum Whole {
    Item(Box<(Item, Origin)>),
    /// Neither an entry nor a summary: a prompt, or what is in a team memory or a lesson.
    Document(Box<Loaded>),
}

impl Whole {
    pub fn find(store: &Store, paths: &Paths, cwd: &Path, typed: &str) -> Result<Self, Error> {
        let loaded = find_any(store, paths, cwd, typed)?;
        if !matches!(loaded.document.kind, Some(Kind::Entry | Kind::Summary)) {
            return Ok(Self::Document(Box::new(loaded)));
        }
        let item = find(store, cwd, sources::id_of(&loaded.document.key), "")?;
        let origin = find::origin(store, &item)?;
        Ok(Self::Item(Box::new((item, origin))))
    }

    pub fn id(&self) -> &str {
        match self {
            Self::Item(item) => item.0.id(),
            Self::Document(loaded) => sources::id_of(&loaded.document.key),
        }
    }
}

/// Returns the text of a document: a title that was too long is in the rest as well.
pub fn text_of(document: &Document) -> String {
    let Document { title, body, .. } = document;
    if body.is_empty() || body.starts_with(title) {
        return if body.is_empty() { title.clone() } else { body.clone() };
    }
    format!("{title}\n{body}")
}

/// Returns the refusal of an id that begins none; names the last entries of this project, to see how ids look.
fn unknown(store: &Store, cwd: &Path, what: &str, typed: &str, undone: &str) -> Result<Error, Error> {
    let last = match read::project_row(store, &Project::of(cwd).key)? {
        Some(project) => read::entries_where(
            store,
            "e.project = ?1 ORDER BY e.at DESC, e.id LIMIT ?2",
            (project, EXAMPLES as i64),
        )?,
        None => Vec::new(),
    };
    let typed = sanitize::one_line(typed, MAX_ID);
    let mut message = format!("{what} the id {typed:?}{undone}.");
    if !last.is_empty() {
        message.push_str(" The last entries of this project are:");
        let last: Vec<Item> = last.into_iter().map(Item::Entry).collect();
        message.extend(last.iter().map(|item| format!("\n  {}", line(item))));
    }
    Ok(Error::Unknown(message))
}

fn more_than_one(lines: &[String], typed: &str, undone: &str) -> Error {
    let typed = sanitize::one_line(typed, MAX_ID);
    let ids = counted(lines.len(), "id begins", "ids begin");
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
    Error::Unclear(format!("{ids} with {typed:?}{undone}. Type more of one:\n{}", lines.join("\n")))
}

/// Returns the line that something is recognised by: its id, when it was, and its title.
pub fn line(item: &Item) -> String {
    recognised(item.id(), item.at(), item.title())
}

fn document_line(document: &Document) -> String {
    recognised(sources::id_of(&document.key), document.at, &document.title)
}

fn recognised(id: &str, at: u64, title: &str) -> String {
    format!("{id}  {}  {}", when::recorded(at), sanitize::one_line(title, MAX_TITLE))
}
