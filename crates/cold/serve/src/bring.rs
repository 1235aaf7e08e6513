//! What a program has kept by hand, or brings from claude-mem.

use crate::ask::{self, Asked};
use crate::ingest::{folder_by_name, folder_named, is_excluded_by_name};
use crate::number;
use crate::server::{Failed, Server};
use base::Timestamp;
use base::project::Project;
use journal::write::{self, Note, Place, Unfit, Words};
use serde_json::{Map, Value, json};
use std::path::Path;
use store::claude_mem::{Import, Rows};

/// The fields of a memory: claude-mem refuses others.
const FIELDS: [&str; 5] = ["text", "title", "project", "metadata", "cwd"];

/// Keeps a memory, as `wyren remember` does.
pub(crate) fn save(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let body = asked.object()?;
    if let Some(unknown) = body.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        let unknown = text::sanitize::one_line(unknown, 40);
        return Err(format!("{unknown:?} is no field; there are {}", FIELDS.join(", ")).into());
    }
    if body.get("metadata").is_some_and(|metadata| !metadata.is_object() && !metadata.is_null()) {
        return Err("metadata is no object".to_owned().into());
    }
    let text = ask::text(&body, "text")?.filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| "text is missing".to_owned())?;
    let (title, name) = (ask::text(&body, "title")?, ask::text(&body, "project")?);
    let folder = ask::text(&body, "cwd")?.map(Path::new).filter(|cwd| cwd.is_absolute()).map(Path::to_owned);
    let whole =
        title.map_or_else(|| text.to_owned(), |title| format!("{}\n{text}", title.replace('\n', " ")));
    let words = match Words::of(&whole) {
        Ok(words) => words,
        Err(Unfit::Private) => return Err("all of the text is marked as private".to_owned().into()),
        Err(Unfit::Empty) => return Err("text is empty".to_owned().into()),
    };
    let name = name.unwrap_or_default();
    let folder = match folder {
        Some(folder) => folder,
        None => folder_named(server, name)?.unwrap_or_else(|| folder_by_name(server, name)),
    };
    let rules = server.rules();
    if rules.against(&folder).is_some() || is_excluded_by_name(server, &rules, &folder) {
        return Err("recording is off in this project".to_owned().into());
    }
    let project = Project::of(&folder);
    let note = Note { kind: journal::Kind::DISCOVERY, words, is_by_model: true, ..Note::default() };
    let place = Place::by_hand(&project.key, &folder);
    let id = match write::remember(&server.spool(), &place, &note, Timestamp::now()) {
        Err(capture::Error::DiskFull) => return Err(Failed::NoRoom),
        id => id?,
    };
    server.came();
    let message = format!("Memory saved as observation #{}", number::of(&id).unwrap_or_default());
    Ok(json!({
        "success": true, "id": number::of(&id), "wyren_id": id, "title": note.words.title, "project": project.name, "message": message,
    }))
}

/// Imports rows as claude-mem exports them. What is known already is left as it is.
pub(crate) fn import(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let body = asked.object()?;
    let [sessions, prompts, observations, summaries] =
        ["sessions", "prompts", "observations", "summaries"].map(|name| rows(&body, name));
    let (sessions, prompts, observations, summaries) = (sessions?, prompts?, observations?, summaries?);
    let counts =
        [sessions.len(), prompts.len(), observations.len(), summaries.len()].map(|count| count as u64);
    let (spool, rules) = (server.spool(), server.rules());
    let given =
        Rows { sessions: &sessions, prompts: &prompts, observations: &observations, summaries: &summaries };
    let imported = server.read(|store| Ok(Import::of_rows(&given, &spool, &rules)?.run(store, |_| {})?))?;
    // A session has no row of its own here: it is there with the first of its rows.
    let sessions = counts[0].min(imported.sessions);
    let of = |sent: u64, count: store::claude_mem::Count| (count.stored, sent.saturating_sub(count.stored));
    let ((prompts, prompts_skipped), (observations, observations_skipped), (summaries, summaries_skipped)) =
        (of(counts[1], imported.prompts), of(counts[2], imported.entries), of(counts[3], imported.summaries));
    Ok(json!({"success": true, "stats": {
        "sessionsImported": if imported.stored() > 0 { sessions } else { 0 },
        "sessionsSkipped": counts[0] - if imported.stored() > 0 { sessions } else { 0 },
        "promptsImported": prompts, "promptsSkipped": prompts_skipped,
        "observationsImported": observations, "observationsSkipped": observations_skipped,
        "summariesImported": summaries, "summariesSkipped": summaries_skipped,
    }}))
}

fn rows(body: &Map<String, Value>, name: &str) -> Result<Vec<Map<String, Value>>, Failed> {
    let items = match body.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(format!("{name} is no list").into()),
    };
    let row = |item: &Value| item.as_object().cloned();
    let rows: Option<Vec<_>> = items.iter().map(row).collect();
    rows.ok_or_else(|| Failed::Wrong(format!("{name} has something that is no object")))
}
