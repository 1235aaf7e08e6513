//! Announcements of the team's lessons at a prompt: one was added, changed or removed, and its summary.
//!
//! Matching and showing lessons is the job of `lessons`; here a lesson is a file name and one line of its head.

use base::digest;
use base::trust::Trust;
use std::path::Path;
use text::sanitize;

use crate::view::{read_up_to, tellable};

/// The line of a lesson's head that says what it is about.
const SUMMARY: &str = "summary:";

/// The line of a lesson's head that says what it does.
const KIND: &str = "kind:";

/// The kind of a lesson that does not say, and the only one that needs no trust.
const HINT: &str = "hint";

/// The longest summary in an announcement, in characters: what follows it must fit into its line.
const MAX_SUMMARY_CHARS: usize = 160;

/// The most that is read of a lesson, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// A lesson of the team.
#[derive(Debug)]
pub(crate) struct Lesson {
    pub(crate) slug: String,
    /// What it is about; empty when it does not say.
    pub(crate) summary: String,
    /// What it does: `hint`, `pause`, `guard`, `directive` or `protocol`.
    kind: String,
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
        let text = String::from_utf8_lossy(buffer);
        let (summary, kind) = (summary(&text), kind(&text));
        Some(Self { slug, summary, kind, digest: digest::short_hex(buffer) })
    }

    /// Returns the line that announces a lesson that is new, or else changed: its summary, its name when that says something
    /// else, and whether it waits for the user's trust.
    pub(crate) fn announcement(&self, is_new: bool, trust: Option<&Trust>) -> String {
        let word = if is_new { "new" } else { "changed" };
        let what = if self.kind == HINT { "lesson" } else { self.kind.as_str() };
        let summary = sanitize::one_line(&self.summary, MAX_SUMMARY_CHARS);
        let named = match summary.is_empty() {
            true => self.slug.clone(),
            false if self.is_named_after(&summary) => summary,
            false => format!("{summary} ({})", self.slug),
        };
        let silent = if self.is_silent(is_new, trust) { "; silent until `wyren trust`" } else { "" };
        format!("{word} {what}: {named}{silent}")
    }

    /// Returns whether the name is made of the summary's words, as `wyren lessons add` makes it. A long name is cut.
    fn is_named_after(&self, summary: &str) -> bool {
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|character: char| !character.is_alphanumeric());
            words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
        };
        let (name, summary) = (words(&self.slug), words(summary));
        name.iter().all(|word| summary.contains(word))
    }

    /// Returns whether the lesson does nothing yet. Trust is about content, so it cannot cover what has just changed; what is
    /// new here may have been trusted before the session heard of it.
    fn is_silent(&self, is_new: bool, trust: Option<&Trust>) -> bool {
        let is_trusted = |trust: &Trust| {
            let items = &trust.items;
            trust.lapse.is_none() && items.iter().any(|item| item.name == self.slug && item.kind == self.kind)
        };
        self.kind != HINT && !(is_new && trust.is_some_and(is_trusted))
    }
}

/// Returns what a lesson does; a word that is no kind is a hint's, as such a lesson is left out elsewhere.
fn kind(text: &str) -> String {
    let head = text.lines().skip(1).take_while(|line| line.trim_end() != "---");
    let named = head.filter_map(|line| line.strip_prefix(KIND)).map(str::trim).last();
    let known = ["pause", "guard", "directive", "protocol"];
    named.filter(|kind| known.contains(kind)).unwrap_or(HINT).to_owned()
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
