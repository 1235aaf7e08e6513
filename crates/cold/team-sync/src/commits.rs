//! The last commits of a branch.

use crate::repository::git::Git;
use base::Env;
use std::path::Path;

/// Returns the last commits, the latest first: `4be19a2 subject` each. None where git does not answer.
pub fn last_commits(root: &Path, env: &Env, most: usize) -> Vec<String> {
    let most = format!("-{most}");
    let arguments = ["log", "--format=%h %s", "--no-show-signature", &most, "--"];
    let output = Git::new(root, env).local(&arguments).ok().filter(|output| output.code == Some(0));
    let output = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    output.unwrap_or_default().lines().map(str::to_owned).collect()
}
