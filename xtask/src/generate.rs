//! Everything that is generated from a table, written anew.

use crate::graph;
use crate::workspace::{cargo, root, run};
use anyhow::Result;
use tables::commands::{self, COMMANDS};
use tables::document::{Mode, UPDATE};
use tables::hooks::{self, HOOKS};

/// Writes the generated files and blocks.
pub(crate) fn write() -> Result<()> {
    hooks::settle(Mode::Write, root(), HOOKS)?;
    commands::settle(Mode::Write, root(), COMMANDS)?;
    graph::settle(Mode::Write)?;
    // The tables of the command line are where the commands are: tests there write them, one after the other.
    let tests =
        ["test", "--quiet", "--package", "wyren", "--bin", "wyren", "reference", "--", "--test-threads=1"];
    run(cargo().args(tests).env(UPDATE, "1"))
}

/// Makes a new hook, and says what is left to do.
pub(crate) fn new_hook(arguments: &NewHook) -> Result<()> {
    let NewHook { name, event, job } = arguments;
    for file in tables::new_hook::make(root(), name, event, job)? {
        println!("{}", file.strip_prefix(root()).unwrap_or(&file).display());
    }
    graph::settle(Mode::Write)?;
    println!(
        "\nLeft to do: what {name} thinks (a capability crate), golden cases for it in tests/data/{name}, and the rest of \
         \"How to add a hook\" in CONTRIBUTING.md."
    );
    Ok(())
}

#[derive(clap::Args)]
pub(crate) struct NewHook {
    /// The name of the program, as in `stop-distill`.
    name: String,
    /// The event of the client that it is wired to.
    event: String,
    /// What it does, in one line for the tables.
    #[arg(default_value = tables::new_hook::NO_JOB_YET)]
    job: String,
}
