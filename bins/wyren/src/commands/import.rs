//! `wyren import`: imports the output of `wyren export`, the records of claude-mem, or transcripts of an agent.

mod claude_mem;
mod transcripts;

use crate::database::{self, Look};
use crate::exit::Ending;
use crate::terminal::{self, DIM, WARNING, counted};
use anyhow::{Context as _, Result, bail};
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::Spool;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use queue::{Request, Start};
use serde_json::json;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::PathBuf;
use store::observations::{Import, Imported};
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren import wyren.jsonl                           from a file
  ssh laptop wyren export | wyren import -           from another machine
  wyren import --claude-mem                          claude-mem's records, from ~/.claude-mem
  wyren import --claude-mem --project web=~/src/web  with the folder that a project's name means
  wyren import --transcripts                         Claude Code's own transcripts
  wyren import --transcripts --agent codex           what Codex kept of its sessions; also cursor
  wyren import --transcripts --dry-run               say what would be imported";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("source").required(true))]
pub(crate) struct Arguments {
    /// File to import, or `-` for standard input.
    #[arg(value_name = "FILE|-", group = "source")]
    file: Option<PathBuf>,
    /// Import the records of claude-mem; its database is only read.
    #[arg(long, value_name = "DATABASE", num_args = 0..=1, group = "source")]
    claude_mem: Option<Option<PathBuf>>,
    /// Import the transcripts below a folder; without one, below the agent's own.
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, group = "source")]
    transcripts: Option<Option<PathBuf>>,
    /// With --transcripts: the agent that wrote them.
    #[arg(long, value_enum, default_value_t, conflicts_with_all = ["file", "claude_mem"])]
    agent: transcripts::Writer,
    /// Say which folder a project of claude-mem means; may be repeated.
    #[arg(long, value_name = "NAME=PATH", conflicts_with_all = ["file", "transcripts"])]
    project: Vec<String>,
    /// Say what would be imported, and store nothing.
    #[arg(long, conflicts_with = "file")]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    if let Some(database) = &arguments.claude_mem {
        refuse_if_off(env, paths)?;
        return claude_mem::run(arguments, database.as_deref(), env, paths);
    }
    if let Some(folder) = &arguments.transcripts {
        refuse_if_off(env, paths)?;
        return transcripts::run(arguments, folder.as_deref(), env, paths);
    }
    let (input, size) = open(arguments.file.as_deref().unwrap_or("-".as_ref()))?;
    let mut store = database::open_drained(env, paths, Look::Quick)?;
    let spool = Spool::new(paths.spool());
    let bar = bar(size);
    let imported = Import::new(&spool).read(&mut store, input, |bytes| bar.set_position(bytes));
    bar.finish_and_clear();
    show(&imported?, arguments.json)
}

/// Says that recording is off: what other systems recorded comes by the same rules.
fn refuse_if_off(env: &Env, paths: &Paths) -> Result<()> {
    if Settings::read(env, &paths.hook_settings()).is_on("capture.enabled") {
        return Ok(());
    }
    Err(Ending::misused("wyren: recording is off (capture.enabled), and an import goes by the same rules")
        .into())
}

fn open(file: &std::path::Path) -> Result<(Box<dyn BufRead>, Option<u64>)> {
    if file.as_os_str() == "-" {
        return Ok((Box::new(BufReader::new(io::stdin())), None));
    }
    let open = File::open(file).with_context(|| format!("could not read {}", file.display()))?;
    let size = open.metadata().ok().map(|metadata| metadata.len());
    Ok((Box::new(BufReader::new(open)), size))
}

/// Returns a progress bar on standard error; hidden unless that is a terminal.
fn bar(size: Option<u64>) -> ProgressBar {
    styled(size, "{bar:30} {bytes}/{total_bytes} {eta}")
}

/// Returns a progress bar that counts rows.
fn bar_of_rows(rows: u64) -> ProgressBar {
    styled(Some(rows), "{bar:30} {pos}/{len} {eta}")
}

fn styled(size: Option<u64>, style: &str) -> ProgressBar {
    let bar = size.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    bar.set_draw_target(ProgressDrawTarget::stderr());
    if let (Some(_), Ok(style)) = (size, ProgressStyle::with_template(style)) {
        bar.set_style(style);
    }
    bar
}

/// Has the worker make the journal of what was imported, in pieces; returns what a person reads about it.
fn derive_later(paths: &Paths) -> &'static str {
    let now = Timestamp::now();
    let request = Request { key: Some("spool".into()), ..Request::new("drain") };
    let started = queue::request(paths, &request, now).and_then(|()| queue::start_worker(paths, now));
    match started {
        Ok(Start::Started(_) | Start::Running) => "The journal is made of it in the background.",
        _ => "The journal is made of it by the next `wyren` commands and sessions.",
    }
}

fn show(imported: &Imported, json: bool) -> Result<()> {
    let Imported { stored, known, private, later, bad, bad_lines } = imported;
    let mut errors = terminal::errors();
    for line in bad_lines {
        writeln!(
            errors,
            "{WARNING}line {}{WARNING:#}: {}",
            line.number,
            sanitize::one_line(&line.reason, 200)
        )?;
    }
    if json {
        let facts = json!({"stored": stored, "known": known, "private": private, "later": later, "bad": bad});
        writeln!(terminal::output(), "{facts:#}")?;
    } else {
        writeln!(terminal::output(), "{stored} new {DIM}({known} already present){DIM:#}")?;
        if *private > 0 {
            writeln!(
                terminal::output(),
                "Skipped {}",
                counted(*private, "fully private prompt", "fully private prompts")
            )?;
        }
    }
    if *later > 0 {
        let lines = counted(*later, "line", "lines");
        writeln!(
            errors,
            "{WARNING}Skipped {lines}{WARNING:#} of a later version of Wyren. Update Wyren and import again."
        )?;
    }
    if *bad > 0 {
        bail!("{} could not be imported; all others were", counted(*bad, "line", "lines"));
    }
    Ok(())
}
