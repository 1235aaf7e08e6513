//! A server that speaks the chat dialect of OpenAI, such as one on the user's own machine.

use super::http::Server;
use super::{Answer, Error, Limits, Provider, Reply, Request, Usage};
use crate::money::Price;
use base::Env;
use serde_json::{Value, json};

/// Asks an OpenAI-compatible endpoint. No key is sent.
#[derive(Debug)]
pub struct OpenAiCompatible {
    server: Option<Server>,
    model: String,
}

impl OpenAiCompatible {
    /// Returns the endpoint at an address that ends in `/v1` as a rule.
    pub fn new(env: &Env, endpoint: &str, model: &str) -> Self {
        let server = (!endpoint.is_empty()).then(|| Server::new(endpoint, env));
        Self { server, model: model.to_owned() }
    }
}

impl Provider for OpenAiCompatible {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn price(&self, model: &str) -> Price {
        let is_local = self.server.as_ref().is_some_and(Server::is_local);
        if is_local { Price::free() } else { Price::of(model) }
    }

    fn ask(&self, request: &Request, limits: Limits) -> Result<Reply, Error> {
        let Some(server) = &self.server else {
            return Err(Error::NotSetUp("model.endpoint is not set"));
        };
        let model = request.model.as_deref().unwrap_or(&self.model);
        if model.is_empty() {
            return Err(Error::NotSetUp("model.name is not set"));
        }
        let body = json!({
            "model": model,
            "max_tokens": request.max_output,
            "stream": false,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.prompt},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": true, "schema": request.schema.value()},
            },
        });
        let response = server.post("/chat/completions", &[], &body, limits)?;
        let Some(text) = response["choices"][0]["message"]["content"].as_str() else {
            return Err(Error::Unreadable("there is no message in it".to_owned()));
        };
        Ok(Reply { answer: Answer::Text(text.to_owned()), usage: usage(&response["usage"]), cost: None })
    }
}

fn usage(usage: &Value) -> Usage {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let cache_read = count(&usage["prompt_tokens_details"]["cached_tokens"]);
    Usage {
        // Here the cached tokens are among those read.
        input: count(&usage["prompt_tokens"]).saturating_sub(cache_read),
        output: count(&usage["completion_tokens"]),
        cache_read,
        cache_write: 0,
    }
}
