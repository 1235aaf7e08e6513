//! `wyren lessons`: manages lessons. One file per group of subcommands; `lessons_admin` does the work.

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
  wyren lessons list --kind guard             lessons that refuse calls
  wyren lessons test 'git push --force'       which lessons apply, and why
  wyren lessons add                           write a lesson by answering questions
  wyren lessons disable git-push-force        turn a lesson off
  wyren lessons import lessons.db             from lessons-learned
  wyren lessons doctor                        check all lessons";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the lessons that are active here.
    List(look::List),
    /// Show a lesson.
    Show(look::Show),
    /// Find lessons by words in their names, texts and tags.
    Search(look::Search),
    /// Show which lessons apply to a call, which nearly do, and why.
    Test(test::Arguments),
    /// Add a lesson: by flags, from JSON, or by answering questions.
    Add(Box<add::Arguments>),
    /// Edit a lesson, in your editor or with a patch.
    Edit(edit::Arguments),
    /// Turn a lesson off, from the next call on.
    Disable(state::Arguments),
    /// Turn a lesson on again.
    Enable(state::Arguments),
    /// Archive a lesson.
    Archive(state::Arguments),
    /// Restore an archived lesson.
    Restore(state::Arguments),
    /// Check the lessons for problems.
    Doctor(doctor::Arguments),
    /// Import lessons from lessons-learned, an export, or a folder.
    Import(transfer::Import),
    /// Export lessons as JSON, as a manifest for lessons-learned, or as files.
    Export(transfer::Export),
    /// Back up your own lessons.
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

/// Returns a folder that is used instead of the current one.
fn folder(path: PathBuf) -> Result<PathBuf> {
    use anyhow::Context as _;
    std::path::absolute(&path).with_context(|| format!("could not find {}", path.display()))
}
