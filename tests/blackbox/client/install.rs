//! From `target/plugin` to an installed plugin.

use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;
use wyren_tests::client::{self, Client};
use wyren_tests::plugin::{self, PluginCopy};

use super::{MEMORY, check_hook_log, check_processes, decide};

#[test]
fn both_manifests_and_the_hooks_pass_strict_validation() -> Result<()> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else {
        return Ok(());
    };
    client.validate(&plugin.join(".claude-plugin/marketplace.json"))?;
    let output = client.validate(&plugin.join(".claude-plugin/plugin.json"))?;
    assert!(output.stdout.contains("Validating plugin manifest"), "{}", output.stdout);
    Ok(())
}

/// The client validates only `hooks/hooks.json`, and drops any other hooks file with a mistake in silence.
#[test]
fn further_hooks_files_pass_strict_validation() -> Result<()> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else {
        return Ok(());
    };
    let manifest: Value = serde_json::from_slice(&fs::read(plugin.join(".claude-plugin/plugin.json"))?)?;
    for further in manifest["hooks"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let copy = PluginCopy::of(&plugin)?;
        fs::copy(plugin.join(further), copy.folder().join("hooks/hooks.json"))?;
        client.validate(&copy.folder().join(".claude-plugin/plugin.json")).context(further.to_owned())?;
    }
    Ok(())
}

#[test]
fn the_plugin_installs_from_its_marketplace_and_speaks() -> Result<()> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else {
        return Ok(());
    };
    client.add_marketplace(&plugin)?;
    client.install_plugin("wyren@wyren")?;
    decide(&client, "Use Postgres")?;

    let turn = client.prompt("hello")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let request = turn.main_request(0)?;
    assert_eq!(request.count(MEMORY), 1, "{}", request.texts());
    check_hook_log(&client, "session-start-lessons")?;
    check_processes(&client)
}

#[test]
fn hooks_that_wyren_wrote_into_the_users_settings_fire_and_stop_after_the_way_out() -> Result<()> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else {
        return Ok(());
    };
    let client = client.env("WYREN_MODEL_PROVIDER", "off").env("WYREN_DISTILL", "false");
    fs::write(client.config().join("settings.json"), "{\n  \"cleanupPeriodDays\": 99\n}\n")?;
    client.wyren(&plugin, &["install", "--settings", "user"])?;
    decide(&client, "Use Postgres")?;
    let turn = client.prompt("hello")?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.main_request(0)?.count(MEMORY), 1, "{}", turn.main_request(0)?.texts());
    let answered = client.prompt("/wyren:status")?;
    assert!(answered.main_request(0).is_err() && answered.text().contains("Wyren"), "{:#?}", answered.result);
    let handoff = client.prompt("/wyren-handoff")?;
    assert!(handoff.main_request(0)?.texts().contains("Hand over the work"), "{:#?}", handoff.requests);
    check_hook_log(&client, "session-start-lessons")?;

    client.wyren(&plugin, &["uninstall"])?;
    assert_eq!(
        fs::read_to_string(client.config().join("settings.json"))?,
        "{\n  \"cleanupPeriodDays\": 99\n}\n"
    );
    let lines = client.hook_log()?.len();
    let turn = client.prompt("hello again")?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(client.hook_log()?.len(), lines);
    check_processes(&client)
}

#[cfg(unix)]
#[test]
fn wyren_install_ends_with_the_client_firing_hooks_and_uninstall_takes_it_back() -> Result<()> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else {
        return Ok(());
    };
    let tools = tempfile::tempdir()?;
    std::os::unix::fs::symlink(client::program().context("no client")?, tools.path().join("claude"))?;
    let path = std::env::join_paths(
        [tools.path().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )?;
    let client = client.env("PATH", path).env("WYREN_MODEL_PROVIDER", "off").env("WYREN_DISTILL", "false");
    let link = client.config().with_file_name("home").join(".local/bin/wyren");

    let shown = client.wyren(&plugin, &["install"])?;
    assert!(shown.contains("Installed the plugin wyren@wyren"), "{shown}");
    assert_eq!(fs::read_link(&link)?, client.data().join("plugin/bin/wyren"));
    let again = client.wyren(&client.data().join("plugin"), &["install"])?;
    assert!(again.contains("has the plugin wyren@wyren already"), "{again}");
    decide(&client, "Use Postgres")?;
    let turn = client.prompt("hello")?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.main_request(0)?.count(MEMORY), 1, "{}", turn.main_request(0)?.texts());
    let handoff = client.prompt("/wyren-handoff")?;
    assert!(handoff.main_request(0)?.texts().contains("Hand over the work"), "{:#?}", handoff.requests);
    check_hook_log(&client, "session-start-lessons")?;

    client.wyren(&plugin, &["uninstall"])?;
    for gone in [
        link,
        client.data().join("plugin"),
        client.config().join("commands"),
        client.config().join("plugins"),
        client.config().join("settings.json"),
    ] {
        assert!(!gone.exists(), "{}", gone.display());
    }
    let lines = client.hook_log()?.len();
    let turn = client.prompt("hello again")?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(client.hook_log()?.len(), lines);
    check_processes(&client)
}

#[cfg(unix)]
#[test]
fn settings_that_a_project_shares_are_named_and_stay_after_the_way_out() -> Result<()> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else {
        return Ok(());
    };
    let program = client::program().context("no client")?;
    let tools = tempfile::tempdir()?;
    std::os::unix::fs::symlink(&program, tools.path().join("claude"))?;
    let path = std::env::join_paths(
        [tools.path().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )?;
    let client = client.env("PATH", path);
    client.add_marketplace(&plugin)?;
    let installed = client.run(&program, &["plugin", "install", "wyren@wyren", "--scope", "project"])?;
    assert!(installed.status.success(), "{installed:#?}");
    let shared = client.project().join(".claude/settings.json");
    let before = fs::read_to_string(&shared)?;
    assert!(before.contains("wyren@wyren"), "{before}");

    let shown = client.wyren(&plugin, &["uninstall"])?;
    assert!(shown.contains("Left alone") && shown.contains("for everyone in the project"), "{shown}");
    assert_eq!(fs::read_to_string(&shared)?, before);
    assert!(!client.config().join("plugins").exists(), "the registry has nothing of Wyren");
    check_processes(&client)
}
