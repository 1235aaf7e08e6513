//! A timer signal: it costs one system call, where a watching thread would cost more than the rest of a hook. What the signal
//! handler needs is prepared beforehand, since it may neither allocate nor lock.

#![expect(unsafe_code, reason = "signals and timers are not in the standard library")]

use super::ANSWERED;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::Duration;

struct LastWords {
    answer: &'static [u8],
    log: Option<CString>,
    line: Vec<u8>,
}

static LAST_WORDS: OnceLock<LastWords> = OnceLock::new();

/// Starts the clock: after `deadline` the process writes `answer`, appends `line` to `log` and exits with 0.
pub(crate) fn arm(deadline: Duration, answer: &'static [u8], log: Option<&Path>, line: String) {
    let log = log.and_then(|path| CString::new(path.as_os_str().as_bytes()).ok());
    let _ = LAST_WORDS.set(LastWords { answer, log, line: line.into_bytes() });
    // SAFETY: the handler calls only functions that POSIX allows in a signal handler, and reads only statics
    // that are never written again. An all-zero sigaction is a valid one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_deadline as *const () as libc::sighandler_t;
        libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut());
    }
    set_timer(deadline);
}

fn set_timer(after: Duration) {
    let timer = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval {
            // The types differ between platforms; a deadline of seconds fits all of them.
            tv_sec: after.as_secs() as _,
            tv_usec: after.subsec_micros() as _,
        },
    };
    // SAFETY: the timer is a valid value and the old one is not asked for.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
}

extern "C" fn on_deadline(_signal: libc::c_int) {
    let Some(words) = LAST_WORDS.get() else { return };
    // SAFETY: open, write and _exit are async-signal-safe; the pointers come from live statics with their lengths.
    unsafe {
        if !ANSWERED.swap(true, Ordering::SeqCst) {
            libc::write(libc::STDOUT_FILENO, words.answer.as_ptr().cast(), words.answer.len());
        }
        if let Some(path) = &words.log {
            let log = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT, 0o600);
            if log >= 0 {
                libc::write(log, words.line.as_ptr().cast(), words.line.len());
            }
        }
        libc::_exit(0);
    }
}
