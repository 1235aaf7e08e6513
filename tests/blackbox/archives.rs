//! A release: what is in the archive that `dist` packs, and the script that installs it, from a server on this machine.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use fixture::{Door, Web};
use wyren_tests::plugin::{self, PluginCopy};
use wyren_tests::sandbox::{Sandbox, feed};
use wyren_tests::tree::{Tree, tree};

/// The programs that the script needs, each downloader and each way to check a sum among them.
const TOOLS: [&str; 13] = [
    "sh",
    "uname",
    "sysctl",
    "grep",
    "mktemp",
    "rm",
    "curl",
    "wget",
    "sha256sum",
    "shasum",
    "openssl",
    "tar",
    "xz",
];

/// A user with nothing but the archive's server and the usual programs. Claude Code is not among them.
struct User {
    sandbox: Sandbox,
    archive: PathBuf,
    script: String,
    web: Web,
}

impl User {
    fn new() -> Result<Option<User>> {
        let Some(archive) = plugin::archive() else { return Ok(None) };
        let folder = archive.parent().context("the archive is in no folder")?.to_owned();
        User::of(&archive, Door::Open(folder))
    }

    /// Makes a user whose server is like this.
    fn of(archive: &Path, door: Door) -> Result<Option<User>> {
        let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
        for folder in ["home/.config", "tmp", "tools"] {
            fs::create_dir_all(sandbox.folder().join(folder))?;
        }
        let script = fs::read_to_string(archive.with_file_name("install.sh"))?;
        let user = User { sandbox, archive: archive.to_owned(), script, web: Web::new(door) };
        user.have(&TOOLS)?;
        Ok(Some(user))
    }

    /// Leaves these programs on the PATH, as far as this machine has them.
    fn have(&self, tools: &[&str]) -> Result<()> {
        let folder = self.path("tools");
        fs::remove_dir_all(&folder)?;
        fs::create_dir(&folder)?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        for tool in tools {
            let found =
                std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|path| path.is_file());
            if let Some(found) = found {
                symlink(found, folder.join(tool))?;
            }
        }
        Ok(())
    }

    /// Puts a program in the place of one on the PATH.
    fn replace(&self, tool: &str, script: &str) -> Result<()> {
        let path = self.path("tools").join(tool);
        fs::remove_file(&path)?;
        fs::write(&path, format!("#!/bin/sh\n{script}\n"))?;
        Ok(fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.sandbox.folder().join(path)
    }

    /// Returns a shell that reads the script from its input, as after `curl … |`.
    fn shell(&self) -> Command {
        let mut command = self.command(&self.path("tools/sh"));
        command.env("WYREN_DOWNLOAD_BASE", self.web.address("").trim_end_matches('/'));
        command
    }

    /// Returns a command in this user's environment: a home, and no variable of Wyren's.
    fn command(&self, program: &Path) -> Command {
        let mut command = self.sandbox.command_for(program);
        command.env_remove("WYREN_DATA_DIR").env("PATH", self.path("tools"));
        command
    }

    fn install(&self) -> Result<String> {
        let output = feed(&mut self.shell(), self.script.as_bytes())?;
        ensure!(output.status.success(), "{output:#?}");
        Ok(String::from_utf8(output.stdout)?)
    }

    fn wyren(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(&self.path("home/.local/bin/wyren")).args(arguments).output()?;
        ensure!(output.status.success(), "{arguments:?}: {output:#?}");
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Returns everything that the script could change.
    fn trees(&self) -> Result<[Tree; 3]> {
        Ok([tree(&self.path("home"))?, tree(&self.path("project"))?, tree(&self.path("tmp"))?])
    }

    /// Runs the script in a way that must fail: it says why, and changes nothing.
    fn is_refused(&self, command: &mut Command, why: &str) -> Result<()> {
        let before = self.trees()?;
        let output: Output = feed(command, self.script.as_bytes())?;
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{why}: {output:#?}");
        assert!(error.contains(why), "{why}: {error}");
        assert!(self.trees()? == before, "{why}: something changed");
        Ok(())
    }
}

fn unpack(archive: &Path, to: &Path) -> Result<()> {
    let status = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(to).status()?;
    ensure!(status.success(), "could not unpack {}", archive.display());
    Ok(())
}

#[test]
fn the_archive_is_the_plugin_in_one_folder_with_a_program_that_installs_it() -> Result<()> {
    let (Some(archive), Some(plugin)) = (plugin::archive(), plugin::folder()) else { return Ok(()) };
    let Some(user) = User::new()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    unpack(&archive, folder.path())?;
    let names = |folder: &Path| -> Result<Vec<String>> {
        let entries =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names = entries.collect::<Result<Vec<String>>>()?;
        names.sort();
        Ok(names)
    };
    let top = archive.file_name().unwrap_or_default().to_string_lossy().replace(".tar.xz", "");
    assert_eq!(names(folder.path())?, std::slice::from_ref(&top));
    let top = folder.path().join(top);
    assert_eq!(names(&top)?, ["install", "plugin"]);
    let (packed, assembled) = (tree(&top.join("plugin"))?, tree(&plugin)?);
    let paths = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(&packed), paths(&assembled));
    assert!(packed == assembled, "modes or bytes differ");

    // For people who unpack it by hand.
    let shown = user.command(&top.join("install")).arg("--dry-run").output()?;
    let shown = String::from_utf8(shown.stdout)?;
    assert!(shown.contains(&format!("copy {}", top.canonicalize()?.join("plugin").display())), "{shown}");
    let refused = user.command(&top.join("install")).arg("--no-such-flag").output()?;
    assert_eq!(refused.status.code(), Some(2), "{refused:#?}");
    fs::remove_dir_all(top.join("plugin"))?;
    let lonely = user.command(&top.join("install")).output()?;
    assert!(String::from_utf8_lossy(&lonely.stderr).contains("Unpack the whole archive"), "{lonely:#?}");
    Ok(())
}

#[test]
fn the_sum_of_the_archive_is_beside_it_and_in_both_scripts() -> Result<()> {
    let Some(archive) = plugin::archive() else { return Ok(()) };
    let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let output = Command::new("openssl").args(["dgst", "-sha256", "-r"]).arg(&archive).output()?;
    let sum = String::from_utf8(output.stdout)?.split(' ').next().unwrap_or_default().to_owned();
    assert_eq!(sum.len(), 64);
    for file in [format!("{name}.sha256"), "sha256.sum".to_owned()] {
        assert_eq!(
            fs::read_to_string(archive.with_file_name(&file))?.trim(),
            format!("{sum} *{name}"),
            "{file}"
        );
    }
    for script in ["install.sh", "install.ps1"] {
        let text = fs::read_to_string(archive.with_file_name(script))?;
        assert!(text.contains(&format!("{name} {sum}")), "{script}");
    }
    Ok(())
}

#[test]
fn one_line_installs_and_after_the_way_out_the_home_is_as_it_was() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let before = user.trees()?;
    let shown = user.install()?;
    assert!(shown.starts_with("Downloading Wyren 0.1.0 for "), "{shown}");
    assert!(shown.contains("Linked wyren as ~/.local/bin/wyren"), "{shown}");
    assert!(shown.trim_end().lines().last().unwrap_or_default().starts_with("Next: "), "{shown}");
    assert_eq!(user.wyren(&["--version"])?, "wyren 0.1.0\n");
    assert!(user.trees()?[2].is_empty(), "the download is still there");

    let again = user.install()?;
    assert!(again.contains("is up to date."), "{again}");
    user.wyren(&["uninstall", "--purge", "--yes"])?;
    assert!(user.trees()? == before, "{:?}", user.trees()?[0].keys());
    Ok(())
}

#[test]
fn the_script_replaces_an_older_wyren() -> Result<()> {
    let (Some(user), Some(plugin)) = (User::new()?, plugin::folder()) else { return Ok(()) };
    let older = PluginCopy::of(&plugin)?;
    fs::write(older.folder().join("bin/an-old-hook"), "old")?;
    fs::write(older.folder().join("README.md"), "old")?;
    let output = user.command(&older.folder().join("bin/wyren")).arg("install").output()?;
    ensure!(output.status.success(), "{output:#?}");
    let data = user.path("home/.local/share/wyren");
    fs::write(data.join("config.toml"), "# mine\n")?;

    let shown = user.install()?;
    assert!(shown.contains("Copied"), "{shown}");
    let installed = data.join("plugin");
    assert!(installed.join("bin/wyren").is_file() && !installed.join("bin/an-old-hook").exists());
    assert_eq!(fs::read(installed.join("README.md"))?, fs::read(plugin.join("README.md"))?);
    assert_eq!(fs::read_to_string(data.join("config.toml"))?, "# mine\n");
    Ok(())
}

#[test]
fn each_downloader_and_each_way_to_check_a_sum_will_do() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    for (left_out, used) in [
        (&["wget", "shasum", "openssl"][..], "curl and sha256sum"),
        (&["curl", "sha256sum", "openssl"], "wget and shasum"),
        (&["wget", "sha256sum", "shasum"], "curl and openssl"),
    ] {
        let tools: Vec<&str> = TOOLS.into_iter().filter(|tool| !left_out.contains(tool)).collect();
        user.have(&tools)?;
        let shown = user.install().with_context(|| used.to_owned())?;
        assert!(shown.contains("Next: "), "{used}: {shown}");
    }
    Ok(())
}

#[test]
fn a_download_by_https_stays_with_https() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let tools = folder.path().join("tools");
    fs::create_dir(&tools)?;
    for tool in ["uname", "grep", "mktemp", "rm", "sysctl"] {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|path| path.is_file());
        found.map(|found| symlink(found, tools.join(tool))).transpose()?;
    }
    let asked = folder.path().join("asked");
    fs::write(tools.join("curl"), format!("#!/bin/sh\necho \"$*\" >'{}'\nexit 22\n", asked.display()))?;
    fs::set_permissions(tools.join("curl"), fs::Permissions::from_mode(0o755))?;
    let targets = ["unknown-linux-musl", "apple-darwin"]
        .map(|system| ["x86_64", "aarch64"].map(|machine| format!("{machine}-{system} wyren.tar.xz 0")));
    let template = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../installer/install.sh"))?;
    let script = template.replace("@ARCHIVES@", &targets.concat().join("\n"));
    for (base, expected) in [("https://releases.invalid", true), ("http://127.0.0.1:1", false)] {
        let mut command = Command::new("/bin/sh");
        command.env_clear().env("PATH", &tools).env("TMPDIR", folder.path());
        let output = feed(command.env("WYREN_DOWNLOAD_BASE", base), script.as_bytes())?;
        assert!(String::from_utf8_lossy(&output.stderr).contains("could not download"), "{output:#?}");
        let asked = fs::read_to_string(&asked)?;
        assert!(asked.contains(&format!("{base}/wyren.tar.xz")), "{asked}");
        assert_eq!(asked.contains("--proto =https --proto-redir =https"), expected, "{asked}");
    }
    Ok(())
}

#[test]
fn what_is_not_the_archive_of_the_release_is_refused() -> Result<()> {
    let Some(archive) = plugin::archive() else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let Some(user) = User::of(&archive, Door::Open(folder.path().to_owned()))? else { return Ok(()) };
    user.is_refused(&mut user.shell(), "could not download")?;

    let mut bytes = fs::read(&archive)?;
    let served = folder.path().join(archive.file_name().unwrap_or_default());
    fs::write(&served, &bytes[..bytes.len() / 2])?;
    user.is_refused(&mut user.shell(), "is not the archive of Wyren 0.1.0: its SHA-256 is")?;
    bytes[1000] ^= 1;
    fs::write(&served, &bytes)?;
    user.is_refused(&mut user.shell(), "The download was damaged or replaced on the way")?;
    fs::write(&served, "<html>")?;
    user.is_refused(&mut user.shell(), "Nothing was changed.")?;
    Ok(())
}

#[test]
fn a_machine_that_a_release_does_not_fit_is_refused() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    for (system, machine, why) in [
        ("Linux", "riscv64", "has no archive for riscv64-unknown-linux-musl"),
        ("FreeBSD", "amd64", "has no archive for x86_64-FreeBSD"),
        ("MINGW64_NT-10.0-26100", "x86_64", "On Windows, run install.ps1"),
    ] {
        user.replace("uname", &format!("[ \"$1\" = -s ] && echo {system} || echo {machine}"))?;
        user.is_refused(&mut user.shell(), why)?;
    }
    let without = |left_out: &[&str]| -> Vec<&str> {
        TOOLS.into_iter().filter(|tool| !left_out.contains(tool)).collect()
    };
    user.have(&without(&["curl", "wget"]))?;
    user.is_refused(&mut user.shell(), "neither curl nor wget is on the PATH")?;
    user.have(&without(&["sha256sum", "shasum", "openssl"]))?;
    user.is_refused(&mut user.shell(), "Install sha256sum, shasum or openssl")?;
    if cfg!(target_os = "linux") {
        user.have(&without(&["xz"]))?;
        user.is_refused(&mut user.shell(), "tar needs xz")?;
    }
    Ok(())
}

#[test]
fn an_unusual_call_is_refused() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    user.is_refused(user.shell().env("SUDO_USER", "ada"), "do not run this script with sudo")?;
    user.is_refused(user.shell().args(["-s", "--", "--settings"]), "takes no arguments, and got --settings")?;
    user.is_refused(user.shell().env_remove("WYREN_DOWNLOAD_BASE"), "has no address to download from")?;
    Ok(())
}

#[test]
fn a_model_is_refused_before_the_download() -> Result<()> {
    let Some(archive) = plugin::archive() else { return Ok(()) };
    let nothing = tempfile::tempdir()?;
    let Some(user) = User::of(&archive, Door::Open(nothing.path().to_owned()))? else { return Ok(()) };
    for variable in ["CLAUDECODE", "CODEX_THREAD_ID", "CURSOR_AGENT", "GEMINI_CLI", "OPENCODE"] {
        user.is_refused(user.shell().env(variable, "1"), "Run it in a terminal of your own")?;
    }
    Ok(())
}

#[test]
fn a_place_without_room_or_leave_to_write_is_refused() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let nowhere = user.path("nowhere");
    user.is_refused(user.shell().env("TMPDIR", &nowhere), "could not make a folder in")?;
    // Files beyond these many blocks of 512 bytes cannot be written, as on a full disk.
    let full = |blocks: u64| {
        let mut command = user.shell();
        command.arg("-c").arg(format!("ulimit -f {blocks}; exec sh"));
        command
    };
    let blocks = fs::metadata(&user.archive)?.len() / 512;
    user.is_refused(&mut full(blocks / 2), "could not download")?;
    user.is_refused(&mut full(blocks + 2), "could not unpack")?;
    user.replace("tar", "exit 0")?;
    user.is_refused(&mut user.shell(), "does not start")?;
    user.have(&TOOLS)?;
    // A file is where a folder of the data folder has to be.
    let file = user.path("home/file");
    fs::write(&file, "mine")?;
    user.is_refused(
        user.shell().env("WYREN_DATA_DIR", file.join("data")),
        "Correct it, and run this script again",
    )?;
    Ok(())
}

#[test]
fn half_a_script_runs_nothing() -> Result<()> {
    let Some(user) = User::new()? else { return Ok(()) };
    let before = user.trees()?;
    let ends: Vec<usize> = user.script.match_indices('\n').map(|(at, _)| at).collect();
    // The last line calls what the others define.
    for end in &ends[..ends.len() - 1] {
        let output = feed(&mut user.shell(), &user.script.as_bytes()[..*end])?;
        assert!(output.stdout.is_empty(), "{end}: {output:#?}");
    }
    assert!(user.trees()? == before, "something changed");
    Ok(())
}

#[test]
fn an_interrupted_download_leaves_nothing() -> Result<()> {
    let Some(archive) = plugin::archive() else { return Ok(()) };
    let Some(user) = User::of(&archive, Door::Silent)? else { return Ok(()) };
    let before = user.trees()?;
    let script = user.path("install.sh");
    fs::write(&script, &user.script)?;
    let mut command = user.shell();
    command.arg(&script).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn()?;
    let mut shown = BufReader::new(child.stdout.take().context("no output")?);
    let mut line = String::new();
    shown.read_line(&mut line)?;
    ensure!(line.starts_with("Downloading") && fs::read_dir(user.path("tmp"))?.count() == 1, "{line}");
    let group = rustix::process::Pid::from_child(&child);
    // Again for a downloader that starts just now, as people press Ctrl-C again.
    let ended = loop {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::yield_now();
    };
    assert!(!ended.success(), "{ended}");
    assert!(user.trees()? == before, "{:?}", user.trees()?[2].keys());
    Ok(())
}
