//! Documents of what is in the database: entries, summaries, prompts, plans and handoffs.

use super::load::Loaded;
use super::{Error, letter, lines, split};
use crate::document::{Document, Kind};
use base::project::Project;
use journal::Detail;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use store::rusqlite::{Connection, Params, Row};

/// The most files of a document.
const MAX_FILES: usize = 64;

/// Which rows are meant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rows<'a> {
    /// Those with one of these ids.
    Ids(&'a [String]),
    /// The first `most` from a row on, in their order.
    From { row: i64, most: usize },
}

/// Documents, and the last row that was looked at.
pub(super) type Read = (Vec<Loaded>, Option<i64>);

/// Reads rows of the database as documents.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The project of each folder that is not its session's.
    projects: HashMap<String, String>,
}

impl Reader {
    /// Returns the documents of a sort: [`letter::ENTRY`], [`letter::SUMMARY`] or [`letter::PROMPT`].
    pub(super) fn read(
        &mut self,
        connection: &Connection,
        sort: char,
        rows: Rows<'_>,
    ) -> Result<Read, Error> {
        match sort {
            letter::ENTRY => selected(connection, ENTRIES, ("e.row", "e.id"), rows, |row| Ok(entry(row)?)),
            letter::SUMMARY => {
                selected(connection, SUMMARIES, ("t.row", "t.id"), rows, |row| Ok(summary(row)?))
            }
            _ => selected(connection, PROMPTS, ("i.observation", "i.id"), rows, |row| self.prompt(row)),
        }
    }

    fn prompt(&mut self, row: &Row<'_>) -> Result<Loaded, Error> {
        let field = |column: usize| -> Result<Value, Error> {
            let text = row.get_ref(column)?.as_str().unwrap_or("null");
            Ok(serde_json::from_str(text).unwrap_or_default())
        };
        let (short, long) = (field(3)?, field(4)?);
        let text = |name: &str| short[name].as_str().or(long[name].as_str()).unwrap_or_default().to_owned();
        let kind = match row.get_ref(10)?.as_str() {
            Ok("plan") => Kind::Plan,
            Ok("work") => Kind::Handoff,
            _ => Kind::Prompt,
        };
        let (title, body) = match kind {
            Kind::Handoff => {
                (text("title"), sections(if short["sections"].is_array() { &short } else { &long }))
            }
            _ => split(&text("text")),
        };
        let branch = short["git"]["branch"].as_str().map_or_else(|| text("branch"), str::to_owned);
        let (cwd, session_cwd): (String, String) = (row.get(5)?, row.get(6)?);
        let of_session: Option<String> = row.get(9)?;
        let project = self.project(&cwd, &session_cwd).or(of_session).unwrap_or_default();
        Ok(Loaded::of(Document {
            key: format!("{}:{}", letter::PROMPT, row.get::<_, String>(1)?),
            kind: Some(kind),
            project,
            session: row.get(7)?,
            branch,
            author: row.get::<_, Option<String>>(8)?.unwrap_or_default(),
            at: row.get(2)?,
            title,
            body,
            ..Document::default()
        }))
    }

    /// Returns the project of a folder; `None` for the session's own. What the session says counts for a folder that is no more,
    /// as for entries.
    fn project(&mut self, cwd: &str, session_cwd: &str) -> Option<String> {
        if cwd == session_cwd {
            return None;
        }
        if let Some(key) = self.projects.get(cwd) {
            return Some(key.clone()).filter(|key| !key.is_empty());
        }
        let folder = Path::new(cwd);
        let key = if folder.is_dir() { Project::of(folder).key } else { String::new() };
        self.projects.insert(cwd.to_owned(), key.clone());
        Some(key).filter(|key| !key.is_empty())
    }
}

/// Returns the sections of a handoff, each below its name.
fn sections(data: &Value) -> String {
    let sections = data["sections"].as_array().into_iter().flatten();
    let text = |section: &Value| {
        let part = |name: &str| section[name].as_str().unwrap_or_default().trim().to_owned();
        format!("{}\n{}", part("name"), part("text"))
    };
    sections.map(text).collect::<Vec<_>>().join("\n\n")
}

/// In each, the first column is the row, the second the id.
const ENTRIES: &str = "SELECT e.row, e.id, e.at, e.kind, e.title, e.detail, e.branch, projects.key, sessions.id, sessions.author,
        e.replaced_by, e.is_repeated, e.times,
        (SELECT json_group_array(path) FROM
            (SELECT path FROM entry_files WHERE entry = e.row ORDER BY is_changed DESC, path LIMIT 64))
    FROM entries AS e JOIN sessions ON sessions.row = e.session LEFT JOIN projects ON projects.row = e.project";
const SUMMARIES: &str = "SELECT t.row, t.id, t.at, t.request, t.investigated, t.learned, t.completed, t.next_steps, t.notes,
        t.files_edited, t.files_read, projects.key, sessions.id, sessions.author, sessions.branch
    FROM summaries AS t JOIN sessions ON sessions.row = t.session LEFT JOIN projects ON projects.row = t.project";
const PROMPTS: &str = "SELECT o.row, i.id, o.at, o.data, payloads.data, o.cwd, sessions.cwd, sessions.id, sessions.author, projects.key, o.kind
    FROM prompt_ids AS i JOIN observations AS o ON o.row = i.observation JOIN sessions ON sessions.row = o.session
    LEFT JOIN payloads ON payloads.observation = o.row LEFT JOIN projects ON projects.row = sessions.project";

fn selected(
    connection: &Connection,
    select: &str,
    (row, id): (&str, &str),
    rows: Rows<'_>,
    mut load: impl FnMut(&Row<'_>) -> Result<Loaded, Error>,
) -> Result<Read, Error> {
    match rows {
        Rows::Ids(ids) => {
            // One after the other: SQLite would make a table of a list first, which takes longer than to find some rows.
            let sql = format!("{select} WHERE {id} = ?1");
            let (mut all, mut last) = (Vec::new(), None);
            for id in ids {
                let (loaded, row) = queried(connection, &sql, [id], &mut load)?;
                all.extend(loaded);
                last = last.max(row);
            }
            Ok((all, last))
        }
        Rows::From { row: from, most } => {
            let sql = format!("{select} WHERE {row} >= ?1 ORDER BY {row} LIMIT ?2");
            queried(connection, &sql, (from, i64::try_from(most).unwrap_or(i64::MAX)), load)
        }
    }
}

fn queried(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    mut load: impl FnMut(&Row<'_>) -> Result<Loaded, Error>,
) -> Result<Read, Error> {
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(values)?;
    let (mut loaded, mut last) = (Vec::new(), None);
    while let Some(row) = rows.next()? {
        last = last.max(Some(row.get(0)?));
        loaded.push(load(row)?);
    }
    Ok((loaded, last))
}

fn entry(row: &Row<'_>) -> store::rusqlite::Result<Loaded> {
    let detail: Detail = serde_json::from_str(row.get_ref(5)?.as_str().unwrap_or("{}")).unwrap_or_default();
    let all = |list: &[String]| list.join("\n");
    let concepts = detail.concepts.join(", ");
    let symbols = detail.symbols.join(", ");
    let (facts, commands, failed) = (all(&detail.facts), all(&detail.commands), all(&detail.failed));
    let body = lines([
        &*detail.subtitle,
        &*detail.narrative,
        &*facts,
        &*commands,
        &*failed,
        &*detail.outcome,
        &*concepts,
        &*symbols,
    ]);
    let document = Document {
        key: format!("{}:{}", letter::ENTRY, row.get::<_, String>(1)?),
        kind: Some(Kind::Entry),
        class: row.get(3)?,
        project: text(row, 7)?,
        session: row.get(8)?,
        branch: text(row, 6)?,
        author: text(row, 9)?,
        at: row.get(2)?,
        files: list(row, 13)?,
        title: row.get(4)?,
        body,
    };
    Ok(Loaded {
        replaced_by: row.get(10)?,
        is_repeated: row.get(11)?,
        times: row.get(12)?,
        ..Loaded::of(document)
    })
}

fn summary(row: &Row<'_>) -> store::rusqlite::Result<Loaded> {
    let parts: Vec<String> = (4..9).map(|column| row.get(column)).collect::<Result<_, _>>()?;
    let mut files = list(row, 9)?;
    files.extend(list(row, 10)?);
    files.truncate(MAX_FILES);
    let (title, rest) = split(&row.get::<_, String>(3)?);
    let body = lines([&*rest].into_iter().chain(parts.iter().map(String::as_str)));
    Ok(Loaded::of(Document {
        key: format!("{}:{}", letter::SUMMARY, row.get::<_, String>(1)?),
        kind: Some(Kind::Summary),
        project: text(row, 11)?,
        session: row.get(12)?,
        branch: text(row, 14)?,
        author: text(row, 13)?,
        at: row.get(2)?,
        files,
        title,
        body,
        ..Document::default()
    }))
}

fn text(row: &Row<'_>, column: usize) -> store::rusqlite::Result<String> {
    Ok(row.get::<_, Option<String>>(column)?.unwrap_or_default())
}

fn list(row: &Row<'_>, column: usize) -> store::rusqlite::Result<Vec<String>> {
    Ok(serde_json::from_str(row.get_ref(column)?.as_str().unwrap_or("[]")).unwrap_or_default())
}
