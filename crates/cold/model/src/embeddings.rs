//! Turning texts into vectors, by a server on this machine. Nothing is paid for it, and nothing leaves the machine.

use crate::money::Money;
use crate::provider::http::Server;
use crate::provider::{Error, Limits};
use base::Env;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::time::Instant;

/// How many texts are sent with one request: the vectors of more might not fit into an answer.
pub const MAX_TEXTS: usize = 16;
/// How much of a text is sent, in bytes; models read no more than some hundred words.
const MAX_TEXT_BYTES: usize = 8_192;
/// The longest vector.
const MAX_LENGTH: usize = 8_192;

/// A server that speaks OpenAI's dialect of embeddings.
#[derive(Debug)]
pub struct Embeddings {
    server: Server,
    model: String,
}

impl Embeddings {
    /// Returns the server at `endpoint`, an address that ends in `/v1` as a rule; `None` where none is set. One that is not this
    /// machine is refused: everything that is remembered would be sent there.
    pub fn new(env: &Env, endpoint: &str, model: &str) -> Result<Option<Self>, Error> {
        let endpoint = endpoint.trim().trim_end_matches('/');
        if endpoint.is_empty() {
            return Ok(None);
        }
        let server = Server::new(endpoint.strip_suffix("/embeddings").unwrap_or(endpoint), env);
        if !server.is_local() {
            return Err(Error::NotSetUp(
                "search.embeddings_endpoint has to be on this machine: http://127.0.0.1:PORT/v1",
            ));
        }
        Ok(Some(Self { server, model: model.to_owned() }))
    }

    /// The name of the model; vectors of different models cannot be compared.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the vector of each of at most [`MAX_TEXTS`] texts, all of one length.
    pub fn embed(&self, texts: &[&str], deadline: Instant) -> Result<Vec<Vec<f32>>, Error> {
        let texts: Vec<Cow<'_, str>> = texts
            .iter()
            .take(MAX_TEXTS)
            .map(|text| text::redact::redact(&text[..text.floor_char_boundary(MAX_TEXT_BYTES)]))
            .collect();
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let body = json!({ "model": self.model, "input": texts, "encoding_format": "float" });
        let limits = Limits { deadline, allowance: Money::ZERO };
        let response = self.server.post("/embeddings", &[], &body, limits)?;
        vectors(&response, texts.len())
            .ok_or_else(|| Error::Unreadable("it has no vector for each text".to_owned()))
    }
}

/// Reads the vectors of an answer, in the order of the texts; `None` unless there is a proper one for each.
fn vectors(response: &Value, texts: usize) -> Option<Vec<Vec<f32>>> {
    let data = response["data"].as_array()?;
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); texts];
    for (place, one) in data.iter().enumerate() {
        let place = one["index"].as_u64().map_or(place, |index| usize::try_from(index).unwrap_or(usize::MAX));
        let numbers = one["embedding"].as_array().filter(|numbers| numbers.len() <= MAX_LENGTH)?;
        let numbers = numbers.iter().map(|number| number.as_f64().map(|number| number as f32));
        *vectors.get_mut(place)? = numbers.collect::<Option<_>>()?;
    }
    let length = vectors.first()?.len();
    let is_proper = |vector: &Vec<f32>| {
        vector.len() == length
            && vector.iter().all(|number| number.is_finite())
            && vector.iter().any(|number| *number != 0.0)
    };
    vectors.iter().all(is_proper).then_some(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_on_this_machine_is_taken() {
        let env = Env::fixed::<String, String>([]);
        assert!(Embeddings::new(&env, " ", "m").unwrap().is_none());
        for local in ["http://127.0.0.1:11434/v1", "http://localhost:8080/v1/embeddings", "http://[::1]/v1/"]
        {
            assert!(Embeddings::new(&env, local, "m").unwrap().is_some(), "{local}");
        }
        for remote in
            ["https://api.example.org/v1", "http://10.0.0.1/v1", "http://localhost.example.org", "file:///x"]
        {
            assert!(Embeddings::new(&env, remote, "m").is_err(), "{remote}");
        }
    }

    #[test]
    fn an_answer_needs_a_proper_vector_for_each_text() {
        let good =
            json!({"data": [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [0.5, 0]}]});
        assert_eq!(vectors(&good, 2).unwrap(), [[0.5, 0.0], [0.0, 1.0]]);
        for bad in [
            json!({}),
            json!({"data": []}),
            json!({"data": [{"embedding": [1]}]}),
            json!({"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}),
            json!({"data": [{"embedding": [0]}, {"embedding": [1]}]}),
            json!({"data": [{"embedding": [1]}, {"embedding": ["1"]}]}),
            json!({"data": [{"index": 7, "embedding": [1]}, {"embedding": [1]}]}),
        ] {
            assert!(vectors(&bad, 2).is_none(), "{bad}");
        }
    }
}
