//! Agents other than Claude Code, run against the mock by a user who has nothing but what the test gives them.
//!
//! They are the pinned npm packages in `tests/agents`. Each speaks the API of its maker; the mock answers every request to a
//! model with the next call of a shell, and with a last word when there is none left.

use std::env::consts;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::mock::{Mock, Request};
use crate::prerequisite::{self, workspace};
use crate::process;
use crate::sandbox::Sandbox;

pub use crate::process::Output;

/// The longest that a run may take.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// What the model says when it has nothing left to do.
pub const LAST_WORD: &str = "All is done.";

/// An agent from npm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Codex,
    Gemini,
    OpenCode,
}

impl Kind {
    /// Returns the name for `--agent`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
        }
    }

    /// Returns a command that starts it.
    fn command(self, sandbox: &Sandbox, packages: &Path) -> Command {
        let script = match self {
            Self::Codex => "@openai/codex/bin/codex.js",
            Self::Gemini => "@google/gemini-cli/bundle/gemini.js",
            Self::OpenCode => {
                let system = if consts::OS == "macos" { "darwin" } else { consts::OS };
                let processor = if consts::ARCH == "aarch64" { "arm64" } else { "x64" };
                let package = packages.join(format!("opencode-{system}-{processor}"));
                // The one for every processor, where there are two.
                let baseline = packages.join(format!("opencode-{system}-{processor}-baseline"));
                let package = if baseline.exists() { baseline } else { package };
                return sandbox.command_for(&package.join(format!("bin/opencode{}", consts::EXE_SUFFIX)));
            }
        };
        let mut command = sandbox.command_for(Path::new("node"));
        command.arg(packages.join(script));
        command
    }

    /// Returns whether a request is one of the conversation.
    fn is_main(self, request: &Request) -> bool {
        match self {
            Self::Codex => request.path.ends_with("/responses"),
            Self::Gemini => request.path.contains(":streamGenerateContent"),
            // The title of a session is asked for without tools.
            Self::OpenCode => request.body["tools"].as_array().is_some_and(|tools| !tools.is_empty()),
        }
    }

    /// Returns the answer to request number `index`, with a call of the shell.
    fn answer(self, index: usize, command: Option<&str>) -> (&'static str, String) {
        const EVENTS: &str = "text/event-stream";
        match self {
            Self::Codex => {
                let id = format!("r{index}");
                let item = match command {
                    Some(command) => json!({
                        "type": "function_call", "id": format!("f{index}"), "call_id": format!("c{index}"),
                        "name": "exec_command", "arguments": json!({"cmd": command}).to_string(), "status": "completed",
                    }),
                    None => json!({
                        "type": "message", "role": "assistant", "id": format!("m{index}"), "status": "completed",
                        "content": [{"type": "output_text", "text": LAST_WORD, "annotations": []}],
                    }),
                };
                let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
                let events = [
                    json!({"type": "response.created", "response": {"id": id}}),
                    json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
                    json!({"type": "response.completed", "response": {"id": id, "usage": usage}}),
                ];
                let event = |event: &Value| {
                    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
                };
                (EVENTS, events.iter().map(event).collect())
            }
            Self::Gemini => {
                let part = match command {
                    Some(command) => {
                        json!({"functionCall": {"name": "run_shell_command", "args": {"command": command}}})
                    }
                    None => json!({"text": LAST_WORD}),
                };
                let answer = json!({
                    "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
                });
                (EVENTS, format!("data: {answer}\r\n\r\n"))
            }
            Self::OpenCode => {
                let (delta, reason) = match command {
                    Some(command) => {
                        let arguments = json!({"command": command, "description": "runs it"}).to_string();
                        let function = json!({"name": "bash", "arguments": arguments});
                        let call = json!({"index": 0, "id": format!("c{index}"), "type": "function", "function": function});
                        (json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
                    }
                    None => (json!({"role": "assistant", "content": LAST_WORD}), "stop"),
                };
                let chunk = |delta: &Value, reason: Option<&str>| {
                    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
                    let chunk = json!({
                        "id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice],
                    });
                    format!("data: {chunk}\n\n")
                };
                let end = chunk(&json!({}), Some(reason));
                (EVENTS, format!("{}{end}data: [DONE]\n\n", chunk(&delta, None)))
            }
        }
    }
}

/// One user of an agent, with a home, a project and a model of their own.
pub struct Agent {
    kind: Kind,
    // Dropped first: it ends what still talks to the mock.
    pub sandbox: Sandbox,
    mock: Mock,
    packages: PathBuf,
}

/// A finished run.
#[derive(Debug)]
pub struct Run {
    pub output: Output,
    /// What the agent asked the model in the conversation, in order, as JSON.
    pub requests: Vec<String>,
}

impl Agent {
    /// Returns a user who has just installed the agent, or says why the test is skipped.
    pub fn new(kind: Kind) -> Result<Option<Agent>> {
        let default = workspace().join("tests/agents/node_modules");
        let packages = prerequisite::find("agents", "WYREN_TEST_AGENTS", default, "run `cargo xtask agents`");
        let (Some(packages), Some(sandbox)) = (packages, Sandbox::new()?) else { return Ok(None) };
        fs::create_dir_all(sandbox.folder().join("tmp"))?;
        let agent = Agent { kind, sandbox, mock: Mock::start()?, packages };
        agent.configure()?;
        Ok(Some(agent))
    }

    /// Returns a path in the user's home.
    pub fn home(&self, path: &str) -> PathBuf {
        self.sandbox.folder().join("home").join(path)
    }

    fn configure(&self) -> Result<()> {
        let url = self.mock.base_url();
        match self.kind {
            Kind::Codex => write(
                &self.home(".codex/config.toml"),
                &format!(
                    "model = \"scripted\"\nmodel_provider = \"mock\"\napproval_policy = \"never\"\n\
                     sandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n\n\
                     [model_providers.mock]\nname = \"mock\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
                     env_key = \"MOCK_KEY\"\n\n[analytics]\nenabled = false\n"
                ),
            ),
            Kind::Gemini => write(
                &self.home(".gemini/settings.json"),
                "{\n  // A person's own.\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}},\n  \
                 \"privacy\": {\"usageStatisticsEnabled\": false},\n  \"general\": {\"disableAutoUpdate\": true},\n  \
                 \"telemetry\": {\"enabled\": false}\n}\n",
            ),
            Kind::OpenCode => {
                let model =
                    json!({"name": "m", "tool_call": true, "limit": {"context": 100_000, "output": 4_096}});
                let provider = json!({
                    "npm": "@ai-sdk/openai-compatible", "name": "mock",
                    "options": {"baseURL": format!("{url}/v1"), "apiKey": "x"}, "models": {"m": model},
                });
                let config = json!({
                    "autoupdate": false, "share": "disabled", "model": "mock/m", "small_model": "mock/m",
                    "permission": {"*": "allow"}, "provider": {"mock": provider},
                });
                write(&self.home(".config/opencode/opencode.json"), &config.to_string())
            }
        }
    }

    /// Gives the agent a prompt without a terminal. The model calls a shell with each command, then ends its turn.
    pub fn prompt(&self, prompt: &[&str], commands: &[&str]) -> Result<Run> {
        let kind = self.kind;
        let commands: Vec<String> = commands.iter().map(|command| (*command).to_owned()).collect();
        let mut index = 0;
        self.mock.speak(move |request| {
            if request.method != "POST" {
                return None;
            }
            let command = if kind.is_main(request) {
                index += 1;
                commands.get(index - 1).map(String::as_str)
            } else {
                None
            };
            Some(kind.answer(index, command))
        });
        let before = self.mock.requests().len();
        let output = process::run(&mut self.command(prompt), RUN_TIMEOUT)?;
        let requests = self.mock.requests().split_off(before);
        let main = requests.iter().filter(|request| kind.is_main(request));
        let requests = main.map(|request| request.body.to_string()).collect();
        ensure!(output.status.success(), "{output:#?}");
        Ok(Run { output, requests })
    }

    fn command(&self, prompt: &[&str]) -> Command {
        let mut command = self.kind.command(&self.sandbox, &self.packages);
        let url = self.mock.base_url();
        match self.kind {
            // Trust is asked for in the terminal.
            Kind::Codex => command
                .args(["exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check"])
                .env("MOCK_KEY", "x"),
            Kind::Gemini => command
                .args(["--skip-trust", "--yolo", "-m", "gemini-2.5-flash", "-p"])
                .env("GEMINI_API_KEY", "x")
                .env("GOOGLE_GEMINI_BASE_URL", &url),
            Kind::OpenCode => command
                .arg("run")
                .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
                .env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1")
                .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
                .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
                // It would install a package for the types of modules.
                .env("npm_config_registry", &url),
        };
        command.args(prompt).env("WYREN_WORKER_IDLE_SECONDS", "0");
        command
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, text)?)
}
