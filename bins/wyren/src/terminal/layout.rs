//! Tables that fit the width of a terminal, measured in the columns that it shows.

use super::{Cell, columns_of};
use std::io::{self, Write};
use unicode_width::UnicodeWidthChar as _;

/// Between two columns.
const GAP: usize = 2;

/// A last column that would be narrower than this goes below the others instead.
const LEAST_LAST: usize = 24;

/// How far that one is indented then.
const INDENT: usize = 4;

/// Columns up to this width are never made narrower.
const SHORT: usize = 12;

/// How the cells of a table are laid out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The width of each column.
    widths: Vec<usize>,
    /// The width of the last column below the others, when it does not fit beside them.
    below: Option<usize>,
}

impl Layout {
    pub(super) fn of(rows: &[Vec<Cell>], width: Option<usize>) -> Self {
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let natural = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|(text, _)| columns_of(text)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(natural).collect();
        let whole = Self { widths, below: None };
        match width {
            Some(width) if count > 1 && whole.total() > width => whole.within(width, rows),
            _ => whole,
        }
    }

    fn total(&self) -> usize {
        self.widths.iter().sum::<usize>() + GAP * self.widths.len().saturating_sub(1)
    }

    /// Returns the layout with the fewest lines in which the last column and the widest one between it and the first are
    /// narrower.
    fn within(self, width: usize, rows: &[Vec<Cell>]) -> Self {
        let last = self.widths.len() - 1;
        let between = (1..last).max_by_key(|column| self.widths[*column]);
        let between = between.filter(|column| self.widths[*column] > SHORT);
        let choices = match between {
            Some(column) => SHORT..=self.widths[column],
            None => 0..=0,
        };
        let mut best: Option<(usize, Self)> = None;
        for choice in choices.rev() {
            let mut widths = self.widths.clone();
            if let Some(column) = between {
                widths[column] = choice;
            }
            let others = widths[..last].iter().sum::<usize>() + GAP * last;
            let room = width.saturating_sub(others).min(self.widths[last]);
            let layout = if room == self.widths[last] || room >= LEAST_LAST {
                widths[last] = room;
                Self { widths, below: None }
            } else if others - GAP <= width {
                Self { below: Some(width.saturating_sub(INDENT).max(1)), widths }
            } else {
                continue;
            };
            let lines = rows.iter().map(|row| layout.height(row)).sum();
            if best.as_ref().is_none_or(|(least, _)| lines < *least) {
                best = Some((lines, layout));
            }
        }
        best.map_or(self, |(_, layout)| layout)
    }

    fn height(&self, row: &[Cell]) -> usize {
        let is_below = |column: usize| self.below.is_some() && column + 1 == self.widths.len();
        let beside = row.iter().enumerate().filter(|(column, _)| !is_below(*column));
        let beside =
            beside.map(|(column, (text, _))| wrap(text, self.widths[column]).len()).max().unwrap_or(1);
        let below = self.below.and_then(|width| Some(wrap(&row.get(self.widths.len() - 1)?.0, width).len()));
        beside + below.unwrap_or(0)
    }

    /// Writes a row, of which each cell may take several lines.
    pub(super) fn write_row(&self, output: &mut impl Write, row: &[Cell]) -> io::Result<()> {
        let (beside, below) = match self.below {
            Some(width) if row.len() == self.widths.len() => {
                let (last, beside) =
                    row.split_last().map_or((None, row), |(last, others)| (Some(last), others));
                (beside, last.map(|last| (last, width)))
            }
            _ => (row, None),
        };
        let cells: Vec<Vec<String>> =
            beside.iter().zip(&self.widths).map(|((text, _), width)| wrap(text, *width)).collect();
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(1) {
            let ends = cells.iter().rposition(|cell| cell.get(line).is_some_and(|text| !text.is_empty()));
            for (column, cell) in cells.iter().enumerate().take(ends.map_or(0, |ends| ends + 1)) {
                let (text, style) = (cell.get(line).map_or("", String::as_str), beside[column].1);
                let padding = if Some(column) == ends {
                    0
                } else {
                    self.widths[column].saturating_sub(columns_of(text)) + GAP
                };
                write!(output, "{style}{text}{style:#}{:padding$}", "")?;
            }
            writeln!(output)?;
        }
        if let Some(((text, style), width)) = below.filter(|((text, _), _)| !text.is_empty()) {
            for line in wrap(text, width) {
                writeln!(output, "{:INDENT$}{style}{line}{style:#}", "")?;
            }
        }
        Ok(())
    }
}

/// Breaks a text into lines of at most `width` columns: at spaces, else behind a comma or slash, else anywhere.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut rest = text;
    while columns_of(rest) > width {
        let fits = fitting(rest, width);
        // A space right behind what fits is a break as well.
        let next = rest[fits..].chars().next().map_or(0, char::len_utf8);
        let space = rest[..fits + next].rfind(' ').filter(|at| !rest[..*at].trim().is_empty());
        let mark = rest[..fits].rfind([',', '/']).map(|at| at + 1);
        let end = space.or(mark).unwrap_or(fits);
        lines.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start_matches(' ');
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
}

/// Cuts a text to at most `width` columns; `…` takes the place of what is left out.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
        return text.to_owned();
    }
    format!("{}…", text[..fitting(text, width.saturating_sub(1))].trim_end())
}

/// Returns how many bytes of a text fit into `width` columns: at least one character, so that wrapping ends.
pub(crate) fn fitting(text: &str, width: usize) -> usize {
    let mut columns = 0;
    for (at, character) in text.char_indices() {
        columns += character.width().unwrap_or(0);
        if columns > width && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::super::write_table_in;
    use super::*;
    use anstyle::Style;

    fn drawn(rows: &[&[&str]], width: usize) -> String {
        let cells = |row: &&[&str]| row.iter().map(|text| ((*text).to_owned(), Style::new())).collect();
        let rows: Vec<Vec<Cell>> = rows.iter().map(cells).collect();
        let mut output = Vec::new();
        write_table_in(&mut output, &rows, Some(width)).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn c11_a_long_last_column_is_wrapped_at_words_below_its_beginning() {
        let rows: &[&[&str]] = &[
            &["log.level", "warn", "the least severe level that is written to the log of the hooks"],
            &["log.on", "true", "write it"],
        ];
        let expected = "log.level  warn  the least severe level that is
                 written to the log of the hooks
log.on     true  write it
";
        assert_eq!(drawn(rows, 48), expected);
    }

    #[test]
    fn c11_a_last_column_without_room_goes_below() {
        let rows: &[&[&str]] = &[&["a-lesson-with-a-long-name", "guard", "what goes wrong, in one line"]];
        assert_eq!(drawn(rows, 40), "a-lesson-with-a-long-name  guard\n    what goes wrong, in one line\n");
    }

    #[test]
    fn c11_an_odd_long_value_does_not_take_the_room_of_every_line() {
        let rows: &[&[&str]] = &[
            &["tools", "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite", "default", "not recorded"],
            &["turns", "5", "default", "how many turns there are between two distillations"],
        ];
        let text = drawn(rows, 72);
        assert!(text.lines().all(|line| columns_of(line) <= 72), "{text}");
        assert!(text.contains("ListMcpResourcesTool,") && text.contains("TodoWrite"), "{text}");
    }

    #[test]
    fn c11_no_line_is_wider_than_the_terminal_whatever_the_script() {
        let rows: &[&[&str]] = &[
            &["日本語の名前", "値", "日本語の説明はとても長いので、折り返されます。最後まで読めます。"],
            &["e\u{301}", "v", "short"],
        ];
        for width in [30, 40, 60] {
            let text = drawn(rows, width);
            assert!(text.lines().all(|line| columns_of(line) <= width), "{width}: {text}");
            let whole: String = text.split_whitespace().collect();
            assert!(whole.contains("読めます。"), "{text}");
        }
    }

    #[test]
    fn texts_are_wrapped_whole_and_cut_with_a_mark() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a,b/cdefgh", 4), ["a,b/", "cdef", "gh"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("日本語", 1), ["日", "本", "語"]);
        assert_eq!(cut("one two three", 8), "one two…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("short", 5), "short");
    }
}
