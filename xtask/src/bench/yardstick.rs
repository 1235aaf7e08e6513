//! The yardsticks: programs that do nothing, which is the least that a hook can cost.

use crate::plugin::Kind;
use crate::workspace::{self, run};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Does nothing, in Rust, with all that Rust does before and after.
const EMPTY: &str = "fn main() {}\n";

/// How the empty static program is built: as Wyren is, so that the difference is Wyren's own work.
const AS_SHIPPED: [&str; 5] =
    ["-Copt-level=3", "-Clto=fat", "-Ccodegen-units=1", "-Cpanic=abort", "-Cstrip=symbols"];

/// A program that does nothing.
pub(crate) struct Yardstick {
    pub(crate) name: &'static str,
    pub(crate) program: PathBuf,
}

/// The programs that all others are compared with.
pub(crate) struct Yardsticks {
    /// Empty, linked as the plugin is: statically with musl where that is possible.
    pub(crate) static_empty: Yardstick,
    /// Empty, linked as Rust does without being told.
    pub(crate) dynamic_empty: Yardstick,
    /// The system's `true`, where there is one.
    pub(crate) system_true: Option<Yardstick>,
}

/// Builds the empty programs in `target/bench`.
pub(crate) fn build() -> Result<Yardsticks> {
    let folder = workspace::target().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
    let source = folder.join("empty.rs");
    fs::write(&source, EMPTY).with_context(|| format!("could not write {}", source.display()))?;

    let triple = Kind::of_this_machine().triple();
    let static_flags =
        AS_SHIPPED.into_iter().map(str::to_owned).chain(triple.map(|triple| format!("--target={triple}")));
    let static_empty = compile(&source, &folder.join("empty-static"), static_flags)?;
    let dynamic_empty = compile(&source, &folder.join("empty-dynamic"), ["-O".to_owned()])?;
    let system_true = Some(PathBuf::from("/bin/true")).filter(|program| program.is_file());
    Ok(Yardsticks {
        static_empty: Yardstick {
            name: if triple.is_some() {
                "empty Rust, static musl"
            } else {
                "empty Rust, as shipped (not static)"
            },
            program: static_empty,
        },
        dynamic_empty: Yardstick { name: "empty Rust, dynamic", program: dynamic_empty },
        system_true: system_true.map(|program| Yardstick { name: "/bin/true", program }),
    })
}

fn compile(source: &Path, program: &Path, flags: impl IntoIterator<Item = String>) -> Result<PathBuf> {
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    let mut rustc = Command::new("rustc");
    run(rustc
        .args(["--edition=2024", "--crate-name=empty"])
        .args(flags)
        .arg("-o")
        .arg(&program)
        .arg(source))?;
    Ok(program)
}
