//! `wyren handoff save`.

use crate::commands::work::{Contexts, may_record, session};
use crate::commands::{memory, sync as syncing};
use crate::database;
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, DIM, STRONG};
use anyhow::{Context as _, Result};
use base::paths::with_tilde;
use base::project::Project;
use base::{Env, Paths, Timestamp, files};
use capture::CLAUDE_CODE;
use clap::Args;
use handoff::{Draft, Error, Into, Name, OpenTask, Saved};
use serde_json::json;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use store::Store;
use team_sync::repository::Published;
use text::sanitize;
use work::contexts::read::{self, Which};
use work::contexts::write::{self, Place};
use work::{line, restore};

/// How much of a note for the team there is, in characters.
const MAX_NOTE: usize = 400;

#[derive(Args)]
pub(super) struct Save {
    /// Read the sections from this file [default: standard input].
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The context, by its id or a part of it [default: the one that this session works on, else a new one].
    #[arg(long, value_name = "ID")]
    context: Option<String>,
    /// What the handoff is about [default: the first heading of level 1, else its first line].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The session that saves it [default: the one that this is run in].
    #[arg(long, value_name = "SESSION")]
    session_id: Option<String>,
    /// Leave a line about it in the team memory too, as `wyren memory handoff` does.
    #[arg(long)]
    team: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Save, env: &Env, paths: &Paths) -> Result<()> {
    let folder = may_record(env, paths)?;
    let mut draft = Draft::parse(&text(arguments)?);
    if let Some(title) = &arguments.title {
        draft.title.clone_from(title);
    }
    let session = session(arguments.session_id.as_deref(), env);
    // Before anything is saved: a team that is not there is a mistake in the command.
    let share = arguments.team.then(|| syncing::open(&folder, env)).transpose()?;
    let contexts = Contexts::open(env, paths)?;
    let context = match &arguments.context {
        Some(typed) => Some(contexts.find(typed, Which::Open, env, paths)?.id),
        None => {
            session.as_deref().map(|session| bound(&contexts.store, session, paths)).transpose()?.flatten()
        }
    };
    add_work(&mut draft, session.as_deref(), context.as_deref(), &contexts.store)?;
    let place = match &session {
        Some(session) => Place::in_session(session, &folder),
        None => Place::by_hand(&Project::of(&folder).key, &folder),
    };
    let into = Into { paths, env, place, context: context.as_deref(), now: Timestamp::now() };
    let saved = match handoff::save(&draft, &into) {
        Err(error @ (Error::Empty | Error::Private | Error::Long(_))) => {
            return Err(Ending::misused(format!("wyren: no handoff was saved: {error}")).into());
        }
        saved => saved.context("the handoff is not whole")?,
    };
    drop(contexts);
    let mut store = journal::open_store(paths)?;
    database::drain_now(&mut store, paths);
    let team = match share {
        Some(share) => {
            let share = share.insistent();
            person::allow_publishing(&share, env, "wyren handoff save --team")?;
            let left = memory::leave_note(&share, session.as_deref(), &note(&saved));
            Some(left.with_context(|| format!("the handoff {} is saved", saved.kept.name()))?)
        }
        None => None,
    };
    if arguments.json {
        let mut all = json!({
            "handoff": super::to_json(&saved.kept, paths),
            "empty_sections": saved.empty_sections,
            "context_is_new": saved.is_context_new,
        });
        if let Some(synced) = &team {
            all["team"] = syncing::to_json(synced);
        }
        writeln!(terminal::output(), "{all:#}")?;
    } else {
        show(&saved, env)?;
    }
    match team.map(|synced| synced.published) {
        Some(Published::Queued(reason)) => {
            let message = format!("The note for the team is saved locally; not published yet: {reason}.");
            Err(Ending::queued(message).into())
        }
        Some(_) if !arguments.json => {
            Ok(writeln!(terminal::output(), "The team memory has a note about it.")?)
        }
        _ => Ok(()),
    }
}

/// Returns what is to be saved.
fn text(arguments: &Save) -> Result<String> {
    // One more than fits, so that too much is known to be.
    let most = handoff::MAX_BYTES + 64 * 1024;
    let bytes = match &arguments.file {
        Some(file) if file != Path::new("-") => {
            let shown = sanitize::one_line(&file.to_string_lossy(), super::MAX_SHOWN);
            files::read_followed(file, most).with_context(|| format!("could not read {shown}"))?
        }
        _ if io::stdin().is_terminal() => {
            let message = "wyren: no handoff was saved: give its sections on standard input, or with --file";
            return Err(Ending::misused(message).into());
        }
        _ => {
            let mut bytes = Vec::new();
            io::stdin()
                .lock()
                .take(most as u64)
                .read_to_end(&mut bytes)
                .context("could not read the sections")?;
            bytes
        }
    };
    // Such as UTF-16, which a redirection in PowerShell writes.
    if bytes.contains(&0) {
        return Err(Ending::misused("wyren: no handoff was saved: it is no text in UTF-8").into());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the context that a session works on.
fn bound(store: &Store, session: &str, paths: &Paths) -> Result<Option<String>> {
    match write::read_binding(paths, session) {
        Some(context) => Ok(Some(context)),
        None => Ok(read::of_session(store, None, session)?),
    }
}

/// Adds the tasks that are open, and the plan where no other is given.
fn add_work(draft: &mut Draft, session: Option<&str>, context: Option<&str>, store: &Store) -> Result<()> {
    let connection = store.connection();
    let mut sessions = Vec::new();
    if let Some(session) = session
        && let Some(row) = line::row_of(connection, CLAUDE_CODE, session)?
    {
        sessions = line::with_context(connection, &line::around(connection, row)?)?;
    } else if let Some(context) = context
        && let Some(known) = read::by_id(store, context)?
    {
        for binding in known.sessions {
            sessions.extend(line::row_of(connection, &binding.session.platform, &binding.session.id)?);
        }
    }
    let parts = restore::of_sessions(connection, &sessions, context, &restore::Start::default())?;
    let open = |task: work::tasks::Task| OpenTask {
        id: task.id,
        subject: task.subject,
        description: task.description,
        status: task.status,
    };
    draft.tasks = parts.open.into_iter().map(open).collect();
    if let Some(plan) = parts.plan.filter(|_| draft.text(Name::Plan).is_empty()) {
        draft.add(Name::Plan.label(), &plan.text);
    }
    Ok(())
}

/// Returns the line for the team: what it is about, and what is open first.
fn note(saved: &Saved) -> String {
    let title = saved.kept.handoff.title.trim_end_matches(['.', ':']);
    let pending = sanitize::one_line(saved.kept.text(Name::Pending), MAX_NOTE);
    let note = if pending.is_empty() { title.to_owned() } else { format!("{title}. Open: {pending}") };
    sanitize::one_line(&note, MAX_NOTE)
}

fn show(saved: &Saved, env: &Env) -> Result<()> {
    let mut output = terminal::output();
    let title = sanitize::one_line(&saved.kept.handoff.title, super::MAX_SHOWN);
    writeln!(output, "Saved {STRONG}{}{STRONG:#}: {title}", saved.kept.name())?;
    writeln!(output, "{DIM}{}{DIM:#}", with_tilde(&saved.folder, env))?;
    if !saved.empty_sections.is_empty() {
        writeln!(output, "Empty sections: {}.", saved.empty_sections.join(", "))?;
    }
    let resume = person::command_for(env, "handoff-resume", &format!("handoff resume {}", saved.kept.name()));
    Ok(writeln!(output, "To go on from it in another session: {resume}")?)
}
