//! A look at the shared files of a tree within [`bounds`]: sizes come from object headers, and nothing is loaded but trees.

use crate::repository::bounds::{self, LeftOut, Why};
use crate::repository::objects::Snapshot;
use crate::repository::trees::{self, Entry, Kind};
use git2::{ObjectType, Odb, Oid};
use place::{BROADCAST, LESSONS, MEMORY, is_shared};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The folders whose direct contents are one thing each, to be shared or left out as a whole.
const SHELVES: [&str; 3] = [BROADCAST, "broadcast/skills", LESSONS];

/// Whether the file system takes names for the same that differ by upper and lower case only.
const FOLDS_CASE: bool = cfg!(any(target_os = "macos", windows));

/// Something that is in a tree and is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Omission {
    /// Its path relative to `.wyren/`, name by name: a name may have a slash in it.
    pub(crate) parts: Vec<Vec<u8>>,
    /// Whether it is a folder: a file may have the same name.
    pub(crate) is_folder: bool,
    pub(crate) why: Why,
}

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// The shared files.
    pub(crate) files: Snapshot,
    /// The known paths that are in the tree and left out: what the remote has there counts as unchanged.
    pub(crate) frozen: BTreeSet<String>,
    /// The known paths whose place in the tree is a folder's, or that are below a file's, with the number of that name.
    pub(crate) occupied: BTreeMap<String, usize>,
    /// What was left out, the first [`bounds::MAX_NAMED`] of it.
    pub(crate) omissions: Vec<Omission>,
    /// The objects that are not here, as in a partial clone.
    pub(crate) missing: Vec<Oid>,
}

impl Survey {
    /// Returns what the remote has as far as it is taken in: what is left out is as both sides had it before.
    pub(crate) fn taken(&self, base: &Snapshot) -> Snapshot {
        let mut files = self.files.clone();
        for path in &self.frozen {
            let is_below_file = path.match_indices('/').any(|(end, _)| files.contains_key(&path[..end]));
            let version = base.get(path).filter(|_| !is_below_file && !has_below(&files, path));
            files.extend(version.map(|id| (path.clone(), *id)));
        }
        files
    }

    /// Returns the part of a path of ours that the remote uses otherwise, for a folder or a file, and goes on using once it has
    /// the `wanted` files.
    pub(crate) fn occupied_part<'a>(&self, path: &'a str, wanted: &Snapshot) -> Option<&'a str> {
        let at = *self.occupied.get(path)?;
        let end = path.match_indices('/').map(|(end, _)| end).nth(at).unwrap_or(path.len());
        let part = &path[..end];
        let is_used = if part.len() < path.len() {
            wanted.contains_key(part) || !self.files.contains_key(part)
        } else {
            let parts = split(part);
            let has_more = self.omissions.iter().any(|it| it.parts.starts_with(&parts));
            has_below(wanted, part) || !has_below(&self.files, part) || has_more
        };
        is_used.then_some(part)
    }

    /// Returns what was left out, for a person.
    pub(crate) fn left_out(&self) -> Vec<LeftOut> {
        self.omissions.iter().map(Omission::left_out).collect()
    }
}

impl Omission {
    /// Returns it for a person.
    pub(crate) fn left_out(&self) -> LeftOut {
        LeftOut { path: bounds::shown(&self.parts), why: self.why.to_string(), here: false }
    }
}

/// A tree that was read, with the places of its entries by name.
struct Folder {
    entries: Vec<Entry>,
    by_name: Vec<u32>,
}

impl Folder {
    fn named<'a>(&'a self, name: &'a [u8]) -> impl Iterator<Item = &'a Entry> {
        let entry = |at: &u32| &self.entries[*at as usize];
        let first = self.by_name.partition_point(|at| &*entry(at).name < name);
        self.by_name[first..].iter().map(entry).take_while(move |entry| entry.name == name)
    }
}

/// What a known path is in the tree.
enum Found {
    File(Oid, usize),
    Absent,
    Occupied(usize),
    LeftOut(Omission),
}

/// Looks at the shared files of a tree of `.wyren/`. Those at `known` paths come first, so that no number of new files keeps
/// an old one from being seen.
pub(crate) fn survey(odb: &Odb<'_>, tree: Oid, known: &BTreeSet<&str>) -> Survey {
    let mut walk = Walk::new(odb, FOLDS_CASE);
    walk.known(tree, known);
    for shelf in SHELVES {
        if !walk.shelf(tree, shelf) {
            break;
        }
    }
    walk.survey
}

/// Returns the file at one path of a tree of `.wyren/`, if it is shared.
pub(crate) fn file(odb: &Odb<'_>, tree: Oid, path: &str) -> Option<Oid> {
    match Walk::new(odb, false).find(tree, path) {
        Found::File(id, _) => Some(id),
        _ => None,
    }
}

/// Returns all files of a tree that this program wrote, whatever their sizes; `None` when there are too many.
pub(crate) fn everything(odb: &Odb<'_>, tree: Oid) -> Option<Snapshot> {
    let mut walk = Walk { most_trees: usize::MAX, ..Walk::new(odb, false) };
    let mut files = Snapshot::new();
    let mut folders = vec![(String::new(), tree)];
    let mut left = bounds::MAX_STATE;
    while let Some((path, tree)) = folders.pop() {
        let folder = walk.folder(tree).ok()?;
        walk.folders.clear();
        for entry in &folder.entries {
            left = left.checked_sub(1)?;
            let path = format!("{path}{}", std::str::from_utf8(&entry.name).ok()?);
            match entry.kind() {
                Kind::Folder => folders.push((format!("{path}/"), entry.id)),
                _ if is_shared(&path) => drop(files.insert(path, entry.id)),
                _ => {}
            }
        }
    }
    Some(files)
}

struct Walk<'a> {
    odb: &'a Odb<'a>,
    folds_case: bool,
    folders: HashMap<Oid, Rc<Folder>>,
    /// How many bytes of trees, entries and bytes of files are left of what may be seen.
    most_trees: usize,
    most_entries: usize,
    most_bytes: usize,
    /// The paths that are taken, as the file system compares them, and whether by a file.
    taken: BTreeMap<String, bool>,
    survey: Survey,
}

impl<'a> Walk<'a> {
    fn new(odb: &'a Odb<'a>, folds_case: bool) -> Self {
        Self {
            odb,
            folds_case,
            folders: HashMap::new(),
            most_trees: bounds::MAX_TREES,
            most_entries: bounds::MAX_ENTRIES,
            most_bytes: bounds::MAX_BYTES,
            taken: BTreeMap::new(),
            survey: Survey::default(),
        }
    }

    fn folder(&mut self, id: Oid) -> Result<Rc<Folder>, Why> {
        if let Some(folder) = self.folders.get(&id) {
            return Ok(Rc::clone(folder));
        }
        let size = self.header(id, ObjectType::Tree)?;
        if size > bounds::MAX_TREE || size > self.most_trees {
            return Err(Why::TooMany);
        }
        self.most_trees -= size;
        let bytes = trees::read(self.odb, id, ObjectType::Tree, size).ok().flatten();
        let entries = bytes.and_then(|bytes| trees::parse(&bytes)).ok_or(Why::Unreadable)?;
        let mut by_name: Vec<u32> = (0..u32::try_from(entries.len()).unwrap_or(u32::MAX)).collect();
        by_name.sort_by_key(|at| &entries[*at as usize].name);
        let folder = Rc::new(Folder { entries, by_name });
        self.folders.insert(id, Rc::clone(&folder));
        Ok(folder)
    }

    /// Returns the size of an object that is of the given kind.
    fn header(&mut self, id: Oid, kind: ObjectType) -> Result<usize, Why> {
        match self.odb.read_header(id) {
            Ok((size, found)) if found == kind => Ok(size),
            Err(error) if error.code() == git2::ErrorCode::NotFound => {
                self.survey.missing.push(id);
                Err(Why::Unreadable)
            }
            _ => Err(Why::Unreadable),
        }
    }

    /// Looks up the known paths, the memory first.
    fn known(&mut self, tree: Oid, known: &BTreeSet<&str>) {
        let others = known.iter().copied().filter(|path| *path != MEMORY && is_shared(path));
        for path in std::iter::once(MEMORY).chain(others) {
            match self.find(tree, path) {
                Found::Absent => {}
                Found::Occupied(at) => drop(self.survey.occupied.insert(path.to_owned(), at)),
                Found::File(id, size) => {
                    if let Err(why) = self.take(path, id, size) {
                        self.freeze(path, Omission { parts: split(path), is_folder: false, why });
                    }
                }
                Found::LeftOut(omission) => self.freeze(path, omission),
            }
        }
    }

    /// Leaves a known path as it is. No other file may take its place, or that of its folders.
    fn freeze(&mut self, path: &str, omission: Omission) {
        let compared = self.compared(path);
        for (end, _) in compared.match_indices('/') {
            self.taken.entry(compared[..end].to_owned()).or_insert(false);
        }
        self.taken.entry(compared).or_insert(true);
        self.survey.frozen.insert(path.to_owned());
        self.omit(omission);
    }

    /// Returns a path as the file system compares it.
    fn compared(&self, path: &str) -> String {
        if self.folds_case { path.to_lowercase() } else { path.to_owned() }
    }

    fn find(&mut self, tree: Oid, path: &str) -> Found {
        let parts = split(path);
        let mut id = tree;
        for (at, part) in parts.iter().enumerate() {
            let folder = match self.folder(id) {
                Ok(folder) => folder,
                Err(why) => {
                    return Found::LeftOut(Omission { parts: parts[..at].to_vec(), is_folder: true, why });
                }
            };
            let is_last = at + 1 == parts.len();
            let wanted = folder
                .named(part)
                .find(|entry| if is_last { entry.is_file() } else { entry.kind() == Kind::Folder });
            let Some(entry) = wanted else {
                let is_occupied = folder.named(part).any(|entry| !is_last || entry.kind() == Kind::Folder);
                let above = parts[..=at].to_vec();
                return match is_occupied {
                    false => Found::Absent,
                    // No other name would do.
                    true if at == 0 || is_shelf(&above) => {
                        Found::LeftOut(Omission { parts: above, is_folder: is_last, why: Why::FileAndFolder })
                    }
                    true => Found::Occupied(at),
                };
            };
            if let Err(why) = bounds::judge_name(part) {
                let parts = parts[..=at].to_vec();
                return Found::LeftOut(Omission { parts, is_folder: !is_last, why });
            }
            id = entry.id;
        }
        let judged = bounds::judge_path(path).and_then(|()| self.size(path, id));
        match judged {
            Ok(size) => Found::File(id, size),
            Err(why) => Found::LeftOut(Omission { parts, is_folder: false, why }),
        }
    }

    fn size(&mut self, path: &str, id: Oid) -> Result<usize, Why> {
        let (size, most) = (self.header(id, ObjectType::Blob)?, bounds::max_size(path));
        if size > most { Err(Why::Large(most)) } else { Ok(size) }
    }

    /// Looks at everything directly in a shelf. Returns whether more may be looked at.
    fn shelf(&mut self, tree: Oid, shelf: &str) -> bool {
        let above = split(shelf);
        let folder = match self.folder_at(tree, &above) {
            Ok(Some(folder)) => folder,
            Ok(None) => return true,
            Err(why) => {
                self.omit(Omission { parts: above, is_folder: true, why });
                return true;
            }
        };
        for entry in &folder.entries {
            let mut parts = above.clone();
            parts.push(entry.name.clone());
            let is_folder = entry.kind() == Kind::Folder;
            if is_shelf(&parts) {
                if !is_folder {
                    self.omit(Omission { parts, is_folder, why: Why::FileAndFolder });
                }
                continue;
            }
            let mut item = Item { left: bounds::MAX_FOLDER, files: Vec::new(), omissions: Vec::new() };
            match self.collect(&above, entry, &mut item) {
                Ok(()) => self.take_item(item),
                Err(why) if self.most_entries > 0 => self.omit(Omission { parts, is_folder, why }),
                Err(why) => {
                    self.omit(Omission { parts: above, is_folder: true, why });
                    return false;
                }
            }
        }
        true
    }

    fn folder_at(&mut self, tree: Oid, parts: &[Vec<u8>]) -> Result<Option<Rc<Folder>>, Why> {
        let mut folder = self.folder(tree)?;
        for part in parts {
            let found = folder.named(part).find(|entry| entry.kind() == Kind::Folder);
            let Some(id) = found.map(|entry| entry.id) else { return Ok(None) };
            folder = self.folder(id)?;
        }
        Ok(Some(folder))
    }

    /// Collects the files of one thing. Fails when it has too many, or is unreadable.
    fn collect(&mut self, above: &[Vec<u8>], entry: &Entry, item: &mut Item) -> Result<(), Why> {
        self.most_entries = self.most_entries.checked_sub(1).ok_or(Why::TooMany)?;
        item.left = item.left.checked_sub(1).ok_or(Why::TooMany)?;
        let mut parts = above.to_vec();
        parts.push(entry.name.clone());
        let is_folder = entry.kind() == Kind::Folder;
        if !is_folder && !entry.is_file() {
            return Ok(());
        }
        let path = match bounds::judge_name(&entry.name).and_then(|_| joined(&parts).ok_or(Why::BadName)) {
            Ok(path) => path,
            Err(why) => {
                item.omissions.push(Omission { parts, is_folder, why });
                return Ok(());
            }
        };
        // What each clone keeps to itself is not shared, and not missed.
        if !is_shared(&if is_folder { format!("{path}/x") } else { path.clone() }) {
            return Ok(());
        }
        let judged = match bounds::judge_path(&path) {
            // A folder that only deep files would be in.
            Ok(()) if is_folder && parts.len() > bounds::MAX_DEPTH => Err(Why::Deep),
            judged => judged,
        };
        if let Err(why) = judged {
            item.omissions.push(Omission { parts, is_folder, why });
            return Ok(());
        }
        if !is_folder {
            match self.size(&path, entry.id) {
                Ok(size) => item.files.push((path, entry.id, size)),
                Err(why) => item.omissions.push(Omission { parts, is_folder, why }),
            }
            return Ok(());
        }
        let folder = self.folder(entry.id)?;
        for entry in &folder.entries {
            self.collect(&parts, entry, item)?;
        }
        Ok(())
    }

    fn take_item(&mut self, item: Item) {
        for (path, id, size) in item.files {
            if let Err(why) = self.take(&path, id, size) {
                self.omit(Omission { parts: split(&path), is_folder: false, why });
            }
        }
        item.omissions.into_iter().for_each(|omission| self.omit(omission));
    }

    /// Takes a file, if there is room for it.
    fn take(&mut self, path: &str, id: Oid, size: usize) -> Result<(), Why> {
        if self.survey.files.contains_key(path) || self.survey.frozen.contains(path) {
            return Ok(());
        }
        let size = if path == MEMORY { 0 } else { size };
        let compared = self.compared(path);
        let folders: Vec<&str> = compared.match_indices('/').map(|(end, _)| &compared[..end]).collect();
        match self.taken.get(&compared) {
            Some(true) => return Err(Why::SameButCase),
            Some(false) => return Err(Why::FileAndFolder),
            None => {}
        }
        if folders.iter().any(|folder| self.taken.get(*folder) == Some(&true)) {
            return Err(Why::FileAndFolder);
        }
        if self.survey.files.len() >= bounds::MAX_FILES {
            return Err(Why::TooMany);
        }
        self.most_bytes = self.most_bytes.checked_sub(size).ok_or(Why::TooMuch)?;
        self.taken.extend(folders.into_iter().map(|folder| (folder.to_owned(), false)));
        self.taken.insert(compared, true);
        self.survey.files.insert(path.to_owned(), id);
        Ok(())
    }

    fn omit(&mut self, omission: Omission) {
        let omissions = &mut self.survey.omissions;
        let is_known = |known: &Omission| {
            *known == omission || (known.is_folder && omission.parts.starts_with(&known.parts))
        };
        if omissions.len() < bounds::MAX_NAMED && !omissions.iter().any(is_known) {
            omissions.push(omission);
        }
    }
}

fn is_shelf(parts: &[Vec<u8>]) -> bool {
    SHELVES.iter().any(|shelf| split(shelf) == parts)
}

/// Returns whether a snapshot has files in a folder.
fn has_below(files: &Snapshot, folder: &str) -> bool {
    let below = format!("{folder}/");
    files.range(below.clone()..).next().is_some_and(|(path, _)| path.starts_with(&below))
}

/// One thing of a shelf.
struct Item {
    left: usize,
    files: Vec<(String, Oid, usize)>,
    omissions: Vec<Omission>,
}

pub(crate) fn split(path: &str) -> Vec<Vec<u8>> {
    path.split('/').map(|part| part.as_bytes().to_vec()).collect()
}

fn joined(parts: &[Vec<u8>]) -> Option<String> {
    let parts: Result<Vec<&str>, _> = parts.iter().map(|part| std::str::from_utf8(part)).collect();
    parts.ok().map(|parts| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::trees::Edits;

    /// Returns what a survey of the files takes, and what it leaves out.
    fn seen(files: &[&str], known: &[&str], folds_case: bool) -> (Vec<String>, Vec<(String, Why)>) {
        let folder = tempfile::tempdir().unwrap();
        let repository = git2::Repository::init_bare(folder.path()).unwrap();
        let (odb, blob) = (repository.odb().unwrap(), repository.blob(b"x").unwrap());
        let mut edits = Edits::default();
        files.iter().for_each(|path| edits.file(path, blob));
        let tree = edits.write(&odb, None).unwrap().unwrap();
        let mut walk = Walk::new(&odb, folds_case);
        walk.known(tree, &known.iter().copied().collect());
        SHELVES.iter().for_each(|shelf| assert!(walk.shelf(tree, shelf)));
        let omissions = walk.survey.omissions.iter();
        let omissions = omissions.map(|it| (bounds::shown(&it.parts), it.why)).collect();
        (walk.survey.files.into_keys().collect(), omissions)
    }

    #[test]
    fn names_that_differ_by_case_only_are_one_name_where_the_file_system_says_so() {
        let files = ["broadcast/A.md", "broadcast/a.md", "broadcast/B", "broadcast/b/c.md"];
        assert_eq!(seen(&files, &[], false).1, []);
        let left_out = |first: &str, second: &str| {
            [(first.to_owned(), Why::SameButCase), (second.to_owned(), Why::FileAndFolder)]
        };
        assert_eq!(seen(&files, &[], true).1, left_out("broadcast/a.md", "broadcast/b/c.md"));
        // What is here already stays, whatever sorts before it.
        let known = ["broadcast/a.md", "broadcast/b/c.md"];
        assert_eq!(seen(&files, &known, true).1, left_out("broadcast/A.md", "broadcast/B"));
    }

    #[test]
    fn what_a_clone_keeps_to_itself_is_neither_seen_nor_missed() {
        let files = ["memory.md", "lessons/archive/con", "lessons/l.md", "state/x", "log"];
        assert_eq!(
            seen(&files, &[], false),
            (vec!["lessons/l.md".to_owned(), "memory.md".to_owned()], vec![])
        );
    }
}
