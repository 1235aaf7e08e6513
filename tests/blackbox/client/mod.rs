//! The plugin in the real client, against a mock of the Messages API.
//!
//! Every hook adds its case here: what it says must be found in what the client sends to the model.

mod capture;
mod context_monitor;
mod file_recall;
mod handoff;
mod harness;
mod hostile;
mod import;
mod install;
mod interactive;
mod lessons;
mod mcp;
#[cfg(unix)]
mod migrate;
mod model;
#[cfg(unix)]
mod npm;
mod plan_archive;
mod precompact_handoff;
mod prompt_bind;
mod readme;
mod recall;
mod session_start;
mod session_start_scan;
mod statusline;
mod stop_summary;
mod summaries;
mod task_record;
mod team;
#[cfg(unix)]
mod update;
mod voice;
mod ways;
mod window;
mod wiring;

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tables::hooks::HOOKS;
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;
use wyren_tests::terminal::Key;

/// The first line of the protocol, which `session-start-lessons` shows where a person reads along.
const PROTOCOL: &str = "# Lesson Reporting Protocol";

/// How the memory begins that `session-start-memory` and `subagent-start-lessons` show.
const MEMORY: &str = "Wyren: what this team decided and learned in earlier sessions of this repository.";

/// Gives the project of a client a memory with one decision.
fn decide(client: &Client, decision: &str) -> Result<()> {
    let folder = client.project().join(".wyren");
    fs::create_dir_all(&folder)?;
    let memory =
        format!("# Wyren Memory\n<!-- Populated by distiller. -->\n\n## Decisions\n\n- {decision}\n");
    Ok(fs::write(folder.join("memory.md"), memory)?)
}

/// How long processes may take to end after the client has.
const END_TIMEOUT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);

/// How long the client may take to notify its hooks of a question: about six seconds.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns a client with the plugin under test loaded, or says why the test is skipped.
fn client_with_plugin() -> Result<Option<Client>> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else {
        return Ok(None);
    };
    // The worker asks no model that would show among the requests.
    Ok(Some(client.env("WYREN_MODEL_PROVIDER", "off").plugin_dir(&plugin)))
}

/// Has no session scan for lessons when it starts: that starts a worker, and the next may begin 30 s later.
fn leave_out_the_scan(client: &Client) -> Result<()> {
    let scanned = client.data().join("cache/lessons/scanned");
    fs::create_dir_all(scanned.parent().context("a folder")?)?;
    Ok(fs::write(scanned, "")?)
}

/// Checks that the hook log is made of JSON objects and that `hook` has written to it.
fn check_hook_log(client: &Client, hook: &str) -> Result<()> {
    let log = client.hook_log()?;
    ensure!(log.iter().any(|line| line["hook"] == hook), "{hook} is not in the hook log: {log:#?}");
    Ok(())
}

/// Returns what `wyren export` prints.
fn exported(client: &Client) -> Result<Vec<Value>> {
    let plugin = plugin::folder().context("no plugin")?;
    let text = client.wyren(&plugin, &["export"])?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

/// Checks that the client ran a hook at an event.
fn check_ran(client: &Client, hook: &str, event: &str) -> Result<()> {
    let log = client.hook_log()?;
    let is_it = |line: &Value| line["hook"] == hook && line["event"] == event;
    ensure!(log.iter().any(is_it), "{hook} did not run at {event}: {log:#?}");
    Ok(())
}

/// Has the client do what makes it send an event; what a prompt, tools and a subagent bring about comes with most others.
fn provoke(client: &Client, event: &str) -> Result<()> {
    match event {
        "PreCompact" => provoke_compaction(client),
        "Notification" | "PermissionRequest" => provoke_question(client, event),
        "StopFailure" => provoke_failure(client),
        _ => provoke_in_a_turn(client),
    }
}

fn provoke_in_a_turn(client: &Client) -> Result<()> {
    let bash = |command: &str| {
        Reply::text("I try.").tool_use("Bash", json!({"command": command, "description": "Try"}))
    };
    let task = json!({"description": "Look", "prompt": "look around", "subagent_type": "general-purpose"});
    let ask = Reply::text("I ask.").tool_use("Agent", task);
    let file = client.project().join("read-me");
    fs::write(&file, "Read.\n")?;
    let read = Reply::text("I read.").tool_use("Read", json!({"file_path": file}));
    let list =
        Reply::text("I list.").tool_use("TaskCreate", json!({"subject": "Look", "description": "around"}));
    let script = [bash("echo worked"), bash("exit 3"), read, list, ask, Reply::text("Done.")];
    client.mock().script(Lane::Main, script);
    client.mock().script(Lane::Subagent, [Reply::text("Seen.")]);
    let turn = client.prompt("try, fail, read, and have a subagent look")?;
    fs::remove_file(&file)?;
    ensure!(turn.succeeded(), "{:#?}", turn.output);
    Ok(())
}

fn provoke_failure(client: &Client) -> Result<()> {
    client.mock().script(Lane::Main, [Reply::failure(400, "scripted bad request")]);
    let turn = client.prompt("fail")?;
    ensure!(!turn.succeeded(), "{:#?}", turn.output);
    Ok(())
}

fn provoke_compaction(client: &Client) -> Result<()> {
    let answers = ["The first answer.", "The second answer."];
    client.mock().script(Lane::Main, answers.map(Reply::text));
    client.mock().script(Lane::Compaction, [Reply::text("<summary>They counted.</summary>")]);
    let mut terminal = client.terminal()?;
    for answer in answers {
        terminal.submit("a question")?;
        terminal.wait_for(answer)?;
    }
    terminal.submit("/compact")?;
    terminal.wait_for("Compacted")?;
    terminal.exit()
}

/// Has the client ask the person, and waits until it has told its hooks so: that comes after some seconds.
fn provoke_question(client: &Client, event: &str) -> Result<()> {
    let write = json!({"command": "touch made", "description": "Write"});
    client.mock().script(Lane::Main, [Reply::text("I write.").tool_use("Bash", write)]);
    let mut terminal = client.terminal()?;
    terminal.submit("write something")?;
    terminal.wait_for("Do you want to proceed?")?;
    let deadline = Instant::now() + QUESTION_TIMEOUT;
    while !client.hook_log()?.iter().any(|line| line["event"] == event) {
        ensure!(Instant::now() < deadline, "no hook saw {event}");
        thread::sleep(POLL);
    }
    terminal.press(Key::Escape)?;
    terminal.exit()
}

/// Checks that nothing that the client started is left running.
fn check_processes(client: &Client) -> Result<()> {
    let deadline = Instant::now() + END_TIMEOUT;
    while !client.processes().is_empty() {
        ensure!(Instant::now() < deadline, "still running: {:?}", client.processes());
        thread::sleep(POLL);
    }
    Ok(())
}

/// Events that take a session of their own; the others all happen in those of [`every_start`].
const RARE_EVENTS: [&str; 3] = ["Notification", "PermissionRequest", "StopFailure"];

/// Hooks that take more than a call of the model: a plan has to be written in plan mode and answered by the user.
const SHOWN_ELSEWHERE: [&str; 1] = ["plan-archive"];

/// What a client of [`fires_every_hook`] may do without asking.
const TOOLS: [&str; 3] = ["Bash(echo:*)", "Bash(exit:*)", "Agent"];

/// The longest that hooks may take to run after the screen shows what they run for.
const HOOK_TIMEOUT: Duration = Duration::from_secs(20);

/// Has sessions of a client start in each way, with a prompt, tools that work and fail, a subagent and an end; calls `started`
/// with the name of each way.
fn every_start(client: &Client, mut started: impl FnMut(&str) -> Result<()>) -> Result<()> {
    provoke_in_a_turn(client)?;
    started("startup")?;
    ensure!(client.prompt_continued("and now?")?.succeeded());
    started("resume")?;
    let answers = ["The first answer.", "The second answer.", "The third answer."];
    client.mock().script(Lane::Main, answers.map(Reply::text));
    client.mock().script(Lane::Compaction, [Reply::text("<summary>They counted.</summary>")]);
    let mut terminal = client.terminal()?;
    for answer in &answers[..2] {
        terminal.submit("a question")?;
        terminal.wait_for(answer)?;
    }
    started("startup in a terminal")?;
    terminal.submit("/compact")?;
    terminal.wait_for("Compacted")?;
    started("compact")?;
    terminal.submit("/clear")?;
    terminal.wait_until("an empty conversation", |contents| !contents.contains("Compacted"))?;
    started("clear")?;
    terminal.submit("the last question")?;
    terminal.wait_for(answers[2])?;
    terminal.exit()
}

/// Returns how many lines each hook of a session's start has in the log.
fn starts(client: &Client) -> BTreeMap<&'static str, usize> {
    let log = client.hook_log().unwrap_or_default();
    let of_start = HOOKS.iter().filter(|hook| hook.events.contains(&"SessionStart"));
    let lines = |name: &str| {
        log.iter().filter(|line| line["hook"] == name && line["event"] == "SessionStart").count()
    };
    of_start.map(|hook| (hook.name, lines(hook.name))).collect()
}

/// Checks that a client, wired in whatever way, runs every hook of the table at every event of its row, and at every way that a
/// session starts. It may use [`TOOLS`].
fn fires_every_hook(client: &Client) -> Result<()> {
    let mut before = starts(client);
    every_start(client, |how| {
        let deadline = Instant::now() + HOOK_TIMEOUT;
        let mut now = starts(client);
        while let Some((hook, _)) = now.iter().find(|(hook, lines)| before.get(*hook) >= Some(*lines)) {
            ensure!(Instant::now() < deadline, "{hook} did not run at the start by {how}");
            thread::sleep(POLL);
            now = starts(client);
        }
        before = now;
        Ok(())
    })?;
    for event in RARE_EVENTS.iter().filter(|event| HOOKS.iter().any(|hook| hook.events.contains(event))) {
        provoke(client, event)?;
    }
    check_processes(client)?;
    let mut runs = 0;
    for hook in HOOKS.iter().filter(|hook| !SHOWN_ELSEWHERE.contains(&hook.name)) {
        for event in hook.events {
            check_ran(client, hook.name, event)?;
            runs += 1;
        }
    }
    ensure!(runs >= HOOKS.len() - SHOWN_ELSEWHERE.len(), "{runs} runs");
    Ok(())
}

#[test]
fn the_client_runs_every_hook_at_every_event_of_its_row() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    fires_every_hook(&client.allow_tools(&TOOLS))
}
