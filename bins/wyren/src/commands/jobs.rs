//! `wyren jobs`: what waits, runs, was done or given up in the background.

use crate::database::{Look, open_for_user};
use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, WARNING};
use crate::when;
use anstyle::Style;
use anyhow::{Context as _, Result, bail};
use base::{Env, Paths, Timestamp};
use clap::{Args, Subcommand};
use queue::{Request, Start};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io::Write as _;
use store::jobs::{self, Job, State};
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren jobs                         what waits, runs or was given up
  wyren jobs --all --json            what was done lately, too
  wyren jobs retry 12                try a job again that was given up
  wyren jobs retry --all             and all others
  wyren jobs drop 12                 forget it
  wyren jobs add drain               ask for a job";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Show jobs that were done, too; they stay on record for a week.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Try again what was given up.
    Retry {
        /// The job's number, as listed.
        #[arg(required_unless_present = "all")]
        id: Option<i64>,
        /// Every job that was given up.
        #[arg(long, conflicts_with = "id")]
        all: bool,
    },
    /// Forget a job that nobody is at.
    Drop {
        /// The job's number, as listed.
        id: i64,
    },
    /// Ask for a job, as a hook does.
    Add {
        /// What is to be done.
        kind: String,
        /// What it needs to know, as JSON.
        payload: Option<String>,
        /// While a job of this kind and key waits, another is not added.
        #[arg(long)]
        key: Option<String>,
    },
}

pub(crate) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let now = Timestamp::now();
    match arguments.action {
        None => list(env, paths, arguments.all, arguments.json, now),
        Some(Action::Retry { id, .. }) => retry(env, paths, id, now),
        Some(Action::Drop { id }) => drop(env, paths, id),
        Some(Action::Add { kind, payload, key }) => add(paths, &kind, payload, key.as_deref(), now),
    }
}

fn list(env: &Env, paths: &Paths, all: bool, json: bool, now: Timestamp) -> Result<()> {
    let mut jobs = read(env, paths, now)?;
    jobs.retain(|job| all || job.state != State::Done);
    let mut output = terminal::output();
    if json {
        let jobs: Vec<Value> = jobs.iter().map(to_json).collect();
        writeln!(output, "{:#}", json!({"jobs": jobs}))?;
        return Ok(());
    }
    if jobs.is_empty() {
        writeln!(output, "Nothing waits, nothing runs, nothing was given up.")?;
        return Ok(());
    }
    let header =
        ["job", "kind", "state", "attempts", "next try", "reason"].map(|title| (title.to_owned(), DIM));
    let mut rows: Vec<Vec<Cell>> = vec![header.to_vec()];
    rows.extend(jobs.iter().map(|job| row(job, now)));
    terminal::write_table(&mut output, &rows)?;
    Ok(())
}

/// Returns the jobs on record, what hooks asked for a moment ago included.
fn read(env: &Env, paths: &Paths, now: Timestamp) -> Result<Vec<Job>> {
    // Nothing is created just to say that there is nothing.
    if !paths.database().exists() && queue::pending(paths).is_empty() {
        return Ok(Vec::new());
    }
    let mut store = open_for_user(env, paths, Look::Quick)?;
    if store.ahead().is_none() {
        let taken = runner::take_in(&mut store, paths, now)?;
        if taken > 0 {
            // The request that would have started a worker is gone; the word stands in for it.
            queue::set_due(paths, jobs::next_due(&store)?)?;
        }
    }
    Ok(jobs::list(&store)?)
}

fn row(job: &Job, now: Timestamp) -> Vec<Cell> {
    let style = match job.state {
        State::Queued => Style::new(),
        State::Leased => STRONG,
        State::Done => DIM,
        State::Dead => FAILURE,
    };
    let next = match job.state {
        State::Queued if job.not_before <= now => "now".to_owned(),
        State::Queued => format!("in {}", when::duration(job.not_before.millis_since(now))),
        _ => "–".to_owned(),
    };
    let reason =
        job.reason.as_deref().map_or_else(|| "–".to_owned(), |reason| sanitize::one_line(reason, 120));
    vec![
        (job.id.to_string(), Style::new()),
        (sanitize::one_line(&job.kind, 40), Style::new()),
        (job.state.to_string(), style),
        (format!("{}/{}", job.attempts, job.max_attempts), DIM),
        (next, Style::new()),
        (reason, if job.state == State::Dead { WARNING } else { DIM }),
    ]
}

fn to_json(job: &Job) -> Value {
    let payload: Value = serde_json::from_str(&job.payload).unwrap_or(Value::Null);
    json!({
        "id": job.id,
        "kind": job.kind,
        "project": job.project,
        "payload": payload,
        "state": job.state.name(),
        "attempts": job.attempts,
        "max_attempts": job.max_attempts,
        "next_try": (job.state == State::Queued).then(|| job.not_before.to_string()),
        "lease_until": job.lease_until.map(|until| until.to_string()),
        "created": job.created.to_string(),
        "updated": job.updated.to_string(),
        "reason": job.reason,
    })
}

fn retry(env: &Env, paths: &Paths, id: Option<i64>, now: Timestamp) -> Result<()> {
    let retried = jobs::retry(&mut open_for_user(env, paths, Look::Quick)?, id, now)?;
    if let (Some(id), 0) = (id, retried) {
        bail!("no job {id} was given up; `wyren jobs` lists those that were");
    }
    if retried == 0 {
        writeln!(terminal::output(), "Nothing was given up.")?;
        return Ok(());
    }
    queue::set_due(paths, Some(now))?;
    writeln!(terminal::output(), "{retried} queued again; {}.", start_worker(paths, now))?;
    Ok(())
}

fn drop(env: &Env, paths: &Paths, id: i64) -> Result<()> {
    if !jobs::drop(&mut open_for_user(env, paths, Look::Quick)?, id)? {
        bail!("no job {id} can be dropped: there is none, or a worker is at it");
    }
    writeln!(terminal::output(), "Job {id} is forgotten.")?;
    Ok(())
}

fn add(paths: &Paths, kind: &str, payload: Option<String>, key: Option<&str>, now: Timestamp) -> Result<()> {
    let payload = payload.map(RawValue::from_string).transpose().context("the payload is not JSON")?;
    let request = Request { key: key.map(Into::into), payload: payload.as_deref(), ..Request::new(kind) };
    queue::request(paths, &request, now).context("could not write the request")?;
    writeln!(terminal::output(), "Queued; {}.", start_worker(paths, now))?;
    Ok(())
}

/// Starts a worker where that may be; says when the job will be done.
fn start_worker(paths: &Paths, now: Timestamp) -> String {
    match queue::start_worker_if_needed(paths, now) {
        Ok(Start::Started(_) | Start::Running) => "a worker is at it".to_owned(),
        Ok(Start::TooSoon | Start::NoWork) => format!("{LATER}, or `wyren worker run --until-idle` now"),
        // The job is safe all the same.
        Err(error) => format!("no worker could be started ({error}); {LATER}"),
    }
}

/// Who sees to a job that no worker was started for.
const LATER: &str = "the next hook starts a worker";
