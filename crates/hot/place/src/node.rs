//! Everything that exists only because the Node version may work in the same clone.
//!
//! One day no clone has the Node version any more; then this module goes, and its callers lose a line each:
//!
//! | here | for what the Node version does |
//! |---|---|
//! | [`Trigger`], `distill-trigger.lock` | lets one of several stops start a distillation |
//! | [`PushLock`], `.lock` | keeps others from pushing |
//! | [`is_alive`] | names its distiller by process id, in `watermark.json` |
//! | [`settle`] | looks at the running flag a moment after it asked for a distillation |
//! | [`replace`] | reads `watermark.json` at any moment; the process id in it changes in place |
//! | [`UpsState`], `ups-state.json`, `last-injected-memory.md` | keeps what the clone as a whole was shown |
//! | [`LONG_FILE_END`] | ends a long broadcast file with these words |
//! | [`score_line`] | logs the score of a slice as "tier0" |
//!
//! What its files have in common with ours stays with ours: the keys of `watermark.json` in `schedule::watermark`, and the
//! format of `.wyren/log` in [`crate::log`].

mod push_lock;
mod replace;
mod trigger;
mod ups;

pub use base::system::is_alive;
pub use push_lock::PushLock;
pub use replace::{Replaced, replace};
pub use trigger::Trigger;
pub use ups::{UpsState, last_injected, write_last_injected};

use base::Timestamp;
use std::time::Duration;

/// The end of a broadcast file over 50 KB, which is read up to there.
pub const LONG_FILE_END: &str = "\n<!-- wyren: truncated — file exceeds 50 KB -->";

/// How long after a request the running flag stays set, however quick the distillation was.
const SETTLE_MILLIS: u64 = 300;

/// Waits until the running flag has been set for a moment since the request at `requested_at`.
pub fn settle(requested_at: Timestamp, now: Timestamp) {
    // A request from the future has another clock.
    let age = now.millis().checked_sub(requested_at.millis()).unwrap_or(SETTLE_MILLIS);
    std::thread::sleep(Duration::from_millis(SETTLE_MILLIS.saturating_sub(age)));
}

/// Returns the log line about the score of a slice.
pub fn score_line(points: u32, threshold: u32, passes: bool) -> String {
    format!("[wyren] tier0 score={points} threshold={threshold} passes={passes}")
}

/// Returns the log line about the reasons for a score.
pub fn reasons_line(reasons: &str) -> String {
    format!("[wyren] tier0 reasons: {reasons}")
}
