//! Limits that the system sets for a process.

/// Makes a write beyond the limit on file sizes (`ulimit -f`) fail with an error, where the signal would end the process.
/// Every program calls this first.
pub fn survive_file_size_limit() {
    #[cfg(unix)]
    #[expect(unsafe_code, reason = "signals are not in the standard library")]
    // SAFETY: ignoring a signal installs no handler and touches no memory.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
