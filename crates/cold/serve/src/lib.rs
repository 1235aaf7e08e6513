//! `wyren serve`: what is remembered, over HTTP, for programs that know claude-mem's worker.
//!
//! It listens on 127.0.0.1 only, and only when the user starts it; nothing else in Wyren needs it. What comes in goes the same
//! way as from a hook ([`capture::sent`]): acknowledged means that it is in the spool.
//!
//! ```text
//! http ──► gate (Host, Origin, token) ──► routes ──► ingest ──► spool
//!                                            │          └────► feed ──► /stream
//!                                            └─────► rows, find ◄── keeper (drains, derives, tells what is new)
//! ```
//!
//! One row in [`routes`] is one route: the router and the OpenAPI document are made of the same table.

mod ask;
mod bring;
mod feed;
mod find;
mod gate;
mod http;
mod ingest;
mod keeper;
pub mod local;
mod number;
mod openapi;
mod routes;
mod rows;
mod server;
pub mod token;

pub use http::{Limits, run};
pub use openapi::document;
pub use routes::{Method, table};
pub use server::Server;

/// claude-mem's port, unless its variable or a flag names another.
pub const DEFAULT_PORT: u16 = 37_777;
/// claude-mem's variable for the port.
pub const PORT_VARIABLE: &str = "CLAUDE_MEM_WORKER_PORT";

/// Why the server could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("could not keep the token in {}", path.display())]
    Token { path: std::path::PathBuf, source: std::io::Error },
    #[error("could not listen on 127.0.0.1:{port}")]
    Listen { port: u16, source: std::io::Error },
    #[error("a server of this data folder is running already")]
    Running,
    #[error("could not start the server")]
    Io(#[from] std::io::Error),
}
