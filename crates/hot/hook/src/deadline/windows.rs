//! A thread that watches the clock: there are no timer signals.

use super::ANSWERED;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Starts the clock: after `deadline` the process writes `answer`, appends `line` to `log` and exits with 0.
pub(crate) fn arm(deadline: Duration, answer: &'static [u8], log: Option<&Path>, line: String) {
    let log = log.map(Path::to_owned);
    let watch = move || {
        thread::sleep(deadline);
        if !ANSWERED.swap(true, Ordering::SeqCst) {
            let mut stdout = io::stdout();
            let _ = stdout.write_all(answer).and_then(|()| stdout.flush());
        }
        if let Some(mut log) = log.and_then(|path| base::files::open_append(&path).ok()) {
            let _ = log.write_all(line.as_bytes());
        }
        #[expect(clippy::exit, reason = "ends a hook that hangs")]
        std::process::exit(0);
    };
    // Without a thread the client's own time-out ends the hook.
    let _ = thread::Builder::new().spawn(watch);
}
