//! `wyren install --agent` and `wyren uninstall --agent`: the whole tree is compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use install::agents::AGENTS;
use install::list::{self, Below};
use wyren_tests::sandbox::{Sandbox, feed};

/// Every path below a folder, with the bytes of files.
type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

fn tree(folder: &Path) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            let bytes = if path.is_dir() {
                folders.push(path.clone());
                None
            } else {
                Some(fs::read(&path)?)
            };
            tree.insert(path.strip_prefix(folder)?.to_owned(), bytes);
        }
    }
    Ok(tree)
}

/// Returns a user with a home and a project, in which each agent has files of its own.
fn user() -> Result<Option<Sandbox>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    for (path, text) in [
        ("home/.codex/hooks.json", "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n"),
        ("home/.codex/config.toml", "model = \"m\" # mine\n"),
        ("home/.gemini/settings.json", "{\n  // mine\n  \"ui\": {\"theme\": \"dark\"},\n}\n"),
        ("home/.cursor/hooks.json", "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"say done\"}]}}"),
        ("home/.config/opencode/opencode.json", "{}"),
        ("project/.git/HEAD", "ref: refs/heads/main\n"),
        ("project/src/main.rs", "fn main() {}\n"),
    ] {
        let path = sandbox.folder().join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, text)?;
    }
    Ok(Some(sandbox))
}

fn trees(sandbox: &Sandbox) -> Result<[Tree; 2]> {
    Ok([tree(&sandbox.folder().join("home"))?, tree(&sandbox.project())?])
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Result<String> {
    let output = sandbox.wyren(arguments)?;
    ensure!(output.status.success(), "wyren {arguments:?}: {output:#?}");
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn each_agent_is_wired_once_and_after_the_way_out_the_tree_is_as_it_was() -> Result<()> {
    let Some(sandbox) = user()? else { return Ok(()) };
    let before = trees(&sandbox)?;
    for agent in &AGENTS {
        for scope in [&[][..], &["--project"]] {
            let install = [&["install", "--agent", agent.name], scope].concat();
            let shown = run(&sandbox, &install)?;
            assert!(shown.contains("Wrote") && shown.contains("Next: "), "{shown}");
            let installed = trees(&sandbox)?;
            assert_ne!(installed, before);
            for (index, below) in [Below::Home, Below::Work].into_iter().enumerate() {
                let new =
                    installed[index].iter().filter(|(path, bytes)| before[index].get(*path) != Some(*bytes));
                for (path, _) in new.filter(|(_, bytes)| bytes.is_some()) {
                    assert!(list::is_listed(below, path), "{} is not in the list", path.display());
                }
            }
            let again = run(&sandbox, &install)?;
            assert!(!again.contains("Wrote"), "{again}");
            assert_eq!(trees(&sandbox)?, installed, "twice changes something");
            let shown = run(&sandbox, &["uninstall", "--agent", agent.name])?;
            assert!(shown.contains("Removed"), "{shown}");
            assert_eq!(trees(&sandbox)?, before, "{} {scope:?}", agent.name);
        }
        let again = run(&sandbox, &["uninstall", "--agent", agent.name])?;
        assert!(again.contains("nothing of Wyren"), "{again}");
    }
    Ok(())
}

#[test]
fn one_command_takes_wyren_out_of_all_of_them() -> Result<()> {
    let Some(sandbox) = user()? else { return Ok(()) };
    let before = trees(&sandbox)?;
    for agent in &AGENTS {
        run(&sandbox, &["install", "--agent", agent.name])?;
        let shown = run(&sandbox, &["install", "--agent", agent.name, "--project"])?;
        assert!(shown.contains("Wired twice"), "{shown}");
    }
    let shown = run(&sandbox, &["uninstall", "--dry-run"])?;
    assert!(shown.contains("remove ") && shown.contains("--- "), "{shown}");
    run(&sandbox, &["uninstall"])?;
    assert_eq!(trees(&sandbox)?, before);
    Ok(())
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() -> Result<()> {
    let Some(sandbox) = user()? else { return Ok(()) };
    let before = tree(sandbox.folder())?;
    for agent in &AGENTS {
        let shown = run(&sandbox, &["install", "--agent", agent.name, "--dry-run"])?;
        assert!(shown.contains("write "), "{shown}");
        assert_eq!(shown.contains("+"), agent.name != "opencode", "{shown}");
        assert_eq!(tree(sandbox.folder())?, before, "{}", agent.name);
    }
    Ok(())
}

#[test]
fn a_file_that_is_not_json_is_refused_and_left_as_it_is() -> Result<()> {
    let Some(sandbox) = user()? else { return Ok(()) };
    fs::write(sandbox.folder().join("home/.cursor/hooks.json"), "{ \"hooks\": ")?;
    let before = trees(&sandbox)?;
    let output = sandbox.wyren(&["install", "--agent", "cursor"])?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8(output.stderr)?.contains("not valid JSON"));
    assert_eq!(trees(&sandbox)?, before);
    Ok(())
}

#[test]
fn only_a_person_wires_an_agent() -> Result<()> {
    let Some(sandbox) = user()? else { return Ok(()) };
    let before = trees(&sandbox)?;
    for (variable, title) in [
        ("CLAUDECODE", "Claude Code"),
        ("CODEX_THREAD_ID", "Codex"),
        ("GEMINI_CLI", "Gemini CLI"),
        ("CURSOR_AGENT", "Cursor"),
        ("OPENCODE", "OpenCode"),
    ] {
        for arguments in [["install", "--agent", "codex"], ["uninstall", "--agent", "codex"]] {
            let output = feed(sandbox.command("wyren").args(arguments).env(variable, "1"), b"")?;
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            assert!(String::from_utf8(output.stderr)?.contains(&format!("outside {title}")));
        }
    }
    assert_eq!(trees(&sandbox)?, before);
    Ok(())
}
