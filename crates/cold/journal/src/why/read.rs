//! Finds the recorded calls that changed a file, and what is known of the turns that they were made in.

use super::line::{self, Key};
use super::patch::{self, Edit, Hunk, Part};
use crate::edits;
use crate::make::prose;
use crate::read::{self, is_made};
use base::project::{Project, Repository};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use store::observations::joined;
use store::rusqlite::{OptionalExtension as _, params};
use store::{Error, Store};

/// The most calls that are read for one file: the latest.
const MOST_CALLS: usize = 5_000;
/// The most names that a file is looked for under.
const MOST_NAMES: usize = 50;
/// The most calls of other files that are searched for moved lines: the latest.
const MOST_OTHERS: i64 = 2_000;
/// The least lines that were moved from another file, the shortest piece of a line that is looked for there, in bytes, and
/// the most files that lines were moved from.
pub const LEAST_MOVED: usize = 3;
const LEAST_PIECE: usize = 12;
pub const MOST_SOURCES: usize = 8;
/// How many letters and digits the lines beside each other have at least that a session cut from another file, and how many
/// observations are between cutting and pasting at most.
const LEAST_CUT: usize = 40;
const CUT_NEAR: i64 = 100;
/// In how many edits a line is at most that says where it is from.
const MOST_COPIES: usize = 2;
/// How many letters and digits lines have at least that are beside each other in what a removed file had.
const LEAST_GONE: usize = 80;
/// How long before an edit a lesson was shown that is taken for a reason of it, in milliseconds.
const LESSON_BEFORE: u64 = 30_000;
/// How many files a turn may have changed for what it found out to be about each of them.
const FEW_FILES: usize = 3;
/// How many prompts are looked at for one that says what `continue` goes on with.
const MOST_PROMPTS_BEFORE: i64 = 20;
/// The shortest part of a name that a text and a line have in common, in bytes.
const SHORTEST_PART: usize = 4;

/// What a file is called in the database: the rows of projects that it may be filed under, with its path in each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub names: BTreeSet<(i64, String)>,
}

impl Place {
    /// Returns the place of a file, of which the path is absolute.
    pub fn of(store: &Store, file: &Path) -> Result<Self, Error> {
        let file = edits::tidied(file);
        let folder = file.parent().unwrap_or(&file);
        let mut names = BTreeSet::new();
        if Repository::above(folder).is_some() {
            let project = Project::of(folder);
            let row = read::project_row(store, &project.key)?;
            names.extend(row.map(|row| (row, edits::relative(&file, &project.root))));
            return Ok(Self { names });
        }
        // Outside a repository a session files it under the folder that it ran in.
        for folder in folder.ancestors() {
            let row = read::project_row(store, &Project::of(folder).key)?;
            names.extend(row.map(|row| (row, edits::relative(&file, folder))));
        }
        Ok(Self { names })
    }

    /// Adds other names of the file in the same projects.
    pub fn add(&mut self, names: impl IntoIterator<Item = String>) {
        let projects: BTreeSet<i64> = self.names.iter().map(|(project, _)| *project).collect();
        for name in names {
            self.names.extend(projects.iter().map(|project| (*project, name.clone())));
        }
    }
}

/// Adds the names that recorded calls renamed the file from, also as a part of a folder.
pub fn former_names(store: &Store, place: &mut Place) -> Result<(), Error> {
    if !is_made(store, "edits")? {
        return Ok(());
    }
    let projects: BTreeSet<i64> = place.names.iter().map(|(project, _)| *project).collect();
    for project in projects {
        let mut select =
            store.connection().prepare_cached("SELECT new, old FROM moves WHERE project = ?1")?;
        let moves = select.query_map([project], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let moves: Vec<(String, String)> = moves.collect::<Result<_, _>>()?;
        let is_here = |(named, _): &&(i64, String)| *named == project;
        let mut open: Vec<String> =
            place.names.iter().filter(is_here).map(|(_, name)| name.clone()).collect();
        while let Some(name) = open.pop().filter(|_| place.names.len() < MOST_NAMES) {
            for (new, old) in &moves {
                let inside = name.strip_prefix(new.as_str());
                let inside = inside.filter(|rest| rest.is_empty() || rest.starts_with('/'));
                let former = inside.map(|inside| format!("{old}{inside}"));
                if let Some(former) = former.filter(|former| place.names.insert((project, former.clone()))) {
                    open.push(former);
                }
            }
        }
    }
    Ok(())
}

/// Returns the recorded edits of a file by all its names, and of the other files that lines were moved from, in the order in
/// which they were made.
pub fn edits_of(store: &Store, place: &Place, sources: &[String]) -> Result<Vec<Edit>, Error> {
    if !is_made(store, "edits")? {
        return Ok(Vec::new());
    }
    // One call may change several files.
    let mut rows: BTreeSet<(i64, Option<usize>, String)> = BTreeSet::new();
    let mut select = store
        .connection()
        .prepare_cached("SELECT observation FROM edits WHERE project = ?1 AND path = ?2")?;
    let projects: BTreeSet<i64> = place.names.iter().map(|(project, _)| *project).collect();
    let mut names: Vec<(i64, String, Option<usize>)> = Vec::new();
    for (source, path) in sources.iter().enumerate() {
        let mut there = Place { names: projects.iter().map(|project| (*project, path.clone())).collect() };
        former_names(store, &mut there)?;
        let others = there.names.into_iter().filter(|name| !place.names.contains(name));
        names.extend(others.map(|(project, path)| (project, path, Some(source))));
    }
    names.extend(place.names.iter().map(|(project, path)| (*project, path.clone(), None)));
    for (project, path, source) in names {
        for row in select.query_map(params![project, path], |row| row.get(0))? {
            rows.insert((row?, source, path.clone()));
        }
    }
    let mut select = store.connection().prepare_cached(
        "SELECT o.session, o.prompt, o.at, o.data, p.data FROM observations AS o
         LEFT JOIN payloads AS p ON p.observation = o.row WHERE o.row = ?1",
    )?;
    let mut edits = Vec::new();
    for (row, source, path) in rows.into_iter().rev().take(MOST_CALLS) {
        let found = select.query_row([row], |found| {
            Ok((found.get(0)?, found.get(1)?, found.get(2)?, joined(found, 3).unwrap_or_default()))
        });
        let Some((session, prompt, at, data)) = found.optional()? else { continue };
        let hunks = patch::hunks(&data, &path);
        edits.push(Edit { row, at, turn: (session, prompt), source, path, hunks });
    }
    edits.sort_by_key(|edit| (edit.at, edit.row));
    Ok(edits)
}

/// Returns other files of the project that sessions took blocks of lines out of which they put into this one, at about the
/// same time. `known` are such files that were found before: lines may have come there from others.
pub fn cut_from(
    store: &Store,
    place: &Place,
    edits: &[Edit],
    known: &[String],
) -> Result<Vec<String>, Error> {
    if !is_made(store, "edits")? {
        return Ok(Vec::new());
    }
    let mut pasted: BTreeMap<i64, Vec<&Edit>> = BTreeMap::new();
    for edit in edits.iter().filter(|edit| edit.hunks.iter().any(|hunk| may_be_pasted(hunk))) {
        pasted.entry(edit.turn.0).or_default().push(edit);
    }
    let own: Vec<&String> = place.names.iter().map(|(_, path)| path).chain(known).collect();
    let own = serde_json::to_string(&own)?;
    let projects: BTreeSet<i64> = place.names.iter().map(|(project, _)| *project).collect();
    // By the few rows: a project has many edits.
    let mut select = store.connection().prepare_cached(
        "SELECT e.path, o.data, p.data FROM edits AS e JOIN observations AS o ON o.row = e.observation
         LEFT JOIN payloads AS p ON p.observation = o.row
         WHERE e.observation BETWEEN ?1 AND ?2 AND o.session = ?3 AND +e.project = ?4
             AND e.path NOT IN (SELECT value FROM json_each(?5))",
    )?;
    let mut weights: BTreeMap<String, usize> = BTreeMap::new();
    for (session, of_session) in &pasted {
        let mut added = None;
        for (first, last) in ranges(&of_session.iter().map(|edit| edit.row).collect()) {
            for project in &projects {
                let mut found = select.query(params![first, last, session, project, own])?;
                while let Some(row) = found.next()? {
                    // Most sessions change no other file.
                    let added = added
                        .get_or_insert_with(|| Blocks::added(of_session.iter().flat_map(|it| &it.hunks)));
                    let path: String = row.get(0)?;
                    for hunk in patch::hunks(&joined(row, 1).unwrap_or_default(), &path) {
                        let cut = patch::telling(&hunk, |part| matches!(part, Part::Removed(_)));
                        let weight = added.shared(&cut);
                        if weight >= LEAST_CUT {
                            *weights.entry(path.clone()).or_default() += weight;
                        }
                    }
                }
            }
        }
    }
    let mut weights: Vec<(String, usize)> = weights.into_iter().collect();
    weights.sort_by_key(|(_, weight)| Reverse(*weight));
    weights.truncate(MOST_SOURCES);
    Ok(weights.into_iter().map(|(path, _)| path).collect())
}

/// Returns whether an edit added enough lines here for some of them to be from another file.
fn may_be_pasted(hunk: &[Part]) -> bool {
    hunk.iter().filter(|part| matches!(part, Part::Added(_))).take(LEAST_MOVED).count() == LEAST_MOVED
}

/// Lines that say where they are from, as they are beside each other.
#[derive(Default)]
struct Blocks {
    places: HashMap<Key, Vec<usize>>,
    end: usize,
}

impl Blocks {
    /// Returns what edits added.
    fn added<'a>(hunks: impl IntoIterator<Item = &'a Hunk>) -> Self {
        let mut blocks = Self::default();
        for hunk in hunks {
            blocks.add(&patch::telling(hunk, |part| matches!(part, Part::Added(_))));
        }
        blocks
    }

    fn add(&mut self, keys: &[Key]) {
        for key in keys {
            self.end += 1;
            self.places.entry(*key).or_default().push(self.end);
        }
        // No run goes from one block to the next.
        self.end += 1;
    }

    /// Returns how many letters and digits the longest run of lines has that is both here and in `keys`; 0 for a few lines,
    /// which are together at many places.
    fn shared(&self, keys: &[Key]) -> usize {
        let mut most = 0;
        // The lines and the letters of the run that ends at each place.
        let mut runs: HashMap<usize, (usize, usize)> = HashMap::new();
        for key in keys {
            let places = self.places.get(key).map(Vec::as_slice).unwrap_or_default();
            let longer = places.iter().map(|place| {
                let (lines, words) = runs.get(&(place - 1)).copied().unwrap_or_default();
                (*place, (lines + 1, words + usize::from(key.words)))
            });
            runs = longer.collect();
            let long = runs.values().filter(|(lines, _)| *lines >= LEAST_MOVED);
            most = long.map(|(_, words)| *words).fold(most, usize::max);
        }
        most
    }
}

/// Returns how much lines say that were cut from a file; nothing for a single one.
fn weight(keys: &HashSet<Key>) -> usize {
    if keys.len() < 2 { 0 } else { keys.iter().map(|key| usize::from(key.words)).sum() }
}

/// Returns the rows around these, overlapping ones together.
fn ranges(rows: &BTreeSet<i64>) -> Vec<(i64, i64)> {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for row in rows {
        match ranges.last_mut() {
            Some((_, last)) if *row - CUT_NEAR <= *last => *last = row + CUT_NEAR,
            _ => ranges.push((row - CUT_NEAR, row + CUT_NEAR)),
        }
    }
    ranges
}

/// What edits added to other files, line by line.
pub struct Written {
    /// When, to which file, and the lines of each hunk that say where they are from.
    edits: Vec<(u64, usize, Vec<Vec<Key>>)>,
}

impl Written {
    pub fn of(edits: &[Edit]) -> Self {
        let added = |hunk: &Hunk| patch::telling(hunk, |part| matches!(part, Part::Added(_)));
        let of_edit =
            |edit: &Edit| Some((edit.at, edit.source?, edit.hunks.iter().map(added).collect::<Vec<_>>()));
        Self { edits: edits.iter().filter_map(of_edit).collect() }
    }

    /// Returns the edit that took lines out of other files, for one that put them into this file, with the places of those
    /// files: a removed file says no lines. A block of them must have been in an earlier edit of another file, and most of them
    /// in some; others between those were there as well.
    pub fn removal(&self, by: &Edit, lines: &[&str]) -> Option<(Edit, BTreeSet<usize>)> {
        let keys: Vec<Key> = lines.iter().map(|line| Key::of(line)).collect();
        let mut block = Blocks::default();
        block.add(&keys.iter().copied().filter(|key| key.is_telling()).collect::<Vec<Key>>());
        let before = || self.edits.iter().filter(|(at, ..)| *at < by.at);
        let has_block = |hunks: &[Vec<Key>]| hunks.iter().any(|hunk| block.shared(hunk) >= LEAST_GONE);
        let sources: BTreeSet<usize> =
            before().filter(|(.., hunks)| has_block(hunks)).map(|(_, source, _)| *source).collect();
        if sources.is_empty() {
            return None;
        }
        let mut known: HashMap<Key, usize> = HashMap::new();
        for (.., hunks) in before() {
            let added: HashSet<Key> = hunks.iter().flatten().copied().collect();
            added.into_iter().for_each(|key| *known.entry(key).or_default() += 1);
        }
        // `return Err(error);` is everywhere.
        let is_rare = |key: &&Key| known.get(key).is_none_or(|count| *count <= MOST_COPIES);
        let is_known = |key: &&Key| is_rare(key) && known.contains_key(key);
        let telling = keys.iter().filter(is_rare).filter(|key| key.is_telling()).count();
        let found: HashSet<Key> = keys.iter().filter(is_known).copied().collect();
        let first = keys.iter().position(|key| is_known(&key))?;
        let last = keys.iter().rposition(|key| is_known(&key))?;
        if weight(&found) < LEAST_GONE || found.len() * 2 < telling {
            return None;
        }
        let hunk = lines[first..=last].iter().map(|line| Part::Removed((*line).to_owned())).collect();
        let removal = Edit {
            row: by.row,
            at: by.at,
            turn: by.turn,
            source: Some(0),
            path: String::new(),
            hunks: vec![hunk],
        };
        Some((removal, sources))
    }
}

/// Returns the last recorded call that renamed a file of this name, or a folder above it.
pub fn renamed_by(store: &Store, place: &Place, former: &str) -> Result<Option<i64>, Error> {
    let mut select = store.connection().prepare_cached(
        "SELECT max(observation) FROM moves WHERE project = ?1 AND (old = ?2 OR substr(?2, 1, length(old) + 1) = old || '/')",
    )?;
    let projects: BTreeSet<i64> = place.names.iter().map(|(project, _)| *project).collect();
    for project in projects {
        let found: Option<i64> = select.query_row(params![project, former], |row| row.get(0))?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Returns other files of the project whose recorded edits have lines of these, with the places of those lines: where lines
/// were moved from. Only the latest edits are looked at.
pub fn sources_of(store: &Store, place: &Place, lines: &[&str]) -> Result<Vec<(String, Vec<usize>)>, Error> {
    if !is_made(store, "edits")? {
        return Ok(Vec::new());
    }
    let wanted = Wanted::of(lines);
    let mut found: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let projects: BTreeSet<i64> = place.names.iter().map(|(project, _)| *project).collect();
    for project in projects.into_iter().filter(|_| !wanted.lines.is_empty()) {
        let own: Vec<&String> = place.names.iter().map(|(_, path)| path).collect();
        let mut select = store.connection().prepare_cached(
            "SELECT e.path, o.data, p.data
             FROM (SELECT path, observation FROM edits WHERE project = ?1 AND path NOT IN (SELECT value FROM json_each(?2))
                   ORDER BY observation DESC LIMIT ?3) AS e
             JOIN observations AS o ON o.row = e.observation LEFT JOIN payloads AS p ON p.observation = o.row",
        )?;
        let mut rows = select.query(params![project, serde_json::to_string(&own)?, MOST_OTHERS])?;
        while let Some(row) = rows.next()? {
            for column in [1, 2] {
                let data = row.get_ref(column)?.as_str_or_null().ok().flatten().unwrap_or_default();
                let hits = wanted.in_text(data.as_bytes());
                if !hits.is_empty() {
                    found.entry(row.get(0)?).or_default().extend(hits);
                }
            }
        }
    }
    let mut found: Vec<(String, Vec<usize>)> =
        found.into_iter().map(|(path, lines)| (path, lines.into_iter().collect())).collect();
    found.retain(|(_, lines)| lines.len() >= LEAST_MOVED);
    found.sort_by_key(|(_, lines)| Reverse(lines.len()));
    Ok(found)
}

/// Pieces of lines, to be found in the JSON of calls.
struct Wanted<'a> {
    /// By their first bytes.
    lines: HashMap<[u8; 8], Vec<(usize, &'a [u8])>>,
}

impl<'a> Wanted<'a> {
    fn of(lines: &[&'a str]) -> Self {
        let mut wanted: HashMap<[u8; 8], Vec<(usize, &[u8])>> = HashMap::new();
        for (number, line) in lines.iter().enumerate() {
            // What JSON writes in another way ends a piece.
            let pieces = line.trim().split(['"', '\\', '\t']).map(str::as_bytes);
            let piece = pieces.max_by_key(|piece| piece.len()).filter(|piece| piece.len() >= LEAST_PIECE);
            if let Some((piece, begin)) = piece.and_then(|piece| Some((piece, piece.first_chunk::<8>()?))) {
                wanted.entry(*begin).or_default().push((number, piece));
            }
        }
        Self { lines: wanted }
    }

    fn in_text(&self, text: &[u8]) -> BTreeSet<usize> {
        let mut hits = BTreeSet::new();
        for (at, window) in text.windows(8).enumerate() {
            // Lines begin behind a sign, a space or a line break.
            let is_begin = at == 0 || !text[at - 1].is_ascii_alphanumeric() || text[at - 1] == b'n';
            if !is_begin || window[0] == b' ' {
                continue;
            }
            let Some(pieces) = <&[u8; 8]>::try_from(window).ok().and_then(|window| self.lines.get(window))
            else {
                continue;
            };
            hits.extend(
                pieces.iter().filter(|(_, piece)| text[at..].starts_with(piece)).map(|(number, _)| *number),
            );
        }
        hits
    }
}

/// What is known of a call that changed a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// In milliseconds since 1970.
    pub at: u64,
    pub tool: String,
    /// The kind of subagent that made it.
    pub agent: Option<String>,
    pub platform: String,
    /// The session's id.
    pub session: String,
    pub title: Option<String>,
    pub author: Option<String>,
    pub branch: Option<String>,
    pub prompt_number: u64,
    /// As it was typed; `None` where it was not recorded.
    pub prompt: Option<String>,
    /// What was asked before, where the prompt says nothing by itself, such as `continue`.
    pub asked_before: Option<String>,
    /// The entry of the journal that tells of it: id, kind and title.
    pub entry: Option<(String, String, String)>,
    session_row: i64,
    turn: i64,
}

impl Call {
    /// Returns what is known of a call that changed or renamed the file, by its row.
    pub fn of(store: &Store, row: i64, place: &Place) -> Result<Option<Self>, Error> {
        let mut select = store.connection().prepare_cached(
            "SELECT o.at, o.tool, o.agent_type, s.platform, s.id, s.title, s.author, s.branch, o.prompt, o.session
             FROM observations AS o JOIN sessions AS s ON s.row = o.session WHERE o.row = ?1",
        )?;
        let call = select.query_row([row], |row| {
            Ok(Self {
                at: row.get(0)?,
                tool: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
                agent: row.get(2)?,
                platform: row.get(3)?,
                session: row.get(4)?,
                title: row.get(5)?,
                author: row.get(6)?,
                branch: row.get(7)?,
                prompt_number: row.get(8)?,
                session_row: row.get(9)?,
                ..Self::default()
            })
        });
        let Some(mut call) = call.optional()? else { return Ok(None) };
        call.read_prompt(store)?;
        call.read_entry(store, place)?;
        Ok(Some(call))
    }

    fn read_prompt(&mut self, store: &Store) -> Result<(), Error> {
        let mut select = store.connection().prepare_cached(
            "SELECT o.row, o.data, p.data FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row
             WHERE o.session = ?1 AND o.kind = 'prompt' AND o.prompt = ?2 ORDER BY o.at LIMIT 1",
        )?;
        let prompt = select.query_row(params![self.session_row, self.prompt_number], |row| {
            Ok((row.get(0)?, joined(row, 1).unwrap_or_default()))
        });
        if let Some((row, data)) = prompt.optional()? {
            self.turn = row;
            self.prompt = data.get("text").and_then(|text| text.as_str()).map(str::to_owned);
        }
        if self.prompt.as_deref().is_some_and(prose::is_nothing) {
            self.asked_before = self.last_telling_prompt(store)?;
        }
        Ok(())
    }

    fn last_telling_prompt(&self, store: &Store) -> Result<Option<String>, Error> {
        let mut select = store.connection().prepare_cached(
            "SELECT text FROM prompts WHERE session = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3",
        )?;
        let values = params![self.session_row, self.prompt_number, MOST_PROMPTS_BEFORE];
        for text in select.query_map(values, |row| row.get::<_, String>(0))? {
            let text = text?;
            if !prose::is_nothing(&text) {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    fn read_entry(&mut self, store: &Store, place: &Place) -> Result<(), Error> {
        if !is_made(store, "journal")? {
            return Ok(());
        }
        let mut select = store.connection().prepare_cached(
            "SELECT e.id, e.kind, e.title FROM entries AS e JOIN entry_files AS f ON f.entry = e.row
             WHERE e.session = ?1 AND e.turn = ?2 AND f.path = ?3 AND f.is_changed = 1
             ORDER BY e.kind IN ('decision', 'discovery'), abs(e.at - ?4) LIMIT 1",
        )?;
        for (_, path) in &place.names {
            let values = params![self.session_row, self.turn, path, self.at];
            let found = select.query_row(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
            self.entry = found.optional()?;
            if self.entry.is_some() {
                break;
            }
        }
        Ok(())
    }
}

/// A decision or lesson behind an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub kind: ReasonKind,
    /// The entry's id, or the lesson's name.
    pub id: Option<String>,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasonKind {
    /// An entry of the journal.
    Decision,
    /// What was found out in the same turn: an entry of the journal.
    Discovery,
    /// A lesson that was shown just before.
    Lesson,
    /// An entry of the team memory.
    Memory,
}

/// Returns the entries of the journal and the lessons that an edit is strongly connected with: decided about this file and a name
/// in these lines, or in the same turn about words in them; found out in the same turn; shown right before it.
pub fn reasons(store: &Store, call: &Call, place: &Place, lines: &[&str]) -> Result<Vec<Reason>, Error> {
    let mut reasons = decisions(store, call, place, lines)?;
    reasons.extend(discovery(store, call, place, lines)?);
    let mut select = store.connection().prepare_cached(
        "SELECT o.data, p.data FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row
         WHERE o.session = ?1 AND o.kind = 'told' AND o.at BETWEEN ?2 AND ?3 AND o.prompt = ?4 ORDER BY o.at DESC LIMIT 20",
    )?;
    let values =
        params![call.session_row, call.at.saturating_sub(LESSON_BEFORE), call.at, call.prompt_number];
    let told = select.query_map(values, |row| Ok(joined(row, 0).unwrap_or_default()))?;
    for data in told {
        let data = data?;
        let text =
            |name: &str| data.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
        let (lessons, words) = (text("lesson"), text("text"));
        let names: Vec<&str> = lessons.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        for name in &names {
            let words = words_of(&words, name, &names);
            let is_known = reasons.iter().any(|known| known.id.as_deref() == Some(name));
            if !is_known && is_about(words, place, lines) {
                let (id, text) = (Some((*name).to_owned()), words.to_owned());
                reasons.push(Reason { kind: ReasonKind::Lesson, id, text });
            }
        }
    }
    Ok(reasons)
}

/// Returns what a text says for one of its lessons, as `lessons::wording` puts it: several may have been shown at once. The
/// whole text where that cannot be told.
fn words_of<'t>(text: &'t str, name: &str, all: &[&str]) -> &'t str {
    let begins = |text: &str, name: &str| -> Option<(usize, usize)> {
        let marks = [format!("lesson {name}: "), format!("\n{name}: "), format!("name=\"{name}\"")];
        marks.iter().filter_map(|mark| text.find(mark).map(|at| (at, at + mark.len()))).min()
    };
    let Some((_, begin)) = begins(text, name) else { return text };
    let rest = &text[begin..];
    // The tag around a repository's lesson goes on after its name.
    let rest = if rest.starts_with(' ') { rest.split_once('>').map_or(rest, |(_, rest)| rest) } else { rest };
    let others = all.iter().filter(|other| **other != name).filter_map(|other| begins(rest, other));
    let end = others.map(|(at, _)| at).chain(rest.find("\n</")).min().unwrap_or(rest.len());
    rest[..end].trim_end_matches("Wyren ").trim()
}

fn decisions(store: &Store, call: &Call, place: &Place, lines: &[&str]) -> Result<Vec<Reason>, Error> {
    let mut reasons: Vec<Reason> = Vec::new();
    let projects: BTreeSet<i64> = place.names.iter().map(|(project, _)| *project).collect();
    for project in projects {
        let condition = "e.kind = 'decision' AND e.replaced_by IS NULL AND e.is_noise = 0 AND e.project = ?1
             AND (e.session = ?2 AND e.turn = ?3
                 OR e.row IN (SELECT entry FROM entry_files WHERE path IN (SELECT value FROM json_each(?4))))
             ORDER BY e.session = ?2 AND e.turn = ?3 DESC, e.at DESC LIMIT 50";
        let paths: Vec<&String> = place.names.iter().map(|(_, path)| path).collect();
        let paths = serde_json::to_string(&paths)?;
        let found =
            read::entries_where(store, condition, params![project, call.session_row, call.turn, paths])?;
        let of_turn = turn_entries(store, call)?;
        for entry in found {
            let words = [entry.title.as_str(), &entry.detail.subtitle, &entry.detail.narrative].join("\n");
            let is_of_turn = || of_turn.contains(&entry.id) && shares_words(&words, lines);
            if is_about(&words, place, lines)
                || is_about(&entry.detail.facts.join("\n"), place, lines)
                || is_of_turn()
            {
                reasons.push(Reason { kind: ReasonKind::Decision, id: Some(entry.id), text: entry.title });
            }
        }
    }
    reasons.truncate(3);
    Ok(reasons)
}

/// Returns the ids of the entries of a call's turn.
fn turn_entries(store: &Store, call: &Call) -> Result<BTreeSet<String>, Error> {
    let sql = "SELECT id FROM entries WHERE session = ?1 AND turn = ?2";
    let mut select = store.connection().prepare_cached(sql)?;
    let ids = select.query_map(params![call.session_row, call.turn], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns what the turn of an edit found out: what is about these lines, else the only thing in a turn that changed few files.
fn discovery(store: &Store, call: &Call, place: &Place, lines: &[&str]) -> Result<Option<Reason>, Error> {
    let condition =
        "e.kind = 'discovery' AND e.replaced_by IS NULL AND e.is_noise = 0 AND e.session = ?1 AND e.turn = ?2
         ORDER BY e.at, e.id LIMIT 20";
    let found = read::entries_where(store, condition, params![call.session_row, call.turn])?;
    let has_it = |entry: &&crate::Entry| {
        let changed = entry.files.iter().filter(|file| file.is_changed).count();
        is_about(&entry.title, place, lines)
            || shares_words(&entry.title, lines)
            || (found.len() == 1 && (1..=FEW_FILES).contains(&changed))
    };
    let entry = found.iter().find(has_it);
    Ok(entry.map(|entry| Reason {
        kind: ReasonKind::Discovery,
        id: Some(entry.id.clone()),
        text: entry.title.clone(),
    }))
}

/// Returns whether a text has two words of these lines, be they parts of names.
fn shares_words(text: &str, lines: &[&str]) -> bool {
    let parts = |text: &str| -> BTreeSet<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric()).flat_map(camel_parts);
        parts.filter(|part| part.len() >= SHORTEST_PART).map(|part| part.to_lowercase()).collect()
    };
    let of_text = parts(text);
    let of_lines = lines.iter().flat_map(|line| parts(line)).collect::<BTreeSet<String>>();
    of_text.intersection(&of_lines).filter(|part| !language::is_stop_word(part)).count() >= 2
}

/// Takes `isExpired` apart.
fn camel_parts(name: &str) -> impl Iterator<Item = &str> {
    let is_begin =
        |at: usize, c: char| at > 0 && c.is_uppercase() && !name[..at].ends_with(char::is_uppercase);
    let mut begins: Vec<usize> = vec![0];
    begins.extend(name.char_indices().filter(|(at, c)| is_begin(*at, *c)).map(|(at, _)| at));
    let ends: Vec<usize> = begins.iter().copied().skip(1).chain([name.len()]).collect();
    begins.into_iter().zip(ends).map(|(begin, end)| &name[begin..end])
}

/// File names that many folders have.
const COMMON_NAMES: [&str; 12] = [
    "main.rs",
    "lib.rs",
    "mod.rs",
    "index.ts",
    "index.js",
    "index.tsx",
    "__init__.py",
    "main.py",
    "main.go",
    "README.md",
    "Cargo.toml",
    "package.json",
];

/// Returns whether a text is about these lines of a file: it has the file's path or telling name and a name of the lines, or
/// a name that is long enough to be the only one of its kind.
pub fn is_about(text: &str, place: &Place, lines: &[&str]) -> bool {
    let paths = place.names.iter().map(|(_, path)| path.as_str());
    let has_file = paths.clone().any(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        path.contains('/') && has_word(text, path) || !COMMON_NAMES.contains(&name) && has_word(text, name)
    });
    let names = line::names(lines);
    let mut found = names.iter().filter(|name| has_word(text, name));
    match found.next() {
        Some(name) => has_file || name.len() >= 12 || found.next().is_some(),
        None => false,
    }
}

/// Returns whether a text has this word, not as a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lesson_has_its_own_words() {
        let several = "Wyren lesson one: First. Do it.\n\nWyren lesson two: Second.\n\n<wyren-context id=\"w\" source=\"project lesson\" \
                       name=\"three\" trusted=\"yes\">\nThird.\n</wyren-context id=\"w\">";
        let all = ["one", "two", "three"];
        let paused = "Wyren paused this call once (lessons a, b).\n\na: First.\n\nb: Second.";
        for (text, name, all, expected) in [
            (several, "one", &all[..], "First. Do it."),
            (several, "three", &all, "Third."),
            (paused, "a", &["a", "b"], "First."),
            (paused, "b", &["a", "b"], "Second."),
            (
                "Wyren paused this call once (lesson a): First.",
                "a",
                &["a"],
                "Wyren paused this call once (lesson a): First.",
            ),
        ] {
            assert_eq!(words_of(text, name, all), expected, "{name} of {text}");
        }
        assert!(words_of(several, "two", &all).starts_with("Second."));
    }

    #[test]
    fn a_text_shares_words_with_lines_by_the_parts_of_their_names() {
        let lines = ["const SKEW_SECONDS: u64 = 30;"];
        assert!(shares_words("30 seconds of skew as a constant", &lines));
        assert!(shares_words("the skew is in seconds", &["let skewInSeconds = 30;"]));
        assert!(!shares_words("a constant rather than a setting", &lines));
        assert!(!shares_words("with that, this", &["// with this and that"]), "words that any text has");
    }

    #[test]
    fn a_text_is_about_lines_when_it_names_the_file_and_something_in_them() {
        let place = Place { names: [(1, "src/auth.rs".to_owned())].into() };
        let lines = ["    if claims.expires_at < clock.now() {", "        return Err(AuthError::Expired);"];
        for (text, expected) in [
            ("auth.rs: `expires_at` is in seconds", true),
            ("`expires_at` is in seconds, AuthError says which", true),
            ("auth.rs is split in two", false),
            ("`expires_at` is in seconds", false),
            ("not_expires_at in oauth.rs", false),
            ("", false),
        ] {
            assert_eq!(is_about(text, &place, &lines), expected, "{text}");
        }
    }

    const MOVED: [&str; 6] = [
        "fn verify_token(claims: &Claims) -> Result<(), Error> {",
        "    if claims.is_empty() {",
        "        return Err(Error::Missing);",
        "    }",
        "    check_expiry(claims.expires_at)",
        "}",
    ];

    fn added(lines: &[&str]) -> Hunk {
        lines.iter().map(|line| Part::Added((*line).to_owned())).collect()
    }

    /// Returns how much the two have in common.
    fn shared(one: &[&str], other: &[&str]) -> usize {
        Blocks::added([&added(one)]).shared(&patch::telling(&added(other), |_| true))
    }

    #[test]
    fn what_files_share_is_a_block_of_lines_that_say_something() {
        assert!(shared(&MOVED, &MOVED) >= LEAST_GONE);
        let around = [&["use std::fs;"][..], &MOVED, &["fn other_matters() {}"]].concat();
        assert_eq!(shared(&around, &MOVED), shared(&MOVED, &MOVED));
        // A line was changed since.
        let changed = [&MOVED[..4], &["    check_expiry(claims.expires_at, clock)", "}"]].concat();
        assert!(shared(&changed, &MOVED) >= LEAST_CUT);
        assert_eq!(shared(&MOVED[..2], &MOVED), 0, "two lines");
        assert_eq!(shared(&["}", "}", "", "{", "}"], &["}", "}", "", "{", "}"]), 0, "brackets");
        let apart =
            [MOVED[4], "    let one = first(order);", MOVED[2], "    let two = next(order);", MOVED[0]];
        assert_eq!(shared(&apart, &MOVED), 0, "each at another place");
        let both = Blocks::added([&added(&MOVED[..2]), &added(&MOVED[2..])]);
        assert_eq!(both.shared(&patch::telling(&added(&MOVED), |_| true)), 0, "in two edits");
    }

    #[test]
    fn what_a_session_wrote_anew_was_not_taken_from_a_file_that_is_gone() {
        let edit = |at: u64, source: Option<usize>, lines: &[&str]| Edit {
            at,
            source,
            hunks: vec![added(lines)],
            ..Edit::default()
        };
        let by = edit(3, None, &MOVED);
        let removal = |before: &[Edit]| Written::of(before).removal(&by, &MOVED).map(|(_, sources)| sources);
        let other = edit(1, Some(0), &[MOVED[4], "    let one = first(order);", MOVED[2], "}"]);
        assert_eq!(removal(std::slice::from_ref(&other)), None);
        assert_eq!(removal(&[edit(4, Some(1), &MOVED)]), None, "later");
        let written = edit(2, Some(1), &MOVED);
        assert_eq!(removal(&[other, written]), Some(BTreeSet::from([1])));
    }
}
