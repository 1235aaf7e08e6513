//! What a model is asked: the instruction, the memory with the ids of its entries, the slice.

use memory::Memory;
use serde_json::{Value, json};
use text::{redact, sanitize};

use crate::budget::MEMORY_CHARS;
use crate::entry::{SECTIONS, entries, id_of};
use crate::operation;
use crate::slice::Slice;
use crate::summary;
use crate::text::clean;

const INSTRUCTION: &str = include_str!("../prompts/distill.md");
const SUMMARY_INTRODUCTION: &str = include_str!("../prompts/summarise.md");
const SUMMARY_INSTRUCTION: &str = include_str!("../prompts/summary.md");
const ANSWER_WITH_BOTH: &str =
    "Answer with one JSON object `{\"operations\": […], \"summary\": {…}}` and nothing else.\n";
const ANSWER_WITH_SUMMARY: &str = "Answer with one JSON object `{\"summary\": {…}}` and nothing else.\n";

/// The text for a memory without entries, as in the Node version.
const NO_MEMORY: &str = "(empty — first distillation)";

/// The longest entry that is shown, in characters.
const SHOWN_CHARS: usize = 600;

/// A question to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The task.
    pub system: String,
    /// The memory and the slice.
    pub prompt: String,
    /// What the answer has to look like, as `model::Schema` takes it.
    pub schema: Value,
}

/// Returns what a model is asked about the slice.
pub fn question(memory: &Memory, slice: &Slice) -> Question {
    let session: String = slice.session.chars().take(8).collect();
    let prompt = format!(
        "<session-id>{}</session-id>\n\n<existing-memory>\n{}\n</existing-memory>\n\n<transcript-slice>\n{}\n</transcript-slice>\n",
        clean(&session),
        shown(memory),
        slice.render(),
    );
    let system = format!("{INSTRUCTION}\n{SUMMARY_INSTRUCTION}\n{ANSWER_WITH_BOTH}");
    Question { system, prompt, schema: operation::schema() }
}

/// Returns what a model is asked about a slice for which there is no memory: what it was about, and nothing else.
pub fn summary_question(slice: &Slice) -> Question {
    let prompt = format!("<transcript-slice>\n{}\n</transcript-slice>\n", slice.render());
    let schema =
        json!({"type": "object", "properties": {"summary": summary::schema()}, "required": ["summary"]});
    let system = format!("{SUMMARY_INTRODUCTION}\n{SUMMARY_INSTRUCTION}\n{ANSWER_WITH_SUMMARY}");
    Question { system, prompt, schema }
}

/// Returns the entries by section, each behind its id. When there are too many, the last of each section stay.
fn shown(memory: &Memory) -> String {
    let mut lines: Vec<(&'static str, String)> = entries(memory)
        .map(|(section, entry)| {
            let line =
                sanitize::one_line(&redact::redact(&clean(entry.raw().trim_start_matches('-'))), SHOWN_CHARS);
            (section, format!("- [{}] {line}", id_of(section, entry)))
        })
        .collect();
    if lines.is_empty() {
        return NO_MEMORY.to_owned();
    }
    let room_per_section = MEMORY_CHARS / SECTIONS.len();
    let mut shown = String::new();
    for name in SECTIONS {
        let of_section: Vec<String> =
            lines.extract_if(.., |(section, _)| *section == name).map(|(_, line)| line).collect();
        if of_section.is_empty() {
            continue;
        }
        let mut room = room_per_section;
        let fits = of_section.iter().rev().take_while(|line| {
            let length = line.chars().count() + 1;
            let fits = length <= room;
            room = room.saturating_sub(length);
            fits
        });
        let left_out = of_section.len() - fits.count();
        shown.push_str(&format!("## {name}\n"));
        if left_out > 0 {
            shown.push_str(&format!("({left_out} older entries left out)\n"));
        }
        for line in &of_section[left_out..] {
            shown.push_str(line);
            shown.push('\n');
        }
        shown.push('\n');
    }
    shown.trim_end().to_owned()
}
