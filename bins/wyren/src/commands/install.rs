//! `wyren install`: puts this machine's plugin into Claude Code, the hooks alone into its settings, or Wyren into another agent.

pub(super) mod agent;
mod manual;
pub(super) mod program;
pub(super) mod registry;
pub(super) mod server;
mod shown;

use super::update;
use super::version::VERSION;
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, DIM, SUCCESS, WARNING, counted};
use crate::wired::{self, Wiring};
use anyhow::{Context as _, Result, bail};
use base::lock::Lock;
use base::paths::with_tilde;
use base::{Env, Paths, Timestamp, files};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use install::agents::Agent;
use install::commands::{State, Which};
use install::record::{self, Wired};
use install::settings::file;
use install::settings::shown::Member;
use install::{commands, diff, jsonc, ours};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for another process that changes the client's files.
const PATIENCE: Duration = Duration::from_secs(10);

const EXAMPLES: &str = "\
Examples:
  wyren install                              install the plugin, and link wyren into ~/.local/bin
  wyren install --settings                   write the hooks into ~/.claude/settings.json
  wyren install --settings local             into .claude/settings.local.json of this project
  wyren install --settings --dry-run         show what would change
  wyren install --settings --print           print the hooks, to paste them yourself
  wyren install --from-local ~/src/wyren     install the plugin that a checkout has built
  wyren install --statusline                 show Wyren's status line; your own stays above it
  wyren install --file-suggest               suggest files after @ by name and recent work
  wyren install --agent codex                wire Codex; also gemini, cursor and opencode
  wyren uninstall                            take all of it back";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Write the hooks into a settings file instead of installing the plugin: ~/.claude/settings.json
    /// (user, if you name none), .claude/settings.json (project) or .claude/settings.local.json (local).
    #[arg(long, value_enum, value_name = "WHOSE", num_args = 0..=1, default_missing_value = "user")]
    settings: Option<Scope>,
    /// Print the hooks as a settings file has them, and change nothing.
    #[arg(long, requires = "settings", conflicts_with = "dry_run")]
    print: bool,
    /// Install the plugin in this folder, or the one that a checkout there has built [default: the plugin of this
    /// program].
    #[arg(long, value_name = "FOLDER")]
    from_local: Option<PathBuf>,
    /// Wire this agent instead of Claude Code.
    #[arg(long, value_parser = PossibleValuesParser::new(agent::names()), conflicts_with = "settings")]
    agent: Option<String>,
    /// Write Wyren's status line into a settings file, around the one that is there. Files as for --settings.
    #[arg(long, value_enum, value_name = "WHOSE", num_args = 0..=1, default_missing_value = "user", conflicts_with_all = ["settings", "agent"])]
    statusline: Option<Scope>,
    /// Have Claude Code ask Wyren for the files that it suggests after `@`. Files as for --settings.
    #[arg(long, value_enum, value_name = "WHOSE", num_args = 0..=1, default_missing_value = "user", conflicts_with_all = ["settings", "agent"])]
    file_suggest: Option<Scope>,
    /// With --agent: write into this project's files instead of yours.
    #[arg(long, requires = "agent")]
    project: bool,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

/// One of the client's settings files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Scope {
    User,
    Project,
    Local,
}

impl Scope {
    pub(super) const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// Returns the mode of the file where Wyren makes it. A project's is for everyone who works on it.
    pub(super) fn mode(self) -> u32 {
        if self == Self::Project { 0o644 } else { 0o600 }
    }
}

/// The client's files of the user, and of the project that they are in.
pub(super) struct Client {
    user: PathBuf,
    project: PathBuf,
    pub(super) around: ours::Surroundings,
}

impl Client {
    pub(super) fn of(env: &Env, paths: &Paths) -> Result<Self> {
        let user = paths.client().context("there is no home, so Claude Code has no settings")?;
        let cwd = std::env::current_dir().context("could not find the current folder")?;
        let mut project = wired::project(&cwd);
        // A folder below the home that is in no repository is a project of its own.
        if project.join(".claude") == user {
            project = cwd;
        }
        let around = wired::surroundings(env, &project);
        Ok(Self { user, project: project.join(".claude"), around })
    }

    pub(super) fn folder(&self, scope: Scope) -> &Path {
        if scope == Scope::User { &self.user } else { &self.project }
    }

    /// Returns the programs of ours that a settings file names.
    pub(super) fn wired(&self, scope: Scope) -> BTreeSet<PathBuf> {
        wired::json(&self.settings(scope)).map(|settings| self.around.programs(&settings)).unwrap_or_default()
    }

    pub(super) fn settings(&self, scope: Scope) -> PathBuf {
        let name = if scope == Scope::Local { "settings.local.json" } else { "settings.json" };
        self.folder(scope).join(name)
    }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let plugin = match &arguments.from_local {
        Some(folder) => local_plugin(folder)?,
        None => plugin_folder()?,
    };
    if arguments.print {
        return Ok(terminal::exact_output().write_all(install::to_paste(&plugin).as_bytes())?);
    }
    if !arguments.dry_run {
        person::must_be_here(env)?;
    }
    if !arguments.dry_run {
        // An installer of an earlier version comes this way.
        let formats: Vec<_> = store::formats()
            .iter()
            .map(|(owner, number)| ((*owner).to_owned(), u64::from(*number)))
            .collect();
        update::refuse_older_than_data(VERSION, &formats, paths)?;
    }
    if let Some(agent) = arguments.agent.as_deref().and_then(install::agents::find) {
        let scope = if arguments.project { Scope::Project } else { Scope::User };
        if arguments.dry_run {
            return agent::show(agent, scope, &plugin, env, paths);
        }
        let _lock = lock(paths)?;
        return agent::write(agent, scope, &bring(&plugin, env, paths)?, env, paths);
    }
    let client = Client::of(env, paths)?;
    let members =
        [(Member::StatusLine, arguments.statusline), (Member::FileSuggestion, arguments.file_suggest)];
    let members: Vec<_> = members.into_iter().filter_map(|(member, scope)| Some((member, scope?))).collect();
    if !members.is_empty() {
        return shown::run(&members, &client, &plugin, arguments.dry_run, env, paths);
    }
    let Some(scope) = arguments.settings else {
        return as_plugin(&client, &plugin, arguments.dry_run, env, paths);
    };
    if arguments.dry_run {
        return show(&client, scope, &plugin, env, paths);
    }
    let _lock = lock(paths)?;
    let plugin = bring(&plugin, env, paths)?;
    record_folder(None, client.folder(scope), env, paths)?;
    write(&client, scope, &plugin, env)?;
    server::advise(&client, scope, &plugin, env)?;
    finish(env, paths)
}

/// Copies the plugin into the data folder and has the client run it from there.
fn as_plugin(client: &Client, from: &Path, is_dry: bool, env: &Env, paths: &Paths) -> Result<()> {
    let plugin = paths.installed_plugin();
    let folder = client.folder(Scope::User);
    registry::check(&plugin, env, paths)?;
    if is_dry {
        return show_plugin(client, from, env, paths);
    }
    let _lock = lock(paths)?;
    copy_plugin(from, &plugin, env)?;
    program::link(env, &plugin)?;
    write_commands(&plugin, folder, Which::Short, env)?;
    if let Some(file) = settings_that_wire(client, &plugin).filter(|_| !registry::is_known(folder, paths)) {
        let file = with_tilde(&file, env);
        say(format_args!(
            "{file} has the hooks of this plugin, so it is not installed in Claude Code as well. To have it there instead: \
             wyren uninstall, then wyren install"
        ))?;
        return finish(env, paths);
    }
    if registry::register(client, &plugin, env, paths)? { finish(env, paths) } else { Ok(()) }
}

/// Shows what [`as_plugin`] would do.
fn show_plugin(client: &Client, from: &Path, env: &Env, paths: &Paths) -> Result<()> {
    let (plugin, folder) = (paths.installed_plugin(), client.folder(Scope::User));
    let mut is_something = install::plugin::is_due(from, &plugin)
        .with_context(|| format!("could not copy the plugin to {}", plugin.display()))?;
    if is_something {
        say(format_args!("copy {} to {}", with_tilde(from, env), with_tilde(&plugin, env)))?;
    }
    is_something |= program::show(env, &plugin, from)?;
    for command in commands::plan_at(from, &plugin, folder, Which::Short)? {
        let path = with_tilde(&command.path, env);
        match command.state {
            State::Due(_) => {
                say(format_args!("write {path}"))?;
                is_something = true;
            }
            State::Done => {}
            State::Theirs => say(format_args!("leave {path} alone, which is not a file that Wyren wrote"))?,
        }
    }
    is_something |= registry::show_registration(client, &plugin, env, paths)?;
    if is_something { Ok(()) } else { say("Nothing would change.") }
}

/// Returns a settings file that runs the programs of the plugin in a folder.
fn settings_that_wire(client: &Client, plugin: &Path) -> Option<PathBuf> {
    let is_wired = |scope: &Scope| client.wired(*scope).iter().any(|program| program.starts_with(plugin));
    Scope::ALL.into_iter().find(is_wired).map(|scope| client.settings(scope))
}

fn copy_plugin(from: &Path, plugin: &Path, env: &Env) -> Result<()> {
    let spinner = terminal::spinner("copying the plugin");
    let copied = install::plugin::copy(from, plugin);
    spinner.finish_and_clear();
    match copied.with_context(|| format!("could not copy the plugin to {}", plugin.display()))? {
        true => say(format_args!("{SUCCESS}Copied{SUCCESS:#} the plugin to {}", with_tilde(plugin, env))),
        false => say(format_args!("The plugin in {} is up to date.", with_tilde(plugin, env))),
    }
}

/// Returns where the plugin in a folder stays: there, or in the data folder for one that may go at any time. The client deletes
/// its own copy with the next version, the user an archive that they unpacked.
pub(super) fn lasting(plugin: &Path, paths: &Paths) -> PathBuf {
    let cache = paths.client().map(|client| files::canonical(&client.join("plugins")));
    let is_of_client = cache.is_some_and(|cache| plugin.starts_with(cache));
    let launcher = format!("install{}", std::env::consts::EXE_SUFFIX);
    let is_unpacked = plugin.file_name().is_some_and(|name| name == "plugin")
        && plugin.parent().is_some_and(|folder| folder.join(launcher).is_file());
    if is_of_client || is_unpacked { paths.installed_plugin() } else { plugin.to_owned() }
}

/// Copies a plugin that may go at any time to where it stays; returns the folder to wire.
fn bring(plugin: &Path, env: &Env, paths: &Paths) -> Result<PathBuf> {
    let stays = lasting(plugin, paths);
    if stays != plugin {
        copy_plugin(plugin, &stays, env)?;
    }
    Ok(stays)
}

/// Records that hooks are about to be written into a folder, unless that is the user's own in their home: there every
/// `wyren uninstall` looks.
fn record_folder(agent: Option<&Agent>, folder: &Path, env: &Env, paths: &Paths) -> Result<()> {
    let own = base::system::home(env).map(|home| match agent {
        Some(agent) => agent.user_folder(&home, |_| None),
        None => home.join(".claude"),
    });
    if own.is_some_and(|own| own == folder) {
        return Ok(());
    }
    let file = paths.wired_folders();
    let wired = Wired { agent: agent.map(|agent| agent.name.to_owned()), folder: folder.to_owned() };
    record::add(&file, wired)
        .with_context(|| format!("nothing was wired: could not change {}", file.display()))
}

/// Takes the lock of everything that changes the client's files.
pub(super) fn lock(paths: &Paths) -> Result<Lock> {
    let path = paths.install_lock();
    let lock =
        Lock::exclusive(&path, PATIENCE).with_context(|| format!("could not lock {}", path.display()))?;
    lock.ok_or_else(|| {
        let text =
            "another wyren install, update, migrate or uninstall is running; try again when it has ended";
        Ending::locked(format!("wyren: {text}")).into()
    })
}

/// Returns the folder of the plugin that this program is in.
pub(super) fn plugin_folder() -> Result<PathBuf> {
    let program = std::env::current_exe().and_then(|program| base::system::canonical(&program));
    let program = program.context("could not find this program")?;
    let folder = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    if let Some(missing) = missing_part(folder) {
        bail!(
            "{} is missing, so this `wyren` is not in a folder of the plugin. Run the one in `bin/` of the plugin, in a \
             checkout: target/plugin/bin/wyren install",
            missing.display()
        );
    }
    Ok(folder.to_owned())
}

/// Returns the plugin in a folder that the user named: the folder itself, or what a checkout there has built.
fn local_plugin(folder: &Path) -> Result<PathBuf> {
    let folder = folder.canonicalize().with_context(|| format!("could not find {}", folder.display()))?;
    let built = folder.join("target/plugin");
    let plugin = if built.is_dir() { built } else { folder };
    match missing_part(&plugin) {
        None => Ok(plugin),
        Some(missing) => bail!(
            "{} is missing, so {} is not a plugin of Wyren. In a checkout, build it first: cargo xtask plugin",
            missing.display(),
            plugin.display()
        ),
    }
}

/// Returns a part of a complete plugin that a folder does not have.
fn missing_part(folder: &Path) -> Option<PathBuf> {
    let suffix = std::env::consts::EXE_SUFFIX;
    let programs = ours::hook_names().iter().map(String::as_str).chain(["wyren"]);
    let programs = programs.map(|name| folder.join("bin").join(format!("{name}{suffix}")));
    let parts = [folder.join("hooks/hooks.json"), folder.join("commands")];
    programs.chain(parts).find(|part| !part.exists())
}

fn show(client: &Client, scope: Scope, plugin: &Path, env: &Env, paths: &Paths) -> Result<()> {
    let stays = lasting(plugin, paths);
    let change = file::install(&client.settings(scope), &stays, &client.around)?;
    let commands = commands::plan(plugin, client.folder(scope), Which::All)?;
    let due: Vec<_> = commands.iter().filter(|command| matches!(command.state, State::Due(_))).collect();
    if change.is_nothing() && due.is_empty() {
        return say("Nothing would change.");
    }
    show_copy(plugin, &stays)?;
    show_change(&change)?;
    for command in due {
        say(format_args!("write {}", with_tilde(&command.path, env)))?;
    }
    Ok(())
}

fn show_copy(plugin: &Path, stays: &Path) -> Result<()> {
    if stays == plugin {
        return Ok(());
    }
    say(format_args!("copy {} to {}", plugin.display(), stays.display()))
}

/// Shows what a change would do to a settings file.
pub(super) fn show_change(change: &file::Change) -> Result<()> {
    let texts = [&change.before, &change.after].map(|text| text.as_deref().unwrap_or_default());
    let diff = diff::unified(&change.path.display().to_string(), texts[0], texts[1]);
    Ok(write!(terminal::output(), "{diff}")?)
}

fn write(client: &Client, scope: Scope, plugin: &Path, env: &Env) -> Result<()> {
    let change = file::install(&client.settings(scope), plugin, &client.around)?;
    let (path, hooks) = (with_tilde(&change.path, env), counted(change.hooks as u64, "hook", "hooks"));
    if change.is_nothing() {
        say(format_args!("{path} has the {hooks} already."))?;
    } else {
        let backup = file::apply(&change, Timestamp::now(), scope.mode())?;
        say(format_args!("{SUCCESS}Wrote{SUCCESS:#} {hooks} to {path}"))?;
        if let Some(backup) = backup {
            say(format_args!("{DIM}The file as it was: {}{DIM:#}", with_tilde(&backup, env)))?;
        }
    }
    if let Some(line) = change.after.as_deref().and_then(jsonc::line_beyond_json) {
        say(format_args!(
            "{WARNING}The hooks do not run yet{WARNING:#}: Claude Code does not read a settings file with comments or trailing \
             commas, as in line {line}. Remove them from {path}"
        ))?;
    }
    if scope == Scope::Project {
        say(
            "The paths are those of this machine: a teammate needs Wyren in the same folder, or --settings local.",
        )?;
    }
    write_commands(plugin, client.folder(scope), Which::All, env)
}

/// Writes the commands and names those that are left alone.
pub(super) fn write_commands(plugin: &Path, folder: &Path, which: Which, env: &Env) -> Result<()> {
    let plan = commands::plan(plugin, folder, which).context("could not read the plugin's commands")?;
    let mut written = 0_u64;
    for command in &plan {
        match &command.state {
            State::Due(_) => {
                let path = command.path.display();
                commands::write(command).with_context(|| format!("could not write {path}"))?;
                written += 1;
            }
            State::Done => {}
            State::Theirs => {
                let path = with_tilde(&command.path, env);
                say(format_args!("{WARNING}Left alone{WARNING:#}: {path} is not a file that Wyren wrote"))?;
            }
        }
    }
    if written > 0 {
        let written = match which {
            Which::All => counted(written, "command", "commands"),
            Which::Short => "the command /wyren-handoff".to_owned(),
        };
        let folder = with_tilde(&folder.join("commands"), env);
        say(format_args!("{SUCCESS}Wrote{SUCCESS:#} {written} to {folder}"))?;
    }
    Ok(())
}

fn warn_of_two_wirings(env: &Env, paths: &Paths) -> Result<()> {
    let wiring = Wiring::read(env, paths, &std::env::current_dir()?);
    let Some((id, _)) = wiring.plugins.iter().next() else { return Ok(()) };
    let Some(file) = wiring.by_hand.keys().next() else { return Ok(()) };
    say(format_args!(
        "{WARNING}Wired twice{WARNING:#}, by the plugin {id} and in {}: every hook runs twice, and one run answers. {}",
        with_tilde(file, env),
        how_to_keep_one(id, &person::wyren(env))
    ))
}

/// Says how to keep one of two wirings.
pub(super) fn how_to_keep_one(id: &str, wyren: &str) -> String {
    format!(
        "To keep the plugin alone: {wyren} uninstall, then install Wyren again. To keep the settings alone: claude plugin \
         disable {id}"
    )
}

/// Returns a settings file that the client should run hooks of, and cannot read.
fn unreadable_settings(client: &Client) -> Option<PathBuf> {
    let is_ours = |scope: &Scope| *scope == Scope::User || !client.wired(*scope).is_empty();
    let mut files = Scope::ALL.into_iter().filter(is_ours).map(|scope| client.settings(scope));
    files.find(|file| {
        file::text(file).ok().flatten().as_deref().is_some_and(|text| jsonc::line_beyond_json(text).is_some())
    })
}

fn finish(env: &Env, paths: &Paths) -> Result<()> {
    warn_of_two_wirings(env, paths)?;
    if let Some(folder) = paths.named_client() {
        say(format_args!("Claude Code uses {} where CLAUDE_CONFIG_DIR is set to it.", folder.display()))?;
    }
    match unreadable_settings(&Client::of(env, paths)?) {
        Some(file) => say(format_args!(
            "Next: remove the comments and trailing commas from {}, then start a new session and type /wyren:init",
            with_tilde(&file, env)
        )),
        None => say("Next: start a new session of Claude Code in a project, and type /wyren:init"),
    }
}

pub(super) fn say(line: impl Display) -> Result<()> {
    Ok(writeln!(terminal::output(), "{line}")?)
}
