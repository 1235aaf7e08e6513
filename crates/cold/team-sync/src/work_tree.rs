//! How a work tree differs from its last commit, and its branch from the upstream.

use crate::repository::git::Git;
use base::Env;
use std::path::Path;

/// What `git status` says, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkTree {
    /// `None` without a branch.
    pub branch: Option<String>,
    /// Commits that the upstream does not have.
    pub ahead: u64,
    /// Commits of the upstream that the branch does not have.
    pub behind: u64,
    /// Files that differ from the last commit, or are not in it. A folder without any counts as one.
    pub dirty: u64,
}

impl WorkTree {
    /// Asks git about the work tree at `root`; `None` when it does not answer.
    pub fn of(root: &Path, env: &Env) -> Option<Self> {
        let arguments =
            ["status", "--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty"];
        let output = Git::new(root, env).local(&arguments).ok().filter(|output| output.code == Some(0))?;
        Some(Self::read(&String::from_utf8_lossy(&output.stdout)))
    }

    fn read(text: &str) -> Self {
        let mut tree = Self::default();
        for line in text.lines() {
            let Some(header) = line.strip_prefix("# ") else {
                tree.dirty += 1;
                continue;
            };
            match header.split_once(' ') {
                Some(("branch.head", name)) if name != "(detached)" => tree.branch = Some(name.to_owned()),
                Some(("branch.ab", counts)) => {
                    let mut counts = counts.split(' ').map(|count| count[1..].parse().unwrap_or_default());
                    (tree.ahead, tree.behind) = (counts.next().unwrap_or(0), counts.next().unwrap_or(0));
                }
                _ => {}
            }
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_git_are_counted() {
        let text = "# branch.oid 1234\n# branch.head feature/x\n# branch.upstream origin/feature/x\n# branch.ab +2 -13\n\
                    1 .M N... 100644 100644 100644 1 2 a.rs\n? new\nu UU N... 1 2 3 4 5 6 7 b.rs\n";
        let tree = WorkTree { branch: Some("feature/x".to_owned()), ahead: 2, behind: 13, dirty: 3 };
        assert_eq!(WorkTree::read(text), tree);
        assert_eq!(WorkTree::read("# branch.head (detached)\n"), WorkTree::default());
        assert_eq!(WorkTree::read("# branch.ab + -x\n"), WorkTree::default());
    }
}
