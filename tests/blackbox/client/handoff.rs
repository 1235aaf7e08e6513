//! `/wyren:handoff` in one session, and `/wyren:handoff-resume` in the next.

use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::fs;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;

use super::{check_processes, client_with_plugin};

/// What the client asks before it runs a tool.
const QUESTION: &str = "Do you want to proceed?";

const SAVE: &str = "handoff save <<'WYREN_HANDOFF_END'\n# Cents in the cart\n## Completed work\ncart.js keeps prices in cents\n\
    ## Dead ends\n| approach | why |\n|---|---|\n| floats | rounding was wrong by one cent |\n\n---\n\nafter the rule\n\
    ## Pending\n- checkout.js still takes euros: run `npm test` first\nWYREN_HANDOFF_END";

/// Returns the plugin's `wyren` as a command file that the client sent to the model has it.
fn program_in(texts: &str) -> Option<String> {
    let before = texts.split("bin/wyren\" handoff").next()?;
    let root = before.rsplit('"').next()?;
    Some(format!("{root}bin/wyren"))
}

#[test]
fn a_handoff_of_one_session_is_resumed_in_the_next_with_its_dead_ends_first() -> Result<()> {
    let (Some(client), Some(plugin)) = (client_with_plugin()?, plugin::folder()) else { return Ok(()) };
    client.mock().script_with(|request| {
        let texts = request.texts();
        if request.lane() != Some(Lane::Main) {
            return None;
        }
        let (arguments, answer) = match () {
            () if texts.contains("# Go on from a handoff") => ("handoff resume", "I go on."),
            () if texts.contains("# Save a handoff") => (SAVE, "The handoff is there."),
            () => return Some(Reply::text("The cart is in cents.")),
        };
        let marker = format!("I run {}", arguments.len());
        if texts.contains(&marker) {
            return Some(Reply::text(answer));
        }
        let call = json!({"command": format!("\"{}\" {arguments}", program_in(&texts)?), "description": "Hand over"});
        Some(Reply::text(marker).tool_use("Bash", call))
    });

    let mut terminal = client.terminal()?;
    terminal.submit("keep the prices of the cart in cents")?;
    terminal.wait_for("The cart is in cents.")?;
    terminal.submit("/wyren:handoff")?;
    terminal.wait_until("the handoff", |contents| {
        contents.contains("The handoff is there.") || contents.contains(QUESTION)
    })?;
    assert!(!terminal.contents().contains(QUESTION), "{}", terminal.contents());
    terminal.exit()?;
    let listed = client.wyren(&plugin, &["handoff", "list", "--json"])?;
    let listed: serde_json::Value = serde_json::from_str(&listed)?;
    let folder = listed["handoffs"][0]["folder"].as_str().context("no handoff")?;
    let dead_ends = fs::read_to_string(std::path::Path::new(folder).join("dead-ends.md"))?;
    assert!(dead_ends.ends_with("\n---\n\nafter the rule\n"), "{dead_ends}");
    assert_eq!(listed["handoffs"][0]["state"], "waits", "{listed:#}");

    let before = client.mock().requests().len();
    let mut terminal = client.terminal()?;
    terminal.submit("/wyren:handoff-resume")?;
    terminal.wait_until("the resumed work", |contents| {
        contents.contains("I go on.") || contents.contains(QUESTION)
    })?;
    assert!(!terminal.contents().contains(QUESTION), "{}", terminal.contents());
    terminal.exit()?;

    let requests = client.mock().requests();
    let resumed = requests[before..].iter().rfind(|request| request.texts().contains("rounding was wrong"));
    let texts = resumed.context("no request has the handoff")?.texts();
    let place = |text: &str| texts.find(text).with_context(|| format!("no {text:?}: {texts}"));
    let (dead_ends, pending) =
        (place("rounding was wrong by one cent")?, place("checkout.js still takes euros")?);
    ensure!(dead_ends < pending && pending < place("cart.js keeps prices in cents")?, "{texts}");
    ensure!(texts.contains("after the rule"), "{texts}");
    let listed = client.wyren(&plugin, &["handoff", "list", "--json"])?;
    ensure!(listed.contains("\"taken up\""), "{listed}");
    let contexts = client.wyren(&plugin, &["work", "list", "--json"])?;
    ensure!(contexts.matches("\"summary\"").count() == 1, "one context, two sessions: {contexts}");
    check_processes(&client)
}
