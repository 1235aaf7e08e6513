//! `precompact-handoff` in the real client.

use anyhow::Result;

use super::{check_processes, check_ran, client_with_plugin, provoke};

#[test]
fn the_client_runs_it() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash", "Agent"]);

    provoke(&client, "PreCompact")?;

    check_ran(&client, "precompact-handoff", "PreCompact")?;
    check_processes(&client)
}
