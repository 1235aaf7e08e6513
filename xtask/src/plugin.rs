//! Assembles the complete plugin in `target/plugin`: what a user installs.

use crate::archive;
use crate::bench::{NONE, Table, dependencies};
use crate::workspace::{self, binaries, cargo, is_installed, read, root};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tables::hooks::{self, Weight};

/// The cargo profiles of what ships: of the hooks, and of the other programs.
const HOOKS: &str = "hooks";
const SHIPPED: &str = "shipped";

/// The most bytes of a hot hook.
const HOT_BYTES: u64 = 1_000_000;
/// The most bytes of the plugin, with everything in it.
const PLUGIN_BYTES: u64 = 40_000_000;

/// What the plugin takes from the repository as it is; what does not exist yet is left out.
const PARTS: &[&str] = &[
    ".claude-plugin",
    ".mcp.json",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "commands",
    "hooks",
    "lessons",
    "share",
    "skills",
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Build for this target of a release; `dist` names it in CARGO_DIST_TARGET.
    #[arg(long)]
    target: Option<String>,
    /// Build without optimisation, into target/plugin-to-show: quick to make, for a try or a single test.
    #[arg(long, conflicts_with = "target")]
    to_show: bool,
}

/// Assembles the plugin; for a target of a release, also what its archive has beside it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.to_show {
        return assemble_to_show().map(|_| ());
    }
    let named = arguments.target.clone().or_else(|| std::env::var(archive::TARGET_VARIABLE).ok());
    let Some(named) = named else { return assemble().map(|_| ()) };
    let kind = Kind::of_release(&named)?;
    if std::env::var_os(archive::BUILT_VARIABLE).is_none() {
        assemble_for(kind)?;
    }
    archive::build_launcher(kind)
}

/// Builds every program for shipping and puts the plugin together; returns its folder.
pub(crate) fn assemble() -> Result<PathBuf> {
    assemble_for(Kind::of_this_machine())
}

fn assemble_for(kind: Kind) -> Result<PathBuf> {
    println!("Building the plugin with {}", kind.describe());
    let built = build_shipped(kind)?;
    put_together(&built, &folder(), kind.suffix(), |assembled| {
        let sizes = Sizes::of(assembled, kind.suffix())?;
        println!("\n{}", sizes.table());
        // What other ways of linking make is not what ships for Linux.
        if kind.is_static() { sizes.check() } else { Ok(()) }
    })
}

/// Builds every program as tests do, which takes a fraction of the time, and puts a plugin together that works as the one
/// that ships, slower; returns its folder.
pub(crate) fn assemble_to_show() -> Result<PathBuf> {
    println!("Building the plugin to be shown: what ships is smaller and quicker (`cargo xtask plugin`)");
    let host = Kind::Host("the host's linking");
    workspace::run(&mut cargo_build(host, "dev", binaries()?.into_iter()))?;
    let built = host.output("debug");
    put_together(&[built.clone(), built], &workspace::target().join("plugin-to-show"), host.suffix(), |_| {
        Ok(())
    })
}

/// Puts a plugin together from the folder of the hooks and that of the other programs. It is assembled aside, checked, and
/// moved into place, so that half a plugin is never visible.
pub(crate) fn put_together(
    built: &[PathBuf; 2],
    plugin: &Path,
    exe_suffix: &str,
    check: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let assembled = plugin.with_extension("new");
    remove(&assembled)?;
    copy_parts(&assembled)?;
    name_itself(&assembled.join(".claude-plugin/marketplace.json"))?;
    copy_binaries(built, &assembled, exe_suffix)?;
    index_lessons(&assembled.join("lessons"))?;
    check(&assembled)?;
    remove(plugin)?;
    fs::rename(&assembled, plugin).with_context(|| format!("could not move {}", plugin.display()))?;
    println!("The plugin is in {}", plugin.display());
    Ok(plugin.to_owned())
}

/// Builds every program as it ships; returns the folders of the hooks and of the other programs.
fn build_shipped(kind: Kind) -> Result<[PathBuf; 2]> {
    // Hooks have an invocation of their own: in one with the programs, cargo would unify the features of dependencies,
    // and hooks would ship with what only the programs ask for.
    dependencies::check_hooks(&build_hooks(kind)?)?;
    let (heavy, programs): (Vec<String>, Vec<String>) = binaries()?
        .into_iter()
        .filter(|binary| dependencies::may_be_heavy(binary))
        .partition(|binary| hooks::find(binary).is_some());
    if !heavy.is_empty() {
        // They start as often as a session does, so they are made as small as the others.
        workspace::run(&mut cargo_build_hooks(kind, heavy.into_iter()))?;
    }
    workspace::run(&mut build(kind, programs.into_iter()))?;
    Ok([kind.output(HOOKS), kind.output(SHIPPED)])
}

/// Builds the hooks as they ship; returns the names of the packages that are linked into them.
pub(crate) fn build_hooks(kind: Kind) -> Result<BTreeSet<String>> {
    let hooks = binaries()?.into_iter().filter(|binary| !dependencies::may_be_heavy(binary));
    let mut build = cargo_build_hooks(kind, hooks);
    let messages = read(build.arg("--message-format=json-render-diagnostics"))?;
    Ok(linked_packages(&messages))
}

fn cargo_build_hooks(kind: Kind, hooks: impl Iterator<Item = String>) -> Command {
    let mut build = cargo_build(kind, HOOKS, hooks);
    // At a fixed address nothing is relocated when they start. Programs that talk to a network keep a random one.
    link_statically(&mut build, kind, &["-Crelocation-model=static"]);
    build
}

/// Has static programs compiled and linked without the tables for unwinding, a tenth of their size: they abort on panic.
fn link_statically(build: &mut Command, kind: Kind, more: &[&str]) {
    let Some(triple) = kind.triple().filter(|_| kind.is_static()) else { return };
    let script = format!("-Clink-arg=-Wl,-T,{}", root().join("xtask/no-unwinding.ld").display());
    let flags: Vec<&str> = [&["-Cforce-unwind-tables=no", script.as_str()], more].concat();
    build.arg("--config").arg(format!("target.{triple}.rustflags = {flags:?}"));
}

/// Returns how programs other than hooks are built as they ship.
pub(crate) fn build(kind: Kind, packages: impl Iterator<Item = String>) -> Command {
    let mut build = cargo_build(kind, SHIPPED, packages);
    link_statically(&mut build, kind, &[]);
    build
}

fn cargo_build(kind: Kind, profile: &str, packages: impl Iterator<Item = String>) -> Command {
    let mut build = cargo();
    build.args(["build", "--locked", "--profile", profile]);
    build.args(packages.flat_map(|package| ["--package".to_owned(), package]));
    build.args(kind.triple().map(|triple| format!("--target={triple}")));
    if matches!(kind, Kind::Release(_)) {
        // `dist` names a compiler for the machine that it runs on, which is not the target's.
        build.env_remove("CC").env_remove("CXX").envs(archive::release_variables());
    }
    build
}

/// Returns the packages of the libraries that a build linked: macros and build scripts run in the compiler.
fn linked_packages(messages: &str) -> BTreeSet<String> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let libraries = messages.filter(|message| {
        let kinds = message["target"]["kind"].as_array();
        message["reason"] == "compiler-artifact"
            && kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib" || kind == "rlib"))
    });
    // A package id ends in `…#name@version`, or `…/name#version` where folder and name are one.
    let name = |message: Value| {
        let (place, rest) = message["package_id"].as_str()?.rsplit_once('#')?;
        let own = rest.split_once('@').map(|(name, _)| name);
        Some(own.or_else(|| place.rsplit('/').next())?.to_owned())
    };
    libraries.filter_map(name).collect()
}

/// Returns the folder of the assembled plugin.
pub(crate) fn folder() -> PathBuf {
    workspace::target().join("plugin")
}

/// What the programs are linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Static, with musl: starts several times as fast as with glibc.
    StaticMusl(&'static str),
    /// For a target of a release, as that target links.
    Release(&'static str),
    /// As the host links.
    Host(&'static str),
}

impl Kind {
    /// Returns the best kind that this machine can build.
    pub(crate) fn of_this_machine() -> Self {
        let triple = match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") => "x86_64-unknown-linux-musl",
            ("linux", "aarch64") => "aarch64-unknown-linux-musl",
            _ => return Self::Host("the host's linking"),
        };
        if !has_target(triple) {
            return Self::Host(
                "the host's linking, which starts slower: run `rustup target add x86_64-unknown-linux-musl`",
            );
        }
        if !is_installed("musl-gcc") {
            return Self::Host(
                "the host's linking, which starts slower: install a C compiler for musl (Debian: musl-tools)",
            );
        }
        Self::StaticMusl(triple)
    }

    /// Returns the kind for a target of a release, whose standard library is added where it is missing.
    fn of_release(named: &str) -> Result<Self> {
        let target = archive::TARGETS.into_iter().find(|target| *target == named);
        let triple = target.with_context(|| {
            format!("{named} is no target of a release; these are: {}", archive::TARGETS.join(", "))
        })?;
        if !has_target(triple) {
            workspace::run(Command::new("rustup").args(["target", "add", triple]))?;
        }
        Ok(Self::Release(triple))
    }

    /// Returns the target to name to cargo.
    pub(crate) fn triple(self) -> Option<&'static str> {
        match self {
            Self::StaticMusl(triple) | Self::Release(triple) => Some(triple),
            Self::Host(_) => None,
        }
    }

    /// Says whether the programs are static, with musl.
    fn is_static(self) -> bool {
        self.triple().is_some_and(|triple| triple.contains("musl"))
    }

    /// Returns the folder that cargo puts the programs of a profile into.
    fn output(self, profile: &str) -> PathBuf {
        workspace::target().join(self.triple().unwrap_or_default()).join(profile)
    }

    /// Returns the folder that programs other than hooks are built into.
    pub(crate) fn shipped(self) -> PathBuf {
        self.output(SHIPPED)
    }

    /// Returns the ending of a program's name.
    pub(crate) fn suffix(self) -> &'static str {
        match self.triple() {
            Some(triple) if triple.contains("windows") => ".exe",
            Some(_) => "",
            None => std::env::consts::EXE_SUFFIX,
        }
    }

    fn describe(self) -> String {
        match self {
            Self::StaticMusl(triple) => format!("static binaries ({triple})"),
            Self::Release(triple) => format!("binaries for {triple}"),
            Self::Host(reason) => reason.to_owned(),
        }
    }
}

/// Says whether the standard library for a target is there, however Rust was installed.
fn has_target(triple: &str) -> bool {
    let sysroot = workspace::read(Command::new("rustc").args(["--print", "sysroot"]));
    sysroot
        .is_ok_and(|sysroot| Path::new(sysroot.trim()).join("lib/rustlib").join(triple).join("lib").is_dir())
}

fn copy_parts(plugin: &Path) -> Result<()> {
    fs::create_dir_all(plugin)?;
    for part in PARTS {
        let source = root().join(part);
        if source.is_dir() {
            copy_folder(&source, &plugin.join(part))?;
        } else if source.is_file() {
            fs::copy(&source, plugin.join(part))?;
        }
    }
    Ok(())
}

/// Has the marketplace in the plugin's folder name that folder: the one in the repository names the package on npm, for a
/// clone has no programs.
fn name_itself(marketplace: &Path) -> Result<()> {
    let mut manifest: Value = serde_json::from_slice(&fs::read(marketplace)?)?;
    manifest["plugins"][0]["source"] = "./".into();
    Ok(fs::write(marketplace, format!("{manifest:#}\n"))?)
}

/// Compiles the shipped lessons, so that no user's first call has to.
fn index_lessons(folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let (all, flaws) = lessons::layers::read_folder(folder, &lessons::limits::Limits::OWN);
    if let Some((file, flaw)) = flaws.first() {
        bail!("{}: {flaw}", file.display());
    }
    let (bytes, _) = lessons::index::build(&all, lessons::layers::shipped_fingerprint());
    fs::write(folder.join(lessons::layers::SHIPPED_INDEX), bytes)?;
    println!("{} lessons are compiled", all.len());
    Ok(())
}

/// Copies the programs from the folder of the hooks and that of the others.
fn copy_binaries([lean, others]: &[PathBuf; 2], plugin: &Path, exe_suffix: &str) -> Result<()> {
    let folder = plugin.join("bin");
    fs::create_dir_all(&folder)?;
    for binary in binaries()? {
        let is_program = dependencies::may_be_heavy(&binary) && hooks::find(&binary).is_none();
        let built = if is_program { others } else { lean };
        let file = format!("{binary}{exe_suffix}");
        fs::copy(built.join(&file), folder.join(&file)).with_context(|| format!("could not copy {file}"))?;
    }
    Ok(())
}

pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// How large a plugin is.
struct Sizes {
    /// Each program with its bytes.
    programs: Vec<(String, u64)>,
    /// Of all files.
    all: u64,
}

impl Sizes {
    fn of(plugin: &Path, exe_suffix: &str) -> Result<Self> {
        let size = |binary: String| -> Result<(String, u64)> {
            let file = plugin.join("bin").join(format!("{binary}{exe_suffix}"));
            Ok((binary, fs::metadata(file)?.len()))
        };
        let programs = binaries()?.into_iter().map(size).collect::<Result<_>>()?;
        Ok(Self { programs, all: folder_bytes(plugin)? })
    }

    fn table(&self) -> String {
        let mut table = Table::new(2, ["program", "weight", "bytes", "at most"]);
        for (program, bytes) in &self.programs {
            let (most, weight) = match hooks::find(program).map(|hook| hook.weight) {
                Some(Weight::Hot) => (HOT_BYTES.to_string(), "hot"),
                Some(Weight::Light) => (NONE.to_owned(), "light"),
                Some(Weight::Heavy) => (NONE.to_owned(), "heavy"),
                None => (NONE.to_owned(), "no hook"),
            };
            table.row(vec![program.clone(), weight.to_owned(), bytes.to_string(), most]);
        }
        let all = [self.all, PLUGIN_BYTES].map(|bytes| bytes.to_string());
        table.row([String::from("all files of the plugin"), String::new()].into_iter().chain(all).collect());
        table.to_string()
    }

    /// Fails when something is larger than it may be.
    fn check(&self) -> Result<()> {
        let is_hot = |name: &str| hooks::find(name).is_some_and(|hook| hook.weight == Weight::Hot);
        let hot = self.programs.iter().filter(|(name, bytes)| is_hot(name) && *bytes > HOT_BYTES);
        let mut over: Vec<String> = hot
            .map(|(name, bytes)| format!("{name} has {bytes} bytes, expected at most {HOT_BYTES}"))
            .collect();
        if self.all > PLUGIN_BYTES {
            over.push(format!("the plugin has {} bytes, expected at most {PLUGIN_BYTES}", self.all));
        }
        ensure!(over.is_empty(), "{}; `nm --size-sort` shows what takes the room", over.join("; "));
        Ok(())
    }
}

fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { folder_bytes(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

pub(crate) fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("could not remove {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marketplace_of_a_clone_names_the_package_and_that_of_the_plugin_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("marketplace.json");
        fs::copy(root().join(".claude-plugin/marketplace.json"), &copy).unwrap();
        let source = || {
            let manifest: Value = serde_json::from_slice(&fs::read(&copy).unwrap()).unwrap();
            manifest["plugins"][0]["source"].clone()
        };
        assert_eq!(source(), serde_json::json!({"source": "npm", "package": crate::npm::package()}));
        name_itself(&copy).unwrap();
        assert_eq!(source(), "./");
    }

    #[test]
    fn a_hot_hook_or_a_plugin_that_is_too_large_fails_the_build() {
        let check = |name: &str, bytes, all| Sizes { programs: vec![(name.to_owned(), bytes)], all }.check();
        assert!(check("lesson-inject", HOT_BYTES, PLUGIN_BYTES).is_ok());
        let error = check("lesson-inject", HOT_BYTES + 1, PLUGIN_BYTES).unwrap_err();
        assert!(error.to_string().starts_with("lesson-inject has 1000001 bytes"), "{error}");
        assert!(check("session-end", HOT_BYTES + 1, PLUGIN_BYTES).is_ok(), "not hot");
        assert!(check("wyren", HOT_BYTES + 1, PLUGIN_BYTES + 1).is_err());
    }

    #[test]
    fn what_a_build_links_is_read_from_its_messages() {
        let artifact = |id: &str, kind: &str| {
            serde_json::json!({"reason": "compiler-artifact", "package_id": id, "target": {"kind": [kind]}})
                .to_string()
        };
        let messages = [
            artifact("registry+https://example.org/index#serde@1.0.228", "lib"),
            artifact("registry+https://example.org/index#serde_derive@1.0.228", "proc-macro"),
            artifact("path+file:///app/crates/hot/base#wyren-base@0.1.0", "lib"),
            artifact("path+file:///app/crates/shell#0.1.0", "lib"),
            artifact("path+file:///app/bins/tool-record#0.1.0", "bin"),
            "{\"reason\":\"build-finished\",\"success\":true}".to_owned(),
        ];
        let linked: Vec<String> = linked_packages(&messages.join("\n")).into_iter().collect();
        assert_eq!(linked, ["serde", "shell", "wyren-base"]);
    }
}
