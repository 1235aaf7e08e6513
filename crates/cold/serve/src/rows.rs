//! The journal as claude-mem's tables: lists in pages, single rows, counts.

use crate::ask::{self, Asked};
use crate::ingest::{platform, platform_source};
use crate::number;
use crate::server::{Failed, Server};
use base::Timestamp;
use journal::Detail;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use store::Store;
use store::rusqlite::types::Value as Sql;
use store::rusqlite::{Row, params_from_iter};

/// How many a page has, and the most it may have.
const PAGE: u64 = 20;
const MAX_PAGE: u64 = 100;
/// How many rows of one file are listed.
const OF_FILE: u64 = 15;
/// How many ids one request may name.
const MAX_IDS: usize = 1_000;
/// How many projects, types or files one request may name: each is a term of a question in SQL.
pub(crate) const MAX_NAMES: usize = 100;
/// The largest offset: SQLite counts in 64 bits with a sign.
const MAX_OFFSET: u64 = i64::MAX as u64;

const OF_SESSION: &str = "sessions.platform, sessions.id, coalesce(projects.name, '')";

/// A part of a question in SQL, with its values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    parts: Vec<String>,
    values: Vec<Sql>,
}

impl Condition {
    pub(crate) fn add(&mut self, part: &str, values: impl IntoIterator<Item = Sql>) {
        self.parts.push(part.to_owned());
        self.values.extend(values);
    }

    /// Lets those pass whose column has one of these values.
    fn one_of(&mut self, column: &str, values: &[String]) {
        let marks = vec!["?"; values.len()].join(", ");
        self.add(&format!("{column} IN ({marks})"), values.iter().cloned().map(Sql::Text));
    }

    fn text(&self) -> String {
        if self.parts.is_empty() { "1".to_owned() } else { self.parts.join(" AND ") }
    }
}

/// Returns the names of a list of projects; none means all.
pub(crate) fn projects_of(asked: &Asked) -> Result<Vec<String>, Failed> {
    let names = ["project", "projects"].into_iter().filter_map(|name| asked.query(name));
    let names = names.flat_map(|names| names.split(',')).map(|name| name.trim().to_owned());
    few("project", names.filter(|name| !name.is_empty()).collect())
}

/// Refuses more names than a request may have.
pub(crate) fn few(what: &str, names: Vec<String>) -> Result<Vec<String>, Failed> {
    if names.len() > MAX_NAMES {
        return Err(format!("{what} names more than {MAX_NAMES}").into());
    }
    Ok(names)
}

/// Adds the filters that every list has.
pub(crate) fn filter(condition: &mut Condition, projects: &[String], source: Option<&str>) {
    if !projects.is_empty() {
        // A work tree is called `<parent>/<work tree>`, and has the memory of its repository.
        let parents =
            projects.iter().filter_map(|name| name.split_once('/')).map(|(parent, _)| parent.to_owned());
        let all: Vec<String> = projects.iter().cloned().chain(parents).collect();
        let marks = vec!["?"; all.len()].join(", ");
        let values = all.iter().chain(&all).cloned().map(Sql::Text);
        condition.add(&format!("(projects.name IN ({marks}) OR projects.key IN ({marks}))"), values);
    }
    if let Some(source) = source {
        condition.add("sessions.platform = ?", [Sql::Text(platform(source))]);
    }
}

/// Returns entries as claude-mem's observations.
pub(crate) fn observations(store: &Store, condition: &Condition, rest: &str) -> Result<Vec<Value>, Failed> {
    let sql = format!(
        "SELECT e.row, e.id, e.at, e.kind, e.title, e.detail, e.tokens, e.source, coalesce(o.prompt, 0), {OF_SESSION}
         FROM entries AS e JOIN sessions ON sessions.row = e.session LEFT JOIN projects ON projects.row = e.project
         LEFT JOIN observations AS o ON o.row = e.turn
         WHERE {} {rest}",
        condition.text()
    );
    let connection = store.connection();
    let found = selected(store, &sql, condition, |row| Ok((row.get::<_, i64>(0)?, observation(row)?)))?;
    let mut files = connection
        .prepare_cached("SELECT path, is_changed FROM entry_files WHERE entry = ?1 ORDER BY path")?;
    found
        .into_iter()
        .map(|(row, mut value)| {
            let (mut read, mut changed) = (Vec::new(), Vec::new());
            let mut rows = files.query([row])?;
            while let Some(row) = rows.next()? {
                let path: String = row.get(0)?;
                if row.get(1)? { changed.push(path) } else { read.push(path) }
            }
            value["files_read"] = json!(read).to_string().into();
            value["files_modified"] = json!(changed).to_string().into();
            Ok(value)
        })
        .collect()
}

fn observation(row: &Row<'_>) -> store::rusqlite::Result<Value> {
    let detail: Detail = serde_json::from_str(row.get_ref(5)?.as_str().unwrap_or("{}")).unwrap_or_default();
    let (id, at, kind): (String, u64, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
    let platform: String = row.get(9)?;
    Ok(json!({
        "id": number::of(&id),
        "wyren_id": id,
        "memory_session_id": row.get::<_, String>(10)?,
        "project": row.get::<_, String>(11)?,
        "platform_source": platform_source(&platform),
        "type": type_of(&kind),
        "title": row.get::<_, String>(4)?,
        "subtitle": detail.subtitle,
        "narrative": detail.narrative,
        "text": Value::Null,
        "facts": json!(detail.facts).to_string(),
        "concepts": json!(detail.concepts).to_string(),
        "prompt_number": row.get::<_, u64>(8)?,
        "discovery_tokens": 0,
        "read_tokens": row.get::<_, u64>(6)?,
        "source": row.get::<_, String>(7)?,
        "created_at": Timestamp::from_millis(at).to_string(),
        "created_at_epoch": at,
    }))
}

/// Returns claude-mem's name for a kind of entries.
fn type_of(kind: &str) -> &str {
    if kind == journal::Kind::FIX { "bugfix" } else { kind }
}

/// Returns our names for claude-mem's types.
pub(crate) fn kinds_of(types: &[String]) -> Vec<String> {
    let fixes = types.iter().any(|kind| kind == "bugfix").then(|| journal::Kind::FIX.to_owned());
    types.iter().cloned().chain(fixes).collect()
}

/// Returns summaries as claude-mem's rows.
pub(crate) fn summaries(store: &Store, condition: &Condition, rest: &str) -> Result<Vec<Value>, Failed> {
    let sql = format!(
        "SELECT e.id, e.at, e.request, e.investigated, e.learned, e.completed, e.next_steps, e.notes, e.files_read,
             e.files_edited, coalesce(o.prompt, 0), {OF_SESSION}
         FROM summaries AS e JOIN sessions ON sessions.row = e.session LEFT JOIN projects ON projects.row = e.project
         LEFT JOIN observations AS o ON o.row = e.turn
         WHERE {} {rest}",
        condition.text()
    );
    selected(store, &sql, condition, |row| {
        let (id, at, platform): (String, u64, String) = (row.get(0)?, row.get(1)?, row.get(11)?);
        let text = |column: usize| row.get::<_, String>(column);
        Ok(json!({
            "id": number::of(&id),
            "wyren_id": id,
            "session_id": text(12)?,
            "memory_session_id": text(12)?,
            "project": text(13)?,
            "platform_source": platform_source(&platform),
            "request": text(2)?,
            "investigated": text(3)?,
            "learned": text(4)?,
            "completed": text(5)?,
            "next_steps": text(6)?,
            "notes": text(7)?,
            "files_read": text(8)?,
            "files_edited": text(9)?,
            "prompt_number": row.get::<_, u64>(10)?,
            "created_at": Timestamp::from_millis(at).to_string(),
            "created_at_epoch": at,
        }))
    })
}

/// Returns prompts as claude-mem's rows.
pub(crate) fn prompts(store: &Store, condition: &Condition, rest: &str) -> Result<Vec<Value>, Failed> {
    let sql = format!(
        "SELECT i.id, e.at, e.number, e.text, {OF_SESSION}
         FROM prompt_ids AS i JOIN prompts AS e ON e.row = i.observation JOIN sessions ON sessions.row = e.session
         LEFT JOIN projects ON projects.row = sessions.project
         WHERE {} {rest}",
        condition.text()
    );
    selected(store, &sql, condition, |row| {
        let (id, at, platform): (String, u64, String) = (row.get(0)?, row.get(1)?, row.get(4)?);
        Ok(json!({
            "id": number::of(&id),
            "wyren_id": id,
            "content_session_id": row.get::<_, String>(5)?,
            "project": row.get::<_, String>(6)?,
            "platform_source": platform_source(&platform),
            "prompt_number": row.get::<_, u64>(2)?,
            "prompt_text": row.get::<_, String>(3)?,
            "created_at": Timestamp::from_millis(at).to_string(),
            "created_at_epoch": at,
        }))
    })
}

fn selected<T>(
    store: &Store,
    sql: &str,
    condition: &Condition,
    read: impl FnMut(&Row<'_>) -> store::rusqlite::Result<T>,
) -> Result<Vec<T>, Failed> {
    // A later program's database may be without the journal's tables as this one knows them.
    if !journal::is_made(store)? {
        return Ok(Vec::new());
    }
    let mut select = store.connection().prepare_cached(sql)?;
    let rows = select.query_map(params_from_iter(condition.values.iter()), read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) type List = fn(&Store, &Condition, &str) -> Result<Vec<Value>, Failed>;

pub(crate) fn observation_list(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    page(server, asked, observations)
}

pub(crate) fn summary_list(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    page(server, asked, summaries)
}

pub(crate) fn prompt_list(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    page(server, asked, prompts)
}

/// Returns a page of a list, newest first.
fn page(server: &Server, asked: &Asked, list: List) -> Result<Value, Failed> {
    let (offset, limit) =
        (asked.number("offset", 0, 0, MAX_OFFSET)?, asked.number("limit", PAGE, 1, MAX_PAGE)?);
    let mut condition = Condition::default();
    filter(&mut condition, &projects_of(asked)?, asked.query("platformSource"));
    let mut items = server.read(|store| {
        list(
            store,
            &condition,
            &format!("ORDER BY e.at DESC, e.row DESC LIMIT {} OFFSET {offset}", limit + 1),
        )
    })?;
    let has_more = items.len() as u64 > limit;
    items.truncate(limit as usize);
    Ok(json!({"items": items, "hasMore": has_more, "offset": offset, "limit": limit}))
}

pub(crate) fn one_observation(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    one(server, asked, observations, "e.id", "observation")
}

pub(crate) fn one_summary(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    one(server, asked, summaries, "e.id", "session summary")
}

pub(crate) fn one_prompt(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    one(server, asked, prompts, "i.id", "prompt")
}

fn one(server: &Server, asked: &Asked, list: List, column: &str, what: &str) -> Result<Value, Failed> {
    let typed = asked.path.get("id").map(String::as_str).unwrap_or_default();
    let id = id_of(&Value::from(typed))?;
    let mut condition = Condition::default();
    condition.one_of(column, &[id]);
    let found = server.read(|store| list(store, &condition, "LIMIT 1"))?;
    found.into_iter().next().ok_or_else(|| Failed::Missing(format!("no {what} has this id")))
}

/// Returns the journal's id of what a program sent: the number of one, as a number or a text, or the id itself.
pub(crate) fn id_of(value: &Value) -> Result<String, Failed> {
    let found = match value {
        Value::Number(number) => number.as_u64().and_then(number::id),
        Value::String(text) => {
            let text = text.trim();
            // An id of the journal may consist of digits alone, but a number of claude-mem's is never written with eight that
            // begin with 0.
            match text.parse::<u64>() {
                Ok(number) if !text.starts_with('0') || text == "0" => number::id(number),
                _ => number::of(text).map(|_| text.to_owned()),
            }
        }
        _ => None,
    };
    found.ok_or_else(|| {
        Failed::Wrong("an id is a whole number, or one of Wyren's with 8 characters".to_owned())
    })
}

pub(crate) fn batch(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let body = asked.object()?;
    let ids = ids(&body, "ids")?;
    let limit = ask::number_in(&body, "limit", MAX_IDS as u64, 1, MAX_IDS as u64)?;
    let project = ask::text(&body, "project")?.map(str::to_owned);
    let order = match ask::text(&body, "orderBy")? {
        Some("date_asc") => "e.at, e.row",
        None | Some("date_desc" | "relevance") => "e.at DESC, e.row DESC",
        Some(_) => return Err("orderBy is date_desc or date_asc".to_owned().into()),
    };
    let ids: Vec<String> = ids.iter().map(id_of).collect::<Result<_, _>>()?;
    if ids.is_empty() {
        return Ok(json!([]));
    }
    let mut condition = Condition::default();
    condition.one_of("e.id", &ids);
    filter(&mut condition, project.as_slice(), None);
    let found =
        server.read(|store| observations(store, &condition, &format!("ORDER BY {order} LIMIT {limit}")))?;
    Ok(found.into())
}

fn ids(body: &serde_json::Map<String, Value>, name: &str) -> Result<Vec<Value>, Failed> {
    let value =
        body.get(name).filter(|value| !value.is_null()).ok_or_else(|| format!("{name} is missing"))?;
    let ids = ask::list(value, name)?;
    if ids.len() > MAX_IDS {
        return Err(format!("{name} has more than {MAX_IDS}").into());
    }
    Ok(ids)
}

pub(crate) fn session_batch(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let body = asked.object()?;
    let sessions = ask::texts(&ids(&body, "memorySessionIds")?, "memorySessionIds")?;
    if sessions.is_empty() {
        return Ok(json!([]));
    }
    let mut condition = Condition::default();
    condition.one_of("sessions.id", &sessions);
    server.read(|store| {
        let sql = format!(
            "SELECT sessions.started_at, sessions.last_at, coalesce(sessions.title, ''), sessions.prompts, {OF_SESSION}
             FROM sessions LEFT JOIN projects ON projects.row = sessions.project WHERE {} ORDER BY sessions.row",
            condition.text()
        );
        let rows = selected(store, &sql, &condition, |row| {
            let (began, last, platform): (u64, u64, String) = (row.get(0)?, row.get(1)?, row.get(4)?);
            let session: String = row.get(5)?;
            Ok(json!({
                "id": number::of_name(&format!("{platform}\n{session}")),
                "content_session_id": session,
                "memory_session_id": session,
                "project": row.get::<_, String>(6)?,
                "platform_source": platform_source(&platform),
                "custom_title": row.get::<_, String>(2)?,
                "prompt_counter": row.get::<_, u64>(3)?,
                "started_at": Timestamp::from_millis(began).to_string(),
                "started_at_epoch": began,
                "completed_at_epoch": last,
            }))
        })?;
        Ok(rows.into())
    })
}

pub(crate) fn by_file(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let mut paths: Vec<String> =
        asked.all("path").filter(|path| !path.is_empty()).map(str::to_owned).collect();
    if paths.is_empty() {
        paths.extend(asked.query("filePath").map(str::to_owned));
    }
    if paths.is_empty() {
        return Err("path is missing".to_owned().into());
    }
    let paths = few("path", paths)?;
    let limit = asked.number("limit", OF_FILE, 1, MAX_PAGE)?;
    let found = of_files(server, &paths, &projects_of(asked)?, asked.query("platformSource"), limit)?;
    Ok(json!({"count": found.len(), "observations": found}))
}

/// Lets entries pass that are about one of these: a file by its path or the end of it, or a folder.
pub(crate) fn about_files(condition: &mut Condition, paths: &[String]) {
    if paths.is_empty() {
        return;
    }
    let one =
        "instr('/' || f.path || '/', '/' || ? || '/') > 0 OR substr(?, -length(f.path) - 1) = '/' || f.path";
    let parts = vec![one; paths.len()].join(" OR ");
    let part = format!("EXISTS (SELECT 1 FROM entry_files AS f WHERE f.entry = e.row AND ({parts}))");
    let plain = |path: &String| {
        let path = path.replace('\\', "/");
        path.trim_start_matches("./").trim_end_matches('/').to_owned()
    };
    let values = paths.iter().map(plain).flat_map(|path| [path.clone(), path]);
    condition.add(&part, values.map(Sql::Text));
}

/// Returns the entries about files: by the path that they name, or by its end after a `/`.
pub(crate) fn of_files(
    server: &Server,
    paths: &[String],
    projects: &[String],
    source: Option<&str>,
    limit: u64,
) -> Result<Vec<Value>, Failed> {
    let one = "f.path = ? OR substr(?, -length(f.path) - 1) = '/' || f.path";
    let parts = vec![one; paths.len()].join(" OR ");
    let part = format!("EXISTS (SELECT 1 FROM entry_files AS f WHERE f.entry = e.row AND ({parts}))");
    let values = paths.iter().map(|path| path.replace('\\', "/")).flat_map(|path| [path.clone(), path]);
    let mut condition = Condition::default();
    condition.add(&part, values.map(Sql::Text));
    filter(&mut condition, projects, source);
    server.read(|store| {
        observations(store, &condition, &format!("ORDER BY e.at DESC, e.row DESC LIMIT {limit}"))
    })
}

pub(crate) fn projects(server: &Server, _: &Asked) -> Result<Value, Failed> {
    let mut by_source: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    server.read(|store| {
        let mut select = store.connection().prepare(
            "SELECT DISTINCT sessions.platform, projects.name FROM sessions JOIN projects ON projects.row = sessions.project",
        )?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let (platform, name): (String, String) = (row.get(0)?, row.get(1)?);
            by_source.entry(platform_source(&platform).to_owned()).or_default().insert(name);
        }
        Ok(())
    })?;
    let names: BTreeSet<&String> = by_source.values().flatten().collect();
    let sources: Vec<&String> = by_source.keys().collect();
    Ok(json!({"projects": names, "sources": sources, "projectsBySource": by_source}))
}

pub(crate) fn stats(server: &Server, _: &Asked) -> Result<Value, Failed> {
    let counts = server.read(|store| {
        let count = |table: &str| -> Result<u64, Failed> {
            if !journal::is_made(store)? {
                return Ok(0);
            }
            Ok(store
                .connection()
                .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)
        };
        Ok([count("entries")?, count("sessions")?, count("summaries")?, count("prompt_ids")?])
    })?;
    let [observations, sessions, summaries, prompts] = counts;
    let size = std::fs::metadata(server.paths.database()).map_or(0, |file| file.len());
    Ok(json!({
        "worker": {
            "version": server.version, "uptime": server.began.elapsed().as_secs(), "port": server.port,
            "activeSessions": server.sessions().len(), "sseClients": server.feed.listeners(),
        },
        "database": {
            "path": server.paths.database(), "size": size, "observations": observations, "sessions": sessions,
            "summaries": summaries, "prompts": prompts,
        },
    }))
}
