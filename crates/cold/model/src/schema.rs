//! The part of JSON Schema that our questions use.
//!
//! | keyword | applies to |
//! |---|---|
//! | `type` (a name or a list of names), `enum` | anything |
//! | `properties`, `required`, `additionalProperties` (`true` or `false`) | objects |
//! | `items` (one schema), `minItems`, `maxItems` | arrays |
//! | `minLength`, `maxLength` (in characters) | strings |
//! | `minimum`, `maximum` | numbers |
//! | `title`, `description` | – |
//!
//! A schema with any other keyword is not accepted, so that no rule is stated and not checked. The full language would
//! bring a dozen crates, and providers understand little more than this.

use serde_json::{Map, Value};
use std::fmt;

/// How deep a schema may nest.
const MAX_DEPTH: usize = 32;

const TYPES: &[&str] = &["null", "boolean", "integer", "number", "string", "array", "object"];

/// What an answer has to look like.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema(Value);

/// Why a schema is not accepted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema at {path} has a keyword or value that is not supported: {keyword}")]
pub struct Unsupported {
    path: String,
    keyword: String,
}

/// Where and how a value differs from its schema.
#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    path: String,
    problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.path, self.problem)
    }
}

impl Schema {
    /// Takes a schema, if everything in it is supported.
    pub fn new(schema: Value) -> Result<Self, Unsupported> {
        accept(&schema, "$", 0)?;
        Ok(Self(schema))
    }

    /// Returns the schema as JSON.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// Returns the schema as text.
    pub fn text(&self) -> String {
        self.0.to_string()
    }

    /// Checks a value; fails with the first difference.
    pub fn validate(&self, value: &Value) -> Result<(), Violation> {
        validate(&self.0, value, "$")
    }
}

fn accept(schema: &Value, path: &str, depth: usize) -> Result<(), Unsupported> {
    let unsupported = |keyword: &str| Unsupported { path: path.to_owned(), keyword: keyword.to_owned() };
    let Some(fields) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
        return Err(unsupported("not an object, or nested too deep"));
    };
    for (keyword, rule) in fields {
        let is_fine = match &**keyword {
            "type" => names(rule).is_some_and(|names| names.iter().all(|name| TYPES.contains(name))),
            "enum" => rule.is_array(),
            "required" => rule.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
            "additionalProperties" => rule.is_boolean(),
            "minItems" | "maxItems" | "minLength" | "maxLength" => rule.is_u64(),
            "minimum" | "maximum" => rule.is_number(),
            "title" | "description" => rule.is_string(),
            "items" => {
                accept(rule, &format!("{path}[]"), depth + 1)?;
                true
            }
            "properties" => {
                let properties = rule.as_object().ok_or_else(|| unsupported(keyword))?;
                for (name, schema) in properties {
                    accept(schema, &format!("{path}.{name}"), depth + 1)?;
                }
                true
            }
            _ => false,
        };
        if !is_fine {
            return Err(unsupported(keyword));
        }
    }
    Ok(())
}

fn validate(schema: &Value, value: &Value, path: &str) -> Result<(), Violation> {
    let violation = |problem: String| Err(Violation { path: path.to_owned(), problem });
    if let Some(names) = names(&schema["type"])
        && !names.iter().any(|name| is_of_type(value, name))
    {
        return violation(format!("should be {}, not {}", names.join(" or "), type_of(value)));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return violation(format!("should be one of {}", schema["enum"]));
    }
    match value {
        Value::Object(fields) => validate_object(schema, fields, path),
        Value::Array(items) => {
            check_size(schema, "minItems", "maxItems", items.len(), "items").or_else(violation)?;
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    validate(schema, item, &format!("{path}[{index}]"))?;
                }
            }
            Ok(())
        }
        Value::String(text) => {
            check_size(schema, "minLength", "maxLength", text.chars().count(), "characters")
                .or_else(violation)
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
                (Some(least), _) if number < least => violation(format!("should be at least {least}")),
                (_, Some(most)) if number > most => violation(format!("should be at most {most}")),
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn validate_object(schema: &Value, fields: &Map<String, Value>, path: &str) -> Result<(), Violation> {
    let violation = |problem: String| Err(Violation { path: path.to_owned(), problem });
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !fields.contains_key(*name)) {
        return violation(format!("should have {missing:?}"));
    }
    for (name, value) in fields {
        match schema["properties"].get(name) {
            Some(schema) => validate(schema, value, &format!("{path}.{name}"))?,
            None if schema["additionalProperties"] == false => {
                return violation(format!("should not have {name:?}"));
            }
            None => {}
        }
    }
    Ok(())
}

fn check_size(schema: &Value, least: &str, most: &str, size: usize, unit: &str) -> Result<(), String> {
    let size = size as u64;
    match (schema[least].as_u64(), schema[most].as_u64()) {
        (Some(least), _) if size < least => Err(format!("should have at least {least} {unit}, not {size}")),
        (_, Some(most)) if size > most => Err(format!("should have at most {most} {unit}, not {size}")),
        _ => Ok(()),
    }
}

/// Returns the names that a `type` states; `None` when it states none.
fn names(rule: &Value) -> Option<Vec<&str>> {
    match rule {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => names.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        // 3.0 is an integer by the specification.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        _ => type_of(value) == name,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: Value, value: Value, expected: Result<(), &str>) {
        let found = Schema::new(schema).unwrap().validate(&value).map_err(|violation| violation.to_string());
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[test]
    fn types_are_distinguished() {
        check(json!({"type": "object"}), json!({}), Ok(()));
        check(json!({"type": "object"}), json!([]), Err("$ should be object, not array"));
        check(json!({"type": "integer"}), json!(3.0), Ok(()));
        check(json!({"type": "integer"}), json!(3.5), Err("$ should be integer, not number"));
        check(json!({"type": "number"}), json!(3), Ok(()));
        check(json!({"type": ["string", "null"]}), json!(null), Ok(()));
        check(json!({"type": ["string", "null"]}), json!(1), Err("$ should be string or null, not number"));
        check(json!({"type": "boolean"}), json!("true"), Err("$ should be boolean, not string"));
        check(json!({}), json!("anything"), Ok(()));
    }

    #[test]
    fn objects_have_what_is_required_and_nothing_else() {
        let schema = json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["name"],
            "additionalProperties": false,
        });
        check(schema.clone(), json!({"name": "a", "age": 1}), Ok(()));
        check(schema.clone(), json!({"age": 1}), Err("$ should have \"name\""));
        check(schema.clone(), json!({"name": "a", "x": 1}), Err("$ should not have \"x\""));
        check(schema, json!({"name": 1}), Err("$.name should be string, not number"));
        check(json!({"properties": {}}), json!({"x": 1}), Ok(()));
    }

    #[test]
    fn bounds_hold_at_their_edges() {
        let items = json!({"items": {"type": "string", "maxLength": 2}, "minItems": 1, "maxItems": 2});
        check(items.clone(), json!(["é€", "b"]), Ok(()));
        check(items.clone(), json!([]), Err("$ should have at least 1 items, not 0"));
        check(items.clone(), json!(["a", "b", "c"]), Err("$ should have at most 2 items, not 3"));
        check(items, json!(["a", "bcd"]), Err("$[1] should have at most 2 characters, not 3"));
        let number = json!({"minimum": 0, "maximum": 1.5});
        check(number.clone(), json!(1.5), Ok(()));
        check(number.clone(), json!(0), Ok(()));
        check(number.clone(), json!(-1), Err("$ should be at least 0"));
        check(number, json!(1.6), Err("$ should be at most 1.5"));
        check(json!({"minLength": 1}), json!(""), Err("$ should have at least 1 characters, not 0"));
        check(json!({"enum": ["a", 1]}), json!("b"), Err("$ should be one of [\"a\",1]"));
        check(json!({"enum": ["a", 1]}), json!(1), Ok(()));
    }

    #[test]
    fn a_rule_that_would_not_be_checked_is_not_accepted() {
        for schema in [
            json!({"pattern": "a+"}),
            json!({"type": "text"}),
            json!({"items": {"$ref": "#"}}),
            json!({"properties": {"a": {"oneOf": []}}}),
            json!({"additionalProperties": {"type": "string"}}),
            json!({"maxLength": -1}),
            json!([]),
        ] {
            assert!(Schema::new(schema.clone()).is_err(), "{schema}");
        }
        let deep = (0..MAX_DEPTH + 1).fold(json!({}), |inner, _| json!({"items": inner}));
        assert!(Schema::new(deep).is_err());
    }
}
