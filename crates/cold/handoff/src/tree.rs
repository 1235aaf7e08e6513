//! What the repository is like when a handoff is saved, and what happened in it since.

use base::Env;
use base::project::Repository;
use std::path::Path;
use team_sync::{Changes, Since};
use work::contexts::Git;

/// The most changed files that a handoff names.
const MOST_FILES: usize = 200;
/// The most commits that are listed.
const MOST_COMMITS: usize = 30;

/// Returns what the repository around a folder is like; `None` without one that is the user's own, or where git does not
/// answer.
pub fn tree_of(folder: &Path, env: &Env) -> Option<Git> {
    let repository = Repository::above(folder)?;
    let Changes { branch, commit, mut files } = Changes::of(&repository.root, env)?;
    files.truncate(MOST_FILES);
    Some(Git { branch, commit, changed: files })
}

/// Returns what happened in the repository around a folder since a handoff was saved, and what it is like now.
pub fn since(folder: &Path, env: &Env, then: &Git) -> Option<(Since, Git)> {
    let repository = Repository::above(folder)?;
    let now = tree_of(folder, env)?;
    let since = match &then.commit {
        Some(commit) => Since::of(&repository.root, env, commit, MOST_COMMITS)?,
        None => Since::default(),
    };
    Some((since, now))
}
