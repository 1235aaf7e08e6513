//! A plain table for a terminal: the first columns to the left, figures to the right.

use std::fmt;

/// The cell without a figure.
pub(crate) const NONE: &str = "–";

/// A table that knows how wide its columns are only when it is printed.
pub(crate) struct Table {
    /// How many columns, from the first, are text and stand to the left.
    text_columns: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Starts a table with its headings, of which the first `text_columns` are of text.
    pub(crate) fn new<const COLUMNS: usize>(text_columns: usize, headings: [&str; COLUMNS]) -> Self {
        Self { text_columns, rows: vec![headings.map(str::to_owned).to_vec()] }
    }

    /// Adds a row, which has as many cells as there are headings.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.rows[0].len(), "a cell for every heading");
        self.rows.push(cells);
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.rows[0].len()).map(|column| self.width(column)).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if column < self.text_columns { format!("{cell:width$}") } else { format!("{cell:>width$}") }
            });
            writeln!(formatter, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_aligned_left_and_figures_right() {
        let mut table = Table::new(1, ["program", "× true"]);
        table.row(vec!["session-start-reset".to_owned(), "0.3".to_owned()]);
        table.row(vec!["wyren".to_owned(), NONE.to_owned()]);
        let expected = "program              × true\n\
                        session-start-reset     0.3\n\
                        wyren                     –\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn no_line_ends_in_blanks() {
        let mut table = Table::new(2, ["program", "case"]);
        table.row(vec!["wyren".to_owned(), String::new()]);
        assert_eq!(table.to_string(), "program  case\nwyren\n");
    }
}
