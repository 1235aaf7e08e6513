//! From a line of code to the edit that put it there, the prompt that asked for it, and the commit.

mod facts;

pub use facts::Block;

use crate::{Error, counted};
use base::project::Repository;
use base::{Env, files};
use journal::why::{self, Call, How, Origin, Place, Present, Reason, ReasonKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::thread;
use store::Store;
use team_sync::Share;
use team_sync::repository::{Blame, BlamedCommit, name_at_head};
use text::sanitize;

/// The largest file that is read, in bytes.
const MAX_FILE: usize = 16 * 1024 * 1024;

/// How long a line is that is looked for in other files, in bytes, and how many lines around those that were asked about are.
const TELLING: usize = 12;
const NEAR: usize = 20;

/// The most reasons that are shown for an edit.
const MAX_REASONS: usize = 3;

/// In characters.
const MAX_NAME: usize = 200;

/// What a person asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As it was typed.
    pub file: String,
    /// From 1 on.
    pub lines: Option<(usize, usize)>,
}

impl Target {
    /// Takes `FILE:LINE` apart, unless a file has this very name.
    pub fn parse(text: &str, is_file: impl Fn(&Path) -> bool) -> Result<Self, Error> {
        let whole = Self { file: text.to_owned(), lines: None };
        let Some((file, numbers)) = text.rsplit_once(':').filter(|_| !is_file(Path::new(text))) else {
            return Ok(whole);
        };
        // As a compiler prints it: `src/a.rs:4:9`.
        let with_column =
            file.rsplit_once(':').filter(|(_, line)| !is_file(Path::new(file)) && is_number(line));
        let (file, numbers) = with_column.filter(|_| is_number(numbers)).unwrap_or((file, numbers));
        let (from, to) = numbers.split_once('-').unwrap_or((numbers, numbers));
        match (from.parse(), to.parse()) {
            (Ok(from), Ok(to)) if 0 < from && from <= to => {
                Ok(Self { file: file.to_owned(), lines: Some((from, to)) })
            }
            (Ok(_), Ok(_)) => Err(Error::Unclear(format!("there are no lines {from} to {to}"))),
            _ => Ok(whole),
        }
    }

    pub fn range(&self, count: usize) -> Result<Option<RangeInclusive<usize>>, Error> {
        let Some((from, to)) = self.lines else { return Ok(None) };
        if from > count {
            let file = sanitize::one_line(&self.file, MAX_NAME);
            let lines = counted(count, "line", "lines");
            return Err(Error::Unclear(format!("{file} has {lines}; there is no line {from}")));
        }
        Ok(Some(from..=to.min(count)))
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<usize>().is_ok()
}

/// Returns the lines of a text file.
pub fn read_lines(file: &Path, named: &str) -> Result<Vec<String>, Error> {
    let named = sanitize::one_line(named, MAX_NAME);
    let bytes = files::read_followed(file, MAX_FILE).map_err(|error| Error::File(named.clone(), error))?;
    if bytes.contains(&0) {
        return Err(Error::Unknown(format!("{named} is not a text file")));
    }
    Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
}

/// What is known of the lines of a file.
pub struct Answer {
    pub lines: Vec<String>,
    /// The edit and the commit of each line.
    pub origins: Vec<Option<Origin>>,
    pub commit_of: Vec<Option<usize>>,
    pub commits: Vec<BlamedCommit>,
    /// Whether the file is in a repository that has commits of it.
    pub is_committed: bool,
    /// The calls that lines are from, by the place of the edit.
    pub calls: BTreeMap<usize, Known>,
}

/// A call with the reasons behind it.
pub struct Known {
    pub call: Call,
    pub reasons: Vec<Reason>,
}

impl Answer {
    /// `open` returns the drained database: git is asked at the same time.
    pub fn of(
        file: &Path,
        lines: Vec<String>,
        range: Option<RangeInclusive<usize>>,
        env: &Env,
        open: impl FnOnce() -> Result<Store, Error>,
    ) -> Result<Self, Error> {
        // Git takes about as long as everything else.
        let repository = Repository::above(file.parent().unwrap_or(file));
        let blaming = repository.as_ref().map(|repository| {
            let (file, env) = (file.to_owned(), env.clone());
            let root = repository.root.clone();
            thread::spawn(move || -> Option<Blame> { blame(&root, &file, &env) })
        });
        let store = open()?;
        let mut place = Place::of(&store, file)?;
        why::former_names(&store, &mut place)?;
        let mut blamed = blaming.and_then(|blaming| blaming.join().ok().flatten());
        if blamed.is_none() {
            blamed = blame_former(file, &place, env);
        }
        let blame = blamed.unwrap_or_default();
        let is_notebook = file.extension().is_some_and(|extension| extension == "ipynb");
        let texts = Texts::of(&lines, &blame, is_notebook);
        place.add(former_names(&blame, file));
        why::former_names(&store, &mut place)?;
        let mut found = Found::of(&store, &place, &blame, &texts, &[])?;
        let open = found.open_lines(&texts, range.as_ref());
        let open_texts: Vec<&str> = open.iter().map(|at| texts.texts[*at].as_str()).collect();
        let mut sources = why::sources_of(&store, &place, &open_texts)?;
        if !sources.is_empty() {
            sources.iter_mut().flat_map(|(_, lines)| lines).for_each(|line| *line = open[*line]);
            found = Found::of(&store, &place, &blame, &texts, &sources)?;
        }

        let mut answer = Self {
            is_committed: !blame.lines.is_empty(),
            commits: blame.commits,
            calls: BTreeMap::new(),
            origins: found.origins,
            commit_of: found.commit_of,
            lines,
        };
        answer.read_calls(&store, &found.edits, &place, range.as_ref())?;
        if let Some(range) = range {
            answer.read_reasons(&store, &place, file, &range, env)?;
        }
        Ok(answer)
    }

    fn read_calls(
        &mut self,
        store: &Store,
        edits: &[why::Edit],
        place: &Place,
        range: Option<&RangeInclusive<usize>>,
    ) -> Result<(), Error> {
        for (at, origin) in self.origins.iter().enumerate() {
            let is_asked = range.is_none_or(|range| range.contains(&(at + 1)));
            let Some(edit) = origin.map(|origin| origin.edit).filter(|_| is_asked) else { continue };
            if self.calls.contains_key(&edit) {
                continue;
            }
            if let Some(call) = Call::of(store, &edits[edit], place)? {
                self.calls.insert(edit, Known { call, reasons: Vec::new() });
            }
        }
        Ok(())
    }

    fn read_reasons(
        &mut self,
        store: &Store,
        place: &Place,
        file: &Path,
        range: &RangeInclusive<usize>,
        env: &Env,
    ) -> Result<(), Error> {
        let memory = team_memory(file, env);
        for (edit, known) in &mut self.calls {
            let is_its = |at: &usize| self.origins[*at - 1].is_some_and(|origin| origin.edit == *edit);
            let lines: Vec<&str> =
                range.clone().filter(is_its).map(|at| self.lines[at - 1].as_str()).collect();
            known.reasons = why::reasons(store, &known.call, place, &lines)?;
            let about = memory.iter().filter(|text| why::is_about(text, place, &lines));
            known.reasons.extend(about.map(|text| Reason {
                kind: ReasonKind::Memory,
                id: None,
                text: text.clone(),
            }));
            known.reasons.truncate(MAX_REASONS);
        }
        Ok(())
    }

    pub fn how(&self, at: usize) -> Option<How> {
        self.origins[at].map(|origin| origin.how)
    }

    /// Returns the session and the number of the prompt that a line is from.
    pub fn turn(&self, at: usize) -> Option<(&str, u64)> {
        let known = self.calls.get(&self.origins[at]?.edit)?;
        Some((&known.call.session, known.call.prompt_number))
    }
}

/// The lines of the file as they are compared.
struct Texts {
    texts: Vec<String>,
    /// The line at HEAD that each line is.
    at_head: Vec<Option<usize>>,
}

impl Texts {
    fn of(lines: &[String], blame: &Blame, is_notebook: bool) -> Self {
        let head: Vec<&str> = blame.lines.iter().map(|(text, _)| text.as_str()).collect();
        let present: Vec<&str> = lines.iter().map(String::as_str).collect();
        let decoded =
            |line: &String| why::of_notebook(line).filter(|_| is_notebook).unwrap_or_else(|| line.clone());
        Self { at_head: why::carry_over(&head, &present), texts: lines.iter().map(decoded).collect() }
    }

    /// Returns the commit of each line.
    fn commits(&self, blame: &Blame) -> Vec<Option<usize>> {
        self.at_head.iter().map(|line| line.map(|line| blame.lines[line].1)).collect()
    }
}

/// What the recorded edits and git say together.
struct Found {
    edits: Vec<why::Edit>,
    origins: Vec<Option<Origin>>,
    commit_of: Vec<Option<usize>>,
}

impl Found {
    /// `sources` are other files that lines, by their places, may be moved from.
    fn of(
        store: &Store,
        place: &Place,
        blame: &Blame,
        texts: &Texts,
        sources: &[(String, Vec<usize>)],
    ) -> Result<Self, Error> {
        let paths: Vec<String> = sources.iter().map(|(path, _)| path.clone()).collect();
        let edits = why::edits_of(store, place, &paths)?;
        let commit_of = texts.commits(blame);
        let mut source_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (source, (_, lines)) in sources.iter().enumerate() {
            for line in lines {
                source_of.entry(*line).or_insert(source);
            }
        }
        let present = texts.texts.iter().zip(&commit_of).enumerate().map(|(at, (text, place))| {
            let commit = place.map(|commit| &blame.commits[commit]);
            Present {
                text,
                committed_at: commit.map(|commit| commit.committed.millis()),
                written_at: commit.map(|commit| commit.when.millis()),
                commit: *place,
                source: source_of.get(&at).copied(),
            }
        });
        let origins = why::attribute(&edits, &present.collect::<Vec<_>>());
        Ok(Self { edits, origins, commit_of })
    }

    /// Returns the lines that were asked about, that no edit added and that say enough to be found elsewhere.
    fn open_lines(&self, texts: &Texts, range: Option<&RangeInclusive<usize>>) -> Vec<usize> {
        // A block that was moved is around the lines that were asked about.
        let near = |range: &RangeInclusive<usize>| range.start().saturating_sub(NEAR)..=range.end() + NEAR;
        let is_asked = |at: usize| range.is_none_or(|range| near(range).contains(&(at + 1)));
        let is_open = |at: &usize| self.origins[*at].is_none() && texts.texts[*at].trim().len() >= TELLING;
        (0..self.origins.len()).filter(|at| is_asked(*at)).filter(is_open).collect()
    }
}

/// Returns the names that the file had before, as git knows them.
fn former_names(blame: &Blame, file: &Path) -> BTreeSet<String> {
    let own = Repository::above(file.parent().unwrap_or(file)).and_then(|it| name_in(&it.root, file));
    blame.commits.iter().map(|commit| commit.path.clone()).filter(|path| Some(path) != own.as_ref()).collect()
}

fn blame(root: &Path, file: &Path, env: &Env) -> Option<Blame> {
    let path = name_in(root, file)?;
    if let Some(blame) = Blame::of(root, &path, env).ok()? {
        return Some(blame);
    }
    let former = name_at_head(root, &path, env).ok()??;
    Blame::of(root, &former, env).ok()?
}

/// Asks git for a name that a recorded call renamed the file from, and that HEAD still has.
fn blame_former(file: &Path, place: &Place, env: &Env) -> Option<Blame> {
    let root = Repository::above(file.parent()?)?.root;
    let path = name_in(&root, file)?;
    let former = place.names.iter().map(|(_, name)| name).filter(|name| **name != path);
    former.take(5).find_map(|name| Blame::of(&root, name, env).ok().flatten())
}

fn name_in(root: &Path, file: &Path) -> Option<String> {
    let inside: PathBuf = match file.strip_prefix(root) {
        Ok(inside) => inside.to_owned(),
        Err(_) => files::canonical(file).strip_prefix(files::canonical(root)).ok()?.to_owned(),
    };
    Some(inside.to_str()?.replace('\\', "/"))
}

/// Returns the entries of the team memory; none where there is no memory or it cannot be read.
fn team_memory(file: &Path, env: &Env) -> Vec<String> {
    let folder = file.parent().unwrap_or(file);
    if place::Folder::find(folder).is_none() {
        return Vec::new();
    }
    let memory = Share::open(folder, env).and_then(|share| share.memory());
    memory
        .map(|memory| memory.entries().map(|(_, entry)| entry.text().into_owned()).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_or_a_range_may_follow_the_file() {
        let is_file = |path: &Path| path == Path::new("odd:7");
        for (text, file, lines) in [
            ("src/a.rs", "src/a.rs", None),
            ("src/a.rs:7", "src/a.rs", Some((7, 7))),
            ("src/a.rs:7-9", "src/a.rs", Some((7, 9))),
            ("src/a.rs:7:12", "src/a.rs", Some((7, 7))),
            ("odd:7:2", "odd:7", Some((2, 2))),
            ("odd:7", "odd:7", None),
            ("C:\\a.rs", "C:\\a.rs", None),
        ] {
            let target = Target::parse(text, is_file).unwrap();
            assert_eq!(target, Target { file: file.to_owned(), lines }, "{text}");
        }
        for text in ["a.rs:0", "a.rs:9-7"] {
            assert!(Target::parse(text, is_file).is_err(), "{text}");
        }
        let target = Target::parse("a.rs:7-9", is_file).unwrap();
        assert_eq!(target.range(8).unwrap(), Some(7..=8));
        assert_eq!(target.range(6).unwrap_err().to_string(), "a.rs has 6 lines; there is no line 7");
    }
}
