//! `wyren status`: on a terminal one screen for a person; piped, the lines of the Node version, and below them those that it
//! does not have.

mod facts;
mod screen;

use super::log::{Injection, last_injection};
use super::sync::describe_left_out;
use crate::terminal::{self, counted};
use crate::when;
use anyhow::Result;
use base::{Env, Paths, Timestamp, files};
use clap::Args;
use config::Config;
use distiller::SESSION_FIELD;
use facts::Facts;
use memory::history::Removal;
use place::{FetchState, Mode};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use team_sync::{LastSync, Share};
use text::{redact, sanitize};

/// In columns.
const LABEL: usize = 11;

/// Columns when the width of the output is unknown.
const DEFAULT_WIDTH: usize = 80;

/// In characters.
const MAX_CHARS: usize = 200;

/// The most removed entries that are named.
const MAX_REMOVED: usize = 3;

/// In characters.
const MAX_REMOVED_CHARS: usize = 60;

const EXAMPLES: &str = "\
Examples:
  wyren status              one screen: memory, journal, work, lessons, spending, what waits, health
  wyren status | cat        the lines for scripts: size, last distillation, remote
  wyren status --screen     the screen, also into a pipe
  wyren status --json       print JSON";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Print the screen for people also where the output is not a terminal.
    #[arg(long, conflicts_with = "json")]
    screen: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

struct Status {
    memory: Option<(usize, usize)>,
    watermark: Option<Value>,
    threshold: String,
    injection: Option<Injection>,
    remote: Option<(String, String)>,
    peer: Peer,
    lock_seconds: Option<u64>,
    mode: Option<Mode>,
    branch: Option<String>,
    fetch: FetchState,
    is_queued: bool,
    /// How many changes stay here because the user has not let the clone publish.
    kept: Option<usize>,
    /// Where a push would go, as `host/path` each.
    destinations: Vec<String>,
    vanished: Option<usize>,
    held_back: usize,
    last: LastSync,
    /// What the last distillation that took something out of the memory took out.
    removed: Vec<Removal>,
}

/// The last commit on the shared memory.
enum Peer {
    NoRemote,
    Never,
    Unavailable,
    Pushed { when: Timestamp, author: String },
}

/// What the status line shows of all this.
pub(super) struct Brief {
    /// Entries of teammates since yesterday; `None` without a memory.
    pub(super) news: Option<u64>,
    pub(super) lessons: u64,
    /// Today's spending, in millionths of a dollar.
    pub(super) spent_micros: u64,
}

pub(super) fn brief(cwd: &Path, env: &Env, paths: &Paths, now: Timestamp) -> Brief {
    let store = paths.database().exists().then(|| journal::open_store(paths).ok()).flatten();
    Brief {
        news: Share::open(cwd, env).ok().and_then(|share| facts::news(&share, now)),
        lessons: facts::lessons_today(store.as_ref(), paths, now),
        spent_micros: facts::spent_today(env, paths, now).micros(),
    }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let mut output = terminal::output();
    let cwd = std::env::current_dir()?;
    let now = Timestamp::now();
    let is_screen = arguments.screen || (!arguments.json && io::stdout().is_terminal());
    let opened = Share::open(&cwd, env);
    if !is_screen && !arguments.json {
        return match &opened {
            Ok(share) => {
                for (label, value) in Status::of(share, env, paths).lines(now) {
                    writeln!(output, "{:LABEL$} {value}", format!("{label}:"))?;
                }
                Ok(())
            }
            Err(team_sync::Error::NotSetUp(_)) => {
                Ok(writeln!(output, "Wyren not initialized in this repo. Run: wyren init")?)
            }
            Err(error) => Ok(writeln!(terminal::errors(), "wyren: {error}")?),
        };
    }
    let found = opened.as_ref().map(|share| (share, Status::of(share, env, paths)));
    let found = found.as_ref().map(|(share, status)| (*share, status)).map_err(|error| *error);
    let facts = Facts::of(found, &cwd, env, paths, now);
    if is_screen {
        return Ok(screen::write(&mut output, &facts, terminal::width().unwrap_or(DEFAULT_WIDTH))?);
    }
    let mut json = match found {
        Ok((_, status)) => status.to_json(),
        Err(error) => json!({"initialized": false, "reason": error.to_string()}),
    };
    facts.add_to(&mut json);
    Ok(writeln!(output, "{json:#}")?)
}

impl Status {
    fn of(share: &Share, env: &Env, paths: &Paths) -> Self {
        let folder = share.folder();
        let state = folder.state();
        let text = files::read_capped(&folder.memory(), files::cap::SHARED).ok();
        let count = |text: Vec<u8>| (text.len(), text.split(|byte| *byte == b'\n').count());
        let config = Config::load(env, paths);
        let lock = fs::metadata(state.join(".lock")).and_then(|metadata| metadata.modified());
        let team = share.team();
        Self {
            memory: text.map(count),
            watermark: files::read_capped(&state.join("watermark.json"), files::cap::TEXTS)
                .ok()
                .map(|text| serde_json::from_slice(&text).unwrap_or_default()),
            threshold: config.get("distill.turns").map(|setting| setting.value.clone()).unwrap_or_default(),
            injection: last_injection(&folder.wyren),
            remote: folder.place.as_ref().and_then(|place| place.repository.remote()),
            peer: peer(share),
            lock_seconds: lock.ok().and_then(|time| time.elapsed().ok()).map(|age| age.as_secs()),
            mode: folder.mode,
            branch: team.and_then(|team| team.branch()).map(str::to_owned),
            fetch: FetchState::read(&folder.wyren),
            is_queued: share.has_unpublished(),
            kept: (team.is_some() && matches!(share.leave(), Ok(None))).then(|| share.count_unpublished()),
            destinations: team.map(|team| team.destinations()).unwrap_or_default(),
            vanished: share.rewritten().ok().flatten().map(|rewritten| rewritten.vanished.len()),
            held_back: share.held_back().len(),
            last: share.last_sync(),
            removed: removed(share),
        }
    }

    fn lines(&self, now: Timestamp) -> Vec<(&'static str, String)> {
        let mut lines = vec![("Memory", self.memory_line())];
        let watermark = self.watermark.as_ref();
        let text = |key: &str| watermark.and_then(|mark| mark[key].as_str()).filter(|text| !text.is_empty());
        if let Some(watermark) = watermark {
            let moment =
                watermark["last_distilled_at"].as_f64().map(|millis| Timestamp::from_millis(millis as u64));
            let distilled = moment.map_or("never".to_owned(), |moment| when::with_age(moment, now));
            lines.push(("Distilled", distilled));
        }
        lines.extend(text("last_uuid").map(|uuid| ("Last UUID", shown(uuid))));
        lines.push(("Progress", self.progress()));
        lines.extend(text("last_transcript").map(|path| ("Transcript", shown(path))));
        let injected =
            self.injection.as_ref().map_or("never".to_owned(), |injection| injection.describe(now));
        lines.push(("Injected", injected));
        let remote = self.remote.as_ref().map(|(name, url)| format!("{name} → {}", shown(url)));
        lines.push(("Remote", remote.unwrap_or_else(|| "(none configured)".to_owned())));
        lines.push((
            "Peer pushed",
            match &self.peer {
                Peer::NoRemote => "(no remote)".to_owned(),
                Peer::Never => "(never)".to_owned(),
                Peer::Unavailable => "(unavailable)".to_owned(),
                Peer::Pushed { when: moment, author } => {
                    format!("{} ({author}, {})", when::local(*moment), when::ago(*moment, now))
                }
            },
        ));
        lines.extend(
            self.lock_seconds
                .map(|seconds| ("Lock", format!("held ({} old)", when::duration(seconds * 1_000)))),
        );
        lines.extend(self.further_lines(now));
        lines
    }

    fn memory_line(&self) -> String {
        match self.memory {
            Some((bytes, lines)) => {
                format!(
                    ".wyren/memory.md  ({:.1} KB, {})",
                    bytes as f64 / 1024.0,
                    counted(lines, "line", "lines")
                )
            }
            None => "(not found)".to_owned(),
        }
    }

    fn progress(&self) -> String {
        let Some(watermark) = &self.watermark else {
            return "(no state yet — run a session to start tracking)".to_owned();
        };
        let turns = watermark["turns_since_distill"].as_u64().unwrap_or_default();
        if watermark["distiller_running"] == true {
            return format!("{} (distilling now...)", counted(turns, "turn", "turns"));
        }
        format!("{turns} / {} turns until next distill", self.threshold)
    }

    /// Returns the lines that the Node version does not have.
    fn further_lines(&self, now: Timestamp) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        match self.mode {
            Some(Mode::Side) => lines.push(("Mode", format!("side, branch {}", place::SIDE_BRANCH))),
            Some(Mode::Branch) => {
                let branch = self.branch.as_deref().unwrap_or("(none: HEAD is detached)");
                lines.push(("Mode", format!("branch, {}", shown(branch))));
            }
            None => lines.push(("Mode", "local only (not a git repository)".to_owned())),
        }
        if self.fetch.fetched_at > 0 {
            let fetched = Timestamp::from_millis(self.fetch.fetched_at);
            lines.push(("Fetched", when::with_age(fetched, now)));
        }
        if let Some(error) = &self.fetch.error {
            let until = self.fetch.backing_off(now);
            let until = until.map(|until| format!("; next try at {}", when::local(until)));
            lines.push(("Failing", format!("{}{}", shown(error), until.unwrap_or_default())));
        }
        if let Some(error) = &self.last.error {
            let since = when::with_age(Timestamp::from_millis(self.last.at), now);
            lines.push(("Sync error", format!("{}; since {since}: wyren sync", shown(error))));
        }
        if let Some(first) = self.last.left_out.first() {
            let others = match self.last.left_out.len() - 1 {
                0 => String::new(),
                others => format!("; {others} more: wyren sync"),
            };
            lines.push(("Left out", describe_left_out(first) + &others));
        }
        if let Some(kept) = self.kept {
            let what = match kept {
                0 => String::new(),
                _ => format!("; {} on this machine", counted(kept, "change stays", "changes stay")),
            };
            let where_to = shown(&self.destinations.join(", "));
            let how = "to allow it: wyren sync, in a terminal";
            lines.push(("Publishing", format!("not allowed yet, to {where_to}{what}; {how}")));
        } else if self.is_queued {
            lines.push((
                "Queue",
                "local changes are not pushed yet: wyren memory diff, wyren sync".to_owned(),
            ));
        }
        if let Some(vanished) = self.vanished {
            let what = counted(vanished, "entry is", "entries are")
                + " missing on the remote: wyren sync --restore or --accept";
            lines.push(("Rewritten", what));
        }
        if let Some(last) = self.removed.first() {
            let when = last.when.parse().map_or_else(|_| shown(&last.when), |when| when::with_age(when, now));
            let count = counted(self.removed.len(), "entry", "entries");
            let texts: Vec<String> = self.removed.iter().take(MAX_REMOVED).map(describe_removed).collect();
            let others = match self.removed.len().saturating_sub(MAX_REMOVED) {
                0 => String::new(),
                others => format!(", {others} more"),
            };
            let how = "wyren memory history, wyren memory restore NUMBER";
            lines.push((
                "Removed",
                format!("{count} by a distillation, {when}: {}{others}; {how}", texts.join(", ")),
            ));
        }
        if self.held_back > 0 {
            lines.push((
                "Held back",
                counted(self.held_back, "private or secret part", "private or secret parts")
                    + ", not published: wyren sync",
            ));
        }
        lines
    }

    fn to_json(&self) -> Value {
        let peer = match &self.peer {
            Peer::Pushed { when, author } => json!({"when": when.to_string(), "author": author}),
            _ => Value::Null,
        };
        json!({
            "initialized": true,
            "memory": self.memory.map(|(bytes, lines)| json!({"bytes": bytes, "lines": lines})),
            "watermark": self.watermark,
            "turns_threshold": self.threshold.parse::<u64>().ok(),
            "injected": self.injection.as_ref().map(|it| json!({"when": it.when.to_string(), "event": it.event})),
            "remote": self.remote.as_ref().map(|(name, url)| json!({"name": name, "url": redact::redact(url)})),
            "peer_pushed": peer,
            "lock_seconds": self.lock_seconds,
            "mode": self.mode,
            "branch": self.branch,
            "fetched_at": (self.fetch.fetched_at > 0).then(|| Timestamp::from_millis(self.fetch.fetched_at).to_string()),
            "error": self.fetch.error,
            "queued": self.is_queued,
            "publishing": self.kept.is_none(),
            "kept": self.kept.unwrap_or_default(),
            "rewritten": self.vanished.map(|vanished| json!({"vanished": vanished})),
            "held_back": self.held_back,
            "sync_error": self.last.error,
            "left_out": self.last.left_out,
            "removed": self.removed,
        })
    }
}

/// Returns what left the memory in the last distillation of this clone that took something out.
fn removed(share: &Share) -> Vec<Removal> {
    let noted = share.noted().map(|history| history.removals).unwrap_or_default();
    let is_distilled = |removal: &Removal| removal.other.contains_key(SESSION_FIELD);
    let last = noted.iter().filter(|removal| is_distilled(removal)).map(|removal| removal.when.clone()).max();
    noted
        .into_iter()
        .filter(|removal| is_distilled(removal) && Some(&removal.when) == last.as_ref())
        .collect()
}

fn describe_removed(removal: &Removal) -> String {
    let text = sanitize::one_line(&redact::redact(&removal.text), MAX_REMOVED_CHARS);
    let became = if removal.replaced_by.is_some() { " (replaced)" } else { "" };
    format!("\"{text}\"{became}")
}

fn peer(share: &Share) -> Peer {
    let Some(team) = share.team().filter(|team| team.remote().is_some()) else { return Peer::NoRemote };
    match team.commits(place::MEMORY, 1) {
        Ok(commits) => commits
            .into_iter()
            .next()
            .map_or(Peer::Never, |commit| Peer::Pushed { when: commit.when, author: commit.author }),
        Err(_) => Peer::Unavailable,
    }
}

fn shown(text: &str) -> String {
    sanitize::one_line(&redact::redact(text), MAX_CHARS)
}
