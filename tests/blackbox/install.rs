//! `wyren install` and `wyren uninstall`: each way in and out, with the whole tree compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::plugin;
use wyren_tests::sandbox::Sandbox;
use wyren_tests::tree::{Tree, tree};

struct User {
    sandbox: Sandbox,
    plugin: PathBuf,
}

impl User {
    fn new() -> Result<Option<User>> {
        let (Some(sandbox), Some(plugin)) = (Sandbox::new()?, plugin::folder()) else { return Ok(None) };
        for folder in ["home/.claude", "project/.git", "tmp"] {
            fs::create_dir_all(sandbox.folder().join(folder))?;
        }
        Ok(Some(User { sandbox, plugin: plugin.canonicalize()? }))
    }

    fn home(&self, path: &str) -> PathBuf {
        self.sandbox.folder().join("home").join(path)
    }

    fn project(&self, path: &str) -> PathBuf {
        self.sandbox.project().join(path)
    }

    /// Returns the trees that Wyren must leave as they were. What is the user's own is in the data folder, and stays.
    fn trees(&self) -> Result<Vec<Tree>> {
        ["home", "project", "tmp"].iter().map(|folder| tree(&self.sandbox.folder().join(folder))).collect()
    }

    fn run(&self, arguments: &[&str]) -> Result<String> {
        let output = self.sandbox.wyren(arguments)?;
        ensure!(output.status.success(), "wyren {arguments:?}: {output:#?}");
        Ok(String::from_utf8(output.stdout)?)
    }

    fn fail(&self, arguments: &[&str]) -> Result<String> {
        let output: Output = self.sandbox.wyren(arguments)?;
        assert_eq!(output.status.code(), Some(1), "wyren {arguments:?}: {output:#?}");
        Ok(String::from_utf8(output.stderr)?)
    }
}

#[test]
fn each_settings_file_is_wired_and_after_the_way_out_the_tree_is_as_it_was() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let settings = "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": []},\n}\n";
    fs::write(user.home(".claude/settings.json"), settings)?;
    let before = user.trees()?;
    for (scope, path) in [
        ("user", user.home(".claude/settings.json")),
        ("project", user.project(".claude/settings.json")),
        ("local", user.project(".claude/settings.local.json")),
    ] {
        let shown = user.run(&["install", "--settings", scope])?;
        let named = path.display().to_string().replace(&*user.home("").to_string_lossy(), "~/");
        assert!(shown.contains(&named) && shown.contains("/wyren:init"), "{shown}");
        let written = fs::read_to_string(&path)?;
        let program = user.plugin.join("bin/stop-distill");
        assert_eq!(written.matches(&*program.to_string_lossy()).count(), 1, "{written}");
        assert!(path.with_file_name("commands/wyren-handoff.md").is_file());
        let installed = user.trees()?;
        let again = user.run(&["install", "--settings", scope])?;
        assert!(again.contains("already"), "{again}");
        assert_eq!(user.trees()?, installed, "twice changes something");

        let shown = user.run(&["uninstall"])?;
        let wired: usize = tables::hooks::HOOKS.iter().map(|hook| hook.events.len()).sum();
        assert!(shown.contains(&format!("Removed {wired} hooks")), "{shown}");
        assert_eq!(user.trees()?, before, "{scope}");
    }
    Ok(())
}

#[test]
fn all_three_at_once_go_with_one_command() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let before = user.trees()?;
    for scope in ["user", "project", "local"] {
        user.run(&["install", "--settings", scope])?;
    }
    user.run(&["uninstall"])?;
    // An empty folder of the client's goes with what was in it.
    let mut expected = before;
    expected[0].remove(Path::new(".claude"));
    assert_eq!(user.trees()?, expected);
    let again = user.run(&["uninstall"])?;
    assert!(again.contains("nothing of Wyren"), "{again}");
    Ok(())
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    fs::write(user.home(".claude/settings.json"), "{\n  \"model\": \"opus\"\n}\n")?;
    let before = tree(user.sandbox.folder())?;
    let diff = user.run(&["install", "--settings", "--dry-run"])?;
    for part in
        ["--- ", "@@ -1,3 +1,", "-  \"model\": \"opus\"\n+  \"model\": \"opus\",\n+  \"hooks\": {", "write "]
    {
        assert!(diff.contains(part), "{part}: {diff}");
    }
    assert_eq!(tree(user.sandbox.folder())?, before);
    user.run(&["install", "--settings"])?;
    let installed = tree(user.sandbox.folder())?;
    let diff = user.run(&["uninstall", "--dry-run"])?;
    assert!(diff.contains("-  \"hooks\": {") && diff.contains("remove "), "{diff}");
    assert_eq!(tree(user.sandbox.folder())?, installed);
    Ok(())
}

#[test]
fn what_is_printed_is_the_block_of_the_guide_with_the_plugins_folder() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let printed = user.run(&["install", "--settings", "--print"])?;
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guides/wiring.md"))?;
    let block =
        guide.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).context("no block")?;
    assert_eq!(printed, block.replace("/path/to/wyren", &user.plugin.to_string_lossy()));
    fs::write(user.home(".claude/settings.json"), &printed)?;
    assert!(user.run(&["install", "--settings"])?.contains("already"));
    Ok(())
}

#[test]
fn a_file_that_is_not_valid_is_named_and_nothing_is_written() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    fs::write(user.home(".claude/settings.json"), "{\"model\": \"opus\"")?;
    let before = user.trees()?;
    let error = user.fail(&["install", "--settings"])?;
    assert!(error.contains("settings.json is not valid JSON: line 1"), "{error}");
    user.run(&["uninstall"])?;
    assert_eq!(user.trees()?, before);
    // One that names a hook may have an entry of ours that cannot be taken out.
    fs::write(user.home(".claude/settings.json"), "{\"hooks\": \"/opt/wyren/bin/stop-distill\"")?;
    let before = user.trees()?;
    let error = user.fail(&["uninstall"])?;
    assert!(error.contains("settings.json is not valid JSON: line 1"), "{error}");
    assert_eq!(user.trees()?, before);
    Ok(())
}

#[test]
fn only_a_person_installs_and_uninstalls() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    for arguments in [&["install", "--settings"][..], &["uninstall"]] {
        let output = user.sandbox.command("wyren").args(arguments).env("CLAUDECODE", "1").output()?;
        assert_eq!(output.status.code(), Some(1), "{output:#?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("only a person"), "{output:#?}");
    }
    assert!(!user.home(".claude/settings.json").exists());
    Ok(())
}

#[test]
fn two_installations_at_once_write_each_entry_once() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    fs::write(user.home(".claude/settings.json"), "{\"model\": \"opus\"}\n")?;
    let mut children: Vec<Child> = Vec::new();
    for _ in 0..4 {
        let mut command = user.sandbox.command("wyren");
        command.args(["install", "--settings"]).stdout(Stdio::null());
        children.push(command.spawn()?);
    }
    for mut child in children {
        assert!(child.wait()?.success());
    }
    let settings: Value = serde_json::from_slice(&fs::read(user.home(".claude/settings.json"))?)?;
    assert_eq!(settings["model"], "opus");
    assert_eq!(settings.to_string().matches("/bin/tool-record").count(), 2, "{settings:#}");
    assert_eq!(settings.to_string().matches("/bin/stop-distill").count(), 1, "{settings:#}");
    let names = fs::read_dir(user.home(".claude"))?.flatten().map(|entry| entry.file_name());
    let backups = names.filter(|name| name.to_string_lossy().contains("wyren-backup")).count();
    assert_eq!(backups, 1);
    Ok(())
}

#[test]
fn a_running_worker_ends_with_the_installation() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let mut command = user.sandbox.command("wyren-worker");
    command.env("WYREN_WORKER_IDLE_SECONDS", "600").stdout(Stdio::null()).stderr(Stdio::null());
    let mut worker = command.spawn()?;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !user.run(&["worker", "status"])?.starts_with("running") {
        ensure!(std::time::Instant::now() < deadline, "the worker did not start");
        std::thread::yield_now();
    }
    let shown = user.run(&["uninstall"])?;
    assert!(shown.contains("Worker stopped"), "{shown}");
    assert!(worker.wait()?.success());
    Ok(())
}

/// Returns a run of `wyren` by a user without Claude Code, with `folders` on the PATH.
fn without_client(user: &User, arguments: &[&str], folders: &[PathBuf]) -> Result<String> {
    let mut command = user.sandbox.command("wyren");
    let output = command.args(arguments).env("PATH", std::env::join_paths(folders)?).output()?;
    ensure!(output.status.success(), "wyren {arguments:?}: {output:#?}");
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(unix)]
#[test]
fn without_the_client_the_plugin_is_ready_and_the_way_out_leaves_nothing() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let bin = user.home(".local/bin");
    let before = user.trees()?;
    let shown = without_client(&user, &["install", "--dry-run"], &[])?;
    for part in [
        "copy ",
        "link ~/.local/bin/wyren to ",
        "/man1/wyren.1 to ",
        "write ~/.claude/commands/wyren-handoff.md",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains("no `claude` on the PATH") && !shown.contains("run claude plugin"), "{shown}");
    assert_eq!(user.trees()?, before);

    let shown = without_client(&user, &["install"], &[])?;
    let plugin = user.sandbox.data().join("plugin");
    for part in [
        "Copied the plugin to ",
        "Linked wyren as ~/.local/bin/wyren",
        "export PATH=\"$HOME/.local/bin:$PATH\"",
        "there is no `claude` on the PATH",
        "run `~/.local/bin/wyren install` again",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(tree(&plugin.join("bin"))?, tree(&user.plugin.join("bin"))?);
    assert_eq!(fs::read_link(bin.join("wyren"))?, plugin.join("bin/wyren"));
    let handoff = fs::read_to_string(user.home(".claude/commands/wyren-handoff.md"))?;
    assert!(handoff.contains(&*plugin.to_string_lossy()), "{handoff}");
    let installed = user.trees()?;
    let again = without_client(&user, &["install"], std::slice::from_ref(&bin))?;
    assert!(again.contains("up to date") && !again.contains("export PATH"), "{again}");
    assert!(again.contains("run `wyren install` again"), "{again}");
    let shown = without_client(&user, &["install", "--dry-run"], &[])?;
    assert!(shown.ends_with("Nothing would change.\n") && !shown.contains("copy "), "{shown}");
    assert_eq!(user.trees()?, installed);

    let shown = without_client(&user, &["uninstall", "--dry-run"], &[])?;
    assert!(shown.contains(&format!("remove {}", plugin.display())), "{shown}");
    assert_eq!(user.trees()?, installed);
    without_client(&user, &["uninstall"], &[])?;
    let mut expected = before;
    expected[0].remove(Path::new(".claude"));
    assert_eq!(user.trees()?, expected);
    assert!(!plugin.exists());
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_dry_run_shows_what_the_client_adds_to_its_settings_and_nothing_where_it_has_it() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    fs::write(user.home(".claude/settings.json"), "{\n  \"model\": \"opus\"\n}\n")?;
    let tools = user.home("tools");
    fs::create_dir_all(&tools)?;
    fs::write(tools.join("claude"), "#!/bin/sh\nexit 1\n")?;
    fs::set_permissions(tools.join("claude"), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let shown = without_client(&user, &["install", "--dry-run"], std::slice::from_ref(&tools))?;
    for part in
        ["run claude plugin install wyren@wyren", "+  \"enabledPlugins\": {", "+    \"wyren@wyren\": true"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    without_client(&user, &["install"], &[])?;
    let plugin = user.sandbox.data().join("plugin");
    let source = serde_json::json!({"source": "directory", "path": plugin});
    fs::create_dir_all(user.home(".claude/plugins"))?;
    let known = serde_json::json!({"wyren": {"source": source}});
    fs::write(user.home(".claude/plugins/known_marketplaces.json"), known.to_string())?;
    fs::write(user.home(".claude/settings.json"), "{\"enabledPlugins\": {\"wyren@wyren\": true}}")?;
    let shown = without_client(&user, &["install", "--dry-run"], &[tools])?;
    assert_eq!(shown, "Nothing would change.\n");
    Ok(())
}

#[test]
fn on_a_clean_home_the_way_out_leaves_nothing_and_names_only_what_it_keeps() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let _ = fs::remove_dir_all(user.sandbox.data());
    let shown = user.run(&["uninstall"])?;
    assert!(shown.contains("nothing of Wyren") && !shown.contains("Kept"), "{shown}");
    assert!(!user.sandbox.data().exists());
    user.run(&["config", "set", "log.level", "warn"])?;
    let shown = user.run(&["uninstall"])?;
    let data = user.sandbox.data().display().to_string();
    assert!(shown.contains(&format!("recorded sessions in {data}, ")), "{shown}");
    assert!(shown.ends_with(&format!("delete {data}.\n")) && user.sandbox.data().exists(), "{shown}");
    Ok(())
}

#[test]
fn two_wirings_are_named_with_the_way_to_keep_each() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let source = serde_json::json!({"source": "directory", "path": user.plugin});
    fs::create_dir_all(user.home(".claude/plugins"))?;
    let known = serde_json::json!({"wyren": {"source": source}});
    fs::write(user.home(".claude/plugins/known_marketplaces.json"), known.to_string())?;
    fs::write(user.home(".claude/settings.json"), "{\"enabledPlugins\": {\"wyren@wyren\": true}}")?;
    let shown = user.run(&["install", "--settings"])?;
    for part in [
        "Wired twice, by the plugin wyren@wyren and in ~/.claude/settings.json",
        "To keep the plugin alone: ",
        "To keep the settings alone: claude plugin disable wyren@wyren",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    Ok(())
}

#[test]
fn an_agent_is_wired_to_the_plugin_in_the_folder_that_is_named() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let checkout = user.sandbox.folder().join("checkout");
    plugin::copy(&user.plugin, &checkout.join("target/plugin"))?;
    let local = checkout.to_string_lossy().into_owned();
    let hook = checkout.join("target/plugin/bin/stop-distill").canonicalize()?;
    let arguments = ["install", "--agent", "codex", "--from-local", &*local];
    let shown = user.run(&[&arguments[..], &["--dry-run"]].concat())?;
    assert!(shown.contains(&*hook.to_string_lossy()), "{shown}");
    user.run(&arguments)?;
    let hooks = fs::read_to_string(user.home(".codex/hooks.json"))?;
    assert!(hooks.contains(&*hook.to_string_lossy()), "{hooks}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_program_of_the_users_is_left_alone_and_one_that_comes_first_is_named() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let (bin, node) = (user.home(".local/bin"), user.home("node/bin"));
    for folder in [&bin, &node] {
        fs::create_dir_all(folder)?;
    }
    fs::create_dir_all(user.home("node/lib"))?;
    fs::write(user.home("node/lib/wyren.mjs"), "#!/usr/bin/env node\n")?;
    std::os::unix::fs::symlink("../lib/wyren.mjs", node.join("wyren"))?;
    let shown = without_client(&user, &["install"], &[node.clone(), bin.clone()])?;
    assert!(shown.contains("run `~/.local/bin/wyren install` again"), "{shown}");
    assert!(shown.contains("The Node version comes first on the PATH: ~/node/bin/wyren"), "{shown}");
    assert!(shown.contains("~/.local/bin/wyren migrate"), "{shown}");
    fs::remove_file(node.join("wyren"))?;
    fs::write(node.join("wyren"), "#!/usr/bin/env node\n")?;
    let shown = without_client(&user, &["install"], &[node.clone(), bin.clone()])?;
    assert!(shown.contains("Another `wyren` comes first on the PATH: ~/node/bin/wyren"), "{shown}");
    without_client(&user, &["uninstall"], &[])?;
    fs::create_dir_all(&bin)?;
    fs::write(bin.join("wyren"), "#!/usr/bin/env node\n")?;
    let shown = without_client(&user, &["install"], &[])?;
    assert!(shown.contains("Left alone"), "{shown}");
    without_client(&user, &["uninstall"], &[])?;
    assert_eq!(fs::read_to_string(bin.join("wyren"))?, "#!/usr/bin/env node\n");
    Ok(())
}

#[test]
fn a_purge_needs_a_yes_and_leaves_files_that_are_not_wyrens() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    user.run(&["install", "--settings"])?;
    user.run(&["config", "set", "log.level", "warn"])?;
    let theirs = user.sandbox.data().join("notes/mine.txt");
    fs::create_dir_all(user.sandbox.data().join("notes"))?;
    fs::write(&theirs, "mine")?;
    let before = tree(user.sandbox.folder())?;
    let error = user.fail(&["uninstall", "--purge"])?;
    assert!(error.contains("--yes"), "{error}");
    let shown = user.run(&["uninstall", "--purge", "--dry-run"])?;
    assert!(shown.contains(&format!("remove {}", user.sandbox.data().display())), "{shown}");
    assert_eq!(tree(user.sandbox.folder())?, before);
    let shown = user.run(&["uninstall", "--purge", "--yes"])?;
    let notes = user.sandbox.data().join("notes");
    assert!(shown.contains(&format!("Left alone: {}", notes.display())), "{shown}");
    let left = tree(&user.sandbox.data())?;
    assert_eq!(left.keys().collect::<Vec<_>>(), [Path::new("notes"), Path::new("notes/mine.txt")]);
    Ok(())
}

#[test]
fn a_purge_touches_nothing_where_the_data_folder_is_not_wyrens_alone() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    user.run(&["config", "set", "log.level", "warn"])?;
    for folder in ["lessons", "logs", "Empty"] {
        fs::create_dir_all(user.sandbox.data().join(folder))?;
    }
    fs::write(user.sandbox.data().join("lessons/maths.txt"), "mine")?;
    fs::create_dir(user.sandbox.data().join(".git"))?;
    let before = tree(user.sandbox.folder())?;
    for arguments in [&["uninstall", "--purge", "--yes"][..], &["uninstall", "--purge", "--dry-run"]] {
        let error = user.fail(arguments)?;
        assert!(error.contains("nothing was removed: the data folder"), "{error}");
    }
    assert_eq!(tree(user.sandbox.folder())?, before);
    Ok(())
}

#[test]
fn the_flags_and_variables_of_the_node_version_name_the_clients_folder_and_the_plugin() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let before = user.trees()?;
    let checkout = user.sandbox.folder().join("checkout");
    plugin::copy(&user.plugin, &checkout.join("target/plugin"))?;
    let hook = checkout.join("target/plugin/bin/stop-distill").canonicalize()?;
    let other = user.home("other").to_string_lossy().into_owned();
    let local = checkout.to_string_lossy().into_owned();
    let flag = ["--home", &*other];
    for (arguments, variable) in [(&flag[..], None), (&[], Some("WYREN_HOME")), (&[], Some("CLAUDE_HOME"))] {
        let run = |words: &[&str]| -> Result<String> {
            let mut command = user.sandbox.command("wyren");
            command.args(words).args(arguments).env_remove("CLAUDE_CONFIG_DIR");
            if let Some(variable) = variable {
                command.env(variable, &other);
            }
            let output = command.output()?;
            ensure!(output.status.success(), "{words:?} {variable:?}: {output:#?}");
            Ok(String::from_utf8(output.stdout)?)
        };
        let shown = run(&["install", "--settings", "--from-local", &local])?;
        assert!(shown.contains("CLAUDE_CONFIG_DIR"), "{shown}");
        let settings = fs::read_to_string(user.home("other/settings.json"))?;
        assert!(settings.contains(&*hook.to_string_lossy()), "{settings}");
        let verified: Value = serde_json::from_str(&run(&["verify", "--offline", "--json"])?)?;
        let checks = verified["checks"].as_array().context("no checks")?;
        let wiring = checks.iter().find(|check| check["name"] == "wiring").context("no check")?;
        assert!(
            wiring["message"].as_str().is_some_and(|text| text.contains("other/settings.json")),
            "{wiring}"
        );
        run(&["uninstall", "--yes"])?;
        assert_eq!(user.trees()?, before, "{variable:?}");
    }
    let error = user.fail(&["install", "--from-local", &user.project("").to_string_lossy()])?;
    assert!(error.contains("is not a plugin of Wyren") && error.contains("cargo xtask plugin"), "{error}");
    assert_eq!(user.trees()?, before);
    Ok(())
}

#[test]
fn the_clients_own_variable_comes_before_that_of_other_tools() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let mut command = user.sandbox.command("wyren");
    command.args(["install", "--settings"]);
    command.env("CLAUDE_HOME", user.home("other")).env("CLAUDE_CONFIG_DIR", user.home("third"));
    assert!(command.output()?.status.success());
    assert!(user.home("third/settings.json").is_file() && !user.home("other").exists());
    Ok(())
}

#[test]
fn settings_with_comments_are_edited_and_the_user_learns_that_the_client_does_not_read_them() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    fs::write(user.home(".claude/settings.json"), "{\n  \"model\": \"opus\" // mine\n}\n")?;
    let shown = user.run(&["install", "--settings"])?;
    assert!(shown.contains("The hooks do not run yet") && shown.contains("in line 2"), "{shown}");
    assert!(
        shown.contains(
            "Next: remove the comments and trailing commas from ~/.claude/settings.json, then start"
        ),
        "{shown}"
    );
    user.run(&["uninstall"])?;
    fs::write(user.home(".claude/settings.json"), "{\n  \"_comment\": \"a // b\"\n}\n")?;
    let shown = user.run(&["install", "--settings"])?;
    assert!(!shown.contains("do not run yet") && shown.contains("Next: start a new session"), "{shown}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_hook_of_the_users_beside_the_link_to_wyren_stays_after_the_way_out() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let mine = user.home(".local/bin/session-end");
    fs::create_dir_all(user.home(".local/bin"))?;
    fs::write(&mine, "#!/bin/sh\n")?;
    let entry = serde_json::json!({"type": "command", "command": format!("{} --mine", mine.display())});
    let settings = serde_json::json!({"hooks": {"SessionEnd": [{"hooks": [entry]}]}}).to_string();
    fs::write(user.home(".claude/settings.json"), settings)?;
    let before = user.trees()?;
    without_client(&user, &["install"], &[])?;
    assert!(user.home(".local/bin/wyren").is_file());
    without_client(&user, &["uninstall"], &[])?;
    assert_eq!(user.trees()?, before);
    Ok(())
}

#[cfg(unix)]
#[test]
fn links_to_a_checkout_that_the_user_made_stay() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    for (at, to) in
        [(".local/bin/wyren", "bin/wyren"), (".local/share/man/man1/wyren.1", "share/man/man1/wyren.1")]
    {
        fs::create_dir_all(user.home(at).parent().context("no folder")?)?;
        std::os::unix::fs::symlink(user.plugin.join(to), user.home(at))?;
    }
    let before = user.trees()?;
    let shown = without_client(&user, &["uninstall", "--dry-run"], &[])?;
    assert!(shown.contains("Nothing would change."), "{shown}");
    without_client(&user, &["uninstall"], &[])?;
    assert_eq!(user.trees()?, before);
    Ok(())
}

#[test]
fn a_purge_keeps_the_backup_of_settings_that_changed_and_what_only_looks_like_one() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let settings = user.home(".claude/settings.json");
    let good = "{\"model\": \"opus\"}";
    fs::write(&settings, good)?;
    let notes = user.home(".claude/settings.json.wyren-backup-notes");
    fs::write(&notes, "mine")?;
    user.run(&["install", "--settings"])?;
    fs::write(&settings, "{\"model\": ")?;
    let shown = user.run(&["uninstall", "--purge", "--yes"])?;
    let mut names = fs::read_dir(user.home(".claude"))?.flatten().map(|entry| entry.path());
    let backup = names.find(|path| path.to_string_lossy().contains("wyren-backup-2"));
    let backup = backup.context("the backup is gone")?;
    let name = backup.file_name().unwrap_or_default().to_string_lossy().into_owned();
    assert!(shown.contains(&format!("Left alone: ~/.claude/{name}")), "{shown}");
    assert_eq!((fs::read_to_string(backup)?.as_str(), fs::read_to_string(notes)?.as_str()), (good, "mine"));
    Ok(())
}

/// Puts a program called `claude` into a folder of its own, which does this for `plugin install`.
#[cfg(unix)]
fn client_that(user: &User, does: &str) -> Result<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = user.sandbox.folder().join("client");
    fs::create_dir_all(&folder)?;
    let script = format!("#!/bin/sh\ncase \"$2\" in install) {does};; esac\n");
    fs::write(folder.join("claude"), script)?;
    fs::set_permissions(folder.join("claude"), fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

#[cfg(unix)]
#[test]
fn settings_that_a_failing_client_rewrote_are_backed_up_or_have_their_layout_again() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let settings = user.home(".claude/settings.json");
    let before = "{\n    \"model\": \"opus\",\n    \"env\": {}\n}\n";
    let path = settings.display();
    for (written, is_restored) in [("{\"env\": {}, \"model\": \"opus\"}", true), ("{}", false)] {
        fs::write(&settings, before)?;
        let folder = client_that(&user, &format!("echo '{written}' > '{path}'; exit 3"))?;
        let mut command = user.sandbox.command("wyren");
        let tools = [folder, PathBuf::from("/usr/bin"), PathBuf::from("/bin")];
        let output = command.arg("install").env("PATH", std::env::join_paths(tools)?).output()?;
        assert_eq!(output.status.code(), Some(1), "{output:#?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("`claude plugin install wyren@wyren` failed"), "{error}");
        let names = fs::read_dir(user.home(".claude"))?.flatten().map(|entry| entry.path());
        let backups: Vec<_> = names.filter(|path| path.to_string_lossy().contains("wyren-backup")).collect();
        if is_restored {
            assert_eq!((fs::read_to_string(&settings)?.as_str(), backups.len()), (before, 0));
        } else {
            assert_eq!(fs::read_to_string(backups.first().context("no backup")?)?, before);
        }
    }
    Ok(())
}

/// Where servers are, the client alone writes; its command comes with the hooks, and what it left is named on the way out.
#[test]
fn hooks_in_settings_come_with_the_clients_command_for_the_mcp_server() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let program = user.plugin.join("bin/wyren-mcp");
    let program = program.to_string_lossy();
    for scope in ["user", "project", "local"] {
        let shown = user.run(&["install", "--settings", scope])?;
        assert!(shown.contains(&format!("claude mcp add --scope {scope} memory -- ")), "{shown}");
        assert!(shown.contains(&*program), "{shown}");
    }
    assert!(!user.home(".claude.json").exists() && !user.project(".mcp.json").exists());
    let server = json!({"type": "stdio", "command": program, "args": [], "env": {}});
    let other = json!({"type": "stdio", "command": "/opt/other/bin/server", "args": []});
    let project = user.sandbox.project().canonicalize()?;
    let state = json!({
        "numStartups": 3, "mcpServers": {"my memory": server, "other": other},
        "projects": {project.to_string_lossy(): {"mcpServers": {"local-memory": server}}},
    });
    fs::write(user.home(".claude.json"), state.to_string())?;
    fs::write(user.project(".mcp.json"), json!({"mcpServers": {"memory": server}}).to_string())?;
    let again = user.run(&["install", "--settings"])?;
    assert!(!again.contains("claude mcp add"), "{again}");
    let shown = user.run(&["uninstall"])?;
    for command in ["user 'my memory'", "local local-memory", "project memory"] {
        assert!(shown.contains(&format!("claude mcp remove --scope {command}\n")), "{command}: {shown}");
    }
    assert!(!shown.contains("--scope user other"), "{shown}");
    assert_eq!(fs::read_to_string(user.home(".claude.json"))?, state.to_string());
    Ok(())
}
