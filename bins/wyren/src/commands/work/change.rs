//! `wyren work new`, `edit`, `switch`, `done`, `reopen` and `note`: each appends an observation.

use super::{Contexts, session};
use crate::database;
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, STRONG};
use anyhow::{Context as _, Result};
use base::project::Project;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::{Rules, Spool};
use clap::Args;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use text::{privacy, sanitize};
use work::contexts::read::{self, Which};
use work::contexts::write::{self, Place, Writer};
use work::contexts::{Action, Context};

/// In characters.
const MAX_SUMMARY: usize = 160;
const MAX_SESSION: usize = 80;
/// How a context came about that a person asked for.
const MANUAL: &str = "manual";

#[derive(Args)]
pub(super) struct New {
    /// What is to be done.
    #[arg(required = true, value_name = "TEXT")]
    words: Vec<String>,
    /// A tag; may be repeated.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The session that works on it [default: the one that this is run in].
    #[arg(long, value_name = "SESSION")]
    session_id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Edit {
    /// The id of a context, its beginning or a part of it; `current` for the one that this session works on.
    #[arg(value_name = "ID")]
    id: String,
    /// What it is about.
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Add a tag; may be repeated.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Take a tag out; may be repeated.
    #[arg(long, value_name = "TAG")]
    untag: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Switch {
    /// The id of a context, its beginning or a part of it.
    #[arg(value_name = "ID")]
    id: String,
    /// The session that works on it [default: the one that this is run in].
    #[arg(long, value_name = "SESSION")]
    session_id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Several {
    /// The id of a context, its beginning or a part of it; `current` for the one that this session works on.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Note {
    /// The id of a context, its beginning or a part of it; `current` for the one that this session works on.
    #[arg(value_name = "ID")]
    id: String,
    /// The note.
    #[arg(required = true, value_name = "TEXT")]
    words: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn new(arguments: &New, env: &Env, paths: &Paths) -> Result<()> {
    let folder = may_record(env, paths)?;
    let text = given(&arguments.words.join(" "), "nothing was begun")?;
    let session = session(arguments.session_id.as_deref(), env);
    let writer = Writer::new(paths, place(session.as_deref(), &folder), Timestamp::now());
    let tags = write::tags(arguments.tags.iter().map(String::as_str));
    let bind = session.is_some();
    let _lock = work::bind::lock(paths)?;
    let id = writer
        .make(&text, |summary| Action::New {
            summary,
            tags,
            method: MANUAL.to_owned(),
            bind,
            permission_mode: None,
        })
        .context("nothing was begun")?;
    if let Some(session) = &session {
        write::write_binding(paths, session, &id).context("could not bind the session")?;
    }
    finish(&[id], "Began", arguments.json, paths)
}

pub(super) fn edit(arguments: &Edit, env: &Env, paths: &Paths) -> Result<()> {
    if arguments.summary.is_none() && arguments.tags.is_empty() && arguments.untag.is_empty() {
        let message = "wyren: nothing to change: give --summary, --tag or --untag";
        return Err(Ending::misused(message).into());
    }
    let folder = may_record(env, paths)?;
    let summary =
        arguments.summary.as_deref().map(|summary| given(summary, "nothing was changed")).transpose()?;
    let context = Contexts::open(env, paths)?.find(&arguments.id, Which::All, env, paths)?;
    let untag = write::tags(arguments.untag.iter().map(String::as_str));
    let mut tags = context.tags.clone();
    tags.retain(|tag| !untag.contains(tag));
    for tag in write::tags(arguments.tags.iter().map(String::as_str)) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let change = Action::Edit {
        summary: summary.map(|summary| write::summary(&summary)),
        tags: (tags != context.tags).then_some(tags),
    };
    act(&context, change, &folder, paths)?;
    finish(&[context.id], "Changed", arguments.json, paths)
}

pub(super) fn switch(arguments: &Switch, env: &Env, paths: &Paths) -> Result<()> {
    let folder = may_record(env, paths)?;
    let Some(session) = session(arguments.session_id.as_deref(), env) else {
        let message =
            "wyren: no session is known here. Name one with --session-id, or type in Claude Code: ^S:";
        return Err(
            Ending::misused(format!("{message}{}", sanitize::one_line(&arguments.id, MAX_SUMMARY))).into()
        );
    };
    let contexts = Contexts::open(env, paths)?;
    // The session's prompt may be binding it. Opening may take long, and prompts wait for the lock.
    let _lock = work::bind::lock(paths)?;
    let context = contexts.find(&arguments.id, Which::Open, env, paths)?;
    if context.is_done {
        let reopen = person::in_terminal(env, &format!("work reopen {}", context.id));
        return Err(
            Ending::failed(format!("wyren: {} is done; to open it again: {reopen}", context.id)).into()
        );
    }
    let writer = Writer::new(paths, Place::in_session(&session, &folder), Timestamp::now());
    let bind = Action::Bind { via: "command".to_owned(), permission_mode: None };
    writer.act(&context.id, bind).context("nothing was changed")?;
    write::write_binding(paths, &session, &context.id).context("could not bind the session")?;
    let shown = sanitize::one_line(&session, MAX_SESSION);
    finish(&[context.id], &format!("Session {shown} works on"), arguments.json, paths)
}

pub(super) fn done(arguments: &Several, is_done: bool, env: &Env, paths: &Paths) -> Result<()> {
    let folder = may_record(env, paths)?;
    let contexts = Contexts::open(env, paths)?;
    let _lock = work::bind::lock(paths)?;
    let which = if is_done { Which::Open } else { Which::Done };
    // All of them or none, and each once.
    let mut found: Vec<Context> = Vec::new();
    for id in &arguments.ids {
        let context = contexts.find(id, which, env, paths)?;
        if !found.iter().any(|other| other.id == context.id) {
            found.push(context);
        }
    }
    for context in found.iter().filter(|context| context.is_done != is_done) {
        act(context, if is_done { Action::Done } else { Action::Reopen }, &folder, paths)?;
        if is_done {
            work::bind::release(paths, context).context("could not free the sessions of the context")?;
        }
    }
    let ids: Vec<String> = found.into_iter().map(|context| context.id).collect();
    finish(&ids, if is_done { "Done:" } else { "Open again:" }, arguments.json, paths)
}

pub(super) fn note(arguments: &Note, env: &Env, paths: &Paths) -> Result<()> {
    let folder = may_record(env, paths)?;
    let text = given(&arguments.words.join(" "), "nothing was kept")?;
    let context = Contexts::open(env, paths)?.find(&arguments.id, Which::All, env, paths)?;
    act(&context, Action::Note { text: write::kept(&text) }, &folder, paths)?;
    finish(&[context.id], "Noted in", arguments.json, paths)
}

/// Returns a text that may be kept, or refuses it.
fn given(text: &str, undone: &str) -> Result<String> {
    if privacy::strip(text).wholly_private {
        return Err(
            Ending::failed(format!("wyren: all of the text is marked as private, so {undone}")).into()
        );
    }
    if write::summary(text).is_empty() {
        return Err(Ending::misused(format!("wyren: the text is empty, so {undone}")).into());
    }
    Ok(text.to_owned())
}

/// Returns this folder, if something may be recorded in it.
pub(in crate::commands) fn may_record(env: &Env, paths: &Paths) -> Result<PathBuf> {
    let folder = std::env::current_dir()?;
    let rules = Rules::of(&Settings::read(env, &paths.hook_settings()), env);
    if let Some(rule) = rules.against(&folder) {
        let reason = super::super::capture::reason(rule, env);
        return Err(Ending::failed(format!("wyren: nothing was changed: {reason}")).into());
    }
    let spool = Spool::new(paths.spool());
    let is_by_model = !person::is_here(env) && !person::is_in_prompt(env);
    if is_by_model && session(None, env).is_some_and(|session| spool.is_private(&session)) {
        let message = "wyren: nothing was changed: the prompt of this turn is marked as private";
        return Err(Ending::failed(message).into());
    }
    Ok(folder)
}

fn place<'a>(session: Option<&'a str>, folder: &'a Path) -> Place<'a> {
    match session {
        Some(session) => Place::in_session(session, folder),
        None => Place::by_hand(&Project::of(folder).key, folder),
    }
}

/// Has something happen to a context, outside of any session: a session that says something about a context need not work on
/// it.
fn act(context: &Context, action: Action, folder: &Path, paths: &Paths) -> Result<()> {
    let writer = Writer::new(paths, place(None, folder), Timestamp::now());
    writer.act(&context.id, action).context("nothing was changed")
}

/// Takes in what was appended, and shows the contexts as they are now.
fn finish(ids: &[String], what: &str, json: bool, paths: &Paths) -> Result<()> {
    let mut store = journal::open_store(paths)?;
    database::drain_now(&mut store, paths);
    let mut output = terminal::output();
    let mut shown = Vec::new();
    for id in ids {
        let context =
            read::by_id(&store, id)?.unwrap_or_else(|| Context { id: id.clone(), ..Context::default() });
        if json {
            shown.push(super::look::to_json(&context, &store, paths)?);
            continue;
        }
        let summary = sanitize::one_line(&context.summary, MAX_SUMMARY);
        writeln!(output, "{what} {STRONG}{}{STRONG:#}: {summary}", context.id)?;
    }
    if json {
        writeln!(output, "{:#}", json!({"contexts": shown}))?;
    }
    Ok(())
}
