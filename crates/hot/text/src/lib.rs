//! Text that is secret, private or written by others: redaction, privacy tags, sanitizing.
//!
//! Pure functions without files or environment; everything that stores, sends or shows text goes through here first.

pub mod bytes;
pub mod privacy;
pub mod redact;
pub mod sanitize;
