//! `wyren lessons list`, `show` and `search`.

use super::{kind, layer, shown};
use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, WARNING, counted};
use anstyle::Style;
use anyhow::Result;
use clap::Args;
use lessons::format::Flaw;
use lessons::layers::Layer;
use lessons::{Kind, Lesson};
use lessons_admin::catalogue::{Catalogue, Item, Places, State};
use lessons_admin::json;
use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren lessons list                            the active lessons
  wyren lessons list --kind guard --layer project
  wyren lessons list --tag tool:git --json
  wyren lessons list --all                      also disabled, archived and candidate lessons";

#[derive(Args, Default)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    /// Only these kinds, separated by commas: hint, pause, guard, directive, protocol.
    #[arg(long, value_parser = kind, value_delimiter = ',')]
    kind: Vec<Kind>,
    /// Only this layer: shipped, personal, project, manifest.
    #[arg(long, value_parser = layer)]
    layer: Option<Layer>,
    /// Only lessons with this tag, or with a tag of this category.
    #[arg(long)]
    tag: Option<String>,
    /// Only lessons of this pack.
    #[arg(long, value_name = "NAME")]
    pack: Option<String>,
    /// Include disabled, archived and candidate lessons.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Show {
    /// The lesson's name, as listed.
    slug: String,
    /// Which one, when layers share the name.
    #[arg(long, value_parser = layer)]
    layer: Option<Layer>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Search {
    /// Words that must all occur.
    #[arg(required = true)]
    words: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How many files that are left out are named.
const NAMED: usize = 5;

pub(super) fn list(arguments: &List, places: &Places) -> Result<()> {
    let catalogue = Catalogue::read(places);
    let has_tag = |lesson: &Lesson| {
        let fits = |wanted: &String| {
            let is_it = |tag: &String| {
                tag == wanted || tag.split_once(':').is_some_and(|(category, _)| category == wanted)
            };
            lesson.tags.iter().any(is_it)
        };
        arguments.tag.as_ref().is_none_or(fits)
    };
    let is_wanted = |item: &&Item| {
        (arguments.all || item.state == State::Active)
            && (arguments.kind.is_empty() || arguments.kind.contains(&item.lesson.kind))
            && arguments.layer.is_none_or(|layer| layer == item.layer)
            && has_tag(&item.lesson)
            && (arguments.pack.is_none() || arguments.pack == item.lesson.pack)
    };
    let items: Vec<&Item> = catalogue.items.iter().filter(is_wanted).collect();
    write_items(&items, arguments.json)?;
    let (manifest, files): (Vec<_>, Vec<_>) =
        catalogue.flaws.iter().partition(|(layer, ..)| *layer == Layer::Manifest);
    write_left_out(&files, |count| format!("{} left out", counted(count, "file", "files")))?;
    write_left_out(&manifest, |count| {
        let lessons = counted(count, "lesson", "lessons");
        format!("{lessons} of the manifest left out in whole or in part")
    })
}

/// Names what could not be read as a whole.
fn write_left_out(flaws: &[&(Layer, PathBuf, Flaw)], heading: impl Fn(usize) -> String) -> Result<()> {
    let name = |(_, file, _): &&(Layer, PathBuf, Flaw)| {
        shown(&file.file_name().unwrap_or_default().to_string_lossy())
    };
    let mut names: Vec<String> = flaws.iter().map(name).collect();
    names.dedup();
    if names.is_empty() {
        return Ok(());
    }
    let (heading, more) = (heading(names.len()), if names.len() > NAMED { ", …" } else { "" });
    names.truncate(NAMED);
    writeln!(
        terminal::errors(),
        "{WARNING}{heading}{WARNING:#}: {}{more}: see `wyren lessons doctor`",
        names.join(", ")
    )?;
    Ok(())
}

pub(super) fn search(arguments: &Search, places: &Places) -> Result<()> {
    let catalogue = Catalogue::read(places);
    write_items(&catalogue.search(&arguments.words.join(" ")), arguments.json)
}

fn write_items(items: &[&Item], json: bool) -> Result<()> {
    let mut output = terminal::output();
    if json {
        let items: Vec<Value> = items.iter().map(|item| json::item(item)).collect();
        writeln!(output, "{:#}", Value::from(items))?;
        return Ok(());
    }
    if items.is_empty() {
        writeln!(terminal::errors(), "No matching lessons.")?;
        return Ok(());
    }
    let has_states = items.iter().any(|item| item.state != State::Active);
    let mut titles = vec!["lesson", "kind", "priority", "layer"];
    titles.extend(has_states.then_some("state"));
    titles.push("what goes wrong");
    let mut rows: Vec<Vec<Cell>> = vec![titles.into_iter().map(|title| (title.to_owned(), DIM)).collect()];
    for item in items {
        let style = if item.state == State::Active { Style::new() } else { DIM };
        let mut row = vec![
            (shown(&item.lesson.slug), if item.state == State::Active { STRONG } else { DIM }),
            (item.lesson.kind.to_string(), kind_style(item.lesson.kind)),
            (item.lesson.priority.to_string(), style),
            (layer_name(item), DIM),
        ];
        if has_states {
            row.push((item.state.name().to_owned(), DIM));
        }
        row.push((shown(&item.lesson.summary), style));
        rows.push(row);
    }
    terminal::write_table(&mut output, &rows)?;
    Ok(())
}

fn layer_name(item: &Item) -> String {
    let refuses = matches!(item.lesson.kind, Kind::Guard | Kind::Pause);
    let mark = if refuses && !item.is_trusted { " (untrusted)" } else { "" };
    format!("{}{mark}", item.layer.name())
}

pub(super) fn kind_style(kind: Kind) -> Style {
    match kind {
        Kind::Guard => FAILURE,
        Kind::Pause => WARNING,
        _ => Style::new(),
    }
}

pub(super) fn show(arguments: &Show, places: &Places) -> Result<()> {
    let catalogue = Catalogue::read(places);
    let item = catalogue.find(&arguments.slug, arguments.layer)?;
    let mut output = terminal::output();
    if arguments.json {
        writeln!(output, "{:#}", json::item(item))?;
        return Ok(());
    }
    let lesson = &item.lesson;
    writeln!(output, "{STRONG}{}{STRONG:#}  {}", shown(&lesson.slug), shown(&lesson.summary))?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            rows.push(vec![(name.to_owned(), DIM), (sanitize::one_line(value, 400), Style::new())]);
        }
    };
    let style = kind_style(lesson.kind);
    writeln!(
        output,
        "{style}{}{style:#}, {}, from the {} lessons",
        lesson.kind,
        item.state.name(),
        layer_name(item)
    )?;
    row("priority", &lesson.priority.to_string());
    row("confidence", &format!("{:.2}", f64::from(lesson.confidence) / 100.0));
    let trigger = &lesson.trigger;
    row("tools", &trigger.tools.join(", "));
    let fields = [
        ("command", &trigger.commands),
        ("without", &trigger.without),
        ("with", &trigger.with),
        ("writes", &trigger.writes),
        ("sql", &trigger.sql),
        ("piped to", &trigger.piped_to),
        ("match", &trigger.matches),
        ("raw", &trigger.raw),
        ("path", &trigger.paths),
        ("content", &trigger.content),
    ];
    for (name, values) in fields {
        values.iter().for_each(|value| row(name, value));
    }
    trigger.inputs.iter().for_each(|(field, expression)| row(&format!("input {field}"), expression));
    row("instead", lesson.instead.as_deref().unwrap_or_default());
    row("scope", lesson.scope.as_deref().unwrap_or_default());
    row("tags", &lesson.tags.join(", "));
    row("pack", lesson.pack.as_deref().unwrap_or_default());
    row("source", &lesson.source);
    lesson.fires.iter().for_each(|example| row("fires", example));
    lesson.quiet.iter().for_each(|example| row("quiet", example));
    lesson.extra.iter().for_each(|(field, value)| row(field, value));
    row("file", &item.file.to_string_lossy());
    terminal::write_table(&mut output, &rows)?;
    for (heading, text) in [("What goes wrong", &lesson.problem), ("What to do", &lesson.solution)] {
        writeln!(output, "\n{STRONG}{heading}{STRONG:#}\n{}", sanitize::sanitize(text))?;
    }
    Ok(())
}
