//! The folder of a handoff: `work/<context>/handoffs/<id>/`, for people. It can be written again from the observation at any time,
//! and appears whole, by one rename.

use crate::{Kept, Name};
use base::{Paths, files};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use work::contexts::id;

/// The folder of handoffs in that of a context.
const HANDOFFS: &str = "handoffs";
/// What has no place of its own.
const EXTRA: &str = "extra.md";
/// The text of a file whose section is empty.
const NOTHING: &str = "Nothing was noted.";

/// Returns the folder of a handoff.
pub fn folder_of(paths: &Paths, context: &str, id: &str) -> PathBuf {
    folder_in(paths, context).join(id)
}

pub(crate) fn folder_in(paths: &Paths, context: &str) -> PathBuf {
    paths.work().join(context).join(HANDOFFS)
}

/// Returns the path of a handoff's index, relative to the context's folder.
pub(crate) fn path_of(id: &str) -> String {
    format!("{HANDOFFS}/{id}/{}", Name::Summary.file())
}

/// Writes the folders that are missing; returns how many.
pub fn write_missing(paths: &Paths, kept: &[Kept]) -> io::Result<usize> {
    let mut written = 0;
    for kept in kept.iter().filter(|kept| !kept.folder(paths).is_dir()) {
        write(paths, kept)?;
        written += 1;
    }
    Ok(written)
}

/// Writes the folder of a handoff, whole or not at all.
pub(crate) fn write(paths: &Paths, kept: &Kept) -> io::Result<PathBuf> {
    let folder = kept.folder(paths);
    let handoffs = folder_in(paths, &kept.context);
    files::create_private_folder(&handoffs)?;
    let temporary = handoffs.join(format!(".{}.{}.tmp", kept.handoff.id, std::process::id()));
    // Left by a killed process that had this number.
    remove_all(&temporary)?;
    let written = write_into(&temporary, kept).and_then(|()| fs::rename(&temporary, &folder));
    if written.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    written.map(|()| folder)
}

fn write_into(folder: &Path, kept: &Kept) -> io::Result<()> {
    files::create_private(folder)?;
    for (name, text) in texts(kept) {
        files::write_atomic(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}

fn remove_all(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes folders of handoffs that are no more: those of `before` that `left` does not name. What is made meanwhile is in
/// neither.
pub fn sweep(paths: &Paths, before: &[(String, String)], left: &[Kept]) -> io::Result<()> {
    let left: BTreeSet<(&str, &str)> =
        left.iter().map(|kept| (kept.context.as_str(), kept.handoff.id.as_str())).collect();
    for (context, id) in before.iter().filter(|(context, id)| !left.contains(&(context, id))) {
        remove_all(&folder_of(paths, context, id))?;
        let _ = fs::remove_dir(folder_in(paths, context));
    }
    Ok(())
}

/// Returns the context and the id of every folder of a handoff, with those that a killed process did not finish.
pub fn folders(paths: &Paths) -> io::Result<Vec<(String, String)>> {
    if !paths.work().is_dir() {
        return Ok(Vec::new());
    }
    // One that is being saved has its observation before its folder.
    let _lock = work::bind::lock(paths).map_err(io::Error::other)?;
    let mut found = Vec::new();
    for context in names_in(&paths.work()).into_iter().filter(|context| id::check(context).is_ok()) {
        let handoffs = names_in(&folder_in(paths, &context));
        found.extend(handoffs.into_iter().map(|id| (context.clone(), id)));
    }
    Ok(found)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Returns the files of a handoff, each with its name.
pub(crate) fn texts(kept: &Kept) -> Vec<(&'static str, String)> {
    let mut texts = vec![(Name::Summary.file(), index(kept))];
    for name in Name::ASKED {
        let text = Some(kept.text(name)).filter(|text| !text.is_empty()).unwrap_or(NOTHING);
        texts.push((name.file(), format!("# {}\n\n{text}\n", capital(name.label()))));
    }
    if !kept.text(Name::Thread).is_empty() {
        texts.push((Name::Thread.file(), format!("# Thread\n\n{}\n", kept.text(Name::Thread))));
    }
    let extra: String = others(kept).map(|(name, text)| format!("\n## {name}\n\n{text}\n")).collect();
    if !extra.is_empty() {
        texts.push((EXTRA, format!("# Other sections\n{extra}")));
    }
    texts
}

/// Returns the sections that have no place of their own.
pub(crate) fn others(kept: &Kept) -> impl Iterator<Item = (&str, &str)> {
    let sections = kept.handoff.sections.iter().filter(|section| Name::of(&section.name).is_none());
    sections.map(|section| (section.name.as_str(), section.text.as_str()))
}

fn index(kept: &Kept) -> String {
    let handoff = &kept.handoff;
    let mut text =
        format!("---\ntype: handoff\ncontext: {}\nid: {}\nsaved: {}\n", kept.context, handoff.id, kept.at);
    if let Some(session) = &kept.session {
        text.push_str(&format!("session: {session}\n"));
    }
    text.push_str(&format!("---\n\n# {}\n", handoff.title));
    let summary = kept.text(Name::Summary);
    if !summary.is_empty() {
        text.push_str(&format!("\n{summary}\n"));
    }
    text.push_str("\nRead the dead ends and what is pending first.\n\n");
    let first = [Name::DeadEnds, Name::Pending];
    let rest = Name::ASKED.into_iter().filter(|name| !first.contains(name));
    for name in first.into_iter().chain(rest) {
        let empty = if kept.text(name).is_empty() { " (empty)" } else { "" };
        text.push_str(&format!("- [{}]({}){empty}\n", capital(name.label()), name.file()));
    }
    if others(kept).next().is_some() {
        text.push_str(&format!("- [Other sections]({EXTRA})\n"));
    }
    if !handoff.tasks.is_empty() {
        text.push_str("\n## Open tasks\n\n");
        for task in &handoff.tasks {
            text.push_str(&task_line(task));
        }
    }
    if let Some(tree) = &handoff.tree {
        text.push_str("\n## Repository\n\n");
        for (what, value) in [("branch", &tree.branch), ("commit", &tree.commit)] {
            if let Some(value) = value {
                text.push_str(&format!("- {what}: {value}\n"));
            }
        }
        for file in &tree.changed {
            text.push_str(&format!("- not committed: {file}\n"));
        }
    }
    format!("{text}\nTo go on: `wyren handoff resume {}`\n", kept.name())
}

pub(crate) fn task_line(task: &work::contexts::OpenTask) -> String {
    let id = if task.id.is_empty() { String::new() } else { format!("{} ", task.id) };
    let status = if task.status.is_empty() { String::new() } else { format!("[{}] ", task.status) };
    let mut line = format!("- {id}{status}{}\n", task.subject);
    if !task.description.is_empty() {
        line.push_str(&format!("  {}\n", task.description.replace('\n', "\n  ")));
    }
    line
}

pub(crate) fn capital(label: &str) -> String {
    let mut letters = label.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}
