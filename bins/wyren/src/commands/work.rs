//! `wyren work`: contexts, the pieces of work that outlive sessions.

mod bind;
mod change;
mod import;
mod look;
mod parts;

pub(super) use change::may_record;

use crate::database::{self, Look};
use crate::exit::Ending;
use crate::person;
use anyhow::Result;
use base::project::Project;
use base::{Env, Paths};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use store::Store;
use text::sanitize;
use work::contexts::read::{self, Which};
use work::contexts::{Context, id};
use work::find::{self, Unfound};

const EXAMPLES: &str = "\
Examples:
  wyren work                          list the open contexts of this project
  wyren work show parser              all about one, by a part of its id
  wyren work new 'Move the parser'    begin one
  wyren work switch parser            have this session work on it
  wyren work note parser 'half done'  keep a note with it
  wyren work edit parser --tag importer --summary 'Move the parser into a crate'
  wyren work done parser              close it; `wyren work reopen` opens it again
  wyren work inventory parser         its files, sessions and what waits in it
  wyren work plans --text             the plan that was accepted last
  wyren work tasks                    the tasks that are open
  wyren work import                   take over the contexts of aiwcli in _output/

In Claude Code, the prompt ^ lists the contexts too, and ^2 goes on with the second.";

/// In characters.
const MAX_SHOWN: usize = 80;
/// How many contexts are named where none was found.
const MOST_NAMED: usize = 5;
/// The word for the context that this session works on.
const CURRENT: &str = "current";

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
    /// List contexts, those with the latest activity first.
    List(look::List),
    /// Show a context.
    Show(look::Show),
    /// Begin a context.
    New(change::New),
    /// Change the summary or the tags of a context.
    Edit(change::Edit),
    /// Have a session work on a context.
    Switch(change::Switch),
    /// Close contexts.
    Done(change::Several),
    /// Open closed contexts again.
    Reopen(change::Several),
    /// Keep a note with a context.
    Note(change::Note),
    /// Show what there is of a context: files, sessions, and what waits in it.
    Inventory(look::One),
    /// List the plans that were shown, and what became of them.
    Plans(parts::Plans),
    /// List the tasks that are open.
    Tasks(parts::Tasks),
    /// Import the contexts of aiwcli.
    Import(import::Import),
    /// Bind the session of a prompt to a context, for the hook `prompt-bind`: reads and writes JSON.
    #[command(hide = true)]
    Bind,
}

impl Arguments {
    /// Returns whether a hook runs it, whose user waits.
    pub(super) fn is_of_a_hook(&self) -> bool {
        matches!(self.action, Some(Action::Bind))
    }
}

pub(crate) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    match arguments.action {
        None => look::list(&arguments.list, env, paths),
        Some(Action::List(list)) => look::list(&list, env, paths),
        Some(Action::Show(show)) => look::show(&show, env, paths),
        Some(Action::New(new)) => change::new(&new, env, paths),
        Some(Action::Edit(edit)) => change::edit(&edit, env, paths),
        Some(Action::Switch(switch)) => change::switch(&switch, env, paths),
        Some(Action::Done(several)) => change::done(&several, true, env, paths),
        Some(Action::Reopen(several)) => change::done(&several, false, env, paths),
        Some(Action::Note(note)) => change::note(&note, env, paths),
        Some(Action::Plans(plans)) => parts::plans(&plans, env, paths),
        Some(Action::Tasks(tasks)) => parts::tasks(&tasks, env, paths),
        Some(Action::Import(import)) => import::run(&import, env, paths),
        Some(Action::Bind) => bind(env, paths),
        Some(Action::Inventory(one)) => look::inventory(&one, env, paths),
    }
}

/// Answers `prompt-bind`.
pub(super) fn bind(env: &Env, paths: &Paths) -> Result<()> {
    bind::run(env, paths)
}

/// The contexts that a command may be about.
pub(super) struct Contexts {
    pub(super) store: Store,
    pub(super) project: Project,
    pub(super) contexts: Vec<Context>,
}

impl Contexts {
    /// Opens those of the project that this folder is in.
    pub(super) fn open(env: &Env, paths: &Paths) -> Result<Self> {
        let project = Project::of(&std::env::current_dir()?);
        let store = database::open_drained(env, paths, Look::Quick)?;
        let contexts = match read::project_row(&store, &project.key)? {
            Some(row) => read::list(&store, Some(row), Which::All)?,
            None => Vec::new(),
        };
        Ok(Self { store, project, contexts })
    }

    /// Returns the context that was typed: of this project by a part of its id, of another by its whole id.
    pub(super) fn find(&self, typed: &str, which: Which, env: &Env, paths: &Paths) -> Result<Context> {
        let current = (typed == CURRENT).then(|| session(None, env)).flatten();
        let current = current.and_then(|session| work::contexts::write::read_binding(paths, &session));
        let typed = match &current {
            Some(current) => current,
            None if typed == CURRENT => {
                return Err(Ending::failed("wyren: no session here works on a context").into());
            }
            None => typed,
        };
        if let Err(unfit) = id::check(typed) {
            let shown = sanitize::one_line(typed, MAX_SHOWN);
            return Err(Ending::misused(format!("wyren: {shown:?} is no id of a context: {unfit}")).into());
        }
        if let Some(exact) = read::by_id(&self.store, typed)? {
            return Ok(exact);
        }
        let fits = |context: &&Context| match which {
            Which::Open => !context.is_done,
            Which::Done => context.is_done,
            Which::All => true,
        };
        let contexts: Vec<Context> = self.contexts.iter().filter(fits).cloned().collect();
        let found = find::find(typed, &contexts).or_else(|unfound| match unfound {
            // The command says that it is done, or open.
            Unfound::None => find::find(typed, &self.contexts),
            several @ Unfound::Several(_) => Err(several),
        });
        match found {
            Ok(context) => Ok(context.clone()),
            Err(unfound) => Err(self.refusal(typed, &contexts, unfound, env).into()),
        }
    }

    fn refusal(&self, typed: &str, contexts: &[Context], unfound: Unfound, env: &Env) -> Ending {
        let shown = sanitize::one_line(typed, MAX_SHOWN);
        let lines = |ids: &[String]| ids.iter().map(|id| format!("\n  {id}")).collect::<String>();
        match unfound {
            Unfound::Several(ids) => Ending::misused(format!(
                "wyren: {} contexts have {shown:?} in their ids. Type more of one:{}",
                ids.len(),
                lines(&ids)
            )),
            Unfound::None => {
                let all: Vec<String> =
                    contexts.iter().take(MOST_NAMED).map(|context| context.id.clone()).collect();
                let hint = match &*all {
                    [] => format!(
                        "there are none; begin one with {}",
                        person::in_terminal(env, "work new TEXT")
                    ),
                    all => format!("the latest are:{}", lines(all)),
                };
                let name = crate::projects::name(&self.project.key);
                Ending::failed(format!("wyren: no context of {name} has {shown:?} in its id; {hint}"))
            }
        }
    }
}

/// Returns the session that a command is given in, or for.
pub(super) fn session(named: Option<&str>, env: &Env) -> Option<String> {
    let here = || env.text(super::memory::SESSION_VARIABLE);
    named.map(str::to_owned).or_else(here).filter(|session| !session.is_empty())
}

/// Returns the folder of a context.
fn folder(paths: &Paths, context: &Context) -> PathBuf {
    paths.work().join(&context.id)
}
