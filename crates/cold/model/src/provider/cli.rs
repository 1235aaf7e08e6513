//! The client itself, run without anything that makes it an agent: no tools, no hooks, no session, an empty folder.

use super::{Answer, Bill, Error, Limits, MAX_RESPONSE, Provider, Reply, Request, Usage};
use crate::child::{self, Failure};
use crate::money::Money;
use base::system::is_program;
use base::{Env, files};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use text::sanitize;

/// The model that is asked when the settings name none.
const DEFAULT_MODEL: &str = "haiku";

/// The longest argument; Linux takes 128 KiB in one.
const MAX_ARGUMENT: usize = 100 * 1024;

/// The most of the client's complaint that is passed on, in characters.
const MAX_COMPLAINT: usize = 200;

/// Where the client's own installers put it, below the home folder.
const USUAL_PLACES: &[&str] = &[".claude/local/claude", ".local/bin/claude"];

/// How often the client sends the conversation to the model for one question: the answer is a tool call, and an answer
/// that does not fit, or none, is asked for once more.
const TURNS: u64 = 2;

/// What the child's environment has on top of ours.
const VARIABLES: &[(&str, &str)] = &[
    // Keeps our hooks silent, should they run after all.
    ("WYREN_INTERNAL", "1"),
    // The user's instructions and notes are for sessions.
    ("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1"),
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    // As in `TURNS`; the client would try five times.
    ("MAX_STRUCTURED_OUTPUT_RETRIES", "2"),
    ("DISABLE_AUTOUPDATER", "1"),
];

/// What the client calls it when no answer fitted.
const NEVER_FITTED: &str = "error_max_structured_output_retries";

/// Asks through `claude -p`, with the user's own login.
#[derive(Debug)]
pub struct Cli {
    program: Result<PathBuf, Option<PathBuf>>,
    folder: PathBuf,
    model: String,
}

impl Cli {
    /// Finds the client: `command` if it is not empty, else on the `PATH`, else where it is usually installed.
    ///
    /// The child works in `folder`, which is made, private, and has to be empty.
    pub fn new(env: &Env, command: &str, folder: PathBuf, model: &str) -> Self {
        let model = if model.is_empty() { DEFAULT_MODEL } else { model }.to_owned();
        Self { program: find(env, command), folder, model }
    }

    /// Returns the program that is run; `None` when there is none.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref().ok()
    }

    /// Creates the folder, or checks that it has no files that the client would read.
    ///
    /// One folder for all calls: a new one for each call would stay behind whenever we are killed.
    fn prepare_folder(&self) -> Result<(), Error> {
        let entries =
            files::create_private_folder(&self.folder).and_then(|()| std::fs::read_dir(&self.folder));
        match entries.map(|mut entries| entries.next()) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(Error::NotEmpty { folder: self.folder.clone() }),
            Err(cause) => Err(Error::Start { program: self.folder.clone(), cause }),
        }
    }

    fn command(&self, program: &Path, request: &Request, limits: Limits) -> Command {
        let mut command = Command::new(program);
        command
            .args(["-p", "--no-session-persistence", "--tools", ""])
            .args(["--settings", r#"{"disableAllHooks":true}"#])
            .args(["--strict-mcp-config", "--disable-slash-commands"])
            .args(["--system-prompt", &request.system])
            .args(["--json-schema", &request.schema.text()])
            .args(["--output-format", "json"])
            .args(["--max-budget-usd", &limits.allowance.dollars().to_string()])
            .args(["--model", request.model.as_deref().unwrap_or(&self.model)])
            .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", request.max_output.to_string())
            .envs(VARIABLES.iter().copied())
            .current_dir(&self.folder);
        command
    }
}

impl Provider for Cli {
    fn name(&self) -> &'static str {
        "cli"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn turns(&self) -> u64 {
        TURNS
    }

    fn ask(&self, request: &Request, limits: Limits) -> Result<Reply, Error> {
        let program = self.program.as_ref().map_err(|place| Error::NoProgram { place: place.clone() })?;
        if request.system.len() > MAX_ARGUMENT {
            return Err(Error::TooLong("system prompt"));
        }
        if request.schema.text().len() > MAX_ARGUMENT {
            return Err(Error::TooLong("schema"));
        }
        self.prepare_folder()?;
        let mut command = self.command(program, request, limits);
        let input = request.prompt.clone().into_bytes();
        match child::run(&mut command, input, limits.deadline, MAX_RESPONSE) {
            Ok(finished) => read(&finished),
            Err(Failure::Start(cause)) => Err(Error::Start { program: program.clone(), cause }),
            Err(Failure::TimedOut) => Err(Error::TimedOut),
            Err(Failure::Oversized) => Err(Error::Oversized),
            Err(Failure::Detached) => Err(Error::Crashed("its output stayed open".to_owned())),
        }
    }
}

/// Reads the result object that the client prints, whatever its exit code.
fn read(finished: &child::Finished) -> Result<Reply, Error> {
    let result = serde_json::from_slice::<Value>(&finished.output).ok().filter(Value::is_object);
    let Some(result) = result else {
        let complaint = || short(&finished.errors);
        return Err(if finished.status.success() {
            Error::Unreadable("the client printed no result".to_owned())
        } else {
            Error::Crashed(format!("{}; {}", finished.status, complaint()))
        });
    };
    let usage = Usage::of_messages(&result["usage"]);
    let cost = result["total_cost_usd"].as_f64().and_then(Money::from_dollars);
    if result["is_error"] != false {
        let bill = Bill::Known { usage, cost };
        if result["subtype"] == NEVER_FITTED {
            return Err(Error::NeverFitted { bill });
        }
        let words = [&result["result"], &result["errors"][0], &result["subtype"]];
        let reason = words.iter().find_map(|words| words.as_str().filter(|words| !words.is_empty()));
        let reason = short(reason.unwrap_or("the client does not say why"));
        return Err(Error::Refused { reason, bill });
    }
    let answer = match &result["structured_output"] {
        Value::Null => Answer::Text(result["result"].as_str().unwrap_or_default().to_owned()),
        value => Answer::Value(value.clone()),
    };
    Ok(Reply { answer, usage, cost })
}

fn short(complaint: &str) -> String {
    sanitize::one_line(&text::redact::redact(complaint), MAX_COMPLAINT)
}

/// Finds the client without asking a shell; else returns where it should have been.
fn find(env: &Env, command: &str) -> Result<PathBuf, Option<PathBuf>> {
    let home = base::system::home(env);
    if !command.is_empty() {
        let in_home = command.strip_prefix("~/").zip(home.as_ref()).map(|(rest, home)| home.join(rest));
        let place = in_home.unwrap_or_else(|| PathBuf::from(command));
        // A relative path would be looked up in the child's folder.
        return if place.is_absolute() && is_program(&place) { Ok(place) } else { Err(Some(place)) };
    }
    let path = env.get("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path)
        // A relative entry would make the folder that we happen to be in decide.
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("claude"));
    let usual = home.into_iter().flat_map(|home| USUAL_PLACES.iter().map(move |place| home.join(place)));
    let with_suffix = |place: PathBuf| match std::env::consts::EXE_EXTENSION {
        "" => place,
        extension => place.with_extension(extension),
    };
    on_path.chain(usual).map(with_suffix).find(|place| is_program(place)).ok_or(None)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn put(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_client_is_found_by_setting_then_path_then_usual_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let path = std::env::join_paths([PathBuf::from("."), at("not-runnable"), at("bin")]).unwrap();
        let env = Env::fixed([("HOME", at("home").into_os_string()), ("PATH", path)]);
        assert_eq!(find(&env, ""), Err(None));
        put(&at("home/.local/bin/claude"), 0o755);
        assert_eq!(find(&env, ""), Ok(at("home/.local/bin/claude")));
        put(&at("home/.claude/local/claude"), 0o755);
        assert_eq!(find(&env, ""), Ok(at("home/.claude/local/claude")));
        put(&at("not-runnable/claude"), 0o644);
        put(&at("bin/claude"), 0o755);
        assert_eq!(find(&env, ""), Ok(at("bin/claude")));
        put(&at("home/mine"), 0o755);
        assert_eq!(find(&env, "~/mine"), Ok(at("home/mine")));
        assert_eq!(find(&env, "/nowhere/claude"), Err(Some("/nowhere/claude".into())));
        assert_eq!(find(&env, "claude"), Err(Some("claude".into())), "no folder that we happen to be in");
    }
}
