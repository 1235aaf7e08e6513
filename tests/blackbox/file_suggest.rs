//! `wyren file-suggest`, as the client runs it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};
use wyren_tests::tree::tree;

use crate::file_recall::record_entry;

/// Returns what the client would show for a query.
fn suggested(sandbox: &Sandbox, cwd: &Path, query: &str) -> Result<Vec<String>> {
    let input = json!({"session_id": "s", "cwd": cwd, "query": query});
    let output = feed(sandbox.command("wyren").arg("file-suggest"), input.to_string().as_bytes())?;
    ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    ensure!(
        Command::new("git").current_dir(folder).args(arguments).output()?.status.success(),
        "{arguments:?}"
    );
    Ok(())
}

/// Makes a repository of some files.
fn repository() -> Result<Option<Sandbox>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    let project = sandbox.project();
    for file in ["src/auth.rs", "src/author.rs", "docs/auth.md", "ignored.log", ".gitignore"] {
        let file = project.join(file);
        fs::create_dir_all(file.parent().unwrap_or(&project))?;
        fs::write(&file, if file.ends_with(".gitignore") { "*.log\n" } else { "" })?;
    }
    git(&project, &["init", "-q"])?;
    git(&project, &["add", "."])?;
    Ok(Some(sandbox))
}

#[test]
fn where_the_index_has_too_few_new_files_are_suggested_and_no_ignored_ones() -> Result<()> {
    let Some(sandbox) = repository()? else { return Ok(()) };
    let project = sandbox.project();
    fs::create_dir(project.join("lib"))?;
    for file in ["lib/fresh auth.rs", "lib/fresh.log", "lib/漢字.rs"] {
        fs::write(project.join(file), "")?;
    }
    assert_eq!(suggested(&sandbox, &project, "fresh")?, ["lib/fresh auth.rs"]);
    assert_eq!(suggested(&sandbox, &project.join("lib"), "漢")?, ["漢字.rs"]);
    // Outside of a repository there is no index.
    let plain = sandbox.folder().join("plain");
    for folder in ["notes/deep", "node_modules/x", ".hidden"] {
        fs::create_dir_all(plain.join(folder))?;
        fs::write(plain.join(folder).join("plan.md"), "")?;
    }
    assert_eq!(suggested(&sandbox, &plain, "plan")?, ["notes/deep/plan.md"]);
    assert_eq!(suggested(&sandbox, &plain.join("missing"), "plan")?, [""; 0]);
    Ok(())
}

#[test]
fn files_of_gits_index_are_suggested_by_name_and_recent_work() -> Result<()> {
    let Some(sandbox) = repository()? else { return Ok(()) };
    let project = sandbox.project();
    assert_eq!(suggested(&sandbox, &project, "auth")?, ["src/auth.rs", "docs/auth.md", "src/author.rs"]);
    assert_eq!(suggested(&sandbox, &project.join("docs"), "auth.rs")?[..1], ["../src/auth.rs"]);
    assert_eq!(suggested(&sandbox, &project, "ignored")?, [""; 0]);
    // Work on a file puts it before others that fit as well; a file that git does not know yet is there, too.
    fs::write(project.join("new_auth.rs"), "")?;
    record_entry(
        &sandbox.data(),
        &project,
        "n:1",
        "Tokens expire",
        &["docs/auth.md", "new_auth.rs", "gone_auth.rs"],
    )?;
    ensure!(sandbox.wyren(&["export"])?.status.success());
    let files = suggested(&sandbox, &project, "auth")?;
    assert_eq!(files, ["docs/auth.md", "src/auth.rs", "src/author.rs", "new_auth.rs"]);
    let newest = suggested(&sandbox, &project, "")?;
    assert!(newest[..2].contains(&"docs/auth.md".to_owned()) && newest.len() == 5, "{newest:?}");
    Ok(())
}

#[test]
fn a_deleted_file_is_not_suggested_and_a_path_is_looked_for_where_it_leads() -> Result<()> {
    let Some(sandbox) = repository()? else { return Ok(()) };
    let project = sandbox.project();
    fs::remove_file(project.join("src/auth.rs"))?;
    assert_eq!(suggested(&sandbox, &project, "AUTH")?, ["docs/auth.md", "src/author.rs"]);
    assert_eq!(suggested(&sandbox, &project.join("docs"), "../src/au")?, ["../src/author.rs"]);
    let whole = |path: &str| project.join(path).display().to_string();
    assert_eq!(suggested(&sandbox, &project, &whole("docs/au"))?, [whole("docs/auth.md")]);
    // Outside of the project there is no index.
    let beside = sandbox.folder().join("beside");
    fs::create_dir_all(beside.join("notes"))?;
    fs::write(beside.join("Notes.md"), "")?;
    let query = format!("{}/no", beside.display());
    let found = ["Notes.md", "notes/"].map(|name| beside.join(name).display().to_string());
    assert_eq!(suggested(&sandbox, &project, &query)?, found);
    assert_eq!(suggested(&sandbox, &project, "/nonexistent/x")?, [""; 0]);
    Ok(())
}

#[test]
fn bad_input_and_a_folder_without_git_are_no_failure() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert_eq!(suggested(&sandbox, &sandbox.project(), "a")?, [""; 0]);
    assert_eq!(suggested(&sandbox, Path::new("/nonexistent"), "a")?, [""; 0]);
    for input in ["", "[]", r#"{"query":5}"#] {
        let output = feed(sandbox.command("wyren").arg("file-suggest"), input.as_bytes())?;
        ensure!(output.status.success() && output.stdout.is_empty(), "{input}: {output:?}");
    }
    assert!(!sandbox.data().join("wyren.db").exists(), "looking makes no database");
    Ok(())
}

#[test]
fn it_is_written_into_the_settings_and_comes_out_and_one_of_the_users_stays() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = sandbox.folder().join("home/.claude");
    fs::create_dir_all(&folder)?;
    let file = folder.join("settings.json");
    fs::write(&file, "{\n  \"model\": \"opus\"\n}\n")?;
    let before = tree(&folder)?;
    ensure!(sandbox.wyren(&["install", "--file-suggest"])?.status.success());
    let settings: Value = serde_json::from_slice(&fs::read(&file)?)?;
    let command = settings["fileSuggestion"]["command"].as_str().unwrap_or_default();
    assert!(command.ends_with("wyren file-suggest"), "{command}");
    ensure!(sandbox.wyren(&["uninstall"])?.status.success());
    assert_eq!(tree(&folder)?, before);
    fs::write(&file, r#"{"fileSuggestion": {"type": "command", "command": "fzf"}}"#)?;
    let before = tree(&folder)?;
    let output = sandbox.wyren(&["install", "--file-suggest"])?;
    assert!(String::from_utf8(output.stderr)?.contains("already a file with a `fileSuggestion` of yours"));
    assert_eq!(tree(&folder)?, before);
    Ok(())
}
