//! What the user reads on the screen: one line each time, every notice once.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;
use wyren_tests::terminal::Terminal;

use super::{END_TIMEOUT, POLL, check_processes, client_with_plugin};
use crate::team::{Member, Mode, Remote};

/// How the client shows what a hook tells the user.
const AT_START: &str = "SessionStart:startup says: Wyren: ";
const AT_PROMPT: &str = "UserPromptSubmit says: Wyren: ";

/// How many turns a session has until what it taught is on the screen, at most.
const MOST_TURNS: usize = 8;

/// Returns the text on the screen as if it were one line: a long one goes over several.
fn squeezed(contents: &str) -> String {
    contents.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn screen(terminal: &Terminal) -> String {
    squeezed(&terminal.contents())
}

fn wait_for(terminal: &Terminal, text: &str) -> Result<()> {
    terminal.wait_until(&format!("`{text}` to appear"), |contents| squeezed(contents).contains(text))
}

/// Sends a prompt and waits for the answer, by which the hooks of the prompt have spoken.
fn ask(client: &Client, terminal: &mut Terminal, prompt: &str, answer: &str) -> Result<()> {
    client.mock().script(Lane::Main, [Reply::text(answer)]);
    terminal.submit(prompt)?;
    terminal.wait_for(answer)
}

/// Has a client work in a fresh clone of the remote.
fn client_in_clone(remote: &Remote) -> Result<Option<Client>> {
    let Some(client) = client_with_plugin()? else { return Ok(None) };
    let address = format!("file://{}", remote.path().display());
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", &address, "."]).current_dir(client.project());
    ensure!(clone.status()?.success(), "could not clone");
    git(&client, &["config", "user.name", "Alan"])?;
    git(&client, &["config", "user.email", "alan@localhost"])?;
    Ok(Some(client))
}

fn git(client: &Client, arguments: &[&str]) -> Result<()> {
    let status = Command::new("git").args(arguments).current_dir(client.project()).status()?;
    ensure!(status.success(), "git {arguments:?}");
    Ok(())
}

/// Leaves a notice for the user as a program in the background does.
fn leave(client: &Client, name: &str, text: &str) -> Result<()> {
    let folder = client.data().join("cache/notices");
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join(name), json!({"v": 1, "text": text}).to_string())?)
}

/// Waits for a notice of a key that a program in the background leaves.
fn wait_for_notice(client: &Client, key: &str) -> Result<()> {
    let folder = client.data().join("cache/notices");
    let is_there = || {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().ends_with(key))
    };
    let deadline = Instant::now() + END_TIMEOUT;
    while !is_there() {
        let log = || fs::read_to_string(client.project().join(".wyren/log")).unwrap_or_default();
        ensure!(Instant::now() < deadline, "no notice of {key} was left: {}", log());
        thread::sleep(POLL);
    }
    Ok(())
}

/// Waits until no distillation of the project runs.
fn wait_for_distillation(client: &Client) -> Result<()> {
    let watermark = client.project().join(".wyren/state/watermark.json");
    let is_running = || -> Result<bool> {
        let Ok(text) = fs::read_to_string(&watermark) else { return Ok(false) };
        Ok(serde_json::from_str::<Value>(&text)?["distiller_running"] == true)
    };
    let deadline = Instant::now() + END_TIMEOUT;
    while is_running()? {
        ensure!(Instant::now() < deadline, "a distillation does not end");
        thread::sleep(POLL);
    }
    Ok(())
}

fn guard(client: &Client) -> Result<()> {
    let folder = client.project().join(".wyren/lessons");
    fs::create_dir_all(&folder)?;
    let text =
        "---\nsummary: Theirs\nkind: guard\ncommand: frobnicate\n---\nIt matters.\n\n## Solution\nDo not.\n";
    Ok(fs::write(folder.join("theirs.md"), text)?)
}

#[test]
fn the_first_session_says_what_is_on_once_and_not_where_no_person_sees_it() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    fs::remove_dir_all(client.data().join("told"))?;
    let turn = client.prompt("a script's question")?;
    ensure!(turn.succeeded(), "{:#?}", turn.output);
    assert!(!turn.output.stdout.contains("lessons and recording are on"), "{}", turn.output.stdout);
    assert!(!client.data().join("told").exists(), "no person has read it");

    let mut terminal = client.terminal()?;
    wait_for(&terminal, "lessons and recording are on; data is in ")?;
    wait_for(&terminal, "See /wyren:status; to turn parts off: wyren config.")?;
    assert_eq!(screen(&terminal).matches(AT_START).count(), 1, "{}", terminal.contents());
    ask(&client, &mut terminal, "the first question", "The first answer.")?;
    assert_eq!(screen(&terminal).matches("Wyren: ").count(), 1, "{}", terminal.contents());
    terminal.exit()?;

    let mut terminal = client.terminal()?;
    ask(&client, &mut terminal, "the second question", "The second answer.")?;
    assert!(!screen(&terminal).contains("Wyren: "), "{}", terminal.contents());
    terminal.exit()?;
    check_processes(&client)
}

#[test]
fn a_memory_that_was_found_and_a_teammates_decision_and_note_are_read_once_each() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "Ada", Mode::Side)? else { return Ok(()) };
    ada.decide("Use Postgres for the queue")?;
    ada.wyren(&["sync"])?;
    let (Some(client), Some(plugin)) = (client_in_clone(&remote)?, plugin::folder()) else { return Ok(()) };

    let mut terminal = client.terminal()?;
    let found =
        "found a team memory on origin: 1 entry by Ada; to ignore it here: git config wyren.discover false.";
    wait_for(&terminal, &format!("{AT_START}{found}"))?;
    ada.decide("Prices are integer cents")?;
    ada.wyren(&["sync"])?;
    client.wyren(&plugin, &["sync", "--background"])?;
    ask(&client, &mut terminal, "the first question", "The first answer.")?;
    wait_for(&terminal, &format!("{AT_PROMPT}Ada decided: Prices are integer cents."))?;
    ada.wyren(&["memory", "handoff", "Checkout still takes euros"])?;
    client.wyren(&plugin, &["sync", "--background"])?;
    ask(&client, &mut terminal, "the second question", "The second answer.")?;
    wait_for(&terminal, &format!("{AT_PROMPT}Ada left a handoff note: Checkout still takes euros."))?;
    ask(&client, &mut terminal, "the third question", "The third answer.")?;
    assert_eq!(screen(&terminal).matches("Wyren: ").count(), 3, "{}", terminal.contents());
    terminal.exit()?;
    check_processes(&client)?;
    // The very texts, for later.
    let told = client.wyren(&plugin, &["log", "--told"])?;
    assert!(told.contains("Wyren: Ada decided: Prices are integer cents."), "{told}");
    assert!(told.contains("for you, session "), "{told}");
    Ok(())
}

#[test]
fn what_a_session_taught_is_read_at_its_next_prompt_with_where_it_went() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let (Some(client), Some(plugin)) = (client_in_clone(&remote)?, plugin::folder()) else { return Ok(()) };
    // As by default: a worker outlives the pause before the next one may start.
    let client = client.env("WYREN_TURNS_THRESHOLD", "1").env("WYREN_WORKER_IDLE_SECONDS", "60");
    client.wyren(&plugin, &["init"])?;
    let mut terminal = client.terminal()?;
    let decision = "Decision: prices are integer cents from now on. We looked at decimal.js and rejected it: 40 KB for no gain.";
    ask(&client, &mut terminal, decision, "Understood, integer cents it is.")?;
    // The client may write the transcript after the first Stop, whose distillation then finds it empty, and a Stop during
    // that one begins none: a later Stop has the decision distilled, and the prompt after it shows the notice.
    for turn in 2..=MOST_TURNS {
        wait_for_distillation(&client)?;
        ask(&client, &mut terminal, &format!("question {turn}"), &format!("Answer {turn}."))?;
        if screen(&terminal).contains("Wyren: learned ") {
            break;
        }
    }
    wait_for(&terminal, &format!("{AT_PROMPT}learned "))?;
    wait_for(&terminal, "from this session, pushed to origin.")?;
    terminal.exit()?;
    client.wyren(&plugin, &["worker", "stop"])?;
    check_processes(&client)
}

#[test]
fn what_waits_for_trust_is_read_once_and_a_start_has_one_line() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    guard(&client)?;
    leave(&client, "all-jobs", "gave up 1 background job; see wyren jobs")?;
    let mut terminal = client.terminal()?;
    wait_for(&terminal, AT_START)?;
    // The hook that finds the guard runs beside the one that speaks: the notice is on the first line, before the other one,
    // or on the line of a prompt, alone.
    ask(&client, &mut terminal, "the first question", "The first answer.")?;
    ask(&client, &mut terminal, "the second question", "The second answer.")?;
    wait_for(&terminal, "1 guard of project waits for your review: /wyren:trust")?;
    ask(&client, &mut terminal, "the third question", "The third answer.")?;
    let shown = screen(&terminal);
    assert_eq!(shown.matches(AT_START).count(), 1, "{shown}");
    assert_eq!(shown.matches("SessionStart:startup says:").count(), 1, "{shown}");
    for text in ["waits for your review", "gave up 1 background job"] {
        assert_eq!(shown.matches(text).count(), 1, "{shown}");
    }
    terminal.exit()?;
    check_processes(&client)
}

#[test]
fn a_remote_that_fails_is_read_once_in_an_outage() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let (Some(client), Some(plugin)) = (client_in_clone(&remote)?, plugin::folder()) else { return Ok(()) };
    client.wyren(&plugin, &["init"])?;
    client.wyren(&plugin, &["sync"])?;
    let nowhere = Path::new("/nonexistent/remote.git").display().to_string();
    git(&client, &["remote", "set-url", "origin", &nowhere])?;
    for is_first in [true, false] {
        let mut terminal = client.terminal()?;
        ask(&client, &mut terminal, "a question", "An answer.")?;
        if is_first {
            wait_for_notice_or_line(&client, &terminal)?;
            ask(&client, &mut terminal, "another question", "Another answer.")?;
            wait_for(&terminal, "Wyren: could not reach origin (")?;
            wait_for(&terminal, "Wyren keeps memory changes here and pushes them with the next sync.")?;
        }
        let shown = screen(&terminal);
        assert_eq!(shown.matches("could not reach origin").count(), usize::from(is_first), "{shown}");
        terminal.exit()?;
    }
    check_processes(&client)
}

/// Waits until the outage is on the screen, or waits for the next prompt.
fn wait_for_notice_or_line(client: &Client, terminal: &Terminal) -> Result<()> {
    if screen(terminal).contains("could not reach origin") {
        return Ok(());
    }
    wait_for_notice(client, "-remote")
}

#[test]
fn the_setting_shows_what_needs_the_user_or_nothing() -> Result<()> {
    for (setting, expected) in [("important", 1), ("off", 0)] {
        let (Some(client), Some(plugin)) = (client_with_plugin()?, plugin::folder()) else { return Ok(()) };
        client.wyren(&plugin, &["config", "set", "ui.messages", setting])?;
        leave(&client, "all-budget", "today's model budget is used up")?;
        leave(&client, "all-jobs", "gave up 1 background job; see wyren jobs")?;
        let mut terminal = client.terminal()?;
        ask(&client, &mut terminal, "a question", "An answer.")?;
        let shown = screen(&terminal);
        assert_eq!(shown.matches("see wyren jobs").count(), expected, "{setting}: {shown}");
        assert!(!shown.contains("budget"), "{setting}: {shown}");
        terminal.exit()?;
        check_processes(&client)?;
    }
    Ok(())
}

#[test]
fn a_full_disk_and_a_budget_that_is_used_up_are_read_once() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    leave(&client, "all-budget", "today's model budget is used up")?;
    // As the recorders leave it: a full disk has room for an empty file at most.
    fs::write(client.data().join("cache/notices/all-disk"), "")?;
    let mut terminal = client.terminal()?;
    let line = "the disk is full; nothing is recorded until there is room · today's model budget is used up.";
    wait_for(&terminal, &format!("{AT_START}{line}"))?;
    for question in ["the first question", "the second question"] {
        ask(&client, &mut terminal, question, &format!("Answer to {question}."))?;
    }
    let shown = screen(&terminal);
    assert_eq!((shown.matches(line).count(), shown.matches("says: Wyren: ").count()), (1, 1), "{shown}");
    terminal.exit()?;
    check_processes(&client)
}
