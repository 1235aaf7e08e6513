//! `wyren forget`.

use anyhow::Result;
use wyren_tests::sandbox::Sandbox;

use super::{export, files_with, prompt, shell, wyren};

#[test]
fn what_is_forgotten_is_nowhere_on_disk_and_does_not_come_back() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "about the ACME-MERGER")?;
    shell(&sandbox, "s", "toolu_1", "grep ACME-MERGER notes", "ACME-MERGER in June")?;
    shell(&sandbox, "s", "toolu_2", "date", "Monday")?;
    // Some of it drained, some of it not.
    assert_eq!(export(&sandbox, &[])?.len(), 4);
    shell(&sandbox, "s", "toolu_3", "echo ACME-MERGER", &format!("ACME-MERGER {}", "words ".repeat(30_000)))?;

    let shown = wyren(&sandbox, &["forget", "--query", "acme-merger", "--dry-run"])?;
    assert!(shown.contains("1 prompt and 2 tool calls would be deleted"), "{shown}");
    assert!(shown.contains("about the ACME-MERGER"), "{shown}");
    let refused = sandbox.wyren(&["forget", "--query", "acme-merger"])?;
    assert_eq!(refused.status.code(), Some(1), "not a terminal");
    assert_eq!(export(&sandbox, &[])?.len(), 5);

    wyren(&sandbox, &["forget", "--query", "acme-merger", "--yes"])?;
    assert_eq!(files_with(&sandbox.data(), "ACME-MERGER")?, Vec::<std::path::PathBuf>::new());
    let left = export(&sandbox, &[])?;
    assert_eq!(left.iter().filter_map(|line| line["id"].as_str()).collect::<Vec<_>>(), ["t:toolu_2"]);
    assert_eq!(sandbox.wyren(&["forget"])?.status.code(), Some(2), "something must be said");
    Ok(())
}
