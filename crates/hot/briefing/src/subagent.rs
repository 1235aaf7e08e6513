//! The beginning of a subagent: the team's memory, in a few lines. A subagent sees its prompt, and nothing of its parent's window.
//!
//! Only what is on disk is read: the parent's session has asked the remote.

use hook::{Host, SubagentStart};
use memory::{Frame, Memory, inject, without_comments};
use place::Folder;

use crate::start;
use crate::view;

/// The most that a subagent gets, the reminders included, in UTF-16 units.
pub const MAX_UNITS: usize = 2_000;

/// Returns the team's memory for a subagent, and `reminders` below it; empty when there is neither.
pub fn text(call: &SubagentStart, host: &Host, reminders: &str) -> String {
    let gap = if reminders.is_empty() { "" } else { "\n\n" };
    let taken = reminders.encode_utf16().count() + gap.len();
    let told = memory(call, host, MAX_UNITS.saturating_sub(taken));
    if told.is_empty() { reminders.to_owned() } else { format!("{told}{gap}{reminders}") }
}

fn memory(call: &SubagentStart, host: &Host, budget: usize) -> String {
    let Some(folder) = Folder::find(&host.cwd(call)) else { return String::new() };
    let Some(memory) = view::read_memory(&folder) else { return String::new() };
    let memory = Memory::parse(&without_comments(&memory));
    if memory.is_blank() {
        return String::new();
    }
    let (fence, authors) = (host.fence(call), start::authors(&folder, host));
    let frame = Frame { fence: &fence, authors: &authors, now: host.started };
    inject(&memory, &[], budget, frame).text
}
