//! Being asked to end by a signal, which is remembered and acted on at the next good moment.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
pub(crate) use unix::listen;
#[cfg(windows)]
pub(crate) use windows::listen;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Says whether this process was asked to end.
pub(crate) fn asked_to_end() -> bool {
    ASKED.load(Ordering::Relaxed)
}
