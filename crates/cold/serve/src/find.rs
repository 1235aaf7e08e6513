//! Search, timeline and the texts for a session's start: as the model-facing text of claude-mem, or as rows with `format=json`.

use crate::ask::{self, Asked};
use crate::rows::{self, Condition};
use crate::server::{Failed, Server};
use base::project::Project;
use base::{Timestamp, secret};
use journal::recall::{self, Situation, Taste};
use search::index::Index;
use search::query::Query;
use search::sources::{self, Loaded};
use search::{Filter, Kind};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;
use store::Store;
use store::rusqlite::types::Value as Sql;
use text::sanitize::{self, Fence};

/// How many are found, and the most that may be.
const FOUND: u64 = 20;
const MAX_FOUND: u64 = 100;
/// How many are around an anchor on each side, and the most that may be.
const AROUND: u64 = 10;
const MAX_AROUND: u64 = 100;
/// How long a search brings the index in step before it answers from what is there.
const MOST_TIME: Duration = Duration::from_millis(1_000);
/// In characters.
const MAX_TITLE: usize = 200;
/// A prompt shorter than this says too little to find something by.
const LEAST_WORDS: usize = 20;
/// What is asked of this server: recorded work, and nothing that a team shares.
const KINDS: [Kind; 3] = [Kind::Entry, Kind::Summary, Kind::Prompt];

pub(crate) fn search(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let found = found(server, asked, None)?;
    let words = asked.query("query").unwrap_or_default();
    if asked.query("format") == Some("json") {
        let mut answer = found.groups.clone();
        answer["query"] = words.into();
        answer["totalResults"] = found.lines.len().into();
        return Ok(answer);
    }
    Ok(said(&found.text(words)))
}

pub(crate) fn search_observations(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let found = found(server, asked, Some(Kind::Entry))?;
    if asked.query("format") == Some("json") {
        return Ok(json!({"observations": found.groups["observations"]}));
    }
    Ok(said(&found.text(asked.query("query").unwrap_or_default())))
}

pub(crate) fn search_by_file(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let path = asked.query("filePath").or_else(|| asked.query("path"));
    let path = path.ok_or_else(|| "filePath is missing".to_owned())?.to_owned();
    let limit = asked.number("limit", FOUND, 1, MAX_FOUND)?;
    let items =
        rows::of_files(server, &[path], &rows::projects_of(asked), asked.query("platformSource"), limit)?;
    let found = Found::of(json!({"observations": items, "sessions": [], "prompts": []}));
    if asked.query("format") == Some("json") {
        return Ok(found.groups);
    }
    Ok(said(&found.text("")))
}

/// What was found: rows by their kind, and a line for each, best first.
struct Found {
    groups: Value,
    lines: Vec<String>,
}

impl Found {
    /// Takes rows in the order of each group.
    fn of(groups: Value) -> Self {
        let lines = GROUPS.iter().flat_map(|group| {
            let rows = groups[*group].as_array().cloned().unwrap_or_default();
            rows.into_iter().map(|row| line(group, &row)).collect::<Vec<_>>()
        });
        Self { lines: lines.collect(), groups }
    }

    fn text(&self, words: &str) -> String {
        let words = sanitize::one_line(words, MAX_TITLE);
        if self.lines.is_empty() {
            return format!("No results found matching \"{words}\"");
        }
        let count = |group: &str| self.groups[group].as_array().map_or(0, Vec::len);
        let mut text = format!(
            "Found {} result(s) matching \"{words}\" ({} obs, {} sessions, {} prompts)\n\n{HEAD}",
            self.lines.len(),
            count("observations"),
            count("sessions"),
            count("prompts"),
        );
        self.lines.iter().for_each(|line| text.push_str(line));
        text
    }
}

const GROUPS: [&str; 3] = ["observations", "sessions", "prompts"];
const HEAD: &str = "| ID | Time | T | Title | Read |\n|----|------|---|-------|------|\n";

/// Returns the line of a row: `#12`, `#S12` or `#P12`, when it was, its glyph and title, and what it costs to read.
fn line(group: &str, row: &Value) -> String {
    let (letter, title) = match group {
        "sessions" => ("S", &row["request"]),
        "prompts" => ("P", &row["prompt_text"]),
        _ => ("", &row["title"]),
    };
    let glyph = match group {
        "sessions" => "🎯",
        "prompts" => "💬",
        _ => journal::Kind::new(row["type"].as_str().unwrap_or_default()).glyph(),
    };
    let title = sanitize::one_line(title.as_str().unwrap_or_default(), MAX_TITLE).replace('|', "¦");
    let time = row["created_at"].as_str().unwrap_or_default();
    let time = time.get(..16).unwrap_or(time).replace('T', " ");
    let cost = row["read_tokens"].as_u64().map_or("-".to_owned(), |tokens| format!("~{tokens}"));
    format!("| #{letter}{} | {time} | {glyph} | {title} | {cost} |\n", row["id"])
}

/// Returns a text as MCP and claude-mem wrap it.
fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn found(server: &Server, asked: &Asked, only: Option<Kind>) -> Result<Found, Failed> {
    let words = asked.query("query").or_else(|| asked.query("q")).unwrap_or_default();
    let limit = asked.number("limit", FOUND, 1, MAX_FOUND)? as usize;
    let offset = asked.number("offset", 0, 0, 10_000)? as usize;
    let mut types: Vec<String> = list(asked, "obs_type")?;
    let mut kinds = KINDS.to_vec();
    for name in list(asked, "type")? {
        match &*name {
            "observations" => kinds = vec![Kind::Entry],
            "sessions" => kinds = vec![Kind::Summary],
            "prompts" => kinds = vec![Kind::Prompt],
            _ => types.push(name),
        }
    }
    if let Some(only) = only {
        kinds = vec![only];
    } else if !types.is_empty() {
        kinds = vec![Kind::Entry];
    }
    let since = date(asked, "dateStart", false)?;
    let until = date(asked, "dateEnd", true)?;
    let file = list(asked, "files")?.into_iter().next().unwrap_or_default();
    let (projects, source) = (rows::projects_of(asked), asked.query("platformSource"));
    let is_filtered =
        !projects.is_empty() || !types.is_empty() || !file.is_empty() || since.is_some() || until.is_some();
    if words.trim().is_empty() && !is_filtered && asked.query("type").is_none() && source.is_none() {
        return Err("query is missing, and no filter either".to_owned().into());
    }
    if words.trim().is_empty() {
        return recent(server, &kinds, &types, &file, (&projects, source), (since, until), (limit, offset));
    }
    server.read(|store| {
        let keys = keys_of(store, &projects)?;
        if !projects.is_empty() && keys.is_empty() {
            return Ok(Found::of(json!({"observations": [], "sessions": [], "prompts": []})));
        }
        let filter = Filter {
            projects: keys,
            kinds: kinds.clone(),
            classes: rows::kinds_of(&types),
            file: file.clone(),
            since,
            until,
            ..Filter::default()
        };
        let query =
            Query { text: words.to_owned(), filter, limit, skip: offset, now: Timestamp::now().millis() };
        let loaded = look(server, store, &query)?;
        rows_of(store, &loaded, source)
    })
}

/// Answers a question by the index, once that is in step.
fn look(server: &Server, store: &mut Store, query: &Query) -> Result<Vec<Loaded>, Failed> {
    match sources::refresh(store, &server.paths, None, MOST_TIME) {
        Err(error) if !error.is_busy() => return Err(error.into()),
        _ => {}
    }
    let index = Index::open(&sources::folder(&server.paths))?;
    let keys: Vec<String> = index.search(query).hits.into_iter().map(|hit| hit.key).collect();
    Ok(sources::load(store, &server.paths, &keys)?)
}

/// Returns rows of what was found, each group and the lines in the order of the ranking.
fn rows_of(store: &Store, loaded: &[Loaded], source: Option<&str>) -> Result<Found, Failed> {
    let mut groups = json!({"observations": [], "sessions": [], "prompts": []});
    let mut lines = Vec::new();
    for loaded in loaded {
        let (group, column) = match loaded.document.kind {
            Some(Kind::Entry) => ("observations", "e.id"),
            Some(Kind::Summary) => ("sessions", "e.id"),
            Some(Kind::Prompt) => ("prompts", "i.id"),
            _ => continue,
        };
        let mut condition = Condition::default();
        let id = sources::id_of(&loaded.document.key).to_owned();
        condition.add(&format!("{column} = ?"), [Sql::Text(id)]);
        rows::filter(&mut condition, &[], source);
        let row = match group {
            "observations" => rows::observations(store, &condition, "LIMIT 1"),
            "sessions" => rows::summaries(store, &condition, "LIMIT 1"),
            _ => rows::prompts(store, &condition, "LIMIT 1"),
        };
        if let Some(row) = row?.into_iter().next() {
            lines.push(line(group, &row));
            if let Some(rows) = groups[group].as_array_mut() {
                rows.push(row);
            }
        }
    }
    Ok(Found { groups, lines })
}

/// Answers a question without words: the newest that pass the filter. The limit is for all kinds together.
fn recent(
    server: &Server,
    kinds: &[Kind],
    types: &[String],
    file: &str,
    (projects, source): (&[String], Option<&str>),
    (since, until): (Option<u64>, Option<u64>),
    (limit, offset): (usize, usize),
) -> Result<Found, Failed> {
    let mut condition = Condition::default();
    rows::filter(&mut condition, projects, source);
    if let Some(since) = since {
        condition.add("e.at >= ?", [Sql::Integer(since as i64)]);
    }
    if let Some(until) = until {
        condition.add("e.at < ?", [Sql::Integer(until as i64)]);
    }
    let rest = format!("ORDER BY e.at DESC, e.row DESC LIMIT {}", limit + offset);
    let (mut of_entries, kinds_wanted) = (condition.clone(), rows::kinds_of(types));
    if !kinds_wanted.is_empty() {
        let marks = vec!["?"; kinds_wanted.len()].join(", ");
        of_entries.add(&format!("e.kind IN ({marks})"), kinds_wanted.into_iter().map(Sql::Text));
    }
    if !file.is_empty() {
        let part = "EXISTS (SELECT 1 FROM entry_files AS f WHERE f.entry = e.row AND instr(f.path, ?) > 0)";
        of_entries.add(part, [Sql::Text(file.to_owned())]);
    }
    let mut all: Vec<(&str, Value)> = server.read(|store| {
        let mut all = Vec::new();
        for kind in kinds {
            let (group, found) = match kind {
                Kind::Entry => ("observations", rows::observations(store, &of_entries, &rest)?),
                Kind::Summary if file.is_empty() => ("sessions", rows::summaries(store, &condition, &rest)?),
                Kind::Prompt if file.is_empty() => ("prompts", rows::prompts(store, &condition, &rest)?),
                _ => continue,
            };
            all.extend(found.into_iter().map(|row| (group, row)));
        }
        Ok(all)
    })?;
    all.sort_by_key(|(_, row)| std::cmp::Reverse(row["created_at_epoch"].as_u64()));
    let mut groups = json!({"observations": [], "sessions": [], "prompts": []});
    for (group, row) in all.into_iter().skip(offset).take(limit) {
        if let Some(rows) = groups[group].as_array_mut() {
            rows.push(row);
        }
    }
    Ok(Found::of(groups))
}

fn list(asked: &Asked, name: &str) -> Result<Vec<String>, Failed> {
    let items = asked.query(name).map(ask::split).unwrap_or_default();
    Ok(ask::texts(&items, name)?)
}

/// Returns a moment of the query: milliseconds since 1970, or a date, which lasts to its end.
fn date(asked: &Asked, name: &str, is_end: bool) -> Result<Option<u64>, Failed> {
    const DAY: u64 = 24 * 60 * 60 * 1_000;
    let Some(text) = asked.query(name) else { return Ok(None) };
    if let Ok(millis) = text.parse::<u64>() {
        return Ok(Some(millis.min(i64::MAX as u64)));
    }
    let is_day = text.len() == 10;
    let whole = if is_day { format!("{text}T00:00:00.000Z") } else { text.to_owned() };
    let at: Timestamp = whole
        .parse()
        .map_err(|_| format!("{name} is no date: use 2026-11-18 or 2026-11-18T12:00:00.000Z"))?;
    Ok(Some(at.millis() + if is_end && is_day { DAY } else { 0 }))
}

/// Returns the keys of the projects with these names.
fn keys_of(store: &Store, names: &[String]) -> Result<Vec<String>, Failed> {
    Ok(projects_named(store, names)?.into_iter().map(|project| project.key).collect())
}

fn projects_named(store: &Store, names: &[String]) -> Result<Vec<Project>, Failed> {
    let mut select = store
        .connection()
        .prepare_cached("SELECT key, name, root FROM projects WHERE name = ?1 OR key = ?1")?;
    let mut found = Vec::new();
    for name in names {
        let parent = name.split_once('/').map(|(parent, _)| parent);
        for name in [Some(&**name), parent].into_iter().flatten() {
            let rows = select.query_map([name], |row| {
                Ok(Project {
                    key: row.get(0)?,
                    name: row.get(1)?,
                    root: PathBuf::from(row.get::<_, String>(2)?),
                })
            })?;
            found.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
    }
    found.dedup();
    Ok(found)
}

pub(crate) fn timeline(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let before = around_count(asked, "depth_before")?;
    let after = around_count(asked, "depth_after")?;
    let projects = rows::projects_of(asked);
    let (anchor, words) = (asked.query("anchor"), asked.query("query"));
    server.read(|store| {
        let loaded = match (anchor, words) {
            (Some(anchor), _) => anchored(server, store, anchor, &projects)?,
            (None, Some(words)) => {
                let filter = Filter {
                    projects: keys_of(store, &projects)?,
                    kinds: KINDS.to_vec(),
                    ..Filter::default()
                };
                let now = Timestamp::now().millis();
                let query = Query { text: words.to_owned(), filter, limit: 1, skip: 0, now };
                look(server, store, &query)?.pop()
            }
            (None, None) => return Err("anchor or query is missing".to_owned().into()),
        };
        let Some(anchor) = loaded else {
            return Ok(said("No observation matches the anchor or the query"));
        };
        let around = sources::around(store, &server.paths, &anchor, (before, after))?;
        let all: Vec<Loaded> =
            around.before.into_iter().chain([anchor.clone()]).chain(around.after).collect();
        let found = rows_of(store, &all, None)?;
        if asked.query("format") == Some("json") {
            let mut answer = found.groups;
            answer["anchor"] = sources::id_of(&anchor.document.key).into();
            return Ok(answer);
        }
        let title = sanitize::one_line(&anchor.document.title, MAX_TITLE);
        let mut text = format!("# Timeline around: {title}\n\n{HEAD}");
        found.lines.iter().for_each(|line| text.push_str(line));
        Ok(said(&text))
    })
}

fn around_count(asked: &Asked, name: &str) -> Result<usize, Failed> {
    Ok(asked.number(name, AROUND, 0, MAX_AROUND)? as usize)
}

/// Returns what an anchor means: an id, `S` and the id of a summary, or a moment.
fn anchored(
    server: &Server,
    store: &mut Store,
    anchor: &str,
    projects: &[String],
) -> Result<Option<Loaded>, Failed> {
    let typed = anchor.trim().trim_start_matches('#');
    let plain = typed.strip_prefix(['S', 'P']).unwrap_or(typed);
    if let Ok(id) = rows::id_of(&Value::from(plain)) {
        let keys = ["e", "s", "p"].map(|letter| format!("{letter}:{id}"));
        return Ok(sources::load(store, &server.paths, &keys)?.into_iter().next());
    }
    let at: Timestamp = typed.parse().map_err(|_| "anchor is no id and no moment".to_owned())?;
    let mut condition = Condition::default();
    condition.add("e.at <= ?", [Sql::Integer(at.millis() as i64)]);
    rows::filter(&mut condition, projects, None);
    let nearest = rows::observations(store, &condition, "ORDER BY e.at DESC, e.row DESC LIMIT 1")?;
    let Some(id) = nearest.first().and_then(|row| row["wyren_id"].as_str()) else { return Ok(None) };
    Ok(sources::load(store, &server.paths, &[format!("e:{id}")])?.into_iter().next())
}

/// Returns the text for a session's start: the same that a session of the client is shown.
pub(crate) fn inject(server: &Server, asked: &Asked) -> Result<String, Failed> {
    let names = rows::projects_of(asked);
    if names.is_empty() {
        return Err("project or projects is missing".to_owned().into());
    }
    let mut taste = Taste::of(&server.settings());
    if asked.query("full") == Some("true") {
        taste.full = taste.full.max(10);
    }
    let fence = Fence::new(secret::word(&server.paths, "serve"));
    server.read(|store| {
        let mut texts = Vec::new();
        for project in projects_named(store, &names)? {
            let past = recall::look(store, &project, &taste, |_| Situation::default())?;
            let Some(past) = past else { continue };
            let index = recall::index(&past, &taste, &fence, &recall::local);
            if !index.text.is_empty() {
                texts.push(index.text);
            }
        }
        texts.dedup();
        Ok(texts.join("\n\n"))
    })
}

/// Returns the last summaries of a project, with the entries of their turns.
pub(crate) fn recent_context(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let limit = asked.number("limit", 3, 1, MAX_FOUND)?;
    let mut condition = Condition::default();
    rows::filter(&mut condition, &rows::projects_of(asked), None);
    let found = server.read(|store| {
        rows::summaries(store, &condition, &format!("ORDER BY e.at DESC, e.row DESC LIMIT {limit}"))
    })?;
    let mut text = String::new();
    for row in &found {
        let field = |name: &str| sanitize::one_line(row[name].as_str().unwrap_or_default(), 1_000);
        let _ = writeln!(text, "## {} ({})", field("request"), field("created_at"));
        for (name, title) in [
            ("investigated", "Investigated"),
            ("learned", "Learned"),
            ("completed", "Completed"),
            ("next_steps", "Next Steps"),
        ] {
            let said = field(name);
            if !said.is_empty() {
                let _ = writeln!(text, "**{title}**: {said}");
            }
        }
        text.push('\n');
    }
    Ok(said(if text.is_empty() { "No recent sessions found" } else { text.trim_end() }))
}

/// Returns what is known about a prompt.
pub(crate) fn semantic(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let body = asked.object()?;
    let words = ask::text(&body, "q")?.unwrap_or_default().trim().to_owned();
    let limit = ask::number_in(&body, "limit", 5, 1, 20)? as usize;
    let projects: Vec<String> = ask::text(&body, "project")?.map(str::to_owned).into_iter().collect();
    if words.chars().count() < LEAST_WORDS {
        return Ok(json!({"context": "", "count": 0}));
    }
    server.read(|store| {
        let filter =
            Filter { projects: keys_of(store, &projects)?, kinds: vec![Kind::Entry], ..Filter::default() };
        let query = Query { text: words.clone(), filter, limit, skip: 0, now: Timestamp::now().millis() };
        let loaded = look(server, store, &query)?;
        let found = rows_of(store, &loaded, None)?;
        let fence = Fence::new(secret::word(&server.paths, "serve"));
        let context = match found.lines.is_empty() {
            true => String::new(),
            false => fence.around("journal", &[], &format!("{HEAD}{}", found.lines.concat())),
        };
        Ok(json!({"context": context, "count": found.lines.len()}))
    })
}
