//! `file-recall` in the real client: a file that was worked on before brings its story with the Read, once.

use std::fs;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;

use super::{check_processes, check_ran, client_with_plugin};
use crate::file_recall::record_entry;

const TITLE: &str = "verify_token checks expiry";

/// Returns a client whose sessions do not begin with the index, which names the story as well.
fn client_without_index() -> Result<Option<Client>> {
    Ok(client_with_plugin()?.map(|client| client.env("WYREN_RECALL", "false")))
}

/// Gives a client's project a file with a story; nothing of the project is in git or has a team memory.
fn with_story(client: &Client) -> Result<()> {
    fs::write(client.project().join("auth.rs"), "fn verify_token() {}\n")?;
    record_entry(&client.data(), &client.project(), "n:1", TITLE, &["auth.rs"])?;
    client.wyren(&plugin::folder().context("no plugin")?, &["export"]).map(drop)
}

fn read(client: &Client) -> Value {
    json!({"file_path": client.project().join("auth.rs")})
}

/// Has the model read the file twice, at a prompt.
fn read_twice(client: &Client, prompt: &str) -> Result<[usize; 3]> {
    let again = || Reply::text("I look.").tool_use("Read", read(client));
    client.mock().script(Lane::Main, [again(), again(), Reply::text("Done.")]);
    let turn = client.prompt(prompt)?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    let count = |index| -> Result<usize> { Ok(turn.main_request(index)?.count(TITLE)) };
    Ok([count(0)?, count(1)?, count(2)?])
}

#[test]
fn a_file_touched_before_brings_its_story_on_read_once() -> Result<()> {
    let Some(client) = client_without_index()? else { return Ok(()) };
    with_story(&client)?;
    assert_eq!(read_twice(&client, "look at it twice")?, [0, 1, 1]);
    assert!(!client.project().join(".wyren").exists());
    check_ran(&client, "file-recall", "PreToolUse")?;
    check_processes(&client)
}

#[test]
fn a_subagent_gets_the_story_in_its_own_window() -> Result<()> {
    let Some(client) = client_without_index()? else { return Ok(()) };
    let client = client.allow_tools(&["Agent"]);
    with_story(&client)?;
    let task = json!({"description": "Look", "prompt": "look around", "subagent_type": "general-purpose"});
    client.mock().script(Lane::Main, [Reply::text("I ask.").tool_use("Agent", task), Reply::text("Done.")]);
    let again = || Reply::text("I look.").tool_use("Read", read(&client));
    client.mock().script(Lane::Subagent, [again(), again(), Reply::text("Seen.")]);

    let turn = client.prompt("have a subagent look")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let inside: Vec<usize> =
        client.mock().requests_of(Lane::Subagent).iter().map(|request| request.count(TITLE)).collect();
    assert_eq!(inside, [0, 1, 1]);
    assert_eq!(turn.main_request(1)?.count(TITLE), 0);
    check_processes(&client)
}

#[test]
fn with_capture_off_the_story_comes_all_the_same() -> Result<()> {
    let Some(client) = client_without_index()? else { return Ok(()) };
    let client = client.env("WYREN_CAPTURE", "false");
    with_story(&client)?;
    assert_eq!(read_twice(&client, "look at it twice")?, [0, 1, 1]);
    check_processes(&client)
}

#[test]
fn under_a_private_prompt_nothing_is_shown() -> Result<()> {
    let Some(client) = client_without_index()? else { return Ok(()) };
    with_story(&client)?;
    assert_eq!(read_twice(&client, "<private>look at it twice</private>")?, [0, 0, 0]);
    check_ran(&client, "file-recall", "PreToolUse")?;
    check_processes(&client)
}

#[test]
fn line_12_nothing_is_written_into_the_repository_and_no_other_transcript_appears() -> Result<()> {
    let Some(client) = client_without_index()? else { return Ok(()) };
    with_story(&client)?;
    read_twice(&client, "look at it twice")?;
    check_processes(&client)?;
    client.wyren(&plugin::folder().context("no plugin")?, &["export"])?;
    let names = |folder| -> Result<Vec<String>> {
        let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        Ok(entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    };
    assert_eq!(names(client.project())?, ["auth.rs"]);
    let projects = client.config().join("projects");
    assert_eq!(names(projects.clone())?.len(), 1, "the client's own folder alone");
    let of_project = projects.join(&names(projects.clone())?[0]);
    let transcripts = names(of_project)?.into_iter().filter(|name| name.ends_with(".jsonl"));
    assert_eq!(transcripts.count(), 1, "the session itself alone");
    Ok(())
}
