//! `wyren worker`: shows, runs and stops the background worker.

use super::log::{self, View};
use crate::terminal::{self, DIM, FAILURE, STRONG, WARNING};
use crate::when;
use anyhow::{Context as _, Result, bail};
use base::settings::Settings;
use base::{Env, Paths, Timestamp, detached};
use clap::{Args, Subcommand};
use queue::Wish;
use runner::{Ended, Options, kinds};
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::{Duration, Instant};
use store::jobs;
use text::sanitize;

/// How long `stop` waits for the worker to exit.
const STOP_PATIENCE: Duration = Duration::from_secs(15);
/// How often `stop` checks.
const STOP_PAUSE: Duration = Duration::from_millis(20);

const EXAMPLES: &str = "\
Examples:
  wyren worker                       show whether a worker is running and what is queued
  wyren worker run --until-idle      run all due jobs in the foreground
  wyren worker stop                  stop the running worker
  wyren worker logs --follow         follow its log";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Show whether a worker is running and what is queued (the default).
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run the worker in the foreground.
    Run {
        /// Exit as soon as no job is due.
        #[arg(long)]
        until_idle: bool,
        /// Started by `wyren-worker`: prints nothing.
        #[arg(long, hide = true, conflicts_with = "until_idle")]
        background: bool,
    },
    /// Ask the running worker to finish or requeue its job and exit.
    Stop,
    /// Show the log of the worker.
    Logs {
        /// How many lines to print [default: 20].
        #[arg(long, short = 'n', allow_negative_numbers = true)]
        lines: Option<i64>,
        #[command(flatten)]
        view: View,
    },
}

pub(crate) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    match arguments.action.unwrap_or(Action::Status { json: arguments.json }) {
        Action::Status { json } => status(paths, json || arguments.json),
        Action::Run { background: true, .. } => be_detached_worker(env, paths),
        Action::Run { until_idle, .. } => be_worker(env, paths, until_idle),
        Action::Stop => stop(paths),
        Action::Logs { lines, view } => view.show(&runner::log_file(paths), "worker", lines, |_| true),
    }
}

fn status(paths: &Paths, json: bool) -> Result<()> {
    let since = queue::running_since(paths).context("could not check the worker's lock")?;
    // Reporting must not create a database.
    let counts = if paths.database().exists() {
        let store = journal::open_store(paths).context("could not count the jobs; run `wyren doctor`")?;
        jobs::counts(&store)?
    } else {
        jobs::Counts::default()
    };
    let requested = queue::pending(paths).len();
    let last_error = last_error(paths)?;
    let mut output = terminal::output();
    if json {
        let status = json!({
            "running": since.is_some(),
            "since": since.map(|since| since.to_string()),
            "requested": requested,
            "queued": counts.queued,
            "running_jobs": counts.leased,
            "done": counts.done,
            "failed": counts.dead,
            // Earlier names of `running_jobs` and `failed`.
            "leased": counts.leased,
            "dead": counts.dead,
            "last_error": last_error.map(|line| json!({"ts": line["ts"], "msg": line["msg"]})),
        });
        writeln!(output, "{status:#}")?;
        return Ok(());
    }
    match since {
        Some(since) => writeln!(output, "{STRONG}running{STRONG:#} since {}", when::local(since))?,
        None => writeln!(output, "not running {DIM}(starts when there is work){DIM:#}")?,
    }
    let waiting = counts.queued + requested as u64;
    writeln!(output, "jobs: {waiting} queued, {} running, {} done", counts.leased, counts.done)?;
    if counts.dead > 0 {
        writeln!(output, "{WARNING}{} failed{WARNING:#}: see `wyren jobs`", counts.dead)?;
    }
    if let Some(line) = last_error {
        let at = text(&line, "ts");
        let at = at.parse().map_or_else(|_| sanitize::one_line(at, 40), when::local);
        let message = sanitize::one_line(text(&line, "msg"), 200);
        writeln!(output, "{FAILURE}last error{FAILURE:#} {at}: {message}")?;
    }
    Ok(())
}

/// Returns the last error in the worker's log.
fn last_error(paths: &Paths) -> Result<Option<Value>> {
    let lines = log::read_lines(&runner::log_file(paths))?;
    let mut errors = lines.iter().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(errors.find(|line| text(line, "level") == "error"))
}

/// Does background jobs until there are none. The log has the reason of a failure.
fn be_detached_worker(env: &Env, paths: &Paths) -> Result<()> {
    detached::leave_session();
    // It keeps no folder of the user's in use. A data folder that was named relative to this one has to stay where it is.
    if paths.data().is_absolute() {
        let _ = std::env::set_current_dir(paths.data());
    }
    let logged = paths.clone();
    detached::end_after(runner::CAP, move || runner::log_cap(&logged));
    let options = Options::of(&Settings::read(env, &paths.hook_settings()));
    runner::run(env, paths, options, &kinds::all())?;
    Ok(())
}

fn be_worker(env: &Env, paths: &Paths, until_idle: bool) -> Result<()> {
    let settings = Settings::read(env, &paths.hook_settings());
    let mut options = Options::of(&settings);
    if until_idle {
        options.idle = Duration::ZERO;
    }
    match runner::run(env, paths, options, &kinds::all())? {
        Ended::Elsewhere => bail!("a worker is already running; see `wyren worker status`"),
        Ended::Overdue => bail!("a job exceeded its time limit; see `wyren jobs`"),
        Ended::Idle | Ended::Stopped | Ended::Relieved | Ended::Updated => status(paths, false),
    }
}

pub(super) fn stop(paths: &Paths) -> Result<()> {
    let mut output = terminal::output();
    let file = queue::stop_file(paths);
    if !queue::is_running(paths)? {
        writeln!(output, "No worker is running.")?;
        return Ok(());
    }
    let deadline = Instant::now() + STOP_PATIENCE;
    while queue::is_running(paths)? {
        if Instant::now() >= deadline {
            let _ = std::fs::remove_file(&file);
            bail!("the worker did not exit within {} s; its job is still running", STOP_PATIENCE.as_secs());
        }
        // A worker that has just started may have deleted the stop file as a stale one.
        if queue::wish(paths) != Some(Wish::Stop) {
            queue::wish_for(paths, Wish::Stop, Timestamp::now())?;
        }
        std::thread::sleep(STOP_PAUSE);
    }
    let _ = std::fs::remove_file(&file);
    writeln!(output, "Worker stopped; unfinished jobs stay queued.")?;
    Ok(())
}

fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}
