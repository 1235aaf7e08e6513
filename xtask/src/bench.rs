//! Measures every program of the plugin against the yardsticks, and holds it to the budgets.
//!
//! All programs run in one set of interleaved rounds, because only figures of one run can be compared: the machine's
//! mood moves all of them together. What counts are the ratios.

mod against;
mod budgets;
mod cases;
mod check;
pub(crate) mod dependencies;
mod instructions;
mod journal;
mod memory;
mod occasions;
mod predecessors;
mod program;
mod report;
mod rounds;
mod stage;
mod statistics;
mod table;
mod transcripts;
mod yardstick;

use against::Against;
use anyhow::{Context as _, Result};
use clap::Args;
use report::Report;
use serde::Serialize;
use stage::Stage;
use std::fs;
use std::path::{Path, PathBuf};
pub(crate) use table::{NONE, Table};

/// What to measure.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo xtask bench                                    every program, a table
  cargo xtask bench --json bench.json --instructions   also as JSON, with instruction counts
  cargo xtask bench --check --transcript               fail when a budget is over
  cargo xtask bench --deps                             fail when a hot hook links something heavy
  cargo xtask bench --only session-start-recall        one program, while you work on it
  cargo xtask bench --against 'node=node -e 0'         another program in the same rounds

The programs are those in target/plugin/bin; `cargo xtask plugin` builds them anew.
The budgets are in xtask/src/bench/budgets.rs, what is run of each program in xtask/src/bench/cases.rs.")]
pub(crate) struct Arguments {
    /// How often each program runs.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = rounds_from)]
    rounds: usize,

    /// Compare with the budgets and fail when one is over. A run in which one is over is repeated twice, and the
    /// median of the three counts.
    #[arg(long)]
    check: bool,

    /// Only see that hot hooks depend on nothing heavy.
    #[arg(long, conflicts_with_all = ["check", "json", "against", "transcript", "instructions"])]
    deps: bool,

    /// Measure another program in the same rounds; may be repeated.
    #[arg(long, value_name = "LABEL=COMMAND")]
    against: Vec<Against>,

    /// What the programs of --against read, instead of the payload of a session that starts.
    #[arg(long, value_name = "FILE", requires = "against")]
    stdin: Option<PathBuf>,

    /// Measure only this program of the plugin, against the yardsticks.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["check", "deps"])]
    only: Option<String>,

    /// Also scan 1 GiB of transcripts, against `wc -l`.
    #[arg(long)]
    transcript: bool,

    /// Also count instructions, by callgrind.
    #[arg(long)]
    instructions: bool,

    /// Write the figures as JSON, with - to the standard output and instead of the tables.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Arguments {
    fn json_alone(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }
}

/// What `--json` writes.
#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    #[serde(flatten)]
    report: &'a Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    budgets: Option<&'a [check::Judgement]>,
}

/// Measures.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.deps {
        return dependencies::check();
    }
    let stage = Stage::set(arguments)?;
    let report = stage.measure()?;
    if !arguments.json_alone() {
        report.print();
    }
    let judgements = arguments.check.then(|| stage.check(&report)).transpose()?;
    if let Some(file) = &arguments.json {
        write_json(file, &Document { version: 1, report: &report, budgets: judgements.as_deref() })?;
    }
    if let Some(judgements) = judgements {
        if !arguments.json_alone() {
            println!("\n{}", check::table(&judgements));
        }
        check::verdict(&judgements)?;
    }
    Ok(())
}

fn write_json(file: &Path, document: &Document<'_>) -> Result<()> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    if file == Path::new("-") {
        print!("{text}");
        return Ok(());
    }
    fs::write(file, text).with_context(|| format!("could not write {}", file.display()))
}

fn rounds_from(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&rounds| rounds > 0).ok_or_else(|| "a number from 1".to_owned())
}
