//! `wyren trust`: a repository's guards and pauses act only after it.

use std::fs;

use anyhow::Result;
use serde_json::{Value, json};
use wyren_tests::sandbox::Sandbox;

use super::{frobnicate_with, lessons, stderr, stdout, told};

#[test]
fn a_projects_guard_acts_only_while_it_is_trusted() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let none = sandbox.wyren(&["trust", "--yes"])?;
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("nothing to trust"), "{}", stderr(&none));
    let guard = frobnicate_with(&json!({"kind": "guard"}));
    lessons(&sandbox, &["add", "--project", "--json", &guard.to_string()])?;
    let is_denied = |session: &str| -> Result<bool> {
        Ok(told(&sandbox, session, "frobnicate apply")?.to_string().contains("\"deny\""))
    };
    assert!(!is_denied("1")?);

    let asked = sandbox.wyren(&["trust"])?;
    assert_eq!(asked.status.code(), Some(1));
    assert!(stderr(&asked).contains("nobody is here to be asked"), "{}", stderr(&asked));
    assert!(!is_denied("2")?);

    let trusted = sandbox.wyren(&["trust", "--yes"])?;
    assert_eq!(trusted.status.code(), Some(0), "{}", stderr(&trusted));
    let text = stdout(&trusted);
    assert!(
        text.contains("every time") && text.contains("frobnicate apply") && text.contains("is trusted"),
        "{text}"
    );
    assert!(is_denied("3")?);
    let listed: Value = serde_json::from_str(&stdout(&sandbox.wyren(&["trust", "--show", "--json"])?))?;
    assert_eq!(listed["trusted"][0].as_str(), sandbox.project().canonicalize()?.to_str());

    // From a folder in it, too; and by its path from elsewhere.
    fs::create_dir(sandbox.project().join("deep"))?;
    let path = sandbox.project().join("deep").to_string_lossy().into_owned();
    assert!(stdout(&sandbox.wyren(&["untrust", &path])?).contains("not trusted any more"));
    assert!(!is_denied("4")?);
    assert!(stdout(&sandbox.wyren(&["untrust"])?).contains("was not trusted"));
    assert!(stderr(&sandbox.wyren(&["trust", "--show"])?).contains("No project is trusted."));
    Ok(())
}

#[test]
fn what_a_repository_says_cannot_pose_as_the_terminal() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = sandbox.project().join(".wyren/lessons");
    fs::create_dir_all(&folder)?;
    let text = "---\nsummary: \u{1b}[2J\u{1b}[31mall is well\u{202e}\nkind: guard\ncommand: ls\u{1b}]0;x\u{7}\n---\np\n\n## Solution\ns\n";
    fs::write(folder.join("evil.md"), text)?;
    for arguments in
        [&["trust", "--yes"][..], &["lessons", "list"], &["lessons", "show", "evil"], &["lessons", "doctor"]]
    {
        let output = sandbox.wyren(arguments)?;
        let all = stdout(&output) + &stderr(&output);
        assert!(!all.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{arguments:?}: {all:?}");
    }
    Ok(())
}
