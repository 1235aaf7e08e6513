//! `context-monitor` in the real client.

use anyhow::Result;

use super::{check_processes, check_ran, client_with_plugin, provoke};

#[test]
fn the_client_runs_it() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash", "Agent"]);

    provoke(&client, "PostToolUse")?;

    check_ran(&client, "context-monitor", "PostToolUse")?;
    check_processes(&client)
}
