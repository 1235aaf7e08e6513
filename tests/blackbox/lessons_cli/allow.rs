//! `wyren lessons allow`: a person lifts a refusal.

use std::fs;

use anyhow::Result;
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

use super::{SLUG, add, frobnicate, frobnicate_with, lessons, lessons_json, names_in, refused, stderr, told};

const SESSION: &str = "1a2b3c4d-05f9-4e05-aad8-0d889a82ec5a";

fn sandbox_with(kind: &str) -> Result<Option<Sandbox>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    add(&sandbox, &frobnicate_with(&json!({"kind": kind})))?;
    Ok(Some(sandbox))
}

/// Says whether the hook refuses a command.
fn is_denied(sandbox: &Sandbox, session: &str, command: &str) -> Result<bool> {
    Ok(told(sandbox, session, command)?["hookSpecificOutput"]["permissionDecision"] == "deny")
}

#[test]
fn a_person_lifts_a_guard_for_the_next_call_of_the_session_that_was_refused_last() -> Result<()> {
    for kind in ["guard", "pause"] {
        let Some(sandbox) = sandbox_with(kind)? else { return Ok(()) };
        assert!(is_denied(&sandbox, "another-session", "frobnicate apply --all")?);
        assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
        let said = lessons(&sandbox, &["allow", SLUG])?;
        let expected = format!(
            "The next call that {SLUG} would refuse in session 1a2b3c4d passes; after that the {kind} holds again.\n\
             It refused this call "
        );
        assert!(said.starts_with(&expected) && said.ends_with(" ago: frobnicate apply\n"), "{said}");
        assert!(is_denied(&sandbox, "a-third-session", "frobnicate apply")?);
        assert!(!is_denied(&sandbox, SESSION, "frobnicate apply -v")?, "{kind}");
        assert!(is_denied(&sandbox, SESSION, "frobnicate apply -q")?, "{kind}");
    }
    Ok(())
}

/// Returns a command for the hook that cannot write into a folder without permission, as root neither.
#[cfg(target_os = "linux")]
fn bound_hook(sandbox: &Sandbox) -> std::process::Command {
    let hook = sandbox.command("lesson-inject");
    if !rustix::process::geteuid().is_root() {
        return hook;
    }
    let mut command = sandbox.command_for(std::path::Path::new("setpriv"));
    command.args(["--bounding-set=-dac_override", "--inh-caps=-dac_override"]).arg(hook.get_program());
    command
}

#[cfg(target_os = "linux")]
#[test]
fn review_3_leave_that_cannot_be_used_up_lifts_nothing() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let Some(sandbox) = sandbox_with("guard")? else { return Ok(()) };
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    lessons(&sandbox, &["allow", SLUG])?;
    let folders: Vec<_> = fs::read_dir(sandbox.data().join("allowed"))?.flatten().collect();
    let [folder] = &folders[..] else { panic!("{folders:?}") };
    let permit = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode));
    permit(0o555)?;
    let call = json!({
        "session_id": SESSION, "hook_event_name": "PreToolUse", "cwd": sandbox.project(),
        "tool_name": "Bash", "tool_input": {"command": "frobnicate apply"},
    });
    let output = feed(&mut bound_hook(&sandbox), call.to_string().as_bytes());
    permit(0o755)?;
    let output = output?;
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer} {}", stderr(&output));
    let log = sandbox.hook_log()?;
    let complaints = log.iter().filter(|line| line.to_string().contains("could not use up leave")).count();
    assert_eq!(complaints, 1, "{log:?}");
    assert!(!is_denied(&sandbox, SESSION, "frobnicate apply")?, "the leave is still there");
    Ok(())
}

#[test]
fn review_22_status_lists_leave_beside_lessons_in_this_project_alone() -> Result<()> {
    let Some(sandbox) = sandbox_with("guard")? else { return Ok(()) };
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    lessons(&sandbox, &["allow", SLUG])?;
    let elsewhere = sandbox.folder().join("elsewhere");
    fs::create_dir(&elsewhere)?;
    let status = |folder: &std::path::Path| -> Result<Value> {
        let output = feed(sandbox.command("wyren").args(["status", "--json"]).current_dir(folder), b"")?;
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let (here, elsewhere) = (status(&sandbox.project())?, status(&elsewhere)?);
    assert_eq!(here["lessons"]["lifted"], json!([{"slug": SLUG, "extent": "once"}]));
    assert_eq!(elsewhere["lessons"]["lifted"], json!([]));
    assert!(!here["waiting"].to_string().contains("lifted"), "{here}");
    let screen = sandbox.wyren(&["status", "--screen"])?;
    let screen = String::from_utf8_lossy(&screen.stdout).into_owned();
    assert!(screen.contains(&format!("\n  lifted     {SLUG} for the next call\n")), "{screen}");
    Ok(())
}

#[test]
fn a_guard_that_is_lifted_for_a_session_holds_again_when_the_session_ended() -> Result<()> {
    let Some(sandbox) = sandbox_with("guard")? else { return Ok(()) };
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    let said = lessons(&sandbox, &["allow", SLUG, "--session"])?;
    assert!(
        said.starts_with(&format!("{SLUG} lets every call in session 1a2b3c4d pass until the session ends")),
        "{said}"
    );
    for _ in 0..3 {
        assert_eq!(told(&sandbox, SESSION, "frobnicate apply")?, json!({}));
    }
    assert!(is_denied(&sandbox, "another-session", "frobnicate apply")?);
    let listed = lessons_json(&sandbox, &["allow", "--list", "--json"])?;
    assert_eq!(
        (&listed["allowed"][0]["slug"], &listed["allowed"][0]["extent"]),
        (&json!(SLUG), &json!("session"))
    );
    let end = json!({"session_id": SESSION, "hook_event_name": "SessionEnd", "reason": "other"});
    sandbox.run("session-end", end.to_string().as_bytes())?;
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    assert_eq!(lessons_json(&sandbox, &["allow", "--list", "--json"])?["allowed"], json!([]));
    Ok(())
}

#[test]
fn the_model_lifts_nothing_and_may_look() -> Result<()> {
    let Some(sandbox) = sandbox_with("guard")? else { return Ok(()) };
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    let by_the_model = |arguments: &[&str]| {
        feed(sandbox.command("wyren").env("CLAUDECODE", "1").args(["lessons", "allow"]).args(arguments), b"")
    };
    for arguments in [&[SLUG][..], &[SLUG, "--session"], &[SLUG, "--session-id", SESSION]] {
        let output = by_the_model(arguments)?;
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("only a person may do this"), "{}", stderr(&output));
    }
    assert!(!sandbox.data().join("allowed").exists());
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    for arguments in [&[][..], &["--list"], &[SLUG, "--list"]] {
        assert_eq!(by_the_model(arguments)?.status.code(), Some(0));
    }
    Ok(())
}

#[test]
fn what_cannot_be_lifted_is_refused_with_the_reason() -> Result<()> {
    let Some(sandbox) = sandbox_with("guard")? else { return Ok(()) };
    let nothing = refused(&sandbox, &["allow", SLUG])?;
    assert!(
        nothing.contains("refused no call in this project in the last 24 hours; run this in"),
        "{nothing}"
    );
    assert!(lessons(&sandbox, &["allow"])?.starts_with("No lesson refused a call in this project"));
    let unknown = refused(&sandbox, &["allow", "frobnicate-apply-overwrites"])?;
    assert!(unknown.contains("did you mean") && unknown.contains(SLUG), "{unknown}");
    let hint = refused(&sandbox, &["allow", "git-hooks-skipped"])?;
    assert_eq!(hint, "wyren: git-hooks-skipped is a hint: it refuses nothing\n");
    assert!(is_denied(&sandbox, SESSION, "git push --force origin main")?);
    let other = refused(&sandbox, &["allow", SLUG])?;
    assert!(other.contains("(git-force-push-to-the-main-branch did)"), "{other}");
    lessons(&sandbox, &["disable", SLUG])?;
    assert_eq!(
        refused(&sandbox, &["allow", SLUG])?,
        format!("wyren: {SLUG} is disabled: it refuses nothing\n")
    );
    let theirs = frobnicate_with(&json!({
        "kind": "guard", "slug": "theirs", "commands": ["projectfrob"], "fires": [], "quiet": [], "without": [],
        "problem": "Its effect on running servers is unknown to the whole team.",
    }));
    lessons(&sandbox, &["add", "--project", "--from-json", &theirs.to_string()])?;
    assert!(refused(&sandbox, &["allow", "theirs"])?.contains("refuses nothing until you run `wyren trust`"));
    Ok(())
}

#[test]
fn a_trusted_projects_guard_is_lifted_too() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let guard = frobnicate_with(&json!({"kind": "guard"}));
    lessons(&sandbox, &["add", "--project", "--from-json", &guard.to_string()])?;
    sandbox.wyren(&["trust", "--yes"])?;
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    let allowed = lessons_json(&sandbox, &["allow", SLUG, "--json"])?;
    assert_eq!((&allowed["project"], &allowed["session"]), (&json!(true), &json!(SESSION)));
    assert!(!is_denied(&sandbox, SESSION, "frobnicate apply")?);
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    Ok(())
}

#[test]
fn a_session_is_named_by_the_beginning_of_its_id() -> Result<()> {
    let Some(sandbox) = sandbox_with("guard")? else { return Ok(()) };
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    lessons(&sandbox, &["allow", SLUG, "--session-id", "1a2b"])?;
    assert!(!is_denied(&sandbox, SESSION, "frobnicate apply")?);
    // One that refused nothing here counts as it is.
    lessons(&sandbox, &["allow", SLUG, "--session-id", "elsewhere"])?;
    assert!(!is_denied(&sandbox, "elsewhere", "frobnicate apply")?);
    Ok(())
}

/// Returns the text of everything in the data folder about refused calls and leave.
fn kept(sandbox: &Sandbox) -> String {
    let mut text = String::new();
    for folder in ["cache/refused", "allowed"] {
        for group in names_in(&sandbox.data().join(folder)) {
            let group = sandbox.data().join(folder).join(group);
            for name in names_in(&group) {
                text += &fs::read_to_string(group.join(name)).unwrap_or_default();
            }
        }
    }
    text
}

#[test]
fn forgetting_takes_refused_calls_along_and_leaves_the_leave() -> Result<()> {
    let Some(sandbox) = sandbox_with("guard")? else { return Ok(()) };
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply acme")?);
    lessons(&sandbox, &["allow", SLUG, "--session"])?;
    assert_eq!(kept(&sandbox).matches("acme").count(), 2);
    let forgotten = sandbox.wyren(&["forget", "--query", "acme", "--yes"])?;
    assert!(forgotten.status.success(), "{}", stderr(&forgotten));
    assert!(!kept(&sandbox).contains("acme"), "{}", kept(&sandbox));
    assert!(!is_denied(&sandbox, SESSION, "frobnicate apply")?);
    Ok(())
}

#[test]
fn under_a_private_prompt_or_without_recording_the_refused_call_is_not_kept() -> Result<()> {
    let Some(sandbox) = sandbox_with("guard")? else { return Ok(()) };
    let prompt = json!({
        "session_id": SESSION, "hook_event_name": "UserPromptSubmit", "prompt": "<private>look</private>",
    });
    sandbox.run("prompt-record", prompt.to_string().as_bytes())?;
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply merger")?);
    assert!(kept(&sandbox).contains(SLUG) && !kept(&sandbox).contains("merger"), "{}", kept(&sandbox));
    let said = lessons(&sandbox, &["allow", SLUG])?;
    assert!(said.contains(" ago: not recorded"), "{said}");
    assert!(!is_denied(&sandbox, SESSION, "frobnicate apply merger")?);

    let Some(other) = sandbox_with("guard")? else { return Ok(()) };
    other.wyren(&["config", "set", "capture.enabled", "false"])?;
    assert!(is_denied(&other, SESSION, "frobnicate apply merger")?);
    assert!(kept(&other).contains(SLUG) && !kept(&other).contains("merger"), "{}", kept(&other));
    Ok(())
}

#[test]
fn a_lifted_call_is_recorded_with_what_the_model_read() -> Result<()> {
    let Some(sandbox) = sandbox_with("guard")? else { return Ok(()) };
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    lessons(&sandbox, &["allow", SLUG])?;
    assert!(!is_denied(&sandbox, SESSION, "frobnicate apply")?);
    let output = sandbox.wyren(&["export"])?;
    let text = String::from_utf8(output.stdout)?;
    let told: Vec<Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|line: &Value| line.to_string().contains("lesson-inject"))
        .collect();
    assert!(
        told.iter().any(|line| line.to_string().contains("Wyren let this one call pass: the user lifted")),
        "{text}"
    );
    Ok(())
}

#[test]
fn a_guard_is_lifted_by_the_id_that_lessons_learned_gave_it() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    lessons(
        &sandbox,
        &["edit", SLUG, "--patch", r#"{"kind": "guard", "extra": {"id": "01HZX4V9M0ABCDEFGHJKMNPQRS"}}"#],
    )?;
    assert!(is_denied(&sandbox, SESSION, "frobnicate apply")?);
    lessons(&sandbox, &["allow", "01HZX4V9M0ABCDEFGHJKMNPQRS"])?;
    assert!(!is_denied(&sandbox, SESSION, "frobnicate apply")?);
    Ok(())
}
