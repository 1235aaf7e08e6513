//! The status line and the suggested files on the screen of the real client.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;

use super::{check_processes, client_with_plugin};
use crate::worker::wait_for;

/// Writes more about the project into the cache than one row of 80 columns holds.
fn fill_cache(client: &Client) -> Result<()> {
    let file = client.data().join("cache/status.json");
    wait_for("the cache", || Ok(file.exists()))?;
    let mut status: Value = serde_json::from_slice(&fs::read(&file)?)?;
    for project in status["projects"].as_object_mut().context("projects")?.values_mut() {
        project["at"] = json!(u64::MAX);
        project["news"] = json!(2);
        project["lessons"] = json!(5);
        project["context"] = json!("window");
        project["task"] = json!("Draw the status line");
    }
    Ok(fs::write(file, status.to_string())?)
}

#[test]
fn the_line_is_on_the_screen_on_two_rows_of_80_columns_or_one_of_200() -> Result<()> {
    for columns in [80, 200] {
        let Some(client) = client_with_plugin()? else { return Ok(()) };
        let plugin = plugin::folder().context("no plugin")?;
        client.wyren(&plugin, &["install", "--statusline"])?;
        let answers = [("The first answer.", 199_000), ("The second answer.", 399_000)];
        client.mock().script(Lane::Main, answers.map(|(text, tokens)| Reply::text(text).usage(tokens, 10)));

        let mut terminal = client.terminal_of(columns)?;
        terminal.submit("a question")?;
        terminal.wait_for("The first answer.")?;
        terminal.wait_for("80% left")?;
        fill_cache(&client)?;
        terminal.submit("another question")?;
        terminal.wait_for("5 lessons")?;
        terminal.wait_for("60% left")?;
        let contents = terminal.contents();
        terminal.exit()?;

        let lines: Vec<&str> = contents.lines().map(str::trim).collect();
        let first = lines.iter().position(|line| line.contains("60% left")).context("no line")?;
        let session = "██████░░░░ 60% left │ project │ Opus 4.8 (1M context)";
        let work = "question › Draw the status line │ 2 new from team │ 5 lessons";
        // The first prompt names the context. The client has notes of its own at the right.
        let rows = if columns == 80 {
            vec![session.to_owned(), work.to_owned()]
        } else {
            vec![format!("{session} │ {work}")]
        };
        for (line, row) in lines[first..].iter().zip(&rows) {
            assert!(line.starts_with(&**row), "{columns}: {row}: {contents}");
        }
        check_processes(&client)?;
    }
    Ok(())
}

#[test]
fn the_client_suggests_the_files_that_wyren_names() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let plugin = plugin::folder().context("no plugin")?;
    client.wyren(&plugin, &["install", "--file-suggest"])?;
    let project = client.project();
    fs::create_dir_all(project.join("src/deep"))?;
    fs::write(project.join("src/deep/frobnicate.rs"), "")?;
    for arguments in [&["init", "-q"][..], &["add", "."]] {
        ensure!(Command::new("git").current_dir(&project).args(arguments).output()?.status.success());
    }
    let mut terminal = client.terminal()?;
    terminal.wait_for("❯")?;
    terminal.type_text("@frobni")?;
    terminal.wait_for("src/deep/frobnicate.rs")?;
    drop(terminal);
    check_processes(&client)
}
