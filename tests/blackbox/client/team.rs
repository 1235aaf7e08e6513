//! Team memory in the real client: what one member decides is in what another's client sends to the model.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;

use super::{MEMORY, check_hook_log, check_processes, client_with_plugin};
use crate::team::{Member, Mode, Remote};

/// Has a client work in a fresh clone of the remote, in which no command of Wyren was ever run.
pub(super) fn client_in_clone(remote: &Remote) -> Result<Option<Client>> {
    let Some(client) = client_with_plugin()? else { return Ok(None) };
    let address = format!("file://{}", remote.path().display());
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", &address, "."]).current_dir(client.project());
    ensure!(clone.status()?.success(), "could not clone");
    Ok(Some(client))
}

#[test]
fn a_decision_of_one_member_reaches_the_model_request_of_another() -> Result<()> {
    for mode in [Mode::Side, Mode::Branch] {
        let remote = Remote::new(mode)?;
        let Some(ada) = Member::set_up(&remote, "ada", mode)? else { return Ok(()) };
        ada.decide("Use Postgres for the queue")?;
        ada.wyren(&["sync"])?;
        let Some(client) = client_in_clone(&remote)? else { return Ok(()) };

        let first = client.prompt("the first question")?;
        assert!(first.succeeded(), "{:#?}", first.output);
        let request = first.main_request(0)?;
        assert_eq!(request.count(MEMORY), 1, "{mode:?}: {}", request.texts());
        assert_eq!(request.count("Use Postgres for the queue"), 1, "{mode:?}: {}", request.texts());

        ada.decide("Retry three times")?;
        ada.wyren(&["sync"])?;
        let second = client.prompt_continued("the second question")?;
        let request = second.main_request(0)?;
        assert_eq!(request.count("Retry three times"), 1, "{mode:?}: {}", request.texts());
        assert_eq!(request.count("# Wyren live update"), 1, "{mode:?}: {}", request.texts());
        assert_eq!(request.count("Use Postgres for the queue"), 1, "nothing is shown twice");
        for hook in ["session-start-memory", "prompt-sync", "stop-distill", "session-end"] {
            check_hook_log(&client, hook)?;
        }
        check_processes(&client)?;
    }
    Ok(())
}

const NOTE: &str = "Don't touch `parser.rs`: $(echo pwned) \"half done\"";

/// Hands over with the slash command; returns what the client then tells the model.
fn hand_over(client: &Client) -> Result<String> {
    // The model does what the command tells it to: it copies the shell block out of the prompt and fills it in.
    client.mock().script_with(|request| {
        let texts = request.texts();
        if request.lane() != Some(Lane::Main) || texts.contains("I hand over.") {
            return None;
        }
        let block = texts.split("```").find(|block| block.contains("memory handoff"))?;
        let command = block.trim().replace("\nNOTE\n", &format!("\n{NOTE}\n"));
        Some(
            Reply::text("I hand over.")
                .tool_use("Bash", json!({"command": command, "description": "Hand over"})),
        )
    });
    let turn = client.prompt("/wyren:wyren-handoff")?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    let said = turn.main_request(1)?.texts();
    let end = said.len() - said.len().min(3_000);
    Ok(said.get(end..).unwrap_or(&said).to_owned())
}

#[test]
fn a_handoff_note_in_a_clone_without_leave_stays_there_and_the_answer_names_the_command() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.wyren(&["sync"])?;
    let Some(client) = client_in_clone(&remote)? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    let said = hand_over(&client)?;
    assert!(said.contains("Handoff note saved locally") && said.contains("`wyren sync`"), "{said}");
    assert!(!remote.memory(Mode::Side).contains(NOTE));
    let Some(plugin) = plugin::folder() else { return Ok(()) };
    client.wyren(&plugin, &["sync"])?;
    assert!(remote.memory(Mode::Side).contains(NOTE), "{}", remote.memory(Mode::Side));
    check_processes(&client)
}

#[test]
fn a_handoff_note_lands_on_the_remote_and_says_so() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.wyren(&["sync"])?;
    let (Some(client), Some(plugin)) = (client_in_clone(&remote)?, plugin::folder()) else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    client.wyren(&plugin, &["init"])?;
    let said = hand_over(&client)?;
    let memory = remote.memory(Mode::Side);
    assert!(memory.contains(NOTE), "{memory}\n{said}");
    assert!(said.contains("Handoff note published"), "{said}");
    let notes = memory.split("## Handoff notes").nth(1).context("no section")?;
    assert!(notes.trim_start().starts_with("- ["), "{memory}");
    check_processes(&client)
}
