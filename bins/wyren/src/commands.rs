//! One file per command.

mod config;
mod log;

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
  wyren log --hooks --follow          watch what the hooks do
  wyren config                        every setting, its value and where it came from
  wyren config set log.level warn     log less";

#[derive(Subcommand)]
enum Command {
    /// Show or change settings.
    Config(config::Arguments),
    /// Show what the hooks did.
    Log(log::Arguments),
}

/// Runs the command that was asked for.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let env = Env::process();
    let paths = Paths::of(&env);
    // A file that was edited by hand reaches the hooks with the next command.
    let _ = base::config::flatten_for_hooks(&paths);
    match arguments.command {
        Command::Config(arguments) => config::run(arguments, &env, &paths),
        Command::Log(arguments) => log::run(&arguments, &paths),
    }
}
