//! The memory from outside: the format, changes, merges, and the texts for a session.

mod editing;
mod format;
mod history;
mod injecting;
mod merging;
mod properties;
mod telling;

use base::Timestamp;
use memory::{Authors, BroadcastFile, Delta, Frame, Injection, Memory, Update};
use text::sanitize::Fence;

/// Returns the memory with a title and the given sections, each a name and the lines below it.
fn memory(sections: &[(&str, &[&str])]) -> Memory {
    let mut text = String::from("# Wyren Memory\n");
    for (name, lines) in sections {
        text.push_str(&format!("\n## {name}\n\n"));
        lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    Memory::parse(&text)
}

/// Returns a memory of decisions.
fn decisions(lines: &[&str]) -> Memory {
    memory(&[("Decisions", lines)])
}

/// A moment of 2026.
const NOW: Timestamp = Timestamp::from_millis(1_794_787_200_000);

/// The word of the fences.
const WORD: &str = "5ec4e75ec4e70000";

/// Returns the text for a new session, of entries without known authors.
fn inject(memory: &Memory, files: &[BroadcastFile<'_>], budget: usize) -> Injection {
    let (fence, authors) = (Fence::new(WORD), Authors::default());
    memory::inject(memory, files, budget, Frame { fence: &fence, authors: &authors, now: NOW })
}

/// Returns the live update, of entries without known authors.
fn render(delta: &Delta, max_bytes: usize) -> Update {
    render_of(delta, max_bytes, &Authors::default())
}

fn render_of(delta: &Delta, max_bytes: usize, authors: &Authors) -> Update {
    delta.render(max_bytes, Frame { fence: &Fence::new(WORD), authors, now: NOW })
}

/// Returns every entry as `Section: text`.
fn entries(memory: &Memory) -> Vec<String> {
    memory.entries().map(|(section, entry)| format!("{section}: {}", entry.text())).collect()
}
