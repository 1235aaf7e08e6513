//! Paths, files, locks, time, project identity, settings and the hook log: what every other crate uses.
//!
//! Nothing here knows the hook protocol, git objects, SQLite or a model. Hooks link this crate, so every dependency is
//! weighed; `config` has the TOML half of the settings.

pub mod allowed;
pub mod detached;
pub mod digest;
pub mod env;
pub mod error;
pub mod files;
mod git_config;
pub mod glob;
pub mod leave;
pub mod left;
pub mod limits;
pub mod lock;
pub mod log;
pub mod notice;
pub mod owner;
pub mod paths;
pub mod project;
pub mod secret;
pub mod settings;
pub mod system;
pub mod time;
pub mod trust;
#[cfg(all(panic = "abort", target_env = "musl"))]
mod unwind;

pub use env::Env;
pub use paths::Paths;
pub use time::Timestamp;
