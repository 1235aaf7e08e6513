//! One file per command.

mod broadcast;
mod config;
mod distill;
mod doctor;
mod export;
mod forget;
mod import;
mod init;
mod jobs;
mod lessons;
mod log;
mod memory;
mod repair;
mod spend;
mod status;
mod sync;
mod trust;
mod worker;

use anyhow::Result;
use base::{Env, Paths};
use clap::{ArgAction, CommandFactory as _, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write as _;

/// A memory that a whole team shares.
#[derive(Parser)]
#[command(name = "wyren", version, disable_version_flag = true, override_usage = "wyren <command>", after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the version.
    #[arg(long, short = 'v', short_alias = 'V', action = ArgAction::Version)]
    version: Option<bool>,
}

const EXAMPLES: &str = "\
Examples:
  wyren init                          start a memory that the team shares, or join the one it has
  wyren memory                        what the team remembers
  wyren doctor                        is everything well, and what to do if not
  wyren lessons test 'git push -f'    what would be said about a command, and why
  wyren log --hooks --follow          watch what the hooks do
  wyren config                        every setting, its value and where it came from
  wyren config set log.level warn     log less";

#[derive(Subcommand)]
enum Command {
    /// Tell every session of the team a skill.
    BroadcastSkill(broadcast::Arguments),
    /// Show or change settings.
    Config(config::Arguments),
    /// Distil a session into the team's memory, now.
    Distill(distill::Arguments),
    /// Check that everything works, and say what to do where it does not.
    Doctor(doctor::Arguments),
    /// Write everything that was recorded as JSON lines.
    Export(export::Arguments),
    /// Take recorded prompts and tool calls out again, for good.
    Forget(forget::Arguments),
    /// Take in what `wyren export` wrote.
    Import(import::Arguments),
    /// Start a team memory, or join the one that the team has.
    Init(init::Arguments),
    /// Show background jobs; retry or drop those that were given up.
    Jobs(jobs::Arguments),
    /// Look after lessons: list, test, add, edit, import and more.
    Lessons(lessons::Arguments),
    /// Show what happened to the team memory, what the hooks did, or what they told the model and you.
    Log(log::Arguments),
    /// Show, compare, search and change the team memory.
    Memory(memory::Arguments),
    /// Check the database, and repair it if it is damaged.
    Repair(repair::Arguments),
    /// Show what model calls cost, and what is left today.
    Spend(spend::Arguments),
    /// Show how the team memory stands.
    Status(status::Arguments),
    /// Publish the team memory, and get what the others have published.
    Sync(sync::Arguments),
    /// Let this project's guards and pauses refuse calls, and its skills be followed.
    Trust(trust::Arguments),
    /// Take a broadcast back, for everybody.
    Unbroadcast(broadcast::Unbroadcast),
    /// Take that back.
    Untrust(trust::Untrust),
    /// Show, run or stop the background worker.
    Worker(worker::Arguments),
    /// What is no command.
    #[command(external_subcommand)]
    Unknown(Vec<OsString>),
}

/// Runs the command that was asked for.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let env = Env::process();
    let paths = Paths::of(&env);
    // A file that was edited by hand reaches the hooks with the next command.
    let _ = ::config::flatten_for_hooks(&paths);
    let Some(command) = arguments.command else {
        return Ok(write!(crate::terminal::output(), "{}", Arguments::command().render_help().ansi())?);
    };
    match command {
        Command::BroadcastSkill(arguments) => broadcast::run(&arguments, &env),
        Command::Config(arguments) => config::run(arguments, &env, &paths),
        Command::Distill(arguments) => distill::run(&arguments, &env, &paths),
        Command::Doctor(arguments) => doctor::run(&arguments, &env, &paths),
        Command::Export(arguments) => export::run(&arguments, &env, &paths),
        Command::Forget(arguments) => forget::run(arguments, &env, &paths),
        Command::Import(arguments) => import::run(&arguments, &env, &paths),
        Command::Init(arguments) => init::run(&arguments, &env),
        Command::Jobs(arguments) => jobs::run(arguments, &env, &paths),
        Command::Lessons(arguments) => lessons::run(arguments, &env, &paths),
        Command::Log(arguments) => log::run(&arguments, &env, &paths),
        Command::Memory(arguments) => memory::run(arguments, &env, &paths),
        Command::Repair(arguments) => repair::run(&arguments, &env, &paths),
        Command::Spend(arguments) => spend::run(&arguments, &env, &paths),
        Command::Status(arguments) => status::run(&arguments, &env, &paths),
        Command::Sync(arguments) => sync::run(&arguments, &env, &paths),
        Command::Trust(arguments) => trust::run(&arguments, &env, &paths),
        Command::Unbroadcast(arguments) => broadcast::unbroadcast(&arguments, &env),
        Command::Untrust(arguments) => trust::untrust(&arguments, &env, &paths),
        Command::Worker(arguments) => worker::run(arguments, &env, &paths),
        Command::Unknown(words) => Err(unknown(&words).into()),
    }
}

/// Says that there is no such command, and which there are.
fn unknown(words: &[OsString]) -> crate::exit::Ending {
    let word = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    let word = text::sanitize::one_line(&word, 60);
    let help = Arguments::command().render_help();
    crate::exit::Ending::failed(format!("wyren: unknown command '{word}'\n\n{help}"))
}
