//! Sessions and observations as JSON lines: what `wyren export` writes and `wyren import` reads (`docs/formats.md`).
//!
//! Lines of sessions, prompts and tool calls are as in version 1, with fields added, so that earlier programs read them.
//! Every other kind is a line of version 2: the head, and `data` as it was recorded.

mod export;
mod import;

pub use export::{Export, ExportError, Exported};
pub use import::{BadLine, Import, Imported};

/// The version of a line about a session, a prompt or a tool call.
const FLAT_VERSION: u32 = 1;
/// The version of a line about anything else.
const VERSION: u32 = 2;

/// The type of a line about a session; every other type is a kind of observation.
const SESSION: &str = "session";

/// Fields of a flat line that are no data of the observation: the head, and what is made anew when it is imported.
const HEAD: [&str; 15] = [
    "v",
    "type",
    "session",
    "platform",
    "id",
    "ts",
    "cwd",
    "prompt_id",
    "agent",
    "agent_type",
    "number",
    "prompt",
    "command",
    "failed",
    "data",
];

/// Says whether the data of a kind is flat in its line.
fn is_flat(kind: &str) -> bool {
    matches!(kind, "prompt" | "tool")
}
