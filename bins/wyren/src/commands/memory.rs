//! `wyren memory`: prints, compares, searches and edits the team memory.

mod entries;

use super::sync::{self as syncing, PATIENCE};
use crate::exit::Ending;
use crate::terminal::{self, DIM, FAILURE, STRONG, SUCCESS, WARNING, counted};
use crate::{editor, person, when};
use anyhow::{Context as _, Result, bail};
use base::settings::Settings;
use base::{Env, Paths, Timestamp, digest, files};
use clap::{Args, Subcommand};
pub(super) use entries::without;
use entries::{Kept, Wish};
use memory::history::{self, Removal};
use memory::{Delta, Entry, Memory, Provenance};
use place::{FetchState, Reason};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, IsTerminal as _, Read as _, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use team_sync::repository::Published;
use team_sync::{Share, Synced};
use text::sanitize;

/// Time limit for folding hand edits of tracked files.
const FOLD_PATIENCE: Duration = Duration::from_secs(5);

/// Longer entries are cut in a diff, in characters.
const MAX_CHARS: usize = 400;

/// In bytes.
const MAX_NOTE: u64 = 64 * 1024;

const SESSION_CHARS: usize = 8;

/// Of a stamp, those of its day.
const DAY_CHARS: usize = 10;

/// Set by the client for its child processes.
pub(super) const SESSION_VARIABLE: &str = "CLAUDE_CODE_SESSION_ID";

const EXAMPLES: &str = "\
Examples:
  wyren memory                            print the whole memory
  wyren memory list                       list the entries with their numbers
  wyren memory add 'Prices are integer cents'
                                          add a decision and publish it
  wyren memory add 'rejected: decimal.js, 40 KB for no gain'
                                          add to another section: rejected, workaround, broken, scope, question
  wyren memory remove 3                   remove an entry, by its number or by words that only it has
  wyren memory diff                       compare with the remote
  wyren memory history postgres           find removed entries: who, when, why, replaced by what
  wyren memory restore 1                  bring a removed entry back, by its number in the history
  wyren memory edit                       open $VISUAL or $EDITOR; concurrent changes are merged
  wyren memory handoff 'tests are red since the rebase'
  wyren memory handoff - <<'NOTE'         read the note from standard input
  wyren memory handoff -- --force is gone a note that begins with a dash";

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
    /// Print the whole memory (the default).
    Show,
    /// List the entries with their numbers.
    List {
        /// Words that an entry must all have.
        words: Vec<String>,
    },
    /// Add an entry and publish it.
    Add {
        /// The section; a new name makes a new section [default: Decisions].
        #[arg(long, value_name = "NAME")]
        section: Option<String>,
        /// Add it even where an entry says nearly the same.
        #[arg(long)]
        force: bool,
        /// The text. A section with a colon in front, as in `rejected: …`, is where it goes.
        #[arg(required = true, value_name = "[SECTION:] TEXT")]
        words: Vec<String>,
    },
    /// Remove an entry and publish that; the history keeps it.
    Remove {
        /// The number in `wyren memory list`, or words that only this entry has.
        #[arg(required = true, value_name = "NUMBER|TEXT")]
        words: Vec<String>,
    },
    /// Compare the local memory with the remote.
    Diff,
    /// Search removed entries: when, by whom, why, and what replaced them.
    History {
        /// Words that must all occur; without any, list everything.
        query: Vec<String>,
    },
    /// Bring removed entries back, by their numbers in `wyren memory history`.
    Restore {
        /// The numbers.
        #[arg(required = true, value_name = "NUMBER")]
        numbers: Vec<usize>,
    },
    /// Edit the memory in your editor.
    Edit,
    /// Leave a handoff note for the next session and publish it.
    Handoff {
        /// The session that writes the note; it does not get its own note back.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// The note; `-` reads it from standard input.
        note: Vec<String>,
    },
}

pub(crate) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let share = syncing::open(&std::env::current_dir()?, env)?;
    let json = arguments.json;
    match arguments.action.unwrap_or(Action::Show) {
        Action::Show => show(&share, json),
        Action::List { words } => entries::list(&share, &words, env, json),
        Action::Add { section, force, words } => {
            entries::add(&share.insistent(), &Wish { section, force, words }, env, json)
        }
        Action::Remove { words } => entries::remove(&share.insistent(), &words, env, json),
        Action::Diff => diff(&share, env, json),
        Action::History { query } => find(&share, &query.join(" "), env, json),
        Action::Restore { numbers } => restore(&share, &numbers, env, paths, json),
        Action::Edit if json => Err(Ending::misused("wyren: an editor and --json do not go together").into()),
        Action::Edit => edit(&share, env, paths),
        Action::Handoff { session, note } => {
            let session = session.or_else(|| env.text(SESSION_VARIABLE));
            let share = share.insistent();
            let note = note_of(&note, env)?;
            person::allow_publishing(&share, env, "wyren memory handoff")?;
            hand_off(&share, session.as_deref(), &note, json)
        }
    }
}

/// Folds hand edits of tracked files into the memory; a failure is only a warning.
fn fold(share: &Share) -> Result<()> {
    if let Err(error) = share.fold(Instant::now() + FOLD_PATIENCE) {
        writeln!(terminal::errors(), "{WARNING}Could not read hand edits{WARNING:#}: {error}")?;
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
    let ending = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    // Text from others must not control a terminal; a file gets every byte.
    if io::stdout().is_terminal() {
        write!(output, "{}{ending}", sanitize::sanitize(&text))?;
    } else {
        drop(output);
        write!(terminal::exact_output(), "{text}{ending}")?;
    }
    Ok(())
}

fn entry_json(entry: &Entry) -> Value {
    let from = entry.provenance();
    json!({
        "text": entry.text(), "session": from.session, "turn": from.turn, "author": from.author, "date": from.date,
    })
}

fn diff(share: &Share, env: &Env, json: bool) -> Result<()> {
    fold(share)?;
    let Some(difference) = share.difference()? else {
        return Err(Ending::failed("wyren: no remote to compare with; the memory is local only").into());
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
        writeln!(output, "Up to date with the remote.")?;
    }
    if !is_empty(&difference.ours, &difference.our_files) {
        let sync = person::in_terminal(env, "sync");
        writeln!(output, "{STRONG}Not pushed yet{STRONG:#} (to publish: {sync}):")?;
        write_delta(&mut output, &difference.ours, &difference.our_files)?;
    }
    if !is_empty(&difference.theirs, &difference.their_files) {
        let sync = person::in_terminal(env, "sync");
        writeln!(output, "{STRONG}Not fetched yet{STRONG:#} (to fetch: {sync}):")?;
        write_delta(&mut output, &difference.theirs, &difference.their_files)?;
    }
    let as_of =
        as_of.map_or("Never fetched.".to_owned(), |moment| format!("Last fetched {}.", when::local(moment)));
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

fn find(share: &Share, query: &str, env: &Env, json: bool) -> Result<()> {
    let history = share.history()?;
    let found = history.search(query);
    let all = history.search("");
    // Of the whole list, so that a number means the same whatever was searched for.
    let number =
        |removal: &Removal| all.iter().position(|it| std::ptr::eq(*it, removal)).map_or(0, |at| at + 1);
    let mut output = terminal::output();
    if json {
        let numbered = |removal: &&Removal| -> Result<Value> {
            let mut facts = serde_json::to_value(removal)?;
            facts["number"] = json!(number(removal));
            Ok(facts)
        };
        let removals: Vec<Value> = found.iter().map(numbered).collect::<Result<_>>()?;
        return Ok(writeln!(output, "{:#}", json!({"removals": removals}))?);
    }
    if found.is_empty() {
        let what = if query.is_empty() {
            "Nothing has been removed from the memory yet."
        } else {
            "No removed entry matches."
        };
        return Ok(writeln!(terminal::errors(), "{what}")?);
    }
    for removal in found {
        let shown = history::render_for_people(&[&at_local_time(removal)]);
        write!(output, "{STRONG}{}{STRONG:#}  {shown}", number(removal))?;
    }
    drop(output);
    let restore = person::command_for(env, "memory restore NUMBER", "memory restore NUMBER");
    Ok(writeln!(terminal::errors(), "{DIM}To bring one back: {restore}{DIM:#}")?)
}

/// Puts removed entries back. The user vouches for them now: they count as written by hand, which no distillation takes out
/// by itself.
const RESTORE: &str = "wyren memory restore";

fn restore(share: &Share, numbers: &[usize], env: &Env, paths: &Paths, json: bool) -> Result<()> {
    fold(share)?;
    let history = share.history()?;
    let all = history.search("");
    let mut wanted: Vec<&Removal> = Vec::new();
    for number in numbers {
        let removal = number.checked_sub(1).and_then(|at| all.get(at));
        let removal = removal.ok_or_else(|| {
            let history = person::command_for(env, "memory history", "memory history");
            Ending::failed(format!("wyren: no removed entry has the number {number}; see: {history}"))
        })?;
        if removal.section.is_empty() {
            let text = sanitize::one_line(&removal.text, MAX_CHARS);
            let edit = person::in_terminal(env, "memory edit");
            let message = format!("wyren: text outside of a section is not restored; use {edit}: {text}");
            return Err(Ending::failed(message).into());
        }
        wanted.push(removal);
    }
    let author = share.author();
    let today: String = Timestamp::now().to_string().chars().take(DAY_CHARS).collect();
    let from = Provenance::of_author(&author, &today);
    let delta = share.change(&author, "restored", |memory| {
        let mut memory = memory.clone();
        for removal in &wanted {
            memory.add_anyway(&removal.section, &removal.text, &from);
        }
        memory
    })?;
    let added =
        delta.sections.iter().flat_map(|section| section.added.iter().map(|it| (&section.section, it)));
    let mut output = terminal::output();
    if json {
        let restored: Vec<Value> =
            added.map(|(section, entry)| json!({"section": section, "text": entry.text()})).collect();
        writeln!(output, "{:#}", json!({ "restored": restored }))?;
        drop(output);
        person::allow_publishing(share, env, RESTORE)?;
        return match share.team().is_some() && share.leave()?.is_none() {
            true => Err(Ending::queued(syncing::waiting(&Reason::NotAllowed)).into()),
            false => Ok(()),
        };
    }
    for (_, entry) in added {
        writeln!(output, "{SUCCESS}+ {}{SUCCESS:#}", sanitize::one_line(&entry.text(), MAX_CHARS))?;
    }
    drop(output);
    tell_changes(share, Some(delta.len()), RESTORE, env, paths)
}

/// Returns a removal with its moment as a person reads it; one without a moment stays as it is.
fn at_local_time(removal: &Removal) -> Removal {
    let when = removal.when.parse().map_or_else(|_| removal.when.clone(), when::local);
    Removal { when, ..removal.clone() }
}

fn edit(share: &Share, env: &Env, paths: &Paths) -> Result<()> {
    let Some(editor) = editor::of(env) else {
        bail!("no editor: set $EDITOR; the memory is in {}", share.folder().memory().display());
    };
    fold(share)?;
    let before = share.memory()?;
    // One draft per process: two editors must not share one.
    let name = digest::short_hex(share.folder().wyren.as_os_str().as_encoded_bytes());
    let draft = paths.cache().join("drafts").join(format!("memory-{name}-{}.md", std::process::id()));
    files::write_atomic(&draft, before.render().as_bytes())
        .with_context(|| format!("could not write {}", draft.display()))?;
    let changed = editor::open(&editor, &draft).and_then(|()| take_over(share, &before, &draft));
    let changed = match changed {
        Ok(changed) => {
            let _ = fs::remove_file(&draft);
            changed
        }
        // A draft with a mistake is kept.
        Err(error) => {
            return Err(error.context(format!("the memory is unchanged; your draft is {}", draft.display())));
        }
    };
    tell_changes(share, changed.map(|delta| delta.len()), "wyren memory edit", env, paths)
}

/// Says how many entries a command of the user changed, which allows the clone to publish, and how they get to the remote.
/// `None` when the text is as it was.
fn tell_changes(share: &Share, count: Option<usize>, command: &str, env: &Env, paths: &Paths) -> Result<()> {
    let Some(count) = count else { return Ok(writeln!(terminal::errors(), "No changes.")?) };
    person::allow_publishing(share, env, command)?;
    let changes = match count {
        0 => "The text changed, but no entry".to_owned(),
        _ => counted(count, "change", "changes"),
    };
    if share.team().is_some() && share.leave()?.is_none() {
        writeln!(terminal::output(), "{changes}.")?;
        return Err(Ending::queued(syncing::waiting(&Reason::NotAllowed)).into());
    }
    let is_published = Settings::read(env, &paths.hook_settings()).is_on("memory.publish");
    let it = if count > 1 { "them" } else { "it" };
    let sync = person::in_terminal(env, "sync");
    let how = match is_published {
        true => format!("The next prompt publishes {it}; to publish now: {sync}"),
        false => format!("memory.publish is off; to publish: {sync}"),
    };
    writeln!(terminal::output(), "{changes}. {DIM}{how}{DIM:#}")?;
    Ok(())
}

/// Applies the changes of a draft to the current memory. Returns what they did to its entries; `None` when the text is as it
/// was. A moved entry or a section that is there twice is a change of the text alone.
fn take_over(share: &Share, before: &Memory, draft: &Path) -> Result<Option<Delta>> {
    let text = files::read_text_followed(draft, files::cap::SHARED)
        .with_context(|| format!("could not read {}", draft.display()))?;
    if text == before.render() {
        return Ok(None);
    }
    let edited = Memory::parse(&text);
    let author = share.author();
    Ok(share.change_with(|now| {
        let after = memory::merge(before, &edited, now).memory;
        let delta = memory::diff(now, &after);
        let removals = history::removals(&delta, Timestamp::now(), &author, "edited");
        let has_changed = after.render() != now.render();
        (Some((after, removals)), has_changed.then_some(delta))
    })?)
}

/// Returns the note of a handoff: the words, else standard input or the answer to a question.
fn note_of(words: &[String], env: &Env) -> Result<String> {
    let note = match words {
        [dash] if dash == "-" => read_note()?,
        [] if io::stdin().is_terminal() => {
            write!(terminal::errors(), "What must the next session know? ")?;
            io::stderr().flush()?;
            let mut note = String::new();
            io::stdin().read_line(&mut note)?;
            note
        }
        words => words.join(" "),
    };
    if Kept::of(&note).text.is_empty() {
        let example = person::command_for(
            env,
            "wyren-handoff the tests are red since the rebase",
            "memory handoff 'the tests are red since the rebase'",
        );
        let message = format!("wyren: a handoff needs a note; nothing was saved. For example: {example}");
        return Err(Ending::misused(message).into());
    }
    Ok(note)
}

/// Leaves a note at the top of the team memory, and publishes it.
pub(super) fn leave_note(share: &Share, session: Option<&str>, note: &str) -> Result<Synced> {
    let author = share.author();
    let now = Timestamp::now().to_string();
    share.change(&author, "handoff", |memory| {
        let mut memory = memory.clone();
        // The heading already has the date.
        let from = Provenance {
            session: session.and_then(short_session),
            date: None,
            ..Provenance::of_author(&author, &now)
        };
        let note = note.trim();
        // A mark that ends a block of code must be alone on its line.
        let ends_in_code = note.contains('\n')
            && note.lines().next_back().is_some_and(|line| line.trim_start().starts_with("```"));
        let gap = if ends_in_code { "\n" } else { " " };
        memory.add_handoff_note(&format!("{note}{gap}{from}"), &now, None);
        memory
    })?;
    let spinner = terminal::spinner("publishing the note");
    let synced = share.sync(session, Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let synced = synced.context("the note is saved locally, but could not be published")?;
    syncing::warn(&synced)?;
    Ok(synced)
}

fn hand_off(share: &Share, session: Option<&str>, note: &str, json: bool) -> Result<()> {
    let synced = leave_note(share, session, note)?;
    if json {
        writeln!(terminal::output(), "{:#}", syncing::to_json(&synced))?;
    }
    let without = Kept::of(note).without();
    match &synced.published {
        Published::Queued(reason) => {
            let message = format!("Handoff note saved locally; not published yet: {reason}.{without}");
            Err(Ending::queued(message).into())
        }
        _ if json => Ok(()),
        _ => Ok(writeln!(terminal::output(), "Handoff note published.{without}")?),
    }
}

/// Returns the part of a session's id that an entry has; `None` when nothing of it is usable.
fn short_session(session: &str) -> Option<String> {
    let plain = session.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    Some(plain.take(SESSION_CHARS).collect()).filter(|short: &String| !short.is_empty())
}

fn read_note() -> Result<String> {
    let mut note = Vec::new();
    io::stdin().lock().take(MAX_NOTE).read_to_end(&mut note).context("could not read the note")?;
    Ok(String::from_utf8_lossy(&note).into_owned())
}
