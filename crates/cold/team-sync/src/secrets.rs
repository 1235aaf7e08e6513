//! What of a shared file stays on this machine: `<private>` parts, and what looks like a secret.
//!
//! A text is cut into chunks: lines that leave as they are, and lines of which something stays here. What left can be
//! told from what stayed, so that a merged text gets back what stayed of ours, and a sync that changes nothing changes
//! nothing here either.

use std::borrow::Cow;
use std::collections::HashMap;
use text::{privacy, redact};

/// The beginning of the mark in the place of a secret.
const MARK: &str = "[redacted:";

/// How a part that its writer marked is called in reports.
const PRIVATE: &str = "private";

/// How much of an entry a report shows, in characters.
const MAX_SHOWN_CHARS: usize = 120;

/// Something that was not published.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HeldBack {
    /// The file, relative to `.wyren/`.
    pub path: String,
    /// The line where it begins, from 1; 0 for the whole file.
    pub line: usize,
    /// What of it was published; empty when nothing was.
    pub shown: String,
    /// What it is: `private`, or the kind of secret it looks like.
    pub kind: String,
}

/// A text, and what of it may leave this machine.
#[derive(Debug)]
pub(crate) struct Filtered<'a> {
    text: &'a str,
    chunks: Vec<Chunk<'a>>,
}

/// Some lines of a text.
#[derive(Debug)]
struct Chunk<'a> {
    raw: &'a str,
    /// What leaves of them; `None` when all of it does.
    published: Option<String>,
    kind: String,
    line: usize,
}

impl<'a> Filtered<'a> {
    /// Looks for what stays here.
    pub(crate) fn of(text: &'a str) -> Self {
        let is_clean = matches!(privacy::strip_private(text), Cow::Borrowed(_))
            && matches!(redact::redact(text), Cow::Borrowed(_));
        if is_clean {
            return Self { text, chunks: Vec::new() };
        }
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut chunks = Vec::new();
        let (mut at, mut begin) = (0, 0);
        while at < lines.len() {
            let end = end_of_chunk(&lines, at);
            let length: usize = lines[at..end].iter().map(|line| line.len()).sum();
            let raw = &text[begin..begin + length];
            let (published, kind) = publishable(raw);
            chunks.push(Chunk { raw, published, kind, line: at + 1 });
            (at, begin) = (end, begin + length);
        }
        let filtered = Self { text, chunks };
        // A secret over several lines that the cuts went through: then the text is one chunk.
        match redact::redact(&filtered.published()) {
            Cow::Borrowed(_) => filtered,
            Cow::Owned(published) => {
                let kind = kinds_of(text, &published);
                Self { text, chunks: vec![Chunk { raw: text, published: Some(published), kind, line: 0 }] }
            }
        }
    }

    /// Returns what may leave.
    pub(crate) fn published(&self) -> Cow<'a, str> {
        if self.chunks.iter().all(|chunk| chunk.published.is_none()) {
            return Cow::Borrowed(self.text);
        }
        let parts = self.chunks.iter().map(|chunk| chunk.published.as_deref().unwrap_or(chunk.raw));
        Cow::Owned(parts.collect())
    }

    /// Returns what stays here of the file at `path`.
    pub(crate) fn held_back(&self, path: &str) -> Vec<HeldBack> {
        let held = self.chunks.iter().filter_map(|chunk| Some((chunk, chunk.published.as_ref()?)));
        held.map(|(chunk, published)| HeldBack {
            path: path.to_owned(),
            line: chunk.line,
            shown: if chunk.line == 0 { String::new() } else { shown(published) },
            kind: chunk.kind.clone(),
        })
        .collect()
    }

    /// Returns `merged`, which was made of what was published, with what stayed here. `None` when the places of it cannot
    /// be told.
    ///
    /// Where others changed or removed the published rest of a line, the line stays here as a private one.
    pub(crate) fn restored(&self, merged: &str) -> Option<String> {
        if merged == self.published() {
            return Some(self.text.to_owned());
        }
        if self.chunks.iter().any(|chunk| chunk.line == 0) {
            return None;
        }
        let mut page = Page::new(merged);
        for chunk in &self.chunks {
            match &chunk.published {
                None => page.pass(chunk.raw),
                Some(published) if published.is_empty() => page.insert(chunk.raw.to_owned()),
                Some(published) => {
                    if !page.replace(published, chunk.raw) {
                        page.insert(as_private(chunk.raw));
                    }
                }
            }
        }
        Some(page.text())
    }
}

/// Returns what stays here of contents that are no text: all of it when there is a secret in them.
pub(crate) fn held_back_whole(path: &str, contents: &[u8]) -> Option<HeldBack> {
    let text = String::from_utf8_lossy(contents);
    let kind = publishable(&text).1;
    let held = HeldBack { path: path.to_owned(), line: 0, shown: String::new(), kind };
    (!held.kind.is_empty()).then_some(held)
}

/// Returns what may leave of some lines (`None`: all) and what stays.
fn publishable(raw: &str) -> (Option<String>, String) {
    let stripped = privacy::strip_private(raw);
    let has_private = matches!(stripped, Cow::Owned(_));
    let redacted = redact::redact(&stripped);
    if !has_private && matches!(redacted, Cow::Borrowed(_)) {
        return (None, String::new());
    }
    let mut kinds = kinds_of(&stripped, &redacted);
    let mut published = redacted.into_owned();
    if has_private {
        kinds = if kinds.is_empty() { PRIVATE.to_owned() } else { format!("{PRIVATE}, {kinds}") };
        published = published.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        if !published
            .chars()
            .any(|character| !matches!(character, '-' | '*' | '+') && !character.is_whitespace())
        {
            published.clear();
        } else if raw.ends_with('\n') && !published.ends_with('\n') {
            published.push('\n');
        }
    }
    (Some(published), kinds)
}

/// Returns the kinds of secrets that `redacted` marks and `raw` does not.
fn kinds_of(raw: &str, redacted: &str) -> String {
    let kinds = |text: &str| -> Vec<String> {
        let marks = text.split(MARK).skip(1).filter_map(|rest| rest.split_once(']'));
        marks.map(|(kind, _)| kind.to_owned()).collect()
    };
    let mut found = kinds(redacted);
    for known in kinds(raw) {
        if let Some(at) = found.iter().position(|kind| *kind == known) {
            found.remove(at);
        }
    }
    found.sort_unstable();
    found.dedup();
    found.join(", ")
}

fn shown(published: &str) -> String {
    text::sanitize::one_line(published, MAX_SHOWN_CHARS)
}

/// Returns where the chunk that begins at a line ends: behind the line, or behind the private part or the key that goes
/// on below it.
fn end_of_chunk(lines: &[&str], at: usize) -> usize {
    let mut end = at + 1;
    if is_open(lines[at]) {
        let mut chunk = lines[at].to_owned();
        let closing = lines[end..].iter().position(|line| {
            chunk.push_str(line);
            privacy::has_closing_tag(line) && !is_open(&chunk)
        });
        // A tag without an end hides what it belongs to, and not the rest of the memory.
        end = closing.map_or_else(|| end_of_block(lines, end), |offset| end + offset + 1);
    } else {
        // A closing tag without an opening one hides all that comes before it in its entry.
        let block = end_of_block(lines, end);
        let closing = lines[end..block].iter().rposition(|line| privacy::has_closing_tag(line));
        if let Some(offset) = closing
            && hides_its_beginning(lines[at], &lines[end..end + offset + 1])
        {
            end += offset + 1;
        }
    }
    if lines[at..end].iter().any(|line| line.contains("-----BEGIN")) {
        let closing = lines[at..].iter().position(|line| line.contains("-----END"));
        end = end.max(closing.map_or_else(|| end_of_block(lines, end), |offset| at + offset + 1));
    }
    end
}

/// Returns whether a private part begins in the text and does not end there.
fn is_open(text: &str) -> bool {
    const END: char = '\u{0}';
    has_tag(text) && !privacy::strip_private(&format!("{text}{END}")).ends_with(END)
}

/// Returns whether a tag in the lines below `first` hides what `first` begins with.
fn hides_its_beginning(first: &str, below: &[&str]) -> bool {
    const BEGIN: char = '\u{0}';
    let text = format!("{BEGIN}{first}{}", below.concat());
    !privacy::strip_private(&text).starts_with(BEGIN)
}

fn has_tag(text: &str) -> bool {
    matches!(privacy::strip_private(text), Cow::Owned(_))
}

/// Returns where the entry or paragraph that goes on at a line ends. An indented paragraph below a blank line still belongs to
/// the entry.
fn end_of_block(lines: &[&str], from: usize) -> usize {
    let mut end = from;
    while let Some(line) = lines.get(end).filter(|line| !line.starts_with(['#', '-', '*', '+'])) {
        if line.trim().is_empty() {
            let next = lines[end..].iter().find(|line| !line.trim().is_empty());
            if !next.is_some_and(|next| next.starts_with([' ', '\t'])) {
                break;
            }
        }
        end += 1;
    }
    end
}

/// Returns lines that others are not to see any more, as a private entry or paragraph.
fn as_private(raw: &str) -> String {
    let line = raw.trim_end();
    let bullet = if line.starts_with("- ") || line.starts_with("* ") { &line[..2] } else { "" };
    format!("{bullet}<private>{}</private>\n", &line[bullet.len()..])
}

/// A text that gets lines back.
struct Page<'a> {
    lines: Vec<&'a str>,
    /// What is in the place of a line, and above it; one more than there are lines, for the end.
    places: Vec<Place>,
    /// Where lines stand that were not passed yet, the last first.
    where_is: HashMap<&'a str, Vec<usize>>,
    at: usize,
}

#[derive(Clone, Default)]
struct Place {
    above: String,
    instead: Option<String>,
}

impl<'a> Page<'a> {
    fn new(text: &'a str) -> Self {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut where_is: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate().rev() {
            where_is.entry(line.trim_end()).or_default().push(at);
        }
        let places = vec![Place::default(); lines.len() + 1];
        Self { lines, places, where_is, at: 0 }
    }

    /// Goes on below a line, if it is there.
    fn pass(&mut self, line: &str) {
        // Blank lines are everywhere, and say nothing about where we are.
        if !line.trim().is_empty()
            && let Some(at) = self.where_is.get_mut(line.trim_end()).and_then(Vec::pop)
        {
            self.at = at + 1;
        }
    }

    fn insert(&mut self, lines: String) {
        self.places[self.at].above.push_str(&lines);
    }

    /// Puts lines in the place of others. Returns whether those were there.
    fn replace(&mut self, others: &str, lines: &str) -> bool {
        let others: Vec<&str> = others.lines().map(str::trim_end).collect();
        let Some(&first) = others.first() else { return false };
        let is_here = |at: &usize| {
            let found = self.lines.get(*at..*at + others.len());
            found.is_some_and(|found| found.iter().map(|line| line.trim_end()).eq(others.iter().copied()))
        };
        let Some(candidates) = self.where_is.get(first) else { return false };
        let Some(position) = candidates.iter().rposition(is_here) else { return false };
        let at = candidates[position];
        if let Some(candidates) = self.where_is.get_mut(first) {
            candidates.remove(position);
        }
        self.places[at].instead = Some(lines.to_owned());
        for place in &mut self.places[at + 1..at + others.len()] {
            place.instead = Some(String::new());
        }
        self.at = at + others.len();
        true
    }

    fn text(self) -> String {
        let mut text = String::new();
        for (at, place) in self.places.into_iter().enumerate() {
            if !place.above.is_empty() && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&place.above);
            match (place.instead, self.lines.get(at)) {
                (Some(instead), _) => text.push_str(&instead),
                (None, Some(line)) => text.push_str(line),
                (None, None) => {}
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(tail: char) -> String {
        format!("ghp_{}{tail}", "a1B2c3D4".repeat(5).get(..35).unwrap_or_default())
    }

    #[track_caller]
    fn check(text: &str, published: &str, kinds: &[&str]) {
        let filtered = Filtered::of(text);
        assert_eq!(filtered.published(), published);
        let held: Vec<String> = filtered.held_back("memory.md").into_iter().map(|held| held.kind).collect();
        assert_eq!(held, kinds);
        assert_eq!(Filtered::of(published).published(), published, "what was published may be published");
        assert_eq!(filtered.restored(published).as_deref(), Some(text));
    }

    #[test]
    fn private_parts_and_secrets_stay_and_the_rest_leaves() {
        check("- plain\n", "- plain\n", &[]);
        check("- a <private>x</private>\n- b\n", "- a\n- b\n", &["private"]);
        check("- <private>x</private>\n- b\n", "- b\n", &["private"]);
        check("a\n<private>\nx\n\n- y\n</private>\nb\n", "a\nb\n", &["private"]);
        let raw = format!("- a\n- token {}\n- b\n", token('x'));
        check(&raw, "- a\n- token [redacted:github]\n- b\n", &["github"]);
    }

    #[test]
    fn a_tag_without_an_end_hides_its_entry_alone() {
        check("- a <private>x\n  y\n- b\n", "- a\n- b\n", &["private"]);
        check("- a <private>x\n\n## S\n- b\n", "- a\n\n## S\n- b\n", &["private"]);
        check("- a <private>x\n\n  y\n\n\tz\n\n- b\n", "- a\n\n- b\n", &["private"]);
    }

    #[test]
    fn a_closing_tag_without_an_opening_one_hides_its_entry_up_to_it() {
        check("- a\n- x</private>\n- b\n", "- a\n- b\n", &["private"]);
        check("- a\n- x\n  y\n  z</private> rest\n- b\n", "- a\n rest\n- b\n", &["private"]);
        check("- a\n\nx\ny\n< /private>\n\n- b\n", "- a\n\n- b\n", &["private"]);
        check("- a <private>x</private>\n  y\n- b\n", "- a\n  y\n- b\n", &["private"]);
    }

    #[test]
    fn a_key_over_several_lines_stays_as_a_whole() {
        let key =
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx\nabc123\n-----END RSA PRIVATE KEY-----\n";
        let text = format!("before\n{key}after\n");
        let filtered = Filtered::of(&text);
        let published = filtered.published();
        assert!(!published.contains("MIIE") && !published.contains("abc123"), "{published}");
        assert!(published.starts_with("before\n") && published.ends_with("after\n"), "{published}");
        assert_eq!(filtered.restored(&published).as_deref(), Some(&*text));
    }

    #[test]
    fn what_others_add_comes_beside_what_stayed() {
        let text = format!("- a\n- <private>mine</private>\n- token {}\n", token('x'));
        let filtered = Filtered::of(&text);
        assert_eq!(filtered.published(), "- a\n- token [redacted:github]\n");
        let restored = filtered.restored("- new\n- a\n- token [redacted:github]\n- more\n").unwrap();
        let expected = format!("- new\n- a\n- <private>mine</private>\n- token {}\n- more\n", token('x'));
        assert_eq!(restored, expected);
    }

    #[test]
    fn what_others_removed_the_rest_of_stays_as_a_private_entry() {
        let text = format!("- a\n- token {}\n", token('x'));
        let restored = Filtered::of(&text).restored("- a\n- b\n").unwrap();
        assert_eq!(restored, format!("- a\n- <private>token {}</private>\n- b\n", token('x')));
        assert_eq!(Filtered::of(&restored).published(), "- a\n- b\n");
    }

    #[test]
    fn two_secrets_that_look_alike_once_published_both_stay() {
        let text = format!("- token {}\n- token {}\n", token('x'), token('y'));
        let restored = Filtered::of(&text).restored("- token [redacted:github]\n- b\n").unwrap();
        assert!(restored.contains(&token('x')) && restored.contains(&token('y')), "{restored}");
        assert_eq!(Filtered::of(&restored).published(), "- token [redacted:github]\n- b\n");
    }
}
