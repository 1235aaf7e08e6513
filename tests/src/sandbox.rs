//! A folder in which the plugin's programs run without the client: their data, claims and project are all in it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use crate::{plugin, process, shape};

/// A place to run programs of the plugin in.
pub struct Sandbox {
    folder: TempDir,
    bin: PathBuf,
    cases: PathBuf,
}

impl Sandbox {
    /// Makes an empty sandbox for the assembled plugin, or says why the test is skipped.
    pub fn new() -> Result<Option<Sandbox>> {
        let Some(plugin) = plugin::folder() else { return Ok(None) };
        Sandbox::of(&plugin.join("bin"), &data_folder()).map(Some)
    }

    /// Makes an empty sandbox for the programs in `bin`, whose golden cases are in `cases`.
    pub fn of(bin: &Path, cases: &Path) -> Result<Sandbox> {
        let folder = tempfile::Builder::new().prefix("wyren-test-sandbox-").tempdir()?;
        fs::create_dir(folder.path().join("project"))?;
        // A user who has read what the first session says.
        fs::create_dir_all(folder.path().join("data/told"))?;
        fs::write(folder.path().join("data/told/all-first"), "1\n")?;
        Ok(Sandbox { folder, bin: bin.to_owned(), cases: cases.to_owned() })
    }

    /// Returns the folder with a folder of golden cases for each hook.
    pub fn cases(&self) -> &Path {
        &self.cases
    }

    /// Returns the folder that everything is in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder that the programs run in.
    pub fn project(&self) -> PathBuf {
        self.folder().join("project")
    }

    /// Returns the names of the plugin's hooks, sorted.
    pub fn hooks(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.bin)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !name.starts_with("wyren") {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Returns a command for a program of the plugin, with an environment of its own.
    pub fn command(&self, program: &str) -> Command {
        self.command_for(&self.bin.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
    }

    /// Returns a command for any program, with an environment of its own.
    pub fn command_for(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            // What people read is local time.
            .env("TZ", "UTC0")
            .env("HOME", self.folder().join("home"))
            .env("TMPDIR", self.folder().join("tmp"))
            .env("WYREN_DATA_DIR", self.data())
            .env("XDG_RUNTIME_DIR", self.folder());
        command
    }

    /// Feeds `input` to a hook and returns what it left behind.
    pub fn run(&self, hook: &str, input: &[u8]) -> Result<Output> {
        feed(&mut self.command(hook), input)
    }

    /// Sends a prompt in the project and returns the line that the user reads; empty for none.
    pub fn read_line(&self) -> Result<String> {
        let call = serde_json::json!({
            "session_id": "reader", "hook_event_name": "UserPromptSubmit", "prompt": "go on", "cwd": self.project(),
        });
        let answer = self.run("prompt-sync", call.to_string().as_bytes())?.stdout;
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        Ok(answer["systemMessage"].as_str().unwrap_or_default().to_owned())
    }

    /// Runs `wyren` and returns what it left behind.
    pub fn wyren(&self, arguments: &[&str]) -> Result<Output> {
        feed(self.command("wyren").args(arguments), b"")
    }

    /// Returns the lines of the hook log.
    pub fn hook_log(&self) -> Result<Vec<Value>> {
        let text = fs::read_to_string(self.data().join("logs/hooks.jsonl")).unwrap_or_default();
        // A line that was forgotten is blank.
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
    }

    /// Returns the living processes that were started with this sandbox's data folder, whatever became of their parents.
    ///
    /// Only Linux can tell; elsewhere the list is empty.
    pub fn processes(&self) -> Vec<u32> {
        process::started_with(&format!("WYREN_DATA_DIR={}", self.data().display()))
    }

    /// Returns the data folder.
    pub fn data(&self) -> PathBuf {
        self.folder().join("data")
    }
}

/// What a test started ends with it: a worker would outlive it by a minute.
impl Drop for Sandbox {
    fn drop(&mut self) {
        process::kill_all(|| self.processes());
    }
}

/// Runs a command with `input` on its standard input. What `wyren` prints with `--json` must be as documented.
pub fn feed(command: &mut Command, input: &[u8]) -> Result<Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start {command:?}"))?;
    // A program that does not read its input to the end closes the pipe; that is its right.
    let _ = child.stdin.take().context("no standard input")?.write_all(input);
    let output = child.wait_with_output()?;
    let arguments: Vec<String> = command.get_args().map(|it| it.to_string_lossy().into_owned()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_wyren = Path::new(command.get_program()).file_stem().is_some_and(|name| name == "wyren");
    if is_wyren && arguments.contains(&"--json") {
        shape::check(&arguments, &output.stdout)?;
    }
    Ok(output)
}

/// Returns `tests/data`.
pub fn data_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

/// Returns the inputs in `tests/data/<folder>`: file name and bytes, sorted by name.
pub fn inputs(folder: &str) -> Result<Vec<(String, Vec<u8>)>> {
    inputs_in(&data_folder().join(folder))
}

/// Returns the inputs in a folder: file name and bytes, sorted by name.
pub fn inputs_in(folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut inputs = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))? {
        let entry = entry?;
        inputs.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
    }
    inputs.sort();
    Ok(inputs)
}
