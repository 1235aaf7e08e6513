//! The real Claude Code client, run against the mock by a user who has nothing but what the test gives them.
//!
//! The client is the pinned npm package in `tests/client`. Its program is a native binary, started directly.

use std::env::consts;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::home::Home;
use crate::mock::{Lane, Mock, Request};
use crate::prerequisite::{self, workspace};
use crate::process;
use crate::terminal::Terminal;

pub use crate::process::Output;

/// The longest a headless run may take; it usually takes about a second.
const RUN_TIMEOUT: Duration = Duration::from_secs(90);

/// Returns the program of the pinned client, or says why the test is skipped.
pub fn program() -> Option<PathBuf> {
    let platform = match consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let processor = match consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let packages = workspace().join("tests/client/node_modules/@anthropic-ai");
    // npm installs the one that fits the C library of the machine, which need not be that of this program.
    let [glibc, musl] = ["", "-musl"].map(|libc| {
        let package = format!("claude-code-{platform}-{processor}{libc}");
        packages.join(package).join(format!("claude{}", consts::EXE_SUFFIX))
    });
    let program = if musl.exists() { musl } else { glibc };
    prerequisite::find("client", "WYREN_TEST_CLIENT", program, "run `npm ci` in tests/client")
}

/// One user of the client, with a home, a project and a model of their own.
pub struct Client {
    // Dropped first: it ends what still talks to the mock.
    home: Home,
    mock: Mock,
    program: PathBuf,
    flags: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

/// A finished headless turn.
#[derive(Debug)]
pub struct Turn {
    /// The result object that the client printed.
    pub result: Value,
    /// What the client asked the mock in this run, in order.
    pub requests: Vec<Request>,
    /// The process: how it ended, its raw output, its time.
    pub output: Output,
}

impl Client {
    /// Returns a user who has just installed the client, or says why the test is skipped.
    pub fn new() -> Result<Option<Client>> {
        let Some(program) = program() else {
            return Ok(None);
        };
        Ok(Some(Client {
            home: Home::new()?,
            mock: Mock::start().context("could not start the mock")?,
            program,
            flags: Vec::new(),
            variables: Vec::new(),
        }))
    }

    /// Loads the plugin in `folder` into every session, without installing it.
    pub fn plugin_dir(self, folder: &Path) -> Client {
        self.flag("--plugin-dir").flag(folder)
    }

    /// Allows tools that the client would ask for, e.g. `Bash(ls:*)`.
    pub fn allow_tools(self, rules: &[&str]) -> Client {
        self.flag("--allowedTools").flag(rules.join(","))
    }

    /// Adds any other argument to every session.
    pub fn flag(mut self, flag: impl AsRef<OsStr>) -> Client {
        self.flags.push(flag.as_ref().to_owned());
        self
    }

    /// Adds a variable to the environment of the client, and so of its hooks.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Client {
        self.variables.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Returns the mock that the client talks to.
    pub fn mock(&self) -> &Mock {
        &self.mock
    }

    /// Returns the folder that the client works in.
    pub fn project(&self) -> PathBuf {
        self.home.project()
    }

    /// Returns the folder that `WYREN_DATA_DIR` names.
    pub fn data(&self) -> PathBuf {
        self.home.data()
    }

    /// Runs one headless turn in a new session.
    pub fn prompt(&self, prompt: &str) -> Result<Turn> {
        self.turn(&[], prompt)
    }

    /// Runs one headless turn in the latest session of the project.
    pub fn prompt_continued(&self, prompt: &str) -> Result<Turn> {
        self.turn(&["--continue"], prompt)
    }

    /// Runs one headless turn in the session with the given id.
    pub fn prompt_resumed(&self, session: &str, prompt: &str) -> Result<Turn> {
        self.turn(&["--resume", session], prompt)
    }

    /// Runs `claude plugin validate --strict`; fails when it finds anything.
    ///
    /// It is given the file of a manifest: of a folder with both, it looks only at the marketplace's.
    pub fn validate(&self, manifest: &Path) -> Result<Output> {
        self.plugin(&["validate".as_ref(), manifest.as_os_str(), "--strict".as_ref()])
    }

    /// Runs `claude plugin marketplace add`.
    pub fn add_marketplace(&self, folder: &Path) -> Result<Output> {
        self.plugin(&["marketplace".as_ref(), "add".as_ref(), folder.as_os_str()])
    }

    /// Runs `claude plugin install`, for a plugin named as in `wyren@wyren`.
    pub fn install_plugin(&self, plugin: &str) -> Result<Output> {
        self.plugin(&["install".as_ref(), plugin.as_ref()])
    }

    /// Runs another program as this user, in their project.
    pub fn run(&self, program: &Path, arguments: &[&str]) -> Result<Output> {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir(self.home.project()).args(arguments);
        process::run(&mut command, RUN_TIMEOUT)
    }

    /// Returns the folder that the client keeps its own files in.
    pub fn config(&self) -> PathBuf {
        self.home.config()
    }

    /// Starts the interactive client in a terminal of its own.
    pub fn terminal(&self) -> Result<Terminal> {
        Terminal::start(&self.program, &self.flags, &self.home.project(), self.environment())
    }

    /// Starts the interactive client in a terminal of this many columns.
    pub fn terminal_of(&self, columns: u16) -> Result<Terminal> {
        let mut command = Command::new(&self.program);
        command.args(&self.flags).current_dir(self.home.project()).envs(self.environment());
        Terminal::of(&command, columns)
    }

    /// Returns the lines of the hook log, in order; fails when one of them is not a JSON object.
    pub fn hook_log(&self) -> Result<Vec<Value>> {
        let path = self.home.data().join("logs/hooks.jsonl");
        let log = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
        let mut lines = Vec::new();
        for line in log.lines() {
            let value: Value = serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
            ensure!(value.is_object(), "not a JSON object: {line}");
            lines.push(value);
        }
        Ok(lines)
    }

    /// Runs `wyren` of the plugin in `plugin` as this user; returns what it printed.
    pub fn wyren(&self, plugin: &Path, arguments: &[&str]) -> Result<String> {
        let program = plugin.join("bin").join(format!("wyren{}", std::env::consts::EXE_SUFFIX));
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.environment()).current_dir(self.home.project());
        let output = process::run(&mut command, RUN_TIMEOUT)?;
        ensure!(output.status.success(), "wyren {arguments:?}: {output:#?}");
        Ok(output.stdout)
    }

    /// Returns the processes that this user started and that still run.
    pub fn processes(&self) -> Vec<u32> {
        self.home.processes()
    }

    fn turn(&self, session: &[&str], prompt: &str) -> Result<Turn> {
        let before = self.mock.requests().len();
        let mut command = self.command();
        command.args(session).args(&self.flags);
        // `--allowedTools` takes any number of rules and would swallow a prompt that does not come after `--`.
        command.args(["--output-format", "json", "--print", "--", prompt]);
        let output = process::run(&mut command, RUN_TIMEOUT)?;
        let result = serde_json::from_str(&output.stdout)
            .with_context(|| format!("the client printed no result: {output:#?}"))?;
        let requests = self.mock.requests().split_off(before);
        Ok(Turn { result, requests, output })
    }

    fn plugin(&self, arguments: &[&OsStr]) -> Result<Output> {
        let output = process::run(self.command().arg("plugin").args(arguments), RUN_TIMEOUT)?;
        if !output.status.success() {
            bail!("claude plugin {arguments:?} failed\n{}{}", output.stdout, output.stderr);
        }
        Ok(output)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.environment()).current_dir(self.home.project());
        command
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut environment = self.home.environment(&self.mock);
        environment.extend_from_slice(&self.variables);
        environment
    }
}

impl Turn {
    /// Tells whether the turn ended as a turn should.
    pub fn succeeded(&self) -> bool {
        self.output.status.success()
            && self.result["subtype"] == "success"
            && self.result["is_error"] == false
    }

    /// Returns the last words of the model.
    pub fn text(&self) -> &str {
        self.result["result"].as_str().unwrap_or_default()
    }

    /// Returns the id of the session.
    pub fn session(&self) -> &str {
        self.result["session_id"].as_str().unwrap_or_default()
    }

    /// Returns request number `index` (from 0) of the conversation itself.
    pub fn main_request(&self, index: usize) -> Result<&Request> {
        let mut main = self.requests.iter().filter(|request| request.lane() == Some(Lane::Main));
        main.nth(index).with_context(|| format!("the client made no main request {index}"))
    }
}
