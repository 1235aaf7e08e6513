//! What every part of Wyren stands on: paths, files, locks, time, project identity, settings, and the
//! treatment of text that is secret, private or someone else's.
//!
//! Nothing here knows the hook protocol, git objects, SQLite or a model. Hot hooks link this crate, so
//! every dependency is weighed; the TOML half of the configuration is behind the feature `config`.

pub mod bytes;
#[cfg(feature = "config")]
pub mod config;
pub mod detached;
pub mod digest;
pub mod env;
pub mod files;
mod git_config;
pub mod glob;
pub mod lock;
pub mod paths;
pub mod privacy;
pub mod project;
pub mod redact;
pub mod sanitize;
pub mod settings;
pub mod time;

pub use env::Env;
pub use paths::Paths;
pub use time::Timestamp;
