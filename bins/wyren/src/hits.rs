//! What a search or a timeline lists: one line per document with its id, and below it the line that was found.

use crate::projects;
use crate::terminal::{DIM, FOUND, STRONG, columns_of, fitting, wrap};
use crate::when;
use anyhow::Result;
use search::highlight::Words;
use search::sources::{Loaded, id_of};
use std::io::Write;
use std::ops::Range;
use text::sanitize;

pub(crate) use answers::rows::{kind, passage, to_json};

/// The longest title, in characters, where no terminal bounds it.
const MAX_TITLE: usize = 200;
/// The same for the lines below a document: each word of a long question has a part in its score.
const MAX_FACTS: usize = 4_000;
/// A title that would have less room than this goes below the other columns.
const LEAST_TITLE: usize = 24;
const INDENT: usize = 4;
const GAP: usize = 2;
const ID: usize = 8;
const WHEN: usize = 16;

/// How lines are laid out.
pub(crate) struct Layout {
    kind: usize,
    /// The columns of the terminal; `None` where nothing is cut.
    width: Option<usize>,
    /// How many columns the caller writes before each document.
    pub(crate) margin: usize,
    /// Whether documents may be of several projects.
    pub(crate) has_projects: bool,
}

impl Layout {
    pub(crate) fn of(loaded: &[Loaded], width: Option<usize>, has_projects: bool) -> Self {
        let kind = loaded.iter().map(|loaded| columns_of(&kind(loaded))).max().unwrap_or_default();
        Self { kind, width, margin: 0, has_projects }
    }

    /// Where titles begin, how many columns they have (`None` for as many as they need), and whether that is beside the rest.
    fn place(&self) -> (usize, Option<usize>, bool) {
        let beside = self.margin + ID + GAP + WHEN + GAP + self.kind + GAP;
        let below = self.margin + INDENT;
        match self.width {
            None => (beside, None, true),
            Some(width) if width >= beside + LEAST_TITLE => (beside, Some(width - beside), true),
            Some(width) => (below, Some(width.saturating_sub(below).max(1)), false),
        }
    }

    /// Writes a document; `more` comes below it.
    pub(crate) fn write(
        &self,
        output: &mut dyn Write,
        loaded: &Loaded,
        words: &mut Words,
        more: &[String],
    ) -> Result<()> {
        let document = &loaded.document;
        let (start, room, is_beside) = self.place();
        let kind = kind(loaded);
        let (id, when) = (id_of(&document.key), when::recorded(document.at));
        let columns = self.margin + ID + GAP + WHEN + GAP + columns_of(&kind);
        if self.width.is_some_and(|width| columns > width) {
            write!(output, "{STRONG}{id}{STRONG:#}  {DIM}{when}{DIM:#}\n{:start$}{kind}", "")?;
        } else {
            write!(output, "{STRONG}{id}{STRONG:#}  {DIM}{when:<WHEN$}{DIM:#}  {kind}")?;
        }
        let title = sanitize::one_line(&document.title, MAX_TITLE);
        if is_beside {
            write!(output, "{:1$}", "", self.kind.saturating_sub(columns_of(&kind)) + GAP)?;
        } else {
            write!(output, "\n{:start$}", "")?;
        }
        for (number, line) in on_two_lines(&title, words, room).iter().enumerate() {
            if number > 0 {
                write!(output, "{:start$}", "")?;
            }
            marked(output, line, words, room)?;
            writeln!(output)?;
        }
        if let Some(line) = passage(loaded, words) {
            write!(output, "{:start$}", "")?;
            marked(output, &line, words, room)?;
            writeln!(output)?;
        }
        for line in self.facts(loaded).iter().chain(more) {
            let line = sanitize::one_line(line, MAX_FACTS);
            // Nothing of a sum is left out.
            for line in room.map_or_else(|| vec![line.clone()], |room| wrap(&line, room)) {
                writeln!(output, "{:start$}{DIM}{line}{DIM:#}", "")?;
            }
        }
        Ok(())
    }

    /// Returns what is worth knowing besides.
    fn facts(&self, loaded: &Loaded) -> Option<String> {
        let mut facts = Vec::new();
        if self.has_projects && !loaded.document.project.is_empty() {
            facts.push(projects::name(&loaded.document.project));
        }
        if loaded.times > 1 {
            facts.push(format!("{} times", loaded.times));
        }
        if let Some(by) = &loaded.replaced_by {
            facts.push(format!("replaced by {by}"));
        }
        (!facts.is_empty()).then(|| facts.join(" · "))
    }
}

/// Returns a title on one line, or on two where it needs them; what is beyond these is left out around what was found.
fn on_two_lines(title: &str, words: &mut Words, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else { return vec![title.to_owned()] };
    let mut lines = wrap(title, room);
    if lines.len() > 2 {
        let rest = title[lines[0].len()..].trim_start();
        let rest = window(rest, &words.ranges(rest), room);
        lines.truncate(1);
        lines.push(rest);
    }
    lines
}

/// Writes a line with the words of the question in their colour, cut to the room there is.
pub(crate) fn marked(
    output: &mut dyn Write,
    line: &str,
    words: &mut Words,
    room: Option<usize>,
) -> Result<()> {
    let (line, ranges) = match room {
        Some(room) if columns_of(line) > room => {
            let line = window(line, &words.ranges(line), room);
            let ranges = words.ranges(&line);
            (line, ranges)
        }
        _ => (line.to_owned(), words.ranges(line)),
    };
    let mut end = 0;
    for range in ranges {
        write!(output, "{}{FOUND}{}{FOUND:#}", &line[end..range.start], &line[range.clone()])?;
        end = range.end;
    }
    Ok(write!(output, "{}", &line[end..])?)
}

/// Returns as much of a line as fits, from a little before the first place on; `…` is where something is left out.
fn window(line: &str, ranges: &[Range<usize>], room: usize) -> String {
    let before = room / 4;
    let first = ranges.first().map_or(0, |range| range.start);
    let mut start = 0;
    // The first place is seen whole where it is short enough.
    let wanted = ranges.first().map_or(0, |range| range.end);
    if columns_of(&line[..wanted]) > room.saturating_sub(2) {
        start = first;
        for (at, _) in line[..first].char_indices().rev() {
            // Near the end of a line there is room for more of what is before.
            if columns_of(&line[at..first]) > before && columns_of(&line[at..]) >= room {
                break;
            }
            start = at;
        }
        if start > 0 && !line[..start].ends_with(' ') {
            start += part_of_word(&line[start..first]);
        }
    }
    let front = if start > 0 { "…" } else { "" };
    let rest = &line[start..];
    let left = room.saturating_sub(columns_of(front));
    if columns_of(rest) <= left {
        return format!("{front}{rest}");
    }
    let fits = if left > 1 { fitting(rest, left - 1) } else { 0 };
    format!("{front}{}…", rest[..fits].trim_end())
}

/// Returns how long what is left of a word is at the beginning of a text that was cut there, with the space behind it; 0 for a
/// long one, as of a script without spaces.
fn part_of_word(text: &str) -> usize {
    const LONG: usize = 16;
    text.find(' ').filter(|length| *length <= LONG).map_or(0, |length| length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::{Document, Kind};

    fn loaded(title: &str, body: &str) -> Loaded {
        let document = Document {
            key: "e:3f9k2m1x".to_owned(),
            kind: Some(Kind::Entry),
            class: "fix".to_owned(),
            at: 1_800_000_000_000,
            title: title.to_owned(),
            body: body.to_owned(),
            ..Document::default()
        };
        Loaded { document, ..Loaded::default() }
    }

    fn drawn(loaded: &Loaded, words: &[&str], width: usize) -> String {
        let mut output = Vec::new();
        let layout = Layout::of(std::slice::from_ref(loaded), Some(width), false);
        let mut words = Words::of(words.iter().copied());
        layout.write(&mut output, loaded, &mut words, &["more about it".to_owned()]).unwrap();
        let text = String::from_utf8(output).unwrap();
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_whatever_the_script() {
        let body =
            format!("{}バックアップ{}", "日本語の説明はとても長い。".repeat(20), "最後まで。".repeat(40));
        for (title, word) in [
            ("日本語のバックアップの説明", "バック"),
            ("A backup that runs at night in e\u{301}tude", "backup"),
        ] {
            let loaded = loaded(&title.repeat(4), &body);
            for width in [20, 40, 60, 80, 120] {
                let text = drawn(&loaded, &[word], width);
                let widest = text.lines().map(columns_of).max().unwrap();
                // The id, the time and the type are never cut.
                assert!(widest <= width.max(ID + GAP + WHEN + GAP + 3), "{width}: {text}");
            }
        }
    }

    #[test]
    fn a_long_type_goes_below_the_id_where_it_has_no_room() {
        let mut loaded = loaded("A needle", "in hay");
        loaded.document.kind = Some(Kind::Memory);
        loaded.document.class = "workaround".to_owned();
        let first = |width: usize| drawn(&loaded, &["needle"], width).lines().next().unwrap().to_owned();
        assert!(!first(40).contains("memory") && columns_of(&first(40)) <= 40, "{}", first(40));
        assert!(drawn(&loaded, &["needle"], 40).contains("\n    memory/workaround\n    A needle\n"));
        assert!(first(50).ends_with("memory/workaround"), "{}", first(50));
    }

    #[test]
    fn a_long_line_is_cut_around_what_was_found() {
        let line = format!("{} needle {}", "before ".repeat(40), "after ".repeat(40));
        let mut words = Words::of(["needle"]);
        let ranges = words.ranges(&line);
        for room in [12, 40, 80] {
            let shown = window(&line, &ranges, room);
            assert!(shown.contains("needle") && columns_of(&shown) <= room, "{shown}");
            assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        }
        let late = format!("{}needle", "before ".repeat(10));
        let shown = window(&late, &words.ranges(&late), 40);
        assert_eq!(shown, "…before before before before needle");
        let title = format!("{}needle {}", "before ".repeat(30), "after ".repeat(9));
        let lines = on_two_lines(&title, &mut words, Some(40));
        assert_eq!(lines, ["before before before before before", "…before needle after after after after…"]);
        assert_eq!(on_two_lines("a short needle", &mut words, Some(10)), ["a short", "needle"]);
        let short = "short needle";
        assert_eq!(window(short, &words.ranges(short), 40), short);
    }

    #[test]
    fn the_words_are_coloured_and_control_characters_are_not_passed_on() {
        let loaded = loaded("A \u{1b}[31mneedle\u{7}", "in a\nhay needle stack");
        let mut output = Vec::new();
        let mut words = Words::of(["needle"]);
        Layout::of(&[], None, false).write(&mut output, &loaded, &mut words, &[]).unwrap();
        let text = String::from_utf8(output).unwrap();
        assert!(text.contains(&format!("{FOUND}needle{FOUND:#}")), "{text:?}");
        assert!(!text.contains("\u{1b}[31m") && !text.contains('\u{7}'), "{text:?}");
        assert!(text.contains(&format!("hay {FOUND}needle{FOUND:#} stack")), "{text:?}");
    }
}
