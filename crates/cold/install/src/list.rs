//! Every path that Wyren writes. Of the data folder, `wyren uninstall --purge` removes these and no others; a test walks a home
//! after a session and fails for a path that is not here.

use base::{files, glob};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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
}

/// Every path: `*` is a part of a name, `**` anything below. Temporary files beside them are not listed.
pub const WRITTEN: [(Below, &str); 79] = [
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
    (Below::Data, "/cache/refused/*/*"),
    (Below::Data, "/cache/untrusted/*"),
    (Below::Data, "/claims/**"),
    (Below::Data, "/config.toml"),
    (Below::Data, "/forgotten"),
    (Below::Data, "/install.lock"),
    (Below::Data, "/jobs/*"),
    (Below::Data, "/lessons/**"),
    (Below::Data, "/logs/*"),
    (Below::Data, "/plugin.new/**"),
    (Below::Data, "/plugin.old/**"),
    (Below::Data, "/plugin/**"),
    (Below::Data, "/publish/*"),
    (Below::Data, "/secret"),
    (Below::Data, "/spool/.drain.lock"),
    (Below::Data, "/spool/*/**"),
    (Below::Data, "/told/*"),
    (Below::Data, "/trust/*"),
    (Below::Data, "/trust/reviewed/*"),
    (Below::Data, "/worker.due"),
    (Below::Data, "/worker.lock"),
    (Below::Data, "/worker.started"),
    (Below::Data, "/worker.stop"),
    (Below::Data, "/wyren.db"),
    (Below::Data, "/wyren.db-*"),
    (Below::Data, "/wyren.db.damaged-*"),
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
    (Below::Git, "/refs/wyren/**"),
    (Below::Client, "/commands/wyren-handoff.md"),
    (Below::Client, "/commands/wyren/*.md"),
    (Below::Client, "/settings*.json*"),
    (Below::Home, "/.local/bin/wyren"),
];

/// Returns whether the list has a path below a folder.
pub fn is_listed(below: Below, path: &Path) -> bool {
    let place = Path::new("/").join(path);
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let beside = place.with_file_name("x");
    let fits = |place: &Path, pattern: &str| glob::fits_folder(pattern, place, None);
    WRITTEN.iter().filter(|(folder, _)| *folder == below).any(|(_, pattern)| {
        // A file that is about to replace one has the name of that one in its own.
        let is_temporary = || {
            let is_beside = Path::new(pattern).parent() == beside.parent() || fits(&beside, pattern);
            files::is_temporary(&name) && is_beside
        };
        fits(&place, pattern) || is_temporary()
    })
}

/// Removes every file of the list below a folder, the folders that are empty then, and the folder itself if it is. Returns the
/// files that are left.
pub fn remove(below: Below, root: &Path) -> io::Result<Vec<PathBuf>> {
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
        if entry.file_type()?.is_dir() {
            remove_below(below, root, &part, left)?;
        } else if is_listed(below, &part) {
            fs::remove_file(entry.path())?;
        } else {
            left.push(entry.path());
        }
    }
    // One that holds something stays.
    let _ = fs::remove_dir(&folder);
    Ok(())
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
        assert_eq!(remove(Below::Data, &root).unwrap(), [root.join("logs/mine/notes.txt")]);
        assert!(!root.join("cache").exists() && root.join("logs/mine/notes.txt").is_file());
        fs::remove_dir_all(root.join("logs")).unwrap();
        fs::write(root.join("secret"), "").unwrap();
        assert!(remove(Below::Data, &root).unwrap().is_empty() && !root.exists());
        assert!(remove(Below::Data, &root).unwrap().is_empty());
    }
}
