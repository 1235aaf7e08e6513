//! Programs that outlive the process that starts them: the worker, a background sync.

use crate::{Paths, system};
use std::ffi::OsStr;
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

/// Runs the program `name` in the folder of this one, with nothing to read or write, and waits for it; says whether it
/// succeeded. It gets our environment and folder.
pub fn run_beside_us(name: &str, arguments: &[&OsStr]) -> io::Result<bool> {
    run_quietly(&beside_us(name)?, arguments)
}

/// By hand: the standard library's way takes 35 KB, which is much of a hook.
#[cfg(unix)]
#[expect(unsafe_code, reason = "posix_spawn is not in the standard library")]
fn run_quietly(program: &Path, arguments: &[&OsStr]) -> io::Result<bool> {
    use std::ffi::{CString, c_char, c_int};
    use std::os::unix::ffi::OsStrExt as _;

    unsafe extern "C" {
        static environ: *const *mut c_char;
    }
    let words = [program.as_os_str()].into_iter().chain(arguments.iter().copied());
    let words: Vec<CString> = words.map(|word| CString::new(word.as_bytes())).collect::<Result<_, _>>()?;
    let mut pointers: Vec<*mut c_char> = words.iter().map(|word| word.as_ptr().cast_mut()).collect();
    pointers.push(std::ptr::null_mut());
    let check = |code: c_int| if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) };

    let (mut process, mut status) = (0, 0);
    // SAFETY: the actions are initialised before they are used and destroyed once. The words end in zeros, their list ends in
    // null, and both outlive the calls, which do not change them. No other thread of a hook changes the environment.
    unsafe {
        let mut actions = std::mem::MaybeUninit::uninit();
        check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
        let mut actions = actions.assume_init();
        let mut started = Ok(());
        for stream in 0..=2 {
            let null = c"/dev/null".as_ptr();
            let opened = libc::posix_spawn_file_actions_addopen(&mut actions, stream, null, libc::O_RDWR, 0);
            started = started.and_then(|()| check(opened));
        }
        started = started.and_then(|()| {
            let (program, words) = (words[0].as_ptr(), pointers.as_ptr());
            check(libc::posix_spawn(&mut process, program, &actions, std::ptr::null(), words, environ))
        });
        libc::posix_spawn_file_actions_destroy(&mut actions);
        started?;
        while libc::waitpid(process, &mut status, 0) < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
    Ok(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0)
}

#[cfg(windows)]
fn run_quietly(program: &Path, arguments: &[&OsStr]) -> io::Result<bool> {
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    std::os::windows::process::CommandExt::creation_flags(&mut command, CREATE_NO_WINDOW);
    Ok(command.status()?.success())
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_program_that_is_run_gets_its_words_and_tells_whether_it_succeeded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a file");
        let script = OsStr::new("printf %s \"$2\" > \"$1\"; echo noise; cat; exit $3");
        let run = |code: &str| {
            let words = [
                OsStr::new("-c"),
                script,
                OsStr::new("sh"),
                file.as_os_str(),
                OsStr::new("x y"),
                code.as_ref(),
            ];
            run_quietly(Path::new("/bin/sh"), &words).unwrap()
        };
        assert!(run("0"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "x y");
        assert!(!run("3"));
        let missing = run_quietly(&folder.path().join("missing"), &[]);
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
