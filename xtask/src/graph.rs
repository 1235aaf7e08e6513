//! Which crate uses which, as `cargo metadata` has it: the rule of hot and cold, and the tables of ARCHITECTURE.md.

use crate::workspace::{cargo, read, root};
use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tables::document::{Mode, table};
use tables::hooks::{self, Weight};

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<RawPackage>,
}

#[derive(Deserialize)]
struct RawPackage {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// Absent for what is linked, else `dev` or `build`.
    kind: Option<String>,
    /// Present for crates of this workspace.
    path: Option<PathBuf>,
}

impl Dependency {
    fn is_for_tests(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

/// Where a crate is, which says what it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Room {
    Hot,
    Cold,
    Hook,
    Program,
    /// `xtask`, tests and their helpers.
    Development,
}

/// A crate of the workspace, by the name that code uses for it.
#[derive(Debug)]
struct Crate {
    name: String,
    room: Room,
    /// Crates of the workspace that it links.
    uses: BTreeSet<String>,
    /// Crates of others that it links or builds with.
    externals: BTreeSet<String>,
    /// Crates of others for its tests and examples.
    test_externals: BTreeSet<String>,
}

/// Returns the crates of the workspace.
fn crates() -> Result<Vec<Crate>> {
    let metadata = read(cargo().args(["metadata", "--no-deps", "--offline", "--format-version", "1"]))?;
    parse(&metadata, root())
}

fn parse(metadata: &str, root: &Path) -> Result<Vec<Crate>> {
    let metadata: Metadata = serde_json::from_str(metadata).context("could not read `cargo metadata`")?;
    metadata.packages.into_iter().map(|package| Crate::of(package, root)).collect()
}

impl Crate {
    fn of(package: RawPackage, root: &Path) -> Result<Self> {
        let folder = package.manifest_path.parent().and_then(|folder| folder.strip_prefix(root).ok());
        let folder = folder.with_context(|| format!("{} is elsewhere", package.manifest_path.display()))?;
        let name = short(&package.name);
        let is_program = package.name.starts_with("wyren");
        let room = match folder.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().as_slice() {
            [crates, hot, _] if crates == "crates" && hot == "hot" => Room::Hot,
            [crates, cold, _] if crates == "crates" && cold == "cold" => Room::Cold,
            [bins, _] if bins == "bins" && is_program => Room::Program,
            [bins, _] if bins == "bins" => Room::Hook,
            _ => Room::Development,
        };
        let names = |wanted: fn(&Dependency) -> bool| -> BTreeSet<String> {
            package.dependencies.iter().filter(|one| wanted(one)).map(|one| short(&one.name)).collect()
        };
        Ok(Self {
            name: if room == Room::Program { package.name.clone() } else { name },
            room,
            uses: names(|one| one.path.is_some() && !one.is_for_tests()),
            externals: names(|one| one.path.is_none() && !one.is_for_tests()),
            test_externals: names(|one| one.path.is_none() && one.is_for_tests()),
        })
    }

    fn is_shipped(&self) -> bool {
        self.room != Room::Development
    }
}

fn short(package: &str) -> String {
    package.strip_prefix("wyren-").unwrap_or(package).to_owned()
}

/// Compares the crates and dependencies of ARCHITECTURE.md with the manifests, or writes them.
pub(crate) fn settle(mode: Mode) -> Result<()> {
    let (crates, document) = (crates()?, root().join("ARCHITECTURE.md"));
    let violations = violations(&crates);
    if !violations.is_empty() {
        bail!("crates/hot and hooks must not use crates/cold: {}", violations.join(", "));
    }
    mode.block(&document, "crates", &draw(&crates)?)?;
    let present = fs::read_to_string(&document)?;
    let (lines, unexplained) = dependencies(&crates, &reasons(&present));
    mode.block(&document, "dependencies", &lines)?;
    if !unexplained.is_empty() {
        bail!("ARCHITECTURE.md does not say why {} is there: fill in its row", unexplained.join(", "));
    }
    Ok(())
}

/// Returns each crate with the crates that it uses, from the ground up.
fn draw(crates: &[Crate]) -> Result<String> {
    let mut drawing = String::from("```\n");
    let rooms = [
        (Room::Hot, "crates/hot"),
        (Room::Cold, "crates/cold"),
        (Room::Hook, "bins, hooks"),
        (Room::Program, "bins, programs"),
    ];
    let shipped: BTreeMap<&str, &Crate> =
        crates.iter().filter(|one| one.is_shipped()).map(|one| (one.name.as_str(), one)).collect();
    let width = shipped.keys().map(|name| name.len()).max().unwrap_or_default();
    for (room, title) in rooms {
        let mut inside: Vec<(usize, &Crate)> = Vec::new();
        for one in shipped.values().filter(|one| one.room == room) {
            inside.push((floor(one, &shipped, crates.len())?, one));
        }
        inside.sort_by(|(left, a), (right, b)| left.cmp(right).then_with(|| a.name.cmp(&b.name)));
        drawing += &format!("{title}\n");
        for (floor, Crate { name, uses, .. }) in inside {
            let uses = uses.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let line = format!("  {floor}  {name:width$} → {}", if uses.is_empty() { "–" } else { &uses });
            drawing += &format!("{line}\n");
        }
    }
    Ok(drawing + "```\n")
}

/// Returns the length of the longest way down from a crate.
fn floor(one: &Crate, all: &BTreeMap<&str, &Crate>, depth: usize) -> Result<usize> {
    if depth == 0 {
        bail!("{} uses itself", one.name);
    }
    let mut floor = 0;
    for name in &one.uses {
        let below = all
            .get(name.as_str())
            .with_context(|| format!("{} ships and uses {name}, which is for development alone", one.name))?;
        floor = floor.max(self::floor(below, all, depth - 1)? + 1);
    }
    Ok(floor)
}

/// Returns why each dependency is there, as the present table has it.
fn reasons(document: &str) -> BTreeMap<String, String> {
    let block = document.split_once("<!-- dependencies -->").and_then(|(_, rest)| rest.split_once("<!-- /"));
    let rows = block.map(|(block, _)| block).unwrap_or_default().lines();
    let reason = |row: &str| {
        let cells: Vec<&str> = row.strip_prefix("| `")?.strip_suffix(" |")?.splitn(3, " | ").collect();
        let [name, _, reason] = cells.as_slice() else { return None };
        Some((name.trim_end_matches('`').to_owned(), reason.trim().replace("\\|", "|")))
    };
    rows.filter_map(reason).collect()
}

/// Where a dependency is that nothing that ships uses.
const TESTS: &str = "tests";

/// Returns the table of dependencies, and those without a reason.
fn dependencies(crates: &[Crate], reasons: &BTreeMap<String, String>) -> (String, Vec<String>) {
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in crates {
        for external in &one.externals {
            let place = if one.is_shipped() { one.name.as_str() } else { TESTS };
            places.entry(external).or_default().insert(place);
        }
        for external in &one.test_externals {
            places.entry(external).or_default().insert(TESTS);
        }
    }
    let reason = |name: &str| reasons.get(name).cloned().unwrap_or_default();
    let unexplained = places.keys().filter(|name| reason(name).is_empty()).map(|name| format!("`{name}`"));
    let unexplained = unexplained.collect();
    let row = |(name, mut places): (&str, BTreeSet<&str>)| {
        // `xtask` and tests use much of what ships, too; that is of no interest.
        if places.len() > 1 {
            places.remove(TESTS);
        }
        let is_test = places.contains(TESTS);
        let places =
            places.into_iter().map(|name| if is_test { name.to_owned() } else { format!("`{name}`") });
        vec![format!("`{name}`"), places.collect::<Vec<_>>().join(", "), reason(name)]
    };
    (table(&["crate", "where", "why"], places.into_iter().map(row)), unexplained)
}

/// Returns what breaks the rule of hot and cold: hot crates and hooks use hot crates alone.
fn violations(crates: &[Crate]) -> Vec<String> {
    let cold: BTreeSet<&str> =
        crates.iter().filter(|one| one.room == Room::Cold).map(|one| one.name.as_str()).collect();
    let is_bound = |one: &&Crate| match one.room {
        Room::Hot => true,
        Room::Hook => hooks::find(&one.name).is_none_or(|hook| hook.weight != Weight::Heavy),
        Room::Cold | Room::Program | Room::Development => false,
    };
    let arrows = crates.iter().filter(is_bound).flat_map(|one| {
        one.uses
            .iter()
            .filter(|used| cold.contains(used.as_str()))
            .map(|used| format!("{} → {used}", one.name))
    });
    arrows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests may use whatever they like: dev-dependencies do not count.
    #[test]
    fn no_hot_crate_and_no_hook_uses_a_cold_crate() {
        let crates = crates().unwrap();
        let count = |room| crates.iter().filter(|one| one.room == room).count();
        assert!(count(Room::Hot) >= 12 && count(Room::Cold) >= 9, "{crates:#?}");
        assert_eq!(count(Room::Hook), hooks::HOOKS.len());
        assert_eq!(violations(&crates), Vec::<String>::new());
    }

    #[test]
    fn every_arrow_is_drawn_and_every_dependency_explained() {
        settle(Mode::Check).unwrap();
    }

    /// Name, kind and path of each dependency.
    type Dependencies<'a> = &'a [(&'a str, &'a str, Option<&'a str>)];

    fn metadata(packages: &[(&str, &str, Dependencies)]) -> Vec<Crate> {
        let packages = packages.iter().map(|(name, folder, uses)| {
            let dependencies = uses.iter().map(|(name, kind, path)| {
                let kind = (*kind != "normal").then_some(kind);
                serde_json::json!({"name": name, "kind": kind, "path": path})
            });
            let dependencies: Vec<serde_json::Value> = dependencies.collect();
            serde_json::json!({"name": name, "manifest_path": format!("/w/{folder}/Cargo.toml"), "dependencies": dependencies})
        });
        let packages: Vec<serde_json::Value> = packages.collect();
        parse(&serde_json::json!({ "packages": packages }).to_string(), Path::new("/w")).unwrap()
    }

    #[test]
    fn an_arrow_from_hot_to_cold_is_found_unless_only_tests_use_it() {
        let store = |kind| [("wyren-store", kind, Some("/w/crates/cold/store"))];
        let crates = metadata(&[
            ("wyren-store", "crates/cold/store", &[]),
            ("wyren-capture", "crates/hot/capture", &store("normal")),
            ("wyren-lessons", "crates/hot/lessons", &store("dev")),
            ("tool-record", "bins/tool-record", &store("normal")),
            ("wyren", "bins/wyren", &store("normal")),
        ]);
        assert_eq!(violations(&crates), ["capture → store", "tool-record → store"]);
        let drawing = draw(&crates).unwrap();
        assert!(
            drawing.contains("  1  capture     → store\n") && drawing.contains("lessons     → –\n"),
            "{drawing}"
        );
    }

    #[test]
    fn what_ships_uses_nothing_that_is_for_development() {
        let crates = metadata(&[
            ("wyren-tables", "crates/tables", &[]),
            ("wyren-hook", "crates/hot/hook", &[("wyren-tables", "normal", Some("/w/crates/tables"))]),
        ]);
        assert!(draw(&crates).unwrap_err().to_string().contains("hook ships and uses tables"));
    }

    #[test]
    fn a_dependency_is_listed_with_its_users_and_needs_a_reason() {
        let crates = metadata(&[
            ("wyren-base", "crates/hot/base", &[("libc", "normal", None), ("proptest", "dev", None)]),
            ("xtask", "xtask", &[("libc", "normal", None)]),
        ]);
        let reasons =
            reasons("<!-- dependencies -->\n| `libc` | old | the user id |\n<!-- /dependencies -->\n");
        let (lines, unexplained) = dependencies(&crates, &reasons);
        assert!(lines.contains("| `libc` | `base` | the user id |\n| `proptest` | tests |  |\n"), "{lines}");
        assert_eq!(unexplained, ["`proptest`"]);
    }
}
