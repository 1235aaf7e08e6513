//! From the packages of `cargo xtask npm`, in a registry on this machine, to an installed plugin.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use fixture::{Door, Web};
use serde_json::{Value, json};
use tables::hooks::HOOKS;
use tempfile::TempDir;
use wyren_tests::client::{self, Client};
use wyren_tests::plugin;

use super::{
    MEMORY, RARE_EVENTS, SHOWN_ELSEWHERE, check_hook_log, check_processes, check_ran, decide,
    provoke_in_a_turn,
};

/// The repository's own marketplace, which names the package on npm.
const MARKETPLACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.claude-plugin/marketplace.json");

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A version that comes later than any other.
const NEWER: &str = "99.0.0";

/// A registry of packages. The files in its folder are what it answers with.
struct Registry {
    folder: TempDir,
    web: Web,
}

impl Registry {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("archives"))?;
        let web = Web::new(Door::Open(folder.path().to_owned()));
        Ok(Self { folder, web })
    }

    /// Publishes a package, as the latest version of its name.
    fn publish(&self, archive: &Path) -> Result<()> {
        let file = archive.file_name().context("no name")?.to_string_lossy().into_owned();
        fs::copy(archive, self.folder.path().join("archives").join(&file))?;
        let mut tar = Command::new("tar");
        let manifest = tar.arg("-xzOf").arg(archive).arg("package/package.json").output()?.stdout;
        let mut manifest: Value = serde_json::from_slice(&manifest)?;
        manifest["dist"] = json!({"tarball": self.web.address(&format!("archives/{file}"))});
        manifest["hasInstallScript"] = manifest["scripts"]["postinstall"].is_string().into();
        let [name, version] =
            ["name", "version"].map(|key| manifest[key].as_str().unwrap_or_default().to_owned());
        let path = self.folder.path().join(name.replace('/', "%2f"));
        let mut package: Value = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(_) => json!({"name": name, "versions": {}}),
        };
        package["versions"][&version] = manifest;
        package["dist-tags"] = json!({"latest": version});
        Ok(fs::write(path, package.to_string())?)
    }

    /// Returns the variable that has npm ask this registry.
    fn variable(&self) -> (&'static str, String) {
        ("npm_config_registry", self.web.address(""))
    }
}

/// The packages of `cargo xtask npm`: the programs of this machine, and the plugin.
struct Packages {
    programs: PathBuf,
    plugin: PathBuf,
}

impl Packages {
    /// Returns the packages, or says why the test is skipped.
    fn find() -> Option<Self> {
        let folder = plugin::packages()?;
        let processor = if cfg!(target_arch = "x86_64") { "x64" } else { "arm64" };
        let archive = |name: &str| folder.join(format!("wyren-{name}-{VERSION}.tgz"));
        Some(Self { programs: archive(&format!("linux-{processor}")), plugin: archive("plugin") })
    }

    fn publish(&self, registry: &Registry) -> Result<()> {
        registry.publish(&self.programs)?;
        registry.publish(&self.plugin)
    }

    /// Packs the same once more as a newer version.
    fn newer(&self, folder: &Path) -> Result<Self> {
        let repack = |archive: &Path| -> Result<PathBuf> {
            let name = archive.file_name().context("no name")?.to_string_lossy().replace(VERSION, NEWER);
            let (new, unpacked) = (folder.join(&name), folder.join(format!("{name}.unpacked")));
            fs::create_dir(&unpacked)?;
            tar(&["-xzf".as_ref(), archive, "-C".as_ref(), &unpacked])?;
            for file in ["package.json", "package-lock.json", ".claude-plugin/plugin.json"] {
                let path = unpacked.join("package").join(file);
                let Ok(text) = fs::read_to_string(&path) else { continue };
                // Another archive has another checksum.
                let lines = text.lines().filter(|line| !line.contains("\"integrity\""));
                let text = lines.collect::<Vec<_>>().join("\n");
                fs::write(path, text.replace(&format!("\"{VERSION}\""), &format!("\"{NEWER}\"")))?;
            }
            tar(&["-czf".as_ref(), &new, "-C".as_ref(), &unpacked, "package".as_ref()])?;
            Ok(new)
        };
        Ok(Self { programs: repack(&self.programs)?, plugin: repack(&self.plugin)? })
    }
}

fn tar(arguments: &[&Path]) -> Result<()> {
    ensure!(Command::new("tar").args(arguments).status()?.success(), "tar {arguments:?} failed");
    Ok(())
}

/// A person whose client has the repository's marketplace, with `claude` on their PATH.
struct Person {
    client: Client,
    /// What was in the client's folder before.
    before: Vec<PathBuf>,
    _tools: TempDir,
}

impl Person {
    fn new(registry: &Registry, variables: &[(&str, &str)]) -> Result<Option<Self>> {
        let Some(client) = Client::new()? else { return Ok(None) };
        let tools = tempfile::tempdir()?;
        symlink(client::program().context("no client")?, tools.path().join("claude"))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [tools.path().to_owned()].into_iter().chain(std::env::split_paths(&path));
        let (name, address) = registry.variable();
        let mut client = client.env("PATH", std::env::join_paths(path)?).env(name, address);
        for (name, value) in variables {
            client = client.env(name, value);
        }
        let client = client.env("WYREN_MODEL_PROVIDER", "off").allow_tools(&["Bash", "Agent"]);
        // What a clone of the repository has.
        let clone = tools.path().join("clone");
        fs::create_dir_all(clone.join(".claude-plugin"))?;
        fs::copy(MARKETPLACE, clone.join(".claude-plugin/marketplace.json"))?;
        let before = files(&client.config())?;
        client.add_marketplace(&clone)?;
        client.install_plugin("wyren@wyren")?;
        Ok(Some(Self { client, before, _tools: tools }))
    }

    /// Returns the folder that a version of the plugin is in.
    fn plugin(&self, version: &str) -> PathBuf {
        self.client.config().join("plugins/cache/wyren/wyren").join(version)
    }

    /// Checks that a session of this person fires every hook, and that `wyren doctor` has nothing to say.
    fn fires_every_hook(&self, version: &str) -> Result<()> {
        decide(&self.client, "Use Postgres")?;
        provoke_in_a_turn(&self.client)?;
        // A turn has no compaction.
        let in_a_turn = |event: &&&str| !RARE_EVENTS.contains(event) && **event != "PreCompact";
        for hook in HOOKS.iter().filter(|hook| !SHOWN_ELSEWHERE.contains(&hook.name)) {
            for event in hook.events.iter().filter(in_a_turn) {
                check_ran(&self.client, hook.name, event)?;
            }
        }
        let requests = self.client.mock().requests();
        let shown = requests.iter().any(|request| request.count(MEMORY) == 1);
        ensure!(shown, "no request has the memory");
        // Fails unless it exits with 0.
        self.client.wyren(&self.plugin(version), &["doctor"])?;
        check_processes(&self.client)
    }
}

/// Returns the files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| next.display().to_string())? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path().strip_prefix(folder)?.to_owned());
            }
        }
    }
    files.sort();
    Ok(files)
}

const NONE: [PathBuf; 0] = [];

#[test]
fn the_marketplace_of_a_clone_passes_strict_validation() -> Result<()> {
    let Some(client) = Client::new()? else { return Ok(()) };
    client.validate(Path::new(MARKETPLACE))?;
    Ok(())
}

/// How a program of Linux begins.
const ELF: &[u8] = b"\x7fELF";

/// Returns the files of a plugin's `bin/` that are no native programs.
fn scripts(plugin: &Path) -> Result<Vec<PathBuf>> {
    let programs = files(&plugin.join("bin"))?;
    ensure!(programs.len() >= HOOKS.len() + 2, "{programs:?}");
    let mut scripts = Vec::new();
    for program in programs {
        if !fs::read(plugin.join("bin").join(&program))?.starts_with(ELF) {
            scripts.push(program);
        }
    }
    Ok(scripts)
}

/// Registries of the client's, which it keeps when they are empty.
const REGISTRIES: [&str; 4] = [
    "plugins/.last_inuse_sweep",
    "plugins/installed_plugins.json",
    "plugins/known_marketplaces.json",
    "settings.json",
];

/// Checks that the client's folder has no file more than before, but for its transcripts, task lists and registries without an entry.
fn check_left(person: &Person) -> Result<()> {
    let config = person.client.config();
    for path in files(&config)?.iter().filter(|path| !person.before.contains(path)) {
        if ["projects", "backups", "tasks"].iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        ensure!(REGISTRIES.iter().any(|registry| path == Path::new(registry)), "{} is left", path.display());
        let text = fs::read_to_string(config.join(path))?;
        ensure!(!text.contains("wyren"), "{}: {text}", path.display());
    }
    ensure!(!config.join("plugins/npm-cache").exists(), "an empty project of packages is left");
    Ok(())
}

#[test]
fn the_marketplace_of_a_clone_installs_native_hooks_from_npm_and_uninstall_takes_them_back() -> Result<()> {
    let Some(packages) = Packages::find() else { return Ok(()) };
    let registry = Registry::new()?;
    packages.publish(&registry)?;
    let Some(ada) = Person::new(&registry, &[])? else { return Ok(()) };
    assert_eq!(scripts(&ada.plugin(VERSION))?, NONE, "postinstall put programs there");
    // From here on nothing can be downloaded.
    drop(registry);
    ada.fires_every_hook(VERSION)?;

    ada.client.wyren(&ada.plugin(VERSION), &["uninstall"])?;
    check_left(&ada)?;
    let lines = ada.client.hook_log()?.len();
    assert!(ada.client.prompt("hello again")?.succeeded());
    assert_eq!(ada.client.hook_log()?.len(), lines);
    check_processes(&ada.client)
}

#[test]
fn wyren_install_takes_the_place_of_a_plugin_from_npm() -> Result<()> {
    let Some(packages) = Packages::find() else { return Ok(()) };
    let registry = Registry::new()?;
    packages.publish(&registry)?;
    let Some(ada) = Person::new(&registry, &[("npm_config_ignore_scripts", "true")])? else {
        return Ok(());
    };
    drop(registry);
    ada.client.wyren(&ada.plugin(VERSION), &["install"])?;
    let plugin = ada.client.data().join("plugin");
    assert_eq!(scripts(&plugin)?, NONE);
    assert!(!plugin.join("node_modules").exists() && !plugin.join("package-lock.json").exists());
    // What the client had from npm is not what it runs.
    let _ = fs::remove_dir_all(ada.plugin(VERSION));
    decide(&ada.client, "Use Postgres")?;
    let turn = ada.client.prompt("hello")?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.main_request(0)?.count(MEMORY), 1, "{}", turn.main_request(0)?.texts());
    ada.client.wyren(&plugin, &["doctor"])?;
    check_processes(&ada.client)
}

#[test]
fn without_scripts_the_first_session_puts_the_programs_in_place_and_an_update_does_so_again() -> Result<()> {
    let Some(packages) = Packages::find() else { return Ok(()) };
    let registry = Registry::new()?;
    packages.publish(&registry)?;
    let Some(ada) = Person::new(&registry, &[("npm_config_ignore_scripts", "true")])? else {
        return Ok(());
    };
    let plugin = ada.plugin(VERSION);
    assert_eq!(scripts(&plugin)?, files(&plugin.join("bin"))?, "no script of npm's has run");
    ada.fires_every_hook(VERSION)?;
    assert_eq!(scripts(&plugin)?, NONE);
    let installed = files(&plugin.join("node_modules/@wyren"))?;
    let reset =
        installed.iter().find(|path| path.ends_with("bin/session-start-reset")).context("no program")?;
    let [placed, below] =
        [plugin.join("bin/session-start-reset"), plugin.join("node_modules/@wyren").join(reset)];
    assert_eq!(fs::metadata(placed)?.ino(), fs::metadata(below)?.ino(), "it is a link");

    let folder = tempfile::tempdir()?;
    packages.newer(folder.path())?.publish(&registry)?;
    let claude = client::program().context("no client")?;
    let updated = ada.client.run(&claude, &["plugin", "update", "wyren@wyren"])?;
    assert!(updated.status.success(), "{updated:#?}");
    let newer = ada.plugin(NEWER);
    assert_eq!(scripts(&newer)?, files(&newer.join("bin"))?);
    drop(registry);
    assert!(ada.client.prompt("hello again")?.succeeded());
    assert_eq!(scripts(&newer)?, NONE, "the session ran the hooks of the new version");
    ada.client.wyren(&newer, &["doctor"])?;
    check_processes(&ada.client)
}

#[test]
fn where_npm_leaves_out_the_programs_a_session_says_so_once_and_names_the_fix() -> Result<()> {
    let Some(packages) = Packages::find() else { return Ok(()) };
    let registry = Registry::new()?;
    packages.publish(&registry)?;
    check_missing(&registry, &[("npm_config_omit", "optional")], || Ok(()))
}

#[test]
fn where_a_registry_lacks_the_programs_a_session_says_so_once_and_names_the_fix() -> Result<()> {
    let Some(packages) = Packages::find() else { return Ok(()) };
    let registry = Registry::new()?;
    registry.publish(&packages.plugin)?;
    check_missing(&registry, &[], || registry.publish(&packages.programs))
}

/// Checks the sessions of a person who has no programs, and that the command they are shown gets them.
fn check_missing(
    registry: &Registry,
    variables: &[(&str, &str)],
    before_the_fix: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let Some(ada) = Person::new(registry, variables)? else { return Ok(()) };
    let plugin = ada.plugin(VERSION);
    assert_eq!(scripts(&plugin)?, files(&plugin.join("bin"))?);

    provoke_in_a_turn(&ada.client)?;
    assert!(!ada.client.data().join("logs").exists(), "no hook ran");
    let mut terminal = ada.client.terminal()?;
    terminal.wait_for("Wyren's programs for this machine")?;
    terminal.submit("hello")?;
    terminal.wait_for("ok")?;
    let screen = terminal.contents();
    assert_eq!(screen.matches("Wyren's programs").count(), 1, "{screen}");
    assert!(!screen.contains("hook error"), "{screen}");
    terminal.exit()?;

    before_the_fix()?;
    let asked = ada.client.run(&plugin.join("bin/wyren"), &["status"])?;
    assert_eq!(asked.status.code(), Some(1), "{asked:#?}");
    let fix = asked.stderr.split("run: ").nth(1).context("no command")?;
    let fixed = ada.client.run(Path::new("/bin/sh"), &["-c", fix])?;
    assert!(fixed.status.success(), "{fixed:#?}");
    assert!(ada.client.prompt("hello again")?.succeeded());
    check_hook_log(&ada.client, "session-start-memory")?;
    assert_eq!(scripts(&plugin)?, NONE);
    check_processes(&ada.client)
}

/// Runs the script of the package as npm does, with node's name for a platform.
fn postinstall(package: &Path, platform: &str) -> Result<String> {
    let script = format!(
        "Object.defineProperty(process, 'platform', {{value: '{platform}'}});\
         Object.defineProperty(process, 'arch', {{value: 'x64'}});\
         require(process.argv[1])"
    );
    let mut node = Command::new("node");
    let output = node.arg("-e").arg(script).arg(package.join("postinstall.js")).output()?;
    ensure!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    Ok(String::from_utf8(output.stderr)?)
}

#[test]
fn on_windows_the_programs_of_the_package_replace_the_launchers() -> Result<()> {
    if client::program().is_none() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let package = folder.path().join("node_modules/@wyren/plugin");
    // Where npm puts it beside the plugin.
    let programs = folder.path().join("node_modules/@wyren/win32-x64");
    for (path, text) in [
        (package.join("bin/tool-record"), "launcher"),
        (package.join("bin/wyren"), "launcher"),
        (programs.join("package.json"), "{}"),
        (programs.join("bin/tool-record.exe"), "program"),
        (programs.join("bin/wyren.exe"), "program"),
    ] {
        fs::create_dir_all(path.parent().context("no folder")?)?;
        fs::write(path, text)?;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../npm/postinstall.js");
    fs::copy(script, package.join("postinstall.js"))?;

    assert_eq!(postinstall(&package, "sunos")?, "wyren: no programs for sunos-x64 were installed\n");
    assert_eq!(files(&package.join("bin"))?, ["tool-record", "wyren"].map(PathBuf::from));
    for _ in 0..2 {
        assert_eq!(postinstall(&package, "win32")?, "");
        assert_eq!(files(&package.join("bin"))?, ["tool-record.exe", "wyren.exe"].map(PathBuf::from));
    }
    Ok(())
}
