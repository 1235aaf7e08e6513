//! Runs every test: those of the crates, and the black-box tests of the assembled plugin, the real client included.

use crate::workspace::{cargo, is_installed, root, run};
use crate::{archive, npm, plugin};
use anyhow::{Result, bail};
use std::process::Command;

/// Installs missing prerequisites and runs all tests. Reports skipped tests at the end; with `CI=true` a skip is a
/// failure.
pub(crate) fn run_all() -> Result<()> {
    let strict = std::env::var("CI").is_ok_and(|value| value == "true");
    let mut skipped = Vec::new();

    let plugin = plugin::assemble()?;
    if plugin::Kind::of_this_machine().triple().is_none() && cfg!(target_os = "linux") {
        skipped.push("static binaries: the plugin was built with the host's linking (see above)");
    }
    // A test that misses something fails unless it may be skipped.
    // The other agents are 860 MB: `cargo xtask agents` installs and runs them.
    // schemathesis needs Python: `cargo xtask http` installs and runs it.
    let mut missing = vec!["agents", "schemathesis"];
    if !install("tests/client", &["ci"])? {
        skipped.push("the real client: npm is not installed");
        missing.push("client");
    }
    if !install("tests/mcp", &["ci"])? {
        skipped.push("the MCP SDK of npm: npm is not installed");
        missing.push("mcp-sdk");
    }
    if cfg!(target_os = "linux") {
        npm::assemble_here()?;
    } else {
        skipped.push("the packages for npm, which take GNU tar: they are made on Linux");
        missing.push("npm");
    }
    if archive::dist().is_some() {
        archive::pack()?;
    } else {
        skipped.push("the archive: dist is not installed (CONTRIBUTING.md says how)");
        missing.push("archive");
    }
    // For the black-box tests: hooks that misbehave on purpose, a program that asks a model, victims of the torture.
    let mut examples = cargo();
    examples.args(["build", "--examples"]);
    for package in ["wyren-hook", "wyren-model", "wyren-capture", "wyren-store"] {
        examples.args(["--package", package]);
    }
    run(&mut examples)?;
    let skip = missing.join(",");
    run(cargo().args(["test", "--workspace"]).env("WYREN_TESTS_SKIP", skip).env("WYREN_PLUGIN", &plugin))?;

    for reason in &skipped {
        println!("skipped: {reason}");
    }
    if strict && !skipped.is_empty() {
        bail!("something was skipped, which CI does not allow");
    }
    Ok(())
}

/// Installs the pinned packages of a folder, by a command of npm's, when npm is there; says whether it is.
pub(crate) fn install(folder: &str, how: &[&str]) -> Result<bool> {
    let folder = root().join(folder);
    // npm writes this file when an installation is complete; the lock file is older than it then.
    let installed =
        folder.join("node_modules/.package-lock.json").metadata().and_then(|file| file.modified());
    let wanted = folder.join("package-lock.json").metadata().and_then(|file| file.modified());
    if matches!((installed, wanted), (Ok(installed), Ok(wanted)) if installed >= wanted) {
        return Ok(true);
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if !is_installed(npm) {
        return Ok(false);
    }
    println!("Installing the packages of {}", folder.display());
    run(Command::new(npm).args(how).args(["--no-audit", "--no-fund"]).current_dir(&folder))?;
    Ok(true)
}
