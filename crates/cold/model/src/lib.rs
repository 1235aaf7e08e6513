//! Asking a language model: one way, metered, bounded, optional.
//!
//! A caller describes its question as a [`Request`] and gives it to an [`Asker`]. The asker takes secrets out, reserves
//! what the question may cost in the [`Ledger`], asks a [`Provider`], validates the answer against the caller's
//! [`Schema`] and settles what it did cost. Whatever goes wrong on the way is an [`Outcome::Unavailable`]: the caller
//! then takes the path that needs no model.
//!
//! This crate does not know the purpose of a call, and is the only one that calls a model.

mod asker;
mod child;
pub mod embeddings;
pub mod ledger;
mod money;
mod options;
mod provider;
mod schema;

pub use asker::{Asker, Outcome, Reason};
pub use embeddings::Embeddings;
pub use ledger::{Budget, Exhausted, Ledger, Scope};
pub use money::{Money, Price};
pub use options::Options;
pub use provider::api::MessagesApi;
pub use provider::cli::Cli;
pub use provider::openai::OpenAiCompatible;
pub use provider::scripted::{SCRIPT_VARIABLE, Scripted};
pub use provider::{Answer, Bill, Error, Limits, Provider, Reply, Request, Usage};
pub use schema::{Schema, Unsupported, Violation};
