//! What hot hooks must not link: checked on the build that ships.

use super::budgets::HEAVY_DEPENDENCIES;
use crate::plugin::{self, Kind};
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use tables::hooks::{self, Weight};

/// Builds the hooks as they ship and fails when one links something heavy.
pub(crate) fn check() -> Result<()> {
    check_hooks(&plugin::build_hooks(Kind::of_this_machine())?)
}

/// Fails when the packages that are linked into the hooks include something heavy.
pub(crate) fn check_hooks(linked: &BTreeSet<String>) -> Result<()> {
    let heavy: Vec<&str> = HEAVY_DEPENDENCIES.into_iter().filter(|name| linked.contains(*name)).collect();
    if heavy.is_empty() && !linked.is_empty() {
        println!("The hooks link {} packages, none of them heavy", linked.len());
        return Ok(());
    }
    bail!("hooks must not link {}; `cargo tree --invert NAME` shows the way to it", heavy.join(", "));
}

/// Returns whether a program may link SQLite and the like; every other one is a hook that stays lean.
pub(crate) fn may_be_heavy(binary: &str) -> bool {
    HEAVY_PROGRAMS.contains(&binary) || hooks::find(binary).is_some_and(|hook| hook.weight == Weight::Heavy)
}

/// The program that the others become; the status line is drawn too often to be one of them.
const HEAVY_PROGRAMS: [&str; 1] = ["wyren"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heavy_package_fails_the_build_of_the_hooks() {
        let linked = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert!(check_hooks(&linked(&["wyren-base", "regex-lite", "toml_datetime"])).is_ok());
        let error = check_hooks(&linked(&["wyren-base", "rusqlite"])).unwrap_err();
        assert!(error.to_string().contains("rusqlite"), "{error}");
        assert!(check_hooks(&linked(&[])).is_err(), "a check of nothing");
    }

    #[test]
    fn only_named_programs_may_use_the_store() {
        for lean in [
            "tool-record",
            "file-recall",
            "precompact-handoff",
            "wyren-mcp",
            "wyren-statusline",
            "wyren-worker",
        ] {
            assert!(!may_be_heavy(lean), "{lean}");
        }
        assert!(may_be_heavy("wyren"));
    }
}
