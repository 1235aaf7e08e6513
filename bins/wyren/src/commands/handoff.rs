//! `wyren handoff`: what a session leaves for the next one, and how that goes on from it.

mod look;
mod precompact;
mod resume;
mod save;

use super::work::Contexts;
use crate::exit::Ending;
use crate::person;
use anyhow::Result;
use base::{Env, Paths};
use clap::{Args, Subcommand};
use handoff::{Kept, Unfound};
use serde_json::{Value, json};
use text::sanitize;
use work::contexts::Context;
use work::find;

const EXAMPLES: &str = "\
Examples:
  wyren handoff save <<'END'          save a handoff from Markdown with named headings
  ## Completed work
  cart.js keeps prices in cents
  ## Decisions
  Integer cents, because 0.1 + 0.2 is not 0.3
  ## Dead ends
  decimal.js: 40 KB for no gain
  ## Pending
  checkout.js still takes euros
  END
  wyren handoff save --file notes.md --team
                                      from a file, with a line for the team memory
  wyren handoff                       list the handoffs of this project
  wyren handoff resume                go on from the one that waits
  wyren handoff resume cart           from the latest of a context, by a part of its id
  wyren handoff show 2026-11-18-1412 --section 'dead ends'

Sections: completed work, decisions, dead ends, pending, context, plan, summary. Others are kept as they are named.";

/// In characters.
const MAX_SHOWN: usize = 80;
/// How many handoffs are named where none was found.
const MOST_NAMED: usize = 5;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: look::List,
}

#[derive(Subcommand)]
enum Action {
    /// Save a handoff from Markdown with named headings.
    Save(save::Save),
    /// List handoffs, the latest first.
    List(look::List),
    /// Show a handoff.
    Show(look::Show),
    /// Go on from a handoff: what not to try again and what is open first, then what changed since.
    Resume(resume::Resume),
    /// Save a handoff before a compaction, for the hook `precompact-handoff`: reads and writes JSON.
    #[command(hide = true)]
    Precompact,
}

impl Arguments {
    /// Returns whether a hook runs it, whose user waits.
    pub(super) fn is_of_a_hook(&self) -> bool {
        matches!(self.action, Some(Action::Precompact))
    }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    match &arguments.action {
        None => look::list(&arguments.list, env, paths),
        Some(Action::Save(save)) => save::run(save, env, paths),
        Some(Action::List(list)) => look::list(list, env, paths),
        Some(Action::Show(show)) => look::show(show, env, paths),
        Some(Action::Resume(resume)) => resume::run(resume, env, paths),
        Some(Action::Precompact) => precompact::run(env, paths),
    }
}

/// Returns the handoffs of these contexts, the latest first.
fn of_contexts(contexts: &Contexts, of: &[Context]) -> Result<Vec<Kept>> {
    let ids: Vec<&str> = of.iter().map(|context| context.id.as_str()).collect();
    Ok(handoff::of_contexts(&contexts.store, &ids)?)
}

/// Returns the handoff that was typed: by its id, else the one to go on from of the context that has this in its id.
fn named(typed: &str, contexts: &Contexts, env: &Env) -> Result<Kept> {
    let kept = of_contexts(contexts, &contexts.contexts)?;
    let shown = sanitize::one_line(typed, MAX_SHOWN);
    let lines = |names: &[String]| names.iter().map(|name| format!("\n  {name}")).collect::<String>();
    match handoff::find(typed, &kept) {
        Ok(kept) => Ok(kept.clone()),
        Err(Unfound::Unfit(reason)) => {
            Err(Ending::misused(format!("wyren: {shown:?} is no id of a handoff: {reason}")).into())
        }
        Err(Unfound::Several(names)) => Err(Ending::misused(format!(
            "wyren: {} handoffs begin with {shown:?}. Type more of one:{}",
            names.len(),
            lines(&names)
        ))
        .into()),
        Err(Unfound::None) => {
            if let Ok(context) = find::find(typed, &contexts.contexts) {
                let of_context: Vec<&Kept> = kept.iter().filter(|kept| kept.context == context.id).collect();
                if let Some(next) = handoff::next(&of_context, &contexts.contexts) {
                    return Ok(next.clone());
                }
            }
            let names: Vec<String> = kept.iter().take(MOST_NAMED).map(Kept::name).collect();
            let hint = match &*names {
                [] => format!("there are none; save one with {}", person::in_terminal(env, "handoff save")),
                names => format!("the latest are:{}", lines(names)),
            };
            let name = crate::projects::name(&contexts.project.key);
            Err(Ending::failed(format!("wyren: {name} has no handoff {shown:?}; {hint}")).into())
        }
    }
}

/// Returns a handoff as JSON, with its texts.
fn to_json(kept: &Kept, paths: &Paths) -> Value {
    let handoff = &kept.handoff;
    let sections: Vec<Value> =
        handoff.sections.iter().map(|section| json!({"name": section.name, "text": section.text})).collect();
    let tasks: Vec<Value> = handoff
        .tasks
        .iter()
        .map(|task| {
            json!({"id": task.id, "subject": task.subject, "description": task.description, "status": task.status})
        })
        .collect();
    let tree = handoff
        .tree
        .as_ref()
        .map(|tree| json!({"branch": tree.branch, "commit": tree.commit, "changed": tree.changed}));
    json!({
        "name": kept.name(),
        "context": kept.context,
        "id": handoff.id,
        "title": handoff.title,
        "saved": kept.at.to_string(),
        "session": kept.session,
        "origin": handoff.origin,
        "folder": kept.folder(paths),
        "sections": sections,
        "tasks": tasks,
        "git": tree,
    })
}
