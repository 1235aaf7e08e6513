//! The limits that this crate keeps to.

/// How much is read from a file at once when it is streamed forwards: small enough to stay in the second-level cache
/// between the read and the search, which was measured to be quicker than 1 MiB.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// How much is read at once from the end of a file; enough for a handful of records, so that a hook that wants
/// the last one pays for one small read.
pub const TAIL_CHUNK_BYTES: usize = 64 * 1024;

/// How far back from the end of a file a hook looks for what the model said last: more than a turn's last records have,
/// and a fixed price however large the file is.
pub const MAX_TAIL_BYTES: u64 = 512 * 1024;

/// How much is read at once from the end of a file for the last usage: it is in the last record of most tool calls.
pub const USAGE_CHUNK_BYTES: usize = 16 * 1024;

/// How far back from the end of a file the last usage is looked for. Every tool call pays for it; one whose message is further
/// back, behind the results of calls that ran beside it, leaves it to the next.
pub const MAX_USAGE_TAIL_BYTES: u64 = 64 * 1024;

/// The longest line that is parsed; a longer one is skipped and counted, which is what keeps memory flat.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// How many folders deep transcripts are looked for: `<project>/<session>/subagents/` needs three, the rest is
/// room for a layout that nests one step further.
pub const MAX_DEPTH: usize = 5;

/// The most memory that a scan may take, however large the tree is.
pub const MAX_SCAN_MEMORY_BYTES: u64 = 64 * 1024 * 1024;

// A chunk that could hold an over-long line would need a length check on every line instead of on the first.
const _: () = assert!(CHUNK_BYTES <= MAX_LINE_BYTES);
