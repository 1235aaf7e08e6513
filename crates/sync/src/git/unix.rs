//! A session of its own for git, and a guard that ends it should we be killed.
//!
//! The guard is a fork of this process that waits for us to die. We alone hold the other end of its pipe, so it learns
//! of our death however it comes. Git tells it its process id before it begins; while we live, we end git ourselves.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

/// The most file descriptors that a guard closes one by one, where the system cannot close them all at once.
const MAX_DESCRIPTORS: libc::c_int = 65_536;

/// How often a guard looks whether git has ended after our death.
const GRACE_LOOKS: u32 = 500;

/// How long a guard pauses between two looks, in microseconds: five seconds in all. A remote in a folder of this machine
/// has its end of the connection in git's group, which on a busy machine needs its time to take its lock files along.
const GRACE_PAUSE: libc::useconds_t = 10_000;

/// Makes a command start in a session of its own, without a terminal to ask on.
pub(crate) fn leave_terminal(command: &mut Command) {
    #[expect(unsafe_code, reason = "runs between fork and exec")]
    // SAFETY: the closure allocates nothing and calls only async-signal-safe functions.
    unsafe {
        command.pre_exec(|| if libc::setsid() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) });
    }
}

/// Returns whether a child has ended; its status stays to be taken, so that nobody else gets its process id.
pub(crate) fn has_ended(child: &mut Child) -> bool {
    #[expect(unsafe_code, reason = "the standard library cannot look at a child without taking its status")]
    // SAFETY: the structure is plain numbers, for which zero is valid, and lives across the call.
    unsafe {
        let mut about: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_PID, child.id(), &raw mut about, flags) != 0 || about.si_pid() != 0
    }
}

/// Asks everything in the child's group to end.
pub(crate) fn ask_to_end(child: &mut Child) {
    signal_group(child, libc::SIGTERM);
}

/// Kills everything in the child's group. Only for a child whose status was not taken yet.
pub(crate) fn kill_all(child: &mut Child) {
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

/// Ends a command's group when we die; dropping it, once the command has ended, sends it home.
#[derive(Debug)]
pub(crate) struct Guard {
    process: libc::pid_t,
    /// Its end is the guard's signal.
    _alive: PipeWriter,
}

impl Guard {
    /// Starts a guard and makes a command start in a session of its own, under it.
    pub(crate) fn new(command: &mut Command) -> io::Result<Self> {
        let (signal, alive) = io::pipe()?;
        #[expect(unsafe_code, reason = "the standard library cannot fork without a program to start")]
        // SAFETY: the child calls nothing but async-signal-safe functions and never returns.
        let process = unsafe {
            match libc::fork() {
                0 => stand_guard(&signal),
                process => process,
            }
        };
        if process < 0 {
            return Err(io::Error::last_os_error());
        }
        report_to(command, alive.as_raw_fd());
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

/// Makes a command start in a session of its own and tell the guard its process id.
fn report_to(command: &mut Command, guard: RawFd) {
    let report = move || {
        #[expect(
            unsafe_code,
            reason = "between fork and exec only async-signal-safe functions may be called"
        )]
        // SAFETY: system calls on plain numbers and one local number of four bytes.
        let is_done = unsafe {
            let process = libc::getpid();
            libc::setsid() >= 0 && libc::write(guard, (&raw const process).cast(), 4) == 4
        };
        if is_done { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    #[expect(unsafe_code, reason = "runs between fork and exec")]
    // SAFETY: the closure allocates nothing and calls only async-signal-safe functions.
    unsafe {
        command.pre_exec(report);
    }
}

/// Learns whom to guard, waits for the end of the pipe, then ends that group.
///
/// It gives up every other file first: with our standard output, a lock or the other end of its own pipe in its hands
/// it would keep alive what should end with us. Its own session keeps the terminal's signals away from it.
///
/// # Safety
/// Only for a process that was just forked.
#[expect(unsafe_code, reason = "between fork and the end only async-signal-safe functions may be called")]
unsafe fn stand_guard(signal: &PipeReader) -> ! {
    // SAFETY: system calls on plain numbers and one local number of four bytes.
    unsafe {
        libc::setsid();
        if libc::dup2(signal.as_raw_fd(), 0) != 0 {
            libc::_exit(1);
        }
        close_all_from(1);
        let mut group: libc::pid_t = 0;
        if read_number(&mut group) && group > 1 {
            let mut nothing = 0;
            while read_number(&mut nothing) {}
            libc::kill(-group, libc::SIGTERM);
            let mut looks = 0;
            while looks < GRACE_LOOKS && libc::kill(-group, 0) == 0 {
                libc::usleep(GRACE_PAUSE);
                looks += 1;
            }
            libc::kill(-group, libc::SIGKILL);
        }
        libc::_exit(0)
    }
}

/// Reads a process id from standard input; writes this short come whole.
///
/// # Safety
/// Only for the guard.
#[expect(unsafe_code, reason = "the standard library's input may allocate")]
unsafe fn read_number(number: &mut libc::pid_t) -> bool {
    loop {
        // SAFETY: four bytes into a number of four bytes.
        let count = unsafe { libc::read(0, std::ptr::from_mut(number).cast(), 4) };
        if count >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return count == 4;
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
