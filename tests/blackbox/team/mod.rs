//! Team memory through the built programs: members with clones of one bare remote, each on a machine of their own.

mod hooks;
mod leave;
mod lessons;
mod network;
mod rounds;
mod torture;
mod users_git;
mod waiting;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use wyren_tests::sandbox::{Sandbox, feed};

/// How the memory is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Side,
    Branch,
}

impl Mode {
    /// Returns the branch that has the memory.
    pub(crate) fn branch(self) -> &'static str {
        match self {
            Self::Side => "wyren/memory",
            Self::Branch => "main",
        }
    }
}

/// A bare repository that everybody pushes to.
pub(crate) struct Remote {
    folder: TempDir,
}

impl Remote {
    /// Makes a remote with one commit on main; in branch mode that has a memory.
    pub(crate) fn new(mode: Mode) -> Result<Self> {
        let remote = Self { folder: tempfile::Builder::new().prefix("wyren-test-remote-").tempdir()? };
        let folder = remote.folder.path();
        git(folder, &["init", "--quiet", "--bare", "--initial-branch=main", "remote.git"])?;
        git(&remote.path(), &["config", "gc.auto", "0"])?;
        git(&remote.path(), &["config", "receive.autogc", "false"])?;
        git(folder, &["clone", "--quiet", "remote.git", "first"])?;
        let first = folder.join("first");
        fs::write(first.join("README"), "read me\n")?;
        if mode == Mode::Branch {
            fs::create_dir_all(first.join(".wyren"))?;
            fs::write(first.join(".wyren/memory.md"), "# Wyren Memory\n\n## Decisions\n- We begin\n")?;
            fs::write(first.join(".gitignore"), ".wyren/state/\n.wyren/log\n")?;
        }
        git(&first, &["add", "--all"])?;
        git(
            &first,
            &["-c", "user.name=First", "-c", "user.email=first@localhost", "commit", "-qm", "begin"],
        )?;
        git(&first, &["push", "--quiet", "origin", "HEAD:main"])?;
        Ok(remote)
    }

    /// Returns the bare repository.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("remote.git")
    }

    /// Returns the memory on the remote; empty when there is none.
    pub(crate) fn memory(&self, mode: Mode) -> String {
        let file = format!("{}:.wyren/memory.md", mode.branch());
        git(&self.path(), &["cat-file", "blob", &file]).unwrap_or_default()
    }

    /// Returns the branches on the remote.
    pub(crate) fn branches(&self) -> Result<Vec<String>> {
        let text = git(&self.path(), &["for-each-ref", "--format=%(refname)"])?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

/// A member with a clone, a home and a data folder.
pub(crate) struct Member {
    pub(crate) sandbox: Sandbox,
}

impl Member {
    /// Clones the remote on a new machine, or says why the test is skipped.
    pub(crate) fn new(remote: &Remote, name: &str) -> Result<Option<Self>> {
        let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
        for folder in ["home", "tmp"] {
            fs::create_dir_all(sandbox.folder().join(folder))?;
        }
        let identity = format!("[user]\n\tname = {name}\n\temail = {name}@localhost\n");
        fs::write(sandbox.folder().join("home/.gitconfig"), identity)?;
        let address = format!("file://{}", remote.path().display());
        git(sandbox.folder(), &["clone", "--quiet", &address, "project"])?;
        Ok(Some(Self { sandbox }))
    }

    /// Clones the remote and sets the memory up.
    pub(crate) fn set_up(remote: &Remote, name: &str, mode: Mode) -> Result<Option<Self>> {
        let Some(member) = Self::new(remote, name)? else { return Ok(None) };
        member.wyren(&["init", if mode == Mode::Side { "--side" } else { "--branch" }])?;
        Ok(Some(member))
    }

    /// Returns the clone.
    pub(crate) fn clone_folder(&self) -> PathBuf {
        self.sandbox.project()
    }

    /// Returns a command as this member would run it in their clone.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = self.sandbox.command(program);
        command.env("WYREN_WORKER_IDLE_SECONDS", "0").env("WYREN_MODEL_PROVIDER", "off");
        command
    }

    /// Runs `wyren`, which must succeed; returns what it printed.
    pub(crate) fn wyren(&self, arguments: &[&str]) -> Result<String> {
        let output = self.try_wyren(arguments)?;
        ensure!(output.status.success(), "wyren {arguments:?}: {output:?}");
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs `wyren`.
    pub(crate) fn try_wyren(&self, arguments: &[&str]) -> Result<Output> {
        feed(self.command("wyren").args(arguments), b"")
    }

    /// Runs git as this member.
    pub(crate) fn git(&self, arguments: &[&str]) -> Result<String> {
        git_as(&self.clone_folder(), arguments, Some(&self.sandbox.folder().join("home")))
    }

    /// Adds an entry as a person does: with an editor.
    pub(crate) fn decide(&self, entry: &str) -> Result<()> {
        let output = feed(&mut self.editing(&[entry.to_owned()])?, b"")?;
        ensure!(output.status.success(), "{output:?}");
        Ok(())
    }

    /// Returns `wyren memory edit` with an editor that adds those entries that are not there yet.
    pub(crate) fn editing(&self, entries: &[String]) -> Result<Command> {
        let script = self.sandbox.folder().join("tmp").join(format!("edit-{}.sh", digest(entries)));
        // Whatever of it is killed, the editor as a whole has failed.
        let mut lines = String::from("set -e\n");
        lines.push_str("grep -q '^## Decisions' \"$1\" || printf '\\n## Decisions\\n' >> \"$1\"\n");
        for entry in entries {
            ensure!(!entry.contains(['\'', '\\', '/', '&']), "the script would not keep {entry:?}");
            lines.push_str(&format!(
                "grep -qF -- '- {entry}' \"$1\" || sed -i 's/^## Decisions$/## Decisions\\n- {entry}/' \"$1\"\n"
            ));
        }
        fs::write(&script, lines)?;
        let mut command = self.command("wyren");
        command
            .args(["memory", "edit"])
            .env("EDITOR", format!("sh {}", script.display()))
            .env_remove("VISUAL");
        Ok(command)
    }

    /// Returns what is made of the memory here so far.
    pub(crate) fn memory(&self) -> Result<String> {
        self.wyren(&["memory", "show"])
    }

    /// Feeds an event of a session to a hook; returns the context that it gives, empty when it is silent.
    pub(crate) fn hook(&self, hook: &str, session: &str, fields: &Value) -> Result<String> {
        let output = feed(&mut self.command(hook), self.event(hook, session, fields).as_bytes())?;
        context(&output).with_context(|| format!("{hook}: {output:?}"))
    }

    /// Returns an event as the client would send it to a hook.
    pub(crate) fn event(&self, hook: &str, session: &str, fields: &Value) -> String {
        let name = match hook {
            "session-start-memory" => "SessionStart",
            "prompt-sync" => "UserPromptSubmit",
            "prompt-record" => "UserPromptSubmit",
            "context-monitor" => "PostToolUse",
            "stop-distill" => "Stop",
            _ => "SessionEnd",
        };
        let mut event = json!({
            "session_id": session, "cwd": self.clone_folder(), "hook_event_name": name,
            "transcript_path": self.sandbox.folder().join(format!("{session}.jsonl")),
        });
        if let (Some(event), Some(fields)) = (event.as_object_mut(), fields.as_object()) {
            event.extend(fields.clone());
        }
        event.to_string()
    }

    /// Starts a session; returns the text that it gets.
    pub(crate) fn start(&self, session: &str) -> Result<String> {
        self.hook("session-start-memory", session, &json!({"source": "startup"}))
    }

    /// Sends a prompt; returns the text that the session gets.
    pub(crate) fn prompt(&self, session: &str) -> Result<String> {
        self.hook("prompt-sync", session, &json!({"prompt": "go on"}))
    }

    /// Returns what is the user's, to be compared: nothing of it may change by itself.
    pub(crate) fn footprint(&self) -> Result<Vec<(&'static str, String)>> {
        let git_folder = self.clone_folder().join(".git");
        let mut footprint = Vec::new();
        for file in ["HEAD", "index", "FETCH_HEAD", "ORIG_HEAD", "config"] {
            footprint.push((file, format!("{:?}", fs::read(git_folder.join(file)).ok())));
        }
        let refs = ["for-each-ref", "refs/heads", "refs/remotes", "refs/tags", "refs/stash"];
        footprint.push(("refs", self.git(&refs)?));
        footprint.push(("status", self.git(&["status", "--porcelain"])?));
        Ok(footprint)
    }
}

/// Returns the context that an answer gives, empty when it is silent; fails when it is no answer.
pub(crate) fn context(output: &Output) -> Result<String> {
    ensure!(output.status.code() == Some(0), "exit code {:?}", output.status.code());
    let text = String::from_utf8(output.stdout.clone())?;
    if text.is_empty() {
        return Ok(text);
    }
    let answer: Value = serde_json::from_str(&text)?;
    Ok(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned())
}

fn digest(entries: &[String]) -> String {
    entries.join("-").chars().filter(char::is_ascii_alphanumeric).take(80).collect()
}

/// Runs git; returns what it printed.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    git_as(folder, arguments, None)
}

fn git_as(folder: &Path, arguments: &[&str], home: Option<&Path>) -> Result<String> {
    let mut command = Command::new("git");
    command.args(["--no-optional-locks"]).args(arguments).current_dir(folder);
    command.envs(home.map(|home| ("HOME", home)));
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    ensure!(output.status.success(), "git {arguments:?}: {text} {}", String::from_utf8_lossy(&output.stderr));
    Ok(text)
}
