//! Finds entries and summaries by the beginning of their ids, with everything that is known of them.

use crate::derive::{Key, MOST_LEANING};
use crate::entry::{Entry, Summary};
use crate::{kept, read};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use store::observations::joined;
use store::rusqlite::{Connection, OptionalExtension as _, params};
use store::{Error, Store};

/// An entry or a summary.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Entry(Entry),
    Summary(Summary),
}

impl Item {
    pub fn id(&self) -> &str {
        match self {
            Self::Entry(entry) => &entry.id,
            Self::Summary(summary) => &summary.id,
        }
    }

    /// Returns the line that it is recognised by.
    pub fn title(&self) -> &str {
        match self {
            Self::Entry(entry) => &entry.title,
            Self::Summary(summary) => &summary.request,
        }
    }

    /// Returns when it was made, in milliseconds since 1970.
    pub fn at(&self) -> u64 {
        match self {
            Self::Entry(entry) => entry.at,
            Self::Summary(summary) => summary.at,
        }
    }
}

/// Where an entry or summary comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub platform: String,
    pub session: String,
    pub session_title: Option<String>,
    pub author: Option<String>,
    /// The project's key and root.
    pub project: String,
    pub root: String,
    /// The number and the text of the prompt.
    pub prompt: Option<(u64, String)>,
    /// Entries that it replaces, each with its title.
    pub replaces: Vec<(String, String)>,
    /// The title of the entry that replaces it.
    pub replaced_by: Option<String>,
}

/// Returns what has an id that begins with this; the one whose id it is whole comes alone.
pub fn by_prefix(store: &Store, prefix: &str) -> Result<Vec<Item>, Error> {
    let prefix = prefix.trim().to_lowercase();
    if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(Vec::new());
    }
    let entries = read::entries_by_prefix(store, &prefix)?.into_iter().map(Item::Entry);
    let summaries = read::summaries_where(store, "s.id GLOB ?1 || '*' ORDER BY s.id LIMIT 20", [&prefix])?;
    let mut found: Vec<Item> = entries.chain(summaries.into_iter().map(Item::Summary)).collect();
    if let Some(exact) = found.iter().position(|item| item.id() == prefix) {
        return Ok(vec![found.swap_remove(exact)]);
    }
    Ok(found)
}

/// Returns where something comes from.
pub fn origin(store: &Store, item: &Item) -> Result<Origin, Error> {
    let table = match item {
        Item::Entry(_) => "entries",
        Item::Summary(_) => "summaries",
    };
    let mut select = store.connection().prepare(&format!(
        "SELECT sessions.platform, sessions.id, sessions.title, sessions.author, projects.key, projects.root,
             o.prompt, prompts.text
         FROM {table} AS e
         JOIN sessions ON sessions.row = e.session
         LEFT JOIN projects ON projects.row = e.project
         LEFT JOIN observations AS o ON o.row = e.turn
         LEFT JOIN prompts ON prompts.row = e.turn
         WHERE e.id = ?1"
    ))?;
    let origin = select.query_row([item.id()], |row| {
        let (number, text): (Option<u64>, Option<String>) = (row.get(6)?, row.get(7)?);
        Ok(Origin {
            platform: row.get(0)?,
            session: row.get(1)?,
            session_title: row.get::<_, Option<String>>(2)?.filter(|title| !title.is_empty()),
            author: row.get(3)?,
            project: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
            root: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
            prompt: number.zip(text),
            ..Origin::default()
        })
    });
    let mut origin = origin.optional()?.unwrap_or_default();
    let replaced = read::entries_where(store, "e.replaced_by = ?1 ORDER BY e.at, e.id", [item.id()])?;
    origin.replaces = replaced.into_iter().map(|entry| (entry.id, entry.title)).collect();
    if let Item::Entry(Entry { replaced_by: Some(id), .. }) = item {
        let by = read::entries_where(store, "e.id = ?1", [id])?;
        origin.replaced_by = by.into_iter().next().map(|entry| entry.title);
    }
    Ok(origin)
}

/// What something was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The observations, each by the ids of its session and its own.
    pub of: Vec<(String, String)>,
    /// Whether that is a whole turn.
    pub is_turn: bool,
}

/// Returns the observations that something was made of: itself where it came whole, else the whole turn, since its text quotes
/// all of that. What is about it comes along by [`store::Derived::along`].
pub fn made_of(store: &Store, item: &Item) -> Result<Parts, Error> {
    let table = match item {
        Item::Entry(_) => "entries",
        Item::Summary(_) => "summaries",
    };
    let connection = store.connection();
    let found = connection
        .prepare(&format!(
            "SELECT e.session, coalesce((SELECT prompt FROM observations WHERE row = e.turn), o.prompt), sessions.id, o.kind, o.id,
                 coalesce(CASE WHEN json_valid(o.data) THEN o.data ->> '$.source' END, '')
             FROM {table} AS e JOIN sessions ON sessions.row = e.session JOIN observations AS o ON o.row = e.anchor
             WHERE e.id = ?1"
        ))?
        .query_row([item.id()], |row| {
            let of = (row.get::<_, String>(2)?, row.get::<_, String>(4)?);
            Ok(((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?), row.get::<_, String>(3)?, row.get::<_, String>(5)?, of))
        })
        .optional()?;
    let Some(((session, number), kind, source, of)) = found else { return Ok(Parts::default()) };
    let is_whole = match &*kind {
        "entry" => true,
        "summary" => source != "model",
        _ => false,
    };
    if is_whole {
        return Ok(Parts { of: vec![of], is_turn: false });
    }
    let mut select = connection.prepare(
        "SELECT id FROM observations WHERE session = ?1 AND prompt = ?2
             AND kind IN ('prompt', 'tool', 'turn-end', 'said', 'refused', 'made') ORDER BY at, row",
    )?;
    let ids = select.query_map(params![session, number], |row| row.get::<_, String>(0))?;
    let of = ids.map(|id| Ok((of.0.clone(), id?))).collect::<Result<_, Error>>()?;
    Ok(Parts { of, is_turn: true })
}

/// Returns the rows of observations that cannot outlive these: with anything of a turn, what a model or retention made of it;
/// with the prompt, also the end of the turn, its messages and refused calls; with what an entry was made of, what a person
/// changed about the entry, and the index in which a session was shown it. The next turn may quote a prompt and the end of a turn:
/// what retention kept of it goes too, and the indexes that show it.
pub(crate) fn along(connection: &Connection, rows: &[i64]) -> Result<Vec<i64>, Error> {
    let rows = serde_json::to_string(rows)?;
    let mut found: BTreeSet<i64> = BTreeSet::new();
    let mut select = connection.prepare(
        "WITH gone AS (SELECT session, prompt, max(kind = 'prompt') AS has_prompt FROM observations
             WHERE row IN (SELECT value FROM json_each(?1)) AND kind IN ('prompt', 'tool', 'turn-end', 'said', 'refused', 'summary')
             GROUP BY session, prompt)
         SELECT o.row FROM gone JOIN observations AS o ON o.session = gone.session AND o.prompt = gone.prompt
         WHERE o.kind = 'made'
             OR (o.kind = 'summary' AND CASE WHEN json_valid(o.data) THEN o.data ->> '$.source' END = 'model')
             OR (has_prompt AND o.kind IN ('turn-end', 'said', 'refused'))",
    )?;
    for row in select.query_map([&rows], |row| row.get(0))? {
        found.insert(row?);
    }
    let mut lost = lost_entries(connection, &rows, &found)?;
    let json = serde_json::to_string(&lost)?;
    let mut select = connection
        .prepare("SELECT observation FROM amends WHERE entry IN (SELECT value FROM json_each(?1))")?;
    for row in select.query_map([&json], |row| row.get(0))? {
        found.insert(row?);
    }
    for (session, prompt) in leaning(connection, &rows)? {
        found.extend(
            connection
                .prepare_cached(
                    "SELECT row FROM observations WHERE session = ?1 AND prompt = ?2 AND kind = ?3",
                )?
                .query_map(params![session, prompt, kept::KIND], |row| row.get(0))?
                .collect::<Result<Vec<i64>, _>>()?,
        );
        // A person's changes to these stay: what they were made about is still there.
        lost.extend(made_in(connection, (session, prompt))?);
    }
    if lost.is_empty() {
        return Ok(found.into_iter().collect());
    }
    let mut select = connection.prepare(
        "SELECT o.row, o.data, p.data FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row
         WHERE o.kind = 'told'",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let shown = joined(row, 1)?;
        let shown = shown.get("text").and_then(Value::as_str).unwrap_or_default();
        if shown.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| lost.contains(word)) {
            found.insert(row.get(0)?);
        }
    }
    Ok(found.into_iter().collect())
}

/// Returns the turns that may quote these rows: those with a short prompt behind a turn whose prompt or end is among them.
fn leaning(connection: &Connection, rows: &str) -> Result<Vec<Key>, Error> {
    let mut select = connection.prepare(
        "WITH heard AS (SELECT DISTINCT session, prompt FROM observations
             WHERE row IN (SELECT value FROM json_each(?1)) AND kind IN ('prompt', 'turn-end'))
         SELECT o.session, o.prompt, o.data, p.data FROM heard
         JOIN observations AS o ON o.session = heard.session AND o.prompt = heard.prompt + 1 AND o.kind = 'prompt'
         LEFT JOIN payloads AS p ON p.observation = o.row",
    )?;
    let mut rows = select.query([rows])?;
    let mut turns = Vec::new();
    while let Some(row) = rows.next()? {
        let prompt = joined(row, 2)?;
        let text = prompt.get("text").and_then(Value::as_str).unwrap_or_default();
        if text.chars().count() <= MOST_LEANING {
            turns.push((row.get(0)?, row.get(1)?));
        }
    }
    Ok(turns)
}

/// Returns the ids of the entries and summaries that were made of a turn rather than given.
fn made_in(connection: &Connection, (session, prompt): Key) -> Result<Vec<String>, Error> {
    let mut select = connection.prepare_cached(
        "WITH asked AS (SELECT row FROM observations WHERE session = ?1 AND prompt = ?2 AND kind = 'prompt')
         SELECT id FROM entries WHERE session = ?1 AND turn IN asked AND source IN ('rules', 'model')
         UNION SELECT id FROM summaries WHERE session = ?1 AND turn IN asked AND source IN ('rules', 'model')",
    )?;
    let ids = select.query_map(params![session, prompt], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns the ids of entries and summaries that were made of these rows: by their first observation, by their prompt, or by what
/// was kept of their turn.
fn lost_entries(
    connection: &Connection,
    rows: &str,
    along: &BTreeSet<i64>,
) -> Result<HashSet<String>, Error> {
    let along = serde_json::to_string(along)?;
    let mut select = connection.prepare(
        "WITH gone AS (SELECT value AS row FROM json_each(?1) UNION SELECT value FROM json_each(?2)),
         turns AS (SELECT o.session AS session, coalesce((SELECT asked.row FROM observations AS asked
                 WHERE asked.session = o.session AND asked.prompt = o.prompt AND asked.kind = 'prompt'), 0) AS turn
             FROM observations AS o WHERE o.row IN gone AND o.kind IN ('prompt', 'made')),
         items AS (SELECT id, anchor, session, turn, source FROM entries
             UNION ALL SELECT id, anchor, session, turn, source FROM summaries)
         SELECT id FROM items WHERE anchor IN gone
             OR ((session, turn) IN turns AND source IN ('rules', 'model'))",
    )?;
    let ids = select.query_map([rows, &along], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns data as JSON, for a program that reads it: without the hashes of lines, which say nothing to it.
pub fn to_json(item: &Item) -> Value {
    let mut facts = match item {
        Item::Entry(entry) => serde_json::to_value(entry),
        Item::Summary(summary) => serde_json::to_value(summary),
    }
    .unwrap_or_default();
    if let Some(detail) = facts.get_mut("detail").and_then(Value::as_object_mut) {
        detail.remove("lines");
    }
    facts
}
