//! `wyren lessons compile`: rebuilds the index of one source of lessons, for a hook that found it out of date.

use crate::terminal;
use anyhow::{Context as _, Result};
use base::Paths;
use clap::Args;
use lessons::layers::{self, Layer, Source};
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_parser = super::layer)]
    layer: Layer,
    /// The folder of the lessons, or the manifest.
    place: PathBuf,
}

/// Prints what was left out, for the hook's log.
pub(super) fn run(arguments: Arguments, paths: &Paths) -> Result<()> {
    let Arguments { layer, place } = arguments;
    let source = Source::at(paths, layer, place);
    let left_out = layers::compile(&source).context("could not write the index")?;
    if let Some(left_out) = left_out {
        writeln!(terminal::output(), "{left_out}")?;
    }
    Ok(())
}
