//! Code of other languages in a line of shell: `python -c`, `node -e`, `perl -e`, `awk '… system("…") …'`.
//!
//! No language is parsed. The code is read once, for strings, comments and names; where a name is called that runs a
//! command or deletes files, its arguments are looked at. A string that is no argument of such a call is text.

mod calls;
mod find;

use crate::Word;
use calls::{Call, Mentions, call};
pub(crate) use find::{Code, find, is_read_from_input};

/// How many commands are taken out of one piece of code.
const MAX_SNIPPETS: usize = 256;

/// How deep arguments are looked into.
const MAX_DEPTH: usize = 16;

/// In the place of a part that is not literal: a substitution of which nothing is known.
const UNKNOWN: &str = "$()";

/// In the place of the home folder.
const HOME: &str = "$HOME";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Language {
    AppleScript,
    Awk,
    JavaScript,
    Lua,
    /// A language of which only the most common calls are known.
    Other,
    Perl,
    Php,
    Python,
    R,
    Ruby,
}

/// A command in a piece of code.
pub(crate) enum Snippet {
    /// A line of shell.
    Script(String),
    Words(Vec<Word>),
}

/// Returns the commands that code runs, and its deletions as `rm`.
pub(crate) fn snippets(language: Language, code: &str) -> Vec<Snippet> {
    let mut scanner = Scanner {
        language,
        code,
        at: 0,
        depth: 0,
        is_recursive: false,
        mentions: Mentions::new(code),
        globs: Vec::new(),
        found: Vec::new(),
    };
    scanner.scan();
    scanner.note_globs();
    scanner.found
}

/// An argument of a call.
#[derive(Clone)]
enum Argument {
    Text(String),
    List(Vec<Argument>),
    /// `name=value`.
    Named,
}

struct Scanner<'code> {
    language: Language,
    code: &'code str,
    at: usize,
    depth: usize,
    /// Whether the last arguments said that folders are deleted with what is in them.
    is_recursive: bool,
    mentions: Mentions<'code>,
    /// The files that the code goes through.
    globs: Vec<String>,
    found: Vec<Snippet>,
}

impl<'code> Scanner<'code> {
    fn scan(&mut self) {
        let mut before = 0;
        while let Some(byte) = self.peek().filter(|_| self.found.len() < MAX_SNIPPETS) {
            if self.skip_comment() {
                continue;
            }
            match byte {
                _ if self.is_quote(byte) => {
                    let text = self.string(self.language == Language::Other);
                    if self.language == Language::Other && self.rest().starts_with(".!") {
                        self.found.push(Snippet::Script(text));
                        continue;
                    }
                    self.awk_pipe(before, text);
                }
                b'`' if self.has_shell_quotes() => self.shell_quoted(),
                b'%' if self.language == Language::Ruby && self.rest().starts_with("%x") => {
                    self.at += 2;
                    self.shell_quoted();
                }
                _ if is_name(byte) => self.name(),
                _ => self.at += char_length(byte),
            }
            before = if byte.is_ascii_whitespace() { before } else { byte };
        }
    }

    /// Adds what is done to each of the files that the code goes through: `for f in glob("/x/*"): os.remove(f)`.
    fn note_globs(&mut self) {
        if self.globs.is_empty() {
            return;
        }
        let start: &[&str] =
            if ["remove", "unlink", "delete", "rmtree"].iter().any(|name| self.code.contains(name)) {
                &["rm", "-rf"]
            } else if self.code.contains("chmod") {
                &["chmod", "-R", "777"]
            } else if self.code.contains("chown") {
                &["chown", "-R", "root"]
            } else {
                return;
            };
        for glob in std::mem::take(&mut self.globs) {
            self.found.push(Snippet::Words(words(&[start, &[glob.as_str()]].concat())));
        }
    }

    /// Reads `print | "command"` and `"command" | getline`.
    fn awk_pipe(&mut self, before: u8, text: String) {
        if self.language != Language::Awk {
            return;
        }
        self.skip_blanks();
        let is_read =
            self.rest().strip_prefix('|').is_some_and(|rest| rest.trim_start().starts_with("getline"));
        // `cmd = "…"; cmd | getline`
        let is_kept = before == b'=' && text.contains(' ') && self.mentions.has("| getline");
        if before == b'|' || is_read || is_kept {
            self.found.push(Snippet::Script(text));
        }
    }

    /// Reads a name with its dots, and the call that it may be.
    fn name(&mut self) {
        let path = self.path();
        if matches!(path, "def" | "function" | "sub") {
            // A name that is defined is not called.
            self.skip_blanks();
            self.path();
            return;
        }
        if !self.run_call(path)
            && self.language == Language::JavaScript
            && path.ends_with('$')
            && self.peek() == Some(b'`')
        {
            let text = self.string(true);
            self.found.push(Snippet::Script(text));
        }
    }

    /// Reads the arguments of a call that runs or deletes something, and notes what. Returns `false`, and reads
    /// nothing, for other names.
    fn run_call(&mut self, path: &str) -> bool {
        let is_quoting = self.language == Language::Perl && path == "qx";
        if is_quoting {
            self.shell_quoted();
            return true;
        }
        let Some(call) = call(self.language, path, &mut self.mentions) else { return false };
        let start = self.at;
        self.skip_blanks();
        let arguments = if self.peek() == Some(b'(') {
            self.at += 1;
            self.arguments(Some(b')'))
        } else if self.language == Language::AppleScript && self.starts_value() {
            vec![Argument::Text(self.string(true))]
        } else if self.takes_words() && self.starts_value() {
            self.arguments(None)
        } else {
            self.at = start;
            return false;
        };
        self.note(call, arguments);
        true
    }

    fn note(&mut self, call: Call, arguments: Vec<Argument>) {
        let positional = || arguments.iter().filter(|argument| !matches!(argument, Argument::Named));
        let snippet = match call {
            Call::Shell => match positional().next() {
                Some(Argument::Text(_)) if self.takes_words() && positional().count() > 1 => {
                    Some(Snippet::Words(words(&texts(&arguments))))
                }
                Some(Argument::Text(script)) => Some(Snippet::Script(script.clone())),
                Some(Argument::List(list)) => Some(Snippet::Words(words(&texts(list)))),
                _ => None,
            },
            Call::Program => {
                let program = positional().next().cloned();
                let list = arguments.iter().find(|argument| matches!(argument, Argument::List(_))).cloned();
                let all: Vec<Argument> = match &program {
                    Some(Argument::Text(_)) => program.into_iter().chain(list).collect(),
                    _ => list.into_iter().collect(),
                };
                Some(Snippet::Words(words(&texts(&all))))
            }
            Call::Words => Some(Snippet::Words(words(&texts(&arguments)))),
            Call::Exec(skipped) => Some(Snippet::Words(words(
                &texts(&arguments).split_off(skipped.min(texts(&arguments).len())),
            ))),
            Call::Delete { is_tree } => self.deletion(&texts(&arguments), is_tree),
            Call::DeleteAsSaid => self.deletion(&texts(&arguments), self.is_recursive),
            // `Path.home()`
            Call::Path if arguments.is_empty() => self.path_method(&[HOME]),
            Call::Path => self.path_method(&texts(&arguments)),
            Call::Move => Some(Snippet::Words(words(&[&["mv"][..], &texts(&arguments)].concat()))),
            Call::Glob => {
                let is_absolute = |text: &&str| text.starts_with(['/', '~']) || text.starts_with(HOME);
                self.globs
                    .extend(texts(&arguments).into_iter().filter(is_absolute).take(1).map(str::to_owned));
                None
            }
            Call::Map => match texts(&arguments).split_first() {
                Some((&("unlink" | "rmdir"), paths)) => self.deletion(paths, false),
                _ => None,
            },
        };
        // Where nothing is literal, there is nothing to see.
        let says_something = |snippet: &Snippet| match snippet {
            Snippet::Script(script) => script.trim() != UNKNOWN,
            Snippet::Words(words) => words.iter().any(|word| word.text != UNKNOWN),
        };
        self.found.extend(snippet.filter(says_something));
        self.is_recursive = false;
    }

    fn deletion(&mut self, paths: &[&str], is_tree: bool) -> Option<Snippet> {
        // What the code itself has made for a while may go.
        const MAKERS: [&str; 3] = ["mkdtemp", "mktmpdir", "TemporaryDirectory"];
        let are_unknown = paths.iter().all(|path| *path == UNKNOWN);
        if are_unknown && MAKERS.iter().any(|name| self.mentions.has(name)) {
            return None;
        }
        let start: &[&str] = if is_tree { &["rm", "-rf"] } else { &["rm"] };
        Some(Snippet::Words(words(&[start, paths].concat())))
    }

    /// Reads what is done with a path: `Path("x").unlink()`.
    fn path_method(&mut self, parts: &[&str]) -> Option<Snippet> {
        let path = parts.join("/");
        while self.peek() == Some(b'.') {
            self.at += 1;
            let method = self.word();
            if self.peek() == Some(b'(') {
                self.at += 1;
                self.arguments(Some(b')'));
            }
            match method {
                "unlink" | "rmdir" | "delete" => return self.deletion(&[path.as_str()], false),
                "rmtree" | "deleteDir" | "deleteRecursively" => return self.deletion(&[path.as_str()], true),
                "rename" | "replace" => return Some(Snippet::Words(words(&["mv", &path, UNKNOWN]))),
                "rglob" | "glob" | "iterdir" if path.starts_with(['/', '$', '~']) => {
                    self.globs.push(path);
                    return None;
                }
                "" => return None,
                _ => {}
            }
        }
        None
    }

    /// Reads arguments up to a closing bracket, or to the end of the statement.
    fn arguments(&mut self, close: Option<u8>) -> Vec<Argument> {
        let mut arguments = Vec::new();
        self.depth += 1;
        while let Some(byte) = self.peek() {
            match byte {
                _ if Some(byte) == close => {
                    self.at += 1;
                    break;
                }
                b')' | b']' | b'}' if close.is_none() => break,
                b';' | b'\n' if close.is_none() => break,
                b')' | b']' | b'}' | b',' => self.at += 1,
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                _ if self.depth > MAX_DEPTH => self.at += char_length(byte),
                _ => {
                    let before = self.at;
                    arguments.push(self.argument(close.is_none()));
                    // Whatever it is, it is not read twice.
                    self.at = self.at.max(before + 1);
                    self.step_to_boundary();
                }
            }
        }
        self.depth -= 1;
        arguments
    }

    /// Reads one argument, to the comma or bracket behind it.
    fn argument(&mut self, ends_with_line: bool) -> Argument {
        let mut text = String::new();
        let mut list: Option<Vec<Argument>> = None;
        let mut is_named = false;
        let mut is_behind_dot = false;
        while let Some(byte) = self.peek() {
            if self.skip_comment() {
                continue;
            }
            let was_behind_dot = std::mem::take(&mut is_behind_dot);
            match byte {
                b',' | b')' | b']' | b'}' => break,
                b';' | b'\n' if ends_with_line => break,
                _ if self.is_quote(byte) => text.push_str(&self.string(true)),
                b'`' if self.has_shell_quotes() => {
                    self.shell_quoted();
                    text.push_str(UNKNOWN);
                }
                b'[' | b'{' | b'(' => {
                    self.at += 1;
                    let close = if byte == b'[' { b']' } else { byte + if byte == b'{' { 2 } else { 1 } };
                    let inner = self.arguments(Some(close));
                    match <[Argument; 1]>::try_from(inner) {
                        Ok([Argument::Text(only)]) if byte == b'(' => text.push_str(&only),
                        Ok(inner) => list.get_or_insert_default().extend(inner),
                        Err(inner) => list.get_or_insert_default().extend(inner),
                    }
                }
                b'$' | b'@' if self.language != Language::JavaScript => {
                    self.at += 1;
                    self.word();
                    text.push_str(UNKNOWN);
                }
                b'%' if self.language == Language::Ruby && self.rest().starts_with("%w") => {
                    self.at += 2;
                    list.get_or_insert_default().extend(self.quoted_words());
                }
                // `removeItem(atPath: "x")`
                b':' if self.language == Language::Other && text == UNKNOWN => {
                    text.clear();
                    self.at += 1;
                }
                b'=' | b':' if !text.is_empty() && text == UNKNOWN && list.is_none() => {
                    is_named = self.code.as_bytes().get(self.at + 1) != Some(&b'=');
                    self.at += 1;
                    let rest = self.rest().trim_start_matches(['>', ' ']);
                    if rest.starts_with("true")
                        || rest.starts_with("True")
                        || rest.starts_with("TRUE")
                        || rest.starts_with('1')
                    {
                        self.is_recursive |= self.code[..self.at - 1].trim_end().ends_with("recursive");
                    }
                }
                b'/' => {
                    text.push('/');
                    self.at += 1;
                }
                b'.' => {
                    is_behind_dot = true;
                    self.at += 1;
                }
                _ if is_name(byte) => self.value(&mut text, &mut list, was_behind_dot),
                _ => self.at += char_length(byte),
            }
        }
        match list {
            Some(list) if is_named => Argument::List(list),
            Some(mut list) => {
                if !text.is_empty() && text != UNKNOWN {
                    list.insert(0, Argument::Text(text));
                }
                Argument::List(list)
            }
            None if is_named => Argument::Named,
            None => Argument::Text(text),
        }
    }

    /// Reads a name in an argument: a call, a variable, or the beginning of a string.
    fn value(&mut self, text: &mut String, list: &mut Option<Vec<Argument>>, is_behind_dot: bool) {
        let start = self.at;
        let path = self.path();
        let next = self.peek().unwrap_or_default();
        if self.language == Language::Python && path.len() <= 2 && self.is_quote(next) {
            let is_prefix = |byte: u8| b"rbfuRBFU".contains(&byte);
            if path.bytes().all(is_prefix) {
                text.push_str(&self.string(true));
                return;
            }
        }
        if self.language == Language::Perl && matches!(path, "q" | "qq" | "qw") && !next.is_ascii_whitespace()
        {
            match path {
                "qw" => list.get_or_insert_default().extend(self.quoted_words()),
                _ => text.push_str(&self.delimited()),
            }
            return;
        }
        if path != "Path.home" && self.run_call(path) {
            text.push_str(UNKNOWN);
            return;
        }
        self.at = start + path.len();
        self.skip_blanks();
        if self.peek() != Some(b'(') {
            if !is_behind_dot {
                let is_glob = matches!(path, "glob") && self.starts_value();
                let is_home = path.ends_with("HOME") || path == "Dir.home";
                if !is_glob {
                    text.push_str(if is_home { HOME } else { UNKNOWN });
                }
            }
            return;
        }
        self.at += 1;
        let arguments = self.arguments(Some(b')'));
        match path.rsplit(['.', ':']).next().unwrap_or(path) {
            _ if is_behind_dot => {}
            "join" | "resolve" | "Path" | "PurePath" => text.push_str(&texts(&arguments).join("/")),
            "expanduser" | "expand_path" => {
                let path = texts(&arguments).concat();
                match path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                    Some(rest) => text.extend([HOME, rest]),
                    None => text.push_str(&path),
                }
            }
            "split" | "abspath" | "realpath" | "str" | "String" | "fspath" | "glob" | "quote" => {
                text.push_str(&texts(&arguments).concat())
            }
            "c" | "list" | "Array" => list.get_or_insert_default().extend(arguments),
            "home" | "homedir" => text.push_str(HOME),
            _ => text.push_str(UNKNOWN),
        }
    }

    /// Reads a string from its quote on; `takes` says whether its text is wanted.
    fn string(&mut self, takes: bool) -> String {
        let takes = takes || self.language == Language::Awk;
        let quote = self.peek().unwrap_or_default();
        let bytes = self.code.as_bytes();
        // The letters in front of a quote say how a string of Python is read.
        let letters = bytes[..self.at].iter().rev().take(2).take_while(|byte| byte.is_ascii_alphabetic());
        let has_letter = |wanted: u8| letters.clone().any(|letter| letter.to_ascii_lowercase() == wanted);
        let is_python = self.language == Language::Python;
        let (is_raw, is_format) = (is_python && has_letter(b'r'), is_python && has_letter(b'f'));
        let is_triple = is_python && bytes[self.at..].starts_with(&[quote; 3]);
        self.at += if is_triple { 3 } else { 1 };
        let mut text = String::new();
        while let Some(byte) = self.peek() {
            if byte == quote && (!is_triple || self.code.as_bytes()[self.at..].starts_with(&[quote; 3])) {
                self.at += if is_triple { 3 } else { 1 };
                break;
            }
            let next = self.code.as_bytes().get(self.at + 1).copied().unwrap_or_default();
            let is_interpolated = match self.language {
                Language::JavaScript => quote == b'`' && byte == b'$' && next == b'{',
                Language::Python => is_format && byte == b'{' && next != b'{',
                Language::Ruby => quote != b'\'' && byte == b'#' && next == b'{',
                Language::Perl => {
                    quote != b'\'' && matches!(byte, b'$' | b'@') && (is_name(next) || next == b'{')
                }
                Language::Php => {
                    quote != b'\'' && (byte == b'$' && is_name(next) || byte == b'{' && next == b'$')
                }
                _ => false,
            };
            if is_interpolated {
                self.interpolation();
                if takes {
                    text.push_str(UNKNOWN);
                }
            } else if byte == b'\\' && !is_raw {
                self.at += 1;
                self.escape(takes.then_some(&mut text));
            } else {
                let end = self.at + char_length(byte);
                if takes {
                    text.push_str(&self.code[self.at..end]);
                }
                self.at = end;
            }
        }
        text
    }

    fn escape(&mut self, text: Option<&mut String>) {
        let Some(char) = self.rest().chars().next() else { return };
        self.at += char.len_utf8();
        if let Some(text) = text {
            match char {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                '\n' => {}
                other => text.push(other),
            }
        }
    }

    /// Steps over `${…}`, `#{…}`, `{…}` or `$name` in a string.
    fn interpolation(&mut self) {
        if self.peek() != Some(b'{') {
            self.at += 1;
        }
        if self.peek() != Some(b'{') {
            self.word();
            return;
        }
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            self.at += char_length(byte);
            match byte {
                b'{' => open += 1,
                b'}' if open <= 1 => return,
                b'}' => open -= 1,
                _ => {}
            }
        }
    }

    /// Reads `` `…` ``, `qx{…}` or `%x(…)` from its delimiter on.
    fn shell_quoted(&mut self) {
        let script = self.delimited();
        if !script.is_empty() {
            self.found.push(Snippet::Script(script));
        }
    }

    /// Reads what is between two delimiters, such as `{…}` or `/…/`.
    fn delimited(&mut self) -> String {
        self.skip_blanks();
        let Some(open) = self.peek().filter(|byte| byte.is_ascii_punctuation()) else { return String::new() };
        let close = match open {
            b'(' => b')',
            b'[' => b']',
            b'{' => b'}',
            b'<' => b'>',
            other => other,
        };
        self.at += 1;
        let mut text = String::new();
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => {
                    self.at += 1;
                    self.escape(Some(&mut text));
                    continue;
                }
                b'#' if self.language == Language::Ruby && self.rest().starts_with("#{") => {
                    self.interpolation();
                    text.push_str(UNKNOWN);
                    continue;
                }
                _ if byte == close && depth == 0 => {
                    self.at += 1;
                    break;
                }
                _ if byte == close => depth -= 1,
                _ if byte == open => depth += 1,
                _ => {}
            }
            let end = self.at + char_length(byte);
            text.push_str(&self.code[self.at..end]);
            self.at = end;
        }
        text
    }

    fn quoted_words(&mut self) -> Vec<Argument> {
        let text = self.delimited();
        text.split_whitespace().map(|word| Argument::Text(word.to_owned())).collect()
    }

    fn skip_comment(&mut self) -> bool {
        let rest = self.rest();
        let is_line = match self.language {
            Language::JavaScript => rest.starts_with("//"),
            Language::Php => rest.starts_with("//") || rest.starts_with('#'),
            Language::Lua | Language::AppleScript => rest.starts_with("--"),
            _ => rest.starts_with('#') && !self.code[..self.at].ends_with('$'),
        };
        if is_line {
            self.at += rest.find('\n').unwrap_or(rest.len());
        } else if matches!(self.language, Language::JavaScript | Language::Php) && rest.starts_with("/*") {
            self.at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else {
            return false;
        }
        true
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Reads a name with what its dots, colons or arrows lead to; for AppleScript, the words of a command.
    fn path(&mut self) -> &'code str {
        let start = self.at;
        let code = self.code;
        if self.language == Language::AppleScript && self.rest().starts_with(calls::DO_SHELL_SCRIPT) {
            self.at += calls::DO_SHELL_SCRIPT.len();
            return &code[start..self.at];
        }
        loop {
            self.word();
            let rest = self.rest();
            let joint = [".", "::", "->", "?."].into_iter().find(|joint| rest.starts_with(joint));
            let behind = joint.and_then(|joint| rest.as_bytes().get(joint.len()));
            match (joint, behind) {
                (Some(joint), Some(byte)) if is_name(*byte) => self.at += joint.len(),
                _ => return &code[start..self.at],
            }
        }
    }

    fn word(&mut self) -> &'code str {
        let start = self.at;
        let code = self.code;
        self.at += code.as_bytes()[start..].iter().take_while(|byte| is_name(**byte)).count();
        &code[start..self.at]
    }

    /// Returns whether a call needs no parentheses.
    fn takes_words(&self) -> bool {
        matches!(
            self.language,
            Language::Perl | Language::Ruby | Language::Lua | Language::AppleScript | Language::Awk
        )
    }

    fn starts_value(&self) -> bool {
        let rest = self.rest();
        let is_quoting = |start: &str| {
            rest.strip_prefix(start)
                .and_then(|rest| rest.bytes().next())
                .is_some_and(|byte| byte.is_ascii_punctuation())
        };
        self.peek().is_some_and(|byte| self.is_quote(byte) || matches!(byte, b'[' | b'$' | b'@'))
            || self.language == Language::Perl && ["q", "qq", "qw"].into_iter().any(is_quoting)
            || self.language == Language::Perl && rest.starts_with("glob ")
            || self.language == Language::Ruby && (rest.starts_with("%w") || rest.starts_with("Dir."))
    }

    fn has_shell_quotes(&self) -> bool {
        matches!(self.language, Language::Perl | Language::Ruby | Language::Php | Language::Other)
    }

    fn is_quote(&self, byte: u8) -> bool {
        match byte {
            b'"' => true,
            b'\'' => !matches!(self.language, Language::Awk | Language::AppleScript),
            b'`' => self.language == Language::JavaScript,
            _ => false,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.code.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'code str {
        self.code.get(self.at..).unwrap_or_default()
    }

    fn step_to_boundary(&mut self) {
        while self.at < self.code.len() && !self.code.is_char_boundary(self.at) {
            self.at += 1;
        }
    }
}

/// Returns the literal texts among arguments, also those in lists.
fn texts(arguments: &[Argument]) -> Vec<&str> {
    let mut found = Vec::new();
    for argument in arguments {
        match argument {
            Argument::Text(text) => found.push(text.as_str()),
            Argument::List(list) => found.extend(texts(list)),
            Argument::Named => {}
        }
    }
    found
}

fn words(texts: &[&str]) -> Vec<Word> {
    let word = |text: &&str| Word {
        text: (*text).to_owned(),
        is_quoted: true,
        is_dynamic: text.contains(UNKNOWN) || text.starts_with(HOME),
    };
    texts.iter().map(word).collect()
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

fn char_length(byte: u8) -> usize {
    match byte {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}
