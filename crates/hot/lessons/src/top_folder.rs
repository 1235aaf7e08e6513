//! The kind of a project, by the names at its top: `Cargo.toml`, `package.json`, `*.tf`. A directive with `path:` is shown where
//! one of its globs fits.

use crate::path_glob;
use base::project::Project;
use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

/// How many names are looked at. What a project is made of is among the first few dozen.
const MAX_NAMES: usize = 500;

/// The names at the top of the project around a folder, read when a lesson asks for them.
pub(crate) struct TopFolder {
    cwd: PathBuf,
    names: OnceCell<Vec<String>>,
}

impl TopFolder {
    pub(crate) fn around(cwd: &Path) -> Self {
        Self { cwd: cwd.to_owned(), names: OnceCell::new() }
    }

    /// Returns whether one of the globs fits a name; without globs every project fits.
    pub(crate) fn fits(&self, globs: &[&str]) -> bool {
        let fits = |glob: &&str| self.names().iter().any(|name| path_glob::fits(glob, name));
        globs.is_empty() || globs.iter().any(fits)
    }

    fn names(&self) -> &[String] {
        self.names.get_or_init(|| {
            let Ok(entries) = fs::read_dir(Project::of(&self.cwd).root) else { return Vec::new() };
            let entries = entries.take(MAX_NAMES).flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_known_by_the_names_at_its_top() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git")).unwrap();
        fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        for name in [".git/HEAD", "Cargo.toml", "main.tf", "src/package.json"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        for cwd in ["", "src/deep"] {
            let top = TopFolder::around(&folder.path().join(cwd));
            for (glob, expected) in [
                ("Cargo.toml", true),
                ("*.tf", true),
                ("src", true),
                ("package.json", false),
                ("*.py", false),
            ] {
                assert_eq!(top.fits(&[glob]), expected, "{cwd}: {glob}");
            }
            assert!(top.fits(&[]) && top.fits(&["go.mod", "{main,other}.tf"]));
        }
    }

    #[test]
    fn a_folder_that_cannot_be_read_has_no_kind() {
        let folder = tempfile::tempdir().unwrap();
        let top = TopFolder::around(&folder.path().join("gone"));
        assert!(!top.fits(&["Cargo.toml"]) && top.fits(&[]));
    }
}
