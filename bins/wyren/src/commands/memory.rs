//! `wyren memory`: the whole memory, what of it others do not have yet, what left it, and how to change it.

use super::sync::{self as syncing, PATIENCE};
use crate::exit::Ending;
use crate::terminal::{self, DIM, FAILURE, STRONG, SUCCESS, WARNING};
use crate::{editor, when};
use anyhow::{Context as _, Result, bail};
use base::{Env, Paths, Timestamp, digest, files};
use clap::{Args, Subcommand};
use memory::history::{self, Removal};
use memory::{Delta, Entry, Memory, Provenance};
use place::FetchState;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, IsTerminal as _, Read as _, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use team_sync::Share;
use team_sync::repository::Published;
use text::sanitize;

/// How long hand edits of tracked files may take to be taken in.
const FOLD_PATIENCE: Duration = Duration::from_secs(5);

/// The longest entry that a difference shows, in characters.
const MAX_CHARS: usize = 400;

/// The longest note that is read, in bytes.
const MAX_NOTE: u64 = 64 * 1024;

/// How many characters of a session's id an entry carries.
const SESSION_CHARS: usize = 8;

/// What a handoff without a note says, as in the Node system.
const NO_NOTE: &str = "(session handoff — no note)";

/// Where the client tells its children which session they belong to.
const SESSION_VARIABLE: &str = "CLAUDE_CODE_SESSION_ID";

const EXAMPLES: &str = "\
Examples:
  wyren memory                            all of it, as every session could see it
  wyren memory diff                       what the others do not have yet, and what is not here yet
  wyren memory history postgres           what was decided about it, by whom, and what took its place
  wyren memory edit                       in $VISUAL or $EDITOR; changes made meanwhile are merged
  wyren memory handoff 'tests are red since the rebase'
  wyren memory handoff - <<'NOTE'         the same, from standard input";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Print the whole memory (what `wyren memory` does without more words).
    Show,
    /// Show what is not on the remote yet, and what the remote has that is not here yet.
    Diff,
    /// Find what left the memory: when, by whom, why, and what took its place.
    History {
        /// Words that must all be in it; everything without one.
        query: Vec<String>,
    },
    /// Change the memory in an editor.
    Edit,
    /// Leave a note to whoever goes on, and publish it at once.
    Handoff {
        /// The session that writes it, which is not told its own note.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// The note; `-` reads it from standard input.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        note: Vec<String>,
    },
}

pub(crate) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let share = syncing::open(&std::env::current_dir()?, env)?;
    let json = arguments.json;
    match arguments.action.unwrap_or(Action::Show) {
        Action::Show => show(&share, json),
        Action::Diff => diff(&share, json),
        Action::History { query } => find(&share, &query.join(" "), json),
        Action::Edit => edit(&share, env, paths),
        Action::Handoff { session, note } => {
            let session = session.or_else(|| env.text(SESSION_VARIABLE));
            hand_off(&share.insistent(), session.as_deref(), &note, json)
        }
    }
}

/// Takes hand edits of tracked files in; where that fails, what was there is there all the same.
fn fold(share: &Share) -> Result<()> {
    if let Err(error) = share.fold(Instant::now() + FOLD_PATIENCE) {
        writeln!(terminal::errors(), "{WARNING}Hand edits could not be taken in{WARNING:#}: {error}")?;
    }
    Ok(())
}

fn show(share: &Share, json: bool) -> Result<()> {
    fold(share)?;
    let memory = share.memory()?;
    let mut output = terminal::output();
    if json {
        let section = |section: &memory::Section| {
            let entries: Vec<Value> = section.entries().map(entry_json).collect();
            json!({"name": section.name(), "entries": entries})
        };
        let sections: Vec<Value> = memory.sections().iter().map(section).collect();
        return Ok(writeln!(output, "{:#}", json!({"sections": sections, "text": memory.render()}))?);
    }
    let text = memory.render();
    // What others wrote does not steer a terminal; a file gets every byte.
    let text = if io::stdout().is_terminal() { sanitize::sanitize(&text) } else { text.into() };
    output.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        writeln!(output)?;
    }
    Ok(())
}

fn entry_json(entry: &Entry) -> Value {
    let from = entry.provenance();
    json!({
        "text": entry.text(), "session": from.session, "turn": from.turn, "author": from.author, "date": from.date,
    })
}

fn diff(share: &Share, json: bool) -> Result<()> {
    fold(share)?;
    let Some(difference) = share.difference()? else {
        return Err(Ending::failed(
            "wyren: there is no remote to compare with; all of the memory is here alone",
        )
        .into());
    };
    let fetched = FetchState::read(&share.folder().wyren).fetched_at;
    let as_of = (fetched > 0).then(|| Timestamp::from_millis(fetched));
    let mut output = terminal::output();
    if json {
        let facts = json!({
            "as_of": as_of.map(|moment| moment.to_string()),
            "not_published": delta_json(&difference.ours), "files_not_published": difference.our_files,
            "not_here": delta_json(&difference.theirs), "files_not_here": difference.their_files,
        });
        return Ok(writeln!(output, "{facts:#}")?);
    }
    let is_empty = |delta: &Delta, files: &[String]| delta.is_empty() && files.is_empty();
    if is_empty(&difference.ours, &difference.our_files)
        && is_empty(&difference.theirs, &difference.their_files)
    {
        writeln!(output, "Everything here is on the remote, and the other way round.")?;
    }
    if !is_empty(&difference.ours, &difference.our_files) {
        writeln!(output, "{STRONG}Not on the remote yet{STRONG:#} (wyren sync publishes it):")?;
        write_delta(&mut output, &difference.ours, &difference.our_files)?;
    }
    if !is_empty(&difference.theirs, &difference.their_files) {
        writeln!(output, "{STRONG}On the remote, not here yet{STRONG:#} (wyren sync brings it):")?;
        write_delta(&mut output, &difference.theirs, &difference.their_files)?;
    }
    let as_of = as_of.map_or("The remote was never asked.".to_owned(), |moment| {
        format!("The remote as of {}.", when::local(moment))
    });
    Ok(writeln!(output, "{DIM}{as_of}{DIM:#}")?)
}

fn write_delta(output: &mut impl Write, delta: &Delta, files: &[String]) -> Result<()> {
    let line = |text: &str| sanitize::one_line(text, MAX_CHARS);
    for section in &delta.sections {
        let name = if section.section.is_empty() { "introduction" } else { &section.section };
        writeln!(output, "  {}", line(name))?;
        for text in
            section.added.iter().map(|entry| entry.text().into_owned()).chain(section.prose_added.clone())
        {
            writeln!(output, "    {SUCCESS}+ {}{SUCCESS:#}", line(&text))?;
        }
        for edit in &section.edited {
            writeln!(output, "    {FAILURE}- {}{FAILURE:#}", line(&edit.before.text()))?;
            writeln!(output, "    {SUCCESS}+ {}{SUCCESS:#}", line(&edit.after.text()))?;
        }
        for text in
            section.removed.iter().map(|entry| entry.text().into_owned()).chain(section.prose_removed.clone())
        {
            writeln!(output, "    {FAILURE}- {}{FAILURE:#}", line(&text))?;
        }
    }
    for file in files {
        writeln!(output, "  .wyren/{}", line(file))?;
    }
    Ok(())
}

fn delta_json(delta: &Delta) -> Vec<Value> {
    let mut changes = Vec::new();
    for section in &delta.sections {
        let name = &section.section;
        let mut push = |change: &str, text: &str, before: Option<&str>| {
            changes.push(json!({"section": name, "change": change, "text": text, "before": before}));
        };
        section.added.iter().for_each(|entry| push("added", &entry.text(), None));
        section.prose_added.iter().for_each(|line| push("added", line, None));
        for edit in &section.edited {
            push("edited", &edit.after.text(), Some(&edit.before.text()));
        }
        section.removed.iter().for_each(|entry| push("removed", &entry.text(), None));
        section.prose_removed.iter().for_each(|line| push("removed", line, None));
    }
    changes
}

fn find(share: &Share, query: &str, json: bool) -> Result<()> {
    let history = share.history()?;
    let found: Vec<&Removal> = history.search(query);
    let mut output = terminal::output();
    if json {
        return Ok(writeln!(output, "{:#}", json!({"removals": found}))?);
    }
    if found.is_empty() {
        let what = if query.is_empty() {
            "Nothing has left the memory yet."
        } else {
            "Nothing that left the memory says that."
        };
        return Ok(writeln!(terminal::errors(), "{what}")?);
    }
    let local: Vec<Removal> = found.into_iter().map(at_local_time).collect();
    let local: Vec<&Removal> = local.iter().collect();
    Ok(output.write_all(history::render_for_people(&local).as_bytes())?)
}

/// Returns a removal with its moment as a person reads it; one without a moment stays as it is.
fn at_local_time(removal: &Removal) -> Removal {
    let when = removal.when.parse().map_or_else(|_| removal.when.clone(), when::local);
    Removal { when, ..removal.clone() }
}

fn edit(share: &Share, env: &Env, paths: &Paths) -> Result<()> {
    let Some(editor) = editor::of(env) else {
        bail!("no editor: set $EDITOR; the memory is {}", share.folder().memory().display());
    };
    fold(share)?;
    let before = share.memory()?;
    // One draft per memory: two that edit it at once do not share one.
    let name = digest::short_hex(share.folder().wyren.as_os_str().as_encoded_bytes());
    let draft = paths.cache().join("drafts").join(format!("memory-{name}-{}.md", std::process::id()));
    files::write_atomic(&draft, before.render().as_bytes())
        .with_context(|| format!("could not write {}", draft.display()))?;
    let changed = editor::open(&editor, &draft).and_then(|()| take_over(share, &before, &draft));
    match changed {
        Ok(_) => {
            let _ = fs::remove_file(&draft);
        }
        // What somebody wrote is not thrown away for a mistake in it.
        Err(error) => {
            return Err(
                error.context(format!("the memory was left as it is; your draft is {}", draft.display()))
            );
        }
    }
    let count = changed.map_or(0, |delta| delta.len());
    match count {
        0 => writeln!(terminal::errors(), "Nothing was changed.")?,
        1 => writeln!(
            terminal::output(),
            "One change. {DIM}`wyren sync` publishes it now, the next prompt by itself.{DIM:#}"
        )?,
        _ => writeln!(
            terminal::output(),
            "{count} changes. {DIM}`wyren sync` publishes them now, the next prompt by itself.{DIM:#}"
        )?,
    }
    Ok(())
}

/// Makes the changes of a draft to the memory as it is now.
fn take_over(share: &Share, before: &Memory, draft: &Path) -> Result<Delta> {
    let text = fs::read_to_string(draft).with_context(|| format!("could not read {}", draft.display()))?;
    if text == before.render() {
        return Ok(Delta::default());
    }
    let edited = Memory::parse(&text);
    Ok(share.change(&share.author(), "edited", |now| memory::merge(before, &edited, now).memory)?)
}

fn hand_off(share: &Share, session: Option<&str>, words: &[String], json: bool) -> Result<()> {
    let note = if words == ["-"] { read_note()? } else { words.join(" ") };
    let author = share.author();
    let now = Timestamp::now().to_string();
    let short: Option<String> = session.map(|session| {
        let plain = session.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        plain.take(SESSION_CHARS).collect()
    });
    share.change(&author, "handoff", |memory| {
        let mut memory = memory.clone();
        // The stamp in front has the date already.
        let from = Provenance {
            session: short.clone().filter(|session| !session.is_empty()),
            date: None,
            ..Provenance::of_author(&author, &now)
        };
        let note = if note.trim().is_empty() { NO_NOTE } else { note.trim() };
        memory.add_handoff_note(&format!("{note} {from}"), &now, None);
        memory
    })?;
    let spinner = terminal::spinner("publishing the note");
    let synced = share.sync(session, Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let synced = synced.context("the note is in the memory here, but could not be published")?;
    if json {
        writeln!(terminal::output(), "{:#}", syncing::to_json(&synced))?;
    }
    syncing::warn(&synced)?;
    match &synced.published {
        Published::Queued(reason) => {
            let message = format!("Handoff note saved here; it has not reached the remote yet: {reason}");
            Err(Ending::queued(message).into())
        }
        _ if json => Ok(()),
        _ => Ok(writeln!(terminal::output(), "Handoff note added; it reached the remote.")?),
    }
}

fn read_note() -> Result<String> {
    let mut note = Vec::new();
    io::stdin().lock().take(MAX_NOTE).read_to_end(&mut note).context("could not read the note")?;
    Ok(String::from_utf8_lossy(&note).into_owned())
}
