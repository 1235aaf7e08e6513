//! The server itself: accepts, bounds what comes, and hands it to the routes.

use crate::ask::{self, Asked};
use crate::feed::{Event, Feed};
use crate::gate::{self, Refusal};
use crate::routes::{Call, Method, ROUTES, Route};
use crate::server::{Failed, Server};
use crate::{Error, keeper, routes, rows};
use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::MethodFilter;
use base::Timestamp;
use base::error::with_causes;
use futures_util::StreamExt as _;
use futures_util::stream;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

/// What a program may take of the server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// In bytes: above what a tool returns (claude-mem loses what has more than 5 MB).
    pub body: usize,
    /// How long a request may take to come, its head and its body each.
    pub patience: Duration,
    pub connections: usize,
    pub listeners: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 16 * 1024 * 1024, patience: Duration::from_secs(10), connections: 128, listeners: 16 }
    }
}

/// A body above this is one of a few at a time.
const LARGE: usize = 256 * 1024;
const LARGE_AT_ONCE: usize = 4;
/// Threads that read and write files; requests wait for one.
const THREADS: usize = 8;
/// How long requests that are under way may take once the server is to end.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How often a line without a meaning keeps a stream open.
const HEARTBEAT: Duration = Duration::from_secs(15);

struct Shared {
    server: Arc<Server>,
    limits: Limits,
    large: Semaphore,
    listeners: AtomicUsize,
}

/// Listens on 127.0.0.1 and serves until it is to end: by `/api/admin/shutdown`, or when `ended` returns.
pub fn run(
    server: Server,
    listener: TcpListener,
    limits: Limits,
    ended: impl Future<Output = ()>,
) -> Result<(), Error> {
    listener.set_nonblocking(true)?;
    let server = Arc::new(server);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build()?;
    let kept = Arc::clone(&server);
    let keeper = std::thread::Builder::new().name("keeper".to_owned()).spawn(move || keeper::run(&kept))?;
    runtime.block_on(serve(Arc::clone(&server), listener, limits, ended))?;
    server.is_over.store(true, Ordering::Relaxed);
    server.wake.notify_all();
    let _ = keeper.join();
    Ok(())
}

/// Returns a listener on 127.0.0.1, and on no other address.
pub(crate) fn listen(port: u16) -> Result<TcpListener, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|source| Error::Listen { port, source })
}

async fn serve(
    server: Arc<Server>,
    listener: TcpListener,
    limits: Limits,
    ended: impl Future<Output = ()>,
) -> Result<(), Error> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let shared = Arc::new(Shared {
        server: Arc::clone(&server),
        limits,
        large: Semaphore::new(LARGE_AT_ONCE),
        listeners: AtomicUsize::new(0),
    });
    let router = router(shared);
    let connections = Arc::new(Semaphore::new(limits.connections));
    let accepting = async {
        loop {
            // Above the bound, connections wait in the system's own queue.
            let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // No file numbers are left, perhaps: others end meanwhile.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let _ = stream.set_nodelay(true);
            let service = TowerToHyperService::new(router.clone());
            tokio::spawn(async move {
                let _permit = permit;
                let mut builder = hyper::server::conn::http1::Builder::new();
                builder.timer(TokioTimer::new()).header_read_timeout(limits.patience).max_buf_size(64 * 1024);
                // A program that goes away is no failure.
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    };
    let over = async {
        let mut ended = std::pin::pin!(ended);
        let mut over = std::pin::pin!(server.over.notified());
        std::future::poll_fn(|context| {
            let is_over = ended.as_mut().poll(context).is_ready() || over.as_mut().poll(context).is_ready();
            if is_over { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    };
    let (mut accepting, mut over) = (std::pin::pin!(accepting), std::pin::pin!(over));
    std::future::poll_fn(|context| {
        let is_over = over.as_mut().poll(context).is_ready() || accepting.as_mut().poll(context).is_ready();
        if is_over { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    server.is_over.store(true, Ordering::Relaxed);
    // What is under way is answered; a stream or a silent connection is not waited for.
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let _ = timeout(LAST_WORDS.min(Duration::from_millis(300)), connections.acquire_many(all)).await;
    Ok(())
}

fn router(shared: Arc<Shared>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let filter = match route.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
        };
        let handler =
            move |State(shared): State<Arc<Shared>>, parameters: RawPathParams, request: Request| {
                let parameters: HashMap<String, String> =
                    parameters.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                async move { with_origin(route, parameters, request, &shared).await }
            };
        router = router.route(route.path, axum::routing::on(filter, handler));
    }
    router
        .fallback(|State(shared): State<Arc<Shared>>, request: Request| async move {
            unserved(&request, &shared, StatusCode::NOT_FOUND)
        })
        .method_not_allowed_fallback(|State(shared): State<Arc<Shared>>, request: Request| async move {
            let is_delete = request.method() == axum::http::Method::DELETE;
            let status = if is_delete { StatusCode::NOT_FOUND } else { StatusCode::METHOD_NOT_ALLOWED };
            unserved(&request, &shared, status)
        })
        .with_state(shared)
}

/// Answers what no route does: after the same checks, so that nothing is learned without the token.
fn unserved(request: &Request, shared: &Shared, status: StatusCode) -> Response {
    let headers = request.headers();
    if let Err(refusal) = gate::check_origin(headers, shared.server.port) {
        return refused(refusal);
    }
    let origin = headers.get(header::ORIGIN).cloned();
    if request.method() == axum::http::Method::OPTIONS && origin.is_some() {
        return allowing(preflight(), origin.as_ref());
    }
    let query = ask::parameters(request.uri().query().unwrap_or_default());
    let token = query.iter().find(|(name, _)| name == "token").map(|(_, value)| value.as_str());
    if let Err(refusal) = gate::check_token(headers, token, &shared.server.token) {
        return allowing(refused(refusal), origin.as_ref());
    }
    let reason = match status {
        StatusCode::METHOD_NOT_ALLOWED => "this path is asked in another way; `/openapi.json` says how",
        _ => routes::why_not(request.method().as_str(), request.uri().path()),
    };
    allowing(failure(status, reason), origin.as_ref())
}

async fn with_origin(
    route: &'static Route,
    parameters: HashMap<String, String>,
    request: Request,
    shared: &Arc<Shared>,
) -> Response {
    if let Err(refusal) = gate::check_origin(request.headers(), shared.server.port) {
        return refused(refusal);
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let response = match checked(route, parameters, request, shared).await {
        Ok(asked) => answer(route, asked, shared).await,
        Err(response) => response,
    };
    allowing(response, origin.as_ref())
}

/// Checks the token and reads the body, in this order: without the token, nothing is read.
async fn checked(
    route: &Route,
    path: HashMap<String, String>,
    request: Request,
    shared: &Shared,
) -> Result<Asked, Response> {
    let (parts, body) = request.into_parts();
    let query = ask::parameters(parts.uri.query().unwrap_or_default());
    let token = query.iter().find(|(name, _)| name == "token").map(|(_, value)| value.clone());
    let known = gate::check_token(&parts.headers, token.as_deref(), &shared.server.token);
    if let Err(refusal) = known
        && route.needs_token
    {
        return Err(refused(refusal));
    }
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let body = match route.method {
        Method::Get => String::new(),
        Method::Post => whole(body, &parts.headers, shared).await?,
    };
    Ok(Asked { path, query, body, last_event_id: text("last-event-id"), is_known: known.is_ok() })
}

/// Reads a body, within the bounds of size and time.
async fn whole(body: Body, headers: &HeaderMap, shared: &Shared) -> Result<String, Response> {
    let length =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let most = shared.limits.body;
    let too_large =
        || failure(StatusCode::PAYLOAD_TOO_LARGE, &format!("the body has more than {most} bytes"));
    if length.is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let read = async {
        let _permit = match length {
            Some(length) if length <= LARGE => None,
            _ => shared.large.acquire().await.ok(),
        };
        axum::body::to_bytes(body, most).await
    };
    let bytes = match timeout(shared.limits.patience, read).await {
        Err(_) => return Err(failure(StatusCode::REQUEST_TIMEOUT, "the body did not come in time")),
        // Too long, or the program went away.
        Ok(Err(_)) => return Err(too_large()),
        Ok(Ok(bytes)) => bytes,
    };
    String::from_utf8(bytes.into()).map_err(|_| failure(StatusCode::BAD_REQUEST, "the body is no UTF-8"))
}

async fn answer(route: &'static Route, asked: Asked, shared: &Arc<Shared>) -> Response {
    let server = Arc::clone(&shared.server);
    match route.call {
        Call::Stream => stream(asked, shared).await,
        Call::Json(call) => {
            let answered = tokio::task::spawn_blocking(move || call(&server, &asked)).await;
            finished(answered, |value| json_response(StatusCode::OK, &value))
        }
        Call::Text(call) => {
            let answered = tokio::task::spawn_blocking(move || call(&server, &asked)).await;
            finished(answered, |text| {
                with_type(StatusCode::OK, "text/plain; charset=utf-8", Body::from(text))
            })
        }
    }
}

fn finished<T>(
    answered: Result<Result<T, Failed>, tokio::task::JoinError>,
    respond: impl FnOnce(T) -> Response,
) -> Response {
    match answered {
        Ok(Ok(value)) => respond(value),
        Ok(Err(error)) => {
            let status = match &error {
                Failed::Wrong(_) => StatusCode::BAD_REQUEST,
                Failed::Missing(_) => StatusCode::NOT_FOUND,
                Failed::NoRoom => StatusCode::INSUFFICIENT_STORAGE,
                Failed::Store(store::Error::Busy | store::Error::Locked(_)) => {
                    StatusCode::SERVICE_UNAVAILABLE
                }
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            failure(status, &base::log::safe(&with_causes(&error)))
        }
        Err(_) => failure(StatusCode::INTERNAL_SERVER_ERROR, "the request could not be answered"),
    }
}

/// What a listener still gets, and whom it listens to.
struct Listening {
    shared: Arc<Shared>,
    waiting: VecDeque<Event>,
    receiver: tokio::sync::broadcast::Receiver<Event>,
    /// The last event that it has.
    last: u64,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.shared.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn stream(asked: Asked, shared: &Arc<Shared>) -> Response {
    if shared.listeners.fetch_add(1, Ordering::Relaxed) >= shared.limits.listeners {
        shared.listeners.fetch_sub(1, Ordering::Relaxed);
        return failure(StatusCode::SERVICE_UNAVAILABLE, "too many programs listen already");
    }
    let after = asked.last_event_id.as_deref().or_else(|| asked.query("lastEventId")).map(str::to_owned);
    let joined = shared.server.feed.join(after.as_deref());
    let mut listening = Listening {
        shared: Arc::clone(shared),
        waiting: VecDeque::new(),
        receiver: joined.receiver,
        last: joined.last,
    };
    let (server, missed) = (Arc::clone(&shared.server), joined.missed);
    let asked_for = tokio::task::spawn_blocking(move || {
        let missed = missed.and_then(|missed| keeper::as_they_are(&server, missed));
        (missed, rows::projects(&server, &Asked::default()))
    });
    let (missed, projects) = match asked_for.await {
        Ok((missed, projects)) => (missed, projects.ok()),
        Err(_) => (None, None),
    };
    let is_replayed = missed.is_some();
    listening.waiting = missed.unwrap_or_default();
    let mut load = projects.unwrap_or_else(|| json!({}));
    load["type"] = "initial_load".into();
    let now = Timestamp::now().millis();
    let greet = |mut data: Value| {
        data["timestamp"] = now.into();
        // Without an id, so that the last one that the listener saw stays the one that it names.
        format!("data: {data}\n\n")
    };
    let mut greeting = greet(json!({"type": "connected", "replayed": is_replayed}));
    if !is_replayed {
        greeting += &greet(load);
    }
    greeting += &greet(keeper::status(&shared.server));
    let first = stream::once(async move { Ok::<_, Infallible>(greeting) });
    let rest = stream::unfold(listening, |mut listening| async move {
        let lines = next(&mut listening).await?;
        Some((Ok(lines), listening))
    });
    let mut response = with_type(StatusCode::OK, "text/event-stream", Body::from_stream(first.chain(rest)));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn next(listening: &mut Listening) -> Option<String> {
    let shared = Arc::clone(&listening.shared);
    let feed: &Feed = &shared.server.feed;
    if let Some(event) = listening.waiting.pop_front() {
        return Some(feed.lines(&event));
    }
    loop {
        if shared.server.is_over.load(Ordering::Relaxed) {
            return None;
        }
        match timeout(HEARTBEAT, listening.receiver.recv()).await {
            Err(_) => return Some(": alive\n\n".to_owned()),
            Ok(Ok(event)) if event.number > listening.last => return Some(feed.lines(&event)),
            Ok(Ok(_)) => {}
            // A listener that is too slow is cut off; with `Last-Event-ID` it gets what it missed.
            Ok(Err(RecvError::Lagged(_) | RecvError::Closed)) => return None,
        }
    }
}

fn refused(refusal: Refusal) -> Response {
    let status = match refusal {
        Refusal::Token => StatusCode::UNAUTHORIZED,
        Refusal::Host | Refusal::Origin => StatusCode::FORBIDDEN,
    };
    let mut response = failure(status, refusal.reason());
    if refusal == Refusal::Token {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// Answers a request that did not succeed. What was not read of its body is not read any more.
fn failure(status: StatusCode, reason: &str) -> Response {
    json_response(status, &json!({"error": reason}))
}

fn json_response(status: StatusCode, value: &Value) -> Response {
    with_type(status, "application/json", Body::from(value.to_string()))
}

fn with_type(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn preflight() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    let allowed = HeaderValue::from_static("authorization, content-type, last-event-id, x-wyren-token");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    response
}

/// Lets a page of this machine read the answer; it was checked before.
fn allowing(mut response: Response, origin: Option<&HeaderValue>) -> Response {
    if let Some(origin) = origin {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    response
}
