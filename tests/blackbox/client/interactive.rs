//! What only the interactive client does: `/clear` and `/compact`, through a pseudo-terminal.

use std::fs;

use anyhow::Result;
use wyren_tests::mock::{Lane, Reply, Request};

use super::{MEMORY, PROTOCOL, check_hook_log, check_processes, client_with_plugin, decide};

#[test]
fn after_clear_the_new_session_gets_the_texts_again() -> Result<()> {
    let Some(client) = client_with_plugin()? else {
        return Ok(());
    };
    client.mock().script(Lane::Main, [Reply::text("The first answer."), Reply::text("The second answer.")]);

    let mut terminal = client.terminal()?;
    terminal.submit("the first question")?;
    terminal.wait_for("The first answer.")?;
    terminal.submit("/clear")?;
    terminal.wait_until("an empty conversation", |contents| !contents.contains("The first answer."))?;
    terminal.submit("the second question")?;
    terminal.wait_for("The second answer.")?;
    terminal.exit()?;

    let before = client.mock().wait_for(Lane::Main, 0)?;
    let after = client.mock().wait_for(Lane::Main, 1)?;
    assert_ne!(before.session(), after.session());
    assert_eq!(before.count(PROTOCOL), 1, "{}", before.texts());
    assert!(!has_answer(&after, "The first answer."), "{}", after.texts());
    assert_eq!(after.count(PROTOCOL), 1, "{}", after.texts());
    check_hook_log(&client, "session-start-lessons")?;
    check_processes(&client)
}

/// Says whether a request carries an answer of the model as one: the index of earlier work may quote it.
fn has_answer(request: &Request, answer: &str) -> bool {
    let messages = request.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut answers = messages.iter().filter(|message| message["role"] == "assistant");
    answers.any(|message| message.to_string().contains(answer))
}

#[test]
fn after_compact_the_shortened_session_gets_the_texts_again() -> Result<()> {
    let Some(client) = client_with_plugin()? else {
        return Ok(());
    };
    decide(&client, "Use Postgres [session aaaaaaaa, turn 1, by Ada, 2025-11-16]")?;
    fs::write(client.project().join("Cargo.toml"), "")?;
    let answers = ["The first answer.", "The second answer.", "The third answer."];
    client.mock().script(Lane::Main, answers.map(Reply::text));
    client.mock().script(Lane::Compaction, [Reply::text("<summary>They counted.</summary>")]);

    let mut terminal = client.terminal()?;
    // One question and its answer are not enough to compact.
    terminal.submit("the first question")?;
    terminal.wait_for("The first answer.")?;
    terminal.submit("the second question")?;
    terminal.wait_for("The second answer.")?;
    terminal.submit("/compact")?;
    terminal.wait_for("Compacted")?;
    terminal.submit("the third question")?;
    terminal.wait_for("The third answer.")?;
    terminal.exit()?;

    let before = client.mock().wait_for(Lane::Main, 1)?;
    let after = client.mock().wait_for(Lane::Main, 2)?;
    assert_eq!(before.session(), after.session());
    assert_eq!(after.count("They counted."), 1, "{}", after.texts());
    assert!(!has_answer(&after, "The first answer."), "{}", after.texts());
    for text in [MEMORY, "- Use Postgres (signed Ada, 16 Nov 2025)\n", "## Wyren reminders", PROTOCOL] {
        for request in [&before, &after] {
            assert_eq!(request.count(text), 1, "{text}: {}", request.texts());
        }
    }
    check_hook_log(&client, "session-start-lessons")?;
    check_processes(&client)
}
