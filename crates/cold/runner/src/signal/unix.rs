use super::ASKED;
use std::sync::atomic::Ordering;

/// Listens for SIGTERM, SIGINT and SIGHUP from now on.
#[expect(unsafe_code, reason = "signals are not in the standard library")]
pub(crate) fn listen() {
    extern "C" fn remember(_signal: libc::c_int) {
        ASKED.store(true, Ordering::Relaxed);
    }
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: the handler only stores to an atomic, which a signal handler may do. An all-zero sigaction is valid.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = remember as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
