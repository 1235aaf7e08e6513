//! One file per command.

mod config;
mod doctor;
mod export;
mod forget;
mod import;
mod jobs;
mod lessons;
mod log;
mod spend;
mod trust;
mod worker;

use anyhow::Result;
use base::{Env, Paths};
use clap::{Parser, Subcommand};

/// A memory that a whole team shares.
#[derive(Parser)]
#[command(name = "wyren", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  wyren doctor                        is everything well, and what to do if not
  wyren lessons test 'git push -f'    what would be said about a command, and why
  wyren log --hooks --follow          watch what the hooks do
  wyren config                        every setting, its value and where it came from
  wyren config set log.level warn     log less";

#[derive(Subcommand)]
enum Command {
    /// Show or change settings.
    Config(config::Arguments),
    /// Check that everything works, and say what to do where it does not.
    Doctor(doctor::Arguments),
    /// Write everything that was recorded as JSON lines.
    Export(export::Arguments),
    /// Take recorded prompts and tool calls out again, for good.
    Forget(forget::Arguments),
    /// Take in what `wyren export` wrote.
    Import(import::Arguments),
    /// Show background jobs; retry or drop those that were given up.
    Jobs(jobs::Arguments),
    /// Look after lessons: list, test, add, edit, import and more.
    Lessons(lessons::Arguments),
    /// Show what the hooks did.
    Log(log::Arguments),
    /// Show what model calls cost, and what is left today.
    Spend(spend::Arguments),
    /// Let this project's guards and pauses refuse calls.
    Trust(trust::Arguments),
    /// Silence this project's guards and pauses again.
    Untrust(trust::Untrust),
    /// Show, run or stop the background worker.
    Worker(worker::Arguments),
}

/// Runs the command that was asked for.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let env = Env::process();
    let paths = Paths::of(&env);
    // A file that was edited by hand reaches the hooks with the next command.
    let _ = base::config::flatten_for_hooks(&paths);
    match arguments.command {
        Command::Config(arguments) => config::run(arguments, &env, &paths),
        Command::Doctor(arguments) => doctor::run(&arguments, &env, &paths),
        Command::Export(arguments) => export::run(&arguments, &env, &paths),
        Command::Forget(arguments) => forget::run(arguments, &env, &paths),
        Command::Import(arguments) => import::run(&arguments, &env, &paths),
        Command::Jobs(arguments) => jobs::run(arguments, &env, &paths),
        Command::Lessons(arguments) => lessons::run(arguments, &env, &paths),
        Command::Log(arguments) => log::run(&arguments, &paths),
        Command::Spend(arguments) => spend::run(&arguments, &env, &paths),
        Command::Trust(arguments) => trust::run(&arguments, &env, &paths),
        Command::Untrust(arguments) => trust::untrust(&arguments, &env, &paths),
        Command::Worker(arguments) => worker::run(arguments, &env, &paths),
    }
}
