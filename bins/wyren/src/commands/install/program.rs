//! `wyren` on the PATH: a link in `~/.local/bin`.

use super::{manual, say};
use crate::person;
use crate::terminal::{SUCCESS, WARNING};
use anyhow::{Context as _, Result};
use base::paths::with_tilde;
use base::{Env, files};
use install::link::{self, Link};
use migrate::is_of_node;
use std::path::{Path, PathBuf};

/// Set by the installer for Windows, which adds the folder to the PATH itself.
const INSTALLER: &str = "WYREN_INSTALLER";

pub(super) fn home(env: &Env) -> Option<PathBuf> {
    base::system::home(env)
}

fn name() -> String {
    format!("wyren{}", std::env::consts::EXE_SUFFIX)
}

/// Returns the program in a plugin's folder, and the place of the link to it.
fn places(env: &Env, plugin: &Path) -> Option<(PathBuf, PathBuf)> {
    Some((plugin.join("bin").join(name()), link::place(&home(env)?)))
}

/// Shows what [`link`] would do once the plugin in `from` is in `plugin`; returns whether that is anything.
pub(in crate::commands) fn show(env: &Env, plugin: &Path, from: &Path) -> Result<bool> {
    let Some((program, at)) = places(env, plugin) else { return Ok(false) };
    let shown = |path: &Path| with_tilde(path, env);
    let page = manual::missing_link(env, plugin, from);
    if let Some((page, at)) = &page {
        say(format_args!("link {} to {}", shown(at), shown(page)))?;
    }
    match link::look(&at, &program) {
        Link::Ours => return Ok(page.is_some()),
        Link::Missing | Link::Older => say(format_args!("link {} to {}", shown(&at), shown(&program)))?,
        Link::Theirs => {
            say(format_args!("leave {} alone, which is not a link to Wyren", shown(&at)))?;
            return Ok(page.is_some());
        }
    }
    Ok(true)
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
    match person::first_on_path(env) {
        Some(first) if first == at || first.canonicalize().ok() == program.canonicalize().ok() => Ok(()),
        Some(first) if is_of_node(&first) => say(format_args!(
            "{WARNING}The Node version comes first on the PATH{WARNING:#}: {}. To take it from there: {shown} migrate --unlink",
            with_tilde(&first, env)
        )),
        Some(first) => say(format_args!(
            "{WARNING}Another `wyren` comes first on the PATH{WARNING:#}: {}. Remove it, or type {shown}",
            with_tilde(&first, env)
        )),
        None => how_to_reach(cfg!(windows), env.is_set(INSTALLER)).map_or(Ok(()), say),
    }
}

/// Says what to type and how to add the folder to the PATH, unless the installer does that. On Windows no command adds it
/// safely: `setx` copies the machine's PATH into the user's, and cuts it.
fn how_to_reach(is_windows: bool, is_by_installer: bool) -> Option<String> {
    match (is_windows, is_by_installer) {
        (true, true) => None,
        (true, false) => Some(
            r"~\.local\bin is not on the PATH, so type ~\.local\bin\wyren. To add it: Settings > System > About > Advanced system settings > Environment Variables > Path > New."
                .to_owned(),
        ),
        (false, _) => Some(
            "~/.local/bin is not on the PATH, so type ~/.local/bin/wyren, or add it in your shell's profile:\n  \
             export PATH=\"$HOME/.local/bin:$PATH\""
                .to_owned(),
        ),
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
        return Ok(Some(format!("could not remove {}: {error}", with_tilde(&at, env))));
    }
    say(format_args!("{SUCCESS}Removed{SUCCESS:#} {}", with_tilde(&at, env)))?;
    if let (Some(home), Some(folder)) = (home(env), at.parent()) {
        files::remove_empty_folders(folder, &home);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_windows_the_way_to_add_a_folder_to_the_path_is_no_command_and_the_installer_needs_none() {
        let text = how_to_reach(true, false).unwrap();
        assert!(text.contains(r"type ~\.local\bin\wyren.") && !text.contains("setx"), "{text}");
        assert_eq!(how_to_reach(true, true), None);
        assert!(how_to_reach(false, true).unwrap().contains("export PATH="));
    }
}
