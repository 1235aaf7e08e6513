//! One file per command.

mod broadcast;
mod capture;
mod completions;
mod config;
mod distill;
mod doctor;
mod edit;
mod export;
mod file_suggest;
mod forget;
mod groups;
mod handoff;
mod import;
mod init;
mod install;
mod jobs;
mod lessons;
mod log;
mod mcp;
mod memory;
mod migrate;
mod pin;
mod recap;
mod remember;
mod repair;
mod search;
pub(crate) mod serve;
mod show;
mod spend;
mod status;
mod statusline;
mod sync;
mod timeline;
mod trust;
mod uninstall;
mod update;
mod version;
mod why;
mod work;
mod worker;

pub(crate) use groups::program;

use crate::similar;
use crate::terminal::Styled;
use anyhow::Result;
use base::{Env, Paths};
use clap::{ArgAction, ArgMatches, Args, FromArgMatches, Parser, Subcommand};
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::PathBuf;

/// A memory for Claude Code that a whole team shares.
#[derive(Parser)]
#[command(name = "wyren", version, disable_version_flag = true, override_usage = "wyren <command>", after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Claude Code's folder, for its settings and plugins [default: ~/.claude].
    #[arg(long, global = true, hide = true, value_name = "FOLDER")]
    home: Option<PathBuf>,
    /// Print the version.
    #[arg(long, short = 'v', short_alias = 'V', action = ArgAction::Version)]
    version: Option<bool>,
}

const EXAMPLES: &str = "\
Examples:
  wyren init                          start a team memory, or join the existing one
  wyren status                        the state of everything, on one screen
  wyren memory                        print the team memory
  wyren remember 'Cents, not floats'  keep a note for later sessions on this machine
  wyren doctor                        check the installation and suggest fixes
  wyren lessons test 'git push -f'    show which lessons a command triggers, and why
  wyren why src/auth.rs:42            the prompt, the edit and the commit behind a line
  wyren search rounding prices        everything that is remembered, found by its words
  wyren work                          the pieces of work that are open here
  wyren recap                         what was done, decided, learned and left open
  wyren log --hooks --follow          follow the hook log
  wyren config                        list every setting, its value and its source
  wyren config set log.level warn     log less";

#[derive(Subcommand)]
enum Command {
    /// Share a skill with every session of the team.
    BroadcastSkill(broadcast::Arguments),
    /// Stop or resume recording in a project.
    Capture(capture::Arguments),
    /// Print a script that completes commands in your shell.
    Completions(completions::Arguments),
    /// Show or change settings.
    Config(config::Arguments),
    /// Distill a session into the team memory.
    Distill(distill::Arguments),
    /// Check the installation and suggest fixes.
    #[command(alias = "verify")]
    Doctor(doctor::Arguments),
    /// Change the title, type or text of an entry.
    Edit(edit::Arguments),
    /// Write all recorded observations as JSON lines.
    Export(export::Arguments),
    /// Print the files that Claude Code suggests after `@`.
    FileSuggest(file_suggest::Arguments),
    /// Delete recorded observations permanently.
    Forget(forget::Arguments),
    /// Leave what the next session must know, and go on from it.
    Handoff(handoff::Arguments),
    /// Import the output of `wyren export`, claude-mem's records or transcripts.
    Import(import::Arguments),
    /// Start a team memory, or join the existing one.
    Init(init::Arguments),
    /// Install Wyren into Claude Code or another agent.
    Install(install::Arguments),
    /// Show background jobs; retry or drop failed ones.
    Jobs(jobs::Arguments),
    /// Manage lessons: list, test, add, edit, import and more.
    Lessons(lessons::Arguments),
    /// Show the log of the team memory or of the hooks, or the texts that hooks emitted.
    Log(log::Arguments),
    /// Answer the model's questions over MCP, on standard input and output.
    #[command(hide = true)]
    Mcp(mcp::Arguments),
    /// Show, compare, search and edit the team memory.
    Memory(memory::Arguments),
    /// Move from an earlier system: its records, settings and hooks.
    Migrate(migrate::Arguments),
    /// Keep entries in the index at a session's start, whatever their age.
    Pin(pin::Arguments),
    /// Tell what was done, decided, found out and left open.
    Recap(recap::Arguments),
    /// Keep a note in the journal of this machine.
    Remember(remember::Arguments),
    /// Check the database, and repair it if it is damaged.
    Repair(repair::Arguments),
    /// Search everything that is remembered.
    Search(search::Arguments),
    /// Answer other programs over HTTP, on this machine only, as claude-mem's worker does.
    Serve(serve::Arguments),
    /// Show what is remembered, whole, by its id.
    Show(show::Arguments),
    /// Show the cost of model calls and today's remaining budget.
    Spend(spend::Arguments),
    /// Show memory, journal, work, lessons, spending, what waits for you and health, on one screen.
    Status(status::Arguments),
    /// Print the setting for the status line of Claude Code.
    Statusline(statusline::Arguments),
    /// Publish local changes to the team memory and fetch those of others.
    Sync(sync::Arguments),
    /// Show what happened before and after something.
    Timeline(timeline::Arguments),
    /// Trust this project: its guards and pauses may refuse calls, its skills are followed.
    Trust(trust::Arguments),
    /// Stop broadcasting a skill, for the whole team.
    Unbroadcast(broadcast::Unbroadcast),
    /// Take Wyren out of Claude Code and other agents.
    Uninstall(uninstall::Arguments),
    /// Stop keeping entries in the index.
    Unpin(pin::Arguments),
    /// Stop trusting a project.
    Untrust(trust::Untrust),
    /// Update Wyren.
    Update(update::Arguments),
    /// Show the version, and where everything is.
    Version(version::Arguments),
    /// Show which prompt, edit, session and commit a line of code is from.
    Why(why::Arguments),
    /// Show and change contexts, the pieces of work that outlive sessions.
    Work(work::Arguments),
    /// Show, run or stop the background worker.
    Worker(worker::Arguments),
    #[command(external_subcommand)]
    Unknown(Vec<OsString>),
}

impl Command {
    /// Returns whether a person may read what it prints; hooks start the others. `doctor` reports by itself.
    fn is_for_a_person(&self) -> bool {
        match self {
            Self::Sync(arguments) => !arguments.is_of_a_hook(),
            Self::Lessons(arguments) => !arguments.is_of_a_hook(),
            Self::Handoff(arguments) => !arguments.is_of_a_hook(),
            Self::Work(arguments) => !arguments.is_of_a_hook(),
            Self::Statusline(arguments) => !arguments.is_of_the_line(),
            Self::Serve(arguments) => arguments.is_for_a_person(),
            Self::Doctor(_) | Self::FileSuggest(_) | Self::Mcp(_) | Self::Worker(_) => false,
            _ => true,
        }
    }

    /// Returns whether it neither drains nor syncs, and makes no file of its own accord.
    fn only_looks(&self) -> bool {
        match self {
            Self::Doctor(arguments) => !arguments.is_to_fix(),
            Self::Lessons(arguments) => arguments.is_of_a_hook(),
            Self::Work(arguments) => arguments.is_of_a_hook(),
            Self::Serve(arguments) => !arguments.is_for_a_person(),
            Self::Capture(_)
            | Self::Completions(_)
            | Self::Config(_)
            | Self::FileSuggest(_)
            | Self::Install(_)
            | Self::Mcp(_)
            | Self::Migrate(_)
            | Self::Spend(_)
            | Self::Status(_)
            | Self::Statusline(_)
            | Self::Uninstall(_)
            | Self::Unknown(_)
            | Self::Update(_)
            | Self::Version(_) => true,
            _ => false,
        }
    }
}

impl Arguments {
    /// Reads the arguments of a call. To make the list of all commands takes as long as a search does, so a command of
    /// [`QUICK`] is read by itself; every call for help and every mistake is answered with the whole list.
    pub(crate) fn read(words: &[OsString]) -> Self {
        Self::read_quick(words).unwrap_or_else(|| {
            let is_help = words.iter().any(|word| HELP.iter().any(|help| word == help));
            let program = if is_help { groups::program_to_show() } else { program() };
            let given = program.get_matches_from(words);
            Self::from_arg_matches(&given).unwrap_or_else(|error| error.exit())
        })
    }

    fn read_quick(words: &[OsString]) -> Option<Self> {
        let (name, augment, make) = quick(words)?;
        let program = clap::Command::new("wyren").subcommand(augment(clap::Command::new(*name)));
        let matches = program.try_get_matches_from(words).ok()?;
        let command = make(matches.subcommand_matches(name)?).ok()?;
        Some(Self { command: Some(command), home: None, version: None })
    }
}

/// What asks for help.
const HELP: [&str; 3] = ["--help", "-h", "help"];

/// What makes the arguments of a command, and the command from what was given.
type Quick =
    (&'static str, fn(clap::Command) -> clap::Command, fn(&ArgMatches) -> clap::error::Result<Command>);

/// The commands that are asked most often, or that the client waits for.
const QUICK: [Quick; 4] = [
    ("file-suggest", file_suggest::Arguments::augment_args, |given| {
        file_suggest::Arguments::from_arg_matches(given).map(Command::FileSuggest)
    }),
    ("search", search::Arguments::augment_args, |given| {
        search::Arguments::from_arg_matches(given).map(Command::Search)
    }),
    ("show", show::Arguments::augment_args, |given| {
        show::Arguments::from_arg_matches(given).map(Command::Show)
    }),
    ("timeline", timeline::Arguments::augment_args, |given| {
        timeline::Arguments::from_arg_matches(given).map(Command::Timeline)
    }),
];

fn quick(words: &[OsString]) -> Option<&'static Quick> {
    let named = words.get(1)?;
    QUICK.iter().find(|(name, ..)| named == OsStr::new(name))
}

/// Returns whether a call is of a command that ends within milliseconds.
pub(crate) fn is_quick(words: &[OsString]) -> bool {
    quick(words).is_some()
}

/// What `prompt-bind` runs.
pub(crate) const FOR_PROMPT: [&str; 2] = ["work", "bind"];

/// Runs [`FOR_PROMPT`].
pub(crate) fn run_for_prompt() -> Result<()> {
    let env = Env::process();
    work::bind(&env, &Paths::of(&env))
}

/// What `wyren-mcp` runs.
pub(crate) const FOR_MODEL: [&str; 1] = ["mcp"];

/// Runs [`FOR_MODEL`].
pub(crate) fn run_for_model() -> Result<()> {
    let env = Env::process();
    let paths = Paths::of(&env);
    mcp::run(env, paths)
}

pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let env = Env::process();
    let mut paths = Paths::of(&env);
    if let Some(folder) = client_folder(arguments.home, &env) {
        paths = paths.with_client(std::path::absolute(folder)?);
    }
    // Hooks see a config file edited by hand from the next command on.
    let _ = ::config::flatten_for_hooks(&paths);
    let Some(command) = arguments.command else {
        let help = Styled(groups::program_to_show().render_help().ansi().to_string());
        return Ok(write!(crate::terminal::output(), "{help}")?);
    };
    if !command.only_looks() {
        // Before anything is drained or synced; a failure leaves it to the next command.
        let _ = store::known::note(&paths);
    }
    if command.is_for_a_person() {
        // About the client, not about the command: it must not fail for it.
        let _ = crate::wired::warn_of_gone_plugin(&env, &paths);
    }
    match command {
        Command::BroadcastSkill(arguments) => broadcast::run(&arguments, &env),
        Command::Capture(arguments) => capture::run(&arguments, &env, &paths),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Config(arguments) => config::run(arguments, &env, &paths),
        Command::Distill(arguments) => distill::run(&arguments, &env, &paths),
        Command::Doctor(arguments) => doctor::run(&arguments, &env, &paths),
        Command::Edit(arguments) => edit::run(&arguments, &env, &paths),
        Command::Export(arguments) => export::run(&arguments, &env, &paths),
        Command::FileSuggest(_) => file_suggest::run(&env, &paths),
        Command::Forget(arguments) => forget::run(arguments, &env, &paths),
        Command::Handoff(arguments) => handoff::run(&arguments, &env, &paths),
        Command::Import(arguments) => import::run(&arguments, &env, &paths),
        Command::Init(arguments) => init::run(&arguments, &env, &paths),
        Command::Install(arguments) => install::run(&arguments, &env, &paths),
        Command::Jobs(arguments) => jobs::run(arguments, &env, &paths),
        Command::Lessons(arguments) => lessons::run(arguments, &env, &paths),
        Command::Log(arguments) => log::run(&arguments, &env, &paths),
        Command::Mcp(_) => mcp::run(env, paths),
        Command::Memory(arguments) => memory::run(arguments, &env, &paths),
        Command::Migrate(arguments) => migrate::run(&arguments, &env, &paths),
        Command::Pin(arguments) => pin::run(&arguments, true, &env, &paths),
        Command::Recap(arguments) => recap::run(&arguments, &env, &paths),
        Command::Remember(arguments) => remember::run(&arguments, &env, &paths),
        Command::Repair(arguments) => repair::run(&arguments, &env, &paths),
        Command::Search(arguments) => search::run(&arguments, &env, &paths),
        Command::Serve(arguments) => serve::run(&arguments, &env, &paths),
        Command::Show(arguments) => show::run(&arguments, &env, &paths),
        Command::Spend(arguments) => spend::run(&arguments, &env, &paths),
        Command::Status(arguments) => status::run(&arguments, &env, &paths),
        Command::Statusline(arguments) => statusline::run(&arguments, &env, &paths),
        Command::Sync(arguments) => sync::run(&arguments, &env, &paths),
        Command::Timeline(arguments) => timeline::run(&arguments, &env, &paths),
        Command::Trust(arguments) => trust::run(&arguments, &env, &paths),
        Command::Unbroadcast(arguments) => broadcast::unbroadcast(&arguments, &env),
        Command::Uninstall(arguments) => uninstall::run(&arguments, &env, &paths),
        Command::Unpin(arguments) => pin::run(&arguments, false, &env, &paths),
        Command::Untrust(arguments) => trust::untrust(&arguments, &env, &paths),
        Command::Update(arguments) => update::run(&arguments, &env, &paths),
        Command::Version(arguments) => version::run(&arguments, &env, &paths),
        Command::Why(arguments) => why::run(&arguments, &env, &paths),
        Command::Work(arguments) => work::run(arguments, &env, &paths),
        Command::Worker(arguments) => worker::run(arguments, &env, &paths),
        Command::Unknown(words) => Err(unknown(&words).into()),
    }
}

/// Returns the client's folder as a flag or a variable of the Node version names it.
fn client_folder(flag: Option<PathBuf>, env: &Env) -> Option<PathBuf> {
    let variable = |name: &str| env.get(name).map(PathBuf::from);
    let named = || variable("WYREN_HOME");
    // The client goes by its own variable.
    let of_client = || variable("CLAUDE_HOME").filter(|_| env.get("CLAUDE_CONFIG_DIR").is_none());
    flag.or_else(named).or_else(of_client)
}

fn unknown(words: &[OsString]) -> crate::exit::Ending {
    let word = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    let program = program();
    let names = program.get_subcommands().map(clap::Command::get_name);
    let meant = match &*similar::nearest(&word, names, 2) {
        [] => "`wyren --help` lists all commands".to_owned(),
        near => format!("did you mean '{}'?", near.join("' or '")),
    };
    let word = text::sanitize::one_line(&word, 60);
    crate::exit::Ending::misused(format!("wyren: unknown command '{word}'; {meant}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick(words: &[&str]) -> Option<Arguments> {
        Arguments::read_quick(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_read_by_itself_is_a_command_of_the_list() {
        let program = program();
        for (name, ..) in QUICK {
            assert!(program.find_subcommand(name).is_some(), "{name}");
        }
        assert!(matches!(
            quick(&["wyren", "search", "rounding", "--limit", "3"]).and_then(|read| read.command),
            Some(Command::Search(_))
        ));
    }

    #[test]
    fn help_and_mistakes_are_answered_with_the_whole_list() {
        for words in [
            &["wyren", "search", "--help"][..],
            &["wyren", "search", "--lmit", "3"],
            &["wyren"],
            &["wyren", "log"],
        ] {
            assert!(quick(words).is_none(), "{words:?}");
        }
        let with_home = ["wyren", "search", "rounding", "--home", "elsewhere"];
        assert!(quick(&with_home).is_none());
        assert!(Arguments::try_parse_from(with_home).is_ok_and(|read| read.home.is_some()));
    }
}
