//! Contexts under load, and with processes that are killed.

use super::cli::{ids, work_json};
use super::prompts::Session;
use anyhow::Result;
use serde_json::json;
use std::io::Write as _;
use std::process::Stdio;
use std::thread;
use std::time::Duration;
use wyren_tests::sandbox::Sandbox;

const SESSIONS: usize = 20;

#[test]
fn twenty_parallel_prompts_on_one_context_give_one_context_with_twenty_bindings() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    Session::new(&sandbox, "first").prompt("move the parser into a crate")?;
    thread::scope(|scope| {
        let sandbox = &sandbox;
        let running: Vec<_> = (1..SESSIONS)
            .map(|number| {
                scope.spawn(move || {
                    Session::new(sandbox, format!("s-{number}")).prompt("^S:parser go on with it")
                })
            })
            .collect();
        running.into_iter().try_for_each(|thread| match thread.join() {
            Ok(answer) => answer.map(|answer| assert_ne!(answer["decision"], "block", "{answer}")),
            Err(_) => anyhow::bail!("a prompt failed"),
        })
    })?;
    assert_eq!(ids(&sandbox)?.len(), 1);
    let context = work_json(&sandbox, &["show", "parser"])?;
    assert_eq!(context["sessions"].as_array().map(Vec::len), Some(SESSIONS), "{context:#}");
    Ok(())
}

#[test]
fn parallel_prompts_of_one_session_begin_one_context_and_equal_ones_of_many_sessions_begin_many() -> Result<()>
{
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let text = "move the parser into a crate";
    let send = |id: &(dyn Fn(usize) -> String + Sync)| {
        thread::scope(|scope| {
            for number in 0..8 {
                let sandbox = &sandbox;
                scope.spawn(move || Session::new(sandbox, id(number)).prompt(text).map(drop));
            }
        });
    };
    send(&|_| "one".to_owned());
    assert_eq!(ids(&sandbox)?.len(), 1);
    send(&|number| format!("s-{number}"));
    let mut all = ids(&sandbox)?;
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 9, "line 13: {all:?}");
    Ok(())
}

#[test]
fn a_killed_command_leaves_the_state_before_or_after_it() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    Session::new(&sandbox, "first").prompt("move the parser into a crate")?;
    for number in 0..30_u64 {
        let session = format!("s-{number}");
        let asked = json!({"session": session, "cwd": sandbox.project(), "prompt": "^S:parser"});
        let mut command = sandbox.command("wyren");
        command.args(["work", "bind"]).current_dir(sandbox.project());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // A child that was quick to end does not read.
            let _ = input.write_all(asked.to_string().as_bytes());
        }
        thread::sleep(Duration::from_micros(number * 2_000));
        child.kill()?;
        child.wait()?;
        let context = work_json(&sandbox, &["show", "parser"])?;
        assert!(context["sessions"].as_array().is_some_and(|sessions| !sessions.is_empty()), "{context:#}");
        assert_eq!(ids(&sandbox)?.len(), 1);
        // Whatever was left: the session can be bound now, once.
        Session::new(&sandbox, session.clone()).prompt("^S:parser go on with it")?;
        let context = work_json(&sandbox, &["show", "parser"])?;
        let bound = context["sessions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|bound| bound["id"] == *session)
            .count();
        assert_eq!(bound, 1, "{context:#}");
    }
    Ok(())
}
