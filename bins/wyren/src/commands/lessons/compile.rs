//! `wyren lessons compile`: rebuilds the index of one source of lessons, for a hook that found it out of date.

use anyhow::Result;
use base::log::Level;
use base::{Env, Paths};
use clap::Args;
use hook::Host;
use lessons::layers::{self, Layer, Source};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_parser = super::layer)]
    layer: Layer,
    /// The folder of the lessons, or the manifest.
    place: PathBuf,
}

/// Logs what was left out and what failed: the hook takes no output.
pub(super) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let Arguments { layer, place } = arguments;
    let host = Host::new("lesson-inject", env.clone());
    let log = |message: &str| host.log(Level::Warn, message);
    match layers::compile(&Source::at(paths, layer, place)) {
        Ok(left_out) => {
            left_out.as_deref().inspect(|left_out| log(left_out));
            Ok(())
        }
        Err(error) => {
            log(&format!("could not write the index of the lessons: {error}"));
            Err(error.into())
        }
    }
}
