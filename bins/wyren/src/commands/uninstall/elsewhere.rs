//! What `wyren install` wrote into projects other than the one that the user is in.

use super::super::install::{Client, Scope};
use super::Plan;
use crate::wired;
use base::{Env, Paths};
use install::settings::file::{self, What};
use install::{commands, record};

impl Plan {
    /// Adds what there is of Claude Code's in the recorded folders. Those of other agents come with the agents.
    pub(super) fn add_recorded(&mut self, client: &Client, env: &Env) {
        let path = Paths::of(env).wired_folders();
        let recorded = match record::read(&path) {
            Ok(recorded) => recorded,
            Err(error) => {
                self.problems.push(format!("could not read {}: {error}", path.display()));
                return;
            }
        };
        let here = [Scope::User, Scope::Project].map(|scope| client.folder(scope));
        let folders = recorded.into_iter().filter(|wired| wired.agent.is_none()).map(|wired| wired.folder);
        for folder in folders.filter(|folder| !here.contains(&folder.as_path())) {
            let around = wired::surroundings(env, folder.parent().unwrap_or(&folder));
            for (scope, name) in [(Scope::Project, "settings.json"), (Scope::Local, "settings.local.json")] {
                match file::uninstall(&folder.join(name), &around, What::Hooks) {
                    Ok(change) => self.changes.push((scope, change)),
                    Err(error) => self.problems.push(error.to_string()),
                }
            }
            let (ours, edited) = commands::installed(&folder);
            self.commands.extend(ours.into_iter().map(|path| (path, folder.clone())));
            self.edited.extend(edited);
            self.elsewhere.push(folder);
        }
    }
}
