//! `wyren update` with the real client: by its registry, and in a folder that it runs in place.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use wyren_tests::client::{self, Client};
use wyren_tests::plugin::{self, PluginCopy};

use super::{MEMORY, check_hook_log, check_processes, decide};

/// Returns the client with itself on the PATH, which `wyren update` needs.
fn with_claude(client: Client, tools: &Path) -> Result<Client> {
    std::os::unix::fs::symlink(client::program().context("no client")?, tools.join("claude"))?;
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([tools.to_owned()].into_iter().chain(std::env::split_paths(&others)))?;
    Ok(client.env("PATH", path).env("WYREN_MODEL_PROVIDER", "off").env("WYREN_DISTILL", "false"))
}

fn set_version(plugin: &Path, number: &str) -> Result<()> {
    for file in ["plugin.json", "marketplace.json"] {
        let file = plugin.join(".claude-plugin").join(file);
        let text = fs::read_to_string(&file)?.replace("\"0.1.0\"", &format!("\"{number}\""));
        fs::write(&file, text)?;
    }
    Ok(())
}

fn check_speaks(client: &Client) -> Result<()> {
    let turn = client.prompt("hello")?;
    ensure!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.main_request(0)?.count(MEMORY), 1, "{}", turn.main_request(0)?.texts());
    Ok(())
}

#[test]
fn the_client_runs_the_new_version_after_an_update_of_the_copy() -> Result<()> {
    let (Some(client), Some(built)) = (Client::new()?, plugin::folder()) else { return Ok(()) };
    let tools = tempfile::tempdir()?;
    let client = with_claude(client, tools.path())?;
    client.wyren(&built, &["install"])?;
    decide(&client, "Use Postgres")?;
    check_speaks(&client)?;

    let new = PluginCopy::of(&built)?;
    set_version(new.folder(), "0.2.0")?;
    // Only the new version has this command.
    let command = "---\ndescription: A command of tomorrow\n---\nSay that tomorrow is here.\n";
    fs::write(new.folder().join("commands/tomorrow.md"), command)?;
    let installed = client.data().join("plugin");
    let shown = client.wyren(&installed, &["update", "--from", &new.folder().to_string_lossy()])?;
    assert!(shown.contains("Updated from 0.1.0 to 0.2.0") && !shown.contains("Not finished"), "{shown}");
    check_speaks(&client)?;
    let turn = client.prompt("/wyren:tomorrow")?;
    assert!(turn.main_request(0)?.texts().contains("Say that tomorrow is here"), "{:#?}", turn.requests);
    check_hook_log(&client, "session-start-lessons")?;
    let doctor: Value = serde_json::from_str(&client.wyren(&installed, &["doctor", "--json"])?)?;
    assert_eq!(doctor["ok"], true, "{doctor:#}");
    client.wyren(&installed, &["uninstall"])?;
    check_processes(&client)
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@localhost"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(folder).output()?;
    ensure!(output.status.success(), "git {arguments:?}: {output:#?}");
    Ok(())
}

#[test]
fn a_plugin_of_a_marketplace_is_updated_by_the_client() -> Result<()> {
    let (Some(client), Some(built)) = (Client::new()?, plugin::folder()) else { return Ok(()) };
    let tools = tempfile::tempdir()?;
    let client = with_claude(client, tools.path())?;
    let market = PluginCopy::of(&built)?;
    git(market.folder(), &["init", "--quiet", "--initial-branch=main"])?;
    git(market.folder(), &["add", "--all"])?;
    git(market.folder(), &["commit", "-qm", "Release 0.1.0"])?;
    let bare = tools.path().join("market.git");
    git(market.folder(), &["clone", "--quiet", "--bare", ".", &bare.to_string_lossy()])?;
    let claude = tools.path().join("claude");
    // The client takes no address of a folder; git does.
    let address = "https://market.invalid/wyren.git";
    let home = client.config().with_file_name("home");
    let instead = format!("[url \"file://{}\"]\n\tinsteadOf = {address}\n", bare.display());
    fs::write(home.join(".gitconfig"), instead)?;
    let added = client.run(&claude, &["plugin", "marketplace", "add", address])?;
    ensure!(added.stdout.contains("Successfully added"), "{added:#?}");
    client.install_plugin("wyren@wyren")?;
    let way = || -> Result<Value> {
        Ok(serde_json::from_str(&client.wyren(&built, &["update", "--check", "--json"])?)?)
    };
    assert_eq!((&way()?["way"], &way()?["version"]), (&"registry".into(), &"0.1.0".into()), "{:#}", way()?);

    set_version(market.folder(), "0.2.0")?;
    git(market.folder(), &["commit", "-qam", "Release 0.2.0"])?;
    git(market.folder(), &["push", "--quiet", &bare.to_string_lossy(), "main"])?;
    let shown = client.wyren(&built, &["update"])?;
    assert!(shown.contains("Updated wyren@wyren from 0.1.0 to 0.2.0"), "{shown}");
    assert_eq!(way()?["version"], "0.2.0");
    decide(&client, "Use Postgres")?;
    check_speaks(&client)?;
    check_processes(&client)
}
