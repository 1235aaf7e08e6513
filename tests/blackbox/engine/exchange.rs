//! `wyren export` and `wyren import`.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use wyren_tests::sandbox::{Sandbox, feed};

use super::{export, prompt, shell, wyren};

#[test]
fn an_export_drains_first_and_has_what_the_hooks_received() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    shell(&sandbox, "s", "toolu_1", "echo hi; pwd", "hi")?;
    wait_for_the_next_millisecond();
    prompt(&sandbox, "s", "1", "a title\nand more")?;
    let lines = export(&sandbox, &[])?;
    let [session, tool, asked] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!((&session["type"], &session["title"]), (&"session".into(), &"a title".into()));
    assert_eq!((&tool["tool_use_id"], &tool["command"]), (&"toolu_1".into(), &"echo hi; pwd".into()));
    assert_eq!((&tool["prompt"], &asked["number"]), (&0.into(), &1.into()));
    assert_eq!(export(&sandbox, &["--project", "."])?.len(), 3);
    assert_eq!(export(&sandbox, &["--project", "/"])?.len(), 0, "a folder of another project");
    assert_eq!(sandbox.wyren(&["export", "--project", "/nowhere"])?.status.code(), Some(2));
    assert_eq!(export(&sandbox, &["--since", "2999-01-01"])?.len(), 0);
    assert_eq!(sandbox.wyren(&["export", "--since", "soon"])?.status.code(), Some(2));
    Ok(())
}

/// Two hooks can finish within one millisecond, the resolution of timestamps.
fn wait_for_the_next_millisecond() {
    let millis = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
    let now = millis();
    while millis() == now {
        std::hint::spin_loop();
    }
}

#[test]
fn an_export_to_a_file_is_imported_elsewhere_once() -> Result<()> {
    let (Some(here), Some(there)) = (Sandbox::new()?, Sandbox::new()?) else { return Ok(()) };
    prompt(&here, "s", "1", "go")?;
    shell(&here, "s", "toolu_1", "ls", "a")?;
    let file = here.folder().join("export.jsonl");
    let path = file.display().to_string();
    wyren(&here, &["export", "--output", &path])?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
    }
    assert!(wyren(&there, &["import", &path])?.starts_with("2 new"));
    assert!(wyren(&there, &["import", &path])?.starts_with("0 new"));
    assert_eq!(export(&there, &[])?, export(&here, &[])?);

    let mut bad = std::fs::read(&file)?;
    bad.extend_from_slice(b"nonsense\n");
    let output = feed(there.command("wyren").args(["import", "-", "--json"]), &bad)?;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 4"), "{output:?}");
    let facts: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!((&facts["known"], &facts["bad"]), (&2.into(), &1.into()));
    Ok(())
}
