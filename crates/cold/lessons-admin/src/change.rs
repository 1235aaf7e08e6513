//! Writing lessons: each file is replaced whole, moved whole, or left alone.

use super::catalogue::{ARCHIVE, CANDIDATES, Catalogue, Item, Pack, Places, State, file_of};
use super::intake::{self, Problem};
use super::{Error, Result, review, similar, slug};
use base::lock::Lock;
use base::{Env, Timestamp, digest, files, settings};
use config::{self, Config};
use lessons::Lesson;
use lessons::artifact::Installed;
use lessons::format;
use lessons::layers::{self, Layer};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use text::{privacy, redact};

/// How long to wait for another program that is changing lessons.
const PATIENCE: Duration = Duration::from_secs(5);

/// The setting that names the packs that are off.
const PACKS_OFF: &str = "lessons.packs_off";

/// Whose lesson a new one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The user's.
    Personal,
    /// The project's, shared with everyone who works in it.
    Project,
}

/// The right to change lessons: one program at a time has it.
#[derive(Debug)]
pub struct Change<'a> {
    pub(super) places: &'a Places,
    /// What is there, as of now.
    pub catalogue: Catalogue,
    _lock: Lock,
}

/// A lesson that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its name.
    pub slug: String,
    /// Its file.
    pub file: PathBuf,
    /// What is worth a look.
    pub remarks: Vec<Problem>,
}

impl<'a> Change<'a> {
    /// Waits until no other process changes lessons, then reads what is there.
    pub fn begin(places: &'a Places) -> Result<Self> {
        let file = places.paths.cache().join("lessons/change.lock");
        let lock = Lock::exclusive(&file, PATIENCE).map_err(Error::io(&file))?.ok_or(Error::Busy)?;
        for folder in std::iter::once(places.personal()).chain(place::lessons_folder(&places.cwd)) {
            ["", ARCHIVE, CANDIDATES].iter().for_each(|name| sweep(&folder.join(name)));
        }
        Ok(Self { places, catalogue: Catalogue::read(places), _lock: lock })
    }

    /// Adds new lessons: all of them, or none when one is refused. One without a name gets one.
    pub fn add(&mut self, lessons: Vec<Lesson>, owner: Owner, is_forced: bool) -> Result<Vec<Written>> {
        let folder = match owner {
            Owner::Personal => self.places.personal(),
            Owner::Project => match place::Folder::refusal(&self.places.cwd) {
                Some(refusal) => return Err(refusal.into()),
                None => self.places.project(),
            },
        };
        let (mut ready, mut refused): (Vec<(Lesson, Vec<Problem>)>, Vec<Problem>) = (Vec::new(), Vec::new());
        for mut lesson in lessons {
            let taken = |name: &str| {
                let is_named = |item: &Item| item.lesson.slug == name;
                self.catalogue.items.iter().any(is_named) || ready.iter().any(|(other, _)| other.slug == name)
            };
            let is_named = !lesson.slug.is_empty();
            if !is_named {
                lesson.slug = slug::free(&slug::of(&lesson.summary), taken);
            }
            let mut problems = intake::check(&lesson);
            if is_named && taken(&lesson.slug) {
                let reason = format!("{} exists already: change it with `wyren lessons edit`", lesson.slug);
                problems.push(Problem::grave("slug", reason));
            }
            let others = self.catalogue.in_use().map(|item| &item.lesson);
            let others = others.chain(ready.iter().map(|(other, _)| other));
            if let Some((other, share)) = similar::nearest(&lesson, others).filter(|_| !is_forced) {
                let percent = (share * 100.0).round();
                let reason =
                    format!("says {percent} % of what {} says: change that one, or --force", other.slug);
                problems.push(Problem::grave("problem", reason));
            }
            let (grave, mild): (Vec<_>, Vec<_>) = problems.into_iter().partition(|problem| problem.is_grave);
            refused.extend(grave);
            ready.push((lesson, mild));
        }
        if !refused.is_empty() {
            return Err(Error::Refused(refused));
        }
        if owner == Owner::Project {
            // A project may have lessons before it has a memory.
            let wyren = place::project_root(&folder).join(place::FOLDER);
            files::create_project_folder(&wyren).map_err(Error::io(&wyren))?;
        }
        let mut written = Vec::new();
        for (lesson, remarks) in ready {
            let file = file_of(&folder, &lesson.slug);
            write(&file, &lesson)?;
            written.push(Written { slug: lesson.slug, file, remarks });
        }
        self.refresh();
        Ok(written)
    }

    /// Writes a candidate, in place of the one of its name. It passes the checks of [`Self::add`] or is refused.
    pub fn write_candidate(&mut self, lesson: Lesson) -> Result<PathBuf> {
        let grave: Vec<Problem> =
            intake::check(&lesson).into_iter().filter(|problem| problem.is_grave).collect();
        if !grave.is_empty() {
            return Err(Error::Refused(grave));
        }
        let file = file_of(&self.places.personal().join(CANDIDATES), &lesson.slug);
        write(&file, &lesson)?;
        self.forget_candidate(&lesson.slug);
        let (layer, state) = (Layer::Personal, State::Candidate);
        self.catalogue.items.push(Item { lesson, layer, state, file: file.clone(), is_trusted: true });
        Ok(file)
    }

    /// Removes a candidate of the user's.
    pub fn remove_candidate(&mut self, slug: &str) -> Result<()> {
        let file = file_of(&self.places.personal().join(CANDIDATES), slug);
        files::remove_if_there(&file).map_err(Error::io(&file))?;
        self.forget_candidate(slug);
        Ok(())
    }

    fn forget_candidate(&mut self, slug: &str) {
        self.catalogue.items.retain(|item| {
            item.state != State::Candidate || item.layer != Layer::Personal || item.lesson.slug != slug
        });
    }

    /// Replaces a lesson by its new text. One that ships gets a copy of the user's own, which takes its place.
    pub fn replace(&mut self, item: &Item, lesson: Lesson) -> Result<Written> {
        let lesson = Lesson { slug: item.lesson.slug.clone(), ..lesson };
        let (grave, remarks): (Vec<_>, Vec<_>) =
            intake::check(&lesson).into_iter().partition(|problem| problem.is_grave);
        if !grave.is_empty() {
            return Err(Error::Refused(grave));
        }
        let lesson = restamped(lesson);
        let file = match item.layer {
            Layer::Personal | Layer::Project => item.file.clone(),
            Layer::Shipped | Layer::Manifest => file_of(&self.places.personal(), &lesson.slug),
        };
        write(&file, &lesson)?;
        if file != item.file {
            self.switch(item, true)?;
        }
        self.refresh();
        Ok(Written { slug: lesson.slug, file, remarks })
    }

    /// Switches a lesson off, from the very next call on.
    pub fn disable(&mut self, name: &str, layer: Option<Layer>) -> Result<Item> {
        let item = self.find(name, layer, State::Active)?;
        if item.layer == Layer::Personal {
            write(&item.file, &Lesson { is_disabled: true, ..item.lesson.clone() })?;
        } else {
            self.switch(&item, true)?;
        }
        self.refresh();
        Ok(item)
    }

    /// Switches a lesson on again, or puts a candidate to work.
    pub fn enable(&mut self, name: &str, layer: Option<Layer>) -> Result<Item> {
        let is_off = |state| matches!(state, State::Disabled | State::Candidate);
        let item = self.catalogue.find_in(name, layer, is_off)?.clone();
        if item.state == State::Candidate {
            return self.take_out(item);
        }
        match item.layer {
            Layer::Personal if item.lesson.is_disabled => {
                write(&item.file, &Lesson { is_disabled: false, ..item.lesson.clone() })?;
            }
            _ if item.lesson.is_disabled => {
                let reason = format!("its file says so: {}", item.file.display());
                return Err(Error::Unfit { slug: item.lesson.slug, reason });
            }
            _ => {}
        }
        let pack = item.lesson.pack.clone().unwrap_or_default();
        if layers::is_pack_off(&self.places.settings().get(PACKS_OFF), item.layer, &pack) {
            let reason = format!("its pack {pack} is off: run `wyren lessons enable --pack {pack}`");
            return Err(Error::Unfit { slug: item.lesson.slug, reason });
        }
        self.switch(&item, false)?;
        let reason = Installed::of(&self.places.paths).what_keeps(item.layer, &item.lesson);
        self.refresh();
        match reason {
            Some(reason) => Err(Error::Unfit { slug: item.lesson.slug, reason }),
            None => Ok(item),
        }
    }

    /// Switches a pack of the lessons that ship off, or on again, from the very next call on.
    pub fn switch_pack(&mut self, name: &str, is_off: bool) -> Result<Pack> {
        let packs = self.catalogue.packs(self.places);
        let Some(pack) = packs.iter().find(|pack| pack.name == name) else {
            let names: Vec<&str> = packs.iter().map(|pack| pack.name.as_str()).collect();
            return Err(Error::UnknownPack { name: name.to_owned(), packs: names.join(", ") });
        };
        if pack.is_off == is_off {
            let state = if is_off { "off" } else { "on" };
            return Err(Error::Unfit {
                slug: format!("the pack {name}"),
                reason: format!("is already {state}"),
            });
        }
        let current = Config::load(&Env::fixed::<String, String>([]), &self.places.paths);
        let current = current.get(PACKS_OFF)?.value.clone();
        let mut list: Vec<&str> = settings::list(&current).filter(|other| *other != name).collect();
        list.extend(is_off.then_some(name));
        let value = list.join(",");
        config::set(&self.places.paths, PACKS_OFF, (!value.is_empty()).then_some(&value))?;
        let pack = Pack { is_off, ..pack.clone() };
        self.refresh();
        Ok(pack)
    }

    /// Puts a lesson away, with the reason. One that is not the user's to move is switched off instead.
    pub fn archive(&mut self, name: &str, layer: Option<Layer>, reason: Option<&str>) -> Result<Item> {
        let in_use = |state| matches!(state, State::Active | State::Disabled);
        let item = self.catalogue.find_in(name, layer, in_use)?.clone();
        match item.layer {
            Layer::Personal | Layer::Project => {
                let folder = item.file.parent().unwrap_or(Path::new(".")).join(ARCHIVE);
                let target =
                    file_of(&folder, &slug::free(&item.lesson.slug, |slug| file_of(&folder, slug).exists()));
                files::create_private_folder(&folder).map_err(Error::io(&folder))?;
                if reason.is_some() {
                    write(&item.file, &review::with_reason(&item.lesson, reason))?;
                }
                fs::rename(&item.file, &target).map_err(Error::io(&item.file))?;
            }
            Layer::Shipped | Layer::Manifest => self.switch(&item, true)?,
        }
        self.refresh();
        Ok(item)
    }

    /// Makes a lesson of the user's one of the project, without what it was found by. The user's own is put away: both would be
    /// shown. Returns the new file.
    pub fn share(&mut self, name: &str) -> Result<(Item, PathBuf)> {
        let in_use = |state| matches!(state, State::Active | State::Disabled);
        let item = self.catalogue.find_in(name, Some(Layer::Personal), in_use)?.clone();
        let unfit = |reason: String| Error::Unfit { slug: item.lesson.slug.clone(), reason };
        if let Some(refusal) = place::Folder::refusal(&self.places.cwd) {
            return Err(refusal.into());
        }
        let grave: Vec<Problem> =
            intake::check(&item.lesson).into_iter().filter(|problem| problem.is_grave).collect();
        if !grave.is_empty() {
            return Err(Error::Refused(grave));
        }
        let text = review::for_others(&item.lesson);
        if redact::redact(&privacy::strip_private(&text)) != text {
            return Err(unfit("it holds something private, or that looks like a secret".to_owned()));
        }
        let folder = self.places.project();
        let file = file_of(&folder, &item.lesson.slug);
        if file.exists() {
            return Err(unfit(format!("the project has one of this name: {}", file.display())));
        }
        let wyren = place::project_root(&folder).join(place::FOLDER);
        files::create_project_folder(&wyren).map_err(Error::io(&wyren))?;
        files::write_atomic(&file, text.as_bytes()).map_err(Error::io(&file))?;
        let item = self.archive(name, Some(Layer::Personal), Some("shared with the project"))?;
        Ok((item, file))
    }

    /// Takes a lesson back that was put away.
    pub fn restore(&mut self, name: &str, layer: Option<Layer>) -> Result<Item> {
        let item = match self.catalogue.find_in(name, layer, |state| state == State::Archived) {
            Ok(item) => item.clone(),
            // What cannot be put away was switched off instead.
            Err(Error::Unfit { .. }) => return self.enable(name, layer),
            Err(error) => return Err(error),
        };
        self.take_out(item)
    }

    /// Moves a lesson from the archive or the candidates to those that are at work.
    fn take_out(&mut self, item: Item) -> Result<Item> {
        let folder = item.file.parent().and_then(Path::parent).unwrap_or(Path::new("."));
        let target = file_of(folder, &item.lesson.slug);
        if target.exists() {
            let reason = format!("{} is in its place; archive that one first", target.display());
            return Err(Error::Unfit { slug: item.lesson.slug, reason });
        }
        fs::rename(&item.file, &target).map_err(Error::io(&item.file))?;
        self.refresh();
        Ok(item)
    }

    fn find(&self, name: &str, layer: Option<Layer>, state: State) -> Result<Item> {
        self.catalogue.find_in(name, layer, |other| other == state).cloned()
    }

    /// Puts a lesson on the user's list of those that stay silent, or takes it off.
    fn switch(&self, item: &Item, is_off: bool) -> Result<()> {
        let (slug, layer) = (item.lesson.slug.as_str(), item.layer.name());
        let entry = format!("{layer}:{slug}");
        let current = Config::load(&Env::fixed::<String, String>([]), &self.places.paths);
        let current = current.get("lessons.disabled")?.value.clone();
        let mut list: Vec<&str> = settings::list(&current).filter(|other| *other != entry).collect();
        if is_off {
            list.push(&entry);
        } else {
            list.retain(|other| *other != slug);
        }
        let value = list.join(",");
        Ok(config::set(&self.places.paths, "lessons.disabled", (!value.is_empty()).then_some(&value))?)
    }

    /// Makes the hooks see the change, even one within the same tick of the file system's clock.
    pub(super) fn refresh(&mut self) {
        for source in self.places.sources() {
            if source.layer != Layer::Shipped {
                source.discard(layers::compile);
                // A hook would make it as well, at the cost of its call.
                let _ = source.index(layers::compile);
            }
        }
        self.catalogue = Catalogue::read(self.places);
    }
}

/// Removes what a killed program left half-written. Only the holder of the lock writes here.
fn sweep(folder: &Path) {
    let is_left = |file: &&PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with('.') && files::is_temporary(&name)
    };
    files::files_in(folder).iter().filter(is_left).for_each(|file| drop(fs::remove_file(file)));
}

/// Writes a lesson's file.
pub(super) fn write(file: &Path, lesson: &Lesson) -> Result<()> {
    files::write_atomic(file, format::render(lesson).as_bytes()).map_err(Error::io(file))
}

/// Brings up to date what lessons-learned keeps about a text: its digest, and when it was changed.
fn restamped(mut lesson: Lesson) -> Lesson {
    let hash = content_hash(&lesson);
    for (name, value) in &mut lesson.extra {
        match name.as_str() {
            "contentHash" => value.clone_from(&hash),
            "updatedAt" => *value = Timestamp::now().to_string(),
            _ => {}
        }
    }
    lesson
}

/// Returns the digest by which lessons-learned tells texts apart.
pub(super) fn content_hash(lesson: &Lesson) -> String {
    let trigger = &lesson.trigger;
    let fields = [&trigger.commands, &trigger.matches, &trigger.raw, &trigger.writes, &trigger.sql];
    let patterns: Vec<&String> = fields.into_iter().flatten().collect();
    let patterns = serde_json::json!(patterns);
    let text = format!("{}|{}|{patterns}", lesson.problem, lesson.solution);
    format!("sha256:{}", digest::sha256_hex(text.as_bytes()))
}
