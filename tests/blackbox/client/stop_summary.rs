//! `stop-summary` in the real client.

use anyhow::Result;

use super::{check_processes, check_ran, client_with_plugin, provoke};

#[test]
fn the_client_runs_it() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash", "Agent"]);

    provoke(&client, "Stop")?;

    check_ran(&client, "stop-summary", "Stop")?;
    check_processes(&client)
}
