//! The plugin under test, as `cargo xtask plugin` assembles it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::prerequisite::{self, target};

/// Returns the assembled plugin, or says why the test is skipped.
pub fn folder() -> Option<PathBuf> {
    prerequisite::find("plugin", "WYREN_PLUGIN", target().join("plugin"), "run `cargo xtask plugin`")
}

/// Returns the program that makes requests of an OpenAPI document, or says why the test is skipped.
pub fn schemathesis() -> Option<PathBuf> {
    let program = target().join("schemathesis/bin/schemathesis");
    prerequisite::find("schemathesis", "WYREN_SCHEMATHESIS", program, "run `cargo xtask http`")
}

/// Returns the folder of the packages for npm, or says why the test is skipped.
pub fn packages() -> Option<PathBuf> {
    prerequisite::find("npm", "WYREN_NPM", target().join("npm"), "run `cargo xtask npm`")
}

/// Returns this machine's archive of a release, with the scripts that install it beside it, or says why the test is skipped.
pub fn archive() -> Option<PathBuf> {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    let name = format!("distrib/wyren-{}-{system}.tar.xz", std::env::consts::ARCH);
    prerequisite::find("archive", "WYREN_ARCHIVE", target().join(name), "run `cargo xtask archive`")
}

/// Returns a hook program that panics, or says why the test is skipped.
pub fn panicking_hook() -> Option<PathBuf> {
    example("wyren-hook", "panicking-hook")
}

/// Returns a hook program that hangs, or says why the test is skipped.
pub fn hanging_hook() -> Option<PathBuf> {
    example("wyren-hook", "hanging-hook")
}

/// Returns a hook program that speaks when it wins a claim, or says why the test is skipped.
pub fn claiming_hook() -> Option<PathBuf> {
    example("wyren-hook", "claiming-hook")
}

/// Returns a program that asks a model one question, or says why the test is skipped.
pub fn asking_program() -> Option<PathBuf> {
    example("wyren-model", "ask")
}

/// Returns a program that appends events to a spool, or says why the test is skipped.
pub fn spool_writer() -> Option<PathBuf> {
    example("wyren-capture", "spool-writer")
}

/// Returns a program that drains a spool, or says why the test is skipped.
pub fn spool_drainer() -> Option<PathBuf> {
    example("wyren-store", "spool-drainer")
}

fn example(package: &str, name: &str) -> Option<PathBuf> {
    let program = target().join("debug/examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let variable = format!("WYREN_{}", name.to_uppercase().replace('-', "_"));
    let remedy = format!("run `cargo build --package {package} --examples`");
    prerequisite::find(name, &variable, program, &remedy)
}

/// A copy of the plugin that a test may change.
pub struct PluginCopy {
    folder: TempDir,
}

impl PluginCopy {
    /// Copies the plugin in `original`.
    pub fn of(original: &Path) -> Result<PluginCopy> {
        let folder = tempfile::Builder::new().prefix("wyren-test-plugin-").tempdir()?;
        copy(original, folder.path())?;
        Ok(PluginCopy { folder })
    }

    /// Returns the folder of the copy.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Wires one more program to an event, in exec form and for every matcher.
    pub fn add_hook(&self, event: &str, program: &Path) -> Result<()> {
        let path = self.folder().join("hooks/hooks.json");
        let mut wiring: Value = serde_json::from_slice(&fs::read(&path)?)?;
        let hook = json!({"hooks": [{"type": "command", "command": program, "args": [], "timeout": 5}]});
        let groups = wiring["hooks"].as_object_mut().context("hooks.json has no hooks")?;
        let group = groups.entry(event).or_insert_with(|| json!([]));
        group.as_array_mut().context("an event of hooks.json is not a list")?.push(hook);
        fs::write(&path, wiring.to_string())?;
        Ok(())
    }
}

/// Copies a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)
                .with_context(|| format!("could not copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}
