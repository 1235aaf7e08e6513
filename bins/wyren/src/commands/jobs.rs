//! `wyren jobs`: background jobs.

use crate::database::{Look, open_for_user};
use crate::exit::Ending;
use crate::places;
use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, WARNING, counted};
use crate::when;
use anstyle::Style;
use anyhow::{Context as _, Result, bail};
use base::{Env, Paths, Timestamp};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use queue::{Request, Start};
use runner::kinds::KINDS;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io::Write as _;
use store::jobs::{self, Job, State};
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren jobs                         list queued, running and failed jobs
  wyren jobs --all --json            include jobs done in the last week
  wyren jobs retry 12                retry a failed job
  wyren jobs retry --all             retry every failed job
  wyren jobs drop 12                 delete a job
  wyren jobs add drain               queue a job";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Include finished jobs, which are kept for a week.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Retry failed jobs.
    Retry {
        /// Job number, as listed.
        #[arg(required_unless_present = "all")]
        id: Option<i64>,
        /// Retry every failed job.
        #[arg(long, conflicts_with = "id")]
        all: bool,
    },
    /// Delete a job that is not running.
    Drop {
        /// Job number, as listed.
        id: i64,
    },
    /// Queue a job, as a hook does.
    Add {
        /// Kind of the job.
        #[arg(value_parser = PossibleValuesParser::new(KINDS.iter().map(|kind| kind.name)))]
        kind: String,
        /// Payload of the job, as JSON.
        payload: Option<String>,
        /// Skip if a job of this kind with this key is already queued.
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
        writeln!(output, "No jobs.")?;
        return Ok(());
    }
    let header =
        ["job", "kind", "state", "attempts", "next try", "reason"].map(|title| (title.to_owned(), DIM));
    let mut rows: Vec<Vec<Cell>> = vec![header.to_vec()];
    rows.extend(jobs.iter().map(|job| row(job, now)));
    terminal::write_table(&mut output, &rows)?;
    Ok(())
}

/// Returns all jobs, including requests that no worker has taken in yet.
fn read(env: &Env, paths: &Paths, now: Timestamp) -> Result<Vec<Job>> {
    // Listing must not create a database.
    if !paths.database().exists() && queue::pending(paths).is_empty() {
        return Ok(Vec::new());
    }
    let mut store = open_for_user(env, paths, Look::Quick)?;
    if store.ahead().is_none() {
        let taken = runner::take_in(&mut store, paths, now)?;
        if taken > 0 {
            // The request is consumed now, so the due mark must start a worker in its place.
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
        (word(job.state).to_owned(), style),
        (format!("{}/{}", job.attempts, job.max_attempts), DIM),
        (next, Style::new()),
        (reason, if job.state == State::Dead { WARNING } else { DIM }),
    ]
}

/// Returns a state as people know it; JSON has the stored name.
fn word(state: State) -> &'static str {
    match state {
        State::Leased => "running",
        State::Dead => "failed",
        State::Queued | State::Done => state.name(),
    }
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
    let mut store = open_for_user(env, paths, Look::Quick)?;
    let mut failed = jobs::list(&store)?;
    failed.retain(|job| job.state == State::Dead && id.is_none_or(|id| job.id == id));
    // This version has no handler for the others: they would only fail again.
    let (known, unknown): (Vec<Job>, Vec<Job>) = failed.into_iter().partition(is_known);
    if let (Some(id), true, true) = (id, known.is_empty(), unknown.is_empty()) {
        bail!("no failed job {id}; `wyren jobs` lists them");
    }
    let mut retried = 0;
    for job in &known {
        retried += jobs::retry(&mut store, Some(job.id), now)?;
    }
    if retried > 0 {
        queue::set_due(paths, Some(now))?;
        writeln!(terminal::output(), "Queued {retried} again; {}.", start_worker(paths, now))?;
    } else if unknown.is_empty() {
        writeln!(terminal::output(), "No failed jobs.")?;
    }
    if unknown.is_empty() {
        return Ok(());
    }
    for job in &unknown {
        let kind = sanitize::one_line(&job.kind, 40);
        writeln!(
            terminal::errors(),
            "wyren: job {} cannot be retried: this version knows no kind {kind:?}. To delete it: wyren jobs drop {}",
            job.id,
            job.id
        )?;
    }
    bail!("{} not retried", counted(unknown.len(), "job was", "jobs were"));
}

fn is_known(job: &Job) -> bool {
    KINDS.iter().any(|kind| kind.name == job.kind)
}

fn drop(env: &Env, paths: &Paths, id: i64) -> Result<()> {
    if !jobs::drop(&mut open_for_user(env, paths, Look::Quick)?, id)? {
        bail!("could not drop job {id}: it does not exist or is running");
    }
    writeln!(terminal::output(), "Deleted job {id}.")?;
    Ok(())
}

fn add(paths: &Paths, kind: &str, payload: Option<String>, key: Option<&str>, now: Timestamp) -> Result<()> {
    let payload = payload.map(RawValue::from_string).transpose();
    let payload =
        payload.map_err(|error| Ending::misused(format!("wyren: the payload is not JSON: {error}")))?;
    let request = Request { key: key.map(Into::into), payload: payload.as_deref(), ..Request::new(kind) };
    places::check(paths)?;
    queue::request(paths, &request, now).context("could not write the request")?;
    writeln!(terminal::output(), "Queued; {}.", start_worker(paths, now))?;
    Ok(())
}

/// Starts a worker if allowed; returns when the job will run.
fn start_worker(paths: &Paths, now: Timestamp) -> String {
    match queue::start_worker_if_needed(paths, now) {
        Ok(Start::Started(_) | Start::Running) => "a worker is running".to_owned(),
        Ok(Start::TooSoon | Start::NoWork) => {
            format!("{LATER}; to run it now: wyren worker run --until-idle")
        }
        // The job is queued either way.
        Err(error) => format!("could not start a worker ({error}); {LATER}"),
    }
}

const LATER: &str = "the next hook starts a worker";
