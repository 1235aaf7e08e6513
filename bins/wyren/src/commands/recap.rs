//! `wyren recap`: what was done, decided, learned and left open, for a stand-up or a weekly note.

use crate::database::{self, Look};
use crate::exit::Ending;
use crate::projects;
use crate::terminal::{self, DIM, STRONG, wrap};
use crate::when;
use anyhow::Result;
use base::project::Project;
use base::{Env, Paths, Timestamp};
use capture::Spool;
use chrono::NaiveDate;
use clap::Args;
use journal::Kind;
use journal::recap::{self, Line, Material, Part};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use store::Store;
use text::sanitize;

/// Columns when the terminal's width is unknown, and the most that are used.
const DEFAULT_WIDTH: usize = 80;
const MAX_WIDTH: usize = 100;

/// The longest line, in characters.
const MAX_TEXT: usize = 400;

/// What `--project` is for all of them.
const ALL: &str = "all";

const EXAMPLES: &str = "\
Examples:
  wyren recap                                  this project, since yesterday 00:00
  wyren recap --since 1w --markdown            a note about the last week
  wyren recap --since today --project all      everything of today
  wyren recap --since 2026-11-09 --until 2026-11-16 --project acme/app";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// From this time on: yesterday, 2h, 2026-11-16, "2026-11-16 14:30" or 2026-11-16T14:30:00Z.
    #[arg(long, value_name = "TIME", value_parser = when::parse, default_value = "yesterday")]
    since: Timestamp,
    /// Only before this time [default: now].
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    until: Option<Timestamp>,
    /// Another project: its name, its key, a folder in it, or `all` [default: the project of this folder].
    #[arg(long, value_name = "NAME|KEY|PATH|all")]
    project: Option<String>,
    /// Print Markdown.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let until = arguments.until.unwrap_or_else(|| Timestamp::from_millis(Timestamp::now().millis() + 1));
    if until <= arguments.since {
        return Err(Ending::misused("wyren: --until is not later than --since").into());
    }
    let store = database::open_drained(env, paths, Look::Quick)?;
    let key = match arguments.project.as_deref() {
        Some(ALL) => None,
        Some(named) => Some(projects::find(named, &store, &Spool::new(paths.spool()), "nothing is shown")?),
        None => Some(Project::of(&std::env::current_dir()?).key),
    };
    let note = Note::of(&store, key.as_deref(), arguments.since, until)?;
    let mut output = terminal::output();
    if arguments.json {
        writeln!(output, "{:#}", note.to_json(arguments.since, until))?;
    } else if note.days.is_empty() {
        let since = when::local_minute(arguments.since);
        let others = if key.is_some() { " All projects: wyren recap --project all" } else { "" };
        writeln!(output, "Nothing was recorded since {since}.{others}")?;
    } else if arguments.markdown {
        note.write_markdown(&mut output)?;
    } else {
        let width = terminal::width().unwrap_or(DEFAULT_WIDTH).min(MAX_WIDTH);
        note.write(&mut output, width)?;
        let others = recap::projects(&store, arguments.since.millis(), until.millis())?.into_values();
        let others: Vec<String> =
            others.filter(|other| key.as_ref().is_some_and(|key| key != other)).collect();
        write_others(&mut output, &others)?;
    }
    Ok(())
}

/// Names the other projects of these days.
fn write_others(output: &mut impl Write, keys: &[String]) -> io::Result<()> {
    const MOST: usize = 4;
    if keys.is_empty() {
        return Ok(());
    }
    let mut names: Vec<String> = keys.iter().take(MOST).map(|key| projects::name(key)).collect();
    if keys.len() > MOST {
        names.push(format!("{} more", keys.len() - MOST));
    }
    writeln!(
        output,
        "\n{DIM}Also worked in: {}. All of it: wyren recap --project all{DIM:#}",
        names.join(", ")
    )
}

/// The lines of a recap by local day and by the key of the project.
struct Note {
    days: BTreeMap<NaiveDate, BTreeMap<String, Vec<Line>>>,
}

impl Note {
    fn of(store: &Store, key: Option<&str>, since: Timestamp, until: Timestamp) -> Result<Self> {
        let (since, until) = (since.millis(), until.millis());
        let mut days: BTreeMap<NaiveDate, BTreeMap<String, Vec<Line>>> = BTreeMap::new();
        let all = recap::projects(store, since, until)?;
        for (row, project) in all.into_iter().filter(|(_, project)| key.is_none_or(|key| key == project)) {
            for line in recap::recap(&Material::of(store, row, since, until)?) {
                let day = days.entry(when::day(Timestamp::from_millis(line.at))).or_default();
                day.entry(project.clone()).or_default().push(line);
            }
        }
        Ok(Self { days })
    }

    /// Returns the parts that have lines, with their titles.
    fn parts(lines: &[Line]) -> impl Iterator<Item = (&'static str, Vec<&Line>)> {
        Part::ALL.into_iter().filter_map(|part| {
            let of_part: Vec<&Line> = lines.iter().filter(|line| line.part == part).collect();
            (!of_part.is_empty()).then_some((title(part), of_part))
        })
    }

    fn write(&self, output: &mut impl Write, width: usize) -> io::Result<()> {
        for (number, (day, projects)) in self.days.iter().enumerate() {
            if number > 0 {
                writeln!(output)?;
            }
            writeln!(output, "{STRONG}{}{STRONG:#}", day.format("%A %-d %B %Y"))?;
            for (project, lines) in projects {
                writeln!(output, "{STRONG}{}{STRONG:#}", projects::name(project))?;
                for (title, lines) in Self::parts(lines) {
                    writeln!(output, "  {DIM}{title}{DIM:#}")?;
                    for line in lines {
                        let glyph = line.kind.as_deref().map_or("→", |kind| Kind::new(kind).glyph());
                        let columns = width.saturating_sub(6).max(20);
                        let (head, rest) = headline(line);
                        for (number, text) in wrap(&head, columns).iter().enumerate() {
                            let mark = if number == 0 { glyph } else { " " };
                            writeln!(output, "    {mark} {text}")?;
                        }
                        for text in rest.iter().flat_map(|rest| wrap(rest, columns)) {
                            writeln!(output, "      {DIM}{text}{DIM:#}")?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn write_markdown(&self, output: &mut impl Write) -> io::Result<()> {
        for (number, (day, projects)) in self.days.iter().enumerate() {
            if number > 0 {
                writeln!(output)?;
            }
            writeln!(output, "## {}", day.format("%A %-d %B %Y"))?;
            for (project, lines) in projects {
                writeln!(output, "\n### {}", projects::name(project))?;
                for (title, lines) in Self::parts(lines) {
                    writeln!(output, "\n**{title}**\n")?;
                    for line in lines {
                        let (head, rest) = headline(line);
                        writeln!(output, "- {}", escaped(&head))?;
                        if let Some(rest) = rest {
                            writeln!(output, "  - {}", escaped(&rest))?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn to_json(&self, since: Timestamp, until: Timestamp) -> Value {
        let line = |line: &Line| {
            json!({
                "id": line.id,
                "at": Timestamp::from_millis(line.at).to_string(),
                "type": line.kind,
                "text": line.text,
                "about": line.about,
            })
        };
        let days = self.days.iter().map(|(day, projects)| {
            let projects = projects.iter().map(|(key, lines)| {
                let of = |part: Part| -> Vec<Value> {
                    lines.iter().filter(|line| line.part == part).map(line).collect()
                };
                json!({
                    "key": key,
                    "name": projects::name(key),
                    "done": of(Part::Done),
                    "decided": of(Part::Decided),
                    "learned": of(Part::Learned),
                    "open": of(Part::Open),
                })
            });
            json!({"day": day.to_string(), "projects": projects.collect::<Vec<_>>()})
        });
        json!({"since": since.to_string(), "until": until.to_string(), "days": days.collect::<Vec<_>>()})
    }
}

fn title(part: Part) -> &'static str {
    match part {
        Part::Done => "Done",
        Part::Decided => "Decided",
        Part::Learned => "Learned",
        Part::Open => "Left open",
    }
}

/// Returns what a line says, and where that says what the work was for, its files and checks; for an answer, the question.
fn headline(line: &Line) -> (String, Option<String>) {
    let (text, about) = (sanitize::one_line(&line.text, MAX_TEXT), sanitize::one_line(&line.about, MAX_TEXT));
    if about.is_empty() || text.contains(about.trim_end_matches(['.', '…'])) {
        return (text, None);
    }
    let rest = text.split_once("; answer: ").map_or(&*text, |(question, _)| question).to_owned();
    (about, Some(rest))
}

/// Returns a text as Markdown shows it: outside of code, nothing of it is HTML, emphasis or a link.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    // An odd backtick begins nothing.
    let is_paired = text.matches('`').count().is_multiple_of(2);
    let mut is_code = false;
    for character in text.chars() {
        is_code ^= character == '`' && is_paired;
        if !is_code
            && (matches!(character, '<' | '*' | '_' | '[' | ']' | '\\') || character == '`' && !is_paired)
        {
            shown.push('\\');
        }
        shown.push(character);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note() -> Note {
        let line = |part, kind: Option<&str>, text: &str| Line {
            part,
            at: 0,
            id: "a".into(),
            kind: kind.map(str::to_owned),
            text: text.into(),
            about: String::new(),
        };
        let lines = vec![
            line(
                Part::Done,
                Some("fix"),
                "auth.rs: `verify_token` checks expiry; a long line that has to be wrapped at words",
            ),
            Line {
                about: "Old tokens are refused.".into(),
                ..line(Part::Done, Some("change"), "gate.rs: `open` (+2)")
            },
            line(Part::Open, None, "tell Bert about <b>"),
        ];
        let day = when::day_in("2026-11-16").unwrap();
        Note { days: [(day, [("git:github.com/acme/app".to_owned(), lines)].into())].into() }
    }

    #[test]
    fn a_note_reads_well_in_few_columns_and_as_markdown() {
        let mut output = Vec::new();
        note().write(&mut output, 60).unwrap();
        let text = anstream::adapter::strip_str(&String::from_utf8(output).unwrap()).to_string();
        let expected = "Monday 16 November 2026
acme/app
  Done
    ● auth.rs: `verify_token` checks expiry; a long line
      that has to be wrapped at words
    ✓ Old tokens are refused.
      gate.rs: `open` (+2)
  Left open
    → tell Bert about <b>
";
        assert_eq!(text, expected);
        let mut output = Vec::new();
        note().write_markdown(&mut output).unwrap();
        let expected = "## Monday 16 November 2026

### acme/app

**Done**

- auth.rs: `verify_token` checks expiry; a long line that has to be wrapped at words
- Old tokens are refused.
  - gate.rs: `open` (+2)

**Left open**

- tell Bert about \\<b>
";
        assert_eq!(String::from_utf8(output).unwrap(), expected);
    }

    #[test]
    fn markdown_of_others_is_shown_as_text() {
        assert_eq!(escaped("a_b *c* `d_e` [f](g)"), "a\\_b \\*c\\* `d_e` \\[f\\](g)");
        assert_eq!(escaped("one ` only"), "one \\` only");
    }
}
