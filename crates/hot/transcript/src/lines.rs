//! Complete lines out of a file, in chunks, with exact offsets.
//!
//! The file is read, never mapped: the client may append to it or cut it while we read, and a mapping would turn
//! that into a crash.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use memchr::{memchr, memrchr};

use crate::budget;

/// What was read of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Where reading began.
    pub(crate) start: u64,
    /// Just past the last byte that was used.
    pub(crate) end: u64,
    /// Whether the file had become shorter than the wanted start, so that reading began at 0.
    pub(crate) restarted: bool,
    /// Lines that were too long to be held.
    pub(crate) overlong_lines: u64,
}

/// A run of bytes at its place in the file.
pub(crate) enum Run<'a> {
    /// Complete lines; the last byte is a newline.
    Lines { offset: u64, bytes: &'a [u8] },
    /// The last line of the file, which has no newline yet.
    Unterminated { offset: u64, bytes: &'a [u8] },
}

/// A reader of complete lines whose buffer serves one file after another.
#[derive(Debug)]
pub(crate) struct LineReader {
    buffer: Vec<u8>,
    chunk_bytes: usize,
    max_line_bytes: usize,
}

impl LineReader {
    pub(crate) fn new() -> Self {
        Self::with_limits(budget::CHUNK_BYTES, budget::MAX_LINE_BYTES)
    }

    /// Makes a reader with other limits; `chunk_bytes` may not exceed `max_line_bytes`.
    pub(crate) fn with_limits(chunk_bytes: usize, max_line_bytes: usize) -> Self {
        assert!(0 < chunk_bytes && chunk_bytes <= max_line_bytes);
        Self { buffer: Vec::new(), chunk_bytes, max_line_bytes }
    }

    /// Reads from `from` to the end of the file and hands on every run of complete lines.
    ///
    /// The unterminated last line is offered once, at the end; whether `take` then returns true decides if it
    /// counts as used. The answer for complete lines is ignored: they always are.
    pub(crate) fn read(
        &mut self,
        file: &mut File,
        from: u64,
        mut take: impl FnMut(Run<'_>) -> bool,
    ) -> io::Result<Extent> {
        let restarted = file.metadata()?.len() < from;
        let start = if restarted { 0 } else { from };
        file.seek(SeekFrom::Start(start))?;

        let mut extent = Extent { start, end: start, restarted, overlong_lines: 0 };
        // The front of the buffer holds the beginning of a line whose end has not been read yet; `extent.end` is
        // always the offset of that beginning.
        let mut carried = 0;
        // How much of an over-long line has been thrown away so far.
        let mut discarded: Option<u64> = None;
        loop {
            if self.buffer.len() < carried + self.chunk_bytes {
                self.buffer.resize(carried + self.chunk_bytes, 0);
            }
            let read = match file.read(&mut self.buffer[carried..carried + self.chunk_bytes]) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let filled = carried + read;
            let Some(last_newline) = memrchr(b'\n', &self.buffer[carried..filled]) else {
                carried = filled;
                if discarded.is_some() || carried > self.max_line_bytes {
                    *discarded.get_or_insert(0) += carried as u64;
                    carried = 0;
                }
                continue;
            };
            let lines_end = carried + last_newline + 1;
            let mut lines_start = 0;
            // Only the first line of a run can be over-long: the others lie within one chunk.
            if discarded.is_some() || carried > 0 {
                let first_line =
                    memchr(b'\n', &self.buffer[..lines_end]).map_or(lines_end, |newline| newline + 1);
                if discarded.is_some() || first_line > self.max_line_bytes {
                    extent.overlong_lines += 1;
                    extent.end += discarded.take().unwrap_or(0) + first_line as u64;
                    lines_start = first_line;
                }
            }
            if lines_start < lines_end {
                take(Run::Lines { offset: extent.end, bytes: &self.buffer[lines_start..lines_end] });
                extent.end += (lines_end - lines_start) as u64;
            }
            self.buffer.copy_within(lines_end..filled, 0);
            carried = filled - lines_end;
        }
        if carried > 0
            && discarded.is_none()
            && take(Run::Unterminated { offset: extent.end, bytes: &self.buffer[..carried] })
        {
            extent.end += carried as u64;
        }
        Ok(extent)
    }
}

/// Cuts complete lines into single ones, each with its offset and without its newline; blank ones are left out.
pub(crate) fn split(offset: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut position = 0;
    std::iter::from_fn(move || {
        while position < bytes.len() {
            let start = position;
            let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |newline| start + newline);
            position = end + 1;
            let line = &bytes[start..end];
            if !is_blank(line) {
                return Some((offset + start as u64, line));
            }
        }
        None
    })
}

/// Returns whether a line holds nothing but white space.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const CHUNK: usize = 8;
    const MAX_LINE: usize = 16;

    /// Reads `text` from `from` and returns the lines, the unterminated rest and the extent.
    fn read(text: &str, from: u64) -> (Vec<(u64, String)>, Option<String>, Extent) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let mut lines = Vec::new();
        let mut rest = None;
        let extent = LineReader::with_limits(CHUNK, MAX_LINE)
            .read(&mut file, from, |run| {
                match run {
                    Run::Lines { offset, bytes } => {
                        assert_eq!(bytes.last(), Some(&b'\n'));
                        lines.extend(
                            split(offset, bytes)
                                .map(|(at, line)| (at, String::from_utf8(line.to_vec()).unwrap())),
                        );
                    }
                    Run::Unterminated { bytes, .. } => {
                        rest = Some(String::from_utf8(bytes.to_vec()).unwrap())
                    }
                }
                false
            })
            .unwrap();
        (lines, rest, extent)
    }

    fn owned(lines: &[(u64, &str)]) -> Vec<(u64, String)> {
        lines.iter().map(|(at, line)| (*at, (*line).to_owned())).collect()
    }

    #[test]
    fn lines_keep_their_offsets_across_chunks() {
        let (lines, rest, extent) = read("one\nand two\r\n\nthree is long\nfour", 0);
        assert_eq!(lines, owned(&[(0, "one"), (4, "and two\r"), (14, "three is long")]));
        assert_eq!(rest.as_deref(), Some("four"));
        assert_eq!(extent, Extent { start: 0, end: 28, restarted: false, overlong_lines: 0 });
    }

    #[test]
    fn an_overlong_line_is_skipped_and_counted_wherever_it_falls() {
        let long = "x".repeat(MAX_LINE + 1);
        for padding in 0..2 * CHUNK {
            for length in [MAX_LINE, MAX_LINE + 1, 2 * MAX_LINE, 5 * MAX_LINE + 3] {
                let before = "b".repeat(padding);
                let text = format!("{before}\n{}\nafter\n{long}", "x".repeat(length - 1));
                let (lines, rest, extent) = read(&text, 0);
                let kept = lines.iter().filter(|(_, line)| line.starts_with('x')).count();
                assert_eq!(kept, usize::from(length <= MAX_LINE), "padding {padding}, length {length}");
                assert_eq!(extent.overlong_lines, u64::from(length > MAX_LINE));
                assert_eq!(lines.last().unwrap(), &((padding + 1 + length) as u64, "after".to_owned()));
                assert_eq!(rest, None);
                assert_eq!(
                    extent.end,
                    (text.len() - long.len()) as u64,
                    "an unfinished line is left for later"
                );
            }
        }
    }

    #[test]
    fn a_file_that_shrank_is_read_from_the_start() {
        let (lines, _, extent) = read("one\n", 5);
        assert_eq!(lines, owned(&[(0, "one")]));
        assert!(extent.restarted);
        let (lines, _, extent) = read("one\n", 4);
        assert!(lines.is_empty());
        assert!(!extent.restarted);
    }
}
