//! `--transcripts`: the words of the conversations themselves.

use crate::database;
use crate::terminal::{self, DIM, FOUND, STRONG, WARNING, counted, cut};
use crate::when;
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
const MAX_LINE: usize = 400;
const SESSION: usize = 8;

/// Scans Claude Code's transcripts, with progress on standard error.
pub(super) fn search(query: &Query, words: &mut Words, env: &Env, paths: &Paths) -> Result<Vec<Said>> {
    let folder = database::client_folder(env).join("projects");
    if !folder.is_dir() {
        return Ok(Vec::new());
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
        writeln!(output, "{DIM}session {session}  {when}  {}{DIM:#}", said.by.name())?;
        let line = sanitize::one_line(&said.line, MAX_LINE);
        let line = width.map_or_else(|| line.clone(), |width| cut(&line, width.saturating_sub(4).max(1)));
        let mut end = 0;
        write!(output, "    ")?;
        for range in words.ranges(&line) {
            write!(output, "{}{FOUND}{}{FOUND:#}", &line[end..range.start], &line[range.clone()])?;
            end = range.end;
        }
        writeln!(output, "{}", &line[end..])?;
    }
    Ok(())
}

pub(super) fn to_json(said: &Said) -> Value {
    json!({
        "by": said.by.name(),
        "session": said.session,
        "project": said.project,
        "when": Timestamp::from_millis(said.at).to_string(),
        "line": said.line,
    })
}
