//! `wyren spend`, after calls that cost something.

use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;
use wyren_tests::plugin;
use wyren_tests::sandbox::{Sandbox, feed};

const SCRIPT: &str =
    r#"{"do":"answer","answer":{"colour":"blue"},"input":1200,"output":5,"cost_usd":0.0123}"#;

#[test]
fn spend_shows_what_was_spent_and_what_is_left() -> Result<()> {
    let (Some(sandbox), Some(ask)) = (Sandbox::new()?, plugin::asking_program()) else { return Ok(()) };
    let empty = sandbox.wyren(&["spend", "--days", "1"])?;
    let text = String::from_utf8(empty.stdout)?;
    assert_eq!(empty.status.code(), Some(0));
    assert!(text.contains("No model calls in the last 1 day."), "{text}");
    assert!(!sandbox.data().join("wyren.db").exists(), "looking makes no database");

    let script = sandbox.folder().join("script.jsonl");
    fs::write(&script, SCRIPT)?;
    for _ in 0..2 {
        let mut asking = sandbox.command_for(&ask);
        let output = feed(asking.args(["distill", "the sky"]).env("WYREN_MODEL_SCRIPT", &script), b"")?;
        assert!(String::from_utf8_lossy(&output.stdout).contains("blue"), "{output:?}");
    }

    let text = String::from_utf8(sandbox.wyren(&["spend"])?.stdout)?;
    let row = text.lines().find(|line| line.contains("distill")).with_context(|| text.clone())?;
    let cells: Vec<&str> = row.split_whitespace().skip(1).collect();
    assert_eq!(cells, ["distill", "/example", "2", "0", "2,400", "10", "0", "$0.02"], "c20");
    assert!(text.contains("Left today (UTC): $0.48 of $0.50"), "{text}");
    // Two cents of fifty: a short bar.
    assert!(text.lines().any(|line| line.contains(" ##...") && line.ends_with(" $0.02")), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('█'), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");

    let json: Value = serde_json::from_slice(&sandbox.wyren(&["spend", "--json", "--days", "3"])?.stdout)?;
    assert_eq!(json["rows"][0]["calls"], 2);
    assert_eq!(json["rows"][0]["project"], "path:/example");
    assert_eq!(json["days"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["today"]["left_usd"], 0.4754);
    assert_eq!(json["off"], false);
    Ok(())
}
