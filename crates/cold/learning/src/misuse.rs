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
    /// The tool has no such field.
    Unknown,
    /// The tool needs the field.
    Missing,
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
        let gone = before.keys().filter(|name| !after.contains_key(*name) && is_named(name));
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
        let mut wrong: Vec<_> = gone.map(|name| (name.clone(), Flaw::Unknown)).chain(changed).collect();
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
            Flaw::Value(wrong, _) => format!("^{wrong}$"),
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
            Flaw::Value(wrong, _) => format!("{} takes no `{wrong}` as {}", self.tool, self.field),
            Flaw::Unknown => format!("{} has no field `{}`", self.tool, self.field),
            Flaw::Missing => format!("{} needs the field `{}`", self.tool, self.field),
        }
    }

    /// Says what was changed.
    pub fn advice(&self) -> String {
        match &self.flaw {
            Flaw::Value(wrong, right) => {
                format!("Use `{right}` as `{}` in place of `{wrong}`.", self.field)
            }
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
        _ => false,
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
