//! `wyren distill`: distills a session into the team memory, in the foreground.

mod drop_in;
mod show;

use super::sync::{self as syncing, PATIENCE};
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, DIM};
use anyhow::{Context as _, Result};
use base::{Env, Paths, Timestamp};
use clap::Args;
use distill::{Error, Observer, Outcome, Report, Session, Settings, Step, session_of};
use distiller::{Anchor, Mark, Slice};
use indicatif::{ProgressBar, ProgressDrawTarget};
use place::{Folder, Reason};
use schedule::Watermark;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use team_sync::repository::Published;
use team_sync::{Share, Synced};

const SPIN_EVERY: Duration = Duration::from_millis(120);

/// The first line is the Node version's.
const NO_TRANSCRIPT: &str = "\
No transcript found.
Wyren knows the transcript of each session that has finished a turn here. To use another one:
  wyren distill --transcript ~/.claude/projects/<project>/<session>.jsonl";

const EXAMPLES: &str = "\
Examples:
  wyren distill                            distill what is new in the last session; publish nothing
  wyren distill --push                     distill and publish
  wyren distill --dry-run                  show the score and what would change, without calling a model
  wyren distill --dry-run --model haiku    show the changes this model would make
  wyren distill --dry-run --from-start     the same for a session that was distilled already
  wyren distill --force                    distill even when the score is below the threshold

With --memory and --out it replaces distiller.mjs of the Node version:
  wyren distill --transcript P --memory P --out P [--since UUID] [--cwd D] [--limit N] [--model ID] [--dry-run] [--force]";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Distill even when the score is below the threshold.
    #[arg(long)]
    force: bool,
    /// Show the score and what would change; write nothing, and call no model unless --model or --ask is given.
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run: also show what a model is asked.
    #[arg(long, requires = "dry_run")]
    prompt: bool,
    /// With --dry-run: call the configured model.
    #[arg(long, requires = "dry_run")]
    ask: bool,
    /// Publish the memory afterwards.
    #[arg(long)]
    push: bool,
    /// Model to call instead of the configured one.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Transcript to distill instead of the last session's.
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Start after this record instead of where the last distillation stopped.
    #[arg(long, value_name = "UUID")]
    since: Option<String>,
    /// Distill the session from its first message on, also what was distilled before. Entries that the memory has are not
    /// added again.
    #[arg(long, conflicts_with = "since")]
    from_start: bool,
    /// Memory to start from, as in the Node version.
    #[arg(long, value_name = "FILE")]
    memory: Option<PathBuf>,
    /// Where to write the memory, as in the Node version.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Folder of the repository instead of the current one.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// With --memory and --out: read only this many lines of the transcript.
    #[arg(long, value_name = "LINES")]
    limit: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn since(&self) -> Option<Mark> {
        if self.from_start {
            return Some(Mark::default());
        }
        self.since.as_deref().filter(|uuid| !uuid.is_empty()).map(Mark::at)
    }

    fn cwd(&self) -> Result<PathBuf> {
        let here = std::env::current_dir()?;
        Ok(self.cwd.as_ref().map_or(here.clone(), |folder| here.join(folder)))
    }

    fn settings(&self, env: &Env, paths: &Paths) -> Settings {
        Settings { is_forced: self.force, model: self.model.clone(), ..Settings::load(env, paths) }
    }

    /// Returns whether a dry run shows the prompt: the Node version's always did.
    fn shows_prompt(&self) -> bool {
        self.prompt || self.out.is_some()
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
    if let Some(refusal) = Folder::refusal(&cwd) {
        return Err(Ending::failed(format!("wyren: {refusal}")).into());
    }
    let Some(folder) = Folder::find(&cwd) else {
        return Err(Ending::failed("Wyren not initialized. Run: wyren init").into());
    };
    let state = folder.state();
    let Some(transcript) = transcript(arguments, &Watermark::read(&state))? else {
        return Err(Ending::failed(NO_TRANSCRIPT).into());
    };
    let Some(id) = session_of(&transcript) else {
        return Err(Ending::failed(format!("Transcript not found: {}", transcript.display())).into());
    };
    let since = arguments.since();
    if arguments.since.is_some()
        && since.is_some()
        && Slice::read(&transcript, since.as_ref())?.anchor != Anchor::Uuid
    {
        let uuid = arguments.since.as_deref().unwrap_or_default();
        let shown = transcript.display();
        return Err(Ending::failed(format!("No such record in the transcript: {uuid} ({shown})")).into());
    }
    let watcher = Watcher::new(arguments.json);
    // Publishing is done here, with a remote that failed lately asked again: see `publish`.
    let settings = Settings { since, publishes: false, ..arguments.settings(env, paths) };
    let session = Session {
        env,
        paths,
        cwd: &cwd,
        transcript: &transcript,
        id: &id,
        now: Timestamp::now(),
        settings,
        observer: &watcher,
    };
    if arguments.transcript.is_none() && !session.happened_here() {
        let shown = transcript.display();
        let words =
            format!("The last transcript is of another folder: {shown}\nPass --transcript to choose one.");
        return Err(Ending::failed(words).into());
    }
    if arguments.dry_run {
        let rehearsal = session.rehearse(&Share::open(&cwd, env)?, arguments.asks())?;
        watcher.end();
        return show::rehearsal(&rehearsal, &transcript, arguments);
    }
    if arguments.from_start {
        watcher.say("distilling from the first message on; entries that the memory has are not added again");
    }
    let mut report = session.distill();
    if let Ok(report) = &mut report
        && arguments.push
        && (!matches!(report.outcome, Outcome::BadAnswer(_)) || !report.applied.is_empty())
    {
        watcher.show("publishing");
        report.synced = publish(&cwd, env, &id);
    }
    watcher.end();
    match report {
        Ok(report) => tell(&report, arguments),
        Err(error @ Error::Busy) => Err(busy(&error).into()),
        Err(error) => Err(error).context("could not distill; the next distillation continues from here"),
    }
}

fn busy(error: &Error) -> Ending {
    Ending::locked(format!("wyren: {error}; try again later"))
}

fn publish(cwd: &Path, env: &Env, session: &str) -> Option<Synced> {
    let share = Share::open(cwd, env).ok()?.insistent();
    if let Err(error) = person::allow_publishing(&share, env, "wyren distill --push") {
        share.log(&format!("distiller: {error}"));
    }
    let synced = share.sync(Some(session), Instant::now() + PATIENCE);
    if let Err(error) = &synced {
        share.log(&format!("distiller: saved locally, could not publish: {error}"));
    }
    synced.ok()
}

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
        anyhow::bail!("{fault}; the memory is unchanged, and the same messages will be processed next time");
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
                "The score is below the threshold; nothing distilled. To distill anyway: wyren distill --force"
            )?;
        }
        Outcome::BadAnswer(_) => {}
        Outcome::Distilled(way) => writeln!(output, "{}", show::way(way))?,
    }
    Ok(())
}

fn tell_published(synced: Option<&Synced>, is_quiet: bool) -> Result<()> {
    let mut errors = terminal::errors();
    let Some(synced) = synced else {
        writeln!(errors, "Saved locally; could not be published. See `wyren log`.")?;
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
        Published::Nothing => writeln!(terminal::output(), "Nothing to push: the remote is up to date.")?,
    }
    Ok(())
}

/// Returns the transcript to distill: the given one, else the last session's, else the one distilled last.
fn transcript(arguments: &Arguments, watermark: &Watermark) -> io::Result<Option<PathBuf>> {
    let is_there = |session: &&schedule::Session| {
        session.transcript.as_ref().is_some_and(|path| Path::new(path).is_file())
    };
    let last = || watermark.sessions.values().filter(is_there).max_by_key(|session| session.last_turn_at);
    let known = || {
        last().and_then(|session| session.transcript.clone()).or_else(|| watermark.last_transcript.clone())
    };
    let chosen = arguments.transcript.clone().or_else(|| known().map(PathBuf::from));
    // Recorded in the watermark, so it must not depend on the current folder.
    chosen.map(std::path::absolute).transpose()
}

/// Progress on standard error.
struct Watcher {
    bar: ProgressBar,
    is_quiet: bool,
}

impl Observer for Watcher {
    fn line(&self, line: &str) {
        self.say(line);
    }

    fn reached(&self, step: Step) {
        match step {
            Step::Asking => self.show("asking the model"),
            Step::Publishing => self.show("publishing"),
            _ => {}
        }
    }
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

    /// Prints a line that also goes to the log.
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
            let (left_out, renamed) = (Vec::new(), Vec::new());
            let synced = Synced { published, changed, held_back, mended, left_out, renamed, rewritten: None };
            crate::exit::code(tell_published(Some(&synced), false))
        };
        assert_eq!(ended(Reason::Busy), ExitCode::from(4));
        assert_eq!(ended(Reason::TimedOut), ExitCode::SUCCESS);
    }
}
