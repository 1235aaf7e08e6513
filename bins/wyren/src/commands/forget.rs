//! `wyren forget`: deletes recorded observations permanently.

use crate::database::{self, Look};
use crate::person;
use crate::terminal::{self, Cell, DIM, STRONG, WARNING, counted};
use crate::when;
use anstyle::Style;
use anyhow::{Result, bail};
use base::{Env, Paths, Timestamp, files};
use capture::Spool;
use clap::Args;
use serde_json::json;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use store::observations::{Forgotten, Selection};
use store::repair;

const EXAMPLES: &str = "\
Examples:
  wyren forget --query \"acme merger\" --dry-run    show what would be deleted
  wyren forget --query \"acme merger\"              delete it
  wyren forget --session 720ff4aa-05f9-4e05-aad8-0d889a82ec5a --yes
  wyren forget --project . --before 2026-01-01    delete what is old in this project";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Arguments {
    /// The observation with this id, as exported; may be repeated.
    #[arg(long, value_name = "ID", group = "what")]
    id: Vec<String>,
    /// Everything that contains this text; case does not matter.
    #[arg(long, value_name = "TEXT", group = "what", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    query: Option<String>,
    /// Everything in this project: its key or a folder in it.
    #[arg(long, value_name = "KEY|PATH", group = "what")]
    project: Option<String>,
    /// Everything in this session.
    #[arg(long, value_name = "ID", group = "what")]
    session: Option<String>,
    /// Everything before this time: yesterday, 2h, 2026-11-16, "2026-11-16 14:30" or 2026-11-16T14:30:00Z.
    #[arg(long, value_name = "TIME", group = "what", value_parser = when::parse)]
    before: Option<Timestamp>,
    /// Everything from this time on.
    #[arg(long, value_name = "TIME", group = "what", value_parser = when::parse)]
    after: Option<Timestamp>,
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
        person::must_be_here(env, "wyren forget")?;
    }
    let selection = arguments.selection();
    show_bounds(&selection)?;
    let mut store = database::open_for_user(env, paths, Look::Whole)?;
    let spool = Spool::new(paths.spool());
    if is_dry_run || !is_agreed {
        let preview = selection.preview(&mut store, &spool, Timestamp::now())?;
        if is_dry_run {
            return show(&preview, json, Stage::Preview);
        }
        if preview.count() > 0 && !is_confirmed(&preview)? {
            writeln!(terminal::errors(), "Nothing deleted.")?;
            return Ok(());
        }
    }
    let notes = repair::notes_of_forgotten(&paths.database());
    let forgotten = selection.forget(&mut store, &spool, &notes, Timestamp::now())?;
    // Folders of sessions that are forgotten are not known any more.
    store::known::refresh(&store, paths)?;
    // Notes about failed calls are short-lived: none of them is worth telling apart.
    attempts::forget_notes(paths);
    let long_answers = delete_long_answers(paths);
    show(&forgotten, json, Stage::Done)?;
    if let Err(error) = long_answers {
        let folder = paths.cache().join(LONG_ANSWERS);
        bail!("could not delete {}, which may still hold the text: {error}", folder.display());
    }
    warn_of_leftovers(&forgotten, paths)
}

/// Deletes the texts of answers that were too long for the client: their files do not say which session they are of.
fn delete_long_answers(paths: &Paths) -> io::Result<()> {
    match fs::remove_dir_all(paths.cache().join(LONG_ANSWERS)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The folder in the cache where hooks keep answers that are too long for the client.
const LONG_ANSWERS: &str = "long-answers";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Preview,
    Done,
}

impl Arguments {
    fn selection(self) -> Selection {
        Selection {
            ids: self.id,
            query: self.query,
            project: self.project.as_deref().map(database::project_key),
            session: self.session,
            before: self.before,
            after: self.after,
        }
    }
}

/// Prints which moments were understood, before anything is asked or deleted.
fn show_bounds(selection: &Selection) -> Result<()> {
    let mut errors = terminal::errors();
    for (what, moment) in [("Before", selection.before), ("From", selection.after)] {
        if let Some(moment) = moment {
            writeln!(errors, "{what} {STRONG}{}{STRONG:#} ({moment})", when::exact(moment))?;
        }
    }
    Ok(())
}

fn is_confirmed(preview: &Forgotten) -> Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("not a terminal: pass --yes to confirm, or --dry-run to look first");
    }
    show(preview, false, Stage::Preview)?;
    write!(terminal::errors(), "Delete this permanently? [y/N] ")?;
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn show(forgotten: &Forgotten, json: bool, stage: Stage) -> Result<()> {
    let Forgotten { prompts, tool_calls, others, unread_lines, spool_lines, samples, .. } = forgotten;
    let mut output = terminal::output();
    if json {
        let samples: Vec<_> = samples
            .iter()
            .map(|sample| json!({"ts": sample.at.to_string(), "session": sample.session, "id": sample.id, "text": sample.text}))
            .collect();
        let facts = json!({
            "prompts": prompts, "tool_calls": tool_calls, "others": others, "unread_lines": unread_lines, "spool_lines": spool_lines,
            "samples": samples,
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
    Ok(writeln!(output, "{STRONG}{}{STRONG:#} {what}", summary(forgotten))?)
}

/// Returns what there is to delete, as in `1 prompt, 4 tool calls and 5 other observations`.
fn summary(forgotten: &Forgotten) -> String {
    let Forgotten { prompts, tool_calls, others, unread_lines, .. } = forgotten;
    let mut parts =
        vec![counted(*prompts, "prompt", "prompts"), counted(*tool_calls, "tool call", "tool calls")];
    if *others > 0 {
        parts.push(counted(*others, "other observation", "other observations"));
    }
    if *unread_lines > 0 {
        parts.push(counted(*unread_lines, "unreadable line", "unreadable lines"));
    }
    let last = parts.pop().unwrap_or_default();
    format!("{} and {last}", parts.join(", "))
}

/// Warns about places that may still hold the text.
fn warn_of_leftovers(forgotten: &Forgotten, paths: &Paths) -> Result<()> {
    let mut errors = terminal::errors();
    if forgotten.is_kept_by_reader {
        writeln!(
            errors,
            "{WARNING}Another program has the database open{WARNING:#}, so its write-ahead log may still hold the text. \
             Run this command again when that program has exited."
        )?;
    }
    if forgotten.is_too_large_to_rewrite {
        writeln!(
            errors,
            "{WARNING}The database is too large to be rewritten{WARNING:#}: unused parts of its pages may still hold copies \
             of deleted text."
        )?;
    }
    let is_damaged = |name: &str| name.starts_with("wyren.db.damaged-");
    for file in files::files_in(paths.data()) {
        if file.file_name().and_then(|name| name.to_str()).is_some_and(is_damaged) {
            writeln!(
                errors,
                "{WARNING}A damaged database may still hold it{WARNING:#}: delete {}",
                file.display()
            )?;
        }
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
        let unread = Forgotten { tool_calls: 1, unread_lines: 1, ..Forgotten::default() };
        assert_eq!(summary(&unread), "0 prompts, 1 tool call and 1 unreadable line");
    }

    #[test]
    fn texts_of_long_answers_are_deleted_and_need_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path())]));
        delete_long_answers(&paths).unwrap();
        let answer = paths.cache().join("long-answers/session-start-memory-0123.txt");
        let other = paths.cache().join("other");
        fs::create_dir_all(answer.parent().unwrap()).unwrap();
        fs::write(&answer, "about the merger").unwrap();
        fs::write(&other, "").unwrap();
        delete_long_answers(&paths).unwrap();
        assert!(!answer.exists() && other.exists());
    }
}
