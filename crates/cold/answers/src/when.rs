//! Time as people read and write it: in the zone of this machine. What is stored stays UTC.

use base::Timestamp;
use chrono::{DateTime, Days, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc};

/// What the help of an option that takes a moment says.
pub const FORMS: &str = "yesterday, 2h, 2026-11-16, \"2026-11-16 14:30\" or 2026-11-16T14:30:00Z";

/// How far clocks are set forward at most when summer begins, in steps of a quarter of an hour.
const LONGEST_GAP: i64 = 12;

/// A text that names no moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotATime {
    /// It has the form of a date, but no calendar has that day or hour.
    NoSuchDay(String),
    /// It lies before 1970.
    TooEarly,
    /// It has no form that is known.
    Unknown,
}

impl std::fmt::Display for NotATime {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoSuchDay(text) => write!(formatter, "{text} does not exist"),
            Self::TooEarly => write!(formatter, "it is before 1970"),
            Self::Unknown => write!(formatter, "not a time: write {FORMS}"),
        }
    }
}

impl std::error::Error for NotATime {}

/// Reads a moment as a person writes it; a date or time without a zone is local. For `value_parser`.
pub fn parse(text: &str) -> Result<Timestamp, NotATime> {
    parse_at(text, &Local::now())
}

fn parse_at<Z: TimeZone>(text: &str, now: &DateTime<Z>) -> Result<Timestamp, NotATime> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let today = now.date_naive();
    let midnight = |day: NaiveDate| in_zone(day.and_time(NaiveTime::MIN), &now.timezone());
    let moment = match &*lower {
        "today" => midnight(today),
        "yesterday" => midnight(today.checked_sub_days(Days::new(1)).ok_or(NotATime::TooEarly)?),
        _ => match age(&lower) {
            Some(age) => now.to_utc().checked_sub_signed(age),
            None => match date(text)? {
                Written::Day(day) => midnight(day),
                Written::Local(time) => in_zone(time, &now.timezone()),
                Written::Utc(time) => Some(time),
            },
        },
    };
    let millis = moment.ok_or(NotATime::TooEarly)?.timestamp_millis();
    u64::try_from(millis).map(Timestamp::from_millis).map_err(|_| NotATime::TooEarly)
}

/// Reads `30m`, `2h` or `3d`: that long ago.
fn age(text: &str) -> Option<TimeDelta> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let number: i64 = number.parse().ok()?;
    match unit.trim_start() {
        "s" => TimeDelta::try_seconds(number),
        "m" | "min" => TimeDelta::try_minutes(number),
        "h" => TimeDelta::try_hours(number),
        "d" => TimeDelta::try_days(number),
        "w" => TimeDelta::try_weeks(number),
        _ => None,
    }
}

enum Written {
    Day(NaiveDate),
    Local(NaiveDateTime),
    Utc(DateTime<Utc>),
}

fn date(text: &str) -> Result<Written, NotATime> {
    use chrono::format::ParseErrorKind::{Impossible, OutOfRange};
    let mut is_impossible = false;
    let mut note = |error: chrono::ParseError| {
        is_impossible |= matches!(error.kind(), OutOfRange | Impossible);
    };
    let is_day = text.len() == "2026-11-16".len();
    match NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        Ok(day) if is_day => return Ok(Written::Day(day)),
        Ok(_) => {}
        Err(error) => note(error),
    }
    match DateTime::parse_from_rfc3339(text) {
        Ok(time) => return Ok(Written::Utc(time.to_utc())),
        Err(error) => note(error),
    }
    for form in ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"] {
        match NaiveDateTime::parse_from_str(text, form) {
            Ok(time) => return Ok(Written::Local(time)),
            Err(error) => note(error),
        }
    }
    Err(if is_impossible { NotATime::NoSuchDay(text.to_owned()) } else { NotATime::Unknown })
}

/// Returns the moment of a local time: the first of two where clocks are set back, the next there is where they are set
/// forward over it.
fn in_zone<Z: TimeZone>(time: NaiveDateTime, zone: &Z) -> Option<DateTime<Utc>> {
    (0..=LONGEST_GAP).find_map(|quarters| {
        let time = time.checked_add_signed(TimeDelta::minutes(15 * quarters))?;
        Some(zone.from_local_datetime(&time).earliest()?.to_utc())
    })
}

/// Returns a moment as local time: `2026-11-16 14:30:05`.
pub fn local(moment: Timestamp) -> String {
    format(moment, "%Y-%m-%d %H:%M:%S")
}

/// Returns when something that is remembered was: a local minute, the day alone where there is no time, `–` where there is neither.
pub fn recorded(at: u64) -> String {
    let moment = Timestamp::from_millis(at);
    match at {
        0 => "–".to_owned(),
        // A day is the one that was written, whichever day it is here at that noon.
        _ if search::noon_of_a_day(at) => moment.to_string().chars().take("2026-11-16".len()).collect(),
        _ => local_minute(moment),
    }
}

/// Returns a moment as local time to the minute: `2026-11-16 14:30`.
pub fn local_minute(moment: Timestamp) -> String {
    format(moment, "%Y-%m-%d %H:%M")
}

/// Returns a moment as local time to the millisecond: what hooks that run side by side differ in.
pub fn local_millis(moment: Timestamp) -> String {
    format(moment, "%Y-%m-%d %H:%M:%S%.3f")
}

/// Returns a moment as local time with its zone, where a mistake would be costly: `2026-11-16 00:00:00 +01:00`.
pub fn exact(moment: Timestamp) -> String {
    format(moment, "%Y-%m-%d %H:%M:%S %:z")
}

/// Returns a local moment and how long ago it was: `2026-11-16 14:30:05 (3 min ago)`.
pub fn with_age(moment: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", local(moment), ago(moment, now))
}

fn format(moment: Timestamp, form: &str) -> String {
    // A stamp that no calendar has was damaged; its number is all there is to say.
    local_time(moment).map_or_else(|| moment.millis().to_string(), |time| time.format(form).to_string())
}

fn local_time(moment: Timestamp) -> Option<DateTime<Local>> {
    Local.timestamp_millis_opt(i64::try_from(moment.millis()).ok()?).single()
}

/// Returns the local day of a moment.
pub fn day(moment: Timestamp) -> NaiveDate {
    local_time(moment).map(|time| time.date_naive()).unwrap_or_default()
}

/// Returns the local day that a text names: a date, or a moment in RFC 3339.
pub fn day_in(text: &str) -> Option<NaiveDate> {
    match date(text).ok()? {
        Written::Day(day) => Some(day),
        Written::Local(time) => Some(time.date()),
        Written::Utc(time) => Some(time.with_timezone(&Local).date_naive()),
    }
}

/// Returns when a local day began.
pub fn start_of(day: NaiveDate) -> Timestamp {
    let start = in_zone(day.and_time(NaiveTime::MIN), &Local).map(|time| time.timestamp_millis());
    Timestamp::from_millis(start.and_then(|millis| u64::try_from(millis).ok()).unwrap_or_default())
}

/// Returns a day as people speak of it: `today`, `yesterday`, `16 Nov`, `16 Nov 2025`.
pub fn spoken(day: NaiveDate, today: NaiveDate) -> String {
    use chrono::Datelike as _;
    match (today - day).num_days() {
        // A teammate's day may have begun already.
        ..=0 => "today".to_owned(),
        1 => "yesterday".to_owned(),
        _ if day.year() == today.year() => day.format("%-d %b").to_string(),
        _ => day.format("%-d %b %Y").to_string(),
    }
}

/// Returns a moment as people speak of it: `today 14:30`, `16 Nov`.
pub fn spoken_moment(moment: Timestamp, today: NaiveDate) -> String {
    let day = day(moment);
    let spoken = spoken(day, today);
    if day == today { format!("{spoken} {}", format(moment, "%H:%M")) } else { spoken }
}

/// Returns how long ago a moment was.
pub fn ago(moment: Timestamp, now: Timestamp) -> String {
    format!("{} ago", duration(now.millis_since(moment)))
}

/// Returns how long something lasted, in the unit that a person would choose.
pub fn duration(millis: u64) -> String {
    match millis / 1_000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::FixedOffset;

    /// Reads `text` on 16 November 2026 at 14:30 in a zone one hour ahead of UTC.
    fn read(text: &str) -> Result<String, NotATime> {
        let zone = FixedOffset::east_opt(3_600).unwrap();
        let now = zone.with_ymd_and_hms(2026, 11, 16, 14, 30, 0).unwrap();
        parse_at(text, &now).map(|moment| moment.to_string().replace(".000Z", "Z"))
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn dates_and_times_without_a_zone_are_local() {
        check("2026-11-16", "2026-11-15T23:00:00Z");
        check("2026-11-16 14:30", "2026-11-16T13:30:00Z");
        check("2026-11-16T14:30:05", "2026-11-16T13:30:05Z");
        check(" 2024-02-29 ", "2024-02-28T23:00:00Z");
        check("today", "2026-11-15T23:00:00Z");
        check("Yesterday", "2026-11-14T23:00:00Z");
    }

    #[test]
    fn a_zone_in_the_text_counts() {
        check("2026-11-16T02:26:41Z", "2026-11-16T02:26:41Z");
        check("2026-11-16T02:26:41.5+02:00", "2026-11-16T00:26:41.500Z");
        check("2026-11-16 02:26:41Z", "2026-11-16T02:26:41Z");
    }

    #[test]
    fn ages_count_back_from_now() {
        check("30m", "2026-11-16T13:00:00Z");
        check("2h", "2026-11-16T11:30:00Z");
        check("3d", "2026-11-13T13:30:00Z");
        check("1w", "2026-11-09T13:30:00Z");
    }

    #[test]
    fn a_day_that_no_calendar_has_is_refused_by_name() {
        for text in ["2026-02-31", "2026-13-01", "2025-02-29", "2026-02-31 10:00", "2026-11-16 25:00"] {
            assert_eq!(read(text), Err(NotATime::NoSuchDay(text.to_owned())));
        }
        let refused = read("2026-02-31").unwrap_err().to_string();
        assert_eq!(refused, "2026-02-31 does not exist");
    }

    #[test]
    fn what_is_no_moment_is_refused_with_the_forms_that_are() {
        for text in ["", "soon", "2h ago", "16.11.2026", "2026-11", "2026-1-1", "h", "12"] {
            assert_eq!(read(text), Err(NotATime::Unknown), "{text}");
        }
        for text in ["1969-12-31", "99999d", "9999999999999999w"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn days_are_named_from_today() {
        let day = |text: &str| day_in(text).unwrap();
        let spoken: Vec<String> = ["2026-11-17", "2026-11-16", "2026-11-15", "2026-11-01", "2025-11-16"]
            .map(|text| spoken(day(text), day("2026-11-16")))
            .into();
        assert_eq!(spoken, ["today", "today", "yesterday", "1 Nov", "16 Nov 2025"]);
        assert_eq!(day_in("last week"), None);
        assert_eq!(super::day(start_of(day("2026-11-16"))), day("2026-11-16"));
    }

    #[test]
    fn durations_come_in_the_unit_that_fits() {
        let shown = [0, 119_000, 120_000, 7_199_000, 7_200_000, 172_800_000].map(duration);
        assert_eq!(shown, ["0 s", "119 s", "2 min", "119 min", "2 h", "2 days"]);
        let [earlier, now] = [0, 180_000].map(Timestamp::from_millis);
        assert_eq!(ago(earlier, now), "3 min ago");
        assert_eq!(ago(now, earlier), "0 s ago", "a moment in the future");
    }
}
