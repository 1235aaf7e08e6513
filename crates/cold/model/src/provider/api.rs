//! The Messages API, with the user's own key.

use super::http::Server;
use super::{Answer, Error, Limits, Provider, Reply, Request, Usage};
use base::Env;
use serde_json::{Value, json};

const PUBLIC_ADDRESS: &str = "https://api.anthropic.com";
const API_VERSION: &str = "2023-06-01";

/// The model that is asked when the settings name none.
const DEFAULT_MODEL: &str = "claude-haiku-4-5";

/// The tool whose input is the answer.
const ANSWER_TOOL: &str = "answer";

/// Asks the Messages API over HTTPS.
#[derive(Debug)]
pub struct MessagesApi {
    server: Server,
    key: Option<String>,
    model: String,
}

impl MessagesApi {
    /// Returns the API as `ANTHROPIC_BASE_URL` and `ANTHROPIC_API_KEY` describe it; `model` may be empty.
    pub fn new(env: &Env, model: &str) -> Self {
        let base = env.text("ANTHROPIC_BASE_URL").unwrap_or_else(|| PUBLIC_ADDRESS.to_owned());
        Self {
            server: Server::new(&base, env),
            key: env.text("ANTHROPIC_API_KEY"),
            model: if model.is_empty() { DEFAULT_MODEL } else { model }.to_owned(),
        }
    }
}

impl Provider for MessagesApi {
    fn name(&self) -> &'static str {
        "api"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn ask(&self, request: &Request, limits: Limits) -> Result<Reply, Error> {
        let Some(key) = &self.key else {
            return Err(Error::NotSetUp("ANTHROPIC_API_KEY is not set"));
        };
        if self.server.is_open() {
            return Err(Error::NotSetUp("ANTHROPIC_BASE_URL would send your key without encryption"));
        }
        let body = json!({
            "model": request.model.as_deref().unwrap_or(&self.model),
            "max_tokens": request.max_output,
            "system": request.system,
            "messages": [{"role": "user", "content": request.prompt}],
            "tools": [{
                "name": ANSWER_TOOL,
                "description": "Takes your answer.",
                "input_schema": request.schema.value(),
            }],
            "tool_choice": {"type": "tool", "name": ANSWER_TOOL},
        });
        let headers = [("x-api-key", &**key), ("anthropic-version", API_VERSION)];
        let response = self.server.post("/v1/messages", &headers, &body, limits)?;
        Ok(Reply { answer: answer(&response), usage: Usage::of_messages(&response["usage"]), cost: None })
    }
}

/// Returns the input of the answer's tool, else whatever text there is.
fn answer(response: &Value) -> Answer {
    let blocks = response["content"].as_array().map_or(&[][..], Vec::as_slice);
    let call = blocks.iter().find(|block| block["type"] == "tool_use" && block["name"] == ANSWER_TOOL);
    match call {
        Some(call) => Answer::Value(call["input"].clone()),
        None => Answer::Text(blocks.iter().filter_map(|block| block["text"].as_str()).collect()),
    }
}
