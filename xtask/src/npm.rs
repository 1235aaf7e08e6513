//! Packs the plugin for npm, from which the client installs it by a marketplace: one package with everything but the programs,
//! and one optional dependency per platform with the programs for it.
//!
//! The lock file is `package-lock.json`, which npm itself never packs, so the archives are made here. With
//! `npm-shrinkwrap.json` in its place npm downloads the programs of every platform, five times as much.

use crate::plugin;
use crate::workspace::{self, binaries, read, root, run};
use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::Args;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha512};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The owner of every package.
const SCOPE: &str = "@wyren";

/// The package that a marketplace names.
const PLUGIN: &str = "plugin";

const LICENSE: &str = "MIT OR Apache-2.0";

/// The date that npm gives to every file; a fixed one makes equal files equal archives.
const MODIFIED: &str = "1985-10-26T08:15:00Z";

/// A platform, by npm's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Platform {
    os: &'static str,
    cpu: &'static str,
    /// How a program for it begins: the format, and the processor at its place.
    magic: &'static [u8],
    processor: (usize, &'static [u8]),
}

impl Platform {
    fn name(self) -> String {
        format!("{}-{}", self.os, self.cpu)
    }

    fn package(self) -> String {
        format!("{SCOPE}/{}", self.name())
    }

    fn suffix(self) -> &'static str {
        if self.os == "win32" { ".exe" } else { "" }
    }

    /// Says whether a program was built for this platform.
    fn runs(self, program: &[u8]) -> bool {
        // Of a Windows program, the place is relative to the header that byte 60 points to.
        let base = match program.get(60..64) {
            Some(&[a, b, c, d]) if self.os == "win32" => u32::from_le_bytes([a, b, c, d]) as usize,
            _ => 0,
        };
        let (place, processor) = self.processor;
        program.starts_with(self.magic)
            && program.get(base + place..).is_some_and(|rest| rest.starts_with(processor))
    }
}

const ELF: &[u8] = b"\x7fELF\x02\x01";
const MACH: &[u8] = b"\xcf\xfa\xed\xfe";

/// The platforms that a release has programs for.
const PLATFORMS: [Platform; 5] = [
    Platform { os: "linux", cpu: "x64", magic: ELF, processor: (18, b"\x3e\0") },
    Platform { os: "linux", cpu: "arm64", magic: ELF, processor: (18, b"\xb7\0") },
    Platform { os: "darwin", cpu: "x64", magic: MACH, processor: (4, b"\x07\0\0\x01") },
    Platform { os: "darwin", cpu: "arm64", magic: MACH, processor: (4, b"\x0c\0\0\x01") },
    Platform { os: "win32", cpu: "x64", magic: b"MZ", processor: (4, b"\x64\x86") },
];

#[derive(Args)]
pub(crate) struct Arguments {
    /// A plugin folder that was built for another platform, e.g. linux-arm64=plugin-arm64. May be given more than once.
    #[arg(long, value_name = "NAME=FOLDER")]
    platform: Vec<String>,
    /// Fail unless every platform of a release is there.
    #[arg(long)]
    complete: bool,
}

/// Returns the name of the package that a marketplace names.
pub(crate) fn package() -> String {
    format!("{SCOPE}/{PLUGIN}")
}

/// Packs `target/plugin`, and the other platforms that the arguments name.
pub(crate) fn run_with(arguments: &Arguments) -> Result<()> {
    let mut given = vec![(this_platform()?, plugin::folder())];
    for argument in &arguments.platform {
        let (name, folder) = argument.split_once('=').context("--platform takes NAME=FOLDER")?;
        let known = PLATFORMS.map(Platform::name).join(", ");
        let platform = PLATFORMS.into_iter().find(|platform| platform.name() == name);
        let platform = platform.with_context(|| format!("{name} is none of {known}"))?;
        given.retain(|(other, _)| *other != platform);
        given.push((platform, PathBuf::from(folder)));
    }
    let missing = PLATFORMS.iter().filter(|platform| !given.iter().any(|(other, _)| other == *platform));
    let missing: Vec<String> = missing.map(|platform| platform.name()).collect();
    if arguments.complete && !missing.is_empty() {
        bail!("a release needs every platform; missing: {}", missing.join(", "));
    }
    assemble(&given)?;
    if !missing.is_empty() {
        println!(
            "Without programs for {}: name a plugin folder for each with --platform",
            missing.join(", ")
        );
    }
    Ok(())
}

/// Packs the plugin for the platform of this machine alone.
pub(crate) fn assemble_here() -> Result<()> {
    assemble(&[(this_platform()?, plugin::folder())])
}

fn this_platform() -> Result<Platform> {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let cpu = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let platform = PLATFORMS.into_iter().find(|platform| platform.os == os && platform.cpu == cpu);
    platform.with_context(|| format!("there is no package for {os}-{cpu}"))
}

/// Returns the folder of the packed packages.
fn folder() -> PathBuf {
    workspace::target().join("npm")
}

fn assemble(given: &[(Platform, PathBuf)]) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let folder = folder();
    plugin::remove(&folder)?;
    fs::create_dir_all(&folder)?;
    let (mut dependencies, mut locked) = (Map::new(), Map::new());
    for (platform, source) in given {
        let archive = pack_platform(*platform, source, version)?;
        let integrity = format!("sha512-{}", BASE64_STANDARD.encode(Sha512::digest(fs::read(&archive)?)));
        dependencies.insert(platform.package(), version.into());
        locked.insert(
            format!("node_modules/{}", platform.package()),
            json!({"version": version, "integrity": integrity, "license": LICENSE, "optional": true,
                   "os": [platform.os], "cpu": [platform.cpu]}),
        );
    }
    pack_plugin(version, &dependencies, locked)?;
    println!("Publish the platforms first: `npm publish FILE` for each in {}", folder.display());
    Ok(())
}

/// Packs the programs for one platform.
fn pack_platform(platform: Platform, source: &Path, version: &str) -> Result<PathBuf> {
    let package = folder().join(platform.name()).join("package");
    fs::create_dir_all(package.join("bin"))?;
    for binary in binaries()? {
        let file = format!("{binary}{}", platform.suffix());
        let (from, to) = (source.join("bin").join(&file), package.join("bin").join(&file));
        let program = fs::read(&from).with_context(|| format!("could not read {}", from.display()))?;
        ensure!(platform.runs(&program), "{} is no program for {}", from.display(), platform.name());
        fs::write(&to, program)?;
        make_executable(&to)?;
    }
    copy_licenses(&package)?;
    let about = format!("The programs of Wyren, a plugin of Claude Code, for {}.", platform.name());
    fs::write(package.join("README.md"), format!("{about} Install `{}` instead.\n", self::package()))?;
    write_json(
        &package.join("package.json"),
        &json!({
            "name": platform.package(),
            "version": version,
            "description": about,
            "license": LICENSE,
            "os": [platform.os],
            "cpu": [platform.cpu],
            "publishConfig": {"access": "public"},
        }),
    )?;
    pack(&package, &platform.name(), version)
}

/// Packs everything but the programs, with launchers in their places.
fn pack_plugin(
    version: &str,
    dependencies: &Map<String, Value>,
    mut locked: Map<String, Value>,
) -> Result<()> {
    let package = folder().join(PLUGIN).join("package");
    plugin::copy_folder(&plugin::folder(), &package)?;
    plugin::remove(&package.join("bin"))?;
    fs::create_dir(package.join("bin"))?;
    for binary in binaries()? {
        let launcher = package.join("bin").join(binary);
        fs::copy(root().join("npm/launcher.sh"), &launcher)?;
        make_executable(&launcher)?;
    }
    fs::copy(root().join("npm/postinstall.js"), package.join("postinstall.js"))?;
    let manifest: Value = serde_json::from_slice(&fs::read(package.join(".claude-plugin/plugin.json"))?)?;
    ensure!(
        manifest["version"] == version,
        "the plugin in target/plugin has another version: build it again"
    );
    let name = self::package();
    write_json(
        &package.join("package.json"),
        &json!({
            "name": name,
            "version": version,
            "description": manifest["description"],
            "license": LICENSE,
            "keywords": manifest["keywords"],
            "scripts": {"postinstall": "node postinstall.js"},
            "optionalDependencies": dependencies,
            "publishConfig": {"access": "public"},
        }),
    )?;
    let this = json!({"name": name, "version": version, "license": LICENSE, "hasInstallScript": true,
                      "optionalDependencies": dependencies});
    locked.insert(String::new(), this);
    // Without `resolved`, npm asks the registry that the user has configured.
    write_json(
        &package.join("package-lock.json"),
        &json!({"name": name, "version": version, "lockfileVersion": 3, "requires": true, "packages": locked}),
    )?;
    pack(&package, PLUGIN, version)?;
    Ok(())
}

fn copy_licenses(package: &Path) -> Result<()> {
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root().join(file), package.join(file))?;
    }
    Ok(())
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    Ok(fs::write(path, format!("{value:#}\n"))?)
}

#[cfg(unix)]
fn make_executable(program: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o755))?)
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<()> {
    bail!("packages for npm are made on Linux: this system has no executable files")
}

/// Makes the archive of a folder named `package`, as npm would name it.
fn pack(package: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let archive = folder().join(format!("{}-{name}-{version}.tgz", &SCOPE[1..]));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=ustar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--mode=u+rw,go+r,go-w", &format!("--mtime={MODIFIED}"), "--use-compress-program=gzip -9n"]);
    tar.arg("--file").arg(&archive).arg("--directory").arg(package.parent().unwrap_or(package));
    run(tar.arg("package"))?;
    let listed = read(Command::new("tar").arg("-tzf").arg(&archive))?;
    let files = listed.lines().filter(|line| !line.ends_with('/')).count();
    println!("{}: {} bytes, {files} files", archive.display(), fs::metadata(&archive)?.len());
    Ok(archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the beginning of a program.
    fn program(parts: &[(usize, &[u8])]) -> Vec<u8> {
        let mut program = vec![0; 256];
        for (at, bytes) in parts {
            program[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        program
    }

    #[test]
    fn a_program_is_known_by_its_format_and_processor() {
        let programs = [
            ("linux-x64", program(&[(0, ELF), (18, b"\x3e\0")])),
            ("linux-arm64", program(&[(0, ELF), (18, b"\xb7\0")])),
            ("darwin-x64", program(&[(0, MACH), (4, b"\x07\0\0\x01")])),
            ("darwin-arm64", program(&[(0, MACH), (4, b"\x0c\0\0\x01")])),
            ("win32-x64", program(&[(0, b"MZ"), (60, b"\x80\0\0\0"), (128, b"PE\0\0\x64\x86")])),
            ("no platform", b"#!/bin/sh\n".to_vec()),
            ("no platform", program(&[(0, b"MZ"), (60, b"\xff\xff\xff\xff")])),
        ];
        for (name, program) in programs {
            let fitting = PLATFORMS.into_iter().filter(|platform| platform.runs(&program));
            let fitting: Vec<String> = fitting.map(Platform::name).collect();
            let expected: Vec<&str> = [name].into_iter().filter(|name| *name != "no platform").collect();
            assert_eq!(fitting, expected);
        }
    }

    #[test]
    fn the_program_of_this_machine_is_one_for_its_platform() {
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(this_platform().unwrap().runs(&own));
    }

    #[test]
    fn the_launcher_knows_every_platform_but_windows_where_it_cannot_run() {
        let launcher = fs::read_to_string(root().join("npm/launcher.sh")).unwrap();
        for platform in PLATFORMS {
            assert_eq!(launcher.contains(&platform.name()), platform.os != "win32", "{platform:?}");
        }
    }

    #[test]
    fn the_launcher_speaks_where_a_hook_runs_once_at_the_start_of_a_session() {
        let launcher = fs::read_to_string(root().join("npm/launcher.sh")).unwrap();
        let speaks = |name: &str| launcher.contains(&format!("\n{name})\n"));
        let speaking: Vec<&[&str]> =
            tables::hooks::HOOKS.iter().filter(|hook| speaks(hook.name)).map(|hook| hook.events).collect();
        assert_eq!(speaking, [["SessionStart"]]);
    }
}
