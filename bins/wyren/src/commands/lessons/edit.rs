//! `wyren lessons edit`: changes a lesson, in an editor, by a patch or from a file.

use super::{layer, shown};
use crate::editor;
use crate::terminal::{self, STRONG, WARNING};
use anyhow::{Context as _, Result, bail};
use base::files;
use clap::Args;
use lessons::layers::Layer;
use lessons::{Lesson, format};
use lessons_admin::catalogue::{Catalogue, Item, Places, State};
use lessons_admin::change::{Change, Written};
use lessons_admin::{Error, json};
use serde_json::{Map, Value};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wyren lessons edit git-hooks-skipped                    in $VISUAL or $EDITOR
  wyren lessons edit git-hooks-skipped --patch '{\"priority\": 9, \"tags\": [\"tool:git\"]}'
  wyren lessons edit git-hooks-skipped --file draft.md    from a file in the lessons' format";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The lesson's name, as listed, or its id in lessons-learned.
    #[arg(required_unless_present = "id")]
    slug: Option<String>,
    /// The same, as lessons-learned spells it.
    #[arg(long, hide = true, conflicts_with = "slug")]
    id: Option<String>,
    /// Change these fields; null removes one.
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    patch: Option<String>,
    /// Take the whole lesson from this file.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Which one, when layers share the name.
    #[arg(long, value_parser = layer)]
    layer: Option<Layer>,
}

impl Arguments {
    pub(super) fn name(&self) -> &str {
        self.slug.as_deref().or(self.id.as_deref()).unwrap_or_default()
    }
}

pub(super) fn run(arguments: &Arguments, places: &Places) -> Result<()> {
    let item = Catalogue::read(places).find(arguments.name(), arguments.layer)?.clone();
    if let Some(patch) = &arguments.patch {
        let changes: Map<String, Value> =
            serde_json::from_str(patch).context("--patch: expected a JSON object of fields")?;
        let lesson = json::patch(&item.lesson, &changes).map_err(Error::Refused)?;
        return replace(places, &item, lesson);
    }
    if let Some(file) = &arguments.file {
        let text = files::read_text_capped(file, files::cap::LESSON)
            .with_context(|| format!("could not read {}", file.display()))?;
        let lesson =
            format::parse(&item.lesson.slug, &text).with_context(|| format!("{}", file.display()))?;
        return replace(places, &item, lesson);
    }
    in_editor(places, &item)
}

fn replace(places: &Places, item: &Item, lesson: Lesson) -> Result<()> {
    let mut change = Change::begin(places)?;
    // A change that was made in the meantime is kept.
    let (slug, layer) = (&item.lesson.slug, Some(item.layer));
    let present = change.catalogue.find_in(slug, layer, |state| state == item.state)?.clone();
    if present.lesson != item.lesson {
        bail!("{slug} was changed in the meantime; review it and try again");
    }
    let written = change.replace(&present, lesson)?;
    tell(&written, item)
}

fn tell(written: &Written, item: &Item) -> Result<()> {
    let mut errors = terminal::errors();
    for remark in &written.remarks {
        writeln!(errors, "{WARNING}{}{WARNING:#}: {}", remark.field, shown(&remark.reason))?;
    }
    let slug = shown(&written.slug);
    let mut output = terminal::output();
    if written.file == item.file {
        let state = if item.state == State::Active {
            String::new()
        } else {
            format!(" It is {}.", item.state.name())
        };
        writeln!(output, "Changed {STRONG}{slug}{STRONG:#}.{state}")?;
    } else {
        let layer = item.layer.name();
        writeln!(
            output,
            "Changed {STRONG}{slug}{STRONG:#}: it is yours now, and the {layer} one is disabled."
        )?;
    }
    Ok(())
}

fn in_editor(places: &Places, item: &Item) -> Result<()> {
    let Some(editor) = editor::of(&places.env) else {
        bail!("no editor: set $EDITOR, or use --patch or --file");
    };
    let before = format::render(&item.lesson);
    let draft = places.paths.cache().join("drafts").join(format!("{}.md", item.lesson.slug));
    files::write_atomic(&draft, before.as_bytes())
        .with_context(|| format!("could not write {}", draft.display()))?;
    editor::open(&editor, &draft)?;
    let text = files::read_text_followed(&draft, files::cap::LESSON)
        .with_context(|| format!("could not read {}", draft.display()))?;
    if text == before {
        let _ = fs::remove_file(&draft);
        writeln!(terminal::errors(), "Nothing was changed.")?;
        return Ok(());
    }
    let slug = &item.lesson.slug;
    let replaced = format::parse(slug, &text)
        .map_err(anyhow::Error::from)
        .and_then(|lesson| replace(places, item, lesson));
    match replaced {
        Ok(()) => {
            let _ = fs::remove_file(&draft);
            Ok(())
        }
        // The text is kept although it has a mistake.
        Err(error) => {
            let draft = draft.display();
            Err(error.context(format!(
                "the lesson was left as it is; your draft is {draft}: fix it and run `wyren lessons edit {slug} --file {draft}`"
            )))
        }
    }
}
