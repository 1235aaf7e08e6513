//! A session of the real client in an unpacked archive: no program of the archive runs, and nothing leaves the machine.

use std::fs;

use anyhow::{Result, ensure};

use super::{check_hook_log, check_processes, client_with_plugin};
use crate::hostile::git::{Archive, CONFIGS, asking_server};
use crate::team::git;

/// Configurations that can be in one file, so that the client need not start for each.
const TOGETHER: [&[&str]; 3] = [
    &[
        "file system monitor",
        "hooks folder",
        "alternate references",
        "signatures, pager, editor, diff",
        "upload-pack",
    ],
    &[
        "ext remote",
        "git proxy",
        "askpass",
        "included from .git",
        "included on a condition",
        "ssh command",
        "insteadOf",
    ],
    &[
        "credential helper",
        "credential helper for a host",
        "included from the work tree",
        "promisor remote",
        "vcs",
    ],
];

#[test]
fn a_session_in_an_unpacked_archive_runs_no_program_of_it_and_sends_nothing() -> Result<()> {
    let (port, requests) = asking_server()?;
    for names in TOGETHER {
        let Some(client) = client_with_plugin()? else { return Ok(()) };
        let config = |name: &&str| CONFIGS.iter().find(|(found, _)| found == name).map(|(_, config)| *config);
        let configs: Vec<&str> = names.iter().filter_map(config).collect();
        ensure!(configs.len() == names.len(), "a name is not known: {names:?}");
        let archive = Archive::unpack(&client.project(), &configs.concat(), true, port)?;
        let remote = client.project().join(".git/r.git");
        let before = git(&remote, &["for-each-ref"])?;

        let turn = client.prompt("what is this?")?;
        ensure!(turn.succeeded(), "{:#?}", turn.output);
        check_hook_log(&client, "session-start-memory")?;
        check_processes(&client)?;
        archive.check("a session")?;
        assert_eq!(git(&remote, &["for-each-ref"])?, before, "{names:?}");
        assert!(!fs::exists(client.project().join(".git/refs/wyren/remote"))?, "{names:?}");
    }
    let requests = requests.lock().map(|heard| heard.clone()).unwrap_or_default();
    ensure!(!requests.contains("authorization") && !requests.contains("receive-pack"), "{requests}");
    Ok(())
}
