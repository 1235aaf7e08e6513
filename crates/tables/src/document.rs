//! Blocks between `<!-- name -->` and `<!-- /name -->`, and whole files, that are generated.

use std::fs;
use std::io;
use std::path::Path;

/// A test that compares a generated block writes it instead when this variable is set.
pub const UPDATE: &str = "WYREN_UPDATE_TABLES";

/// What to do with generated text that differs from the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Report it.
    Check,
    /// Write the file.
    Write,
}

impl Mode {
    /// Returns [`Mode::Write`] when `cargo xtask tables` runs a test.
    pub fn of_environment() -> Self {
        if std::env::var_os(UPDATE).is_some() { Self::Write } else { Self::Check }
    }

    /// Compares a file with its generated contents, or writes it.
    pub fn file(self, path: &Path, contents: &str) -> io::Result<()> {
        let present = match fs::read_to_string(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            read => read.unwrap_or_default(),
        };
        match self {
            _ if present == contents => Ok(()),
            Self::Write => fs::write(path, contents),
            Self::Check => Err(differs(path, &present, contents)),
        }
    }

    /// Compares the block `name` of a file with its generated lines, or writes it.
    pub fn block(self, path: &Path, name: &str, lines: &str) -> io::Result<()> {
        let present = fs::read_to_string(path)?;
        let contents = with_block(&present, name, lines).ok_or_else(|| {
            io::Error::other(format!("{} has no block <!-- {name} --> … <!-- /{name} -->", path.display()))
        })?;
        self.file(path, &contents)
    }
}

fn differs(path: &Path, present: &str, generated: &str) -> io::Error {
    let lines = present.lines().zip(generated.lines());
    let line = lines.take_while(|(present, generated)| present == generated).count() + 1;
    io::Error::other(format!("{}:{line} differs from its table: run `cargo xtask tables`", path.display()))
}

/// Returns `text` with the lines of the block `name` replaced, or `None` without exactly one such block.
pub fn with_block(text: &str, name: &str, lines: &str) -> Option<String> {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->\n"));
    let (before, rest) = text.split_once(&start)?;
    let (_, after) = rest.split_once(&end)?;
    if after.contains(&start) {
        return None;
    }
    let lines = lines.trim_end();
    Some(format!("{before}{start}{lines}\n{end}{after}"))
}

/// Returns a Markdown table; `|` in a cell is escaped.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        table += &format!("| {} |\n", cells.join(" | "));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n";

    #[test]
    fn only_the_lines_of_the_block_are_replaced() {
        let replaced = with_block(TEXT, "x", "new\nlines\n").unwrap();
        assert_eq!(replaced, "a\n<!-- x -->\nnew\nlines\n<!-- /x -->\nb\n");
        assert_eq!(with_block(&replaced, "x", "new\nlines\n"), Some(replaced));
    }

    #[test]
    fn a_missing_or_repeated_block_is_an_error() {
        assert_eq!(with_block(TEXT, "y", ""), None);
        assert_eq!(with_block(&TEXT.repeat(2), "x", ""), None);
    }

    #[test]
    fn a_file_that_differs_names_the_line_and_the_command_and_is_left_alone() {
        let path = std::env::temp_dir().join(format!("wyren-tables-{}", std::process::id()));
        fs::write(&path, TEXT).unwrap();
        let error = Mode::Check.block(&path, "x", "new").unwrap_err().to_string();
        let present = fs::read_to_string(&path).unwrap();
        Mode::Write.block(&path, "x", "new").unwrap();
        let written = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(error.ends_with(":3 differs from its table: run `cargo xtask tables`"), "{error}");
        assert_eq!((present.as_str(), written), (TEXT, TEXT.replace("old", "new")));
    }
}
