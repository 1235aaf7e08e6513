//! The hook protocol: the only crate that knows what Claude Code, and other agents in its place, send to a hook and what
//! they take back.
//!
//! A hook is a one-shot program. [`run`] reads its input once, hands it to the hook's body as a typed event,
//! and writes the typed [`Answer`] once. Whatever goes wrong — bad input, an error, a panic, the deadline —
//! ends with exit code 0, the hook's silent answer and one line in the hook log. One answer has another exit code:
//! [`Answer::stop_compaction`].
//!
//! ```no_run
//! use hook::{Answer, SessionStart, Silence};
//!
//! fn main() -> std::process::ExitCode {
//!     hook::run("session-start-greeting", Silence::Empty, |_call: SessionStart, _host| {
//!         Ok(Answer::context("Hello."))
//!     })
//! }
//! ```
//!
//! What an event does not allow does not compile: a session's end takes no context,
//!
//! ```compile_fail,E0277
//! let answer: hook::Answer<hook::SessionEnd> = hook::Answer::context("too late");
//! ```
//!
//! nor does a compaction,
//!
//! ```compile_fail,E0277
//! let answer: hook::Answer<hook::PreCompact> = hook::Answer::context("not here");
//! ```
//!
//! only a tool call that has not happened yet can be denied,
//!
//! ```compile_fail,E0599
//! let answer = hook::Answer::<hook::PostToolUse>::deny(hook::Refuser::Guard, "too late");
//! ```
//!
//! only a tool call that has happened has an output to replace,
//!
//! ```compile_fail,E0599
//! let answer = hook::Answer::<hook::PreToolUse>::silent().updated_tool_output(serde_json::Value::Null);
//! ```
//!
//! only a prompt can be answered in its place,
//!
//! ```compile_fail,E0599
//! let answer = hook::Answer::<hook::Stop>::instead_of_prompt("no prompt here");
//! ```
//!
//! and only a compaction is stopped by the exit code:
//!
//! ```
//! let answer: hook::Answer<hook::PreCompact> = hook::Answer::stop_compaction("for scripts", "for the user");
//! ```
//!
//! ```compile_fail,E0599
//! let answer = hook::Answer::<hook::PreToolUse>::stop_compaction("for scripts", "for the user");
//! ```

mod answer;
mod arena;
mod call;
mod cap;
pub mod caret;
mod claims;
pub mod commands;
mod deadline;
mod dialect;
pub mod event;
mod host;
mod input;
mod platform;
mod run;
mod wiring;

pub use answer::{Afterwards, Answer, PermissionDecision, Refuser};
pub use arena::Arena;
pub use call::{call_key, shown_input};
pub use claims::{Claim, Claims, Keep};
pub use dialect::canonical_input;
pub use event::{
    AroundTool, Event, Notification, PermissionRequest, PostToolUse, PostToolUseFailure, PreCompact,
    PreToolUse, SessionEnd, SessionStart, Stop, StopFailure, SubagentStart, SubagentStop, ToolOutcome,
    TurnEnd, UserPromptSubmit,
};
pub use host::Host;
pub use platform::{AFTER_TOOL, BEFORE_TOOL, Platform};
pub use run::{Outcome, Response, Silence, finish, respond, run};

pub use text::MAX_TEXT_UNITS;
