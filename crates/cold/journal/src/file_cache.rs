//! The caches that hooks look files up in: one for each root folder of a project, made from the journal's entries.
//!
//! The table `changes` has a number for each project that is another one whenever its entries change. A cache has it in its
//! header, so that an unchanged project costs one look at a header. One process at a time writes or removes caches
//! (`cache/recall/write.lock`): what `wyren forget` removes is not written again from what was read before.

use crate::entry::Kind;
use crate::schema;
use base::lock::Lock;
use base::project::Project;
use base::{Paths, digest, files};
use recall::{Contents, Entry, MAX_ENTRIES};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use store::rusqlite::{OptionalExtension as _, params};
use store::{Error, Store};

/// How many folders of sessions are looked at to find the roots of a project, those used last.
const MAX_FOLDERS: u32 = 200;
/// How many roots a project has at most: its clones and linked work trees.
const MAX_ROOTS: usize = 32;
/// An entry that read more files than this says little about each of them.
const MAX_READ_FILES: usize = 8;
/// When a cache that was not written since is removed: its folder may be gone. Where it is not, the next drain writes it.
const KEEP: Duration = Duration::from_secs(30 * 24 * 3_600);
/// How long a drain waits for another process that writes caches: it may have begun before the entries changed.
const PATIENCE: Duration = Duration::from_millis(50);

/// The caches, while no other process writes them.
#[derive(Debug)]
pub struct Caches<'p> {
    paths: &'p Paths,
    _lock: Lock,
}

/// A project whose entries are known.
struct Known {
    row: i64,
    key: String,
    root: PathBuf,
    fingerprint: u64,
    has_entries: bool,
}

/// Writes the caches of the projects whose entries changed, unless another process is at it for long: the next drain does then.
pub fn refresh(store: &Store, paths: &Paths) -> Result<(), Error> {
    let stale = stale(store, paths)?;
    if stale.is_empty() {
        return Ok(());
    }
    match Caches::lock(paths, PATIENCE)? {
        Some(caches) => caches.write(store),
        None => Ok(()),
    }
}

impl<'p> Caches<'p> {
    /// Keeps other processes from writing caches; `None` when one does so for longer than `patience`.
    pub fn lock(paths: &'p Paths, patience: Duration) -> Result<Option<Self>, Error> {
        let path = recall::folder(paths).join("write.lock");
        let lock = Lock::exclusive(&path, patience).map_err(io(&path))?;
        Ok(lock.map(|lock| Self { paths, _lock: lock }))
    }

    /// Removes every cache, with what a killed process left beside them.
    pub fn remove(&self) -> Result<(), Error> {
        self.remove_if(|_| true)
    }

    /// Writes the caches that are missing or out of date.
    pub fn write(&self, store: &Store) -> Result<(), Error> {
        // No other process writes: what is temporary was left by one that was killed.
        self.remove_if(|file| is_temporary(file) || is_old(file))?;
        for known in stale(store, self.paths)? {
            let roots = roots(store, &known)?;
            if known.has_entries && !roots.is_empty() {
                let bytes = contents(store, &known, &roots)?.build(known.fingerprint);
                self.each(&roots, |file| files::write_atomic(file, &bytes))?;
            } else if !known.has_entries {
                self.each(&roots, |file| files::remove_if_there(file).map(drop))?;
            }
        }
        Ok(())
    }

    /// Does something with the cache of each root.
    fn each(&self, roots: &[PathBuf], act: impl Fn(&Path) -> std::io::Result<()>) -> Result<(), Error> {
        roots.iter().try_for_each(|root| {
            let file = recall::cache_file(self.paths, root);
            act(&file).map_err(io(&file))
        })
    }

    fn remove_if(&self, is_meant: impl Fn(&Path) -> bool) -> Result<(), Error> {
        let is_cache =
            |file: &Path| file.extension().is_some_and(|ending| ending == "idx") || is_temporary(file);
        for file in files::files_in(&recall::folder(self.paths)) {
            if is_cache(&file) && is_meant(&file) {
                files::remove_if_there(&file).map_err(io(&file))?;
            }
        }
        Ok(())
    }
}

fn is_temporary(file: &Path) -> bool {
    file.file_name().is_some_and(|name| files::is_temporary(&name.to_string_lossy()))
}

fn is_old(file: &Path) -> bool {
    let modified = fs::symlink_metadata(file).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > KEEP))
}

/// Gives a work tree of a project that has no cache yet the one of the project: a session may begin in a new work tree, and what
/// its first turn reads has its story, too. The same bytes hold for every root.
pub fn lend(store: &Store, paths: &Paths, project: &Project) -> Result<(), Error> {
    let file = recall::cache_file(paths, &project.root);
    if file.exists() {
        return Ok(());
    }
    let mut select = store.connection().prepare_cached("SELECT root FROM projects WHERE key = ?1")?;
    let root: Option<String> = select.query_row([&project.key], |row| row.get(0)).optional()?;
    let Some(known) =
        root.map(|root| recall::cache_file(paths, Path::new(&root))).filter(|known| known.exists())
    else {
        return Ok(());
    };
    // What is forgotten meanwhile is lent to no work tree.
    match Caches::lock(paths, Duration::ZERO)? {
        Some(_caches) if known.exists() => {
            // Not every file system has links.
            let copied = || {
                let bytes = files::read_capped(&known, files::cap::LARGEST)?;
                files::write_atomic(&file, &bytes)
            };
            let lent = fs::hard_link(&known, &file).or_else(|_| copied());
            lent.map_err(io(&file))
        }
        _ => Ok(()),
    }
}

/// Returns the projects whose cache is missing or out of date. The caches of all roots are written together, so that of one
/// tells about the others.
fn stale(store: &Store, paths: &Paths) -> Result<Vec<Known>, Error> {
    if !crate::read::is_made(store, "journal")? {
        return Ok(Vec::new());
    }
    let mut select = store.connection().prepare_cached(
        "SELECT projects.row, key, root, number, EXISTS (SELECT 1 FROM entries WHERE entries.project = projects.row)
         FROM changes JOIN projects ON projects.row = changes.project",
    )?;
    let known = select.query_map([], |row| {
        let (key, number): (String, i64) = (row.get(1)?, row.get(3)?);
        let fingerprint = fingerprint(&key, number);
        let root = PathBuf::from(row.get::<_, String>(2)?);
        Ok(Known { row: row.get(0)?, key, root, fingerprint, has_entries: row.get(4)? })
    })?;
    let known: Vec<Known> = known.collect::<Result<_, _>>()?;
    let mut stale = Vec::new();
    for known in known {
        let is_current = |root: &Path| {
            let found = recall::open(paths, root).map(|cache| cache.fingerprint());
            found.map_or(!known.has_entries, |found| found == known.fingerprint)
        };
        if is_current(&known.root) {
            continue;
        }
        // The work tree that was seen first may be gone: then another one tells, if there is any.
        let roots = roots(store, &known)?;
        if roots.contains(&known.root) || !roots.iter().take(1).all(|root| is_current(root)) {
            stale.push(known);
        }
    }
    Ok(stale)
}

fn fingerprint(key: &str, number: i64) -> u64 {
    let hex = digest::sha256_hex(format!("{} {number} {key}", schema::VERSION).as_bytes());
    hex.get(..16).and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or_default()
}

/// Returns the tops of the project's work trees on this machine, as far as sessions were in them.
fn roots(store: &Store, known: &Known) -> Result<Vec<PathBuf>, Error> {
    let mut select = store.connection().prepare_cached(
        "SELECT cwd FROM sessions WHERE project = ?1 GROUP BY cwd ORDER BY max(last_at) DESC LIMIT ?2",
    )?;
    let folders = select.query_map(params![known.row, MAX_FOLDERS], |row| row.get::<_, String>(0))?;
    let folders: Vec<String> = folders.collect::<Result<_, _>>()?;
    let mut roots: Vec<PathBuf> = Vec::new();
    for folder in [&*known.root].into_iter().chain(folders.iter().map(Path::new)) {
        if !folder.is_dir() || roots.iter().any(|root| folder == root) {
            continue;
        }
        // Another repository may be there by now.
        let project = Project::of(folder);
        if project.key == known.key && !roots.contains(&project.root) {
            roots.push(project.root);
        }
    }
    roots.truncate(MAX_ROOTS);
    Ok(roots)
}

/// Returns what the caches of a project have: neither noise nor what a later entry replaces.
fn contents(store: &Store, known: &Known, roots: &[PathBuf]) -> Result<Contents, Error> {
    let mut contents = Contents::default();
    let mut select = store.connection().prepare_cached(
        "SELECT e.row, e.id, sessions.id, e.kind, e.title, strftime('%Y-%m-%d', e.at / 1000, 'unixepoch', 'localtime')
         FROM entries AS e JOIN sessions ON sessions.row = e.session
         WHERE e.project = ?1 AND NOT e.is_noise AND e.replaced_by IS NULL ORDER BY e.at DESC, e.id LIMIT ?2",
    )?;
    let mut rows = select.query(params![known.row, MAX_ENTRIES as i64])?;
    while let Some(row) = rows.next()? {
        let number = contents.entries.len() as u32;
        for path in files_of(store, row.get(0)?, roots)? {
            contents.files.entry(path).or_default().push(number);
        }
        contents.entries.push(Entry {
            session: row.get(2)?,
            id: row.get(1)?,
            day: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
            glyph: Kind(row.get(3)?).glyph().to_owned(),
            title: row.get(4)?,
        });
    }
    Ok(contents)
}

/// Returns the files that an entry tells something about.
fn files_of(store: &Store, entry: i64, roots: &[PathBuf]) -> Result<Vec<String>, Error> {
    let mut select =
        store.connection().prepare_cached("SELECT path, is_changed FROM entry_files WHERE entry = ?1")?;
    let found = select.query_map([entry], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found: Vec<(String, bool)> = found.collect::<Result<_, _>>()?;
    let says_little = found.len() > MAX_READ_FILES;
    let paths = found.into_iter().filter(|(_, is_changed)| *is_changed || !says_little);
    // Two spellings of one file are one.
    let paths: BTreeSet<String> = paths.map(|(path, _)| within(&path, roots)).collect();
    Ok(paths.into_iter().collect())
}

/// Returns a path relative to the work tree that it is in: an entry may have been made in another one.
fn within(path: &str, roots: &[PathBuf]) -> String {
    let relative = roots.iter().find_map(|root| Path::new(path).strip_prefix(root).ok()?.to_str());
    let path = relative.unwrap_or(path);
    if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() }
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
    move |source| Error::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DERIVED;
    use base::{Env, Timestamp};
    use capture::{Data, Kept, Observation, Spool};
    use serde_json::{Value, json};
    use std::borrow::Cow;
    use store::observations::{Drain, Selection};

    struct Bench {
        folder: tempfile::TempDir,
        paths: Paths,
        store: Store,
    }

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
            fs::create_dir_all(paths.data()).unwrap();
            let store = Store::open(&paths.database(), store::TABLES).unwrap().deriving(DERIVED);
            let bench = Self { folder, paths, store };
            bench.repository("project", "github.com/acme/shop");
            bench
        }

        /// Makes a repository with a remote; two of one remote are one project.
        fn repository(&self, name: &str, remote: &str) -> PathBuf {
            let root = self.folder.path().join(name);
            fs::create_dir_all(root.join(".git/objects")).unwrap();
            fs::create_dir_all(root.join(".git/refs")).unwrap();
            fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            let config =
                format!("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://{remote}.git\n");
            fs::write(root.join(".git/config"), config).unwrap();
            root
        }

        fn project(&self) -> PathBuf {
            self.folder.path().join("project")
        }

        fn put(&self, cwd: &Path, id: &str, at: u64, title: &str, files: &[&str]) {
            let data =
                json!({"type": "change", "title": title, "files_modified": files, "source": "by-hand"});
            self.put_kind(cwd, "entry", id, at, &data);
        }

        fn put_kind(&self, cwd: &Path, kind: &'static str, id: &str, at: u64, data: &Value) {
            let data = serde_json::value::to_raw_value(data).unwrap();
            let data = Data::Kept(Kept { kind: kind.into(), data: Cow::Owned(data) });
            // Each folder has a session of its own.
            let session = cwd.display().to_string();
            let mut observation = Observation::new(&session, id.to_owned(), at, data);
            observation.cwd = cwd.to_string_lossy();
            Spool::new(self.paths.spool()).append(&observation).unwrap();
        }

        fn drain(&mut self) {
            let spool = Spool::new(self.paths.spool());
            Drain::unbounded(&spool).run(&mut self.store, Timestamp::now()).unwrap();
            refresh(&self.store, &self.paths).unwrap();
        }

        fn lines(&self, root: &Path, path: &str) -> Vec<String> {
            let Some(cache) = recall::open(&self.paths, root) else { return Vec::new() };
            let numbers = cache.about_file(path);
            let lines = numbers.into_iter().filter_map(|number| cache.line(number));
            lines.map(|line| line.text.split_once("✓ ").unwrap_or_default().1.to_owned()).collect()
        }

        fn caches(&self) -> Vec<PathBuf> {
            files::files_in(&recall::folder(&self.paths))
        }
    }

    #[test]
    fn deriving_writes_the_story_of_each_file_newest_first_and_leaves_what_is_current() {
        let mut bench = Bench::new();
        let project = bench.project();
        bench.put(&project, "n:1", 10_000, "one", &["src/a.rs", "b.rs"]);
        bench.put(&project, "n:2", 20_000, "two", &["src/a.rs"]);
        bench.drain();
        assert_eq!(bench.lines(&project, "src/a.rs"), ["two", "one"]);
        assert_eq!(bench.lines(&project, "b.rs"), ["one"]);
        assert!(bench.lines(&project, "c.rs").is_empty());
        let file = recall::cache_file(&bench.paths, &project);
        let written = fs::metadata(&file).unwrap().modified().unwrap();
        bench.drain();
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written, "nothing changed");
        // One that was removed or damaged comes back.
        fs::write(&file, "damaged").unwrap();
        bench.drain();
        assert_eq!(bench.lines(&project, "b.rs"), ["one"]);
        // A change of an entry is a change, too.
        let id = crate::entry_id("claude-code", &project.display().to_string(), "entry", "n:1");
        bench.put_kind(&project, "amend", "a:1", 30_000, &json!({"entry": id, "title": "one, better"}));
        bench.drain();
        assert_eq!(bench.lines(&project, "b.rs"), ["one, better"]);
    }

    #[test]
    fn a_new_work_tree_is_lent_the_story_and_gets_its_own_with_the_next_change() {
        let mut bench = Bench::new();
        let (project, other) = (bench.project(), bench.repository("other", "github.com/other/shop"));
        let clone = bench.repository("clone", "github.com/acme/shop");
        bench.put(&project, "n:1", 10_000, "one", &["src/a.rs"]);
        bench.drain();
        for root in [&project, &clone, &other] {
            lend(&bench.store, &bench.paths, &Project::of(root)).unwrap();
        }
        assert_eq!(bench.lines(&clone, "src/a.rs"), ["one"]);
        assert!(bench.lines(&other, "src/a.rs").is_empty(), "another repository of the name");
        bench.put(&clone, "n:2", 20_000, "two", &["src/a.rs"]);
        bench.drain();
        for root in [&project, &clone] {
            assert_eq!(bench.lines(root, "src/a.rs"), ["two", "one"]);
        }
        // While another process writes or removes caches, nothing is lent.
        let third = bench.repository("third", "github.com/acme/shop");
        let caches = Caches::lock(&bench.paths, Duration::ZERO).unwrap().unwrap();
        lend(&bench.store, &bench.paths, &Project::of(&third)).unwrap();
        assert!(bench.lines(&third, "src/a.rs").is_empty());
        caches.remove().unwrap();
        drop(caches);
        lend(&bench.store, &bench.paths, &Project::of(&third)).unwrap();
        assert!(bench.lines(&third, "src/a.rs").is_empty(), "there is none to lend");
    }

    #[test]
    fn a_project_that_was_moved_has_its_story_and_is_written_once() {
        let mut bench = Bench::new();
        let project = bench.project();
        bench.put(&project, "n:1", 10_000, "one", &["src/a.rs"]);
        bench.drain();
        let moved = bench.folder.path().join("moved");
        fs::rename(&project, &moved).unwrap();
        bench.put(&moved, "n:2", 20_000, "two", &["src/a.rs"]);
        bench.drain();
        assert_eq!(bench.lines(&moved, "src/a.rs"), ["two", "one"]);
        assert_eq!(stale(&bench.store, &bench.paths).unwrap().len(), 0, "it is current");
        bench.put(&moved, "n:3", 30_000, "three", &["src/a.rs"]);
        bench.drain();
        assert_eq!(bench.lines(&moved, "src/a.rs"), ["three", "two", "one"]);
        fs::remove_dir_all(&moved).unwrap();
        assert_eq!(stale(&bench.store, &bench.paths).unwrap().len(), 0, "there is nowhere to write it to");
    }

    #[test]
    fn every_work_tree_of_a_project_has_the_story_and_no_other_project_has() {
        let mut bench = Bench::new();
        let project = bench.project();
        let clone = bench.repository("clone", "github.com/acme/shop");
        let other = bench.repository("elsewhere/project", "github.com/other/shop");
        let inner = clone.join("src");
        fs::create_dir(&inner).unwrap();
        let absolute = clone.join("src/a.rs").display().to_string();
        bench.put(&project, "n:1", 10_000, "one", &["src/a.rs"]);
        bench.put(&inner, "n:2", 20_000, "two", &[&absolute]);
        bench.put(&other, "n:3", 30_000, "three", &["src/a.rs"]);
        bench.drain();
        assert_eq!(bench.lines(&project, "src/a.rs"), ["two", "one"]);
        assert_eq!(bench.lines(&clone, "src/a.rs"), ["two", "one"]);
        assert_eq!(bench.lines(&other, "src/a.rs"), ["three"]);
    }

    #[test]
    fn an_entry_that_only_read_many_files_is_about_none_of_them() {
        let mut bench = Bench::new();
        let project = bench.project();
        let read: Vec<String> = (0..9).map(|number| format!("{number}.rs")).collect();
        let data =
            json!({"type": "change", "title": "looked", "files_read": read, "files_modified": ["a.rs"]});
        bench.put_kind(&project, "entry", "n:1", 10_000, &data);
        bench.drain();
        assert!(bench.lines(&project, "1.rs").is_empty());
        assert_eq!(bench.lines(&project, "a.rs"), ["looked"]);
    }

    #[test]
    fn what_is_deleted_or_forgotten_is_in_no_cache() {
        let mut bench = Bench::new();
        let project = bench.project();
        bench.put(&project, "n:1", 10_000, "ACME-MERGER", &["a.rs"]);
        bench.drain();
        assert_eq!(bench.lines(&project, "a.rs"), ["ACME-MERGER"]);
        // What a killed writer left.
        fs::write(recall::folder(&bench.paths).join(".x.idx.1.0.tmp"), "ACME-MERGER").unwrap();

        let caches = Caches::lock(&bench.paths, Duration::ZERO).unwrap().unwrap();
        caches.remove().unwrap();
        assert_eq!(
            files::files_in(&recall::folder(&bench.paths)),
            [recall::folder(&bench.paths).join("write.lock")]
        );
        // Meanwhile no other process brings it back.
        refresh(&bench.store, &bench.paths).unwrap();
        assert_eq!(bench.caches().len(), 1);
        let selection = Selection { query: Some("ACME-MERGER".into()), ..Selection::default() };
        let (spool, notes) = (Spool::new(bench.paths.spool()), bench.paths.data().join("forgotten"));
        selection.forget(&mut bench.store, &spool, &notes, Timestamp::now()).unwrap();
        caches.write(&bench.store).unwrap();
        drop(caches);
        assert_eq!(bench.caches().len(), 1);

        bench.put(&project, "n:2", 20_000, "two", &["a.rs"]);
        bench.drain();
        assert_eq!(bench.caches().len(), 2);
        let id = crate::entry_id("claude-code", &project.display().to_string(), "entry", "n:2");
        bench.put_kind(&project, "amend", "a:1", 30_000, &json!({"entry": id, "deleted": true}));
        bench.drain();
        assert_eq!(bench.caches().len(), 1, "a person deleted the only entry");
    }
}
