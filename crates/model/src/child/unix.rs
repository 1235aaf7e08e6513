//! A process group with a guard in it.
//!
//! The guard is a fork of this process that founds the group and waits for us to die. We are the only ones to hold the
//! other end of its pipe, so it learns of our death however it comes, and takes the group with it. While the guard is
//! not waited for, nobody else can get its process id, and so the group's; killing the group hits nobody else.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

/// The most file descriptors that a guard closes one by one, where the system cannot close them all at once.
const MAX_DESCRIPTORS: libc::c_int = 65_536;

/// A process group that dies with us.
#[derive(Debug)]
pub(crate) struct Group {
    guard: libc::pid_t,
    /// Its end is the guard's signal.
    _alive: PipeWriter,
}

impl Group {
    /// Founds a group.
    pub(crate) fn new() -> io::Result<Self> {
        let (signal, alive) = io::pipe()?;
        #[expect(unsafe_code, reason = "the standard library cannot fork without a program to start")]
        // SAFETY: the child calls nothing but async-signal-safe functions and never returns.
        let guard = unsafe {
            match libc::fork() {
                0 => stand_guard(&signal),
                guard => guard,
            }
        };
        if guard < 0 {
            return Err(io::Error::last_os_error());
        }
        #[expect(unsafe_code, reason = "the standard library cannot move a process into a group")]
        // SAFETY: plain numbers; the guard does the same, and whoever is first makes the group.
        unsafe {
            libc::setpgid(guard, guard);
        }
        Ok(Self { guard, _alive: alive })
    }

    /// Makes a command start in the group.
    pub(crate) fn adopt(&self, command: &mut Command) {
        command.process_group(self.guard);
        #[cfg(target_os = "linux")]
        die_with_parent(command);
    }

    /// Kills everything in the group, at once.
    pub(crate) fn kill(&self, _child: &mut Child) {
        self.kill_all();
    }

    fn kill_all(&self) {
        #[expect(unsafe_code, reason = "the standard library cannot signal a group")]
        // SAFETY: plain numbers; the guard is a child not yet waited for, so the group is ours.
        unsafe {
            libc::kill(-self.guard, libc::SIGKILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill_all();
        #[expect(unsafe_code, reason = "the guard is no child of the standard library's")]
        // SAFETY: the guard is our child and was killed, so this ends soon.
        unsafe {
            while libc::waitpid(self.guard, std::ptr::null_mut(), 0) < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }
    }
}

/// Waits for the end of the pipe, then kills the group.
///
/// It gives up every other file first: with our standard output, a lock or the other end of its own pipe in its hands
/// it would keep alive what should end with us.
///
/// # Safety
/// Only for a process that was just forked.
#[expect(unsafe_code, reason = "between fork and the end only async-signal-safe functions may be called")]
unsafe fn stand_guard(signal: &PipeReader) -> ! {
    // SAFETY: system calls on plain numbers and one local byte.
    unsafe {
        libc::setpgid(0, 0);
        if libc::dup2(signal.as_raw_fd(), 0) == 0 {
            close_all_from(1);
            let mut byte = 0_u8;
            while libc::read(0, (&raw mut byte).cast(), 1) < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }
        libc::kill(0, libc::SIGKILL);
        libc::_exit(1)
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

/// Makes the kernel kill the child when the thread that starts it dies: quicker than the guard, and without it.
#[cfg(target_os = "linux")]
fn die_with_parent(command: &mut Command) {
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
        // Died in between: nobody would tell.
        if u32::try_from(now) == Ok(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    #[expect(unsafe_code, reason = "runs between fork and exec")]
    // SAFETY: the closure allocates nothing and calls only async-signal-safe functions.
    unsafe {
        command.pre_exec(ask_kernel);
    }
}
