//! `wyren uninstall --purge`: what Wyren wrote for the user, and in the clone that they are in.

use super::super::install::say;
use crate::terminal::{self, SUCCESS, WARNING};
use anyhow::{Result, bail};
use base::paths::with_tilde;
use base::{Env, Paths, files};
use install::list::{self, Below};
use place::{Folder, Place};
use std::path::{Path, PathBuf};
use team_sync::repository;

/// Fails where the data folder may hold more than Wyren's.
pub(super) fn check(env: &Env, paths: &Paths) -> Result<()> {
    let home = base::system::home(env);
    if list::is_shared(paths.data(), home.as_deref()) {
        bail!(
            "nothing was removed: the data folder {} is your home folder, above it, or a repository. Remove Wyren's files \
             there by hand",
            paths.data().display()
        );
    }
    Ok(())
}

/// Asks whether to remove what cannot be brought back.
pub(super) fn is_confirmed(env: &Env, paths: &Paths) -> Result<bool> {
    let project =
        wyren_folder().map(|folder| format!(", and {}", with_tilde(&folder, env))).unwrap_or_default();
    let data = with_tilde(paths.data(), env);
    let question = format!(
        "This deletes your lessons, settings and recorded sessions in {data}{project} permanently. Delete them?"
    );
    terminal::must_confirm(&question)
}

fn cwd() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

fn wyren_folder() -> Option<PathBuf> {
    Folder::find(&cwd()).map(|folder| folder.wyren)
}

/// Shows what [`run`] would remove.
pub(super) fn show(env: &Env, paths: &Paths) -> Result<()> {
    let folders =
        [paths.data().to_owned(), paths.claims().to_owned()].into_iter().filter(|folder| folder.exists());
    for path in folders.chain(wyren_folder()) {
        say(format_args!("remove {}", with_tilde(&path, env)))?;
    }
    Ok(())
}

/// Removes it; returns what could not be done. A backup of a settings file that says more than the file stays, as without
/// `--purge`: it is the user's text.
pub(super) fn run(env: &Env, paths: &Paths) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    purge_project(env, &mut problems)?;
    purge_folder(Below::Claims, paths.claims(), env, &mut problems)?;
    purge_folder(Below::Data, paths.data(), env, &mut problems)?;
    if let Some(home) = base::system::home(env) {
        files::remove_empty_folders(paths.data().parent().unwrap_or(&home), &home);
    }
    Ok(problems)
}

fn purge_project(env: &Env, problems: &mut Vec<String>) -> Result<()> {
    let Some(folder) = wyren_folder() else { return Ok(()) };
    let Some(place) = Place::find(&cwd()) else {
        return purge_folder(Below::Project, &folder, env, problems);
    };
    match repository::purge(&place, env) {
        Ok(true) => say(
            "The memory is tracked on this branch and stays there. To remove it for the team: git rm -r .wyren, and commit",
        ),
        Ok(false) => {
            say(format_args!("{SUCCESS}Removed{SUCCESS:#} {}", with_tilde(&folder, env)))?;
            say(format_args!(
                "The team's memory on the remote stays. To delete it for everyone: git push origin --delete {}",
                place::SIDE_BRANCH
            ))
        }
        Err(error) => {
            problems.push(format!("could not remove {}: {error}", folder.display()));
            Ok(())
        }
    }
}

fn purge_folder(below: Below, folder: &Path, env: &Env, problems: &mut Vec<String>) -> Result<()> {
    let is_there = folder.exists();
    match list::remove(below, folder) {
        Ok(left) if left.is_empty() && is_there => {
            say(format_args!("{SUCCESS}Removed{SUCCESS:#} {}", with_tilde(folder, env)))
        }
        Ok(left) => {
            for path in left {
                say(format_args!(
                    "{WARNING}Left alone{WARNING:#}: {} is not Wyren's",
                    with_tilde(&path, env)
                ))?;
            }
            Ok(())
        }
        Err(error) => {
            problems.push(format!("could not remove {}: {error}", folder.display()));
            Ok(())
        }
    }
}
