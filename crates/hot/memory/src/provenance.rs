//! Where an entry comes from: the tag at its end, `[session ab12cd34, turn 7, by Alice, 2026-11-16]`.
//!
//! The Node version writes `[session ab12cd34, turn 7]` and never parses the tag, so ours only extends it: a search for
//! `[session ab12cd34, turn 7` finds both. The turn is the number of a message.

use std::fmt;

use text::sanitize;

/// How many characters of a session's id a tag carries.
const SESSION_CHARS: usize = 8;

/// The longest name of an author in a tag, in characters.
const MAX_AUTHOR_CHARS: usize = 60;

/// Who wrote an entry, when, and in which turn of which session. Each part may be unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provenance {
    /// The first eight characters of the session's id.
    pub session: Option<String>,
    /// The turn of the transcript.
    pub turn: Option<u64>,
    pub author: Option<String>,
    /// The day, or the moment, in RFC 3339.
    pub date: Option<String>,
}

impl Provenance {
    /// Returns the provenance of what `author` wrote in `turn` of `session` on `date`.
    pub fn new(session: &str, turn: u64, author: &str, date: &str) -> Self {
        Self { turn: Some(turn), ..Self::of_author(author, date) }.in_session(session)
    }

    /// Returns the provenance of what `author` wrote on `date` in no session.
    pub fn of_author(author: &str, date: &str) -> Self {
        let author = plain(author, MAX_AUTHOR_CHARS);
        let date = plain(date, 32);
        Self {
            author: (!author.is_empty()).then_some(author),
            date: is_date(&date).then_some(date),
            ..Self::default()
        }
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn in_session(self, session: &str) -> Self {
        let session: String = plain(session, usize::MAX).chars().take(SESSION_CHARS).collect();
        Self { session: (!session.is_empty()).then_some(session), ..self }
    }

    /// Parses the text between the brackets of a tag.
    pub(crate) fn parse(tag: &str) -> Self {
        let mut provenance = Self::default();
        for part in tag.split([',', ';']).map(str::trim) {
            if let Some(session) = after_word(part, "session") {
                provenance = provenance.in_session(session);
            } else if let Some(turn) = after_word(part, "turn").and_then(|turn| turn.parse().ok()) {
                provenance.turn = Some(turn);
            } else if let Some(author) = after_word(part, "by").map(|name| plain(name, MAX_AUTHOR_CHARS)) {
                provenance.author = (!author.is_empty()).then_some(author);
            } else if is_date(part) {
                provenance.date = Some(part.to_owned());
            }
        }
        provenance
    }
}

impl fmt::Display for Provenance {
    /// Writes the tag with its brackets, or nothing when nothing is known.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.session.as_ref().map(|session| format!("session {session}")),
            self.turn.map(|turn| format!("turn {turn}")),
            self.author.as_ref().map(|author| format!("by {author}")),
            self.date.clone(),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { Ok(()) } else { write!(formatter, "[{}]", parts.join(", ")) }
    }
}

/// Splits `line` into its text and the last of the tags at its end, without its brackets.
pub(crate) fn split(line: &str) -> (&str, Option<&str>) {
    let mut text = line.trim_end();
    let mut last = None;
    while let Some((before, tag)) = last_tag(text) {
        last = last.or(Some(tag));
        text = before.trim_end();
    }
    (text, last)
}

/// Returns the moment that a note begins with: `[2026-11-16T02:26:41Z] text`.
pub(crate) fn leading_stamp(text: &str) -> Option<&str> {
    let (stamp, _) = text.strip_prefix('[')?.split_once(']')?;
    is_date(stamp).then_some(stamp)
}

/// Splits a note whose author alone is behind it, `text [by Ada]`, into both.
pub(crate) fn signature(note: &str) -> Option<(&str, String)> {
    let (before, tag) = note.trim_end().strip_suffix(']')?.rsplit_once('[')?;
    let author = plain(after_word(tag, "by")?, MAX_AUTHOR_CHARS);
    let text = before.trim_end();
    let is_apart = text.len() < before.len();
    (is_apart && !text.is_empty() && !author.is_empty()).then_some((text, author))
}

pub(crate) fn date_in(tag: &str) -> Option<&str> {
    tag.split([',', ';']).map(str::trim).rfind(|part| is_date(part))
}

fn last_tag(text: &str) -> Option<(&str, &str)> {
    let (before, tag) = text.strip_suffix(']')?.rsplit_once('[')?;
    // Without a session the tag needs a date: "[by design]" is ordinary text.
    let is_tag = after_word(tag, "session").is_some()
        || after_word(tag, "by").is_some() && tag.split(',').any(|part| is_date(part.trim()));
    is_tag.then_some((before, tag))
}

fn after_word<'a>(part: &'a str, word: &str) -> Option<&'a str> {
    let (first, rest) = part.split_once(' ')?;
    (first.eq_ignore_ascii_case(word) && !rest.trim().is_empty()).then(|| rest.trim())
}

/// Returns whether `text` looks like `2026-11-16` or a moment of that day.
fn is_date(text: &str) -> bool {
    let day = text.as_bytes().first_chunk::<10>();
    let is_day = day.is_some_and(|day| {
        day.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    });
    let is_rest = |byte: u8| {
        byte.is_ascii_digit() || matches!(byte, b'T' | b't' | b'Z' | b'z' | b':' | b'.' | b'+' | b'-')
    };
    is_day && text.bytes().skip(10).all(is_rest)
}

/// Returns `text` on one line without what would end a tag, part it, or grow in an attribute of a fence.
fn plain(text: &str, max_chars: usize) -> String {
    let text: String = text
        .chars()
        .map(|c| if matches!(c, '[' | ']' | ',' | ';' | '&' | '<' | '>' | '"') { ' ' } else { c })
        .collect();
    sanitize::one_line(&text, max_chars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, text: &str, tag: &str) {
        let (found, last) = split(line);
        assert_eq!(found, text);
        assert_eq!(last.map(Provenance::parse).unwrap_or_default().to_string(), tag);
    }

    #[test]
    fn tags_of_both_wyrens_are_read() {
        check("Use X [session ab12cd34, turn 7]", "Use X", "[session ab12cd34, turn 7]");
        check(
            "Use X [session ab12cd34, turn 7, by Ada L, 2026-11-16]",
            "Use X",
            "[session ab12cd34, turn 7, by Ada L, 2026-11-16]",
        );
        check("Use X [by Ada, 2026-11-16]", "Use X", "[by Ada, 2026-11-16]");
        check("Use X [session old, turn 1] [session new, turn 2]  ", "Use X", "[session new, turn 2]");
        check("Use X [Session 0123456789, turn x]", "Use X", "[session 01234567]");
    }

    #[test]
    fn brackets_of_the_text_are_no_tag() {
        for text in ["slow [by design]", "see [1]", "[session", "a]", "[]", "list [session]"] {
            check(text, text, "");
        }
    }

    #[test]
    fn a_name_cannot_break_its_tag() {
        let tag = Provenance::new("ab12cd34-ffff", 3, "Eve], [session\nx", "2026-11-16").to_string();
        check(&format!("x {tag}"), "x", "[session ab12cd34, turn 3, by Eve session x, 2026-11-16]");
    }
}
