//! When lessons are looked for: at the start of a session, once in so many hours.

use base::{Paths, Timestamp};
use hook::event::Source;
use hook::{Host, SessionStart};
use queue::Request;
use std::io;
use std::path::PathBuf;

/// The kind of the worker's jobs that look for lessons.
pub const SCAN: &str = "scan";

const MILLIS_PER_HOUR: u64 = 3_600_000;

/// Returns the file whose time says when the last scan came to its end.
pub fn scanned_file(paths: &Paths) -> PathBuf {
    paths.cache().join("lessons/scanned")
}

/// Asks for a scan when one is due. Of a session that starts when none is, this costs one look at a file's time.
pub fn see_to_scan(call: &SessionStart, host: &Host) -> io::Result<()> {
    if call.source() != Source::Startup {
        return Ok(());
    }
    let settings = host.settings();
    let scanned = std::fs::metadata(scanned_file(&host.paths)).and_then(|metadata| metadata.modified());
    let is_due = scanned.map(Timestamp::from).ok().is_none_or(|scanned| {
        host.started.millis_since(scanned) >= settings.number("lessons.scan_interval_hours") * MILLIS_PER_HOUR
    });
    // What is not recorded is no evidence, either.
    if !is_due || !settings.is_on("capture.enabled") {
        return Ok(());
    }
    let request = Request { key: Some(SCAN.into()), ..Request::new(SCAN) };
    queue::request(&host.paths, &request, host.started)?;
    queue::start_worker_for_work(&host.paths, host.started).map(drop)
}
