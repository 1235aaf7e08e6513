//! Other programs in the same run: `--against "label=command with arguments"`.

use crate::workspace;
use anyhow::{Context as _, Result, bail};
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

/// A program to measure beside Wyren's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Against {
    pub(crate) label: String,
    /// Absolute.
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
}

impl FromStr for Against {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((label, command)) = text.split_once('=') else { bail!("write it as \"label=command\"") };
        let mut words = split(command)?.into_iter();
        let program = words.next().context("there is no command after the label")?;
        let found = workspace::find(&program).with_context(|| format!("{program} is not installed"))?;
        Ok(Self {
            label: label.trim().to_owned(),
            program: found,
            arguments: words.map(OsString::from).collect(),
        })
    }
}

/// Splits a command into words; quotes, single or double, keep a word together.
fn split(command: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in command.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        bail!("a quote is not closed in {command}");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_a_word_together() {
        assert_eq!(split("node -e '1 + 1' \"\" a\"b c\"d").unwrap(), ["node", "-e", "1 + 1", "", "ab cd"]);
        assert!(split("node -e '1").is_err());
    }

    #[test]
    fn a_command_may_hold_an_equals_sign() {
        let against: Against = "shell=sh -c a=1".parse().unwrap();
        assert_eq!(against.label, "shell");
        assert!(against.program.is_absolute());
        assert_eq!(against.arguments, ["-c", "a=1"]);
    }

    #[test]
    fn a_path_is_taken_from_the_current_folder() {
        let against: Against = "this=src/main.rs".parse().unwrap();
        assert!(against.program.ends_with("xtask/src/main.rs"));
        assert!(against.program.is_absolute());
    }

    #[test]
    fn what_cannot_be_run_is_refused() {
        for text in ["true", "label=", "label=no-such-program-anywhere"] {
            assert!(text.parse::<Against>().is_err(), "{text}");
        }
    }
}
