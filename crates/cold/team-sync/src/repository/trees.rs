//! Trees and commits byte by byte. The git library refuses to write a folder in which a teammate has put an odd name, and to
//! read a commit with an odd author: either would stop the sync of the whole team.

use crate::repository::bounds::MAX_TREE;
use crate::repository::survey::{Omission, split};
use git2::{Error, ObjectType, Odb, Oid, Signature};
use std::collections::{BTreeMap, HashMap};

/// The bytes of an id in a tree.
const ID: usize = 20;

/// What a tree entry is, by its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    /// A file with the right to be run.
    Program,
    /// A symbolic link, or a commit of another repository.
    Other,
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    mode: u32,
    pub(crate) name: Vec<u8>,
    pub(crate) id: Oid,
}

impl Entry {
    pub(crate) fn kind(&self) -> Kind {
        match self.mode & 0o170_000 {
            0o040_000 => Kind::Folder,
            0o100_000 if self.mode & 0o100 != 0 => Kind::Program,
            0o100_000 => Kind::File,
            _ => Kind::Other,
        }
    }

    pub(crate) fn is_file(&self) -> bool {
        matches!(self.kind(), Kind::File | Kind::Program)
    }

    /// Returns what git sorts by: a folder as if its name ended in a slash.
    fn key(&self) -> impl Iterator<Item = u8> + '_ {
        let end = (self.kind() == Kind::Folder).then_some(b'/');
        self.name.iter().copied().chain(end)
    }
}

/// The entries of a tree object, each with the place after it; `None` for what is no entry.
struct Entries<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Entries<'_> {
    type Item = Option<(Entry, usize)>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let read = || {
            let space = rest.iter().position(|byte| *byte == b' ')?;
            let mode = u32::from_str_radix(std::str::from_utf8(&rest[..space]).ok()?, 8).ok()?;
            let end = space + 1 + rest[space + 1..].iter().position(|byte| *byte == 0)?;
            let id = Oid::from_bytes(rest.get(end + 1..=end + ID)?).ok()?;
            Some((Entry { mode, name: rest[space + 1..end].to_vec(), id }, self.at + end + 1 + ID))
        };
        let entry = read();
        self.at = entry.as_ref().map_or(self.bytes.len(), |(_, end)| *end);
        Some(entry)
    }
}

/// Reads the entries of a tree object.
pub(crate) fn parse(bytes: &[u8]) -> Option<Vec<Entry>> {
    Entries { bytes, at: 0 }.map(|entry| Some(entry?.0)).collect()
}

/// Returns the folder of a name in a tree object.
pub(crate) fn folder_in(bytes: &[u8], name: &str) -> Option<Oid> {
    let mut entries = Entries { bytes, at: 0 }.flatten().map(|(entry, _)| entry);
    entries.find(|entry| entry.kind() == Kind::Folder && entry.name == name.as_bytes()).map(|entry| entry.id)
}

/// Returns a tree object with another folder of a name, or without it. All else keeps its bytes: the tree may be the user's.
pub(crate) fn with_folder(bytes: &[u8], name: &str, folder: Option<Oid>) -> Option<Vec<u8>> {
    let added = folder.map(|id| Entry { mode: 0o040_000, name: name.as_bytes().to_vec(), id });
    let mut changed = Vec::with_capacity(bytes.len() + name.len() + 32);
    let (mut start, mut is_added) = (0, added.is_none());
    for entry in (Entries { bytes, at: 0 }) {
        let (entry, end) = entry?;
        let is_old = entry.kind() == Kind::Folder && entry.name == name.as_bytes();
        if let Some(added) = added.as_ref().filter(|added| !is_added && entry.key().ge(added.key())) {
            push_entry(&mut changed, added);
            is_added = true;
        }
        if !is_old {
            changed.extend_from_slice(&bytes[start..end]);
        }
        start = end;
    }
    added.iter().filter(|_| !is_added).for_each(|added| push_entry(&mut changed, added));
    Some(changed)
}

/// Returns the tree that a commit object names.
pub(crate) fn tree_of_commit(bytes: &[u8]) -> Option<Oid> {
    let line = bytes.split(|byte| *byte == b'\n').next()?.strip_prefix(b"tree ")?;
    Oid::from_str(std::str::from_utf8(line).ok()?).ok()
}

/// Returns a commit object.
pub(crate) fn commit(tree: Oid, parent: Option<Oid>, signature: &Signature<'_>, message: &str) -> Vec<u8> {
    let (when, parent) =
        (signature.when(), parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default());
    let (sign, zone) = (when.sign(), when.offset_minutes().unsigned_abs());
    let mut by = signature.name_bytes().to_vec();
    by.extend_from_slice(b" <");
    by.extend_from_slice(signature.email_bytes());
    by.extend_from_slice(format!("> {} {sign}{:02}{:02}\n", when.seconds(), zone / 60, zone % 60).as_bytes());
    let tree = format!("tree {tree}\n{parent}author ");
    [tree.as_bytes(), &by, b"committer ", &by, b"\n", message.as_bytes()].concat()
}

/// Reads an object of a kind whose header says that it is not larger than `most` bytes; `None` when it is larger, of
/// another kind or damaged.
pub(crate) fn read(odb: &Odb<'_>, id: Oid, kind: ObjectType, most: usize) -> Result<Option<Vec<u8>>, Error> {
    let (size, found) = odb.read_header(id)?;
    if found != kind || size > most {
        return Ok(None);
    }
    Ok(Some(odb.read(id)?.data().to_vec()))
}

/// Changes of a folder, by name.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    changes: BTreeMap<Vec<u8>, Change>,
}

/// What happens to the file and to the folder of one name: a tree may have both.
#[derive(Debug, Default)]
struct Change {
    file: Option<FileChange>,
    /// Whether the folder is made anew.
    is_replaced: bool,
    folder: Option<Edits>,
}

#[derive(Clone, Copy, Debug)]
enum FileChange {
    /// It gets these contents, and keeps its mode.
    Put(Oid),
    Remove,
}

impl Edits {
    /// Returns whether nothing changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Puts a file at a path.
    pub(crate) fn file(&mut self, path: &str, id: Oid) {
        self.at(&split(path)).file = Some(FileChange::Put(id));
    }

    /// Removes the file at a path.
    pub(crate) fn remove_file(&mut self, path: &str) {
        self.at(&split(path)).file = Some(FileChange::Remove);
    }

    /// Removes what was left out.
    pub(crate) fn remove(&mut self, omission: &Omission) {
        let change = self.at(&omission.parts);
        if omission.is_folder {
            change.is_replaced = true;
            change.folder.get_or_insert_default();
        } else {
            change.file.get_or_insert(FileChange::Remove);
        }
    }

    fn at(&mut self, parts: &[Vec<u8>]) -> &mut Change {
        let (name, folders) =
            parts.split_last().map_or((Vec::new(), parts), |(name, rest)| (name.clone(), rest));
        let mut edits = self;
        for folder in folders {
            edits = edits.changes.entry(folder.clone()).or_default().folder.get_or_insert_default();
        }
        edits.changes.entry(name).or_default()
    }

    /// Stores the folder `tree` with the changes, and returns it; `None` when nothing is left of it.
    pub(crate) fn write(&self, odb: &Odb<'_>, tree: Option<Oid>) -> Result<Option<Oid>, Error> {
        let mut entries = match tree {
            Some(tree) => read(odb, tree, ObjectType::Tree, MAX_TREE)?
                .and_then(|bytes| parse(&bytes))
                .ok_or_else(|| Error::from_str("a folder of the remote is too large or damaged"))?,
            None => Vec::new(),
        };
        let changed = entries.extract_if(.., |entry| self.changes.contains_key(&entry.name));
        let mut by_name: HashMap<Vec<u8>, Vec<Entry>> = HashMap::new();
        changed.for_each(|entry| by_name.entry(entry.name.clone()).or_default().push(entry));
        for (name, change) in &self.changes {
            entries.extend(change.write(odb, name, by_name.remove(name).unwrap_or_default())?);
        }
        if entries.is_empty() {
            return Ok(None);
        }
        entries.sort_by(|one, two| one.key().cmp(two.key()));
        odb.write(ObjectType::Tree, &bytes_of(&entries)).map(Some)
    }
}

impl Change {
    /// Returns what becomes of the entries of a name.
    fn write(&self, odb: &Odb<'_>, name: &[u8], mut entries: Vec<Entry>) -> Result<Vec<Entry>, Error> {
        let is_folder = |entry: &Entry| entry.kind() == Kind::Folder;
        if let Some(edits) = &self.folder {
            let folder = entries.iter().find(|entry| is_folder(entry)).map(|entry| entry.id);
            let made = edits.write(odb, folder.filter(|_| !self.is_replaced))?;
            entries.retain(|entry| !is_folder(entry));
            entries.extend(made.map(|id| Entry { mode: 0o040_000, name: name.to_vec(), id }));
        }
        match self.file {
            Some(FileChange::Put(_)) if entries.iter().any(is_folder) => {
                return Err(Error::from_str("a folder has the name of a file"));
            }
            Some(FileChange::Put(id)) => {
                let is_program = entries.iter().any(|entry| entry.kind() == Kind::Program);
                let mode = if is_program { 0o100_755 } else { 0o100_644 };
                entries = vec![Entry { mode, name: name.to_vec(), id }];
            }
            Some(FileChange::Remove) => entries.retain(|entry| !entry.is_file()),
            None => {}
        }
        Ok(entries)
    }
}

fn bytes_of(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        push_entry(&mut bytes, entry);
    }
    bytes
}

fn push_entry(bytes: &mut Vec<u8>, entry: &Entry) {
    bytes.extend_from_slice(format!("{:o} ", entry.mode).as_bytes());
    bytes.extend_from_slice(&entry.name);
    bytes.push(0);
    bytes.extend_from_slice(entry.id.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_read_as_it_was_written_and_nonsense_is_none() {
        let id = Oid::from_bytes(&[7; 20]).unwrap();
        let entries = vec![
            Entry { mode: 0o100_755, name: b"a b".to_vec(), id },
            Entry { mode: 0o040_000, name: b"\xff".to_vec(), id },
        ];
        let bytes = bytes_of(&entries);
        assert_eq!(parse(&bytes).as_ref(), Some(&entries));
        let whole = bytes_of(&entries[..1]).len();
        for end in (1..bytes.len()).filter(|end| *end != whole) {
            assert_eq!(parse(&bytes[..end]), None, "{end}");
        }
        assert_eq!(parse(b"x"), None);
        assert_eq!(parse(b"9 a\0"), None);
    }

    #[test]
    fn a_folder_is_replaced_where_it_is_and_added_where_git_looks_for_it() {
        let [old, new] = [7, 9].map(|byte| Oid::from_bytes(&[byte; 20]).unwrap());
        let file = |name: &str| Entry { mode: 0o100_644, name: name.as_bytes().to_vec(), id: old };
        let folder = |id: Oid| Entry { mode: 0o040_000, name: b".wyren".to_vec(), id };
        let without = bytes_of(&[file(".a"), file(".wyren.x"), file("z")]);
        let with = |id: Oid| bytes_of(&[file(".a"), file(".wyren.x"), folder(id), file("z")]);
        assert_eq!(with_folder(&without, ".wyren", Some(new)), Some(with(new)));
        assert_eq!(with_folder(&with(old), ".wyren", Some(new)), Some(with(new)));
        assert_eq!(with_folder(&with(old), ".wyren", None), Some(without.clone()));
        assert_eq!(with_folder(b"", ".wyren", Some(new)), Some(bytes_of(&[folder(new)])));
        assert_eq!((folder_in(&with(new), ".wyren"), folder_in(&without, ".wyren")), (Some(new), None));
    }
}
