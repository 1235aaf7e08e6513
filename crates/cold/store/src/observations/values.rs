//! How the data of an observation is kept: short values in its row, long ones in `payloads`.

use crate::open::Error;
use capture::Fields;
use rusqlite::Row;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A longer value, as JSON, goes to `payloads`.
const INLINE_BYTES: usize = 1_024;

/// Data taken apart, as it is stored; joined again by [`join`].
#[derive(Debug, Default)]
pub(super) struct Values<'a> {
    /// JSON for `observations.data`.
    pub(super) inline: Option<Cow<'a, str>>,
    /// JSON for `payloads.data`.
    pub(super) payload: Option<Cow<'a, str>>,
}

/// Takes data apart. What is no object is kept whole.
pub(super) fn split<'a>(data: &'a RawValue, fields: Option<Fields<'a>>) -> Values<'a> {
    let whole = || Some(Cow::Borrowed(data.get()));
    if data.get().len() <= INLINE_BYTES {
        return Values { inline: whole(), payload: None };
    }
    let Some(fields) = fields else { return Values { inline: None, payload: whole() } };
    let (short, long) = fields.partition(|_, value| value.get().len() <= INLINE_BYTES);
    match (short.is_empty(), long.is_empty()) {
        (true, _) => Values { inline: None, payload: whole() },
        (_, true) => Values { inline: whole(), payload: None },
        _ => Values { inline: Some(short.json().into()), payload: Some(long.json().into()) },
    }
}

/// Puts data together again; `null` where there is none. Fails where a part is damaged.
pub(super) fn join(
    inline: Option<String>,
    payload: Option<String>,
) -> Result<Box<RawValue>, serde_json::Error> {
    let json = match (inline, payload) {
        (Some(short), Some(long)) => {
            let mut fields: Fields<'_> = serde_json::from_str(&short)?;
            fields.extend(serde_json::from_str(&long)?);
            fields.json()
        }
        (Some(all), None) | (None, Some(all)) => all,
        (None, None) => "null".to_owned(),
    };
    RawValue::from_string(json)
}

/// Returns the data of an observation whose short and long values are in this column and the next. Unlike [`join`] it takes
/// damaged data for empty: one row keeps no other from being read.
pub fn joined(row: &Row<'_>, column: usize) -> Result<Value, Error> {
    let part = |column: usize| -> Result<Value, Error> {
        let text = row.get_ref(column)?;
        let text = text.as_str_or_null().ok().flatten().unwrap_or("null");
        Ok(serde_json::from_str(text).unwrap_or_default())
    };
    let (mut short, long) = (part(column)?, part(column + 1)?);
    match (&mut short, long) {
        (Value::Object(short), Value::Object(long)) => short.extend(long),
        (short @ Value::Null, long) => *short = long,
        _ => {}
    }
    Ok(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, is_inline: bool, has_payload: bool) {
        let data = RawValue::from_string(json.to_owned()).unwrap();
        let values = split(&data, Fields::read(json));
        assert_eq!((values.inline.is_some(), values.payload.is_some()), (is_inline, has_payload), "{json}");
        let joined = join(values.inline.map(Cow::into_owned), values.payload.map(Cow::into_owned)).unwrap();
        let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(value(joined.get()), value(json));
    }

    #[test]
    fn damaged_data_is_read_as_far_as_it_is_sound() {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        for (short, long, expected) in [
            (r#"'{"a":1}'"#, r#"'{"b":2}'"#, r#"{"a":1,"b":2}"#),
            (r#"'{"a":1}'"#, "NULL", r#"{"a":1}"#),
            ("NULL", r#"'{"b":2}'"#, r#"{"b":2}"#),
            (r#"'{"a":1}'"#, r#"'{"b":'"#, r#"{"a":1}"#),
            (r#"'{"a":'"#, r#"'{"b":2}'"#, r#"{"b":2}"#),
            ("7", "x'ff'", "null"),
        ] {
            let select = format!("SELECT {short}, {long}");
            let joined = database.query_row(&select, [], |row| Ok(joined(row, 0).unwrap())).unwrap();
            assert_eq!(joined, serde_json::from_str::<Value>(expected).unwrap(), "{select}");
        }
    }

    #[test]
    fn long_values_are_kept_apart_and_nothing_is_lost() {
        let long = "x".repeat(2_000);
        check(r#"{"a":1,"b":null}"#, true, false);
        check(&format!(r#"{{"a":1,"b":"{long}"}}"#), true, true);
        check(&format!(r#"{{"b":"{long}"}}"#), false, true);
        check(&format!(r#"["{long}"]"#), false, true);
        check("null", true, false);
        let short: Vec<String> = (0..90).map(|n| format!("\"{n}\":\"some words\"")).collect();
        check(&format!("{{{}}}", short.join(",")), true, false);
    }
}
