//! What a turn changed in one file: which definitions, and how many lines.

use super::symbol::{Definition, Language};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap, HashSet};

/// How many symbols of a file are kept: a turn that writes a file of a thousand functions is about the file.
const MOST_SYMBOLS: usize = 40;
/// How many definitions go, or come, in one piece of a patch at most for renames to be looked for: each is compared with each, and a file
/// that a program wrote anew has thousands.
const MOST_TO_RENAME: usize = 300;
/// How many words of added lines are kept that were nowhere around before, and how long a change may be for them to say much.
const MOST_WORDS: usize = 2;
const MOST_LINES_OF_WORDS: usize = 30;
/// With how many removed lines that begin alike an added one is compared for a value.
const MOST_COMPARED: usize = 500;
/// A word that is shorter says nothing by itself.
const FEWEST_CHARS: usize = 8;
/// A value that is shown with what it was before is at most this long.
const MOST_VALUE_CHARS: usize = 32;

/// What was done to a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    Changed,
    Added,
    Removed,
    /// It had another name before.
    Renamed(String),
    /// A value in it was another one before.
    Set(Value),
}

/// A value that was set anew: its name, and what it was and is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) key: String,
    pub(super) before: String,
    pub(super) after: String,
}

/// The changes of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    /// Relative to the project's root, with `/`.
    pub(super) path: String,
    pub(super) is_new: bool,
    pub(super) is_deleted: bool,
    pub(super) renamed_from: Option<String>,
    /// Definitions in the order in which they were first touched.
    pub(super) symbols: Vec<(String, How)>,
    /// Whether a command put back what was there before.
    pub(super) is_restored: bool,
    /// Whether it was chosen for the next commit.
    pub(super) is_staged: bool,
    /// What it was when it was committed last.
    settled: Option<Box<Change>>,
    /// Whether the last commit is the only one that has it.
    is_of_last_commit: bool,
    /// What it was when it was put away with `git stash`.
    pub(super) stashed: Option<Box<Change>>,
    added: usize,
    removed: usize,
    edits: usize,
    /// How often each line was added more than removed, by its text.
    lines: HashMap<String, i64>,
    outline: Outline,
    words: Vec<String>,
    /// In which edit definitions were added.
    born: HashMap<String, usize>,
    /// How often each line in a definition was added more than removed.
    inside: HashMap<String, HashMap<String, i64>>,
}

/// Where the definitions of a file are, as far as it was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline(BTreeMap<usize, Definition>);

impl Outline {
    /// Learns the definitions of a piece of a file that begins with line `start`.
    pub(super) fn learn(&mut self, language: Language, start: usize, text: &str) {
        for (at, line) in text.lines().enumerate() {
            if let Some(definition) = language.definition(line) {
                self.0.insert(start + at, definition);
            }
        }
    }

    /// Returns the definitions around a line, the outermost first.
    fn around(&self, line: usize, indent: usize) -> Vec<Definition> {
        let mut found: Vec<Definition> = Vec::new();
        let mut most = indent;
        for (_, definition) in self.0.range(..line).rev() {
            if definition.indent < most {
                most = definition.indent;
                found.push(definition.clone());
            }
            if most == 0 {
                break;
            }
        }
        found.reverse();
        found
    }

    /// Moves what is behind a changed piece.
    fn shift(&mut self, from: usize, by: isize) {
        if by != 0 {
            let behind = self.0.split_off(&from);
            self.0.extend(
                behind.into_iter().map(|(line, definition)| (line.saturating_add_signed(by), definition)),
            );
        }
    }
}

/// A piece of a patch: where it begins in the earlier file, if that is known, and its lines with their marks.
#[derive(Clone, Debug, Default)]
pub(super) struct Hunk {
    start: Option<usize>,
    lines: Vec<String>,
}

impl Change {
    pub(super) fn new(path: String) -> Self {
        Self { path, ..Self::default() }
    }

    /// Returns how many lines were added and removed in the end.
    pub(super) fn counts(&self) -> (usize, usize) {
        if self.edits < 2 {
            return (self.added, self.removed);
        }
        let net = |sign: i64| self.lines.values().map(|count| (count * sign).max(0) as usize).sum();
        (net(1), net(-1))
    }

    /// Returns whether nothing is left of what was changed.
    pub(super) fn is_reverted(&self) -> bool {
        let is_undone =
            self.edits > 1 && !self.lines.is_empty() && self.lines.values().all(|count| *count == 0);
        self.is_restored || is_undone || (self.is_new && self.is_deleted)
    }

    /// Returns how often each line was added more than removed.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&str, i64)> {
        self.lines.iter().map(|(line, count)| (line.as_str(), *count))
    }

    /// Returns whether git does not know the file yet.
    pub(super) fn is_untracked(&self) -> bool {
        self.is_new && !self.is_staged && self.settled.is_none()
    }

    /// Takes note of a commit.
    pub(super) fn settle(&mut self) {
        self.is_staged = false;
        self.is_of_last_commit = self.settled.is_none();
        self.settled = Some(Box::new(Self { settled: None, stashed: None, ..self.clone() }));
    }

    /// Takes note of a commit that does not have it.
    pub(super) fn pass_by(&mut self) {
        self.is_of_last_commit = false;
    }

    /// Takes note that the last commit was reverted. What an earlier commit of the turn has as well is still changed.
    pub(super) fn revert(&mut self) {
        if self.is_of_last_commit {
            self.undo();
        }
    }

    /// Goes back to what was committed. A new file that git does not know stays.
    pub(super) fn restore(&mut self) {
        if !self.is_untracked() {
            self.go_back();
        }
    }

    fn go_back(&mut self) {
        match self.settled.take() {
            Some(settled) => {
                *self = Self {
                    settled: Some(settled.clone()),
                    stashed: self.stashed.take(),
                    is_of_last_commit: self.is_of_last_commit,
                    ..*settled
                }
            }
            None => self.is_restored = true,
        }
    }

    /// Goes back to what was before the turn.
    pub(super) fn undo(&mut self) {
        if !self.is_untracked() {
            self.settled = None;
            self.is_of_last_commit = false;
            self.is_restored = true;
        }
    }

    /// Puts the changes away.
    pub(super) fn stash(&mut self, with_new: bool) {
        if with_new || !self.is_untracked() {
            let whole = Box::new(Self { stashed: None, ..self.clone() });
            self.go_back();
            self.stashed = Some(whole);
        }
    }

    /// Brings back what was put away.
    pub(super) fn unstash(&mut self) {
        if let Some(stashed) = self.stashed.take() {
            *self = *stashed;
        }
    }

    /// Forgets what was changed: the file was written anew.
    pub(super) fn replace(&mut self) {
        let path = std::mem::take(&mut self.path);
        *self = Self {
            path,
            is_new: self.is_new,
            is_staged: self.is_staged,
            renamed_from: self.renamed_from.take(),
            settled: self.settled.take(),
            is_of_last_commit: self.is_of_last_commit,
            stashed: self.stashed.take(),
            ..Self::default()
        };
    }

    /// Returns whether the file consists of keys and values.
    pub(super) fn is_of_keys(&self) -> bool {
        Language::of(&self.path).is_of_keys()
    }

    /// Takes in what was seen of the file.
    pub(super) fn see(&mut self, start: usize, text: &str) {
        let language = Language::of(&self.path);
        self.outline.learn(language, start, text);
    }

    /// Takes in a patch.
    pub(super) fn apply(&mut self, hunks: &[Hunk]) {
        let language = Language::of(&self.path);
        if self.is_restored {
            // What was put back has not been changed.
            let outline = std::mem::take(&mut self.outline);
            self.replace();
            self.outline = outline;
        }
        self.edits += 1;
        for hunk in hunks {
            self.count(hunk);
            self.name(language, hunk);
            if !language.is_of_keys() && language != Language::Markdown {
                self.hear(hunk);
            }
        }
        if self.edits > 1 && !self.is_reverted() {
            self.drop_undone();
        }
    }

    /// Leaves out definitions of which nothing is left that was changed.
    fn drop_undone(&mut self) {
        let inside = &self.inside;
        self.symbols.retain(|(name, how)| match how {
            How::Set(value) => value.before != value.after,
            How::Changed => inside.get(name).is_none_or(|lines| lines.values().any(|count| *count != 0)),
            _ => true,
        });
    }

    fn count(&mut self, hunk: &Hunk) {
        for line in &hunk.lines {
            let (sign, text) = match line.as_bytes().first() {
                Some(b'+') => (1, &line[1..]),
                Some(b'-') => (-1, &line[1..]),
                _ => continue,
            };
            if sign > 0 {
                self.added += 1;
            } else {
                self.removed += 1;
            }
            *self.lines.entry(text.to_owned()).or_default() += sign;
        }
    }

    /// Finds the definitions that a piece of a patch touches.
    fn name(&mut self, language: Language, hunk: &Hunk) {
        let values = values(hunk);
        let whole = self.walk(language, hunk, &values);
        if language.is_of_keys() {
            return self.name_keys(language, hunk);
        }
        let removed = definitions(language, hunk, '-');
        let added = definitions(language, hunk, '+');
        let names_before: HashSet<&str> = removed.iter().map(|definition| definition.name.as_str()).collect();
        let names_after: HashSet<&str> = added.iter().map(|definition| definition.name.as_str()).collect();
        let gone: Vec<&Definition> =
            removed.iter().filter(|definition| !names_after.contains(definition.name.as_str())).collect();
        let new: Vec<&Definition> =
            added.iter().filter(|definition| !names_before.contains(definition.name.as_str())).collect();
        let named = |definition: &Definition| whole.get(&definition.name).unwrap_or(&definition.name).clone();
        let is_looked_for = (1..=MOST_TO_RENAME).contains(&gone.len()) && new.len() <= MOST_TO_RENAME;
        let side = |mark| if is_looked_for { side(language, hunk, mark) } else { Vec::new() };
        let (before, after) = (side('-'), side('+'));
        let with_block = |definition| (definition, block(language, &after, definition));
        let mut others: Vec<(&Definition, Option<Block<'_>>)> = new.into_iter().map(with_block).collect();
        for one in gone {
            let old = block(language, &before, one);
            let is_same = |(other, new): &(&Definition, Option<Block<'_>>)| {
                other.indent == one.indent
                    && other.is_outer == one.is_outer
                    && old
                        .as_ref()
                        .zip(new.as_ref())
                        .is_some_and(|(old, new)| is_renamed((one, old), (other, new)))
            };
            let Some(at) = others.iter().position(is_same) else {
                self.touch(&named(one), How::Removed);
                continue;
            };
            let (other, _) = others.remove(at);
            let (from, to) = (named(one), named(other));
            self.symbols.retain(|(name, how)| *name != from || *how != How::Changed);
            self.touch(&to, How::Renamed(one.name.clone()));
        }
        others.iter().for_each(|(definition, _)| self.touch(&named(definition), How::Added));
    }

    /// Finds the keys that are new or gone, the outermost of each.
    fn name_keys(&mut self, language: Language, hunk: &Hunk) {
        if self.is_new {
            return;
        }
        let on = |mark: char| -> Vec<String> {
            let mut inside: Vec<Definition> = Vec::new();
            let mut keys = Vec::new();
            let lines = hunk.lines.iter().filter(|line| line.starts_with([mark, ' ']));
            for line in lines {
                let Some(definition) = language.definition(&line[1..]) else { continue };
                inside.retain(|around| around.indent < definition.indent);
                inside.push(definition);
                if line.starts_with(mark) {
                    keys.push(
                        inside
                            .iter()
                            .map(|definition| definition.name.as_str())
                            .collect::<Vec<_>>()
                            .join("."),
                    );
                }
            }
            keys
        };
        let (removed, added) = (on('-'), on('+'));
        for (keys, others, how) in [(&added, &removed, How::Added), (&removed, &added, How::Removed)] {
            let others: HashSet<&String> = others.iter().collect();
            let only: Vec<&String> = keys.iter().filter(|key| !others.contains(key)).collect();
            for key in &only {
                // What is around the patch is known to the walk alone; of several, what this patch touched comes last.
                let is_it = |name: &str| {
                    name.strip_suffix(key.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
                };
                let known = self.symbols.iter().rposition(|(name, how)| is_it(name) && *how == How::Changed);
                let Some(at) = known else { continue };
                let is_in = |other: &str| key.strip_prefix(other).is_some_and(|rest| rest.starts_with('.'));
                if only.iter().any(|other| is_in(other)) {
                    self.symbols.remove(at);
                } else {
                    self.symbols[at].1 = how.clone();
                }
            }
        }
    }

    /// Names what each changed line is inside of, and learns where things are now. Returns the changed definitions' names
    /// with the class or type around them.
    fn walk(
        &mut self,
        language: Language,
        hunk: &Hunk,
        values: &HashMap<usize, Value>,
    ) -> HashMap<String, String> {
        let mut whole = HashMap::new();
        let mut inside: Vec<Definition> = Vec::new();
        let mut is_first = true;
        let (mut old, mut new) = (hunk.start.unwrap_or_default(), Vec::new());
        for (at, line) in hunk.lines.iter().enumerate() {
            let mark = line.as_bytes().first().copied().unwrap_or(b' ');
            let text = line.get(1..).unwrap_or_default();
            let body = text.trim_start();
            let definition = language.definition(text);
            let indent = match (&definition, language) {
                (Some(definition), _) => definition.indent,
                (None, Language::Markdown | Language::Toml) => usize::MAX,
                _ => text.len() - body.len(),
            };
            if !body.is_empty() {
                if is_first && hunk.start.is_some() {
                    inside = self.outline.around(old, indent);
                    is_first = false;
                }
                let closes = body.starts_with(['}', ')', ']', '{']);
                inside.retain(|around| around.indent < indent || (closes && around.indent == indent));
            }
            let is_changed = matches!(mark, b'+' | b'-');
            if let Some(definition) = definition {
                inside.push(definition.clone());
                if is_changed {
                    whole.insert(definition.name.clone(), qualified(&inside));
                }
                if mark != b'-' {
                    new.push((old, definition));
                }
            }
            if is_changed && !body.is_empty() {
                let set = values.get(&at).filter(|_| language != Language::Markdown).cloned();
                if let Some(name) = self.touch_around(language, &inside, set.map_or(How::Changed, How::Set)) {
                    let count = self.inside.entry(name).or_default().entry(body.to_owned()).or_default();
                    *count += if mark == b'+' { 1 } else { -1 };
                }
            }
            old += usize::from(mark != b'+');
        }
        if let Some(start) = hunk.start {
            let count = |wanted: u8| {
                hunk.lines.iter().filter(|line| line.as_bytes().first() == Some(&wanted)).count()
            };
            let by = count(b'+') as isize - count(b'-') as isize;
            self.outline.shift(start + hunk.lines.len() - count(b'+'), by);
        }
        // Where exactly a new definition is matters less than that it is known.
        self.outline.0.extend(new);
        whole
    }

    /// Notes a change inside of these definitions: the innermost names it; keys are named with what they are in.
    fn touch_around(&mut self, language: Language, inside: &[Definition], how: How) -> Option<String> {
        if language.is_of_keys() {
            let path: Vec<&str> = inside.iter().map(|definition| definition.name.as_str()).collect();
            // Of a new file, only what it consists of at the top.
            let path = if self.is_new {
                path.get(..1).unwrap_or_default()
            } else {
                &path[path.len().saturating_sub(3)..]
            };
            let name = (!path.is_empty()).then(|| path.join("."))?;
            self.touch(&name, how);
            return Some(name);
        }
        if let (true, How::Set(value)) = (inside.is_empty(), &how) {
            // Outside of all definitions a value is named by itself.
            self.touch(&value.key.clone(), how);
            return None;
        }
        let depth = inside
            .iter()
            .rposition(|definition| !definition.is_outer)
            .unwrap_or(inside.len().saturating_sub(1));
        let inside = inside.get(..=depth).filter(|inside| inside[depth].name != "tests" || depth == 0)?;
        let name = qualified(inside);
        self.touch(&name, how);
        Some(name)
    }

    /// Returns words of the added lines that were nowhere around before: what a small change brings in.
    pub(super) fn words(&self) -> Vec<&str> {
        let (added, _) = self.counts();
        if self.is_new || added > MOST_LINES_OF_WORDS {
            return Vec::new();
        }
        let is_symbol = |word: &str| self.symbols.iter().any(|(name, _)| name.contains(word));
        let words = self.words.iter().map(String::as_str).filter(|word| !is_symbol(word));
        words.take(MOST_WORDS).collect()
    }

    /// Notes words of the added lines that are neither on removed lines nor around them.
    fn hear(&mut self, hunk: &Hunk) {
        let before: Vec<&str> =
            hunk.lines.iter().filter(|line| !line.starts_with('+')).map(String::as_str).collect();
        for line in hunk.lines.iter().filter_map(|line| line.strip_prefix('+')) {
            for word in compound_words(line) {
                if self.words.len() >= MOST_SYMBOLS {
                    return;
                }
                let is_known = before.iter().any(|line| line.contains(word))
                    || self.words.iter().any(|known| known.split('(').next() == Some(word));
                if !is_known {
                    self.words.push(called(line, word));
                }
            }
        }
    }

    fn touch(&mut self, name: &str, how: How) {
        let has_room = self.symbols.len() < MOST_SYMBOLS;
        let known = self.symbols.iter_mut().find(|(known, _)| known == name).map(|(_, known)| known);
        let is_older = self.born.get(name).is_some_and(|edit| *edit < self.edits);
        if how == How::Added {
            self.born.insert(name.to_owned(), self.edits);
        }
        match (known, how) {
            (Some(How::Added), How::Removed) if is_older => self.symbols.retain(|(known, _)| known != name),
            (Some(known @ How::Added), How::Removed) | (Some(known @ How::Removed), How::Added) => {
                *known = How::Changed;
            }
            (Some(How::Set(known)), How::Set(value)) if known.key == value.key => known.after = value.after,
            (Some(known @ How::Set(_)), How::Set(_)) => *known = How::Changed,
            (Some(known @ How::Changed), how) => *known = how,
            (None, how) if has_room => self.symbols.push((name.to_owned(), how)),
            _ => {}
        }
    }
}

/// Returns the innermost name with the class or type around it: `Syncer.push`.
fn qualified(inside: &[Definition]) -> String {
    let Some((inner, outer)) = inside.split_last() else { return String::new() };
    let around = outer.iter().rev().find(|definition| definition.is_outer && definition.name != "tests");
    let is_test = inner.name.contains(' ') || inner.name.starts_with("test");
    match around {
        Some(around) if !is_test && !around.name.contains(' ') => format!("{}.{}", around.name, inner.name),
        _ => inner.name.clone(),
    }
}

/// Returns the words of a line of code that consist of several: `lock_timeout`, `context.WithTimeout`, `stick-table`.
fn compound_words(line: &str) -> impl Iterator<Item = &str> {
    let text = line.trim_start();
    let is_comment = ["//", "#", "--", "*", "/*", "import ", "use ", "from ", "package "]
        .iter()
        .any(|mark| text.starts_with(mark));
    let text = if is_comment { "" } else { text };
    let parts = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ':')));
    parts.map(|word| word.trim_matches(['.', '-', ':'])).filter(|word| {
        let mut letters = word.chars();
        let starts = letters.next().is_some_and(char::is_alphabetic);
        let is_compound =
            word.contains(['_', '.', '-']) || word.contains("::") || letters.any(char::is_uppercase);
        starts
            && is_compound
            && word.chars().count() >= FEWEST_CHARS
            && !word.starts_with("self.")
            && !word.starts_with("this.")
    })
}

/// Returns a word with the name that it is called with, where there is one: `window.addEventListener("online")`.
fn called(line: &str, word: &str) -> String {
    const MOST_CHARS: usize = 24;
    let named = || {
        let rest = line.split_once(word)?.1.strip_prefix('(')?;
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let name = rest[1..].split(quote).next()?;
        let is_name = !name.is_empty()
            && name.chars().count() <= MOST_CHARS
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'));
        is_name.then(|| format!("{word}(\"{name}\")"))
    };
    named().unwrap_or_else(|| word.to_owned())
}

/// Returns whether two definitions are one with another name: what is in them is the same for the most part, or where nothing of
/// that is in the patch, their own lines are.
fn is_renamed((one, old): (&Definition, &Block<'_>), (other, new): (&Definition, &Block<'_>)) -> bool {
    let ((head, old), (new_head, new)) = (old, new);
    let renamed = |line: &str| line.replace(&one.name, &other.name);
    if old.is_empty() && new.is_empty() {
        // `fn a() {` says nothing about what it is.
        return renamed(head).trim() == new_head.trim();
    }
    let mut rest: HashMap<&str, usize> = HashMap::new();
    new.iter().for_each(|line| *rest.entry(line).or_default() += 1);
    let mut same = 0;
    for line in old.iter().map(|line| renamed(line)) {
        if let Some(count) = rest.get_mut(line.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            same += 1;
        }
    }
    same * 2 >= old.len().max(new.len())
}

/// The line of a definition, and the lines in it that say something.
type Block<'h> = (&'h str, Vec<&'h str>);

/// Returns the lines of one side of a patch, with what they define.
fn side(language: Language, hunk: &Hunk, mark: char) -> Vec<(&str, Option<Definition>)> {
    let lines = hunk.lines.iter().filter_map(|line| line.strip_prefix(mark).or(line.strip_prefix(' ')));
    lines.map(|line| (line, language.definition(line))).collect()
}

/// Finds a definition on one side of a patch.
fn block<'h>(
    language: Language,
    side: &[(&'h str, Option<Definition>)],
    definition: &Definition,
) -> Option<Block<'h>> {
    let mut lines = side.iter();
    let (head, _) = lines.find(|(_, found)| found.as_ref() == Some(definition))?;
    if head.trim_end().ends_with([';', ',']) {
        return Some((head, Vec::new()));
    }
    let is_prose = language == Language::Markdown;
    let is_inside = |(line, found): &&(&str, Option<Definition>)| {
        found.as_ref().is_none_or(|other| other.indent > definition.indent)
            && (is_prose
                || line.trim().is_empty()
                || line.len() - line.trim_start().len() >= definition.indent)
    };
    let inside = lines.take_while(is_inside).map(|(line, _)| line.trim());
    Some((head, inside.filter(|line| line.contains(char::is_alphanumeric)).collect()))
}

/// Returns the definitions on the lines with this mark.
fn definitions(language: Language, hunk: &Hunk, mark: char) -> Vec<Definition> {
    if language.is_of_keys() {
        return Vec::new();
    }
    let lines = hunk.lines.iter().filter_map(|line| line.strip_prefix(mark));
    lines.filter_map(|line| language.definition(line)).collect()
}

/// Returns the values that lines of a patch set anew, by the place of the line that was added.
fn values(hunk: &Hunk) -> HashMap<usize, Value> {
    let removed: Vec<&str> = hunk.lines.iter().filter_map(|line| line.strip_prefix('-')).collect();
    let added = hunk.lines.iter().enumerate().filter_map(|(at, line)| Some((at, line.strip_prefix('+')?)));
    // Lines that differ in a value alone begin alike, up to it: no line is compared with all others.
    let mut assigned_before: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut words_before: HashMap<(&str, usize), Vec<Vec<&str>>> = HashMap::new();
    for line in removed {
        if let Some((name, value)) = assigned(line) {
            assigned_before.entry(name).or_default().push(value);
        }
        let words = words(line);
        if let Some(first) = words.first() {
            words_before.entry((first, words.len())).or_default().push(words);
        }
    }
    let value = |line: &str| {
        let set = || {
            let (name, after) = assigned(line)?;
            assigned_before
                .get(name)?
                .iter()
                .take(MOST_COMPARED)
                .find_map(|before| set_anew(name, before, after))
        };
        let counted = || {
            let after = words(line);
            let same = words_before.get(&(*after.first()?, after.len()))?;
            same.iter().take(MOST_COMPARED).find_map(|before| counted_anew(before, &after))
        };
        set().or_else(counted)
    };
    added.filter_map(|(at, line)| Some((at, value(line)?))).collect()
}

/// Returns what two lines set that are the same up to a `=` or `:`, with a short value behind it.
fn set_anew(name: &str, before: &str, after: &str) -> Option<Value> {
    let key = name.split(':').next().unwrap_or(name).trim();
    let key = key.rsplit(char::is_whitespace).next().unwrap_or(key).trim_matches(['"', '\'']);
    let is_other = before != after && !key.is_empty();
    is_other.then(|| Value { key: key.to_owned(), before: before.to_owned(), after: after.to_owned() })
}

/// Returns the words of a line, with numbers and versions.
fn words(line: &str) -> Vec<&str> {
    let is_between = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    line.split(is_between).filter(|word| !word.is_empty()).collect()
}

/// Returns the number or version in which alone the words of two lines differ; the word before it is its name.
fn counted_anew(before: &[&str], after: &[&str]) -> Option<Value> {
    let mut differing = before.iter().zip(after).enumerate().filter(|(_, (one, other))| one != other);
    let (at, (one, other)) = differing.next().filter(|_| before.len() == after.len())?;
    let is_number = |word: &str| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    let key = before.get(at.checked_sub(1)?).filter(|key| key.starts_with(char::is_alphabetic))?;
    let is_alone = differing.next().is_none() && is_number(one) && is_number(other);
    is_alone.then(|| Value { key: (*key).to_owned(), before: (*one).to_owned(), after: (*other).to_owned() })
}

/// Takes `name = value` apart, where the value is short and plain.
fn assigned(line: &str) -> Option<(&str, &str)> {
    let at = line.find(" = ").map(|at| at + 1).or_else(|| line.find(": ")).or_else(|| line.find('='))?;
    let (name, value) = (&line[..at], line[at + 1..].trim().trim_end_matches([',', ';']).trim());
    let is_plain = !value.is_empty()
        && value.chars().count() <= MOST_VALUE_CHARS
        && !value.contains(['{', '(', '[', '|', '&', '<'])
        && !name.trim().is_empty();
    is_plain.then_some((name, value))
}

/// Returns the pieces of the client's `structuredPatch`.
pub(super) fn of_patch(patch: &Json) -> Vec<Hunk> {
    let hunks = patch.as_array().into_iter().flatten();
    hunks
        .filter_map(|hunk| {
            let lines = hunk.get("lines")?.as_array()?;
            let lines = lines.iter().filter_map(|line| line.as_str().map(str::to_owned)).collect();
            let start = hunk.get("oldStart").and_then(Json::as_u64).map(|start| start as usize);
            Some(Hunk { start, lines })
        })
        .collect()
}

/// Returns what changed between two pieces of a file, as one piece of a patch.
pub(super) fn between(old: &str, new: &str) -> Vec<Hunk> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let behind =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    let marked = |mark: char, lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| format!("{mark}{line}")).collect()
    };
    let mut lines = marked(' ', &old[..before]);
    lines.extend(marked('-', &old_rest[..old_rest.len() - behind]));
    lines.extend(marked('+', &new_rest[..new_rest.len() - behind]));
    lines.extend(marked(' ', &old_rest[old_rest.len() - behind..]));
    vec![Hunk { start: None, lines }]
}

/// Returns a whole file as one piece of a patch.
pub(super) fn whole(text: &str) -> Vec<Hunk> {
    vec![Hunk { start: Some(1), lines: text.lines().map(|line| format!("+{line}")).collect() }]
}

/// A file of a patch in the form of Codex.
pub(super) struct Patched<'p> {
    pub(super) path: &'p str,
    pub(super) moved_to: Option<&'p str>,
    pub(super) is_new: bool,
    pub(super) is_deleted: bool,
    pub(super) hunks: Vec<Hunk>,
}

/// Returns the files of a patch in the form of Codex.
pub(super) fn of_codex(patch: &str) -> Vec<Patched<'_>> {
    let mut files: Vec<Patched<'_>> = Vec::new();
    for line in patch.lines() {
        let begun = [
            ("*** Update File: ", false, false),
            ("*** Add File: ", true, false),
            ("*** Delete File: ", false, true),
        ]
        .into_iter()
        .find_map(|(mark, is_new, is_deleted)| Some((line.strip_prefix(mark)?, is_new, is_deleted)));
        if let Some((path, is_new, is_deleted)) = begun {
            files.push(Patched { path: path.trim(), moved_to: None, is_new, is_deleted, hunks: Vec::new() });
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        if let Some(path) = line.strip_prefix("*** Move to: ") {
            file.moved_to = Some(path.trim());
        } else if let Some(context) = line.strip_prefix("@@") {
            let context = context.trim();
            let lines = if context.is_empty() { Vec::new() } else { vec![format!(" {context}")] };
            file.hunks.push(Hunk { start: None, lines });
        } else if line.starts_with(['+', '-', ' ']) {
            if file.hunks.is_empty() {
                file.hunks.push(Hunk::default());
            }
            file.hunks.last_mut().into_iter().for_each(|hunk| hunk.lines.push(line.to_owned()));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn changed(path: &str, seen: &str, patch: &Json) -> (Vec<(String, How)>, (usize, usize)) {
        let mut change = Change::new(path.to_owned());
        change.see(1, seen);
        change.apply(&of_patch(patch));
        let counts = change.counts();
        (change.symbols, counts)
    }

    #[test]
    fn a_changed_line_is_named_after_the_function_that_it_is_in() {
        let patch = json!([{"oldStart": 10, "lines": [" fn verify(token: &str) {", "-    true", "+    check(token)", "+        && fresh(token)", " }"]}]);
        assert_eq!(changed("a.rs", "", &patch), (vec![("verify".into(), How::Changed)], (2, 1)));
    }

    #[test]
    fn the_function_may_be_known_from_reading_the_file_alone() {
        let seen = "struct A;\nimpl A {\n    fn one() {\n        1;\n        2;\n        3;\n        4;\n        5;\n    }\n}\n";
        let patch =
            json!([{"oldStart": 6, "lines": ["         3;", "-        4;", "+        44;", "         5;"]}]);
        assert_eq!(changed("a.rs", seen, &patch).0, [("A.one".into(), How::Changed)]);
    }

    #[test]
    fn new_gone_and_renamed_definitions_say_so() {
        let patch = json!([{"oldStart": 1, "lines": ["-fn old() {", "+fn new() {", "     x", " }"]}]);
        assert_eq!(changed("a.rs", "", &patch).0, [("new".into(), How::Renamed("old".into()))]);
        let patch = json!([{"oldStart": 1, "lines": [" def a():", "     pass", "+def b():", "+    pass"]}]);
        assert_eq!(changed("a.py", "", &patch).0, [("b".into(), How::Added)]);
    }

    #[test]
    fn what_has_another_body_is_no_rename() {
        let names = |path: &str, patch: &Json| -> Vec<String> {
            changed(path, "", patch).0.into_iter().map(|(name, how)| format!("{how:?} {name}")).collect()
        };
        let patch = json!([{"oldStart": 1, "lines": [
            "-fn parse(text: &str) {", "-    split(text);", "-    check(text);", "-}",
            "+fn render(page: &Page) {", "+    draw(page);", "+}"]}]);
        assert_eq!(names("a.rs", &patch), ["Removed parse", "Added render"]);
        let patch = json!([{"oldStart": 1, "lines": [
            "-def load_all(path):", "+def load_rows(path):", "     with open(path) as file:", "-        return list(file)",
            "+        return [row for row in file]"]}]);
        assert_eq!(names("a.py", &patch), ["Renamed(\"load_all\") load_rows"]);
        let patch = json!([{"oldStart": 1, "lines": ["-const LIMIT: u32 = 3;", "+static NAMES: &[&str] = &[];", " use x;"]}]);
        assert_eq!(names("a.rs", &patch), ["Removed LIMIT", "Added NAMES"]);
        let patch = json!([{"oldStart": 1, "lines": ["-const LIMIT: u32 = 3;", "+const MOST: u32 = 3;"]}]);
        assert_eq!(names("a.rs", &patch), ["Renamed(\"LIMIT\") MOST"]);
    }

    #[test]
    fn keys_that_are_new_or_gone_say_so() {
        let names = |path: &str, patch: &Json| -> Vec<String> {
            changed(path, "", patch).0.into_iter().map(|(name, how)| format!("{how:?} {name}")).collect()
        };
        let patch = json!([{"oldStart": 1, "lines": [" PORT=80", "+API_URL=http://x", "-DEBUG=1"]}]);
        assert_eq!(names(".env.local", &patch), ["Added API_URL", "Removed DEBUG"]);
        let patch =
            json!([{"oldStart": 1, "lines": [" server:", "+  cache:", "+    ttl: 3", "+    size: 5"]}]);
        assert_eq!(names("app.yaml", &patch), ["Added server.cache"]);
        let patch = json!([{"oldStart": 1, "lines": [" [tool.ruff]", "-line-length = 80", "+line-length = 100", "+fix = true"]}]);
        assert_eq!(names("pyproject.toml", &patch)[1], "Added tool.ruff.fix");
        let patch = json!([{"oldStart": 1, "lines": [" {", "   \"scripts\": {", "+    \"lint\": \"eslint .\",", "     \"test\": \"vitest\""]}]);
        assert_eq!(names("package.json", &patch), ["Added scripts.lint"]);
    }

    #[test]
    fn a_new_key_is_that_of_the_section_that_was_changed_last() {
        let mut change = Change::new("compose.yml".into());
        change.see(1, "web:\n  environment:\n    - HOST\ndb:\n  image: x\n");
        for patch in [
            json!([{"oldStart": 2, "lines": ["   environment:", "     - HOST", "+    - ADMIN"]}]),
            json!([{"oldStart": 6, "lines": ["   image: x", "+  environment:", "+    - READER"]}]),
        ] {
            change.apply(&of_patch(&patch));
        }
        let added: Vec<&str> = change
            .symbols
            .iter()
            .filter(|(_, how)| *how == How::Added)
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(added, ["db.environment"], "{:?}", change.symbols);
    }

    #[test]
    fn renames_are_looked_for_among_some_hundred_definitions() {
        let hows = |count: usize, line: fn(&str, usize) -> String| {
            let lines = |mark: char, name: &str| -> Vec<String> {
                (0..count).map(|number| format!("{mark}{}", line(name, number))).collect()
            };
            let lines = [lines('-', "Old"), lines('+', "New")].concat();
            let found = changed("icons.ts", "", &json!([{"oldStart": 1, "lines": lines}])).0;
            assert_eq!(found.len(), MOST_SYMBOLS);
            found.into_iter().map(|(_, how)| how)
        };
        let is_rename = |how: How| matches!(how, How::Renamed(_));
        assert!(hows(100, |name, at| format!("export const {name}{at} = {at};")).all(is_rename));
        // Generated anew: thousands of each.
        let icon = |name: &str, at: usize| format!("export const {name}{at} = createIcon({at});");
        assert!(!hows(1_500, icon).any(is_rename));
    }

    #[test]
    fn many_new_keys_are_read_at_once() {
        let lines: Vec<String> = (0..10_000).map(|at| format!("+  \"key.{at}\": \"{at}\",")).collect();
        let found = changed("de.json", "", &json!([{"oldStart": 1, "lines": lines}])).0;
        assert_eq!(found.len(), MOST_SYMBOLS);
        assert!(found.iter().all(|(_, how)| *how == How::Added), "{found:?}");
    }

    #[test]
    fn of_a_function_nothing_is_left_that_was_changed_back() {
        let mut change = Change::new("a.rs".into());
        change.apply(&of_patch(
            &json!([{"oldStart": 1, "lines": [" fn one() {", "-    a();", "+    b();", " }"]}]),
        ));
        change.apply(&of_patch(
            &json!([{"oldStart": 9, "lines": [" fn two() {", "-    c();", "+    d();", " }"]}]),
        ));
        change.apply(&of_patch(
            &json!([{"oldStart": 1, "lines": [" fn one() {", "-    b();", "+    a();", " }"]}]),
        ));
        assert_eq!(change.symbols, [("two".into(), How::Changed)]);
        change.apply(&of_patch(&json!([{"oldStart": 19, "lines": ["+fn three() {", "+}"]}])));
        change.apply(&of_patch(&json!([{"oldStart": 19, "lines": ["-fn three() {", "-}"]}])));
        assert_eq!(change.symbols, [("two".into(), How::Changed)]);
    }

    #[test]
    fn values_show_what_they_were() {
        let patch = json!([{"oldStart": 1, "lines": [" cache:", "-  ttl: 30", "+  ttl: 60"]}]);
        let set = |key: &str, before: &str, after: &str| {
            How::Set(Value { key: key.into(), before: before.into(), after: after.into() })
        };
        let expected = vec![("cache.ttl".to_owned(), set("ttl", "30", "60"))];
        assert_eq!(changed("config/app.yml", "", &patch).0, expected);
        let patch = json!([{"oldStart": 1, "lines": ["-const MAX: u32 = 3;", "+const MAX: u32 = 5;"]}]);
        assert_eq!(changed("a.rs", "", &patch).0, [("MAX".into(), set("MAX", "3", "5"))]);
        let patch = json!([{"oldStart": 1, "lines": [
            " resource \"bucket\" \"uploads\" {", "-  days = 30", "+  days = 90", " }"]}]);
        assert_eq!(changed("a.tf", "", &patch).0[0].1, set("days", "30", "90"));
        let patch = json!([{"oldStart": 1, "lines": [
            "-FetchContent_Declare(fmt GIT_TAG 9.1.0)", "+FetchContent_Declare(fmt GIT_TAG 11.0.2)"]}]);
        assert_eq!(
            changed("CMakeLists.txt", "", &patch).0,
            [("GIT_TAG".into(), set("GIT_TAG", "9.1.0", "11.0.2"))]
        );
        // Two values of one definition are a change of it.
        let patch = json!([{"oldStart": 1, "lines": [
            " fn limits() -> Limits {", "-    low: 1,", "-    high: 2,", "+    low: 3,", "+    high: 4,", " }"]}]);
        assert_eq!(changed("a.rs", "", &patch).0, [("limits".into(), How::Changed)]);
    }

    #[test]
    fn what_is_undone_is_known() {
        let mut change = Change::new("a.rs".into());
        change.apply(&between("a\nb\n", "a\nc\n"));
        assert!(!change.is_reverted());
        change.apply(&between("a\nc\n", "a\nb\n"));
        assert!(change.is_reverted());
        assert_eq!(change.counts(), (0, 0));
    }
}
