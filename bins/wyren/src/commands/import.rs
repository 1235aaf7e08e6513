//! `wyren import`: imports the output of `wyren export`, from this machine or another.

use crate::database::{self, Look};
use crate::terminal::{self, DIM, WARNING, counted};
use anyhow::{Context as _, Result, bail};
use base::{Env, Paths};
use capture::Spool;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::PathBuf;
use store::observations::{Import, Imported};
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren import wyren.jsonl                    from a file
  ssh laptop wyren export | wyren import -    from another machine";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// File to import, or `-` for standard input.
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let (input, size) = open(&arguments.file)?;
    let mut store = database::open_drained(env, paths, Look::Quick)?;
    let spool = Spool::new(paths.spool());
    let bar = bar(size);
    let imported = Import::new(&spool).read(&mut store, input, |bytes| bar.set_position(bytes));
    bar.finish_and_clear();
    show(&imported?, arguments.json)
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
    let bar = size.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    bar.set_draw_target(ProgressDrawTarget::stderr());
    let style = "{bar:30} {bytes}/{total_bytes} {eta}";
    if let (Some(_), Ok(style)) = (size, ProgressStyle::with_template(style)) {
        bar.set_style(style);
    }
    bar
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
