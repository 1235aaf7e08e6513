//! Text that is secret, private or written by others: redaction, privacy tags, sanitizing; and the terms that search knows.
//!
//! Pure functions without files or environment; everything that stores, sends or shows text goes through here first.

pub mod bytes;
pub mod privacy;
pub mod redact;
pub mod sanitize;
pub mod terms;

/// The most UTF-16 units of one text for the model. The client replaces a text over 10,000 by a preview of 2 KB; the
/// distance is for the note that says where the rest is.
pub const MAX_TEXT_UNITS: usize = 9_400;
