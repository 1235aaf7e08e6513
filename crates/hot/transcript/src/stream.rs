//! What a transcript says from a byte offset on.
//!
//! A caller keeps the offset that [`Reader::read`] returns and passes it in the next time, so that each pass costs
//! only what was added. A line counts once it is complete: it ends in a newline, or it is the last one and already a
//! whole JSON object (which no beginning of an object is). Anything less is left for the next time.

use std::fs::File;
use std::io;
use std::path::Path;

use memchr::{memchr, memmem, memrchr};

use crate::error::Error;
use crate::lines::{self, LineReader, Run};
use crate::record::Record;

/// What one pass over a transcript found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Where the pass began.
    pub start: u64,
    /// Just past the last complete line: where the next pass begins.
    pub offset: u64,
    /// Whether the transcript had become shorter than the wanted offset and was read from its start.
    pub restarted: bool,
    /// Records handed on.
    pub records: u64,
    /// Lines that were not JSON objects. A prefiltered pass sees only those that it would have handed on.
    pub bad_lines: u64,
    /// Lines longer than [`MAX_LINE_BYTES`](crate::budget::MAX_LINE_BYTES).
    pub overlong_lines: u64,
}

impl Progress {
    /// Returns how many bytes the pass used up.
    pub fn bytes(&self) -> u64 {
        self.offset - self.start
    }
}

/// A forward reader; its buffer serves one transcript after another.
#[derive(Debug)]
pub struct Reader {
    lines: LineReader,
    needles: Option<Vec<memmem::Finder<'static>>>,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

impl Reader {
    /// Makes a reader that parses every line.
    pub fn new() -> Self {
        Self { lines: LineReader::new(), needles: None }
    }

    /// Makes a reader that parses only the lines that contain one of `needles`. The whole chunk is searched at
    /// once, which is several times quicker than parsing.
    ///
    /// A needle is matched against the JSON as the client writes it: without spaces, quotes in strings escaped. So
    /// `"is_error":true` cannot be found inside quoted text. It can be found at any depth of the record.
    pub fn only_lines_with(needles: &[&str]) -> Self {
        let finders = needles.iter().map(|needle| memmem::Finder::new(needle).into_owned()).collect();
        Self { lines: LineReader::new(), needles: Some(finders) }
    }

    /// Reads the transcript from `offset` on and hands every record on with the offset of its line.
    pub fn read(
        &mut self,
        path: &Path,
        offset: u64,
        visit: impl FnMut(u64, &Record<'_>),
    ) -> Result<Progress, Error> {
        let mut file = File::open(path).map_err(Error::open(path))?;
        self.read_file(&mut file, offset, visit).map_err(Error::read(path))
    }

    /// Reads an open transcript as [`Self::read`] does, for callers with rules about what they open.
    pub fn read_file(
        &mut self,
        file: &mut File,
        offset: u64,
        mut visit: impl FnMut(u64, &Record<'_>),
    ) -> io::Result<Progress> {
        let mut records = 0;
        let mut bad_lines = 0;
        let mut parse = |offset: u64, line: &[u8]| match Record::parse(line) {
            Ok(record) => {
                records += 1;
                visit(offset, &record);
            }
            Err(_) => bad_lines += 1,
        };
        let needles = self.needles.as_deref();
        let extent = self.lines.read(file, offset, |run| match run {
            Run::Lines { offset, bytes } => {
                match needles {
                    None => lines::split(offset, bytes).for_each(|(offset, line)| parse(offset, line)),
                    Some(needles) => {
                        for_each_hit(needles, bytes, |start, line| parse(offset + start as u64, line))
                    }
                }
                true
            }
            Run::Unterminated { offset, bytes } => {
                let wanted =
                    needles.is_none_or(|needles| needles.iter().any(|needle| needle.find(bytes).is_some()));
                let whole = wanted && Record::parse(bytes).is_ok();
                if whole {
                    parse(offset, bytes);
                }
                whole
            }
        })?;
        Ok(Progress {
            start: extent.start,
            offset: extent.end,
            restarted: extent.restarted,
            records,
            bad_lines,
            overlong_lines: extent.overlong_lines,
        })
    }
}

/// Reads the lines of an open JSONL file whose form this crate does not know, from `offset` on, by the same rules: a line
/// counts once it is complete, and one that is too long to be held is skipped. Lines that are no text are left out.
pub fn read_lines(file: &mut File, offset: u64, mut visit: impl FnMut(u64, &str)) -> io::Result<Progress> {
    let mut records = 0;
    let mut bad_lines = 0;
    let mut take = |offset: u64, line: &[u8]| match std::str::from_utf8(line) {
        Ok(line) => {
            records += 1;
            visit(offset, line);
        }
        Err(_) => bad_lines += 1,
    };
    let extent = LineReader::new().read(file, offset, |run| match run {
        Run::Lines { offset, bytes } => {
            lines::split(offset, bytes).for_each(|(offset, line)| take(offset, line));
            true
        }
        Run::Unterminated { offset, bytes } => {
            let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
            if is_whole {
                take(offset, bytes);
            }
            is_whole
        }
    })?;
    Ok(Progress {
        start: extent.start,
        offset: extent.end,
        restarted: extent.restarted,
        records,
        bad_lines,
        overlong_lines: extent.overlong_lines,
    })
}

/// Finds the lines that contain a needle, in order, each once.
fn for_each_hit(needles: &[memmem::Finder<'_>], bytes: &[u8], mut visit: impl FnMut(usize, &[u8])) {
    let mut hits: Vec<Option<usize>> = needles.iter().map(|needle| needle.find(bytes)).collect();
    let mut searched = 0;
    while let Some(hit) = hits.iter().copied().flatten().min() {
        let start = memrchr(b'\n', &bytes[searched..hit]).map_or(searched, |newline| searched + newline + 1);
        let end = memchr(b'\n', &bytes[hit..]).map_or(bytes.len(), |newline| hit + newline);
        visit(start, &bytes[start..end]);
        searched = (end + 1).min(bytes.len());
        for (needle, hit) in needles.iter().zip(&mut hits) {
            if hit.is_some_and(|at| at < searched) {
                *hit = needle.find(&bytes[searched..]).map(|at| searched + at);
            }
        }
    }
}
