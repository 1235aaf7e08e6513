//! What commits say: the shared files at HEAD, where the user's branch parted, and who changed a file when.

use crate::repository::git::Git;
use crate::repository::objects::Snapshot;
use crate::repository::team::Refs;
use crate::repository::{Error, Merge, Team, fetch};
use base::{Env, Timestamp};
use git2::Oid;
use place::{FOLDER, is_shared};
use std::path::Path;
use std::time::Instant;
use text::sanitize;

/// The longest name or subject that is passed on, in characters.
const MAX_CHARS: usize = 200;

/// The most commits at which HEAD and the remote parted that are looked at: more than one after merges in both directions.
const MAX_PARTINGS: usize = 8;

/// What separates the fields of a commit that git prints.
const SEPARATOR: char = '\u{1f}';

/// A commit that changed a shared file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Who wrote it, sanitised.
    pub author: String,
    /// When it was written.
    pub when: Timestamp,
    /// Its subject, sanitised.
    pub subject: String,
    /// The file before it; `None` when it was not there.
    pub before: Option<Vec<u8>>,
    /// The file after it.
    pub after: Option<Vec<u8>>,
}

/// The shared files that the user's branch has.
pub struct Tracked<'a> {
    team: &'a Team,
    head: Snapshot,
    fork: Snapshot,
}

impl Tracked<'_> {
    /// Returns the paths at HEAD, relative to `.wyren/`.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.head.keys().map(String::as_str)
    }

    /// Returns a file at HEAD.
    pub fn at_head(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        self.head.get(path).map(|id| self.team.objects.read(*id)).transpose()
    }

    /// Returns a file as the newest commits below HEAD have it that were published; at HEAD when the remote does not have
    /// the branch.
    pub fn at_fork(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        self.fork.get(path).map(|id| self.team.objects.read(*id)).transpose()
    }
}

impl Team {
    /// Returns the shared files that the user's branch has. `merge` puts together what was published on several ways.
    pub fn tracked(&self, merge: &dyn Merge, deadline: Instant) -> Result<Tracked<'_>, Error> {
        let head = self.objects.snapshot(self.head()?)?;
        let fork = self.published_below_head(&self.refs()?, merge, deadline)?;
        Ok(Tracked { team: self, fork: fork.unwrap_or_else(|| head.clone()), head })
    }

    /// Returns the shared files at the newest commits below HEAD that were published: those that the remote's tip reaches,
    /// or the branch that the user's own fetches brought. `None` when neither is known.
    ///
    /// A made-up tracking branch makes less count as the user's own, and nothing as removed.
    fn published_below_head(
        &self,
        refs: &Refs,
        merge: &dyn Merge,
        deadline: Instant,
    ) -> Result<Option<Snapshot>, Error> {
        let tips: Vec<String> = refs.tip.iter().chain(&refs.tracking).map(Oid::to_string).collect();
        if tips.is_empty() {
            return Ok(None);
        }
        // Of HEAD and what a merge of the others would be.
        let mut arguments = vec!["merge-base", "--all", "HEAD"];
        arguments.extend(tips.iter().map(String::as_str));
        let output = self.git.local(&arguments)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut partings = text
            .lines()
            .filter_map(|line| Oid::from_str(line).ok())
            .take(MAX_PARTINGS)
            .filter(|_| output.is_success());
        let Some(first) = partings.next() else { return Ok(Some(Snapshot::new())) };
        fetch::partial_objects(self, first, deadline);
        let mut fork = self.objects.snapshot(Some(first))?;
        for other in partings {
            let base = self.parting(&first.to_string(), other, deadline)?;
            fetch::partial_objects(self, other, deadline);
            fork = self.objects.merge(merge, &base, &fork, &self.objects.snapshot(Some(other))?)?;
        }
        Ok(Some(fork))
    }

    /// Returns the newest commits of the shared branch that changed a shared file, the newest first. What a shallow or
    /// partial clone lacks is left out.
    pub fn commits(&self, path: &str, most: usize) -> Result<Vec<Commit>, Error> {
        if !is_shared(path) {
            return Err(Error::NotShared(path.to_owned()));
        }
        let Some(tip) = self.newest_refs()?.tip else { return Ok(Vec::new()) };
        let output = self.git.local(&[
            "log",
            "-z",
            "--no-merges",
            "--no-show-signature",
            &format!("--max-count={most}"),
            "--format=%H%x1f%P%x1f%an%x1f%aI%x1f%s",
            &tip.to_string(),
            "--",
            &format!(":(top,literal){FOLDER}/{path}"),
        ])?;
        if !output.is_success() {
            return Err(Error::Git { action: "read the history of the memory", words: output.words() });
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.split('\0').filter_map(|line| self.commit_of(line, path)).collect())
    }

    fn commit_of(&self, line: &str, path: &str) -> Option<Commit> {
        let mut fields = line.trim_start().splitn(5, SEPARATOR);
        let id = Oid::from_str(fields.next()?).ok()?;
        let parents = fields.next()?;
        let author = sanitize::one_line(fields.next()?, MAX_CHARS);
        let when = fields.next()?.parse().ok()?;
        let subject = sanitize::one_line(fields.next()?, MAX_CHARS);
        let parent = parents.split(' ').next().and_then(|parent| Oid::from_str(parent).ok());
        let at = |commit: Option<Oid>| {
            let file = self.objects.file(commit, path).ok()?;
            Some(file.and_then(|id| self.objects.read(id).ok()))
        };
        Some(Commit { author, when, subject, before: at(parent)?, after: at(Some(id))? })
    }

    /// Returns the commit that HEAD names.
    pub(crate) fn head(&self) -> Result<Option<Oid>, Error> {
        let output = self.git.local(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])?;
        Ok(Oid::from_str(&output.line()).ok().filter(|_| output.is_success()))
    }
}

/// Returns the first commit of the history of HEAD: the last that git lists, should there be several.
pub fn first_commit(folder: &Path, env: &Env) -> Option<String> {
    let output = Git::new(folder, env).local(&["rev-list", "--max-parents=0", "HEAD"]).ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.code == Some(0))?;
    text.lines().last().map(str::to_owned)
}

/// Returns what git's configuration calls the user, as seen from `folder`.
pub fn user_name(folder: &Path, env: &Env) -> Option<String> {
    let output = Git::new(folder, env).local(&["config", "--get", "user.name"]).ok()?;
    let name = sanitize::one_line(&output.line(), MAX_CHARS);
    (output.is_success() && !name.is_empty()).then_some(name)
}
