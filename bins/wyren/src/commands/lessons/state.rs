//! `wyren lessons disable`, `enable`, `archive` and `restore`.

use super::{layer, shown};
use crate::terminal::{self, DIM, STRONG};
use anyhow::Result;
use clap::Args;
use lessons::admin;
use lessons::admin::catalogue::{Item, Places};
use lessons::admin::change::Change;
use lessons::layers::Layer;
use std::io::Write as _;

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
}

pub(super) fn enable(arguments: &Arguments, places: &Places) -> Result<()> {
    each(arguments, places, Change::enable, |_| "is at work again")
}

pub(super) fn archive(arguments: &Arguments, places: &Places) -> Result<()> {
    each(arguments, places, Change::archive, |item| match item.layer {
        Layer::Personal | Layer::Project => "was put away; `wyren lessons restore` takes it back",
        Layer::Shipped | Layer::Manifest => "is not yours to put away, and is silent from the next call on",
    })
}

pub(super) fn restore(arguments: &Arguments, places: &Places) -> Result<()> {
    each(arguments, places, Change::restore, |_| "is at work again")
}

fn each<'a>(
    arguments: &Arguments,
    places: &'a Places,
    act: impl Fn(&mut Change<'a>, &str, Option<Layer>) -> admin::Result<Item>,
    message: impl Fn(&Item) -> &'static str,
) -> Result<()> {
    let mut change = Change::begin(places)?;
    let mut output = terminal::output();
    for slug in &arguments.slugs {
        let item = act(&mut change, slug, arguments.layer)?;
        let (slug, layer) = (shown(&item.lesson.slug), item.layer.name());
        writeln!(output, "{STRONG}{slug}{STRONG:#} {DIM}({layer}){DIM:#} {}", message(&item))?;
    }
    Ok(())
}
