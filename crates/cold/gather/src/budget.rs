//! How much a handoff has. It is made to be read: by a person in minutes, by a model in some thousand tokens.

/// Where less has happened since the last compaction, so many turns are read.
pub const TURNS: usize = 8;
/// How far back from the end those turns are looked for, in bytes.
pub const BACK_BYTES: u64 = 4 * 1024 * 1024;
/// The most bytes that are read, from the turn on that begins within them.
pub const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// How far from the start the first prompt is looked for, in bytes.
pub const FIRST_BYTES: u64 = 1024 * 1024;

/// The most prompts, the first and the last of them, and characters of each. The first and the last, by which the reader knows
/// what is wanted, have more.
pub const PROMPTS: usize = 40;
pub const PROMPT_CHARS: usize = 800;
pub const WHOLE_PROMPT_CHARS: usize = 6_000;
/// The most turns whose last reply is kept, the last of them, and characters of each. The last has more.
pub const REPLIES: usize = 30;
pub const REPLY_CHARS: usize = 900;
pub const LAST_REPLY_CHARS: usize = 4_000;
/// The most commands, and characters of each.
pub const COMMANDS: usize = 60;
pub const COMMAND_CHARS: usize = 1_500;
/// The most calls of tools that MCP servers have, and characters of each.
pub const SERVER_CALLS: usize = 15;
pub const INPUT_CHARS: usize = 600;
/// The most files that were changed, that commits made, and that were read.
pub const CHANGED_FILES: usize = 60;
pub const CREATED_FILES: usize = 20;
pub const READ_FILES: usize = 20;
/// How many of the last calls are looked through for what failed.
pub const RECENT_CALLS: usize = 3_000;
/// The most dead ends, errors of each, and characters of an error.
pub const DEAD_ENDS: usize = 30;
pub const ERRORS: usize = 4;
pub const ERROR_CHARS: usize = 220;
/// The most ids, and characters of the line that each is in.
pub const IDS: usize = 30;
pub const ID_LINE_CHARS: usize = 160;
/// How much of an answer of a subagent or the user is kept, in characters.
pub const ANSWER_CHARS: usize = 400;
/// The most commands in the background.
pub const TASKS: usize = 15;
/// The most remarks between calls, the last of them, and characters of each.
pub const REMARKS: usize = 40;
pub const REMARK_CHARS: usize = 600;
/// A reply of so many words that names nothing is no report.
pub const SHORT_REPLY_WORDS: usize = 6;
/// The most decisions, and the last prompts and replies that they are looked for in.
pub const DECISIONS: usize = 30;
pub const JUDGED: usize = 300;
/// The longest plan, in characters.
pub const PLAN_CHARS: usize = 20_000;
/// The longest thread, in bytes.
pub const THREAD_BYTES: usize = 512 * 1024;
/// How much of one message is in the thread, and how much of a tool's output, in characters.
pub const SAID_CHARS: usize = 20_000;
pub const OUTPUT_CHARS: usize = 1_000;
/// What a model is given at most of the thread, in characters: the end of it.
pub const QUESTION_CHARS: usize = 60_000;
