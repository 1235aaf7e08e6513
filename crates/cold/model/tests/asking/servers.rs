//! Providers behind HTTP, against servers on the loopback interface.

use super::*;
use model::{Embeddings, Error, MessagesApi, OpenAiCompatible};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;
use wyren_tests::mock::{Lane, Mock, Reply};

/// Half a secret each, so that no scanner takes this file for a leak.
const PLANTED: [&str; 2] = ["ghp_", "abcdefghijklmnopqrstuvwxyz0123456789"];

fn api(mock: &Mock) -> MessagesApi {
    let env =
        Env::fixed([("ANTHROPIC_BASE_URL", mock.base_url()), ("ANTHROPIC_API_KEY", "dummy".to_owned())]);
    MessagesApi::new(&env, "")
}

#[test]
fn the_messages_api_answers_through_a_tool_that_is_forced() {
    let (user, mock) = (User::new(), Mock::start().unwrap());
    let reply = Reply::text("").tool_use("answer", json!({"colour": "blue"})).usage(2_000, 100);
    mock.script(Lane::Main, [reply]);

    let answered = answer(user.asker(api(&mock)).ask(request("the sky")));

    assert_eq!(answered, json!({"colour": "blue"}));
    let asked = &mock.requests()[0];
    assert_eq!(asked.header("x-api-key"), Some("dummy"));
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(asked.body["model"], "claude-haiku-4-5");
    assert_eq!(asked.body["max_tokens"], 500);
    assert_eq!(asked.body["tool_choice"], json!({"type": "tool", "name": "answer"}));
    assert_eq!(asked.body["tools"][0]["input_schema"], *schema().value());
    // 2,000 × $1 and 100 × $5 per million.
    assert_eq!(user.spent(), (1, Money::from_micros(2_500)));
}

#[test]
fn neither_secrets_nor_private_parts_are_sent() {
    let (user, mock) = (User::new(), Mock::start().unwrap());
    let secret = PLANTED.concat();
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let mut request = request(&format!("key {secret} at {commit} <private>hidden words</private>"));
    request.system = format!("system {secret}");

    let reason = reason(user.asker(api(&mock)).ask(request));

    assert!(matches!(reason, Reason::BadAnswer(_)), "the mock speaks prose: {reason}");
    let requests = mock.requests();
    assert_eq!(requests.len(), 2);
    for asked in &requests {
        let body = asked.body.to_string();
        assert!(!body.contains(&secret) && !body.contains("hidden words"), "{body}");
        assert!(body.contains(commit) && body.contains("[redacted:"), "{body}");
    }
    assert!(requests[1].texts().contains("Your last answer could not be used: it is not JSON"));
}

#[test]
fn a_key_is_asked_for_and_never_sent_in_the_open() {
    for (variable, value, complaint) in [
        ("OTHER", "x", "ANTHROPIC_API_KEY is not set"),
        (
            "ANTHROPIC_BASE_URL",
            "http://example.org",
            "ANTHROPIC_BASE_URL would send your key without encryption",
        ),
    ] {
        let user = User::new();
        let key = (variable != "OTHER").then_some(("ANTHROPIC_API_KEY", "dummy"));
        let env = Env::fixed([(variable, value)].into_iter().chain(key));
        let reason = reason(user.asker(MessagesApi::new(&env, "")).ask(request("the sky")));
        assert_eq!(reason.to_string(), format!("no answer from the model: {complaint}"));
        assert_eq!(user.spent().1, Money::ZERO);
    }
}

/// A server that gives each connection the next of its responses, and says what it was asked.
struct Server {
    endpoint: String,
    asked: Receiver<(String, Value)>,
}

impl Server {
    fn new(responses: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, asked) = mpsc::channel();
        thread::spawn(move || {
            let mut open = Vec::new();
            for response in responses {
                let Ok((mut stream, _)) = listener.accept() else { return };
                let _ = sender.send(read_request(&stream));
                // A client that has read enough closes the connection.
                let _ = stream.write_all(response.as_bytes());
                open.push(stream);
            }
            // Connections stay open while another client may still connect: a server that hangs.
            let _ = listener.accept();
        });
        Self { endpoint, asked }
    }

    fn provider(&self) -> OpenAiCompatible {
        OpenAiCompatible::new(&no_env(), &self.endpoint, "small-model")
    }
}

fn read_request(stream: &TcpStream) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (first.trim().to_owned(), serde_json::from_slice(&body).unwrap())
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn says(content: &str) -> String {
    let usage = json!({
        "prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60},
    });
    ok(&json!({"choices": [{"message": {"role": "assistant", "content": content}}], "usage": usage})
        .to_string())
}

#[test]
fn a_local_endpoint_answers_by_schema_and_costs_nothing() {
    let user = User::new();
    let server = Server::new(vec![says(r#"{"colour":"blue"}"#)]);

    let answered = answer(user.asker(server.provider()).ask(request("the sky")));

    assert_eq!(answered, json!({"colour": "blue"}));
    let (first, body) = server.asked.recv().unwrap();
    assert_eq!(first, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(body["model"], "small-model");
    assert_eq!(body["response_format"]["json_schema"]["schema"], *schema().value());
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "You name colours."}));
    assert_eq!(body["messages"][1], json!({"role": "user", "content": "the sky"}));
    assert_eq!(user.spent(), (1, Money::ZERO));
    let usage = Ledger::open(&user.database()).unwrap().totals(NOON, 1).unwrap()[0].usage;
    assert_eq!((usage.input, usage.output, usage.cache_read), (40, 7, 60));
}

#[test]
fn bad_answers_of_a_server_are_tried_once_more() {
    let long = says(&"b".repeat(3_000_000));
    let fits_the_wire = says(&format!("{{\"colour\":\"{}\"}}", "b".repeat(1_100_000)));
    for response in
        [says("It is blue."), says("```json\n{}\n```"), says(""), ok(""), ok("[]"), long, fits_the_wire]
    {
        let user = User::new();
        let server = Server::new(vec![response.clone(), response.clone()]);
        let reason = reason(user.asker(server.provider()).ask(request("the sky")));
        assert!(matches!(reason, Reason::BadAnswer(_)), "{reason}");
        assert_eq!(server.asked.try_iter().count(), 2);
        assert_eq!(user.spent().0, 2);
    }
}

#[test]
fn a_server_that_refuses_redirects_or_is_not_there_is_not_asked_again() {
    let refusal =
        "HTTP/1.1 429 Too Many\r\ncontent-length: 33\r\n\r\n{\"error\":{\"message\":\"slow down!\"}}";
    let redirect = "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    for (response, complaint) in [(refusal, "slow down!"), (redirect, "307")] {
        let user = User::new();
        let server = Server::new(vec![response.to_owned()]);
        let reason = reason(user.asker(server.provider()).ask(request("the sky"))).to_string();
        assert!(reason.contains("refused: ") && reason.contains(complaint), "{reason}");
    }
    let user = User::new();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let provider = OpenAiCompatible::new(&no_env(), &format!("http://{gone}/v1"), "m");
    let reason = reason(user.asker(provider).ask(request("the sky")));
    assert!(matches!(reason, Reason::Failed(Error::Unreachable { .. })), "{reason:?}");
}

#[test]
fn a_server_that_hangs_is_left_at_the_deadline() {
    let mut user = User::new();
    user.timeout = Duration::from_millis(300);
    let server = Server::new(vec![String::new()]);
    let start = Instant::now();
    let reason = reason(user.asker(server.provider()).ask(request("the sky")));
    assert!(matches!(reason, Reason::Failed(Error::TimedOut)), "{reason:?}");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[test]
fn an_endpoint_without_address_or_model_says_what_is_missing() {
    for (endpoint, model, missing) in
        [("", "m", "model.endpoint"), ("http://127.0.0.1:1/v1", "", "model.name")]
    {
        let user = User::new();
        let provider = OpenAiCompatible::new(&no_env(), endpoint, model);
        let reason = reason(user.asker(provider).ask(request("the sky"))).to_string();
        assert_eq!(reason, format!("no answer from the model: {missing} is not set"));
    }
}

fn embeddings(endpoint: &str) -> Embeddings {
    Embeddings::new(&no_env(), endpoint, "small-model").unwrap().unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[test]
fn texts_become_vectors_and_secrets_stay_here() {
    let answer = json!({"data": [{"index": 0, "embedding": [0.5, 1]}, {"index": 1, "embedding": [1, 0]}]});
    let server = Server::new(vec![ok(&answer.to_string())]);
    let secret = format!("token {}", PLANTED.concat());

    let vectors = embeddings(&server.endpoint).embed(&["the sky", &secret], soon()).unwrap();

    assert_eq!(vectors, [[0.5, 1.0], [1.0, 0.0]]);
    let (first, body) = server.asked.recv().unwrap();
    assert_eq!(first, "POST /v1/embeddings HTTP/1.1");
    assert_eq!((&body["model"], &body["input"][0]), (&json!("small-model"), &json!("the sky")));
    assert!(!body.to_string().contains(PLANTED[1]), "{body}");
}

#[test]
fn a_server_without_vectors_or_that_hangs_is_an_error_in_time() {
    for response in [ok("{}"), ok(r#"{"data":[{"embedding":[]}]}"#), ok("not json")] {
        let server = Server::new(vec![response]);
        assert!(matches!(embeddings(&server.endpoint).embed(&["a"], soon()), Err(Error::Unreadable(_))));
    }
    let server = Server::new(vec![String::new()]);
    let failed = embeddings(&server.endpoint).embed(&["a"], Instant::now() + Duration::from_millis(200));
    assert!(matches!(failed, Err(Error::TimedOut)), "{failed:?}");
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(matches!(
        embeddings(&format!("http://{gone}/v1")).embed(&["a"], soon()),
        Err(Error::Unreachable { .. })
    ));
}
