//! Documents of a team memory: its entries, its handoff notes, the text of its sections, what left it, and what is broadcast.

use super::{letter, lines, split};
use crate::document::{Document, Kind};
use base::{Timestamp, files};
use journal::entry_id;
use memory::history::{History, Removal};
use memory::section::{self, ORDER};
use memory::{Block, Entry, Memory, Section, without_comments};
use place::Folder;
use std::fs;
use std::path::{Path, PathBuf};
use text::{privacy, redact};

/// What `--type` calls the known sections.
const CLASSES: [(&str, &str); 8] = [
    (section::HANDOFF, "handoff"),
    (section::DECISIONS, "decision"),
    (section::REJECTED, "rejected"),
    (section::WORKAROUNDS, "workaround"),
    (section::BROKEN, "broken"),
    (section::SCOPE, "scope"),
    (section::QUESTIONS, "question"),
    (section::SEEDED, "seeded"),
];

/// What `--type` calls a broadcast.
const BROADCAST: &str = "broadcast";

/// How far below `broadcast/` files are looked for, how many there may be, and how much of each is read.
const MAX_DEPTH: usize = 4;
const MAX_FILES: usize = 200;
const MAX_FILE_BYTES: usize = 64 * 1024;

/// Returns the file of what left a memory.
pub(super) fn history_file(folder: &Folder) -> PathBuf {
    folder.state().join("history.jsonl")
}

/// Returns the documents of a `memory.md`.
pub(super) fn memory(path: &Path, project: &str) -> Vec<Document> {
    let Ok(bytes) = files::read_capped(path, files::cap::SHARED) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    // Private parts may begin in one entry and end in another.
    let public = redact::redact(&privacy::strip_memory(&text)).into_owned();
    let memory = Memory::parse(&without_comments(&public));
    let mut documents: Vec<Document> =
        memory.entries().map(|(section, entry)| entry_document(section, entry, project)).collect();
    documents.extend(memory.sections().iter().filter_map(|section| prose_document(section, project)));
    documents
}

fn entry_document(section: &str, entry: &Entry, project: &str) -> Document {
    let (note, from) = (entry.note(), entry.provenance());
    let class = class_of(section);
    let is_handoff = class == "handoff";
    let sort = if is_handoff { letter::HANDOFF } else { letter::MEMORY };
    let (title, body) = split(&note.text);
    let date = note.stamp.or(from.date).unwrap_or_default();
    Document {
        key: key(sort, project, section, &entry.identity()),
        kind: Some(if is_handoff { Kind::Handoff } else { Kind::Memory }),
        class,
        project: project.to_owned(),
        session: from.session.unwrap_or_default(),
        author: note.author.unwrap_or_default(),
        at: moment(&date),
        title,
        body,
        ..Document::default()
    }
}

/// Returns the text of a section that is in no entry.
fn prose_document(section: &Section, project: &str) -> Option<Document> {
    let prose = section.blocks().iter().filter_map(|block| match block {
        Block::Prose(text) => Some(text.as_str()),
        _ => None,
    });
    let body = lines(prose);
    (!body.is_empty()).then(|| Document {
        key: key(letter::MEMORY, project, section.name(), "\nprose"),
        kind: Some(Kind::Memory),
        class: class_of(section.name()),
        project: project.to_owned(),
        title: section.name().to_owned(),
        body,
        ..Document::default()
    })
}

/// Returns the documents of what left a memory.
pub(super) fn history(path: &Path, project: &str) -> Vec<Document> {
    let Ok(bytes) = files::read_capped(path, files::cap::LARGEST) else { return Vec::new() };
    let history = History::parse(&String::from_utf8_lossy(&bytes));
    history.removals.iter().filter_map(|removal| removal_document(removal, project)).collect()
}

fn removal_document(removal: &Removal, project: &str) -> Option<Document> {
    let clean = |text: &str| redact::redact(&privacy::strip_private(text)).into_owned();
    let (title, rest) = split(&clean(&removal.text));
    let labelled = |label: &str, text: &str| match clean(text).trim() {
        "" => String::new(),
        text => format!("{label}: {text}"),
    };
    let why = labelled("why", &removal.why);
    let after = labelled("superseded by", removal.replaced_by.as_deref().unwrap_or_default());
    (!title.is_empty()).then(|| Document {
        key: key(letter::HISTORY, project, &removal.section, &format!("{}\n{}", removal.when, removal.text)),
        kind: Some(Kind::History),
        class: class_of(&removal.section),
        project: project.to_owned(),
        author: removal.by.clone(),
        at: moment(&removal.when),
        title,
        body: lines([&*rest, &*after, &*why]),
        ..Document::default()
    })
}

/// Returns the documents of what a team broadcasts.
pub(super) fn broadcast(folder: &Path, project: &str) -> Vec<Document> {
    let mut found = Vec::new();
    walk(folder, 0, &mut found);
    let document = |file: PathBuf| {
        let mut bytes = Vec::new();
        files::read_start(&file, MAX_FILE_BYTES, &mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let text = redact::redact(&privacy::strip_composed(&text).text).into_owned();
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        Some(Document {
            key: key(letter::BROADCAST, project, BROADCAST, &name),
            kind: Some(Kind::Memory),
            class: BROADCAST.to_owned(),
            project: project.to_owned(),
            files: vec![name.clone()],
            title: name,
            body: lines([&*without_comments(&text)]),
            ..Document::default()
        })
    };
    found.into_iter().filter_map(document).collect()
}

/// Finds the files below a folder, without following a link.
fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let is_folder = || fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
    if depth > MAX_DEPTH || depth == 0 && !is_folder() {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<fs::DirEntry> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            walk(&entry.path(), depth + 1, found);
        } else if kind.is_file()
            && name != ".gitkeep"
            && !files::is_temporary(&name)
            && found.len() < MAX_FILES
        {
            found.push(entry.path());
        }
    }
}

/// Returns a key whose id can be typed: the same for the same text of the same project.
pub(super) fn key(sort: char, project: &str, section: &str, text: &str) -> String {
    format!("{sort}:{}", entry_id("search", project, &format!("{sort} {}", section.to_lowercase()), text))
}

fn class_of(name: &str) -> String {
    let name = name.trim().to_lowercase();
    debug_assert_eq!(CLASSES.len(), ORDER.len(), "every known section has a word");
    let known = CLASSES.iter().find(|(section, _)| section.to_lowercase() == name);
    known.map_or(name, |(_, class)| (*class).to_owned())
}

/// Returns a moment, or the noon of a date, in milliseconds since 1970; 0 for what is neither.
fn moment(date: &str) -> u64 {
    let is_day = date.len() == "2026-11-16".len();
    let whole = if is_day { format!("{date}T12:00:00Z") } else { date.to_owned() };
    whole.parse::<Timestamp>().map_or(0, Timestamp::millis)
}
