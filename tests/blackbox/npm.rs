//! The launchers of the npm package, with small programs in place of the real ones.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

/// The launcher that every program of the package is at first.
const LAUNCHER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../npm/launcher.sh");

/// Programs of the package: the hook that speaks when the others are missing, another one, and both programs.
const PROGRAMS: [&str; 5] = ["session-end", "session-start-reset", "tool-record", "wyren", "wyren-mcp"];

const START: &str = r#"{"hook_event_name":"SessionStart","source":"startup"}"#;

/// An installed package on a machine that says what it is.
struct Package {
    folder: TempDir,
    platform: &'static str,
}

impl Package {
    /// Installs the package with the programs of one platform, on a machine that `uname -sm` names.
    fn new(machine: &str, platform: &'static str) -> Result<Self> {
        let package = Self { folder: tempfile::tempdir()?, platform };
        for name in PROGRAMS {
            // It says where it was started from, its arguments, and its standard input.
            let program = "#!/bin/sh\nread -r line\nprintf '%s|%s|%s' \"$0\" \"$*\" \"$line\"\n";
            package.write(&package.programs().join(name), program)?;
            package.write(&package.bin().join(name), &fs::read_to_string(LAUNCHER)?)?;
        }
        package.tool("uname", &format!("echo '{machine}'"))?;
        Ok(package)
    }

    /// Returns the plugin's folder, whose name needs quotes in a shell and in JSON.
    fn root(&self) -> PathBuf {
        self.folder.path().join("it's a \"plug\\in\"")
    }

    fn bin(&self) -> PathBuf {
        self.root().join("bin")
    }

    fn programs(&self) -> PathBuf {
        self.root().join("node_modules/@wyren").join(self.platform).join("bin")
    }

    fn tools(&self) -> PathBuf {
        self.folder.path().join("tools")
    }

    /// Writes a program. Another process does: while this one has it open, a test beside this one that starts something has
    /// it open as well, and a program that is open for writing cannot be started.
    fn write(&self, path: &Path, text: &str) -> Result<()> {
        fs::create_dir_all(path.parent().context("no folder")?)?;
        let draft = self.folder.path().join("draft");
        fs::write(&draft, text)?;
        let is_written = Command::new("install").args(["-m", "755"]).args([&draft, path]).status()?.success();
        ensure!(is_written, "could not write {}", path.display());
        Ok(())
    }

    /// Puts a program before those of the system.
    fn tool(&self, name: &str, script: &str) -> Result<()> {
        self.write(&self.tools().join(name), &format!("#!/bin/sh\n{script}\n"))
    }

    fn command(&self, program: &Path) -> Result<Command> {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [self.tools()].into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(path)?);
        Ok(command)
    }

    fn call(&self, name: &str, input: &str) -> Result<Output> {
        feed(self.command(&self.bin().join(name))?.args(["a b", "c"]), input)
    }

    /// Checks that a call ended well, and that the program answered it that is in `folder`.
    fn check(&self, output: &Output, folder: &Path, name: &str, input: &str) -> Result<()> {
        ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let program = folder.canonicalize()?.join(name);
        let expected = format!("{}|a b c|{input}", program.display());
        let answer = String::from_utf8(output.stdout.clone())?;
        ensure!(answer == expected, "{answer} is not {expected}");
        Ok(())
    }

    /// Returns the names in `bin/`, and whether each is the program that npm installed.
    fn placed(&self) -> Result<Vec<(String, bool)>> {
        let mut placed = Vec::new();
        for entry in fs::read_dir(self.bin())? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_program = fs::metadata(self.programs().join(&name))
                .is_ok_and(|program| entry.metadata().is_ok_and(|placed| placed.ino() == program.ino()));
            placed.push((name, is_program));
        }
        placed.sort();
        Ok(placed)
    }
}

fn feed(command: &mut Command, input: &str) -> Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().context("no input")?.write_all(input.as_bytes())?;
    Ok(child.wait_with_output()?)
}

fn all(is_program: bool) -> Vec<(String, bool)> {
    PROGRAMS.iter().map(|name| ((*name).to_owned(), is_program)).collect()
}

#[test]
fn the_end_of_a_session_puts_every_program_in_its_place() -> Result<()> {
    let package = Package::new("Linux x86_64", "linux-x64")?;
    assert_eq!(package.placed()?, all(false));
    // A launcher that was killed left it.
    fs::create_dir(package.bin().join(".new-1"))?;
    let output = package.call("session-end", START)?;
    package.check(&output, &package.bin(), "session-end", START)?;
    assert_eq!(package.placed()?, all(true));
    Ok(())
}

/// Where one put programs in the place of launchers, another that starts meanwhile would have its shell read a program.
#[test]
fn hooks_that_start_together_all_answer() -> Result<()> {
    let package = Package::new("Linux aarch64", "linux-arm64")?;
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..24)
            .map(|index| {
                let hooks = ["session-start-reset", "tool-record", "wyren-mcp"];
                let (package, name) = (&package, hooks[index % hooks.len()]);
                scope.spawn(move || -> Result<()> {
                    let output = package.call(name, START)?;
                    package.check(&output, &package.programs(), name, START)
                })
            })
            .collect();
        calls.into_iter().try_for_each(|call| call.join().expect("a call panicked"))
    })?;
    assert_eq!(package.placed()?, all(false));
    Ok(())
}

#[test]
fn in_a_folder_that_cannot_be_written_the_launcher_starts_the_program_each_time() -> Result<()> {
    let package = Package::new("Linux x86_64", "linux-x64")?;
    package.tool("mkdir", "echo 'Read-only file system' >&2; exit 1")?;
    for _ in 0..2 {
        let output = package.call("wyren", "")?;
        package.check(&output, &package.programs(), "wyren", "")?;
        assert_eq!(package.placed()?, all(false));
    }
    Ok(())
}

#[test]
fn where_links_are_not_possible_the_programs_are_copied() -> Result<()> {
    let package = Package::new("Linux x86_64", "linux-x64")?;
    package.tool("ln", "echo 'Operation not permitted' >&2; exit 1")?;
    let output = package.call("session-end", START)?;
    package.check(&output, &package.bin(), "session-end", START)?;
    assert_eq!(package.placed()?, all(false), "they are other files");
    for name in PROGRAMS {
        assert_eq!(fs::read(package.bin().join(name))?, fs::read(package.programs().join(name))?);
        assert_eq!(fs::metadata(package.bin().join(name))?.permissions().mode() & 0o777, 0o755);
    }
    Ok(())
}

#[test]
fn on_a_mac_the_programs_for_the_other_processor_serve_as_well() -> Result<()> {
    for (machine, platform) in [
        ("Darwin arm64", "darwin-arm64"),
        ("Darwin arm64", "darwin-x64"),
        ("Darwin x86_64", "darwin-x64"),
        ("Darwin x86_64", "darwin-arm64"),
    ] {
        let package = Package::new(machine, platform)?;
        let output = package.call("session-end", START)?;
        package.check(&output, &package.bin(), "session-end", START)?;
        assert_eq!(package.placed()?, all(true));
    }
    Ok(())
}

#[test]
fn a_link_to_the_launcher_leads_to_the_program() -> Result<()> {
    let package = Package::new("Linux x86_64", "linux-x64")?;
    let (first, second) = (package.folder.path().join("first"), package.folder.path().join("second"));
    symlink(package.bin().join("wyren"), &first)?;
    symlink("first", &second)?;
    let output = feed(package.command(&second)?.args(["a b", "c"]), "")?;
    package.check(&output, &package.bin(), "wyren", "")?;
    assert_eq!(package.placed()?, all(true));
    Ok(())
}

/// Returns the message that a hook shows to the user.
fn message(output: &Output) -> Result<String> {
    ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).with_context(|| format!("{output:?}"))?;
    Ok(answer["systemMessage"].as_str().context("no message")?.to_owned())
}

#[test]
fn missing_programs_are_named_once_per_session_with_the_command_that_fixes_it() -> Result<()> {
    let package = Package::new("Linux x86_64", "linux-x64")?;
    fs::remove_dir_all(package.root().join("node_modules"))?;
    package.tool("npm", "printf '%s\\n' \"$@\"")?;

    let shown = message(&package.call("session-start-reset", START)?)?;
    assert!(shown.contains("(Linux x86_64)") && shown.contains("@wyren/linux-x64"), "{shown}");
    let fix = shown.split("run: ").nth(1).context("no command")?;
    let run = package.command(Path::new("/bin/sh"))?.args(["-c", fix]).output()?;
    let root = package.root().canonicalize()?;
    assert_eq!(
        String::from_utf8(run.stdout)?,
        format!("ci\n--include=optional\n--prefix\n{}\n", root.display())
    );

    for source in ["clear", "compact"] {
        let output = package.call("session-start-reset", &START.replace("startup", source))?;
        assert!(
            output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
    // More than a pipe holds: a client that writes it must not find the pipe closed.
    let long = format!(r#"{{"tool_response":"{}"}}"#, "x".repeat(1 << 20));
    for name in ["tool-record", "session-end"] {
        let output = package.call(name, &long)?;
        assert!(
            output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
    let output = package.call("wyren", "")?;
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert_eq!(String::from_utf8(output.stderr)?, format!("wyren: {shown}\n"));
    assert_eq!(package.placed()?, all(false));
    Ok(())
}

#[test]
fn a_machine_without_a_build_is_named() -> Result<()> {
    let package = Package::new("FreeBSD amd64", "linux-x64")?;
    let shown = message(&package.call("session-start-reset", START)?)?;
    assert!(shown.contains("no programs for this machine (FreeBSD amd64)"), "{shown}");
    assert!(shown.contains("claude plugin uninstall wyren"), "{shown}");
    Ok(())
}
