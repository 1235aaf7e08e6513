//! The server of this data folder, from outside: whether it runs, who has the port, how it starts and ends.
//!
//! ```text
//! serve/token          the token, 0600
//! serve/lock           locked while a server runs
//! serve/running.json   its port and process
//! ```

use crate::{Error, Limits, Server, http, token};
use base::lock::Lock;
use base::{Env, Paths, Timestamp, digest, files, system};
use serde::{Deserialize, Serialize};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a start waits for those who only look whether a server runs: they lock the same file for a moment.
const GLANCE: Duration = Duration::from_millis(300);
/// How long a program on the port may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest answer that is read.
const MAX_ANSWER: u64 = 64 * 1024;
/// How long `stop` waits for the end.
const END: Duration = Duration::from_secs(10);
const MAX_NOTE: usize = 4_096;
const MAX_TABLE: usize = 16 * 1024 * 1024;

/// What a running server notes about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    pub port: u16,
    pub pid: u32,
    pub version: String,
    /// Milliseconds since 1970.
    pub started: u64,
}

/// What is on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The server of this data folder: it proved that it has the token.
    Ours,
    /// A server of Wyren's, of another data folder or user.
    OtherWyren,
    /// Another program.
    Foreign,
    Nothing,
}

pub fn lock_file(paths: &Paths) -> PathBuf {
    paths.data().join("serve/lock")
}

pub fn running_file(paths: &Paths) -> PathBuf {
    paths.data().join("serve/running.json")
}

/// Returns what the server of this data folder noted last; it may have ended since.
pub fn noted(paths: &Paths) -> Option<Running> {
    let note = files::read_capped_if_there(&running_file(paths), MAX_NOTE).ok()??;
    serde_json::from_slice(&note).ok()
}

/// Serves until it is to end. Only one server of a data folder runs at a time.
pub fn serve(
    env: Env,
    paths: Paths,
    port: u16,
    version: &'static str,
    limits: Limits,
    ready: impl FnOnce(&Running),
    ended: impl Future<Output = ()>,
) -> Result<(), Error> {
    let Some(lock) = Lock::exclusive(&lock_file(&paths), GLANCE)? else { return Err(Error::Running) };
    // Under the lock: of two that start at once, the one that ends must not leave its own token behind.
    let token = token::ensure(&paths)?;
    let listener = http::listen(port)?;
    // The system's choice, where 0 was asked for.
    let port = listener.local_addr()?.port();
    let running = Running {
        port,
        pid: std::process::id(),
        version: version.to_owned(),
        started: Timestamp::now().millis(),
    };
    let note = serde_json::to_vec(&running).map_err(std::io::Error::from)?;
    files::write_atomic(&running_file(&paths), &note)?;
    let server = Server::new(env, paths.clone(), token, port, version);
    ready(&running);
    let served = http::run(server, listener, limits, ended);
    let _ = files::remove_if_there(&running_file(&paths));
    drop(lock);
    served
}

/// Looks at what is on a port. The token is not sent: the other side proves that it knows it.
pub fn look(paths: &Paths, port: u16) -> Found {
    let mut bytes = [0; 32];
    let word = match system::random(&mut bytes) {
        Ok(()) => bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
        Err(_) => {
            digest::sha256_hex(format!("{} {}", Timestamp::now().millis(), std::process::id()).as_bytes())
        }
    };
    let answer = match ask(port, "GET", &format!("/api/admin/prove?word={word}"), None) {
        Ok(answer) => answer,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => return Found::Nothing,
        Err(_) => return Found::Foreign,
    };
    let proof = answer["proof"].as_str().unwrap_or_default();
    if proof.is_empty() {
        return Found::Foreign;
    }
    match token::read(paths) {
        Some(token) if token::is_same(proof, &token::proof(&token, &word)) => Found::Ours,
        _ => Found::OtherWyren,
    }
}

/// Ends the server of this data folder, if it runs; returns whether it did.
pub fn stop(paths: &Paths, port: u16) -> Result<bool, std::io::Error> {
    if look(paths, port) != Found::Ours {
        return Ok(false);
    }
    ask(port, "POST", "/api/admin/shutdown", token::read(paths).as_deref())?;
    let until = Instant::now() + END;
    while is_running(paths)? {
        if Instant::now() >= until {
            return Err(std::io::Error::other("the server did not end in time"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(true)
}

/// Returns whether a server of this data folder runs, by its lock.
pub fn is_running(paths: &Paths) -> Result<bool, std::io::Error> {
    let file = match files::open_regular(&lock_file(paths)) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match system::try_lock_shared(&file) {
        Ok(()) => {
            system::unlock_closing(&file);
            Ok(false)
        }
        Err(std::fs::TryLockError::WouldBlock) => Ok(true),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Asks a program on a port of this machine; what is no JSON is `null`.
fn ask(
    port: u16,
    method: &str,
    path: &str,
    token: Option<&str>,
) -> Result<serde_json::Value, std::io::Error> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let token = token.map(|token| format!("X-Wyren-Token: {token}\r\n")).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{token}Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    let mut answer = Vec::new();
    let until = Instant::now() + PATIENCE;
    let mut part = [0; 4_096];
    while (answer.len() as u64) < MAX_ANSWER && Instant::now() < until {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&part[..read]),
            Err(error) if answer.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    Ok(serde_json::from_str(body.trim()).unwrap_or_default())
}

/// Returns the name and number of the process that listens on a port, where the system says so: on Linux, and for processes of
/// the same user.
pub fn listener_of(port: u16) -> Option<(String, u32)> {
    // One that listens on all addresses of both kinds is in the second table alone.
    let socket = ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| socket_in(table, port))?;
    let socket = format!("socket:[{socket}]");
    for process in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(number) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(files) = std::fs::read_dir(process.path().join("fd")) else { continue };
        let has = files.flatten().any(|file| {
            std::fs::read_link(file.path()).is_ok_and(|target| target.to_string_lossy() == *socket)
        });
        if has {
            let name = files::read_text_capped(&process.path().join("comm"), MAX_NOTE).unwrap_or_default();
            return Some((text::sanitize::one_line(name.trim(), 40), number));
        }
    }
    None
}

/// Returns the number of the socket that listens on a port, from a table of the system's.
fn socket_in(table: &str, port: u16) -> Option<String> {
    let table = files::read_text_capped(Path::new(table), MAX_TABLE).ok()?;
    let wanted = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let mut cells = line.split_whitespace();
        let (local, state) = (cells.nth(1)?, cells.nth(1)?);
        // 0A: it listens.
        (local.ends_with(&wanted) && state == "0A").then(|| cells.nth(5).map(str::to_owned))?
    })
}
