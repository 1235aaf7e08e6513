//! A whole tree of transcripts in one pass, with memory that does not grow with the tree.
//!
//! [`prefiltered`] parses only the lines that contain a needle and runs at a good part of the speed of `wc -l`;
//! [`full`] parses every line.

use std::path::Path;

use crate::error::Error;
use crate::record::{Block, Body, Record};
use crate::stream::Reader;
use crate::tree;
use crate::usage::UsageTotals;

/// What every record with a failed tool call contains, as the client writes it.
pub const TOOL_ERROR_NEEDLE: &str = r#""is_error":true"#;

/// What every record with a message's usage contains.
pub const USAGE_NEEDLE: &str = r#""usage""#;

/// What a scan went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    pub files: u64,
    /// Transcripts and folders that could not be read.
    pub unreadable: u64,
    pub bytes: u64,
    /// Records handed on.
    pub records: u64,
    /// Lines that were not records.
    pub bad_lines: u64,
    /// Lines that were too long to be held.
    pub overlong_lines: u64,
}

/// Parses every line of every transcript below `root`.
pub fn full(root: &Path, visit: impl FnMut(&Path, &Record<'_>)) -> Result<Report, Error> {
    scan(root, Reader::new(), visit)
}

/// Parses the lines that contain one of `needles` of every transcript below `root`.
pub fn prefiltered(
    root: &Path,
    needles: &[&str],
    visit: impl FnMut(&Path, &Record<'_>),
) -> Result<Report, Error> {
    scan(root, Reader::only_lines_with(needles), visit)
}

fn scan(root: &Path, mut reader: Reader, mut visit: impl FnMut(&Path, &Record<'_>)) -> Result<Report, Error> {
    let tree = tree::walk(root)?;
    let mut report = Report { unreadable: tree.unreadable_folders, ..Report::default() };
    for path in &tree.transcripts {
        // A transcript that vanished or may not be read does not stop the scan.
        let Ok(progress) = reader.read(path, 0, |_, record| visit(path, record)) else {
            report.unreadable += 1;
            continue;
        };
        report.files += 1;
        report.bytes += progress.bytes();
        report.records += progress.records;
        report.bad_lines += progress.bad_lines;
        report.overlong_lines += progress.overlong_lines;
    }
    Ok(report)
}

/// The failed tool calls and the tokens of many records.
#[derive(Debug, Default)]
pub struct Tally {
    pub tool_errors: u64,
    pub usage: UsageTotals,
}

impl Tally {
    /// The needles that find every record which [`add`](Self::add) counts.
    pub const NEEDLES: &[&str] = &[TOOL_ERROR_NEEDLE, USAGE_NEEDLE];

    /// Counts what the record holds.
    pub fn add(&mut self, record: &Record<'_>) {
        self.usage.add(record);
        if let Body::User(user) = &record.body {
            let failed = |block: &&Block<'_>| matches!(block, Block::ToolResult(result) if result.is_error);
            self.tool_errors += user.content.blocks().iter().filter(failed).count() as u64;
        }
    }
}
