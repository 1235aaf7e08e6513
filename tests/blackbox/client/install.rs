//! From `target/plugin` to an installed plugin.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use install::list::{self, Below};
use serde_json::{Value, json};
use wyren_tests::client::{self, Client};
use wyren_tests::mock::{Lane, Reply};
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
        client.config().join("plugins/cache/wyren"),
    ] {
        assert!(!gone.exists(), "{}", gone.display());
    }
    let known = fs::read_to_string(client.config().join("plugins/known_marketplaces.json"))?;
    assert!(!known.contains("wyren"), "{known}");
    let lines = client.hook_log()?.len();
    let turn = client.prompt("hello again")?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(client.hook_log()?.len(), lines);
    check_processes(&client)
}

/// Checks that the list has every file below a folder.
fn check_listed(below: Below, folder: &Path, is_of_others: impl Fn(&Path) -> bool) -> Result<usize> {
    let (mut files, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| next.display().to_string())? {
            let entry = entry?;
            let path = entry.path();
            let part = path.strip_prefix(folder)?;
            if is_of_others(part) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                assert!(list::is_listed(below, part), "{below:?}: {} is not in the list", part.display());
                files += 1;
            }
        }
    }
    Ok(files)
}

#[cfg(unix)]
#[test]
fn every_path_that_wyren_writes_is_in_the_list_and_a_purge_leaves_none() -> Result<()> {
    let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else {
        return Ok(());
    };
    let client = client.env("WYREN_MODEL_PROVIDER", "off").allow_tools(&["Bash"]);
    for arguments in [
        &["init", "--quiet"][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@example.org"],
        &["commit", "--quiet", "--allow-empty", "-m", "First"],
    ] {
        assert!(client.run(Path::new("git"), arguments)?.status.success());
    }
    let excluded = fs::read_to_string(client.project().join(".git/info/exclude"))?;
    client.wyren(&plugin, &["install", "--settings", "local"])?;
    client.wyren(&plugin, &["install"])?;
    client.wyren(&plugin, &["init"])?;
    client.wyren(&plugin, &["memory", "add", "Use Postgres", "--section", "Decisions"])?;
    client.wyren(&plugin, &["config", "set", "log.level", "debug"])?;
    let bash = |command: &str| {
        Reply::text("I try.").tool_use("Bash", json!({"command": command, "description": "Try"}))
    };
    let replies = [bash("git commit --allow-empty --no-verify -m Two"), bash("false"), Reply::text("Done.")];
    client.mock().script(Lane::Main, replies);
    assert!(client.prompt("try it")?.succeeded());
    assert!(client.prompt("and again")?.succeeded());
    client.wyren(&plugin, &["distill"])?;
    client.wyren(&plugin, &["export"])?;
    check_processes(&client)?;

    let [home, runtime] = ["home", "runtime"].map(|name| client.config().with_file_name(name));
    let none = |_: &Path| false;
    assert!(check_listed(Below::Data, &client.data(), |part| part.starts_with("plugin"))? > 10);
    assert!(check_listed(Below::Claims, &runtime.join("wyren"), none)? > 0);
    assert!(check_listed(Below::Project, &client.project().join(".wyren"), none)? > 3);
    // The program, and its page of the manual.
    let linked = 1 + usize::from(plugin.join("share").is_dir());
    assert_eq!(check_listed(Below::Home, &home, |part| !part.starts_with(".local"))?, linked);
    let is_clients = |part: &Path| !part.to_string_lossy().contains("wyren") && part != Path::new("commands");
    assert!(check_listed(Below::Client, &client.project().join(".claude"), is_clients)? > 5);

    client.wyren(&plugin, &["uninstall", "--purge", "--yes"])?;
    for gone in [
        client.data(),
        runtime.join("wyren"),
        home.join(".local"),
        client.project().join(".wyren"),
        client.project().join(".claude"),
        client.config().join("commands"),
    ] {
        assert!(!gone.exists(), "{}", gone.display());
    }
    assert_eq!(fs::read_to_string(client.project().join(".git/info/exclude"))?, excluded);
    let refs = client.run(Path::new("git"), &["for-each-ref", "refs/wyren"])?;
    assert_eq!(refs.stdout, "");
    Ok(())
}
