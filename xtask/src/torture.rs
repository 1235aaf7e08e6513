//! Runs the load test for as long as is wanted, on the programs that are shipped.

use crate::plugin;
use crate::workspace::{cargo, run};
use anyhow::Result;

/// The test's name in `tests/blackbox`.
const TEST: &str = "torture::";

/// How long to torture.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Seconds of load.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed of an earlier run, to kill alike.
    #[arg(long)]
    seed: Option<u64>,
}

/// Assembles the plugin and loads it, killing whatever runs at random.
pub(crate) fn torture(arguments: &Arguments) -> Result<()> {
    let plugin = plugin::assemble()?;
    let mut test = cargo();
    test.args(["test", "--package", "wyren-tests", "--test", "blackbox", "--", TEST])
        .env("WYREN_PLUGIN", plugin)
        .env("WYREN_TORTURE_SECONDS", arguments.seconds.to_string());
    if let Some(seed) = arguments.seed {
        test.env("WYREN_TORTURE_SEED", seed.to_string());
    }
    run(&mut test)
}
