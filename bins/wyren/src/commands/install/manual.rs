//! `man wyren`: a link to the plugin's page, where `man` looks for those of programs in `~/.local/bin`.

use super::program::home;
use base::{Env, files, system};
use std::path::{Path, PathBuf};

/// The page in the plugin.
const PAGE: &str = "share/man/man1/wyren.1";

fn place(env: &Env) -> Option<PathBuf> {
    home(env).filter(|_| cfg!(unix)).map(|home| home.join(".local").join(PAGE))
}

/// Returns whether a link leads to the page of a plugin: not what a person put there.
fn is_ours(at: &Path) -> bool {
    std::fs::read_link(at).is_ok_and(|target| target.is_absolute() && target.ends_with(PAGE))
}

/// Returns the page and the place of the link that [`link`] would make once the plugin in `from` is in `plugin`.
pub(super) fn missing_link(env: &Env, plugin: &Path, from: &Path) -> Option<(PathBuf, PathBuf)> {
    let (at, page) = (place(env)?, plugin.join(PAGE));
    let is_free = at.symlink_metadata().is_err() || is_ours(&at);
    let is_linked = std::fs::read_link(&at).is_ok_and(|target| target == page);
    (from.join(PAGE).is_file() && is_free && !is_linked).then_some((page, at))
}

/// Links the page of the plugin in a folder. A page is a convenience: nothing fails without it.
pub(super) fn link(env: &Env, plugin: &Path) {
    let (Some(at), page) = (place(env), plugin.join(PAGE)) else { return };
    if !page.is_file() || (at.symlink_metadata().is_ok() && !is_ours(&at)) {
        return;
    }
    let Some(folder) = at.parent() else { return };
    let linked = files::create_private_folder(folder)
        .and_then(|()| files::remove_if_there(&at))
        .and_then(|_| system::link(&page, &at));
    // It is only a page of the manual.
    drop(linked);
}

/// Removes the link to the page of the plugin in a folder, and the folders that are empty without it. A link to another page is
/// the user's.
pub(super) fn unlink(env: &Env, plugin: &Path) {
    let is_ours = |at: &PathBuf| std::fs::read_link(at).is_ok_and(|target| target == plugin.join(PAGE));
    let (Some(at), Some(home)) = (place(env).filter(is_ours), home(env)) else { return };
    let _ = files::remove_if_there(&at);
    files::remove_empty_folders(at.parent().unwrap_or(&home), &home);
}
