//! `wyren migrate`: from each earlier system and back, with the whole tree compared.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
#[cfg(unix)]
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rusqlite::Connection;
use serde_json::{Value, json};
use wyren_tests::sandbox::Sandbox;
#[cfg(unix)]
use wyren_tests::terminal::{Key, Terminal};

use wyren_tests::tree::{Tree, tree};

/// A user of all four systems.
struct User {
    sandbox: Sandbox,
}

impl User {
    fn new() -> Result<Option<User>> {
        let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
        let user = User { sandbox };
        fs::create_dir_all(user.path("project/.git"))?;
        let dispatcher = user.path("home/.claude/plugins/wyren/hooks/run-hook.cmd");
        user.write("home/.claude/plugins/wyren/hooks/run-hook.cmd", "")?;
        let command =
            |command: String| json!([{"matcher": "", "hooks": [{"type": "command", "command": command}]}]);
        let settings = json!({
            "model": "opus",
            "hooks": {
                "SessionStart": command(format!("\"{}\" session-start", dispatcher.display())),
                "Stop": command(format!("\"{}\" stop", dispatcher.display())),
                "Notification": command("say done".to_owned()),
            },
            "enabledPlugins": {"lessons-learned@acme": true, "claude-mem@thedotmack": true},
        });
        user.write("home/.claude/settings.json", &format!("// Mine.\n{settings:#}\n"))?;
        let folder = "home/.claude/plugins/cache/acme/lessons-learned/0.1.0";
        let installed = json!({"plugins": {"lessons-learned@acme": [{"installPath": user.path(folder)}]}});
        user.write("home/.claude/plugins/installed_plugins.json", &installed.to_string())?;
        fs::create_dir_all(user.path(folder).join("data"))?;
        let database = Connection::open(user.path(folder).join("data/lessons.db"))?;
        database.execute_batch(
            "CREATE TABLE lessons (id TEXT PRIMARY KEY, slug TEXT, status TEXT, type TEXT, summary TEXT, problem TEXT, \
             solution TEXT, toolNames TEXT, commandPatterns TEXT, priority INTEGER, confidence REAL); \
             INSERT INTO lessons VALUES ('01HZX4V9M0ABCDEFGHJKMNPQR1', 'frob-hangs-1a2b', 'active', 'hint', 'frob hangs', \
             'frob waits for its input and never ends', 'close the input of frob with a redirection from the null device', \
             '[\"Bash\"]', '[\"\\\\bfrob\\\\b\"]', 6, 0.9)",
        )?;
        drop(database);
        user.write("home/.claude-mem/claude-mem.db", "")?;
        user.write("project/.aiwcli/core/hooks/session_start.ts", "")?;
        let hooks = command("bun .aiwcli/core/hooks/session_start.ts".to_owned());
        user.write("project/.claude/settings.json", &json!({"hooks": {"SessionStart": hooks}}).to_string())?;
        Ok(Some(user))
    }

    fn path(&self, path: &str) -> PathBuf {
        self.sandbox.folder().join(path)
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.path(path);
        fs::create_dir_all(path.parent().context("no folder")?)?;
        Ok(fs::write(path, text)?)
    }

    fn read(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.path(path)).with_context(|| path.to_owned())
    }

    /// Returns everything that a migration may touch; what other commands write, and what is made again, is left out.
    fn tree(&self) -> Result<Tree> {
        let mut tree = tree(self.sandbox.folder())?;
        let others = ["data/cache", "data/install.lock", "data/logs", "data/publish"];
        tree.retain(|path, _| !others.iter().any(|folder| path.starts_with(folder)));
        Ok(tree)
    }

    /// Checks that every file is as it was, and names those that are not.
    #[track_caller]
    fn check_same(&self, before: &Tree, after: &Tree) {
        let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
        let changed: Vec<&&PathBuf> =
            paths.iter().filter(|path| before.get(**path) != after.get(**path)).collect();
        assert!(changed.is_empty(), "changed: {changed:?}");
    }

    fn run(&self, arguments: &[&str]) -> Result<String> {
        let output = self.sandbox.wyren(arguments)?;
        ensure!(output.status.success(), "wyren {arguments:?}: {output:#?}");
        Ok(String::from_utf8(output.stdout)?)
    }

    fn json(&self, arguments: &[&str]) -> Result<Value> {
        Ok(serde_json::from_str(&self.run(arguments)?)?)
    }

    fn fail(&self, arguments: &[&str], code: i32) -> Result<String> {
        let output = self.sandbox.wyren(arguments)?;
        assert_eq!(output.status.code(), Some(code), "wyren {arguments:?}: {output:#?}");
        Ok(String::from_utf8(output.stderr)?)
    }
}

#[test]
fn without_an_earlier_system_there_is_nothing_to_do() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for arguments in [&["migrate"][..], &["migrate", "--dry-run"], &["migrate", "--undo"]] {
        let output = sandbox.wyren(arguments)?;
        assert!(output.status.success(), "{output:#?}");
    }
    let shown = String::from_utf8(sandbox.wyren(&["migrate"])?.stdout)?;
    assert!(shown.contains("No earlier system was found"), "{shown}");
    assert!(!sandbox.data().join("migrate.json").exists());
    Ok(())
}

#[test]
fn a_dry_run_names_each_system_with_what_would_happen_and_changes_nothing() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let before = user.tree()?;
    let shown = user.run(&["migrate", "--dry-run"])?;
    for part in [
        "the Node version of Wyren",
        "~/.claude/settings.json (2 hooks)",
        "lessons-learned@acme",
        "lessons.db (1 of 1 new)",
        "--disable claude-mem",
        "this version of Wyren does not read it",
        "Claude Code does not run Wyren yet, so nothing replaces these hooks until you run: ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let facts = user.json(&["migrate", "--dry-run", "--json"])?;
    let names: Vec<&str> =
        facts["systems"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["wyren-node", "lessons-learned", "claude-mem", "aiwcli"]);
    assert_eq!(
        (&facts["changed"], &facts["systems"][1]["found"][0]["action"]),
        (&json!(false), &json!("disable"))
    );
    user.check_same(&before, &user.tree()?);
    Ok(())
}

#[test]
fn hooks_go_off_lessons_come_in_and_undo_restores_every_byte() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let before = user.tree()?;
    let shown = user.run(&["migrate", "--yes"])?;
    for part in [
        "Imported 1 lesson from",
        "Switched off 2 hooks and the plugin lessons-learned@acme",
        "wyren migrate --undo",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let settings = user.read("home/.claude/settings.json")?;
    for part in ["// Mine.", "say done", "\"lessons-learned@acme\": false", "\"claude-mem@thedotmack\": true"]
    {
        assert!(settings.contains(part), "{part}: {settings}");
    }
    assert!(!settings.contains("run-hook.cmd"), "{settings}");
    let tested = user.run(&["lessons", "test", "frob now"])?;
    assert!(tested.contains("frob-hangs-1a2b"), "{tested}");

    let once = user.tree()?;
    let again = user.run(&["migrate", "--yes"])?;
    assert!(again.contains("Nothing to do."), "{again}");
    user.check_same(&once, &user.tree()?);

    let all = user.run(&["migrate", "--yes", "--disable", "claude-mem", "--disable", "aiwcli"])?;
    assert!(all.contains("belongs to the project"), "{all}");
    assert!(!user.read("project/.claude/settings.json")?.contains(".aiwcli"));
    let shown = user.run(&["migrate", "--undo", "--dry-run"])?;
    assert!(
        shown.contains("restore ~/.claude/settings.json") && shown.contains("remove 1 lesson"),
        "{shown}"
    );
    let undone = user.run(&["migrate", "--undo"])?;
    assert!(
        undone.contains("Restored ~/.claude/settings.json") && undone.contains("Removed 1 imported lesson"),
        "{undone}"
    );
    user.check_same(&before, &user.tree()?);
    assert!(user.run(&["migrate", "--undo"])?.contains("nothing to take back"));
    Ok(())
}

#[test]
fn what_changed_since_is_named_and_keeps_the_users_words() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    user.run(&["migrate", "--yes"])?;
    let settings = user.read("home/.claude/settings.json")?.replace("opus", "sonnet");
    user.write("home/.claude/settings.json", &settings)?;
    let undone = user.run(&["migrate", "--undo"])?;
    assert!(undone.contains("It changed since"), "{undone}");
    let settings = user.read("home/.claude/settings.json")?;
    for part in ["sonnet", "session-start", "\"lessons-learned@acme\": true"] {
        assert!(settings.contains(part), "{part}: {settings}");
    }
    Ok(())
}

#[test]
fn one_system_alone_and_json_for_scripts() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let facts = user.json(&["migrate", "--only", "wyren-node", "--yes", "--json"])?;
    assert_eq!(facts["changed"], true, "{facts:#}");
    let settings = user.read("home/.claude/settings.json")?;
    assert!(
        !settings.contains("run-hook.cmd") && settings.contains("\"lessons-learned@acme\": true"),
        "{settings}"
    );
    let undone = user.json(&["migrate", "--undo", "--yes", "--json"])?;
    assert_eq!(undone["undone"][0]["result"], "restored", "{undone:#}");
    assert!(user.fail(&["migrate", "--json"], 2)?.contains("--yes or --dry-run"));
    assert!(user.fail(&["migrate", "--only", "other"], 2)?.contains("possible values: wyren-node"));
    Ok(())
}

#[test]
fn only_a_person_migrates_and_without_a_terminal_only_with_a_yes() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let before = user.tree()?;
    for arguments in [&["migrate", "--yes"][..], &["migrate", "--undo"]] {
        let output = user.sandbox.command("wyren").args(arguments).env("CLAUDECODE", "1").output()?;
        assert_eq!(output.status.code(), Some(1), "{output:#?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("only a person"), "{output:#?}");
    }
    assert!(user.fail(&["migrate"], 1)?.contains("pass --yes"));
    user.check_same(&before, &user.tree()?);
    Ok(())
}

#[test]
fn settings_that_are_not_valid_are_named_and_the_rest_is_done() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    user.write("project/.claude/settings.json", "{\"hooks\": ")?;
    let error = user.fail(&["migrate", "--yes"], 1)?;
    assert!(error.contains("project/.claude/settings.json is not valid JSON: line 1"), "{error}");
    assert_eq!(user.read("project/.claude/settings.json")?, "{\"hooks\": ");
    assert!(!user.read("home/.claude/settings.json")?.contains("run-hook.cmd"));
    Ok(())
}

#[test]
fn doctor_names_what_runs_double_until_it_is_switched_off() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let check = || -> Result<Value> {
        let report: Value =
            serde_json::from_slice(&user.sandbox.wyren(&["doctor", "--offline", "--json"])?.stdout)?;
        let checks = report["checks"].as_array().context("no checks")?;
        checks.iter().find(|check| check["name"] == "earlier").cloned().context("no check")
    };
    let double = check()?;
    assert_eq!(double["state"], "warn", "{double:#}");
    assert_eq!(double["fix"], "wyren migrate --only wyren-node", "{double:#}");
    user.run(&["migrate", "--yes"])?;
    let single = check()?;
    assert_eq!(single["state"], "ok", "{single:#}");
    assert!(single["message"].as_str().is_some_and(|message| message.contains("claude-mem")), "{single:#}");
    Ok(())
}

#[test]
fn the_way_out_says_that_earlier_hooks_stay_off() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    assert!(!user.run(&["uninstall", "--dry-run"])?.contains("migrate"));
    user.run(&["migrate", "--yes"])?;
    for arguments in [&["uninstall", "--dry-run"][..], &["uninstall"], &["uninstall", "--purge", "--yes"]] {
        let shown = user.run(arguments)?;
        assert!(shown.contains("stay off") && shown.contains("wyren migrate --undo"), "{shown}");
    }
    assert!(!user.sandbox.data().exists());
    Ok(())
}

#[cfg(unix)]
#[test]
fn the_node_versions_program_is_named_unlinked_and_comes_back() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    user.write("node/lib/wyren/bin/wyren.mjs", "#!/usr/bin/env node\n")?;
    fs::create_dir_all(user.path("node/bin"))?;
    let link = user.path("node/bin").join("wyren");
    std::os::unix::fs::symlink("../lib/wyren/bin/wyren.mjs", &link)?;
    let run = |arguments: &[&str]| -> Result<String> {
        let mut command: Command = user.sandbox.command("wyren");
        let output = command.args(arguments).env("PATH", user.path("node/bin")).output()?;
        ensure!(output.status.success(), "wyren {arguments:?}: {output:#?}");
        Ok(String::from_utf8(output.stdout)?)
    };
    let before = user.tree()?;
    let shown = run(&["migrate", "--yes"])?;
    assert!(shown.contains(&*link.to_string_lossy()) && shown.contains("--unlink"), "{shown}");
    assert!(link.exists());
    let shown = run(&["migrate", "--yes", "--unlink"])?;
    assert!(shown.contains("from the PATH") && !link.exists(), "{shown}");
    assert!(user.path("node/lib/wyren/bin/wyren.mjs").is_file());
    run(&["migrate", "--undo"])?;
    user.check_same(&before, &user.tree()?);
    Ok(())
}

/// A process that is killed leaves whole files: each is written beside its place and renamed.
#[cfg(unix)]
#[test]
fn a_killed_migration_is_finished_by_the_next_one_and_undone_whole() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let before = user.tree()?;
    let journal = user.sandbox.data().join("migrate.json");
    let mut killed = 0;
    for _ in 0..20 {
        let mut child = user
            .sandbox
            .command("wyren")
            .args(["migrate", "--yes"])
            .stdout(std::process::Stdio::null())
            .spawn()?;
        // Between the first step of the journal and the end of the process is where a kill could hurt.
        while !journal.exists() && child.try_wait()?.is_none() {
            std::thread::yield_now();
        }
        killed += u32::from(child.try_wait()?.is_none());
        child.kill()?;
        child.wait()?;
        user.run(&["migrate", "--yes"])?;
        assert!(!user.read("home/.claude/settings.json")?.contains("run-hook.cmd"));
        user.run(&["migrate", "--undo"])?;
        let mut after = user.tree()?;
        after.retain(|path, _| path.extension().is_none_or(|ending| ending != "tmp"));
        user.check_same(&before, &after);
    }
    assert!(killed > 0, "no process was killed in time");
    Ok(())
}

#[cfg(unix)]
#[test]
fn on_a_terminal_it_asks_and_asks_again_about_the_program_and_the_link() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let script =
        "#!/bin/sh\nbasedir=$(dirname \"$0\")\nexec node \"$basedir/../lib/wyren/bin/wyren.mjs\" \"$@\"\n";
    user.write("node/bin/wyren", script)?;
    let before = user.tree()?;
    let (all, program) = ("Do this? [y/N]", "from the PATH as well? [y/N]");
    let link =
        "Make ~/.local/bin/claude-mem as well, for scripts that call `claude-mem start|stop|status`? [y/N]";
    for (answers, is_done, is_unlinked) in [
        (&[(all, "n")][..], false, false),
        (&[(all, "y"), (program, "n"), (link, "n")], true, false),
        (&[(program, "y"), (link, "y")], true, true),
    ] {
        let mut command: Command = user.sandbox.command("wyren");
        command.arg("migrate").env("PATH", user.path("node/bin"));
        let mut asked = Terminal::of(&command, 160)?;
        if is_unlinked {
            // By now there is nothing else to do.
            asked.wait_for("Nothing to do.")?;
        }
        if !is_unlinked {
            asked.wait_for("so nothing replaces these hooks until you run")?;
        }
        for (question, answer) in answers {
            asked.wait_for(question)?;
            asked.type_text(answer)?;
            asked.press(Key::Enter)?;
        }
        assert_eq!(asked.end()?, 0);
        let settings = user.read("home/.claude/settings.json")?;
        assert_eq!(!settings.contains("run-hook.cmd"), is_done, "{answers:?}");
        assert_eq!(!user.path("node/bin").join("wyren").exists(), is_unlinked, "{answers:?}");
        assert_eq!(user.path("home/.local/bin/claude-mem").exists(), is_unlinked, "{answers:?}");
    }
    user.run(&["migrate", "--undo"])?;
    user.check_same(&before, &user.tree()?);
    Ok(())
}
