//! The worker's log: lines as those of the hook log, in a file of its own.

use base::log::{Level, Line};
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use std::path::PathBuf;
use std::time::Instant;

/// Returns the worker's log.
pub fn log_file(paths: &Paths) -> PathBuf {
    paths.logs().join("worker.jsonl")
}

/// Logs that a worker is ended because it runs for too long.
pub fn log_cap(paths: &Paths) {
    let settings = Settings::read(&Env::process(), &paths.hook_settings());
    Log::new(paths, &settings).write(Level::Error, "worker", "ended: it ran for too long");
}

/// The log of one worker.
#[derive(Debug)]
pub(crate) struct Log {
    log: base::log::Log,
    began: Instant,
}

impl Log {
    pub(crate) fn new(paths: &Paths, settings: &Settings) -> Self {
        Self { log: base::log::Log::new(log_file(paths), settings), began: Instant::now() }
    }

    /// Writes a line about `what`: a kind of jobs, or a part of the worker.
    pub(crate) fn write(&self, level: Level, what: &str, message: &str) {
        self.log.write(&Line {
            at: Timestamp::now(),
            level,
            hook: "wyren-worker",
            event: what,
            session: None,
            millis: self.began.elapsed().as_secs_f64() * 1_000.0,
            message,
        });
    }
}
