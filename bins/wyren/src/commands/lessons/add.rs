//! `wyren lessons add`: a new lesson, by flags, from JSON, from a file, or by answering questions.

use super::draft::Draft;
use super::shown;
use crate::terminal::{self, DIM, STRONG, WARNING};
use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use lessons::{Kind, Lesson, format};
use lessons_admin::catalogue::Places;
use lessons_admin::change::{Change, Owner};
use lessons_admin::intake::{self, Problem};
use lessons_admin::{Error, json};
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
  wyren lessons add --from-json '{\"summary\": …, \"problem\": …, \"solution\": …, \"commands\": [\"git stash\"]}'
  wyren lessons add --project --file lesson.md   for everyone who works in this repository
  wyren lessons add --file - < lesson.md         from standard input; the name is made from the summary
  wyren lessons add < lessons.json               one lesson, or a list: all of them or none";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The lesson as a JSON object, or a list of them; lessons-learned's names work as well.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["file", "interactive"])]
    from_json: Option<String>,
    /// The same, as it was called before.
    #[arg(long, value_name = "JSON", hide = true, conflicts_with_all = ["from_json", "file", "interactive"])]
    json: Option<String>,
    /// A file with such JSON, or one in the lessons' own format; - for standard input.
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
    let mut draft = None;
    let added = lessons_of(&arguments, places, &mut draft).and_then(|lessons| {
        let kinds: Vec<Kind> = lessons.iter().map(|lesson| lesson.kind).collect();
        let written = Change::begin(places)?.add(lessons, owner, arguments.force)?;
        Ok(kinds.into_iter().zip(written).collect::<Vec<_>>())
    });
    let added = match (added, &mut draft) {
        (Err(error), Some(draft)) => {
            return Err(match draft.where_it_is() {
                Some(place) => anyhow!("{error:#}\n{place}"),
                None => error,
            });
        }
        (added, Some(draft)) => {
            draft.clear();
            added?
        }
        (added, None) => added?,
    };
    let mut errors = terminal::errors();
    let mut output = terminal::output();
    for (kind, written) in &added {
        for remark in &written.remarks {
            writeln!(errors, "{WARNING}{}{WARNING:#}: {}", remark.field, shown(&remark.reason))?;
        }
        let whose = if owner == Owner::Project { "of this project" } else { "yours" };
        let (slug, effect) = (shown(&written.slug), effect(*kind, owner));
        writeln!(output, "Added {kind} {STRONG}{slug}{STRONG:#} ({whose}). {effect}")?;
    }
    Ok(())
}

/// Returns what a new lesson does, and from when on.
fn effect(kind: Kind, owner: Owner) -> &'static str {
    match (kind, owner) {
        (Kind::Guard | Kind::Pause, Owner::Project) => "It is a hint until you run `wyren trust`.",
        (Kind::Directive | Kind::Protocol, Owner::Project) => "It is shown once you have run `wyren trust`.",
        (Kind::Hint, _) => "It speaks from the next call on.",
        (Kind::Pause, _) => "It pauses calls from the next one on.",
        (Kind::Guard, _) => "It refuses calls from the next one on.",
        (Kind::Directive | Kind::Protocol, _) => "It is shown from the next session on.",
    }
}

fn lessons_of(arguments: &Arguments, places: &Places, draft: &mut Option<Draft>) -> Result<Vec<Lesson>> {
    let flags = arguments.fields.as_json()?;
    if arguments.interactive {
        return Ok(vec![interview(flags, draft.insert(Draft::open(places)))?]);
    }
    if let Some(text) = &arguments.json {
        writeln!(terminal::errors(), "{DIM}lessons add: --json is called --from-json now{DIM:#}")?;
        return from_json(text, &flags).context("--json");
    }
    if let Some(text) = &arguments.from_json {
        return from_json(text, &flags).context("--from-json");
    }
    if let Some(file) = &arguments.file {
        return from_file(file, &flags).with_context(|| file.display().to_string());
    }
    if !flags.is_empty() {
        return Ok(vec![json::read(&flags).map_err(Error::Refused)?]);
    }
    if io::stdin().is_terminal() {
        return Ok(vec![interview(flags, draft.insert(Draft::open(places)))?]);
    }
    let text = standard_input()?;
    if text.trim().is_empty() {
        bail!("no lesson given: use flags, --from-json, --file or standard input");
    }
    from_text("", &text, &flags).context("standard input")
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).context("could not read standard input")?;
    Ok(text)
}

/// The name of a lesson that has none yet, while it is read and checked.
const UNNAMED: &str = "new";

/// What names standard input as a file.
const STANDARD_INPUT: [&str; 2] = ["-", "/dev/stdin"];

fn from_file(file: &Path, flags: &Map<String, Value>) -> Result<Vec<Lesson>> {
    if STANDARD_INPUT.iter().any(|name| file == Path::new(name)) {
        return from_text("", &standard_input()?, flags);
    }
    let text = fs::read_to_string(file).context("could not read it")?;
    let slug = file.file_stem().unwrap_or_default().to_string_lossy();
    from_text(&slug, &text, flags)
}

/// Reads a lesson in our own format, or JSON. Without a name, one is made from the summary.
fn from_text(slug: &str, text: &str, flags: &Map<String, Value>) -> Result<Vec<Lesson>> {
    // What a here-document of an indented script begins with.
    let text = text.trim_start_matches(['\u{feff}', '\n', '\r', ' ']);
    if !text.starts_with("---") {
        return from_json(text, flags);
    }
    let parsed = format::parse(if slug.is_empty() { UNNAMED } else { slug }, text)?;
    let lesson = Lesson { slug: slug.to_owned(), ..parsed };
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

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One line.
    Line,
    /// Lines up to an empty one, which are one text.
    Text,
    /// Lines up to an empty one, each of which is a value.
    List,
}

/// What is asked, in this order.
const QUESTIONS: [(&str, &str, Form); 9] = [
    ("summary", "What goes wrong, in one line?", Form::Line),
    ("problem", "Why, and when? (an empty line ends it)", Form::Text),
    ("solution", "What to do instead? A command to copy is best. (an empty line ends it)", Form::Text),
    (
        "kind",
        "Which kind? hint, pause (refuses once), guard (refuses), directive, protocol [hint]",
        Form::Line,
    ),
    (
        "commands",
        "Which commands? One pattern a line, such as git push -f|--force (an empty line ends it)",
        Form::List,
    ),
    ("without", "Which flags make them harmless? (an empty line ends it)", Form::List),
    ("paths", "Which files? One glob a line, such as **/*.py (an empty line ends it)", Form::List),
    ("fires", "Calls that must fire it? (an empty line ends it)", Form::List),
    ("quiet", "Calls that must not? (an empty line ends it)", Form::List),
];

/// The last question.
const TAGS: (&str, &str, Form) = ("tags", "Tags? Such as tool:git (an empty line ends it)", Form::List);

/// Asks for what the flags left open. Each answer is checked and kept when it is given.
fn interview(flags: Map<String, Value>, draft: &mut Draft) -> Result<Lesson> {
    let mut input = io::stdin().lock();
    if !draft.fields.is_empty() {
        let summary = draft.fields.get("summary").and_then(Value::as_str).unwrap_or_default();
        let question = format!("Go on with your draft, {:?}? [Y/n]", shown(summary));
        let answer = ask(&mut input, &question, Form::Line)?;
        if answer.is_some_and(|answer| answer.to_lowercase().starts_with('n')) {
            draft.clear();
        }
    }
    let answers = |draft: &Draft| -> Map<String, Value> {
        draft.fields.clone().into_iter().chain(flags.clone()).collect()
    };
    for (name, question, form) in QUESTIONS.into_iter().chain([TAGS]) {
        let known = answers(draft);
        let kind = known.get("kind").and_then(Value::as_str).and_then(Kind::from_name);
        let is_about_calls = ["commands", "without", "paths", "fires", "quiet"].contains(&name);
        let has_commands = known.contains_key("commands");
        if known.contains_key(name)
            || (is_about_calls && kind.is_some_and(|kind| !kind.is_about_calls()))
            || (name == "without" && !has_commands)
        {
            continue;
        }
        loop {
            let given = ask(&mut input, question, form)?;
            let is_over = given.is_none();
            let value = value_of(name, given.unwrap_or_default(), form);
            let mut fields = answers(draft);
            fields.extend(value.clone().map(|value| (name.to_owned(), value)));
            let problems = problems_with(&fields, name);
            if problems.is_empty() {
                if let Some(value) = value {
                    draft.put(name, value).context("could not keep the answer")?;
                }
                break;
            }
            if is_over {
                bail!("the answers ended before the questions");
            }
            for problem in problems {
                let mut errors = terminal::errors();
                writeln!(errors, "{WARNING}{}{WARNING:#}: {}", problem.field, shown(&problem.reason))?;
            }
        }
    }
    let lesson = json::read(&answers(draft)).map_err(Error::Refused)?;
    let problems = intake::check(&Lesson { slug: UNNAMED.to_owned(), ..lesson.clone() });
    let grave: Vec<_> = problems.into_iter().filter(|problem| problem.is_grave).collect();
    if !grave.is_empty() {
        return Err(Error::Refused(grave).into());
    }
    Ok(lesson)
}

/// Returns an answer as the value of a field; `None` for an empty one that needs no value.
fn value_of(name: &str, answer: String, form: Form) -> Option<Value> {
    match form {
        _ if answer.is_empty() && name == "kind" => Some("hint".into()),
        _ if answer.is_empty() => None,
        Form::Line | Form::Text => Some(answer.into()),
        Form::List => Some(answer.lines().map(str::to_owned).collect::<Vec<_>>().into()),
    }
}

/// Returns what is wrong with the field that was asked for, whatever is still missing of the others.
fn problems_with(fields: &Map<String, Value>, name: &str) -> Vec<Problem> {
    let problems = match json::read(fields) {
        Err(problems) => problems,
        Ok(lesson) => intake::check(&Lesson { slug: UNNAMED.to_owned(), ..lesson }),
    };
    // With the last question about what it is for, it must be for something.
    let is_it = |field: &str| field == name || (name == "paths" && field == "trigger");
    problems.into_iter().filter(|problem| problem.is_grave && is_it(&problem.field)).collect()
}

/// Asks a question and returns the answer; `None` when the input is over and there is none.
fn ask(input: &mut impl BufRead, question: &str, form: Form) -> Result<Option<String>> {
    let mut errors = terminal::errors();
    writeln!(errors, "{STRONG}{question}{STRONG:#}")?;
    let mut answer = String::new();
    loop {
        write!(errors, "> ")?;
        errors.flush()?;
        let mut line = String::new();
        let is_over = input.read_line(&mut line)? == 0;
        if is_over && answer.is_empty() {
            return Ok(None);
        }
        if is_over || line.trim().is_empty() {
            break;
        }
        answer.push_str(line.trim_end());
        if form == Form::Line {
            break;
        }
        answer.push('\n');
    }
    Ok(Some(answer.trim().to_owned()))
}
