//! `wyren` on the PATH: a link in `~/.local/bin`.

use super::{manual, say};
use crate::terminal::{SUCCESS, WARNING};
use anyhow::Result;
use base::Env;
use install::plugin::{self, Link};
use std::path::{Path, PathBuf};

/// Where people's own programs are, below the home.
const FOLDER: &str = ".local/bin";

pub(super) fn home(env: &Env) -> Option<PathBuf> {
    base::system::home(env)
}

fn name() -> String {
    format!("wyren{}", std::env::consts::EXE_SUFFIX)
}

/// Returns the program in a plugin's folder, and the place of the link to it. Only Unix has links that everyone may make.
fn places(env: &Env, plugin: &Path) -> Option<(PathBuf, PathBuf)> {
    let at = home(env).filter(|_| cfg!(unix))?.join(FOLDER).join(name());
    Some((plugin.join("bin").join(name()), at))
}

/// Shows what [`link`] would do.
pub(in crate::commands) fn show(env: &Env, plugin: &Path) -> Result<()> {
    let Some((program, at)) = places(env, plugin) else { return Ok(()) };
    match plugin::look(&at, &program) {
        Link::Ours => Ok(()),
        Link::Missing | Link::Older => say(format_args!("link {} to {}", at.display(), program.display())),
        Link::Theirs => say(format_args!("leave {} alone, which is not a link to Wyren", at.display())),
    }
}

/// Links `wyren` and says how to reach it.
pub(in crate::commands) fn link(env: &Env, plugin: &Path) -> Result<()> {
    let Some((program, at)) = places(env, plugin) else {
        return say(format_args!(
            "To type `wyren`, add this folder to the PATH: {}",
            plugin.join("bin").display()
        ));
    };
    let (program, shown) = (&program, at.display());
    manual::link(env, plugin);
    match plugin::look(&at, program) {
        Link::Ours => {}
        Link::Theirs => {
            return say(format_args!(
                "{WARNING}Left alone{WARNING:#}: {shown} is not a link to Wyren. The program is {}",
                program.display()
            ));
        }
        Link::Missing | Link::Older => {
            plugin::link(&at, program)?;
            say(format_args!("{SUCCESS}Linked{SUCCESS:#} {shown}"))?;
        }
    }
    let path = env.get("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let first = folders.iter().map(|folder| folder.join(name())).find(|program| program.is_file());
    match first {
        Some(first) if first.canonicalize().ok() == program.canonicalize().ok() => Ok(()),
        Some(first) if folders.iter().any(|folder| Some(&**folder) == at.parent()) => {
            let what_to_do = match migrate::node_programs(env).contains(&first) {
                true => format!("To take it from there: {shown} migrate --unlink"),
                false => format!("Remove it, or type {shown}"),
            };
            say(format_args!(
                "{WARNING}Another `wyren` comes first on the PATH{WARNING:#}: {}. {what_to_do}",
                first.display()
            ))
        }
        _ => say(format_args!(
            "{FOLDER} is not on the PATH. Add it in your shell's profile: export PATH=\"$HOME/{FOLDER}:$PATH\""
        )),
    }
}

/// Returns where the link to an installed plugin is missing, or is one to another plugin of ours.
pub(in crate::commands) fn place_of_missing_link(env: &Env, plugin: &Path) -> Option<PathBuf> {
    let (program, at) = places(env, plugin).filter(|(program, _)| program.is_file())?;
    matches!(plugin::look(&at, &program), Link::Missing | Link::Older).then_some(at)
}

/// Links `wyren` without a word.
pub(in crate::commands) fn make_link(env: &Env, plugin: &Path) -> Result<()> {
    #[cfg(unix)]
    if let Some((program, at)) = places(env, plugin) {
        plugin::link(&at, &program)?;
    }
    Ok(())
}

/// Returns the link, if it is ours.
pub(in crate::commands) fn ours(env: &Env, plugin: &Path) -> Option<PathBuf> {
    let (program, at) = places(env, plugin)?;
    matches!(plugin::look(&at, &program), Link::Ours | Link::Older).then_some(at)
}

/// Removes the link, and the folders that are empty without it; returns what could not be done.
pub(in crate::commands) fn unlink(env: &Env, plugin: &Path) -> Result<Option<String>> {
    manual::unlink(env);
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
