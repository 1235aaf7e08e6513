//! What happens to text that is secret, private or someone else's.

#[path = "text/privacy.rs"]
mod privacy;
#[path = "text/redact.rs"]
mod redact;
#[path = "text/sanitize.rs"]
mod sanitize;

/// How much hostile text a test tries. At this size quadratic time shows as a test that does not end.
const HOSTILE_BYTES: usize = if cfg!(debug_assertions) { 200_000 } else { 5_000_000 };
