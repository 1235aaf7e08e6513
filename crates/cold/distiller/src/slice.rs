//! The part of a transcript that was not distilled yet, as messages with their numbers.
//!
//! A message is what a person, the model or a tool said in one record that is shown. Messages are counted from the start of
//! the *whole* transcript; the tag of an entry and the question to a model write that number as "turn 212". Hook output,
//! reminders, subagents and thoughts are no messages. A message that is wholly private has a number and shows nothing, and
//! so has one of Wyren itself; of a call that was refused, only that it was.
//!
//! A slice has a longest length. What tools were given and put out is cut much shorter first, the oldest first; when that
//! is not enough, the slice ends there and the next one goes on. What a person said is never passed over.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use text::privacy;
use transcript::record::Body;
use transcript::{Act, Conversation, Error, Mark, Reader, Record, Scope, tail};

use crate::budget::{
    SAID_CHARS, SHED_CHARS, SLICE_CHARS, SUMMARY_CHARS, TOOL_INPUT_CHARS, TOOL_RESULT_CHARS,
};
use crate::machinery;
use crate::text::{clean_cut, shorten};

/// Tools by which a person speaks: what they put up for decision, and what was answered, is not shed.
pub(crate) const ASKING_TOOLS: &[&str] = &["ExitPlanMode", "AskUserQuestion"];

/// How the beginning of a slice was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// There was no mark: the slice is the whole transcript.
    Start,
    /// By the record that the mark names.
    Uuid,
    /// By the offset; the mark names no record.
    Offset,
    /// By the number of the message: the record that the mark names is not there.
    Message,
}

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A person, or a tool that answers.
    User,
    Assistant,
}

/// A piece of a message, clean and cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// What a person or the model said.
    Said(String),
    /// A slash command whose text went to the model, with its arguments.
    Command(String),
    /// A shell command that a person ran.
    Shell(String),
    Image,
    /// A person stopped the model.
    Interruption,
    /// The model called a tool.
    Call {
        /// What the result refers to.
        id: String,
        name: String,
        /// Its input, as JSON.
        input: String,
    },
    Result {
        /// The call that it answers.
        id: String,
        is_error: bool,
        output: String,
    },
    /// A call did not run, because a person, the client or a hook refused it.
    Refused {
        /// The call.
        id: String,
        /// What the person said about it; mostly nothing.
        comment: String,
    },
    /// Wyren itself: one of its commands, a call of its program with the result, or a call that was refused.
    Machinery,
    /// What a compaction left of everything before.
    Summary(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number in the whole transcript, counted from 1.
    pub number: u64,
    pub role: Role,
    pub parts: Vec<Part>,
}

impl Message {
    /// Returns the text of a person or the model, without tools and summaries.
    pub fn said(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Said(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns whether a person said something in it.
    pub fn is_of_a_person(&self) -> bool {
        let is_typed = |part: &Part| matches!(part, Part::Said(_) | Part::Command(_) | Part::Shell(_));
        self.role == Role::User && self.parts.iter().any(is_typed)
    }

    /// Returns the message as a model reads it; nothing when all of it is private.
    pub fn render(&self) -> Option<String> {
        let lines: Vec<String> =
            self.parts.iter().map(Part::render).filter(|line| !line.is_empty()).collect();
        let role = match self.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        (!lines.is_empty()).then(|| format!("[turn {}, {role}]\n{}", self.number, lines.join("\n")))
    }
}

impl Part {
    fn render(&self) -> String {
        match self {
            Self::Said(text) | Self::Command(text) => text.clone(),
            Self::Shell(command) => format!("[shell] {command}"),
            Self::Image => "[image omitted]".to_owned(),
            Self::Interruption => "[interrupted by the user]".to_owned(),
            Self::Call { name, input, .. } => format!("[tool_use {name}] {input}"),
            Self::Result { is_error: false, output, .. } => format!("[tool_result] {output}"),
            Self::Result { is_error: true, output, .. } => format!("[tool_result ERROR] {output}"),
            Self::Refused { comment, .. } if comment.is_empty() => "[call refused]".to_owned(),
            Self::Refused { comment, .. } => format!("[call refused; the user said] {comment}"),
            Self::Machinery => String::new(),
            Self::Summary(text) if text.is_empty() => String::new(),
            Self::Summary(text) => format!("[compaction summary of earlier turns, nothing new]\n{text}"),
        }
    }

    /// Cuts what a tool was given or put out to a few words, unless a person spoke by it.
    fn shed(&mut self, asking: &HashSet<String>) {
        match self {
            Self::Call { id, input: text, .. } if !asking.contains(id) => shorten(text, SHED_CHARS),
            Self::Result { id, output: text, .. } if !asking.contains(id) => shorten(text, SHED_CHARS),
            _ => {}
        }
    }

    fn of(act: &Act<'_>) -> Vec<Self> {
        match act {
            Act::Prompt { text, images } => {
                let mut parts = vec![Self::Said(clean_cut(text, SAID_CHARS))];
                parts.extend(std::iter::repeat_n(Self::Image, *images));
                parts
            }
            Act::Command { name, .. } if machinery::is_our_command(name) => vec![Self::Machinery],
            Act::Command { name, arguments, .. } => {
                vec![Self::Command(clean_cut(&format!("{name} {arguments}"), SAID_CHARS))]
            }
            Act::Shell(command) if machinery::runs_us(command) => vec![Self::Machinery],
            Act::Shell(command) => vec![Self::Shell(clean_cut(command, TOOL_INPUT_CHARS))],
            Act::Interruption => vec![Self::Interruption],
            Act::Reply(text) => vec![Self::Said(clean_cut(text, SAID_CHARS))],
            Act::ToolUse { id, name, input } => vec![Self::Call {
                id: (*id).to_owned(),
                name: clean_cut(name, TOOL_INPUT_CHARS),
                input: clean_cut(input.unwrap_or("{}"), TOOL_INPUT_CHARS),
            }],
            Act::ToolResult { tool_use_id, is_error, output } => {
                let id = (*tool_use_id).to_owned();
                vec![match machinery::refusal(*is_error, output) {
                    Some(comment) => Self::Refused { id, comment: clean_cut(comment, TOOL_RESULT_CHARS) },
                    None => {
                        Self::Result { id, is_error: *is_error, output: clean_cut(output, TOOL_RESULT_CHARS) }
                    }
                }]
            }
            Act::Summary(text) => vec![Self::Summary(clean_cut(text, SUMMARY_CHARS))],
            Act::Thinking(_) | Act::Compaction(_) => Vec::new(),
        }
    }
}

/// A part of a transcript.
#[derive(Debug, Clone)]
pub struct Slice {
    /// The session, as its records name it; else the name of the file.
    pub session: String,
    /// The messages, the oldest first.
    pub messages: Vec<Message>,
    /// How many characters of tool inputs and results were left out because the slice was too long.
    pub left_out: u64,
    /// Whether the slice ends before the transcript does, because it would be too long: `next` is where it goes on.
    pub has_more: bool,
    /// Lines that are no records.
    pub bad_lines: u64,
    /// How the beginning was found.
    pub anchor: Anchor,
    /// Where the next slice begins.
    pub next: Mark,
    /// The last prompt of it, as the client names it.
    pub prompt_id: Option<String>,
    /// When its last message was written, RFC 3339 as the client wrote it.
    pub ended_at: Option<String>,
}

impl Slice {
    /// Reads what follows `since`; everything without one.
    ///
    /// A mark whose record is unknown means "since the message it names", never the whole transcript again.
    pub fn read(path: &Path, since: Option<&Mark>) -> Result<Self, Error> {
        Self::read_without(path, since, &|_| false)
    }

    /// As [`Self::read`], but without the prompts whose ids `is_hidden` names and what was done under them: as if they were private.
    pub fn read_without(
        path: &Path,
        since: Option<&Mark>,
        is_hidden: &dyn Fn(&str) -> bool,
    ) -> Result<Self, Error> {
        let start = Start::find(path, since)?;
        let mut collector = Collector::new(&start, is_hidden);
        let progress =
            Reader::new().read(path, start.offset, |offset, record| collector.take(offset, record))?;
        let unreadable = progress.bad_lines + progress.overlong_lines;
        let mut slice = collector.finish(path, progress.offset, unreadable);
        slice.drop_summaries_of_private(path, progress.offset, is_hidden)?;
        slice.anchor = start.anchor;
        if slice.next.uuid.is_none() {
            slice.next.uuid = since.and_then(|mark| mark.uuid.clone());
        }
        Ok(slice)
    }

    /// Takes out summaries of compactions where something before them was private: they tell of that, too.
    fn drop_summaries_of_private(
        &mut self,
        path: &Path,
        end: u64,
        is_hidden: &dyn Fn(&str) -> bool,
    ) -> Result<(), Error> {
        let is_summary = |part: &Part| matches!(part, Part::Summary(text) if !text.is_empty());
        if !self.messages.iter().any(|message| message.parts.iter().any(is_summary)) {
            return Ok(());
        }
        let mut was_private = false;
        Reader::new().read(path, 0, |offset, record| {
            let acts = Conversation::new(Scope::Main).steps(record).map(|step| step.act);
            was_private |= offset < end && acts.into_iter().any(|act| is_private(&act, record, is_hidden));
        })?;
        if was_private {
            let parts = self.messages.iter_mut().flat_map(|message| &mut message.parts);
            parts.filter(|part| is_summary(part)).for_each(|part| *part = Part::Summary(String::new()));
        }
        Ok(())
    }

    /// Returns whether there is nothing to distill.
    pub fn is_empty(&self) -> bool {
        self.messages.iter().all(|message| message.render().is_none())
    }

    /// Returns whether a tool was called.
    pub fn has_calls(&self) -> bool {
        self.messages.iter().flat_map(|message| &message.parts).any(|part| matches!(part, Part::Call { .. }))
    }

    /// Returns the slice as a model reads it.
    pub fn render(&self) -> String {
        let rendered: Vec<String> = self.messages.iter().filter_map(Message::render).collect();
        rendered.join("\n\n")
    }

    pub fn message(&self, number: u64) -> Option<&Message> {
        let at = self.messages.binary_search_by_key(&number, |message| message.number).ok()?;
        self.messages.get(at)
    }
}

/// Where reading begins, and what is only counted on the way.
struct Start {
    anchor: Anchor,
    /// Where reading begins.
    offset: u64,
    /// The last message before `offset`.
    message: u64,
    /// Records before this offset are only counted.
    from_offset: u64,
    /// Messages up to this one are only counted.
    after_message: u64,
    /// Up to here, records without a uuid belong to the slice before.
    seen_until: u64,
}

impl Start {
    fn find(path: &Path, since: Option<&Mark>) -> Result<Self, Error> {
        let whole = Self {
            anchor: Anchor::Start,
            offset: 0,
            message: 0,
            from_offset: 0,
            after_message: 0,
            seen_until: 0,
        };
        let Some(mark) = since.filter(|mark| **mark != Mark::default()) else { return Ok(whole) };
        if let Some(uuid) = &mark.uuid {
            // The search runs backwards, so it costs what is new, which has to be read anyway. That is why the offset
            // is not needed here: it only tells which records without a uuid were seen.
            if let Some(end) = tail::offset_after(path, uuid)? {
                let seen_until = mark.offset.unwrap_or(end);
                let found = Self { anchor: Anchor::Uuid, from_offset: end, seen_until, ..whole };
                return Ok(match mark.message {
                    // Without a known number, messages are counted from the start.
                    0 => found,
                    message => Self { offset: end, message, ..found },
                });
            }
        } else if let Some(offset) = mark.offset.filter(|offset| begins_line(path, *offset)) {
            return Ok(Self { anchor: Anchor::Offset, offset, message: mark.message, ..whole });
        }
        Ok(Self { anchor: Anchor::Message, after_message: mark.message, ..whole })
    }
}

/// Returns whether a line begins at `offset`, or the file ends there.
fn begins_line(path: &Path, offset: u64) -> bool {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let Some(before) = offset.checked_sub(1) else { return true };
    let mut byte = [0];
    let mut read = || {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(before))?;
        file.read_exact(&mut byte)?;
        Ok::<u64, std::io::Error>(length)
    };
    read().is_ok_and(|length| byte == *b"\n" || length == offset)
}

/// Collects the messages of a slice, record by record.
struct Collector<'h> {
    is_hidden: &'h dyn Fn(&str) -> bool,
    conversation: Conversation,
    message: u64,
    from_offset: u64,
    after_message: u64,
    seen_until: u64,
    session: Option<String>,
    uuid: Option<String>,
    messages: Vec<Message>,
    chars: usize,
    /// How many of the messages were shed already.
    shed: usize,
    left_out: usize,
    /// The calls of tools by which a person speaks.
    asking: HashSet<String>,
    /// The calls of Wyren's own program.
    own: HashSet<String>,
    /// Where the slice ended because it was full.
    end: Option<Mark>,
    /// The position of a fully private prompt, until the next one: everything done for it is private, too.
    private_from: Option<Mark>,
    prompt_id: Option<String>,
    ended_at: Option<String>,
}

impl<'h> Collector<'h> {
    fn new(start: &Start, is_hidden: &'h dyn Fn(&str) -> bool) -> Self {
        Self {
            is_hidden,
            conversation: Conversation::new(Scope::Main),
            message: start.message,
            from_offset: start.from_offset,
            after_message: start.after_message,
            seen_until: start.seen_until,
            session: None,
            uuid: None,
            messages: Vec::new(),
            chars: 0,
            shed: 0,
            left_out: 0,
            asking: HashSet::new(),
            own: HashSet::new(),
            end: None,
            private_from: None,
            prompt_id: None,
            ended_at: None,
        }
    }

    fn take(&mut self, offset: u64, record: &Record<'_>) {
        if self.end.is_some() {
            return;
        }
        if self.session.is_none() {
            self.session = record.session_id.as_deref().map(str::to_owned);
        }
        let before = Mark { uuid: self.uuid.clone(), message: self.message, offset: Some(offset) };
        if let Some(uuid) = record.uuid.as_deref() {
            self.uuid = Some(uuid.to_owned());
        }
        let is_before = offset < self.from_offset;
        if !is_before && offset < self.seen_until {
            match record.uuid {
                // The mark's offset is not of this file.
                Some(_) => self.seen_until = 0,
                None => return,
            }
        }
        let Some(role) = role_of(&record.body) else { return };
        let acts: Vec<Act<'_>> = self.conversation.steps(record).map(|step| step.act).collect();
        self.message += u64::from(acts.iter().any(is_shown));
        if is_before || self.message <= self.after_message {
            return;
        }
        let parts: Vec<Part> =
            acts.iter().filter(|act| is_shown(act)).flat_map(|act| self.parts_of(act)).collect();
        if acts.iter().any(Act::starts_turn) {
            let is_private = parts.iter().all(|part| *part != Part::Machinery && part.render().is_empty())
                || acts.iter().any(|act| is_private(act, record, self.is_hidden));
            // What is typed during a turn lifts no privacy.
            let is_queued = matches!(record.body, Body::Attachment(_));
            if is_private || !is_queued {
                let from = self.private_from.take().filter(|_| is_queued).unwrap_or_else(|| before.clone());
                self.private_from = is_private.then_some(from);
            }
        }
        if !parts.is_empty() && self.private_from.is_none() {
            self.push(Message { number: self.message, role, parts });
            // The first message is taken however long it is, or nothing would ever follow it.
            if self.chars > SLICE_CHARS && self.messages.len() > 1 {
                self.messages.pop();
                self.end = Some(before);
                return;
            }
            let named = |name: &Option<Cow<'_, str>>| name.as_deref().map(str::to_owned);
            self.prompt_id = named(&record.prompt_id).or_else(|| self.prompt_id.take());
            self.ended_at = named(&record.timestamp).or_else(|| self.ended_at.take());
        }
    }

    /// Returns what an act shows, without what Wyren itself did in it.
    fn parts_of(&mut self, act: &Act<'_>) -> Vec<Part> {
        match act {
            Act::ToolUse { id, name, input } if machinery::is_our_call(name, input.unwrap_or_default()) => {
                self.own.insert((*id).to_owned());
                vec![Part::Machinery]
            }
            Act::ToolResult { tool_use_id, .. } if self.own.contains(*tool_use_id) => vec![Part::Machinery],
            act => Part::of(act),
        }
    }

    /// Takes out the calls that the message says were refused: they did nothing. What was put up for decision stays, since
    /// a person has said no to it.
    fn take_out_refused(&mut self, message: &Message) {
        for part in &message.parts {
            let Part::Refused { id: refused, .. } = part else { continue };
            if self.asking.contains(refused) {
                continue;
            }
            let is_it = |part: &&mut Part| matches!(part, Part::Call { id, .. } if id == refused);
            let found = self.messages.iter_mut().rev().find_map(|message| {
                let before = length(message);
                *message.parts.iter_mut().find(is_it)? = Part::Machinery;
                Some(before.saturating_sub(length(message)))
            });
            self.chars -= found.unwrap_or_default();
        }
    }

    /// Takes a message in. When the slice gets too long, its oldest tool inputs and results are shed until it is not.
    fn push(&mut self, message: Message) {
        for part in &message.parts {
            if let Part::Call { id, name, .. } = part
                && ASKING_TOOLS.contains(&name.as_str())
            {
                self.asking.insert(id.clone());
            }
        }
        self.take_out_refused(&message);
        self.chars += length(&message);
        self.messages.push(message);
        while self.chars > SLICE_CHARS && self.shed < self.messages.len() {
            let message = &mut self.messages[self.shed];
            let before = length(message);
            message.parts.iter_mut().for_each(|part| part.shed(&self.asking));
            let shed = before.saturating_sub(length(message));
            self.chars -= shed;
            self.left_out += shed;
            self.shed += 1;
        }
    }

    fn finish(self, path: &Path, offset: u64, bad_lines: u64) -> Slice {
        let name = || path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Slice {
            session: self.session.unwrap_or_else(name),
            messages: self.messages,
            left_out: self.left_out as u64,
            has_more: self.end.is_some(),
            bad_lines,
            anchor: Anchor::Start,
            prompt_id: self.prompt_id,
            ended_at: self.ended_at,
            // What comes next may still belong to a private prompt, so the next slice begins with it.
            next: self.end.or(self.private_from).unwrap_or(Mark {
                uuid: self.uuid,
                message: self.message,
                offset: Some(offset),
            }),
        }
    }
}

/// Says whether an act begins what is private, by its text, whatever pictures came with it, or by the id of its prompt.
fn is_private(act: &Act<'_>, record: &Record<'_>, is_hidden: &dyn Fn(&str) -> bool) -> bool {
    let text = match act {
        Act::Prompt { text, .. } => text,
        Act::Command { arguments, is_prompt: true, .. } => arguments.as_str(),
        _ => return false,
    };
    privacy::strip(text).wholly_private || record.prompt_id.as_deref().is_some_and(is_hidden)
}

/// Returns how many characters of a slice a message takes.
fn length(message: &Message) -> usize {
    message.render().map_or(0, |text| text.chars().count() + 2)
}

fn role_of(body: &Body<'_>) -> Option<Role> {
    match body {
        // A prompt that was typed while the model was busy is an attachment.
        Body::User(_) | Body::Attachment(_) => Some(Role::User),
        Body::Assistant(_) => Some(Role::Assistant),
        Body::System(_) | Body::Queue(_) | Body::Other { .. } => None,
    }
}

/// Returns whether the act is a part of a message. It may not look into the text, or counting would cost as much as
/// rendering.
fn is_shown(act: &Act<'_>) -> bool {
    !matches!(act, Act::Thinking(_) | Act::Compaction(_) | Act::Command { is_prompt: false, .. })
}
