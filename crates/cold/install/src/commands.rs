//! The plugin's slash commands as files in the client's folder, where they have their short names.
//!
//! `commands/wyren/status.md` is typed as `/wyren:status`, as the plugin's own. `/wyren-handoff` has a name that the client
//! has no command for, and is in `commands/` itself.

use crate::marked::{self, Comment, MAX_BYTES, marked};
use base::files;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use crate::marked::{File as Command, State, remove};

/// The command with a short name.
pub(crate) const SHORT: &str = "wyren-handoff.md";

/// What a command of the plugin has in place of the plugin's folder.
pub(crate) const ROOT: &str = "${CLAUDE_PLUGIN_ROOT}";

/// Which commands to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All: the client has no plugin to take them from.
    All,
    /// The one with a short name, which a plugin cannot give it.
    Short,
}

/// Compares the commands of the plugin with those in the client's folder.
pub fn plan(plugin: &Path, client: &Path, which: Which) -> io::Result<Vec<Command>> {
    plan_at(plugin, plugin, client, which)
}

/// Compares them as they are once the plugin is in the folder `at`.
pub fn plan_at(plugin: &Path, at: &Path, client: &Path, which: Which) -> io::Result<Vec<Command>> {
    let mut commands = Vec::new();
    for name in names(&plugin.join("commands"))? {
        if which == Which::Short && name != SHORT {
            continue;
        }
        let text = files::read_text_followed(&plugin.join("commands").join(&name), MAX_BYTES)?;
        let contents = marked(&text.replace(ROOT, &at.to_string_lossy()), Comment::Front);
        let folder = client.join("commands");
        let path = if name == SHORT { folder.join(&name) } else { folder.join("wyren").join(&name) };
        commands.push(Command::at(path, contents));
    }
    Ok(commands)
}

/// Writes a command that is due.
pub fn write(command: &Command) -> io::Result<()> {
    command.write()
}

/// Returns the files of commands of ours in the client's folder, and those that the user edited.
pub fn installed(client: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let folder = client.join("commands");
    let names = names(&folder.join("wyren")).unwrap_or_default();
    let paths = names.into_iter().map(|name| folder.join("wyren").join(name)).chain([folder.join(SHORT)]);
    marked::installed(paths)
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
    }

    fn install(client: &Path, which: Which) -> Vec<Command> {
        let commands = plan(&plugin(), client, which).unwrap();
        commands.iter().for_each(|command| write(command).unwrap());
        commands
    }

    #[test]
    fn every_command_is_written_once_and_removed_with_its_folders() {
        let client = tempfile::tempdir().unwrap();
        let written = install(client.path(), Which::All);
        assert!(written.len() > 5 && written.iter().all(|command| matches!(command.state, State::Due(_))));
        let handoff = fs::read_to_string(client.path().join("commands/wyren-handoff.md")).unwrap();
        assert!(!handoff.contains(ROOT) && handoff.contains("/bin/wyren\" memory handoff"), "{handoff}");
        assert!(client.path().join("commands/wyren/status.md").is_file());
        let again = install(client.path(), Which::All);
        assert!(again.iter().all(|command| command.state == State::Done), "{again:?}");
        let (ours, edited) = installed(client.path());
        assert_eq!((ours.len(), edited.len()), (written.len(), 0));
        ours.iter().for_each(|path| remove(path, client.path()).unwrap());
        assert_eq!(fs::read_dir(client.path()).unwrap().count(), 0);
    }

    #[test]
    fn files_of_the_users_are_left_alone() {
        let client = tempfile::tempdir().unwrap();
        fs::create_dir_all(client.path().join("commands/wyren")).unwrap();
        let theirs = client.path().join("commands/wyren-handoff.md");
        fs::write(&theirs, "My own.\n").unwrap();
        install(client.path(), Which::All);
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "My own.\n");
        let edited = client.path().join("commands/wyren/status.md");
        fs::write(&edited, fs::read_to_string(&edited).unwrap() + "And say hello.\n").unwrap();
        let again = install(client.path(), Which::All);
        let left = again.iter().filter(|command| command.state == State::Theirs).map(|command| &command.path);
        assert_eq!(left.collect::<Vec<_>>(), [&edited, &theirs]);
        assert_eq!(installed(client.path()).1, [edited]);
    }

    #[test]
    fn a_plugin_has_all_commands_but_the_short_name() {
        let client = tempfile::tempdir().unwrap();
        assert_eq!(install(client.path(), Which::Short).len(), 1);
        assert!(client.path().join("commands/wyren-handoff.md").is_file());
    }
}
