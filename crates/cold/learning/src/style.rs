//! How code is written here, by the user's word: what they named as wrong was taken out by a later edit, and what they named
//! as right has come.

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
    /// The cell of a notebook; empty for other files.
    cell: String,
    text: String,
    /// What it was put in place of; `None` where it is the whole of a file or a cell.
    old: Option<String>,
}

impl Text {
    /// Returns what an edit wrote, from its input as JSON.
    pub fn of(path: &str, input: &str) -> Option<Self> {
        let input: Value = serde_json::from_str(input).ok()?;
        let text = TEXTS.iter().find_map(|name| input[*name].as_str())?;
        // A cell that is put in takes the place of nothing.
        let put_in = (input["edit_mode"] == "insert").then_some("");
        Some(Self {
            path: path.to_owned(),
            cell: input["cell_id"].as_str().unwrap_or_default().to_owned(),
            text: text.to_owned(),
            old: input["old_string"].as_str().or(put_in).map(str::to_owned),
        })
    }

    fn has(&self, name: &str) -> bool {
        has_word(&self.text, name)
    }

    /// Says whether writing this text removed a name that an earlier one had brought in.
    fn took_out(&self, name: &str, before: &Self) -> bool {
        let was_there = match &self.old {
            Some(old) => has_word(old, name),
            None => (&self.path, &self.cell) == (&before.path, &before.cell) && before.has(name),
        };
        was_there && !self.has(name)
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
            let is_gone =
                |name: &&Name| is_code(name) && before.has(&name.text) && text.took_out(&name.text, before);
            let gone: Vec<&Name> = names.iter().filter(is_gone).collect();
            // Of several it cannot be said which one the user did not want.
            let [wrong] = gone[..] else { return None };
            let came = |name: &&Name| {
                text.has(&name.text) && !before.has(&name.text) && (name.is_code || text.imports(&name.text))
            };
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
        after_edit(words, before, "/p/src/a.ts", before, after)
    }

    /// Returns the style that an edit of another text gives.
    fn after_edit(
        words: &str,
        before: &str,
        path: &str,
        old: &str,
        new: &str,
    ) -> Option<(String, Option<String>)> {
        let write = serde_json::json!({ "content": before }).to_string();
        let edit = serde_json::json!({"old_string": old, "new_string": new}).to_string();
        let before = Text::of("/p/src/a.ts", &write).unwrap();
        let asked = Asked { words: words.into(), before: vec![before] };
        asked.followed(&Text::of(path, &edit).unwrap()).map(|it| (it.expression(), it.right))
    }

    #[test]
    fn a_name_that_an_edit_does_not_take_out_is_not_wrong() {
        let both = "logger.warn('a');\nconsole.log('b');";
        let words = "use `logger.warn` here, never `console.log`";
        for (words, before, path, old, new) in [
            (
                "No, `CartStore` is right here, but pass the region",
                "const store = new CartStore()",
                "/p/src/region.ts",
                "",
                "export const region = 1",
            ),
            (words, both, "/p/src/a.ts", "import a from 'a'", "import a from 'a'\nimport b from 'b'"),
            (words, both, "/p/src/a.ts", both, "warn('b');"),
            (
                "we always use `useCart` here, the region comes from `useRegion`",
                "useCart()",
                "/p/src/b.ts",
                "b",
                "useRegion()",
            ),
        ] {
            assert_eq!(after_edit(words, before, path, old, new), None, "{words}: {new}");
        }
        assert_eq!(
            after_edit(words, both, "/p/src/a.ts", "console.log('b');", "logger.warn('b');"),
            Some((r"\bconsole\.log\b".into(), None))
        );
    }

    #[test]
    fn what_an_edit_takes_out_is_wrong_whatever_else_the_user_named() {
        for (words, before, path, old, new, wrong, right) in [
            (
                "we never call `unwrap()` here, return an error",
                "let a = b.unwrap();",
                "/p/src/b.ts",
                "c.unwrap()",
                "c?",
                r"\bunwrap\b",
                None,
            ),
            (
                "No: `useState` is fine here, `useEffect` is not",
                "useState(0); useEffect(load)",
                "/p/src/a.ts",
                "useEffect(load)",
                "load()",
                r"\buseEffect\b",
                None,
            ),
            (
                "always fetch_cart, never load_cart",
                "load_cart(1)",
                "/p/src/b.ts",
                "load_cart(2)",
                "fetch_cart(2)",
                r"\bload_cart\b",
                Some("fetch_cart".to_owned()),
            ),
        ] {
            assert_eq!(after_edit(words, before, path, old, new), Some((wrong.into(), right)), "{words}");
        }
        // Two of them at once.
        let words = "neither `useState` nor `useEffect` here";
        let both = "useState(0); useEffect(load)";
        assert_eq!(after_edit(words, both, "/p/src/a.ts", both, "load()"), None);
    }

    #[test]
    fn a_word_of_the_prompt_is_not_the_right_name_because_it_came() {
        let words = "never use `any` for the region";
        assert_eq!(style(words, "let a: any = b", "let region: string = b"), Some((r"\bany\b".into(), None)));
    }

    #[test]
    fn a_whole_text_takes_out_what_was_in_the_same_place() {
        let words = "never use `console.log` here";
        let first = serde_json::json!({"cell_id": "c1", "new_source": "console.log(1)"}).to_string();
        let before = Text::of("/p/a.ipynb", &first).unwrap();
        let asked = Asked { words: words.into(), before: vec![before] };
        for (path, cell, mode, is_style) in [
            ("/p/a.ipynb", "c1", "replace", true),
            ("/p/a.ipynb", "c2", "replace", false),
            ("/p/a.ipynb", "c1", "insert", false),
            ("/p/b.ipynb", "c1", "replace", false),
        ] {
            let next = serde_json::json!({"cell_id": cell, "edit_mode": mode, "new_source": "b"}).to_string();
            let found = asked.followed(&Text::of(path, &next).unwrap());
            assert_eq!(found.is_some(), is_style, "{path} {cell} {mode}");
        }
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
