//! The limits that this crate keeps to.

/// The longest tool input in a slice, in characters, as in the Node version.
pub const TOOL_INPUT_CHARS: usize = 400;

/// The longest tool result in a slice, in characters, as in the Node version.
pub const TOOL_RESULT_CHARS: usize = 800;

/// The longest prompt or reply in a slice, in characters: a pasted log is not a conversation.
pub const SAID_CHARS: usize = 8_000;

/// The longest compaction summary in a slice, in characters: it repeats what was distilled before.
pub const SUMMARY_CHARS: usize = 4_000;

/// The longest slice, in characters; what does not fit is the next one.
pub const SLICE_CHARS: usize = 120_000;

/// The longest tool input or result in a slice that would be too long otherwise, in characters.
pub const SHED_CHARS: usize = 80;

/// The most of the team's memory that a model is shown, in characters.
pub const MEMORY_CHARS: usize = 40_000;

/// The most tokens of a model's answer.
pub const ANSWER_TOKENS: u32 = 4_096;

/// The longest answer that is looked at, in bytes.
pub const ANSWER_BYTES: usize = 256 * 1024;

/// The most operations in one answer; an answer with more is no distillation.
pub const OPERATIONS: usize = 64;

/// The longest text of an operation, in characters. `memory::hygiene::MAX_ENTRY_CHARS` of it become an entry; more than
/// this was never meant to be one.
pub const OPERATION_CHARS: usize = 1_200;

/// The most different entries that one answer writes.
pub const WRITTEN: usize = 30;

/// The longest field of a summary, in characters.
pub const SUMMARY_FIELD_CHARS: usize = 400;

/// The most messages that one operation may cite.
pub const TURNS: usize = 32;

/// Below this confidence nothing is written.
pub const MIN_CONFIDENCE: f64 = 0.3;

/// The lines of entries in one section above which the memory is over its size.
pub const SECTION_LINES: usize = 30;

/// The lines of `memory.md` above which it is over its size: its title and the sections that distillation writes, headings
/// and blank lines included. What people wrote elsewhere in the file is not counted.
pub const TARGET_LINES: usize = 60;

/// How long a memory is over its size before an entry leaves to make room.
pub const OVER_MILLIS: u64 = 7 * DAY_MILLIS;

/// An entry that is younger does not leave unless another one takes its place.
pub const YOUNG_MILLIS: u64 = 30 * DAY_MILLIS;

/// The most entries that one distillation takes out without anything that code can see to take their place.
pub const UNREPLACED: usize = 2;

pub(crate) const DAY_MILLIS: u64 = 86_400_000;

/// How many lines of distilled entries stay, however much people wrote.
pub const FLOOR_LINES: usize = 15;

/// One distillation removes at most this share of the entries …
pub const REMOVED_SHARE: f64 = 1.0 / 3.0;
/// … or this many, when the memory is small.
pub const REMOVED_FEW: usize = 2;

/// One distillation removes or replaces at most this share of the entries …
pub const TOUCHED_SHARE: f64 = 0.5;
/// … or this many, when the memory is small.
pub const TOUCHED_FEW: usize = 4;

/// The most entries that extraction without a model writes from one slice.
pub const EXTRACTED: usize = 20;
