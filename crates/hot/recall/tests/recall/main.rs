//! The cache and the two hooks that read it.

mod cache;
mod prompts;
mod reads;
mod support;
