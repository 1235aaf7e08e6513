//! `wyren install --agent`: Wyren in an agent other than Claude Code, and out again.

use super::{Scope, plugin_folder, say, show_change};
use crate::terminal::{DIM, SUCCESS, WARNING, counted};
use crate::wired;
use anyhow::{Context as _, Result};
use base::{Env, Timestamp};
use install::agents::{AGENTS, Agent, Removal};
use install::marked::{self, State};
use install::ours::Surroundings;
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
        let home = env.get("HOME").or_else(|| env.get("USERPROFILE")).map(PathBuf::from);
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
pub(super) fn show(agent: &'static Agent, scope: Scope, env: &Env) -> Result<()> {
    let place = Place::of(agent, env)?;
    let plan = agent.install(place.folder(scope), &plugin_folder()?, &place.around)?;
    if plan.is_nothing() {
        return say("Nothing would change.");
    }
    if let Some(change) = &plan.change {
        show_change(change)?;
    }
    for file in plan.files.iter().filter(|file| matches!(file.state, State::Due(_))) {
        say(format_args!("write {}", file.path.display()))?;
    }
    Ok(())
}

/// Wires an agent. The caller holds the lock.
pub(super) fn write(agent: &'static Agent, scope: Scope, env: &Env) -> Result<()> {
    let place = Place::of(agent, env)?;
    let plan = agent.install(place.folder(scope), &plugin_folder()?, &place.around)?;
    if let Some(change) = &plan.change {
        let (path, hooks) = (change.path.display(), counted(change.hooks as u64, "hook", "hooks"));
        if change.is_nothing() {
            say(format_args!("{path} has the {hooks} already."))?;
        } else {
            let backup = file::apply(change, Timestamp::now(), scope.mode())?;
            say(format_args!("{SUCCESS}Wrote{SUCCESS:#} {hooks} to {path}"))?;
            if let Some(backup) = backup {
                say(format_args!("{DIM}The file as it was: {}{DIM:#}", backup.display()))?;
            }
        }
    }
    for file in &plan.files {
        let path = file.path.display();
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
                "{WARNING}Wired twice{WARNING:#}, here and in {whose} ({}): every hook runs twice. `wyren uninstall \
                 --agent {}` takes both back",
                folder.display(),
                agent.name
            ))?;
        }
    }
    say(format_args!("Next: {}", agent.next))
}

/// What there is to take back of one agent.
pub(in crate::commands) struct Found {
    place: Place,
    removals: Vec<(Scope, Removal)>,
}

/// Returns what there is to take back of an agent, and adds what could not be read to `problems`.
pub(in crate::commands) fn find(
    agent: &'static Agent,
    env: &Env,
    problems: &mut Vec<String>,
) -> Result<Found> {
    let place = Place::of(agent, env)?;
    let mut removals = Vec::new();
    for (scope, folder) in place.folders() {
        match agent.uninstall(folder, &place.around) {
            Ok(removal) => removals.push((scope, removal)),
            Err(error) => problems.push(error.to_string()),
        }
    }
    Ok(Found { place, removals })
}

impl Found {
    pub(in crate::commands) fn is_nothing(&self) -> bool {
        self.removals.iter().all(|(_, removal)| removal.is_nothing())
    }

    pub(in crate::commands) fn show(&self) -> Result<()> {
        for (_, removal) in &self.removals {
            if let Some(change) = &removal.change {
                show_change(change)?;
                for path in change.removed() {
                    say(format_args!("remove {}", path.display()))?;
                }
            }
            for path in &removal.files {
                say(format_args!("remove {}", path.display()))?;
            }
        }
        Ok(())
    }

    /// Takes it back; what could not be done is added to `problems`.
    pub(in crate::commands) fn take_out(&self, problems: &mut Vec<String>) -> Result<()> {
        for (scope, removal) in &self.removals {
            let folder = self.place.folder(*scope);
            if let Some(change) = removal.change.as_ref().filter(|change| !change.is_nothing()) {
                match file::apply(change, Timestamp::now(), scope.mode()) {
                    Ok(_) => {
                        let hooks = counted(change.hooks as u64, "hook", "hooks");
                        say(format_args!(
                            "{SUCCESS}Removed{SUCCESS:#} {hooks} from {}",
                            change.path.display()
                        ))?;
                        for backup in &change.kept {
                            let backup = backup.display();
                            say(format_args!("The file changed since, so its backup stays: {backup}"))?;
                        }
                    }
                    Err(error) => problems.push(error.to_string()),
                }
            }
            for path in &removal.files {
                match marked::remove(path, folder) {
                    Ok(()) => say(format_args!("{SUCCESS}Removed{SUCCESS:#} {}", path.display()))?,
                    Err(error) => problems.push(format!("could not remove {}: {error}", path.display())),
                }
            }
            for path in &removal.edited {
                let path = path.display();
                say(format_args!("{WARNING}Left alone{WARNING:#}: {path} was edited since Wyren wrote it"))?;
            }
            if !removal.is_nothing() {
                // Only folders that are empty go: a project's, or the user's and those between it and the home.
                let above = folder.ancestors().skip(1).take_while(|above| {
                    *scope == Scope::User && above.starts_with(&self.place.home) && **above != self.place.home
                });
                let _ = std::iter::once(folder).chain(above).try_for_each(std::fs::remove_dir);
            }
        }
        Ok(())
    }
}
