//! A database that is damaged or locked: hooks do not notice, `wyren` says what is wrong and goes on.

use std::fs;

use anyhow::Result;
use wyren_tests::sandbox::Sandbox;

use super::{export, prompt, shell};

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
