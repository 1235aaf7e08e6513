//! Handoffs by command, and what the next session gets of them.

use super::cli::{ids, work, work_json};
use super::prompts::Session;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use wyren_tests::sandbox::{Sandbox, feed};

const TABLE: &str = "| approach | why |\n|---|---|\n| floats | 0.1 + 0.2 is not 0.3 |\n\n---\n\nafter the rule\n\n---\n\nand the second";
const MARKDOWN: &str = "# Cents in the cart\n\n## Completed work\ncart.js\n\n## DEAD-ENDS\n\n\
    | approach | why |\n|---|---|\n| floats | 0.1 + 0.2 is not 0.3 |\n\n---\n\nafter the rule\n\n---\n\nand the second\n\n\
    ## Pending\n- checkout.js still takes euros\n\n## Risks\nrounding\n";

/// Runs `wyren handoff`, in a session where one is given; returns its exit code and what it printed.
fn handoff(
    sandbox: &Sandbox,
    session: Option<&str>,
    arguments: &[&str],
    input: &str,
) -> Result<(Option<i32>, String, String)> {
    let mut command = sandbox.command("wyren");
    command.arg("handoff").args(arguments).current_dir(sandbox.project());
    if let Some(session) = session {
        command.env("CLAUDE_CODE_SESSION_ID", session);
    }
    let output = feed(&mut command, input.as_bytes())?;
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok((output.status.code(), stdout, stderr))
}

fn handoff_json(sandbox: &Sandbox, session: Option<&str>, arguments: &[&str], input: &str) -> Result<Value> {
    let (code, printed, errors) = handoff(sandbox, session, &[arguments, &["--json"]].concat(), input)?;
    ensure!(code == Some(0), "{arguments:?}: {errors}");
    Ok(serde_json::from_str(&printed)?)
}

/// Saves a handoff in a session that a prompt bound; returns its name.
fn saved(sandbox: &Sandbox, session: &str) -> Result<String> {
    Session::new(sandbox, session).prompt("keep the prices of the cart in cents")?;
    let saved = handoff_json(sandbox, Some(session), &["save"], MARKDOWN)?;
    Ok(saved["handoff"]["name"].as_str().context("no name")?.to_owned())
}

#[test]
fn line_1_a_handoff_is_saved_into_a_folder_and_resumed_byte_complete() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let name = saved(&sandbox, "s-1")?;
    let context = ids(&sandbox)?.pop().context("no context")?;
    assert!(name.starts_with(&format!("{context}/")), "{name}");
    let shown = handoff_json(&sandbox, None, &["show", &name], "")?;
    let folder = PathBuf::from(shown["folder"].as_str().context("no folder")?);
    for file in [
        "index.md",
        "completed-work.md",
        "decisions.md",
        "dead-ends.md",
        "pending.md",
        "context.md",
        "plan.md",
    ] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    assert_eq!(fs::read_to_string(folder.join("dead-ends.md"))?, format!("# Dead ends\n\n{TABLE}\n"));
    let (code, section, _) = handoff(&sandbox, None, &["show", &name, "--section", "Dead-Ends"], "")?;
    assert_eq!((code, &*section), (Some(0), &*format!("{TABLE}\n")));
    let (code, said, errors) = handoff(&sandbox, Some("s-2"), &["resume"], "")?;
    assert_eq!(code, Some(0), "{errors}");
    let places =
        [TABLE, "- checkout.js still takes euros", "cart.js\n", "rounding"].map(|text| said.find(text));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{said}");
    assert!(!said.contains("STALE") && said.contains(&context), "{said}");
    Ok(())
}

#[test]
fn a_session_that_begins_with_a_command_of_wyren_works_on_no_context_of_that_name() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let session = Session::new(&sandbox, "s-1");
    for command in ["/wyren:lessons-add prices are in cents", "/wyren:handoff all of it"] {
        assert_eq!(session.prompt(command)?, Value::Null);
    }
    assert!(ids(&sandbox)?.is_empty());
    let saved = handoff_json(&sandbox, Some("s-1"), &["save"], MARKDOWN)?;
    let name = saved["handoff"]["name"].as_str().context("no name")?;
    assert!(name.contains("-cents-cart/") && saved["context_is_new"] == true, "{saved:#}");
    // The session goes on with it.
    session.prompt("teach the checkout cents")?;
    assert_eq!(ids(&sandbox)?.len(), 1);
    // Another one begins its context with the first prompt that is about the work.
    let other = Session::new(&sandbox, "s-2");
    other.prompt("/wyren:lessons-review labels")?;
    other.prompt("print the labels of parcels twice")?;
    assert_eq!(ids(&sandbox)?.len(), 2);
    Ok(())
}

#[test]
fn line_9_a_handoff_that_was_resumed_binds_the_session_and_does_not_wait_again() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let name = saved(&sandbox, "s-1")?;
    let shown = |id: &str| work(&sandbox, &["show", id]).map(|(_, shown, _)| shown);
    let id = ids(&sandbox)?.remove(0);
    assert!(!shown(&id)?.contains("waits for a session"), "its own session goes on: {}", shown(&id)?);
    Session::new(&sandbox, "s-1").ends("other", "p-end")?;
    assert!(shown(&id)?.contains("waits for a session"), "{}", shown(&id)?);
    let waits = |sandbox: &Sandbox| -> Result<Value> {
        Ok(handoff_json(sandbox, None, &["list"], "")?["handoffs"][0]["state"].clone())
    };
    assert_eq!(waits(&sandbox)?, "waits");
    // The command of the plugin begins no context of its own.
    let second = Session::new(&sandbox, "s-2");
    assert_eq!(second.prompt("/wyren:handoff-resume")?, Value::Null);
    let resumed = handoff_json(&sandbox, Some("s-2"), &["resume"], "")?;
    assert_eq!((&resumed["name"], &resumed["session_bound"]), (&json!(name), &json!(true)));
    assert_eq!(waits(&sandbox)?, "taken up");
    second.prompt("go on")?;
    second.ends("other", "p-end-2")?;
    assert_eq!(waits(&sandbox)?, "taken up");
    let context = work_json(&sandbox, &["show", &ids(&sandbox)?[0]])?;
    assert_eq!((ids(&sandbox)?.len(), &context["mode"]), (1, &json!("active")), "{context:#}");
    assert_eq!(context["sessions"].as_array().map(Vec::len), Some(2), "{context:#}");
    Ok(())
}

#[test]
fn line_6_a_prompt_that_takes_up_a_context_gets_the_dead_ends_and_what_is_pending() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    saved(&sandbox, "s-1")?;
    Session::new(&sandbox, "s-1").ends("other", "p-end")?;
    let answer = Session::new(&sandbox, "s-2").prompt("^1 go on")?;
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().context("no text")?;
    assert!(text.contains(TABLE) && text.contains("- checkout.js still takes euros"), "{text}");
    assert!(text.len() < 8_000 && text.contains("<wyren-context"), "{text}");
    Ok(())
}

#[test]
fn line_7_after_clear_and_compaction_the_dead_ends_and_what_is_pending_come_back() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    saved(&sandbox, "s-1")?;
    let first = Session::new(&sandbox, "s-1");
    let compacted = first.recalls("compact", "p-compact")?;
    assert!(
        compacted.contains(TABLE) && compacted.contains("- checkout.js still takes euros"),
        "{compacted}"
    );
    first.ends("clear", "p-clear")?;
    let second = Session::new(&sandbox, "s-2");
    second.starts("clear", "p-clear")?;
    let cleared = second.recalls("clear", "p-clear")?;
    assert!(cleared.contains(TABLE) && cleared.contains("wyren handoff show"), "{cleared}");
    // Another session goes on with nothing.
    assert!(!Session::new(&sandbox, "s-3").recalls("startup", "p-3")?.contains(TABLE));
    Ok(())
}

#[test]
fn what_a_person_left_comes_before_the_handoff_of_a_later_compaction() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let name = saved(&sandbox, "s-1")?;
    let transcript = sandbox.folder().join("t.jsonl");
    let lines = [
        json!({"type": "user", "message": {"role": "user", "content": "print the labels of parcels twice"}}),
        json!({"type": "assistant", "message": {"role": "assistant", "id": "m", "model": "claude-opus-4-8",
            "content": [{"type": "text", "text": "The labels are done; the printer still jams."}]}}),
    ];
    fs::write(&transcript, lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
    let event = json!({"session_id": "s-1", "cwd": sandbox.project(), "prompt_id": "p", "hook_event_name": "PreCompact",
        "trigger": "auto", "transcript_path": transcript});
    sandbox.run("precompact-handoff", event.to_string().as_bytes())?;
    let handoffs = handoff_json(&sandbox, None, &["list"], "")?["handoffs"].clone();
    let states: Vec<&str> =
        handoffs.as_array().into_iter().flatten().filter_map(|one| one["state"].as_str()).collect();
    assert_eq!(states, ["of a compaction", "saved"], "{handoffs:#}");
    // The window of the same session gets both, another session what was left for it.
    let compacted = Session::new(&sandbox, "s-1").recalls("compact", "p-compact")?;
    let places = [TABLE, "the printer still jams"].map(|text| compacted.find(text));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{compacted}");
    let id = ids(&sandbox)?.remove(0);
    for typed in [&[][..], &[id.as_str()]] {
        let resumed = handoff_json(&sandbox, None, &[&["resume"], typed].concat(), "")?;
        assert_eq!((&resumed["name"], &resumed["later"]), (&json!(name), &handoffs[0]["name"]), "{typed:?}");
    }
    handoff_json(&sandbox, Some("s-2"), &["resume"], "")?;
    let resumed = handoff_json(&sandbox, None, &["resume"], "")?;
    assert_eq!(
        (&resumed["name"], &resumed["later"]),
        (&handoffs[0]["name"], &Value::Null),
        "it was taken up"
    );
    Ok(())
}

#[test]
fn empty_sections_are_named_and_what_is_no_handoff_is_refused() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let (code, said, _) = handoff(&sandbox, None, &[], "")?;
    assert_eq!((code, said.starts_with("No handoffs in ")), (Some(0), true), "{said}");
    let (code, _, errors) = handoff(&sandbox, Some("s"), &["resume"], "")?;
    assert!(code == Some(1) && errors.contains("has no handoff"), "{errors}");
    for (input, reason) in [("", "it has no text"), ("## Pending\n<private>x</private>", "marked as private")]
    {
        let (code, said, errors) = handoff(&sandbox, Some("s"), &["save"], input)?;
        assert_eq!((code, &*said), (Some(2), ""), "{errors}");
        assert!(errors.contains(reason), "{errors}");
    }
    assert_eq!(ids(&sandbox)?, Vec::<String>::new());
    let (code, said, errors) = handoff(&sandbox, Some("s"), &["save"], MARKDOWN)?;
    assert_eq!(code, Some(0), "{errors}");
    assert!(said.contains("Empty sections: decisions, context, plan."), "{said}");
    for bad in ["../evil", "a/../../b", "..%2fescape", "a\\b", ""] {
        for command in ["show", "resume"] {
            let (code, said, errors) = handoff(&sandbox, Some("s"), &[command, bad], "")?;
            assert_eq!((code, &*said), (Some(2), ""), "{command} {bad}: {errors}");
            assert!(errors.contains("is no id of a handoff: "), "{command} {bad}: {errors}");
        }
    }
    let (code, _, errors) = handoff(&sandbox, Some("s"), &["show", "2019"], "")?;
    assert!(code == Some(1) && errors.contains("the latest are:"), "{errors}");
    Ok(())
}

#[test]
fn what_is_forgotten_goes_with_its_folder_and_what_is_exported_comes_back_with_it() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let name = saved(&sandbox, "s-1")?;
    let shown = handoff_json(&sandbox, None, &["show", &name], "")?;
    let folder = PathBuf::from(shown["folder"].as_str().context("no folder")?);
    // A lost folder is written again.
    fs::remove_dir_all(&folder)?;
    let mut repair = sandbox.command("wyren");
    let repaired = repair.args(["repair", "--json"]).output()?;
    let repaired: Value = serde_json::from_slice(&repaired.stdout)?;
    assert_eq!(repaired["handoff_folders"], 1, "{repaired:#}");
    assert!(folder.join("dead-ends.md").is_file());
    let exported = sandbox.command("wyren").arg("export").output()?.stdout;
    let Some(other) = Sandbox::new()? else { return Ok(()) };
    let mut import = other.command("wyren");
    let imported = feed(import.args(["import", "-"]), &exported)?;
    ensure!(imported.status.success(), "{imported:?}");
    let listed = handoff_json(&other, None, &["list", "--everywhere"], "")?;
    assert_eq!(listed["handoffs"][0]["name"], *name, "{listed:#}");
    assert_eq!(listed["handoffs"][0]["sections"][1]["text"], TABLE);

    let forgotten = sandbox.wyren(&["forget", "--query", "0.1 + 0.2 is not 0.3", "--yes"])?;
    ensure!(forgotten.status.success(), "{forgotten:?}");
    assert!(!folder.exists(), "{}", folder.display());
    assert_eq!(handoff_json(&sandbox, None, &["list", "--everywhere"], "")?["handoffs"], json!([]));
    Ok(())
}

#[test]
fn search_finds_a_handoff_and_its_id_shows_it() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    saved(&sandbox, "s-1")?;
    let search = |words: &[&str]| -> Result<Value> {
        let mut command = sandbox.command("wyren");
        let output =
            command.arg("search").args(words).arg("--json").current_dir(sandbox.project()).output()?;
        ensure!(output.status.success(), "{output:?}");
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let found = search(&["euros", "checkout", "--type", "handoff"])?;
    let hit = &found["hits"][0];
    assert_eq!((&hit["is"], &hit["title"]), (&json!("handoff"), &json!("Cents in the cart")), "{found:#}");
    let id = hit["id"].as_str().context("no id")?;
    let shown = sandbox.command("wyren").args(["show", id]).current_dir(sandbox.project()).output()?;
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("Cents in the cart") && shown.contains("0.1 + 0.2 is not 0.3"), "{shown}");
    let forgotten = sandbox.wyren(&["forget", "--query", "0.1 + 0.2 is not 0.3", "--yes"])?;
    ensure!(forgotten.status.success(), "{forgotten:?}");
    assert_eq!(search(&["euros", "--type", "handoff"])?["hits"], json!([]));
    Ok(())
}

#[test]
fn with_team_a_line_about_it_is_in_the_team_memory_as_after_memory_handoff() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    // Without a team memory nothing is saved at all.
    let (code, _, errors) = handoff(&sandbox, None, &["save", "--team"], MARKDOWN)?;
    ensure!(code != Some(0) && errors.contains("wyren init"), "{code:?}: {errors}");
    assert_eq!(ids(&sandbox)?, Vec::<String>::new());
    let mut init = sandbox.command("wyren");
    ensure!(init.arg("init").current_dir(sandbox.project()).output()?.status.success());
    handoff(&sandbox, None, &["save", "--team"], MARKDOWN)?;
    let memory = fs::read_to_string(sandbox.project().join(".wyren/memory.md"))?;
    let notes = memory.split("## Handoff notes").nth(1).context("no notes")?;
    assert!(notes.contains("Cents in the cart. Open: - checkout.js still takes euros"), "{memory}");
    assert_eq!(handoff_json(&sandbox, None, &["list"], "")?["handoffs"][0]["title"], "Cents in the cart");
    Ok(())
}
