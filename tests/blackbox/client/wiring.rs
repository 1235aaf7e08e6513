//! The plugin, the same hooks in a project's `settings.json`, and both at once: everything happens once.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;
use wyren_tests::plugin::PluginCopy;

use super::{PROTOCOL, check_processes, client_with_plugin};
use crate::team::{Member, Mode, Remote};

/// Wires every hook of the plugin by hand, in the project's settings.
pub(super) fn wire_by_hand(project: &Path, plugin: &Path) -> Result<()> {
    let mut hooks = json!({});
    for file in ["hooks.json", "extra.json", "later.json"] {
        let text = fs::read_to_string(plugin.join("hooks").join(file))?;
        let text = text.replace("${CLAUDE_PLUGIN_ROOT}", &plugin.to_string_lossy());
        let wiring: Value = serde_json::from_str(&text)?;
        for (event, groups) in wiring["hooks"].as_object().context("no hooks")? {
            hooks[event] = groups.clone();
        }
    }
    let folder = project.join(".claude");
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join("settings.json"), json!({"hooks": hooks}).to_string())?)
}

/// Runs two turns in a clone with a memory, in which the model does what a lesson is about, and checks that each text is
/// shown once.
fn two_turns(client: &Client, remote: &Remote, ada: &Member) -> Result<()> {
    let address = format!("file://{}", remote.path().display());
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", &address, "clone"]).current_dir(client.project());
    ensure!(clone.status()?.success(), "could not clone");
    for name in [".git", "README.md"] {
        let from = client.project().join("clone").join(name);
        if from.exists() {
            fs::rename(from, client.project().join(name))?;
        }
    }
    let bash = |command: &str| {
        Reply::text("I try.").tool_use("Bash", json!({"command": command, "description": "Try"}))
    };
    let hinted = bash("git commit --allow-empty --no-verify -m Checkpoint");
    client.mock().script(Lane::Main, [hinted, Reply::text("Done.")]);
    let first = client.prompt("the first question")?;
    assert!(first.succeeded(), "{:#?}", first.output);
    let request = first.main_request(0)?;
    assert_eq!(request.count("Use Postgres for the queue"), 1, "{}", request.texts());
    assert!(request.count(PROTOCOL) <= 1, "{}", request.texts());
    let request = first.main_request(1)?;
    assert_eq!(request.count("--no-verify skips the checks"), 1, "{}", request.texts());

    ada.decide("Retry three times")?;
    ada.wyren(&["sync"])?;
    let second = client.prompt_continued("the second question")?;
    let request = second.main_request(0)?;
    for once in ["Use Postgres for the queue", "Retry three times"] {
        assert_eq!(request.count(once), 1, "{once}: {}", request.texts());
    }
    check_processes(client)
}

/// Checks that two turns were counted and that each prompt and the call were recorded once.
fn check_counted_once(client: &Client, plugin: &Path) -> Result<()> {
    let watermark = fs::read(client.project().join(".wyren/state/watermark.json"))?;
    let watermark: Value = serde_json::from_slice(&watermark)?;
    assert_eq!(watermark["turns_since_distill"], 2, "{watermark:#}");
    let recorded = client.wyren(plugin, &["export"])?;
    let recorded: Vec<Value> = recorded.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let count = |kind: &str, words: &str| {
        recorded.iter().filter(|line| line["type"] == kind && line.to_string().contains(words)).count()
    };
    assert_eq!(count("prompt", "the first question"), 1, "{recorded:#?}");
    assert_eq!(count("prompt", "the second question"), 1, "{recorded:#?}");
    assert_eq!(count("tool", "--no-verify"), 1, "{recorded:#?}");
    Ok(())
}

#[test]
fn with_both_wirings_everything_is_shown_counted_and_recorded_once() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.decide("Use Postgres for the queue")?;
    ada.wyren(&["sync"])?;
    let (Some(client), Some(plugin)) = (client_with_plugin()?, plugin::folder()) else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]).env("WYREN_DISTILL", "false");
    wire_by_hand(&client.project(), &plugin)?;
    two_turns(&client, &remote, &ada)?;
    check_counted_once(&client, &plugin)?;
    // Without these lines the test could pass because the settings wired nothing.
    let log = client.hook_log()?;
    let twice: Vec<&Value> = log.iter().filter(|line| line["msg"] == "HOOK_WIRED_TWICE").collect();
    for hook in
        ["session-start-lessons", "session-start-memory", "prompt-sync", "lesson-inject", "stop-distill"]
    {
        assert!(twice.iter().any(|line| line["hook"] == hook), "{hook}: {log:#?}");
    }
    let doctor = client.wyren(&plugin, &["doctor", "--json"])?;
    let doctor: Value = serde_json::from_str(&doctor)?;
    let wiring = doctor["checks"].as_array().into_iter().flatten().find(|check| check["name"] == "wiring");
    let wiring = wiring.context("doctor has no check of the wiring")?;
    assert!(
        wiring["message"].as_str().is_some_and(|text| text.contains(".claude/settings.json")),
        "{wiring:#}"
    );
    Ok(())
}

#[test]
fn with_both_wirings_the_protocol_is_shown_once_at_every_start() -> Result<()> {
    let (Some(client), Some(plugin)) = (client_with_plugin()?, plugin::folder()) else { return Ok(()) };
    wire_by_hand(&client.project(), &plugin)?;
    let answers = ["The first answer.", "The second answer.", "The third answer."];
    client.mock().script(Lane::Main, answers.map(Reply::text));
    client.mock().script(Lane::Compaction, [Reply::text("<summary>They counted.</summary>")]);

    let mut terminal = client.terminal()?;
    for answer in &answers[..2] {
        terminal.submit("a question")?;
        terminal.wait_for(answer)?;
    }
    terminal.submit("/compact")?;
    terminal.wait_for("Compacted")?;
    terminal.submit("the third question")?;
    terminal.wait_for(answers[2])?;
    terminal.exit()?;

    for number in [0, 2] {
        let request = client.mock().wait_for(Lane::Main, number)?;
        assert_eq!(request.count(PROTOCOL), 1, "{number}: {}", request.texts());
    }
    check_processes(&client)
}

#[test]
fn wired_by_hand_alone_everything_works() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.decide("Use Postgres for the queue")?;
    ada.wyren(&["sync"])?;
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else { return Ok(()) };
    let client = client.env("WYREN_MODEL_PROVIDER", "off").env("WYREN_DISTILL", "false");
    let client = client.allow_tools(&["Bash"]);
    wire_by_hand(&client.project(), &plugin)?;
    two_turns(&client, &remote, &ada)?;
    check_counted_once(&client, &plugin)?;
    let log = client.hook_log()?;
    assert!(log.iter().all(|line| line["msg"] != "HOOK_WIRED_TWICE"), "{log:#?}");
    Ok(())
}

#[test]
fn a_plugin_folder_that_is_gone_is_named_at_the_next_command_once_a_day() -> Result<()> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else { return Ok(()) };
    let installed = PluginCopy::of(&plugin)?;
    client.add_marketplace(installed.folder())?;
    client.install_plugin("wyren@wyren")?;
    let wyren = plugin.join("bin").join(format!("wyren{}", std::env::consts::EXE_SUFFIX));
    let there = client.run(&wyren, &["config"])?;
    assert!(!there.stderr.contains("plugin"), "{there:#?}");
    let folder = installed.folder().display().to_string();
    drop(installed);
    let gone = client.run(&wyren, &["config"])?;
    assert!(gone.status.success(), "{gone:#?}");
    assert!(gone.stderr.contains(&folder) && gone.stderr.contains("claude plugin"), "{gone:#?}");
    assert_eq!(gone.stderr.lines().count(), 1, "{gone:#?}");
    let again = client.run(&wyren, &["config"])?;
    assert!(!again.stderr.contains(&folder), "{again:#?}");
    let doctor = client.run(&wyren, &["doctor"])?;
    assert!(doctor.stdout.contains(&folder), "{doctor:#?}");
    Ok(())
}
