//! How two versions of a shared file become one.

use std::borrow::Cow;
use std::collections::HashSet;

/// Merges the versions of a shared file. `None` is a file that is not there.
///
/// It is asked only when both sides have changed the file, and differently.
pub trait Merge {
    /// Returns the merged contents of `path` (relative to `.wyren/`), or `None` to remove the file.
    fn merge(
        &self,
        path: &str,
        base: Option<&[u8]>,
        ours: Option<&[u8]>,
        theirs: Option<&[u8]>,
    ) -> Option<Vec<u8>>;

    /// Returns what of a file of the local copy may leave this machine; `None` keeps the whole file back. A file of which
    /// something is kept back is unchanged as far as its rest is.
    fn published<'a>(&self, _path: &str, contents: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        Some(Cow::Borrowed(contents))
    }

    /// Returns `merged` with what [`Merge::published`] keeps back of `local`.
    fn restored(&self, _path: &str, _local: &[u8], merged: Vec<u8>) -> Vec<u8> {
        merged
    }

    /// Returns whether what one side made of a file cannot be meant, such as an emptied memory. That side then counts as
    /// not having changed it.
    fn is_accident(&self, _path: &str, _base: &[u8], _side: Option<&[u8]>) -> bool {
        false
    }
}

/// Merges by line, for files whose lines are independent: what either side added stays, what either side removed goes, and
/// an edit wins over the removal of the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByLine;

impl Merge for ByLine {
    fn merge(
        &self,
        _path: &str,
        base: Option<&[u8]>,
        ours: Option<&[u8]>,
        theirs: Option<&[u8]>,
    ) -> Option<Vec<u8>> {
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            return ours.or(theirs).map(<[u8]>::to_vec);
        };
        let lines = |text| -> Vec<&[u8]> { <[u8]>::split_inclusive(text, |byte| *byte == b'\n').collect() };
        let base: HashSet<&[u8]> = base.map(lines).unwrap_or_default().into_iter().map(trimmed).collect();
        let (our_lines, their_lines) = (lines(ours), lines(theirs));
        let ours: HashSet<&[u8]> = our_lines.iter().copied().map(trimmed).collect();
        let theirs: HashSet<&[u8]> = their_lines.iter().copied().map(trimmed).collect();
        let kept = their_lines.iter().filter(|line| {
            let line = trimmed(line);
            ours.contains(line) || !base.contains(line)
        });
        let added = our_lines.iter().filter(|line| {
            let line = trimmed(line);
            !theirs.contains(line) && !base.contains(line)
        });
        let mut merged = Vec::new();
        for line in kept.chain(added) {
            merged.extend_from_slice(trimmed(line));
            merged.push(b'\n');
        }
        Some(merged)
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: Option<&str>, ours: Option<&str>, theirs: Option<&str>, expected: Option<&str>) {
        fn bytes(text: Option<&str>) -> Option<&[u8]> {
            text.map(str::as_bytes)
        }
        let merged = ByLine.merge("x", bytes(base), bytes(ours), bytes(theirs));
        assert_eq!(merged.map(|merged| String::from_utf8(merged).unwrap()).as_deref(), expected);
    }

    #[test]
    fn additions_stay_and_removals_go() {
        check(Some("a\nb\nc\n"), Some("a\nc\nd"), Some("a\nb\ne\n"), Some("a\ne\nd\n"));
        check(None, Some("a\nb\n"), Some("b\nc\n"), Some("b\nc\na\n"));
    }

    #[test]
    fn an_edit_wins_over_a_removal() {
        check(Some("a\n"), None, Some("b\n"), Some("b\n"));
        check(Some("a\n"), Some("b\n"), None, Some("b\n"));
    }
}
