//! Search, timeline and the texts for a session's start: as the model-facing text of claude-mem, or as rows with `format=json`.

use crate::ask::{self, Asked};
use crate::ingest::is_by_name;
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
use std::collections::BTreeSet;
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
/// How many of the best are looked at where what they must have is not in the index, or their order is another one.
const LOOKED_AT: usize = 1_000;
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
    let mut condition = Condition::default();
    rows::about_files(&mut condition, std::slice::from_ref(&path));
    rows::filter(&mut condition, &rows::projects_of(asked)?, asked.query("platformSource"));
    let items = server.read(|store| {
        rows::observations(store, &condition, &format!("ORDER BY e.at DESC, e.row DESC LIMIT {limit}"))
    })?;
    let found = Found::of(json!({"observations": items, "sessions": [], "prompts": []}));
    if asked.query("format") == Some("json") {
        return Ok(found.groups);
    }
    Ok(said(&found.text(&path)))
}

/// What was found: rows by their kind, and a line for each, best first.
struct Found {
    groups: Value,
    lines: Vec<String>,
}

impl Found {
    /// Takes a page of rows in their order, each with its group.
    fn page(rows: Vec<(&'static str, Value)>, (limit, offset): (usize, usize)) -> Self {
        let mut groups = json!({"observations": [], "sessions": [], "prompts": []});
        let mut lines = Vec::new();
        for (group, row) in rows.into_iter().skip(offset).take(limit) {
            lines.push(line(group, &row));
            if let Some(rows) = groups[group].as_array_mut() {
                rows.push(row);
            }
        }
        Self { groups, lines }
    }

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

/// In which order rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The best first; without words, the newest.
    Best,
    Newest,
    Oldest,
}

impl Order {
    fn of(asked: &Asked) -> Result<Self, Failed> {
        match asked.query("orderBy") {
            None | Some("relevance") => Ok(Self::Best),
            Some("date_desc") => Ok(Self::Newest),
            Some("date_asc") => Ok(Self::Oldest),
            Some(_) => Err("orderBy is relevance, date_desc or date_asc".to_owned().into()),
        }
    }

    fn sort(self, rows: &mut [(&'static str, Value)]) {
        let at = |row: &Value| row["created_at_epoch"].as_u64();
        match self {
            Self::Best => {}
            Self::Newest => rows.sort_by_key(|(_, row)| std::cmp::Reverse(at(row))),
            Self::Oldest => rows.sort_by_key(|(_, row)| at(row)),
        }
    }
}

/// What rows must have beside words.
struct Wanted {
    kinds: Vec<Kind>,
    types: Vec<String>,
    concepts: Vec<String>,
    files: Vec<String>,
    projects: Vec<String>,
    source: Option<String>,
    since: Option<u64>,
    until: Option<u64>,
}

impl Wanted {
    fn of(asked: &Asked, only: Option<Kind>) -> Result<Self, Failed> {
        let mut types = list(asked, "obs_type")?;
        let concepts = list(asked, "concepts")?;
        let mut kinds = Vec::new();
        for name in list(asked, "type")? {
            match &*name {
                "observations" => kinds.push(Kind::Entry),
                "sessions" => kinds.push(Kind::Summary),
                "prompts" => kinds.push(Kind::Prompt),
                _ => types.push(name),
            }
        }
        if kinds.is_empty() {
            kinds = KINDS.to_vec();
        }
        if let Some(only) = only {
            kinds = vec![only];
        } else if !types.is_empty() || !concepts.is_empty() {
            kinds = vec![Kind::Entry];
        }
        Ok(Self {
            kinds,
            types,
            concepts,
            files: list(asked, "files")?.into_iter().filter(|file| !file.trim().is_empty()).collect(),
            projects: rows::projects_of(asked)?,
            source: asked.query("platformSource").map(str::to_owned),
            since: date(asked, "dateStart", false)?,
            until: date(asked, "dateEnd", true)?,
        })
    }

    fn is_everything(&self) -> bool {
        let lists = [&self.types, &self.concepts, &self.projects];
        lists.iter().all(|list| list.is_empty())
            && self.files.is_empty()
            && self.source.is_none()
            && self.since.is_none()
            && self.until.is_none()
    }

    /// Returns the file that the index can be asked for: it knows one, relative to its project. Else [`rows::about_files`] decides.
    fn indexed_file(&self) -> Option<String> {
        match &*self.files {
            [] => Some(String::new()),
            [file] if !file.replace('\\', "/").starts_with('/') && !file.contains(':') => Some(file.clone()),
            _ => None,
        }
    }

    /// Adds what the index does not know: the agent, and concepts, which only entries have.
    fn unindexed(&self, condition: &mut Condition) {
        rows::filter(condition, &[], self.source.as_deref());
        if !self.concepts.is_empty() {
            let marks = vec!["?"; self.concepts.len()].join(", ");
            let part = format!(
                "EXISTS (SELECT 1 FROM json_each(e.detail, '$.concepts') AS c WHERE c.value IN ({marks}))"
            );
            condition.add(&part, self.concepts.iter().cloned().map(Sql::Text));
        }
    }
}

fn found(server: &Server, asked: &Asked, only: Option<Kind>) -> Result<Found, Failed> {
    let words = asked.query("query").or_else(|| asked.query("q")).unwrap_or_default();
    let limit = asked.number("limit", FOUND, 1, MAX_FOUND)? as usize;
    let offset = asked.number("offset", 0, 0, 10_000)? as usize;
    let (wanted, order) = (Wanted::of(asked, only)?, Order::of(asked)?);
    if words.trim().is_empty() {
        if wanted.is_everything() && asked.query("type").is_none() {
            return Err("query is missing, and no filter either".to_owned().into());
        }
        return recent(server, &wanted, order, (limit, offset));
    }
    server.read(|store| {
        let Some(keys) = keys_of(store, &wanted.projects)? else {
            return Ok(Found::page(Vec::new(), (limit, offset)));
        };
        let file = wanted.indexed_file();
        let mut kinds = wanted.kinds.clone();
        if file.is_none() {
            kinds.retain(|kind| *kind == Kind::Entry);
            if kinds.is_empty() {
                return Ok(Found::page(Vec::new(), (limit, offset)));
            }
        }
        let filter = Filter {
            projects: keys,
            kinds,
            classes: rows::kinds_of(&wanted.types),
            file: file.clone().unwrap_or_default(),
            since: wanted.since,
            until: wanted.until,
            ..Filter::default()
        };
        let is_of_index =
            wanted.source.is_none() && wanted.concepts.is_empty() && file.is_some() && order == Order::Best;
        let (most, skip) = if is_of_index { (limit, offset) } else { (LOOKED_AT, 0) };
        let query =
            Query { text: words.to_owned(), filter, limit: most, skip, now: Timestamp::now().millis() };
        let loaded = look(server, store, &query)?;
        let mut rows = rows_of(store, &loaded, |condition| {
            wanted.unindexed(condition);
            if file.is_none() {
                rows::about_files(condition, &wanted.files);
            }
        })?;
        order.sort(&mut rows);
        Ok(Found::page(rows, (limit, if is_of_index { 0 } else { offset })))
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

/// Returns rows of what was found, in the order of the ranking, each with its group; only those that pass `more`.
fn rows_of(
    store: &Store,
    loaded: &[Loaded],
    more: impl Fn(&mut Condition),
) -> Result<Vec<(&'static str, Value)>, Failed> {
    let mut found = Vec::new();
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
        more(&mut condition);
        let row = match group {
            "observations" => rows::observations(store, &condition, "LIMIT 1"),
            "sessions" => rows::summaries(store, &condition, "LIMIT 1"),
            _ => rows::prompts(store, &condition, "LIMIT 1"),
        };
        found.extend(row?.into_iter().next().map(|row| (group, row)));
    }
    Ok(found)
}

/// Answers a question without words: the newest that pass the filter. The limit is for all kinds together.
fn recent(
    server: &Server,
    wanted: &Wanted,
    order: Order,
    (limit, offset): (usize, usize),
) -> Result<Found, Failed> {
    let mut condition = Condition::default();
    rows::filter(&mut condition, &wanted.projects, None);
    if let Some(since) = wanted.since {
        condition.add("e.at >= ?", [Sql::Integer(since as i64)]);
    }
    if let Some(until) = wanted.until {
        condition.add("e.at < ?", [Sql::Integer(until as i64)]);
    }
    wanted.unindexed(&mut condition);
    let direction = if order == Order::Oldest { "ASC" } else { "DESC" };
    let rest = format!("ORDER BY e.at {direction}, e.row {direction} LIMIT {}", limit + offset);
    let (mut of_entries, types) = (condition.clone(), rows::kinds_of(&wanted.types));
    if !types.is_empty() {
        let marks = vec!["?"; types.len()].join(", ");
        of_entries.add(&format!("e.kind IN ({marks})"), types.into_iter().map(Sql::Text));
    }
    rows::about_files(&mut of_entries, &wanted.files);
    let mut all: Vec<(&'static str, Value)> = server.read(|store| {
        let mut all = Vec::new();
        for kind in &wanted.kinds {
            let (group, found) = match kind {
                Kind::Entry => ("observations", rows::observations(store, &of_entries, &rest)?),
                Kind::Summary if wanted.files.is_empty() => {
                    ("sessions", rows::summaries(store, &condition, &rest)?)
                }
                Kind::Prompt if wanted.files.is_empty() => {
                    ("prompts", rows::prompts(store, &condition, &rest)?)
                }
                _ => continue,
            };
            all.extend(found.into_iter().map(|row| (group, row)));
        }
        Ok(all)
    })?;
    let order = if order == Order::Best { Order::Newest } else { order };
    order.sort(&mut all);
    Ok(Found::page(all, (limit, offset)))
}

fn list(asked: &Asked, name: &str) -> Result<Vec<String>, Failed> {
    let items = asked.query(name).map(ask::split).unwrap_or_default();
    rows::few(name, ask::texts(&items, name)?)
}

/// How many digits milliseconds since 1970 have at least, from 1973 on: fewer are a year, or another unit.
const MILLIS_DIGITS: usize = 12;

/// Returns a moment of the query: milliseconds since 1970, or a date, which lasts to its end.
fn date(asked: &Asked, name: &str, is_end: bool) -> Result<Option<u64>, Failed> {
    let Some(text) = asked.query(name) else { return Ok(None) };
    let millis = text.parse::<u64>().ok().filter(|millis| *millis == 0 || text.len() >= MILLIS_DIGITS);
    if let Some(millis) = millis {
        return Ok(Some(millis.min(i64::MAX as u64)));
    }
    let wrong =
        || format!("{name} is no date: use 2026-11-18, 2026-11-18T12:00:00.000Z or milliseconds since 1970");
    Ok(Some(moment(text, is_end).ok_or_else(wrong)?))
}

/// Reads a moment, or a day, which lasts to its end.
fn moment(text: &str, is_end: bool) -> Option<u64> {
    const DAY: u64 = 24 * 60 * 60 * 1_000;
    let is_day = text.len() == "2026-11-18".len();
    let whole = if is_day { format!("{text}T00:00:00.000Z") } else { text.to_owned() };
    let at: Timestamp = whole.parse().ok()?;
    Some(at.millis() + if is_end && is_day { DAY } else { 0 })
}

/// Returns the keys of the projects with these names; none for all projects, and `None` where no project has one of the names.
fn keys_of(store: &Store, names: &[String]) -> Result<Option<Vec<String>>, Failed> {
    let keys: Vec<String> = projects_named(store, names)?.into_iter().map(|project| project.key).collect();
    Ok((names.is_empty() || !keys.is_empty()).then_some(keys))
}

/// Returns the projects with these names, for a text that a session is shown. Two repositories with one name never share it.
fn one_each(server: &Server, store: &Store, names: &[String]) -> Result<Vec<Project>, Failed> {
    let mut all = Vec::new();
    for name in names {
        let found = projects_named(store, std::slice::from_ref(name))?;
        let with_folder = |project: &&Project| !is_by_name(server, &project.root);
        let keys: BTreeSet<&str> = found.iter().filter(with_folder).map(|project| &*project.key).collect();
        if keys.len() > 1 {
            let name = sanitize::one_line(name, MAX_TITLE);
            let keys: Vec<&str> = keys.into_iter().collect();
            return Err(
                format!("{name:?} names {} projects; use a key: {}", keys.len(), keys.join(", ")).into()
            );
        }
        all.extend(found);
    }
    Ok(all)
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
    let projects = rows::projects_of(asked)?;
    let (anchor, words) = (asked.query("anchor"), asked.query("query"));
    server.read(|store| {
        let loaded = match (anchor, words) {
            (Some(anchor), _) => anchored(server, store, anchor, &projects)?,
            (None, Some(words)) => match keys_of(store, &projects)? {
                None => None,
                Some(projects) => {
                    let filter = Filter { projects, kinds: KINDS.to_vec(), ..Filter::default() };
                    let now = Timestamp::now().millis();
                    let query = Query { text: words.to_owned(), filter, limit: 1, skip: 0, now };
                    look(server, store, &query)?.pop()
                }
            },
            (None, None) => return Err("anchor or query is missing".to_owned().into()),
        };
        let Some(anchor) = loaded else {
            return Ok(said("No observation matches the anchor or the query"));
        };
        let around = sources::around(store, &server.paths, &anchor, (before, after))?;
        let all: Vec<Loaded> =
            around.before.into_iter().chain([anchor.clone()]).chain(around.after).collect();
        let found = Found::page(rows_of(store, &all, |_| {})?, (all.len(), 0));
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
        let found = sources::load(store, &server.paths, &keys)?.into_iter().next();
        let of_projects = keys_of(store, projects)?;
        // An answer about one project has nothing of another, whatever the id.
        return Ok(found.filter(|loaded| {
            of_projects.is_some_and(|keys| keys.is_empty() || keys.contains(&loaded.document.project))
        }));
    }
    let millis = typed.parse::<u64>().ok().filter(|_| typed.len() >= MILLIS_DIGITS);
    let millis = millis.map(|millis| millis.min(i64::MAX as u64));
    let at =
        millis.or_else(|| moment(typed, true)).ok_or_else(|| "anchor is no id and no moment".to_owned())?;
    let mut condition = Condition::default();
    condition.add("e.at <= ?", [Sql::Integer(at as i64)]);
    rows::filter(&mut condition, projects, None);
    let nearest = rows::observations(store, &condition, "ORDER BY e.at DESC, e.row DESC LIMIT 1")?;
    let Some(id) = nearest.first().and_then(|row| row["wyren_id"].as_str()) else { return Ok(None) };
    Ok(sources::load(store, &server.paths, &[format!("e:{id}")])?.into_iter().next())
}

/// Returns the text for a session's start: the same that a session of the client is shown.
pub(crate) fn inject(server: &Server, asked: &Asked) -> Result<String, Failed> {
    let names = rows::projects_of(asked)?;
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
        for project in one_each(server, store, &names)? {
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
    rows::filter(&mut condition, &rows::projects_of(asked)?, None);
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
        let keys: Vec<String> =
            one_each(server, store, &projects)?.into_iter().map(|project| project.key).collect();
        if keys.is_empty() && !projects.is_empty() {
            return Ok(json!({"context": "", "count": 0}));
        }
        let filter = Filter { projects: keys, kinds: vec![Kind::Entry], ..Filter::default() };
        let query = Query { text: words.clone(), filter, limit, skip: 0, now: Timestamp::now().millis() };
        let loaded = look(server, store, &query)?;
        let found = Found::page(rows_of(store, &loaded, |_| {})?, (loaded.len(), 0));
        let fence = Fence::new(secret::word(&server.paths, "serve"));
        let context = match found.lines.is_empty() {
            true => String::new(),
            false => fence.around("journal", &[], &format!("{HEAD}{}", found.lines.concat())),
        };
        Ok(json!({"context": context, "count": found.lines.len()}))
    })
}
