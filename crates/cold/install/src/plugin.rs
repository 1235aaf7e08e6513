//! This machine's plugin in the data folder.

use base::{files, system};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// What follows the name of the plugin's folder while another takes its place.
const NEW: &str = ".new";

/// What follows it where the folder could not be exchanged in one step.
const OLD: &str = ".old";

/// What is in the folder of a plugin.
const OWN: [&str; 11] = [
    ".claude-plugin",
    ".mcp.json",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "bin",
    "commands",
    "hooks",
    "lessons",
    "share",
    "skills",
];

/// What is in the folder of a plugin besides its own: npm's packages, whose programs are in `bin/`, and the client's marks.
const BESIDE: [&str; 6] =
    [".in_use", ".orphaned_at", "node_modules", "package-lock.json", "package.json", "postinstall.js"];

/// Returns whether the folder of a plugin may have something of this name at its top.
pub fn is_known(name: &str) -> bool {
    OWN.contains(&name) || BESIDE.contains(&name)
}

/// Copies the plugin in `from` to `to`, in place of what is there; returns whether that changed anything.
///
/// The two folders are exchanged in one step where the system can: a hook that starts meanwhile runs the old program or the
/// new one.
pub fn copy(from: &Path, to: &Path) -> io::Result<bool> {
    let is_due = is_due(from, to)?;
    let new = beside(to, NEW);
    remove_folder(&new)?;
    if !is_due {
        return Ok(false);
    }
    let copied = copy_folder(from, &new, &BESIDE).and_then(|()| replace(&new, to));
    // Holds the old plugin by now, or a part of the new one. A program in it may be running, which Windows does not delete: the
    // next copy does.
    let _ = remove_folder(&new);
    if copied.is_ok() {
        let _ = remove_folder(&beside(to, OLD));
    }
    copied.map(|()| true)
}

/// Returns whether [`copy`] would change anything; fails where it would.
pub fn is_due(from: &Path, to: &Path) -> io::Result<bool> {
    if to.symlink_metadata().is_ok() && !is_ours(to) && !is_rest(to) {
        let text = format!("{} is there already and is not Wyren's", to.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    let is_there = files::canonical(from) == files::canonical(to) || (to.is_dir() && is_same(from, to)?);
    Ok(!is_there)
}

/// Removes a plugin that [`copy`] made; returns whether there was one. Another folder of that name stays.
///
/// It gets another name first, so that half of it is never in its place.
pub fn remove(folder: &Path) -> io::Result<bool> {
    let aside = beside(folder, NEW);
    let (removed, _) = (remove_folder(&aside), remove_folder(&beside(folder, OLD)));
    if !is_ours(folder) && !is_rest(folder) {
        return Ok(false);
    }
    removed?;
    move_aside(folder, &aside)?;
    // A running program in it stays where the system does not delete those, and nothing calls it there.
    let _ = remove_folder(&aside);
    Ok(true)
}

/// Returns whether a folder is what is left of a plugin whose removal was interrupted: it has no manifest, and nothing but
/// what a plugin has.
fn is_rest(folder: &Path) -> bool {
    let has_manifest = folder.join(".claude-plugin/plugin.json").symlink_metadata().is_ok();
    !has_manifest
        && !files::is_link(folder)
        && fs::read_dir(folder).is_ok_and(|mut entries| {
            entries.all(|entry| entry.is_ok_and(|entry| is_known(&entry.file_name().to_string_lossy())))
        })
}

/// Gives a folder another name; where a program that runs in it is in the way, each of its files.
fn move_aside(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to).or_else(|_| move_files(from, to))
}

fn move_files(from: &Path, to: &Path) -> io::Result<()> {
    files::create_private_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => move_files(&entry.path(), &place)?,
            false => fs::rename(entry.path(), place)?,
        }
    }
    fs::remove_dir(from)
}

/// Returns whether a folder is a plugin of Wyren's.
pub fn is_ours(folder: &Path) -> bool {
    let manifest = folder.join(".claude-plugin/plugin.json");
    let text = files::read_capped(&manifest, files::cap::TEXTS).unwrap_or_default();
    serde_json::from_slice::<Value>(&text).is_ok_and(|manifest| manifest["name"] == "wyren")
}

/// Returns the version of the plugin in a folder, as its manifest has it.
pub fn version(folder: &Path) -> Option<String> {
    let manifest = folder.join(".claude-plugin/plugin.json");
    let text = files::read_followed(&manifest, files::cap::TEXTS).ok()?;
    serde_json::from_slice::<Value>(&text).ok()?["version"].as_str().map(str::to_owned)
}

fn beside(folder: &Path, ending: &str) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!("{name}{ending}"))
}

fn remove_folder(folder: &Path) -> io::Result<bool> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

fn copy_folder(from: &Path, to: &Path, but: &[&str]) -> io::Result<()> {
    files::create_private_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if but.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &place, &[])?;
        } else {
            fs::copy(entry.path(), &place)?;
        }
    }
    Ok(())
}

/// Puts the folder `new` in place of `old`, which is beside it afterwards if it was there.
fn replace(new: &Path, old: &Path) -> io::Result<()> {
    if !old.exists() {
        return fs::rename(new, old);
    }
    if system::exchange(new, old).is_ok() {
        return Ok(());
    }
    let aside = beside(old, OLD);
    remove_folder(&aside)?;
    if let Err(error) = move_aside(old, &aside).and_then(|()| fs::rename(new, old)) {
        // Some of the files may be there, and some here.
        if aside.exists() {
            move_aside(&aside, old)?;
        }
        return Err(error);
    }
    Ok(())
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (files, others) = (list(one)?, list(other)?);
    if files != others {
        return Ok(false);
    }
    for name in files.keys() {
        if !is_same_file(&one.join(name), &other.join(name))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares two files of the same size.
fn is_same_file(one: &Path, other: &Path) -> io::Result<bool> {
    let [mut one, mut other] = [files::open_followed(one)?, files::open_followed(other)?].map(BufReader::new);
    loop {
        let (here, there) = (one.fill_buf()?, other.fill_buf()?);
        let length = here.len().min(there.len());
        if here[..length] != there[..length] {
            return Ok(false);
        }
        if length == 0 {
            return Ok(here.len() == there.len());
        }
        one.consume(length);
        other.consume(length);
    }
}

/// Returns the files of a plugin's own, with their sizes and whether they are programs.
fn list(folder: &Path) -> io::Result<BTreeMap<PathBuf, (u64, bool)>> {
    let (mut list, mut folders) = (BTreeMap::new(), vec![PathBuf::new()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(folder.join(&next))? {
            let entry = entry?;
            let name = next.join(entry.file_name());
            if BESIDE.iter().any(|beside| name == Path::new(beside)) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(name);
            } else {
                let metadata = fs::metadata(entry.path())?;
                list.insert(name, (metadata.len(), system::is_executable(&metadata)));
            }
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_copy_of_a_plugin_from_npm_has_the_programs_and_not_the_packages() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("data/plugin"));
        write(&from.join("bin/wyren"), "one");
        write(&from.join("skills/a/package.json"), "{}");
        write(&from.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
        write(&from.join("node_modules/@wyren/linux-x64/bin/wyren"), "one");
        for name in BESIDE.iter().filter(|name| **name != "node_modules") {
            write(&from.join(name), "");
        }
        assert!(copy(&from, &to).unwrap());
        let own = ["bin", "skills", ".claude-plugin"].map(|name| to.join(name).is_dir());
        assert_eq!((own, fs::read_dir(&to).unwrap().count()), ([true; 3], 3));
        assert!(to.join("skills/a/package.json").is_file());
        assert!(!copy(&from, &to).unwrap(), "what is beside the plugin is no difference");
    }

    #[test]
    fn a_copy_replaces_the_whole_folder_once() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("data/plugin"));
        write(&from.join("bin/wyren"), "one");
        write(&from.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
        assert!(is_due(&from, &to).unwrap() && copy(&from, &to).unwrap() && !is_due(&from, &to).unwrap());
        write(&to.join("old"), "");
        assert!(copy(&from, &to).unwrap());
        assert!(!to.join("old").exists());
        assert!(!copy(&from, &to).unwrap() && !copy(&to, &to).unwrap());
        write(&from.join("bin/wyren"), "two");
        assert!(copy(&from, &to).unwrap());
        assert_eq!(fs::read_to_string(to.join("bin/wyren")).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path().join("data")).unwrap().count(), 1);
        assert!(remove(&to).unwrap() && !remove(&to).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_that_fails_leaves_the_plugin_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("data/plugin"));
        write(&from.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
        std::os::unix::fs::symlink("nowhere", from.join("broken")).unwrap();
        for earlier in [None, Some("old")] {
            if let Some(text) = earlier {
                write(&to.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
                write(&to.join("bin/wyren"), text);
            }
            copy(&from, &to).unwrap_err();
            assert_eq!(fs::read_to_string(to.join("bin/wyren")).ok().as_deref(), earlier);
            assert!(!beside(&to, NEW).exists());
        }
    }

    #[test]
    fn what_an_interrupted_removal_left_is_removed_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("data/plugin"));
        write(&from.join("bin/wyren"), "one");
        write(&from.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
        let leave_rest = || {
            write(&to.join("bin/session-end"), "");
            write(&to.join(".claude-plugin/marketplace.json"), "{}");
            write(&to.join("skills/a.md"), "");
        };
        leave_rest();
        assert!(remove(&to).unwrap() && !to.exists());
        leave_rest();
        assert!(copy(&from, &to).unwrap());
        assert!(is_ours(&to) && !to.join("skills").exists());
        fs::remove_dir_all(&to).unwrap();
        leave_rest();
        write(&to.join("mine"), "");
        assert!(!remove(&to).unwrap() && to.join("mine").is_file());
    }

    #[test]
    fn a_removal_takes_what_an_update_left_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("plugin");
        for place in [&to, &beside(&to, NEW), &beside(&to, OLD)] {
            write(&place.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
        }
        assert!(remove(&to).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn where_a_folder_cannot_be_renamed_its_files_are_moved() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("plugin"), folder.path().join("plugin.old"));
        write(&from.join("bin/wyren"), "new");
        write(&from.join("README.md"), "");
        // Not empty: the system refuses to put another folder in its place.
        write(&to.join("bin/session-end"), "old");
        move_aside(&from, &to).unwrap();
        assert!(!from.exists() && to.join("README.md").is_file() && to.join("bin/session-end").is_file());
        assert_eq!(fs::read_to_string(to.join("bin/wyren")).unwrap(), "new");
    }

    #[test]
    fn a_folder_of_the_users_is_neither_replaced_nor_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("plugin"));
        write(&from.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
        write(&to.join("mine"), "mine");
        for manifest in [None, Some(r#"{"name": "other"}"#), Some("{")] {
            if let Some(text) = manifest {
                write(&to.join(".claude-plugin/plugin.json"), text);
            }
            assert_eq!(copy(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert!(!remove(&to).unwrap());
            assert_eq!(fs::read_to_string(to.join("mine")).unwrap(), "mine");
        }
    }
}
