//! What is remembered, by the ids that people and models type.

use crate::exit::Ending;
use crate::terminal::counted;
use crate::when;
use anyhow::Result;
use base::project::Project;
use base::{Paths, Timestamp};
use journal::find::{self, Item};
use journal::read;
use search::Document;
use search::sources::{self, Loaded};
use std::path::Path;
use store::Store;
use text::sanitize;

/// In characters.
const MAX_TITLE: usize = 80;
const MAX_ID: usize = 40;
/// How many entries are named where none was found.
const EXAMPLES: usize = 3;

/// Returns the entry or summary whose id begins with what was typed. `undone` says what was not done.
pub(crate) fn find(store: &Store, typed: &str, undone: &str) -> Result<Item> {
    let mut found = find::by_prefix(store, typed)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(unknown(store, "no entry or summary has", typed, undone)?.into()),
        _ => Err(ambiguous(&found, typed, undone).into()),
    }
}

/// Returns whatever has an id that begins with what was typed: what `wyren search` finds.
pub(crate) fn find_any(store: &Store, paths: &Paths, typed: &str) -> Result<Loaded> {
    let mut found = sources::by_prefix(store, paths, typed)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(unknown(store, "nothing has", typed, "")?.into()),
        _ => {
            let lines: Vec<String> = found.iter().map(|loaded| document_line(&loaded.document)).collect();
            Err(more_than_one(&lines, typed, "").into())
        }
    }
}

/// Returns the refusal of an id that begins none; names the last entries of this project, to see how ids look.
fn unknown(store: &Store, what: &str, typed: &str, undone: &str) -> Result<Ending> {
    let key = std::env::current_dir().map(|folder| Project::of(Path::new(&folder)).key).unwrap_or_default();
    let last = match read::project_row(store, &key)? {
        Some(project) => read::entries_where(
            store,
            "e.project = ?1 ORDER BY e.at DESC, e.id LIMIT ?2",
            (project, EXAMPLES as i64),
        )?,
        None => Vec::new(),
    };
    let typed = sanitize::one_line(typed, MAX_ID);
    let mut message = format!("wyren: {what} the id {typed:?}{undone}.");
    if !last.is_empty() {
        message.push_str(" The last entries of this project are:");
        let last: Vec<Item> = last.into_iter().map(Item::Entry).collect();
        message.extend(last.iter().map(|item| format!("\n  {}", line(item))));
    }
    Ok(Ending::failed(message))
}

fn ambiguous(found: &[Item], typed: &str, undone: &str) -> Ending {
    more_than_one(&found.iter().map(line).collect::<Vec<_>>(), typed, undone)
}

fn more_than_one(lines: &[String], typed: &str, undone: &str) -> Ending {
    let typed = sanitize::one_line(typed, MAX_ID);
    let ids = counted(lines.len() as u64, "id begins", "ids begin");
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
    Ending::misused(format!("wyren: {ids} with {typed:?}{undone}. Type more of one:\n{}", lines.join("\n")))
}

/// Returns the line that something is recognised by: its id, when it was, and its title.
pub(crate) fn line(item: &Item) -> String {
    recognised(item.id(), item.at(), item.title())
}

fn document_line(document: &Document) -> String {
    recognised(sources::id_of(&document.key), document.at, &document.title)
}

fn recognised(id: &str, at: u64, title: &str) -> String {
    let when = if at == 0 { "–".to_owned() } else { when::local_minute(Timestamp::from_millis(at)) };
    format!("{id}  {when}  {}", sanitize::one_line(title, MAX_TITLE))
}
