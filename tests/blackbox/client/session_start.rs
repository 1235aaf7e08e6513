//! What the model gets at the start of a session, headless.

use anyhow::Result;
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin::{self, PluginCopy};

use super::{PROTOCOL, check_hook_log, check_processes, client_with_plugin};

#[test]
fn the_model_gets_the_protocol_once() -> Result<()> {
    let Some(client) = client_with_plugin()? else {
        return Ok(());
    };
    client.mock().script(Lane::Main, [Reply::text("Hello yourself.")]);

    let turn = client.prompt("hello")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.text(), "Hello yourself.");
    let request = turn.main_request(0)?;
    let announced = format!("SessionStart hook additional context: {PROTOCOL}");
    assert_eq!(request.count(&announced), 1, "{}", request.texts());
    assert_eq!(request.count(PROTOCOL), 1, "{}", request.texts());
    check_hook_log(&client, "session-start-lessons")?;
    check_processes(&client)
}

#[test]
fn a_resumed_session_is_not_told_twice() -> Result<()> {
    let Some(client) = client_with_plugin()? else {
        return Ok(());
    };
    let first = client.prompt("the first question")?;
    let continued = client.prompt_continued("the second question")?;
    let resumed = client.prompt_resumed(first.session(), "the third question")?;

    for turn in [continued, resumed] {
        assert!(turn.succeeded(), "{:#?}", turn.output);
        assert_eq!(turn.session(), first.session());
        let request = turn.main_request(0)?;
        assert_eq!(request.count("the first question"), 1, "{}", request.texts());
        assert_eq!(request.count(PROTOCOL), 1, "{}", request.texts());
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
    client.mock().script(Lane::Main, [Reply::text("Undisturbed.")]);

    let turn = client.prompt("hello")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.text(), "Undisturbed.");
    let request = turn.main_request(0)?;
    assert_eq!(request.count(PROTOCOL), 1, "{}", request.texts());
    assert_eq!(request.count("panick"), 0, "{}", request.texts());
    check_hook_log(&client, "session-start-lessons")?;
    // Without this line the test could pass because the hook never ran.
    check_hook_log(&client, "panicking-hook")?;
    check_processes(&client)
}
