//! `cargo xtask new-hook` in a copy of the repository gives a hook that keeps the contract.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use wyren_tests::prerequisite::target;
use wyren_tests::sandbox::Sandbox;

use crate::{contract, wiring};

const NAME: &str = "stop-example-with-a-name-that-breaks-lines";

/// What is not part of a checkout, or not needed to build a hook.
const LEFT_OUT: [&str; 3] = [".git", "node_modules", "target"];

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Copies the checkout to a place that stays the same, so that cargo builds only once what did not change.
fn checkout() -> Result<PathBuf> {
    let checkout = target().join("new-hook");
    if checkout.exists() {
        fs::remove_dir_all(&checkout)?;
    }
    copy(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")), &checkout)?;
    Ok(checkout)
}

/// Builds the hook alone, unoptimised, and returns a folder with nothing but it.
///
/// The output folder is one of its own: cargo takes crates of two checkouts for the same, and would mix them up.
fn build(checkout: &Path) -> Result<PathBuf> {
    let output_folder = target().join("new-hook-target");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .current_dir(checkout)
        .args(["build", "--offline", "--package", NAME])
        .env("CARGO_TARGET_DIR", &output_folder);
    let output = build.output()?;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && !messages.contains("warning"), "{messages}");
    let (bin, file) = (checkout.join("bin"), format!("{NAME}{}", std::env::consts::EXE_SUFFIX));
    fs::create_dir(&bin)?;
    fs::copy(output_folder.join("debug").join(&file), bin.join(&file)).context("the program is not there")?;
    Ok(bin)
}

#[test]
fn a_hook_that_was_just_made_keeps_the_contract() -> Result<()> {
    let checkout = checkout()?;

    let files = tables::new_hook::make(&checkout, NAME, "Stop", "shows how long a turn took")?;

    for file in &files {
        let text = fs::read_to_string(file)?;
        assert!(
            text.contains(NAME)
                || file.ends_with("hooks/extra.json")
                || file.ends_with("hooks/later.json")
                || file.starts_with(checkout.join("tests"))
        );
    }
    let wired = wiring::wired(&checkout)?;
    assert!(wired.contains(&("Stop".into(), NAME.into(), "hooks.json".into())), "{wired:?}");
    wiring::check_program(&checkout.join("bins").join(NAME).join("src/main.rs"), NAME, "Empty")?;
    let again = tables::new_hook::make(&checkout, NAME, "Stop", "").unwrap_err();
    assert!(again.to_string().contains("there is such a hook"), "{again}");

    let bin = build(&checkout)?;
    let sandbox = || Sandbox::of(&bin, &checkout.join("tests/data"));
    assert_eq!(sandbox()?.hooks()?, [NAME]);
    contract::check_payloads(&sandbox()?)?;
    contract::check_bad_input(&sandbox()?)?;
    contract::check_guards(&sandbox()?)?;
    contract::check_golden(&sandbox()?)
}
