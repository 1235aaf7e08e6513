//! Candidates: lessons that wait for a person's word. Each decision is written at once, and can be taken back.
//!
//! A candidate is a lesson's file in `candidates/`; what it was found by is in its `extra` fields. A decision moves or changes
//! whole files, and the journal keeps what they were before: so a review may end at any moment and go on later, and `undo`
//! needs to know nothing about what was decided.

use super::catalogue::{ARCHIVE, CANDIDATES, Catalogue, Item, Places, State, file_of};
use super::change::{self, Change};
use super::intake::{self, Problem};
use super::{Error, Result, similar, slug};
use base::{Timestamp, digest, files};
use lessons::layers::Layer;
use lessons::{Lesson, format};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The version of the journal's lines.
const VERSION: u64 = 1;
/// How many decisions can be taken back.
const KEPT: usize = 100;
/// Fields that lessons-learned gives every lesson: no evidence.
const BOOKKEEPING: [&str; 9] = [
    "archiveReason",
    "archivedAt",
    "contentHash",
    "createdAt",
    "duplicatedBy",
    "id",
    "requires",
    "reviewedAt",
    "updatedAt",
];
/// The fields with which an archived lesson says why.
const REASON: &str = "archiveReason";
const ARCHIVED_AT: &str = "archivedAt";

/// A candidate, with all that a decision needs.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The lesson.
    pub item: Item,
    /// What it was found by: the failing call, the fix, where, how often.
    pub evidence: Vec<(String, String)>,
    /// What keeps it from being promoted.
    pub problems: Vec<Problem>,
    /// A lesson in use that says nearly the same, and how much of it in percent.
    pub like: Option<(String, u8)>,
    /// Whether it was skipped before.
    pub is_skipped: bool,
}

/// Returns the candidates of the user and of the project: those not skipped yet first, then the surest.
pub fn candidates(places: &Places, catalogue: &Catalogue) -> Vec<Candidate> {
    let skipped = Journal::read(places).skipped;
    let in_use: Vec<&Lesson> = catalogue.in_use().map(|item| &item.lesson).collect();
    let waiting = catalogue.items.iter().filter(|item| item.state == State::Candidate);
    let mut candidates: Vec<Candidate> = waiting
        .map(|item| Candidate {
            evidence: evidence(&item.lesson),
            problems: intake::check(&item.lesson).into_iter().filter(|problem| problem.is_grave).collect(),
            like: similar::nearest(&item.lesson, in_use.iter().copied())
                .map(|(other, share)| (other.slug.clone(), (share * 100.0).round() as u8)),
            is_skipped: skipped.contains(&item.lesson.slug),
            item: item.clone(),
        })
        .collect();
    let rank = |candidate: &Candidate| {
        let lesson = &candidate.item.lesson;
        (!candidate.is_skipped, candidate.problems.is_empty(), lesson.confidence, lesson.priority)
    };
    candidates.sort_by(|one, other| {
        rank(other).cmp(&rank(one)).then_with(|| one.item.lesson.slug.cmp(&other.item.lesson.slug))
    });
    candidates
}

/// Returns what a candidate was found by.
pub fn evidence(lesson: &Lesson) -> Vec<(String, String)> {
    lesson.extra.iter().filter(|(name, _)| !BOOKKEEPING.contains(&name.as_str())).cloned().collect()
}

/// What was decided, for the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// `promote`, `archive`, `merge` or `edit`.
    pub did: String,
    /// The candidate.
    pub slug: String,
    /// The files that it changed, as they were before; `None` for one that was not there.
    files: Vec<(PathBuf, Option<String>)>,
    /// A digest of each file afterwards.
    after: Vec<Option<String>>,
}

impl Change<'_> {
    /// Puts a candidate to work. One that is not good enough, or like a lesson in use, is refused unless that is forced.
    pub fn promote(&mut self, name: &str, layer: Option<Layer>, is_forced: bool) -> Result<Item> {
        let item = self.candidate(name, layer)?;
        let mut problems: Vec<Problem> =
            intake::check(&item.lesson).into_iter().filter(|problem| problem.is_grave).collect();
        let others = self.catalogue.in_use().map(|item| &item.lesson);
        if let Some((other, share)) = similar::nearest(&item.lesson, others).filter(|_| !is_forced) {
            let percent = (share * 100.0).round();
            let reason =
                format!("says {percent} % of what {} says: merge it into that one, or --force", other.slug);
            problems.push(Problem::grave("problem", reason));
        }
        if !problems.is_empty() {
            return Err(Error::Refused(problems));
        }
        let target = file_of(&folder_of(&item), &item.lesson.slug);
        if target.exists() {
            let reason = format!("{} is in its place; archive that one first", target.display());
            return Err(Error::Unfit { slug: item.lesson.slug, reason });
        }
        self.decide("promote", &item.lesson.slug, vec![item.file.clone(), target.clone()], || {
            fs::rename(&item.file, &target).map_err(Error::io(&item.file))
        })?;
        Ok(item)
    }

    /// Puts a candidate away, with the reason: what is like it is not proposed again.
    pub fn dismiss(&mut self, name: &str, layer: Option<Layer>, reason: Option<&str>) -> Result<Item> {
        let item = self.candidate(name, layer)?;
        let archived = archived(&item, reason);
        self.decide("archive", &item.lesson.slug, vec![item.file.clone(), archived.0.clone()], || {
            put_away(&item, &archived)
        })?;
        Ok(item)
    }

    /// Gives a lesson in use the patterns, examples and tags of a candidate, and puts the candidate away.
    pub fn merge(&mut self, name: &str, layer: Option<Layer>, into: &str) -> Result<Item> {
        let item = self.candidate(name, layer)?;
        let in_use = |state| matches!(state, State::Active | State::Disabled);
        let other = self.catalogue.find_in(into, None, in_use)?.clone();
        let archived = archived(&item, Some(&format!("merged into {}", other.lesson.slug)));
        let merged = merged(&other.lesson, &item.lesson);
        let target = match other.layer {
            Layer::Personal | Layer::Project => other.file.clone(),
            Layer::Shipped | Layer::Manifest => file_of(&self.places.personal(), &other.lesson.slug),
        };
        let grave: Vec<Problem> =
            intake::check(&merged).into_iter().filter(|problem| problem.is_grave).collect();
        if !grave.is_empty() {
            return Err(Error::Refused(grave));
        }
        let touched = vec![item.file.clone(), archived.0.clone(), target.clone()];
        self.decide("merge", &item.lesson.slug, touched, || {
            change::write(&target, &merged)?;
            put_away(&item, &archived)
        })?;
        Ok(other)
    }

    /// Replaces the text of a candidate.
    pub fn reword(&mut self, item: &Item, lesson: Lesson) -> Result<()> {
        let lesson = Lesson { slug: item.lesson.slug.clone(), ..lesson };
        let grave: Vec<Problem> =
            intake::check(&lesson).into_iter().filter(|problem| problem.is_grave).collect();
        if !grave.is_empty() {
            return Err(Error::Refused(grave));
        }
        self.decide("edit", &item.lesson.slug, vec![item.file.clone()], || change::write(&item.file, &lesson))
    }

    /// Has a candidate come last from now on.
    pub fn skip(&mut self, name: &str, layer: Option<Layer>) -> Result<()> {
        let item = self.candidate(name, layer)?;
        let mut journal = Journal::read(self.places);
        journal.skipped.insert(item.lesson.slug);
        journal.write(self.places)
    }

    /// Takes the last decision back; `None` when there is none. Files that were changed since are left alone.
    pub fn undo(&mut self) -> Result<Option<Decision>> {
        let mut journal = Journal::read(self.places);
        let Some(decision) = journal.decisions.pop() else { return Ok(None) };
        for ((file, _), after) in decision.files.iter().zip(&decision.after) {
            if content(file).as_deref().map(digest_of) != *after {
                let reason = format!("{} was changed since; nothing was taken back", file.display());
                return Err(Error::Unfit { slug: decision.slug, reason });
            }
        }
        for (file, before) in &decision.files {
            match before {
                Some(text) => files::write_atomic(file, text.as_bytes()).map_err(Error::io(file))?,
                None => drop(files::remove_if_there(file).map_err(Error::io(file))?),
            }
        }
        journal.write(self.places)?;
        self.refresh();
        Ok(Some(decision))
    }

    fn candidate(&self, name: &str, layer: Option<Layer>) -> Result<Item> {
        self.catalogue.find_in(name, layer, |state| state == State::Candidate).cloned()
    }

    /// Does what was decided about files, and keeps what they were before.
    fn decide(
        &mut self,
        did: &str,
        slug: &str,
        touched: Vec<PathBuf>,
        act: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let files: Vec<(PathBuf, Option<String>)> =
            touched.into_iter().map(|file| (file.clone(), content(&file))).collect();
        act()?;
        let after = files.iter().map(|(file, _)| content(file).as_deref().map(digest_of)).collect();
        let mut journal = Journal::read(self.places);
        journal.skipped.remove(slug);
        journal.decisions.push(Decision { did: did.to_owned(), slug: slug.to_owned(), files, after });
        let written = journal.write(self.places);
        self.refresh();
        written
    }
}

/// Returns the folder that the lessons of a candidate's layer are at work in.
fn folder_of(item: &Item) -> PathBuf {
    let candidates = item.file.parent().unwrap_or(Path::new("."));
    debug_assert!(candidates.ends_with(CANDIDATES));
    candidates.parent().unwrap_or(Path::new(".")).to_owned()
}

/// Returns the file of a candidate in the archive, and what is in it.
fn archived(item: &Item, reason: Option<&str>) -> (PathBuf, Lesson) {
    let folder = folder_of(item).join(ARCHIVE);
    let free = slug::free(&item.lesson.slug, |slug| file_of(&folder, slug).exists());
    let lesson = Lesson { slug: free.clone(), ..with_reason(&item.lesson, reason) };
    (file_of(&folder, &free), lesson)
}

/// Returns a lesson that says why and when it was put away.
pub(super) fn with_reason(lesson: &Lesson, reason: Option<&str>) -> Lesson {
    let mut lesson = lesson.clone();
    lesson.extra.retain(|(name, _)| name != REASON && name != ARCHIVED_AT);
    lesson.extra.extend(reason.map(|reason| (REASON.to_owned(), reason.to_owned())));
    lesson.extra.push((ARCHIVED_AT.to_owned(), Timestamp::now().to_string()));
    lesson
}

fn put_away(item: &Item, (file, lesson): &(PathBuf, Lesson)) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    files::create_private_folder(folder).map_err(Error::io(folder))?;
    change::write(file, lesson)?;
    fs::remove_file(&item.file).map_err(Error::io(&item.file))
}

/// Returns a lesson with what a candidate has beyond it.
fn merged(lesson: &Lesson, candidate: &Lesson) -> Lesson {
    let union = |one: &[String], other: &[String]| {
        let mut all = one.to_vec();
        all.extend(other.iter().filter(|value| !one.contains(value)).cloned());
        all
    };
    let mut merged = lesson.clone();
    // Other conditions narrow: those of one trigger do not hold for the patterns of the other.
    if lesson.trigger.is_about_commands() && candidate.trigger.without == lesson.trigger.without {
        merged.trigger.commands = union(&lesson.trigger.commands, &candidate.trigger.commands);
        merged.fires = union(&lesson.fires, &candidate.fires);
        merged.quiet = union(&lesson.quiet, &candidate.quiet);
    }
    merged.tags = union(&lesson.tags, &candidate.tags);
    merged.priority = lesson.priority.max(candidate.priority);
    merged
}

fn content(file: &Path) -> Option<String> {
    files::read_text_capped(file, files::cap::LESSON).ok()
}

fn digest_of(text: &str) -> String {
    digest::sha256_hex(text.as_bytes())
}

/// The last decisions, and what was skipped.
#[derive(Clone, Debug, Default)]
struct Journal {
    skipped: BTreeSet<String>,
    decisions: Vec<Decision>,
}

impl Journal {
    fn file(places: &Places) -> PathBuf {
        places.paths.cache().join("drafts/review.json")
    }

    /// Reads it; without one, or with one of another version, nothing was decided.
    fn read(places: &Places) -> Self {
        let text = files::read_text_capped(&Self::file(places), files::cap::LARGEST).unwrap_or_default();
        let facts: Value = serde_json::from_str(&text).unwrap_or_default();
        if facts["v"] != VERSION {
            return Self::default();
        }
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let decision = |value: &Value| {
            Some(Decision {
                did: text(&value["did"])?,
                slug: text(&value["slug"])?,
                files: list(&value["files"])
                    .iter()
                    .map(|file| Some((PathBuf::from(text(&file["path"])?), text(&file["before"]))))
                    .collect::<Option<_>>()?,
                after: list(&value["files"]).iter().map(|file| text(&file["after"])).collect(),
            })
        };
        Self {
            skipped: list(&facts["skipped"]).iter().filter_map(&text).collect(),
            decisions: list(&facts["decisions"]).iter().filter_map(decision).collect(),
        }
    }

    fn write(&self, places: &Places) -> Result<()> {
        let decision = |decision: &Decision| {
            let file = |((path, before), after): (&(PathBuf, Option<String>), &Option<String>)| json!({"path": path, "before": before, "after": after});
            let files: Vec<Value> = decision.files.iter().zip(&decision.after).map(file).collect();
            json!({"did": decision.did, "slug": decision.slug, "files": files})
        };
        let first = self.decisions.len().saturating_sub(KEPT);
        let decisions: Vec<Value> = self.decisions[first..].iter().map(decision).collect();
        let facts = json!({"v": VERSION, "skipped": self.skipped, "decisions": decisions});
        let file = Self::file(places);
        files::write_atomic(&file, format!("{facts:#}\n").as_bytes()).map_err(Error::io(&file))
    }
}

/// Returns the text of a lesson for others: without what it was found by, and without a scope, since it is in its project.
pub(super) fn for_others(lesson: &Lesson) -> String {
    let mut lesson = Lesson { scope: None, is_disabled: false, ..lesson.clone() };
    lesson.extra.clear();
    format::render(&lesson)
}
