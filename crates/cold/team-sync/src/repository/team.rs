//! A repository that shares its memory, and what can be read of it.

use crate::repository::bounds::{LeftOut, MAX_MEMORY, Why};
use crate::repository::checkout::Copy;
use crate::repository::config::{Config, Remote};
use crate::repository::git::{Failure, Git};
use crate::repository::local::Local;
use crate::repository::lock::SyncLock;
use crate::repository::objects::{Objects, Snapshot};
use crate::repository::relay::Relay;
use crate::repository::survey::Survey;
use crate::repository::{Error, setup};
use base::Env;
use git2::Oid;
use place::{FOLDER, FetchState, Mode, Place, Reason, SIDE_BRANCH, is_shared, state_folder};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A repository with a team memory.
pub struct Team {
    pub(crate) place: Place,
    pub(crate) mode: Mode,
    pub(crate) folder: PathBuf,
    pub(crate) git: Git,
    pub(crate) objects: Objects,
    pub(crate) remote: Option<Remote>,
    relay: Option<Relay>,
    /// What the shared branch is called on the remote; `None` when HEAD is detached in branch mode.
    pub(crate) branch: Option<String>,
    pub(crate) is_partial_clone: bool,
    pub(crate) is_insistent: bool,
}

/// The references that are ours, each for one branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ref {
    /// The tip on the remote.
    Remote,
    /// The tip before a rewriting, until that is accepted.
    Before,
    /// The state of the local copy.
    Local,
    /// The tip that the user's own fetches had seen when the remote last answered: what it has is older news than that.
    Seen,
}

/// What our references point to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Refs {
    pub(crate) tip: Option<Oid>,
    /// The tip that the user's own fetches have seen.
    pub(crate) tracking: Option<Oid>,
    pub(crate) before: Option<Oid>,
    pub(crate) local: Option<Oid>,
    pub(crate) seen: Option<Oid>,
}

/// A history that was rewritten on the remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The tip that is no longer part of the branch, in hexadecimal.
    pub before: String,
    /// The tip in its place; `None` when the branch was deleted.
    pub after: Option<String>,
}

impl Team {
    /// Opens the team memory of the repository that contains `folder`.
    ///
    /// A memory.md that is tracked at HEAD means branch mode; else an excluded `.wyren/` means side mode; else a
    /// `.wyren/` that is there means branch mode.
    pub fn open(folder: &Path, env: &Env) -> Result<Self, Error> {
        let place = Place::look(folder)?.ok_or_else(|| Error::NoRepository(folder.to_owned()))?;
        place.check_git_files()?;
        let git = Git::new(&place.repository.root, env);
        let config = Config::read(&git)?;
        if config.value("extensions.objectformat").is_some_and(|format| format != "sha1") {
            return Err(Error::Sha256);
        }
        let mode = if setup::tracks_memory(&git)? {
            Mode::Branch
        } else if place.is_excluded() {
            Mode::Side
        } else if place.folder(Mode::Branch).is_dir() {
            Mode::Branch
        } else {
            return Err(Error::NotSetUp(place.repository.root));
        };
        if mode == Mode::Side && place.is_unwanted() {
            return Err(Error::NotSetUp(place.repository.root));
        }
        let folder = place.folder(mode);
        setup::refuse_link(&folder)?;
        setup::refuse_link(&state_folder(&folder))?;
        let checked_out = checked_out(&git)?;
        let remote = config.remote(checked_out.as_deref());
        let branch = match mode {
            Mode::Side => Some(SIDE_BRANCH.to_owned()),
            Mode::Branch => checked_out.map(|branch| config.upstream(&branch, remote.as_ref())),
        };
        let relay = remote.as_ref().map(|remote| Relay::new(&place, &folder, &git, &config, remote, env));
        let relay = relay.transpose()?;
        let objects = Objects::open(&place.repository.common_folder, git.clone(), mode == Mode::Side)?;
        let is_partial_clone = config.is_partial_clone();
        Ok(Self {
            place,
            mode,
            folder,
            git,
            objects,
            remote,
            relay,
            branch,
            is_partial_clone,
            is_insistent: false,
        })
    }

    /// Returns whether the remote has the branch of side mode: what a fresh clone looks for. It asks the remote only
    /// when the clone does not know.
    pub fn is_offered(folder: &Path, env: &Env, deadline: Instant) -> Result<Result<bool, Reason>, Error> {
        let place = Place::look(folder)?.ok_or_else(|| Error::NoRepository(folder.to_owned()))?;
        place.check_git_files()?;
        let git = Git::new(&place.repository.root, env);
        let config = Config::read(&git)?;
        let Some(remote) = config.remote(checked_out(&git)?.as_deref()) else {
            return Ok(Err(Reason::NoRemote));
        };
        let known = format!("refs/remotes/{}/{SIDE_BRANCH}", remote.name);
        if git.local(&["rev-parse", "--quiet", "--verify", &known])?.is_success() {
            return Ok(Ok(true));
        }
        let reference = format!("refs/heads/{SIDE_BRANCH}");
        let arguments = ["ls-remote", "--quiet", "--exit-code", "--", &remote.name, &reference];
        let relay = Relay::new(&place, &place.folder(Mode::Side), &git, &config, &remote, env)?;
        match relay.network(&arguments, Vec::new(), deadline) {
            Err(Failure::Start(error)) => Err(error),
            Err(Failure::TimedOut) => Ok(Err(Reason::TimedOut)),
            Ok(output) => Ok(match output.code {
                Some(0) => Ok(true),
                Some(2) => Ok(false),
                _ => Err(Reason::Unreachable(relay.explained(output.words()))),
            }),
        }
    }

    /// Returns the way to the remote.
    pub(crate) fn relay(&self) -> Result<&Relay, Error> {
        self.relay
            .as_ref()
            .ok_or_else(|| Error::Git { action: "reach the remote", words: Reason::NoRemote.to_string() })
    }

    /// Asks a failing remote even while it is to be left alone: for a person who waits for the answer.
    #[must_use]
    pub fn insistent(self) -> Self {
        Self { is_insistent: true, ..self }
    }

    /// Returns the repository.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns how the memory is shared.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the `.wyren/` folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder of the local copy: `.wyren/` in side mode, `.wyren/state/` in branch mode.
    pub fn copy_folder(&self) -> PathBuf {
        self.place.copy_folder(self.mode)
    }

    /// Returns the name of the remote.
    pub fn remote(&self) -> Option<&str> {
        self.remote.as_ref().map(|remote| &*remote.name)
    }

    /// Returns what the shared branch is called on the remote.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// Returns what the last fetch saw.
    pub fn state(&self) -> FetchState {
        FetchState::read(&self.folder)
    }

    /// Returns the tip of the shared branch on the remote as far as this clone knows.
    pub fn remote_tip(&self) -> Result<Option<String>, Error> {
        Ok(self.refs()?.tip.map(|tip| tip.to_string()))
    }

    /// Returns the shared files as they were in the local copy when that and the remote last agreed, and as they are on the
    /// remote, as far as this clone knows.
    pub fn agreed_and_remote(&self) -> Result<(crate::repository::Files, crate::repository::Files), Error> {
        let refs = self.newest_refs()?;
        let read = |snapshot: Snapshot| -> Result<crate::repository::Files, Error> {
            let files = snapshot.into_iter();
            files.map(|(path, id)| Ok((path, Some(self.objects.read(id)?)))).collect()
        };
        let base = match (self.local(&refs)?.base, refs.tip) {
            (Some(base), _) => base,
            // Asks no remote.
            (None, Some(tip)) => self.first_base(tip, Instant::now())?,
            (None, None) => Snapshot::new(),
        };
        let remote = self.survey(refs.tip, &[&base])?.taken(&base);
        Ok((read(base)?, read(remote)?))
    }

    /// Returns the paths of the shared files on the remote, as far as this clone knows.
    pub fn remote_files(&self) -> Result<Vec<String>, Error> {
        Ok(self.objects.snapshot(self.newest_refs()?.tip)?.into_keys().collect())
    }

    /// Returns what on the remote is left out here, as far as this clone knows.
    pub fn left_out(&self) -> Result<Vec<LeftOut>, Error> {
        let refs = self.newest_refs()?;
        let local = self.local(&refs)?;
        let known: Vec<&Snapshot> = local.base.iter().chain(&local.pending).collect();
        Ok(self.survey(refs.tip, &known)?.left_out())
    }

    /// Returns the paths of the shared files as they are to be on the remote, or were there last.
    pub fn known_files(&self) -> Result<Vec<String>, Error> {
        let local = self.local(&self.refs()?)?;
        let mut paths: Vec<String> =
            local.base.into_iter().chain(local.pending).flat_map(Snapshot::into_keys).collect();
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }

    /// Looks at the shared files of a commit, those that are `known` first.
    pub(crate) fn survey(&self, commit: Option<Oid>, known: &[&Snapshot]) -> Result<Survey, Error> {
        let known = known.iter().flat_map(|snapshot| snapshot.keys()).map(String::as_str).collect();
        self.objects.survey(commit, &known)
    }

    /// Returns why the memory at HEAD cannot be shared; `None` when it can.
    pub fn head_obstacle(&self) -> Result<Option<Reason>, Error> {
        Ok(match self.head_file(place::MEMORY)? {
            Some(_) => None,
            None if setup::tracks_memory(&self.git)? => {
                Some(Reason::LeftOut(format!("{} at HEAD: {}", place::MEMORY, Why::Large(MAX_MEMORY))))
            }
            None => Some(Reason::NotCommitted),
        })
    }

    /// Returns a shared file as it is at HEAD.
    pub fn head_file(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        self.file_in(self.head()?, path)
    }

    /// Returns a shared file of a local copy that is gone: as it was queued last, or when it and the remote last agreed.
    pub fn last_file(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let local = self.local(&self.refs()?)?;
        let last = local.base.and_then(|base| local.pending.or(Some(base))).unwrap_or_default();
        last.get(path).map(|id| self.objects.read(*id)).transpose()
    }

    /// Returns a shared file as it is at a commit, given in hexadecimal, such as either of a [`Rewrite`].
    pub fn file_at(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, Error> {
        self.file_in(Some(parse_id(commit)?), path)
    }

    /// Returns the paths of the shared files at a commit, given in hexadecimal.
    pub fn files_at(&self, commit: &str) -> Result<Vec<String>, Error> {
        Ok(self.objects.snapshot(Some(parse_id(commit)?))?.into_keys().collect())
    }

    /// Returns whether something is queued: it was to be published and has not landed.
    pub fn has_queued(&self) -> Result<bool, Error> {
        let local = self.local(&self.refs()?)?;
        Ok(local.pending.is_some() && local.pending != local.base)
    }

    /// Returns the rewriting of the remote's history that was not accepted yet. Until it is, nothing is published and
    /// nothing is checked out; what the local copy has stays there.
    pub fn rewrite(&self) -> Result<Option<Rewrite>, Error> {
        let refs = self.refs()?;
        let after = refs.tip.map(|tip| tip.to_string());
        Ok(refs.before.map(|before| Rewrite { before: before.to_string(), after }))
    }

    /// Accepts the rewritten history: what vanished there vanishes from the local copy with the next checkout, unless
    /// it was changed here. A deleted branch is made anew with the next publication.
    pub fn accept_rewrite(&self, deadline: Instant) -> Result<(), Error> {
        let lock = SyncLock::take(&self.folder, deadline);
        match lock.map_err(Error::file(&self.folder))? {
            Some(_lock) => self.accept_locked(&mut self.refs()?),
            None => Err(Error::Busy),
        }
    }

    /// Accepts the rewritten history while the lock is held.
    pub(crate) fn accept_locked(&self, refs: &mut Refs) -> Result<(), Error> {
        if refs.before.is_none() {
            return Ok(());
        }
        let mut local = self.local(refs)?;
        if refs.tip.is_none() {
            // Nothing is shared any more, so all of the local copy is new to the remote.
            local = Local { base: None, sent: None, candidate: None, ..local };
        }
        // The branch may have gone back to a commit that is older than what was agreed on.
        self.note(refs, &Local { agreed: None, ..local })?;
        self.update_refs(refs, &[(Ref::Before, None)])?;
        refs.before = None;
        let mut state = self.state();
        state.rewritten_from = None;
        state.write(&self.folder).map_err(Error::file(&self.folder))
    }

    /// Returns the files of the local copy. What is missing there is not a removal: that has to be asked for.
    pub fn local_files(&self) -> Result<crate::repository::Files, Error> {
        Ok(self.local_copy()?.files)
    }

    /// Returns the local copy, without the files that are the user's own.
    pub(crate) fn local_copy(&self) -> Result<Copy, Error> {
        let mut copy = Copy::read(&self.copy_folder())?;
        let own = self.users_own()?;
        copy.files.retain(|path, _| !own.contains(path));
        copy.left_out.retain(|path, _| !own.contains(path));
        Ok(copy)
    }

    /// Returns the files in the local copy that the user tracks on a branch of theirs, such as the lessons of a project:
    /// they are shared there, and are not ours to write. In branch mode the copy holds no tracked files.
    pub(crate) fn users_own(&self) -> Result<BTreeSet<String>, Error> {
        if self.mode == Mode::Branch {
            return Ok(BTreeSet::new());
        }
        let root = self.place.main_root.as_os_str();
        let folder = format!("{FOLDER}/");
        let arguments = ["ls-files", "-z", "--", &folder].map(OsStr::new);
        let arguments = [OsStr::new("-C"), root].into_iter().chain(arguments).collect::<Vec<_>>();
        let output = self.git.local(&arguments)?;
        if !output.is_success() {
            return Err(Error::Git { action: "list the files that you track", words: output.words() });
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.split('\0').filter_map(|path| path.strip_prefix(&folder)).map(str::to_owned).collect())
    }

    fn file_in(&self, commit: Option<Oid>, path: &str) -> Result<Option<Vec<u8>>, Error> {
        if !is_shared(path) {
            return Err(Error::NotShared(path.to_owned()));
        }
        self.objects.file(commit, path)?.map(|id| self.objects.read(id)).transpose()
    }

    /// Returns the state of the local copy.
    pub(crate) fn local(&self, refs: &Refs) -> Result<Local, Error> {
        let mut local = Local::read(&self.objects, refs.local)?;
        if !self.is_of_copy(&local) {
            local.base = None;
        }
        Ok(local)
    }

    /// Replaces the state of the local copy.
    pub(crate) fn note(&self, refs: &mut Refs, local: &Local) -> Result<(), Error> {
        let bundle = Some(local.write(&self.objects)?);
        self.update_refs(refs, &[(Ref::Local, bundle)])?;
        refs.local = bundle;
        Ok(())
    }

    /// Reads our references, which are empty without a branch.
    pub(crate) fn refs(&self) -> Result<Refs, Error> {
        let names =
            [Ref::Remote, Ref::Before, Ref::Local, Ref::Seen].map(|reference| self.name_of(reference));
        let [Some(remote), Some(before), Some(local), Some(seen)] = &names else {
            return Ok(Refs::default());
        };
        let tracking = format!(
            "refs/remotes/{}/{}",
            self.remote().unwrap_or_default(),
            self.branch().unwrap_or_default()
        );
        let arguments =
            ["for-each-ref", "--format=%(objectname) %(refname)", remote, before, local, seen, &tracking];
        let output = self.git.local(&arguments)?;
        if !output.is_success() {
            return Err(Error::Git { action: "read the references", words: output.words() });
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let find = |name: &str| {
            let id = text.lines().filter_map(|line| line.split_once(' ')).find(|(_, found)| *found == name);
            id.and_then(|(id, _)| Oid::from_str(id).ok())
        };
        Ok(Refs {
            tip: find(remote),
            tracking: find(&tracking).filter(|tracking| self.objects.has_commit(*tracking)),
            before: find(before),
            local: find(local),
            seen: find(seen),
        })
    }

    /// Changes our references, which were `refs`; `None` deletes one.
    ///
    /// The state of the local copy changes only if it is what it was: git may outlive the killed process that started it,
    /// and must not bring an old state back.
    pub(crate) fn update_refs(&self, refs: &Refs, updates: &[(Ref, Option<Oid>)]) -> Result<(), Error> {
        let mut input = String::new();
        for (reference, id) in updates {
            let Some(name) = self.name_of(*reference) else { continue };
            let known = refs.local.unwrap_or(Oid::ZERO_SHA1);
            input.push_str(&match id {
                Some(id) if *reference == Ref::Local => format!("update {name}\0{id}\0{known}\0"),
                Some(id) => format!("update {name}\0{id}\0\0"),
                // Another rewriting that was noted meanwhile is not the one that was accepted.
                None if *reference == Ref::Before => {
                    format!("delete {name}\0{}\0", refs.before.map(|id| id.to_string()).unwrap_or_default())
                }
                None => format!("delete {name}\0\0"),
            });
        }
        let update =
            || self.git.local_with_input(&["update-ref", "--stdin", "-z"], input.clone().into_bytes());
        let mut output = update()?;
        if !output.is_success() && updates.iter().any(|(reference, _)| self.remove_stale_lock(*reference)) {
            output = update()?;
        }
        let has = |words: &str| output.stderr.contains(words);
        match output.is_success() {
            true => Ok(()),
            false if has("but expected") || has("already exists") || has("unable to resolve") => {
                Err(Error::Busy)
            }
            false => Err(Error::Git { action: "update refs/wyren", words: output.words() }),
        }
    }

    /// Returns whether `ancestor` is part of the history of `tip`.
    pub(crate) fn is_ancestor(&self, ancestor: Oid, tip: Oid) -> Result<bool, Error> {
        let arguments = ["merge-base", "--is-ancestor", &ancestor.to_string(), &tip.to_string()];
        Ok(ancestor == tip || (self.objects.has(ancestor) && self.git.local(&arguments)?.is_success()))
    }

    /// Returns the full name of a reference of ours; `None` without a branch. A copy that belongs to a linked work tree
    /// alone has its state where git keeps what belongs to one work tree.
    pub(crate) fn name_of(&self, reference: Ref) -> Option<String> {
        let branch = as_one_name(self.branch.as_ref()?);
        Some(match reference {
            Ref::Remote => format!("refs/wyren/remote/{branch}"),
            Ref::Before => format!("refs/wyren/before/{branch}"),
            Ref::Seen => format!("refs/wyren/seen/{branch}"),
            Ref::Local if self.place.is_own(self.mode) => format!("refs/worktree/wyren/local/{branch}"),
            Ref::Local => format!("refs/wyren/local/{branch}"),
        })
    }

    /// Removes the lock file of one of our references when the process that made it was killed. Returns whether there was one.
    pub(crate) fn remove_stale_lock(&self, reference: Ref) -> bool {
        let Some(name) = self.name_of(reference) else { return false };
        let repository = &self.place.repository;
        let is_own = name.starts_with("refs/worktree/");
        let folder = if is_own { &repository.git_folder } else { &repository.common_folder };
        let path = folder.join(format!("{name}.lock"));
        let age = fs::metadata(&path).and_then(|metadata| metadata.modified()).map(|time| time.elapsed());
        // Git holds such a lock for some milliseconds.
        let is_stale = age.is_ok_and(|age| age.is_ok_and(|age| age >= STALE_LOCK));
        is_stale && fs::remove_file(&path).is_ok()
    }
}

fn parse_id(commit: &str) -> Result<Oid, Error> {
    Oid::from_str(commit).map_err(|error| Error::Object {
        action: "read the name of a commit",
        words: error.message().to_owned(),
    })
}

/// Returns a branch's name without slashes: a reference called `a` cannot stand beside one called `a/b`, but two branches
/// can, one after the other.
pub(crate) fn as_one_name(branch: &str) -> String {
    branch.replace('%', "%25").replace('/', "%2F")
}

/// How old the lock file of a reference must be to count as left behind.
const STALE_LOCK: Duration = Duration::from_secs(2);

/// Returns the branch that HEAD names; `None` when it is detached.
pub(crate) fn checked_out(git: &Git) -> Result<Option<String>, Error> {
    let output = git.local(&["symbolic-ref", "--quiet", "HEAD"])?;
    Ok(output.line().strip_prefix("refs/heads/").map(str::to_owned))
}
