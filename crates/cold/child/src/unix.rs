//! A session for a child, and a guard that ends it if this process is killed.
//!
//! The guard is a fork of this process that waits for our death. We alone hold the other end of its pipe, so it notices
//! any kind of death. The child writes its process id to the pipe before it starts; while we live, we end the child
//! ourselves.

use crate::Orphans;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// The number of file descriptors that a guard closes one by one if the system cannot close all at once.
const MAX_DESCRIPTORS: libc::c_int = 65_536;

/// How often a guard checks whether the group has ended, in milliseconds.
const GRACE_PAUSE: libc::c_int = 10;

/// Few enough bytes for one atomic write to a pipe.
const ID_BYTES: usize = size_of::<libc::pid_t>();

/// What a group needs as long as its child was not waited for: the guard, if it has one.
#[derive(Debug, Default)]
pub(crate) struct Held(#[expect(dead_code, reason = "ends the guard when it is dropped")] Option<Guard>);

/// Starts a command as the leader of a session.
pub(crate) fn start(command: &mut Command, orphans: Orphans) -> io::Result<(Child, Held)> {
    let guard = match orphans {
        Orphans::Live => {
            leave_terminal(command);
            Held::default()
        }
        Orphans::EndAfter(grace) => Held(Some(Guard::new(command, grace)?)),
    };
    Ok((command.spawn()?, guard))
}

/// Makes a command start in its own session, without a terminal to prompt on.
fn leave_terminal(command: &mut Command) {
    #[expect(unsafe_code, reason = "runs between fork and exec")]
    // SAFETY: the closure allocates nothing and calls only async-signal-safe functions.
    unsafe {
        command.pre_exec(|| if libc::setsid() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) });
    }
}

/// Makes the kernel kill the child, but not its children, when the thread that starts it dies. Needed when the guard dies
/// with us: it has our name, so `pkill` by name finds both. Linux only.
pub fn die_with_us(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        let parent = std::process::id();
        let ask_kernel = move || {
            #[expect(unsafe_code, reason = "the standard library has no parent-death signal")]
            // SAFETY: async-signal-safe system calls on plain numbers.
            let now = unsafe {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                    return Err(io::Error::last_os_error());
                }
                libc::getppid()
            };
            // The parent died before the call: the signal would never come.
            if u32::try_from(now) == Ok(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        };
        #[expect(unsafe_code, reason = "runs between fork and exec")]
        // SAFETY: the closure allocates nothing and calls only async-signal-safe functions.
        unsafe {
            command.pre_exec(ask_kernel);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

pub(crate) fn has_ended(child: &mut Child) -> bool {
    !matches!(look(child, libc::WNOHANG), Ok(false))
}

pub(crate) fn wait(mut child: Child, held: Held) -> io::Result<ExitStatus> {
    while let Err(error) = look(&child, 0) {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // Before the child's process id is free for others, whom the guard must not hit.
    drop(held);
    child.wait()
}

/// Returns whether a child has ended, without taking its status.
fn look(child: &Child, flags: libc::c_int) -> io::Result<bool> {
    #[expect(unsafe_code, reason = "the standard library cannot look at a child without taking its status")]
    // SAFETY: the structure is plain numbers, for which zero is valid, and lives across the call.
    unsafe {
        let mut about: libc::siginfo_t = std::mem::zeroed();
        let flags = flags | libc::WEXITED | libc::WNOWAIT;
        match libc::waitid(libc::P_PID, child.id(), &raw mut about, flags) {
            0 => Ok(about.si_pid() != 0),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

pub(crate) fn ask_to_end(child: &Child, _held: &Held) {
    signal_group(child, libc::SIGTERM);
}

pub(crate) fn kill_all(child: &Child, _held: &Held) {
    signal_group(child, libc::SIGKILL);
}

fn signal_group(child: &Child, signal: libc::c_int) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        #[expect(unsafe_code, reason = "the standard library cannot signal a group")]
        // SAFETY: plain numbers; the child leads the group and was not waited for, so the group is ours.
        unsafe {
            libc::kill(-group, signal);
        }
    }
}

/// Ends a command's group when we die. Drop it once the command has ended.
#[derive(Debug)]
struct Guard {
    process: libc::pid_t,
    /// Closing it signals the guard.
    _alive: PipeWriter,
}

impl Guard {
    /// Starts a guard and makes a command start in its own session, under that guard. When we die, the guard asks the
    /// command's group to end and kills the rest of it after `grace`; with a grace of zero it kills at once.
    fn new(command: &mut Command, grace: Duration) -> io::Result<Self> {
        let (signal, alive) = io::pipe()?;
        let report = alive.try_clone()?;
        let looks =
            grace.as_millis().div_ceil(GRACE_PAUSE.unsigned_abs().into()).try_into().unwrap_or(u32::MAX);
        #[expect(unsafe_code, reason = "the standard library cannot fork without a program to start")]
        // SAFETY: the child calls nothing but async-signal-safe functions and never returns.
        let process = unsafe {
            match libc::fork() {
                0 => stand_guard(&signal, looks),
                process => process,
            }
        };
        if process < 0 {
            return Err(io::Error::last_os_error());
        }
        report_to(command, report);
        Ok(Self { process, _alive: alive })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the guard is no child of the standard library's")]
        // SAFETY: plain numbers; the guard is our child, not yet waited for, and ends at once when killed.
        unsafe {
            libc::kill(self.process, libc::SIGKILL);
            while libc::waitpid(self.process, std::ptr::null_mut(), 0) < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }
    }
}

/// Makes a command start in its own session and send the guard its process id.
fn report_to(command: &mut Command, guard: PipeWriter) {
    let report = move || {
        #[expect(
            unsafe_code,
            reason = "between fork and exec only async-signal-safe functions may be called"
        )]
        // SAFETY: system calls on plain numbers and one local number.
        let is_done = unsafe {
            let process = libc::getpid();
            libc::setsid() >= 0
                && libc::write(guard.as_raw_fd(), (&raw const process).cast(), ID_BYTES)
                    == ID_BYTES.cast_signed()
        };
        if is_done { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    #[expect(unsafe_code, reason = "runs between fork and exec")]
    // SAFETY: the closure allocates nothing and calls only async-signal-safe functions.
    unsafe {
        command.pre_exec(report);
    }
}

/// Reads the process id to guard, waits for the end of the pipe, then ends that group; `looks` is how often it checks
/// whether the group has ended by itself.
///
/// It first closes every other file: holding our standard output, a lock or the other end of its own pipe would keep
/// alive what should end with us. Its own session protects it from the terminal's signals.
///
/// # Safety
/// Only for a process that was just forked.
#[expect(unsafe_code, reason = "between fork and the end only async-signal-safe functions may be called")]
unsafe fn stand_guard(signal: &PipeReader, looks: u32) -> ! {
    // SAFETY: system calls on plain numbers and one local number.
    unsafe {
        libc::setsid();
        if libc::dup2(signal.as_raw_fd(), 0) != 0 {
            libc::_exit(1);
        }
        close_all_from(1);
        let mut group: libc::pid_t = 0;
        while read_id(&mut group) {}
        if group > 1 {
            if looks > 0 {
                libc::kill(-group, libc::SIGTERM);
            }
            let mut left = looks;
            while left > 0 && libc::kill(-group, 0) == 0 {
                // `poll` on nothing: unlike `usleep` it is async-signal-safe.
                libc::poll(std::ptr::null_mut(), 0, GRACE_PAUSE);
                left -= 1;
            }
            libc::kill(-group, libc::SIGKILL);
        }
        libc::_exit(0)
    }
}

/// Reads a process id from standard input; returns whether there was one.
///
/// # Safety
/// Only for the guard.
#[expect(unsafe_code, reason = "the standard library's input may allocate")]
unsafe fn read_id(id: &mut libc::pid_t) -> bool {
    loop {
        // SAFETY: as many bytes as the number has.
        let count = unsafe { libc::read(0, std::ptr::from_mut(id).cast(), ID_BYTES) };
        if count >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return count == ID_BYTES.cast_signed();
        }
    }
}

/// Closes every file descriptor from `first` on.
///
/// # Safety
/// Only for a process that will not use them again.
#[expect(unsafe_code, reason = "the standard library closes only what it owns")]
unsafe fn close_all_from(first: libc::c_int) {
    // SAFETY: system calls on plain numbers.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) == 0 {
            return;
        }
        let limit = libc::sysconf(libc::_SC_OPEN_MAX);
        let limit = libc::c_int::try_from(limit).unwrap_or(MAX_DESCRIPTORS).min(MAX_DESCRIPTORS);
        for descriptor in first..limit {
            libc::close(descriptor);
        }
    }
}
