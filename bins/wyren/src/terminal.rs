//! How facts look on a terminal: tables, a few colours, and none of either where nobody looks.

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::io::{self, Write};
use std::time::Duration;
use unicode_width::UnicodeWidthStr as _;

/// How often a spinner turns.
const TURN: Duration = Duration::from_millis(100);

/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// What stands out.
pub(crate) const STRONG: Style = Style::new().bold();
/// What is well.
pub(crate) const SUCCESS: Style = AnsiColor::Green.on_default();
/// What may need a look.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();
/// What went wrong.
pub(crate) const FAILURE: Style = AnsiColor::Red.on_default();

/// Returns standard output; colours are taken out unless a terminal wants them.
pub(crate) fn output() -> impl Write {
    anstream::stdout().lock()
}

/// Returns standard error, treated alike.
pub(crate) fn errors() -> impl Write {
    anstream::stderr().lock()
}

/// Returns a spinner on standard error for work of unknown length; where nobody watches it stays hidden.
pub(crate) fn spinner(message: &'static str) -> ProgressBar {
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_message(message);
    spinner.enable_steady_tick(TURN);
    spinner
}

/// A cell of a table: a text and how it looks.
pub(crate) type Cell = (String, Style);

/// Writes rows as columns two spaces apart; the last column is not padded.
pub(crate) fn write_table(output: &mut impl Write, rows: &[Vec<Cell>]) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width_of = |row: &Vec<Cell>, column: usize| row.get(column).map_or(0, |(text, _)| columns_of(text));
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| width_of(row, column)).max().unwrap_or(0)).collect();
    for row in rows {
        for (column, (text, style)) in row.iter().enumerate() {
            let is_last = column + 1 == row.len();
            let padding = if is_last { 0 } else { widths[column] - columns_of(text) + 2 };
            write!(output, "{style}{text}{style:#}{:padding$}", "")?;
        }
        writeln!(output)?;
    }
    Ok(())
}

/// Returns how many columns of a terminal a text takes: two for each character of Chinese, none for an accent.
pub(crate) fn columns_of(text: &str) -> usize {
    text.width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_what_a_terminal_shows() {
        let row = |name: &str| vec![(name.to_owned(), Style::new()), ("|".to_owned(), Style::new())];
        let mut output = Vec::new();
        write_table(&mut output, &[row("ab"), row("日本"), row("e\u{301}")]).unwrap();
        assert_eq!(String::from_utf8(output).unwrap(), "ab    |\n日本  |\ne\u{301}     |\n");
    }
}
