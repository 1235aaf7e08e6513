//! Programs that outlive the process that starts them: the worker, a background sync.

use crate::{Paths, system};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The variables of agents about the session. A program that outlives the session must not inherit them; variables for
/// reaching the API stay.
const SESSION_VARIABLES: [&str; 17] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PROJECT_DIR",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL_ID",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "OPENCODE",
];

/// Returns the path of the program `name` in the folder of this one.
pub fn beside_us(name: &str) -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns a command for a program that outlives this one. The program itself leaves our session: see [`leave_session`].
pub fn command(program: &Path, paths: &Paths) -> io::Result<Command> {
    let mut command = Command::new(program);
    command
        // The data folder may be relative to the current folder.
        .env("WYREN_DATA_DIR", std::path::absolute(paths.data())?)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for variable in SESSION_VARIABLES {
        command.env_remove(variable);
    }
    system::outlive_us(&mut command);
    Ok(command)
}

/// Ends this program after `cap`, whatever it is doing: its own deadlines come much earlier. `tell` has a second to say so.
pub fn end_after(cap: Duration, tell: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        thread::sleep(cap);
        let (done, is_done) = mpsc::channel();
        // What hangs may be the very folder that the log is in.
        thread::spawn(move || {
            tell();
            let _ = done.send(());
        });
        let _ = is_done.recv_timeout(LAST_WORDS);
        #[expect(clippy::exit, reason = "ends a program that hangs")]
        std::process::exit(1);
    });
}

/// How long a program that is ended may take to say so.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Gives this program its own session, so that the end of the terminal or client that started it does not reach it. The
/// program calls this itself, first thing: a command with code between fork and exec cannot be started with the faster
/// `vfork`, which shares the memory instead of copying it.
pub fn leave_session() {
    system::leave_session();
}
