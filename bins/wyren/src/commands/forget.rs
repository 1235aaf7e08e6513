//! `wyren forget`: deletes recorded observations permanently.

mod leftovers;

use crate::database::{self, Look};
use crate::exit::Ending;
use crate::items;
use crate::person;
use crate::projects;
use crate::terminal::{self, Cell, DIM, STRONG, WARNING, counted};
use crate::when;
use anstyle::Style;
use anyhow::{Result, bail};
use base::error::with_causes;
use base::{Env, Paths, Timestamp, files};
use capture::Spool;
use clap::Args;
use journal::file_cache::Caches;
use journal::find::{self, Item};
use serde_json::json;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::time::Duration;
use store::Store;
use store::observations::{self, Forgotten, Selection};
use store::repair;

const EXAMPLES: &str = "\
Examples:
  wyren forget --query \"acme merger\" --dry-run    show what would be deleted
  wyren forget --query \"acme merger\"              delete it
  wyren forget --id 3f9k2m1x                        delete an entry, and what it was made of
  wyren forget --session 720ff4aa-05f9-4e05-aad8-0d889a82ec5a --yes
  wyren forget --project . --before 2026-01-01    delete what is old in this project";

/// How long to wait for a process that writes caches: that takes a fraction of a second.
const CACHE_PATIENCE: Duration = Duration::from_secs(10);

const WHAT: &str = "What (at least one; an observation must match all)";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(override_usage = "wyren forget <WHAT>... [OPTIONS]")]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Arguments {
    /// The entry or summary with this id and what it was made of, or the observation with this id, as exported; may be repeated.
    #[arg(long, value_name = "ID", group = "what", help_heading = WHAT)]
    id: Vec<String>,
    /// Everything that contains this text, in any case.
    #[arg(long, value_name = "TEXT", group = "what", help_heading = WHAT, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    query: Option<String>,
    /// Everything in this project: its name, its key or a folder in it.
    #[arg(long, value_name = "NAME|KEY|PATH", group = "what", help_heading = WHAT)]
    project: Option<String>,
    /// Everything in this session.
    #[arg(long, value_name = "ID", group = "what", help_heading = WHAT)]
    session: Option<String>,
    /// Everything before this time: yesterday, 2h, 2026-11-16, "2026-11-16 14:30" or 2026-11-16T14:30:00Z.
    #[arg(long, value_name = "TIME", group = "what", help_heading = WHAT, value_parser = when::parse)]
    before: Option<Timestamp>,
    /// Everything from this time on.
    #[arg(long, value_name = "TIME", group = "what", help_heading = WHAT, value_parser = when::parse)]
    after: Option<Timestamp>,
    /// Also delete damaged databases that a repair has put aside.
    #[arg(long)]
    damaged: bool,
    /// Show what would be deleted, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let (is_dry_run, is_agreed, json) = (arguments.dry_run, arguments.yes, arguments.json);
    if !is_dry_run {
        person::must_be_here(env)?;
    }
    let deletes_damaged = arguments.damaged;
    let mut store = database::open_for_user(env, paths, Look::Whole)?;
    let spool = Spool::new(paths.spool());
    let project = arguments.project.as_deref();
    let project =
        project.map(|named| projects::find(named, &store, &spool, "nothing was changed")).transpose()?;
    let notes = repair::notes_of_forgotten(&paths.database());
    if !arguments.id.is_empty() {
        // Entries are looked up, so everything that was recorded must be in.
        store = database::open_drained(env, paths, Look::Quick)?;
    }
    let named = named(&arguments.id, &store, &notes)?;
    let selection = arguments.selection(project, named);
    show_bounds(&selection)?;
    if is_dry_run || !is_agreed {
        let preview = database::patiently(|| selection.preview(&mut store, &spool, Timestamp::now()))?;
        if is_dry_run {
            return show(&preview, Elsewhere::default(), json, Stage::Preview);
        }
        if preview.count() > 0 && !is_confirmed(&preview)? {
            writeln!(terminal::errors(), "Nothing deleted.")?;
            return Ok(());
        }
    }
    // First of all, so that no cache has the text whenever this ends. Until then no other process writes one.
    let caches = Caches::lock(paths, CACHE_PATIENCE)?.ok_or(store::Error::Busy)?;
    let uncached = caches.remove();
    // It has the tasks in progress.
    let unshown =
        files::remove_if_there(&paths.status_cache()).map_err(files::Error::at(&paths.status_cache()));
    // Before the database, so that no worker takes one in that is gone from there already.
    let requests = leftovers::delete_requests(paths, &selection);
    let contexts = work::bind::named(paths)?;
    let handoffs = handoff::folders(paths)?;
    let forgotten = database::patiently(|| selection.forget(&mut store, &spool, &notes, Timestamp::now()))?;
    // Folders of sessions that are forgotten are not known any more.
    store::known::refresh(&store, paths)?;
    // Hooks do without; the next drain tries again.
    let _ = caches.write(&store);
    drop(caches);
    let unindexed = search::sources::forget(&mut store, paths);
    // What lessons did in forgotten sessions counts no more.
    let _ = effect::refresh(&store, env, paths, Timestamp::now());
    // Notes about failed calls are short-lived: none of them is worth telling apart.
    attempts::forget_notes(paths);
    let refused =
        base::allowed::forget_calls(paths, Timestamp::now()).map_err(files::Error::at(&paths.allowed()));
    let long_answers = leftovers::delete_long_answers(paths);
    let drafts = leftovers::delete_drafts(paths, &selection)
        .and_then(|()| leftovers::delete_drafts_of_entries(paths, |id| is_entry(&store, id)));
    let candidates = leftovers::delete_candidates(paths, &forgotten.lessons, &selection);
    let notices = leftovers::delete_notices(paths, &selection);
    let contexts = leftovers::delete_contexts(paths, &mut store, contexts)
        .and_then(|()| leftovers::delete_handoffs(paths, &store, &handoffs));
    let transcripts = leftovers::empty_transcripts(env, paths, &selection, &forgotten.sessions);
    let log_lines = leftovers::blank_log_lines(paths, &selection);
    let damaged = if deletes_damaged { delete_damaged(paths) } else { Ok(()) };
    let elsewhere = Elsewhere {
        jobs: forgotten.jobs + requests.as_ref().copied().unwrap_or_default(),
        log_lines: log_lines.as_ref().copied().unwrap_or_default(),
    };
    show(&forgotten, elsewhere, json, Stage::Done)?;
    if let Err(error) = uncached {
        bail!("{error}; the text may still be there");
    }
    if let Err(error) = unindexed {
        bail!(
            "{}; words of the text may still be in {}",
            with_causes(&error),
            search::sources::folder(paths).display()
        );
    }
    for cleaned in [
        requests.map(drop),
        log_lines.map(drop),
        long_answers,
        drafts,
        candidates,
        notices,
        transcripts,
        refused,
        damaged,
        contexts,
        unshown.map(drop),
    ] {
        if let Err(error) = cleaned {
            bail!("{error}; the text may still be there");
        }
    }
    warn_of_leftovers(&forgotten, paths)
}

/// Returns whether the journal has an entry of this id; also where that cannot be found out.
fn is_entry(store: &Store, id: &str) -> bool {
    find::by_prefix(store, id).map_or(true, |found| found.iter().any(|item| item.id() == id))
}

/// What was forgotten outside of the observations.
#[derive(Clone, Copy, Debug, Default)]
struct Elsewhere {
    jobs: u64,
    log_lines: u64,
}

fn delete_damaged(paths: &Paths) -> Result<(), files::Error> {
    for file in leftovers::damaged_databases(paths) {
        fs::remove_file(&file).map_err(files::Error::at(&file))?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Preview,
    Done,
}

impl Arguments {
    fn selection(self, project: Option<String>, named: Named) -> Selection {
        Selection {
            ids: named.ids,
            exact: named.exact,
            names: self.id,
            query: self.query,
            project,
            session: self.session,
            before: self.before,
            after: self.after,
        }
    }
}

/// What the ids that were typed name.
#[derive(Debug, Default)]
struct Named {
    ids: Vec<String>,
    exact: Vec<(String, String)>,
}

/// Finds what ids name, and says which of them name a whole turn. One that names nothing, and never did, is refused.
fn named(typed: &[String], store: &Store, notes: &Path) -> Result<Named> {
    let mut named = Named::default();
    for id in typed {
        if is_observation(store, id)? {
            named.ids.push(id.clone());
            continue;
        }
        // The command is given again: another entry whose id begins alike is not meant.
        if observations::was_forgotten(notes, id) && !is_entry(store, &id.to_lowercase()) {
            let shown = text::sanitize::one_line(id, 40);
            writeln!(
                terminal::errors(),
                "{shown} was forgotten before. To forget another entry, type more of its id."
            )?;
            named.ids.push(id.clone());
            continue;
        }
        let item = items::find(store, id, "; nothing was changed")?;
        let parts = find::made_of(store, &item)?;
        if parts.is_turn {
            let what = match item {
                Item::Entry(_) => "an entry",
                Item::Summary(_) => "a summary",
            };
            let id = item.id();
            writeln!(
                terminal::errors(),
                "{STRONG}{id}{STRONG:#} is {what} made of a turn: all of the turn goes, since it quotes that."
            )?;
        }
        named.exact.extend(parts.of);
    }
    Ok(named)
}

fn is_observation(store: &Store, id: &str) -> Result<bool> {
    let mut select = store
        .connection()
        .prepare("SELECT 1 FROM observations WHERE id IN (?1, 'p:' || ?1, 't:' || ?1)")
        .map_err(store::Error::from)?;
    Ok(select.exists([id]).map_err(store::Error::from)?)
}

/// Prints which project and moments were understood, before anything is asked or deleted.
fn show_bounds(selection: &Selection) -> Result<()> {
    let mut errors = terminal::errors();
    if let Some(project) = &selection.project {
        writeln!(errors, "Project {STRONG}{}{STRONG:#}", text::sanitize::one_line(project, 200))?;
    }
    for (what, moment) in [("Before", selection.before), ("From", selection.after)] {
        if let Some(moment) = moment {
            writeln!(errors, "{what} {STRONG}{}{STRONG:#} ({moment})", when::exact(moment))?;
        }
    }
    Ok(())
}

fn is_confirmed(preview: &Forgotten) -> Result<bool> {
    if io::stdin().is_terminal() {
        show(preview, Elsewhere::default(), false, Stage::Preview)?;
    }
    terminal::must_confirm("Delete this permanently?")
}

fn show(forgotten: &Forgotten, elsewhere: Elsewhere, json: bool, stage: Stage) -> Result<()> {
    let Forgotten { prompts, tool_calls, others, unread_lines, spool_lines, samples, .. } = forgotten;
    let mut output = terminal::output();
    if json {
        let samples: Vec<_> = samples
            .iter()
            .map(|sample| json!({"ts": sample.at.to_string(), "session": sample.session, "id": sample.id, "text": sample.text}))
            .collect();
        let facts = json!({
            "prompts": prompts, "tool_calls": tool_calls, "others": others, "kinds": forgotten.kinds, "unread_lines": unread_lines, "spool_lines": spool_lines,
            "jobs": elsewhere.jobs, "log_lines": elsewhere.log_lines, "samples": samples,
        });
        writeln!(output, "{facts:#}")?;
        return Ok(());
    }
    // Deleted text is not printed again.
    if stage == Stage::Preview {
        let rows: Vec<Vec<Cell>> = samples
            .iter()
            .map(|sample| {
                vec![
                    (when::local_minute(sample.at), DIM),
                    (text::sanitize::one_line(&sample.id, 40), DIM),
                    (sample.text.clone(), Style::new()),
                ]
            })
            .collect();
        terminal::write_table(&mut output, &rows)?;
        let more = forgotten.count().saturating_sub(samples.len() as u64);
        if more > 0 && !samples.is_empty() {
            writeln!(output, "{DIM}and {more} more{DIM:#}")?;
        }
    }
    let what = match stage {
        Stage::Preview => "would be deleted",
        Stage::Done => "deleted",
    };
    writeln!(output, "{STRONG}{}{STRONG:#} {what}", summary(forgotten))?;
    let Elsewhere { jobs, log_lines } = elsewhere;
    if jobs + log_lines > 0 {
        let jobs = counted(jobs, "background job", "background jobs");
        let lines = counted(log_lines, "log line", "log lines");
        writeln!(output, "{DIM}and what named it: {jobs}, {lines}{DIM:#}")?;
    }
    Ok(())
}

/// The kinds of observations that have a name of their own.
const KINDS: [(&str, &str, &str); 8] = [
    ("turn-end", "turn end", "turn ends"),
    ("said", "message", "messages"),
    ("refused", "refused call", "refused calls"),
    ("entry", "entry", "entries"),
    ("summary", "summary", "summaries"),
    ("made", "record of a turn", "records of turns"),
    ("amend", "change of an entry", "changes of entries"),
    ("told", "shown text", "shown texts"),
];

/// Returns what there is to delete, as in `1 prompt, 4 tool calls and 5 other observations`.
fn summary(forgotten: &Forgotten) -> String {
    let Forgotten { prompts, tool_calls, others, unread_lines, .. } = forgotten;
    let mut parts =
        vec![counted(*prompts, "prompt", "prompts"), counted(*tool_calls, "tool call", "tool calls")];
    if prompts + tool_calls == 0 && KINDS.iter().any(|(kind, ..)| forgotten.kinds.contains_key(*kind)) {
        parts.clear();
    }
    let mut others = *others;
    for (kind, one, many) in KINDS {
        let count = forgotten.kinds.get(kind).copied().unwrap_or_default();
        if count > 0 {
            parts.push(counted(count, one, many));
            others -= count.min(others);
        }
    }
    if others > 0 {
        parts.push(counted(others, "other observation", "other observations"));
    }
    if *unread_lines > 0 {
        parts.push(counted(*unread_lines, "unreadable line", "unreadable lines"));
    }
    let last = parts.pop().unwrap_or_default();
    if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) }
}

/// Warns about places that may still hold the text; fails when the database does.
fn warn_of_leftovers(forgotten: &Forgotten, paths: &Paths) -> Result<()> {
    let mut errors = terminal::errors();
    if forgotten.is_too_large_to_rewrite {
        writeln!(
            errors,
            "{WARNING}The database is too large to be rewritten{WARNING:#}: unused parts of its pages may still hold copies \
             of deleted text."
        )?;
    }
    for project in &forgotten.projects {
        let project = text::sanitize::one_line(project, 200);
        writeln!(
            errors,
            "{WARNING}The name of a project contains the text{WARNING:#}. To delete all of it: wyren forget --project '{project}'"
        )?;
    }
    let damaged = leftovers::damaged_databases(paths);
    for file in &damaged {
        writeln!(errors, "{WARNING}A damaged database may still hold it{WARNING:#}: {}", file.display())?;
    }
    if !damaged.is_empty() {
        writeln!(errors, "To delete the damaged ones, run this command again with --damaged.")?;
    }
    if forgotten.is_kept_by_reader {
        let message = "Another program has the database open, so its write-ahead log may still hold the text. \
                       Run this command again when that program has exited.";
        return Err(Ending::failed(format!("wyren: {message}")).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_deleted_is_one_line_with_the_right_plurals() {
        let few = Forgotten { prompts: 1, tool_calls: 4, others: 5, ..Forgotten::default() };
        assert_eq!(summary(&few), "1 prompt, 4 tool calls and 5 other observations");
        assert_eq!(summary(&Forgotten::default()), "0 prompts and 0 tool calls");
        let kinds = [("amend".to_owned(), 2), ("entry".to_owned(), 1)].into();
        let entry = Forgotten { others: 3, kinds, ..Forgotten::default() };
        assert_eq!(summary(&entry), "1 entry and 2 changes of entries");
        let unread = Forgotten { tool_calls: 1, unread_lines: 1, ..Forgotten::default() };
        assert_eq!(summary(&unread), "0 prompts, 1 tool call and 1 unreadable line");
    }
}
