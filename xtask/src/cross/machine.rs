//! A machine to run the programs on: this one, or an emulated one.

use super::System;
use super::build::{Test, Tools};
use crate::plugin;
use crate::workspace::find;
use anyhow::{Context as _, Result, bail, ensure};
use child::{Group, Orphans};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a program may take, its output closed at the end: emulation is slow, and wine's first start the slowest.
const LIMIT: Duration = Duration::from_secs(120);

/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(5);

const QEMU: &str = "qemu-aarch64";

/// Where Debian's package puts what it does not put on the PATH.
const WINE_FOLDER: &str = "/usr/lib/wine";

/// The letter of the drive under which wine shows our files.
const DRIVE: &str = "Z:";

/// Parts of wine that want a window, or something from the network.
const NO_WINE_PARTS: &str = "explorer.exe,mscoree,mshtml,winemenubuilder.exe=";

/// How wine's own words begin. Its own processes write where the program that started them writes; a program of ours that
/// crashes has no exit status 0.
const WINE_SAYS: [&str; 2] = ["wine:", "wine client error:"];

/// A machine, and the home of one user on it.
pub(super) struct Machine {
    kind: Kind,
    plugin: PathBuf,
    folder: TempDir,
}

enum Kind {
    Here,
    Qemu(PathBuf),
    Wine(PathBuf),
}

/// What a program answered.
pub(super) struct Answer {
    pub(super) status: ExitStatus,
    pub(super) output: String,
    pub(super) errors: String,
}

/// Fails when the emulator of a system is not installed.
pub(super) fn require(system: System) -> Result<()> {
    emulator(system).map(drop)
}

fn emulator(system: System) -> Result<Kind> {
    match system {
        System::Aarch64 => {
            let qemu = find(QEMU);
            Ok(Kind::Qemu(qemu.with_context(|| format!("{QEMU} is not installed (Debian: qemu-user)"))?))
        }
        System::Windows => {
            let wine = find("wine64").or_else(|| find(Path::new(WINE_FOLDER).join("wine64")));
            Ok(Kind::Wine(wine.context("wine64 is not installed (Debian: wine64)")?))
        }
    }
}

impl Machine {
    /// Returns this machine with the plugin of `cargo xtask plugin`.
    pub(super) fn here() -> Result<Self> {
        let plugin = plugin::folder();
        let plugin = if plugin.is_dir() { plugin } else { plugin::assemble()? };
        Self::new(Kind::Here, plugin)
    }

    /// Returns a machine with this plugin.
    pub(super) fn emulated(system: System, plugin: PathBuf, tools: &Tools) -> Result<Self> {
        let machine = Self::new(emulator(system)?, plugin)?;
        if let Kind::Wine(wine) = &machine.kind {
            let mut first = Command::new(wine);
            machine.surround(&mut first);
            let answer = finish(first.args(["wineboot", "--init"]), &[])?;
            ensure!(answer.status.success(), "wine could not make its folder: {}", answer.errors);
            let library = tools.missing_library()?;
            let name = library.file_name().unwrap_or_default();
            std::fs::copy(&library, machine.wine_folder().join("drive_c/windows/system32").join(name))?;
        }
        Ok(machine)
    }

    fn new(kind: Kind, plugin: PathBuf) -> Result<Self> {
        let folder = tempfile::tempdir().context("could not create a temporary folder")?;
        let machine = Self { kind, plugin, folder };
        std::fs::create_dir(machine.home())?;
        Ok(machine)
    }

    pub(super) fn is_windows(&self) -> bool {
        matches!(self.kind, Kind::Wine(_))
    }

    /// Returns whether a program can start another one: qemu hands the start to this machine, which cannot run it.
    pub(super) fn starts_programs(&self) -> bool {
        !matches!(self.kind, Kind::Qemu(_))
    }

    /// Returns the user's home, as this machine names it.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns the client's folder, as this machine names it.
    pub(super) fn client(&self) -> PathBuf {
        self.home().join(".claude")
    }

    pub(super) fn plugin(&self) -> &Path {
        &self.plugin
    }

    /// Returns the data folder that a program finds without being told one, as this machine names it.
    pub(super) fn data(&self) -> Result<PathBuf> {
        if !self.is_windows() {
            return Ok(self.home().join(".local/share/wyren"));
        }
        // Named after the user who runs wine.
        let users = self.wine_folder().join("drive_c/users");
        let users = std::fs::read_dir(&users)?.flatten().map(|user| user.path());
        let mut data = users.map(|user| user.join("AppData/Local/wyren")).filter(|data| data.is_dir());
        data.next().context("no user of wine's has a data folder")
    }

    /// Returns the data folder as people read it.
    pub(super) fn shown_data(&self) -> &'static str {
        if self.is_windows() { r"~\AppData\Local\wyren" } else { "~/.local/share/wyren" }
    }

    /// Returns a path as the programs of this machine name it.
    pub(super) fn name(&self, path: &Path) -> String {
        if self.is_windows() { on_drive(path) } else { path.display().to_string() }
    }

    /// Runs a program of the plugin in the folder `cwd`, with `input`.
    pub(super) fn run(&self, program: &str, arguments: &[&str], cwd: &Path, input: &[u8]) -> Result<Answer> {
        let program = self.plugin.join("bin").join(program);
        let mut command = self.command(&program);
        command.args(arguments).current_dir(cwd);
        // Which the client sets for every hook.
        command.env("CLAUDE_PLUGIN_ROOT", self.name(&self.plugin));
        let mut answer =
            finish(&mut command, input).with_context(|| format!("{} {arguments:?}", program.display()))?;
        if self.is_windows() {
            let lines =
                answer.errors.lines().filter(|line| !WINE_SAYS.iter().any(|words| line.starts_with(words)));
            answer.errors = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
        }
        Ok(answer)
    }

    /// Runs tests; returns how many passed in each package.
    pub(super) fn run_tests(&self, tests: &[Test]) -> Result<BTreeMap<&'static str, usize>> {
        let mut passed = BTreeMap::new();
        for test in tests {
            let mut command = self.command(&test.program);
            let answer = finish(command.args(test.filters).arg("--test-threads=1"), &[])?;
            let about = || format!("{}: {}\n{}", test.program.display(), answer.output, answer.errors);
            ensure!(answer.status.success(), "{}", about());
            *passed.entry(test.package).or_default() += passed_in(&answer.output).with_context(about)?;
        }
        // A program without tests is a file for other systems, but a package without any shows nothing.
        for (package, passed) in &passed {
            ensure!(*passed > 0, "no test of {package} ran");
        }
        Ok(passed)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = match &self.kind {
            Kind::Here => Command::new(program),
            Kind::Qemu(emulator) => emulated_by(emulator, program),
            Kind::Wine(emulator) if program.extension().is_some() => emulated_by(emulator, program),
            Kind::Wine(emulator) => emulated_by(emulator, program.with_extension("exe")),
        };
        self.surround(&mut command);
        command
    }

    fn surround(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home());
        command.env("CLAUDE_CONFIG_DIR", self.name(&self.client()));
        // What stays of a run is in its own folder.
        command.env("TMPDIR", self.folder.path()).env("TZ", "UTC");
        if self.is_windows() {
            command.env("WINEPREFIX", self.wine_folder()).env("WINEDEBUG", "-all");
            command.env("WINEDLLOVERRIDES", NO_WINE_PARTS);
        }
    }

    fn wine_folder(&self) -> PathBuf {
        self.folder.path().join("wine")
    }
}

impl Drop for Machine {
    /// Ends what wine keeps running for this folder, and only that.
    fn drop(&mut self) {
        if let Kind::Wine(_) = self.kind {
            let mut server = Command::new(Path::new(WINE_FOLDER).join("wineserver"));
            self.surround(&mut server);
            let _ = server.arg("-k").status();
            let _ = server.args(["-w"]).status();
        }
    }
}

fn on_drive(path: &Path) -> String {
    format!("{DRIVE}{}", path.display().to_string().replace('/', "\\"))
}

fn emulated_by(emulator: &Path, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(emulator);
    command.arg(program);
    command
}

/// Runs a command to its end and to the end of its output, which a program in the background must not hold open.
fn finish(command: &mut Command, input: &[u8]) -> Result<Answer> {
    let deadline = Instant::now() + LIMIT;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::start(command, Orphans::EndAfter(Duration::ZERO))?;
    let output = collect(group.take_stdout());
    let errors = collect(group.take_stderr());
    let fed = group.take_stdin().map_or(Ok(()), |mut stdin| stdin.write_all(input));
    let rest = |stream: mpsc::Receiver<String>| {
        stream.recv_timeout(deadline.saturating_duration_since(Instant::now()))
    };
    let (output, errors) = (rest(output), rest(errors));
    while !group.has_ended() && Instant::now() < deadline {
        thread::sleep(POLL);
    }
    let is_over = group.has_ended();
    if !is_over {
        group.kill_all();
    }
    let status = group.wait()?;
    match (output, errors, is_over) {
        (Ok(output), Ok(errors), true) => {
            fed.context("it did not read its input")?;
            Ok(Answer { status, output, errors })
        }
        _ => bail!("it did not end, or something holds its output open, after {} s", LIMIT.as_secs()),
    }
}

/// Returns how many tests passed, as the program with them says.
fn passed_in(output: &str) -> Option<usize> {
    let (_, rest) = output.split_once("test result: ok. ")?;
    rest.split_once(" passed")?.0.parse().ok()
}

fn collect(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        sender.send(String::from_utf8_lossy(&bytes).into_owned())
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_counted_as_their_program_says() {
        let output = "running 2 tests\n..\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 98 filtered out\n";
        assert_eq!(passed_in(output), Some(2));
        assert_eq!(passed_in("test result: FAILED. 1 passed; 1 failed"), None);
        assert_eq!(passed_in(""), None);
    }

    #[test]
    fn wine_names_our_files_on_a_drive() {
        assert_eq!(on_drive(Path::new("/home/dev/project")), r"Z:\home\dev\project");
    }
}
