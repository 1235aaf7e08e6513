//! What hot hooks must not depend on.

use super::budgets::{HEAVY_DEPENDENCIES, HEAVY_HOOKS};
use crate::workspace::{binaries, cargo, read};
use anyhow::{Result, bail};

/// Fails when a hook that must stay lean depends on something heavy, and says by which path.
pub(crate) fn check() -> Result<()> {
    let mut found = 0;
    for hook in binaries()?.into_iter().filter(|binary| must_be_lean(binary)) {
        let tree = read(cargo().args([
            "tree",
            "--package",
            &hook,
            "--edges",
            // Macros run in the compiler and are not linked.
            "normal,no-proc-macro",
            "--prefix",
            "depth",
            "--format",
            " {p}",
            "--locked",
        ]))?;
        let heavy = heavy_paths(&tree);
        found += heavy.len();
        if heavy.is_empty() {
            println!("{hook}: lean, {} dependencies", dependencies(&tree));
        }
        heavy.iter().for_each(|path| println!("{hook}: HEAVY, {path}"));
    }
    if found > 0 {
        bail!("hot hooks link none of: {}", HEAVY_DEPENDENCIES.join(", "));
    }
    Ok(())
}

/// Says whether a program is a hook that may not link SQLite or the like.
fn must_be_lean(binary: &str) -> bool {
    !binary.starts_with("wyren") && !HEAVY_HOOKS.contains(&binary)
}

/// Returns the way to each heavy dependency in what `cargo tree --prefix depth` printed.
fn heavy_paths(tree: &str) -> Vec<String> {
    let mut way: Vec<&str> = Vec::new();
    let mut paths = Vec::new();
    for (depth, name) in tree.lines().filter_map(parse) {
        way.truncate(depth);
        way.push(name);
        if HEAVY_DEPENDENCIES.contains(&name) {
            paths.push(way.join(" → "));
        }
    }
    paths
}

/// Returns how many packages a tree has below its root.
fn dependencies(tree: &str) -> usize {
    let names: std::collections::BTreeSet<_> = tree.lines().filter_map(parse).map(|(_, name)| name).collect();
    names.len().saturating_sub(1)
}

/// Takes a line such as `2 toml_edit v0.25.1 (*)` apart.
fn parse(line: &str) -> Option<(usize, &str)> {
    let mut words = line.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heavy_dependency_is_named_with_the_way_to_it() {
        let tree = "0 tool-record v0.1.0 (/app/bins/tool-record)\n\
                    1 wyren-hook v0.1.0 (/app/crates/hook)\n\
                    2 serde v1.0.228\n\
                    2 wyren-base v0.1.0\n\
                    3 toml_edit v0.25.1\n\
                    1 regex-lite v0.1.9\n";
        assert_eq!(heavy_paths(tree), ["tool-record → wyren-hook → wyren-base → toml_edit"]);
        assert_eq!(dependencies(tree), 5);
    }

    #[test]
    fn a_package_that_only_sounds_heavy_is_allowed() {
        assert!(
            heavy_paths("0 tool-record v0.1.0\n1 regex-lite v0.1.9\n1 toml_datetime v1.0.0\n").is_empty()
        );
    }

    #[test]
    fn programs_that_may_use_the_store_are_left_out() {
        assert!(must_be_lean("tool-record"));
        assert!(!must_be_lean("file-recall"));
        assert!(!must_be_lean("wyren-worker"));
    }
}
