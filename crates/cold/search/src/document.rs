//! What is found: one text with what is known about it.

/// What a document is. Its number is part of the index's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// An entry of the journal.
    Entry = 1,
    /// The summary of a turn.
    Summary = 2,
    /// A prompt.
    Prompt = 3,
    /// An entry of a team's memory.
    Memory = 4,
    /// An entry that was removed from a team's memory.
    History = 5,
    /// A lesson.
    Lesson = 6,
    /// A handoff.
    Handoff = 7,
    /// A plan.
    Plan = 8,
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::Entry,
        Self::Summary,
        Self::Prompt,
        Self::Memory,
        Self::History,
        Self::Lesson,
        Self::Handoff,
        Self::Plan,
    ];
}

/// One text with what is known about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// What a program finds it by again: one per document, the same after the index was made anew. At most 255 bytes.
    pub key: String,
    pub kind: Option<Kind>,
    /// The kind of an entry (`fix`), the section of a memory, …: what `--type` is compared with besides the kind's own name.
    pub class: String,
    /// The project's key; empty for what belongs to every project.
    pub project: String,
    pub session: String,
    pub branch: String,
    pub author: String,
    /// Milliseconds since 1970; 0 where it is unknown. Of what has a day and no time, [`noon_of_a_day`] is true: nearly every
    /// zone of the world has that day then.
    pub at: u64,
    /// Paths, relative to the project's root where they are in it.
    pub files: Vec<String>,
    /// The line that it is recognised by; its words weigh more.
    pub title: String,
    /// The rest. A line is a passage: a document is also judged by the best of them.
    pub body: String,
}

/// Says whether a moment is that of a document which has a day and no time.
pub fn noon_of_a_day(at: u64) -> bool {
    const DAY: u64 = 86_400_000;
    at % DAY == DAY / 2
}
