//! Sessions that ended without a SessionEnd: their last turns are distilled when another session starts or stops.

use crate::ask::ask;
use crate::watermark::{Hold, Session, Watermark};
use base::log::Level;
use base::settings::Settings;
use base::{Paths, Timestamp};
use hook::Host;
use place::Folder;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How many leftovers are asked for at once.
pub(crate) const MAX_AT_ONCE: usize = 3;

/// How long to wait for the watermark.
const PATIENCE: Duration = Duration::from_millis(200);

/// Returns the sessions that were left behind, of which those with turns have been idle for longer than `idle` milliseconds;
/// none while a distillation runs.
pub fn leftovers(folder: &Folder, now: Timestamp, idle: u64) -> Vec<Session> {
    let watermark = Watermark::read(&folder.state());
    if watermark.is_running(now) {
        return Vec::new();
    }
    let keys = watermark.leftovers(now, idle);
    keys.iter().filter_map(|key| watermark.sessions.get(key).cloned()).collect()
}

/// Asks for the distillation of what earlier sessions have left, for one that begins in `cwd`. What fails is logged: a
/// session begins all the same.
pub fn see_to_leftovers(cwd: &Path, host: &Host) {
    let Some(folder) = Folder::find(cwd) else { return };
    if let Err(error) = request_leftovers(&host.paths, host.settings(), &folder, host.started) {
        let words = format!("could not ask for what earlier sessions have left: {error}");
        let _ = place::log::append(&folder.wyren, host.started, "", &words);
        host.log(Level::Error, &words);
    }
}

/// Asks for the distillation of sessions that were left behind, a few at a time; returns how many.
pub fn request_leftovers(
    paths: &Paths,
    settings: &Settings,
    folder: &Folder,
    now: Timestamp,
) -> io::Result<usize> {
    let idle = settings.number("distill.idle_ms");
    if !settings.is_on("distill.enabled") || leftovers(folder, now, idle).is_empty() {
        return Ok(0);
    }
    // Another process counts a turn or distills, and sees the same leftovers.
    let Some(mut hold) = Hold::take(&folder.state(), PATIENCE)? else { return Ok(0) };
    let mut keys = hold.watermark.leftovers(now, idle);
    keys.truncate(MAX_AT_ONCE);
    if keys.is_empty() || hold.watermark.is_running(now) {
        return Ok(0);
    }
    ask(&mut hold, folder, paths, None, &keys, now)?;
    Ok(keys.len())
}
