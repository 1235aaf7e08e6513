//! Every path that Wyren writes. Of the data folder, `wyren uninstall --purge` removes these and no others; a test walks a home
//! after a session and fails for a path that is not here.

use base::{files, glob};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The folder that a path is below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// The data folder.
    Data,
    /// The folder of claims in the runtime or temporary folder.
    Claims,
    /// `.wyren/` of a project.
    Project,
    /// The git folder that a repository's work trees share. Objects are left to git, which removes those without a name.
    Git,
    /// The client's folder, of the user or of a project.
    Client,
    /// The user's home.
    Home,
    /// The folder that a project is in.
    Work,
}

/// Every path: `*` is a part of a name, `**` anything below. Temporary files beside them are not listed.
pub const WRITTEN: &[(Below, &str)] = &[
    (Below::Data, "/allowed/*/*"),
    (Below::Data, "/backups/lessons-*/**"),
    (Below::Data, "/cache/authors/*"),
    (Below::Data, "/cache/drafts/*"),
    (Below::Data, "/cache/git/**"),
    (Below::Data, "/cache/hooks.conf"),
    (Below::Data, "/cache/kept/*"),
    (Below::Data, "/cache/left/*"),
    (Below::Data, "/cache/lessons/*"),
    (Below::Data, "/cache/long-answers/*"),
    (Below::Data, "/cache/model/**"),
    (Below::Data, "/cache/news/*"),
    (Below::Data, "/cache/notices/*"),
    (Below::Data, "/cache/offers/*"),
    (Below::Data, "/cache/plugin-gone"),
    (Below::Data, "/cache/recall/*"),
    (Below::Data, "/cache/refused/*/*"),
    (Below::Data, "/cache/status.json"),
    (Below::Data, "/cache/status.lock"),
    (Below::Data, "/cache/untrusted/*"),
    (Below::Data, "/claims/**"),
    (Below::Data, "/config.toml"),
    (Below::Data, "/forgotten"),
    (Below::Data, "/install.lock"),
    (Below::Data, "/jobs/*"),
    (Below::Data, "/lessons/**"),
    (Below::Data, "/logs/*"),
    (Below::Data, "/migrate.json"),
    (Below::Data, "/plugin.new/**"),
    (Below::Data, "/plugin.old/**"),
    (Below::Data, "/plugin.unpacked/**"),
    (Below::Data, "/plugin/**"),
    (Below::Data, "/publish/*"),
    (Below::Data, "/search/**"),
    (Below::Data, "/secret"),
    (Below::Data, "/serve/lock"),
    (Below::Data, "/serve/running.json"),
    (Below::Data, "/serve/token"),
    (Below::Data, "/spool/.drain.lock"),
    (Below::Data, "/spool/.unrecorded"),
    (Below::Data, "/spool/*/**"),
    (Below::Data, "/transcripts/*"),
    (Below::Data, "/told/*"),
    (Below::Data, "/trust/*"),
    (Below::Data, "/trust/reviewed/*"),
    (Below::Data, "/wired.json"),
    (Below::Data, "/work/**"),
    (Below::Data, "/worker.due"),
    (Below::Data, "/worker.lock"),
    (Below::Data, "/worker.started"),
    (Below::Data, "/worker.stop"),
    (Below::Data, "/wyren.db"),
    (Below::Data, "/wyren.db-*"),
    (Below::Data, "/wyren.db.damaged-*"),
    (Below::Data, "/wyren.db.making"),
    (Below::Data, "/wyren.db.mended*"),
    (Below::Data, "/wyren.db.new*"),
    (Below::Data, "/wyren.db.ready*"),
    (Below::Data, "/wyren.making"),
    (Below::Claims, "/**"),
    (Below::Project, "/.gitattributes"),
    (Below::Project, "/.gitignore"),
    (Below::Project, "/broadcast/**"),
    (Below::Project, "/lessons/**"),
    (Below::Project, "/log"),
    (Below::Project, "/memory.md"),
    (Below::Project, "/state/.lock"),
    (Below::Project, "/state/background.lock"),
    (Below::Project, "/state/broadcast/**"),
    (Below::Project, "/state/copy-of"),
    (Below::Project, "/state/counts-name"),
    (Below::Project, "/state/distill.lock"),
    (Below::Project, "/state/fetch.json"),
    (Below::Project, "/state/folded.json"),
    (Below::Project, "/state/found"),
    (Below::Project, "/state/held-back.json"),
    (Below::Project, "/state/history.jsonl"),
    (Below::Project, "/state/intents/*"),
    (Below::Project, "/state/last-injected-memory.md"),
    (Below::Project, "/state/lessons/**"),
    (Below::Project, "/state/log.1"),
    (Below::Project, "/state/marks.json"),
    (Below::Project, "/state/memory.*"),
    (Below::Project, "/state/sessions/*"),
    (Below::Project, "/state/size.json"),
    (Below::Project, "/state/sync.*"),
    (Below::Project, "/state/ups-state.json"),
    (Below::Project, "/state/watermark.*"),
    (Below::Git, "/info/exclude"),
    (Below::Git, "/refs/worktree/wyren/**"),
    (Below::Git, "/refs/wyren/**"),
    (Below::Git, "/worktrees/*/refs/worktree/wyren/**"),
    (Below::Client, "/commands/wyren-handoff.md"),
    (Below::Client, "/commands/wyren/*.md"),
    // The client's own program writes these for us.
    (Below::Client, "/plugins/cache/*/wyren/**"),
    (Below::Client, "/plugins/installed_plugins.json"),
    (Below::Client, "/plugins/known_marketplaces.json"),
    (Below::Client, "/plugins/npm-cache/**"),
    (Below::Client, "/settings*.json*"),
    (Below::Home, "/.codex/hooks.json*"),
    (Below::Home, "/.codex/skills/wyren-handoff/SKILL.md"),
    (Below::Home, "/.config/opencode/commands/wyren-handoff.md"),
    (Below::Home, "/.config/opencode/plugins/wyren.js"),
    (Below::Home, "/.cursor/commands/wyren-handoff.md"),
    (Below::Home, "/.cursor/hooks.json*"),
    (Below::Home, "/.gemini/commands/wyren-handoff.toml"),
    (Below::Home, "/.gemini/settings.json*"),
    (Below::Home, "/.local/bin/claude-mem"),
    (Below::Home, "/.local/bin/claude-mem.cmd"),
    (Below::Home, "/.local/bin/wyren"),
    (Below::Home, "/.local/bin/wyren.cmd"),
    (Below::Home, "/.local/share/man/man1/wyren.1"),
    (Below::Work, "/.codex/hooks.json*"),
    (Below::Work, "/.codex/skills/wyren-handoff/SKILL.md"),
    (Below::Work, "/.cursor/commands/wyren-handoff.md"),
    (Below::Work, "/.cursor/hooks.json*"),
    (Below::Work, "/.gemini/commands/wyren-handoff.toml"),
    (Below::Work, "/.gemini/settings.json*"),
    (Below::Work, "/.opencode/commands/wyren-handoff.md"),
    (Below::Work, "/.opencode/plugins/wyren.js"),
];

/// Returns whether the list has a path below a folder.
pub fn is_listed(below: Below, path: &Path) -> bool {
    row(below, path).is_some()
}

/// Returns the row of the list that a path below a folder is in.
pub fn row(below: Below, path: &Path) -> Option<&'static (Below, &'static str)> {
    let place = Path::new("/").join(path);
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let beside = place.with_file_name("x");
    let fits = |place: &Path, pattern: &str| glob::fits_folder(pattern, place, None);
    WRITTEN.iter().filter(|(folder, _)| *folder == below).find(|(_, pattern)| {
        // A file that is about to replace one has the name of that one in its own.
        let is_temporary = || {
            let is_beside = Path::new(pattern).parent() == beside.parent() || fits(&beside, pattern);
            files::is_temporary(&name) && is_beside
        };
        fits(&place, pattern) || is_temporary()
    })
}

/// Returns whether a folder may hold more than Wyren's: it is the root, a repository, or the user's home or above it.
pub fn is_shared(folder: &Path, home: Option<&Path>) -> bool {
    let folder = files::canonical(folder);
    let is_around_home = home.is_some_and(|home| files::canonical(home).starts_with(&folder));
    is_around_home || folder.parent().is_none() || folder.join(".git").symlink_metadata().is_ok()
}

/// Removes every file of the list below a folder, the folders of the list that are empty then, and the folder itself if it is.
/// Returns what is left. Fails for a link: in a temporary folder anyone could have made it.
pub fn remove(below: Below, root: &Path) -> io::Result<Vec<PathBuf>> {
    files::refuse_link(root)?;
    let mut left = Vec::new();
    match remove_below(below, root, Path::new(""), &mut left) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(left),
        removed => removed.map(|()| left),
    }
}

fn remove_below(below: Below, root: &Path, part: &Path, left: &mut Vec<PathBuf>) -> io::Result<()> {
    let folder = root.join(part);
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        let part = part.join(entry.file_name());
        // A link is removed, never followed.
        if entry.file_type()?.is_dir() && has_listed(below, &part) {
            remove_below(below, root, &part, left)?;
        } else if !entry.file_type()?.is_dir() && is_listed(below, &part) {
            fs::remove_file(entry.path())?;
        } else {
            left.push(entry.path());
        }
    }
    // One that holds something stays.
    let _ = fs::remove_dir(&folder);
    Ok(())
}

/// Returns whether a path of the list may be below a folder, so that the folder is Wyren's.
pub fn has_listed(below: Below, folder: &Path) -> bool {
    let fits = |(part, name): (Component<'_>, &&str)| {
        glob::fits_folder(&format!("/{name}"), &Path::new("/").join(part), None)
    };
    let depth = folder.components().count();
    WRITTEN.iter().filter(|(above, _)| *above == below).any(|(_, pattern)| {
        // The last name is a file, or `**`: anything at any depth.
        let mut folders: Vec<&str> = pattern.split('/').skip(1).collect();
        let is_deep = folders.pop() == Some("**");
        (is_deep || depth <= folders.len()) && folder.components().zip(&folders).all(fits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_ours_are_listed_and_those_of_others_are_not() {
        for (below, path, expected) in [
            (Below::Data, "wyren.db-wal", true),
            (Below::Data, "cache/.hooks.conf.12.0.tmp", true),
            (Below::Data, "lessons/archive/a.md", true),
            (Below::Data, "photos/a.jpg", false),
            (Below::Data, "photos/secret", false),
            (Below::Data, "photos/a.tmp", false),
            (Below::Data, "logs/deep/a.jsonl", false),
            (Below::Project, "state/sync.json", true),
            (Below::Project, "notes.md", false),
            (Below::Client, "plugins/npm-cache/node_modules/@wyren/plugin/package.json", true),
            (Below::Client, "plugins/cache/wyren/wyren/0.1.0/bin/wyren", true),
            (Below::Client, "plugins/cache/wyren/other/0.1.0/bin/wyren", false),
            (Below::Home, ".local/bin/wyren", true),
            (Below::Home, ".local/bin/other", false),
        ] {
            assert_eq!(is_listed(below, Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn what_is_not_listed_stays_with_its_folders_and_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("data");
        for path in ["secret", "cache/hooks.conf", "logs/hooks.jsonl", "logs/mine/notes.txt"] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "").unwrap();
        }
        fs::create_dir_all(root.join("photos/empty")).unwrap();
        let mut left = remove(Below::Data, &root).unwrap();
        left.sort();
        assert_eq!(left, [root.join("logs/mine"), root.join("photos")]);
        assert!(!root.join("cache").exists() && root.join("logs/mine/notes.txt").is_file());
        assert!(root.join("photos/empty").is_dir(), "a folder of the user's stays, empty or not");
        fs::remove_dir_all(root.join("photos")).unwrap();
        fs::remove_dir_all(root.join("logs")).unwrap();
        fs::write(root.join("secret"), "").unwrap();
        assert!(remove(Below::Data, &root).unwrap().is_empty() && !root.exists());
        assert!(remove(Below::Data, &root).unwrap().is_empty());
    }

    #[test]
    fn a_folder_of_the_list_is_one_that_a_path_of_the_list_is_below() {
        for (folder, expected) in [
            ("cache", true),
            ("cache/notices", true),
            ("cache/notices/mine", false),
            ("spool/a", true),
            ("lessons/archive/deep", true),
            ("logs", true),
            ("logs/mine", false),
            ("allowed/a", true),
            ("photos", false),
            ("photos/cache", false),
        ] {
            assert_eq!(has_listed(Below::Data, Path::new(folder)), expected, "{folder}");
        }
        assert!(has_listed(Below::Claims, Path::new("any/where")));
    }

    #[cfg(unix)]
    #[test]
    fn what_a_link_leads_to_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("precious"), "").unwrap();
        let link = folder.path().join("wyren-1000");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        assert!(remove(Below::Claims, &link).is_err());
        assert!(folder.path().join("precious").is_file());
    }

    #[test]
    fn a_home_what_is_above_it_a_repository_and_the_root_hold_more_than_wyrens() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let (data, repository) = (home.join(".local/share/wyren"), home.join("app"));
        fs::create_dir_all(&data).unwrap();
        fs::create_dir_all(repository.join(".git")).unwrap();
        for shared in [&home, folder.path(), &repository, Path::new("/")] {
            assert!(is_shared(shared, Some(&home)), "{}", shared.display());
        }
        assert!(!is_shared(&data, Some(&home)) && !is_shared(&data, None));
    }
}
