//! What a caller gave, read leniently: models write lists as text and numbers in quotes.

use serde_json::{Map, Number, Value};
use text::sanitize;

/// The arguments of a call.
pub(crate) struct Arguments<'a>(pub &'a Map<String, Value>);

impl Arguments<'_> {
    fn given(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.0.get(*name)).filter(|value| !value.is_null())
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
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let refusal = || format!("{}: {} is no whole number", names[0], shown(value));
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
            assert_eq!(Arguments(&map).list(&["ids"]).unwrap(), ["a1", "b2"], "{value}");
        }
        assert_eq!(Arguments(&given(json!([4951, "#12"]))).list(&["ids"]).unwrap(), ["4951", "12"]);
        for (value, expected) in [(json!(42.0), "42"), (json!([42]), "42"), (json!(4.5), "4.5")] {
            assert_eq!(Arguments(&given(value.clone())).text(&["ids"]).as_deref(), Some(expected), "{value}");
        }
        assert!(Arguments(&given(json!([]))).list(&["ids"]).unwrap().is_empty());
        for value in [json!({"a": 1}), json!([["a"]]), json!(true)] {
            assert!(Arguments(&given(value.clone())).list(&["ids"]).is_err(), "{value}");
        }
    }

    #[test]
    fn numbers_may_be_in_quotes_and_are_held_to_their_bounds() {
        for (value, expected) in
            [(json!(7), 7), (json!("7"), 7), (json!(7.0), 7), (json!(0), 1), (json!(999), 50)]
        {
            let map = given(value.clone());
            assert_eq!(Arguments(&map).number(&["ids"], 3, (1, 50)), Ok(expected), "{value}");
        }
        assert_eq!(Arguments(&Map::new()).number(&["ids"], 3, (1, 50)), Ok(3));
        for value in [json!("many"), json!([1]), json!(-4), json!("-4")] {
            assert!(Arguments(&given(value.clone())).number(&["ids"], 3, (1, 50)).is_err(), "{value}");
        }
    }
}
