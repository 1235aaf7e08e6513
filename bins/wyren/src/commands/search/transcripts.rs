//! `--transcripts`: the words of the conversations themselves.

use crate::database;
use crate::hits;
use crate::terminal::{self, DIM, STRONG, WARNING, counted, wrap};
use crate::when;
use answers::rows;
use anyhow::Result;
use base::{Env, Paths, Timestamp};
use capture::Spool;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use search::Query;
use search::highlight::Words;
use search::transcripts::{Said, Scan};
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;
use text::sanitize;

/// How long a scan may take. The newest transcripts come first.
const MOST_TIME: Duration = Duration::from_secs(20);
/// In characters.
const SESSION: usize = 8;
const INDENT: usize = 4;

/// Scans Claude Code's transcripts, with progress on standard error.
pub(super) fn search(query: &Query, words: &mut Words, env: &Env, paths: &Paths) -> Result<Vec<Said>> {
    let folder = database::client_folder(env).join("projects");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let filter = &query.filter;
    let without_effect: Vec<&str> = [
        ("--type", !filter.kinds.is_empty() || !filter.classes.is_empty()),
        ("--file", !filter.file.is_empty()),
        ("--author", !filter.author.is_empty()),
    ]
    .into_iter()
    .filter_map(|(name, is_set)| is_set.then_some(name))
    .collect();
    if !without_effect.is_empty() {
        let names = without_effect.join(", ");
        writeln!(terminal::errors(), "{WARNING}Without effect on transcripts{WARNING:#}: {names}.")?;
    }
    let rules = database::rules(env, paths).knowing(&Spool::new(paths.spool()));
    let scan = Scan {
        folder: &folder,
        rules: &rules,
        filter: &query.filter,
        limit: query.limit,
        most_time: MOST_TIME,
    };
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} of transcripts") {
        bar.set_style(style);
    }
    let scanned = scan.run(words, |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let scanned = scanned?;
    if scanned.left > 0 {
        let left = counted(scanned.left as u64, "older session", "older sessions");
        writeln!(
            terminal::errors(),
            "{WARNING}{left} not scanned{WARNING:#}: time was up. Narrow it with --project or --since."
        )?;
    }
    Ok(scanned.said)
}

pub(super) fn write(
    output: &mut dyn Write,
    said: &[Said],
    words: &mut Words,
    width: Option<usize>,
) -> Result<()> {
    if said.is_empty() {
        return Ok(());
    }
    writeln!(output, "{STRONG}In transcripts{STRONG:#}")?;
    for said in said {
        let when = when::local_minute(Timestamp::from_millis(said.at));
        let session: String = sanitize::one_line(&said.session, SESSION + 1).chars().take(SESSION).collect();
        let head = format!("session {session}  {when}  {}", said.by.name());
        for line in width.map_or_else(|| vec![head.clone()], |width| wrap(&head, width)) {
            writeln!(output, "{DIM}{line}{DIM:#}")?;
        }
        write!(output, "{:INDENT$}", "")?;
        // A call or its result may be one line of any length: what is shown is around the words.
        let line = rows::excerpt(&said.line, words);
        hits::marked(output, &line, words, width.map(|width| width.saturating_sub(INDENT).max(1)))?;
        writeln!(output)?;
    }
    Ok(())
}

pub(super) fn to_json(said: &Said, words: &mut Words) -> Value {
    json!({
        "by": said.by.name(),
        "session": said.session,
        "project": said.project,
        "when": Timestamp::from_millis(said.at).to_string(),
        "line": rows::excerpt(&said.line, words),
    })
}
