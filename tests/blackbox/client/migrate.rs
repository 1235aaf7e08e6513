//! From earlier systems to Wyren and back, in the real client.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;

use super::{MEMORY, check_processes, decide};

/// What the imported lesson says.
const LESSON: &str = "close the input of frob with a redirection";

/// Writes a script that notes each of its runs in a file.
fn write_hook(script: &Path, notes: &Path) -> Result<()> {
    fs::create_dir_all(script.parent().context("no folder")?)?;
    fs::write(script, format!("#!/bin/sh\necho ran >> '{}'\n", notes.display()))?;
    fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}

/// Makes a marketplace with the plugin lessons-learned, whose hook notes each of its runs.
fn write_plugin(folder: &Path, notes: &Path) -> Result<()> {
    write_hook(&folder.join("hooks/note.sh"), notes)?;
    let hook = json!({"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}\"/hooks/note.sh"});
    let lesson = json!({
        "slug": "frob-hangs-1a2b", "type": "hint", "priority": 6, "toolNames": ["Bash"],
        "commandRegexSources": [{"source": "\\bfrob\\b", "flags": ""}], "message": "m", "summary": "frob hangs",
        "problem": "frob waits for its input and never ends", "solution": format!("{LESSON} from the null device"),
    });
    for (name, contents) in [
        (
            ".claude-plugin/marketplace.json",
            json!({"name": "acme", "owner": {"name": "Ada"}, "plugins": [{"name": "lessons-learned", "source": "./"}]}),
        ),
        (
            ".claude-plugin/plugin.json",
            json!({"name": "lessons-learned", "version": "0.1.0", "description": "old"}),
        ),
        ("hooks/hooks.json", json!({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}})),
        (
            "data/lesson-manifest.json",
            json!({"version": 1, "lessons": {"01HZX4V9M0ABCDEFGHJKMNPQR1": lesson}}),
        ),
    ] {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().context("no folder")?)?;
        fs::write(file, contents.to_string())?;
    }
    Ok(())
}

#[test]
fn old_hooks_fire_before_ours_after_and_undo_brings_them_back() -> Result<()> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else {
        return Ok(());
    };
    let client =
        client.env("WYREN_MODEL_PROVIDER", "off").env("WYREN_DISTILL", "false").allow_tools(&["Bash"]);
    let outside = tempfile::tempdir()?;
    let [by_plugin, by_settings] =
        ["plugin", "settings"].map(|name| outside.path().join(format!("{name}.notes")));
    let runs = |notes: &Path| fs::read_to_string(notes).unwrap_or_default().lines().count();
    write_plugin(&outside.path().join("acme"), &by_plugin)?;
    client.add_marketplace(&outside.path().join("acme"))?;
    client.install_plugin("lessons-learned@acme")?;
    let dispatcher = client.config().join("plugins/wyren/hooks/run-hook.cmd");
    write_hook(&dispatcher, &by_settings)?;
    let settings = client.config().join("settings.json");
    let mut text: Value = serde_json::from_slice(&fs::read(&settings)?)?;
    let command = format!("\"{}\" user-prompt-submit", dispatcher.display());
    text["hooks"]["UserPromptSubmit"] =
        json!([{"matcher": "", "hooks": [{"type": "command", "command": command, "timeout": 3}]}]);
    fs::write(&settings, format!("{text:#}\n"))?;
    client.wyren(&plugin, &["install", "--settings", "local"])?;
    decide(&client, "Use Postgres")?;
    let before = fs::read(&settings)?;
    let prompt = || -> Result<String> {
        let bash = json!({"command": "frob --version || true", "description": "Try"});
        client
            .mock()
            .script(Lane::Main, [Reply::text("I try.").tool_use("Bash", bash), Reply::text("Done.")]);
        let turn = client.prompt("try it")?;
        assert!(turn.succeeded(), "{:#?}", turn.output);
        assert_eq!(turn.main_request(0)?.count(MEMORY), 1, "{}", turn.main_request(0)?.texts());
        Ok(turn.main_request(1)?.texts())
    };

    let texts = prompt()?;
    assert!(!texts.contains(LESSON), "{texts}");
    assert_eq!((runs(&by_plugin), runs(&by_settings)), (1, 1));

    let shown = client.wyren(&plugin, &["migrate", "--yes"])?;
    assert!(shown.contains("Switched off 1 hook and the plugin lessons-learned@acme"), "{shown}");
    let texts = prompt()?;
    assert!(texts.contains(LESSON), "{texts}");
    assert_eq!((runs(&by_plugin), runs(&by_settings)), (1, 1), "an old hook fired");

    client.wyren(&plugin, &["migrate", "--undo"])?;
    assert_eq!(fs::read(&settings)?, before);
    let texts = prompt()?;
    assert!(!texts.contains(LESSON), "{texts}");
    assert_eq!((runs(&by_plugin), runs(&by_settings)), (2, 2));
    check_processes(&client)
}
