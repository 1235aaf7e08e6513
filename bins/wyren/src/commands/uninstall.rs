//! `wyren uninstall`: takes back what `wyren install` did.

mod elsewhere;
mod purge;

use super::install::agent::{self, Found};
use super::install::{self as installation, Client, Scope, program, registry, say};
use super::{migrate, serve, worker};
use crate::exit;
use crate::person;
use crate::terminal::{SUCCESS, WARNING, counted};
use anyhow::Result;
use base::paths::with_tilde;
use base::{Env, Paths, Timestamp, files};
use clap::Args;
use clap::builder::PossibleValuesParser;
use install::commands;
use install::settings::file::{self, Change, What};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wyren uninstall               take Wyren out of Claude Code and other agents; memory and lessons stay
  wyren uninstall --dry-run     show what would be removed
  wyren uninstall --agent codex take it out of Codex alone
  wyren uninstall --purge       remove your data as well, and the memory of this clone";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Show what would be removed, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Take Wyren out of this agent alone.
    #[arg(long, value_parser = PossibleValuesParser::new(agent::names()), conflicts_with = "purge")]
    agent: Option<String>,
    /// Remove the data folder as well, and .wyren/ of this clone. The team's branch stays.
    #[arg(long)]
    purge: bool,
    /// Remove your data without asking. Nothing else asks.
    #[arg(long, short)]
    yes: bool,
}

/// What there is to take back, and what could not be read.
#[derive(Default)]
struct Plan {
    changes: Vec<(Scope, Change)>,
    /// Files of commands, with the client's folder that they are in.
    commands: Vec<(PathBuf, PathBuf)>,
    /// Files of commands that the user edited.
    edited: Vec<PathBuf>,
    /// What there is of other agents.
    agents: Vec<Found>,
    /// Folders of Claude Code in other projects.
    elsewhere: Vec<PathBuf>,
    problems: Vec<String>,
}

impl Plan {
    fn of(client: &Client, env: &Env) -> Result<Self> {
        let mut plan = Self::of_agents(None, env)?;
        for scope in Scope::ALL {
            let what = if scope == Scope::User { What::All } else { What::Hooks };
            match file::uninstall(&client.settings(scope), &client.around, what) {
                Ok(change) => plan.changes.push((scope, change)),
                Err(error) => plan.problems.push(error.to_string()),
            }
        }
        for scope in [Scope::User, Scope::Project] {
            let folder = client.folder(scope);
            let (ours, edited) = commands::installed(folder);
            plan.commands.extend(ours.into_iter().map(|path| (path, folder.to_owned())));
            plan.edited.extend(edited);
        }
        plan.add_recorded(client, env);
        Ok(plan)
    }

    /// Returns what there is of other agents, or of the one of this name.
    fn of_agents(name: Option<&str>, env: &Env) -> Result<Self> {
        let mut plan = Self::default();
        for agent in agent::named(name) {
            plan.agents.push(agent::find(agent, env, &mut plan.problems)?);
        }
        Ok(plan)
    }

    /// Plans the user's settings again, after the client was asked to take the plugin out.
    fn after_client(&mut self, client: &Client, is_out: bool) {
        let changes = std::mem::take(&mut self.changes);
        for (scope, change) in changes {
            let planned = match (scope, is_out) {
                (Scope::User, true) => file::uninstall_after_client(change, &client.around),
                (Scope::User, false) => file::uninstall(&change.path, &client.around, What::Hooks),
                _ => Ok(change),
            };
            match planned {
                Ok(change) => self.changes.push((scope, change)),
                Err(error) => self.problems.push(error.to_string()),
            }
        }
    }

    fn is_nothing(&self) -> bool {
        self.changes.iter().all(|(_, change)| change.is_nothing())
            && self.commands.is_empty()
            && self.agents.iter().all(Found::is_nothing)
    }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    if let Some(name) = arguments.agent.as_deref() {
        return run_for_agent(name, arguments.dry_run, env, paths);
    }
    let client = Client::of(env, paths)?;
    if arguments.purge {
        purge::check(env, paths)?;
    }
    if arguments.dry_run {
        let plan = Plan::of(&client, env)?;
        migrate::remind(env, paths, arguments.purge)?;
        show(&plan, &client, env, paths)?;
        if arguments.purge {
            purge::show(env, paths)?;
        }
        return exit::with_problems(&plan.problems);
    }
    person::must_be_here(env)?;
    migrate::remind(env, paths, arguments.purge)?;
    if arguments.purge && !arguments.yes && !purge::is_confirmed(env, paths)? {
        return say("Nothing was removed.");
    }
    let lock = installation::lock(paths)?;
    let mut plan = Plan::of(&client, env)?;
    if plan.is_nothing() && plan.problems.is_empty() && !registry::is_known(client.folder(Scope::User), paths)
    {
        say("Claude Code and other agents have nothing of Wyren.")?;
    }
    let problems = registry::unregister(client.folder(Scope::User), env, paths)?;
    plan.after_client(&client, problems.is_empty());
    plan.problems.extend(problems);
    take_out(&client, &mut plan, env)?;
    agent::clear_record(None, env, &mut plan.problems);
    let problems = &mut plan.problems;
    // No hook starts another one by now, and Windows does not delete a program that runs.
    if queue::is_running(paths)?
        && let Err(error) = worker::stop(paths)
    {
        problems.push(format!("{error:#}"));
    }
    if let Err(error) = serve::stop_any(paths) {
        problems.push(format!("{error:#}"));
    }
    problems.extend(unlink_claude_mem(env));
    problems.extend(program::unlink(env, &paths.installed_plugin())?);
    match install::plugin::remove(&paths.installed_plugin()) {
        Ok(true) => {
            say(format_args!("{SUCCESS}Removed{SUCCESS:#} {}", with_tilde(&paths.installed_plugin(), env)))?;
        }
        Ok(false) => {}
        Err(error) => {
            problems.push(format!("could not remove {}: {error}", paths.installed_plugin().display()))
        }
    }
    for path in &plan.edited {
        let path = with_tilde(path, env);
        say(format_args!("{WARNING}Left alone{WARNING:#}: {path} was edited since Wyren wrote it"))?;
    }
    if arguments.purge {
        let unchanged = plan.changes.iter().filter(|(_, change)| change.is_nothing());
        for backup in unchanged.flat_map(|(_, change)| &change.kept) {
            say(format_args!(
                "{WARNING}Left alone{WARNING:#}: {} has settings that are nowhere else",
                with_tilde(backup, env)
            ))?;
        }
        plan.problems.extend(purge::run(env, paths)?);
    }
    installation::server::warn_of_rest(&client, env)?;
    drop(lock);
    if !arguments.purge {
        say_what_is_kept(env, paths)?;
    }
    exit::with_problems(&plan.problems)
}

/// Removes the link of `wyren serve link`; what is there else stays.
fn unlink_claude_mem(env: &Env) -> Option<String> {
    let at = serve::link_place(&base::system::home(env)?);
    let is_ours = files::is_link(&at) || cfg!(windows);
    if !is_ours || !install::link::leads_to_wyren(&at) {
        return None;
    }
    files::remove_if_there(&at).err().map(|error| format!("could not remove {}: {error}", at.display()))
}

/// Names what stays in the data folder. One that has nothing but the lock goes.
fn say_what_is_kept(env: &Env, paths: &Paths) -> Result<()> {
    let (data, lock) = (paths.data(), paths.install_lock());
    let entries = std::fs::read_dir(data).into_iter().flatten().flatten();
    if entries.into_iter().all(|entry| entry.path() == lock) {
        files::remove_if_there(&lock)?;
        let home = base::system::home(env).filter(|home| data.starts_with(home));
        files::remove_empty_folders(data, home.as_deref().or(data.parent()).unwrap_or(data));
        return Ok(());
    }
    let data = with_tilde(data, env);
    say(format_args!(
        "Kept: your lessons, settings and recorded sessions in {data}, and the team memory in .wyren/ of your projects. \
         wyren install uses them again. To delete your own, delete {data}."
    ))
}

/// Takes Wyren out of one agent. What is the user's own stays, and so does everything in Claude Code.
fn run_for_agent(name: &str, is_dry: bool, env: &Env, paths: &Paths) -> Result<()> {
    if is_dry {
        let plan = Plan::of_agents(Some(name), env)?;
        if plan.is_nothing() && plan.problems.is_empty() {
            say("Nothing would change.")?;
        }
        plan.agents.iter().try_for_each(|found| found.show(env))?;
        return exit::with_problems(&plan.problems);
    }
    person::must_be_here(env)?;
    let _lock = installation::lock(paths)?;
    let mut plan = Plan::of_agents(Some(name), env)?;
    if plan.is_nothing() && plan.problems.is_empty() {
        let title = agent::named(Some(name)).next().map_or(name, |agent| agent.title);
        say(format_args!("{title} has nothing of Wyren."))?;
    }
    for found in &plan.agents {
        found.take_out(env, &mut plan.problems)?;
    }
    agent::clear_record(Some(name), env, &mut plan.problems);
    exit::with_problems(&plan.problems)
}

fn show(plan: &Plan, client: &Client, env: &Env, paths: &Paths) -> Result<()> {
    let (user, plugin) = (client.folder(Scope::User), paths.installed_plugin());
    let linked = program::ours(env, &plugin);
    let is_nothing = plan.is_nothing() && plan.problems.is_empty() && linked.is_none() && !plugin.exists();
    if is_nothing && !registry::is_known(user, paths) {
        return say("Nothing would change.");
    }
    registry::show_removal(user, paths)?;
    for path in linked.into_iter().chain(plugin.exists().then_some(plugin)) {
        say(format_args!("remove {}", with_tilde(&path, env)))?;
    }
    for (_, change) in &plan.changes {
        installation::show_change(change)?;
        for path in change.removed() {
            say(format_args!("remove {}", with_tilde(path, env)))?;
        }
    }
    for (path, _) in &plan.commands {
        say(format_args!("remove {}", with_tilde(path, env)))?;
    }
    plan.agents.iter().try_for_each(|found| found.show(env))
}

fn take_out(client: &Client, plan: &mut Plan, env: &Env) -> Result<()> {
    for (scope, change) in &plan.changes {
        if change.is_nothing() {
            continue;
        }
        if let Err(error) = file::apply(change, Timestamp::now(), scope.mode()) {
            plan.problems.push(error.to_string());
            continue;
        }
        if change.hooks > 0 {
            let (path, hooks) =
                (with_tilde(&change.path, env), counted(change.hooks as u64, "hook", "hooks"));
            say(format_args!("{SUCCESS}Removed{SUCCESS:#} {hooks} from {path}"))?;
        }
        for backup in &change.kept {
            say(format_args!("The file changed since, so its backup stays: {}", with_tilde(backup, env)))?;
        }
    }
    for found in &plan.agents {
        found.take_out(env, &mut plan.problems)?;
    }
    let mut removed = 0_u64;
    for (path, folder) in &plan.commands {
        match commands::remove(path, folder) {
            Ok(()) => removed += 1,
            Err(error) => plan.problems.push(format!("could not remove {}: {error}", path.display())),
        }
    }
    if removed > 0 {
        say(format_args!("{SUCCESS}Removed{SUCCESS:#} {}", counted(removed, "command", "commands")))?;
    }
    if !plan.commands.is_empty() || plan.changes.iter().any(|(_, change)| !change.is_nothing()) {
        for scope in [Scope::User, Scope::Project] {
            // Only one that is empty goes.
            let _ = std::fs::remove_dir(client.folder(scope));
        }
        for folder in &plan.elsewhere {
            let _ = std::fs::remove_dir(folder);
        }
    }
    Ok(())
}
