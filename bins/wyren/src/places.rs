//! Folders where files should be, and the reverse: named, never deleted.

use crate::exit::Ending;
use base::Paths;
use std::path::PathBuf;

/// Something in the data folder that is of the wrong kind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misplaced {
    pub(crate) path: PathBuf,
    is_folder: bool,
}

impl Misplaced {
    pub(crate) fn problem(&self) -> String {
        let (path, is) =
            (self.path.display(), if self.is_folder { "is a folder" } else { "is not a folder" });
        let expected = if self.is_folder { "expected a file" } else { "expected one" };
        format!("{path} {is}; {expected}")
    }

    pub(crate) fn fix(&self) -> String {
        let path = self.path.display();
        format!("mv '{path}' '{path}.aside'")
    }
}

/// Fails when commands that use the database could not work.
pub(crate) fn check(paths: &Paths) -> Result<(), Ending> {
    let folders = [paths.data().to_owned(), paths.spool(), paths.data().join("jobs")];
    let files = [paths.database(), paths.spool().join(".drain.lock")];
    match misplaced(folders, files) {
        None => Ok(()),
        Some(found) => Err(Ending::failed(format!(
            "wyren: {}. Nothing was changed. Move it away and try again: {}",
            found.problem(),
            found.fix()
        ))),
    }
}

/// Returns the first thing in the data folder that is of the wrong kind.
pub(crate) fn anything_misplaced(paths: &Paths) -> Option<Misplaced> {
    let data = |name: &str| paths.data().join(name);
    let folders = [data("spool"), data("logs"), data("cache"), data("jobs"), data("lessons"), data("trust")];
    let files = [
        paths.database(),
        paths.spool().join(".drain.lock"),
        paths.hook_log(),
        paths.hook_settings(),
        paths.config_file(),
        queue::lock_file(paths),
        runner::log_file(paths),
    ];
    misplaced(folders, files)
}

fn misplaced(
    folders: impl IntoIterator<Item = PathBuf>,
    files: impl IntoIterator<Item = PathBuf>,
) -> Option<Misplaced> {
    let folder = folders.into_iter().find(|path| path.exists() && !path.is_dir());
    let file = files.into_iter().find(|path| path.is_dir());
    folder
        .map(|path| Misplaced { path, is_folder: false })
        .or(file.map(|path| Misplaced { path, is_folder: true }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;
    use std::fs;

    #[test]
    fn what_is_of_the_wrong_kind_is_named_with_a_command_that_moves_it_away() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path())]));
        assert!(check(&paths).is_ok() && anything_misplaced(&paths).is_none());
        fs::create_dir(paths.database()).unwrap();
        let found = check(&paths).unwrap_err().to_string();
        let path = paths.database().display().to_string();
        assert!(
            found.contains(&format!("{path} is a folder")) && found.contains(&format!("mv '{path}'")),
            "{found}"
        );
        fs::remove_dir(paths.database()).unwrap();
        fs::write(paths.logs(), "").unwrap();
        assert!(check(&paths).is_ok(), "a command works without logs");
        assert_eq!(anything_misplaced(&paths).map(|found| found.path), Some(paths.logs()));
    }
}
