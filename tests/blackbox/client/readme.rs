//! The README's way from install to the first shared decision, as written there.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use wyren_tests::client::{self, Client};
use wyren_tests::mock::Lane;
use wyren_tests::plugin;

use super::check_processes;
use crate::team::{Mode, Remote};

/// Returns the blocks of code of a section, in order.
fn blocks(heading: &str) -> Result<Vec<Vec<String>>> {
    let readme = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md"));
    let section = readme.split(&format!("\n## {heading}\n")).nth(1);
    let section = section.with_context(|| format!("there is no section {heading}"))?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let blocks = section.split("```").skip(1).step_by(2);
    Ok(blocks.map(|block| block.lines().skip(1).map(str::to_owned).collect()).collect())
}

/// Has a person with `claude` on the PATH and nothing of Wyren's work in a fresh clone.
fn member(remote: &Remote) -> Result<Option<Client>> {
    let Some(client) = Client::new()? else { return Ok(None) };
    let program = client::program().context("no client")?;
    let folder = program.parent().context("the client is in no folder")?.to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&others)))?;
    let client = client.env("PATH", path).env("WYREN_MODEL_PROVIDER", "off");
    let address = format!("file://{}", remote.path().display());
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", &address, "."]).current_dir(client.project());
    ensure!(clone.status()?.success(), "could not clone");
    Ok(Some(client))
}

/// Runs the lines that install from source; `cargo xtask test` has just run the one that builds.
fn install(client: &Client, lines: &[String], plugin: &Path) -> Result<()> {
    for line in lines {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["cargo", "xtask", "plugin"] => {}
            ["target/plugin/bin/wyren", "install"] => {
                client.wyren(plugin, &["install"])?;
            }
            _ => bail!("the README has a line that this test does not know: {line}"),
        }
    }
    Ok(())
}

#[test]
fn the_way_from_install_to_the_first_shared_decision_is_as_the_readme_says() -> Result<()> {
    let Some(plugin) = plugin::folder() else { return Ok(()) };
    let remote = Remote::new(Mode::Side)?;
    let (Some(ada), Some(grace)) = (member(&remote)?, member(&remote)?) else { return Ok(()) };
    let (installs, blocks) = (blocks("Install")?, blocks("From install to the first shared decision")?);
    // The first block downloads a release.
    let [_, to_install] = &installs[..] else { bail!("the README has other blocks: {installs:?}") };
    let [to_type, known] = &blocks[..] else { bail!("the README has other blocks: {blocks:?}") };

    install(&ada, to_install, &plugin)?;
    let mut terminal = ada.terminal()?;
    let answers = ["Team memory started", "Added to Decisions"];
    ensure!(to_type.len() == answers.len(), "{to_type:?}");
    for (line, answer) in to_type.iter().zip(answers) {
        terminal.submit(line)?;
        terminal.wait_for(answer)?;
    }
    terminal.exit()?;
    let asked = ada.mock().requests().into_iter().filter(|request| request.lane() == Some(Lane::Main));
    assert_eq!(asked.count(), 0, "the commands cost no model call");
    check_processes(&ada)?;

    install(&grace, to_install, &plugin)?;
    let turn = grace.prompt("How do we keep prices?")?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    let request = turn.main_request(0)?;
    for line in known {
        assert_eq!(request.count(line), 1, "{line}: {}", request.texts());
    }
    check_processes(&grace)
}
