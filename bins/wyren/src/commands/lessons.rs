//! `wyren lessons`: manages lessons. One file per group of subcommands; the logic is in `lessons_admin`.

mod add;
mod allow;
mod compile;
mod doctor;
mod draft;
mod edit;
mod look;
mod packs;
mod review;
mod scan;
mod share;
mod state;
mod stats;
mod test;
mod transfer;

use crate::person;
use anyhow::Result;
use base::{Env, Paths};
use clap::{Args, Subcommand};
use lessons::layers::Layer;
use lessons_admin::catalogue::Places;
use std::path::PathBuf;
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren lessons list --kind guard             list the lessons that refuse calls
  wyren lessons test 'git push --force'       show which lessons match, and why
  wyren lessons add                           write a lesson of your own, step by step
  wyren lessons allow rm-of-the-git-folder    let the call pass that it refused, once
  wyren lessons disable git-hooks-skipped     silence a lesson from the next call on
  wyren lessons disable --pack cloud          silence all shipped lessons of a pack
  wyren lessons import lessons.db             import from lessons-learned
  wyren lessons review                        decide about lessons that were found
  wyren lessons stats                         show which lessons help
  wyren lessons scan                          look for lessons in what happened
  wyren lessons doctor                        check all lessons";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// List the lessons active here.
    List(look::List),
    /// Show a lesson.
    Show(look::Show),
    /// Search names, texts and tags of lessons.
    Search(look::Search),
    /// Show which lessons match a call, which nearly do, and why.
    Test(test::Arguments),
    /// Add a lesson from flags, JSON or answers to questions.
    Add(Box<add::Arguments>),
    /// Edit a lesson in your editor or with a patch.
    Edit(edit::Arguments),
    /// Let calls of a session pass that a guard or pause refuses.
    Allow(allow::Arguments),
    /// List the packs of shipped lessons.
    Packs(packs::Arguments),
    /// Disable a lesson, or a pack of shipped lessons, from the next call on.
    Disable(state::Switch),
    /// Enable a disabled lesson, a candidate, or a pack of shipped lessons.
    Enable(state::Switch),
    /// Look at candidates one by one: promote, edit, merge, archive or skip each.
    Review(review::Review),
    /// Put candidates to work.
    Promote(review::Promote),
    /// Give a lesson the patterns and examples of a candidate, and archive that.
    Merge(review::Merge),
    /// Archive the candidates below a confidence.
    Purge(review::Purge),
    /// Look at many candidates in groups, the first time.
    Onboard(review::Onboard),
    /// Share a lesson of yours with everyone who works in this repository.
    Share(share::Arguments),
    /// Archive a lesson or a candidate.
    Archive(state::Archive),
    /// Restore an archived lesson.
    Restore(state::Arguments),
    /// Show whether lessons help: how often they were shown, heeded and overruled.
    Stats(stats::Arguments),
    /// Look for lessons in recorded calls and transcripts.
    Scan(scan::Arguments),
    /// Check all lessons for problems.
    Doctor(doctor::Arguments),
    /// Import lessons from lessons-learned, an export or a folder.
    Import(transfer::Import),
    /// Export lessons as JSON, a lessons-learned manifest or files.
    Export(transfer::Export),
    /// Back up your own lessons.
    Backup(transfer::Backup),
    /// Rebuild an index; started by hooks.
    #[command(hide = true)]
    Compile(compile::Arguments),
}

impl Action {
    /// Says whether it may weaken or silence a lesson: that is for a person to do.
    fn is_for_a_person(&self) -> bool {
        match self {
            Self::Edit(_) | Self::Disable(_) | Self::Archive(_) | Self::Merge(_) => true,
            Self::Purge(_) | Self::Onboard(_) | Self::Share(_) => true,
            Self::Review(arguments) => !arguments.is_a_look(),
            Self::Allow(arguments) => arguments.lifts(),
            Self::Import(arguments) => arguments.replaces(),
            _ => false,
        }
    }
}

impl Arguments {
    /// Returns whether a hook started it.
    pub(crate) fn is_of_a_hook(&self) -> bool {
        matches!(self.action, Some(Action::Compile(_)))
    }
}

pub(crate) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    if let Some(Action::Compile(arguments)) = arguments.action {
        return compile::run(arguments, env, paths);
    }
    let places = Places { paths: paths.clone(), cwd: std::env::current_dir()?, env: env.clone() };
    // Hooks see a lesson edited by hand from the next command on.
    for source in places.sources() {
        let _ = source.refresh();
    }
    let Some(action) = arguments.action else { return look::list(&look::List::default(), &places) };
    if action.is_for_a_person() {
        person::must_be_here(env)?;
    }
    match action {
        Action::Allow(arguments) => allow::run(&arguments, &places),
        Action::List(arguments) => look::list(&arguments, &places),
        Action::Show(arguments) => look::show(&arguments, &places),
        Action::Search(arguments) => look::search(&arguments, &places),
        Action::Test(arguments) => test::run(arguments, places),
        Action::Add(arguments) => add::run(*arguments, &places),
        Action::Edit(arguments) => edit::run(&arguments, &places),
        Action::Packs(arguments) => packs::run(&arguments, &places),
        Action::Disable(arguments) => state::disable(&arguments, &places),
        Action::Enable(arguments) => state::enable(&arguments, &places),
        Action::Review(arguments) => review::review(&arguments, &places),
        Action::Promote(arguments) => review::promote(&arguments, &places),
        Action::Merge(arguments) => review::merge(&arguments, &places),
        Action::Purge(arguments) => review::purge(&arguments, &places),
        Action::Onboard(arguments) => review::onboard(&arguments, &places),
        Action::Share(arguments) => share::run(&arguments, &places),
        Action::Archive(arguments) => state::archive(&arguments, &places),
        Action::Restore(arguments) => state::restore(&arguments, &places),
        Action::Stats(arguments) => stats::run(&arguments, &places),
        Action::Scan(arguments) => scan::run(&arguments, &places),
        Action::Doctor(arguments) => doctor::run(&arguments, &places),
        Action::Import(arguments) => transfer::import(&arguments, &places),
        Action::Export(arguments) => transfer::export(&arguments, &places),
        Action::Backup(arguments) => transfer::backup(&arguments, &places),
        Action::Compile(arguments) => compile::run(arguments, env, paths),
    }
}

fn layer(name: &str) -> Result<Layer, String> {
    let names = || Layer::ALL.map(Layer::name).join(", ");
    Layer::from_name(name).ok_or_else(|| format!("expected one of {}", names()))
}

fn kind(name: &str) -> Result<lessons::Kind, String> {
    let names = || lessons::Kind::ALL.map(lessons::Kind::name).join(", ");
    lessons::Kind::from_name(name).ok_or_else(|| format!("expected one of {}", names()))
}

/// Sanitises and shortens a text for a table.
fn shown(text: &str) -> String {
    sanitize::one_line(text, SHOWN_CHARS)
}

/// In characters.
const SHOWN_CHARS: usize = 100;

/// Returns the folder to use instead of the current one.
fn folder(path: PathBuf) -> Result<PathBuf> {
    use anyhow::Context as _;
    std::path::absolute(&path).with_context(|| format!("could not find {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Returns the names of lessons in a help text: what follows a command that takes one.
    fn slugs(help: &str) -> Vec<String> {
        let verbs = ["allow", "archive", "disable", "edit", "enable", "restore", "show"];
        let mut slugs = Vec::new();
        for line in help.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            for [command, verb, slug] in
                words.windows(3).filter_map(|window| <[&str; 3]>::try_from(window).ok())
            {
                if command == "lessons"
                    && verbs.contains(&verb)
                    && slug.contains('-')
                    && !slug.starts_with('-')
                {
                    slugs.push(slug.to_owned());
                }
            }
        }
        slugs
    }

    fn collect(command: &mut clap::Command, found: &mut Vec<String>) {
        found.extend(slugs(&command.render_long_help().to_string()));
        command.get_subcommands_mut().for_each(|below| collect(below, found));
    }

    #[test]
    fn c13_every_lesson_that_a_help_text_names_ships() {
        let mut found = Vec::new();
        collect(&mut crate::commands::program(), &mut found);
        assert!(found.len() >= 4, "{found:?}");
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../lessons"));
        for slug in found {
            assert!(folder.join(format!("{slug}.md")).exists(), "{slug}");
        }
    }
}
