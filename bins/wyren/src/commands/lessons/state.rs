//! `wyren lessons disable`, `enable`, `archive` and `restore`.

use super::{layer, shown};
use crate::commands::sync::PATIENCE;
use crate::exit::Ending;
use crate::terminal::{self, DIM, STRONG};
use anyhow::{Context as _, Result};
use clap::Args;
use lessons::layers::Layer;
use lessons_admin::catalogue::{Item, Places};
use lessons_admin::change::Change;
use std::io::Write as _;
use std::time::Instant;
use team_sync::Share;
use team_sync::repository::Published;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The lesson's name, as listed; may be repeated.
    #[arg(required = true)]
    slugs: Vec<String>,
    /// Which one, when layers share the name.
    #[arg(long, value_parser = layer)]
    layer: Option<Layer>,
}

pub(super) fn disable(arguments: &Arguments, places: &Places) -> Result<()> {
    each(arguments, places, Change::disable, |item| match item.layer {
        Layer::Personal => "is silent from the next call on",
        _ => "is silent for you from the next call on",
    })
    .map(drop)
}

pub(super) fn enable(arguments: &Arguments, places: &Places) -> Result<()> {
    each(arguments, places, Change::enable, |_| "is at work again").map(drop)
}

pub(super) fn archive(arguments: &Arguments, places: &Places) -> Result<()> {
    let archived = each(arguments, places, Change::archive, |item| match item.layer {
        Layer::Personal | Layer::Project => "was put away; `wyren lessons restore` takes it back",
        Layer::Shipped | Layer::Manifest => "is not yours to put away, and is silent from the next call on",
    })?;
    let shared = archived.iter().filter(|item| item.layer == Layer::Project);
    let name = |item: &Item| Some(format!("lessons/{}", item.file.file_name()?.to_str()?));
    tell_others(&shared.filter_map(name).collect::<Vec<_>>(), places)
}

/// Removes lessons of the project for everybody: what is only missing here comes back with the next sync.
fn tell_others(paths: &[String], places: &Places) -> Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let share = match Share::open(&places.cwd, &places.env) {
        // Lessons need no team memory around them.
        Err(team_sync::Error::NotSetUp(_)) => return Ok(()),
        share => share?.insistent(),
    };
    if share.team().is_none_or(|team| team.remote().is_none()) {
        return Ok(());
    }
    let spinner = terminal::spinner("publishing");
    let synced = share.sync_without(paths, None, Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    match synced.context("the others still have it")?.published {
        Published::Queued(reason) => {
            Err(Ending::queued(format!("The others still have it: {reason}")).into())
        }
        _ => Ok(writeln!(terminal::output(), "{DIM}Nobody else has it any more.{DIM:#}")?),
    }
}

pub(super) fn restore(arguments: &Arguments, places: &Places) -> Result<()> {
    each(arguments, places, Change::restore, |_| "is at work again").map(drop)
}

fn each<'a>(
    arguments: &Arguments,
    places: &'a Places,
    act: impl Fn(&mut Change<'a>, &str, Option<Layer>) -> lessons_admin::Result<Item>,
    message: impl Fn(&Item) -> &'static str,
) -> Result<Vec<Item>> {
    let mut change = Change::begin(places)?;
    let mut output = terminal::output();
    let mut items = Vec::new();
    for slug in &arguments.slugs {
        let item = act(&mut change, slug, arguments.layer)?;
        let (slug, layer) = (shown(&item.lesson.slug), item.layer.name());
        writeln!(output, "{STRONG}{slug}{STRONG:#} {DIM}({layer}){DIM:#} {}", message(&item))?;
        items.push(item);
    }
    Ok(items)
}
