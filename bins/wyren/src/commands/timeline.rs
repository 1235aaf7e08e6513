//! `wyren timeline`: what happened before and after something that was found.

use crate::exit;
use crate::finder;
use crate::hits::{self, Layout};
use crate::terminal::{self, DIM};
use anyhow::Result;
use base::project::Project;
use base::{Env, Paths};
use clap::Args;
use search::highlight::Words;
use search::sources::{self, Around, Loaded};
use serde_json::{Value, json};
use std::io::Write;

const EXAMPLES: &str = "\
Examples:
  wyren timeline 3f9k2m1x             around the entry, summary or prompt with this id
  wyren timeline stale cache          around what `wyren search` finds first
  wyren timeline 3f9 --before 10 --after 0";

/// How many are shown on each side, and the most that may be.
const DEFAULT_COUNT: usize = 5;
const MAX_COUNT: u64 = 200;
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// An id or the beginning of one, else what to search for.
    #[arg(required = true, value_name = "ID|WORD")]
    words: Vec<String>,
    /// How many are shown from before.
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_COUNT, value_parser = count)]
    before: usize,
    /// How many are shown from after.
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_COUNT, value_parser = count)]
    after: usize,
    /// Search in every project.
    #[arg(long)]
    all_projects: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn count(text: &str) -> Result<usize, String> {
    let number: u64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number <= MAX_COUNT { Ok(number as usize) } else { Err(format!("at most {MAX_COUNT}")) }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let finder = finder::open(env, paths)?;
    let projects = if arguments.all_projects {
        sources::every_project(&finder.store)?
    } else {
        vec![Project::of(&finder.cwd).key]
    };
    let (anchor, mut words) =
        answers::anchor(&finder, paths, &arguments.words, projects).map_err(exit::of)?;
    let around = sources::around(&finder.store, paths, &anchor, (arguments.before, arguments.after))?;
    if arguments.json {
        let facts = to_json(&anchor, &around, &mut words);
        return Ok(writeln!(terminal::output(), "{facts:#}")?);
    }
    let width = terminal::width();
    terminal::page(|output| write(output, &anchor, &around, &mut words, width))
}

fn write(
    output: &mut dyn Write,
    anchor: &Loaded,
    around: &Around,
    words: &mut Words,
    width: Option<usize>,
) -> Result<()> {
    let all: Vec<Loaded> = around.before.iter().chain([anchor]).chain(&around.after).cloned().collect();
    let mut layout = Layout::of(&all, width, false);
    layout.margin = 2;
    for loaded in &all {
        let is_anchor = loaded.document.key == anchor.document.key;
        write!(output, "{}", if is_anchor { "> " } else { "  " })?;
        let words = if is_anchor { &mut *words } else { &mut Words::default() };
        layout.write(output, loaded, words, &[])?;
    }
    if around.before.is_empty() {
        writeln!(output, "{DIM}Nothing was recorded before.{DIM:#}")?;
    }
    if around.after.is_empty() {
        writeln!(output, "{DIM}Nothing was recorded after.{DIM:#}")?;
    }
    Ok(())
}

fn to_json(anchor: &Loaded, around: &Around, words: &mut Words) -> Value {
    let mut list =
        |side: &[Loaded]| side.iter().map(|loaded| hits::to_json(loaded, words)).collect::<Value>();
    json!({"before": list(&around.before), "anchor": list(std::slice::from_ref(anchor))[0], "after": list(&around.after)})
}
