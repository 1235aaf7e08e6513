//! Terminal output: tables and colours; no colours unless the output is a terminal, and no control characters.

mod layout;
mod net;
mod pager;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::time::Duration;
use unicode_width::UnicodeWidthStr as _;

use layout::Layout;
pub(crate) use layout::{cut, fitting, wrap};
use net::Net;
pub(crate) use net::Styled;
pub(crate) use pager::page;

const TURN: Duration = Duration::from_millis(100);

pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const SUCCESS: Style = AnsiColor::Green.on_default();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();
pub(crate) const FAILURE: Style = AnsiColor::Red.on_default();
/// Words of a question in what was found.
pub(crate) const FOUND: Style = AnsiColor::Cyan.on_default();

/// Returns standard output, which strips colours unless it is a terminal, and shows control characters of others.
pub(crate) fn output() -> impl Write {
    Net::new(anstream::stdout().lock())
}

/// Returns standard output for the exact contents of a file, which must not go to a terminal.
pub(crate) fn exact_output() -> impl Write {
    io::stdout().lock()
}

/// Returns standard error, which strips colours unless it is a terminal, and shows control characters of others.
pub(crate) fn errors() -> impl Write {
    Net::new(anstream::stderr().lock())
}

/// Returns a spinner on standard error; hidden unless that is a terminal.
pub(crate) fn spinner(message: &'static str) -> ProgressBar {
    // A bar without an end is drawn as `0/0`, without the message, until it has the style of a spinner.
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        .with_style(ProgressStyle::default_spinner())
        .with_message(message);
    spinner.enable_steady_tick(TURN);
    spinner
}

pub(crate) type Cell = (String, Style);

/// Writes rows as columns two spaces apart, without trailing spaces. Where the width is known, long cells are wrapped.
pub(crate) fn write_table(output: &mut impl Write, rows: &[Vec<Cell>]) -> io::Result<()> {
    write_table_in(output, rows, width())
}

fn write_table_in(output: &mut impl Write, rows: &[Vec<Cell>], width: Option<usize>) -> io::Result<()> {
    let layout = Layout::of(rows, width);
    for row in rows {
        layout.write_row(output, row)?;
    }
    Ok(())
}

/// Returns how many columns a line may have: those of the terminal, else of `COLUMNS`, which is set by programs that show
/// our output. `None` for a pipe or a file: a line of a script is never broken.
pub(crate) fn width() -> Option<usize> {
    if io::stdout().is_terminal()
        && let Some((width, _)) = terminal_size::terminal_size()
    {
        return Some(usize::from(width.0)).filter(|width| *width > 0);
    }
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|width| *width > 0)
}

/// Asks a question that is answered with yes or no; `None` where there is no terminal to answer at.
pub(crate) fn confirm(question: &str) -> io::Result<Option<bool>> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    write!(errors(), "{question} [y/N] ")?;
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(Some(matches!(answer.trim(), "y" | "Y" | "yes")))
}

/// Asks a question that is answered with yes or no; fails where there is no terminal to answer at.
pub(crate) fn must_confirm(question: &str) -> anyhow::Result<bool> {
    let answer = confirm(question)?;
    answer.ok_or_else(|| anyhow::anyhow!("not a terminal: pass --yes to confirm, or --dry-run to look first"))
}

/// Returns how many columns of a terminal a text takes: two for each character of Chinese, none for an accent.
pub(crate) fn columns_of(text: &str) -> usize {
    text.width()
}

/// Returns a number with its noun: `1 line`, `2 lines`.
pub(crate) fn counted<N: fmt::Display + PartialEq + From<u8>>(number: N, one: &str, many: &str) -> String {
    let noun = if number == N::from(1) { one } else { many };
    format!("{number} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_every_other_number_plural() {
        let lines = [0_u64, 1, 2].map(|number| counted(number, "line", "lines"));
        assert_eq!(lines, ["0 lines", "1 line", "2 lines"]);
    }

    #[test]
    fn columns_are_aligned_by_what_a_terminal_shows() {
        let row = |name: &str| vec![(name.to_owned(), Style::new()), ("|".to_owned(), Style::new())];
        let mut output = Vec::new();
        write_table(&mut output, &[row("ab"), row("日本"), row("e\u{301}")]).unwrap();
        assert_eq!(String::from_utf8(output).unwrap(), "ab    |\n日本  |\ne\u{301}     |\n");
    }
}
