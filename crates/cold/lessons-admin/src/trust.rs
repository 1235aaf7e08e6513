//! Which projects may refuse calls: their guards and pauses come with a repository, and act only when the user says so.

use super::catalogue::{Catalogue, Item, Places, State};
use super::{Error, Result};
use base::files;
use lessons::Kind;
use lessons::layers::{self, Layer};
use std::fs;
use std::path::PathBuf;

/// The first line of a trust file; the second is the project's folder.
const HEADER: &str = "wyren trust 1";

/// Returns the project's folder that trust is about.
pub fn root(places: &Places) -> PathBuf {
    let lessons = places.project();
    let root = layers::project_root(&lessons);
    fs::canonicalize(root).unwrap_or_else(|_| root.to_owned())
}

/// Says whether the project is trusted.
pub fn is_trusted(places: &Places) -> bool {
    layers::trust_file(&places.paths, &places.project()).exists()
}

/// Returns the project's lessons that would refuse calls.
pub fn refusing(catalogue: &Catalogue) -> Vec<&Item> {
    let refuses = |item: &&Item| {
        item.layer == Layer::Project
            && item.state == State::Active
            && matches!(item.lesson.kind, Kind::Guard | Kind::Pause)
    };
    catalogue.items.iter().filter(refuses).collect()
}

/// Lets the project's guards and pauses act.
pub fn trust(places: &Places) -> Result<()> {
    let file = layers::trust_file(&places.paths, &places.project());
    let text = format!("{HEADER}\n{}\n", root(places).display());
    files::write_atomic(&file, text.as_bytes()).map_err(Error::io(&file))
}

/// Takes that back; says whether there was anything to take back.
pub fn untrust(places: &Places) -> Result<bool> {
    let file = layers::trust_file(&places.paths, &places.project());
    files::remove_if_there(&file).map_err(Error::io(&file))
}

/// Returns the folders of the projects that are trusted.
pub fn list(places: &Places) -> Vec<PathBuf> {
    let path_of = |file: &PathBuf| {
        let text = fs::read_to_string(file).ok()?;
        // What another version wrote is trusted all the same, but where it is nobody can say.
        let path = text.strip_prefix(HEADER)?.trim_matches('\n');
        Some(PathBuf::from(path))
    };
    let mut projects: Vec<PathBuf> =
        files::files_in(&places.paths.data().join("trust")).iter().filter_map(path_of).collect();
    projects.sort();
    projects
}
