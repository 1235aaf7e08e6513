//! From a line of code to the edit that put it there, the prompt that asked for it, and the commit.

mod facts;

pub use facts::Block;

use crate::{Error, counted};
use base::project::Repository;
use base::{Env, files};
use journal::why::{
    self, Call, How, LEAST_MOVED, MOST_SOURCES, Origin, Place, Present, Reason, ReasonKind, Written,
};
use std::cmp::Reverse;
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

/// How far apart lines of one block are at most, when those are left out that say little.
const BESIDE: usize = 4;

/// How often lines are followed from file to file.
const MOST_MOVES: usize = 3;

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
    /// The calls that lines are from, or that moved them here, by the place of the edit.
    pub calls: BTreeMap<usize, Known>,
    /// What the file of each edit was called then.
    paths: Vec<String>,
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
        let mut sources = Sources::default();
        let mut edits = why::edits_of(&store, &place, &[])?;
        for _ in 0..MOST_MOVES {
            let cut = why::cut_from(&store, &place, &edits, &sources.paths)?;
            if cut.is_empty() {
                break;
            }
            cut.into_iter().for_each(|path| sources.add(path, &[]));
            edits = why::edits_of(&store, &place, &sources.paths)?;
        }
        let mut found = Found::of(edits, &blame, &texts, &sources);
        let asked = found.asked(&texts, range.as_ref());
        let asked_texts: Vec<&str> = asked.iter().map(|at| texts.texts[*at].as_str()).collect();
        let others = why::sources_of(&store, &place, &asked_texts)?;
        let others = others
            .into_iter()
            .map(|(path, lines)| (path, lines.into_iter().map(|line| asked[line]).collect()))
            .collect();
        let root = repository.as_ref().map(|repository| repository.root.as_path());
        let taken_over = found.take_over(others, &mut sources, &texts, root);
        if taken_over.is_new {
            let mut edits = why::edits_of(&store, &place, &sources.paths)?;
            let written = Written::of(&edits);
            let mut removals = Vec::new();
            let mut left: BTreeSet<usize> = BTreeSet::new();
            for (by, lines) in &taken_over.removed {
                let lines: Vec<&str> = lines.iter().map(|at| texts.texts[*at].as_str()).collect();
                if let Some((removal, from)) = written.removal(&found.edits[*by], &lines) {
                    removals.push(removal);
                    left.extend(from);
                }
            }
            // What was written in the same words as elsewhere was not moved.
            let is_unused = |source: usize| taken_over.gone.contains(&source) && !left.contains(&source);
            edits.retain(|edit| !edit.source.is_some_and(is_unused));
            edits.extend(removals);
            edits.sort_by_key(|edit| (edit.at, edit.row));
            found = Found::of(edits, &blame, &texts, &sources);
        }

        let mut answer = Self {
            is_committed: !blame.lines.is_empty(),
            commits: blame.commits,
            calls: BTreeMap::new(),
            paths: found.edits.iter().map(|edit| edit.path.clone()).collect(),
            origins: found.origins,
            commit_of: found.commit_of,
            lines,
        };
        answer.read_calls(&store, &found.edits, &place, range.as_ref())?;
        let name = repository.as_ref().and_then(|repository| name_in(&repository.root, file));
        answer.read_renames(&store, &place, name.as_deref().unwrap_or_default())?;
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
        let is_asked = |at: usize| range.is_none_or(|range| range.contains(&(at + 1)));
        let asked = self.origins.iter().enumerate().filter(|(at, _)| is_asked(*at));
        let wanted: BTreeSet<usize> = asked
            .filter_map(|(_, origin)| *origin)
            .flat_map(|origin| [Some(origin.edit), origin.moved])
            .flatten()
            .collect();
        for edit in wanted {
            // What is known of it is about the file that it was in.
            let mut there = place.clone();
            there.add([self.paths[edit].clone()]);
            if let Some(call) = Call::of(store, edits[edit].row, &there)? {
                self.calls.insert(edit, Known { call, reasons: Vec::new() });
            }
        }
        Ok(())
    }

    /// Reads the calls that renamed the file since it was edited under another name.
    fn read_renames(&mut self, store: &Store, place: &Place, name: &str) -> Result<(), Error> {
        let mut known: BTreeMap<String, Option<usize>> = BTreeMap::new();
        for origin in self.origins.iter_mut().flatten() {
            let path = &self.paths[origin.edit];
            let is_own = place.names.iter().any(|(_, name)| name == path);
            if origin.moved.is_some() || path == name || !is_own || !self.calls.contains_key(&origin.edit) {
                continue;
            }
            if !known.contains_key(path) {
                let call = why::renamed_by(store, place, path)?.map(|row| Call::of(store, row, place));
                let next = self.paths.len() + known.len();
                let call = call.transpose()?.flatten().map(|call| Known { call, reasons: Vec::new() });
                known.insert(path.clone(), call.is_some().then_some(next));
                self.calls.extend(call.map(|call| (next, call)));
            }
            origin.moved = known[path];
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
            if lines.is_empty() {
                continue;
            }
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

/// Other files that lines were moved from.
#[derive(Default)]
struct Sources {
    paths: Vec<String>,
    /// The lines, by their places, that no edit of the file itself added.
    lines: Vec<Vec<usize>>,
}

impl Sources {
    fn add(&mut self, path: String, lines: &[usize]) {
        // The file with the most of them comes first.
        let free = lines.iter().filter(|line| self.lines.iter().all(|known| !known.contains(line)));
        let free: Vec<usize> = free.copied().collect();
        match self.paths.iter().position(|known| *known == path) {
            Some(known) => self.lines[known].extend(free),
            None => {
                self.paths.push(path);
                self.lines.push(free);
            }
        }
    }
}

/// What files that lines are in as well have to say.
#[derive(Default)]
struct TakenOver {
    is_new: bool,
    /// The files that may have had lines before an edit put them here, and nothing else, as [`Sources`] counts them.
    gone: BTreeSet<usize>,
    /// The lines, by the edit that put them here, from the first to the last that is known from a file which does not have them
    /// any more.
    removed: BTreeMap<usize, Vec<usize>>,
}

/// What the recorded edits and git say together.
struct Found {
    edits: Vec<why::Edit>,
    origins: Vec<Option<Origin>>,
    commit_of: Vec<Option<usize>>,
}

impl Found {
    fn of(edits: Vec<why::Edit>, blame: &Blame, texts: &Texts, sources: &Sources) -> Self {
        let commit_of = texts.commits(blame);
        let mut source_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (source, lines) in sources.lines.iter().enumerate() {
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
        Self { edits, origins, commit_of }
    }

    /// Returns the lines that were asked about, that say enough to be found elsewhere, and of which is not known yet that they
    /// were moved here.
    fn asked(&self, texts: &Texts, range: Option<&RangeInclusive<usize>>) -> Vec<usize> {
        // A block that was moved is around the lines that were asked about.
        let near = |range: &RangeInclusive<usize>| range.start().saturating_sub(NEAR)..=range.end() + NEAR;
        let is_asked = |at: usize| range.is_none_or(|range| near(range).contains(&(at + 1)));
        let is_here = |at: &usize| {
            self.origins[*at]
                .is_none_or(|origin| origin.how == How::Same && self.edits[origin.edit].source.is_none())
        };
        let says_enough = |at: &usize| texts.texts[*at].trim().len() >= TELLING;
        (0..self.origins.len()).filter(|at| is_asked(*at)).filter(is_here).filter(says_enough).collect()
    }

    /// Adds the files that lines were moved from, of those that have some of them in their edits: lines that no edit put here,
    /// and such as an edit put here and the file does not have any more.
    fn take_over(
        &self,
        others: Vec<(String, Vec<usize>)>,
        sources: &mut Sources,
        texts: &Texts,
        root: Option<&Path>,
    ) -> TakenOver {
        let mut found = TakenOver::default();
        let mut removed: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let is_here = |at: &usize| self.origins[*at].is_some();
        let mut parted: Vec<(String, Vec<usize>, Vec<usize>)> = Vec::new();
        for (path, lines) in others {
            let (here, open) = lines.into_iter().partition(is_here);
            parted.push((path, here, open));
        }
        parted.sort_by_key(|(_, here, open)| Reverse((open.len(), here.len())));
        let (mut opened, mut gone) = (0, 0);
        for (path, here, open) in parted {
            let is_open = open.len() >= LEAST_MOVED && opened < MOST_SOURCES;
            let blocks: Vec<(usize, Vec<usize>)> =
                self.blocks(&here).into_iter().filter(|(_, block)| block.len() >= LEAST_MOVED).collect();
            let moved = blocks.iter().flat_map(|(_, block)| block).map(|at| texts.texts[*at].trim());
            let is_gone = !blocks.is_empty()
                && gone < MOST_SOURCES
                && root.is_some_and(|root| lacks(&root.join(&path), moved));
            if !is_open && !is_gone {
                continue;
            }
            (opened, gone) = (opened + usize::from(is_open), gone + usize::from(is_gone));
            let known = sources.paths.len();
            sources.add(path, if is_open { &open } else { &[] });
            found.gone.extend((!is_open && sources.paths.len() > known).then_some(known));
            found.is_new = true;
            if is_gone {
                blocks.into_iter().for_each(|(by, block)| removed.entry(by).or_default().extend(block));
            }
        }
        for (by, lines) in removed {
            let (Some(first), Some(last)) = (lines.first(), lines.last()) else { continue };
            let is_its = |at: &usize| self.origins[*at].is_some_and(|origin| origin.edit == by);
            found.removed.insert(by, (*first..=*last).filter(is_its).collect());
        }
        found
    }

    /// Returns lines that are near each other and that one edit put here, with that edit.
    fn blocks(&self, lines: &[usize]) -> Vec<(usize, Vec<usize>)> {
        let mut blocks: Vec<(usize, Vec<usize>)> = Vec::new();
        for at in lines {
            let Some(edit) = self.origins[*at].map(|origin| origin.edit) else { continue };
            match blocks.last_mut() {
                Some((known, block))
                    if *known == edit && block.last().is_some_and(|last| at - last <= BESIDE) =>
                {
                    block.push(*at);
                }
                _ => blocks.push((edit, vec![*at])),
            }
        }
        blocks
    }
}

/// Returns whether a file has hardly any of these lines, or is gone.
fn lacks<'l>(file: &Path, lines: impl Iterator<Item = &'l str>) -> bool {
    let Ok(bytes) = files::read_followed(file, MAX_FILE) else { return true };
    let text = String::from_utf8_lossy(&bytes);
    let there: BTreeSet<&str> = text.lines().map(str::trim).collect();
    let (mut all, mut kept) = (0, 0);
    for line in lines {
        all += 1;
        kept += usize::from(there.contains(line));
    }
    kept * 4 <= all
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
