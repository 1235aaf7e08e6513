//! Contexts of aiwcli: an `_output/` folder of any of its three generations becomes observations.
//!
//! Each observation has an id that follows from what it says: a folder that is imported again adds what changed since, and
//! nothing twice. The folder is in a repository, so its text is anybody's: it is read within bounds, links are not followed, and
//! ids that could name another place are passed over. The folder itself stays as it is.

mod state;
pub(crate) mod tasks;

use crate::contexts::id::{self, Unfit};
use crate::contexts::write::{self, Place, Writer};
use crate::contexts::{Action, File, Handoff, Imported, Mode, Origin, Section, plan};
use base::project::Project;
use base::{Paths, Timestamp, digest, files};
use capture::{Data, Kept, Observation, Spool};
use chrono::{Local, NaiveDateTime, TimeZone as _};
use serde_json::{Value, json};
use state::Old;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of contexts, and those that ended in it.
const CONTEXTS: &str = "contexts";
const ARCHIVE: &str = "_archive";
/// What is read of a context besides its state.
const PARTS: [&str; 3] = ["plans", "handoffs", "notes"];
/// The file of a handoff that names the others.
const INDEX: &str = "index.md";
/// In bytes.
const MAX_STATE: usize = 4 * 1024 * 1024;
const MAX_FILE: usize = 128 * 1024;
const MAX_FILES: usize = 2 * 1024 * 1024;
/// How many contexts, files of one, and folders in folders are read.
const MOST_CONTEXTS: usize = 5_000;
const MOST_FILES: usize = 200;
const MOST_DEPTH: usize = 3;
/// How the names of contexts and of handoffs begin, and how long that is.
const OF_ID: (&str, usize) = ("%y%m%d-%H%M", 11);
const OF_HANDOFF: (&str, usize) = ("%Y-%m-%d-%H%M", 15);
/// A bound session does not activate a context by the import itself.
const PLAN_MODE: &str = "plan";

/// What an import found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The contexts, in the order of their names, and how many files each has.
    pub contexts: Vec<(String, usize)>,
    /// What was passed over, and why.
    pub skipped: Vec<(String, String)>,
}

/// Why nothing could be imported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} has no contexts of aiwcli", .0.display())]
    NoContexts(PathBuf),
    #[error("could not record what was found")]
    Write(#[from] write::Error),
    #[error("could not record what was found")]
    Spool(#[from] capture::Error),
}

/// Imports the contexts in an `_output/` folder, or only says which there are.
pub fn import(output: &Path, paths: &Paths, is_dry_run: bool, now: Timestamp) -> Result<Found, Error> {
    if !is_folder(&output.join(CONTEXTS)) && output.join(CONTEXTS).exists() {
        return Err(Error::NoContexts(output.to_owned()));
    }
    let index = read_json(&output.join("index.json")).unwrap_or_default();
    let mut folders = BTreeMap::new();
    for (folder, is_archived) in [(output.join(CONTEXTS), false), (output.join(CONTEXTS).join(ARCHIVE), true)]
    {
        for name in folders_in(&folder) {
            folders.entry(name.clone()).or_insert((folder.join(name), is_archived));
        }
    }
    // A context may be in the index alone.
    let indexed = index["contexts"].as_object().into_iter().flatten();
    for (name, _) in indexed {
        folders.entry(name.clone()).or_insert_with(|| (output.join(CONTEXTS).join("-"), false));
    }
    if folders.is_empty() {
        return Err(Error::NoContexts(output.to_owned()));
    }
    let root = output.parent().unwrap_or(output);
    let mut found = Found::default();
    for (name, (folder, is_archived)) in folders.into_iter().take(MOST_CONTEXTS) {
        let id = match id::check(&name) {
            Ok(()) => name.clone(),
            // The first generation cut its names later.
            Err(Unfit::Long(_)) => id::shortened(&name),
            Err(unfit) => {
                found.skipped.push((name, unfit.to_string()));
                continue;
            }
        };
        let Some(old) = Old::read(&name, &folder, is_archived, &index) else {
            found.skipped.push((name, "its state cannot be read".to_owned()));
            continue;
        };
        let old = if id == name { old } else { old.renamed(&id) };
        let texts = texts_in(&folder);
        found.contexts.push((id, texts.len()));
        if !is_dry_run {
            Importing { old, texts, root, paths, now }.record()?;
        }
    }
    Ok(found)
}

struct Importing<'a> {
    old: Old,
    texts: Vec<File>,
    root: &'a Path,
    paths: &'a Paths,
    now: Timestamp,
}

impl Importing<'_> {
    fn record(&self) -> Result<(), Error> {
        let Old { id, created_at, last_active, sessions, .. } = &self.old;
        let created = created_at.or_else(|| moment_of(id, OF_ID)).unwrap_or(self.now);
        let created = self.past(created);
        let active = self.past(last_active.unwrap_or(created));
        let key = Project::of(self.root).key;
        let writer = |place, at| Writer::new(self.paths, place, at);
        let by_hand = || Place::by_hand(&key, self.root);
        let new = Action::New {
            summary: write::summary(&self.old.summary),
            tags: write::tags(self.old.tags.iter().map(String::as_str)),
            method: self.old.method.clone(),
            bind: false,
            permission_mode: None,
        };
        let name = |what: &str| format!("i:{}", digest::short_hex(format!("{id}\0{what}").as_bytes()));
        writer(by_hand(), created).act_as(&name("new"), id, new)?;
        let holder = self.holder();
        for session in sessions.iter().chain(holder.iter().filter(|holder| !sessions.contains(holder))) {
            let bind = Action::Bind { via: "import".to_owned(), permission_mode: Some(PLAN_MODE.to_owned()) };
            let place = Place::in_session(session, self.root);
            writer(place, created).act_as(&name(&format!("bind {session}")), id, bind)?;
        }
        let imported = self.imported();
        let what = format!("import {}", serde_json::to_string(&imported).map_err(write::Error::from)?);
        if let Some(holder) = &holder {
            self.record_plan(&imported, holder, active, &name)?;
            self.record_tasks(holder, created, active, &name)?;
        }
        for (at, handoff) in self.handoffs() {
            let what = format!("handoff {} {}", handoff.id, handoff.digest);
            let at = self.past(at.unwrap_or(active));
            writer(by_hand(), at).act_as(&name(&what), id, Action::Handoff(Box::new(handoff)))?;
        }
        writer(by_hand(), active).act_as(&name(&what), id, Action::Import(Box::new(imported)))?;
        // The id is taken from now on.
        let _ = files::create_private_folder(&self.paths.work().join(id));
        Ok(())
    }

    /// Returns a moment of the folder's, which is no later than now: what lies ahead would make every session look silent since.
    fn past(&self, moment: Timestamp) -> Timestamp {
        moment.min(self.now)
    }

    /// Returns the session that plans and tasks are of, which has a made-up name where aiwcli knew none; `None` where there are
    /// neither.
    fn holder(&self) -> Option<String> {
        let Old { id, sessions, tasks, mode, .. } = &self.old;
        let is_needed = !tasks.is_empty() || *mode == Mode::HasPlan;
        is_needed.then(|| sessions.last().cloned().unwrap_or_else(|| format!("aiwcli-{id}")))
    }

    fn imported(&self) -> Imported {
        let mut artifact = self.old.artifact.clone();
        if let Some(artifact) = &mut artifact
            && let Some(file) = self.file_of(artifact.path.as_deref())
        {
            // One hash for all: that of aiwcli was of the raw or of the normalised text.
            artifact.digest = plan::digest(&file.text);
            artifact.path = Some(file.path.clone());
            if let Some(marks) = &mut artifact.marks {
                *marks = plan::Marks { id: marks.id.take(), ..plan::Marks::of(&file.text) };
            }
        }
        Imported {
            mode: self.old.mode,
            is_done: self.old.is_done,
            artifact,
            last_session: self.old.last_session.clone(),
            git: self.old.git.clone(),
            files: self.texts.clone(),
            extra: self.old.extra.clone(),
        }
    }

    /// Returns the file that a path of aiwcli names, which may be absolute and of another machine.
    fn file_of(&self, path: Option<&str>) -> Option<&File> {
        let path = path?.replace('\\', "/");
        self.texts.iter().find(|file| path.ends_with(&format!("/{}", file.path)) || path == file.path)
    }

    /// Returns the handoffs of the context, each with the moment that its folder is named after.
    fn handoffs(&self) -> Vec<(Option<Timestamp>, Handoff)> {
        let mut folders: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for file in &self.texts {
            let parts: Vec<&str> = file.path.split('/').collect();
            if let ["handoffs", folder, name] = *parts
                && id::check(folder).is_ok()
            {
                folders.entry(folder).or_default().push((name, &file.text));
            }
        }
        folders
            .into_iter()
            .map(|(folder, files)| (moment_of(folder, OF_HANDOFF), handoff_of(folder, &files)))
            .collect()
    }

    /// Records the plan that waits as a plan of the last session, which the next one gets.
    fn record_plan(
        &self,
        imported: &Imported,
        session: &str,
        at: Timestamp,
        name: &dyn Fn(&str) -> String,
    ) -> Result<(), Error> {
        let waits = imported.artifact.as_ref().filter(|_| imported.mode == Mode::HasPlan);
        let plan = waits.and_then(|artifact| self.file_of(artifact.path.as_deref()));
        let Some(plan) = plan else { return Ok(()) };
        let data = json!({"text": plan.text, "digest": plan::digest(&plan.text), "accepted": true});
        let data = serde_json::value::to_raw_value(&data).map_err(write::Error::from)?;
        let data = Data::Kept(Kept { kind: "plan".into(), data: Cow::Owned(data) });
        self.append(session, name(&format!("plan {}", plan.text)), at, data)
    }

    /// Records the tasks: that each was added, and what it is at. Of two imports the later one counts.
    fn record_tasks(
        &self,
        holder: &str,
        created: Timestamp,
        active: Timestamp,
        name: &dyn Fn(&str) -> String,
    ) -> Result<(), Error> {
        let Old { id, sessions, .. } = &self.old;
        for task in &self.old.tasks {
            let session =
                task.session.as_deref().filter(|session| sessions.iter().any(|known| known == session));
            let session = session.unwrap_or(holder);
            let at = self.past(task.created_at.unwrap_or(created));
            let added = Data::Task(task.added(id));
            self.append(session, name(&format!("task {}", task.id)), at, added)?;
            let changed = task.changed(id);
            let what = serde_json::to_string(&changed).map_err(write::Error::from)?;
            let at = self.past(task.completed_at.unwrap_or(active)).max(at);
            self.append(session, name(&format!("task state {what}")), at, Data::Task(changed))?;
        }
        Ok(())
    }

    fn append(&self, session: &str, id: String, at: Timestamp, data: Data<'_>) -> Result<(), Error> {
        let observation = Observation {
            cwd: self.root.to_string_lossy(),
            ..Observation::new(session, id, at.millis(), data)
        };
        Ok(Spool::new(self.paths.spool()).append(&observation)?)
    }
}

/// Returns the handoff of a folder: a section for each file, and the index as the summary.
fn handoff_of(folder: &str, files: &[(&str, &str)]) -> Handoff {
    let mut handoff = Handoff { id: folder.to_owned(), origin: Origin::Import, ..Handoff::default() };
    for (name, text) in files {
        let unix = text.replace("\r\n", "\n");
        let (title, body) = titled(without_front_matter(unix.trim_start_matches('\u{feff}')));
        let section = if *name == INDEX { "summary" } else { name.trim_end_matches(".md") };
        if *name == INDEX {
            // As the artifact of a context that waits with it.
            handoff.digest = plan::digest(text);
            handoff.path = Some(format!("handoffs/{folder}/{INDEX}"));
            handoff.title = write::summary(title);
        }
        if !body.is_empty() {
            handoff.sections.push(Section { name: section.replace('-', " "), text: body.to_owned() });
        }
    }
    if handoff.digest.is_empty() {
        handoff.digest = plan::digest(&files.iter().map(|(_, text)| *text).collect::<String>());
    }
    handoff
}

/// Returns the heading that a text begins with, and the rest.
fn titled(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    first.strip_prefix("# ").map_or(("", text), |title| (title.trim(), rest.trim()))
}

/// Returns a text without the values between its first two lines `---`.
fn without_front_matter(text: &str) -> &str {
    let front = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    front.map_or(text, |(_, body)| body)
}

/// Returns the moment that a name begins with, in local time.
fn moment_of(name: &str, (format, length): (&str, usize)) -> Option<Timestamp> {
    let moment = NaiveDateTime::parse_from_str(name.get(..length)?, format).ok()?;
    let moment = Local.from_local_datetime(&moment).earliest()?;
    u64::try_from(moment.timestamp_millis()).ok().map(Timestamp::from_millis)
}

/// Says whether there is a folder of this name: a link may lead to the user's own files.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Returns the names of the folders in a folder; those that begin with `_` are no contexts.
fn folders_in(folder: &Path) -> Vec<String> {
    let Some(entries) = is_folder(folder).then(|| fs::read_dir(folder).ok()).flatten() else {
        return Vec::new();
    };
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with(['_', '.']));
    names.sort();
    names
}

/// Returns the plans, handoffs and notes of a context, without private parts and secrets.
fn texts_in(folder: &Path) -> Vec<File> {
    let mut paths = Vec::new();
    for part in PARTS {
        collect(&folder.join(part), MOST_DEPTH, &mut paths);
    }
    paths.sort();
    let mut left = MAX_FILES;
    let mut texts = Vec::new();
    for path in paths.into_iter().take(MOST_FILES) {
        let Ok(text) = files::read_text_capped(&path, MAX_FILE) else { continue };
        let public = text::privacy::strip(&text).text;
        let text = text::redact::redact(&public).into_owned();
        let Some(rest) = left.checked_sub(text.len()) else { break };
        left = rest;
        let path = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        texts.push(File { path, size: text.len(), text });
    }
    texts
}

fn collect(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) {
    let Some(entries) = is_folder(folder).then(|| fs::read_dir(folder).ok()).flatten() else { return };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => collect(&entry.path(), depth - 1, paths),
            Ok(kind) if kind.is_file() && entry.path().extension().is_some_and(|end| end == "md") => {
                paths.push(entry.path());
            }
            _ => {}
        }
    }
}

fn read_json(path: &Path) -> Option<Value> {
    let bytes = files::read_capped(path, MAX_STATE).ok()?;
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).ok()
}

#[cfg(test)]
mod tests;
