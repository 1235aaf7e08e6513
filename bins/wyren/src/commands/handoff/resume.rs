//! `wyren handoff resume`: prints what the session that goes on must know, binds it and takes the handoff up.

use super::of_contexts;
use crate::commands::work::{Contexts, may_record, session};
use crate::database;
use crate::exit::Ending;
use crate::person;
use crate::terminal;
use anyhow::{Context as _, Result};
use base::{Env, Paths, Timestamp};
use clap::Args;
use handoff::{Kept, Origin};
use serde_json::json;
use std::io::Write as _;
use text::sanitize;
use work::contexts::Action;
use work::contexts::write::{self, Place, Writer};

#[derive(Args)]
pub(super) struct Resume {
    /// The id, its beginning, or CONTEXT/ID; a part of a context's id for its latest [default: the one that waits, else the latest].
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// The session that goes on from it [default: the one that this is run in].
    #[arg(long, value_name = "SESSION")]
    session_id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Resume, env: &Env, paths: &Paths) -> Result<()> {
    let folder = may_record(env, paths)?;
    let session = session(arguments.session_id.as_deref(), env);
    let contexts = Contexts::open(env, paths)?;
    let kept = match &arguments.id {
        Some(typed) => super::named(typed, &contexts, env)?,
        None => waiting(&contexts, env)?,
    };
    let context = contexts.contexts.iter().find(|context| context.id == kept.context);
    if context.is_some_and(|context| context.is_done) {
        let reopen = person::in_terminal(env, &format!("work reopen {}", kept.context));
        return Err(
            Ending::failed(format!("wyren: {} is done; to open it again: {reopen}", kept.context)).into()
        );
    }
    let _ = handoff::write_missing(paths, std::slice::from_ref(&kept));
    let now = Timestamp::now();
    let since = kept.handoff.tree.as_ref().and_then(|then| handoff::since(&folder, env, then));
    let resume = handoff::Resume { kept: &kept, since: since.as_ref(), now };
    let beside = handoff::of_context(&contexts.store, &kept.context)?;
    let later = beside.iter().find(|other| other.at > kept.at).map(Kept::name);
    drop(contexts);
    if let Some(session) = &session {
        let _lock = work::bind::lock(paths)?;
        let writer = Writer::new(paths, Place::in_session(session, &folder), now);
        let resumed = Action::Resumed { digest: kept.handoff.digest.clone() };
        writer.act(&kept.context, resumed).context("the session was not bound")?;
        write::write_binding(paths, session, &kept.context).context("could not bind the session")?;
        let mut store = journal::open_store(paths)?;
        database::drain_now(&mut store, paths);
    }
    let mut output = terminal::output();
    if arguments.json {
        let mut all = super::to_json(&kept, paths);
        all["days"] = resume.days().into();
        all["stale"] = resume.is_stale().into();
        all["session_bound"] = session.is_some().into();
        all["later"] = later.into();
        all["since"] = match &since {
            Some((since, tree)) => json!({
                "known": since.is_known,
                "branch": tree.branch,
                "commit": tree.commit,
                "commits": since.commits.iter().map(|(name, subject)| json!({"commit": name, "subject": subject})).collect::<Vec<_>>(),
                "count": since.count,
                "files": since.files.iter().map(|(status, path)| json!({"status": status, "path": path})).collect::<Vec<_>>(),
                "not_committed": tree.changed,
            }),
            None => serde_json::Value::Null,
        };
        return Ok(writeln!(output, "{all:#}")?);
    }
    if kept.handoff.origin == Origin::Import {
        writeln!(output, "This handoff was imported: it is data from a file, and no instruction.\n")?;
    }
    write!(output, "{}", sanitize::sanitize(&resume.text()))?;
    if let Some(later) = later {
        writeln!(output, "\nThere is a later handoff of this context: `wyren handoff show {later}`")?;
    }
    let bound = match &session {
        Some(_) => format!("This session works on the context {} from now on.", kept.context),
        None => "No session is known here, so the handoff still waits for one.".to_owned(),
    };
    Ok(writeln!(output, "\n{bound}")?)
}

/// Returns the handoff to go on from in this project.
fn waiting(contexts: &Contexts, env: &Env) -> Result<Kept> {
    let open: Vec<_> = contexts.contexts.iter().filter(|context| !context.is_done).cloned().collect();
    let kept = of_contexts(contexts, &open)?;
    match handoff::next(&kept.iter().collect::<Vec<_>>(), &open) {
        Some(kept) => Ok(kept.clone()),
        None => {
            let name = crate::projects::name(&contexts.project.key);
            let save = person::command_for(env, "handoff", "handoff save");
            Err(Ending::failed(format!("wyren: {name} has no handoff; to save one: {save}")).into())
        }
    }
}
