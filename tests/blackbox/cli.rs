//! `wyren` as a person at a terminal, or a script, meets it.

use std::process::Output;

use anyhow::Result;
use serde_json::Value;
use wyren_tests::sandbox::Sandbox;

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn help_has_examples_and_ends_well() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for arguments in [&["--help"][..], &["config", "--help"], &["log", "--help"]] {
        let output = sandbox.wyren(arguments)?;
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(stdout(&output).contains("Examples:"), "{arguments:?}");
    }
    Ok(())
}

#[test]
fn a_wrong_call_ends_with_2_and_a_failure_with_1() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert_eq!(sandbox.wyren(&["config", "no-such-action"])?.status.code(), Some(2));
    assert_eq!(sandbox.wyren(&["log", "--no-such-flag"])?.status.code(), Some(2));
    for (arguments, message) in [
        (&["config", "get", "log.lvl"][..], "wyren: no setting is named \"log.lvl\""),
        (&["config", "set", "log.level", "loud"], "wyren: log.level cannot be \"loud\""),
        (&["config", "unset", "log.lvl"], "wyren: no setting is named \"log.lvl\""),
        (&["jobs", "add", "drain", "notjson"], "wyren: the payload is not JSON"),
        (&["log", "--hook", "x"], "wyren: --json, --hook and --session require --hooks or --told"),
        (&["log", "--level", "warn"], "wyren: --follow and --level require --hooks"),
    ] {
        let output = sandbox.wyren(arguments)?;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).starts_with(message), "{}", stderr(&output));
    }
    let unknown = sandbox.wyren(&["jobs", "add", "nonsense"])?;
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("[possible values: distill, drain, probe]"), "{}", stderr(&unknown));
    assert!(!sandbox.data().join("jobs").exists(), "nothing is queued");
    assert_eq!(sandbox.wyren(&["jobs", "drop", "99"])?.status.code(), Some(1));
    Ok(())
}

#[test]
fn config_tells_the_value_and_where_it_came_from() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let set = sandbox.wyren(&["config", "set", "log.level", "warn"])?;
    assert_eq!((set.status.code(), &*stdout(&set)), (Some(0), "warn\n"));
    let get = sandbox.wyren(&["config", "get", "log.level", "--json"])?;
    let value: Value = serde_json::from_str(&stdout(&get))?;
    assert_eq!(value["value"], "warn");
    assert!(value["from"].as_str().is_some_and(|from| from.ends_with("config.toml")));
    let listed = stdout(&sandbox.wyren(&["config"])?);
    assert!(listed.lines().any(|line| line.starts_with("log.level") && line.contains("warn")), "{listed}");
    assert!(!listed.contains('\u{1b}'), "colour only on a terminal");
    Ok(())
}

#[test]
fn config_reports_what_has_no_effect() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    std::fs::create_dir_all(sandbox.data())?;
    std::fs::write(sandbox.data().join("config.toml"), "[log]\nlevle = \"warn\"\n")?;
    let output = sandbox.wyren(&["config", "list"])?;
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("ignored log.levle"), "{}", stderr(&output));
    let json: Value = serde_json::from_str(&stdout(&sandbox.wyren(&["config", "--json"])?))?;
    assert_eq!(json["ignored"][0]["name"], "log.levle");
    Ok(())
}

#[test]
fn log_shows_what_the_hooks_did() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert!(stderr(&sandbox.wyren(&["log", "--hooks"])?).contains("No hook has written"));
    sandbox.run("session-start-lessons", br#"{"session_id":"s","source":"startup"}"#)?;
    sandbox.run("session-start-reset", b"nonsense")?;
    let shown = stdout(&sandbox.wyren(&["log", "--hooks"])?);
    assert!(shown.contains("session-start-lessons") && shown.contains("HOOK_OUTPUT [context]"), "{shown}");
    let loud = stdout(&sandbox.wyren(&["log", "--hooks", "--level", "warn"])?);
    assert_eq!(loud.lines().count(), 1, "{loud}");
    assert!(loud.contains("session-start-reset") && loud.contains("bad input"), "{loud}");
    let json = stdout(&sandbox.wyren(&["log", "--hooks", "--json", "--hook", "session-start-lessons"])?);
    let line: Value = serde_json::from_str(json.trim_end())?;
    assert_eq!(line["session"], "s");
    assert_eq!(stderr(&sandbox.wyren(&["log", "--hooks", "--hook", "nosuch"])?), "No matching lines.\n");
    assert_eq!(stderr(&sandbox.wyren(&["log", "--told", "--hook", "nosuch"])?), "No matching texts.\n");
    Ok(())
}

#[test]
fn forget_deletes_the_texts_of_long_answers() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = sandbox.data().join("cache/long-answers");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("session-start-memory-0123.txt"), "about the merger")?;
    let shown = stdout(&sandbox.wyren(&["forget", "--query", "merger", "--dry-run"])?);
    assert!(folder.exists() && shown.contains("0 prompts and 0 tool calls would be deleted"), "{shown}");
    let output = sandbox.wyren(&["forget", "--query", "merger", "--yes"])?;
    assert_eq!((output.status.code(), folder.exists()), (Some(0), false), "{}", stderr(&output));
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn the_data_folder_is_the_platforms_unless_the_variable_names_one() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let home = sandbox.folder().join("home");
    let data = |xdg: Option<&std::path::Path>| -> Result<String> {
        let mut command = sandbox.command("wyren");
        command.env_remove("WYREN_DATA_DIR").args(["doctor", "--json"]);
        command.envs(xdg.map(|xdg| ("XDG_DATA_HOME", xdg)));
        let report: serde_json::Value = serde_json::from_slice(&command.output()?.stdout)?;
        Ok(report["checks"][0]["message"].as_str().unwrap_or_default().to_owned())
    };
    let begins = |folder: std::path::PathBuf| format!("{} does not exist yet", folder.display());
    assert!(data(None)?.starts_with(&begins(home.join(".local/share/wyren"))));
    let xdg = sandbox.folder().join("xdg");
    assert!(data(Some(&xdg))?.starts_with(&begins(xdg.join("wyren"))));
    // A relative folder would be another one for each hook.
    assert!(data(Some("xdg".as_ref()))?.starts_with(&begins(home.join(".local/share/wyren"))));
    Ok(())
}
