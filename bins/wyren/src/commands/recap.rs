//! `wyren recap`: what was done, decided, found out and left open, for a stand-up or a weekly note.

use crate::database::{self, Look};
use crate::terminal::{self, DIM, STRONG, wrap};
use crate::{projects, when};
use anyhow::Result;
use base::{Env, Paths, Timestamp};
use capture::Spool;
use chrono::NaiveDate;
use clap::Args;
use journal::recap::{self, Recap};
use journal::{Entry, find};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren recap                           since yesterday morning, all projects
  wyren recap --since 7d --markdown     a note about the week
  wyren recap --project . --since 2026-11-01 --until 2026-11-15";

/// In characters.
const MAX_LINE: usize = 300;
/// How wide text is at most on a terminal, and where there is none.
const MAX_WIDTH: usize = 100;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// From when: yesterday, 7d, 2026-11-16 or "2026-11-16 14:30".
    #[arg(long, value_name = "TIME", default_value = "yesterday", value_parser = when::parse)]
    since: Timestamp,
    /// Until before when [default: now].
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    until: Option<Timestamp>,
    /// This project alone: its name, key or a folder in it [default: all].
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Print Markdown.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let store = database::open_drained(env, paths, Look::Quick)?;
    let spool = Spool::new(paths.spool());
    let named = arguments.project.as_deref().filter(|named| *named != "all");
    let project = named.map(|named| projects::find(named, &store, &spool, "nothing to show")).transpose()?;
    let until = arguments.until.map_or(u64::MAX, Timestamp::millis);
    let recaps = recap::recap(&store, arguments.since.millis(), until, project.as_deref())?;
    let mut output = terminal::output();
    if arguments.json {
        let until = arguments.until.map(|until| until.to_string());
        let projects: Vec<Value> = recaps.iter().map(to_json).collect();
        let facts = json!({"since": arguments.since.to_string(), "until": until, "projects": projects});
        return Ok(writeln!(output, "{facts:#}")?);
    }
    if recaps.is_empty() {
        let since = when::local_minute(arguments.since);
        writeln!(output, "Nothing recorded since {since}. `wyren recap --since 7d` looks further back.")?;
        return Ok(());
    }
    let today = when::day(Timestamp::now());
    for (number, recap) in recaps.iter().enumerate() {
        if number > 0 {
            writeln!(output)?;
        }
        Page { recap, today, is_markdown: arguments.markdown }.write(&mut output)?;
    }
    Ok(())
}

fn to_json(recap: &Recap) -> Value {
    let list = |entries: &[Entry]| -> Vec<Value> {
        let facts = |entry: &Entry| find::to_json(&find::Item::Entry(entry.clone()));
        entries.iter().map(facts).collect()
    };
    let next_steps: Vec<Value> = recap
        .next_steps
        .iter()
        .map(|(at, text)| json!({"when": Timestamp::from_millis(*at).to_string(), "text": text}))
        .collect();
    json!({
        "project": recap.project,
        "done": list(&recap.done),
        "decided": list(&recap.decided),
        "learned": list(&recap.learned),
        "noted": list(&recap.noted),
        "open": {"failed": list(&recap.failed), "next_steps": next_steps},
    })
}

/// One project as people read it.
struct Page<'a> {
    recap: &'a Recap,
    today: NaiveDate,
    is_markdown: bool,
}

impl Page<'_> {
    fn write(&self, output: &mut impl Write) -> Result<()> {
        let recap = self.recap;
        let name = projects::name(&recap.project);
        match self.is_markdown {
            true => writeln!(output, "## {name}")?,
            false => writeln!(output, "{STRONG}{name}{STRONG:#}")?,
        }
        let days: BTreeSet<NaiveDate> = recap.entries().map(day_of).collect();
        for day in &days {
            let spoken = when::spoken(*day, self.today);
            match self.is_markdown {
                true => writeln!(output, "\n### {}\n", day.format("%Y-%m-%d"))?,
                false => writeln!(output, "\n{DIM}{spoken}{DIM:#}")?,
            }
            let sections = [
                ("", &recap.done),
                ("decided: ", &recap.decided),
                ("found out: ", &recap.learned),
                ("noted: ", &recap.noted),
            ];
            for (label, entries) in sections {
                for entry in entries.iter().filter(|entry| day_of(entry) == *day) {
                    // A question that led to no finding says by itself what it is.
                    let label = if entry.title.starts_with("asked: ") { "" } else { label };
                    self.line(output, label, &entry.title, &entry.id)?;
                }
            }
        }
        if recap.failed.is_empty() && recap.next_steps.is_empty() {
            return Ok(());
        }
        match self.is_markdown {
            true => writeln!(output, "\n### Left open\n")?,
            false => writeln!(output, "\n{STRONG}left open{STRONG:#}")?,
        }
        for entry in &recap.failed {
            self.line(output, "", &entry.title, &entry.id)?;
        }
        for (_, text) in &recap.next_steps {
            self.line(output, "next: ", text, "")?;
        }
        Ok(())
    }

    fn line(&self, output: &mut impl Write, label: &str, text: &str, id: &str) -> Result<()> {
        let text = format!("{label}{}", sanitize::one_line(text, MAX_LINE));
        if self.is_markdown {
            return Ok(writeln!(output, "- {text}")?);
        }
        let width = terminal::width().unwrap_or(MAX_WIDTH).min(MAX_WIDTH);
        let lines = wrap(&text, width.saturating_sub(4).max(20));
        for (number, line) in lines.iter().enumerate() {
            let bullet = if number == 0 { "•" } else { " " };
            let id =
                if number + 1 == lines.len() && !id.is_empty() { format!("  {id}") } else { String::new() };
            writeln!(output, "  {bullet} {line}{DIM}{id}{DIM:#}")?;
        }
        Ok(())
    }
}

fn day_of(entry: &Entry) -> NaiveDate {
    when::day(Timestamp::from_millis(entry.at))
}
