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

/// What a work tree is at, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// `None` without a branch.
    pub branch: Option<String>,
    /// The whole name of the last commit; `None` before the first one.
    pub commit: Option<String>,
    /// Files that differ from the last commit, or are not in it.
    pub files: Vec<String>,
}

impl Changes {
    /// Asks git about the work tree at `root`; `None` when it does not answer.
    pub fn of(root: &Path, env: &Env) -> Option<Self> {
        let arguments = [
            "status",
            "--porcelain=v2",
            "--branch",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
        ];
        Some(Self::read(&asked(root, env, &arguments)?))
    }

    fn read(text: &str) -> Self {
        let mut changes = Self::default();
        let mut parts = text.split('\0').filter(|part| !part.is_empty());
        while let Some(part) = parts.next() {
            let (kind, rest) = part.split_once(' ').unwrap_or((part, ""));
            // How many words come before the path.
            let words = match kind {
                "#" => {
                    match rest.split_once(' ') {
                        Some(("branch.head", name)) if name != "(detached)" => {
                            changes.branch = Some(name.to_owned());
                        }
                        Some(("branch.oid", name)) if name != "(initial)" => {
                            changes.commit = Some(name.to_owned());
                        }
                        _ => {}
                    }
                    continue;
                }
                "1" => 8,
                "2" => 9,
                "u" => 10,
                "?" => 1,
                _ => continue,
            };
            changes.files.extend(rest.splitn(words, ' ').nth(words - 1).map(str::to_owned));
            if kind == "2" {
                // Where it was before.
                parts.next();
            }
        }
        changes
    }
}

/// What happened in a repository since a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// Whether the repository still has the commit.
    pub is_known: bool,
    /// The short name and the first line of each commit since then, the latest first.
    pub commits: Vec<(String, String)>,
    /// How many commits there are, with those that are not listed.
    pub count: usize,
    /// What happened to each file since then, committed or not: `A`, `M`, `D`, …, and its path.
    pub files: Vec<(char, String)>,
}

impl Since {
    /// Asks git what happened since a commit, and lists at most so many commits; `None` when git does not answer.
    pub fn of(root: &Path, env: &Env, commit: &str, most: usize) -> Option<Self> {
        let is_name = (4..=64).contains(&commit.len()) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let object = format!("{commit}^{{commit}}");
        if !is_name || asked(root, env, &["cat-file", "-e", &object]).is_none() {
            return Some(Self::default());
        }
        let range = format!("{commit}..HEAD");
        let log = asked(root, env, &["log", "-z", "--format=%h %s", "--no-show-signature", &range, "--"])?;
        let commits: Vec<(String, String)> = log
            .split('\0')
            .filter_map(|line| line.split_once(' '))
            .map(|(name, subject)| (name.to_owned(), subject.to_owned()))
            .collect();
        let diff = ["diff", "--name-status", "-z", "--no-renames", "--ignore-submodules=dirty", commit, "--"];
        let diff = asked(root, env, &diff)?;
        let mut parts = diff.split('\0');
        let mut files = Vec::new();
        while let (Some(status), Some(path)) =
            (parts.next().and_then(|status| status.chars().next()), parts.next())
        {
            files.push((status, path.to_owned()));
        }
        let count = commits.len();
        Some(Self { is_known: true, commits: commits.into_iter().take(most).collect(), count, files })
    }
}

/// Returns what git answers; `None` when it fails.
fn asked(root: &Path, env: &Env, arguments: &[&str]) -> Option<String> {
    let output = Git::new(root, env).local(arguments).ok().filter(|output| output.code == Some(0))?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_changed_files_are_read_also_with_blanks_and_after_a_move() {
        let text = "# branch.oid 1234\0# branch.head main\x001 .M N... 100644 100644 100644 1 2 a b.rs\0\
                    2 R. N... 100644 100644 100644 1 2 R100 new.rs\0old.rs\0u UU N... 1 2 3 4 5 6 7 c.rs\0? d e\0! target\0";
        let files = ["a b.rs", "new.rs", "c.rs", "d e"].map(str::to_owned).to_vec();
        let changes = Changes { branch: Some("main".to_owned()), commit: Some("1234".to_owned()), files };
        assert_eq!(Changes::read(text), changes);
        assert_eq!(Changes::read("# branch.oid (initial)\0# branch.head (detached)\0"), Changes::default());
    }

    #[test]
    fn what_is_no_name_of_a_commit_is_not_given_to_git() {
        let env = Env::fixed([("HOME", "/")]);
        for odd in ["--output=/x", "HEAD", "", "12"] {
            assert_eq!(Since::of(Path::new("/"), &env, odd, 5), Some(Since::default()), "{odd}");
        }
    }

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
