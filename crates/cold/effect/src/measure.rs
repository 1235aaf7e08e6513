//! What became of every lesson, and its confidence where hooks read it.

use crate::judge::{self, Judged, Verdict};
use crate::known::{Known, Lessons};
use crate::read;
use crate::tally::Tally;
use crate::team;
use base::notice::{self, About, Key, Notice};
use base::{Env, Paths, Timestamp, files};
use lessons::Kind;
use lessons::layers::{Layer, Source};
use lessons::measured;
use place::{Folder, Mode};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{Error, Store};
use text::sanitize;

const MILLIS_PER_DAY: u64 = 86_400_000;
/// How often the worker computes everything anew.
const EVERY: Duration = Duration::from_secs(60 * 60);
/// The file that says when that was, in milliseconds since 1970.
const STAMP: &str = "judged";
/// How many lessons a proposal names, and how much of each name.
const NAMED: usize = 3;
const NAME_CHARS: usize = 30;

/// What became of one lesson.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Its name, with `project:` before that of a repository's lesson.
    pub name: String,
    /// Who it comes from; `None` where it is no more.
    pub layer: Option<Layer>,
    /// The folder or manifest that it is in; of a lesson that is no more, empty.
    pub place: PathBuf,
    /// What it does.
    pub kind: Option<Kind>,
    /// The confidence that its file gives, in percent.
    pub given: u8,
    /// The counts of this machine.
    pub tally: Tally,
    /// Those of teammates' clones, for a repository's lesson.
    pub team: Tally,
    /// Each showing, the oldest first.
    pub judged: Vec<Judged>,
}

impl Effect {
    /// Returns the confidence that follows, in percent.
    pub fn confidence(&self) -> u8 {
        let weight_for = self.tally.weight_for + self.team.weight_for;
        let weight_against = self.tally.weight_against + self.team.weight_against;
        Tally { weight_for, weight_against, ..Tally::default() }.confidence(self.given)
    }

    /// Returns whether the lesson only annoys, by what happened on this machine.
    pub fn is_annoying(&self) -> bool {
        self.layer.is_some() && self.tally.is_annoying(self.given)
    }
}

/// Computes what became of every lesson that was shown, by name.
pub fn effects(store: &Store, env: &Env, paths: &Paths, now: Timestamp) -> Result<Vec<Effect>, Error> {
    let manifest = env.get("LESSONS_MANIFEST_PATH").map(PathBuf::from);
    let mut lessons = Lessons::read(paths, base::system::home(env), manifest);
    let mut found: BTreeMap<(String, PathBuf), (Option<Known>, Vec<Judged>)> = BTreeMap::new();
    for session in read::sessions(store)? {
        for showing in session.showings() {
            let known = lessons.find(&session, &showing.lesson).cloned();
            let judged = match &known {
                Some(known) => judge::judge(&session, &showing, &lessons.ask(known), now.millis()),
                None => Judged {
                    verdict: Verdict::Open,
                    how: showing.how,
                    at: session.steps[showing.step].at,
                    session: session.id.clone(),
                    reason: "the lesson is no more",
                    call: None,
                    following: Vec::new(),
                },
            };
            let place = known.as_ref().map(|known| known.place.clone()).unwrap_or_default();
            let all = found.entry((showing.lesson, place)).or_insert_with(|| (known, Vec::new()));
            all.1.push(judged);
        }
    }
    let effect = |((name, place), (known, mut judged)): ((String, PathBuf), (Option<Known>, Vec<Judged>))| {
        judged.sort_by(|one, other| (one.at, &one.session).cmp(&(other.at, &other.session)));
        Effect {
            name,
            layer: known.as_ref().map(|known| known.layer),
            place,
            kind: known.as_ref().map(Known::kind),
            given: known.as_ref().map_or(0, |known| known.lesson.confidence),
            tally: Tally::of(judged.iter(), now.millis()),
            team: Tally::default(),
            judged,
        }
    };
    let mut effects: Vec<Effect> = found.into_iter().map(effect).collect();
    let is_shared = |effect: &&mut Effect| effect.layer == Some(Layer::Project);
    let mut teams: BTreeMap<PathBuf, BTreeMap<String, Tally>> = BTreeMap::new();
    for effect in effects.iter_mut().filter(is_shared) {
        let team = teams
            .entry(effect.place.clone())
            .or_insert_with(|| team::others(&effect.place, &state_of(&effect.place), now));
        let slug = effect.name.strip_prefix(crate::known::SHARED).unwrap_or(&effect.name);
        effect.team = team.get(slug).cloned().unwrap_or_default();
    }
    Ok(effects)
}

/// Returns the folder of a clone's state, by that of its lessons.
pub fn state_of(lessons: &Path) -> PathBuf {
    place::project_root(lessons).join(place::FOLDER).join("state")
}

/// Writes the counts of each repository that lessons were shown of, for its team: they leave the clone with its next sync, if
/// the user lets it publish.
fn share(effects: &[Effect]) -> io::Result<()> {
    let shared = effects.iter().filter(|effect| effect.layer == Some(Layer::Project));
    let places: BTreeSet<&PathBuf> = shared.map(|effect| &effect.place).collect();
    for place in places.into_iter().filter(|place| is_synced(place)) {
        team::write(place, &state_of(place), effects)?;
    }
    Ok(())
}

/// Says whether what is written into a lessons' folder goes to the team by our own sync, and into no commit of the user's.
fn is_synced(lessons: &Path) -> bool {
    let state = state_of(lessons);
    let folder = Folder::find(place::project_root(lessons));
    let is_ours = folder.is_some_and(|folder| folder.mode == Some(Mode::Side)) || lessons.starts_with(&state);
    is_ours && state.join("fetch.json").is_file()
}

/// Writes the confidence of each lesson that was judged where hooks read it, and removes what no longer holds.
pub fn write(paths: &Paths, effects: &[Effect]) -> io::Result<()> {
    let mut wanted: BTreeMap<PathBuf, BTreeMap<&str, u8>> = BTreeMap::new();
    for effect in effects.iter().filter(|effect| effect.confidence() != effect.given) {
        let Some(layer) = effect.layer else { continue };
        let file = Source::at(paths, layer, effect.place.clone()).measured_file();
        let slug = effect.name.strip_prefix(crate::known::SHARED).unwrap_or(&effect.name);
        wanted.entry(file).or_default().insert(slug, effect.confidence());
    }
    let kept: BTreeSet<&PathBuf> = wanted.keys().collect();
    for file in written(paths).iter().filter(|file| !kept.contains(file)) {
        files::remove_if_there(file)?;
    }
    for (file, lessons) in &wanted {
        let text = measured::render(lessons.iter().map(|(slug, percent)| (*slug, *percent)));
        if !matches!(files::read_if_there(file), Ok(Some(old)) if old == text.as_bytes()) {
            files::write_atomic(file, text.as_bytes())?;
        }
    }
    Ok(())
}

/// Returns the files that say how sure lessons are.
fn written(paths: &Paths) -> Vec<PathBuf> {
    let is_measured = |file: &PathBuf| file.extension().is_some_and(|ending| ending == measured::ENDING);
    files::files_in(&paths.cache().join("lessons")).into_iter().filter(is_measured).collect()
}

/// Has the user read once, when a session starts, which lessons only annoy. What to do about them is for a person to say.
pub fn propose(paths: &Paths, effects: &[Effect]) -> io::Result<()> {
    let told = notice::told(paths, About::Everything, Key::Lessons);
    let told: BTreeSet<&str> = told.split(',').filter(|name| !name.is_empty()).collect();
    let annoying: BTreeSet<&str> =
        effects.iter().filter(|effect| effect.is_annoying()).map(|effect| effect.name.as_str()).collect();
    let new: Vec<&str> = annoying.difference(&told).copied().collect();
    if new.is_empty() {
        return Ok(());
    }
    let lessons = if new.len() == 1 { "lesson" } else { "lessons" };
    let (named, more) = (&new[..new.len().min(NAMED)], if new.len() > NAMED { ", …" } else { "" });
    let names: Vec<String> = named.iter().map(|name| sanitize::one_line(name, NAME_CHARS)).collect();
    let text = format!(
        "{} {lessons} did not help: {}{more}. Look: wyren lessons stats",
        new.len(),
        names.join(", ")
    );
    let all: Vec<&str> = annoying.union(&told).copied().collect();
    Notice::new(Key::Lessons, text).once(all.join(",")).leave(paths, About::Everything)
}

/// Computes the confidence of all lessons, writes it, and proposes what annoys for archiving.
pub fn refresh(store: &Store, env: &Env, paths: &Paths, now: Timestamp) -> Result<Vec<Effect>, Error> {
    let effects = effects(store, env, paths, now)?;
    let written = write(paths, &effects).and_then(|()| propose(paths, &effects));
    written.map_err(|error| Error::Io { path: folder(paths), source: error })?;
    Ok(effects)
}

/// As [`refresh`], unless that was done within the last hour: for the worker, which drains after every turn.
pub fn refresh_if_due(store: &Store, env: &Env, paths: &Paths, now: Timestamp) -> Result<(), Error> {
    let stamp = folder(paths).join(STAMP);
    let last = files::read_text_capped(&stamp, files::cap::POINTER).ok();
    let last: Option<u64> = last.and_then(|text| text.trim().parse().ok());
    if last.is_some_and(|last| last <= now.millis() && now.millis() - last < EVERY.as_millis() as u64) {
        return Ok(());
    }
    let effects = refresh(store, env, paths, now)?;
    let day = |millis: u64| millis / MILLIS_PER_DAY;
    if last.is_none_or(|last| day(last) != day(now.millis())) {
        // Once a day: each change is a commit of the team's.
        share(&effects).map_err(|error| Error::Io { path: folder(paths), source: error })?;
    }
    files::write_atomic(&stamp, format!("{}\n", now.millis()).as_bytes())
        .map_err(|error| Error::Io { path: stamp, source: error })
}

fn folder(paths: &Paths) -> PathBuf {
    paths.cache().join("lessons")
}
