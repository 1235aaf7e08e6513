//! `wyren lessons scan`: looks for lessons in what happened.

use super::shown;
use crate::database::{self, Look};
use crate::exit::Ending;
use crate::terminal::{self, DIM, STRONG, WARNING, counted};
use anyhow::{Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use learning::scan::{self, Observer, Options, Report};
use lessons_admin::catalogue::Places;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wyren lessons scan --dry-run                  show what a scan would find
  wyren lessons scan                            scan what happened since the last scan
  wyren lessons scan --full --path ~/old-logs   scan all transcripts below a folder";

/// How many that no lesson could be made of are shown.
const MAX_HELD: usize = 20;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Scan everything, also what was scanned before.
    #[arg(long)]
    full: bool,
    /// Scan the transcripts below this folder instead of the client's; may be repeated.
    #[arg(long, value_name = "FOLDER")]
    path: Vec<PathBuf>,
    /// Show what would be found, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Also show what no lesson could be made of, and why.
    #[arg(long, short)]
    verbose: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Shows how far a scan came, on standard error.
struct Bar(ProgressBar);

impl Observer for Bar {
    fn begin(&mut self, bytes: u64) {
        self.0.set_length(bytes);
        self.0.set_draw_target(ProgressDrawTarget::stderr());
    }

    fn passed(&mut self, bytes: u64) {
        self.0.inc(bytes);
    }
}

pub(super) fn run(arguments: &Arguments, places: &Places) -> Result<()> {
    if !places.settings().is_on("capture.enabled") {
        let message = "wyren: recording is off (capture.enabled), and a scan goes by the same rules";
        return Err(Ending::misused(message).into());
    }
    let mut options = Options::of(&places.env, &places.paths);
    options.is_full = arguments.full;
    options.is_trial = arguments.dry_run;
    if !arguments.path.is_empty() {
        options.folders = arguments.path.iter().cloned().map(super::folder).collect::<Result<_>>()?;
        if let Some(missing) = options.folders.iter().find(|folder| !folder.is_dir()) {
            bail!("{} is no folder", missing.display());
        }
    }
    let mut store = database::open_drained(&places.env, &places.paths, Look::Quick)?;
    let bar = ProgressBar::hidden();
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta}") {
        bar.set_style(style);
    }
    let mut observer = Bar(bar);
    let scanned = scan::run(&mut store, places, &options, &mut observer);
    observer.0.finish_and_clear();
    let report = scanned?;
    let worded = runner::words::improve(places, &report.kept.new)?;
    let mut output = terminal::output();
    if arguments.json {
        let mut facts = as_json(&report);
        facts["worded"] = worded.into();
        writeln!(output, "{facts:#}")?;
    } else {
        for slug in &worded {
            writeln!(output, "{}  {DIM}worded by a model{DIM:#}", shown(slug))?;
        }
        show(&mut output, &report, arguments)?;
    }
    output.flush()?;
    Ok(())
}

fn as_json(report: &Report) -> Value {
    let found: Vec<Value> = report
        .candidates
        .iter()
        .map(|it| {
            json!({
                "slug": it.lesson.slug, "summary": it.lesson.summary, "tier": it.tier.name(), "session": it.session,
                "project": it.project, "failing": it.failing, "fix": it.fix, "commands": it.lesson.trigger.commands,
            })
        })
        .collect();
    let held: Vec<Value> =
        report.held.iter().map(|held| json!({"about": held.about, "reason": held.reason})).collect();
    json!({
        "sessions": report.sessions, "files": report.files, "read": report.read, "bytes": report.bytes, "unreadable": report.unreadable,
        "new": report.kept.new, "again": report.kept.again, "archived": report.kept.archived,
        "over": report.kept.over, "withdrawn": report.kept.withdrawn, "promoted": report.kept.promoted, "facts": report.kept.facts, "found": found, "held": held,
    })
}

fn show(output: &mut impl std::io::Write, report: &Report, arguments: &Arguments) -> Result<()> {
    let sessions = counted(report.sessions, "recorded session", "recorded sessions");
    let files = counted(report.files, "transcript", "transcripts");
    writeln!(output, "{DIM}Scanned what is new in {sessions} and in {} of {files}.{DIM:#}", report.read)?;
    for it in &report.candidates {
        let slug = shown(&it.lesson.slug);
        writeln!(
            output,
            "{STRONG}{slug}{STRONG:#}  {} {DIM}({}){DIM:#}",
            shown(&it.lesson.summary),
            it.tier.name()
        )?;
        let call = it.lesson.fires.first().map(String::as_str).unwrap_or_default();
        writeln!(output, "  {DIM}fires on{DIM:#} {}", shown(call))?;
    }
    for slug in &report.kept.new {
        writeln!(output, "{STRONG}{}{STRONG:#}  new candidate", shown(slug))?;
    }
    for slug in &report.kept.again {
        writeln!(output, "{}  {DIM}seen again{DIM:#}", shown(slug))?;
    }
    for slug in &report.kept.promoted {
        writeln!(output, "{STRONG}{}{STRONG:#}  promoted (lessons.promote_reported)", shown(slug))?;
    }
    for slug in &report.kept.withdrawn {
        writeln!(output, "{}  {DIM}withdrawn{DIM:#}", shown(slug))?;
    }
    if arguments.verbose {
        for held in report.held.iter().take(MAX_HELD) {
            writeln!(
                output,
                "{WARNING}no lesson{WARNING:#}  {}: {}",
                shown(&held.about),
                shown(&held.reason)
            )?;
        }
    }
    if report.kept.facts > 0 {
        let facts = counted(report.kept.facts, "fact about a project", "facts about projects");
        writeln!(output, "{facts} for the team memory: `wyren lessons review` shows them in the project.")?;
    }
    if report.kept.over > 0 {
        let over = counted(report.kept.over, "more", "more");
        writeln!(output, "{over} than lessons.max_candidates: the next scan goes on with them.")?;
    }
    let new = report.kept.new.len();
    if arguments.dry_run {
        let found = counted(report.candidates.len(), "lesson", "lessons");
        writeln!(output, "Found {found}. Nothing was changed.")?;
    } else if new == 0 {
        writeln!(output, "No new candidates.")?;
    } else {
        let candidates = counted(new, "new candidate", "new candidates");
        writeln!(output, "{candidates}. Decide about them with `wyren lessons review`.")?;
    }
    Ok(())
}
