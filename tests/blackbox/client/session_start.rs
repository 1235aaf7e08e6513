//! What the model gets at the start of a session and of a subagent.

use std::fs;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply, Request};
use wyren_tests::plugin::{self, PluginCopy};

use super::{MEMORY, PROTOCOL, check_hook_log, check_processes, client_with_plugin, decide};

/// The most that a start shows without a team's memory, in characters.
const MAX_START_CHARS: usize = 900;

/// The most that a subagent gets, in UTF-16 units.
const MAX_SUBAGENT_UNITS: usize = 2_000;

/// Asks one question in a terminal, and returns the request that it leads to.
fn ask_in_terminal(client: &Client) -> Result<Request> {
    client.mock().script(Lane::Main, [Reply::text("Hello yourself.")]);
    let mut terminal = client.terminal()?;
    terminal.submit("hello")?;
    terminal.wait_for("Hello yourself.")?;
    terminal.exit()?;
    client.mock().wait_for(Lane::Main, 0)
}

/// Returns the texts that hooks gave the model, as they are recorded. Each must be in the request, and once.
fn told(client: &Client, request: &Request) -> Result<Vec<String>> {
    let log = client.wyren(&plugin::folder().context("no plugin")?, &["log", "--told", "--json"])?;
    let lines = log.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let contexts = lines.iter().filter(|line| line["form"] == "context");
    let texts: Vec<String> =
        contexts.filter_map(|line| line["text"].as_str()).map(|text| text.trim_end().to_owned()).collect();
    for text in &texts {
        assert_eq!(request.count(text), 1, "{text}\n---\n{}", request.texts());
    }
    Ok(texts)
}

/// Writes a directive of the user's own.
fn write_directive(client: &Client) -> Result<()> {
    let folder = client.data().join("lessons");
    fs::create_dir_all(&folder)?;
    let text =
        "---\nsummary: Be brief\nkind: directive\n---\nLong answers.\n\n## Solution\nSay it in a line.\n";
    Ok(fs::write(folder.join("brief.md"), text)?)
}

#[test]
fn a_start_without_memory_is_short_and_has_the_protocol_once() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    for name in ["Cargo.toml", "package.json", "vite.config.ts", ".env", "main.tf"] {
        fs::write(client.project().join(name), "")?;
    }

    let request = ask_in_terminal(&client)?;

    assert_eq!(request.count("SessionStart hook additional context: "), 1, "{}", request.texts());
    assert_eq!(request.count(PROTOCOL), 1, "{}", request.texts());
    assert_eq!(request.count("## Wyren reminders"), 1, "{}", request.texts());
    for gone in ["[lessons-learned]", "Acknowledge", "<!--", MEMORY] {
        assert_eq!(request.count(gone), 0, "{gone}: {}", request.texts());
    }
    let texts = told(&client, &request)?;
    let chars: usize = texts.iter().map(|text| text.chars().count()).sum();
    assert!(!texts.is_empty() && chars <= MAX_START_CHARS, "{chars}: {texts:#?}");
    check_hook_log(&client, "session-start-lessons")?;
    check_processes(&client)
}

#[test]
fn each_text_of_a_start_is_there_once_and_makes_sense_in_any_order() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    decide(&client, "Use Postgres [session aaaaaaaa, turn 1, by Ada, 2025-11-16]")?;
    write_directive(&client)?;

    let request = ask_in_terminal(&client)?;

    // The client puts the texts in the order in which the hooks end, so none may refer to another.
    let texts = told(&client, &request)?;
    let memory = texts.iter().find(|text| text.starts_with(MEMORY)).context("no memory")?;
    assert!(memory.contains("\n- Use Postgres (signed Ada, 16 Nov 2025)\n"), "{memory}");
    assert!(!memory.contains("session aaaaaaaa") && !memory.contains("<!--"), "{memory}");
    let lessons = texts.iter().find(|text| text.contains(PROTOCOL)).context("no protocol")?;
    assert!(lessons.starts_with("## Wyren reminders\n- **Be brief** Say it in a line.\n\n"), "{lessons}");
    assert_eq!(texts.len(), 2, "{texts:#?}");
    check_processes(&client)
}

#[test]
fn a_script_gets_the_memory_and_neither_protocol_nor_reminders() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    decide(&client, "Use Postgres")?;
    write_directive(&client)?;
    fs::write(client.project().join("Cargo.toml"), "")?;
    client.mock().script(Lane::Main, [Reply::text("Hello yourself.")]);

    let turn = client.prompt("hello")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.text(), "Hello yourself.");
    let request = turn.main_request(0)?;
    for (text, count) in
        [(MEMORY, 1), ("- Use Postgres\n", 1), (PROTOCOL, 0), ("#lesson", 0), ("reminders", 0)]
    {
        assert_eq!(request.count(text), count, "{text}: {}", request.texts());
    }
    assert_eq!(told(&client, request)?.len(), 1);
    check_hook_log(&client, "session-start-lessons")?;
    check_processes(&client)
}

#[test]
fn a_subagent_gets_the_memory_and_no_protocol() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Agent"]);
    let facts: Vec<String> = (0..200).map(|n| format!("Module {n} keeps its rule")).collect();
    decide(&client, &facts.join("\n- "))?;
    write_directive(&client)?;
    let task = json!({"description": "Look", "prompt": "look around", "subagent_type": "general-purpose"});
    client.mock().script(Lane::Main, [Reply::text("I ask.").tool_use("Agent", task), Reply::text("Done.")]);
    client.mock().script(Lane::Subagent, [Reply::text("Nothing to see.")]);

    let mut terminal = client.terminal()?;
    terminal.submit("have it looked at")?;
    terminal.wait_for("Done.")?;
    terminal.exit()?;

    let request = client.mock().wait_for(Lane::Subagent, 0)?;
    let texts = request.texts();
    for (text, count) in
        [(MEMORY, 1), ("- Module 199 keeps its rule\n", 1), ("**Be brief**", 1), (PROTOCOL, 0)]
    {
        assert_eq!(request.count(text), count, "{text}: {texts}");
    }
    let start = texts.find(MEMORY).context("no memory")?;
    let (_, end) = ("", texts[start..].find("Say it in a line.").context("no directive")?);
    assert!(texts[start..start + end].encode_utf16().count() <= MAX_SUBAGENT_UNITS, "{texts}");
    assert_eq!(client.mock().wait_for(Lane::Main, 0)?.count(PROTOCOL), 1);
    check_hook_log(&client, "subagent-start-lessons")?;
    check_processes(&client)
}

#[test]
fn a_resumed_session_is_not_told_twice() -> Result<()> {
    let Some(client) = client_with_plugin()? else {
        return Ok(());
    };
    decide(&client, "Use Postgres")?;
    let first = client.prompt("the first question")?;
    let continued = client.prompt_continued("the second question")?;
    let resumed = client.prompt_resumed(first.session(), "the third question")?;

    for turn in [continued, resumed] {
        assert!(turn.succeeded(), "{:#?}", turn.output);
        assert_eq!(turn.session(), first.session());
        let request = turn.main_request(0)?;
        assert_eq!(request.count("the first question"), 1, "{}", request.texts());
        assert_eq!(request.count("- Use Postgres\n"), 1, "{}", request.texts());
    }
    check_hook_log(&client, "session-start-lessons")?;
    check_processes(&client)
}

#[test]
fn a_hook_that_panics_does_not_disturb_the_turn() -> Result<()> {
    let (Some(client), Some(plugin), Some(panicking_hook)) =
        (Client::new()?, plugin::folder(), plugin::panicking_hook())
    else {
        return Ok(());
    };
    let plugin = PluginCopy::of(&plugin)?;
    plugin.add_hook("SessionStart", &panicking_hook)?;
    let client = client.plugin_dir(plugin.folder());
    decide(&client, "Use Postgres")?;
    client.mock().script(Lane::Main, [Reply::text("Undisturbed.")]);

    let turn = client.prompt("hello")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.text(), "Undisturbed.");
    let request = turn.main_request(0)?;
    assert_eq!(request.count(MEMORY), 1, "{}", request.texts());
    assert_eq!(request.count("panick"), 0, "{}", request.texts());
    check_hook_log(&client, "session-start-lessons")?;
    // Without this line the test could pass because the hook never ran.
    check_hook_log(&client, "panicking-hook")?;
    check_processes(&client)
}
