//! The clock: not before this program was written, and not behind what Wyren has recorded.

use super::{Check, Subject};
use crate::when;
use base::Timestamp;

const NAME: &str = "clock";

/// No machine of today has a date before this one: 2026-01-01.
const EARLIEST_MILLIS: u64 = 1_767_225_600_000;

/// How far what was recorded may be ahead: file systems of other machines have clocks of their own.
const SLACK_MILLIS: u64 = 60_000;

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let newest = [subject.paths.hook_log(), queue::lock_file(subject.paths)]
        .iter()
        .filter_map(|file| std::fs::metadata(file).ok()?.modified().ok())
        .map(Timestamp::from)
        .max();
    judge(subject.now, newest)
}

fn judge(now: Timestamp, newest: Option<Timestamp>) -> Check {
    let fix = "set the date and time of this machine";
    if now.millis() < EARLIEST_MILLIS {
        let message =
            format!("this machine says it is {}; records and budgets go by that date", when::local(now));
        return Check::odd(NAME, message, fix);
    }
    match newest.filter(|newest| newest.millis() > now.millis() + SLACK_MILLIS) {
        Some(newest) => {
            let message = format!(
                "the last hook ran at {}, which is later than now, {}: the clock was set back, or it is wrong",
                when::local(newest),
                when::local(now)
            );
            Check::odd(NAME, message, fix)
        }
        None => Check::good(NAME, when::local(now)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Health;

    #[test]
    fn a_clock_that_is_behind_is_named() {
        let now = Timestamp::from_millis(EARLIEST_MILLIS + 1);
        let ahead = |millis| Some(Timestamp::from_millis(now.millis() + millis));
        assert_eq!(judge(now, None).health, Health::Good);
        assert_eq!(judge(now, ahead(SLACK_MILLIS)).health, Health::Good);
        assert_eq!(judge(now, ahead(SLACK_MILLIS + 1)).health, Health::Odd);
        assert_eq!(judge(Timestamp::from_millis(0), None).health, Health::Odd);
    }
}
