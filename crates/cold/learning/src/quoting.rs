//! Words that the shell took apart, or read in its own way, until they were quoted.

use crate::change::{self, is_plain};
use lessons::Trigger;
use shell::{Command, Word};

/// What a shell reads in its own way where it is not quoted.
const SPECIAL: [char; 17] =
    ['?', '*', '[', ']', '{', '}', '!', '&', ';', '|', '<', '>', '(', ')', '#', '$', '^'];
/// What ends a word where it is not quoted.
const ENDING: [char; 7] = ['&', ';', '|', '<', '>', '(', ')'];
/// A part of a word that is not quoted.
const BARE: &str = r#"[^\s'"\\]*"#;

/// How a word was written that is quoted now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoting {
    /// The word as the program has to get it.
    pub word: String,
    /// What fits the line as it was written.
    expression: Option<String>,
    /// The first word of several that belong together, where that is enough to tell.
    first: Option<String>,
}

impl Quoting {
    /// Compares two commands. `None` where something else than quotes was changed.
    pub fn between(before: &Command, after: &Command) -> Option<Self> {
        let (old, new) = (&before.words[..], &after.words[..]);
        if old.first().map(|word| &word.text) != new.first().map(|word| &word.text) {
            return None;
        }
        let is_same = |old: &Word, new: &Word| {
            old.text == new.text && old.is_quoted == new.is_quoted && old.is_dynamic == new.is_dynamic
        };
        let at = (1..old.len().min(new.len())).find(|at| !is_same(&old[*at], &new[*at]))?;
        let (was, is) = (&old[at], &new[at]);
        if !is.is_quoted {
            return None;
        }
        let flag = Some(&old[at - 1].text).filter(|flag| flag.starts_with('-') && !flag.contains('='));
        // What has one letter often takes no value.
        let lead = flag
            .filter(|flag| flag.len() > 2)
            .map_or_else(|| r"\s".to_owned(), |flag| format!(r"\s{}\s+", escaped(flag)));
        let by = |expression: String| {
            Some(Self { word: is.text.clone(), expression: Some(expression), first: None })
        };
        let texts = |words: &[Word]| words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        if was.text == is.text {
            if texts(old) != texts(new) {
                return None;
            }
            if !was.is_quoted {
                let special = was.text.chars().find(|character| SPECIAL.contains(character))?;
                return by(format!("{lead}{BARE}{}", escaped(&special.to_string())));
            }
            return if was.is_dynamic && !is.is_dynamic { by(r#""[^"']*\$"#.to_owned()) } else { None };
        }
        if was.is_quoted {
            // `-d {"a": 1}`: the quotes were those of the shell, and not of the text.
            let is_lost = is.text.replace('"', "") == was.text && is.text.starts_with(['{', '[']);
            return if is_lost { by(format!(r#"{lead}[{{\[]""#)) } else { None };
        }
        let rest = is.text.strip_prefix(was.text.as_str())?;
        let next = rest.chars().next()?;
        if ENDING.contains(&next) && old.len() == at + 1 {
            let mark = escaped(&next.to_string());
            return by(format!(r#"{lead}{BARE}[^\s'"\\{next}]{mark}[^\s'"{next}]"#));
        }
        // Several words that are one.
        let count = (2..=old.len() - at).find(|count| texts(&old[at..at + count]).join(" ") == is.text)?;
        if texts(&old[at + count..]) != texts(&new[at + 1..]) {
            return None;
        }
        if let Some((flag, _)) = was.text.split_once('=').filter(|(flag, _)| flag.starts_with('-')) {
            let second = &old[at + 1].text;
            let mark = second.chars().next().filter(|first| !first.is_alphanumeric() && *first != '-');
            // A word of the user's text is of this one call.
            let mark = mark.map_or_else(|| r#"[^\s'"-]"#.to_owned(), |mark| escaped(&mark.to_string()));
            return by(format!(r#"\s{}=[^\s'"\\]+\s+{mark}"#, escaped(flag)));
        }
        if flag.is_some() {
            return by(format!(r#"{lead}[^\s'"\\-][^\s'"\\]*\s+[^\s'"-]"#));
        }
        let first = Some(was.text.clone()).filter(|word| is_plain(word))?;
        Some(Self { word: is.text.clone(), expression: None, first: Some(first) })
    }

    /// Returns what fits the command as it was written.
    pub fn trigger(&self, before: &Command) -> Option<Trigger> {
        let mut base = vec![before.program().to_owned()];
        base.extend(change::subcommand(before));
        if let Some(first) = self.first.as_ref().filter(|first| base.last() != Some(*first)) {
            base.push(first.clone());
        }
        let raw: Vec<String> = self.expression.iter().cloned().collect();
        is_plain(&base[0]).then(|| Trigger { commands: vec![base.join(" ")], raw, ..Trigger::default() })
    }
}

/// Returns an expression that fits a text and nothing else.
pub fn escaped(text: &str) -> String {
    let mut expression = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$".contains(character) {
            expression.push('\\');
        }
        expression.push(character);
    }
    expression
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trigger(before: &str, after: &str) -> Option<(String, String)> {
        let command = |script: &str| shell::commands(script).into_iter().next().unwrap();
        let (before, after) = (command(before), command(after));
        let trigger = Quoting::between(&before, &after)?.trigger(&before)?;
        Some((trigger.commands.concat(), trigger.raw.concat()))
    }

    #[test]
    fn quotes_that_came_tell_how_the_word_was_written() {
        for (before, after, pattern, expression) in [
            (
                "pip install uvicorn[standard]",
                "pip install 'uvicorn[standard]'",
                "pip install",
                r#"\s[^\s'"\\]*\["#,
            ),
            ("curl -s http://x/a?b=1", "curl -s 'http://x/a?b=1'", "curl", r#"\s[^\s'"\\]*\?"#),
            ("find . -name *.rs", "find . -name '*.rs'", "find", r#"\s-name\s+[^\s'"\\]*\*"#),
            ("sbt testOnly a.B", "sbt \"testOnly a.B\"", "sbt testOnly", ""),
            (
                "git log --format=%h %s -3",
                "git log --format='%h %s' -3",
                "git log",
                r#"\s--format=[^\s'"\\]+\s+%"#,
            ),
            (
                "git commit --author=Ann Smith -m x",
                "git commit --author='Ann Smith' -m x",
                "git commit",
                r#"\s--author=[^\s'"\\]+\s+[^\s'"-]"#,
            ),
            (
                "gh issue create --title Broken cart -b x",
                "gh issue create --title 'Broken cart' -b x",
                "gh issue create",
                r#"\s--title\s+[^\s'"\\-][^\s'"\\]*\s+[^\s'"-]"#,
            ),
            (
                "wget http://x/a?b&c=1",
                "wget 'http://x/a?b&c=1'",
                "wget",
                r#"\s[^\s'"\\]*[^\s'"\\&]&[^\s'"&]"#,
            ),
            ("awk \"{print $2}\" a", "awk '{print $2}' a", "awk", r#""[^"']*\$"#),
        ] {
            let expected = Some((pattern.to_owned(), expression.to_owned()));
            assert_eq!(trigger(before, after), expected, "{before}");
        }
    }

    #[test]
    fn where_more_than_quotes_was_changed_they_are_not_what_helped() {
        for (before, after) in [
            ("rg cart src", "rg 'cart' src"),
            ("rg cart src", "rg 'cart total' src"),
            ("git commit -m x", "git commit -m 'y z'"),
            ("curl http://x/a?b", "wget 'http://x/a?b'"),
            ("curl http://x/a?b", "curl 'http://x/a?c'"),
            ("curl 'http://x/a?b'", "curl http://x/a?b"),
        ] {
            assert_eq!(trigger(before, after), None, "{before}");
        }
    }
}
