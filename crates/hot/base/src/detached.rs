//! Programs of ours that outlive the one that starts them: the worker, a sync in the background.

use crate::Paths;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the client tells its hooks about the session. Who outlives it must not take it for its own; how the user reaches
/// the API is left as it is.
const SESSION_VARIABLES: [&str; 10] = [
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
];

/// Returns the path of the program called `name` that stands beside this one.
pub fn beside_us(name: &str) -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns a command for a program that outlives this one and shares nothing with it. The program itself leaves our session:
/// see [`leave_session`].
pub fn command(program: &Path, paths: &Paths) -> io::Result<Command> {
    let mut command = Command::new(program);
    command
        // The data folder may have been named relative to where we are.
        .env("WYREN_DATA_DIR", std::path::absolute(paths.data())?)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for variable in SESSION_VARIABLES {
        command.env_remove(variable);
    }
    #[cfg(windows)]
    {
        const DETACHED_PROCESS: u32 = 0x0000_0008;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
        std::os::windows::process::CommandExt::creation_flags(
            &mut command,
            DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP,
        );
    }
    Ok(command)
}

/// Gives this program a session of its own: what ends the one it was started from, a terminal or a client, does not reach
/// it. It is the first thing that such a program does, and not done for it: a command that runs code of ours between fork
/// and exec cannot be started the quick way, which shares the memory instead of copying it.
pub fn leave_session() {
    #[cfg(unix)]
    #[expect(unsafe_code, reason = "the standard library does not call setsid")]
    // SAFETY: the call takes nothing and touches no memory. One that leads a group already stays where it is.
    unsafe {
        libc::setsid();
    }
}
