//! Git objects: the shared files of a commit, and new commits. No references, no index, no work tree.

use crate::repository::Error;
use crate::repository::bounds;
use crate::repository::git::Git;
use crate::repository::merge::Merge;
use crate::repository::survey::{self, Survey};
use crate::repository::trees::{self, Edits};
use git2::{FileMode, ObjectType, Oid, Repository, RepositoryOpenFlags, Signature};
use place::FOLDER;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

/// Extensions of a repository that change references or the network, which are not the git library's business here.
const HARMLESS_EXTENSIONS: [&str; 3] = ["partialclone", "refstorage", "submodulepathconfig"];

/// The mode of a link to a commit that need not be here.
const LINK_TO_COMMIT: i32 = 0o160_000;

/// The shared files of one moment: paths relative to `.wyren/`, and the blobs with their contents.
pub(crate) type Snapshot = BTreeMap<String, Oid>;

/// The object database of a repository.
pub(crate) struct Objects {
    repository: Repository,
    /// Tells what is in objects that are too large to be read here.
    git: Git,
    /// Whether the branch is ours alone, and what is beside the shared files need not stay.
    is_own_branch: bool,
}

/// The top-level tree of a commit.
enum Root {
    Bytes(Vec<u8>),
    /// Larger than is read.
    Large(Oid),
}

/// Turns a failure of the git library into ours.
fn failed(action: &'static str) -> impl FnOnce(git2::Error) -> Error {
    move |error| Error::Object { action, words: crate::repository::git::words(error.message()) }
}

impl Objects {
    /// Opens the object database of the repository whose shared folder is given.
    pub(crate) fn open(common_folder: &Path, git: Git, is_own_branch: bool) -> Result<Self, Error> {
        static EXTENSIONS: OnceLock<()> = OnceLock::new();
        EXTENSIONS.get_or_init(|| {
            #[expect(unsafe_code, reason = "the git library keeps the list in a global variable")]
            // SAFETY: done once, before any repository is opened by this crate, the only one to use the library.
            let _ = unsafe {
                // Whose a repository is, and what git calls safe, `place` has decided.
                git2::opts::set_verify_owner_validation(false)
                    .and_then(|()| git2::opts::set_extensions(&HARMLESS_EXTENSIONS))
            };
        });
        let flags = RepositoryOpenFlags::NO_SEARCH | RepositoryOpenFlags::BARE;
        let repository = Repository::open_ext(common_folder, flags, &[] as &[&Path])
            .map_err(failed("open the object database"))?;
        Ok(Self { repository, git, is_own_branch })
    }

    /// Returns whether an object is here.
    pub(crate) fn has(&self, id: Oid) -> bool {
        self.repository.odb().is_ok_and(|odb| odb.exists(id))
    }

    /// Returns whether an object is here, and a commit.
    pub(crate) fn has_commit(&self, id: Oid) -> bool {
        let header = self.repository.odb().and_then(|odb| odb.read_header(id));
        header.is_ok_and(|(_, kind)| kind == ObjectType::Commit)
    }

    /// Returns the size of a blob.
    pub(crate) fn size(&self, id: Oid) -> Result<usize, Error> {
        let header = self.repository.odb().and_then(|odb| odb.read_header(id));
        header.map(|(size, _)| size).map_err(failed("read a shared file"))
    }

    /// Returns the contents of a blob.
    pub(crate) fn read(&self, id: Oid) -> Result<Vec<u8>, Error> {
        let blob = self.repository.find_blob(id).map_err(failed("read a shared file"))?;
        Ok(blob.content().to_vec())
    }

    /// Stores contents as a blob.
    pub(crate) fn write(&self, contents: &[u8]) -> Result<Oid, Error> {
        let write = || {
            // The library would make a file before it looks.
            let id = Oid::hash_object(ObjectType::Blob, contents)?;
            if self.has(id) { Ok(id) } else { self.repository.blob(contents) }
        };
        write().map_err(failed("store a shared file"))
    }

    /// Returns the shared files of a commit, within the bounds; none without one.
    pub(crate) fn snapshot(&self, commit: Option<Oid>) -> Result<Snapshot, Error> {
        Ok(self.survey(commit, &BTreeSet::new())?.files)
    }

    /// Looks at the shared files of a commit, those at `known` paths first; there are none without a commit.
    pub(crate) fn survey(&self, commit: Option<Oid>, known: &BTreeSet<&str>) -> Result<Survey, Error> {
        let Some(commit) = commit else { return Ok(Survey::default()) };
        let read = || {
            let odb = self.repository.odb()?;
            Ok(self.shared_folder(commit)?.map(|tree| survey::survey(&odb, tree, known)).unwrap_or_default())
        };
        read().map_err(failed("read the shared files of a commit"))
    }

    /// Returns a shared file of a commit, if it is within the bounds.
    pub(crate) fn file(&self, commit: Option<Oid>, path: &str) -> Result<Option<Oid>, Error> {
        let Some(commit) = commit else { return Ok(None) };
        let read = || {
            let odb = self.repository.odb()?;
            Ok(self.shared_folder(commit)?.and_then(|tree| survey::file(&odb, tree, path)))
        };
        read().map_err(failed("read a shared file of a commit"))
    }

    /// Returns the tree of `.wyren/` in a commit.
    fn shared_folder(&self, commit: Oid) -> Result<Option<Oid>, git2::Error> {
        match self.root_of(commit)? {
            Root::Bytes(bytes) => Ok(trees::folder_in(&bytes, FOLDER)),
            Root::Large(tree) => {
                let odb = self.repository.odb()?;
                let is_folder =
                    |id: &Oid| odb.read_header(*id).is_ok_and(|(_, kind)| kind == ObjectType::Tree);
                Ok(self.named(&format!("{tree}:{FOLDER}")).filter(is_folder))
            }
        }
    }

    /// Returns the top-level tree of a commit.
    fn root_of(&self, commit: Oid) -> Result<Root, git2::Error> {
        let odb = self.repository.odb()?;
        let tree = match trees::read(&odb, commit, ObjectType::Commit, bounds::MAX_COMMIT)? {
            Some(bytes) => trees::tree_of_commit(&bytes),
            None => self.named(&format!("{commit}^{{tree}}")),
        };
        let tree = tree.ok_or_else(|| git2::Error::from_str("the commit is damaged"))?;
        let bytes = trees::read(&odb, tree, ObjectType::Tree, bounds::MAX_ROOT)?;
        Ok(bytes.map_or(Root::Large(tree), Root::Bytes))
    }

    /// Returns the object that git knows by a name.
    fn named(&self, name: &str) -> Option<Oid> {
        let output = self.git.local(&["rev-parse", "--quiet", "--verify", "--end-of-options", name]).ok()?;
        Oid::from_str(&output.line()).ok().filter(|_| output.is_success())
    }

    /// Returns the files of a tree that [`Self::tree_of`] stored; `None` when there are more than this program stores.
    pub(crate) fn stored(&self, tree: Oid) -> Result<Option<Snapshot>, Error> {
        let odb = self.repository.odb().map_err(failed("read where the last sync ended"))?;
        odb.read_header(tree).map_err(failed("read where the last sync ended"))?;
        Ok(survey::everything(&odb, tree))
    }

    /// Stores a snapshot as a tree of `.wyren/`.
    pub(crate) fn tree_of(&self, snapshot: &Snapshot) -> Result<Oid, Error> {
        let write = || {
            let odb = self.repository.odb()?;
            let mut edits = Edits::default();
            snapshot.iter().for_each(|(path, id)| edits.file(path, *id));
            edits.write(&odb, None)?.map_or_else(|| odb.write(ObjectType::Tree, b""), Ok)
        };
        write().map_err(failed("store where this sync ended"))
    }

    /// Stores trees under names, and commits that need not be here, as one tree.
    pub(crate) fn bundle(
        &self,
        trees: &[(&str, Option<Oid>)],
        commits: &[(&str, Option<Oid>)],
    ) -> Result<Oid, Error> {
        let write = || {
            let mut builder = self.repository.treebuilder(None)?;
            for (name, id) in trees {
                id.map(|id| builder.insert(name, id, FileMode::Tree.into()).map(|_| ())).transpose()?;
            }
            for (name, id) in commits {
                id.map(|id| builder.insert(name, id, LINK_TO_COMMIT).map(|_| ())).transpose()?;
            }
            builder.write()
        };
        write().map_err(failed("store where this sync ended"))
    }

    /// Returns what [`Self::bundle`] stored under each name.
    pub(crate) fn unbundle(&self, bundle: Oid) -> Result<BTreeMap<String, Oid>, Error> {
        let tree = self.repository.find_tree(bundle).map_err(failed("read where the last sync ended"))?;
        Ok(tree.iter().filter_map(|entry| Some((entry.name().ok()?.to_owned(), entry.id()))).collect())
    }

    /// Builds a commit on top of `parent` that makes the edits in `.wyren/`, and nothing else.
    pub(crate) fn commit(
        &self,
        parent: Option<Oid>,
        edits: &Edits,
        message: &str,
        signature: &Signature<'_>,
    ) -> Result<Oid, Error> {
        let write = || {
            let odb = self.repository.odb()?;
            let root = match parent.map(|parent| self.root_of(parent)).transpose()? {
                Some(Root::Bytes(bytes)) => bytes,
                // What fills it is none of ours, and goes with this commit.
                Some(Root::Large(_)) if self.is_own_branch => Vec::new(),
                Some(Root::Large(_)) => {
                    return Err(git2::Error::from_str("the top folder of the branch has too many files"));
                }
                None => Vec::new(),
            };
            let old = parent.map(|parent| self.shared_folder(parent)).transpose()?.flatten();
            let folder = edits.write(&odb, old)?;
            let root = trees::with_folder(&root, FOLDER, folder)
                .ok_or_else(|| git2::Error::from_str("the top folder of the branch is damaged"))?;
            let tree = odb.write(ObjectType::Tree, &root)?;
            odb.write(ObjectType::Commit, &trees::commit(tree, parent, signature, message))
        };
        write().map_err(failed("build the commit"))
    }

    /// Merges the files of two sides; contents are read only where both have changed a file.
    pub(crate) fn merge(
        &self,
        merge: &dyn Merge,
        base: &Snapshot,
        ours: &Snapshot,
        theirs: &Snapshot,
    ) -> Result<Snapshot, Error> {
        let paths: BTreeSet<&String> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
        let mut merged = Snapshot::new();
        for path in paths {
            let base = base.get(path);
            let meant = |side| self.meant(merge, path, base, side);
            let versions = (base, meant(ours.get(path))?, meant(theirs.get(path))?);
            let id = match versions {
                (base, ours, theirs) if ours == theirs || ours == base => theirs.copied(),
                (base, ours, theirs) if theirs == base => ours.copied(),
                (base, ours, theirs) => {
                    let read = |id: Option<&Oid>| id.map(|id| self.read(*id)).transpose();
                    let (base, ours, theirs) = (read(base)?, read(ours)?, read(theirs)?);
                    let contents = merge.merge(path, base.as_deref(), ours.as_deref(), theirs.as_deref());
                    contents.map(|contents| self.write(&contents)).transpose()?
                }
            };
            merged.extend(id.map(|id| (path.clone(), id)));
        }
        Ok(merged)
    }

    /// Returns whether a line that says something in `before` is missing in `after`.
    pub(crate) fn has_lost(&self, before: &Snapshot, after: &Snapshot) -> Result<bool, Error> {
        for (path, id) in before {
            let Some(other) = after.get(path) else { return Ok(true) };
            if other == id {
                continue;
            }
            let (before, after) = (self.read(*id)?, self.read(*other)?);
            let kept: BTreeSet<&[u8]> = after.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
            let mut lines = before.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            if lines.any(|line| !line.is_empty() && !kept.contains(line)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns what one side made of a file, or what it was before when that cannot be meant.
    fn meant<'a>(
        &self,
        merge: &dyn Merge,
        path: &str,
        base: Option<&'a Oid>,
        side: Option<&'a Oid>,
    ) -> Result<Option<&'a Oid>, Error> {
        let Some(before) = base.filter(|_| side != base) else { return Ok(side) };
        let after = side.map(|id| self.read(*id)).transpose()?;
        let is_accident = merge.is_accident(path, &self.read(*before)?, after.as_deref());
        Ok(if is_accident { base } else { side })
    }
}
