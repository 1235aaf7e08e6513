//! `wyren work list`, `show` and `inventory`.

use super::Contexts;
use crate::exit::Ending;
use crate::projects;
use crate::terminal::{self, Cell, DIM, STRONG, SUCCESS, WARNING, counted};
use crate::when;
use anstyle::Style;
use anyhow::Result;
use base::paths::with_tilde;
use base::{Env, Paths, Timestamp};
use clap::Args;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use store::Store;
use text::sanitize;
use work::contexts::read::{self, Which};
use work::contexts::{ArtifactKind, Context, Mode, SessionId};
use work::plans::{self, Plan};
use work::tasks::Task;

/// In characters.
const MAX_SUMMARY: usize = 200;
const MAX_ID: usize = 64;
const MAX_PROJECT: usize = 40;
/// The most entries of a folder that are counted.
const MOST_FILES: usize = 10_000;

#[derive(Args)]
pub(super) struct List {
    /// Include those that are done.
    #[arg(long)]
    all: bool,
    /// List only those that are done.
    #[arg(long, conflicts_with = "all")]
    done: bool,
    /// List those of every project.
    #[arg(long)]
    everywhere: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct One {
    /// The id of a context, its beginning or a part of it; `current` for the one that this session works on.
    #[arg(value_name = "ID")]
    id: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Show {
    #[command(flatten)]
    one: One,
    /// Print a file of it that was imported, by the name that `wyren work inventory` lists.
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    file: Option<String>,
}

pub(super) fn list(list: &List, env: &Env, paths: &Paths) -> Result<()> {
    let which = match (list.all, list.done) {
        (true, _) => Which::All,
        (_, true) => Which::Done,
        _ => Which::Open,
    };
    let Contexts { store, project, .. } = Contexts::open(env, paths)?;
    let row = read::project_row(&store, &project.key)?;
    let contexts = match (list.everywhere, row) {
        (true, _) => read::list(&store, None, which)?,
        (false, Some(row)) => read::list(&store, Some(row), which)?,
        (false, None) => Vec::new(),
    };
    let mut output = terminal::output();
    if list.json {
        let contexts =
            contexts.iter().map(|context| to_json(context, &store, paths)).collect::<Result<Vec<_>>>()?;
        return Ok(writeln!(output, "{:#}", json!({"contexts": contexts}))?);
    }
    if contexts.is_empty() {
        let name = projects::name(&project.key);
        let place = if list.everywhere { String::new() } else { format!(" in {name}") };
        let (state, hint) = match which {
            Which::Done => ("No contexts are done", ""),
            _ => ("No contexts", " The first prompt of a session begins one."),
        };
        return Ok(writeln!(output, "{state}{place}.{hint}")?);
    }
    let now = Timestamp::now();
    let mut header = vec!["", "context", "state", "active", "sessions", "summary"];
    if list.everywhere {
        header.insert(2, "project");
    }
    let mut rows: Vec<Vec<Cell>> = vec![header.into_iter().map(|title| (title.to_owned(), DIM)).collect()];
    // The numbers of the prompt `^2`, which lists those that are open in this project.
    let is_numbered = which == Which::Open && !list.everywhere;
    for (place, context) in contexts.iter().enumerate() {
        let (state, style) = state(context);
        let number = if is_numbered { (place + 1).to_string() } else { String::new() };
        let mut row = vec![
            (number, DIM),
            (sanitize::one_line(&context.id, MAX_ID), STRONG),
            (state.to_owned(), style),
            (when::ago(moment(context.last_active), now), Style::new()),
            (context.sessions.len().to_string(), DIM),
            (sanitize::one_line(&context.summary, MAX_SUMMARY), Style::new()),
        ];
        if list.everywhere {
            let key = context.project.map(|row| read::project_key(&store, row)).transpose()?.flatten();
            let name = key.map(|key| projects::name(&key)).unwrap_or_default();
            row.insert(2, (sanitize::one_line(&name, MAX_PROJECT), Style::new()));
        }
        rows.push(row);
    }
    Ok(terminal::write_table(&mut output, &rows)?)
}

pub(super) fn show(Show { one, file }: &Show, env: &Env, paths: &Paths) -> Result<()> {
    let contexts = Contexts::open(env, paths)?;
    let context = contexts.find(&one.id, Which::All, env, paths)?;
    let mut output = terminal::output();
    if let Some(name) = file {
        let Some(text) = read::file(contexts.store.connection(), &context.id, name)? else {
            let shown = sanitize::one_line(name, MAX_ID);
            return Err(Ending::failed(format!("wyren: {} has no file {shown:?}", context.id)).into());
        };
        return Ok(write!(output, "{}", sanitize::sanitize(&text))?);
    }
    let (plans, tasks) = super::parts::of_context(&context, &contexts.store)?;
    if one.json {
        let mut all = to_json(&context, &contexts.store, paths)?;
        (all["plans"], all["tasks"]) = (serde_json::to_value(&plans)?, serde_json::to_value(&tasks)?);
        return Ok(writeln!(output, "{all:#}")?);
    }
    let now = Timestamp::now();
    let (state, style) = state(&context);
    writeln!(output, "{STRONG}{}{STRONG:#}", sanitize::one_line(&context.id, MAX_ID))?;
    writeln!(output, "{}", sanitize::sanitize(&context.summary))?;
    writeln!(output)?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut row =
        |name: &str, text: String, style: Style| rows.push(vec![(name.to_owned(), DIM), (text, style)]);
    row("state", state.to_owned(), style);
    row("begun", when::with_age(moment(context.created_at), now), Style::new());
    row("active", when::with_age(moment(context.last_active), now), Style::new());
    if !context.tags.is_empty() {
        row("tags", sanitize::one_line(&context.tags.join(", "), MAX_SUMMARY), Style::new());
    }
    row("sessions", sessions(&context), Style::new());
    if let Some(last) = &context.last_session {
        let reason =
            last.save_reason.as_deref().map(|reason| format!(" ({})", sanitize::one_line(reason, 40)));
        let left = last.context_remaining_pct.map(|left| format!(", {left} % of the window left"));
        let ended = when::with_age(moment(last.saved_at), now);
        row(
            "last session",
            format!("{ended}{}{}", reason.unwrap_or_default(), left.unwrap_or_default()),
            Style::new(),
        );
    }
    if let Some(git) = &context.git {
        let branch = git.branch.as_deref().map(|branch| sanitize::one_line(branch, 80));
        let commit = git.commit.as_deref().map(|commit| sanitize::one_line(commit, 100));
        let changed = (!git.changed.is_empty())
            .then(|| counted(git.changed.len() as u64, "changed file", "changed files"));
        let parts: Vec<String> = [branch, commit, changed].into_iter().flatten().collect();
        if !parts.is_empty() {
            row("git", parts.join(", "), Style::new());
        }
    }
    if let Some(artifact) = context.artifact.as_ref() {
        let kind = if artifact.kind == ArtifactKind::Plan { "plan" } else { "handoff" };
        // It waits once its own session has ended.
        let taken = match artifact.is_consumed {
            true => ", taken up",
            false if context.mode.is_staged() => ", waits for a session",
            false => "",
        };
        // An import may not know.
        let of = match artifact.at {
            0 => "of an unknown time".to_owned(),
            at => format!("of {}", when::local_minute(moment(at))),
        };
        row(kind, format!("{of}{taken}"), Style::new());
    }
    let (all_plans, all_tasks) = counts(&plans, &tasks);
    row("plans", all_plans, Style::new());
    row("tasks", all_tasks, Style::new());
    terminal::write_table(&mut output, &rows)?;
    let commands = [("plans", plans.is_empty()), ("tasks", tasks.is_empty())];
    let commands: Vec<String> = commands
        .iter()
        .filter(|(_, is_empty)| !is_empty)
        .map(|(what, _)| format!("wyren work {what} {}", context.id))
        .collect();
    if !commands.is_empty() {
        writeln!(output)?;
        for command in commands {
            writeln!(output, "{DIM}{command}{DIM:#}")?;
        }
    }
    for note in &context.notes {
        writeln!(output, "\n{DIM}{}{DIM:#}", when::local_minute(moment(note.at)))?;
        writeln!(output, "{}", sanitize::sanitize(&note.text))?;
    }
    Ok(())
}

pub(super) fn inventory(one: &One, env: &Env, paths: &Paths) -> Result<()> {
    let contexts = Contexts::open(env, paths)?;
    let context = contexts.find(&one.id, Which::All, env, paths)?;
    let folder = super::folder(paths, &context);
    let parts = parts(&folder);
    let mut output = terminal::output();
    if one.json {
        let parts: Vec<Value> =
            parts.iter().map(|(name, files)| json!({"name": name, "files": files})).collect();
        let mut all = to_json(&context, &contexts.store, paths)?;
        all["parts"] = parts.into();
        return Ok(writeln!(output, "{all:#}")?);
    }
    writeln!(output, "{STRONG}{}{STRONG:#}", sanitize::one_line(&context.id, MAX_ID))?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut row = |name: &str, text: String| rows.push(vec![(name.to_owned(), DIM), (text, Style::new())]);
    row("folder", with_tilde(&folder, env));
    for (name, files) in &parts {
        row(&sanitize::one_line(name, MAX_ID), counted(*files as u64, "file", "files"));
    }
    for file in &context.files {
        row("imported", format!("{} ({} bytes)", sanitize::one_line(&file.path, MAX_SUMMARY), file.size));
    }
    row("sessions", sessions(&context));
    let (plans, tasks) = super::parts::of_context(&context, &contexts.store)?;
    let (plans, tasks) = counts(&plans, &tasks);
    row("plans", plans);
    row("tasks", tasks);
    row("notes", context.notes.len().to_string());
    match &context.artifact {
        None => row("waits", "nothing".to_owned()),
        Some(artifact) => {
            let kind = if artifact.kind == ArtifactKind::Plan { "a plan" } else { "a handoff" };
            let state = match artifact.is_consumed {
                true => "taken up",
                false if context.mode.is_staged() => "waits",
                false if artifact.kind == ArtifactKind::Plan => "plan",
                false => "handoff",
            };
            let path = artifact.path.as_deref().map(|path| {
                let missing = if folder.join(path).exists() { "" } else { " (not found)" };
                format!(": {}{missing}", sanitize::one_line(path, MAX_SUMMARY))
            });
            let path = path.unwrap_or_default();
            let is_staged = artifact.is_consumed || context.mode.is_staged();
            row(
                state,
                if is_staged { format!("{kind}{path}") } else { format!("waits for no session{path}") },
            );
        }
    }
    Ok(terminal::write_table(&mut output, &rows)?)
}

/// Returns how many plans and tasks there are, and what is to be known of them first.
fn counts(plans: &[Plan], tasks: &[Task]) -> (String, String) {
    let accepted = plans::last_accepted(plans)
        .map(|plan| format!(", the last accepted: {}", sanitize::one_line(plan.title(), MAX_SUMMARY)))
        .unwrap_or_default();
    let of_plans = if plans.is_empty() { "none".to_owned() } else { format!("{}{accepted}", plans.len()) };
    let open = tasks.iter().filter(|task| task.is_open()).count();
    let of_tasks =
        if tasks.is_empty() { "none".to_owned() } else { format!("{open} open of {}", tasks.len()) };
    (of_plans, of_tasks)
}

/// Returns what the folder of a context has: each file and folder, with how many files there are in it.
fn parts(folder: &Path) -> Vec<(String, usize)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut left = MOST_FILES;
    let mut parts: Vec<(String, usize)> = entries
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), count(&entry.path(), &mut left)))
        .collect();
    parts.sort();
    parts
}

fn count(path: &Path, left: &mut usize) -> usize {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    if !is_folder || *left == 0 {
        return 1;
    }
    *left -= 1;
    fs::read_dir(path).map_or(0, |entries| entries.flatten().map(|entry| count(&entry.path(), left)).sum())
}

/// Returns what a context is at, as a person knows it.
fn state(context: &Context) -> (&'static str, Style) {
    match context.mode {
        _ if context.is_done => ("done", DIM),
        Mode::Idle => ("idle", DIM),
        Mode::HasPlan => ("plan waits", WARNING),
        Mode::HasHandoff => ("handoff waits", WARNING),
        Mode::Active => ("active", SUCCESS),
    }
}

fn sessions(context: &Context) -> String {
    let bound = context.sessions.iter().filter(|binding| binding.is_current).count();
    let all = context.sessions.len();
    match (context.sessions.first(), context.sessions.last()) {
        (Some(first), Some(last)) if all > 1 => {
            let (first, last) = (when::local_minute(moment(first.at)), when::local_minute(moment(last.at)));
            format!("{all}, from {first} to {last}; {bound} bound")
        }
        (Some(only), _) => format!("1, of {}; {bound} bound", when::local_minute(moment(only.at))),
        _ => "none".to_owned(),
    }
}

fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millis(u64::try_from(millis).unwrap_or_default())
}

/// Returns a context as JSON: as it is stored, with times that say their zone, its project and its folder.
pub(super) fn to_json(context: &Context, store: &Store, paths: &Paths) -> Result<Value> {
    let mut value = serde_json::to_value(context)?;
    for name in ["created_at", "last_active", "staged_at"] {
        if let Some(millis) = value[name].as_i64() {
            value[name] = moment(millis).to_string().into();
        }
    }
    let sessions = context.sessions.iter().map(|binding| {
        let SessionId { platform, id } = &binding.session;
        json!({"platform": platform, "id": id, "at": moment(binding.at).to_string(), "current": binding.is_current})
    });
    value["sessions"] = sessions.collect();
    let notes =
        context.notes.iter().map(|note| json!({"at": moment(note.at).to_string(), "text": note.text}));
    value["notes"] = notes.collect();
    for (part, name) in [("last_session", "saved_at"), ("artifact", "at")] {
        if let Some(millis) = value[part][name].as_i64() {
            value[part][name] = moment(millis).to_string().into();
        }
    }
    let project = context.project.map(|row| read::project_key(store, row)).transpose()?.flatten();
    value["project"] = project.into();
    value["folder"] = super::folder(paths, context).to_string_lossy().into();
    Ok(value)
}
