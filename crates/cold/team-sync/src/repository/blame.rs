//! Which commit each line of a file came with.
//!
//! Git is asked about the file at HEAD, never about the one in the work tree: it would have to run the filters that the
//! repository names.

use crate::repository::Error;
use crate::repository::git::Git;
use base::{Env, Timestamp};
use std::collections::HashMap;
use std::path::Path;
use text::sanitize;

/// The longest name or subject that is passed on, in characters.
const MAX_CHARS: usize = 200;

/// A file at HEAD with the commit of each line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    pub commits: Vec<BlamedCommit>,
    /// The text of each line, and the place of its commit in `commits`.
    pub lines: Vec<(String, usize)>,
}

/// A commit that lines came with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedCommit {
    /// Its whole id.
    pub id: String,
    /// Who wrote it, sanitised.
    pub author: String,
    /// When it was written; a rebase does not change that.
    pub when: Timestamp,
    /// When it got its id.
    pub committed: Timestamp,
    /// Its subject, sanitised.
    pub subject: String,
    /// What the file was called, from the top of the work tree.
    pub path: String,
}

impl Blame {
    /// Returns the commits of the lines of `path` at HEAD, from the top of the work tree on; `None` where HEAD has no such
    /// file. Spaces do not count.
    pub fn of(root: &Path, path: &str, env: &Env) -> Result<Option<Self>, Error> {
        let Some(text) = run(root, path, env)? else { return Ok(None) };
        Ok(Some(Self::parse(&text)))
    }

    fn parse(text: &str) -> Self {
        let mut blame = Self::default();
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut current = 0;
        for line in text.split('\n') {
            if let Some(text) = line.strip_prefix('\t') {
                blame.lines.push((text.trim_end_matches('\r').to_owned(), current));
                continue;
            }
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            if word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                current = *known.entry(word).or_insert_with(|| {
                    blame.commits.push(BlamedCommit::new(word));
                    blame.commits.len() - 1
                });
                continue;
            }
            let Some(commit) = blame.commits.get_mut(current) else { continue };
            let value = || sanitize::one_line(rest, MAX_CHARS);
            let moment =
                || Timestamp::from_millis(rest.parse::<u64>().unwrap_or_default().saturating_mul(1_000));
            match word {
                "author" => commit.author = value(),
                "author-time" => commit.when = moment(),
                "committer-time" => commit.committed = moment(),
                "summary" => commit.subject = value(),
                "filename" => commit.path = rest.to_owned(),
                _ => {}
            }
        }
        blame
    }
}

/// Returns what git prints about a file at HEAD; `None` where there is no such file.
fn run(root: &Path, path: &str, env: &Env) -> Result<Option<String>, Error> {
    // The filters of a diff are programs, too.
    let mut arguments = vec!["-c", "core.quotePath=false", "-c", "blame.ignoreRevsFile=", "blame"];
    // Neither moved nor copied lines are followed: that takes several times as long, and recorded edits tell them.
    arguments.extend(["--porcelain", "--no-textconv", "-w", "HEAD", "--", path]);
    let output = Git::new(root, env).local(&arguments)?;
    Ok(output.is_success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
}

impl BlamedCommit {
    fn new(id: &str) -> Self {
        let never = Timestamp::from_millis(0);
        let nothing = String::new;
        let id = id.to_owned();
        Self { id, author: nothing(), when: never, committed: never, subject: nothing(), path: nothing() }
    }
}

/// Returns what a file was called at HEAD, which the index has under another name.
pub fn name_at_head(root: &Path, path: &str, env: &Env) -> Result<Option<String>, Error> {
    let git = Git::new(root, env);
    let arguments =
        ["diff-index", "--cached", "-z", "-M", "--name-status", "--no-ext-diff", "--no-textconv", "HEAD"];
    let output = git.local(&arguments)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut fields = text.split('\0');
    while let Some(status) = fields.next().filter(|status| !status.is_empty()) {
        let Some(old) = fields.next() else { break };
        if !status.starts_with(['R', 'C']) {
            continue;
        }
        if fields.next() == Some(path) {
            return Ok(Some(old.to_owned()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_commits_that_git_names() {
        let id = "9fceb02d0ae598e95dc970b74767f19372d61af8";
        let text = format!(
            "{id} 1 1 2\nauthor Ada\nauthor-mail <ada@example.org>\nauthor-time 10\ncommitter-time 20\nsummary Add it\nfilename src/old.rs\n\tone\r\n{id} 2 2\n\t\ttwo\n"
        );
        let blame = Blame::parse(&text);
        assert_eq!(blame.lines, [("one".to_owned(), 0), ("\ttwo".to_owned(), 0)]);
        let commit = &blame.commits[0];
        assert_eq!((&*commit.id, &*commit.author, &*commit.subject), (id, "Ada", "Add it"));
        assert_eq!(
            (commit.when.millis(), commit.committed.millis(), &*commit.path),
            (10_000, 20_000, "src/old.rs")
        );
    }
}
