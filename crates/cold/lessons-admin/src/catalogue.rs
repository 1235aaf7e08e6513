//! Every lesson there is for someone who works in a folder: of all layers, in every state.

use super::{Error, Result};
use base::project::Project;
use base::settings::Settings;
use base::{Env, Paths};
use lessons::format::Flaw;
use lessons::layers::{self, ENDING, Layer, Source};
use lessons::limits::Limits;
use lessons::{Kind, Lesson};
use std::path::{Path, PathBuf};

/// The folder of lessons that were put away, within a layer's folder.
pub const ARCHIVE: &str = "archive";
/// The folder of lessons that are not reviewed yet, within a layer's folder.
pub const CANDIDATES: &str = "candidates";

/// Whether a lesson is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It is.
    Active,
    /// It is switched off.
    Disabled,
    /// It was put away.
    Archived,
    /// It waits for someone to look at it.
    Candidate,
}

impl State {
    /// Returns the state's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Archived => "archived",
            Self::Candidate => "candidate",
        }
    }
}

/// A lesson and where it is.
#[derive(Clone, Debug)]
pub struct Item {
    /// The lesson.
    pub lesson: Lesson,
    /// Who it comes from.
    pub layer: Layer,
    /// Whether it is at work.
    pub state: State,
    /// Its file; for a lesson of a manifest, the manifest.
    pub file: PathBuf,
    /// Whether it may do all that its kind can; else it is a hint at most.
    pub is_trusted: bool,
}

/// A pack of lessons that ship.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pack {
    /// Its name.
    pub name: String,
    /// How many lessons are in it.
    pub lessons: usize,
    /// How many of them refuse calls: guards and pauses.
    pub refusing: usize,
    /// Whether it is switched off.
    pub is_off: bool,
}

/// For whom and where lessons are looked up.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folders of the user.
    pub paths: Paths,
    /// The folder that the user works in.
    pub cwd: PathBuf,
    /// The environment.
    pub env: Env,
}

impl Places {
    /// Returns every source of lessons.
    pub fn sources(&self) -> Vec<Source> {
        let manifest = self.env.get("LESSONS_MANIFEST_PATH").map(PathBuf::from);
        Source::all(&self.paths, &self.cwd, manifest)
    }

    /// Returns the folder of the user's own lessons.
    pub fn personal(&self) -> PathBuf {
        self.paths.data().join("lessons")
    }

    /// Returns the folder of the project's lessons, whether it exists or not.
    pub fn project(&self) -> PathBuf {
        place::lessons_folder(&self.cwd).unwrap_or_else(|| Project::of(&self.cwd).root.join(".wyren/lessons"))
    }

    /// Returns the settings that the hooks go by.
    pub fn settings(&self) -> Settings {
        Settings::read(&self.env, &self.paths.hook_settings())
    }
}

/// Every lesson, sorted by name; of one name, the layer nearest to the user's work first.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// The lessons.
    pub items: Vec<Item>,
    /// The files that could not be read.
    pub flaws: Vec<(Layer, PathBuf, Flaw)>,
}

impl Catalogue {
    /// Reads everything.
    pub fn read(places: &Places) -> Self {
        let disabled = places.settings().get("lessons.disabled");
        let packs_off = places.settings().get("lessons.packs_off");
        let mut catalogue = Self::default();
        for source in places.sources() {
            let (lessons, flaws) = source.read();
            catalogue.flaws.extend(flaws.into_iter().map(|(file, flaw)| (source.layer, file, flaw)));
            for lesson in lessons {
                let is_trusted = is_trusted(&source, &lesson);
                let pack = lesson.pack.as_deref().unwrap_or_default();
                let is_off = lesson.is_disabled
                    || layers::is_disabled(&disabled, source.layer, &lesson.slug)
                    || layers::is_pack_off(&packs_off, source.layer, pack);
                let state = if is_off { State::Disabled } else { State::Active };
                let file = match source.layer {
                    Layer::Manifest => source.place.clone(),
                    _ => file_of(&source.place, &lesson.slug),
                };
                catalogue.items.push(Item { lesson, layer: source.layer, state, file, is_trusted });
            }
            if matches!(source.layer, Layer::Personal | Layer::Project) {
                catalogue.read_aside(&source, ARCHIVE, State::Archived);
                catalogue.read_aside(&source, CANDIDATES, State::Candidate);
            }
        }
        let nearness = |layer: Layer| Layer::ALL.iter().rev().position(|other| *other == layer);
        catalogue.items.sort_by(|one, other| {
            let rank = |item: &Item| (item.state, nearness(item.layer));
            one.lesson.slug.cmp(&other.lesson.slug).then_with(|| rank(one).cmp(&rank(other)))
        });
        catalogue
    }

    fn read_aside(&mut self, source: &Source, name: &str, state: State) {
        let folder = source.place.join(name);
        let (lessons, flaws) = layers::read_folder(&folder, &Limits::of(source.layer));
        self.flaws.extend(flaws.into_iter().map(|(file, flaw)| (source.layer, file, flaw)));
        self.items.extend(lessons.into_iter().map(|lesson| Item {
            file: file_of(&folder, &lesson.slug),
            is_trusted: is_trusted(source, &lesson),
            lesson,
            layer: source.layer,
            state,
        }));
    }

    /// Returns the lesson called `name`, or that lessons-learned knew by this id, nearest and most at work first.
    pub fn find(&self, name: &str, layer: Option<Layer>) -> Result<&Item> {
        self.find_in(name, layer, |_| true)
    }

    /// As [`Self::find`], among the lessons in a state that fits.
    pub fn find_in(&self, name: &str, layer: Option<Layer>, fits: impl Fn(State) -> bool) -> Result<&Item> {
        let is_it = |item: &&Item| {
            let id = item.lesson.extra.iter().find(|(field, _)| field == "id").map(|(_, id)| id.as_str());
            (item.lesson.slug == name || id == Some(name)) && layer.is_none_or(|layer| layer == item.layer)
        };
        self.items.iter().filter(is_it).find(|item| fits(item.state)).ok_or_else(|| {
            if let Some(item) = self.items.iter().find(is_it) {
                let reason = format!("it is {}", item.state.name());
                return Error::Unfit { slug: item.lesson.slug.clone(), reason };
            }
            Error::Unknown { name: name.to_owned(), nearest: self.most_similar(name) }
        })
    }

    fn most_similar(&self, name: &str) -> Option<String> {
        let parts = |slug: &str| slug.split('-').map(str::to_owned).collect();
        let wanted = parts(name);
        let share = |item: &Item| super::similar::jaccard(&wanted, &parts(&item.lesson.slug));
        let best = self.items.iter().max_by(|one, other| share(one).total_cmp(&share(other)))?;
        (share(best) > 0.0 || best.lesson.slug.starts_with(name)).then(|| best.lesson.slug.clone())
    }

    /// Returns the packs of the lessons that ship, by name, and the names of those that are off.
    pub fn packs(&self, places: &Places) -> Vec<Pack> {
        let off = places.settings().get("lessons.packs_off");
        let mut packs: Vec<Pack> = Vec::new();
        for item in self.items.iter().filter(|item| item.layer == Layer::Shipped) {
            let Some(name) = item.lesson.pack.as_deref() else { continue };
            let place = packs.iter().position(|pack| pack.name == name).unwrap_or_else(|| {
                let is_off = layers::is_pack_off(&off, Layer::Shipped, name);
                packs.push(Pack { name: name.to_owned(), is_off, ..Pack::default() });
                packs.len() - 1
            });
            packs[place].lessons += 1;
            packs[place].refusing += usize::from(matches!(item.lesson.kind, Kind::Guard | Kind::Pause));
        }
        packs.sort_by(|one, other| one.name.cmp(&other.name));
        packs
    }

    /// Returns the lessons that are at work or only switched off: what a new one is compared with.
    pub fn in_use(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| matches!(item.state, State::Active | State::Disabled))
    }

    /// Returns the lessons that a search finds, the best first: every word must occur somewhere.
    pub fn search(&self, query: &str) -> Vec<&Item> {
        let query: Vec<String> = super::similar::words(query).into_iter().collect();
        let mut found: Vec<(u32, &Item)> =
            self.items.iter().filter_map(|item| Some((score(&item.lesson, &query)?, item))).collect();
        found.sort_by_key(|(score, item)| {
            (std::cmp::Reverse(*score), std::cmp::Reverse(item.lesson.priority))
        });
        found.into_iter().map(|(_, item)| item).collect()
    }
}

/// Returns how well a lesson answers a query; `None` when it lacks a word.
fn score(lesson: &Lesson, query: &[String]) -> Option<u32> {
    let tags = lesson.tags.join(" ");
    let fields =
        [(8, &lesson.slug), (6, &lesson.summary), (4, &tags), (2, &lesson.problem), (2, &lesson.solution)];
    let fields: Vec<(u32, String)> =
        fields.iter().map(|(weight, text)| (*weight, text.to_lowercase())).collect();
    let score_of = |word: &String| {
        let in_field = |(weight, text): &(u32, String)| {
            let starts = text
                .match_indices(word.as_str())
                .any(|(at, _)| !text[..at].chars().next_back().is_some_and(char::is_alphanumeric));
            // The beginning of a word tells more than a part of one.
            if starts {
                2 * weight
            } else if text.contains(word.as_str()) {
                *weight
            } else {
                0
            }
        };
        Some(fields.iter().map(in_field).sum::<u32>()).filter(|score| *score > 0)
    };
    if query.is_empty() {
        return None;
    }
    query.iter().map(score_of).sum()
}

fn is_trusted(source: &Source, lesson: &Lesson) -> bool {
    source.layer != Layer::Project
        || !lesson.kind.needs_trust()
        || source.trust().is_some_and(|trust| trust.covers(&lesson.trust_item().digest))
}

/// Returns the file of a lesson in a folder.
pub(super) fn file_of(folder: &Path, slug: &str) -> PathBuf {
    folder.join(format!("{slug}.{ENDING}"))
}
