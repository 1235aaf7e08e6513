//! Search: everything that is remembered, found by what it is about.
//!
//! [`index`] keeps which words are in which documents, in files that can be made anew at any time, and ranks them;
//! it stores no text and knows nothing of where documents come from. [`meaning`] finds what has other words, where a server for that
//! is set up. [`sources`] turns entries, summaries, prompts, the
//! team's memory and lessons into documents, and keeps the index in step with them.

pub mod document;
pub mod highlight;
pub mod index;
mod mapped;
pub mod meaning;
pub mod query;
pub mod sources;
pub mod transcripts;

pub use document::{Document, Kind, noon_of_a_day};
pub use query::{Filter, Hit, Query};
