//! The programs for another system, by `cargo zigbuild`: zig brings a C compiler and linker for every target.

use super::System;
use crate::plugin;
use crate::workspace::{self, binaries, cargo, read, run};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tables::hooks::{HOOKS, Weight};

/// What is installed from PyPI, each pinned.
const PACKAGES: [&str; 2] = ["cargo-zigbuild==0.24.0", "ziglang==0.15.2"];

/// The cargo profile: quick to build.
const PROFILE: &str = "cross";

/// Packages whose tests run on Windows as well, and the tests to run. Wine 8 shows a deleted file as if it were not, as long as
/// it is open.
const TESTED: [(&str, &[&str]); 2] =
    [("wyren-base", &["system::", "lock::", "--skip", "is_deleted_while_it_is_open"]), ("wyren-child", &[])];

/// Systems whose code is linted; for macOS there is no emulator.
const LINTED: [&str; 3] = ["x86_64-apple-darwin", "x86_64-pc-windows-gnu", "aarch64-unknown-linux-musl"];

/// The library that Debian 12's wine lacks.
const MISSING: &str = "bcryptprimitives.dll";
const MISSING_SOURCE: &str = include_str!("bcryptprimitives.c");

/// zig and `cargo zigbuild`, in a folder of their own.
pub(super) struct Tools {
    folder: PathBuf,
}

/// A program with tests, and the tests to run.
pub(super) struct Test {
    pub(super) package: &'static str,
    pub(super) program: PathBuf,
    pub(super) filters: &'static [&'static str],
}

impl Tools {
    /// Installs the tools, unless they are there.
    pub(super) fn install() -> Result<Self> {
        let folder = workspace::target().join("cross/tools");
        let wanted = PACKAGES.join("\n");
        let note = folder.join("installed");
        if fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) {
            return Ok(Self { folder });
        }
        println!("Installing {}", PACKAGES.join(" and "));
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut pip = Command::new(folder.join("bin/python3"));
        run(pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES))?;
        // Last, so that half an installation is none.
        fs::write(&note, wanted)?;
        Ok(Self { folder })
    }

    /// Builds every program for a system and puts the plugin together; returns its folder.
    pub(super) fn plugin(&self, system: System) -> Result<PathBuf> {
        let programs = binaries()?;
        let mut build = self.zigbuild(system)?;
        run(build.args(programs.iter().flat_map(|program| ["--package", program])))?;
        let built = workspace::target().join(system.triple()).join(PROFILE);
        let folder = workspace::target().join("cross").join(system.triple());
        plugin::put_together(&[built.clone(), built], &folder, system.exe_suffix(), |_| Ok(()))
    }

    /// Builds the tests that run on another system.
    pub(super) fn tests(&self, system: System) -> Result<Vec<Test>> {
        let mut build = self.zigbuild(system)?;
        build.args(TESTED.iter().flat_map(|(package, _)| ["--package", package]));
        let messages =
            read(build.args(["--lib", "--tests", "--examples", "--message-format=json-render-diagnostics"]))?;
        let tests: Vec<Test> = messages.lines().filter_map(test_of).collect();
        for (package, _) in TESTED {
            ensure!(tests.iter().any(|test| test.package == package), "{package} has no program with tests");
        }
        Ok(tests)
    }

    /// Builds a library that wine lacks; returns its file.
    pub(super) fn missing_library(&self) -> Result<PathBuf> {
        let library = self.folder.with_file_name(MISSING);
        let source = library.with_extension("c");
        if library.is_file() && fs::read_to_string(&source).is_ok_and(|built| built == MISSING_SOURCE) {
            return Ok(library);
        }
        fs::write(&source, MISSING_SOURCE)?;
        let mut compile = Command::new(self.folder.join("bin/python3"));
        compile.args(["-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-shared", "-O1", "-s"]);
        run(self.with_caches(&mut compile)?.arg("-o").arg(&library).arg(&source).arg("-ladvapi32"))?;
        Ok(library)
    }

    /// Has clippy look at the code for other systems as far as that needs no C compiler: the hooks and what they link, but for
    /// heavy ones, which link SQLite, and how children are started.
    pub(super) fn lint() -> Result<()> {
        let hooks: Vec<&str> =
            HOOKS.iter().filter(|hook| hook.weight != Weight::Heavy).map(|hook| hook.name).collect();
        for triple in LINTED {
            let mut lint = cargo();
            lint.args(["clippy", "--quiet", "--locked", "--target", triple, "--package", "wyren-child"]);
            lint.args(hooks.iter().flat_map(|hook| ["--package", hook])).args(["--", "-D", "warnings"]);
            run(&mut lint).with_context(|| format!("`rustup target add {triple}` may help"))?;
            println!("{triple}: clippy finds nothing in {} hooks", hooks.len());
        }
        Ok(())
    }

    fn zigbuild(&self, system: System) -> Result<Command> {
        let bin = self.folder.join("bin");
        let mut path = OsString::from(&bin);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut build = Command::new(bin.join("cargo-zigbuild"));
        build
            .args(["zigbuild", "--locked", "--profile", PROFILE, "--target", system.triple()])
            .current_dir(workspace::root())
            .env("PATH", path);
        self.with_caches(&mut build)?;
        Ok(build)
    }

    /// Has the tools cache in the target folder.
    fn with_caches<'a>(&self, command: &'a mut Command) -> Result<&'a mut Command> {
        command.env("CARGO_ZIGBUILD_CACHE_DIR", self.cache("zigbuild")?);
        for variable in ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"] {
            command.env(variable, self.cache("zig")?);
        }
        Ok(command)
    }

    fn cache(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.with_file_name("cache").join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

/// Returns the test program that a message of cargo's is about.
fn test_of(message: &str) -> Option<Test> {
    let message: Value = serde_json::from_str(message).ok()?;
    let program = Path::new(message["executable"].as_str()?).to_owned();
    let is_test = message["profile"]["test"] == true;
    let package = message["package_id"].as_str()?;
    let (package, filters) = *TESTED.iter().find(|(name, _)| package.contains(&format!("#{name}@")))?;
    is_test.then_some(Test { package, program, filters })
}
