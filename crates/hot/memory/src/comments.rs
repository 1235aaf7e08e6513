//! Takes comments out of a memory before a model reads it: `<!-- … -->` is a note of a program, or to people who edit the
//! file.

use std::borrow::Cow;

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// How many lines a comment may have. A memory of marks without an end must not cost the square of its lines.
const MAX_LINES: usize = 50;

/// Returns `text` without its comments. Code keeps them, in blocks and between backticks; and no comment reaches over a
/// heading or an entry, or one stray mark would hide what the team knows.
pub fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains(OPEN) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut kept = String::with_capacity(text.len());
    let mut code: Option<&str> = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let start = line.trim_start();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark)) {
            code = match code {
                Some(open) if open == mark => None,
                open => open.or(Some(mark)),
            };
        }
        if code.is_some() || !line.contains(OPEN) {
            kept.push_str(line);
            continue;
        }
        if start.starts_with(OPEN)
            && !start.contains(CLOSE)
            && let Some((lines_taken, rest)) = end(&lines[at..])
        {
            at += lines_taken;
            if !rest.trim().is_empty() {
                kept.push_str(rest.trim_start());
            }
            continue;
        }
        let rest = without_comments_in_line(line);
        if !rest.trim().is_empty() {
            kept.push_str(&rest);
        }
    }
    Cow::Owned(kept)
}

/// Returns how many of `lines` still belong to a comment that is open, and what follows it in the last one.
fn end<'a>(lines: &[&'a str]) -> Option<(usize, &'a str)> {
    let begins_something = |line: &&&str| line.starts_with(['#', '-', '*', '+']) && !line.starts_with(CLOSE);
    let within = lines.iter().take(MAX_LINES).take_while(|line| !begins_something(line));
    let (at, line, close) = within.enumerate().find_map(|(at, line)| Some((at, line, line.find(CLOSE)?)))?;
    Some((at + 1, &line[close + CLOSE.len()..]))
}

fn without_comments_in_line(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find(OPEN) {
        let (before, comment) = rest.split_at(open);
        kept.push_str(before);
        let is_code = kept.matches('`').count() % 2 == 1;
        match comment.find(CLOSE) {
            Some(close) if !is_code => rest = &comment[close + CLOSE.len()..],
            _ => {
                kept.push_str(OPEN);
                rest = &comment[OPEN.len()..];
            }
        }
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_comments(text), expected);
    }

    #[test]
    fn a_comment_goes_with_its_line_and_leaves_what_is_beside_it() {
        check("# M\n<!-- Populated by distiller. -->\n\n- a\n", "# M\n\n- a\n");
        check("- a <!-- id 7 --> b <!-- c -->\n- d\n", "- a  b \n- d\n");
        check("<!--\nfor people\n-->\n- a\n", "- a\n");
        check("<!-- one\ntwo --> three\n", "three\n");
    }

    #[test]
    fn code_keeps_its_comments() {
        check("- mark it with `<!-- more -->` <!-- x -->\n", "- mark it with `<!-- more -->` \n");
        check("```html\n<!-- a -->\n```\n<!-- b -->\n", "```html\n<!-- a -->\n```\n");
    }

    #[test]
    fn a_stray_mark_hides_neither_entries_nor_headings() {
        for text in ["- a <!-- b\n- c -->\n", "<!-- a\n- b\n-->\n", "<!--\n## Decisions\n-->\n", "<!-- a\n"] {
            check(text, text);
        }
        let marks = "<!-- a\n".repeat(20_000);
        check(&marks, &marks);
    }
}
