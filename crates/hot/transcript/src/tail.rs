//! The end of a transcript, read backwards in chunks.
//!
//! A hook that wants the last record of a 50 MB transcript must not pay for 50 MB. Everything here costs what lies
//! between the end and the answer. The functions return offsets, which [`Reader::read`](crate::Reader::read) or
//! [`Slice::read`](crate::Slice::read) then take, so that memory stays flat however far back the answer is.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use memchr::{memmem, memrchr};

use crate::budget;
use crate::conversation::{Act, Scope};
use crate::error::Error;
use crate::json::Cursor;
use crate::lines::is_blank;
use crate::record::{Body, Record};
use crate::scan;
use crate::usage::Usage;

/// The newest usage in a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastUsage {
    /// The tokens of the message.
    pub usage: Usage,
    /// The model that wrote it.
    pub model: Option<String>,
}

/// Returns the usage of the last message that the model wrote in a conversation: how full its window is. Nothing when the
/// conversation was compacted since, or when the message is further back than [`budget::MAX_USAGE_TAIL_BYTES`].
///
/// The records of one message repeat its usage, and the last has the final figures: nothing is added up.
pub fn last_usage(path: &Path, scope: Scope) -> Result<Option<LastUsage>, Error> {
    let usage = memmem::Finder::new(scan::USAGE_NEEDLE);
    let boundary = memmem::Finder::new(COMPACTION_NEEDLE);
    let (chunk, most) = (budget::USAGE_CHUNK_BYTES, budget::MAX_USAGE_TAIL_BYTES);
    let mut lines = Backwards::with_limits(path, chunk, budget::MAX_LINE_BYTES, most)?;
    while let Some(line) = lines.previous()? {
        if usage.find(line.bytes).is_none() && boundary.find(line.bytes).is_none() {
            continue;
        }
        let Ok(record) = Record::parse(line.bytes) else { continue };
        if record.is_sidechain && scope == Scope::Main {
            continue;
        }
        match &record.body {
            Body::System(system) if system.compaction.is_some() => return Ok(None),
            Body::Assistant(assistant) if !assistant.is_synthetic() => {
                if let Some(usage) = assistant.usage {
                    let model = assistant.model.as_deref().map(str::to_owned);
                    return Ok(Some(LastUsage { usage, model }));
                }
            }
            _ => {}
        }
    }
    Ok(usage_in_end(lines.cut()).map(|usage| LastUsage { usage, model: None }))
}

/// What a note about a compaction has in it.
const COMPACTION_NEEDLE: &str = "compact_boundary";

/// Returns the usage in the end of a line whose beginning is not there, if the line is a message of the model: its usage comes
/// after its content, and its type after that.
fn usage_in_end(end: &[u8]) -> Option<Usage> {
    let key = memmem::rfind(end, scan::USAGE_NEEDLE.as_bytes())?;
    let value = std::str::from_utf8(&end[key + scan::USAGE_NEEDLE.len()..]).ok()?;
    let mut cursor = Cursor::new(value.trim_start().strip_prefix(':')?);
    let usage = Usage::read(&mut cursor).ok()??;
    cursor.rest_of_object(|_, cursor| cursor.pass().map(drop)).ok()?;
    let mut is_assistant = false;
    let rest = cursor.rest_of_object(|field, cursor| match field {
        "type" => cursor.word().map(|word| is_assistant = word.as_deref() == Some("assistant")),
        _ => cursor.pass().map(drop),
    });
    (rest.is_ok() && cursor.end().is_ok() && is_assistant).then_some(usage)
}

/// Returns what the model said last in the current turn of the main conversation. Nothing when it said nothing, or when that
/// is further back than [`budget::MAX_TAIL_BYTES`].
pub fn last_reply(path: &Path) -> Result<Option<String>, Error> {
    let mut lines = Backwards::open_tail(path, budget::MAX_TAIL_BYTES)?;
    while let Some(line) = lines.previous()? {
        let Ok(record) = Record::parse(line.bytes) else { continue };
        let acts = Scope::Main.acts(&record);
        let reply = acts.iter().rev().find_map(|act| match act {
            Act::Reply(text) if !text.trim().is_empty() => Some(text),
            _ => None,
        });
        if reply.is_some() || acts.iter().any(Act::starts_turn) {
            return Ok(reply.map(|text| text.clone().into_owned()));
        }
    }
    Ok(None)
}

/// Returns the uuid of the last record that has one.
pub fn last_uuid(path: &Path) -> Result<Option<String>, Error> {
    let needle = memmem::Finder::new(r#""uuid""#);
    find(path, Some(&needle), |_, record| record.uuid.as_deref().map(str::to_owned))
}

/// Returns the offset of the first line after the record `uuid`, or nothing when no record has that uuid. What that
/// means — a new session, a rewritten file — is for the caller to decide; it never silently means the whole file.
pub fn offset_after(path: &Path, uuid: &str) -> Result<Option<u64>, Error> {
    // Quoted by serde, because a uuid that came from outside may hold anything.
    let needle = serde_json::Value::from(uuid).to_string();
    let needle = memmem::Finder::new(&needle);
    let mut lines = Backwards::open(path)?;
    while let Some(line) = lines.previous()? {
        let is_it = || Record::parse(line.bytes).is_ok_and(|record| record.uuid.as_deref() == Some(uuid));
        if needle.find(line.bytes).is_some() && is_it() {
            return Ok(Some(line.end));
        }
    }
    Ok(None)
}

/// Returns the offset at which the last `count` records begin; the whole file when it has fewer. Lines that are not
/// records are not counted.
pub fn offset_of_last_records(path: &Path, count: usize) -> Result<u64, Error> {
    let Some(before) = count.checked_sub(1) else {
        return end_of_last_line(path);
    };
    offset_of_last(path, before, |_| true)
}

/// Returns the offset at which the last `count` turns begin; the whole file when it has fewer.
pub fn offset_of_last_turns(path: &Path, count: usize, scope: Scope) -> Result<u64, Error> {
    let Some(before) = count.checked_sub(1) else {
        return end_of_last_line(path);
    };
    offset_of_last(path, before, |record| scope.starts_turn(record))
}

/// Returns the offset of the last compaction's boundary. Lines are parsed only where they may be one.
pub fn offset_of_last_compaction(path: &Path) -> Result<Option<u64>, Error> {
    let needle = memmem::Finder::new(COMPACTION_NEEDLE);
    find(path, Some(&needle), |offset, record| {
        let is_boundary = matches!(&record.body, Body::System(system) if system.compaction.is_some())
            && !record.is_sidechain;
        is_boundary.then_some(offset)
    })
}

/// Returns the offset at which the last `count` turns of the main conversation begin, or as many as begin within the last
/// `bytes` of the file; its end when none does.
pub fn offset_of_turns_within(path: &Path, count: usize, bytes: u64) -> Result<u64, Error> {
    let mut lines = Backwards::open_tail(path, bytes)?;
    let mut found = None;
    let mut left = count;
    while let Some(line) = lines.previous()?.filter(|_| left > 0) {
        let starts_turn = Record::parse(line.bytes).is_ok_and(|record| Scope::Main.starts_turn(&record));
        if starts_turn {
            left -= 1;
            found = Some(line.start);
        }
    }
    match found {
        Some(offset) => Ok(offset),
        None => end_of_last_line(path),
    }
}

/// Returns the prompt under which the line at `offset` was written, the last of the main conversation before it, and whether it is
/// such that it `covers` what follows. One that was typed during a turn counts only if it does: the turn is still that of the
/// prompt that began it.
pub fn prompt_before(
    path: &Path,
    offset: u64,
    covers: impl Fn(&Record<'_>, &str) -> bool,
) -> Result<Option<(String, bool)>, Error> {
    // A result is never a prompt, and results are most of a transcript.
    let result = memmem::Finder::new(r#""tool_use_id":"#);
    let mut lines = Backwards::open(path)?;
    lines.end_at(offset);
    while let Some(line) = lines.previous()? {
        if result.find(line.bytes).is_some() {
            continue;
        }
        let Ok(record) = Record::parse(line.bytes) else { continue };
        let is_queued = matches!(record.body, Body::Attachment(_));
        let Some(prompt) = prompt_of(&record) else { continue };
        let covers = covers(&record, &prompt);
        if !is_queued || covers {
            return Ok(Some((prompt, covers)));
        }
    }
    Ok(None)
}

fn prompt_of(record: &Record<'_>) -> Option<String> {
    Scope::Main.acts(record).iter().find_map(|act| match act {
        Act::Prompt { text, .. } => Some(text.clone().into_owned()),
        Act::Command { name, arguments, is_prompt: true } => Some(format!("{name} {arguments}")),
        _ => None,
    })
}

/// Returns the first prompt of a transcript, if it begins within its first `bytes` and is such that it `counts`.
pub fn first_prompt(
    path: &Path,
    bytes: u64,
    counts: impl Fn(&Record<'_>, &str) -> bool,
) -> Result<Option<String>, Error> {
    let mut head = Vec::new();
    let file = File::open(path).map_err(Error::open(path))?;
    file.take(bytes).read_to_end(&mut head).map_err(Error::read(path))?;
    for (_, line) in crate::lines::split(0, &head) {
        let Ok(record) = Record::parse(line) else { continue };
        if let Some(prompt) = prompt_of(&record) {
            return Ok(Some(prompt).filter(|prompt| counts(&record, prompt)));
        }
    }
    Ok(None)
}

fn offset_of_last(
    path: &Path,
    mut before: usize,
    counts: impl Fn(&Record<'_>) -> bool,
) -> Result<u64, Error> {
    let found = find(path, None, |offset, record| {
        if !counts(record) {
            return None;
        }
        match before.checked_sub(1) {
            Some(rest) => {
                before = rest;
                None
            }
            None => Some(offset),
        }
    })?;
    Ok(found.unwrap_or(0))
}

fn end_of_last_line(path: &Path) -> Result<u64, Error> {
    let mut lines = Backwards::open(path)?;
    while let Some(line) = lines.previous()? {
        if line.is_terminated || Record::parse(line.bytes).is_ok() {
            return Ok(line.end);
        }
    }
    Ok(0)
}

/// Looks for the last record for which `answer` has one. Lines without the needle are not parsed.
fn find<T>(
    path: &Path,
    needle: Option<&memmem::Finder<'_>>,
    mut answer: impl FnMut(u64, &Record<'_>) -> Option<T>,
) -> Result<Option<T>, Error> {
    let mut lines = Backwards::open(path)?;
    while let Some(line) = lines.previous()? {
        if needle.is_some_and(|needle| needle.find(line.bytes).is_none()) {
            continue;
        }
        let Ok(record) = Record::parse(line.bytes) else { continue };
        if let Some(answer) = answer(line.start, &record) {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

/// A line on the way back.
struct Line<'a> {
    start: u64,
    /// Just past the newline, if there is one.
    end: u64,
    is_terminated: bool,
    bytes: &'a [u8],
}

/// The lines of a file from the last to the first; blank and over-long ones are left out.
struct Backwards<'p> {
    path: &'p Path,
    file: File,
    buffer: Vec<u8>,
    /// Where the buffer begins in the file; nothing before it has been read.
    buffer_start: u64,
    /// How much of the buffer has not been handed on.
    unread: usize,
    chunk_bytes: usize,
    max_line_bytes: usize,
    /// Nothing before this is read. A line that begins there or before is left out, unless the file begins there.
    floor: u64,
    /// How much of the buffer is the end of a line that begins before the floor.
    cut: usize,
}

impl<'p> Backwards<'p> {
    fn open(path: &'p Path) -> Result<Self, Error> {
        Self::with_limits(path, budget::TAIL_CHUNK_BYTES, budget::MAX_LINE_BYTES, u64::MAX)
    }

    /// Has the file end at `offset`, which must be the start of a line, before anything is read.
    fn end_at(&mut self, offset: u64) {
        self.buffer_start = self.buffer_start.min(offset);
    }

    /// Opens a file whose last `bytes` alone are read.
    fn open_tail(path: &'p Path, bytes: u64) -> Result<Self, Error> {
        Self::with_limits(path, budget::TAIL_CHUNK_BYTES, budget::MAX_LINE_BYTES, bytes)
    }

    fn with_limits(
        path: &'p Path,
        chunk_bytes: usize,
        max_line_bytes: usize,
        bytes: u64,
    ) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::open(path))?;
        let buffer_start = file.metadata().map_err(Error::read(path))?.len();
        let floor = buffer_start.saturating_sub(bytes);
        Ok(Self {
            path,
            file,
            buffer: Vec::new(),
            buffer_start,
            unread: 0,
            chunk_bytes,
            max_line_bytes,
            floor,
            cut: 0,
        })
    }

    /// Returns the end of the line that begins before the floor, once every other line was handed on.
    fn cut(&self) -> &[u8] {
        &self.buffer[..self.cut]
    }

    fn previous(&mut self) -> Result<Option<Line<'_>>, Error> {
        loop {
            let end = self.buffer_start + self.unread as u64;
            if end <= self.floor {
                return Ok(None);
            }
            let Some(start) = self.find_line_start()? else { continue };
            let line = start..std::mem::replace(&mut self.unread, start);
            if !is_blank(&self.buffer[line.clone()]) {
                let bytes = &self.buffer[line];
                let start = self.buffer_start + start as u64;
                return Ok(Some(Line { start, end, is_terminated: bytes.ends_with(b"\n"), bytes }));
            }
        }
    }

    /// Finds where the last unread line begins in the buffer; passes over it and returns nothing if it is over-long.
    fn find_line_start(&mut self) -> Result<Option<usize>, Error> {
        let mut is_overlong = false;
        loop {
            let unread = &self.buffer[..self.unread];
            // The line's own newline does not end the line before; what is left of an over-long line has none.
            let searched = if is_overlong { unread } else { unread.strip_suffix(b"\n").unwrap_or(unread) };
            let start = match memrchr(b'\n', searched) {
                Some(newline) => newline + 1,
                None if self.buffer_start == 0 => 0,
                None if self.buffer_start == self.floor => {
                    self.cut = self.unread;
                    self.unread = 0;
                    return Ok(None);
                }
                None => {
                    if self.unread > self.max_line_bytes {
                        is_overlong = true;
                        self.unread = 0;
                    }
                    self.read_more()?;
                    continue;
                }
            };
            if is_overlong || self.unread - start > self.max_line_bytes {
                self.unread = start;
                return Ok(None);
            }
            return Ok(Some(start));
        }
    }

    /// Puts the part of the file before the buffer in front of what is unread.
    fn read_more(&mut self) -> Result<(), Error> {
        // As much again as is held, so that a long line is not moved once for every small chunk.
        let wanted = self.chunk_bytes.max(self.unread) as u64;
        let step = wanted.min(self.buffer_start - self.floor);
        self.buffer_start -= step;
        let step = step as usize;
        let mut grown = vec![0; step + self.unread];
        let mut fill = || {
            self.file.seek(SeekFrom::Start(self.buffer_start))?;
            self.file.read_exact(&mut grown[..step])
        };
        fill().map_err(Error::read(self.path))?;
        grown[step..].copy_from_slice(&self.buffer[..self.unread]);
        self.unread = grown.len();
        self.buffer = grown;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn backwards(
        text: &[u8],
        chunk_bytes: usize,
        max_line_bytes: usize,
        bytes: u64,
    ) -> Vec<(u64, u64, Vec<u8>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, text).unwrap();
        let mut lines = Backwards::with_limits(&path, chunk_bytes, max_line_bytes, bytes).unwrap();
        let mut found = Vec::new();
        while let Some(line) = lines.previous().unwrap() {
            found.push((line.start, line.end, line.bytes.to_vec()));
        }
        found.reverse();
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn reading_backwards_finds_the_same_lines_as_cutting_at_newlines(
            text in "[ab\\r\\n]{0,80}",
            chunk_bytes in 1_usize..20,
            max_line_bytes in 5_usize..30,
            bytes in 0_u64..100,
        ) {
            let floor = (text.len() as u64).saturating_sub(bytes);
            let mut expected = Vec::new();
            let mut start = 0;
            for line in text.as_bytes().split_inclusive(|byte| *byte == b'\n') {
                let end = start + line.len() as u64;
                if !is_blank(line) && line.len() <= max_line_bytes && (floor == 0 || start > floor) {
                    expected.push((start, end, line.to_vec()));
                }
                start = end;
            }
            prop_assert_eq!(backwards(text.as_bytes(), chunk_bytes, max_line_bytes, bytes), expected);
        }
    }
}
