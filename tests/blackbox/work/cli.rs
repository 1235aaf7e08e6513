//! Contexts by command.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::fs;
use wyren_tests::sandbox::Sandbox;

/// Runs `wyren work`; returns its exit code and what it printed.
pub(super) fn work(sandbox: &Sandbox, arguments: &[&str]) -> Result<(Option<i32>, String, String)> {
    let mut command = sandbox.command("wyren");
    command.arg("work").args(arguments).current_dir(sandbox.project());
    let output = command.output()?;
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok((output.status.code(), stdout, stderr))
}

/// Runs `wyren work … --json`; returns what it printed.
pub(super) fn work_json(sandbox: &Sandbox, arguments: &[&str]) -> Result<Value> {
    let (code, printed, errors) = work(sandbox, &[arguments, &["--json"]].concat())?;
    ensure!(code == Some(0), "{arguments:?}: {errors}");
    Ok(serde_json::from_str(&printed)?)
}

/// Returns the ids of all contexts, the latest first.
pub(super) fn ids(sandbox: &Sandbox) -> Result<Vec<String>> {
    let listed = work_json(sandbox, &["list", "--all"])?;
    let contexts = listed["contexts"].as_array().cloned().unwrap_or_default();
    Ok(contexts.iter().map(|context| context["id"].as_str().unwrap_or_default().to_owned()).collect())
}

#[test]
fn a_context_is_begun_changed_noted_closed_and_opened_again() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let (code, said, _) = work(&sandbox, &[])?;
    assert_eq!((code, said.starts_with("No contexts in ")), (Some(0), true), "{said}");
    let made = work_json(&sandbox, &["new", "Move the parser into a crate", "--tag", "Importer"])?;
    let id = made["contexts"][0]["id"].as_str().unwrap_or_default().to_owned();
    assert!(id.ends_with("-move-parser-crate"), "{id}");
    assert_eq!(made["contexts"][0]["tags"][0], "importer");
    let second = work_json(&sandbox, &["new", "Move the parser into a crate"])?;
    let second = second["contexts"][0]["id"].as_str().unwrap_or_default().to_owned();
    assert_ne!(second, id, "two of the same minute");

    let edited = work_json(
        &sandbox,
        &["edit", &id, "--summary", "Move the lexer", "--tag", "lexer", "--untag", "importer"],
    )?;
    assert_eq!(edited["contexts"][0]["summary"], "Move the lexer");
    assert_eq!(edited["contexts"][0]["tags"], json!(["lexer"]));
    work_json(&sandbox, &["note", &id, "half", "done"])?;
    let shown = work_json(&sandbox, &["show", &id])?;
    assert_eq!(
        (&shown["notes"][0]["text"], &shown["mode"]),
        (&"half done".into(), &"idle".into()),
        "{shown:#}"
    );
    let (_, shown, _) = work(&sandbox, &["show", &id])?;
    assert!(shown.contains("Move the lexer") && shown.contains("half done"), "{shown}");
    let (_, listed, _) = work(&sandbox, &["list"])?;
    assert!(listed.contains(&id) && listed.contains(&second) && listed.contains("idle"), "{listed}");

    let switched = work_json(&sandbox, &["switch", &id, "--session-id", "s-1"])?;
    assert_eq!(switched["contexts"][0]["sessions"][0]["id"], "s-1");
    let inventory = work_json(&sandbox, &["inventory", &id])?;
    assert!(inventory["folder"].as_str().is_some_and(|folder| folder.ends_with(&id)), "{inventory:#}");
    let (_, inventory, _) = work(&sandbox, &["inventory", &id])?;
    assert!(inventory.contains("sessions") && inventory.contains("nothing"), "{inventory}");

    work_json(&sandbox, &["done", &id])?;
    let open = work_json(&sandbox, &[])?;
    assert_eq!(open["contexts"].as_array().map(Vec::len), Some(1), "{open:#}");
    assert_eq!(open["contexts"][0]["id"], *second);
    let (code, _, errors) = work(&sandbox, &["switch", &id, "--session-id", "s-1"])?;
    assert!(code == Some(1) && errors.contains("is done"), "{errors}");
    let reopened = work_json(&sandbox, &["reopen", &id])?;
    assert_eq!(reopened["contexts"][0]["is_done"], false);
    Ok(())
}

#[test]
fn a_context_that_is_done_is_found_by_a_part_of_its_id_and_named_as_done() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    work_json(&sandbox, &["new", "Write the manual"])?;
    work_json(&sandbox, &["done", "manual"])?;
    let (code, _, errors) = work(&sandbox, &["switch", "manual", "--session-id", "s-1"])?;
    assert!(code == Some(1) && errors.contains("-write-manual is done; to open it again:"), "{errors}");
    let again = work_json(&sandbox, &["done", "manual"])?;
    assert_eq!(again["contexts"][0]["is_done"], true);
    // What is open is meant first.
    work_json(&sandbox, &["new", "Print the manual"])?;
    let switched = work_json(&sandbox, &["switch", "manual", "--session-id", "s-1"])?;
    assert_eq!(switched["contexts"][0]["summary"], "Print the manual");
    Ok(())
}

#[test]
fn only_the_list_that_a_caret_shows_has_its_numbers() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for text in ["Move the parser", "Fix the login form"] {
        work_json(&sandbox, &["new", text])?;
    }
    work_json(&sandbox, &["done", "parser"])?;
    let first = |arguments: &[&str]| -> Result<String> {
        let (_, listed, _) = work(&sandbox, arguments)?;
        let line = listed.lines().find(|line| line.contains("-login-form")).unwrap_or_default();
        Ok(line.split_whitespace().next().unwrap_or_default().to_owned())
    };
    assert_eq!(first(&[])?, "1");
    assert!(first(&["list", "--all"])?.ends_with("-login-form"));
    assert!(first(&["list", "--everywhere"])?.ends_with("-login-form"));
    let (_, listed, _) = work(&sandbox, &["list", "--everywhere"])?;
    assert!(listed.lines().next().is_some_and(|header| header.contains("project")), "{listed}");
    Ok(())
}

#[test]
fn what_is_no_id_is_refused_by_name_and_changes_nothing() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    work_json(&sandbox, &["new", "Fix the beta parser"])?;
    work_json(&sandbox, &["new", "Fix the other parser"])?;
    let before = work_json(&sandbox, &["list", "--all"])?;
    let long = "a".repeat(300);
    for bad in ["../evil", "..", "a/b", "a\\b", "..%2fescape", "%2E%2E", "a%5cb", "\u{202e}x", &long] {
        for arguments in [
            vec!["show", bad],
            vec!["inventory", bad],
            vec!["plans", bad],
            vec!["tasks", bad],
            vec!["edit", bad, "--summary", "x"],
            vec!["switch", bad, "--session-id", "s"],
            vec!["done", bad],
            vec!["reopen", bad],
            vec!["note", bad, "x"],
        ] {
            let (code, said, errors) = work(&sandbox, &arguments)?;
            assert_eq!((code, &*said), (Some(2), ""), "{arguments:?}: {errors}");
            assert!(errors.contains("is no id of a context: "), "{arguments:?}: {errors}");
            assert!(!errors.contains('\u{202e}'), "{arguments:?}: {errors}");
        }
    }
    let (code, _, errors) = work(&sandbox, &["done", "fix"])?;
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("2 contexts have") && errors.contains("-fix-beta-parser"), "{errors}");
    let (code, _, errors) = work(&sandbox, &["done", "gamma"])?;
    assert!(code == Some(1) && errors.contains("the latest are:"), "{errors}");
    assert_eq!(work_json(&sandbox, &["list", "--all"])?, before);
    Ok(())
}

#[test]
fn line_15_no_command_needs_the_session_in_the_environment() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    work_json(&sandbox, &["new", "Move the parser"])?;
    let (code, _, errors) = work(&sandbox, &["switch", "parser"])?;
    assert!(code == Some(2) && errors.contains("--session-id"), "{errors}");
    work_json(&sandbox, &["switch", "parser", "--session-id", "s-1"])?;
    // The variable that earlier clients never set is not looked at.
    let mut command = sandbox.command("wyren");
    command.args(["work", "show", "current"]).env("CLAUDE_SESSION_ID", "s-1").current_dir(sandbox.project());
    assert_eq!(command.output()?.status.code(), Some(1));
    let mut command = sandbox.command("wyren");
    command
        .args(["work", "show", "current"])
        .env("CLAUDE_CODE_SESSION_ID", "s-1")
        .current_dir(sandbox.project());
    assert_eq!(command.output()?.status.code(), Some(0));
    Ok(())
}

#[test]
fn what_is_private_or_secret_reaches_no_context() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let (code, _, errors) = work(&sandbox, &["new", "<private>the merger</private>"])?;
    assert!(code == Some(1) && errors.contains("marked as private"), "{errors}");
    work_json(&sandbox, &["new", &format!("Rotate {token} now <private>the merger</private>")])?;
    let id = ids(&sandbox)?.remove(0);
    work_json(&sandbox, &["note", &id, &format!("it was {token}")])?;
    let shown = work_json(&sandbox, &["show", &id])?.to_string();
    assert!(
        !shown.contains("a1B2") && !shown.contains("merger") && shown.contains("[redacted:github]"),
        "{shown}"
    );
    assert!(!id.contains("a1b2") && !id.contains("merger"), "{id}");
    Ok(())
}

#[test]
fn contexts_of_aiwcli_are_imported_once_and_its_folder_stays_as_it_is() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let (code, _, errors) = work(&sandbox, &["import"])?;
    assert!(code == Some(1) && errors.contains("has no contexts of aiwcli"), "{errors}");
    let folder = sandbox.project().join("_output/contexts/260301-0900-move-parser");
    fs::create_dir_all(folder.join("plans"))?;
    let state = json!({"summary": "move the parser", "mode": "has_staged_work", "next_artifact_type": "plan", "session_ids": ["s-1"],
        "plan_path": "plans/p.md", "created_at": "2026-03-01T09:00:00.000", "last_active": "2026-03-01T10:00:00.000"});
    fs::write(folder.join("state.json"), state.to_string())?;
    fs::write(folder.join("plans/p.md"), "# Move the parser\n\n---\n\n## Steps\n")?;
    let (_, said, _) = work(&sandbox, &["import", "--dry-run"])?;
    assert!(said.starts_with("Would import 260301-0900-move-parser with 1 file"), "{said}");
    assert!(ids(&sandbox)?.is_empty());
    for _ in 0..2 {
        let found = work_json(&sandbox, &["import"])?;
        assert_eq!(found["contexts"][0]["id"], "260301-0900-move-parser");
    }
    let context = work_json(&sandbox, &["show", "parser"])?;
    assert_eq!(
        (&context["mode"], context["sessions"].as_array().map(Vec::len)),
        (&"has_plan".into(), Some(1)),
        "{context:#}"
    );
    let (_, plan, _) = work(&sandbox, &["show", "parser", "--file", "plans/p.md"])?;
    assert_eq!(plan, "# Move the parser\n\n---\n\n## Steps\n");
    assert_eq!(fs::read_to_string(folder.join("state.json"))?, state.to_string());
    let forgotten = sandbox.wyren(&["forget", "--query", "Move the parser", "--yes"])?;
    ensure!(forgotten.status.success(), "{forgotten:?}");
    let (code, ..) = work(&sandbox, &["show", "parser", "--file", "plans/p.md"])?;
    assert_eq!(code, Some(1), "the text is gone");
    Ok(())
}
