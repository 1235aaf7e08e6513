//! The versions of Wyren on this machine: one, wherever it is run from.

use super::{Check, Subject, command};
use crate::wired::Wiring;
use base::files;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const NAME: &str = "versions";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let cwd = std::env::current_dir().unwrap_or_default();
    let wiring = Wiring::read(subject.env, subject.paths, &cwd);
    let mut places: Vec<(PathBuf, String)> = Vec::new();
    places.extend(wiring.plugins.iter().map(|(id, folder)| (folder.clone(), format!("plugin {id}"))));
    for (file, programs) in &wiring.by_hand {
        let folders = programs.iter().filter_map(|program| folder_of(program));
        places.extend(folders.map(|folder| (folder, format!("hooks in {}", file.display()))));
    }
    places.push((subject.paths.installed_plugin(), "wyren install".to_owned()));
    let on_path = command::programs(subject).into_iter().next();
    places.extend(on_path.and_then(|program| Some((folder_of(&program)?, "`wyren` on the PATH".to_owned()))));
    let ours = std::env::current_exe().ok().and_then(|program| folder_of(&program));
    places.extend(ours.map(|folder| (folder, "this program".to_owned())));
    judge(&places)
}

/// Returns the plugin folder of a program, wherever a link to it is.
fn folder_of(program: &Path) -> Option<PathBuf> {
    files::canonical(program).parent()?.parent().map(Path::to_owned)
}

fn judge(places: &[(PathBuf, String)]) -> Check {
    let mut found: BTreeMap<PathBuf, (String, String)> = BTreeMap::new();
    for (folder, what) in places {
        let folder = files::canonical(folder);
        let Some(version) = install::plugin::version(&folder) else { continue };
        found.entry(folder).or_insert_with(|| (version, what.clone()));
    }
    let mut versions: Vec<&str> = found.values().map(|(version, _)| version.as_str()).collect();
    versions.sort_by_key(|version| order(version));
    versions.dedup();
    match versions[..] {
        [] => Check::good(NAME, concat!(env!("CARGO_PKG_VERSION"), " (this program, in no plugin folder)")),
        [version] => Check::good(NAME, format!("{version} everywhere")),
        [.., newest] => {
            let each = found
                .iter()
                .map(|(folder, (version, what))| format!("{version} in {} ({what})", folder.display()));
            let message = format!("two versions are in use: {}", each.collect::<Vec<_>>().join("; "));
            let place = found.iter().find(|(_, (version, _))| version == newest).map(|(folder, _)| folder);
            let wyren = place.map(|folder| folder.join("bin/wyren")).unwrap_or_default();
            Check::odd(NAME, message, format!("'{}' install", wyren.display()))
        }
    }
}

/// The place of a version among others: its numbers, whether it is a release and no preview of one, and which preview.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::commands) struct Order([u64; 3], bool, Vec<Part>);

/// A part of the name of a preview; numbers come first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Text(String),
}

/// Returns the place of a version, as semantic versioning has it.
pub(in crate::commands) fn order(version: &str) -> Order {
    // What a build adds does not count.
    let version = version.split('+').next().unwrap_or_default();
    let (numbers, preview) = version.split_once('-').unwrap_or((version, ""));
    let mut parts = numbers.split('.').map(|number| number.parse().unwrap_or(0));
    let numbers = [(); 3].map(|()| parts.next().unwrap_or(0));
    let part = |part: &str| part.parse().map_or_else(|_| Part::Text(part.to_owned()), Part::Number);
    let preview: Vec<Part> = preview.split('.').filter(|part| !part.is_empty()).map(part).collect();
    Order(numbers, preview.is_empty(), preview)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Health;
    use std::fs;

    #[test]
    fn versions_are_compared_as_semantic_versioning_has_it() {
        let sorted = ["0.2.0-alpha", "0.2.0-rc.1", "0.2.0-rc.2", "0.2.0-rc.10", "0.2.0", "0.10.0", "1.0.0"];
        assert!(sorted.is_sorted_by(|one, other| order(one) < order(other)));
        assert_eq!(order("0.2.0+build.7"), order("0.2.0"));
        assert!(order("0.2.0-1") < order("0.2.0-rc"));
    }

    #[test]
    fn two_versions_are_named_with_their_places_and_the_newer_is_to_be_installed() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str, version: &str| {
            let plugin = folder.path().join(name);
            fs::create_dir_all(plugin.join(".claude-plugin")).unwrap();
            let manifest = format!(r#"{{"name": "wyren", "version": "{version}"}}"#);
            fs::write(plugin.join(".claude-plugin/plugin.json"), manifest).unwrap();
            (plugin, name.to_owned())
        };
        let (old, new, same) = (place("old", "0.9.0"), place("new", "0.10.0"), place("same", "0.9.0"));
        assert_eq!(judge(&[]).health, Health::Good);
        assert_eq!(
            judge(&[old.clone(), same.clone(), (folder.path().join("none"), String::new())]).health,
            Health::Good
        );
        let check = judge(&[old.clone(), new.clone(), same]);
        assert_eq!(check.health, Health::Odd);
        for (place, what) in [&old, &new] {
            assert!(check.message.contains(&format!("{} ({what})", place.display())), "{check:?}");
        }
        let fix = check.fix.unwrap_or_default();
        assert_eq!(fix, format!("'{}' install", new.0.join("bin/wyren").display()));
    }
}
