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
    /// What the file is called at HEAD.
    path: String,
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
        let Some(text) = run(root, path, &["-w".to_owned()], env)? else { return Ok(None) };
        let mut blame = Self { path: path.to_owned(), ..Self::default() };
        for (_, text, commit) in blame.parse(&text) {
            blame.lines.push((text, commit));
        }
        Ok(Some(blame))
    }

    /// Asks again for some lines, from 1 on, with those that were moved from elsewhere, in this file or others that the same
    /// commit changed: they get the commit that they first came with. That takes git several times as long.
    pub fn follow_moves(&mut self, root: &Path, lines: &[(usize, usize)], env: &Env) -> Result<(), Error> {
        let mut options = ["-w", "-M", "-C"].map(str::to_owned).to_vec();
        options.extend(lines.iter().map(|(from, to)| format!("-L{from},{to}")));
        let path = self.path.clone();
        let Some(text) = run(root, &path, &options, env)? else { return Ok(()) };
        for (number, _, commit) in self.parse(&text) {
            if let Some(line) = number.checked_sub(1).and_then(|number| self.lines.get_mut(number)) {
                line.1 = commit;
            }
        }
        Ok(())
    }

    /// Reads what git prints: each line's number and text, with the place of its commit. A commit is another one for each
    /// name that the file has in it.
    fn parse(&mut self, text: &str) -> Vec<(usize, String, usize)> {
        let mut lines = Vec::new();
        let mut known: HashMap<&str, BlamedCommit> = HashMap::new();
        let mut places: HashMap<(String, String), usize> = self
            .commits
            .iter()
            .enumerate()
            .map(|(place, commit)| ((commit.id.clone(), commit.path.clone()), place))
            .collect();
        let (mut id, mut number) = ("", 0);
        for line in text.split('\n') {
            if let Some(text) = line.strip_prefix('\t') {
                let Some(commit) = known.get(id) else { continue };
                let place = *places.entry((commit.id.clone(), commit.path.clone())).or_insert_with(|| {
                    self.commits.push(commit.clone());
                    self.commits.len() - 1
                });
                lines.push((number, text.trim_end_matches('\r').to_owned(), place));
                continue;
            }
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            if word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                id = word;
                number = rest.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or_default();
                known.entry(id).or_insert_with(|| BlamedCommit::new(word));
                continue;
            }
            let Some(commit) = known.get_mut(id) else { continue };
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
        lines
    }
}

/// Returns what git prints about a file at HEAD; `None` where there is no such file.
fn run(root: &Path, path: &str, options: &[String], env: &Env) -> Result<Option<String>, Error> {
    // The filters of a diff are programs, too.
    let fixed = [
        "-c",
        "core.quotePath=false",
        "-c",
        "blame.ignoreRevsFile=",
        "blame",
        "--porcelain",
        "--no-textconv",
    ];
    let arguments = fixed.into_iter().chain(options.iter().map(String::as_str)).chain(["HEAD", "--", path]);
    let output = Git::new(root, env).local(&arguments.collect::<Vec<_>>())?;
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
        let mut blame = Blame::default();
        let lines = blame.parse(&text);
        assert_eq!(lines, [(1, "one".to_owned(), 0), (2, "\ttwo".to_owned(), 0)]);
        let commit = &blame.commits[0];
        assert_eq!((&*commit.id, &*commit.author, &*commit.subject), (id, "Ada", "Add it"));
        assert_eq!(
            (commit.when.millis(), commit.committed.millis(), &*commit.path),
            (10_000, 20_000, "src/old.rs")
        );
    }
}
