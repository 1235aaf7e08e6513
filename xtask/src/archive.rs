//! What a release is made of: the plugin packed for each target by `dist`, and the scripts that install it.
//!
//! `dist` runs `cargo xtask plugin` for a target and packs what `dist.toml` names; docs/releasing.md has the whole way.

use crate::plugin::{self, Kind};
use crate::workspace::{self, find, read, root, run};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Every target of a release, as in dist-workspace.toml.
pub(crate) const TARGETS: [&str; 5] = [
    "aarch64-apple-darwin",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-gnu",
    "x86_64-unknown-linux-musl",
];

/// The variable in which `dist` names the target to build for.
pub(crate) const TARGET_VARIABLE: &str = "CARGO_DIST_TARGET";

/// The variable that has `cargo xtask plugin` take the plugin that is there: building it takes minutes.
pub(crate) const BUILT_VARIABLE: &str = "WYREN_PLUGIN_IS_BUILT";

/// The largest archive, in bytes. Those for Windows are zip files, which compress each program by itself.
const MAX_BYTES: u64 = 8_000_000;

/// The program that an archive has beside the plugin.
const LAUNCHER: &str = "install";

const SCRIPTS: [&str; 2] = ["install.sh", "install.ps1"];

/// Packs `target/plugin` for this machine as a release does; returns the archive.
pub(crate) fn pack() -> Result<PathBuf> {
    let version = wanted_dist()?;
    let dist = dist().with_context(|| {
        format!(
            "dist {version} is not installed: run `cargo install cargo-dist --locked --version {version} --root target/tools`"
        )
    })?;
    let target = of_this_machine().context("a release has no archive for this machine")?;
    ensure!(
        plugin::folder() == root().join("target/plugin"),
        "dist packs target/plugin of the workspace: unset CARGO_TARGET_DIR"
    );
    ensure!(plugin::folder().join("bin").is_dir(), "there is no target/plugin: run `cargo xtask plugin`");

    let plan = read(Command::new(&dist).args(["plan", "--output-format=json"]).current_dir(root()))?;
    check_plan(&plan)?;
    let mut build = Command::new(&dist);
    build.args(["build", "--artifacts=all", "--target", target]).current_dir(root());
    run(build.env(BUILT_VARIABLE, "1"))?;

    let archive = folder().join(name(target));
    let bytes = archive.metadata().with_context(|| format!("no {}", archive.display()))?.len();
    println!("{}: {bytes} bytes, of {MAX_BYTES} at most", archive.display());
    ensure!(bytes <= MAX_BYTES || target.contains("windows"), "{} is too large", archive.display());
    Ok(archive)
}

/// Returns `dist` of the version that the workspace asks for: from `target/tools`, where CI puts it, else from the path.
pub(crate) fn dist() -> Option<PathBuf> {
    let wanted = format!("cargo-dist {}", wanted_dist().ok()?);
    let own = workspace::target().join("tools/bin").join(format!("dist{}", std::env::consts::EXE_SUFFIX));
    let places = [Some(own).filter(|place| place.is_file()), find("dist")];
    places.into_iter().flatten().find(|place| {
        read(Command::new(place).arg("--version")).is_ok_and(|version| version.trim() == wanted)
    })
}

/// Returns the version of `dist` in dist-workspace.toml.
fn wanted_dist() -> Result<String> {
    let file = fs::read_to_string(root().join("dist-workspace.toml"))?;
    value(&file, "cargo-dist-version").context("dist-workspace.toml names no version of dist")
}

/// Returns the text that a line `key = "text"` of a TOML file has.
fn value(toml: &str, key: &str) -> Option<String> {
    let line = toml.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))?;
    Some(line.trim().trim_matches('"').to_owned())
}

/// Fails unless a release has one archive per target, and the scripts.
fn check_plan(plan: &str) -> Result<()> {
    let plan: Value = serde_json::from_str(plan).context("could not read the plan of dist")?;
    let artifacts = plan["artifacts"].as_object().context("the plan of dist has no artifacts")?;
    let mut archives: Vec<&str> = artifacts
        .iter()
        .filter(|(_, artifact)| artifact["kind"] == "executable-zip")
        .map(|(name, _)| name.as_str())
        .collect();
    archives.sort_unstable();
    ensure!(archives == TARGETS.map(name), "dist plans other archives: {archives:?}");
    let missing: Vec<&str> = SCRIPTS.into_iter().filter(|script| !artifacts.contains_key(*script)).collect();
    ensure!(missing.is_empty(), "dist plans no {missing:?}");
    println!("dist plans {} archives, and {}", archives.len(), SCRIPTS.join(" and "));
    Ok(())
}

/// Returns the name of a target's archive.
fn name(target: &str) -> String {
    format!("wyren-{target}{}", if target.contains("windows") { ".zip" } else { ".tar.xz" })
}

/// Returns the folder that `dist` packs into.
fn folder() -> PathBuf {
    root().join("target/distrib")
}

/// Returns the folder of what is built for archives and releases beside the plugin.
fn beside() -> PathBuf {
    root().join("target/installer")
}

fn of_this_machine() -> Option<&'static str> {
    let system = match std::env::consts::OS {
        "linux" => "unknown-linux-musl",
        "macos" => "apple-darwin",
        "windows" => "pc-windows-gnu",
        _ => return None,
    };
    let named = format!("{}-{system}", std::env::consts::ARCH);
    TARGETS.into_iter().find(|target| *target == named)
}

/// Builds the program beside the plugin.
pub(crate) fn build_launcher(kind: Kind) -> Result<()> {
    run(&mut plugin::build(kind, std::iter::once("wyren-installer".to_owned())))?;
    let launcher = beside().join(format!("{LAUNCHER}{}", kind.suffix()));
    fs::create_dir_all(beside())?;
    let built = kind.shipped().join(launcher.file_name().unwrap_or_default());
    fs::copy(&built, &launcher).with_context(|| format!("could not copy {}", built.display()))?;
    Ok(())
}

/// Writes the scripts for the archives that `dist` has packed: each knows their SHA-256.
pub(crate) fn write_installers() -> Result<()> {
    let base = base(|name| std::env::var(name).ok())?;
    let mut lines = Vec::new();
    for target in TARGETS {
        let archive = name(target);
        let path = folder().join(format!("{archive}.sha256"));
        // `dist` packs for one machine here, and for all in a release.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let sum = sum(&text).with_context(|| format!("{} has no SHA-256", path.display()))?;
        lines.push(format!("{target} {archive} {sum}"));
    }
    if lines.is_empty() {
        bail!("{} has no archive: run `cargo xtask archive`", folder().display());
    }
    fs::create_dir_all(beside())?;
    for script in SCRIPTS {
        let template = fs::read_to_string(root().join("installer").join(script))?;
        fs::write(beside().join(script), fill(&template, &base, &lines))?;
        println!("{} installs from {} archives", beside().join(script).display(), lines.len());
    }
    Ok(())
}

/// Returns the address that a release's archives are at; empty outside a release.
fn base(variable: impl Fn(&str) -> Option<String>) -> Result<String> {
    let names = ["GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_REF_NAME"];
    let [Some(server), Some(repository), Some(tag)] = names.map(&variable) else { return Ok(String::new()) };
    if variable("GITHUB_REF_TYPE").as_deref() != Some("tag") {
        return Ok(String::new());
    }
    let named = value(&fs::read_to_string(root().join("dist.toml"))?, "repository").unwrap_or_default();
    let here = format!("{server}/{repository}");
    ensure!(here == named, "this release runs in {here}, and dist.toml names {named}");
    Ok(format!("{here}/releases/download/{tag}"))
}

/// Returns the SHA-256 in a file as `sha256sum` writes it.
fn sum(text: &str) -> Option<&str> {
    let sum = text.split_whitespace().next()?;
    (sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(sum)
}

fn fill(template: &str, base: &str, archives: &[String]) -> String {
    template
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@BASE@", base)
        .replace("@ARCHIVES@", &archives.join("\n"))
}

/// Returns what the programs of a release know of it: the commit, and where the newest release is, for `wyren update`.
pub(crate) fn release_variables() -> Vec<(&'static str, String)> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut variables = Vec::new();
    if let (Some(server), Some(repository)) = (variable("GITHUB_SERVER_URL"), variable("GITHUB_REPOSITORY")) {
        variables.push(("WYREN_RELEASES", format!("{server}/{repository}/releases/latest/download")));
    }
    variables.extend(variable("GITHUB_SHA").map(|commit| ("WYREN_COMMIT", commit)));
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> String {
        fs::read_to_string(root().join(name)).unwrap()
    }

    #[test]
    fn dist_has_the_targets_and_the_version_of_the_workspace() {
        let targets = file("dist-workspace.toml");
        let targets = targets.split_once("targets = [").unwrap().1.split_once(']').unwrap().0;
        let targets: Vec<&str> = targets.split('"').skip(1).step_by(2).collect();
        assert_eq!(targets, TARGETS);
        assert_eq!(value(&file("dist.toml"), "version").unwrap(), env!("CARGO_PKG_VERSION"));
        for (path, pointer) in [
            (".claude-plugin/plugin.json", "/version"),
            (".claude-plugin/marketplace.json", "/plugins/0/version"),
        ] {
            let file: Value = serde_json::from_str(&file(path)).unwrap();
            assert_eq!(file.pointer(pointer).unwrap(), env!("CARGO_PKG_VERSION"), "{path}");
        }
    }

    #[test]
    fn a_plan_with_an_archive_per_program_is_refused() {
        let plan = |names: &[String]| {
            let zip = serde_json::json!({"kind": "executable-zip"});
            let mut artifacts: serde_json::Map<String, Value> =
                names.iter().map(|name| (name.clone(), zip.clone())).collect();
            artifacts.extend(SCRIPTS.map(|script| (script.to_owned(), Value::Null)));
            serde_json::json!({"artifacts": artifacts}).to_string()
        };
        let mut names = TARGETS.map(name).to_vec();
        check_plan(&plan(&names)).unwrap();
        names.push("tool-record-x86_64-unknown-linux-musl.tar.xz".to_owned());
        assert!(check_plan(&plan(&names)).is_err());
        assert!(check_plan(&plan(&names[..4])).is_err());
        assert!(check_plan(r#"{"artifacts": {}}"#).is_err());
    }

    #[test]
    fn the_readme_installs_from_the_repository_of_the_release() {
        let repository = value(&file("dist.toml"), "repository").unwrap();
        let readme = file("README.md");
        for script in SCRIPTS {
            let address = format!("{repository}/releases/latest/download/{script}");
            assert!(readme.contains(&address), "{address}");
        }
        let guides = fs::read_dir(root().join("docs/guides")).unwrap();
        let guides: String = guides.map(|guide| fs::read_to_string(guide.unwrap().path()).unwrap()).collect();
        let lines: Vec<&str> = guides.lines().filter(|line| line.contains("/releases/")).collect();
        let install = readme.lines().find(|line| line.starts_with("curl ")).unwrap();
        assert_eq!(
            lines,
            [install, install],
            "the guides for moving from the Node version and lessons-learned"
        );
    }

    #[test]
    fn both_scripts_know_the_shell_of_each_agent() {
        for script in SCRIPTS {
            let text = file(&format!("installer/{script}"));
            for shell in ::base::env::SHELLS {
                assert!(text.contains(shell.variable), "{script}: {}", shell.title);
            }
        }
    }

    #[test]
    fn a_script_downloads_from_the_repository_of_the_release_and_from_no_other() {
        let repository = value(&file("dist.toml"), "repository").unwrap();
        let (server, path) =
            repository.match_indices('/').nth(2).map(|(at, _)| repository.split_at(at)).unwrap();
        let release = |path: &str, kind: &str| {
            let (path, kind) = (path.trim_start_matches('/').to_owned(), kind.to_owned());
            base(move |name| match name {
                "GITHUB_SERVER_URL" => Some(server.to_owned()),
                "GITHUB_REPOSITORY" => Some(path.clone()),
                "GITHUB_REF_NAME" => Some("v0.1.0".to_owned()),
                "GITHUB_REF_TYPE" => Some(kind.clone()),
                _ => None,
            })
        };
        assert_eq!(release(path, "tag").unwrap(), format!("{repository}/releases/download/v0.1.0"));
        assert_eq!(release(path, "branch").unwrap(), "");
        assert!(release("other/wyren", "tag").is_err());
        assert_eq!(base(|_| None).unwrap(), "");
    }

    #[test]
    fn both_scripts_know_each_archive_and_its_sum() {
        let lines = TARGETS.map(|target| format!("{target} {} {}", name(target), "0".repeat(64)));
        for script in SCRIPTS {
            let filled = fill(&file(&format!("installer/{script}")), "https://example.org", &lines);
            assert!(lines.iter().all(|line| filled.contains(line.as_str())), "{script}");
            assert!(filled.contains("'https://example.org'"), "{script}: {filled}");
            assert!(
                !["@VERSION@", "@BASE@", "@ARCHIVES@"].iter().any(|gap| filled.contains(gap)),
                "{script}"
            );
        }
        assert_eq!(sum(&format!("{} *wyren.tar.xz\n", "a0".repeat(32))), Some(&*"a0".repeat(32)));
        assert_eq!(sum("not found"), None);
    }
}
