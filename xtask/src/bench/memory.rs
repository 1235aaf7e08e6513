//! The most memory that a program ever had resident (`VmHWM`), exactly.
//!
//! `getrusage` would not do: its figure survives `exec` and so starts with this process's own memory. The kernel's
//! `VmHWM` belongs to the program alone, but is gone once it has ended: so the program is traced and stopped where it
//! exits.

use anyhow::Result;
use std::process::Command;

/// Runs a program and returns its peak in KiB; nothing where the system does not tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn peak_kib(_command: &mut Command) -> Result<Option<u64>> {
    Ok(None)
}

/// Runs a program and returns its peak in KiB.
#[cfg(target_os = "linux")]
pub(crate) fn peak_kib(command: &mut Command) -> Result<Option<u64>> {
    use anyhow::{Context as _, bail};

    let mut child = trace::spawn(command).context("could not trace a program")?;
    let id = libc::pid_t::try_from(child.id())?;
    loop {
        match trace::wait(id)? {
            trace::Stop::Exec => trace::resume_until_exit(id)?,
            trace::Stop::Signal(signal) => trace::resume(id, signal)?,
            trace::Stop::Exit => break,
            trace::Stop::Gone => bail!("the program was gone before its memory could be read"),
        }
    }
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    trace::detach(id)?;
    child.wait()?;
    Ok(Some(peak_in(&status).context("the kernel does not tell VmHWM")?))
}

/// Returns the peak in KiB that a `/proc/<id>/status` tells.
#[cfg(target_os = "linux")]
fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "ptrace has no safe interface")]
mod trace {
    use libc::{c_int, c_uint, pid_t};
    use std::io::{Error, Result};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};
    use std::ptr::null_mut;

    /// Why a traced program does not run.
    pub(super) enum Stop {
        /// It has just begun.
        Exec,
        /// It is about to end, its memory still there.
        Exit,
        /// It is about to get this signal.
        Signal(c_int),
        /// It has ended.
        Gone,
    }

    /// Starts a program that stops as soon as it begins.
    pub(super) fn spawn(command: &mut Command) -> Result<Child> {
        // SAFETY: the closure runs between fork and exec; it makes one system call and allocates nothing.
        unsafe {
            command.pre_exec(|| request(libc::PTRACE_TRACEME, 0, 0));
        }
        command.spawn()
    }

    /// Waits until a traced program stops.
    pub(super) fn wait(id: pid_t) -> Result<Stop> {
        let mut status = 0;
        // SAFETY: `status` outlives the call.
        if unsafe { libc::waitpid(id, &raw mut status, 0) } == -1 {
            return Err(Error::last_os_error());
        }
        Ok(match status {
            _ if !libc::WIFSTOPPED(status) => Stop::Gone,
            _ if status >> 16 == libc::PTRACE_EVENT_EXIT => Stop::Exit,
            _ if libc::WSTOPSIG(status) == libc::SIGTRAP => Stop::Exec,
            _ => Stop::Signal(libc::WSTOPSIG(status)),
        })
    }

    /// Lets a stopped program run until it exits or gets a signal.
    pub(super) fn resume_until_exit(id: pid_t) -> Result<()> {
        request(libc::PTRACE_SETOPTIONS, id, libc::PTRACE_O_TRACEEXIT | libc::PTRACE_O_EXITKILL)?;
        resume(id, 0)
    }

    /// Lets a stopped program run on, with a signal unless it is 0.
    pub(super) fn resume(id: pid_t, signal: c_int) -> Result<()> {
        request(libc::PTRACE_CONT, id, signal)
    }

    /// Lets a stopped program run on untraced.
    pub(super) fn detach(id: pid_t) -> Result<()> {
        request(libc::PTRACE_DETACH, id, 0)
    }

    fn request(request: c_uint, id: pid_t, data: c_int) -> Result<()> {
        // SAFETY: none of the requests of this module reads or writes memory through its arguments.
        match unsafe { libc::ptrace(request, id, null_mut::<u8>(), data as libc::c_long) } {
            -1 => Err(Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_holds_more_memory_has_a_higher_peak() {
        let peak = |bytes: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", &format!("x=$(head -c {bytes} /dev/zero | tr '\\0' x); exit 3")]);
            peak_kib(&mut command).unwrap().unwrap()
        };
        assert!(peak("8000000") > peak("1") + 7_000);
    }

    #[test]
    fn the_peak_is_found_among_the_other_figures() {
        assert_eq!(peak_in("VmPeak:\t  900 kB\nVmHWM:\t    736 kB\nVmRSS:\t  1 kB\n"), Some(736));
        assert_eq!(peak_in("Name:\tkthread\n"), None);
    }
}
