//! `wyren worker`: the background worker, seen from the terminal.

use super::log::{self, View};
use crate::terminal::{self, DIM, FAILURE, STRONG, WARNING};
use crate::when;
use anyhow::{Context as _, Result, bail};
use base::settings::Settings;
use base::{Env, Paths, Timestamp, files};
use clap::{Args, Subcommand};
use runner::{Ended, Options, kinds};
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::{Duration, Instant};
use store::jobs;
use text::sanitize;

/// How long `stop` waits for the worker to go.
const STOP_PATIENCE: Duration = Duration::from_secs(15);
/// How often `stop` looks whether it has gone.
const STOP_PAUSE: Duration = Duration::from_millis(20);

const EXAMPLES: &str = "\
Examples:
  wyren worker                       does one run, and what is queued
  wyren worker run --until-idle      do what is due, here and now
  wyren worker stop                  let it finish and go
  wyren worker logs --follow         watch it";

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
    /// Say whether one runs and what is queued (what `wyren worker` does without more words).
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Be the worker, in this terminal.
    Run {
        /// End as soon as nothing is due.
        #[arg(long)]
        until_idle: bool,
    },
    /// Ask a running worker to finish its job, or to give it back, and go.
    Stop,
    /// Show what workers did.
    Logs(View),
}

pub(crate) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    match arguments.action.unwrap_or(Action::Status { json: arguments.json }) {
        Action::Status { json } => status(paths, json || arguments.json),
        Action::Run { until_idle } => be_worker(env, paths, until_idle),
        Action::Stop => stop(paths),
        Action::Logs(view) => view.show(&runner::log_file(paths), "worker", |_| true),
    }
}

fn status(paths: &Paths, json: bool) -> Result<()> {
    let since = queue::running_since(paths).context("could not look at the worker's lock")?;
    // Nothing is created just to say that there is nothing.
    let counts = if paths.database().exists() {
        let store =
            store::open_store(paths).context("could not count the jobs; `wyren doctor` says what helps")?;
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
            "leased": counts.leased,
            "done": counts.done,
            "dead": counts.dead,
            "last_error": last_error.map(|line| json!({"ts": line["ts"], "msg": line["msg"]})),
        });
        writeln!(output, "{status:#}")?;
        return Ok(());
    }
    match since {
        Some(since) => writeln!(output, "{STRONG}running{STRONG:#} since {}", when::local(since))?,
        None => writeln!(output, "not running {DIM}(it starts when there is work){DIM:#}")?,
    }
    let waiting = counts.queued + requested as u64;
    writeln!(output, "jobs: {waiting} waiting, {} running, {} done", counts.leased, counts.done)?;
    if counts.dead > 0 {
        writeln!(output, "{WARNING}{} given up{WARNING:#}: see `wyren jobs`", counts.dead)?;
    }
    if let Some(line) = last_error {
        let at = text(&line, "ts");
        let at = at.parse().map_or_else(|_| sanitize::one_line(at, 40), when::local);
        let message = sanitize::one_line(text(&line, "msg"), 200);
        writeln!(output, "{FAILURE}last error{FAILURE:#} {at}: {message}")?;
    }
    Ok(())
}

/// Returns the last line of the worker's log that tells of an error.
fn last_error(paths: &Paths) -> Result<Option<Value>> {
    let lines = log::read_lines(&runner::log_file(paths))?;
    let mut errors = lines.iter().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(errors.find(|line| text(line, "level") == "error"))
}

fn be_worker(env: &Env, paths: &Paths, until_idle: bool) -> Result<()> {
    let settings = Settings::read(env, &paths.hook_settings());
    let mut options = Options::of(&settings);
    if until_idle {
        options.idle = Duration::ZERO;
    }
    match runner::run(env, paths, options, &kinds::all())? {
        Ended::Elsewhere => bail!("a worker runs already; `wyren worker status` tells more"),
        Ended::Overdue => bail!("a job took too long; see `wyren jobs`"),
        Ended::Idle | Ended::Stopped => status(paths, false),
    }
}

fn stop(paths: &Paths) -> Result<()> {
    let mut output = terminal::output();
    let file = queue::stop_file(paths);
    if !queue::is_running(paths)? {
        writeln!(output, "No worker runs.")?;
        return Ok(());
    }
    let deadline = Instant::now() + STOP_PATIENCE;
    while queue::is_running(paths)? {
        if Instant::now() >= deadline {
            let _ = std::fs::remove_file(&file);
            bail!("the worker did not end within {} s; its job goes on", STOP_PATIENCE.as_secs());
        }
        // A worker that began a moment ago took the file for one that was meant for another.
        if !file.exists() {
            files::write_atomic(&file, format!("{}\n", Timestamp::now()).as_bytes())?;
        }
        std::thread::sleep(STOP_PAUSE);
    }
    let _ = std::fs::remove_file(&file);
    writeln!(output, "The worker has ended; what it had not done stays queued.")?;
    Ok(())
}

fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}
