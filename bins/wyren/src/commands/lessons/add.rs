//! `wyren lessons add`: a new lesson, by flags, from JSON, from a file, or by answering questions.

use super::shown;
use crate::terminal::{self, DIM, STRONG, WARNING};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use lessons::{Kind, Lesson, format};
use lessons_admin::catalogue::Places;
use lessons_admin::change::{Change, Owner};
use lessons_admin::{Error, intake, json};
use serde_json::{Map, Value};
use std::fs;
use std::io::{self, BufRead, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wyren lessons add                              asks one thing after the other
  wyren lessons add --summary 'git stash leaves untracked files behind' \\
      --problem 'A plain stash takes tracked changes only.' \\
      --solution 'Run git stash push --include-untracked, then check with git status.' \\
      --command 'git stash push' --without='-u|--include-untracked' --fires 'git stash push'
  wyren lessons add --json '{\"summary\": …, \"problem\": …, \"solution\": …, \"commands\": [\"git stash\"]}'
  wyren lessons add --project --file lesson.md   for everyone who works in this repository
  wyren lessons add < lessons.json               one lesson, or a list: all of them or none";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The lesson as a JSON object, or a list of them; lessons-learned's names work as well.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["file", "interactive"])]
    json: Option<String>,
    /// A file with such JSON, or one in the lessons' own format.
    #[arg(long, value_name = "FILE", conflicts_with = "interactive")]
    file: Option<PathBuf>,
    /// Ask questions even when standard input is not a terminal.
    #[arg(long, short)]
    interactive: bool,
    /// Add it to the project's .wyren/lessons, for the whole team.
    #[arg(long)]
    project: bool,
    /// Add it although another lesson says nearly the same.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    fields: Fields,
}

/// The fields of a lesson as flags.
#[derive(Args)]
#[command(next_help_heading = "The lesson")]
struct Fields {
    /// Name [default: made from the summary].
    #[arg(long)]
    slug: Option<String>,
    /// What goes wrong, in one line of at most 80 characters.
    #[arg(long)]
    summary: Option<String>,
    /// Why, and when.
    #[arg(long)]
    problem: Option<String>,
    /// What to do instead, in at least 60 characters.
    #[arg(long)]
    solution: Option<String>,
    /// hint, pause, guard, directive or protocol.
    #[arg(long, alias = "type")]
    kind: Option<String>,
    /// A tool that it is about; may be repeated.
    #[arg(long)]
    tool: Vec<String>,
    /// A pattern of commands, as in `git push -f|--force`; may be repeated.
    #[arg(long)]
    command: Vec<String>,
    /// A flag or word that makes the command harmless; may be repeated.
    #[arg(long, allow_hyphen_values = true)]
    without: Vec<String>,
    /// One of these must hold, written as for --without; may be repeated.
    #[arg(long, allow_hyphen_values = true)]
    with: Vec<String>,
    /// A file, pattern or class such as `<disk>` that the output is redirected to; may be repeated.
    #[arg(long)]
    writes: Vec<String>,
    /// A regular expression over one SQL statement for a database client, in upper case; may be repeated.
    #[arg(long)]
    sql: Vec<String>,
    /// A program that the output must go to; may be repeated.
    #[arg(long)]
    piped_to: Vec<String>,
    /// A regular expression over one simple command; may be repeated.
    #[arg(long = "match", allow_hyphen_values = true)]
    matches: Vec<String>,
    /// A regular expression over the whole text of the command; may be repeated.
    #[arg(long, allow_hyphen_values = true)]
    raw: Vec<String>,
    /// A glob over the file's path; may be repeated.
    #[arg(long)]
    path: Vec<String>,
    /// A regular expression over what is written; may be repeated.
    #[arg(long, allow_hyphen_values = true)]
    content: Vec<String>,
    /// A regular expression over another field of the tool's input; may be repeated.
    #[arg(long, value_name = "FIELD=EXPRESSION")]
    input: Vec<String>,
    /// The command to run instead.
    #[arg(long)]
    instead: Option<String>,
    /// Priority, 1 to 10.
    #[arg(long)]
    priority: Option<u64>,
    /// Confidence, 0 to 1.
    #[arg(long)]
    confidence: Option<f64>,
    /// The only project that it applies to.
    #[arg(long)]
    scope: Option<String>,
    /// What it is about, as in tool:git; may be repeated.
    #[arg(long)]
    tag: Vec<String>,
    /// A call that must fire it; may be repeated.
    #[arg(long, value_name = "CALL")]
    fires: Vec<String>,
    /// A call that must not; may be repeated.
    #[arg(long, value_name = "CALL")]
    quiet: Vec<String>,
}

pub(super) fn run(arguments: Arguments, places: &Places) -> Result<()> {
    let owner = if arguments.project { Owner::Project } else { Owner::Personal };
    let lessons = lessons_of(&arguments)?;
    let written = Change::begin(places)?.add(lessons, owner, arguments.force)?;
    let mut errors = terminal::errors();
    let mut output = terminal::output();
    for written in &written {
        for remark in &written.remarks {
            writeln!(errors, "{WARNING}{}{WARNING:#}: {}", remark.field, shown(&remark.reason))?;
        }
        writeln!(output, "Added {STRONG}{}{STRONG:#} {DIM}{}{DIM:#}", written.slug, written.file.display())?;
    }
    Ok(())
}

fn lessons_of(arguments: &Arguments) -> Result<Vec<Lesson>> {
    let flags = arguments.fields.as_json()?;
    if arguments.interactive {
        return Ok(vec![interview(flags)?]);
    }
    if let Some(text) = &arguments.json {
        return from_json(text, &flags).context("--json");
    }
    if let Some(file) = &arguments.file {
        return from_file(file, &flags).with_context(|| file.display().to_string());
    }
    if !flags.is_empty() {
        return Ok(vec![json::read(&flags).map_err(Error::Refused)?]);
    }
    if io::stdin().is_terminal() {
        return Ok(vec![interview(flags)?]);
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).context("could not read standard input")?;
    if text.trim().is_empty() {
        bail!("no lesson given: use flags, --json, --file or standard input");
    }
    from_json(&text, &flags).context("standard input")
}

fn from_file(file: &Path, flags: &Map<String, Value>) -> Result<Vec<Lesson>> {
    let text = fs::read_to_string(file).context("could not read it")?;
    if !text.starts_with("---") {
        return from_json(&text, flags);
    }
    let slug = file.file_stem().unwrap_or_default().to_string_lossy();
    let lesson = format::parse(&slug, &text)?;
    Ok(vec![json::patch(&lesson, flags).map_err(Error::Refused)?])
}

fn from_json(text: &str, flags: &Map<String, Value>) -> Result<Vec<Lesson>> {
    let items = match serde_json::from_str(text).context("expected a JSON object, or a list of them")? {
        Value::Array(items) => items,
        item => vec![item],
    };
    let read = |item: Value| -> Result<Lesson> {
        let Value::Object(mut fields) = item else { bail!("expected a JSON object, or a list of them") };
        fields.extend(flags.clone());
        Ok(json::read(&fields).map_err(Error::Refused)?)
    };
    items.into_iter().map(read).collect()
}

impl Fields {
    /// Returns the flags that were given, as JSON.
    fn as_json(&self) -> Result<Map<String, Value>> {
        let mut fields = Map::new();
        let texts = [
            ("slug", &self.slug),
            ("summary", &self.summary),
            ("problem", &self.problem),
            ("solution", &self.solution),
            ("kind", &self.kind),
            ("instead", &self.instead),
            ("scope", &self.scope),
        ];
        for (name, text) in texts {
            fields.extend(text.as_ref().map(|text| (name.to_owned(), text.clone().into())));
        }
        let lists = [
            ("tools", &self.tool),
            ("commands", &self.command),
            ("without", &self.without),
            ("with", &self.with),
            ("writes", &self.writes),
            ("sql", &self.sql),
            ("piped_to", &self.piped_to),
            ("matches", &self.matches),
            ("raw", &self.raw),
            ("paths", &self.path),
            ("content", &self.content),
            ("tags", &self.tag),
            ("fires", &self.fires),
            ("quiet", &self.quiet),
        ];
        for (name, values) in lists {
            if !values.is_empty() {
                fields.insert(name.to_owned(), values.clone().into());
            }
        }
        fields.extend(self.priority.map(|number| ("priority".to_owned(), number.into())));
        fields.extend(self.confidence.map(|share| ("confidence".to_owned(), share.into())));
        let mut inputs: Map<String, Value> = Map::new();
        for input in &self.input {
            let (field, expression) = input
                .split_once('=')
                .with_context(|| format!("--input {input}: expected FIELD=EXPRESSION"))?;
            inputs.insert(field.to_owned(), expression.into());
        }
        if !inputs.is_empty() {
            fields.insert("inputs".to_owned(), inputs.into());
        }
        Ok(fields)
    }
}

/// Asks for what the flags left open.
fn interview(mut fields: Map<String, Value>) -> Result<Lesson> {
    let mut input = io::stdin().lock();
    let questions: [(&str, &str, bool); 3] = [
        ("summary", "What goes wrong, in one line?", false),
        ("problem", "Why, and when? (an empty line ends it)", true),
        ("solution", "What to do instead? A command to copy is best. (an empty line ends it)", true),
    ];
    for (name, question, is_long) in questions {
        if !fields.contains_key(name) {
            fields.insert(name.to_owned(), ask(&mut input, question, is_long)?.into());
        }
    }
    if !fields.contains_key("kind") {
        let question = "Which kind? hint, pause (refuses once), guard (refuses), directive, protocol [hint]";
        let kind = ask(&mut input, question, false)?;
        fields.insert("kind".to_owned(), if kind.is_empty() { "hint".into() } else { kind.into() });
    }
    let kind = fields.get("kind").and_then(Value::as_str).and_then(Kind::from_name);
    let mut lists = Vec::new();
    if kind.is_none_or(Kind::is_about_calls) {
        lists.extend([
            (
                "commands",
                "Which commands? One pattern a line, such as git push -f|--force (an empty line ends it)",
            ),
            ("without", "Which flags make them harmless? (an empty line ends it)"),
            ("paths", "Which files? One glob a line, such as **/*.py (an empty line ends it)"),
            ("fires", "Calls that must fire it? (an empty line ends it)"),
            ("quiet", "Calls that must not? (an empty line ends it)"),
        ]);
    }
    lists.push(("tags", "Tags? Such as tool:git (an empty line ends it)"));
    for (name, question) in lists {
        if !fields.contains_key(name) {
            let lines: Vec<String> = ask(&mut input, question, true)?.lines().map(str::to_owned).collect();
            if !lines.is_empty() {
                fields.insert(name.to_owned(), lines.into());
            }
        }
    }
    let lesson = json::read(&fields).map_err(Error::Refused)?;
    let problems = intake::check(&Lesson { slug: "new".to_owned(), ..lesson.clone() });
    let grave: Vec<_> = problems.into_iter().filter(|problem| problem.is_grave).collect();
    if !grave.is_empty() {
        return Err(Error::Refused(grave).into());
    }
    Ok(lesson)
}

/// Asks a question and returns the answer: one line, or the lines up to an empty one.
fn ask(input: &mut impl BufRead, question: &str, is_long: bool) -> Result<String> {
    let mut errors = terminal::errors();
    writeln!(errors, "{STRONG}{question}{STRONG:#}")?;
    let mut answer = String::new();
    loop {
        write!(errors, "> ")?;
        errors.flush()?;
        let mut line = String::new();
        let is_over = input.read_line(&mut line)? == 0;
        if is_over && answer.is_empty() && !is_long {
            bail!("the answers ended before the questions; nothing was added");
        }
        if is_over || line.trim().is_empty() {
            break;
        }
        answer.push_str(line.trim_end());
        if !is_long {
            break;
        }
        answer.push('\n');
    }
    Ok(answer.trim().to_owned())
}
