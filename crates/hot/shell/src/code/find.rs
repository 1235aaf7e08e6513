//! Where in a command's words the code of another language is.

use std::ops::Range;

use super::Language;
use crate::Word;

/// Code in the words of a command.
pub(crate) struct Code {
    pub(crate) language: Language,
    /// What the wrapper is called.
    pub(crate) wrapper: &'static str,
    pub(crate) code: String,
    pub(crate) words: Range<usize>,
}

/// An interpreter.
struct Interpreter {
    language: Language,
    wrapper: &'static str,
    /// What it is called when it reads code from its input.
    reader: &'static str,
    /// Letters of the options that code follows.
    letters: &'static str,
    /// Long options and subcommands that code follows.
    names: &'static str,
    /// Letters of the options whose value is the next word.
    values: &'static str,
    /// Letters of the options whose value is the rest of the word.
    attached: &'static str,
}

fn interpreter(name: &str) -> Option<Interpreter> {
    if !matches!(name.as_bytes().first(), Some(b'R' | b'b' | b'd' | b'l' | b'n'..=b'p' | b'r' | b't')) {
        return None;
    }
    let of = |language, wrapper, reader, letters, names, values, attached| Interpreter {
        language,
        wrapper,
        reader,
        letters,
        names,
        values,
        attached,
    };
    Some(match name {
        "python" => of(Language::Python, "python -c", "python -", "c", "", "XW", ""),
        "node" | "nodejs" => of(Language::JavaScript, "node -e", "node -", "ep", "--eval --print", "r", ""),
        "bun" => of(Language::JavaScript, "bun -e", "bun -", "ep", "--eval --print", "r", ""),
        "deno" => of(Language::JavaScript, "deno eval", "deno -", "", "eval", "", ""),
        "tsx" | "ts-node" => of(Language::JavaScript, "tsx -e", "tsx -", "ep", "--eval --print", "r", ""),
        "perl" => of(Language::Perl, "perl -e", "perl -", "eE", "", "", "MmIiCDxF0"),
        "ruby" => of(Language::Ruby, "ruby -e", "ruby -", "e", "", "", "rIiCF0"),
        "php" => of(Language::Php, "php -r", "php -", "r", "--run", "dc", ""),
        "lua" | "luajit" => of(Language::Lua, "lua -e", "lua -", "e", "", "l", ""),
        "osascript" => of(Language::AppleScript, "osascript -e", "osascript -", "e", "", "l", ""),
        "R" => of(Language::R, "R -e", "R -", "e", "", "f", ""),
        "julia" => of(Language::Other, "julia -e", "julia -", "eE", "--eval --print", "Lpt", ""),
        "elixir" => of(Language::Other, "elixir -e", "elixir -", "e", "--eval", "rS", ""),
        "groovy" => of(Language::Other, "groovy -e", "groovy -", "e", "", "", ""),
        "scala" => of(Language::Other, "scala -e", "scala -", "e", "", "", ""),
        "swift" => of(Language::Other, "swift -e", "swift -", "e", "", "", ""),
        "kotlin" => of(Language::Other, "kotlin -e", "kotlin -", "e", "", "", ""),
        "emacs" => of(Language::Other, "emacs --eval", "emacs -", "", "--eval -eval --execute", "lf", ""),
        "Rscript" => of(Language::R, "Rscript -e", "Rscript -", "e", "", "", ""),
        _ => return None,
    })
}

/// Returns the code in the words of a command. `name` is the program's, without a version.
pub(crate) fn find(name: &str, words: &[Word]) -> Option<Code> {
    if name.ends_with("awk") && matches!(name, "awk" | "gawk" | "mawk" | "nawk") {
        return awk(words);
    }
    let Interpreter { language, wrapper, letters, names, values, attached, .. } = interpreter(name)?;
    let mut found: Option<Code> = None;
    let mut add = |code: &str, at: usize| {
        let all = found.get_or_insert_with(|| Code { language, wrapper, code: String::new(), words: at..at });
        match name {
            "emacs" => all.code.push_str(&as_calls(code)),
            _ => all.code.push_str(code),
        }
        all.code.push('\n');
        all.words.end = at + 1;
    };
    let mut index = 1;
    while let Some(text) = words.get(index).map(|word| word.text.as_str()) {
        if names.split(' ').any(|name| name == text) {
            index += 1;
            // `deno eval --ext=ts 'code'`
            while words.get(index).is_some_and(|word| name == "deno" && word.text.starts_with('-')) {
                index += 1;
            }
            add(&words.get(index)?.text, index);
        } else if let Some((name, code)) = text.split_once('=').filter(|_| text.starts_with("--")) {
            if names.split(' ').any(|other| other == name) {
                add(code, index);
            }
        } else if let Some(cluster) = text.strip_prefix('-').filter(|_| !text.starts_with("--")) {
            for (at, letter) in cluster.char_indices() {
                if attached.contains(letter) {
                    break;
                } else if letters.contains(letter) {
                    let rest = &cluster[at + letter.len_utf8()..];
                    // `node -pe` and `perl -ne`: letters behind letters.
                    if rest.is_empty() {
                        index += 1;
                        add(&words.get(index)?.text, index);
                    } else if language == Language::Python
                        || !rest.bytes().all(|byte| byte.is_ascii_alphabetic())
                    {
                        add(rest, index);
                        break;
                    }
                } else if values.contains(letter) {
                    index += usize::from(cluster.ends_with(letter));
                    break;
                }
            }
            // What follows are the code's or the module's own arguments.
            if language == Language::Python && cluster.contains(['c', 'm']) {
                break;
            }
        } else if !text.starts_with('-') {
            break;
        }
        index += 1;
    }
    found
}

/// Writes the calls of Lisp that delete or run something as other languages do.
fn as_calls(code: &str) -> String {
    code.replace("(delete-directory ", "rm_rf(")
        .replace("(delete-file ", "rm(")
        .replace("(shell-command ", "system(")
        .replace("(shell-command-to-string ", "system(")
}

fn awk(words: &[Word]) -> Option<Code> {
    let mut index = 1;
    while let Some(text) = words.get(index).map(|word| word.text.as_str()) {
        match text {
            "-f" | "--file" => return None,
            "-F" | "-v" | "--assign" | "--field-separator" => index += 1,
            "--" => {}
            _ if text.starts_with('-') && text.len() > 1 => {}
            _ => {
                let (language, words) = (Language::Awk, index..index + 1);
                return Some(Code { language, wrapper: "awk", code: text.to_owned(), words });
            }
        }
        index += 1;
    }
    None
}

/// Returns the language and the name of an interpreter that runs what it reads on standard input.
pub(crate) fn is_read_from_input(name: &str, words: &[Word]) -> Option<(Language, &'static str)> {
    let interpreter = interpreter(name)?;
    let is_option = |word: &&Word| word.text.starts_with('-') && word.text.len() > 1;
    let first = words.iter().skip(1).find(|word| !is_option(word));
    let runs_input = match first.map(|word| word.text.as_str()) {
        None | Some("-" | "/dev/stdin") => find(name, words).is_none(),
        Some("run") => words.last().is_some_and(|word| word.text == "-"),
        _ => false,
    };
    let is_module = name == "python" && words.iter().any(|word| word.text == "-m");
    (runs_input && !is_module).then_some((interpreter.language, interpreter.reader))
}
