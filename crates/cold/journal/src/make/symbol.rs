//! The names of what a line of a file defines: functions, types, tables, keys, headings, selectors.
//!
//! This is not a parser. A line is looked at alone; what it is inside of follows from indentation, which is right for
//! formatted code, and formatted code is what sessions leave.

/// What a file is written in, as far as definitions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Python,
    Script,
    Go,
    Java,
    CSharp,
    C,
    Ruby,
    Shell,
    Sql,
    Keys,
    Toml,
    Sections,
    Json,
    Variables,
    Markdown,
    Css,
    Make,
    Docker,
    Terraform,
    Schema,
    Unknown,
}

/// A definition on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) name: String,
    /// How far the line is indented; for headings, how deep they are.
    pub(super) indent: usize,
    /// Whether it only holds others, such as a class or a section: what is inside has the better name.
    pub(super) is_outer: bool,
}

impl Language {
    /// Returns the language of a file, by its name.
    pub(super) fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        match name.as_str() {
            "makefile" | "gnumakefile" | "justfile" => return Self::Make,
            "dockerfile" | "containerfile" => return Self::Docker,
            "gemfile" | "rakefile" => return Self::Ruby,
            _ if name.starts_with("dockerfile") => return Self::Docker,
            _ if name.starts_with(".env") => return Self::Variables,
            _ => {}
        }
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "rs" => Self::Rust,
            "py" | "pyi" | "ipynb" => Self::Python,
            "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "vue" | "svelte" | "astro" => Self::Script,
            "go" => Self::Go,
            "cs" | "csx" => Self::CSharp,
            "java" | "kt" | "kts" | "scala" | "swift" | "dart" | "php" | "groovy" => Self::Java,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "m" | "mm" | "zig" => Self::C,
            "rb" | "ex" | "exs" | "lua" | "cr" => Self::Ruby,
            "sh" | "bash" | "zsh" | "fish" | "bats" | "ps1" => Self::Shell,
            "sql" => Self::Sql,
            "yml" | "yaml" => Self::Keys,
            "toml" | "ini" | "service" | "timer" | "socket" | "cnf" | "editorconfig" | "gitconfig"
            | "desktop" => Self::Toml,
            "cfg" | "conf" => Self::Sections,
            "json" | "jsonc" | "json5" => Self::Json,
            "env" | "properties" | "npmrc" => Self::Variables,
            "md" | "mdx" | "markdown" | "rst" | "adoc" => Self::Markdown,
            "css" | "scss" | "sass" | "less" => Self::Css,
            "mk" => Self::Make,
            "tf" | "tfvars" | "hcl" => Self::Terraform,
            "proto" | "graphql" | "gql" | "prisma" => Self::Schema,
            _ => Self::Unknown,
        }
    }

    /// Returns whether every line has a name of its own, such as a key.
    pub(super) fn is_of_keys(self) -> bool {
        matches!(self, Self::Keys | Self::Toml | Self::Json | Self::Variables)
    }

    /// Returns what a line defines.
    pub(super) fn definition(self, line: &str) -> Option<Definition> {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let found = |(name, is_outer): (String, bool)| Definition { name, indent, is_outer };
        match self {
            Self::Rust => rust(text).map(found),
            Self::Python => python(text, indent).map(found),
            Self::Script => script(text, indent).map(found),
            Self::Go => go(text).map(found),
            Self::Java => java(text).map(found),
            Self::CSharp => c_sharp(text).map(found),
            Self::C => c(text, indent).map(found),
            Self::Ruby => ruby(text).map(found),
            Self::Shell => shell(text).map(found),
            Self::Sql => sql(text).map(found),
            Self::Keys => key(text.strip_prefix("- ").unwrap_or(text), ':').map(|name| found((name, true))),
            Self::Toml => toml(text, indent),
            Self::Sections => sections(line, indent),
            Self::Json => json(text).map(|name| found((name, true))),
            Self::Variables => key(text, '=').map(|name| found((name, false))),
            Self::Markdown => heading(text),
            Self::Css => css(text).map(found),
            Self::Make => make_target(line).map(found),
            Self::Docker => docker(text).map(found),
            Self::Terraform => terraform(text).map(found),
            Self::Schema => after_word(
                text,
                &["message", "service", "rpc", "enum", "type", "input", "interface", "model"],
            )
            .map(|name| found((name, true))),
            Self::Unknown => None,
        }
    }
}

/// Returns the identifier that a text begins with.
fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(text.len());
    let name = &text[..end];
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

/// Returns the text behind a word, if the text begins with it and it ends there.
fn behind<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
}

/// Returns the text without the leading words of a list.
fn without<'t>(mut text: &'t str, words: &[&str]) -> &'t str {
    while let Some(rest) = words.iter().find_map(|word| behind(text, word)) {
        text = rest;
    }
    text
}

/// Returns the identifier behind the first of these words that the text begins with.
fn after_word(text: &str, words: &[&str]) -> Option<String> {
    let rest = words.iter().find_map(|word| behind(text, word))?;
    identifier(rest).map(str::to_owned)
}

fn rust(text: &str) -> Option<(String, bool)> {
    let mut text = text;
    if let Some(rest) = text.strip_prefix("pub(") {
        text = rest.split_once(')')?.1.trim_start();
    }
    let text = without(text, &["pub", "async", "unsafe", "default", "extern \"C\"", "extern"]);
    if let Some(rest) = text.strip_prefix("macro_rules!") {
        return identifier(rest.trim_start()).map(|name| (name.to_owned(), false));
    }
    if let Some(rest) = text.strip_prefix("impl") {
        let rest = if rest.starts_with('<') { behind_brackets(rest)? } else { rest };
        let subject =
            rest.split_once(" for ").map_or(rest, |(_, subject)| subject).trim_start_matches([' ', '&']);
        let subject = subject.rsplit("::").next().unwrap_or(subject);
        return identifier(subject).map(|name| (name.to_owned(), true));
    }
    if let Some(name) = after_word(text, &["mod", "trait"]) {
        return text.trim_end().ends_with('{').then_some((name, true));
    }
    let text = behind(text, "const")
        .filter(|rest| rest.starts_with("fn ") || rest.starts_with("unsafe "))
        .unwrap_or(text);
    after_word(text, &["fn", "struct", "enum", "type", "union", "const", "static"])
        .filter(|name| name != "_" && name != "mut")
        .map(|name| (name, false))
}

/// Returns what follows the `<…>` that a text begins with.
fn behind_brackets(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[at + 1..]);
        }
    }
    None
}

fn python(text: &str, indent: usize) -> Option<(String, bool)> {
    if let Some(name) = after_word(text, &["class"]) {
        return Some((name, true));
    }
    if let Some(name) = after_word(without(text, &["async"]), &["def"]) {
        return Some((name, false));
    }
    let name = identifier(text).filter(|_| indent == 0)?;
    let rest = text[name.len()..].trim_start();
    let is_set = (rest.starts_with('=') && !rest.starts_with("==")) || rest.starts_with(':');
    (is_set && name.chars().any(|c| c.is_ascii_uppercase()) && !is_keyword(name))
        .then(|| (name.to_owned(), false))
}

/// Words that begin statements, not definitions.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "else"
            | "for"
            | "while"
            | "switch"
            | "case"
            | "return"
            | "catch"
            | "do"
            | "try"
            | "with"
            | "new"
            | "throw"
            | "await"
            | "yield"
            | "typeof"
            | "delete"
            | "in"
            | "of"
            | "not"
            | "and"
            | "or"
            | "elif"
            | "except"
            | "finally"
            | "raise"
            | "assert"
            | "default"
            | "super"
            | "this"
            | "self"
            | "using"
            | "lock"
            | "foreach"
            | "sizeof"
            | "goto"
            | "function"
            | "fn"
            | "def"
            | "class"
            | "import"
            | "from"
            | "require"
            | "print"
            | "echo"
            | "unless"
            | "until"
            | "when"
            | "then"
            | "match"
            | "let"
            | "const"
            | "var"
            | "export"
            | "guard"
    )
}

fn script(text: &str, indent: usize) -> Option<(String, bool)> {
    let is_exported = text.starts_with("export ");
    let text = without(text, &["export", "default", "declare", "abstract"]);
    if let Some(name) = after_word(text, &["class", "namespace"]) {
        return Some((name, true));
    }
    let function = without(text, &["async"]);
    if let Some(rest) =
        behind(function, "function").or_else(|| function.strip_prefix("function*").map(str::trim_start))
    {
        return identifier(rest.trim_start_matches(['*', ' '])).map(|name| (name.to_owned(), false));
    }
    if let Some(name) = after_word(text, &["interface", "enum"]) {
        return Some((name, true));
    }
    if let Some(name) = after_word(text, &["type"]).filter(|name| text.contains('=') && name != "of") {
        return Some((name, false));
    }
    for test in ["describe", "it", "test"] {
        if let Some(rest) = text.strip_prefix(test) {
            let rest =
                rest.split_once('(').filter(|(between, _)| between.len() < 8 && !between.contains(' '));
            let title = rest.and_then(|(_, rest)| quoted(rest));
            if let Some(title) = title {
                return Some((title, test == "describe"));
            }
        }
    }
    if let Some(rest) = ["const", "let", "var"].iter().find_map(|word| behind(text, word)) {
        let name = identifier(rest)?;
        let value = rest[name.len()..].split_once('=').map_or("", |(_, value)| value.trim());
        let is_function = is_function(value);
        return (is_function || is_exported || indent == 0).then(|| (name.to_owned(), false));
    }
    method(text, indent)
}

/// Returns whether a value is a function, not one that is given to a call: `(a) => {`, `async a => a`.
fn is_function(value: &str) -> bool {
    let value =
        value.strip_prefix("async").filter(|rest| !rest.starts_with(char::is_alphanumeric)).unwrap_or(value);
    let value = value.trim_start();
    if value.starts_with("function") || matches!(value, "(" | "({" | "([") {
        return true;
    }
    let value =
        if value.starts_with('<') { behind_brackets(value).unwrap_or(value).trim_start() } else { value };
    let behind = match value.starts_with('(') {
        true => closing(value).map(|end| value[end + 1..].trim_start()),
        false => identifier(value).map(|name| value[name.len()..].trim_start()),
    };
    behind.is_some_and(|rest| rest.starts_with("=>") || rest.starts_with(':') && rest.contains("=>"))
}

/// Returns where the parenthesis is closed that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the text between the quotation marks that a text begins with.
fn quoted(text: &str) -> Option<String> {
    let text = text.trim_start();
    let mark = text.chars().next().filter(|mark| matches!(mark, '"' | '\'' | '`'))?;
    let (inside, _) = text[1..].split_once(mark)?;
    (!inside.trim().is_empty()).then(|| inside.to_owned())
}

/// A method of a class or an object: `name(…) {`, indented.
fn method(text: &str, indent: usize) -> Option<(String, bool)> {
    let text = without(
        text,
        &["public", "private", "protected", "static", "readonly", "override", "async", "get", "set"],
    );
    let text = text.trim_start_matches(['*', '#']);
    let name = identifier(text).filter(|name| indent > 0 && !is_keyword(name))?;
    let rest = text[name.len()..].trim_start();
    // An object or a function that is given to a call opens before the parenthesis is closed.
    let head = text.trim_end().strip_suffix('{')?;
    let is_closed = head.matches('(').count() == head.matches(')').count();
    (rest.starts_with(['(', '<']) && is_closed && !text.contains("=> {")).then(|| (name.to_owned(), false))
}

fn go(text: &str) -> Option<(String, bool)> {
    if let Some(rest) = behind(text, "func") {
        let (receiver, rest) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((receiver, rest)) => {
                (receiver.rsplit([' ', '*']).next().and_then(identifier), rest.trim_start())
            }
            None => (None, rest),
        };
        let name = identifier(rest)?;
        return Some((
            receiver.map_or_else(|| name.to_owned(), |receiver| format!("{receiver}.{name}")),
            false,
        ));
    }
    after_word(text, &["type", "var", "const"]).map(|name| (name, false))
}

const MODIFIERS: &[&str] = &[
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "final",
    "abstract",
    "override",
    "virtual",
    "async",
    "open",
    "sealed",
    "data",
    "suspend",
    "inline",
    "mutating",
    "lazy",
    "partial",
    "readonly",
    "synchronized",
    "default",
    "const",
    "fileprivate",
    "case",
];

fn java(text: &str) -> Option<(String, bool)> {
    let bare = without(text, MODIFIERS);
    if let Some(name) = after_word(
        bare,
        &["class", "interface", "enum", "record", "struct", "object", "protocol", "extension", "trait"],
    ) {
        return Some((name, true));
    }
    if let Some(name) = after_word(bare, &["fun", "func", "def", "function"]) {
        return Some((name, false));
    }
    // A return type, a name, parameters, and the body's brace: `List<String> names(int most) {`.
    let (head, _) = bare.split_once('(')?;
    let name = head.rsplit(char::is_whitespace).next().and_then(identifier)?;
    let is_typed = head.trim().contains(char::is_whitespace) && !head.contains(['=', '.', '"']);
    let opens =
        text.trim_end().ends_with(['{', ';']) && (text.trim_end().ends_with('{') || bare.len() < text.len());
    (is_typed
        && opens
        && !is_keyword(name)
        && !is_keyword(head.split_whitespace().next().unwrap_or_default()))
    .then(|| (name.to_owned(), false))
}

/// A type, method, property, field or constant of C#: all have a modifier or a body.
fn c_sharp(text: &str) -> Option<(String, bool)> {
    let mut text = text;
    while let Some((attribute, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        // `[HttpGet("{id}")] public …`; an attribute alone is about the next line.
        text = if attribute.is_empty() { return None } else { rest.trim_start() };
    }
    const MORE: &[&str] = &[
        "new", "required", "extern", "unsafe", "volatile", "event", "static", "file", "ref", "implicit",
        "explicit",
    ];
    let modifiers: Vec<&str> =
        MODIFIERS.iter().chain(MORE).copied().filter(|word| *word != "case" && *word != "default").collect();
    let is_new = text.starts_with("new ");
    let bare = without(text, &modifiers);
    let has_modifier = bare.len() < text.len() && !is_new;
    if let Some(rest) = behind(bare, "namespace") {
        let name = rest.trim_end_matches(['{', ';', ' ']);
        return identifier(name).map(|_| (name.to_owned(), true));
    }
    let types = ["class", "interface", "enum", "record struct", "record class", "record", "struct"];
    if let Some(name) = after_word(bare, &types) {
        return Some((name, true));
    }
    if is_keyword(identifier(bare)?) && identifier(bare) != Some("this") {
        return None;
    }
    let end = bare.find(['(', '{', '=', ';']).unwrap_or(bare.len());
    let head = bare[..end].trim();
    let behind_head = &bare[end..];
    let typed = head.rsplit_once(char::is_whitespace);
    // Of a generic method's name, what is before `<`; a type may have blanks in its own.
    let name = match head.strip_suffix('>') {
        Some(head) => identifier(head.rsplit_once('<')?.0.rsplit(char::is_whitespace).next()?)?,
        None => identifier(typed.map_or(head, |(_, name)| name.rsplit('.').next().unwrap_or(name)))?,
    };
    let is_plain = !head.contains(['"', '+', '!', '&', '|']) && !head.contains("=>") && !is_keyword(name);
    let line = bare.trim_end();
    let is_member = if behind_head.starts_with('(') {
        let is_body = line.ends_with([')', '{', '(', ','])
            || line.contains("=>")
            || line.contains(") where ")
            || has_modifier;
        let is_constructor = typed.is_none() && has_modifier;
        let is_call = head.contains('.') && !has_modifier;
        is_body && (typed.is_some() || is_constructor) && !is_call && (has_modifier || !line.ends_with(");"))
    } else if behind_head.starts_with('{') {
        typed.is_some()
            && (behind_head.contains("get")
                || behind_head.contains("set")
                || has_modifier && behind_head.trim() == "{")
    } else if behind_head.starts_with("=>") {
        typed.is_some()
    } else {
        has_modifier && typed.is_some()
    };
    (is_member && is_plain).then(|| (name.to_owned(), false))
}

fn c(text: &str, indent: usize) -> Option<(String, bool)> {
    if let Some(name) = after_word(text, &["#define"]) {
        return Some((name, false));
    }
    let bare = without(
        text,
        &["static", "inline", "extern", "const", "virtual", "constexpr", "typedef", "pub", "export"],
    );
    if let Some(name) = after_word(bare, &["class", "struct", "enum", "namespace", "union", "fn"]) {
        return (text.contains('{') || !text.trim_end().ends_with(';'))
            .then_some((name, !text.contains('(')));
    }
    let (head, _) = bare.split_once('(').filter(|_| indent == 0)?;
    let name = head.rsplit([' ', '*', '&', ':']).next().and_then(identifier)?;
    let is_typed = head.contains([' ', '*']) && !head.contains(['=', '"', '#']);
    (is_typed && !text.trim_end().ends_with(';') && !is_keyword(name)).then(|| (name.to_owned(), false))
}

fn ruby(text: &str) -> Option<(String, bool)> {
    if let Some(name) = after_word(text, &["class", "module", "defmodule"]) {
        return Some((name, true));
    }
    let rest = ["def", "defp", "local function", "function"].iter().find_map(|word| behind(text, word));
    if let Some(rest) = rest {
        let rest = rest.strip_prefix("self.").unwrap_or(rest);
        return identifier(rest).map(|name| (name.to_owned(), false));
    }
    for word in ["describe", "context", "it", "test"] {
        if let Some(title) = behind(text, word).and_then(quoted) {
            return Some((title, word == "describe" || word == "context"));
        }
    }
    None
}

fn shell(text: &str) -> Option<(String, bool)> {
    if let Some(name) = after_word(text, &["function"]) {
        return Some((name, false));
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))?;
    let (name, rest) = text.split_at(end);
    if !name.is_empty() && rest.trim_start().starts_with("()") {
        return Some((name.to_owned(), false));
    }
    let is_variable = rest.starts_with('=')
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit());
    is_variable.then(|| (name.to_owned(), false))
}

fn sql(text: &str) -> Option<(String, bool)> {
    let mut words = text.split_whitespace().map(|word| word.to_ascii_lowercase());
    let first = words.next()?;
    if !matches!(first.as_str(), "create" | "alter" | "drop") {
        return None;
    }
    let mut originals = text.split_whitespace().skip(1);
    let kinds = [
        "table",
        "index",
        "view",
        "function",
        "type",
        "trigger",
        "procedure",
        "schema",
        "policy",
        "sequence",
        "extension",
    ];
    originals.find(|word| kinds.contains(&word.to_ascii_lowercase().as_str()))?;
    let skipped = ["if", "not", "exists", "concurrently", "only"];
    let name = originals.find(|word| !skipped.contains(&word.to_ascii_lowercase().as_str()))?;
    let name = name.split('(').next().unwrap_or(name).trim_matches(['"', '`', ';', '[', ']']);
    (!name.is_empty()).then(|| (name.to_owned(), false))
}

/// Returns the key of `key: value` or `KEY=value`.
fn key(text: &str, mark: char) -> Option<String> {
    let text = text.strip_prefix("export ").unwrap_or(text);
    if text.starts_with(['#', '-', '{', '[']) {
        return None;
    }
    let (name, rest) = text.split_once(mark)?;
    let name = name.trim_matches(['"', '\'']).trim();
    let is_name = !name.is_empty()
        && name.len() <= 60
        && !name.contains(char::is_whitespace)
        && !name.contains(['{', '(', '$']);
    let is_end = mark == '=' || rest.is_empty() || rest.starts_with(char::is_whitespace);
    (is_name && is_end).then(|| name.to_owned())
}

fn toml(text: &str, indent: usize) -> Option<Definition> {
    if let Some(rest) = text.strip_prefix('[') {
        let (name, behind) = rest.trim_start_matches('[').split_once(']')?;
        let name = name.trim().to_owned();
        let behind = behind.trim_start_matches(']').trim();
        // An array's line has more than names.
        let is_section = !name.is_empty()
            && !name.starts_with(['"', '\'', '{'])
            && !name.contains([',', '{'])
            && (behind.is_empty() || behind.starts_with(['#', ';']));
        return is_section.then_some(Definition { name, indent: 0, is_outer: true });
    }
    let (name, _) = text.split_once(['=', ':'])?;
    let name = name.trim().trim_matches('"');
    let is_name = !name.is_empty()
        && name.len() <= 60
        && name.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
    is_name.then(|| Definition { name: name.to_owned(), indent: indent + 1, is_outer: false })
}

/// A file such as that of HAProxy or nginx: what is indented belongs to the line before that is not.
fn sections(line: &str, indent: usize) -> Option<Definition> {
    let text = line.trim();
    if text.starts_with(['[', '#', '}']) || text.is_empty() {
        return toml(text, indent).filter(|definition| definition.is_outer);
    }
    if let Some((name, _)) =
        text.split_once('=').filter(|(name, _)| !name.trim().contains(char::is_whitespace))
    {
        let name = name.trim().trim_end_matches([':', '+']).to_owned();
        return (!name.is_empty()).then(|| Definition { name, indent: indent + 1, is_outer: false });
    }
    let name: Vec<&str> = text.trim_end_matches('{').split_whitespace().take(2).collect();
    let is_section = indent == 0 || text.ends_with('{');
    is_section.then(|| Definition { name: name.join(" "), indent, is_outer: false })
}

fn json(text: &str) -> Option<String> {
    let (name, rest) = match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].split_once(quote)?,
        _ => text.split_at(identifier(text)?.len()),
    };
    (rest.trim_start().starts_with(':') && name.len() <= 60 && !name.is_empty()).then(|| name.to_owned())
}

fn heading(text: &str) -> Option<Definition> {
    let depth = text.bytes().take_while(|byte| *byte == b'#').count();
    let name = text[depth..].strip_prefix(' ')?.trim().trim_end_matches('#').trim();
    let is_heading = (1..=6).contains(&depth) && !name.is_empty();
    is_heading.then(|| Definition { name: name.to_owned(), indent: depth, is_outer: false })
}

fn css(text: &str) -> Option<(String, bool)> {
    let text = text.trim_end();
    if text.starts_with("--") || text.starts_with('$') {
        return text.split_once(':').map(|(name, _)| (name.trim().to_owned(), false));
    }
    let selector = text.strip_suffix('{').or_else(|| text.strip_suffix(','))?.trim();
    let is_selector = !selector.is_empty() && selector.len() <= 80 && !selector.contains(';');
    is_selector.then(|| (selector.to_owned(), selector.starts_with('@')))
}

fn make_target(line: &str) -> Option<(String, bool)> {
    let (name, rest) = line.split_once(':')?;
    let is_target = !name.is_empty()
        && !name.starts_with(['\t', ' ', '#', '.'])
        && !name.contains(['=', '$', '"'])
        && !rest.starts_with('=');
    is_target.then(|| (name.split_whitespace().next().unwrap_or(name).to_owned(), false))
}

fn docker(text: &str) -> Option<(String, bool)> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let is_instruction = first.len() >= 3 && first.chars().all(|c| c.is_ascii_uppercase());
    match first {
        "FROM" => words.next().map(|image| (format!("FROM {image}"), false)),
        _ => is_instruction.then(|| (first.to_owned(), false)),
    }
}

fn terraform(text: &str) -> Option<(String, bool)> {
    let first = identifier(text)?;
    if !matches!(
        first,
        "resource" | "data" | "module" | "variable" | "output" | "provider" | "locals" | "terraform"
    ) {
        return None;
    }
    let names: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
    let name = if names.is_empty() { first.to_owned() } else { names.join(".") };
    text.trim_end().ends_with('{').then_some((name, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, lines: &[(&str, &str)]) {
        for (line, expected) in lines {
            let found = Language::of(path).definition(line).map(|definition| definition.name);
            assert_eq!(found.as_deref().unwrap_or_default(), *expected, "{path}: {line}");
        }
    }

    #[test]
    fn a_line_gives_the_name_of_what_it_defines() {
        check(
            "src/a.rs",
            &[
                ("pub(crate) async fn verify_token(", "verify_token"),
                ("    const fn most() -> u32 {", "most"),
                ("pub const MAX: u32 = 3;", "MAX"),
                ("impl<'a, T: Into<X>> fmt::Display for Token<'a> {", "Token"),
                ("mod tests {", "tests"),
                ("mod tests;", ""),
                ("    let fn_name = 1;", ""),
                ("struct Claims {", "Claims"),
            ],
        );
        check(
            "a.py",
            &[
                ("    async def fetch(self):", "fetch"),
                ("class Order(Base):", "Order"),
                ("RETRIES = 3", "RETRIES"),
                ("x = 1", ""),
            ],
        );
        check(
            "Api/OrdersController.cs",
            &[
                ("    [HttpGet(\"{id}\")]", ""),
                ("    [Authorize] public IActionResult Get(int id)", "Get"),
                ("    public async Task<Order?> FindAsync(int id, CancellationToken token)", "FindAsync"),
                ("    public decimal Total => Lines.Sum(line => line.Price);", "Total"),
                ("    public string Name { get; set; } = \"\";", "Name"),
                ("    private readonly ILogger<Orders> _log;", "_log"),
                ("    public const int Max = 5;", "Max"),
                ("    public Orders(ILogger<Orders> log)", "Orders"),
                ("    protected override void OnModelCreating(ModelBuilder builder) =>", "OnModelCreating"),
                ("    static T Parse<T>(string text) where T : class", "Parse"),
                ("public record Order(int Id, string Name);", "Order"),
                ("namespace Shop.Api;", "Shop.Api"),
                ("        var order = await _orders.FindAsync(id);", ""),
                ("        return Ok(order);", ""),
                ("        _log.LogInformation(\"x\");", ""),
                ("        if (order is null) return NotFound();", ""),
                ("        Order order = new Order(1);", ""),
                ("        foreach (var line in lines)", ""),
                ("        throw new ArgumentException(nameof(id));", ""),
                ("        total += line.Price;", ""),
                ("        Save(order);", ""),
                ("using System.Text;", ""),
            ],
        );
        check(
            "web/use-cart.ts",
            &[
                ("const { data, error } = useQuery(key);", ""),
                ("  const [open, setOpen] = useState(false);", ""),
                ("  const total = lines.reduce((sum, line) => sum + line.price, 0);", ""),
                ("  const add = (line: Line): void => {", "add"),
                ("  const pick = async id => load(id);", "pick"),
                ("  const save = useless(3);", ""),
                ("  dispatch({", ""),
                ("  useEffect(function () {", ""),
                ("  setup(props, { emit }) {", "setup"),
                ("export const { useCartQuery } = api;", ""),
                ("  const same = (a + b) * c;", ""),
            ],
        );
        check(
            "web/a.tsx",
            &[
                ("export default function Page() {", "Page"),
                ("export const load = async () => {", "load"),
                ("  const x = 1;", ""),
                ("  async save(order: Order): Promise<void> {", "save"),
                ("  if (x) {", ""),
                ("  it('keeps the order', () => {", "keeps the order"),
                ("interface Props {", "Props"),
                ("  items.forEach((x) => {", ""),
            ],
        );
        check(
            "a.go",
            &[
                ("func (s *Store) Get(id string) error {", "Store.Get"),
                ("type Store struct {", "Store"),
                ("func main() {", "main"),
            ],
        );
        check(
            "A.java",
            &[
                ("  public List<String> names(int most) {", "names"),
                ("    return call(x) {", ""),
                ("    foo.bar(1);", ""),
                ("public final class Order extends X {", "Order"),
            ],
        );
        check("a.kt", &[("    override suspend fun load(id: Int) = 1", "load")]);
        check(
            "a.c",
            &[
                ("static int parse(const char *s)", "parse"),
                ("    call(x);", ""),
                ("#define MAX 3", "MAX"),
                ("struct node {", "node"),
            ],
        );
        check("a.rb", &[("  def self.find(id)", "find"), ("module Api", "Api")]);
        check("a.sh", &[("rotate_logs() {", "rotate_logs"), ("KEEP=7", "KEEP"), ("  echo x", "")]);
        check(
            "a.sql",
            &[
                ("CREATE TABLE IF NOT EXISTS orders (", "orders"),
                ("alter table public.orders add column x int;", "public.orders"),
                ("SELECT 1", ""),
            ],
        );
        check(
            "a.yml",
            &[
                ("  retries: 3", "retries"),
                ("- name: x", "name"),
                ("# note: x", ""),
                ("url: http://x", "url"),
            ],
        );
        check(
            "a.toml",
            &[("[cache]", "cache"), ("ttl = 3", "ttl"), ("[[bin]]", "bin"), ("  [\"a.py\"],", "")],
        );
        check("my.conf", &[("[mysqld]", "mysqld"), ("max_connections = 100", "max_connections")]);
        check("a.json5", &[("  retries: 3,", "retries"), ("  'url': 'x',", "url")]);
        check(
            "a.json",
            &[
                ("  \"it's_open\": true,", "it's_open"),
                ("  'the \"best\"': 1,", "the \"best\""),
                ("  \"it's open\",", ""),
                ("  \"a': 1,", ""),
            ],
        );
        check("a.cfg", &[("frontend public", "frontend public"), ("    bind :443", ""), ("[main]", "main")]);
        check("package.json", &[("  \"test\": \"vitest\",", "test")]);
        check("README.md", &[("## Set up ##", "Set up"), ("text", "")]);
        check("a.css", &[(".card > a {", ".card > a"), ("  color: red;", ""), ("  --gap: 4px;", "--gap")]);
        check("Makefile", &[("test: build", "test"), ("\tcargo test", ""), ("X := 1", "")]);
        check("main.tf", &[("resource \"aws_s3_bucket\" \"logs\" {", "aws_s3_bucket.logs")]);
        check("a.proto", &[("message Order {", "Order")]);
    }
}
