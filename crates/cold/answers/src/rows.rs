//! What a search or a timeline lists, one row per document.

use base::Timestamp;
use search::Kind;
use search::highlight::Words;
use search::sources::{Loaded, id_of, name_of};
use serde_json::{Value, json};
use text::sanitize;

/// The longest passage, in characters.
pub const MAX_PASSAGE: usize = 400;

/// Returns what a document is: `fix`, `summary`, `memory/decision`.
pub fn kind(loaded: &Loaded) -> String {
    let document = &loaded.document;
    let class = sanitize::one_line(&document.class, 20);
    match document.kind {
        Some(Kind::Entry) if !class.is_empty() => class,
        Some(kind @ (Kind::Memory | Kind::History | Kind::Lesson)) if !class.is_empty() => {
            format!("{}/{class}", name_of(kind))
        }
        Some(kind) => name_of(kind).to_owned(),
        None => "–".to_owned(),
    }
}

/// Returns the line of the text that has most of the words, unless it is the title.
pub fn passage(loaded: &Loaded, words: &mut Words) -> Option<String> {
    let line = words.best_line(&loaded.document.body)?;
    let line = excerpt(line, words);
    (words.has(&line) > 0 && line != loaded.document.title).then_some(line)
}

/// Returns a line that may be very long as one of bounded length, with words of the question in it.
pub fn excerpt(line: &str, words: &mut Words) -> String {
    let first = words.ranges(line).first().map_or(0, |range| range.start);
    let mut start = line.floor_char_boundary(first.saturating_sub(MAX_PASSAGE / 4));
    if line.len() <= MAX_PASSAGE {
        start = 0;
    }
    let front = if start > 0 { "…" } else { "" };
    format!("{front}{}", sanitize::one_line(&line[start..], MAX_PASSAGE))
}

/// Returns a document for a program.
pub fn to_json(loaded: &Loaded, words: &mut Words) -> Value {
    let document = &loaded.document;
    let text = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    json!({
        "id": id_of(&document.key),
        "is": document.kind.map(name_of),
        "type": text(&document.class),
        "title": document.title,
        "passage": passage(loaded, words),
        "when": (document.at > 0).then(|| Timestamp::from_millis(document.at).to_string()),
        "project": text(&document.project),
        "session": text(&document.session),
        "branch": text(&document.branch),
        "author": text(&document.author),
        "files": document.files,
        "times": loaded.times.max(1),
        "replaced_by": loaded.replaced_by,
    })
}
