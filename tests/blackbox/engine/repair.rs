//! A database that is damaged or locked: hooks do not notice, `wyren` says what is wrong and goes on.

use std::fs;

use anyhow::Result;
use serde_json::{Value, json};
use wyren_tests::sandbox::Sandbox;

use super::{export, prompt, shell, wyren};

#[test]
fn a_damaged_database_is_put_aside_and_made_again_and_hooks_do_not_notice() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "before")?;
    let before = export(&sandbox, &[])?;
    fs::write(sandbox.data().join("wyren.db"), "not a database ".repeat(1_000))?;
    shell(&sandbox, "s", "toolu_1", "ls", "a")?;

    let output = sandbox.wyren(&["export"])?;
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8(output.stderr)?;
    assert!(said.contains("damaged") && said.contains("wyren.db.damaged-"), "{said}");
    let lines = String::from_utf8(output.stdout)?;
    assert_eq!(lines.lines().count(), before.len() + 1, "{lines}");
    let again = sandbox.wyren(&["export"])?;
    assert!(again.stderr.is_empty(), "{again:?}");
    Ok(())
}

#[test]
fn repair_says_whether_the_database_is_sound_and_mends_a_damaged_one() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert!(wyren(&sandbox, &["repair"])?.contains("There is no database yet."));
    prompt(&sandbox, "s", "1", "before")?;
    let before = export(&sandbox, &[])?;
    assert!(wyren(&sandbox, &["repair"])?.contains("The database is sound."));
    let facts: Value = serde_json::from_str(&wyren(&sandbox, &["repair", "--json"])?)?;
    assert_eq!((&facts["damaged"], &facts["aside"]), (&json!(false), &Value::Null));

    fs::write(sandbox.data().join("wyren.db"), "not a database ".repeat(1_000))?;
    let facts: Value = serde_json::from_str(&wyren(&sandbox, &["repair", "--json"])?)?;
    assert_eq!((&facts["damaged"], &facts["from_spool"]), (&json!(true), &json!(1)));
    assert!(facts["aside"].as_str().is_some_and(|aside| aside.contains("wyren.db.damaged-")), "{facts}");
    assert_eq!(export(&sandbox, &[])?, before);
    Ok(())
}
