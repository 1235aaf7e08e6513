//! Taking in lessons from elsewhere: lessons-learned's manifest or database, `wyren lessons export`, or a folder.
//!
//! Nothing is refused for its quality and nothing is dropped: a field that means nothing here stays in `extra`. A
//! second import of the same adds nothing, and what the user changed since stays as it is.

use super::catalogue::{ARCHIVE, CANDIDATES, Catalogue, Item, Places, State, file_of};
use super::change::Change;
use super::{Error, Result, database, intake, json, old_lesson, slug};
use base::{digest, files};
use lessons::Lesson;
use lessons::artifact::Installed;
use lessons::format;
use lessons::layers::{self, Layer};
use lessons::limits::Limits;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What became of a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is new here.
    Added,
    /// It was here already.
    Known,
    /// It is here already, and different: that one was left alone.
    Kept,
    /// It took the place of the one that was here.
    Replaced,
}

impl Outcome {
    /// Returns the outcome's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Known => "known",
            Self::Kept => "kept yours",
            Self::Replaced => "replaced",
        }
    }
}

/// A lesson that was looked at.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name here.
    pub slug: String,
    /// Whether it is at work now.
    pub state: State,
    /// What became of it.
    pub outcome: Outcome,
    /// What does not work as it did.
    pub remarks: Vec<String>,
}

/// What an import did.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The lessons.
    pub rows: Vec<Row>,
    /// What was left where it is.
    pub remarks: Vec<String>,
}

/// A lesson on its way in.
pub(super) struct Incoming {
    pub(super) lesson: Lesson,
    pub(super) state: State,
    /// What could not be said, although the rest holds.
    pub(super) remarks: Vec<String>,
}

/// What an import would do, and the files that it would write.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// What it would do.
    pub imported: Imported,
    /// Each file with what it would hold.
    pub files: Vec<(PathBuf, String)>,
}

/// Returns what an import of a file or a folder would do, and changes nothing.
pub fn preview(places: &Places, source: &Path, is_forced: bool) -> Result<Preview> {
    let mut remarks = Vec::new();
    let incoming = read(places, source, &mut remarks)?;
    Ok(judge(places, &Catalogue::read(places), incoming, remarks, is_forced))
}

/// Takes in a file or a folder, as the user's own lessons.
pub fn import(places: &Places, source: &Path, is_forced: bool) -> Result<Imported> {
    let mut remarks = Vec::new();
    let incoming = read(places, source, &mut remarks)?;
    let mut change = Change::begin(places)?;
    let Preview { imported, files } = judge(places, &change.catalogue, incoming, remarks, is_forced);
    for (file, text) in files {
        files::write_atomic(&file, text.as_bytes()).map_err(Error::io(&file))?;
    }
    change.refresh();
    Ok(imported)
}

/// Removes files that an import wrote, each given with the SHA-256 of its bytes. Returns those that hold something else by now,
/// which stay.
pub fn take_back(places: &Places, written: &[(PathBuf, String)]) -> Result<Vec<PathBuf>> {
    let mut change = Change::begin(places)?;
    let mut changed = Vec::new();
    for (file, digest) in written {
        match files::read_capped_if_there(file, files::cap::NAMED).map_err(Error::io(file))? {
            Some(bytes) if digest::sha256_hex(&bytes) == *digest => {
                files::remove_if_there(file).map_err(Error::io(file))?;
            }
            Some(_) => changed.push(file.clone()),
            None => {}
        }
    }
    change.refresh();
    Ok(changed)
}

fn read(places: &Places, source: &Path, remarks: &mut Vec<String>) -> Result<Vec<Incoming>> {
    if source.is_dir() { read_folder(source) } else { read_file(places, source, remarks) }
}

/// Decides about each lesson on its way in.
fn judge(
    places: &Places,
    catalogue: &Catalogue,
    incoming: Vec<Incoming>,
    remarks: Vec<String>,
    is_forced: bool,
) -> Preview {
    let mut preview = Preview { imported: Imported { rows: Vec::new(), remarks }, files: Vec::new() };
    let mut present = Present::default();
    let personal = catalogue.items.iter().filter(|item| item.layer == Layer::Personal);
    personal.for_each(|item| present.add(item.clone()));
    let installed = Installed::of(&places.paths);
    for Incoming { mut lesson, state, mut remarks } in incoming {
        lesson.slug = slug::imported(&lesson.slug, &lesson.summary);
        lesson.is_disabled = state == State::Disabled;
        // As it will be read back, so that the same lesson is found to be the same the next time.
        if let Ok(written) = format::parse(&lesson.slug, &format::render(&lesson)) {
            lesson = written;
        }
        remarks.extend(remarks_on(&lesson));
        remarks.extend(
            installed.what_keeps(Layer::Personal, &lesson).map(|reason| format!("no effect here: {reason}")),
        );
        let known = present.find(&mut lesson);
        let outcome = match &known {
            None => Outcome::Added,
            Some(item) if is_same(&item.lesson, &lesson) => Outcome::Known,
            Some(_) if is_forced => Outcome::Replaced,
            Some(_) => Outcome::Kept,
        };
        let (slug, is_new) = (lesson.slug.clone(), known.is_none());
        let (state, file) = known
            .map_or_else(|| (state, file_of(&folder(places, state), &slug)), |item| (item.state, item.file));
        if matches!(outcome, Outcome::Added | Outcome::Replaced) {
            preview.files.push((file.clone(), format::render(&lesson)));
        }
        if is_new {
            // A second lesson of the same name in this import must meet this one.
            present.add(Item { lesson, layer: Layer::Personal, state, file, is_trusted: true });
        }
        preview.imported.rows.push(Row { slug, state, outcome, remarks });
    }
    preview
}

fn folder(places: &Places, state: State) -> PathBuf {
    match state {
        State::Active | State::Disabled => places.personal(),
        State::Archived => places.personal().join(ARCHIVE),
        State::Candidate => places.personal().join(CANDIDATES),
    }
}

/// The user's lessons, by their names and by their ids in lessons-learned.
#[derive(Default)]
struct Present {
    by_slug: BTreeMap<String, Item>,
    slugs: BTreeMap<String, String>,
}

impl Present {
    fn add(&mut self, item: Item) {
        let slug = item.lesson.slug.clone();
        self.slugs.extend(id(&item.lesson).map(|id| (id.to_owned(), slug.clone())));
        // Of one name, the one that is at work comes first, and stays.
        self.by_slug.entry(slug).or_insert(item);
    }

    /// Returns the lesson that an incoming one is, by its id or by its name. A namesake with another id makes the
    /// incoming one take another name.
    fn find(&self, lesson: &mut Lesson) -> Option<Item> {
        if let Some(slug) = id(lesson).and_then(|id| self.slugs.get(id)) {
            lesson.slug.clone_from(slug);
            return self.by_slug.get(slug).cloned();
        }
        let namesake = self.by_slug.get(&lesson.slug)?;
        if id(lesson).is_some() && id(&namesake.lesson).is_some() {
            lesson.slug = slug::free(&lesson.slug, |slug| self.by_slug.contains_key(slug));
            return None;
        }
        Some(namesake.clone())
    }
}

fn id(lesson: &Lesson) -> Option<&str> {
    lesson.extra.iter().find(|(name, _)| name == "id").map(|(_, id)| id.as_str())
}

/// Says whether two lessons say the same; the user may have switched one off since.
fn is_same(one: &Lesson, other: &Lesson) -> bool {
    let text = |lesson: &Lesson| format::render(&Lesson { is_disabled: false, ..lesson.clone() });
    text(one) == text(other)
}

/// Returns what keeps a lesson from working.
pub(super) fn remarks_on(lesson: &Lesson) -> Vec<String> {
    let problems = intake::check(lesson);
    let grave = problems.iter().filter(|problem| problem.is_grave && problem.value.is_some());
    grave.map(ToString::to_string).collect()
}

fn read_folder(folder: &Path) -> Result<Vec<Incoming>> {
    let mut incoming = Vec::new();
    let parts = [("", State::Active), (ARCHIVE, State::Archived), (CANDIDATES, State::Candidate)];
    for (name, state) in parts {
        let (lessons, flaws) = layers::read_folder(&folder.join(name), &Limits::OWN);
        if let Some((path, flaw)) = flaws.into_iter().next() {
            return Err(Error::Unreadable { path, reason: flaw.to_string() });
        }
        incoming.extend(lessons.into_iter().map(|lesson| {
            let state = if lesson.is_disabled && state == State::Active { State::Disabled } else { state };
            Incoming { lesson, state, remarks: Vec::new() }
        }));
    }
    Ok(incoming)
}

fn read_file(places: &Places, file: &Path, remarks: &mut Vec<String>) -> Result<Vec<Incoming>> {
    let bytes = files::read_followed(file, files::cap::NAMED).map_err(Error::io(file))?;
    if database::is_database(&bytes) {
        let rows = database::read(file, &places.paths)?;
        let left =
            |(table, count): &(String, u64)| format!("{count} rows of {table} were left where they are");
        remarks.extend(rows.other_tables.iter().map(left));
        return Ok(rows.lessons.iter().map(old_lesson::of_fields).collect());
    }
    let unreadable = |reason: String| Error::Unreadable { path: file.to_owned(), reason };
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|_| unreadable("neither a manifest, nor a database, nor an export".to_owned()))?;
    let list = match &value {
        Value::Array(items) => items,
        Value::Object(fields) => match fields.get("lessons") {
            Some(Value::Object(entries)) => {
                return entries
                    .iter()
                    .map(|(id, entry)| old_lesson::of_manifest(id, entry).map_err(&unreadable))
                    .collect();
            }
            Some(Value::Array(items)) => items,
            _ => return Err(unreadable("has no lessons".to_owned())),
        },
        _ => return Err(unreadable("has no lessons".to_owned())),
    };
    list.iter().map(|value| of_export(value).map_err(&unreadable)).collect()
}

/// Reads a lesson that `wyren lessons export --json` wrote.
fn of_export(value: &Value) -> std::result::Result<Incoming, String> {
    let mut fields = value.as_object().cloned().ok_or("a lesson is no object")?;
    let state = fields.remove("state");
    for name in ["layer", "file", "trusted"] {
        fields.remove(name);
    }
    let lesson = json::read(&fields).map_err(|problems| super::lines(&problems))?;
    let state = match state.as_ref().and_then(Value::as_str) {
        Some("archived") => State::Archived,
        Some("candidate") => State::Candidate,
        Some("disabled") => State::Disabled,
        _ if lesson.is_disabled => State::Disabled,
        _ => State::Active,
    };
    Ok(Incoming { lesson, state, remarks: Vec::new() })
}
