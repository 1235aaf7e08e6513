//! Where lessons come from: those that ship, the user's own, the project's, an old manifest; and their compiled indexes.
//!
//! An index is current when its fingerprint is that of the folder now, which costs one `stat`, never one per lesson. The
//! first process that finds an old one has it rebuilt; the others are silent meanwhile.

use crate::artifact::Installed;
use crate::format;
use crate::index::{self, Entry, Fingerprint, Index};
use crate::lesson::Lesson;
use crate::limits::{Count, Limits};
use crate::manifest;
use crate::measured::{self, Measured};
use base::lock::Lock;
use base::trust::{Identity, Item, Trust};
use base::{Paths, detached, digest, files, settings};
use memmap2::{Mmap, MmapMut};
use std::cell::{OnceCell, RefCell};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use xxhash_rust::xxh3::xxh3_64;

/// The ending of a lesson's file.
pub const ENDING: &str = "md";
/// The index that ships beside the shipped lessons.
pub const SHIPPED_INDEX: &str = "index.bin";

/// Who a lesson comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The plugin.
    Shipped,
    /// The user.
    Personal,
    /// The repository.
    Project,
    /// A manifest of lessons-learned.
    Manifest,
}

impl Layer {
    /// Every layer, the nearest to the user's work last.
    pub const ALL: [Self; 4] = [Self::Shipped, Self::Manifest, Self::Personal, Self::Project];

    /// Returns whether the lessons are the user's own: written by the user, or installed with the plugin.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Shipped | Self::Personal)
    }

    /// Returns the layer's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shipped => "shipped",
            Self::Personal => "personal",
            Self::Project => "project",
            Self::Manifest => "manifest",
        }
    }

    /// Returns the layer called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

/// Says whether the setting `lessons.disabled` switches a lesson off: by its name, or by its layer and name.
pub fn is_disabled(setting: &str, layer: Layer, slug: &str) -> bool {
    settings::list(setting).any(|item| match item.split_once(':') {
        Some((wanted, name)) => wanted == layer.name() && name == slug,
        None => item == slug,
    })
}

/// Says whether the setting `lessons.packs_off` switches a lesson off: one that ships, by its pack.
pub fn is_pack_off(setting: &str, layer: Layer, pack: &str) -> bool {
    layer == Layer::Shipped && !pack.is_empty() && settings::list(setting).any(|off| off == pack)
}

/// One source of lessons.
#[derive(Clone, Debug)]
pub struct Source {
    /// Who its lessons come from.
    pub layer: Layer,
    /// The folder, or the manifest's file.
    pub place: PathBuf,
    cache: PathBuf,
    paths: Paths,
    /// Read when something of the project is about to act.
    trust: OnceCell<Option<Trust>>,
    /// What was left out when this process had the index made, for the log.
    left_out: RefCell<Option<String>>,
}

impl Source {
    /// Returns every source for a session in `cwd`, the user's own first; one that does not exist has no lessons.
    pub fn all(paths: &Paths, cwd: &Path, manifest: Option<PathBuf>) -> Vec<Self> {
        let mut sources = Self::own(paths);
        sources.extend(Self::others(paths, cwd, manifest));
        sources
    }

    /// Returns the sources that no repository has a part in.
    pub fn own(paths: &Paths) -> Vec<Self> {
        let shipped = paths.plugin().map(|plugin| Self::at(paths, Layer::Shipped, plugin.join("lessons")));
        let personal = Self::at(paths, Layer::Personal, paths.data().join("lessons"));
        shipped.into_iter().chain([personal]).collect()
    }

    /// Returns the sources that come with the repository around `cwd`, or with a manifest.
    pub fn others(paths: &Paths, cwd: &Path, manifest: Option<PathBuf>) -> Vec<Self> {
        let project = place::lessons_folder(cwd).map(|folder| Self::at(paths, Layer::Project, folder));
        let manifest = manifest.map(|file| Self::at(paths, Layer::Manifest, file));
        project.into_iter().chain(manifest).collect()
    }

    /// Returns the source of a layer's lessons at `place`, which is a folder, or a manifest's file.
    pub fn at(paths: &Paths, layer: Layer, place: PathBuf) -> Self {
        Self {
            layer,
            cache: cache_file(paths, layer, &place),
            paths: paths.clone(),
            trust: OnceCell::new(),
            left_out: RefCell::default(),
            place,
        }
    }

    /// Returns what the user trusts of the project that the lessons come from; `None` when they are no project's, or
    /// when it was never trusted.
    pub fn trust(&self) -> Option<&Trust> {
        let read = || Trust::read(&self.paths, place::project_root(&self.place), Identity::of);
        self.trust.get_or_init(|| (self.layer == Layer::Project).then(read).flatten()).as_ref()
    }

    /// Returns what the user has to trust before a lesson may act; `None` when it may.
    pub fn untrusted(&self, entry: &Entry<'_>) -> Option<Item> {
        if self.layer != Layer::Project || !entry.kind.needs_trust() {
            return None;
        }
        let item = entry.trust_item();
        let is_trusted = self.trust().is_some_and(|trust| trust.covers(&item.digest));
        (!is_trusted).then_some(item)
    }

    /// Opens the index of this source, which `compile` rebuilds where it is out of date. `None` when there are no lessons,
    /// or when another process is rebuilding it.
    pub fn index(&self, compile: impl Compile) -> io::Result<Option<Index<Mmap>>> {
        let Some(fingerprint) = self.fingerprint() else { return Ok(None) };
        let current = || open(&self.cache).filter(|index| index.fingerprint() == fingerprint);
        if let Some(index) = current().or_else(|| self.take_shipped(fingerprint)) {
            return Ok(Some(index));
        }
        self.left_out.replace(compile(self)?);
        Ok(current())
    }

    /// Copies the index that ships into the cache, and returns it also where that cannot be written. The plugin's own file
    /// is never mapped: an installer may truncate it under us, and reading the map would end the process.
    fn take_shipped(&self, fingerprint: Fingerprint) -> Option<Index<Mmap>> {
        if self.layer != Layer::Shipped {
            return None;
        }
        let mut bytes = files::read_followed(&self.place.join(SHIPPED_INDEX), files::cap::LARGEST).ok()?;
        Index::new(&bytes[..]).ok().filter(|index| index.fingerprint() == shipped_fingerprint())?;
        index::restamp(&mut bytes, fingerprint).ok()?;
        let _ = files::write_atomic(&self.cache, &bytes);
        let mut map = MmapMut::map_anon(bytes.len()).ok()?;
        map.copy_from_slice(&bytes);
        Index::new(map.make_read_only().ok()?).ok()
    }

    /// Rebuilds the index when a lesson was changed in place, which the folder does not show, or when what is installed
    /// in the client changed.
    pub fn refresh(&self) -> io::Result<()> {
        if self.layer == Layer::Shipped || self.fingerprint().is_none() {
            return Ok(());
        }
        let made = fs::metadata(&self.cache).and_then(|metadata| metadata.modified());
        let is_newer = |file: &PathBuf| {
            let modified = fs::symlink_metadata(file).and_then(|metadata| metadata.modified());
            matches!((&modified, &made), (Ok(modified), Ok(made)) if modified > made)
        };
        let limits = Limits::of(self.layer);
        let mut files = lesson_files(&self.place, &limits).0;
        if matches!(self.layer, Layer::Personal | Layer::Manifest) {
            files.extend(Installed::files(&self.paths));
        }
        if files.iter().any(is_newer) {
            fs::remove_file(&self.cache)?;
            self.left_out.replace(compile(self)?);
        }
        Ok(())
    }

    /// Reads every lesson of this source; what cannot be read, or is over a limit, is returned beside them. A lesson of a
    /// manifest is named behind the manifest's path.
    pub fn read(&self) -> (Vec<Lesson>, Vec<(PathBuf, format::Flaw)>) {
        let limits = Limits::of(self.layer);
        if self.layer == Layer::Manifest {
            return match manifest::read(&self.place, &limits) {
                Ok(found) => {
                    let (lessons, mut flaws) = admit(&self.place, found.lessons, &limits);
                    flaws.extend(
                        found.flaws.into_iter().map(|(slug, flaw)| (inside(&self.place, &slug), flaw)),
                    );
                    (lessons, flaws)
                }
                Err(flaw) => (Vec::new(), vec![(self.place.clone(), flaw)]),
            };
        }
        read_folder(&self.place, &limits)
    }

    /// Says what was left out when this process had the index made; `None` when it found one, or nothing was.
    pub fn left_out(&self) -> Option<String> {
        self.left_out.borrow().clone()
    }

    /// Returns the file that says how sure its lessons are by what followed when they were shown.
    pub fn measured_file(&self) -> PathBuf {
        self.cache.with_extension(measured::ENDING)
    }

    /// Returns how sure its lessons are by what followed when they were shown.
    pub fn measured(&self) -> Measured {
        Measured::read(&self.measured_file())
    }

    /// Removes the index, so that the next call rebuilds it.
    pub fn discard(&self, compile: impl Compile) {
        let _ = fs::remove_file(&self.cache);
        // The plugin's own file is not ours to change: an index of the lessons themselves takes its place.
        if self.layer == Layer::Shipped {
            let _ = compile(self);
        }
    }

    /// Returns what the index must have been made from; `None` when there is nothing.
    fn fingerprint(&self) -> Option<Fingerprint> {
        let metadata = if self.layer == Layer::Shipped {
            match fs::metadata(self.place.join(SHIPPED_INDEX)) {
                Ok(metadata) => metadata,
                Err(_) => return self.place.is_dir().then(shipped_fingerprint),
            }
        } else if self.layer == Layer::Project {
            fs::symlink_metadata(&self.place).ok()?
        } else {
            fs::metadata(&self.place).ok()?
        };
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        let length = if metadata.is_dir() { 0 } else { metadata.len() };
        let mut seed = self.place.as_os_str().as_encoded_bytes().to_vec();
        if self.layer == Layer::Shipped {
            seed.extend(shipped_fingerprint().0.to_le_bytes());
        }
        if !self.layer.is_own() {
            seed.extend(LIMITED);
        }
        seed.extend(modified.to_le_bytes());
        seed.extend(length.to_le_bytes());
        Some(Fingerprint(xxh3_64(&seed)))
    }
}

/// Rebuilds the index of a source, unless another process is at it, and says what was left out: [`compile`], or
/// [`compile_beside`]. It is a type of its own for each of them, so that a program links the one that it uses.
pub trait Compile: Fn(&Source) -> io::Result<Option<String>> + Copy {}

impl<F: Fn(&Source) -> io::Result<Option<String>> + Copy> Compile for F {}

/// Rebuilds an index in this process.
pub fn compile(source: &Source) -> io::Result<Option<String>> {
    let Some(fingerprint) = source.fingerprint() else { return Ok(None) };
    let Some(_lock) = Lock::exclusive(&source.cache.with_extension("lock"), Duration::ZERO)? else {
        return Ok(None);
    };
    let (mut lessons, flaws) = source.read();
    let installed = Installed::of(&source.paths);
    lessons.retain(|lesson| installed.what_keeps(source.layer, lesson).is_none());
    let (bytes, _) = index::build(&lessons, fingerprint);
    // Replaced by rename: a process that has the old one mapped keeps it whole.
    files::write_atomic(&source.cache, &bytes)?;
    Ok(describe(&flaws))
}

/// Rebuilds an index by the `wyren` beside this program, which logs what was left out: for the hook that runs with every
/// call, a quarter of which would otherwise be code that runs when a lesson was changed.
pub fn compile_beside(source: &Source) -> io::Result<Option<String>> {
    let arguments = ["lessons", "compile", source.layer.name()].map(OsStr::new);
    let has_worked =
        detached::run_beside_us("wyren", &[&arguments[..], &[source.place.as_os_str()]].concat())?;
    if has_worked { Ok(None) } else { Err(io::Error::other("`wyren lessons compile` failed")) }
}

/// Says what was left out of an index, in one line.
fn describe(flaws: &[(PathBuf, format::Flaw)]) -> Option<String> {
    let (file, flaw) = flaws.first()?;
    let first = format!("{}: {}: {}", file.display(), flaw.field, flaw.reason);
    let count = flaws.len();
    let mut message = format!("{count} left out of the lessons, see `wyren lessons doctor`: {first}");
    for (file, _) in flaws.iter().skip(1).take(NAMED) {
        message.extend(["; ", &file.file_name().unwrap_or_default().to_string_lossy()]);
    }
    Some(message)
}

/// How many of the lessons that are left out are named beside the first.
const NAMED: usize = 10;

/// Part of the fingerprint of what has limits: an index that was made without them, or with others, is out of date.
const LIMITED: &[u8] = b"limits 2";

/// Returns the fingerprint in the index that ships: a plugin's lessons change with its version alone.
pub fn shipped_fingerprint() -> Fingerprint {
    Fingerprint(xxh3_64(concat!("shipped ", env!("CARGO_PKG_VERSION")).as_bytes()))
}

/// Reads the lessons in a folder; what cannot be read, or is over a limit, is returned beside them.
pub fn read_folder(folder: &Path, limits: &Limits) -> (Vec<Lesson>, Vec<(PathBuf, format::Flaw)>) {
    let (files, too_many) = lesson_files(folder, limits);
    let (mut lessons, mut flaws) = (Vec::new(), Vec::new());
    flaws.extend(too_many.map(|flaw| (folder.to_owned(), flaw)));
    let mut count = Count::new(limits);
    let mut room = limits.all_bytes;
    for file in files {
        let slug = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let lesson =
            read_text(&file, limits.file_bytes, &mut room).and_then(|text| format::parse(&slug, &text));
        match lesson.and_then(|lesson| count.take(&lesson).map(|()| lesson)) {
            Ok(lesson) => lessons.push(lesson),
            Err(flaw) => flaws.push((file, flaw)),
        }
    }
    (lessons, flaws)
}

/// Reads a file of at most `most` bytes, and takes them from the `room` that is left for the files of a folder.
fn read_text(file: &Path, most: u64, room: &mut u64) -> Result<String, format::Flaw> {
    let unreadable =
        |error: io::Error| format::Flaw { line: 0, field: "file".to_owned(), reason: error.to_string() };
    let opened = files::open_regular(file).map_err(unreadable)?;
    let length = opened.metadata().map_err(unreadable)?.len();
    let too_large = Limits::too_large(length, most).or_else(|| {
        let flaw = Limits::too_large(length, *room)?;
        let reason = "the lessons before it take all the room that a project's lessons have";
        Some(format::Flaw { reason: reason.to_owned(), ..flaw })
    });
    if let Some(flaw) = too_large {
        return Err(flaw);
    }
    *room -= length;
    let mut text = String::new();
    // It may have grown since.
    opened.take(most).read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

/// Keeps the lessons within the limits; the others are returned as flaws.
fn admit(file: &Path, lessons: Vec<Lesson>, limits: &Limits) -> (Vec<Lesson>, Vec<(PathBuf, format::Flaw)>) {
    let too_many = limits.too_many(lessons.len()).map(|flaw| (file.to_owned(), flaw));
    let mut flaws: Vec<_> = too_many.into_iter().collect();
    let mut count = Count::new(limits);
    let mut admitted = Vec::new();
    for lesson in lessons.into_iter().take(limits.lessons) {
        match count.take(&lesson) {
            Ok(()) => admitted.push(lesson),
            Err(flaw) => flaws.push((inside(file, &lesson.slug), flaw)),
        }
    }
    (admitted, flaws)
}

/// Names a lesson of a manifest behind the manifest's path, in plain characters.
fn inside(manifest: &Path, slug: &str) -> PathBuf {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '-';
    manifest.join(slug.replace(|character| !is_plain(character), "-"))
}

fn open(file: &Path) -> Option<Index<Mmap>> {
    let file = File::open(file).ok()?;
    #[expect(unsafe_code, reason = "mapping a file is what makes the cost independent of its size")]
    // SAFETY: files in the cache are only ever replaced by rename, never changed in place; and every access is checked,
    // so that whatever they hold is at worst a damaged index.
    let map = unsafe { Mmap::map(&file) }.ok()?;
    Index::new(map).ok()
}

/// Returns the files of the lessons in a folder, sorted by name, and what is wrong when there are too many.
fn lesson_files(folder: &Path, limits: &Limits) -> (Vec<PathBuf>, Option<format::Flaw>) {
    let Ok(entries) = fs::read_dir(folder) else { return (Vec::new(), None) };
    let is_lesson = |entry: &fs::DirEntry| {
        Path::new(&entry.file_name()).extension().is_some_and(|ending| ending == ENDING)
            && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    let entries = entries.take(limits.entries).flatten().filter(is_lesson);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let too_many = limits.too_many(files.len());
    files.truncate(limits.lessons);
    (files, too_many)
}

fn cache_file(paths: &Paths, layer: Layer, place: &Path) -> PathBuf {
    // Each version of a plugin has a folder of its own; their copies shall not pile up.
    let name = match layer {
        Layer::Shipped => "shipped".to_owned(),
        _ => digest::short_hex(place.as_os_str().as_encoded_bytes()),
    };
    paths.cache().join("lessons").join(format!("{name}.idx"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;

    #[test]
    fn the_shipped_index_is_copied_and_a_new_one_replaces_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let lessons = folder.path().join("plugin/lessons");
        fs::create_dir_all(&lessons).unwrap();
        let paths = Paths::of(&Env::fixed([
            ("WYREN_DATA_DIR", folder.path().join("data")),
            ("CLAUDE_PLUGIN_ROOT", folder.path().join("plugin")),
        ]));
        let ship = |slugs: &[&str]| {
            let named = |slug: &&str| Lesson {
                slug: (*slug).to_owned(),
                summary: "x".repeat(slug.len()),
                ..Lesson::default()
            };
            let all: Vec<Lesson> = slugs.iter().map(named).collect();
            fs::write(lessons.join(SHIPPED_INDEX), index::build(&all, shipped_fingerprint()).0).unwrap();
        };
        let open = || {
            let source = Source::all(&paths, folder.path(), None).remove(0);
            (source.index(compile).unwrap().unwrap(), source.cache)
        };
        ship(&["one"]);
        let (first, cache) = open();
        assert_eq!(first.entry(0).unwrap().slug, "one");
        assert!(cache.exists());
        let again = open().0;
        // What is in use is a copy: the installer may truncate its file at any moment.
        fs::write(lessons.join(SHIPPED_INDEX), "").unwrap();
        assert_eq!((first.entry(0).unwrap().slug, again.entry(0).unwrap().slug), ("one", "one"));
        ship(&["two", "three"]);
        assert_eq!(open().0.len(), 2);
        // Without a place for the copy, the lessons are there all the same.
        fs::remove_dir_all(cache.parent().unwrap()).unwrap();
        fs::write(cache.parent().unwrap(), "").unwrap();
        assert_eq!(open().0.len(), 2);
    }
}
