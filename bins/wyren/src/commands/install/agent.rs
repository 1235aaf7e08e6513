//! `wyren install --agent`: Wyren in an agent other than Claude Code, and out again.

use super::{Scope, lasting, record_folder, say, show_change, show_copy};
use crate::person;
use crate::terminal::{DIM, SUCCESS, WARNING, counted};
use crate::wired;
use anyhow::{Context as _, Result};
use base::paths::with_tilde;
use base::{Env, Paths, Timestamp, files};
use install::agents::{AGENTS, Agent, Removal};
use install::marked::{self, State};
use install::ours::Surroundings;
use install::record;
use install::settings::file;
use std::path::{Path, PathBuf};

/// The files of one agent, of the user and of the project that they are in.
pub(in crate::commands) struct Place {
    home: PathBuf,
    user: PathBuf,
    project: PathBuf,
    around: Surroundings,
}

impl Place {
    pub(in crate::commands) fn of(agent: &'static Agent, env: &Env) -> Result<Self> {
        let home = base::system::home(env);
        let home = home.with_context(|| format!("there is no home, so {} has no files", agent.title))?;
        let user = agent.user_folder(&home, |name| env.get(name).map(PathBuf::from));
        let cwd = std::env::current_dir().context("could not find the current folder")?;
        // Their folders may be of the home and not of a project: `.git` alone tells.
        let root = cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&cwd);
        let around = wired::surroundings(env, root);
        Ok(Self { home, user, project: agent.project_folder(root), around })
    }

    fn folder(&self, scope: Scope) -> &Path {
        if scope == Scope::User { &self.user } else { &self.project }
    }

    /// Returns the folders with their scopes; one where the project is the home.
    fn folders(&self) -> Vec<(Scope, &Path)> {
        let mut folders = vec![(Scope::User, &*self.user), (Scope::Project, &*self.project)];
        folders.dedup_by(|one, other| one.1 == other.1);
        folders
    }
}

/// Returns every agent, or the one of this name.
pub(in crate::commands) fn named(name: Option<&str>) -> impl Iterator<Item = &'static Agent> {
    AGENTS.iter().filter(move |agent| name.is_none_or(|name| agent.name == name))
}

/// Returns the names for the arguments.
pub(in crate::commands) fn names() -> [&'static str; AGENTS.len()] {
    AGENTS.each_ref().map(|agent| agent.name)
}

/// Shows what [`write`] would do.
pub(super) fn show(
    agent: &'static Agent,
    scope: Scope,
    plugin: &Path,
    env: &Env,
    paths: &Paths,
) -> Result<()> {
    let place = Place::of(agent, env)?;
    let stays = lasting(plugin, paths);
    let plan = agent.install_copy(place.folder(scope), plugin, &stays, &place.around)?;
    if plan.is_nothing() {
        return say("Nothing would change.");
    }
    show_copy(plugin, &stays)?;
    if let Some(change) = &plan.change {
        show_change(change)?;
    }
    for file in plan.files.iter().filter(|file| matches!(file.state, State::Due(_))) {
        say(format_args!("write {}", with_tilde(&file.path, env)))?;
    }
    Ok(())
}

/// Wires an agent. The caller holds the lock.
pub(super) fn write(
    agent: &'static Agent,
    scope: Scope,
    plugin: &Path,
    env: &Env,
    paths: &Paths,
) -> Result<()> {
    let place = Place::of(agent, env)?;
    let plan = agent.install(place.folder(scope), plugin, &place.around)?;
    record_folder(Some(agent), place.folder(scope), env, paths)?;
    if let Some(change) = &plan.change {
        let (path, hooks) = (with_tilde(&change.path, env), counted(change.hooks as u64, "hook", "hooks"));
        if change.is_nothing() {
            say(format_args!("{path} has the {hooks} already."))?;
        } else {
            let backup = file::apply(change, Timestamp::now(), scope.mode())?;
            say(format_args!("{SUCCESS}Wrote{SUCCESS:#} {hooks} to {path}"))?;
            if let Some(backup) = backup {
                say(format_args!("{DIM}The file as it was: {}{DIM:#}", with_tilde(&backup, env)))?;
            }
        }
    }
    for file in &plan.files {
        let path = with_tilde(&file.path, env);
        match file.state {
            State::Due(_) => {
                file.write().with_context(|| format!("could not write {path}"))?;
                say(format_args!("{SUCCESS}Wrote{SUCCESS:#} {path}"))?;
            }
            State::Done => say(format_args!("{path} is up to date."))?,
            State::Theirs => {
                say(format_args!("{WARNING}Left alone{WARNING:#}: {path} is not a file that Wyren wrote"))?;
            }
        }
    }
    for (other, folder) in place.folders().into_iter().filter(|(other, _)| *other != scope) {
        if !agent.uninstall(folder, &place.around)?.is_nothing() {
            let whose = if other == Scope::User { "your own files" } else { "this project" };
            say(format_args!(
                "{WARNING}Wired twice{WARNING:#}, here and in {whose} ({}): every hook runs twice. To take both back: {} \
                 uninstall --agent {}",
                with_tilde(folder, env),
                person::wyren(env),
                agent.name
            ))?;
        }
    }
    say(format_args!("Next: {}", agent.next))
}

/// A file of an agent's that has hooks of ours.
pub(in crate::commands) struct Wired {
    pub(in crate::commands) scope: Scope,
    pub(in crate::commands) file: PathBuf,
    /// The folder of the plugin whose programs it names.
    pub(in crate::commands) plugin: PathBuf,
}

/// Returns the files that have hooks of ours, of the user and of the project that they are in.
pub(in crate::commands) fn wired(agent: &'static Agent, env: &Env) -> Vec<Wired> {
    let Ok(place) = Place::of(agent, env) else { return Vec::new() };
    let wired = |(scope, folder): (Scope, &Path)| {
        let plugin = agent.plugin(folder, &place.around)?;
        Some(Wired { scope, file: folder.join(agent.file()), plugin })
    };
    place.folders().into_iter().filter_map(wired).collect()
}

/// What there is to take back of one agent.
pub(in crate::commands) struct Found {
    place: Place,
    removals: Vec<(Scope, PathBuf, Removal)>,
}

/// Returns what there is to take back of an agent, and adds what could not be read to `problems`.
pub(in crate::commands) fn find(
    agent: &'static Agent,
    env: &Env,
    problems: &mut Vec<String>,
) -> Result<Found> {
    let place = Place::of(agent, env)?;
    let mut removals = Vec::new();
    let mut folders: Vec<(Scope, PathBuf)> =
        place.folders().into_iter().map(|(scope, folder)| (scope, folder.to_owned())).collect();
    // A record that cannot be read is named once, with Claude Code's own folders.
    let recorded = record::read(&Paths::of(env).wired_folders()).unwrap_or_default();
    for wired in recorded.into_iter().filter(|wired| wired.agent.as_deref() == Some(agent.name)) {
        if folders.iter().all(|(_, folder)| *folder != wired.folder) {
            folders.push((Scope::Project, wired.folder));
        }
    }
    for (scope, folder) in folders {
        match agent.uninstall(&folder, &place.around) {
            Ok(removal) => removals.push((scope, folder, removal)),
            Err(error) => problems.push(error.to_string()),
        }
    }
    Ok(Found { place, removals })
}

/// Takes folders out of the record, of every agent and Claude Code or of one agent. Where something could not be done they stay,
/// for the next time.
pub(in crate::commands) fn clear_record(name: Option<&str>, env: &Env, problems: &mut Vec<String>) {
    if !problems.is_empty() {
        return;
    }
    let file = Paths::of(env).wired_folders();
    let is_out = |wired: &record::Wired| name.is_none() || wired.agent.as_deref() == name;
    if let Err(error) = record::take_out(&file, is_out) {
        problems.push(format!("could not change {}: {error}", file.display()));
    }
}

impl Found {
    pub(in crate::commands) fn is_nothing(&self) -> bool {
        self.removals.iter().all(|(.., removal)| removal.is_nothing())
    }

    pub(in crate::commands) fn show(&self, env: &Env) -> Result<()> {
        for (.., removal) in &self.removals {
            if let Some(change) = &removal.change {
                show_change(change)?;
                for path in change.removed() {
                    say(format_args!("remove {}", with_tilde(path, env)))?;
                }
            }
            for path in &removal.files {
                say(format_args!("remove {}", with_tilde(path, env)))?;
            }
        }
        Ok(())
    }

    /// Takes it back; what could not be done is added to `problems`.
    pub(in crate::commands) fn take_out(&self, env: &Env, problems: &mut Vec<String>) -> Result<()> {
        for (scope, folder, removal) in &self.removals {
            if let Some(change) = removal.change.as_ref().filter(|change| !change.is_nothing()) {
                match file::apply(change, Timestamp::now(), scope.mode()) {
                    Ok(_) => {
                        let hooks = counted(change.hooks as u64, "hook", "hooks");
                        let path = with_tilde(&change.path, env);
                        say(format_args!("{SUCCESS}Removed{SUCCESS:#} {hooks} from {path}"))?;
                        for backup in &change.kept {
                            let backup = with_tilde(backup, env);
                            say(format_args!("The file changed since, so its backup stays: {backup}"))?;
                        }
                    }
                    Err(error) => problems.push(error.to_string()),
                }
            }
            for path in &removal.files {
                match marked::remove(path, folder) {
                    Ok(()) => say(format_args!("{SUCCESS}Removed{SUCCESS:#} {}", with_tilde(path, env)))?,
                    Err(error) => problems.push(format!("could not remove {}: {error}", path.display())),
                }
            }
            for path in &removal.edited {
                let path = with_tilde(path, env);
                say(format_args!("{WARNING}Left alone{WARNING:#}: {path} was edited since Wyren wrote it"))?;
            }
            if !removal.is_nothing() {
                // Only folders that are empty go: a project's, or the user's and those between it and the home.
                let home = &*self.place.home;
                let is_in_home = *scope == Scope::User && folder.starts_with(home);
                let root = if is_in_home { home } else { folder.parent().unwrap_or(folder) };
                files::remove_empty_folders(folder, root);
            }
        }
        Ok(())
    }
}
