//! `wyren distill`: a session is distilled into the team's memory, now and in this terminal.

mod drop_in;
mod show;

use super::sync::{self as syncing, PATIENCE};
use crate::exit::Ending;
use crate::terminal::{self, DIM};
use anyhow::{Context as _, Result};
use base::{Env, Paths, Timestamp};
use clap::Args;
use distill::{Distillation, Error, Outcome, Report, session_of};
use distiller::{Anchor, Mark, Slice};
use indicatif::{ProgressBar, ProgressDrawTarget};
use place::{Folder, Reason};
use schedule::{Session, Watermark};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use team_sync::repository::Published;
use team_sync::{Share, Synced};

/// How often the spinner turns.
const SPIN_EVERY: Duration = Duration::from_millis(120);

/// What is said when there is nothing to distil, in the Node system's words and with a hint.
const NO_TRANSCRIPT: &str = "\
No transcript found.
Every session that ends a turn here leaves one; any other can be named:
  wyren distill --transcript ~/.claude/projects/<project>/<session>.jsonl";

const EXAMPLES: &str = "\
Examples:
  wyren distill                            what is new in the last session; nothing leaves this machine
  wyren distill --push                     the same, and share it
  wyren distill --dry-run                  score, prompt and what would change, without asking a model
  wyren distill --dry-run --model haiku    the same, with the operations of that model
  wyren distill --force                    also when it does not look worth it

Called with --memory and --out it does what the Node system's distiller.mjs did:
  wyren distill --transcript P --memory P --out P [--since UUID] [--cwd D] [--limit N] [--model ID] [--dry-run] [--force]";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Distil also what scores too low.
    #[arg(long)]
    force: bool,
    /// Show score, prompt and what would change; write nothing, and ask no model unless --model or --ask is given.
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run: ask the model of the settings.
    #[arg(long, requires = "dry_run")]
    ask: bool,
    /// Share the memory afterwards.
    #[arg(long)]
    push: bool,
    /// The model to ask, instead of the one in the settings.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// The transcript, instead of the last session's.
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Begin after this record, instead of where the session was distilled last.
    #[arg(long, value_name = "UUID")]
    since: Option<String>,
    /// The memory to start from, as the Node system's distiller took it.
    #[arg(long, value_name = "FILE")]
    memory: Option<PathBuf>,
    /// Where to write the memory, as the Node system's distiller took it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The folder of the repository, instead of this one.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// With --memory and --out: look at so many lines of the transcript only.
    #[arg(long, value_name = "LINES")]
    limit: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn since(&self) -> Option<Mark> {
        self.since.as_deref().filter(|uuid| !uuid.is_empty()).map(Mark::at)
    }

    fn cwd(&self) -> Result<PathBuf> {
        let here = std::env::current_dir()?;
        Ok(self.cwd.as_ref().map_or(here.clone(), |folder| here.join(folder)))
    }

    fn asks(&self) -> bool {
        self.ask || self.model.is_some()
    }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    if arguments.memory.is_some() || arguments.out.is_some() || arguments.limit.is_some() {
        return drop_in::run(arguments, env, paths);
    }
    let cwd = arguments.cwd()?;
    let Some(folder) = Folder::find(&cwd) else {
        return Err(Ending::failed("Wyren not initialized. Run: wyren init").into());
    };
    let state = folder.state();
    let Some(transcript) = transcript(arguments, &Watermark::read(&state))? else {
        return Err(Ending::failed(NO_TRANSCRIPT).into());
    };
    let Some(session) = session_of(&transcript) else {
        return Err(Ending::failed(format!("Transcript not found: {}", transcript.display())).into());
    };
    let since = arguments.since();
    if since.is_some() && Slice::read(&transcript, since.as_ref())?.anchor != Anchor::Uuid {
        let uuid = arguments.since.as_deref().unwrap_or_default();
        let shown = transcript.display();
        return Err(Ending::failed(format!("No such record in the transcript: {uuid} ({shown})")).into());
    }
    let watcher = Watcher::new(arguments.json);
    let mut distillation = Distillation {
        env,
        paths,
        cwd: &cwd,
        transcript: &transcript,
        session: &session,
        since,
        is_forced: arguments.force,
        model: arguments.model.clone(),
        // A person who waits for it asks a remote that is left alone otherwise: see `publish`.
        publishes: false,
        now: Timestamp::now(),
        tell: &|line| watcher.say(line),
        progress: &|doing| watcher.show(doing),
        stops_after: &|_| false,
    };
    if arguments.transcript.is_none() && !distillation.happened_here() {
        let shown = transcript.display();
        let words =
            format!("Nothing in the last transcript happened here: {shown}\nName one with --transcript.");
        return Err(Ending::failed(words).into());
    }
    if arguments.dry_run {
        distillation.since = distillation.since.clone().or_else(|| distillation.last_mark(&state));
        let share = Share::open(&cwd, env)?;
        let considered = distillation.consider(&share.memory()?, &share.author(), arguments.asks())?;
        watcher.end();
        return show::considered(&considered, &transcript, arguments);
    }
    let mut report = distillation.run();
    if let Ok(report) = &mut report
        && arguments.push
        && (!matches!(report.outcome, Outcome::BadAnswer(_)) || !report.applied.is_empty())
    {
        watcher.show("publishing");
        report.synced = publish(&cwd, env, &session);
    }
    watcher.end();
    match report {
        Ok(report) => tell(&report, arguments),
        Err(error @ Error::Busy) => Err(busy(&error).into()),
        Err(error) => Err(error).context("could not distil; nothing is lost, the next distillation goes on"),
    }
}

fn busy(error: &Error) -> Ending {
    Ending::locked(format!("wyren: {error}; try again when it is done"))
}

/// Publishes the memory; the log says why it could not.
fn publish(cwd: &Path, env: &Env, session: &str) -> Option<Synced> {
    let share = Share::open(cwd, env).ok()?.insistent();
    let synced = share.sync(Some(session), Instant::now() + PATIENCE);
    if let Err(error) = &synced {
        share.log(&format!("distiller: kept here, could not be published: {error}"));
    }
    synced.ok()
}

/// Says what came of it.
fn tell(report: &Report, arguments: &Arguments) -> Result<()> {
    if arguments.json {
        writeln!(terminal::output(), "{:#}", show::report(report))?;
    } else {
        tell_outcome(report)?;
    }
    if let Some(synced) = &report.synced {
        syncing::warn(synced)?;
    }
    if let Outcome::BadAnswer(fault) = &report.outcome {
        anyhow::bail!("{fault}; the memory is unchanged, and the same turns come again");
    }
    if arguments.push {
        return tell_published(report.synced.as_ref(), arguments.json);
    }
    if !arguments.json && matches!(report.outcome, Outcome::Distilled(_)) {
        writeln!(terminal::output(), "Memory updated locally. Run: wyren distill --push")?;
    }
    Ok(())
}

fn tell_outcome(report: &Report) -> Result<()> {
    let mut output = terminal::output();
    for applied in &report.applied {
        show::changes(&mut output, applied)?;
    }
    match &report.outcome {
        Outcome::Empty => writeln!(output, "Nothing new since the last distillation.")?,
        Outcome::LowSignal => {
            writeln!(
                output,
                "Not worth distilling by its score; `wyren distill --force` does it all the same."
            )?;
        }
        Outcome::BadAnswer(_) => {}
        Outcome::Distilled(way) => writeln!(output, "{}", show::way(way))?,
    }
    Ok(())
}

/// Says what came of publishing; what went well, only to those who want to hear it.
fn tell_published(synced: Option<&Synced>, is_quiet: bool) -> Result<()> {
    let mut errors = terminal::errors();
    let Some(synced) = synced else {
        writeln!(errors, "Saved locally; it could not be published. `wyren log` says why.")?;
        return Ok(());
    };
    match &synced.published {
        Published::Queued(Reason::Busy) => {
            return Err(Ending::locked("Saved locally; another sync of this repository is running.").into());
        }
        Published::Queued(reason) => {
            writeln!(errors, "Saved locally; push did not complete ({reason}).")?;
        }
        _ if is_quiet => {}
        Published::Landed(_) => writeln!(terminal::output(), "Pushed to remote.")?,
        Published::Nothing => writeln!(terminal::output(), "The remote has all of it already.")?,
    }
    Ok(())
}

/// Returns the transcript to distil: the one that was named, else the last session's, else the one distilled last.
fn transcript(arguments: &Arguments, watermark: &Watermark) -> io::Result<Option<PathBuf>> {
    let is_there =
        |session: &&Session| session.transcript.as_ref().is_some_and(|path| Path::new(path).is_file());
    let last = || watermark.sessions.values().filter(is_there).max_by_key(|session| session.last_turn_at);
    let known = || {
        last().and_then(|session| session.transcript.clone()).or_else(|| watermark.last_transcript.clone())
    };
    let chosen = arguments.transcript.clone().or_else(|| known().map(PathBuf::from));
    // It is noted for later, when somebody may look from elsewhere.
    chosen.map(std::path::absolute).transpose()
}

/// Shows what goes on to whoever waits.
struct Watcher {
    bar: ProgressBar,
    is_quiet: bool,
}

impl Watcher {
    fn new(is_quiet: bool) -> Self {
        let bar = ProgressBar::new_spinner();
        if is_quiet || !io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.enable_steady_tick(SPIN_EVERY);
        Self { bar, is_quiet }
    }

    fn show(&self, doing: &str) {
        self.bar.set_message(doing.to_owned());
    }

    /// Repeats a line of the log.
    fn say(&self, line: &str) {
        if !self.is_quiet {
            self.bar.suspend(|| {
                let _ = writeln!(terminal::errors(), "{DIM}{line}{DIM:#}");
            });
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::ExitCode;

    #[test]
    fn a_push_while_another_sync_runs_ends_with_4_and_one_that_waits_does_not() {
        let ended = |reason: Reason| {
            let published = Published::Queued(reason);
            let (changed, held_back, mended) = (Vec::new(), Vec::new(), Vec::new());
            let synced = Synced { published, changed, held_back, mended, rewritten: None };
            crate::exit::code(tell_published(Some(&synced), false))
        };
        assert_eq!(ended(Reason::Busy), ExitCode::from(4));
        assert_eq!(ended(Reason::TimedOut), ExitCode::SUCCESS);
    }
}
