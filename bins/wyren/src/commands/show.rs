//! `wyren show`: what is remembered, whole. The index at a session's start names it, so models read its output as often as
//! people do: plain lines, each beginning with what it is.

use crate::database::{self, Look};
use crate::exit;
use crate::hits;
use crate::items;
use crate::projects;
use crate::terminal::{self, DIM, STRONG};
use crate::when;
use answers::ids::{Whole, text_of};
use anyhow::Result;
use base::{Env, Paths, Timestamp};
use clap::Args;
use journal::find::{self, Item, Origin};
use journal::{Entry, Source, Summary};
use search::highlight::Words;
use search::sources::{self, Loaded};
use serde_json::{Value, json};
use std::io::Write;
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren show 3f9k2m1x             what has this id, whole
  wyren show 3f9 7qz --json       several, by the beginning of their ids";

/// In characters.
const MAX_LINE: usize = 400;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The id, or its beginning where no other id begins alike.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let store = database::open_drained(env, paths, Look::Quick)?;
    let mut shown: Vec<Whole> = Vec::new();
    for id in &arguments.ids {
        let one = Whole::find(&store, paths, &items::here(), id).map_err(exit::of)?;
        if !shown.iter().any(|known| known.id() == one.id()) {
            shown.push(one);
        }
    }
    if arguments.json {
        let items: Vec<Value> = shown.iter().map(whole_json).collect();
        return Ok(writeln!(terminal::output(), "{:#}", json!({"items": items}))?);
    }
    terminal::page(|mut output| {
        for (number, one) in shown.iter().enumerate() {
            if number > 0 {
                writeln!(output)?;
            }
            write_whole(&mut output, one)?;
        }
        Ok(())
    })
}

fn write_whole(output: &mut impl Write, one: &Whole) -> Result<()> {
    match one {
        Whole::Item(item) => match &**item {
            (Item::Entry(entry), origin) => write_entry(output, entry, origin),
            (Item::Summary(summary), origin) => write_summary(output, summary, origin),
        },
        Whole::Document(loaded) => write_document(output, loaded),
    }
}

fn whole_json(shown: &Whole) -> Value {
    match shown {
        Whole::Item(item) => to_json(&item.0, &item.1),
        Whole::Document(loaded) => {
            let mut facts = hits::to_json(loaded, &mut Words::default());
            facts["text"] = json!(text_of(&loaded.document));
            facts
        }
    }
}

fn write_document(output: &mut impl Write, loaded: &Loaded) -> Result<()> {
    let document = &loaded.document;
    head(output, sources::id_of(&document.key), &hits::kind(loaded), document.at)?;
    let text = text_of(document);
    let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
    if title.chars().count() > MAX_LINE {
        block(output, &text)?;
    } else {
        writeln!(output, "{STRONG}{}{STRONG:#}", one_line(title))?;
        block(output, rest)?;
    }
    list(output, "file", &document.files)?;
    field(output, "by", &document.author)?;
    field(output, "branch", &document.branch)?;
    field(output, "session", &document.session)?;
    let project = if document.project.is_empty() { String::new() } else { projects::name(&document.project) };
    field(output, "project", &project)
}

fn to_json(item: &Item, origin: &Origin) -> Value {
    let mut facts = find::to_json(item);
    facts["is"] = json!(match item {
        Item::Entry(_) => "entry",
        Item::Summary(_) => "summary",
    });
    facts["when"] = json!(Timestamp::from_millis(item.at()).to_string());
    facts["project"] = json!(origin.project);
    facts["session"] = json!({
        "id": origin.session, "platform": origin.platform, "title": origin.session_title, "author": origin.author,
    });
    let prompt = origin.prompt.as_ref();
    facts["prompt"] = prompt.map_or(Value::Null, |(number, text)| json!({"number": number, "text": text}));
    facts["replaces"] = json!(origin.replaces.iter().map(|(id, _)| id).collect::<Vec<_>>());
    facts
}

fn write_entry(output: &mut impl Write, entry: &Entry, origin: &Origin) -> Result<()> {
    let pinned = if entry.is_pinned { ", pinned" } else { "" };
    let kind = sanitize::one_line(&entry.kind, MAX_LINE);
    head(output, &entry.id, &format!("{kind}{pinned}"), entry.at)?;
    writeln!(output, "{STRONG}{}{STRONG:#}", one_line(&entry.title))?;
    let detail = &entry.detail;
    field(output, "about", &detail.subtitle)?;
    block(output, &detail.narrative)?;
    list(output, "fact", &detail.facts)?;
    list(output, "command", &detail.commands)?;
    list(output, "failed", &detail.failed)?;
    field(output, "outcome", &detail.outcome)?;
    let files = |is_changed: bool| {
        let files = entry.files.iter().filter(|file| file.is_changed == is_changed);
        files.map(|file| file.path.clone()).collect::<Vec<_>>()
    };
    list(output, "changed", &files(true))?;
    list(output, "read", &files(false))?;
    field(output, "concepts", &detail.concepts.join(", "))?;
    if let Some(by) = &entry.replaced_by {
        let title = origin.replaced_by.as_deref().unwrap_or_default();
        field(output, "replaced by", &format!("{by} {title}"))?;
    }
    for (id, title) in &origin.replaces {
        field(output, "replaces", &format!("{id} {title}"))?;
    }
    provenance(output, entry.source, entry.detail.by == "model", entry.branch.as_deref(), origin)
}

fn write_summary(output: &mut impl Write, summary: &Summary, origin: &Origin) -> Result<()> {
    head(output, &summary.id, "summary", summary.at)?;
    for (name, text) in [
        ("request", &summary.request),
        ("investigated", &summary.investigated),
        ("learned", &summary.learned),
        ("completed", &summary.completed),
        ("next steps", &summary.next_steps),
        ("notes", &summary.notes),
    ] {
        field(output, name, text)?;
    }
    list(output, "changed", &summary.files_edited)?;
    list(output, "read", &summary.files_read)?;
    provenance(output, summary.source, false, None, origin)
}

fn head(output: &mut impl Write, id: &str, what: &str, at: u64) -> Result<()> {
    // Lessons have no time.
    let when = (at > 0).then(|| format!(", {}", when::recorded(at)));
    Ok(writeln!(output, "{STRONG}{id}{STRONG:#}  {what}{}", when.unwrap_or_default())?)
}

/// Writes where something comes from: the prompt, the session and the project.
fn provenance(
    output: &mut impl Write,
    source: Source,
    is_by_model: bool,
    branch: Option<&str>,
    origin: &Origin,
) -> Result<()> {
    if let Some((number, text)) = &origin.prompt {
        // A prompt may be a whole log; it has an id of its own.
        field(output, &format!("prompt {number}"), &one_line(text))?;
    }
    let from = match (source, is_by_model) {
        (Source::Rules, _) => "the calls of its turn",
        (Source::ByHand, false) => "a person, by hand",
        (Source::ByHand, true) => "the model, by `wyren remember`",
        (Source::Model, _) => "a model",
        (Source::ClaudeMem, _) => "claude-mem",
    };
    field(output, "source", from)?;
    let author = origin.author.iter().map(|author| format!("by {author}"));
    let branch = branch.map(|branch| format!("on branch {branch}"));
    let project = Some(format!("in {}", projects::name(&origin.project)));
    let title = origin.session_title.iter().map(|title| format!("“{}”", one_line(title)));
    let about: Vec<String> = title.chain(author).chain(branch).chain(project).collect();
    field(output, "session", &about.join(", "))
}

fn one_line(text: &str) -> String {
    sanitize::one_line(text, MAX_LINE)
}

/// Writes a text behind its name, whole. Lines of it after the first are indented: none of them can be taken for a field.
fn field(output: &mut impl Write, name: &str, text: &str) -> Result<()> {
    let text = sanitize::sanitize(text);
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return Ok(()) };
    writeln!(output, "{DIM}{name}:{DIM:#} {}", first.trim_start())?;
    lines.try_for_each(|line| Ok(writeln!(output, "  {line}")?))
}

fn list(output: &mut impl Write, name: &str, items: &[String]) -> Result<()> {
    items.iter().try_for_each(|item| field(output, name, item))
}

/// Writes a text with its lines, indented: none of them can be taken for a field.
fn block(output: &mut impl Write, text: &str) -> Result<()> {
    for line in sanitize::sanitize(text.trim_end()).lines() {
        writeln!(output, "{}", format!("  {line}").trim_end())?;
    }
    Ok(())
}
