//! `wyren lessons disable`, `enable`, `archive` and `restore`.

use super::{layer, packs, shown};
use crate::commands::sync::PATIENCE;
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, DIM, STRONG, Styled, WARNING};
use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use lessons::layers::Layer;
use lessons_admin::catalogue::{Catalogue, Item, Places, State};
use lessons_admin::change::Change;
use lessons_admin::intake;
use std::io::Write as _;
use std::time::Instant;
use team_sync::Share;
use team_sync::repository::Published;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The lesson's name, as listed; may be repeated.
    #[arg(required_unless_present = "ids")]
    slugs: Vec<String>,
    /// The same, as lessons-learned spells it.
    #[arg(long, hide = true, value_delimiter = ',', conflicts_with = "slugs")]
    ids: Vec<String>,
    /// Which one, when layers share the name.
    #[arg(long, value_parser = layer)]
    layer: Option<Layer>,
}

/// What is archived, and why.
#[derive(Args)]
pub(crate) struct Archive {
    #[command(flatten)]
    lessons: Arguments,
    /// Why; kept with the lesson.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// What `disable` and `enable` are about: lessons, or packs.
#[derive(Args)]
pub(crate) struct Switch {
    /// The lesson's name, as listed; may be repeated.
    #[arg(required_unless_present = "pack")]
    slugs: Vec<String>,
    /// Which one, when layers share the name.
    #[arg(long, value_parser = layer)]
    layer: Option<Layer>,
    /// A pack of shipped lessons, as `wyren lessons packs` lists them; may be repeated.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["slugs", "layer"])]
    pack: Vec<String>,
}

impl Switch {
    fn lessons(&self) -> Arguments {
        Arguments { slugs: self.slugs.clone(), ids: Vec::new(), layer: self.layer }
    }
}

pub(super) fn disable(arguments: &Switch, places: &Places) -> Result<()> {
    if !arguments.pack.is_empty() {
        return packs::switch(&arguments.pack, true, places);
    }
    let arguments = &arguments.lessons();
    each(arguments, places, State::Disabled, Change::disable, disabled).map(drop)
}

pub(super) fn enable(arguments: &Switch, places: &Places) -> Result<()> {
    if !arguments.pack.is_empty() {
        return packs::switch(&arguments.pack, false, places);
    }
    let arguments = &arguments.lessons();
    let items = each(arguments, places, State::Active, Change::enable, enabled)?;
    let mut errors = terminal::errors();
    for item in items.iter().filter(|item| item.state == State::Candidate) {
        // A candidate was never looked at: what keeps it from working is named now.
        for problem in intake::check(&item.lesson).iter().filter(|problem| problem.is_grave) {
            let slug = shown(&item.lesson.slug);
            writeln!(errors, "{WARNING}{slug}{WARNING:#}: {}: {}", problem.field, shown(&problem.reason))?;
        }
    }
    Ok(())
}

fn disabled(item: &Item) -> String {
    let (slug, layer) = (shown(&item.lesson.slug), item.layer.name());
    match item.layer {
        Layer::Personal => format!("Disabled {STRONG}{slug}{STRONG:#}."),
        _ => format!("Disabled {STRONG}{slug}{STRONG:#} {DIM}({layer}){DIM:#} for you."),
    }
}

fn enabled(item: &Item) -> String {
    let was = if item.state == State::Candidate { ", which was a candidate" } else { "" };
    format!("Enabled {STRONG}{}{STRONG:#}{was}.", shown(&item.lesson.slug))
}

pub(super) fn archive(arguments: &Archive, places: &Places) -> Result<()> {
    let reason = arguments.reason.as_deref();
    let act = |change: &mut Change<'_>, name: &str, layer: Option<Layer>| match change
        .archive(name, layer, reason)
    {
        // What was never at work is a candidate.
        Err(lessons_admin::Error::Unfit { .. }) => change.dismiss(name, layer, reason),
        archived => archived,
    };
    let archived = each(&arguments.lessons, places, State::Archived, act, |item| match item.layer {
        Layer::Personal | Layer::Project => {
            let slug = shown(&item.lesson.slug);
            format!("Archived {STRONG}{slug}{STRONG:#}. To restore it: wyren lessons restore {slug}")
        }
        Layer::Shipped | Layer::Manifest => {
            format!("{} Only personal and project lessons can be archived.", disabled(item))
        }
    })?;
    let is_shared = |item: &&Item| item.layer == Layer::Project && item.state != State::Candidate;
    let shared = archived.iter().filter(is_shared);
    let name = |item: &Item| Some(format!("lessons/{}", item.file.file_name()?.to_str()?));
    tell_others(&shared.filter_map(name).collect::<Vec<_>>(), places)
}

/// Removes lessons of the project for the whole team: what is only missing here comes back with the next sync.
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
    person::allow_publishing(&share, &places.env, "wyren lessons archive")?;
    let spinner = terminal::spinner("publishing");
    let synced = share.sync_without(paths, None, Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    match synced.context("could not remove it for the team")?.published {
        Published::Queued(reason) => Err(Ending::queued(format!("The team still has it: {reason}")).into()),
        _ => Ok(writeln!(terminal::output(), "{DIM}Removed for the whole team.{DIM:#}")?),
    }
}

pub(super) fn restore(arguments: &Arguments, places: &Places) -> Result<()> {
    each(arguments, places, State::Active, Change::restore, |item| match item.layer {
        Layer::Personal | Layer::Project => {
            format!("Restored {STRONG}{}{STRONG:#}.", shown(&item.lesson.slug))
        }
        Layer::Shipped | Layer::Manifest => enabled(item),
    })
    .map(drop)
}

/// Changes each lesson; `aim` is the state that it has afterwards.
fn each<'a>(
    arguments: &Arguments,
    places: &'a Places,
    aim: State,
    act: impl Fn(&mut Change<'a>, &str, Option<Layer>) -> lessons_admin::Result<Item>,
    message: impl Fn(&Item) -> String,
) -> Result<Vec<Item>> {
    let mut change = Change::begin(places)?;
    let mut output = terminal::output();
    let mut items = Vec::new();
    for slug in arguments.slugs.iter().chain(&arguments.ids) {
        let item = act(&mut change, slug, arguments.layer).map_err(|error| {
            let catalogue = Catalogue::read(places);
            let found = catalogue.find(slug, arguments.layer);
            match found.ok().filter(|item| item.state == aim) {
                Some(item) => anyhow!("{} is already {}", shown(&item.lesson.slug), aim.name()),
                None => error.into(),
            }
        })?;
        writeln!(output, "{}", Styled(message(&item)))?;
        items.push(item);
    }
    Ok(items)
}
