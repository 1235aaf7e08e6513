//! What of a project may act: its guards, pauses, skills, directives and protocols, and its own git settings about
//! connecting, come with a repository, and act only when the user has seen them and said so.

use super::catalogue::{self, Catalogue, Places, State};
use super::{Error, Result};
use base::project::Repository;
use base::trust::{Identity, Item, Lapse, SKILL_BYTES, Trust};
use base::{Env, digest, files};
use lessons::format;
use lessons::layers::{self, Layer, Source};
use lessons::{Kind, Lesson};
use place::Folder;
use std::fs;
use std::path::{Path, PathBuf};
use team_sync::repository;

/// How deep skills are looked for, in folders.
const MAX_DEPTH: usize = 8;

/// What an item is to someone who trusted the project before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    /// It was not there.
    New,
    /// It was there, and did or said something else.
    Changed,
    /// It is as it was.
    Same,
}

impl News {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "unchanged",
        }
    }
}

/// An item as it is shown before the user decides.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The item.
    pub item: Item,
    /// What it is to the user.
    pub news: News,
    /// Its file.
    pub file: PathBuf,
    /// All that trust covers, as the repository has it: not sanitised.
    pub text: String,
}

/// All that a project asks to be trusted with, compared with what the user trusts.
#[derive(Clone, Debug)]
pub struct Review {
    /// What is trusted now; `None` when the project never was.
    pub former: Option<Trust>,
    /// What there is: new first, then changed, then the rest.
    pub shown: Vec<Shown>,
    /// What was trusted and is not there any more.
    pub gone: Vec<Item>,
    trust: Trust,
}

impl Review {
    /// Compares what the project has with what is trusted.
    pub fn of(places: &Places, catalogue: &Catalogue) -> Self {
        let root = root(places);
        let identity = identity(&root, &places.env);
        let former = Trust::read(&places.paths, &root, |_| identity.clone());
        let settings = settings_of(&root, &places.env);
        let mut shown: Vec<Shown> = lessons_of(catalogue).chain(skills_of(&root)).chain(settings).collect();
        for shown in &mut shown {
            shown.news = news(former.as_ref(), &shown.item);
        }
        shown.sort_by(|one, other| (one.news, &one.item).cmp(&(other.news, &other.item)));
        let is_there = |item: &Item| shown.iter().any(|shown| is_same_name(&shown.item, item));
        let given = former.iter().flat_map(|trust| &trust.items);
        let gone = given.filter(|item| !is_there(item)).cloned().collect();
        let items = shown.iter().map(|shown| shown.item.clone()).collect();
        let trust = Trust { project: root, identity, items, lapse: None };
        Self { former, shown, gone, trust }
    }

    /// Returns the project's folder.
    pub fn root(&self) -> &Path {
        &self.trust.project
    }

    /// Returns whether the user trusts the project exactly as it is.
    pub fn is_current(&self) -> bool {
        let is_trusted = self.former.as_ref().is_some_and(|former| former.lapse.is_none());
        is_trusted && self.gone.is_empty() && self.shown.iter().all(|shown| shown.news == News::Same)
    }

    /// Trusts what was shown, and nothing else: what changed meanwhile is not covered.
    pub fn accept(&self, places: &Places) -> Result<()> {
        // Hooks go by the index, which does not follow a lesson that was changed in place: what it has would not be trusted.
        for source in Source::others(&places.paths, self.root(), None) {
            source.discard(layers::compile);
            source.index(layers::compile).map_err(Error::io(&source.place))?;
        }
        let file = places.paths.trust_file(self.root());
        self.trust.write(&places.paths).map_err(Error::io(&file))?;
        forget_review(places, self.root());
        Ok(())
    }

    /// Notes what a prompt showed the user, for the next prompt, which may accept it.
    pub fn note_shown(&self, places: &Places) -> Result<()> {
        let file = places.paths.reviewed_file(self.root());
        files::write_atomic(&file, self.digest().as_bytes()).map_err(Error::io(&file))
    }

    /// Returns whether this is what a prompt showed the user last.
    pub fn was_shown(&self, places: &Places) -> bool {
        let file = places.paths.reviewed_file(self.root());
        files::read_text_capped(&file, files::cap::POINTER).is_ok_and(|shown| shown == self.digest())
    }

    /// Returns a digest of all that is shown: what the project has, and what of it the user trusts and need not read again.
    fn digest(&self) -> String {
        let former = self.former.as_ref().map(Trust::render).unwrap_or_default();
        digest::sha256_hex(format!("{}\n{former}", self.trust.render()).as_bytes())
    }
}

fn news(former: Option<&Trust>, item: &Item) -> News {
    match former {
        // By content alone, also where trust has lapsed: what the user has seen is not news.
        Some(former) if former.items.iter().any(|other| other.digest == item.digest) => News::Same,
        Some(former) if former.items.iter().any(|other| is_same_name(other, item)) => News::Changed,
        _ => News::New,
    }
}

/// Lessons, skills and settings have names of their own; a lesson may become another kind.
fn is_same_name(one: &Item, other: &Item) -> bool {
    let is_one = |kind: &str| (one.kind == kind) == (other.kind == kind);
    one.name == other.name && is_one("skill") && is_one("setting")
}

/// Returns the project's folder that trust is about.
pub fn root(places: &Places) -> PathBuf {
    let lessons = places.project();
    let root = place::project_root(&lessons);
    files::canonical(root)
}

/// Returns which repository a project is. A repository without a remote is known by its first commit.
fn identity(root: &Path, env: &Env) -> Identity {
    let identity = Identity::of(root);
    let is_alone = identity.remote.is_none();
    let first_commit = is_alone.then(|| repository::first_commit(root, env)).flatten();
    Identity { first_commit, ..identity }
}

/// Returns the settings about connecting that the repository's own git configuration makes.
fn settings_of(root: &Path, env: &Env) -> impl Iterator<Item = Shown> {
    let file = Repository::above(root).map(|repository| repository.common_folder.join("config"));
    // What cannot be read now is not trusted.
    let settings = repository::own_settings(root, env).unwrap_or_default();
    settings.into_iter().map(move |setting| Shown {
        text: format!("{} = {}", setting.item.name, setting.value),
        item: setting.item,
        news: News::New,
        file: file.clone().unwrap_or_default(),
    })
}

/// Returns the project's lessons that act only when they are trusted.
fn lessons_of(catalogue: &Catalogue) -> impl Iterator<Item = Shown> {
    let needs_trust = |item: &&catalogue::Item| {
        item.layer == Layer::Project && item.state == State::Active && item.lesson.kind.needs_trust()
    };
    catalogue.items.iter().filter(needs_trust).map(|item| {
        // Tags and examples change nothing that the lesson does or says.
        let covered = Lesson {
            tags: Vec::new(),
            fires: Vec::new(),
            quiet: Vec::new(),
            extra: Vec::new(),
            ..item.lesson.clone()
        };
        Shown {
            item: item.lesson.trust_item(),
            news: News::New,
            file: item.file.clone(),
            text: format::render(&covered),
        }
    })
}

/// Returns the team skills of the project at `root`.
fn skills_of(root: &Path) -> Vec<Shown> {
    let Some(folder) = Folder::find(root) else { return Vec::new() };
    let (broadcast, mut skills) = (folder.broadcast(), Vec::new());
    if !files::is_link(&broadcast) {
        add_skills(&broadcast.join("skills"), "skills/", 0, &mut skills);
    }
    skills
}

fn add_skills(folder: &Path, above: &str, depth: usize, skills: &mut Vec<Shown>) {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
    let Ok(entries) = fs::read_dir(folder) else { return };
    if !is_folder || depth > MAX_DEPTH {
        return;
    }
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (path, file) = (format!("{above}{name}"), entry.path());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            add_skills(&file, &format!("{path}/"), depth + 1, skills);
        } else if kind.is_file() && name != ".gitkeep" && !files::is_temporary(&name) {
            let mut bytes = Vec::new();
            if files::read_start(&file, SKILL_BYTES, &mut bytes).is_ok() {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                skills.push(Shown { item: Item::skill(&path, &bytes), news: News::New, file, text });
            }
        }
    }
}

/// Returns the names of the items of one of these kinds.
pub fn names<'a>(shown: &'a [Shown], kinds: &[Kind]) -> Vec<&'a str> {
    let is_one = |shown: &&Shown| kinds.iter().any(|kind| kind.name() == shown.item.kind);
    shown.iter().filter(is_one).map(|shown| shown.item.name.as_str()).collect()
}

/// Stops trusting the project; returns whether it was trusted.
pub fn untrust(places: &Places) -> Result<bool> {
    let root = root(places);
    let file = places.paths.trust_file(&root);
    let was_trusted = files::remove_if_there(&file).map_err(Error::io(&file))?;
    if was_trusted {
        base::trust::forget_reports(&places.paths, &root);
    }
    forget_review(places, &root);
    Ok(was_trusted)
}

/// Forgets what a prompt showed of the project: it has been decided on.
fn forget_review(places: &Places, root: &Path) {
    let _ = fs::remove_file(places.paths.reviewed_file(root));
}

/// A project that is trusted or was, compared with what is in its folder now.
#[derive(Clone, Debug)]
pub struct Known {
    /// What was trusted.
    pub trust: Trust,
    /// How many items are new; 0 where trust has lapsed, as are the other numbers.
    pub new: usize,
    /// How many items changed.
    pub changed: usize,
    /// How many items are not there any more.
    pub gone: usize,
}

impl Known {
    /// Returns whether something differs from what is trusted.
    pub fn differs(&self) -> bool {
        self.new + self.changed + self.gone > 0
    }

    fn of(mut trust: Trust, places: &Places) -> Self {
        if trust.lapse.is_none() && !trust.identity.is_still(&identity(&trust.project, &places.env)) {
            trust.lapse = Some(Lapse::OtherRepository);
        }
        let (mut new, mut changed, mut gone) = (0, 0, 0);
        if trust.lapse.is_none() {
            let there = Places { cwd: trust.project.clone(), ..places.clone() };
            let review = Review::of(&there, &Catalogue::read(&there));
            if review.root() == trust.project {
                let count = |news: News| review.shown.iter().filter(|shown| shown.news == news).count();
                (new, changed, gone) = (count(News::New), count(News::Changed), review.gone.len());
            } else {
                // The folder is no project of its own any more.
                gone = trust.items.len();
            }
        }
        Self { trust, new, changed, gone }
    }
}

/// Returns every project that is trusted or was, sorted by its folder.
pub fn list(places: &Places) -> Vec<Known> {
    let read = |file: &PathBuf| {
        let trust =
            Trust::parse(&String::from_utf8_lossy(&files::read_followed(file, files::cap::TEXTS).ok()?));
        Some(trust).filter(|trust| !trust.project.as_os_str().is_empty())
    };
    let files = files::files_in(&places.paths.data().join("trust"));
    let mut projects: Vec<Known> =
        files.iter().filter_map(read).map(|trust| Known::of(trust, places)).collect();
    projects.sort_by(|one, other| one.trust.project.cmp(&other.trust.project));
    projects
}
