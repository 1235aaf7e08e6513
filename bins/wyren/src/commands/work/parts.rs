//! `wyren work plans` and `tasks`.

use super::{Contexts, session};
use crate::exit::Ending;
use crate::terminal::{self, Cell, DIM, STRONG, SUCCESS, WARNING, counted};
use crate::when;
use anstyle::Style;
use anyhow::Result;
use base::{Env, Paths, Timestamp};
use capture::CLAUDE_CODE;
use clap::Args;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write as _;
use store::Store;
use text::sanitize;
use work::contexts::read::Which;
use work::contexts::{Binding, Context};
use work::plans::{self, Plan, Status};
use work::share::Share;
use work::tasks::{self, Task};
use work::{line, observed};

/// In characters.
const MAX_TITLE: usize = 120;
/// How many sessions of a project are looked at, newest first.
const MOST_SESSIONS: usize = 200;
/// How much of a plan's digest names it.
const DIGEST_CHARS: usize = 8;

#[derive(Args)]
pub(super) struct Whose {
    /// The id of a context, or a part of it; without one, this session with those that it continues, else the whole project.
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Plans {
    #[command(flatten)]
    whose: Whose,
    /// Print a plan: the one whose name in the list begins like this, without one the latest that was accepted.
    #[arg(long, value_name = "PLAN", num_args = 0..=1, default_missing_value = "", conflicts_with = "json")]
    text: Option<String>,
}

#[derive(Args)]
pub(super) struct Tasks {
    #[command(flatten)]
    whose: Whose,
    /// Include those that are completed, and those of contexts that are done.
    #[arg(long)]
    all: bool,
}

pub(super) fn plans(arguments: &Plans, env: &Env, paths: &Paths) -> Result<()> {
    let Meant { store, groups, share } = arguments.whose.sessions(true, env, paths)?;
    let plans = share.plans(plans::of_sessions(store.connection(), &groups.concat())?);
    let mut output = terminal::output();
    if let Some(name) = &arguments.text {
        let plan = named(&plans, name)?;
        return Ok(writeln!(output, "{}", sanitize::sanitize(plan.text.trim()))?);
    }
    if arguments.whose.json {
        return Ok(writeln!(output, "{:#}", json!({ "plans": plans }))?);
    }
    if plans.is_empty() {
        return Ok(writeln!(output, "No plans.")?);
    }
    let now = Timestamp::now();
    let header = ["plan", "version", "state", "shown", "title"].map(|title| (title.to_owned(), DIM));
    let mut rows: Vec<Vec<Cell>> = vec![header.to_vec()];
    for plan in plans.iter().rev() {
        let style = match plan.status {
            Status::Accepted => SUCCESS,
            Status::Rejected => WARNING,
            Status::Shown | Status::Changed => Style::new(),
        };
        rows.push(vec![
            (short(plan).to_owned(), STRONG),
            (plan.version.to_string(), DIM),
            (plan.status.name().to_owned(), style),
            (when::ago(Timestamp::from_millis(plan.shown_at), now), Style::new()),
            (sanitize::one_line(plan.title(), MAX_TITLE), Style::new()),
        ]);
    }
    terminal::write_table(&mut output, &rows)?;
    Ok(writeln!(output, "\n{DIM}wyren work plans --text PLAN prints one{DIM:#}")?)
}

fn named<'p>(plans: &'p [Plan], name: &str) -> Result<&'p Plan> {
    let fitting: Vec<&Plan> = if name.is_empty() {
        plans::last_accepted(plans).into_iter().collect()
    } else {
        plans.iter().filter(|plan| plan.digest.starts_with(name)).collect()
    };
    let shown = sanitize::one_line(name, MAX_TITLE);
    match (&*fitting, name.is_empty()) {
        ([plan], _) => Ok(plan),
        ([], true) => Err(Ending::failed("wyren: no plan was accepted here").into()),
        ([], false) => Err(Ending::failed(format!("wyren: no plan's name begins with {shown:?}")).into()),
        _ => {
            Err(Ending::misused(format!("wyren: the names of {} plans begin with {shown:?}", fitting.len()))
                .into())
        }
    }
}

fn short(plan: &Plan) -> &str {
    plan.digest.get(..DIGEST_CHARS).unwrap_or(&plan.digest)
}

pub(super) fn tasks(arguments: &Tasks, env: &Env, paths: &Paths) -> Result<()> {
    let Meant { store, groups, share } = arguments.whose.sessions(arguments.all, env, paths)?;
    let mut tasks = share.tasks(tasks::of_groups(store.connection(), &groups)?);
    let closed = tasks.iter().filter(|task| !task.is_open() && !task.is_deleted).count();
    tasks.retain(|task| task.is_open() || (arguments.all && !task.is_deleted));
    let mut output = terminal::output();
    if arguments.whose.json {
        return Ok(writeln!(output, "{:#}", json!({ "tasks": tasks }))?);
    }
    let completed = counted(closed as u64, "is completed", "are completed");
    if tasks.is_empty() {
        let said = match closed {
            0 => "No tasks.".to_owned(),
            _ => format!("No open tasks; {completed}: --all shows them."),
        };
        return Ok(writeln!(output, "{said}")?);
    }
    let header = ["task", "state", "subject"].map(|title| (title.to_owned(), DIM));
    let mut rows: Vec<Vec<Cell>> = vec![header.to_vec()];
    for task in &tasks {
        let subject = match sanitize::one_line(&task.subject, MAX_TITLE) {
            subject if subject.is_empty() => (tasks::UNTOLD.to_owned(), DIM),
            subject => (subject, Style::new()),
        };
        rows.push(vec![
            (sanitize::one_line(&task.id, MAX_TITLE), STRONG),
            (state(task, &tasks), Style::new()),
            subject,
        ]);
    }
    terminal::write_table(&mut output, &rows)?;
    if closed > 0 && !arguments.all {
        writeln!(output, "\n{DIM}{completed}: --all shows them{DIM:#}")?;
    }
    Ok(())
}

fn state(task: &Task, tasks: &[Task]) -> String {
    let is_open = |id: &&String| tasks.iter().any(|other| other.id == **id && other.is_open());
    let waits_for: Vec<&str> = task.blocked_by.iter().filter(is_open).map(String::as_str).collect();
    let state = sanitize::one_line(&task.status.replace('_', " "), MAX_TITLE);
    match &*waits_for {
        [] => state,
        ids => format!("{state}, waits for {}", sanitize::one_line(&ids.join(", "), MAX_TITLE)),
    }
}

/// Returns the plans and the tasks of a context, without tasks that were taken out of their list.
pub(super) fn of_context(context: &Context, store: &Store) -> Result<(Vec<Plan>, Vec<Task>)> {
    let sessions = sessions_of(context, store)?;
    let share = Share::of(store.connection(), &sessions, Some(&context.id))?;
    let mut tasks = share.tasks(tasks::of_sessions(store.connection(), &sessions)?);
    tasks.retain(|task| !task.is_deleted);
    Ok((share.plans(plans::of_sessions(store.connection(), &sessions)?), tasks))
}

/// Returns the rows of the sessions of a context.
fn sessions_of(context: &Context, store: &Store) -> Result<Vec<i64>> {
    let mut sessions = Vec::new();
    for Binding { session, .. } in &context.sessions {
        sessions.extend(line::row_of(store.connection(), &session.platform, &session.id)?);
    }
    Ok(sessions)
}

/// The sessions that are meant.
struct Meant {
    store: Store,
    /// Their rows, in groups that share their work.
    groups: Vec<Vec<i64>>,
    share: Share,
}

impl Whose {
    /// Returns the sessions that are meant; without a context, what is of contexts that are done only `with_done`.
    fn sessions(&self, with_done: bool, env: &Env, paths: &Paths) -> Result<Meant> {
        let contexts = Contexts::open(env, paths)?;
        if let Some(id) = &self.id {
            let context = contexts.find(id, Which::All, env, paths)?;
            let sessions = sessions_of(&context, &contexts.store)?;
            let share = Share::of(contexts.store.connection(), &sessions, Some(&context.id))?;
            return Ok(Meant { store: contexts.store, groups: vec![sessions], share });
        }
        let connection = contexts.store.connection();
        let mut share = Share::default();
        let groups = if let Some(session) = session(None, env)
            && let Some(row) = line::row_of(connection, CLAUDE_CODE, &session)?
        {
            let sessions = line::with_context(connection, &line::around(connection, row)?)?;
            share = Share::of_session(connection, &sessions, row, with_done)?;
            vec![sessions]
        } else {
            let mut latest = observed::sessions_of_project(connection, &contexts.project.key, MOST_SESSIONS)?;
            if !with_done {
                let (mut done, mut open) = (BTreeSet::new(), BTreeSet::new());
                for context in &contexts.contexts {
                    let rows = if context.is_done { &mut done } else { &mut open };
                    rows.extend(sessions_of(context, &contexts.store)?);
                }
                latest.retain(|row| !done.contains(row) || open.contains(row));
            }
            line::groups(connection, &latest)?
        };
        Ok(Meant { store: contexts.store, groups, share })
    }
}
