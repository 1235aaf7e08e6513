//! `distiller.mjs` of the Node version, with the same flags: a transcript and a memory in, a memory out.

use super::{Arguments, Watcher, busy, show};
use crate::exit::Ending;
use crate::terminal;
use anyhow::{Context as _, Result};
use base::{Env, Paths, Timestamp, files};
use distill::{Error, Rehearsal, Session, Settings, session_of};
use memory::Memory;
use place::{MEMORY, node};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use team_sync::Share;

const USAGE: &str = "usage: wyren distill --transcript P --memory P --out P [--since UUID] [--cwd D] [--limit N] [--model ID] [--dry-run] [--force]";

pub(super) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let (Some(transcript), Some(memory), Some(out)) =
        (&arguments.transcript, &arguments.memory, &arguments.out)
    else {
        return Err(Ending::misused(USAGE).into());
    };
    let transcript = &std::path::absolute(transcript)?;
    let Some(id) = session_of(transcript) else {
        return Err(Ending::failed(format!("Transcript not found: {}", transcript.display())).into());
    };
    let cut = arguments.limit.map(|lines| Cut::of(transcript, lines, paths)).transpose()?;
    let cwd = arguments.cwd()?;
    let watcher = Watcher::new(arguments.json);
    let session = Session {
        env,
        paths,
        cwd: &cwd,
        transcript: cut.as_ref().map_or(transcript, |cut| &cut.path),
        id: &id,
        now: Timestamp::now(),
        settings: Settings { since: arguments.since(), ..arguments.settings(env, paths) },
        observer: &watcher,
    };
    let share = Share::open(&cwd, env).ok();
    // Other processes may change a clone's memory during the model call, so operations apply entry by entry.
    let own = share.as_ref().filter(|share| is_memory_of(share, out));
    let lock = own.filter(|_| !arguments.dry_run).map(|share| distill::lock(&share.folder().state()));
    let _lock = match lock.transpose() {
        Err(error @ Error::Busy) => return Err(busy(&error).into()),
        lock => lock?,
    };
    let before = match own {
        Some(share) if is_memory_of(share, memory) => share.memory()?.render(),
        _ => read(memory)?,
    };
    let author = share.as_ref().map(Share::author).or_else(|| env.text("USER")).unwrap_or_default();
    let asks = !arguments.dry_run || arguments.asks();
    let considered = session.consider(&Memory::parse(&before), &author, asks, own)?;
    watcher.end();
    if arguments.dry_run {
        let rest_after = considered.slice.has_more.then_some(considered.slice.next.message);
        let rehearsal = Rehearsal { continued: None, slices: vec![considered], rest_after };
        return show::rehearsal(&rehearsal, transcript, arguments);
    }
    let mut errors = terminal::errors();
    let (points, threshold, passes) = (considered.score.points, considered.threshold, considered.passes());
    let is_empty = considered.slice.is_empty();
    if !is_empty {
        writeln!(errors, "{}", node::score_line(points, threshold, passes))?;
    }
    if is_empty {
        writeln!(errors, "empty transcript slice; nothing to distill")?;
    } else if !passes && !arguments.force {
        writeln!(errors, "distiller: low-signal session; skipping distillation")?;
    } else {
        let (_, applied) = match &considered.done {
            Ok(done) => done,
            Err(fault) => {
                let message = format!("distiller error: {fault}; {} is unchanged", out.display());
                return Err(Ending::failed(message).into());
            }
        };
        let after = match own {
            Some(share) => session.adopt(share, &considered)?.memory.render(),
            None => {
                let after = if applied.is_changed() { applied.memory.render() } else { before };
                let could_not = || format!("could not write {}", out.display());
                files::write_atomic(&std::path::absolute(out)?, after.as_bytes()).with_context(could_not)?;
                after
            }
        };
        let uuid = considered.slice.next.uuid.as_deref().unwrap_or("-");
        let chars = after.chars().count();
        writeln!(terminal::output(), "distiller: wrote {} ({chars} chars). last_uuid={uuid}", out.display())?;
    }
    if considered.slice.has_more {
        let message = considered.slice.next.message;
        writeln!(errors, "distiller: messages after {message} are left to the next distillation")?;
    }
    match own {
        // With --limit only part of the transcript was read: that moves no mark.
        Some(share) if cut.is_none() => Ok(session.note(&share.folder().state(), &considered.slice.next)?),
        _ => Ok(()),
    }
}

/// Returns whether a file is the memory of a clone: the visible one or the shared copy.
fn is_memory_of(share: &Share, file: &Path) -> bool {
    let folder = share.folder();
    let place = |path: &Path| -> Option<PathBuf> {
        let path = std::path::absolute(path).ok()?;
        Some(base::system::canonical(path.parent()?).ok()?.join(path.file_name()?))
    };
    let own = [folder.wyren.join(MEMORY), folder.state().join(MEMORY)];
    place(file).is_some_and(|file| own.iter().any(|own| place(own).as_ref() == Some(&file)))
}

/// Reads a memory; empty when the file does not exist.
fn read(path: &Path) -> Result<String> {
    let bytes = files::read_if_there(path).with_context(|| format!("could not read {}", path.display()))?;
    String::from_utf8(bytes.unwrap_or_default())
        .with_context(|| format!("{} is not UTF-8 text", path.display()))
}

/// The first lines of a transcript in a temporary file.
struct Cut {
    path: PathBuf,
}

impl Cut {
    fn of(transcript: &Path, lines: usize, paths: &Paths) -> Result<Self> {
        let mut beginning = String::new();
        for line in BufReader::new(fs::File::open(transcript)?).lines().take(lines) {
            beginning.push_str(&line?);
            beginning.push('\n');
        }
        let path = paths.cache().join(format!("transcript-{}.jsonl", std::process::id()));
        files::write_atomic(&path, beginning.as_bytes())?;
        Ok(Self { path })
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
