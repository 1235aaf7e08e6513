//! Lessons in the real client: hints, pauses, guards, directives, compaction, trust.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;

use super::{check_hook_log, check_processes, client_with_plugin};

/// Writes a lesson about `command` into `folder`.
pub(super) fn write_lesson(folder: &Path, slug: &str, kind: &str, command: &str, priority: u8) -> Result<()> {
    fs::create_dir_all(folder)?;
    let trigger = if command.is_empty() { String::new() } else { format!("command: {command}\n") };
    let text = format!(
        "---\nsummary: {slug} is known to go wrong\nkind: {kind}\n{trigger}priority: {priority}\n---\n\
         What goes wrong with {slug}.\n\n## Solution\nWhat to do instead of {slug}, said at some length so that it counts.\n"
    );
    fs::write(folder.join(format!("{slug}.md")), text)?;
    Ok(())
}

pub(super) fn personal(client: &Client) -> std::path::PathBuf {
    client.data().join("lessons")
}

fn bash(command: &str) -> Value {
    json!({"command": command, "description": "Try"})
}

fn runs(client: &Client, commands: &[&str]) {
    let mut script: Vec<Reply> =
        commands.iter().map(|command| Reply::text("I try.").tool_use("Bash", bash(command))).collect();
    script.push(Reply::text("Done."));
    client.mock().script(Lane::Main, script);
}

#[test]
fn a_hint_is_in_the_next_request_and_in_no_later_one_again() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    write_lesson(&personal(&client), "counting-words", "hint", "wc", 5)?;
    runs(&client, &["echo a | wc -l", "echo b | wc -l"]);

    let turn = client.prompt("count")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let said = "Wyren lesson counting-words: counting-words is known to go wrong.";
    assert_eq!(turn.main_request(0)?.count(said), 0);
    assert_eq!(turn.main_request(1)?.count(said), 1, "{}", turn.main_request(1)?.texts());
    assert_eq!(turn.main_request(2)?.count(said), 1, "{}", turn.main_request(2)?.texts());
    check_hook_log(&client, "lesson-inject")?;
    check_processes(&client)
}

#[test]
fn a_pause_refuses_once_and_lets_the_repeat_through() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    write_lesson(&personal(&client), "touching-things", "pause", "touch", 5)?;
    runs(&client, &["touch made", "touch made"]);

    let turn = client.prompt("make it")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let refused = turn.main_request(1)?.texts();
    assert!(refused.contains("touching-things is known to go wrong"), "{refused}");
    assert!(refused.contains("Wyren paused this call once (lesson touching-things): "), "{refused}");
    assert!(refused.contains("run the same command again and it passes."), "{refused}");
    assert!(client.project().join("made").exists(), "the repeat must pass");
    check_processes(&client)
}

#[test]
fn another_call_pauses_again() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    write_lesson(&personal(&client), "touching-things", "pause", "touch", 5)?;
    runs(&client, &["touch made", "touch other", "touch other"]);

    let turn = client.prompt("make it")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.main_request(3)?.count("run the same command again and it passes."), 2);
    assert!(!client.project().join("made").exists() && client.project().join("other").exists());
    check_processes(&client)
}

#[test]
fn the_third_identical_failing_call_pauses_once() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    let fails = "echo again >> runs; cat no-such-file";
    runs(&client, &[fails, fails, fails, fails, fails]);

    let turn = client.prompt("try")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let paused = "Wyren paused this call once: it failed twice with the same error";
    assert_eq!(turn.main_request(2)?.count(paused), 0, "{}", turn.main_request(2)?.texts());
    let third = turn.main_request(3)?;
    assert_eq!(
        (third.count(paused), third.count("make the same call again and it passes")),
        (1, 1),
        "{}",
        third.texts()
    );
    // The repeat goes on, and so does the next one.
    assert_eq!(turn.main_request(5)?.count(paused), 1, "{}", turn.main_request(5)?.texts());
    assert_eq!(fs::read_to_string(client.project().join("runs"))?.lines().count(), 4);
    // A refused call is no failure: the client reports only the four that ran.
    let reported = client.hook_log()?.into_iter().filter(|line| line["hook"] == "tool-record").count();
    assert_eq!(reported, 4);
    check_processes(&client)
}

#[test]
fn a_change_between_two_failures_is_no_loop() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    let fails = "echo again >> runs; cat no-such-file";
    runs(&client, &[fails, "echo change", fails, "echo change", fails]);

    let turn = client.prompt("try")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.main_request(5)?.count("failed twice"), 0, "{}", turn.main_request(5)?.texts());
    assert_eq!(fs::read_to_string(client.project().join("runs"))?.lines().count(), 3);
    check_processes(&client)
}

#[test]
fn a_guard_refuses_every_time() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    write_lesson(&personal(&client), "touching-things", "guard", "touch", 5)?;
    runs(&client, &["touch made", "bash -c 'touch made'", "echo touch made"]);

    let turn = client.prompt("make it")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert!(!client.project().join("made").exists());
    assert_eq!(turn.main_request(3)?.count("touching-things is known to go wrong"), 2);
    check_processes(&client)
}

#[test]
fn a_session_and_a_subagent_get_the_directives() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Agent"]);
    write_lesson(&personal(&client), "thinking-first", "directive", "", 10)?;
    let task = json!({"description": "Look", "prompt": "look around", "subagent_type": "general-purpose"});
    client.mock().script(Lane::Main, [Reply::text("I ask.").tool_use("Agent", task), Reply::text("Done.")]);
    client.mock().script(Lane::Subagent, [Reply::text("Nothing to see.")]);

    let mut terminal = client.terminal()?;
    terminal.submit("have someone look")?;
    terminal.wait_for("Done.")?;
    terminal.exit()?;

    let said = "**thinking-first is known to go wrong**";
    let first = client.mock().wait_for(Lane::Main, 0)?;
    assert_eq!(first.count(said), 1, "{}", first.texts());
    assert_eq!(first.count("## Wyren reminders"), 1);
    let subagent = client.mock().wait_for(Lane::Subagent, 0)?;
    assert_eq!(subagent.count(said), 1, "{}", subagent.texts());
    check_hook_log(&client, "subagent-start-lessons")?;
    check_processes(&client)
}

#[test]
fn after_compaction_what_matters_most_comes_again() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    write_lesson(&personal(&client), "urgent-words", "hint", "wc", 9)?;
    write_lesson(&personal(&client), "mild-words", "hint", "wc", 3)?;
    let look = || Reply::text("I try.").tool_use("Bash", bash("echo a | wc -l"));
    client.mock().script(
        Lane::Main,
        [look(), Reply::text("One."), Reply::text("Two."), look(), Reply::text("Three.")],
    );
    client.mock().script(Lane::Compaction, [Reply::text("<summary>They counted.</summary>")]);

    let mut terminal = client.terminal()?;
    terminal.submit("the first question")?;
    terminal.wait_for("One.")?;
    terminal.submit("the second question")?;
    terminal.wait_for("Two.")?;
    terminal.submit("/compact")?;
    terminal.wait_for("Compacted")?;
    terminal.submit("the third question")?;
    terminal.wait_for("Three.")?;
    terminal.exit()?;

    let before = client.mock().wait_for(Lane::Main, 1)?;
    assert_eq!(before.count("Wyren lesson urgent-words: "), 1, "{}", before.texts());
    assert_eq!(before.count("Wyren lesson mild-words: "), 1);
    let after = client.mock().wait_for(Lane::Main, 4)?;
    assert_eq!(after.count("Wyren lesson urgent-words: "), 1, "{}", after.texts());
    assert_eq!(after.count("Wyren lesson mild-words: "), 0, "{}", after.texts());
    check_processes(&client)
}

#[test]
fn trust_lapses_when_a_guard_pause_or_skill_is_added_or_changed() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    write_lesson(&client.project().join(".wyren/lessons"), "their-rule", "guard", "touch", 5)?;
    runs(&client, &["touch first"]);
    assert!(client.prompt("make it")?.succeeded());
    assert!(client.project().join("first").exists(), "an untrusted guard must not refuse");

    let plugin = plugin::folder().context("no plugin")?;
    client.wyren(&plugin, &["trust", "--yes"])?;
    runs(&client, &["touch second"]);
    assert!(client.prompt("make it")?.succeeded());
    assert!(!client.project().join("second").exists(), "a trusted guard refuses");

    // What the repository adds or changes is not trusted.
    let lessons = client.project().join(".wyren/lessons");
    fs::remove_file(lessons.join("their-rule.md"))?;
    write_lesson(&lessons, "their-rule", "guard", "touch", 6)?;
    write_lesson(&lessons, "their-pause", "pause", "mkdir", 5)?;
    let skills = client.project().join(".wyren/broadcast/skills");
    fs::create_dir_all(&skills)?;
    fs::write(skills.join("review.md"), "Be kind.")?;
    runs(&client, &["touch third", "mkdir fourth"]);
    let turn = client.prompt("make it")?;
    assert!(client.project().join("third").exists(), "a changed guard must not refuse");
    assert!(client.project().join("fourth").exists(), "an added pause must not refuse");
    assert!(
        !turn.main_request(0)?.texts().contains("trusted=\"by the user"),
        "an added skill is not trusted"
    );
    client.wyren(&plugin, &["trust", "--yes"])?;
    runs(&client, &["touch fifth", "mkdir sixth"]);
    let turn = client.prompt("make it")?;
    assert!(!client.project().join("fifth").exists() && !client.project().join("sixth").exists());
    assert!(
        turn.main_request(0)?.texts().contains("trusted=\"by the user"),
        "{}",
        turn.main_request(0)?.texts()
    );
    check_processes(&client)
}

/// Returns the screen's text with its wrapped lines joined.
fn joined(contents: &str) -> String {
    contents.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_refusal_on_the_screen_names_wyren_the_lesson_and_the_way_out_and_a_person_lifts_it() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    write_lesson(&personal(&client), "no-touch", "guard", "touch", 5)?;
    let touch = |name: &str| Reply::text("I try.").tool_use("Bash", bash(&format!("touch {name}")));
    let done = |text: &str| Reply::text(text);
    client.mock().script(
        Lane::Main,
        [
            touch("first"),
            done("One."),
            touch("second"),
            touch("third"),
            done("Two."),
            touch("fourth"),
            touch("fifth"),
            done("Three."),
        ],
    );
    let plugin = plugin::folder().context("no plugin")?;
    let is_made = |name: &str| client.project().join(name).exists();

    let mut terminal = client.terminal()?;
    terminal.submit("make the first")?;
    terminal.wait_for("One.")?;
    let screen = joined(&terminal.contents());
    for part in [
        "Error: Wyren refused this call (guard no-touch): no-touch is known to go wrong.",
        "wyren lessons allow no-touch",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(!is_made("first"));

    let said = client.wyren(&plugin, &["lessons", "allow", "no-touch", "--once"])?;
    assert!(said.contains("The next call that no-touch would refuse in session "), "{said}");
    terminal.submit("make the second and the third")?;
    terminal.wait_for("Two.")?;
    assert!(is_made("second") && !is_made("third"), "one call passes");

    client.wyren(&plugin, &["lessons", "allow", "no-touch", "--session"])?;
    terminal.submit("make the fourth and the fifth")?;
    terminal.wait_for("Three.")?;
    assert!(is_made("fourth") && is_made("fifth"), "all calls pass");
    terminal.exit()?;

    let lifted = client.mock().wait_for(Lane::Main, 3)?;
    assert_eq!(
        lifted.count("Wyren let this one call pass: the user lifted no-touch for it."),
        1,
        "{}",
        lifted.texts()
    );
    // The session ended, and with it what was lifted.
    let listed = client.wyren(&plugin, &["lessons", "allow", "--list", "--json"])?;
    let listed: Value = serde_json::from_str(&listed)?;
    assert_eq!(listed["allowed"], json!([]));
    check_processes(&client)
}
