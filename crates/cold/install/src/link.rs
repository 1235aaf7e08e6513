//! `wyren` in a folder of the PATH: a link to the program in the plugin's folder; on Windows, where only administrators make
//! links, a script that starts it.

#[cfg(any(windows, test))]
mod script;
#[cfg(unix)]
mod symbolic;

#[cfg(windows)]
use script as platform;
#[cfg(unix)]
use symbolic as platform;

use base::files;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the link.
pub const NAME: &str = platform::NAME;

/// Where people's own programs are, below the home.
pub const FOLDER: &str = if cfg!(windows) { r".local\bin" } else { ".local/bin" };

/// What is at the place of a link.
#[derive(Debug, PartialEq, Eq)]
pub enum Link {
    /// Nothing.
    Missing,
    /// A link to this program.
    Ours,
    /// A link to `wyren` in another folder of the plugin.
    Older,
    /// Something that Wyren did not put there.
    Theirs,
}

impl Link {
    /// Judges what was found: where a link leads, or why none could be read.
    fn of(found: io::Result<Option<PathBuf>>, program: &Path) -> Self {
        match found {
            Ok(Some(target)) if target == program => Self::Ours,
            Ok(Some(target)) if is_of_a_plugin(&target) => Self::Older,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            _ => Self::Theirs,
        }
    }
}

/// Looks at the place where `program` is to be linked.
pub fn look(at: &Path, program: &Path) -> Link {
    Link::of(platform::target(at), program)
}

/// Returns the place of the link in a home.
pub fn place(home: &Path) -> PathBuf {
    home.join(FOLDER).join(NAME)
}

/// Returns whether a program is `wyren` of a plugin's folder, or a link to it.
pub fn leads_to_wyren(at: &Path) -> bool {
    let target = platform::target(at).ok().flatten().filter(|target| target.is_absolute());
    is_of_a_plugin(&files::canonical(target.as_deref().unwrap_or(at)))
}

/// Links `program` at a place that has nothing, or an older link of ours.
pub fn link(at: &Path, program: &Path) -> io::Result<()> {
    if let Some(folder) = at.parent() {
        files::create_private_folder(folder)?;
    }
    platform::write(at, program)
}

fn is_of_a_plugin(program: &Path) -> bool {
    // The Node version's is `wyren.mjs`, also below `bin` and beside `hooks`.
    let is_named = program.file_name().is_some_and(|name| name == "wyren" || name == "wyren.exe");
    let folder = program.parent().filter(|bin| bin.ends_with("bin")).and_then(Path::parent);
    is_named
        && program.is_absolute()
        && folder.is_some_and(|folder| folder.join("hooks/hooks.json").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn only_links_of_ours_are_replaced(
        target: fn(&Path) -> io::Result<Option<PathBuf>>,
        write: fn(&Path, &Path) -> io::Result<()>,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (at, program) = (folder.path().join("bin/wyren"), folder.path().join("100% mine/bin/wyren"));
        let look = |program: &Path| Link::of(target(&at), program);
        assert_eq!(look(&program), Link::Missing);
        fs::create_dir(folder.path().join("bin")).unwrap();
        write(&at, &program).unwrap();
        assert_eq!(look(&program), Link::Ours);
        let other = folder.path().join("other/bin/wyren");
        assert_eq!(look(&other), Link::Theirs);
        put(&folder.path().join("100% mine/hooks/hooks.json"), "{}");
        assert_eq!(look(&other), Link::Older);
        write(&at, &other).unwrap();
        assert_eq!(look(&other), Link::Ours);
        fs::remove_file(&at).unwrap();
        put(&folder.path().join("node/hooks/hooks.json"), "{}");
        write(&at, &folder.path().join("node/bin/wyren.mjs")).unwrap();
        assert_eq!(look(&program), Link::Theirs, "the Node version's");
        fs::remove_file(&at).unwrap();
        for theirs in ["#!/usr/bin/env node", "@node \"C:\\wyren.mjs\" %*\r\n", ""] {
            put(&at, theirs);
            assert_eq!(look(&program), Link::Theirs, "{theirs}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_links_of_ours_are_replaced_on_unix() {
        only_links_of_ours_are_replaced(symbolic::target, symbolic::write);
    }

    #[test]
    fn only_scripts_of_ours_are_replaced_on_windows() {
        only_links_of_ours_are_replaced(script::target, script::write);
    }
}
