//! The time before a prompt, as Cursor writes it for the model: `Sunday, Aug 23, 2026, 11:16 AM (UTC-7)`.

use base::Timestamp;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Reads a stamp; `None` where it has another form.
pub(super) fn read(text: &str) -> Option<Timestamp> {
    let (_, text) = text.trim().split_once(", ")?;
    let (date, text) = text.split_once(", ")?;
    let (year, text) = text.split_once(", ")?;
    let (month, day) = date.trim().split_once(' ')?;
    let month = month.get(..3)?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let (clock, zone) = text.split_once('(')?;
    let (hour, minute, is_later) = clock_of(clock)?;
    let hour = hour.checked_rem(12).filter(|_| hour <= 12)? + if is_later { 12 } else { 0 };
    let (year, day): (u32, u32) = (year.trim().parse().ok()?, day.trim().parse().ok()?);
    let zone = zone_of(zone.trim().strip_suffix(')')?)?;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00{zone}").parse().ok()
}

/// Reads `11:16 AM`; a narrow space may be before the letters.
fn clock_of(clock: &str) -> Option<(u32, u32, bool)> {
    let clock = clock.trim();
    let letters = clock.get(clock.len().checked_sub(2)?..)?;
    let is_later = letters.eq_ignore_ascii_case("PM");
    let (hour, minute) = clock[..clock.len() - 2].trim().split_once(':')?;
    let is_half = is_later || letters.eq_ignore_ascii_case("AM");
    Some((hour.parse().ok()?, minute.parse().ok()?, is_later)).filter(|_| is_half)
}

/// Reads `UTC-7` or `UTC+5:30`.
fn zone_of(zone: &str) -> Option<String> {
    let zone = zone.strip_prefix("UTC").or_else(|| zone.strip_prefix("GMT"))?;
    let (sign, hours) = match zone.split_at_checked(1) {
        None => return Some("Z".to_owned()),
        Some(("+", hours)) => ('+', hours),
        Some(("-" | "−", hours)) => ('-', hours),
        Some(_) => return None,
    };
    let (hours, minutes) = hours.split_once(':').unwrap_or((hours, "0"));
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(format!("{sign}{hours:02}:{minutes:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_read_in_their_zone() {
        let at = |text: &str| read(text).map(|stamp| stamp.to_string());
        for (text, expected) in [
            ("Sunday, Aug 23, 2026, 11:16 AM (UTC-7)", Some("2026-08-23T18:16:00.000Z")),
            ("Friday, Jul 31, 2026, 5:10\u{202f}PM (UTC+5:30)", Some("2026-07-31T11:40:00.000Z")),
            ("Friday, Jul 31, 2026, 12:05 AM (UTC)", Some("2026-07-31T00:05:00.000Z")),
            ("yesterday", None),
            ("Friday, Jul 31, 2026, 55:10 XX (UTC)", None),
            ("Friday, Jul 31, 2026, 13:10 PM (UTC)", None),
            ("", None),
        ] {
            assert_eq!(at(text).as_deref(), expected, "{text}");
        }
    }
}
