//! A mock of the Messages API on 127.0.0.1.
//!
//! It gives scripted answers and records every request, so that a test can look at what the model would have seen.
//! It knows nothing of Wyren, and of HTTP only what the client speaks.
//!
//! The client talks to the model for several reasons at once; each is a [`Lane`] with its own queue of
//! replies. What is not scripted gets a short answer, so that a test scripts only what it is about.

mod http;
mod reply;
mod request;

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::json;

pub use self::reply::Reply;
pub use self::request::{Lane, Request};

/// How long a kept-alive connection may stay silent, and how long one write may take.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(120);

/// The longest that [`Mock::wait_for`] waits.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Decides the reply to a request, or leaves it to the queue of the request's lane.
type Script = Box<dyn Fn(&Request) -> Option<Reply> + Send>;

/// Answers a request in the way of another API: the type of the content, and the content.
type Other = Box<dyn FnMut(&Request) -> Option<(&'static str, String)> + Send>;

/// A running mock. Dropping it closes every connection and joins every thread.
pub struct Mock {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stopping: AtomicBool,
    state: Mutex<State>,
    recorded: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<Request>,
    replies: HashMap<Lane, VecDeque<Reply>>,
    script: Option<Script>,
    other: Option<Other>,
}

impl Mock {
    /// Starts a mock on a free port of the loopback interface.
    pub fn start() -> io::Result<Mock> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let acceptor = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Ok(Mock { address, shared, acceptor: Some(acceptor) })
    }

    /// Returns the value for `ANTHROPIC_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues replies; each answers one request of the lane.
    pub fn script(&self, lane: Lane, replies: impl IntoIterator<Item = Reply>) {
        self.shared.state().replies.entry(lane).or_default().extend(replies);
    }

    /// Asks `script` before the queues; `None` leaves the request to them. It must not use the mock itself.
    pub fn script_with(&self, script: impl Fn(&Request) -> Option<Reply> + Send + 'static) {
        self.shared.state().script = Some(Box::new(script));
    }

    /// Asks `other` before anything else: it speaks the API of another agent. `None` leaves the request to the mock.
    pub fn speak(&self, other: impl FnMut(&Request) -> Option<(&'static str, String)> + Send + 'static) {
        self.shared.state().other = Some(Box::new(other));
    }

    /// Returns every request so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// Returns the requests of one lane, oldest first.
    pub fn requests_of(&self, lane: Lane) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| request.lane() == Some(lane));
        requests
    }

    /// Waits for request number `index` (from 0) of a lane.
    pub fn wait_for(&self, lane: Lane, index: usize) -> Result<Request> {
        let deadline = Instant::now() + REQUEST_TIMEOUT;
        let mut state = self.shared.state();
        loop {
            let mut of_lane = state.requests.iter().filter(|r| r.lane() == Some(lane));
            if let Some(request) = of_lane.nth(index) {
                return Ok(request.clone());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let lanes: Vec<_> = state.requests.iter().filter_map(Request::lane).collect();
                bail!("waited for request {index} of {lane:?}, but there were only {lanes:?}");
            }
            let waited = self.shared.recorded.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // A connection of our own wakes the acceptor out of `accept`.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

impl Shared {
    /// A test that failed while it held the lock must not hide its message behind a second panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Returns the answer of another API, and records the request then.
    fn record_other(&self, request: &Request) -> Option<(&'static str, String)> {
        let mut state = self.state();
        let answer = state.other.as_mut()?(request)?;
        state.requests.push(request.clone());
        self.recorded.notify_all();
        Some(answer)
    }

    /// Records a request and returns the reply to it, if it is one to the model.
    fn record(&self, request: Request) -> Option<Reply> {
        let mut state = self.state();
        let reply = request.lane().map(|lane| {
            let scripted = state.script.as_ref().and_then(|script| script(&request));
            scripted
                .or_else(|| state.replies.get_mut(&lane)?.pop_front())
                .unwrap_or_else(|| Reply::unscripted(lane))
        });
        state.requests.push(request);
        self.recorded.notify_all();
        reply
    }
}

/// Serves each connection in a thread of its own until the mock stops, then closes and joins them all.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections: Vec<(TcpStream, JoinHandle<()>)> = Vec::new();
    for stream in listener.incoming() {
        if shared.stopping() {
            break;
        }
        let Ok(stream) = stream else { continue };
        let Ok(handle) = stream.try_clone() else { continue };
        let shared = Arc::clone(shared);
        let server = thread::spawn(move || {
            // A client that goes away in mid-sentence is not a failure of the mock.
            let _ = serve(&stream, &shared);
            let _ = stream.shutdown(Shutdown::Both);
        });
        connections.retain(|(_, server)| !server.is_finished());
        connections.push((handle, server));
    }
    for (stream, server) in connections {
        let _ = stream.shutdown(Shutdown::Both);
        let _ = server.join();
    }
}

/// Answers the requests of one connection, one after the other.
fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(CONNECTION_TIMEOUT))?;
    stream.set_write_timeout(Some(CONNECTION_TIMEOUT))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = http::read_request(&mut reader)? {
        if shared.stopping() {
            break;
        }
        if let Some((content_type, body)) = shared.record_other(&request) {
            http::write_response(stream, &http::Response::other(content_type, body))?;
            continue;
        }
        let model = request.model().to_owned();
        let streaming = request.wants_stream();
        let method = request.method.clone();
        let reply = shared.record(request);
        if let Some((status, body)) = reply.as_ref().and_then(Reply::to_failure) {
            http::write_response(stream, &http::Response::json(status, &body))?;
            continue;
        }
        let response = match reply {
            Some(reply) if streaming => http::Response::events(reply.to_events(&model)),
            Some(reply) => http::Response::json(200, &reply.to_message(&model)),
            None if method == "HEAD" => http::Response::empty(),
            None => http::Response::json(
                404,
                &json!({"type": "error", "error": {
                    "type": "not_found_error", "message": "the mock does not serve this path",
                }}),
            ),
        };
        http::write_response(stream, &response)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    /// Sends raw bytes and returns all that comes back until the mock closes the connection.
    fn talk(mock: &Mock, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(mock.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn post(body: &str) -> String {
        let length = body.len();
        format!("POST /v1/messages?beta=true HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}")
    }

    #[test]
    fn requests_on_one_connection_are_answered_in_order_and_recorded() {
        let mock = Mock::start().unwrap();
        mock.script(Lane::Main, [Reply::text("first"), Reply::text("second")]);
        let body = r#"{"model":"m","tools":[{}],"messages":[{"role":"user","content":"hello"}]}"#;

        let answer = talk(&mock, (post(body) + &post(body)).as_bytes());

        let first = answer.find(r#""text":"first""#).unwrap();
        let second = answer.find(r#""text":"second""#).unwrap();
        assert!(first < second, "{answer}");
        assert_eq!(mock.requests().len(), 2);
        assert!(mock.requests()[0].texts().contains("hello"));
    }

    #[test]
    fn a_streamed_tool_use_is_a_complete_sequence_of_events() {
        let mock = Mock::start().unwrap();
        mock.script(Lane::Main, [Reply::text("look").tool_use("Bash", json!({"command": "ls"}))]);
        let answer =
            talk(&mock, post(r#"{"model":"m","tools":[{}],"stream":true,"messages":[]}"#).as_bytes());

        let events: Vec<&str> = answer.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        let block = ["content_block_start", "content_block_delta", "content_block_stop"];
        let expected = [&["message_start"][..], &block, &block, &["message_delta", "message_stop"]].concat();
        assert_eq!(events, expected);
        assert!(answer.contains(r#""stop_reason":"tool_use""#), "{answer}");
    }

    #[test]
    fn a_body_over_the_limit_is_refused_without_being_read() {
        let mock = Mock::start().unwrap();
        let answer = talk(&mock, b"POST /v1/messages HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n");
        assert_eq!(answer, "");
        assert!(mock.requests().is_empty());
    }

    #[test]
    fn dropping_the_mock_does_not_wait_for_an_idle_connection() {
        let mock = Mock::start().unwrap();
        let idle = TcpStream::connect(mock.address).unwrap();
        let start = Instant::now();
        drop(mock);
        assert!(start.elapsed() < Duration::from_secs(5));
        drop(idle);
    }
}
