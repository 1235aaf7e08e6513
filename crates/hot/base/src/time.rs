//! Timestamps as milliseconds since 1970, written as RFC 3339 in UTC.
//!
//! Hooks need only a stamp for a log line, which does not justify a date library.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

const MILLIS_PER_DAY: u64 = 86_400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// 0 when `earlier` is later.
    pub const fn millis_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let millis = time.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis());
        Self(u64::try_from(millis).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Timestamp {
    /// Writes `2026-11-16T02:26:41.123Z`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_date(self.0 / MILLIS_PER_DAY);
        let millis = self.0 % MILLIS_PER_DAY;
        let (hour, minute) = (millis / 3_600_000, millis / 60_000 % 60);
        let (second, milli) = (millis / 1_000 % 60, millis % 1_000);
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a stamp such as 2026-11-16T02:26:41Z")]
pub struct NotATime;

impl FromStr for Timestamp {
    type Err = NotATime;

    /// Reads a stamp that a program wrote: `2026-11-16T02:26:41.123Z`, or the same with an offset (`+02:00`).
    fn from_str(text: &str) -> Result<Self, NotATime> {
        let (date, time) = text.trim().split_once(['T', 't', ' ']).ok_or(NotATime)?;
        let zone = time.find(['Z', 'z', '+', '-']).ok_or(NotATime)?;
        let (clock, zone) = time.split_at(zone);
        let millis = days_of(date)? * MILLIS_PER_DAY as i64 + millis_of(clock)? - offset_of(zone)?;
        u64::try_from(millis).map(Self).map_err(|_| NotATime)
    }
}

fn number(text: &str, digits: usize, most: i64) -> Result<i64, NotATime> {
    let is_plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number <= most).ok_or(NotATime)
}

fn days_of(date: &str) -> Result<i64, NotATime> {
    let [year, month, day] = date.split('-').collect::<Vec<_>>()[..] else { return Err(NotATime) };
    let (year, month, day) = (number(year, 4, 9_999)?, number(month, 2, 12)?, number(day, 2, 31)?);
    if year < 1970 || month == 0 || day == 0 {
        return Err(NotATime);
    }
    // The inverse of `civil_date`: years are counted from March there, too.
    let year = year - i64::from(month <= 2);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468;
    // The 31st of a month with 30 days would be the first of the next.
    let is_in_calendar = u64::try_from(days).is_ok_and(|days| civil_date(days).2 == day.unsigned_abs());
    is_in_calendar.then_some(days).ok_or(NotATime)
}

fn millis_of(clock: &str) -> Result<i64, NotATime> {
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NotATime);
    }
    let millis: i64 = format!("{fraction:0<3}")[..3].parse().map_err(|_| NotATime)?;
    let mut parts = clock.split(':');
    let mut next = |most| parts.next().map_or(Ok(0), |part| number(part, 2, most));
    let (hour, minute, second) = (next(23)?, next(59)?, next(60)?);
    parts.next().map_or(Ok(((hour * 60 + minute) * 60 + second) * 1_000 + millis), |_| Err(NotATime))
}

fn offset_of(zone: &str) -> Result<i64, NotATime> {
    let (sign, clock) = match zone.split_at(1) {
        ("Z" | "z", "") => return Ok(0),
        ("+", clock) => (1, clock),
        ("-", clock) => (-1, clock),
        _ => return Err(NotATime),
    };
    Ok(sign * millis_of(clock)?)
}

/// Turns a count of days since 1970-01-01 into year, month and day.
///
/// Years are counted from March, so that the leap day is the last day of a year and every month before
/// it has a fixed offset; 146,097 days make one full cycle of 400 years.
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(millis: u64, expected: &str) {
        assert_eq!(Timestamp::from_millis(millis).to_string(), expected);
    }

    #[test]
    fn stamps_carry_date_time_and_zone() {
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(951_868_799_999, "2000-02-29T23:59:59.999Z");
        check(951_868_800_000, "2000-03-01T00:00:00.000Z");
        check(1_794_796_001_123, "2026-11-16T02:26:41.123Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn a_stamp_that_was_written_is_read_back() {
        for millis in
            [0, 951_782_400_000, 951_868_799_999, 951_868_800_000, 1_794_796_001_123, 4_107_542_400_000]
        {
            let stamp = Timestamp::from_millis(millis);
            assert_eq!(stamp.to_string().parse(), Ok(stamp));
        }
    }

    #[test]
    fn offsets_are_read_and_nonsense_is_refused() {
        let parse = |text: &str| text.parse::<Timestamp>().map(|stamp| stamp.to_string());
        assert_eq!(parse("2024-02-29T00:00:00Z").as_deref(), Ok("2024-02-29T00:00:00.000Z"));
        assert_eq!(parse("2026-11-16T02:26:41+02:00").as_deref(), Ok("2026-11-16T00:26:41.000Z"));
        assert_eq!(parse("2026-11-16 02:26:41.5Z").as_deref(), Ok("2026-11-16T02:26:41.500Z"));
        for nonsense in [
            "",
            "yesterday",
            "2026-11-16",
            "2026-13-01T00:00:00Z",
            "2026-02-31T00:00:00Z",
            "2025-02-29T00:00:00Z",
            "2026-1-1T00:00:00Z",
            "1969-12-31T00:00:00Z",
            "2026-11-16T",
            "2026-11-16T02:26",
        ] {
            assert_eq!(parse(nonsense), Err(NotATime), "{nonsense}");
        }
    }
}
