//! What a distillation wants done to the memory, and how a model's answer is read.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use text::redact;

use crate::budget::{ANSWER_BYTES, OPERATION_CHARS, OPERATIONS, TURNS};
use crate::entry::SECTIONS;
use crate::summary;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// What is to be done.
    #[serde(flatten)]
    pub action: Action,
    /// The section of the entry.
    pub section: String,
    /// How sure the proposer is, from 0 to 1.
    #[serde(default = "unsure")]
    pub confidence: f64,
    /// The numbers of the messages that support it; a model calls them turns.
    #[serde(default)]
    pub turns: Vec<u64>,
    #[serde(default)]
    pub source: Source,
}

/// What is to be done to an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Action {
    Add {
        text: String,
    },
    /// Another entry in the place of one that is there.
    Replace {
        /// The id of the one that is there.
        entry: String,
        /// What the new one says.
        text: String,
        #[serde(default)]
        why: String,
    },
    Remove {
        entry: String,
        /// What became of it.
        reason: Reason,
        /// What resolved it or took its place.
        #[serde(default)]
        by: String,
    },
}

impl Action {
    /// Takes secrets out of what a proposer wrote: it is kept on the disk before it is applied.
    fn redact(&mut self) {
        let texts = match self {
            Self::Add { text } => vec![text],
            Self::Replace { entry, text, why } => vec![entry, text, why],
            Self::Remove { entry, by, .. } => vec![entry, by],
        };
        for text in texts {
            *text = redact::redact(text).into_owned();
        }
    }
}

/// Why an entry goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// What it says is done or answered.
    Resolved,
    /// Something else holds now.
    Superseded,
}

impl Reason {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Superseded => "superseded",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    #[default]
    Model,
    /// Extraction without one.
    Extraction,
}

/// Why an answer is not used at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is nothing in it.
    #[error("the answer is empty")]
    Empty,
    /// It is longer than any distillation.
    #[error("the answer has {0} bytes, more than {ANSWER_BYTES}")]
    TooLong(usize),
    /// It is prose, fenced, cut off or otherwise no JSON.
    #[error("the answer is not JSON: {0}")]
    NotJson(String),
    /// It is JSON of another shape.
    #[error("the answer has another shape: {0}")]
    Shape(String),
    /// It wants more done than any distillation.
    #[error("the answer has {0} operations, more than {OPERATIONS}")]
    TooMany(usize),
}

/// Parses a model's answer, which must be the requested JSON and nothing else; unknown fields are ignored.
pub fn parse(answer: &str) -> Result<Vec<Operation>, Refusal> {
    if answer.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    if answer.len() > ANSWER_BYTES {
        return Err(Refusal::TooLong(answer.len()));
    }
    let value = serde_json::from_str(answer).map_err(|error| Refusal::NotJson(error.to_string()))?;
    parse_value(value)
}

/// Reads a model's answer that was taken apart already.
pub fn parse_value(answer: Value) -> Result<Vec<Operation>, Refusal> {
    #[derive(Deserialize)]
    struct Answer {
        operations: Vec<Operation>,
    }
    let answer: Answer = serde_json::from_value(answer).map_err(|error| Refusal::Shape(error.to_string()))?;
    let mut operations = answer.operations;
    if operations.len() > OPERATIONS {
        return Err(Refusal::TooMany(operations.len()));
    }
    for operation in &mut operations {
        // An answer does not say who gave it.
        operation.source = Source::Model;
        operation.turns.truncate(TURNS);
        operation.action.redact();
    }
    Ok(operations)
}

/// Returns what an answer has to look like, in the part of JSON Schema that `model` checks.
pub(crate) fn schema() -> Value {
    let text = json!({"type": "string", "maxLength": OPERATION_CHARS});
    json!({
        "type": "object",
        "properties": {
            "operations": {
                "type": "array",
                "maxItems": OPERATIONS,
                "items": {
                    "type": "object",
                    "properties": {
                        "do": {"enum": ["add", "replace", "remove"]},
                        "section": {"enum": SECTIONS},
                        "text": text,
                        "entry": {"type": "string", "maxLength": OPERATION_CHARS},
                        "why": {"type": "string", "maxLength": OPERATION_CHARS},
                        "reason": {"enum": ["resolved", "superseded"]},
                        "by": {"type": "string", "maxLength": OPERATION_CHARS},
                        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                        "turns": {"type": "array", "maxItems": TURNS, "items": {"type": "integer", "minimum": 1}},
                    },
                    "required": ["do", "section", "confidence", "turns"],
                },
            },
            "summary": summary::schema(),
        },
        "required": ["operations"],
    })
}

fn unsure() -> f64 {
    0.5
}
