//! The window in the real client: the model is warned with a tool's result, and the size is the one that the client goes by.

use anyhow::Result;
use serde_json::json;
use wyren_tests::mock::{Lane, Reply};

use super::{check_processes, client_with_plugin};

/// How the warning begins, without the figure.
const WARNING: &str = "% of the context window is left";

/// Returns a tool call after which this many tokens are in use. It takes a moment: the client writes its transcript some 100 ms
/// late, and a quicker call is followed by the usage of the message before.
fn look(tokens: u64) -> Reply {
    let call = json!({"command": "sleep 0.5; echo looked", "description": "Look"});
    Reply::text("I look.").tool_use("Bash", call).usage(tokens, 100)
}

#[test]
fn the_model_is_warned_with_the_result_of_a_call_once_per_threshold() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    let replies = [look(100_000), look(145_000), look(150_000), look(162_000), Reply::text("Done.")];
    client.mock().script(Lane::Main, replies);

    let turn = client.prompt("look four times")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    for (request, warnings) in [(1, 0), (2, 1), (3, 1), (4, 2)] {
        let request = turn.main_request(request)?;
        assert_eq!(request.count(WARNING), warnings, "{}", request.texts());
    }
    let last = turn.main_request(4)?;
    for part in ["27% of the context", "18% of the context", "145k of 200k", "(size: assumed"] {
        assert_eq!(last.count(part).min(1), 1, "{part}: {}", last.texts());
    }
    assert!(!client.project().join(".wyren").exists());
    check_processes(&client)
}

#[test]
fn a_subagent_is_warned_about_its_own_window_alone() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash", "Agent"]);
    let task = json!({"description": "Look", "prompt": "look around", "subagent_type": "general-purpose"});
    let ask = Reply::text("I ask.").tool_use("Agent", task);
    client.mock().script(Lane::Main, [ask, look(3_000), Reply::text("Done.")]);
    client.mock().script(Lane::Subagent, [look(165_000), Reply::text("Seen.")]);

    let turn = client.prompt("have a subagent look")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let inside = client.mock().requests_of(Lane::Subagent);
    assert_eq!(inside.len(), 2);
    assert_eq!(inside[1].count("then report what is done"), 1, "{}", inside[1].texts());
    assert_eq!(turn.main_request(2)?.count(WARNING), 0, "{}", turn.main_request(2)?.texts());
    check_processes(&client)
}

#[test]
fn an_interactive_session_has_the_window_of_its_model_and_is_warned_again_after_a_compaction() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    let replies = [
        [look(190_000), Reply::text("The first answer.")],
        [look(720_000), Reply::text("The second answer.")],
        [look(720_000), Reply::text("The third answer.")],
    ];
    client.mock().script(Lane::Main, replies.into_iter().flatten());
    client.mock().script(Lane::Compaction, [Reply::text("<summary>They looked.</summary>")]);
    let mut terminal = client.terminal()?;
    for answer in ["The first answer.", "The second answer."] {
        terminal.submit("look")?;
        terminal.wait_for(answer)?;
    }
    terminal.submit("/compact")?;
    terminal.wait_for("Compacted")?;
    terminal.submit("look again")?;
    terminal.wait_for("The third answer.")?;
    terminal.exit()?;

    let requests = client.mock().requests_of(Lane::Main);
    let warnings: Vec<usize> = requests.iter().map(|request| request.count(WARNING)).collect();
    assert_eq!(warnings, [0, 0, 0, 1, 0, 1], "{}", requests[3].texts());
    assert_eq!(requests[3].count("[1m])"), 1, "{}", requests[3].texts());
    check_processes(&client)
}
