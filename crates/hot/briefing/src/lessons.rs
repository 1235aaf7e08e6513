//! Announcements of the team's lessons at a prompt: one was added, changed or removed, and its summary.
//!
//! Matching and showing lessons is the job of `lessons`; here a lesson is a file name and one line of its head.

use base::digest;
use std::path::Path;

use crate::view::{read_up_to, tellable};

/// The line of a lesson's head that says what it is about.
const SUMMARY: &str = "summary:";

/// The most that is read of a lesson, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// A lesson of the team.
#[derive(Debug)]
pub(crate) struct Lesson {
    pub(crate) slug: String,
    /// What it is about; empty when it does not say.
    pub(crate) summary: String,
    /// The digest of its file.
    pub(crate) digest: String,
}

impl Lesson {
    /// Reads a lesson by way of `buffer`; `None` when the file is none.
    pub(crate) fn read(file: &Path, buffer: &mut Vec<u8>) -> Option<Self> {
        let slug = file.file_stem()?.to_str()?.to_owned();
        let is_lesson = file.extension().is_some_and(|ending| ending == "md");
        if !is_lesson || slug.starts_with('.') {
            return None;
        }
        read_up_to(file, MAX_BYTES, buffer)?;
        let summary = summary(&String::from_utf8_lossy(buffer));
        Some(Self { slug, summary, digest: digest::short_hex(buffer) })
    }
}

/// Returns the summary of a lesson without private and secret parts: a line above it may have opened a private part or a
/// multi-line key.
fn summary(text: &str) -> String {
    let mut end = 0;
    for line in text.split_inclusive('\n').take_while(|line| !line.starts_with("## ")) {
        end += line.len();
        if line.starts_with(SUMMARY) {
            let head = tellable(text[..end].to_owned());
            return head
                .lines()
                .find_map(|line| line.strip_prefix(SUMMARY))
                .unwrap_or_default()
                .trim()
                .to_owned();
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_shows_neither_private_text_nor_secrets() {
        assert_eq!(summary("---\nkind: hint\nsummary: a <private>b</private>\n---\n"), "a");
        assert_eq!(summary("---\nname: <private>\nsummary: a\n</private>\n---\n"), "");
        let key =
            "---\nname: -----BEGIN PRIVATE KEY-----\nsummary: MIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n";
        assert_eq!(summary(key), "");
        assert_eq!(summary("---\n## Body\nsummary: a\n"), "");
    }
}
