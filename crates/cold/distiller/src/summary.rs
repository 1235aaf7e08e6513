//! What a slice was about, in a few words: a model writes it with the same answer, so it costs no question of its own.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use text::{redact, sanitize};

use crate::budget::SUMMARY_FIELD_CHARS;
use crate::text::clean;

/// The fields of a summary, in the order in which they are asked for.
const FIELDS: [&str; 6] = ["request", "investigated", "learned", "completed", "next_steps", "notes"];

/// A summary of a slice. What a model left out is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    pub request: String,
    pub investigated: String,
    pub learned: String,
    pub completed: String,
    pub next_steps: String,
    pub notes: String,
}

impl Summary {
    /// Returns the summary in a model's answer: one line per field, cut, without secrets. `None` where the answer has
    /// none that says anything; the operations beside it count all the same.
    pub fn in_answer(answer: &Value) -> Option<Self> {
        let summary = answer.get("summary")?;
        let field = |name: &str| {
            let text = summary.get(name).and_then(Value::as_str).unwrap_or_default();
            sanitize::one_line(&redact::redact(&clean(text)), SUMMARY_FIELD_CHARS)
        };
        let read = Self {
            request: field("request"),
            investigated: field("investigated"),
            learned: field("learned"),
            completed: field("completed"),
            next_steps: field("next_steps"),
            notes: field("notes"),
        };
        let says_something = [&read.investigated, &read.learned, &read.completed, &read.next_steps];
        let is_empty = read.request.is_empty() && says_something.iter().all(|text| text.is_empty());
        (!is_empty).then_some(read)
    }
}

/// Returns what the summary of an answer has to look like.
pub(crate) fn schema() -> Value {
    // Longer than what is kept: a sentence too much is cut and spoils no answer.
    let text = json!({"type": "string", "maxLength": 4 * SUMMARY_FIELD_CHARS});
    let properties: serde_json::Map<String, Value> =
        FIELDS.iter().map(|field| ((*field).to_owned(), text.clone())).collect();
    json!({"type": "object", "properties": properties})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_one_line_per_field_without_secrets() {
        let key = ["sk-ant-", "api03-", &"Zm9vYmFyYmF6cXV4".repeat(5)].concat();
        let answer = json!({"operations": [], "summary": {
            "request": "Make login\nfaster", "completed": format!("Cached tokens; the key was {key}"), "learned": 7,
        }});
        let summary = Summary::in_answer(&answer).unwrap();
        assert_eq!(summary.request, "Make login faster");
        assert!(!summary.completed.contains(&key), "{summary:?}");
        assert_eq!(summary.learned, "");
    }

    #[test]
    fn an_answer_without_a_summary_has_none() {
        for answer in [json!({}), json!({"summary": "done"}), json!({"summary": {"notes": "x"}}), json!([])] {
            assert_eq!(Summary::in_answer(&answer), None, "{answer}");
        }
    }
}
