//! Entries and summaries of the journal, by the ids that people and models type.

use crate::exit::Ending;
use crate::terminal::counted;
use crate::when;
use anyhow::Result;
use base::Timestamp;
use base::project::Project;
use journal::find::{self, Item};
use journal::read;
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
        0 => Err(unknown(store, typed, undone)?.into()),
        _ => Err(ambiguous(&found, typed, undone).into()),
    }
}

/// Returns the refusal of an id that begins none; names the last entries of this project, to see how ids look.
pub(crate) fn unknown(store: &Store, typed: &str, undone: &str) -> Result<Ending> {
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
    let mut message = format!("wyren: no entry or summary has the id {typed:?}{undone}.");
    if !last.is_empty() {
        message.push_str(" The last entries of this project are:");
        let last: Vec<Item> = last.into_iter().map(Item::Entry).collect();
        message.extend(last.iter().map(|item| format!("\n  {}", line(item))));
    }
    Ok(Ending::failed(message))
}

fn ambiguous(found: &[Item], typed: &str, undone: &str) -> Ending {
    let typed = sanitize::one_line(typed, MAX_ID);
    let ids = counted(found.len() as u64, "id begins", "ids begin");
    let lines: Vec<String> = found.iter().map(|item| format!("  {}", line(item))).collect();
    Ending::misused(format!("wyren: {ids} with {typed:?}{undone}. Type more of one:\n{}", lines.join("\n")))
}

/// Returns the line that something is recognised by: its id, when it was, and its title.
pub(crate) fn line(item: &Item) -> String {
    let when = when::local_minute(Timestamp::from_millis(item.at()));
    format!("{}  {when}  {}", item.id(), sanitize::one_line(item.title(), MAX_TITLE))
}
