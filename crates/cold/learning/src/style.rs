//! How code is written here, by the user's word: what they named as wrong is gone from the next text, and what they named as
//! right has come.

use crate::change::has_word;
use crate::quoting::escaped;
use serde_json::Value;
use std::path::Path;

/// The fields of an edit that hold what is written.
const TEXTS: [&str; 3] = ["new_string", "content", "new_source"];
/// The shortest name that is looked for.
const MIN_NAME: usize = 3;
/// What a line has that brings something into a file, in lower case.
const IMPORTS: [&str; 7] = ["#include", "from ", "import ", "require", "require_once", "use ", "using "];

/// A text that was written.
#[derive(Clone, Debug)]
pub struct Text {
    path: String,
    text: String,
}

impl Text {
    /// Returns what an edit wrote, from its input as JSON.
    pub fn of(path: &str, input: &str) -> Option<Self> {
        let input: Value = serde_json::from_str(input).ok()?;
        let text = TEXTS.iter().find_map(|name| input[*name].as_str())?;
        Some(Self { path: path.to_owned(), text: text.to_owned() })
    }

    fn has(&self, name: &str) -> bool {
        has_word(&self.text, name)
    }

    fn ending(&self) -> Option<String> {
        let ending = Path::new(&self.path).extension()?.to_string_lossy().into_owned();
        let is_plain = !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_plain.then_some(ending)
    }

    /// Returns the line that has a name.
    fn line(&self, name: &str) -> String {
        let line = self.text.lines().find(|line| has_word(line, name)).unwrap_or_default();
        line.trim().to_owned()
    }

    fn imports(&self, name: &str) -> bool {
        let line = self.line(name).to_lowercase();
        IMPORTS.iter().any(|start| line.contains(start))
    }
}

/// What the user said about texts that were written.
#[derive(Clone, Debug)]
pub struct Asked {
    pub words: String,
    /// The last one first.
    pub before: Vec<Text>,
}

/// A way of writing that the user did not want, and the one that they did.
#[derive(Clone, Debug)]
pub struct Style {
    /// The file.
    pub path: String,
    pub ending: String,
    pub wrong: String,
    pub right: Option<String>,
    /// The user's words.
    pub words: String,
    /// The lines that were written before and after.
    pub before: String,
    pub after: String,
}

impl Asked {
    /// Returns how what was written next follows what the user said.
    pub fn followed(&self, text: &Text) -> Option<Style> {
        let names = names(&self.words);
        self.before.iter().filter(|before| before.ending() == text.ending()).find_map(|before| {
            let is_code = |name: &Name| name.is_code || before.imports(&name.text);
            let wrong =
                names.iter().find(|name| is_code(name) && before.has(&name.text) && !text.has(&name.text))?;
            let came =
                |name: &&Name| text.has(&name.text) && !before.has(&name.text) && name.text != wrong.text;
            let right = names.iter().find(came).map(|name| name.text.clone());
            // What is only gone may have gone for another reason.
            if right.is_none() && !wrong.is_code {
                return None;
            }
            let after = right.as_ref().map(|right| text.line(right)).unwrap_or_default();
            Some(Style {
                path: before.path.clone(),
                ending: before.ending()?,
                before: before.line(&wrong.text),
                after,
                wrong: wrong.text.clone(),
                right,
                words: self.words.clone(),
            })
        })
    }
}

impl Style {
    /// Returns an expression that fits what was wrong.
    pub fn expression(&self) -> String {
        let is_inside =
            |character: Option<char>| character.is_some_and(|it| it.is_ascii_alphanumeric() || it == '_');
        let edge = |character: Option<char>| if is_inside(character) { r"\b" } else { "" };
        let (first, last) = (self.wrong.chars().next(), self.wrong.chars().next_back());
        format!("{}{}{}", edge(first), escaped(&self.wrong), edge(last))
    }
}

/// A word of a prompt that may name something in code.
struct Name {
    text: String,
    /// Whether no word of a language is written so.
    is_code: bool,
}

/// Returns what a prompt may name of a text: what is between backticks as a whole, and single words.
fn names(words: &str) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut add = |text: &str, is_code: bool| {
        if text.len() >= MIN_NAME && !names.iter().any(|name| name.text == text) {
            names.push(Name { text: text.to_owned(), is_code });
        }
    };
    let parts: Vec<&str> = words.split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    for (at, part) in parts.into_iter().enumerate() {
        if at % 2 == 1 && is_paired {
            add(part.trim().trim_end_matches("()"), true);
            continue;
        }
        let is_inside = |character: char| character.is_ascii_graphic() && !"\"',;`".contains(character);
        for word in part.split(|character| !is_inside(character)) {
            let word = word.trim_matches(['.', ':', '!', '?', '(', ')']);
            // A place and an ending are none.
            let has_joint =
                word.trim_matches(|it: char| !it.is_ascii_alphanumeric()).contains(['.', '_', '('])
                    || word.contains("::");
            let has_hump = word
                .bytes()
                .zip(word.bytes().skip(1))
                .any(|(one, next)| one.is_ascii_lowercase() && next.is_ascii_uppercase());
            add(word, (has_joint || has_hump) && !word.contains('/'));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(words: &str, before: &str, after: &str) -> Option<(String, Option<String>)> {
        let text = |text: &str| Text { path: "/p/src/a.ts".into(), text: text.into() };
        let asked = Asked { words: words.into(), before: vec![text(before)] };
        asked.followed(&text(after)).map(|it| (it.expression(), it.right))
    }

    #[test]
    fn what_the_user_named_as_wrong_and_as_right_is_a_style() {
        for (words, before, after, wrong, right) in [
            (
                "we don't use console.log here, use logger.warn",
                "console.log('x')",
                "logger.warn('x')",
                r"\bconsole\.log\b",
                Some("logger.warn"),
            ),
            ("never use `any` here", "let a: any = b", "let a: unknown = b", r"\bany\b", None),
            (
                "hier nehmen wir dayjs, nicht moment",
                "import moment from 'moment'",
                "import dayjs from 'dayjs'",
                r"\bmoment\b",
                Some("dayjs"),
            ),
            (
                "ここでは System.out.println ではなく log.info を使う",
                "System.out.println(a);",
                "log.info(a);",
                r"\bSystem\.out\.println\b",
                Some("log.info"),
            ),
        ] {
            assert_eq!(style(words, before, after), Some((wrong.into(), right.map(Into::into))), "{words}");
        }
    }

    #[test]
    fn other_words_about_a_text_are_no_style() {
        for (words, before, after) in [
            ("we call it total here, not sum", "let sum = 1", "let total = 1"),
            ("use the blue icon here, not the red one", "icon='red'", "icon='blue'"),
            ("we don't use console.log here", "console.log(1)", "console.log(2)"),
            ("always keep it short", "a long text", "a text"),
        ] {
            assert_eq!(style(words, before, after), None, "{words}");
        }
    }
}
