//! What a request asks: parameters in the path, the query and the body, in whichever form claude-mem takes them.

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A request that passed the gate.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Of the path, decoded.
    pub(crate) path: HashMap<String, String>,
    /// In the order they came; a name may be there more than once.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) last_event_id: Option<String>,
    /// Whether it came with the token: routes that need none tell more then.
    pub(crate) is_known: bool,
}

/// Why a request cannot be answered as it is: a sentence for the one who wrote it.
pub(crate) type Wrong = String;

impl Asked {
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, value)| known == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.query.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns a number of the query, within bounds; what is above the most counts as the most.
    pub(crate) fn number(&self, name: &str, default: u64, least: u64, most: u64) -> Result<u64, Wrong> {
        match self.query(name) {
            None => Ok(default),
            Some(text) => number(text, name, least).map(|number| number.min(most)),
        }
    }

    /// Returns the body's object; none is an empty one.
    pub(crate) fn object(&self) -> Result<Map<String, Value>, Wrong> {
        if self.body.trim().is_empty() {
            return Ok(Map::new());
        }
        match serde_json::from_str(&self.body) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err("the body is no JSON object".to_owned()),
            Err(error) => Err(format!("the body is no JSON: {}", without_quotes(&error.to_string()))),
        }
    }

    /// Returns the body's fields with their values as they were sent.
    pub(crate) fn fields(&self) -> Result<HashMap<String, &RawValue>, Wrong> {
        serde_json::from_str(&self.body)
            .map_err(|error| format!("the body is no JSON object: {}", without_quotes(&error.to_string())))
    }
}

/// Takes quoted values out of a parser's message: what was sent may be private.
fn without_quotes(message: &str) -> String {
    message.split('"').step_by(2).collect::<Vec<_>>().join("…")
}

fn number(text: &str, name: &str, least: u64) -> Result<u64, Wrong> {
    let text = text.trim();
    let number: u64 = match text.parse() {
        Ok(number) => number,
        // Beyond 64 bits: what is above the most counts as the most.
        Err(_) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => u64::MAX,
        Err(_) => return Err(format!("{name} is no whole number from {least} on")),
    };
    if number < least { Err(format!("{name} is less than {least}")) } else { Ok(number) }
}

/// Returns a text of an object; one of another kind is wrong.
pub(crate) fn text<'o>(object: &'o Map<String, Value>, name: &str) -> Result<Option<&'o str>, Wrong> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{name} is no text")),
    }
}

/// Returns a number of an object; a text of digits is one, too.
pub(crate) fn number_in(
    object: &Map<String, Value>,
    name: &str,
    default: u64,
    least: u64,
    most: u64,
) -> Result<u64, Wrong> {
    let found = match object.get(name) {
        None | Some(Value::Null) => return Ok(default),
        Some(Value::Number(value)) => number(&value.to_string(), name, least)?,
        Some(Value::String(text)) => number(text, name, least)?,
        Some(_) => return Err(format!("{name} is no whole number")),
    };
    Ok(found.min(most))
}

/// Returns a list: an array, an array as JSON in a text, or a text with commas.
pub(crate) fn list(value: &Value, name: &str) -> Result<Vec<Value>, Wrong> {
    match value {
        Value::Array(items) => Ok(items.clone()),
        Value::String(text) => Ok(split(text)),
        Value::Number(_) => Ok(vec![value.clone()]),
        _ => Err(format!("{name} is no list")),
    }
}

/// Splits a text that is a JSON array, or has commas.
pub(crate) fn split(text: &str) -> Vec<Value> {
    if let Ok(Value::Array(items)) = serde_json::from_str(text) {
        return items;
    }
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from).collect()
}

/// Returns a list of texts.
pub(crate) fn texts(items: &[Value], name: &str) -> Result<Vec<String>, Wrong> {
    let text = |item: &Value| match item {
        Value::String(text) => Ok(text.clone()),
        _ => Err(format!("{name} has something that is no text")),
    };
    items.iter().map(text).collect()
}

/// Splits a query into its parameters.
pub(crate) fn parameters(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

/// Decodes `%41` and `+`; what is no UTF-8 is replaced.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let code = code.filter(|code| code.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match code {
            Some(code) => {
                decoded.push(code);
                at += 3;
            }
            None => {
                decoded.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_may_be_an_array_a_json_text_or_have_commas() {
        for value in [json!([1, 2]), json!("[1, 2]")] {
            assert_eq!(list(&value, "ids").unwrap(), [json!(1), json!(2)], "{value}");
        }
        assert_eq!(list(&json!(" 1 , 2,"), "ids").unwrap(), [json!("1"), json!("2")]);
        assert_eq!(list(&json!([]), "ids").unwrap(), [] as [Value; 0]);
        assert!(list(&json!({}), "ids").is_err() && list(&json!(true), "ids").is_err());
    }

    #[test]
    fn a_query_is_decoded_once_and_damaged_codes_stay() {
        let expected = [("q", "a b&c"), ("q", "%zz%4"), ("e", "é"), ("f", "")];
        let found = parameters("q=a+b%26c&q=%zz%4&e=%C3%A9&&f");
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(parameters("p=%2525"), [("p".to_owned(), "%25".to_owned())]);
        assert_eq!(parameters("p=%ff%é"), [("p".to_owned(), "\u{fffd}%é".to_owned())]);
    }

    #[test]
    fn numbers_are_bounded_and_may_be_texts() {
        let asked = Asked { query: parameters("limit=500&offset=x&zero=0"), ..Asked::default() };
        assert_eq!(asked.number("limit", 20, 1, 100), Ok(100));
        assert_eq!(asked.number("none", 20, 1, 100), Ok(20));
        let huge = Asked { query: parameters("limit=99999999999999999999999"), ..Asked::default() };
        assert_eq!(huge.number("limit", 20, 1, 100), Ok(100));
        assert!(asked.number("offset", 0, 0, 100).is_err() && asked.number("zero", 1, 1, 100).is_err());
        let object = json!({"a": "7", "b": 1.5, "c": -1}).as_object().unwrap().clone();
        assert_eq!(number_in(&object, "a", 1, 1, 100), Ok(7));
        assert!(number_in(&object, "b", 1, 1, 100).is_err() && number_in(&object, "c", 1, 1, 100).is_err());
    }
}
