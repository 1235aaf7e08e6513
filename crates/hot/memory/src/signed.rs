//! An entry as a model reads it: what it says, then `(Ada, 16 Nov)`. The file keeps session, turn and the whole date.
//!
//! Ada is the author of the commit that brought the entry. Where no commit tells, the entry's own tag is all there is,
//! and `(signed Ada, 16 Nov)` says that it is a claim.

use std::borrow::Cow;

use text::redact;
use text::sanitize;

use crate::memory::Entry;
use crate::update::{Authors, Frame, shown_line};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The longest name of an author, in characters.
const MAX_NAME_CHARS: usize = 60;

/// Writes entries with who brought them, and when.
pub(crate) struct Signing<'a> {
    authors: &'a Authors,
    /// The year now, which goes without saying.
    year: String,
}

impl<'a> Signing<'a> {
    pub(crate) fn of(frame: &Frame<'a>) -> Self {
        let year = frame.now.to_string().chars().take(4).collect();
        Self { authors: frame.authors, year }
    }

    /// Returns an entry as an item of a list, its lines as they are in the file; one that is longer than `max_chars` on one
    /// line and cut.
    pub(crate) fn item(&self, entry: &Entry, max_chars: usize) -> String {
        let said = said(entry);
        if said.chars().nth(max_chars).is_some() {
            return self.line(entry, max_chars, "");
        }
        let redacted = redact::redact(said.trim_end());
        let signature = self.signature(entry);
        // A mark that ends a block of code must be alone on its line.
        let ends_in_code =
            redacted.lines().next_back().is_some_and(|line| line.trim_start().starts_with("```"));
        let gap = match signature.is_empty() {
            true => "",
            false if ends_in_code => "\n  ",
            false => " ",
        };
        sanitize::for_model(&format!("- {redacted}{gap}{signature}")).into_owned()
    }

    /// Returns an entry as an item of a list on one line, its text cut to `max_chars`, with a `remark` about it.
    pub(crate) fn line(&self, entry: &Entry, max_chars: usize, remark: &str) -> String {
        let mut line = format!("- {}", shown_line(&said(entry), max_chars));
        for part in [remark, &sanitize::for_model(&self.signature(entry))] {
            if !part.is_empty() {
                line.extend([" ", part]);
            }
        }
        line
    }

    /// Returns who brought an entry, and when, in parentheses; empty when neither is known.
    fn signature(&self, entry: &Entry) -> String {
        let date = entry.provenance().date;
        let who = match self.authors.of(entry) {
            Some(author) => Some(plain(author)),
            None => entry.note().author.map(|author| format!("signed {}", plain(&author))),
        };
        // A text that ends like a signature must not pass for one.
        let who = who.or_else(|| ends_like_a_signature(&said(entry)).then(|| "unsigned".to_owned()));
        let when = date.and_then(|date| self.day(&date));
        let parts: Vec<String> = [who, when].into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) }
    }

    /// Returns a date as `16 Nov`, with the year when it is another one than now.
    fn day(&self, date: &str) -> Option<String> {
        let month = MONTHS.get(date.get(5..7)?.parse::<usize>().ok()?.checked_sub(1)?)?;
        let day: u8 = date.get(8..10)?.parse().ok()?;
        let year = date.get(..4)?;
        Some(if year == self.year { format!("{day} {month}") } else { format!("{day} {month} {year}") })
    }
}

/// Returns what an entry says, without the moment and the name of a note.
pub(crate) fn said(entry: &Entry) -> Cow<'_, str> {
    entry.note().text
}

/// Returns a name on one line that cannot end the parentheses or begin the date.
fn plain(name: &str) -> String {
    let name = name.replace(['(', ')', ','], " ");
    sanitize::one_line(&name, MAX_NAME_CHARS)
}

fn ends_like_a_signature(text: &str) -> bool {
    let inside = text.trim_end().strip_suffix([')', '）']).and_then(|text| text.rsplit_once(['(', '（']));
    let Some((_, inside)) = inside else { return false };
    let is_year = |word: &&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let last = inside.split_whitespace().rev().find(|word| !is_year(word)).unwrap_or_default();
    inside.trim_start().starts_with("signed") || MONTHS.iter().any(|month| last.starts_with(month))
}
