//! `wyren doctor`: what it finds on a machine, and what `--fix` does about it. Each test breaks the thing first.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::plugin::{self, PluginCopy};
use wyren_tests::sandbox::{Sandbox, feed};

use crate::worker::{examine, wait_for};

/// Returns a command of a person: tests may themselves run in a session of the client.
fn wyren(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command("wyren");
    command.args(arguments);
    command
}

/// Runs `wyren doctor --fix --json` with more arguments; returns what was fixed, by check.
fn fix(command: &mut Command, more: &[&str]) -> Result<Vec<Value>> {
    let output = command.args(["doctor", "--offline", "--fix", "--json"]).args(more).output()?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    Ok(report["fixed"].as_array().context("no list")?.clone())
}

/// Breaks something, and checks that a dry run names it and changes nothing, that a fix solves it, and that a second one has
/// nothing to do.
fn check_fixed(sandbox: &Sandbox, name: &str, is_broken: impl Fn() -> Result<bool>) -> Result<()> {
    ensure!(is_broken()?, "the test broke nothing");
    let due = fix(&mut sandbox.command("wyren"), &["--dry-run"])?;
    let [due] = &due[..] else { anyhow::bail!("{due:#?}") };
    assert_eq!((&due["name"], &due["outcome"]), (&name.into(), &"due".into()), "{due:#}");
    ensure!(is_broken()?, "a dry run changed something");
    let fixed = fix(&mut sandbox.command("wyren"), &[])?;
    let [fixed] = &fixed[..] else { anyhow::bail!("{fixed:#?}") };
    assert_eq!(fixed["did"], due["did"]);
    assert_eq!((&fixed["outcome"], &fixed["state"]), (&"done".into(), &"ok".into()), "{fixed:#}");
    ensure!(!is_broken()?, "{fixed:#}");
    assert_eq!(fix(&mut sandbox.command("wyren"), &[])?, Vec::<Value>::new());
    Ok(())
}

fn long_ago(path: &Path) -> Result<()> {
    let file =
        if path.is_dir() { fs::File::open(path)? } else { fs::File::options().write(true).open(path)? };
    Ok(file.set_modified(SystemTime::now() - Duration::from_secs(2 * 86_400))?)
}

#[cfg(unix)]
fn mode(path: &Path) -> Result<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::metadata(path)?.permissions().mode() & 0o777)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(mode))?)
}

fn prompt(sandbox: &Sandbox) -> Result<()> {
    let call = json!({
        "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "hello", "cwd": sandbox.project(),
    });
    sandbox.run("prompt-record", call.to_string().as_bytes())?;
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_fix_takes_the_rights_of_others_away_and_leaves_files_of_the_users_alone() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox)?;
    let (data, log, theirs) =
        (sandbox.data(), sandbox.data().join("logs/hooks.jsonl"), sandbox.data().join("notes.txt"));
    fs::write(&theirs, "")?;
    set_mode(&data, 0o755)?;
    set_mode(&data.join("told"), 0o700)?;
    set_mode(&log, 0o644)?;
    set_mode(&theirs, 0o644)?;
    check_fixed(&sandbox, "data folder", || Ok(mode(&data)? != 0o700 || mode(&log)? != 0o600))?;
    assert_eq!(mode(&theirs)?, 0o644);
    Ok(())
}

#[test]
fn a_fix_drains_a_spool_that_waits_for_too_long() -> Result<()> {
    let Some(sandbox) = private_sandbox()? else { return Ok(()) };
    let session = sandbox.data().join("spool/0123456789abcdef");
    fs::create_dir_all(&session)?;
    #[cfg(unix)]
    set_mode(&sandbox.data(), 0o700)?;
    let line =
        r#"{"v":1,"kind":"prompt","id":"p1","ts":1760000000000,"session":"s","prompt":"from long ago"}"#;
    fs::write(session.join("1.jsonl"), format!("{line}\n"))?;
    long_ago(&session.join("1.jsonl"))?;
    #[cfg(unix)]
    for folder in [sandbox.data().join("spool"), session.clone()] {
        set_mode(&folder, 0o700)?;
    }
    let exported = || -> Result<bool> {
        let database = sandbox.data().join("wyren.db");
        if !database.exists() {
            return Ok(false);
        }
        let database = rusqlite::Connection::open(database)?;
        Ok(database.query_row("SELECT count(*) FROM observations", [], |row| row.get::<_, i64>(0))? == 1)
    };
    check_fixed(&sandbox, "spool", || Ok(!exported()?))
}

/// Returns a sandbox whose data folder others cannot read, as Wyren makes it.
fn private_sandbox() -> Result<Option<Sandbox>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    #[cfg(unix)]
    for folder in [sandbox.data(), sandbox.data().join("told")] {
        set_mode(&folder, 0o700)?;
    }
    Ok(Some(sandbox))
}

#[test]
fn a_fix_starts_a_worker_for_the_job_of_one_that_died() -> Result<()> {
    let Some(sandbox) = private_sandbox()? else { return Ok(()) };
    let script = sandbox.folder().join("script.jsonl");
    fs::write(&script, "{\"do\":\"hang\"}\n{\"do\":\"answer\",\"answer\":{\"word\":\"pong\"}}\n")?;
    let with_model = |arguments: &[&str]| {
        let mut command = wyren(&sandbox, arguments);
        command.env("WYREN_MODEL_SCRIPT", &script).env("WYREN_WORKER_RETRY_SECONDS", "0");
        command
    };
    ensure!(with_model(&["jobs", "add", "probe"]).output()?.status.success());
    let asked = sandbox.folder().join("script.jsonl.position");
    wait_for("a question", || Ok(fs::metadata(&asked).is_ok_and(|asked| asked.len() > 0)))?;
    sandbox.processes().into_iter().for_each(wyren_tests::process::kill);
    wait_for("no process", || Ok(sandbox.processes().is_empty()))?;
    let database = rusqlite::Connection::open(sandbox.data().join("wyren.db"))?;
    // Two hours ago.
    database.execute("UPDATE jobs SET lease_until = lease_until - 7200000", [])?;
    drop(database);
    // A worker was started a moment ago.
    fs::remove_file(sandbox.data().join("worker.started"))?;
    let fixed = fix(&mut with_model(&[]), &[])?;
    let [fixed] = &fixed[..] else { anyhow::bail!("{fixed:#?}") };
    assert_eq!((&fixed["name"], &fixed["outcome"]), (&"worker".into(), &"done".into()), "{fixed:#}");
    wait_for("the job", || {
        let listed: Value =
            serde_json::from_slice(&with_model(&["jobs", "--all", "--json"]).output()?.stdout)?;
        Ok(listed["jobs"][0]["state"] == "done")
    })
}

#[test]
fn a_fix_removes_what_killed_processes_left_and_nothing_that_is_being_written() -> Result<()> {
    let Some(sandbox) = private_sandbox()? else { return Ok(()) };
    prompt(&sandbox)?;
    let [old, young] =
        [".hooks.conf.1.0.tmp", ".hooks.conf.2.0.tmp"].map(|name| sandbox.data().join("logs").join(name));
    let unpacked = sandbox.data().join("plugin.unpacked");
    fs::create_dir_all(unpacked.join("x"))?;
    for file in [&old, &young] {
        fs::write(file, "half")?;
        #[cfg(unix)]
        set_mode(file, 0o600)?;
    }
    long_ago(&old)?;
    long_ago(&unpacked)?;
    check_fixed(&sandbox, "leftovers", || Ok(old.exists() || unpacked.exists()))?;
    assert!(young.exists());
    Ok(())
}

#[test]
fn a_fix_brings_the_plugin_back_after_half_an_update() -> Result<()> {
    let (Some(sandbox), Some(built)) = (private_sandbox()?, plugin::folder()) else { return Ok(()) };
    let (here, aside) = (sandbox.data().join("plugin"), sandbox.data().join("plugin.old"));
    plugin::copy(&built.join(".claude-plugin"), &aside.join(".claude-plugin"))?;
    check_fixed(&sandbox, "leftovers", || Ok(!here.exists() || aside.exists()))
}

#[test]
fn a_fix_has_a_damaged_index_made_again() -> Result<()> {
    let Some(sandbox) = private_sandbox()? else { return Ok(()) };
    prompt(&sandbox)?;
    let index = sandbox.data().join("cache/lessons/shipped.idx");
    fs::create_dir_all(index.parent().context("no folder")?)?;
    fs::write(&index, "this is no index")?;
    #[cfg(unix)]
    set_mode(&sandbox.data().join("cache"), 0o700)?;
    check_fixed(&sandbox, "lessons", || Ok(index.exists()))
}

#[cfg(unix)]
#[test]
fn a_fix_makes_programs_executable() -> Result<()> {
    let (Some(sandbox), Some(built)) = (private_sandbox()?, plugin::folder()) else { return Ok(()) };
    let copy = PluginCopy::of(&built)?;
    let (program, wyren) = (copy.folder().join("bin/tool-record"), copy.folder().join("bin/wyren"));
    set_mode(&program, 0o644)?;
    let (code, checks) = examine(&mut sandbox.command_for(&wyren))?;
    assert_eq!((code, &checks["plugin"]["state"]), (Some(1), &"bad".into()), "{checks:#}");
    let fixed = fix(&mut sandbox.command_for(&wyren), &[])?;
    let [fixed] = &fixed[..] else { anyhow::bail!("{fixed:#?}") };
    assert_eq!((&fixed["name"], &fixed["state"]), (&"plugin".into(), &"ok".into()), "{fixed:#}");
    assert_eq!(mode(&program)?, 0o755);
    Ok(())
}

/// Installs the plugin into the data folder, without the client.
fn installed() -> Result<Option<(Sandbox, PathBuf)>> {
    let Some(sandbox) = private_sandbox()? else { return Ok(None) };
    fs::create_dir_all(sandbox.folder().join("home/.claude"))?;
    fs::create_dir_all(sandbox.folder().join("tmp"))?;
    let output = feed(wyren(&sandbox, &["install"]).env("PATH", "/usr/bin:/bin"), b"")?;
    ensure!(output.status.success(), "{output:#?}");
    let wyren = sandbox.data().join("plugin/bin/wyren");
    Ok(Some((sandbox, wyren)))
}

#[cfg(unix)]
#[test]
fn a_fix_links_wyren_again_for_a_person_and_not_for_a_model() -> Result<()> {
    let Some((sandbox, wyren)) = installed()? else { return Ok(()) };
    let link = sandbox.folder().join("home/.local/bin/wyren");
    assert_eq!(fs::read_link(&link)?, wyren);
    fs::remove_file(&link)?;
    let refused = fix(sandbox.command_for(&wyren).env("CLAUDECODE", "1"), &[])?;
    assert_eq!(refused[0]["outcome"], "needs a person", "{refused:#?}");
    assert!(!link.exists());
    let fixed = fix(&mut sandbox.command_for(&wyren), &[])?;
    assert_eq!((&fixed[0]["name"], &fixed[0]["outcome"]), (&"command".into(), &"done".into()), "{fixed:#?}");
    assert_eq!(fs::read_link(&link)?, wyren);
    Ok(())
}

#[test]
fn a_fix_rewires_settings_whose_plugin_is_gone_and_keeps_the_rest() -> Result<()> {
    let (Some((sandbox, wyren)), Some(built)) = (installed()?, plugin::folder()) else { return Ok(()) };
    let settings = sandbox.folder().join("home/.claude/settings.json");
    fs::write(&settings, "{\n  // mine\n  \"model\": \"opus\"\n}\n")?;
    let copy = PluginCopy::of(&built)?;
    let elsewhere = copy.folder().join("bin/wyren");
    let output = feed(sandbox.command_for(&elsewhere).args(["install", "--settings"]), b"")?;
    ensure!(output.status.success(), "{output:#?}");
    let gone = copy.folder().display().to_string();
    drop(copy);
    assert!(fs::read_to_string(&settings)?.contains(&gone));
    let (code, checks) = examine(&mut sandbox.command_for(&wyren))?;
    assert_eq!((code, &checks["wiring"]["state"]), (Some(1), &"bad".into()), "{checks:#}");

    let refused = fix(sandbox.command_for(&wyren).env("CLAUDECODE", "1"), &[])?;
    assert!(refused.iter().all(|fixed| fixed["outcome"] == "needs a person"), "{refused:#?}");
    let fixed = fix(&mut sandbox.command_for(&wyren), &[])?;
    assert_eq!((&fixed[0]["name"], &fixed[0]["outcome"]), (&"wiring".into(), &"done".into()), "{fixed:#?}");
    let text = fs::read_to_string(&settings)?;
    assert!(!text.contains(&gone) && text.starts_with("{\n  // mine\n  \"model\": \"opus\",\n"), "{text}");
    assert!(text.contains(&*sandbox.data().join("plugin/bin/stop-distill").to_string_lossy()), "{text}");

    // The comment is the user's, and the client reads nothing of a file with one.
    let (code, checks) = examine(&mut sandbox.command_for(&wyren))?;
    assert_eq!((code, &checks["wiring"]["state"]), (Some(1), &"bad".into()), "{checks:#}");
    let message = checks["wiring"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("in line 2, so Claude Code reads nothing of it"), "{message}");
    fs::write(&settings, text.replace("  // mine\n", ""))?;
    let (code, checks) = examine(&mut sandbox.command_for(&wyren))?;
    assert_eq!((code, &checks["wiring"]["state"]), (Some(0), &"ok".into()), "{checks:#}");
    let message = checks["wiring"]["message"].as_str().unwrap_or_default();
    assert!(message.contains(" hooks in ") && !message.starts_with("1 "), "{message}");
    Ok(())
}

#[test]
fn a_user_of_another_agent_alone_is_not_sent_to_claude_code_and_its_lost_programs_are_named() -> Result<()> {
    let (Some(sandbox), Some(built)) = (private_sandbox()?, plugin::folder()) else { return Ok(()) };
    let (copy, here) = (PluginCopy::of(&built)?, sandbox.command("wyren").get_program().to_owned());
    let (_, checks) = examine(&mut sandbox.command("wyren"))?;
    assert_eq!(
        (&checks["wiring"]["state"], &checks["wiring"]["fix"]),
        (&"warn".into(), &"wyren install".into())
    );
    for agent in ["codex", "opencode"] {
        let mut command = sandbox.command_for(&copy.folder().join("bin/wyren"));
        let output = feed(command.args(["install", "--agent", agent]), b"")?;
        ensure!(output.status.success(), "{output:#?}");
    }
    let (code, checks) = examine(&mut sandbox.command_for(Path::new(&here)))?;
    assert_eq!((code, &checks["agents"]["state"]), (Some(0), &"ok".into()), "{checks:#}");
    for (name, words) in [
        ("agents", "Codex in "),
        ("agents", "OpenCode in "),
        ("wiring", "not in Claude Code, but in Codex and OpenCode"),
    ] {
        assert!(checks[name]["message"].as_str().is_some_and(|text| text.contains(words)), "{checks:#}");
    }
    drop(copy);
    let (code, checks) = examine(&mut sandbox.command_for(Path::new(&here)))?;
    assert_eq!((code, &checks["agents"]["state"]), (Some(1), &"bad".into()), "{checks:#}");
    assert_eq!(checks["agents"]["fix"], "wyren install --agent codex");
    Ok(())
}

#[test]
fn every_folder_that_the_client_runs_is_checked() -> Result<()> {
    let (Some((sandbox, wyren)), Some(built)) = (installed()?, plugin::folder()) else { return Ok(()) };
    let copy = PluginCopy::of(&built)?;
    let elsewhere = copy.folder().join("bin/wyren");
    let output = feed(sandbox.command_for(&elsewhere).args(["install", "--settings"]), b"")?;
    ensure!(output.status.success(), "{output:#?}");
    let state = |program: &Path| -> Result<(Value, Value, Value)> {
        let (_, mut checks) = examine(&mut sandbox.command_for(program))?;
        let check = checks["plugin"].take();
        Ok((check["state"].clone(), check["message"].clone(), check["fix"].clone()))
    };
    assert_eq!(state(&wyren)?.0, "ok");
    fs::remove_file(copy.folder().join("bin/wyren-worker"))?;
    let (found, message, fix) = state(&wyren)?;
    let place = copy.folder().to_string_lossy().into_owned();
    assert!(found == "bad" && message.as_str().is_some_and(|text| text.contains(&place)), "{message}");
    assert_eq!(fix, "build it again: cargo xtask plugin");
    fs::remove_file(sandbox.data().join("plugin/bin/wyren-worker"))?;
    let fix = state(&wyren)?.2;
    assert_eq!(fix, "run the installer again, or: wyren update --from ARCHIVE|FOLDER");
    Ok(())
}

#[test]
fn a_damaged_database_is_left_to_repair() -> Result<()> {
    let Some(sandbox) = private_sandbox()? else { return Ok(()) };
    let database = sandbox.data().join("wyren.db");
    let damaged = "this is not a database; ".repeat(1_000);
    fs::write(&database, &damaged)?;
    #[cfg(unix)]
    set_mode(&database, 0o600)?;
    assert_eq!(fix(&mut sandbox.command("wyren"), &[])?, Vec::<Value>::new());
    assert_eq!(fs::read_to_string(&database)?, damaged);
    Ok(())
}

#[test]
fn a_program_of_another_machine_is_named() -> Result<()> {
    let (Some(sandbox), Some(built)) = (private_sandbox()?, plugin::folder()) else { return Ok(()) };
    let copy = PluginCopy::of(&built)?;
    let program = copy.folder().join("bin/tool-record");
    let mut bytes = fs::read(&program)?;
    // The field of an ELF file that names the processor: another one than this machine's.
    bytes[18] = if bytes[18] == 62 { 183 } else { 62 };
    fs::write(&program, bytes)?;
    let (code, checks) = examine(&mut sandbox.command_for(&copy.folder().join("bin/wyren")))?;
    assert_eq!(code, Some(1));
    let message = checks["plugin"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("built for another machine: bin/tool-record"), "{message}");
    Ok(())
}

#[test]
fn a_hook_is_measured_without_a_trace() -> Result<()> {
    let Some(sandbox) = private_sandbox()? else { return Ok(()) };
    prompt(&sandbox)?;
    let lines = sandbox.hook_log()?.len();
    let (_, checks) = examine(&mut sandbox.command("wyren"))?;
    assert_eq!(checks["speed"]["state"], "ok", "{checks:#}");
    assert!(checks["speed"]["message"].as_str().is_some_and(|text| text.ends_with(" ms")), "{checks:#}");
    assert_eq!(sandbox.hook_log()?.len(), lines);
    Ok(())
}

/// Makes a `claude` that says a version, and returns a PATH with it.
#[cfg(unix)]
fn client(sandbox: &Sandbox, says: &str) -> Result<String> {
    let folder = sandbox.folder().join("client");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("script"), format!("#!/bin/sh\n{says}\n"))?;
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(folder.join("script")).arg(folder.join("claude"));
    ensure!(install.status()?.success());
    Ok(format!("{}:/usr/bin:/bin", folder.display()))
}

#[cfg(unix)]
#[test]
fn the_clients_version_is_asked_for_unless_a_prompt_waits() -> Result<()> {
    let Some(sandbox) = private_sandbox()? else { return Ok(()) };
    for (says, state, words) in [
        ("echo '2.1.197 (Claude Code)'", "ok", "Claude Code 2.1.197 knows all 10 events"),
        (
            "echo '2.0.30 (Claude Code)'",
            "warn",
            "does not know SubagentStart, PostToolUseFailure, StopFailure",
        ),
        ("echo '1.0.90 (Claude Code)'", "bad", "has no plugins"),
        ("echo 'not logged in' >&2; exit 1", "warn", "not logged in"),
    ] {
        let path = client(&sandbox, says)?;
        let (_, checks) = examine(sandbox.command("wyren").env("PATH", &path))?;
        assert_eq!(checks["client"]["state"], state, "{says}: {checks:#}");
        assert!(checks["client"]["message"].as_str().is_some_and(|text| text.contains(words)), "{checks:#}");
    }
    let asked = sandbox.folder().join("asked");
    let path = client(&sandbox, &format!("touch '{}'", asked.display()))?;
    let output = wyren(&sandbox, &["doctor", "--offline"]).env("PATH", &path).output()?;
    assert!(output.status.success() && !asked.exists(), "{output:#?}");
    Ok(())
}

#[test]
fn hooks_that_are_all_switched_off_are_named() -> Result<()> {
    let Some(sandbox) = private_sandbox()? else { return Ok(()) };
    let settings = sandbox.project().join(".claude/settings.local.json");
    fs::create_dir_all(settings.parent().context("no folder")?)?;
    fs::write(&settings, "{\"disableAllHooks\": true}")?;
    let (code, checks) = examine(&mut sandbox.command("wyren"))?;
    assert_eq!((code, &checks["wiring"]["state"]), (Some(1), &"bad".into()), "{checks:#}");
    assert!(checks["wiring"]["message"].as_str().is_some_and(|text| text.contains("settings.local.json")));
    Ok(())
}

#[test]
fn the_model_is_asked_only_with_leave() -> Result<()> {
    let Some(sandbox) = private_sandbox()? else { return Ok(()) };
    let script = sandbox.folder().join("script.jsonl");
    let asked = || fs::metadata(script.with_added_extension("position")).map_or(0, |file| file.len());
    for (line, state) in
        [("{\"do\":\"answer\",\"answer\":{\"word\":\"pong\"}}\n", "ok"), ("{\"do\":\"crash\"}\n", "bad")]
    {
        fs::write(&script, line)?;
        let before = asked();
        let mut plain = sandbox.command("wyren");
        let (_, checks) = examine(plain.env("WYREN_MODEL_SCRIPT", &script))?;
        assert_eq!((&checks["model"]["state"], asked()), (&"ok".into(), before), "{checks:#}");
        let mut command = wyren(&sandbox, &["doctor", "--model", "--json"]);
        let output = command.env("WYREN_MODEL_SCRIPT", &script).output()?;
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let checks = report["checks"].as_array().context("no checks")?;
        let model = checks.iter().find(|check| check["name"] == "model").context("not checked")?;
        assert_eq!(model["state"], state, "{model:#}");
        assert!(asked() > before);
    }
    Ok(())
}

#[test]
fn without_the_network_doctor_ends_in_time() -> Result<()> {
    let Some(sandbox) = private_sandbox()? else { return Ok(()) };
    prompt(&sandbox)?;
    let began = Instant::now();
    let output = wyren(&sandbox, &["doctor", "--offline"]).stdin(Stdio::null()).output()?;
    assert!(output.status.success(), "{output:#?}");
    // `/wyren:doctor` waits for two seconds.
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    Ok(())
}

mod remote {
    use super::*;
    use crate::team::{Member, Mode, Remote, git};
    use fixture::{Door, Web};

    fn checked(member: &Member) -> Result<Value> {
        let (_, checks) = examine(&mut member.command("wyren"))?;
        Ok(checks["remote"].clone())
    }

    #[test]
    fn a_remote_is_asked_whether_it_takes_a_push_only_where_the_clone_may_publish() -> Result<()> {
        let remote = Remote::new(Mode::Side)?;
        let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
        ada.decide("Use Postgres")?;
        ada.wyren(&["sync"])?;
        let before = (ada.footprint()?, remote.branches()?);
        let check = checked(&ada)?;
        assert_eq!(
            (&check["state"], &check["message"]),
            (&"ok".into(), &"origin can be read, and takes a push".into())
        );
        assert_eq!((ada.footprint()?, remote.branches()?), before);

        // A teammate who only reads along has not let their clone publish.
        let Some(grace) = Member::new(&remote, "grace")? else { return Ok(()) };
        grace.start("s")?;
        wait_for("the memory", || Ok(grace.clone_folder().join(".wyren/memory.md").exists()))?;
        assert_eq!(checked(&grace)?["message"], "origin can be read");
        Ok(())
    }

    #[test]
    fn a_remote_that_is_gone_or_takes_no_push_is_named() -> Result<()> {
        let remote = Remote::new(Mode::Side)?;
        let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
        ada.decide("Use Postgres")?;
        ada.wyren(&["sync"])?;
        // A host that hands out files takes none.
        git(&remote.path(), &["update-server-info"])?;
        let web = Web::new(Door::Open(remote.path().parent().context("no folder")?.to_owned()));
        ada.git(&["remote", "set-url", "origin", &web.address("remote.git")])?;
        // The person agrees to this address, and the push fails.
        ada.try_wyren(&["sync", "--public"])?;
        let check = checked(&ada)?;
        assert_eq!(check["state"], "bad", "{check:#}");
        assert!(check["message"].as_str().is_some_and(|text| text.contains("takes no push")), "{check:#}");
        drop(web);
        let check = checked(&ada)?;
        assert_eq!(check["state"], "warn", "{check:#}");
        assert!(
            check["message"].as_str().is_some_and(|text| text.contains("cannot be reached")),
            "{check:#}"
        );
        Ok(())
    }
}
