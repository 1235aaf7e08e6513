//! Local days and times, as the person and the model speak of them.
//!
//! The zone is read with `chrono`, which the command line uses, too: `localtime_r` would need unsafe code, and another
//! function on Windows.

use chrono::{DateTime, Datelike as _, Local, Timelike as _};

/// A moment on the local clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// `2026-11-17`.
    pub day: String,
    /// `14:05`.
    pub time: String,
}

/// Returns the local moment of a time in milliseconds since 1970.
pub fn local(millis: u64) -> Moment {
    let time = i64::try_from(millis).ok().and_then(DateTime::from_timestamp_millis).unwrap_or_default();
    let time = time.with_timezone(&Local);
    Moment {
        day: format!("{:04}-{:02}-{:02}", time.year(), time.month(), time.day()),
        time: format!("{:02}:{:02}", time.hour(), time.minute()),
    }
}
