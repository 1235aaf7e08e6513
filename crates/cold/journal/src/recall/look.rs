//! What may be recalled, from the tables: every question has an index and a bound, so that a hundred thousand entries cost
//! what a thousand do.

use super::choose::{Candidate, Situation, rank, relevance};
use super::tasks;
use super::word::{Past, Taste, with_details};
use crate::entry::{Entry, File, Source};
use crate::read;
use base::project::Project;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use store::observations::{joined, project_rows};
use store::rusqlite::{OptionalExtension as _, Params, Row, params};
use store::{Error, Store};

/// How many of the newest entries are candidates, at least.
const RECENT: usize = 50;
/// How many are looked at to find one that is no noise.
const LOOKS_PER_ENTRY: usize = 2;
/// How many others may be candidates for each reason: their branch, one changed file, being pinned, being by hand.
const PER_REASON: usize = 12;
/// For how many changed files older entries are looked for.
const MOST_CHANGED: usize = 5;
/// Around how many turns all entries are candidates, how many before and after each, and how relevant it is at least.
const MOST_TURNS: usize = 3;
const PER_TURN: usize = 6;
const LEAST_RELEVANCE: f64 = 0.3;
/// In how many of the last sessions, and in how many of its last observations, tasks are looked for.
const SESSIONS: usize = 2;
const OBSERVATIONS: usize = 60;

const COLUMNS: &str = "row, id, at, kind, title, branch, tokens, source, is_pinned, session, turn";
/// What is neither noise nor replaced by a later entry.
const SHOWN: &str = "is_noise = 0 AND replaced_by IS NULL";

/// Returns what may be shown of what is stored about a project; `None` without history. `situate` gets the files of recent
/// entries and returns what is known of the session besides the tables.
pub fn look(
    store: &Store,
    project: &Project,
    taste: &Taste,
    situate: impl FnOnce(&[&str]) -> Situation,
) -> Result<Option<Past>, Error> {
    let projects = project_rows(store, project)?;
    if projects.is_empty() || !read::is_made(store, "journal")? {
        return Ok(None);
    }
    let mut found = Found::default();
    for row in &projects {
        found.recent(store, *row, taste.entries)?;
    }
    found.fill_files(store)?;
    let mut situation = situate(&found.files());
    for row in &projects {
        if situation.tasks.is_empty() {
            situation.tasks = open_tasks(store, *row)?;
        }
    }
    for row in &projects {
        found.relevant(store, *row, &situation)?;
    }
    found.fill_files(store)?;
    found.near(store, &situation)?;
    let mut past =
        Past { entries: found.ranked(&situation, taste), tasks: situation.tasks, ..Past::default() };
    fill_details(store, &mut past.entries, taste)?;
    for row in projects {
        let last = format!("s.project = ?1 ORDER BY s.at DESC, s.id LIMIT {}", taste.summaries);
        past.summaries.extend(read::summaries_where(store, &last, [row])?);
        if past.last_message.is_none() && taste.shows_last_message {
            past.last_message = last_message(store, row)?;
        }
    }
    past.summaries.sort_by(|one, other| (other.at, &one.id).cmp(&(one.at, &other.id)));
    Ok(Some(past))
}

/// The candidates, by their rows.
#[derive(Default)]
struct Found {
    candidates: BTreeMap<i64, Candidate>,
    /// Those that have their files.
    with_files: BTreeSet<i64>,
}

impl Found {
    fn recent(&mut self, store: &Store, project: i64, wanted: usize) -> Result<(), Error> {
        let most = RECENT.max(wanted);
        let select = format!(
            "SELECT {COLUMNS} FROM (SELECT {COLUMNS}, is_noise, replaced_by FROM entries
                 WHERE project = ?1 ORDER BY at DESC LIMIT {}) WHERE {SHOWN} LIMIT {most}",
            most * LOOKS_PER_ENTRY
        );
        self.add(store, &select, [project])
    }

    /// Adds older entries that the situation is about, and those that a person cares about.
    fn relevant(&mut self, store: &Store, project: i64, situation: &Situation) -> Result<(), Error> {
        let newest = format!("{SHOWN} ORDER BY at DESC LIMIT {PER_REASON}");
        let of = |condition: &str| {
            format!("SELECT {COLUMNS} FROM entries WHERE project = ?1 AND {condition} AND {newest}")
        };
        self.add(store, &of("is_pinned = 1"), [project])?;
        self.add(store, &of("source = 'by-hand'"), [project])?;
        if let Some(branch) = &situation.branch {
            let select = of("branch NOT IN ('main', 'master') AND branch = ?2");
            self.add(store, &select, params![project, branch])?;
        }
        for path in situation.changed.iter().take(MOST_CHANGED) {
            // With the plus, SQLite goes by the rows and not through all entries of the project.
            let select = format!(
                "SELECT {COLUMNS} FROM entries WHERE +project = ?1 AND {SHOWN} AND row IN
                     (SELECT entry FROM entry_files WHERE path = ?2 ORDER BY entry DESC LIMIT {PER_REASON})"
            );
            self.add(store, &select, params![project, path])?;
        }
        Ok(())
    }

    /// Adds the entries around those that the situation is about most: of the same turn and of those close to it.
    fn near(&mut self, store: &Store, situation: &Situation) -> Result<(), Error> {
        let candidates: Vec<Candidate> = self.candidates.values().cloned().collect();
        let mut turns: Vec<(f64, (i64, i64))> = relevance(&candidates, situation)
            .into_iter()
            .zip(candidates.iter().map(|one| one.turn))
            .collect();
        turns.retain(|(relevance, _)| *relevance > LEAST_RELEVANCE);
        turns.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        turns.dedup_by_key(|(_, turn)| *turn);
        let near = |side: &str| {
            format!(
                "SELECT {COLUMNS} FROM entries WHERE session = ?1 AND {SHOWN} AND turn {side} LIMIT {PER_TURN}"
            )
        };
        let (before, after) = (near("< ?2 ORDER BY turn DESC"), near(">= ?2 ORDER BY turn"));
        for (_, (session, turn)) in turns.into_iter().take(MOST_TURNS) {
            self.add(store, &before, [session, turn])?;
            self.add(store, &after, [session, turn])?;
        }
        Ok(())
    }

    fn add(&mut self, store: &Store, select: &str, values: impl Params) -> Result<(), Error> {
        let mut select = store.connection().prepare_cached(select)?;
        let mut rows = select.query(values)?;
        while let Some(row) = rows.next()? {
            self.candidates.entry(row.get(0)?).or_insert(candidate(row)?);
        }
        Ok(())
    }

    /// Reads the files of the candidates that do not have them yet.
    fn fill_files(&mut self, store: &Store) -> Result<(), Error> {
        let missing: Vec<i64> =
            self.candidates.keys().copied().filter(|row| !self.with_files.contains(row)).collect();
        let mut select =
            store.connection().prepare_cached("SELECT path, is_changed FROM entry_files WHERE entry = ?1")?;
        for row in missing {
            let files =
                select.query_map([row], |row| Ok(File { path: row.get(0)?, is_changed: row.get(1)? }))?;
            let files: Vec<File> = files.collect::<Result<_, _>>()?;
            if let Some(candidate) = self.candidates.get_mut(&row) {
                candidate.entry.files = files;
            }
            self.with_files.insert(row);
        }
        Ok(())
    }

    /// Returns the candidates, the first to be shown first.
    fn ranked(self, situation: &Situation, taste: &Taste) -> Vec<Entry> {
        let mut candidates: Vec<Candidate> = self.candidates.into_values().collect();
        let order = rank(&candidates, situation, taste.order);
        order.into_iter().map(|place| std::mem::take(&mut candidates[place].entry)).collect()
    }

    /// Returns the paths of the newest candidates' files, each once, those of the newest first.
    fn files(&self) -> Vec<&str> {
        let mut newest: Vec<&Entry> = self.candidates.values().map(|candidate| &candidate.entry).collect();
        newest.sort_by_key(|entry| std::cmp::Reverse(entry.at));
        let mut seen = BTreeSet::new();
        let paths = newest.into_iter().flat_map(|entry| &entry.files).map(|file| file.path.as_str());
        paths.filter(|path| !path.starts_with(['/', '\\']) && seen.insert(*path)).collect()
    }
}

/// Reads what those candidates have besides their titles that more is shown of.
fn fill_details(store: &Store, entries: &mut [Entry], taste: &Taste) -> Result<(), Error> {
    let mut select = store.connection().prepare_cached("SELECT detail FROM entries WHERE id = ?1")?;
    for place in with_details(entries, taste) {
        let entry = &mut entries[place];
        let detail: Option<String> = select.query_row([&entry.id], |row| row.get(0)).optional()?;
        entry.detail = serde_json::from_str(&detail.unwrap_or_default()).unwrap_or_default();
    }
    Ok(())
}

fn candidate(row: &Row<'_>) -> store::rusqlite::Result<Candidate> {
    let entry = Entry {
        id: row.get(1)?,
        at: row.get(2)?,
        kind: row.get(3)?,
        title: row.get(4)?,
        branch: row.get(5)?,
        tokens: row.get(6)?,
        source: Source::named(row.get_ref(7)?.as_str().unwrap_or_default()),
        is_pinned: row.get(8)?,
        ..Entry::default()
    };
    Ok(Candidate { entry, turn: (row.get(9)?, row.get(10)?) })
}

/// Returns the tasks that the last session with tasks left open; those of work that is done are not.
fn open_tasks(store: &Store, project: i64) -> Result<Vec<String>, Error> {
    for session in last_sessions(store, project)? {
        let calls = last_observations(store, session, "tool", |tool| tasks::TOOLS.contains(&tool))?;
        if !calls.is_empty() && !work::contexts::read::is_over(store.connection(), session)? {
            return Ok(tasks::open(calls.iter().rev().map(|(tool, data)| (&**tool, data))));
        }
    }
    Ok(Vec::new())
}

/// Returns what the model said last in the sessions before.
fn last_message(store: &Store, project: i64) -> Result<Option<String>, Error> {
    for session in last_sessions(store, project)? {
        let ends = last_observations(store, session, "kind", |kind| kind == "turn-end")?;
        if let Some((_, data)) = ends.first() {
            return Ok(data.get("text").and_then(Value::as_str).map(str::to_owned));
        }
    }
    Ok(None)
}

/// Returns those of a session's last observations that have a `wanted` value in this column, with their data, the last first.
fn last_observations(
    store: &Store,
    session: i64,
    column: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(String, Value)>, Error> {
    let mut select = store.connection().prepare_cached(&format!(
        "SELECT row, {column} FROM observations WHERE session = ?1 ORDER BY at DESC, row DESC LIMIT {OBSERVATIONS}"
    ))?;
    let mut rows = select.query([session])?;
    let mut found: Vec<(i64, String)> = Vec::new();
    while let Some(row) = rows.next()? {
        // Its data, which is long, is read of the few that are wanted.
        let value = row.get_ref(1)?.as_str_or_null().ok().flatten().unwrap_or_default();
        if wanted(value) {
            found.push((row.get(0)?, value.to_owned()));
        }
    }
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let mut data = store.connection().prepare_cached(
        "SELECT o.data, p.data FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row WHERE o.row = ?1",
    )?;
    let mut observations = Vec::new();
    for (row, value) in found {
        let mut rows = data.query([row])?;
        if let Some(row) = rows.next()? {
            observations.push((value, joined(row, 0)?));
        }
    }
    Ok(observations)
}

fn last_sessions(store: &Store, project: i64) -> Result<Vec<i64>, Error> {
    let mut select = store.connection().prepare_cached(&format!(
        "SELECT row FROM sessions WHERE project = ?1 ORDER BY last_at DESC LIMIT {SESSIONS}"
    ))?;
    let rows = select.query_map([project], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
