//! The `git` program: references, configuration and the network.
//!
//! It never prompts, runs no program that a repository names, tidies nothing up, speaks English, and ends in time with
//! all that it started. In the user's repository it does not use the network: [`Relay`](super::relay::Relay) does.

use crate::repository::Error;
use base::Env;
use child::{Group, Orphans};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use text::sanitize;

/// How long a command may take that does not use the network.
const LOCAL_CAP: Duration = Duration::from_secs(10);

/// How often a running command is looked at.
const POLL: Duration = Duration::from_millis(2);

/// How long a command may take to tidy up once it was asked to end, before it is killed.
const GRACE: Duration = Duration::from_millis(100);

/// The same for a command that uses no network. Its output is read to the end: a busy machine may be slow to hand it over, and
/// a part of it would be another answer.
const LOCAL_GRACE: Duration = Duration::from_secs(5);

/// The same for a push: when the remote is a folder of this machine, its end of the connection is in our group as well,
/// and must not be killed with the branch locked.
const PUSH_GRACE: Duration = Duration::from_secs(5);

/// The most of each output that is kept, in bytes.
const MAX_OUTPUT: u64 = 16 * 1024 * 1024;

/// The longest message that is passed on, in characters.
const MAX_WORDS: usize = 400;

/// A list of protocols that allows none. Some systems have no empty variables.
pub(crate) const NO_PROTOCOL: &str = "none";

/// What ssh may not do: ask. Used when the user has chosen no ssh command.
const SSH_COMMAND: &str = "ssh -oBatchMode=yes -oConnectTimeout=10";

/// What would make git work on another repository than the given one: set when a git hook or alias starts us.
const LOCATIONS: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_CEILING_DIRECTORIES",
];

/// Settings for every command. They win over the repository's own.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.logAllRefUpdates=false",
    "credential.interactive=false",
    // What is odd is left out by itself; git would refuse everything that came with it.
    "fetch.fsckObjects=false",
    "fetch.writeCommitGraph=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "transfer.fsckObjects=false",
];

/// Runs git in one repository.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    root: PathBuf,
    ssh_command: Option<OsString>,
    /// How many settings the user gives in the environment (`GIT_CONFIG_COUNT`).
    given_settings: usize,
}

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Output {
    /// The exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    /// Its standard output.
    pub(crate) stdout: Vec<u8>,
    /// Its standard error.
    pub(crate) stderr: String,
}

/// Why a command left nothing behind.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It could not be started or waited for.
    Start(Error),
    /// The time was up.
    TimedOut,
}

impl Output {
    /// Returns whether it succeeded.
    pub(crate) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// Returns the first line of the output.
    pub(crate) fn line(&self) -> String {
        String::from_utf8_lossy(&self.stdout).lines().next().unwrap_or_default().to_owned()
    }

    /// Returns what it complained about, on one line and safe to show.
    pub(crate) fn words(&self) -> String {
        let lines = self.stderr.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("hint:"));
        let words = words(&lines.collect::<Vec<_>>().join("; "));
        match self.code {
            _ if !words.is_empty() => words,
            Some(code) => format!("git ended with code {code}"),
            None => "git was killed".to_owned(),
        }
    }
}

/// Returns `text` on one line, safe to show: no control characters, no password in an address.
pub(crate) fn words(text: &str) -> String {
    let shown: Vec<String> = text.split_whitespace().map(without_password).collect();
    sanitize::one_line(&shown.join(" "), MAX_WORDS)
}

/// Takes the user and password out of `scheme://user:password@host`.
fn without_password(word: &str) -> String {
    let parts = word.split_once("://").and_then(|(scheme, rest)| {
        let host = rest.find(['/', '\'', '"']).unwrap_or(rest.len());
        let at = rest[..host].rfind('@')?;
        Some(format!("{scheme}://{}", &rest[at + 1..]))
    });
    parts.unwrap_or_else(|| word.to_owned())
}

impl Git {
    /// Returns the git of the repository whose work tree is at `root`.
    pub(crate) fn new(root: &Path, env: &Env) -> Self {
        let chosen = env.get("GIT_SSH_COMMAND");
        let is_ours = chosen.is_none() && env.get("GIT_SSH").is_none();
        let ssh_command = if is_ours { Some(SSH_COMMAND.into()) } else { chosen };
        let given_settings = env.text("GIT_CONFIG_COUNT").and_then(|count| count.parse().ok()).unwrap_or(0);
        Self { root: root.to_owned(), ssh_command, given_settings }
    }

    /// Returns how many settings the user gives in the environment.
    pub(crate) fn given_settings(&self) -> usize {
        self.given_settings
    }

    /// Leaves the choice of the ssh command to the configuration, over which the environment wins in git, unless the
    /// user chose one in the environment.
    pub(crate) fn heed_configured_ssh(&mut self) {
        self.ssh_command.take_if(|command| command == SSH_COMMAND);
    }

    /// Runs a command in the user's repository.
    pub(crate) fn local<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Output, Error> {
        self.local_with(&[], arguments, Vec::new())
    }

    /// Runs a command in the user's repository, with `input` on its standard input.
    pub(crate) fn local_with_input<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: Vec<u8>,
    ) -> Result<Output, Error> {
        self.local_with(&[], arguments, input)
    }

    /// Runs a command with these variables besides.
    pub(crate) fn local_in<A: AsRef<OsStr>>(
        &self,
        environment: &[(String, OsString)],
        arguments: &[A],
    ) -> Result<Output, Error> {
        self.local_with(environment, arguments, Vec::new())
    }

    fn local_with<A: AsRef<OsStr>>(
        &self,
        environment: &[(String, OsString)],
        arguments: &[A],
        input: Vec<u8>,
    ) -> Result<Output, Error> {
        let mut command = self.command(environment, arguments);
        // Objects that are missing are not asked for: who is asked, and how, would be the repository's choice.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", NO_PROTOCOL);
        if let Some(above) = self.root.parent() {
            // Should git not take this for a repository, it must not work on the one around it.
            command.env("GIT_CEILING_DIRECTORIES", above);
        }
        let failed = |words: &str| Error::Git { action: "finish a git command", words: words.to_owned() };
        match run(command, input, Instant::now() + LOCAL_CAP, LOCAL_GRACE, Orphans::Live) {
            // Its silence is no answer: one that was killed does not say that there is no such reference.
            Ok(output) if output.code.is_none() => Err(failed("git was killed")),
            Ok(output) => Ok(output),
            Err(Failure::Start(error)) => Err(error),
            Err(Failure::TimedOut) => Err(failed("it took too long")),
        }
    }

    /// Runs a command that uses the network, with these variables besides. All that it started is dead afterwards; should this
    /// process be killed meanwhile, that dies as well.
    pub(super) fn network(
        &self,
        environment: &[(String, OsString)],
        arguments: &[&str],
        input: Vec<u8>,
        deadline: Instant,
    ) -> Result<Output, Failure> {
        let command = self.command(environment, arguments);
        let grace = if arguments.contains(&"push") { PUSH_GRACE } else { GRACE };
        // No process waits for a guard: every command gets the longer grace.
        run(command, input, deadline, grace, Orphans::EndAfter(PUSH_GRACE))
    }

    fn command<A: AsRef<OsStr>>(&self, environment: &[(String, OsString)], arguments: &[A]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root).args(["--no-pager", "--no-optional-locks"]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        for location in LOCATIONS {
            command.env_remove(location);
        }
        command
            .env("LC_ALL", "C")
            .env("LANGUAGE", "")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GCM_INTERACTIVE", "never")
            // An empty program never prompts, neither on a terminal nor in a window.
            .env("GIT_ASKPASS", "")
            .env("SSH_ASKPASS", "")
            .env("SSH_ASKPASS_REQUIRE", "never");
        for trace in ["GIT_TRACE", "GIT_TRACE_PACKET", "GIT_CURL_VERBOSE", "GIT_TRACE_CURL"] {
            command.env_remove(trace);
        }
        if let Some(ssh_command) = &self.ssh_command {
            command.env("GIT_SSH_COMMAND", ssh_command);
        }
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

fn not_started(error: io::Error) -> Failure {
    Failure::Start(Error::NoGit(error))
}

fn run(
    mut command: Command,
    input: Vec<u8>,
    deadline: Instant,
    grace: Duration,
    orphans: Orphans,
) -> Result<Output, Failure> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::start(&mut command, orphans).map_err(not_started)?;
    if let Some(mut stdin) = group.take_stdin() {
        // A child that does not read its input to the end closes the pipe; that is its right.
        thread::spawn(move || stdin.write_all(&input));
    }
    let stdout = group.take_stdout().map(Stream::collect);
    let stderr = group.take_stderr().map(Stream::collect);
    let has_ended = |group: &mut Group, moment: Instant| {
        while !group.has_ended() && Instant::now() < moment {
            thread::sleep(POLL);
        }
        group.has_ended()
    };
    let is_in_time = has_ended(&mut group, deadline);
    // Git takes its lock files along when it is asked to end, but not when it is killed. The streams are closed once
    // everything that it started has ended; a connection that ssh shares between commands leaves the group and keeps
    // them open.
    group.ask_to_end();
    let moment = Instant::now() + grace;
    has_ended(&mut group, moment);
    let stdout = stdout.map(|stream| stream.taken(moment)).unwrap_or_default();
    let stderr = stderr.map(|stream| stream.taken(moment)).unwrap_or_default();
    group.kill_all();
    // The child is dead, so this does not wait long; without it a zombie would stay.
    let status = group.wait().map_err(not_started)?;
    if !is_in_time {
        return Err(Failure::TimedOut);
    }
    Ok(Output { code: status.code(), stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() })
}

/// A stream that is read in a thread of its own.
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: mpsc::Receiver<()>,
}

impl Stream {
    fn collect(mut stream: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (sender, ended) = mpsc::channel();
        let collected = Arc::clone(&bytes);
        thread::spawn(move || {
            let mut chunk = [0; 8192];
            let mut left = MAX_OUTPUT;
            while let Ok(count @ 1..) = stream.read(&mut chunk) {
                let kept = count.min(usize::try_from(left).unwrap_or(usize::MAX));
                left -= kept as u64;
                if let Ok(mut collected) = collected.lock() {
                    collected.extend_from_slice(&chunk[..kept]);
                }
            }
            let _ = sender.send(());
        });
        Self { bytes, ended }
    }

    /// Returns what was read once the stream ends, or at `moment`.
    fn taken(self, moment: Instant) -> Vec<u8> {
        let _ = self.ended.recv_timeout(moment.saturating_duration_since(Instant::now()));
        self.bytes.lock().map(|mut bytes| std::mem::take(&mut *bytes)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_no_password_and_no_control_characters() {
        assert_eq!(
            words("fatal: unable to access 'https://ada:secret@host/x.git/':\n\u{1b}[31mno\u{1b}[0m"),
            "fatal: unable to access 'https://host/x.git/': no"
        );
        assert_eq!(words("see ssh://git@host/path"), "see ssh://host/path");
    }
}
