//! `wyren` on the PATH: a link in `~/.local/bin`.

use super::super::doctor::is_of_node;
use super::{manual, say};
use crate::terminal::{SUCCESS, WARNING};
use anyhow::{Context as _, Result};
use base::Env;
use base::paths::with_tilde;
use install::link::{self, Link};
use std::path::{Path, PathBuf};

/// Where people's own programs are, below the home.
const FOLDER: &str = ".local/bin";

pub(super) fn home(env: &Env) -> Option<PathBuf> {
    base::system::home(env)
}

fn name() -> String {
    format!("wyren{}", std::env::consts::EXE_SUFFIX)
}

/// Returns the program in a plugin's folder, and the place of the link to it.
fn places(env: &Env, plugin: &Path) -> Option<(PathBuf, PathBuf)> {
    let at = home(env)?.join(FOLDER).join(link::NAME);
    Some((plugin.join("bin").join(name()), at))
}

/// Shows what [`link`] would do.
pub(in crate::commands) fn show(env: &Env, plugin: &Path) -> Result<()> {
    let Some((program, at)) = places(env, plugin) else { return Ok(()) };
    match link::look(&at, &program) {
        Link::Ours => Ok(()),
        Link::Missing | Link::Older => say(format_args!("link {} to {}", at.display(), program.display())),
        Link::Theirs => say(format_args!("leave {} alone, which is not a link to Wyren", at.display())),
    }
}

/// Links `wyren` and says how to reach it.
pub(in crate::commands) fn link(env: &Env, plugin: &Path) -> Result<()> {
    let Some((program, at)) = places(env, plugin) else {
        let bin = plugin.join("bin");
        return say(format_args!("To type `wyren`, add this folder to the PATH: {}", bin.display()));
    };
    let (program, shown) = (&program, with_tilde(&at, env));
    manual::link(env, plugin);
    match link::look(&at, program) {
        Link::Ours => {}
        Link::Theirs => {
            return say(format_args!(
                "{WARNING}Left alone{WARNING:#}: {shown} is not a link to Wyren. The program is {}",
                program.display()
            ));
        }
        Link::Missing | Link::Older => {
            link::link(&at, program).with_context(|| format!("could not link {shown}"))?;
            say(format_args!("{SUCCESS}Linked{SUCCESS:#} wyren as {shown}"))?;
        }
    }
    let path = env.get("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = [name(), link::NAME.to_owned()];
    let mut programs = folders.iter().flat_map(|folder| names.each_ref().map(|name| folder.join(name)));
    match programs.find(|program| program.is_file()) {
        Some(first) if first == at || first.canonicalize().ok() == program.canonicalize().ok() => Ok(()),
        Some(first) if is_of_node(&first) => say(format_args!(
            "{WARNING}The Node version comes first on the PATH{WARNING:#}: {}. To take it from there: {shown} migrate --unlink",
            with_tilde(&first, env)
        )),
        Some(first) => say(format_args!(
            "{WARNING}Another `wyren` comes first on the PATH{WARNING:#}: {}. Remove it, or type {shown}",
            with_tilde(&first, env)
        )),
        None => say(format_args!(
            "~/{FOLDER} is not on the PATH, so type {shown}, or add it in your shell's profile:\n  {}",
            if cfg!(windows) {
                format!("setx PATH \"%PATH%;%USERPROFILE%\\{}\"", FOLDER.replace('/', "\\"))
            } else {
                format!("export PATH=\"$HOME/{FOLDER}:$PATH\"")
            }
        )),
    }
}

/// Returns where the link to an installed plugin is missing, or is one to another plugin of ours.
pub(in crate::commands) fn place_of_missing_link(env: &Env, plugin: &Path) -> Option<PathBuf> {
    let (program, at) = places(env, plugin).filter(|(program, _)| program.is_file())?;
    matches!(link::look(&at, &program), Link::Missing | Link::Older).then_some(at)
}

/// Links `wyren` without a word.
pub(in crate::commands) fn make_link(env: &Env, plugin: &Path) -> Result<()> {
    if let Some((program, at)) = places(env, plugin) {
        link::link(&at, &program)?;
    }
    Ok(())
}

/// Returns the link, if it leads to the plugin in a folder. One to another plugin, such as that of a checkout, is the user's.
pub(in crate::commands) fn ours(env: &Env, plugin: &Path) -> Option<PathBuf> {
    let (program, at) = places(env, plugin)?;
    matches!(link::look(&at, &program), Link::Ours).then_some(at)
}

/// Removes the link, and the folders that are empty without it; returns what could not be done.
pub(in crate::commands) fn unlink(env: &Env, plugin: &Path) -> Result<Option<String>> {
    manual::unlink(env, plugin);
    let Some(at) = ours(env, plugin) else { return Ok(None) };
    if let Err(error) = std::fs::remove_file(&at) {
        return Ok(Some(format!("could not remove {}: {error}", at.display())));
    }
    say(format_args!("{SUCCESS}Removed{SUCCESS:#} {}", at.display()))?;
    let home = home(env).unwrap_or_default();
    for folder in at.ancestors().skip(1).take_while(|folder| *folder != home) {
        // Only one that is empty goes.
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(None)
}
