//! What a caller gave, read leniently: models write lists as text and numbers in quotes.

use serde_json::{Map, Number, Value};
use std::cell::RefCell;
use text::sanitize;

/// The arguments of a call.
pub(crate) struct Arguments<'a> {
    given: &'a Map<String, Value>,
    /// The names that were looked for.
    known: RefCell<Vec<String>>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(given: &'a Map<String, Value>) -> Self {
        Self { given, known: RefCell::default() }
    }

    /// Returns the first of these that says something: models fill in what they leave open with `null` or an empty text.
    fn given(&self, names: &[&str]) -> Option<&'a Value> {
        self.known.borrow_mut().extend(names.iter().map(|name| (*name).to_owned()));
        names.iter().filter_map(|name| self.given.get(*name)).find(|value| says_something(value))
    }

    /// Returns the names of what was given and looked for by nothing.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &'a str> {
        let known = self.known.borrow();
        let unknown = |(name, value): &(&'a String, &Value)| says_something(value) && !known.contains(*name);
        let names: Vec<&'a str> = self.given.iter().filter(unknown).map(|(name, _)| name.as_str()).collect();
        names.into_iter()
    }

    /// Returns a text that says something.
    pub(crate) fn text(&self, names: &[&str]) -> Option<String> {
        let text = match self.given(names)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Array(items) => {
                let text = |item: &Value| match item {
                    Value::String(text) => Some(text.clone()),
                    Value::Number(number) => Some(in_digits(number)),
                    _ => None,
                };
                items.iter().filter_map(text).collect::<Vec<_>>().join(" ")
            }
            Value::Object(_) => return None,
            Value::Number(number) => in_digits(number),
            other => other.to_string(),
        };
        (!text.is_empty()).then_some(text)
    }

    /// Returns a whole number, `default` where none was given; what is beyond the bounds counts as the bound.
    pub(crate) fn number(
        &self,
        names: &[&str],
        default: usize,
        (least, most): (usize, usize),
    ) -> Result<usize, String> {
        let Some(value) = self.given(names) else { return Ok(default) };
        let number = match value {
            Value::Number(number) => {
                number.as_f64().filter(|number| *number >= 0.0).map(|number| number as usize)
            }
            Value::String(text) => {
                let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
                number.filter(|number| *number >= 0.0).map(|number| number as usize)
            }
            _ => None,
        };
        let refusal = || format!("{}: {} is no whole number from {least} to {most}", names[0], shown(value));
        number.map(|number| number.clamp(least, most)).ok_or_else(refusal)
    }

    pub(crate) fn flag(&self, names: &[&str]) -> bool {
        match self.given(names) {
            Some(Value::Bool(is_set)) => *is_set,
            Some(Value::String(text)) => matches!(&*text.trim().to_lowercase(), "true" | "yes" | "1"),
            Some(Value::Number(number)) => number.as_i64() == Some(1),
            _ => false,
        }
    }

    /// Returns a list: an array, an array written as JSON text, or texts with commas between.
    pub(crate) fn list(&self, names: &[&str]) -> Result<Vec<String>, String> {
        let Some(value) = self.given(names) else { return Ok(Vec::new()) };
        let parsed = value.as_str().and_then(|text| serde_json::from_str::<Vec<Value>>(text.trim()).ok());
        let items: Vec<Value> = match (parsed, value) {
            (Some(items), _) => items,
            (None, Value::Array(items)) => items.clone(),
            (None, Value::String(text)) => {
                text.split(',').map(|item| Value::String(item.to_owned())).collect()
            }
            (None, Value::Number(_)) => vec![value.clone()],
            _ => return Err(format!("{}: {} is no list", names[0], shown(value))),
        };
        let mut list: Vec<String> = Vec::new();
        for item in &items {
            let item = match item {
                Value::String(text) => text.trim().trim_start_matches('#').to_owned(),
                Value::Number(number) => in_digits(number),
                other => {
                    return Err(format!("{}: {} is neither a text nor a number", names[0], shown(other)));
                }
            };
            if !item.is_empty() && !list.contains(&item) {
                list.push(item);
            }
        }
        Ok(list)
    }
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    }
}

/// Returns a number as a person writes it: `42` for `42.0`, too.
fn in_digits(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.as_i64().is_none() && float.fract() == 0.0 && float.abs() < 1e15 => {
            format!("{float:.0}")
        }
        _ => number.to_string(),
    }
}

fn shown(value: &Value) -> String {
    sanitize::one_line(&value.to_string(), 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(value: Value) -> Map<String, Value> {
        Map::from_iter([("ids".to_owned(), value)])
    }

    #[test]
    fn a_list_may_be_an_array_json_text_or_a_comma_list() {
        for value in [json!(["a1", "b2"]), json!("[\"a1\", \"b2\"]"), json!("a1, b2,"), json!("a1,a1,b2")] {
            let map = given(value.clone());
            assert_eq!(Arguments::new(&map).list(&["ids"]).unwrap(), ["a1", "b2"], "{value}");
        }
        assert_eq!(Arguments::new(&given(json!([4951, "#12"]))).list(&["ids"]).unwrap(), ["4951", "12"]);
        for (value, expected) in [(json!(42.0), "42"), (json!([42]), "42"), (json!(4.5), "4.5")] {
            assert_eq!(
                Arguments::new(&given(value.clone())).text(&["ids"]).as_deref(),
                Some(expected),
                "{value}"
            );
        }
        assert!(Arguments::new(&given(json!([]))).list(&["ids"]).unwrap().is_empty());
        for value in [json!({"a": 1}), json!([["a"]]), json!(true)] {
            assert!(Arguments::new(&given(value.clone())).list(&["ids"]).is_err(), "{value}");
        }
    }

    #[test]
    fn numbers_may_be_in_quotes_and_are_held_to_their_bounds() {
        for (value, expected) in [
            (json!(7), 7),
            (json!("7"), 7),
            (json!(7.0), 7),
            (json!(" 7.0 "), 7),
            (json!(0), 1),
            (json!(999), 50),
            (json!("99999999999999999999"), 50),
            (json!(""), 3),
        ] {
            let map = given(value.clone());
            assert_eq!(Arguments::new(&map).number(&["ids"], 3, (1, 50)), Ok(expected), "{value}");
        }
        assert_eq!(Arguments::new(&Map::new()).number(&["ids"], 3, (1, 50)), Ok(3));
        for value in [json!("many"), json!([1]), json!(-4), json!("-4"), json!("inf"), json!("NaN")] {
            assert!(Arguments::new(&given(value.clone())).number(&["ids"], 3, (1, 50)).is_err(), "{value}");
        }
    }

    #[test]
    fn what_is_left_open_is_not_given_and_another_name_for_it_counts() {
        let map = |value: Value| value.as_object().unwrap().clone();
        for given in [
            json!({"id": "a1"}),
            json!({"ids": null, "id": "a1"}),
            json!({"ids": "", "id": "a1"}),
            json!({"ids": " ", "id": ["a1"]}),
        ] {
            let map = map(given.clone());
            assert_eq!(Arguments::new(&map).list(&["ids", "id"]).unwrap(), ["a1"], "{given}");
        }
        let map = map(json!({"ids": "a1", "order": "newest", "concepts": "", "limit": null, "file": 1}));
        let arguments = Arguments::new(&map);
        arguments.text(&["ids", "id"]);
        assert_eq!(arguments.unknown().collect::<Vec<_>>(), ["file", "order"]);
    }
}
