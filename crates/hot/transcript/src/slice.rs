//! A part of a transcript, held in memory, so that its records can be gone through more than once.
//!
//! Use [`Reader`](crate::Reader) where one pass is enough: a slice takes as much memory as the part is long.

use std::fs::File;
use std::path::Path;

use crate::conversation::Scope;
use crate::error::Error;
use crate::lines::{self, LineReader, Run};
use crate::record::Record;
use crate::tail;

/// A run of complete lines of a transcript.
#[derive(Debug)]
pub struct Slice {
    bytes: Vec<u8>,
    start: u64,
    end: u64,
    overlong_lines: u64,
}

/// What follows a record.
#[derive(Debug)]
pub enum Since {
    /// The records after it; none if it was the last.
    Found(Slice),
    /// No record has that uuid.
    Unknown,
}

impl Slice {
    /// Reads from `offset`, which must be the start of a line, to the last complete line. A file shorter than
    /// `offset` is read from its start; [`start`](Self::start) tells.
    pub fn read(path: &Path, offset: u64) -> Result<Self, Error> {
        let mut file = File::open(path).map_err(Error::open(path))?;
        let mut bytes = Vec::new();
        let extent = LineReader::new()
            .read(&mut file, offset, |run| match run {
                Run::Lines { bytes: lines, .. } => {
                    bytes.extend_from_slice(lines);
                    true
                }
                Run::Unterminated { bytes: line, .. } => {
                    let whole = Record::parse(line).is_ok();
                    if whole {
                        bytes.extend_from_slice(line);
                    }
                    whole
                }
            })
            .map_err(Error::read(path))?;
        Ok(Self { bytes, start: extent.start, end: extent.end, overlong_lines: extent.overlong_lines })
    }

    /// Reads what follows the record `uuid`, which is looked for from the end.
    pub fn since(path: &Path, uuid: &str) -> Result<Since, Error> {
        match tail::offset_after(path, uuid)? {
            Some(offset) => Self::read(path, offset).map(Since::Found),
            None => Ok(Since::Unknown),
        }
    }

    /// Reads the last `count` records.
    pub fn last_records(path: &Path, count: usize) -> Result<Self, Error> {
        Self::read(path, tail::offset_of_last_records(path, count)?)
    }

    /// Reads the last `count` turns.
    pub fn last_turns(path: &Path, count: usize, scope: Scope) -> Result<Self, Error> {
        Self::read(path, tail::offset_of_last_turns(path, count, scope)?)
    }

    /// Returns where the slice begins in the file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the offset just past the slice: where the next one begins.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns how many lines were too long to be held.
    pub fn overlong_lines(&self) -> u64 {
        self.overlong_lines
    }

    /// Returns how many lines are not records.
    pub fn bad_lines(&self) -> u64 {
        lines::split(0, &self.bytes).filter(|(_, line)| Record::parse(line).is_err()).count() as u64
    }

    /// Returns the records; lines that are not records are left out.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        lines::split(0, &self.bytes).filter_map(|(_, line)| Record::parse(line).ok())
    }
}
