//! `wyren`, run for a prompt: within a limit, its output caught.

use crate::Host;
use crate::host::{STARTED_BY, is_program};
use base::env::{MODEL_VARIABLE, PROMPT_VARIABLE, SHELLS};
use base::{Env, files};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use text::sanitize;

/// How much of the output is read, in bytes: more than an answer can hold.
const MOST_OUTPUT: u64 = 256 * 1024;

/// How often a running command is looked at.
const POLL: Duration = Duration::from_millis(4);

/// How wide tables may be: the client does not tell a hook the width of the terminal.
const COLUMNS: &str = "100";

/// One run of `wyren`.
pub(super) struct Run<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [String],
    pub(super) cwd: &'a Path,
    pub(super) host: &'a Host,
}

impl Run<'_> {
    /// Returns what it prints. One that takes longer than `limit` is ended, unless it changes something: that one goes on.
    pub(super) fn output(&self, limit: Duration, changes: bool) -> io::Result<String> {
        // A file: a pipe would break under a command that goes on when the hook has ended.
        let mut output = unnamed_file(self.host)?;
        let mut child = self.start(&output)?;
        let ended = wait(&mut child, limit)?;
        if ended.is_none() && !changes {
            child.kill()?;
            child.wait()?;
        }
        let mut bytes = Vec::new();
        output.rewind()?;
        output.take(MOST_OUTPUT).read_to_end(&mut bytes)?;
        // A teammate's text must not control the terminal.
        let text = sanitize::sanitize(&String::from_utf8_lossy(&bytes)).trim_end().to_owned();
        let typed = self.typed();
        let note = match ended {
            Some(status) if text.is_empty() && status.success() => format!("{typed}: done."),
            Some(status) if text.is_empty() => format!("{typed} failed ({status})."),
            Some(_) => return Ok(text),
            None if changes => {
                format!(
                    "{typed} is still running and goes on in the background. /wyren:status shows the result."
                )
            }
            None => {
                format!("{typed} took longer than {} s and was ended. Try it in a terminal.", limit.as_secs())
            }
        };
        Ok(if text.is_empty() { note } else { format!("{text}\n{note}") })
    }

    /// Returns the command as a person types it in a terminal.
    pub(super) fn typed(&self) -> String {
        let words = self.arguments.iter().filter(|word| !matches!(&***word, "--" | "--offline" | "--screen"));
        let words: Vec<&str> = words.map(String::as_str).collect();
        format!("`wyren {}`", sanitize::one_line(&words.join(" "), 120))
    }

    fn start(&self, output: &File) -> io::Result<Child> {
        let mut command = Command::new(self.program);
        command
            .args(self.arguments)
            .current_dir(self.cwd)
            // The data folder may be relative to the hook's folder.
            .env("WYREN_DATA_DIR", std::path::absolute(self.host.paths.data())?)
            .env(PROMPT_VARIABLE, "1")
            .env("COLUMNS", COLUMNS)
            // The client shows the text in a colour of its own.
            .env("NO_COLOR", "1")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?);
        // One that changes something goes on when this hook has ended.
        base::system::outlive_us(&mut command);
        if let Some(agent) = self.host.agent() {
            // No other agent says whether a person typed the prompt or a program gave it.
            let shell = SHELLS.iter().find(|shell| shell.agent == agent.name());
            command.env(shell.map_or(MODEL_VARIABLE, |shell| shell.variable), "1");
        } else if is_typed(&self.host.env) {
            command.env_remove(MODEL_VARIABLE);
        }
        command.spawn()
    }
}

/// Returns whether a person typed the prompt, in an interactive client: `claude -p` is also run by scripts and models. The
/// client sets the variable of the project for hooks and not for the model's shell, which may start a hook by itself.
fn is_typed(env: &Env) -> bool {
    env.text(STARTED_BY).is_some_and(|started_by| !is_program(&started_by))
        && env.is_set("CLAUDE_PROJECT_DIR")
}

/// Waits for the end of a child, at most this long.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        let ended = child.try_wait()?;
        if ended.is_some() || Instant::now() >= deadline {
            return Ok(ended);
        }
        thread::sleep(POLL);
    }
}

/// Returns an empty file that has no name any more; in the system's folder for such files where ours cannot be written.
fn unnamed_file(host: &Host) -> io::Result<File> {
    let name = format!("prompt-{}", std::process::id());
    let cache = host.paths.cache();
    let made = files::create_private_folder(&cache).and_then(|()| unnamed_in(&cache, &name));
    made.or_else(|_| unnamed_in(&std::env::temp_dir(), &format!("wyren-{name}")))
}

fn unnamed_in(folder: &Path, name: &str) -> io::Result<File> {
    let path = folder.join(name);
    let file = files::private_options().read(true).write(true).create_new(true).open(&path)?;
    // Windows removes it once it is closed.
    let _ = fs::remove_file(&path);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn review_6_only_a_prompt_of_an_interactive_client_is_a_persons() {
        for (variables, expected) in [
            (&[][..], false),
            (&[("CLAUDE_CODE_ENTRYPOINT", "cli"), ("CLAUDE_PROJECT_DIR", "/p")], true),
            (&[("CLAUDE_CODE_ENTRYPOINT", "claude-vscode"), ("CLAUDE_PROJECT_DIR", "/p")], true),
            (&[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), ("CLAUDE_PROJECT_DIR", "/p")], false),
            (&[("CLAUDE_CODE_ENTRYPOINT", "sdk-ts"), ("CLAUDE_PROJECT_DIR", "/p")], false),
            (&[("CLAUDE_PROJECT_DIR", "/p")], false),
            // The model's shell in an interactive client.
            (&[("CLAUDE_CODE_ENTRYPOINT", "cli")], false),
        ] {
            assert_eq!(is_typed(&Env::fixed(variables.iter().copied())), expected, "{variables:?}");
        }
    }
}
