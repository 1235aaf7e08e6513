//! The plugin in the real client, against a mock of the Messages API.
//!
//! Every hook adds its case here: what it says must be found in what the client sends to the model.

mod capture;
mod harness;
mod install;
mod interactive;
mod lessons;
mod model;
mod session_start;
mod team;

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use wyren_tests::client::Client;
use wyren_tests::plugin;

/// The first line of what `session-start-lessons` says.
const PROTOCOL: &str = "# [lessons-learned] Lesson Reporting Protocol";

/// How long processes may take to end after the client has.
const END_TIMEOUT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);

/// Returns a client with the plugin under test loaded, or says why the test is skipped.
fn client_with_plugin() -> Result<Option<Client>> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else {
        return Ok(None);
    };
    // The worker asks no model that would show among the requests.
    Ok(Some(client.env("WYREN_MODEL_PROVIDER", "off").plugin_dir(&plugin)))
}

/// Checks that the hook log is made of JSON objects and that `hook` has written to it.
fn check_hook_log(client: &Client, hook: &str) -> Result<()> {
    let log = client.hook_log()?;
    ensure!(log.iter().any(|line| line["hook"] == hook), "{hook} is not in the hook log: {log:#?}");
    Ok(())
}

/// Checks that nothing that the client started is left running.
fn check_processes(client: &Client) -> Result<()> {
    let deadline = Instant::now() + END_TIMEOUT;
    while !client.processes().is_empty() {
        ensure!(Instant::now() < deadline, "still running: {:?}", client.processes());
        thread::sleep(POLL);
    }
    Ok(())
}
