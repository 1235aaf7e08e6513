//! Runs the agents other than Claude Code that npm has, with Wyren in them and a scripted model.

use crate::workspace::{cargo, run};
use crate::{plugin, test};
use anyhow::{Result, bail};

/// Installs the pinned agents and runs their tests.
pub(crate) fn run_all() -> Result<()> {
    let plugin = plugin::assemble()?;
    // Their programs are in their packages; what else a script of theirs does is not needed. `npm ci` would ask for the packages of
    // platforms that not every registry has.
    if !test::install("tests/agents", &["install", "--no-save", "--ignore-scripts"])? {
        bail!("npm is not installed");
    }
    let tests = ["test", "--package", "wyren-tests", "--test", "blackbox", "agents::run"];
    run(cargo().args(tests).env("WYREN_PLUGIN", &plugin))
}
