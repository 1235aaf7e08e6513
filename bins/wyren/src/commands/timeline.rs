//! `wyren timeline`: what happened before and after something that was found.

use crate::exit::Ending;
use crate::finder::{self, Finder};
use crate::hits::{self, Layout};
use crate::items;
use crate::terminal::{self, DIM};
use anyhow::Result;
use base::project::Project;
use base::{Env, Paths, Timestamp};
use clap::Args;
use search::highlight::Words;
use search::sources::{self, Around, Loaded};
use search::{Filter, Query};
use serde_json::{Value, json};
use std::io::Write;
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren timeline 3f9k2m1x             around the entry, summary or prompt with this id
  wyren timeline stale cache          around what `wyren search` finds first
  wyren timeline 3f9 --before 10 --after 0";

/// How many are shown on each side, and the most that may be.
const DEFAULT_COUNT: usize = 5;
const MAX_COUNT: u64 = 200;
/// How many hits are looked at for one that has a time.
const LOOKED_AT: usize = 50;
/// In characters.
const MAX_SHOWN: usize = 60;

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
    let (anchor, mut words) = find(arguments, &finder, paths)?;
    if anchor.document.at == 0 {
        let title = sanitize::one_line(&anchor.document.title, MAX_SHOWN);
        return Err(Ending::failed(format!("wyren: nothing says when {title:?} was written")).into());
    }
    let around = sources::around(&finder.store, paths, &anchor, (arguments.before, arguments.after))?;
    if arguments.json {
        let facts = to_json(&anchor, &around, &mut words);
        return Ok(writeln!(terminal::output(), "{facts:#}")?);
    }
    let width = terminal::width();
    terminal::page(|output| write(output, &anchor, &around, &mut words, width))
}

/// Finds what the timeline is around: by its id, else by its words. A single word may be either; one with a digit is an id
/// first.
fn find(arguments: &Arguments, finder: &Finder, paths: &Paths) -> Result<(Loaded, Words)> {
    let by_id = |typed: &str| items::find_any(&finder.store, paths, typed);
    if let [typed] = &*arguments.words
        && typed.bytes().any(|byte| byte.is_ascii_digit())
        && let Ok(loaded) = by_id(typed)
    {
        return Ok((loaded, Words::default()));
    }
    let text = arguments.words.join(" ");
    let projects = if arguments.all_projects { Vec::new() } else { vec![Project::of(&finder.cwd).key] };
    let filter = Filter { projects, ..Filter::default() };
    let query = Query { text, filter, limit: LOOKED_AT, skip: 0, now: Timestamp::now().millis() };
    let found = finder.index.search(&query);
    // What has no time is no place on a timeline.
    let first = found.hits.iter().find(|hit| hit.at > 0).or(found.hits.first());
    let keys: Vec<String> = first.map(|hit| hit.key.clone()).into_iter().collect();
    match (sources::load(&finder.store, paths, &keys)?.pop(), &*arguments.words) {
        (Some(loaded), _) => Ok((loaded, Words::of(found.terms.iter().map(|(word, _)| word.as_str())))),
        // Says which ids there are.
        (None, [typed]) => Ok((by_id(typed)?, Words::default())),
        (None, _) => {
            let text = sanitize::one_line(&query.text, MAX_SHOWN);
            Err(Ending::failed(format!("wyren: nothing found for {text:?}; `wyren search` says why")).into())
        }
    }
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
