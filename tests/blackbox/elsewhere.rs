//! `wyren install` into one project and `wyren uninstall` from another; and plugins that do not stay where they are.

use std::fs;

use anyhow::{Context, Result, ensure};
use install::agents::AGENTS;
use wyren_tests::plugin;
use wyren_tests::sandbox::Sandbox;
use wyren_tests::tree::tree;

/// Runs `wyren` in a project beside the sandbox's own.
fn run_in(sandbox: &Sandbox, project: &str, arguments: &[&str]) -> Result<String> {
    let mut command = sandbox.command("wyren");
    let output = command.args(arguments).current_dir(sandbox.folder().join(project)).output()?;
    ensure!(output.status.success(), "wyren {arguments:?}: {output:#?}");
    Ok(String::from_utf8(output.stdout)?)
}

fn user() -> Result<Option<Sandbox>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    for folder in ["home/.claude", "one/.git", "one/.claude", "two/.git"] {
        fs::create_dir_all(sandbox.folder().join(folder))?;
    }
    fs::write(sandbox.folder().join("one/.claude/settings.json"), "{\"model\": \"opus\"}\n")?;
    Ok(Some(sandbox))
}

#[test]
fn what_was_wired_in_another_project_goes_from_anywhere() -> Result<()> {
    let Some(sandbox) = user()? else { return Ok(()) };
    let one = sandbox.folder().join("one");
    let before = tree(&one)?;
    for scope in ["project", "local"] {
        run_in(&sandbox, "one", &["install", "--settings", scope])?;
    }
    for agent in &AGENTS {
        run_in(&sandbox, "one", &["install", "--agent", agent.name, "--project"])?;
    }
    let record = sandbox.data().join("wired.json");
    assert!(record.is_file());

    let shown = run_in(&sandbox, "two", &["uninstall", "--dry-run"])?;
    for file in [".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json"] {
        assert!(shown.contains(&*one.join(file).to_string_lossy()), "{file}: {shown}");
    }
    run_in(&sandbox, "two", &["uninstall", "--agent", "codex"])?;
    assert!(!one.join(".codex").exists() && one.join(".gemini").exists());
    run_in(&sandbox, "two", &["uninstall"])?;
    assert_eq!(tree(&one)?, before);
    assert!(!record.exists());
    let again = run_in(&sandbox, "two", &["uninstall"])?;
    assert!(again.contains("nothing of Wyren"), "{again}");
    Ok(())
}

#[test]
fn a_project_that_is_gone_is_no_problem_and_one_that_cannot_be_read_stays_recorded() -> Result<()> {
    let Some(sandbox) = user()? else { return Ok(()) };
    let record = sandbox.data().join("wired.json");
    run_in(&sandbox, "one", &["install", "--settings", "local"])?;
    run_in(&sandbox, "two", &["install", "--settings", "local"])?;
    fs::remove_dir_all(sandbox.folder().join("one"))?;
    let file = sandbox.folder().join("two/.claude/settings.local.json");
    let wired = fs::read_to_string(&file)?;
    fs::write(&file, wired.trim_end().trim_end_matches('}'))?;
    let output = sandbox.wyren(&["uninstall"])?;
    assert_eq!(output.status.code(), Some(1), "{output:#?}");
    assert!(record.is_file());
    fs::write(&file, wired)?;
    sandbox.wyren(&["uninstall"])?;
    assert!(!file.exists() && !record.exists());
    Ok(())
}

#[test]
fn a_plugin_that_does_not_stay_is_copied_before_it_is_wired() -> Result<()> {
    let Some(assembled) = plugin::folder() else { return Ok(()) };
    let Some(sandbox) = user()? else { return Ok(()) };
    let unpacked = sandbox.folder().join("wyren-x64/plugin");
    let cached = sandbox.folder().join("home/.claude/plugins/cache/wyren/wyren/0.1.0");
    let kept = sandbox.folder().join("kept");
    let launcher = format!("install{}", std::env::consts::EXE_SUFFIX);
    let installed = sandbox.data().join("plugin");
    let hooks = sandbox.folder().join("home/.codex/hooks.json");
    let settings = sandbox.folder().join("home/.claude/settings.json");
    for (from, stays) in [(&unpacked, &installed), (&cached, &installed), (&kept, &kept)] {
        let from_local = ["--from-local", from.to_str().context("no text")?];
        for (way, file) in [(["--agent", "codex"], &hooks), (["--settings", "user"], &settings)] {
            install::plugin::copy(&assembled, from)?;
            fs::write(unpacked.with_file_name(&launcher), "").ok();
            let wyren = from.join(format!("bin/wyren{}", std::env::consts::EXE_SUFFIX));
            let printed = sandbox.command_for(&wyren).args(["statusline", "--print"]).output()?;
            assert!(printed.status.success() && printed.stdout.ends_with(b"}\n"), "{printed:?}");
            let advice = String::from_utf8(printed.stderr)?;
            assert_eq!(advice.contains("wyren install --statusline"), from != stays, "{advice}");
            let install = [&["install"], &way[..], &from_local].concat();
            let shown = run_in(&sandbox, "one", &[&install[..], &["--dry-run"]].concat())?;
            let program = stays.join("bin/stop-distill").display().to_string();
            assert!(shown.contains(&program), "{shown}");
            assert_eq!(shown.contains("copy "), from != stays, "{shown}");
            assert!(!file.exists() && !installed.exists());
            run_in(&sandbox, "one", &install)?;
            assert!(fs::read_to_string(file)?.contains(&program));
            assert_eq!(installed.join("bin/wyren").exists(), from != stays);
            run_in(&sandbox, "one", &["uninstall"])?;
            assert!(!fs::read_to_string(file).unwrap_or_default().contains(&program) && !installed.exists());
        }
    }
    Ok(())
}

#[test]
fn a_relative_folder_of_an_agent_is_not_followed() -> Result<()> {
    let Some(sandbox) = user()? else { return Ok(()) };
    let output = sandbox
        .command("wyren")
        .args(["install", "--agent", "codex"])
        .env("CODEX_HOME", "codex")
        .current_dir(sandbox.folder().join("one"))
        .output()?;
    assert!(output.status.success(), "{output:#?}");
    assert!(!sandbox.folder().join("one/codex").exists());
    let hooks = sandbox.folder().join("home/.codex/hooks.json");
    assert!(hooks.is_file());
    Ok(())
}
