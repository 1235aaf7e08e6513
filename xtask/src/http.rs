//! Tests `wyren serve` with what a quick test leaves out: requests that schemathesis makes of the OpenAPI document, and 30 s of load.

use crate::plugin;
use crate::workspace::{self, cargo, run};
use anyhow::Result;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// From PyPI.
const PACKAGE: &str = "schemathesis==4.32.5";
/// Seconds of load.
const SECONDS: &str = "30";

/// Installs the pinned tool and runs the tests.
pub(crate) fn run_all() -> Result<()> {
    let plugin = plugin::assemble()?;
    let program = install()?;
    let tests = [
        "test",
        "--package",
        "wyren-tests",
        "--test",
        "blackbox",
        "serve::",
        "--",
        "--nocapture",
        "--test-threads=1",
    ];
    let mut test = cargo();
    test.args(tests)
        .env("WYREN_PLUGIN", &plugin)
        .env("WYREN_SCHEMATHESIS", program)
        .env("WYREN_SERVE_SECONDS", SECONDS);
    run(&mut test)
}

/// Installs the tool into a folder of its own, unless it is there.
fn install() -> Result<PathBuf> {
    let folder = workspace::target().join("schemathesis");
    let (program, note) = (folder.join("bin/schemathesis"), folder.join("installed"));
    if fs::read_to_string(&note).is_ok_and(|installed| installed == PACKAGE) {
        return Ok(program);
    }
    println!("Installing {PACKAGE}");
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let mut pip = Command::new(folder.join("bin/python3"));
    run(pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]))?;
    // Last, so that half an installation is none.
    fs::write(&note, PACKAGE)?;
    Ok(program)
}
