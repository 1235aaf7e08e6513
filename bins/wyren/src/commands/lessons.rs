//! `wyren lessons`: looks after lessons. One file per group of subcommands; the thinking is in `lessons_admin`.

mod add;
mod doctor;
mod edit;
mod look;
mod state;
mod test;
mod transfer;

use anyhow::Result;
use base::{Env, Paths};
use clap::{Args, Subcommand};
use lessons::layers::Layer;
use lessons_admin::catalogue::Places;
use std::path::PathBuf;
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren lessons list --kind guard             what refuses calls
  wyren lessons test 'git push --force'       what would fire, and why
  wyren lessons add                           asks, and writes a lesson of your own
  wyren lessons disable git-push-force        silent from the next call on
  wyren lessons import lessons.db             from lessons-learned
  wyren lessons doctor                        what is wrong with the lessons";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the lessons that are at work here.
    List(look::List),
    /// Show a lesson.
    Show(look::Show),
    /// Find lessons by words in their names, texts and tags.
    Search(look::Search),
    /// Say what would fire for a call, what nearly would, and why.
    Test(test::Arguments),
    /// Add a lesson: by flags, from JSON, or by answering questions.
    Add(Box<add::Arguments>),
    /// Change a lesson, in your editor or by a patch.
    Edit(edit::Arguments),
    /// Switch a lesson off, from the next call on.
    Disable(state::Arguments),
    /// Switch a lesson on again.
    Enable(state::Arguments),
    /// Put a lesson away.
    Archive(state::Arguments),
    /// Take a lesson back that was put away.
    Restore(state::Arguments),
    /// Say what is wrong with the lessons.
    Doctor(doctor::Arguments),
    /// Take in lessons of lessons-learned, an export, or a folder.
    Import(transfer::Import),
    /// Write lessons as JSON, as a manifest of lessons-learned, or as files.
    Export(transfer::Export),
    /// Copy your own lessons aside.
    Backup(transfer::Backup),
}

pub(crate) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let places = Places { paths: paths.clone(), cwd: std::env::current_dir()?, env: env.clone() };
    // A lesson that was changed by hand reaches the hooks with the next command.
    for source in places.sources() {
        let _ = source.refresh();
    }
    match arguments.action {
        Action::List(arguments) => look::list(&arguments, &places),
        Action::Show(arguments) => look::show(&arguments, &places),
        Action::Search(arguments) => look::search(&arguments, &places),
        Action::Test(arguments) => test::run(arguments, places),
        Action::Add(arguments) => add::run(*arguments, &places),
        Action::Edit(arguments) => edit::run(&arguments, &places),
        Action::Disable(arguments) => state::disable(&arguments, &places),
        Action::Enable(arguments) => state::enable(&arguments, &places),
        Action::Archive(arguments) => state::archive(&arguments, &places),
        Action::Restore(arguments) => state::restore(&arguments, &places),
        Action::Doctor(arguments) => doctor::run(&arguments, &places),
        Action::Import(arguments) => transfer::import(&arguments, &places),
        Action::Export(arguments) => transfer::export(&arguments, &places),
        Action::Backup(arguments) => transfer::backup(&arguments, &places),
    }
}

/// Reads the name of a layer.
fn layer(name: &str) -> Result<Layer, String> {
    let names = || Layer::ALL.map(Layer::name).join(", ");
    Layer::from_name(name).ok_or_else(|| format!("expected one of {}", names()))
}

/// Reads the name of a kind.
fn kind(name: &str) -> Result<lessons::Kind, String> {
    let names = || lessons::Kind::ALL.map(lessons::Kind::name).join(", ");
    lessons::Kind::from_name(name).ok_or_else(|| format!("expected one of {}", names()))
}

/// Returns a text of others as it may be shown in a table.
fn shown(text: &str) -> String {
    sanitize::one_line(text, SHOWN_CHARS)
}

/// How much of a text a table shows.
const SHOWN_CHARS: usize = 100;

/// A folder to stand in for the one that the command is run in.
fn folder(path: PathBuf) -> Result<PathBuf> {
    use anyhow::Context as _;
    std::path::absolute(&path).with_context(|| format!("could not find {}", path.display()))
}
