//! Keeps a handoff: the observation first, then the folder. A process that is killed in between leaves a handoff without its
//! folder, which the next command that shows it writes.

use crate::{Draft, Kept, Name, folder, tree_of};
use base::{Env, Paths, Timestamp, digest};
use capture::shrink;
use chrono::{Local, TimeZone as _};
use std::io;
use std::path::PathBuf;
use text::sanitize;
use work::contexts::write::{self, BY_HAND, Place, Writer};
use work::contexts::{Action, Git, Handoff, OpenTask, Section, id};

/// The largest handoff, in bytes of its sections: it is made to be read.
pub const MAX_BYTES: usize = 1024 * 1024;
/// The most sections, and the longest name of one and the longest title, in characters.
const MOST_SECTIONS: usize = 100;
const MAX_NAME: usize = 80;
/// The section of what comes after the most.
const MORE: &str = "more sections";
const MAX_TITLE: usize = 160;
/// The most tasks, and how long each may be, in characters.
const MOST_TASKS: usize = 200;
const MAX_SUBJECT: usize = 300;
const MAX_DESCRIPTION: usize = 2_000;
/// The highest number that tells equal ids apart.
const MOST_EQUAL: u32 = 10_000;
/// How a context came about that a handoff made.
const METHOD: &str = "handoff";

/// Why a handoff was not saved.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("it has no text")]
    Empty,
    #[error("all of it is marked as private")]
    Private,
    #[error("it has {0} bytes, and a handoff has at most {MAX_BYTES}")]
    Long(usize),
    #[error("could not lock the folder of contexts")]
    Lock(#[from] work::bind::Error),
    #[error("could not record it")]
    Write(#[from] write::Error),
    #[error("could not bind the session")]
    Bind(#[source] io::Error),
    #[error("it is recorded, but could not write its folder {}", .0.display())]
    Folder(PathBuf, #[source] io::Error),
}

/// Where a handoff is saved.
#[derive(Clone, Debug)]
pub struct Into<'a> {
    pub paths: &'a Paths,
    /// Finds git.
    pub env: &'a Env,
    /// The session that saves it, and the folder that it works in.
    pub place: Place<'a>,
    /// The context; without one, one is begun with the handoff's title, and the session works on it.
    pub context: Option<&'a str>,
    pub now: Timestamp,
}

/// A handoff that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    pub kept: Kept,
    pub folder: PathBuf,
    /// The labels of sections that a handoff should have and this one has not.
    pub empty_sections: Vec<&'static str>,
    /// Whether its context was begun for it.
    pub is_context_new: bool,
}

/// Saves a handoff, without private parts and secrets.
pub fn save(draft: &Draft, into: &Into<'_>) -> Result<Saved, Error> {
    let draft = cleaned(draft)?;
    let tree = tree_of(into.place.cwd, into.env).map(without_secrets);
    let writer = Writer::new(into.paths, into.place.clone(), into.now);
    let lock = work::bind::lock(into.paths)?;
    let (context, is_context_new) = match into.context {
        Some(context) => (context.to_owned(), false),
        None => (begin(&draft, &writer, into)?, true),
    };
    let id = free_id(into.paths, &context, into.now);
    let session = (into.place.platform != Some(BY_HAND)).then(|| into.place.session.clone().into_owned());
    let mut handoff = Handoff {
        path: Some(folder::path_of(&id)),
        title: title(&draft),
        origin: draft.origin,
        sections: draft.sections.clone(),
        tasks: draft.tasks.clone(),
        tree,
        id,
        ..Handoff::default()
    };
    handoff.digest = digest_of(&context, &handoff);
    writer.act(&context, Action::Handoff(Box::new(handoff.clone())))?;
    let kept = Kept { context, at: into.now, session, handoff };
    let folder =
        folder::write(into.paths, &kept).map_err(|error| Error::Folder(kept.folder(into.paths), error))?;
    drop(lock);
    Ok(Saved { empty_sections: draft.empty_sections(), kept, folder, is_context_new })
}

/// Returns what names a handoff wherever it is seen.
pub(crate) fn digest_of(context: &str, handoff: &Handoff) -> String {
    let mut whole = format!("{context}\0{}\0{}", handoff.id, handoff.title);
    for Section { name, text } in &handoff.sections {
        whole.push_str(&format!("\0{name}\0{text}"));
    }
    digest::short_hex(whole.as_bytes())
}

fn begin(draft: &Draft, writer: &Writer<'_>, into: &Into<'_>) -> Result<String, Error> {
    let is_session = into.place.platform != Some(BY_HAND);
    let context = writer.make(&title(draft), |summary| Action::New {
        summary,
        tags: Vec::new(),
        method: METHOD.to_owned(),
        bind: is_session,
        permission_mode: None,
    })?;
    if is_session {
        write::write_binding(into.paths, &into.place.session, &context).map_err(Error::Bind)?;
    }
    Ok(context)
}

/// Returns the title, else the first line of what it says.
fn title(draft: &Draft) -> String {
    let words = |text: &str| {
        let line = text.lines().find(|line| line.chars().any(char::is_alphanumeric)).unwrap_or_default();
        sanitize::one_line(line.trim_start_matches(|c: char| !c.is_alphanumeric()), MAX_TITLE)
    };
    let parts = [Name::Summary, Name::Pending, Name::CompletedWork].map(|name| draft.text(name));
    let parts = parts.into_iter().chain(draft.sections.iter().map(|section| section.text.as_str()));
    let titles = std::iter::once(draft.title.as_str()).chain(parts).map(words);
    titles.into_iter().find(|title| !title.is_empty()).unwrap_or_else(|| "Handoff".to_owned())
}

/// Returns the draft as it may be kept.
fn cleaned(draft: &Draft) -> Result<Draft, Error> {
    let bytes = draft.sections.iter().map(|section| section.text.len()).sum();
    if bytes > MAX_BYTES {
        return Err(Error::Long(bytes));
    }
    let line = |text: &str, most: usize| sanitize::one_line(&public(text), most);
    let mut clean = Draft { title: line(&draft.title, MAX_TITLE), origin: draft.origin, ..Draft::default() };
    for (number, section) in draft.sections.iter().enumerate() {
        let name = line(&section.name, MAX_NAME);
        match number < MOST_SECTIONS {
            true => clean.add(&name, &public(&section.text)),
            false => clean.add(MORE, &format!("## {name}\n\n{}", public(&section.text))),
        }
    }
    for task in draft.tasks.iter().take(MOST_TASKS) {
        clean.tasks.push(OpenTask {
            id: line(&task.id, MAX_NAME),
            subject: line(&task.subject, MAX_SUBJECT),
            description: line(&task.description, MAX_DESCRIPTION),
            status: line(&task.status, MAX_NAME),
        });
    }
    match (clean.sections.is_empty(), draft.sections.iter().all(|section| section.text.trim().is_empty())) {
        (true, true) => Err(Error::Empty),
        (true, false) => Err(Error::Private),
        _ => Ok(clean),
    }
}

/// Returns a text without private parts and secrets.
fn public(text: &str) -> String {
    shrink::long_text(text, usize::MAX).into_owned()
}

fn without_secrets(tree: Git) -> Git {
    let clean = |text: String| text::redact::redact(&text).into_owned();
    let changed = tree.changed.into_iter().map(clean).collect();
    Git { branch: tree.branch.map(clean), commit: tree.commit, changed }
}

/// Returns an id that no handoff of the context has: the minute in local time.
fn free_id(paths: &Paths, context: &str, now: Timestamp) -> String {
    let minute = minute(now);
    let is_free = |id: &String| !folder::folder_of(paths, context, id).exists();
    let numbered = (2..MOST_EQUAL).map(|number| format!("{minute}-{number}"));
    let free = std::iter::once(minute.clone()).chain(numbered).find(is_free).unwrap_or(minute);
    debug_assert!(id::check(&free).is_ok());
    free
}

fn minute(now: Timestamp) -> String {
    let millis = i64::try_from(now.millis()).unwrap_or_default();
    let moment = Local.timestamp_millis_opt(millis).single();
    moment.map_or_else(|| millis.to_string(), |moment| moment.format("%Y-%m-%d-%H%M").to_string())
}

#[cfg(test)]
mod tests;
