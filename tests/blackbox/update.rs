//! `wyren update` and `wyren version`: another version takes the place of this one while programs of it run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use fixture::{Door, Web};
use serde_json::Value;
use wyren_tests::plugin::{self, PluginCopy};
use wyren_tests::sandbox::{Sandbox, feed};

use crate::team::{Member, Mode, Remote};
use crate::worker::wait_for;

/// A user who has run `wyren install`, without the client.
struct User {
    sandbox: Sandbox,
}

impl User {
    fn new() -> Result<Option<User>> {
        let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
        for folder in ["home/.claude", "tmp"] {
            fs::create_dir_all(sandbox.folder().join(folder))?;
        }
        install(&mut sandbox.command("wyren"))?;
        Ok(Some(User { sandbox }))
    }

    fn plugin(&self) -> PathBuf {
        self.sandbox.data().join("plugin")
    }

    /// Returns a command for the installed `wyren`.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command_for(&self.plugin().join("bin/wyren"));
        command.args(arguments).env("PATH", "/usr/bin:/bin");
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<Output> {
        feed(&mut self.command(arguments), b"")
    }

    fn succeed(&self, arguments: &[&str]) -> Result<String> {
        let output = self.run(arguments)?;
        ensure!(output.status.success(), "{arguments:?}: {output:#?}");
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs a command that must fail and leave the plugin as it is; returns why it failed.
    fn refused(&self, arguments: &[&str]) -> Result<String> {
        let output = self.run(arguments)?;
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:#?}");
        assert_eq!(version_of(&self.plugin())?, "0.1.0");
        let aside =
            ["plugin.new", "plugin.old", "plugin.unpacked"].map(|name| self.sandbox.data().join(name));
        assert!(aside.iter().all(|folder| !folder.exists()), "{aside:?}");
        Ok(String::from_utf8(output.stderr)?)
    }
}

fn install(command: &mut Command) -> Result<()> {
    let output = feed(command.arg("install").env("PATH", "/usr/bin:/bin"), b"")?;
    ensure!(output.status.success(), "{output:#?}");
    Ok(())
}

fn version_of(plugin: &Path) -> Result<String> {
    let manifest: Value = serde_json::from_slice(&fs::read(plugin.join(".claude-plugin/plugin.json"))?)?;
    Ok(manifest["version"].as_str().context("no version")?.to_owned())
}

/// Returns a plugin that calls itself another version.
fn version(number: &str) -> Result<Option<PluginCopy>> {
    let Some(built) = plugin::folder() else { return Ok(None) };
    let copy = PluginCopy::of(&built)?;
    let file = copy.folder().join(".claude-plugin/plugin.json");
    let text = fs::read_to_string(&file)?.replace("\"0.1.0\"", &format!("\"{number}\""));
    fs::write(&file, text)?;
    Ok(Some(copy))
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("not text")
}

#[test]
fn a_folder_takes_the_place_of_the_installed_plugin_once() -> Result<()> {
    let (Some(user), Some(new)) = (User::new()?, version("0.2.0")?) else { return Ok(()) };
    let from = ["update", "--from", text(new.folder())?];
    let shown = user.succeed(&from)?;
    assert!(shown.contains("Updated from 0.1.0 to 0.2.0"), "{shown}");
    assert_eq!(version_of(&user.plugin())?, "0.2.0");
    let again = user.succeed(&from)?;
    assert!(again.contains("is up to date"), "{again}");
    assert!(!user.sandbox.data().join("plugin.new").exists());
    Ok(())
}

#[test]
fn hooks_in_settings_are_those_of_the_new_version() -> Result<()> {
    let (Some(user), Some(new)) = (User::new()?, version("0.2.0")?) else { return Ok(()) };
    let settings = user.sandbox.folder().join("home/.claude/settings.json");
    user.succeed(&["install", "--settings"])?;
    // The version before had a hook less.
    let lesser = fs::read_to_string(&settings)?.replace("/stop-distill\"", "/session-end\"");
    fs::write(&settings, &lesser)?;
    user.succeed(&["update", "--from", text(new.folder())?])?;
    assert!(fs::read_to_string(&settings)?.contains("plugin/bin/stop-distill"));
    Ok(())
}

#[test]
fn other_agents_are_wired_to_the_new_version_and_nothing_is_registered_beside_settings() -> Result<()> {
    let (Some(user), Some(new)) = (User::new()?, version("0.2.0")?) else { return Ok(()) };
    let home = user.sandbox.folder().join("home");
    for agent in ["codex", "cursor", "opencode"] {
        user.succeed(&["install", "--agent", agent])?;
    }
    let [codex, cursor, opencode] =
        [".codex/hooks.json", ".cursor/hooks.json", ".config/opencode/plugins/wyren.js"]
            .map(|file| home.join(file));
    // The version before had a hook less.
    for file in [&codex, &cursor] {
        let lesser = fs::read_to_string(file)?.replace("/stop-distill", "/session-end");
        fs::write(file, &lesser)?;
    }
    let settings = home.join(".claude/settings.json");
    user.succeed(&["install", "--settings"])?;
    let handoff = home.join(".claude/commands/wyren-handoff.md");
    fs::remove_file(&handoff)?;
    fs::remove_file(home.join(".codex/skills/wyren-handoff/SKILL.md"))?;
    let module = fs::read_to_string(&opencode)?;
    let shown = user.succeed(&["update", "--from", text(new.folder())?])?;
    assert!(!shown.contains("Not finished"), "{shown}");
    for file in [&codex, &cursor, &settings] {
        assert!(fs::read_to_string(file)?.contains("/stop-distill"), "{}", file.display());
    }
    assert!(handoff.exists() && home.join(".codex/skills/wyren-handoff/SKILL.md").exists());
    assert_eq!(fs::read_to_string(&opencode)?, module);
    assert!(!home.join(".gemini").exists(), "what was not wired stays so");
    let again = user.succeed(&["install"])?;
    assert!(again.contains("has the hooks of this plugin, so it is not installed"), "{again}");
    Ok(())
}

/// A marketplace in a folder, which the client knows as `wyren`, with the plugin enabled.
fn marketplace(user: &User, folder: &Path) -> Result<()> {
    let client = user.sandbox.folder().join("home/.claude");
    fs::create_dir_all(client.join("plugins"))?;
    fs::write(client.join("settings.json"), r#"{"enabledPlugins": {"wyren@wyren": true}}"#)?;
    let known = serde_json::json!({"wyren": {"source": {"source": "directory", "path": folder}}});
    Ok(fs::write(client.join("plugins/known_marketplaces.json"), known.to_string())?)
}

#[test]
fn an_update_of_a_plugin_that_runs_in_place_never_replaces_a_checkout() -> Result<()> {
    let (Some(user), Some(new), Some(other)) = (User::new()?, version("0.2.0")?, version("0.1.0")?) else {
        return Ok(());
    };
    let program = user.plugin().with_file_name("elsewhere");
    fs::rename(user.plugin(), &program)?;
    let clone = other.folder();
    marketplace(&user, clone)?;
    let update = || {
        let mut command = user.sandbox.command_for(&program.join("bin/wyren"));
        feed(command.args(["update", "--from", text(new.folder())?]).env("PATH", "/usr/bin:/bin"), b"")
    };
    for foreign in [".git/HEAD", "src/main.rs"] {
        fs::create_dir_all(clone.join(foreign).parent().context("no folder")?)?;
        fs::write(clone.join(foreign), "mine")?;
        let output = update()?;
        assert_eq!(output.status.code(), Some(1), "{output:#?}");
        let name = foreign.split('/').next().unwrap_or_default();
        let words = format!("has {name}, which is not the plugin's");
        assert!(String::from_utf8_lossy(&output.stderr).contains(&words), "{output:#?}");
        assert_eq!(fs::read_to_string(clone.join(foreign))?, "mine");
        fs::remove_dir_all(clone.join(name))?;
    }
    // The marketplace of a checkout has its plugin on npm.
    let list = r#"{"plugins": [{"name": "wyren", "source": {"source": "npm", "package": "@wyren/plugin"}}]}"#;
    let file = clone.join(".claude-plugin/marketplace.json");
    let before = fs::read(&file)?;
    fs::write(&file, list)?;
    assert_eq!(update()?.status.code(), Some(1));
    assert_eq!((version_of(clone)?, fs::read_to_string(&file)?), ("0.1.0".to_owned(), list.to_owned()));
    fs::write(&file, before)?;
    let output = update()?;
    ensure!(output.status.success(), "{output:#?}");
    assert_eq!(version_of(clone)?, "0.2.0");
    Ok(())
}

#[test]
fn an_archive_is_compared_with_its_checksum_and_unpacked() -> Result<()> {
    let (Some(user), Some(new)) = (User::new()?, version("0.2.0")?) else { return Ok(()) };
    let folder = user.sandbox.folder().join("downloads");
    fs::create_dir_all(folder.join("wyren-of-tomorrow"))?;
    fs::rename(new.folder(), folder.join("wyren-of-tomorrow/plugin")).or_else(|_| {
        plugin::copy(new.folder(), &folder.join("wyren-of-tomorrow/plugin")).map_err(std::io::Error::other)
    })?;
    let archive = folder.join("wyren.tar");
    let packed = Command::new("tar")
        .arg("-cf")
        .arg(&archive)
        .args(["-C", text(&folder)?, "wyren-of-tomorrow"])
        .status()?;
    ensure!(packed.success());
    let (from, sum) = (["update", "--from", text(&archive)?], folder.join("wyren.tar.sha256"));
    fs::write(&sum, format!("{}  wyren.tar\n", "0".repeat(64)))?;
    let refused = user.refused(&from)?;
    assert!(
        refused.contains("is damaged: its checksum") && refused.contains("Nothing was changed"),
        "{refused}"
    );

    let right = Command::new("sha256sum").arg(&archive).output()?;
    fs::write(&sum, right.stdout)?;
    let checked: Value = serde_json::from_str(&user.succeed(&[&from[..], &["--check", "--json"]].concat())?)?;
    assert_eq!((&checked["offered"], &checked["newer"]), (&"0.2.0".into(), &true.into()), "{checked:#}");
    let how = format!("To update: wyren update --from {}", archive.display());
    assert_eq!((&checked["how"], &checked["problem"]), (&how.into(), &Value::Null), "{checked:#}");
    assert_eq!(version_of(&user.plugin())?, "0.1.0");
    // Another process is at it.
    let other = user.sandbox.data().join("plugin.unpacked/1");
    fs::create_dir_all(&other)?;
    user.succeed(&[&from[..], &["--check"]].concat())?;
    assert!(other.is_dir());
    fs::remove_dir_all(user.sandbox.data().join("plugin.unpacked"))?;
    let shown = user.succeed(&from)?;
    assert!(shown.contains("to 0.2.0"), "{shown}");
    assert_eq!(version_of(&user.plugin())?, "0.2.0");
    assert!(!user.sandbox.data().join("plugin.unpacked").exists());
    Ok(())
}

#[test]
fn what_is_no_plugin_for_this_machine_is_refused_and_nothing_changes() -> Result<()> {
    let (Some(user), Some(new)) = (User::new()?, version("0.2.0")?) else { return Ok(()) };
    let place = |name: &str| user.sandbox.folder().join(name);
    fs::create_dir_all(place("empty"))?;
    fs::write(place("text.tar.xz"), "no archive")?;
    for (from, words) in
        [("none", "could not read"), ("empty", "not a plugin"), ("text.tar.xz", "could not unpack")]
    {
        let refused = user.refused(&["update", "--from", text(&place(from))?])?;
        assert!(refused.contains(words) && refused.contains("Nothing was changed"), "{refused}");
    }
    let program = new.folder().join("bin/wyren");
    let mut bytes = fs::read(&program)?;
    // The field of an ELF file that names the processor.
    bytes[18] = if bytes[18] == 62 { 183 } else { 62 };
    fs::write(&program, bytes)?;
    let refused = user.refused(&["update", "--from", text(new.folder())?])?;
    assert!(refused.contains("and this machine is"), "{refused}");
    Ok(())
}

#[test]
fn a_version_that_is_older_than_the_data_is_refused_and_the_data_stay_as_they_are() -> Result<()> {
    let (Some(user), Some(new)) = (User::new()?, version("0.0.9")?) else { return Ok(()) };
    user.succeed(&["export"])?;
    let file = user.sandbox.data().join("wyren.db");
    let database = rusqlite::Connection::open(&file)?;
    database.execute("UPDATE migrations SET number = 99 WHERE owner = 'jobs'", [])?;
    database.pragma_update(None, "wal_checkpoint", "TRUNCATE")?;
    drop(database);
    let before = fs::read(&file)?;
    let refused = user.refused(&["update", "--from", text(new.folder())?])?;
    for words in ["Wyren 0.0.9 is older than your data", "format 99", "Nothing was changed"] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    // As an installer of that version does.
    let output = feed(
        user.sandbox.command_for(&new.folder().join("bin/wyren")).arg("install").env("PATH", "/usr/bin:/bin"),
        b"",
    )?;
    assert_eq!(output.status.code(), Some(1), "{output:#?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("is older than your data"), "{output:#?}");
    assert_eq!(version_of(&user.plugin())?, "0.1.0");
    assert_eq!(fs::read(&file)?, before);
    Ok(())
}

#[test]
fn a_model_cannot_update() -> Result<()> {
    let (Some(user), Some(new)) = (User::new()?, version("0.2.0")?) else { return Ok(()) };
    let arguments = ["update", "--from", text(new.folder())?];
    let output = feed(user.command(&arguments).env("CLAUDECODE", "1"), b"")?;
    assert_eq!(output.status.code(), Some(1), "{output:#?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("only a person"), "{output:#?}");
    assert_eq!(version_of(&user.plugin())?, "0.1.0");
    Ok(())
}

#[test]
fn without_a_place_of_releases_the_way_to_update_is_named() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let refused = user.refused(&["update"])?;
    assert!(refused.contains("wyren update --from"), "{refused}");
    let checked: Value = serde_json::from_str(&user.succeed(&["update", "--check", "--json"])?)?;
    assert_eq!((&checked["way"], &checked["version"]), (&"copied".into(), &"0.1.0".into()), "{checked:#}");
    Ok(())
}

#[test]
fn a_version_that_is_not_installed_says_how_to_install_it() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let shown = String::from_utf8(sandbox.wyren(&["update", "--check"])?.stdout)?;
    assert_eq!(shown, "This is Wyren 0.1.0; Claude Code does not run it.\nTo install it: wyren install\n");
    Ok(())
}

#[test]
fn the_installer_of_a_newer_version_is_run() -> Result<()> {
    let (Some(user), Some(new)) = (User::new()?, version("0.2.0")?) else { return Ok(()) };
    let releases = user.sandbox.folder().join("releases");
    fs::create_dir_all(&releases)?;
    let script = |version: &str| {
        format!(
            "#!/bin/sh\nset -eu\nversion='{version}'\nexec '{}' install\n",
            new.folder().join("bin/wyren").display()
        )
    };
    let web = Web::new(Door::Open(releases.clone()));
    let base = web.address("");
    let update = |more: &[&str]| {
        let arguments = [&["update"], more].concat();
        let output = feed(user.command(&arguments).env("WYREN_DOWNLOAD_BASE", &base), b"")?;
        ensure!(output.status.success(), "{output:#?}");
        Ok(String::from_utf8(output.stdout)?)
    };
    fs::write(releases.join("install.sh"), script("0.1.0"))?;
    let shown = update(&[])?;
    assert!(shown.contains("0.1.0 is up to date"), "{shown}");
    fs::write(releases.join("install.sh"), script("0.2.0"))?;
    let checked: Value = serde_json::from_str(&update(&["--check", "--json"])?)?;
    assert_eq!((&checked["offered"], &checked["newer"]), (&"0.2.0".into(), &true.into()), "{checked:#}");
    assert_eq!(version_of(&user.plugin())?, "0.1.0");
    update(&[])?;
    assert_eq!(version_of(&user.plugin())?, "0.2.0");
    assert!(!user.sandbox.data().join("plugin.unpacked").exists());
    fs::remove_file(releases.join("install.sh"))?;
    let shown = update(&["--check"])?;
    assert!(shown.contains("The newest version is not known: could not download"), "{shown}");
    assert!(!shown.contains("Nothing was changed"), "{shown}");
    let checked: Value = serde_json::from_str(&update(&["--check", "--json"])?)?;
    assert!(checked["problem"].as_str().is_some_and(|problem| problem.contains("install.sh")), "{checked:#}");
    let unsafe_base =
        feed(user.command(&["update"]).env("WYREN_DOWNLOAD_BASE", "http://example.invalid"), b"")?;
    assert!(
        String::from_utf8_lossy(&unsafe_base.stderr).contains("must begin with https://"),
        "{unsafe_base:#?}"
    );
    Ok(())
}

/// A model that notes each question and answers it once a file lets it.
#[cfg(target_os = "linux")]
fn waiting_model(folder: &Path) -> Result<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let claude = folder.join("claude");
    let answer = r#"{"type":"result","is_error":false,"result":"","structured_output":{"word":"pong"},"usage":{"input_tokens":1,"output_tokens":1},"total_cost_usd":0.001}"#;
    let script = format!(
        "#!/bin/sh\ncd '{}'\necho question >> asked\nnumber=$(wc -l < asked)\nwhile [ ! -e \"go$number\" ]; do sleep 0.02; done\n\
         printf '%s' '{answer}'\n",
        folder.display()
    );
    fs::write(&claude, script)?;
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755))?;
    Ok(claude)
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_in_the_midst_of_a_job_finishes_it_and_the_new_one_does_the_rest() -> Result<()> {
    let (Some(user), Some(new)) = (User::new()?, version("0.2.0")?) else { return Ok(()) };
    let folder = user.sandbox.folder().to_owned();
    let claude = waiting_model(&folder)?;
    let command = |arguments: &[&str]| {
        let mut command = user.command(arguments);
        command.env("WYREN_MODEL_COMMAND", &claude).env("WYREN_WORKER_IDLE_SECONDS", "60");
        command
    };
    let asked = || fs::read_to_string(folder.join("asked")).unwrap_or_default().lines().count();
    // A worker that asks a model has a second process, which ends the model's with it.
    let worker = || -> Result<PathBuf> {
        // It has the name of `wyren-worker`, and the program of `wyren`.
        let is_worker = |process: &u32| {
            fs::read(format!("/proc/{process}/cmdline"))
                .is_ok_and(|words| words.starts_with(b"wyren-worker\0"))
        };
        let processes = user.sandbox.processes().into_iter().filter(is_worker);
        let workers: BTreeSet<PathBuf> =
            processes.filter_map(|process| fs::read_link(format!("/proc/{process}/exe")).ok()).collect();
        ensure!(workers.len() == 1, "{workers:?}");
        workers.into_iter().next().context("no worker")
    };
    for _ in 0..2 {
        let output = feed(&mut command(&["jobs", "add", "probe"]), b"")?;
        ensure!(output.status.success(), "{output:#?}");
    }
    wait_for("a question", || Ok(asked() == 1))?;
    let program = user.plugin().join("bin/wyren");
    assert_eq!(worker()?, program);

    let output = feed(&mut command(&["update", "--from", text(new.folder())?]), b"")?;
    ensure!(output.status.success(), "{output:#?}");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("finishes its job with the old version"),
        "{output:#?}"
    );
    assert_eq!(version_of(&user.plugin())?, "0.2.0");
    assert!(worker()?.to_string_lossy().ends_with(" (deleted)"), "the old worker is still at its job");

    fs::write(folder.join("go1"), "")?;
    wait_for("the second question", || Ok(asked() == 2))?;
    assert_eq!(worker()?, program, "the new worker does the second job");
    fs::write(folder.join("go2"), "")?;
    let jobs = || -> Result<Vec<Value>> {
        let listed: Value = serde_json::from_str(&user.succeed(&["jobs", "--all", "--json"])?)?;
        Ok(listed["jobs"].as_array().context("no list")?.clone())
    };
    wait_for("both jobs", || Ok(jobs()?.iter().all(|job| job["state"] == "done")))?;
    assert!(jobs()?.len() == 2 && jobs()?.iter().all(|job| job["attempts"] == 1), "{:#?}", jobs()?);
    assert_eq!(asked(), 2, "no question was asked twice");
    let log = fs::read_to_string(user.sandbox.data().join("logs/worker.jsonl"))?;
    assert_eq!((log.matches("\"began\"").count(), log.matches("ended: updated").count()), (2, 1), "{log}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_sync_in_the_midst_of_its_push_lands_once() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let remote = Remote::new(Mode::Side)?;
    let (Some(ada), Some(new)) = (Member::set_up(&remote, "ada", Mode::Side)?, version("0.2.0")?) else {
        return Ok(());
    };
    fs::create_dir_all(ada.sandbox.folder().join("home/.claude"))?;
    install(&mut ada.sandbox.command("wyren"))?;
    ada.wyren(&["sync"])?;
    let folder = ada.sandbox.folder().to_owned();
    let hook = remote.path().join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().context("no folder")?)?;
    let script = format!(
        "#!/bin/sh\ncd '{}'\necho push >> begun\nwhile [ ! -e go ]; do sleep 0.02; done\n",
        folder.display()
    );
    fs::write(&hook, script)?;
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755))?;
    let memory = ada.clone_folder().join(".wyren/memory.md");
    let changed = fs::read_to_string(&memory)? + "\n## Decisions\n- Prices are integer cents\n";
    fs::write(&memory, changed)?;

    let wyren = ada.sandbox.data().join("plugin/bin/wyren");
    let mut sync =
        ada.sandbox.command_for(&wyren).arg("sync").stdout(std::process::Stdio::piped()).spawn()?;
    wait_for("a push", || Ok(folder.join("begun").exists()))?;
    let output = feed(ada.sandbox.command_for(&wyren).args(["update", "--from", text(new.folder())?]), b"")?;
    ensure!(output.status.success(), "{output:#?}");
    fs::write(folder.join("go"), "")?;
    assert!(sync.wait()?.success());
    assert_eq!(remote.memory(Mode::Side).matches("Prices are integer cents").count(), 1);
    let again = feed(ada.sandbox.command_for(&wyren).arg("sync"), b"")?;
    assert!(String::from_utf8_lossy(&again.stdout).contains("Nothing to publish"), "{again:#?}");
    assert_eq!(fs::read_to_string(folder.join("begun"))?.lines().count(), 1);
    Ok(())
}

#[test]
fn a_version_says_what_it_is_and_makes_nothing() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    fs::remove_dir_all(sandbox.data())?;
    let output = sandbox.wyren(&["version", "--json"])?;
    ensure!(output.status.success(), "{output:#?}");
    let facts: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!((&facts["version"], facts["target"].is_string()), (&"0.1.0".into(), true), "{facts:#}");
    assert_eq!(facts["data"], text(&sandbox.data())?);
    assert!(facts["formats"]["jobs"].as_u64().is_some_and(|number| number > 0), "{facts:#}");
    assert_eq!(facts["database"]["formats"], serde_json::json!({}));
    assert!(!sandbox.data().exists());
    sandbox.wyren(&["export"])?;
    let facts: Value = serde_json::from_slice(&sandbox.wyren(&["version", "--json"])?.stdout)?;
    assert_eq!(facts["database"]["formats"], facts["formats"], "{facts:#}");
    let shown = String::from_utf8(sandbox.wyren(&["version"])?.stdout)?;
    assert!(shown.starts_with("wyren 0.1.0") && shown.contains(text(&sandbox.data())?), "{shown}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn the_manual_has_its_place_for_as_long_as_wyren_is_installed() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let page = user.sandbox.folder().join("home/.local/share/man/man1/wyren.1");
    assert_eq!(fs::read_link(&page)?, user.plugin().join("share/man/man1/wyren.1"));
    assert!(fs::read_to_string(&page)?.starts_with(".TH WYREN 1\n"));
    let output = feed(user.sandbox.command("wyren").arg("uninstall").env("PATH", "/usr/bin:/bin"), b"")?;
    ensure!(output.status.success(), "{output:#?}");
    assert!(!user.sandbox.folder().join("home/.local").exists());
    fs::create_dir_all(page.parent().context("no folder")?)?;
    fs::write(&page, "mine")?;
    install(&mut user.sandbox.command("wyren"))?;
    assert_eq!(fs::read_to_string(&page)?, "mine");
    Ok(())
}
