//! Transcripts as happenings. Needles first: of most of a file nothing is parsed. Around each line that has one, a window of
//! the file is read: the call before it, and what followed.

use super::{command, failed, input, succeeded};
use crate::detect::{Detector, Found, Spoken};
use crate::happening::{Call, Happening, Outcome, Place};
use crate::tag;
use base::{Timestamp, files};
use capture::Rules;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use store::transcripts::{Forgotten, Refusal};
use text::privacy;
use transcript::conversation::output_of;
use transcript::record::{Block, Body, Record};
use transcript::scan::TOOL_ERROR_NEEDLE;
use transcript::{Act, Conversation, Reader, Scope};

/// What the lines contain that matter: failures, reports and prompts, as the client writes them.
const NEEDLES: [&str; 7] = [
    TOOL_ERROR_NEEDLE,
    tag::NEEDLE,
    r#""role":"user","content":""#,
    r#""role":"user","content":[{"type":"text""#,
    r#""role":"user","content":[{"type":"image""#,
    r#""role":"user","content":[{"type":"document""#,
    r#""queued_command""#,
];
/// How much of a file is read before a line that matters, and behind it.
const BEFORE: u64 = 32 * 1024;
const BEHIND: u64 = 96 * 1024;
/// The largest piece that is held; what is longer is read as several.
const MAX_WINDOW: u64 = 4 * 1024 * 1024;
/// How many calls may wait for their results.
const MAX_CALLS: usize = 100;

/// A prompt of the session's own conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Where its line begins.
    offset: u64,
    /// When, in milliseconds since 1970.
    at: u64,
    is_private: bool,
    /// Whether it was typed during a turn, which goes on.
    is_queued: bool,
}

/// What was read of a transcript.
#[derive(Debug, Default)]
pub struct Read {
    pub found: Found,
    /// Where the next pass begins: at the prompt of the last turn, which may go on.
    pub resume: u64,
    /// Just past the last complete line.
    pub end: u64,
    /// The prompts that were passed, for the subagents of the session.
    pub prompts: Vec<Asked>,
}

/// Reads transcripts; its buffers serve one after another.
pub struct Transcripts<'a> {
    rules: &'a Rules,
    spoken: &'a Spoken,
    forgotten: &'a Forgotten,
    reader: Reader,
    window: Vec<u8>,
}

/// Whose transcript it is.
#[derive(Clone, Copy)]
pub enum Whose<'a> {
    /// A session's own.
    Session,
    /// A subagent's, under these prompts of the session.
    Subagent(&'a [Asked]),
}

impl<'a> Transcripts<'a> {
    pub fn new(rules: &'a Rules, spoken: &'a Spoken, forgotten: &'a Forgotten) -> Self {
        Self { rules, spoken, forgotten, reader: Reader::only_lines_with(&NEEDLES), window: Vec::new() }
    }

    /// Returns the prompts of a session's own transcript.
    pub fn prompts(&mut self, path: &Path) -> io::Result<Vec<Asked>> {
        let mut file = files::open_regular(path)?;
        let mut prompts = Vec::new();
        self.reader.read_file(&mut file, 0, |offset, record| {
            for step in Conversation::new(Scope::Main).steps(record) {
                ask(offset, record, &step.act, self.rules, &mut prompts);
            }
        })?;
        Ok(prompts)
    }

    /// Reads a transcript from an offset on, which must be 0 or what an earlier pass returned.
    pub fn read(&mut self, path: &Path, from: u64, whose: Whose<'_>) -> io::Result<Read> {
        let mut file = files::open_regular(path)?;
        let scope = if matches!(whose, Whose::Session) { Scope::Main } else { Scope::Subagent };
        let (mut prompts, mut marks): (Vec<Asked>, Vec<u64>) = (Vec::new(), Vec::new());
        let (spoken, rules) = (self.spoken, self.rules);
        let progress = self.reader.read_file(&mut file, from, |offset, record| {
            let mut is_mark = has_failure(record);
            for step in Conversation::new(scope).steps(record) {
                ask(offset, record, &step.act, rules, &mut prompts);
                match &step.act {
                    Act::Prompt { text, .. } => {
                        let is_private = prompts.last().is_some_and(|last| last.is_private);
                        is_mark |= !is_private && spoken.is_correction(&privacy::strip(text).text);
                    }
                    Act::Reply(text) => is_mark |= text.contains(tag::NEEDLE),
                    _ => {}
                }
            }
            if is_mark {
                marks.push(offset);
            }
        })?;
        let from = progress.start;
        // Not at one that was typed during a turn: the next pass would not know whether that turn is private.
        let resume = prompts.iter().rfind(|prompt| !prompt.is_queued).map_or(from, |last| last.offset);
        // One that a private prompt started may outlast its turn.
        if let Whose::Subagent(asked) = whose
            && prompt_at(asked, began(&mut file)).is_some_and(|prompt| prompt.is_private)
        {
            marks.clear();
        }
        let mut read = Read { resume, end: progress.offset, prompts, ..Read::default() };
        if marks.is_empty() {
            return Ok(read);
        }
        let mut telling = Telling {
            rules: self.rules,
            forgotten: self.forgotten,
            scope,
            whose,
            prompts: &read.prompts,
            detector: Detector::new(self.spoken, Place::default()),
            place: None,
            calls: HashMap::new(),
        };
        for (start, end) in windows(&marks, from, progress.offset) {
            telling.detector.take(Happening::Gap);
            telling.calls.clear();
            read_window(&mut file, start, end, start == from, &mut self.window, |offset, record| {
                telling.take(offset, record);
            })?;
        }
        read.found = telling.detector.finish();
        Ok(read)
    }
}

/// Adds a prompt to those of a session.
fn ask(offset: u64, record: &Record<'_>, act: &Act<'_>, rules: &Rules, prompts: &mut Vec<Asked>) {
    let is_queued = matches!(record.body, Body::Attachment(_));
    let asked = match act {
        Act::Prompt { text, .. } => text,
        Act::Command { is_prompt: true, arguments, .. } => arguments.as_str(),
        _ => return,
    };
    // What is typed during a turn lifts no privacy.
    let was_private = is_queued && prompts.last().is_some_and(|last| last.is_private);
    let is_left_out = !is_queued && rules.left_out(record.prompt_id.as_deref());
    let is_private = privacy::strip(asked).wholly_private || was_private || is_left_out;
    prompts.push(Asked { offset, at: at(record), is_private, is_queued });
}

/// Returns the parts of a file around the marks, in order and without overlap.
fn windows(marks: &[u64], from: u64, end: u64) -> Vec<(u64, u64)> {
    let mut windows: Vec<(u64, u64)> = Vec::new();
    for mark in marks {
        let (start, behind) = (mark.saturating_sub(BEFORE).max(from), (mark + BEHIND).min(end));
        match windows.last_mut() {
            Some(last) if start <= last.1 && behind - last.0 <= MAX_WINDOW => last.1 = behind,
            Some(last) if start < last.1 => {
                let start = last.1;
                windows.push((start, behind.max(start)));
            }
            _ => windows.push((start, behind)),
        }
    }
    windows
}

/// Hands on the records of the lines that begin in a part of a file.
fn read_window(
    file: &mut File,
    start: u64,
    end: u64,
    is_at_line: bool,
    buffer: &mut Vec<u8>,
    mut visit: impl FnMut(u64, &Record<'_>),
) -> io::Result<()> {
    buffer.clear();
    file.seek(SeekFrom::Start(start))?;
    file.by_ref().take(end - start).read_to_end(buffer)?;
    let mut at = match is_at_line {
        true => 0,
        false => memchr::memchr(b'\n', buffer).map_or(buffer.len(), |newline| newline + 1),
    };
    while at < buffer.len() {
        let rest = &buffer[at..];
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        // A line that was cut at the end of the window is no JSON.
        if let Ok(record) = Record::parse(&rest[..length]) {
            visit(start + at as u64, &record);
        }
        at += length + 1;
    }
    Ok(())
}

/// Returns the prompt that counts at a moment.
fn prompt_at(prompts: &[Asked], at: u64) -> Option<&Asked> {
    prompts.iter().rev().find(|prompt| prompt.at <= at)
}

/// Returns when the first record of a transcript was written; 0 where that cannot be told.
fn began(file: &mut File) -> u64 {
    let mut head = Vec::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.by_ref().take(BEHIND).read_to_end(&mut head));
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let record = read.ok().and(line).and_then(|line| Record::parse(line).ok());
    record.map_or(0, |record| at(&record))
}

fn at(record: &Record<'_>) -> u64 {
    let at = record.timestamp.as_deref().and_then(|stamp| stamp.parse::<Timestamp>().ok());
    at.map_or(0, Timestamp::millis)
}

fn has_failure(record: &Record<'_>) -> bool {
    let Body::User(user) = &record.body else { return false };
    user.content.blocks().iter().any(|block| matches!(block, Block::ToolResult(result) if result.is_error))
}

/// Tells the detector what the records of a transcript say.
struct Telling<'t> {
    rules: &'t Rules,
    forgotten: &'t Forgotten,
    scope: Scope,
    whose: Whose<'t>,
    prompts: &'t [Asked],
    detector: Detector<'t>,
    place: Option<Place>,
    /// The calls that wait for their results, without those.
    calls: HashMap<String, Call>,
}

impl Telling<'_> {
    fn take(&mut self, offset: u64, record: &Record<'_>) {
        if record.is_sidechain != (self.scope == Scope::Subagent) || !self.is_open(offset, record) {
            return;
        }
        let cwd = record.cwd.as_deref().unwrap_or_default();
        if !self.rules.records_in(Path::new(cwd)) {
            return;
        }
        let Some(session) = record.session_id.as_deref().filter(|session| !session.is_empty()) else {
            return;
        };
        if self.place.is_none() {
            self.place = Some(Place { session: session.to_owned(), cwd: cwd.to_owned() });
            self.detector.set_place(session, cwd);
        }
        self.detector.set_folder(cwd);
        if let Body::User(user) = &record.body {
            let blocks = user.content.blocks();
            for block in blocks {
                if let Block::ToolResult(result) = block {
                    let structured = user.tool_use_result.filter(|_| blocks.len() == 1);
                    let Some(call) = self.calls.remove(&*result.tool_use_id) else { continue };
                    // Most results are long and worked: their text is not looked at.
                    let mut said = None;
                    let outcome = if result.is_error {
                        let output = output_of(result);
                        match Refusal::of(true, structured, &output) {
                            Some(refusal) => {
                                let words = refusal.reason.filter(|_| refusal.by == "user");
                                said = words.map(|words| privacy::strip(words).text.into_owned());
                                Outcome::Refused
                            }
                            None => failed(&output),
                        }
                    } else {
                        succeeded(call.command.as_deref(), || output_of(result).into_owned())
                    };
                    self.detector.take(Happening::Call(Call { outcome, at: at(record), ..call }));
                    // What the user refuses a call with is about that call.
                    said.into_iter().for_each(|words| self.detector.take(Happening::Prompt(words)));
                }
            }
            if blocks.iter().any(|block| matches!(block, Block::ToolResult(_))) {
                return;
            }
        }
        for step in Conversation::new(self.scope).steps(record) {
            match step.act {
                Act::Prompt { text, .. } => {
                    let id = record.prompt_id.as_deref().map(|id| format!("p:{id}"));
                    let id = id.or_else(|| record.uuid.as_deref().map(|uuid| format!("u:{uuid}")));
                    if id.is_some_and(|id| self.forgotten.has(session, &id)) {
                        continue;
                    }
                    let text = privacy::strip(&text).text.into_owned();
                    self.detector.take(Happening::Prompt(text));
                }
                Act::Reply(text) => self.detector.take(Happening::Reply(text.into_owned())),
                Act::ToolUse { id, name, input: given } => {
                    if self.calls.len() >= MAX_CALLS {
                        self.calls.clear();
                    }
                    let is_forgotten = self.forgotten.has(session, &format!("t:{id}"));
                    if !is_forgotten && self.rules.records_call(name, given) {
                        let call = Call {
                            tool: name.to_owned(),
                            command: command(name, given),
                            input: input(name, given),
                            outcome: Outcome::Succeeded,
                            at: 0,
                        };
                        self.calls.insert(id.to_owned(), call);
                    }
                }
                _ => {}
            }
        }
    }

    /// Says whether a record may be looked at: it does not belong to a private prompt.
    fn is_open(&self, offset: u64, record: &Record<'_>) -> bool {
        let last = match self.whose {
            Whose::Session => {
                let next = self.prompts.partition_point(|prompt| prompt.offset <= offset);
                next.checked_sub(1).and_then(|last| self.prompts.get(last))
            }
            Whose::Subagent(prompts) => prompt_at(prompts, at(record)),
        };
        last.is_none_or(|last| !last.is_private)
    }
}
