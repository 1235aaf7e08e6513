//! A tool other than the shell that was called the wrong way, and the call of it that worked: the field of its input that was
//! wrong. A tool that takes any text (a path, an address, a query) is never wrong in this sense.

use lessons::Trigger;
use serde_json::{Map, Value};

/// Longer values are texts of their own. In bytes.
const MAX_VALUE: usize = 40;
/// The shortest value that is looked for in an error: shorter ones are in every text.
const MIN_VALUE: usize = 3;
/// Fields that name what a call works on.
const SUBJECTS: [&str; 16] = [
    "command",
    "content",
    "description",
    "file_path",
    "glob",
    "id",
    "message",
    "new_string",
    "notebook_path",
    "old_string",
    "path",
    "pattern",
    "prompt",
    "query",
    "title",
    "url",
];
/// What tools say that refuse a value or a field, in lower case.
const REFUSALS: [&str; 18] = [
    "missing",
    "required",
    "must have",
    "invalid",
    "expected",
    "must be",
    "one of",
    "available",
    "unknown",
    "not supported",
    "unsupported",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "not allowed",
    "not a valid",
    "did you mean",
    "no such tool",
];

/// A call that a tool refused, and the one that it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Misuse {
    pub tool: String,
    pub before: Map<String, Value>,
    pub after: Map<String, Value>,
    pub error: String,
    pub field: String,
    pub flaw: Flaw,
}

/// What was wrong about a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// This value was, and this one was right.
    Value(String, String),
    /// This value was, and the call went through without the field.
    Refused(String),
    /// It was of another type than this one.
    Type(Type),
    /// The tool has no such field.
    Unknown,
    /// The tool needs the field.
    Missing,
}

/// A type of JSON that a pattern can tell from others by their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Array,
    Object,
    Number,
}

impl Type {
    /// Returns the type of a value that is right where another one, whose text differs in its beginning or its characters, is wrong.
    fn that_differs(wrong: &Value, right: &Value) -> Option<Self> {
        let is_text = |value: &Value| matches!(value, Value::String(_) | Value::Bool(_) | Value::Number(_));
        match right {
            Value::Array(_) if is_text(wrong) || wrong.is_object() => Some(Self::Array),
            Value::Object(_) if is_text(wrong) || wrong.is_array() => Some(Self::Object),
            // "20" and 20 are the same text.
            Value::Number(_) if wrong.as_str().is_some_and(|text| text.parse::<f64>().is_err()) => {
                Some(Self::Number)
            }
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Array => "an array",
            Self::Object => "an object",
            Self::Number => "a number",
        }
    }

    /// Returns an expression that fits what is of no such type.
    fn wrong(self) -> &'static str {
        match self {
            Self::Array => r"^[^\[]",
            Self::Object => r"^[^{]",
            Self::Number => "[A-Za-z]",
        }
    }
}

impl Misuse {
    /// Compares a call that failed with one that succeeded. `None` where the error is about something else than one field.
    pub fn between(tool: &str, before: &str, after: &str, error: &str) -> Option<Self> {
        let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
        let (before, after) = (read(before)?, read(after)?);
        let lower = error.to_lowercase();
        if !REFUSALS.iter().any(|phrase| lower.contains(phrase)) {
            return None;
        }
        let is_named = |word: &str| has_word(&lower, &word.to_lowercase());
        let is_missing = |name: &str| {
            let says = ["missing", "required", "must have", "must be provided"];
            is_named(name) && says.iter().any(|phrase| lower.contains(phrase))
        };
        let is_gone = |name: &str| !after.contains_key(name);
        // "unrecognized file type: tsx": of the field and its value, the value is what is wrong.
        let refused = before.iter().filter_map(|(name, old)| {
            let old = old.as_str().filter(|old| is_gone(name) && is_choice(old) && is_named(old))?;
            (!SUBJECTS.contains(&name.as_str())).then(|| (name.clone(), Flaw::Refused(old.to_owned())))
        });
        let refused: Vec<_> = refused.collect();
        let is_refused = |name: &str| refused.iter().any(|(other, _)| other == name);
        let gone = before.keys().filter(|name| is_gone(name) && is_named(name) && !is_refused(name));
        let came = after.keys().filter(|name| !before.contains_key(*name) && is_missing(name));
        let came = came.filter(|name| !SUBJECTS.contains(&name.as_str()));
        let changed = before.iter().filter_map(|(name, old)| {
            let (old, new) = (old.as_str()?, after.get(name)?.as_str()?);
            // It names what is wrong, or the field and what is right.
            let is_about = is_named(old) || (is_named(name) && is_named(new));
            let is_wrong = old != new && is_choice(old) && is_choice(new) && is_about;
            (is_wrong && !SUBJECTS.contains(&name.as_str()))
                .then(|| (name.clone(), Flaw::Value(old.to_owned(), new.to_owned())))
        });
        let is_of_type =
            ["array", "list", "object", "number", "integer", "type"].iter().any(|it| lower.contains(it));
        let typed = before.iter().filter_map(|(name, old)| {
            let right = Type::that_differs(old, after.get(name)?)?;
            (is_of_type && is_named(name)).then(|| (name.clone(), Flaw::Type(right)))
        });
        let gone = gone.map(|name| (name.clone(), Flaw::Unknown));
        let mut wrong: Vec<_> = gone.chain(refused.iter().cloned()).chain(changed).chain(typed).collect();
        // A field in the place of another is what the error is about.
        if wrong.is_empty() {
            wrong.extend(came.map(|name| (name.clone(), Flaw::Missing)));
        }
        // Of several it cannot be said which one it was.
        let (field, flaw) = if wrong.len() == 1 { wrong.pop()? } else { return None };
        Some(Self { tool: tool.to_owned(), before, after, error: error.to_owned(), field, flaw })
    }

    /// Returns what fires on the call that was refused.
    pub fn trigger(&self) -> Trigger {
        // A value is made of letters and hyphens: none of them means anything else in an expression.
        let expression = match &self.flaw {
            Flaw::Value(wrong, _) | Flaw::Refused(wrong) => format!("^{wrong}$"),
            Flaw::Type(right) => right.wrong().to_owned(),
            Flaw::Unknown => ".".to_owned(),
            // What is not there reads as empty.
            Flaw::Missing => "^$".to_owned(),
        };
        Trigger {
            tools: vec![self.tool.clone()],
            inputs: vec![(self.field.clone(), expression)],
            ..Trigger::default()
        }
    }

    /// Returns what is wrong about the call, in a few words.
    pub fn summary(&self) -> String {
        match &self.flaw {
            Flaw::Value(wrong, _) | Flaw::Refused(wrong) => {
                format!("{} takes no `{wrong}` as {}", self.tool, self.field)
            }
            Flaw::Type(right) => format!("{} wants {} as {}", self.tool, right.name(), self.field),
            Flaw::Unknown => format!("{} has no field `{}`", self.tool, self.field),
            Flaw::Missing => format!("{} needs the field `{}`", self.tool, self.field),
        }
    }

    /// Returns the names of the fields that only the call which worked has.
    fn came(&self) -> Vec<String> {
        let came = self.after.keys().filter(|name| !self.before.contains_key(*name));
        came.map(|name| format!("`{name}`")).collect()
    }

    /// Says what was changed.
    pub fn advice(&self) -> String {
        match &self.flaw {
            Flaw::Value(wrong, right) => {
                format!("Use `{right}` as `{}` in place of `{wrong}`.", self.field)
            }
            Flaw::Refused(wrong) => match &self.came()[..] {
                [] => format!("Leave out `{}`: `{wrong}` is none that it knows.", self.field),
                came => format!("Use {} in place of `{}`.", came.join(", "), self.field),
            },
            Flaw::Type(right) => format!("Give `{}` as {}.", self.field, right.name()),
            Flaw::Unknown => format!("Leave out `{}`.", self.field),
            Flaw::Missing => format!("Always give `{}`.", self.field),
        }
    }
}

/// Returns a call in writing, as examples have it: without the texts of its input.
pub fn written(tool: &str, input: &Map<String, Value>) -> String {
    let is_short = |value: &Value| match value {
        Value::String(text) => text.len() <= MAX_VALUE,
        Value::Bool(_) | Value::Number(_) => true,
        Value::Array(_) | Value::Object(_) => value.to_string().len() <= MAX_VALUE,
        Value::Null => false,
    };
    let mut fields: Map<String, Value> = input
        .iter()
        .filter(|(_, value)| is_short(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    fields.insert("tool".to_owned(), tool.into());
    Value::from(fields).to_string()
}

/// Says whether a value is one of a few that a tool knows, as far as can be seen: a word, and no name of a file or a number.
fn is_choice(value: &str) -> bool {
    (MIN_VALUE..=MAX_VALUE).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_:".contains(&byte))
}

/// Says whether a text has a word, and not only as a part of another.
fn has_word(text: &str, word: &str) -> bool {
    let is_inside = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_inside)
            && !text[at + word.len()..].chars().next().is_some_and(is_inside)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(before: &str, after: &str, error: &str) -> Option<(String, Flaw)> {
        Misuse::between("Agent", before, after, error).map(|it| (it.field, it.flaw))
    }

    #[test]
    fn a_value_that_the_tool_refuses_is_found_by_its_name() {
        let error = "Agent type 'reviewer' not found. Available agents: code-reviewer, Explore";
        assert_eq!(
            between(
                r#"{"subagent_type":"reviewer","prompt":"look"}"#,
                r#"{"subagent_type":"code-reviewer","prompt":"look at it"}"#,
                error
            ),
            Some(("subagent_type".into(), Flaw::Value("reviewer".into(), "code-reviewer".into())))
        );
    }

    #[test]
    fn a_field_that_the_tool_does_not_have_is_found_by_its_name() {
        let error = "InputValidationError: unexpected parameter `labels_any`";
        assert_eq!(
            between(r#"{"labels_any":"bug","state":"open"}"#, r#"{"labels":"bug","state":"open"}"#, error),
            Some(("labels_any".into(), Flaw::Unknown))
        );
    }

    #[test]
    fn a_value_that_the_tool_refuses_is_no_flaw_of_its_field() {
        assert_eq!(
            between(
                r#"{"pattern":"a","type":"tsx"}"#,
                r#"{"pattern":"a","glob":"*.tsx"}"#,
                "rg: unrecognized file type: tsx"
            ),
            Some(("type".into(), Flaw::Refused("tsx".into())))
        );
    }

    #[test]
    fn a_field_of_the_wrong_type_is_found_where_its_text_tells() {
        let error = "Invalid arguments: labels: Expected array, received string";
        assert_eq!(
            between(r#"{"labels":"bug"}"#, r#"{"labels":["bug"]}"#, error),
            Some(("labels".into(), Flaw::Type(Type::Array)))
        );
        let error = "limit must be a number";
        assert_eq!(
            between(r#"{"limit":"all"}"#, r#"{"limit":100}"#, error),
            Some(("limit".into(), Flaw::Type(Type::Number)))
        );
        assert_eq!(between(r#"{"limit":"20"}"#, r#"{"limit":20}"#, error), None);
    }

    #[test]
    fn a_field_that_the_tool_needs_is_found_by_its_name() {
        let before = r#"{"repo":"shop","head":"cart"}"#;
        let error = "MCP error -32602: Invalid arguments: missing required argument `base`";
        assert_eq!(
            between(before, r#"{"repo":"shop","head":"cart","base":"main"}"#, error),
            Some(("base".into(), Flaw::Missing))
        );
        assert_eq!(between(before, r#"{"repo":"shop","head":"cart","draft":"yes"}"#, error), None);
    }

    #[test]
    fn what_a_call_works_on_is_no_mistake() {
        let same = r#"{"issue":"PROJ-12"}"#;
        assert_eq!(between(same, r#"{"issue":"PROJ-21"}"#, "invalid issue: PROJ-12 is unknown"), None);
        assert_eq!(between(r#"{"query":"users"}"#, r#"{"query":"accounts"}"#, "unknown table users"), None);
        // Failed for another reason.
        assert_eq!(between(r#"{"state":"opened"}"#, r#"{"state":"open"}"#, "connection reset"), None);
    }
}
