//! What the mocked model says, as one message or as a stream of events.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::Lane;

/// One turn of the mocked model: text and tool uses, in order, and the usage it reports.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    blocks: Vec<Block>,
    input_tokens: u64,
    output_tokens: u64,
    /// The status and message of a request that fails.
    failure: Option<(u16, String)>,
}

#[derive(Clone, Debug)]
enum Block {
    Text(String),
    ToolUse { name: String, input: Value },
}

impl Reply {
    /// Returns a reply that says `text`.
    pub fn text(text: impl Into<String>) -> Reply {
        let blocks = vec![Block::Text(text.into())];
        Reply { blocks, input_tokens: 1_000, output_tokens: 10, failure: None }
    }

    /// Returns an error of the API in the place of a reply. The client does not try again after 400.
    pub fn failure(status: u16, message: impl Into<String>) -> Reply {
        Reply { failure: Some((status, message.into())), ..Reply::default() }
    }

    /// Returns the status and the body of a failure.
    pub(super) fn to_failure(&self) -> Option<(u16, Value)> {
        let (status, message) = self.failure.as_ref()?;
        let error = json!({"type": "invalid_request_error", "message": message});
        Some((*status, json!({"type": "error", "error": error})))
    }

    /// Adds the use of a tool; the client runs it and comes back with the result.
    pub fn tool_use(mut self, name: impl Into<String>, input: Value) -> Reply {
        self.blocks.push(Block::ToolUse { name: name.into(), input });
        self
    }

    /// Sets the usage that the reply reports; the client decides by it when to compact.
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Reply {
        self.input_tokens = input_tokens;
        self.output_tokens = output_tokens;
        self
    }

    /// Returns what the mock says when a test has not scripted anything.
    pub(super) fn unscripted(lane: Lane) -> Reply {
        Reply::text(match lane {
            Lane::Main => "Done.",
            Lane::Subagent => "The subagent is done.",
            Lane::Compaction => {
                "<analysis>Short.</analysis>\n<summary>The user asked, the model answered.</summary>"
            }
            Lane::Side => r#"{"title": "A test"}"#,
        })
    }

    /// Renders the reply as the answer to a request without `stream`.
    pub(super) fn to_message(&self, model: &str) -> Value {
        let content: Vec<Value> = self.blocks.iter().map(Block::whole).collect();
        let mut message = self.envelope(model);
        message["content"] = json!(content);
        message["stop_reason"] = json!(self.stop_reason());
        message["usage"]["output_tokens"] = json!(self.output_tokens);
        message
    }

    /// Renders the reply as server-sent events.
    pub(super) fn to_events(&self, model: &str) -> String {
        let mut events = vec![json!({"type": "message_start", "message": self.envelope(model)})];
        for (index, block) in self.blocks.iter().enumerate() {
            let (start, delta) = block.in_parts();
            events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        events.push(json!({
            "type": "message_delta",
            "delta": {"stop_reason": self.stop_reason(), "stop_sequence": null},
            "usage": {"output_tokens": self.output_tokens},
        }));
        events.push(json!({"type": "message_stop"}));

        events.iter().fold(String::new(), |mut stream, event| {
            let name = event["type"].as_str().unwrap_or_default();
            let _ = write!(stream, "event: {name}\ndata: {event}\n\n");
            stream
        })
    }

    fn envelope(&self, model: &str) -> Value {
        json!({
            "id": unique("msg"),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": {
                "input_tokens": self.input_tokens,
                "output_tokens": 1,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
            },
        })
    }

    fn stop_reason(&self) -> &'static str {
        match self.blocks.last() {
            Some(Block::ToolUse { .. }) => "tool_use",
            _ => "end_turn",
        }
    }
}

impl Block {
    fn whole(&self) -> Value {
        match self {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::ToolUse { name, input } => {
                json!({"type": "tool_use", "id": unique("toolu"), "name": name, "input": input})
            }
        }
    }

    /// The start of the block and the one delta that completes it.
    fn in_parts(&self) -> (Value, Value) {
        match self {
            Block::Text(text) => {
                (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
            }
            Block::ToolUse { name, input } => (
                json!({"type": "tool_use", "id": unique("toolu"), "name": name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            ),
        }
    }
}

/// Returns an id that no other reply of this process has; the client drops messages whose id it knows.
fn unique(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}_{:024}", NEXT.fetch_add(1, Ordering::Relaxed))
}
