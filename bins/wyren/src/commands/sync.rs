//! `wyren sync`: publishes local changes and fetches those of others.

use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, DIM, WARNING};
use anyhow::Result;
use base::lock::Lock;
use base::settings::Settings;
use base::{Env, Paths, Timestamp, detached};
use clap::Args;
use place::{Folder, Reason};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use team_sync::repository::{LeftOut, Published};
use team_sync::{Rewritten, Share, Synced};
use text::sanitize;

/// Time limit for the remote in the foreground.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Time limit for discovering a memory on the remote.
const DISCOVERY: Duration = Duration::from_secs(20);

/// When a background sync is ended that did not keep its time limit.
const CAP_MARGIN: Duration = Duration::from_secs(10);

pub(super) const MAX_LISTED: usize = 20;

/// In characters.
const MAX_CHARS: usize = 160;

const EXAMPLES: &str = "\
Examples:
  wyren sync              publish and fetch; exit code 3 when the changes wait for the next sync
  wyren sync --restore    after a force-push: publish the missing entries again
  wyren sync --accept     after a force-push: drop the missing entries; the history keeps them
  wyren sync --public     publish the memory of a public repository without asking
  wyren sync --json       print JSON";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Accept a rewritten history: drop the entries it lost.
    #[arg(long, conflicts_with = "restore")]
    accept: bool,
    /// Publish the entries that a rewritten history lost; also replaces a memory on the remote that is too large.
    #[arg(long)]
    restore: bool,
    /// Publish although the repository is public.
    #[arg(long)]
    public: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Started by hooks: prints nothing and never waits for another sync.
    #[arg(long, hide = true, conflicts_with_all = ["accept", "restore", "public", "json"])]
    background: bool,
    /// Started by hooks in a clone without a memory.
    #[arg(long, hide = true, conflicts_with_all = ["accept", "restore", "public", "json", "background"])]
    discover: bool,
}

impl Arguments {
    /// Returns whether a hook started it, so that no one reads what it prints.
    pub(crate) fn is_of_a_hook(&self) -> bool {
        self.background || self.discover
    }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let (began, clock) = (Timestamp::now(), Instant::now());
    let cwd = std::env::current_dir()?;
    if arguments.is_of_a_hook() {
        detached::leave_session();
        let limit = if arguments.discover { DISCOVERY } else { background_limit(env, paths) };
        let (cwd, cap) = (cwd.clone(), limit + CAP_MARGIN);
        detached::end_after(cap, move || {
            if let Some(folder) = Folder::find(&cwd) {
                let message =
                    format!("sync error: ended after {} s, since it did not end by itself", cap.as_secs());
                team_sync::log_once(&folder.wyren, &message);
            }
        });
    }
    if arguments.discover {
        // The hook that started this ignores the result; a later one tries again.
        let _ = team_sync::discover(&cwd, env, Instant::now() + DISCOVERY);
        return Ok(());
    }
    if arguments.background {
        if let Some(share) = in_background(&cwd, env, paths) {
            note_duration(&share, began, clock);
        }
        return Ok(());
    }
    let share = open(&cwd, env)?.insistent();
    person::describe(&person::let_publish(&share, env, "wyren sync", arguments.public)?, env)?;
    let spinner = terminal::spinner("syncing with the remote");
    let deadline = Instant::now() + PATIENCE;
    let synced = match (arguments.accept, arguments.restore) {
        (true, _) => share.accept(None, deadline),
        (_, true) => share.restore(None, deadline),
        _ => share.sync(None, deadline),
    };
    spinner.finish_and_clear();
    note_duration(&share, began, clock);
    let synced = synced?;
    if arguments.json {
        writeln!(terminal::output(), "{:#}", to_json(&synced))?;
    } else {
        show(&share, &synced)?;
    }
    warn(&synced)?;
    match &synced.published {
        Published::Queued(reason) => Err(Ending::queued(waiting(reason)).into()),
        _ => Ok(()),
    }
}

/// Opens the team memory of a folder, or fails with the Node version's message.
pub(super) fn open(cwd: &Path, env: &Env) -> Result<Share> {
    match Share::open(cwd, env) {
        Err(team_sync::Error::NotSetUp(_)) => {
            let init = person::command_for(env, "init", "init");
            Err(Ending::failed(format!("Wyren not initialized. Run: {init}")).into())
        }
        opened => Ok(opened?),
    }
}

/// Explains what happens to changes that did not reach the remote.
pub(super) fn waiting(reason: &Reason) -> String {
    match reason {
        Reason::NoRemote | Reason::Unusable(_) | Reason::NotAllowed => {
            format!("wyren: kept locally: {reason}")
        }
        Reason::Rewritten => {
            format!(
                "wyren: nothing was published or fetched: {reason}; run `wyren sync --restore` or `wyren sync --accept`"
            )
        }
        Reason::LeftOut(_) => {
            format!("wyren: kept locally: {reason}; `wyren sync --restore` publishes yours in its place")
        }
        _ => format!("wyren: kept locally until the next sync: {reason}"),
    }
}

/// Warns about parts that were not published or not merged.
pub(super) fn warn(synced: &Synced) -> Result<()> {
    let mut errors = terminal::errors();
    for held in &synced.held_back {
        let line = if held.line == 0 { String::new() } else { format!(":{}", held.line) };
        write!(errors, "{WARNING}Held back{WARNING:#} ({}): .wyren/{}{line}", held.kind, held.path)?;
        match (&*held.shown, held.line) {
            (_, 0) => writeln!(errors, ": the whole file")?,
            ("", _) => writeln!(errors, ": the whole entry")?,
            (shown, _) => writeln!(errors, ", published as: {shown}")?,
        }
    }
    for path in &synced.mended {
        writeln!(
            errors,
            "{WARNING}Kept{WARNING:#} .wyren/{path}: it was emptied, deleted or damaged on the remote and is published again."
        )?;
    }
    for it in synced.left_out.iter().take(MAX_LISTED) {
        writeln!(errors, "{WARNING}Left out{WARNING:#} {}", describe_left_out(it))?;
    }
    if synced.left_out.len() > MAX_LISTED {
        writeln!(errors, "  … and {} more", synced.left_out.len() - MAX_LISTED)?;
    }
    for (from, to) in &synced.renamed {
        let (from, to) = (sanitize::one_line(from, MAX_CHARS), sanitize::one_line(to, MAX_CHARS));
        writeln!(
            errors,
            "{WARNING}Renamed{WARNING:#} .wyren/{from} to .wyren/{to}: the team uses that name otherwise."
        )?;
    }
    match &synced.rewritten {
        Some(rewritten) => describe(&mut errors, rewritten),
        None => Ok(()),
    }
}

/// Describes something that is not synced, and the command that helps.
pub(super) fn describe_left_out(it: &LeftOut) -> String {
    let path = sanitize::one_line(&it.path, MAX_CHARS);
    let place = if it.here { "here" } else { "on the remote" };
    format!(".wyren/{path} {place}: {}; {}", it.why, remedy(it))
}

/// Returns what helps against something that is not synced.
pub(super) fn remedy(it: &LeftOut) -> String {
    if it.here {
        return "rename or shorten it to share it".to_owned();
    }
    if it.path == place::MEMORY {
        return "`wyren sync --restore` publishes yours in its place".to_owned();
    }
    // Quotes, since the name is an odd one.
    let name = it.path.strip_prefix("broadcast/").unwrap_or(&it.path);
    format!("`wyren unbroadcast '{}'` removes it", name.replace('\'', r"'\''"))
}

/// Lists what a rewritten history lost, and the commands to decide.
fn describe(errors: &mut impl std::io::Write, rewritten: &Rewritten) -> Result<()> {
    let what = if rewritten.is_gone { "was deleted" } else { "was force-pushed" };
    writeln!(
        errors,
        "{WARNING}The shared memory {what}{WARNING:#} on the remote. This clone still has everything."
    )?;
    let entries = rewritten.vanished.iter().map(|(section, text)| format!("{section}: {text}"));
    let lost: Vec<String> =
        entries.chain(rewritten.files.iter().map(|path| format!(".wyren/{path}"))).collect();
    for line in lost.iter().take(MAX_LISTED) {
        writeln!(errors, "  - {}", sanitize::one_line(line, MAX_CHARS))?;
    }
    if lost.len() > MAX_LISTED {
        writeln!(errors, "  … and {} more", lost.len() - MAX_LISTED)?;
    }
    writeln!(errors, "  wyren sync --restore   publish the missing entries again")?;
    writeln!(errors, "  wyren sync --accept    drop them; `wyren memory history` still finds them")?;
    Ok(())
}

fn show(share: &Share, synced: &Synced) -> Result<()> {
    let mut output = terminal::output();
    let remote = share.team().and_then(|team| Some(format!("{}, branch {}", team.remote()?, team.branch()?)));
    let remote = remote.unwrap_or_default();
    match &synced.published {
        Published::Landed(commit) => {
            let short = commit.get(..8).unwrap_or(commit);
            writeln!(output, "Published to {remote} {DIM}({short}){DIM:#}")?;
        }
        Published::Nothing => writeln!(output, "Nothing to publish: {remote} is up to date.")?,
        Published::Queued(_) => {}
    }
    if !synced.changed.is_empty() {
        writeln!(output, "Updated locally: {}", synced.changed.join(", "))?;
    }
    Ok(())
}

pub(super) fn to_json(synced: &Synced) -> Value {
    let (published, commit, reason) = match &synced.published {
        Published::Landed(commit) => ("landed", Some(commit), None),
        Published::Nothing => ("nothing", None, None),
        Published::Queued(reason) => ("queued", None, Some(reason.to_string())),
    };
    let rewritten = synced.rewritten.as_ref().map(|rewritten| {
        let entry = |(section, text): &(String, String)| json!({"section": section, "text": text});
        let vanished: Vec<Value> = rewritten.vanished.iter().map(entry).collect();
        json!({"gone": rewritten.is_gone, "vanished": vanished, "files": rewritten.files})
    });
    json!({
        "published": published, "commit": commit, "reason": reason, "changed": synced.changed,
        "held_back": synced.held_back, "mended": synced.mended, "left_out": synced.left_out, "renamed": synced.renamed,
        "rewritten": rewritten,
    })
}

fn background_limit(env: &Env, paths: &Paths) -> Duration {
    Duration::from_secs(Settings::read(env, &paths.hook_settings()).number("memory.sync_seconds"))
}

/// Notes for hooks how long the sync took. Without it they do not wait for the next one.
fn note_duration(share: &Share, began: Timestamp, clock: Instant) {
    let _ = share.note_duration(began, clock.elapsed());
}

/// Syncs for hooks: prints nothing, waits for no other sync, writes to the log. Returns the memory that was synced.
fn in_background(cwd: &Path, env: &Env, paths: &Paths) -> Option<Share> {
    let share = match Share::open(cwd, env) {
        Ok(share) => share,
        Err(error) => {
            if let Some(folder) = Folder::find(cwd) {
                team_sync::log_once(&folder.wyren, &format!("sync error: {error}"));
            }
            return None;
        }
    };
    let lock = Lock::exclusive(&share.folder().state().join("background.lock"), Duration::ZERO);
    let Ok(Some(_lock)) = lock else { return None };
    let settings = Settings::read(env, &paths.hook_settings());
    let deadline = Instant::now() + background_limit(env, paths);
    let synced =
        if settings.is_on("memory.publish") { share.sync(None, deadline) } else { share.pull(deadline) };
    match synced {
        Ok(synced) => tell(&share, &synced),
        Err(error) => share.log_once(&format!("sync error: {error}")),
    }
    Some(share)
}

/// Logs changes, local or on the remote, and errors.
fn tell(share: &Share, synced: &Synced) {
    match &synced.published {
        Published::Landed(commit) => {
            share.log(&format!("sync: published {}", commit.get(..8).unwrap_or(commit)))
        }
        Published::Nothing => {}
        // Permanent states, not worth a line at every sync.
        Published::Queued(Reason::NoRemote | Reason::NotAllowed | Reason::BackingOff(_) | Reason::Busy) => {}
        Published::Queued(reason) => share.log_once(&format!("sync: queued: {reason}")),
    }
    if !synced.changed.is_empty() {
        share.log(&format!("sync: changed {}", synced.changed.join(", ")));
    }
}
