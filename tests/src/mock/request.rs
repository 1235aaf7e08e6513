//! What the client asked, and why.

use serde_json::Value;

/// What the client says only to the summariser.
const SUMMARY_ORDER: &str = "Your task is to create a detailed summary of";

/// Why the client calls the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The conversation with the user.
    Main,
    /// A subagent's own conversation.
    Subagent,
    /// The summary that replaces the conversation.
    Compaction,
    /// A call without tools, for something the user did not ask for, such as a title for the session.
    Side,
}

/// One recorded request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, null when there was none.
    pub body: Value,
}

impl Request {
    /// Returns the first value of a header; `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(known, _)| known == name)?;
        Some(value)
    }

    /// Returns the model that was asked for, empty when this is no request to a model.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// Tells whether the answer is to be a stream of events.
    pub fn wants_stream(&self) -> bool {
        self.body["stream"] == true
    }

    /// Returns why the model is called; `None` when this is no request to a model.
    pub fn lane(&self) -> Option<Lane> {
        let path = self.path.split('?').next()?;
        if self.method != "POST" || path != "/v1/messages" {
            return None;
        }
        Some(if self.header("x-claude-code-agent-id").is_some() {
            Lane::Subagent
        } else if self.asks_for_summary() {
            Lane::Compaction
        } else if self.body["tools"].as_array().is_none_or(Vec::is_empty) {
            Lane::Side
        } else {
            Lane::Main
        })
    }

    /// Tells whether the last word of the user side is the order to summarise.
    ///
    /// Only the last: the order may be quoted earlier in a conversation.
    fn asks_for_summary(&self) -> bool {
        let messages = self.body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let Some(last) = messages.iter().rfind(|message| message["role"] == "user") else {
            return false;
        };
        let mut texts = Vec::new();
        collect_texts(last, &mut texts);
        texts.last().is_some_and(|text| text.contains(SUMMARY_ORDER))
    }

    /// Returns the session that the request belongs to.
    pub fn session(&self) -> Option<&str> {
        self.header("x-claude-code-session-id")
    }

    /// Returns all text that the model would see, one text per line: system, then messages with tool results.
    pub fn texts(&self) -> String {
        let mut texts = Vec::new();
        collect_texts(&self.body["system"], &mut texts);
        collect_texts(&self.body["messages"], &mut texts);
        texts.join("\n")
    }

    /// Counts how often `text` occurs in what the model would see.
    pub fn count(&self, text: &str) -> usize {
        self.texts().matches(text).count()
    }
}

/// Collects strings, and what is under `text` and `content`, at any depth and in order.
fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect_texts(value, texts)),
        Value::Object(fields) => {
            for name in ["text", "content"] {
                fields.get(name).into_iter().for_each(|value| collect_texts(value, texts));
            }
        }
        _ => {}
    }
}
