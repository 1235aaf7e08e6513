//! Finds mistakes in what happened, and makes lessons of them that wait for a person's word.
//!
//! One detector ([`detect`]) for two sources: observations of the store, and transcripts for the past and for what models
//! report ([`tag`]). What it finds becomes a [`candidate`]: a lesson that passes every check that `wyren lessons add` makes,
//! with examples from real calls, or nothing. This crate asks no model; [`words`] has the questions for one.

pub mod candidate;
pub mod change;
pub mod detect;
pub mod failure;
pub mod general;
pub mod happening;
pub mod keep;
pub mod misuse;
pub mod quiet;
pub mod quoting;
pub mod scan;
pub mod source;
pub mod step;
pub mod style;
pub mod tag;
pub mod words;
