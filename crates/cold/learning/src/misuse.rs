//! A tool other than the shell that was called the wrong way, and the call of it that worked: the field of its input that was
//! wrong. A tool that takes any text (a path, an address, a query) is never wrong in this sense.

use crate::detect::FILE_TOOLS;
use crate::quoting::escaped;
use lessons::Trigger;
use serde_json::{Map, Value};
use std::path::Path;

/// Longer values are texts of their own. In bytes.
const MAX_VALUE: usize = 40;
/// The shortest value that is looked for in an error: shorter ones are in every text.
const MIN_VALUE: usize = 3;
/// Fields that name what a call works on.
const SUBJECTS: [&str; 16] = [
    "command",
    "content",
    "description",
    "file_path",
    "glob",
    "id",
    "message",
    "new_string",
    "notebook_path",
    "old_string",
    "path",
    "pattern",
    "prompt",
    "query",
    "title",
    "url",
];
/// What tools say that refuse a value or a field, in lower case.
const REFUSALS: [&str; 28] = [
    "missing",
    "required",
    "must have",
    "invalid",
    "expected",
    "must be",
    "one of",
    "available",
    "unknown",
    "not supported",
    "unsupported",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "not allowed",
    "not a valid",
    "did you mean",
    "no such tool",
    "at most",
    "between",
    "exceed",
    "failed validation",
    "less than",
    "malformed",
    "maximum",
    "not valid",
    "should be",
    "too large",
];
/// What they say that want a value written in another way, in lower case.
const FORMS: [&str; 15] = [
    "begin with",
    "expected",
    "format",
    "invalid",
    "iso 8601",
    "malformed",
    "must be",
    "must match",
    "not a valid",
    "not valid",
    "parse",
    "rfc 3339",
    "rfc3339",
    "should be",
    "start with",
];
/// What they say that do not know a name: it is written as they want it.
const UNKNOWN: [&str; 4] = ["does not exist", "doesn't exist", "not found", "unknown"];
/// What they say that want a smaller number, in lower case.
const BOUNDS: [&str; 12] = [
    "<=",
    "at most",
    "between",
    "cannot be more",
    "exceed",
    "less than",
    "limit",
    "max",
    "must not be more",
    "smaller",
    "too large",
    "up to",
];
/// Marks that tell one way of writing a value from another: an address, a path, a channel, a user, words.
const MARKS: [&str; 6] = ["://", "/", "#", "@", " ", ":"];
/// The longest value whose form is looked at. In bytes.
const MAX_FORM: usize = 120;
/// The field of a call that reads a part of a file.
const PART: &str = "limit";
/// The longest text within an inner object. In bytes.
const MAX_INNER: usize = 16;
/// The longest line of an example. In bytes.
const MAX_LINE: usize = 60;

/// A call that a tool refused, and the one that it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Misuse {
    pub tool: String,
    pub before: Map<String, Value>,
    pub after: Map<String, Value>,
    pub error: String,
    pub field: String,
    pub flaw: Flaw,
}

/// What was wrong about a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// This value was, and this one was right.
    Value(String, String),
    /// This value was, and the call went through without the field.
    Refused(String),
    /// It was of another type than this one.
    Type(Type),
    /// The tool has no such field.
    Unknown,
    /// The tool needs the field.
    Missing,
    /// It was more than the tool takes.
    Above(u64),
    /// It was written in a way that this expression fits, and this one was right.
    Form(String, String),
    /// The lines of the file are indented the other way: with tabs, or with spaces.
    Indent { is_tabs: bool },
    /// The text had the numbers of its lines before them.
    Numbered,
    /// Another tool is meant for it.
    Tool(String),
    /// Another tool must be called before it.
    Before(String),
    /// The file is too large to be read whole: this tool showed what was wanted.
    Large(String),
}

/// A type of JSON that a pattern can tell from others by their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Array,
    Object,
    Number,
}

impl Type {
    /// Returns the type of a value that is right where another one, whose text differs in its beginning or its characters, is wrong.
    fn that_differs(wrong: &Value, right: &Value) -> Option<Self> {
        let is_text = |value: &Value| matches!(value, Value::String(_) | Value::Bool(_) | Value::Number(_));
        match right {
            Value::Array(_) if is_text(wrong) || wrong.is_object() => Some(Self::Array),
            Value::Object(_) if is_text(wrong) || wrong.is_array() => Some(Self::Object),
            // "20" and 20 are the same text.
            Value::Number(_) if wrong.as_str().is_some_and(|text| text.parse::<f64>().is_err()) => {
                Some(Self::Number)
            }
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Array => "an array",
            Self::Object => "an object",
            Self::Number => "a number",
        }
    }

    /// Returns an expression that fits what is of no such type.
    fn wrong(self) -> &'static str {
        match self {
            Self::Array => r"^[^\[]",
            Self::Object => r"^[^{]",
            Self::Number => "[A-Za-z]",
        }
    }
}

impl Misuse {
    /// Compares a call that failed with one that succeeded. `None` where the error is about something else than one field.
    pub fn between(tool: &str, before: &str, after: &str, error: &str) -> Option<Self> {
        let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
        let (before, after) = (read(before)?, read(after)?);
        let lower = error.to_lowercase();
        if let Some(flaw) = too_large((tool, &before), (tool, &after), &lower) {
            let (tool, field) = (tool.to_owned(), PART.to_owned());
            return Some(Self { tool, before, after, error: error.to_owned(), field, flaw });
        }
        if FILE_TOOLS.contains(&tool) {
            let flaw = written_otherwise(&before, &after, &lower);
            if let Some(flaw) = flaw {
                let (tool, field) = (tool.to_owned(), "old_string".to_owned());
                return Some(Self { tool, before, after, error: error.to_owned(), field, flaw });
            }
        }
        if !REFUSALS.iter().any(|phrase| lower.contains(phrase)) {
            return None;
        }
        let is_named = |word: &str| has_word(&lower, &word.to_lowercase());
        let is_missing = |name: &str| {
            let says = ["missing", "required", "must have", "must be provided"];
            is_named(name) && says.iter().any(|phrase| lower.contains(phrase))
        };
        let is_gone = |name: &str| !after.contains_key(name);
        // "unrecognized file type: tsx": of the field and its value, the value is what is wrong.
        let refused = before.iter().filter_map(|(name, old)| {
            let old = old.as_str().filter(|old| is_gone(name) && is_choice(old) && is_named(old))?;
            (!SUBJECTS.contains(&name.as_str())).then(|| (name.clone(), Flaw::Refused(old.to_owned())))
        });
        let refused: Vec<_> = refused.collect();
        let is_refused = |name: &str| refused.iter().any(|(other, _)| other == name);
        let gone = before.keys().filter(|name| is_gone(name) && is_named(name) && !is_refused(name));
        let came = after.keys().filter(|name| !before.contains_key(*name) && is_missing(name));
        // What every call of the client's own tools has was left out by a slip.
        let came = came.filter(|name| tool.starts_with("mcp__") || !SUBJECTS.contains(&name.as_str()));
        let changed = before.iter().filter_map(|(name, old)| {
            let (old, new) = (old.as_str()?, after.get(name)?.as_str()?);
            // It names what is wrong, or the field and what is right.
            let is_about = is_named(old) || (is_named(name) && is_named(new));
            let is_wrong = old != new && is_choice(old) && is_choice(new) && is_about;
            (is_wrong && !SUBJECTS.contains(&name.as_str()))
                .then(|| (name.clone(), Flaw::Value(old.to_owned(), new.to_owned())))
        });
        let is_of_type =
            ["array", "list", "object", "number", "integer", "type"].iter().any(|it| lower.contains(it));
        let typed = before.iter().filter_map(|(name, old)| {
            let right = Type::that_differs(old, after.get(name)?)?;
            (is_of_type && is_named(name)).then(|| (name.clone(), Flaw::Type(right)))
        });
        let above = before.iter().filter_map(|(name, old)| {
            let bound = bound(number(old)?, number(after.get(name)?)?, &lower)?;
            is_named(name).then(|| (name.clone(), Flaw::Above(bound)))
        });
        let formed = before.iter().filter_map(|(name, old)| {
            let (old, new) = (old.as_str()?, after.get(name)?.as_str()?);
            let is_text =
                SUBJECTS.contains(&name.as_str()) && !["id", "path", "url"].contains(&name.as_str());
            let is_about = !is_text && (is_named(name) || is_named(old));
            let expression = form(old, new).filter(|_| is_about)?;
            Some((name.clone(), Flaw::Form(expression, new.to_owned())))
        });
        // Of a field within another one, as `parent.database`.
        let inner = before.iter().filter_map(|(name, old)| {
            let (old, new) = (old.as_object()?, after.get(name)?.as_object()?);
            let mut wrong = old.iter().filter_map(|(key, was)| {
                let is_choice_of = |value: &Value| value.as_str().is_some_and(is_choice);
                match new.get(key) {
                    None if is_named(key) => Some(format!(r#""{}"\s*:"#, escaped(key))),
                    Some(is) if was != is && is_choice_of(was) && is_choice_of(is) => {
                        let was = was.as_str().filter(|was| is_named(was))?;
                        Some(format!(r#""{}"\s*:\s*"{was}""#, escaped(key)))
                    }
                    _ => None,
                }
            });
            let expression = wrong.next().filter(|_| wrong.next().is_none())?;
            Some((name.clone(), Flaw::Form(expression, Value::from(shortened(new)).to_string())))
        });
        let gone = gone.map(|name| (name.clone(), Flaw::Unknown));
        let mut wrong: Vec<_> = gone
            .chain(refused.iter().cloned())
            .chain(changed)
            .chain(typed)
            .chain(above)
            .chain(inner)
            .collect();
        let is_about_form = FORMS.iter().any(|phrase| lower.contains(phrase))
            && !UNKNOWN.iter().any(|phrase| lower.contains(phrase));
        if wrong.is_empty() && is_about_form && tool.starts_with("mcp__") {
            wrong.extend(formed);
        }
        // A field in the place of another is what the error is about.
        if wrong.is_empty() {
            wrong.extend(came.map(|name| (name.clone(), Flaw::Missing)));
        }
        // Of several it cannot be said which one it was.
        let (field, flaw) = if wrong.len() == 1 { wrong.pop()? } else { return None };
        Some(Self { tool: tool.to_owned(), before, after, error: error.to_owned(), field, flaw })
    }

    /// Compares a call that failed with one of another tool, which the error names.
    pub fn of_tools(tool: &str, other: &str, before: &str, after: &str, error: &str) -> Option<Self> {
        let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
        let (before, after) = (read(before)?, read(after)?);
        if let Some(flaw) = too_large((tool, &before), (other, &after), &error.to_lowercase()) {
            let (tool, field) = (tool.to_owned(), PART.to_owned());
            return Some(Self { tool, before, after, error: error.to_owned(), field, flaw });
        }
        let last = other.rsplit("__").next().unwrap_or(other);
        let is_other = tool != other && last.len() > 4 && !tool.contains(last);
        // What is done with a file of one kind; a tool of a server that is not there is never right.
        let field = if FILE_TOOLS.contains(&tool) { "file_path" } else { "" };
        let is_kind =
            if field.is_empty() { tool.starts_with("mcp__") } else { kind_of_file(&before).is_some() };
        let lower = error.to_lowercase();
        let is_order =
            ["first", "before", "must call", "need to call"].iter().any(|phrase| lower.contains(phrase));
        let flaw = if is_order { Flaw::Before(other.to_owned()) } else { Flaw::Tool(other.to_owned()) };
        let is_named = has_word(error, last) || has_word(error, other);
        (is_other && is_kind && is_named).then(|| Self {
            tool: tool.to_owned(),
            before,
            after,
            error: error.to_owned(),
            field: field.to_owned(),
            flaw,
        })
    }

    /// Returns what fires on the call that was refused.
    pub fn trigger(&self) -> Trigger {
        let paths: Vec<String> = match &self.flaw {
            Flaw::Indent { .. } | Flaw::Tool(_) | Flaw::Before(_) => {
                kind_of_file(&self.before).into_iter().collect()
            }
            Flaw::Large(_) => {
                name_of_file(&self.before).map(|name| format!("**/{name}")).into_iter().collect()
            }
            _ => Vec::new(),
        };
        if let Flaw::Tool(_) | Flaw::Before(_) = &self.flaw {
            return Trigger { tools: vec![self.tool.clone()], paths, ..Trigger::default() };
        }
        // A value is made of letters and hyphens: none of them means anything else in an expression.
        let expression = match &self.flaw {
            Flaw::Value(wrong, _) | Flaw::Refused(wrong) => format!("^{wrong}$"),
            Flaw::Type(right) => right.wrong().to_owned(),
            Flaw::Unknown => ".".to_owned(),
            // What is not there reads as empty.
            Flaw::Missing | Flaw::Large(_) => "^$".to_owned(),
            Flaw::Above(most) => above(*most),
            Flaw::Form(wrong, _) => wrong.clone(),
            Flaw::Indent { is_tabs: true } => r"(^|\n) {2,}\S".to_owned(),
            Flaw::Indent { is_tabs: false } => r"(^|\n)\t".to_owned(),
            Flaw::Numbered => numbered(),
            Flaw::Tool(_) | Flaw::Before(_) => String::new(),
        };
        Trigger {
            tools: vec![self.tool.clone()],
            paths,
            inputs: vec![(self.field.clone(), expression)],
            ..Trigger::default()
        }
    }

    /// Returns what is wrong about the call, in a few words.
    pub fn summary(&self) -> String {
        match &self.flaw {
            Flaw::Value(wrong, _) | Flaw::Refused(wrong) => {
                format!("{} takes no `{wrong}` as {}", self.tool, self.field)
            }
            Flaw::Type(right) => format!("{} wants {} as {}", self.tool, right.name(), self.field),
            Flaw::Unknown => format!("{} has no field `{}`", self.tool, self.field),
            Flaw::Missing => format!("{} needs the field `{}`", self.tool, self.field),
            Flaw::Above(most) => format!("{} takes at most {most} as {}", self.tool, self.field),
            Flaw::Form(_, right) if right.len() <= MAX_VALUE => {
                format!("{} wants {} in another form, such as `{right}`", self.tool, self.field)
            }
            Flaw::Form(..) => format!("{} wants {} in another form", self.tool, self.field),
            Flaw::Indent { is_tabs } => {
                let (right, wrong) = if *is_tabs { ("tabs", "spaces") } else { ("spaces", "tabs") };
                format!("{} is indented with {right}, not {wrong}", self.files())
            }
            Flaw::Large(_) => {
                let name = name_of_file(&self.before).unwrap_or_default();
                format!("`{name}` is too large to be read whole")
            }
            Flaw::Numbered => format!("{} wants the text without the numbers of its lines", self.tool),
            Flaw::Before(other) => format!("{} needs a call of {other} before it", self.tool),
            Flaw::Tool(other) if self.field.is_empty() => format!("{} is not there: use {other}", self.tool),
            Flaw::Tool(other) => format!("{} is for {other}, not for {}", self.files(), self.tool),
        }
    }

    /// Returns the kind of files that it is about, without folders.
    fn files(&self) -> String {
        kind_of_file(&self.before)
            .map(|glob| format!("`{}`", glob.trim_start_matches("**/")))
            .unwrap_or_default()
    }

    /// Returns calls that are as wrong, and calls that are right: of both, those that were made come first.
    pub fn examples(&self) -> Vec<(String, bool)> {
        let other_tool = match &self.flaw {
            Flaw::Tool(other) | Flaw::Before(other) | Flaw::Large(other) => other.as_str(),
            _ => self.tool.as_str(),
        };
        let alone = |input: &Map<String, Value>| -> Map<String, Value> {
            let field = input.get_key_value(&self.field);
            field.map(|(name, value)| (name.clone(), value.clone())).into_iter().collect()
        };
        // The same mistake about something else.
        let varied = |input: &Map<String, Value>| -> Map<String, Value> {
            let vary = |(name, value): (&String, &Value)| {
                let is_kept = *name == self.field || !value.is_string();
                (name.clone(), if is_kept { value.clone() } else { Value::from("other") })
            };
            input.iter().map(vary).collect()
        };
        let with = |input: &Map<String, Value>, value: Value| -> Map<String, Value> {
            let mut input = alone(input);
            input.insert(self.field.clone(), value);
            input
        };
        let mut calls = Vec::new();
        let mut add =
            |tool: &str, input: &Map<String, Value>, fires: bool| calls.push((written(tool, input), fires));
        if let Flaw::Indent { is_tabs } = self.flaw {
            // One line is enough to show it.
            let (wrong, right) = if is_tabs { ("    ", "\t") } else { ("\t", "    ") };
            let text = self.before.get(&self.field).and_then(Value::as_str).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with([' ', '\t'])).unwrap_or_default().trim();
            let line = &line[..line.floor_char_boundary(MAX_LINE)];
            for line in [line, "other"] {
                for (start, fires) in [(wrong, true), (right, false)] {
                    let path = self
                        .before
                        .get_key_value("file_path")
                        .map(|(name, value)| (name.clone(), value.clone()));
                    let mut input: Map<String, Value> = path.into_iter().collect();
                    input.insert(self.field.clone(), format!("{start}{line}").into());
                    add(&self.tool, &input, fires);
                }
            }
            return calls;
        }
        add(&self.tool, &self.before, true);
        add(other_tool, &self.after, false);
        add(&self.tool, &alone(&self.before), true);
        add(other_tool, &alone(&self.after), false);
        match &self.flaw {
            // A call of one field is its own short form: it is as wrong with another value.
            Flaw::Unknown => add(&self.tool, &with(&self.before, Value::from("other")), true),
            Flaw::Numbered => {
                for (text, fires) in [
                    ("     1→other", true),
                    ("1\tother\n2\tother", true),
                    ("other", false),
                    ("1\tother", false),
                ] {
                    add(&self.tool, &with(&self.before, Value::from(text)), fires);
                }
            }
            Flaw::Above(most) => {
                add(&self.tool, &with(&self.before, Value::from(most.saturating_mul(10))), true);
                add(&self.tool, &with(&self.before, Value::from(*most)), false);
            }
            // Its form is there in a part of a long value as well.
            Flaw::Form(..) => {
                for (input, fires) in [(&self.before, true), (&self.after, false)] {
                    let text = input.get(&self.field).and_then(Value::as_str).unwrap_or_default();
                    for most in [MAX_VALUE, MAX_VALUE / 2] {
                        if text.len() > MAX_VALUE {
                            let part = &text[..text.floor_char_boundary(most)];
                            add(&self.tool, &with(input, Value::from(part)), fires);
                        }
                    }
                }
            }
            Flaw::Large(_) => {
                let name = name_of_file(&self.before).unwrap_or_default();
                let of = |path: String, limit: Option<u64>| -> Map<String, Value> {
                    let limit = limit.map(|limit| (PART.to_owned(), Value::from(limit)));
                    std::iter::once(("file_path".to_owned(), Value::from(path))).chain(limit).collect()
                };
                add(&self.tool, &of(format!("app/{name}"), None), true);
                add(&self.tool, &of(format!("app/{name}"), Some(200)), false);
                add(&self.tool, &of("app/other.txt".to_owned(), None), false);
            }
            // A call without input says little of what is right.
            Flaw::Before(_) if self.field.is_empty() => {
                let path = ("file_path".to_owned(), Value::from("README.md"));
                add("Read", &Map::from_iter([path]), false);
            }
            Flaw::Tool(_) | Flaw::Before(_) if !self.field.is_empty() => {
                let path = self.before.get(&self.field).and_then(Value::as_str).unwrap_or_default();
                let path = Path::new(path);
                let of = |name: String| Value::from(path.with_file_name(name).to_string_lossy());
                let ending = path.extension().map(|ending| ending.to_string_lossy()).unwrap_or_default();
                add(&self.tool, &with(&self.before, of(format!("other.{ending}"))), true);
                add("Read", &alone(&self.before), false);
            }
            _ => {}
        }
        add(&self.tool, &varied(&self.before), true);
        add(other_tool, &varied(&self.after), false);
        calls
    }

    /// Returns the names of the fields that only the call which worked has.
    fn came(&self) -> Vec<String> {
        let came = self.after.keys().filter(|name| !self.before.contains_key(*name));
        came.map(|name| format!("`{name}`")).collect()
    }

    /// Says what was changed.
    pub fn advice(&self) -> String {
        match &self.flaw {
            Flaw::Value(wrong, right) => {
                format!("Use `{right}` as `{}` in place of `{wrong}`.", self.field)
            }
            Flaw::Refused(wrong) => match &self.came()[..] {
                [] => format!("Leave out `{}`: `{wrong}` is none that it knows.", self.field),
                came => format!("Use {} in place of `{}`.", came.join(", "), self.field),
            },
            Flaw::Type(right) => format!("Give `{}` as {}.", self.field, right.name()),
            Flaw::Unknown => format!("Leave out `{}`.", self.field),
            Flaw::Missing => format!("Always give `{}`.", self.field),
            Flaw::Above(most) => {
                format!("Give {most} or less as `{}`, and ask again for the rest.", self.field)
            }
            Flaw::Form(_, right) => format!("Write `{}` as in this call: `{right}`.", self.field),
            Flaw::Indent { is_tabs: true } => {
                "Give the text with the tabs that the file has, in `old_string` and in `new_string`."
                    .to_owned()
            }
            Flaw::Indent { is_tabs: false } => {
                "Give the text with the spaces that the file has, in `old_string` and in `new_string`."
                    .to_owned()
            }
            Flaw::Numbered => {
                "Leave out what Read puts before each line: the number and the mark behind it are not in the file.".to_owned()
            }
            Flaw::Tool(other) => format!("Call {other} for it in place of {}.", self.tool),
            Flaw::Large(_) => "Search it with Grep, or read a part of it with `offset` and `limit`.".to_owned(),
            Flaw::Before(other) => format!("Call {other} first, and then {}.", self.tool),
        }
    }
}

/// Returns a glob of the files that are of the kind of the one that a call is about.
fn kind_of_file(input: &Map<String, Value>) -> Option<String> {
    let path = Path::new(input.get("file_path")?.as_str()?);
    let is_plain = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte))
    };
    let ending = path.extension().map(|ending| format!("*.{}", ending.to_string_lossy()));
    let name = ending.or_else(|| path.file_name().map(|name| name.to_string_lossy().into_owned()))?;
    is_plain(name.trim_start_matches('*')).then(|| format!("**/{name}"))
}

/// Returns the name of the file that a call is about, where it means nothing else in a glob.
fn name_of_file(input: &Map<String, Value>) -> Option<String> {
    let name = Path::new(input.get("file_path")?.as_str()?).file_name()?.to_string_lossy().into_owned();
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte));
    is_plain.then_some(name)
}

/// Says that a file was too large to be read whole, where a part of it was looked at then. `error` is in lower case.
fn too_large(
    (tool, before): (&str, &Map<String, Value>),
    (other, after): (&str, &Map<String, Value>),
    error: &str,
) -> Option<Flaw> {
    let is_too_large =
        ["exceeds maximum", "exceeds the maximum", "too large"].iter().any(|it| error.contains(it));
    let (path, part) = (before.get("file_path")?, after.get("file_path").or_else(|| after.get("path"))?);
    let is_it = tool == "Read"
        && is_too_large
        && path == part
        && !before.contains_key(PART)
        && (other == "Grep" || (other == "Read" && after.contains_key(PART)));
    (is_it && name_of_file(before).is_some()).then(|| Flaw::Large(other.to_owned()))
}

/// Returns how a file is written, where a text was not found in it until it was given in that way.
fn written_otherwise(before: &Map<String, Value>, after: &Map<String, Value>, error: &str) -> Option<Flaw> {
    let text = |input: &Map<String, Value>| Some(input.get("old_string")?.as_str()?.to_owned());
    let (old, new) = (text(before)?, text(after)?);
    let is_same_file = before.get("file_path").is_some() && before.get("file_path") == after.get("file_path");
    let is_missed = error.contains("not found") || error.contains("no match");
    if !is_same_file || !is_missed {
        return None;
    }
    let bare = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    if bare(&old) != bare(&new) {
        let numbered = |line: &str| {
            let rest = line.trim_start().trim_start_matches(|digit: char| digit.is_ascii_digit());
            rest.strip_prefix(['→', '\t']).filter(|_| rest.len() < line.trim_start().len()).map(str::to_owned)
        };
        let lines: Option<Vec<String>> = old.lines().map(numbered).collect();
        return lines.filter(|lines| bare(&lines.join("\n")) == bare(&new)).map(|_| Flaw::Numbered);
    }
    let begins = |text: &str, with: &str| text.lines().any(|line| line.starts_with(with));
    let has = |text: &str| (begins(text, "\t"), begins(text, "  "));
    match (has(&old), has(&new)) {
        ((false, true), (true, false)) => Some(Flaw::Indent { is_tabs: true }),
        ((true, false), (false, true)) => Some(Flaw::Indent { is_tabs: false }),
        _ => None,
    }
}

/// Returns a number that a value is.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns the bound that an error, in lower case, names between a number that was too large and one that was not.
fn bound(old: u64, new: u64, error: &str) -> Option<u64> {
    if old <= new || !BOUNDS.iter().any(|phrase| error.contains(phrase)) {
        return None;
    }
    let mut bounds: Vec<u64> = numbers(error)
        .into_iter()
        .filter(|(lead, number)| !is_status(lead, *number))
        .map(|(lead, number)| {
            let is_outside = ["less than", "smaller than"].iter().any(|phrase| lead.ends_with(phrase));
            if is_outside && number > new { number - 1 } else { number }
        })
        .filter(|number| (new.max(1)..old).contains(number))
        .collect();
    bounds.sort_unstable();
    bounds.dedup();
    match bounds[..] {
        [bound] => Some(bound),
        // The number that was taken then is the bound only where the error names it.
        _ => bounds.contains(&new).then_some(new),
    }
}

/// Returns the numbers of a text, each with the words before it.
fn numbers(text: &str) -> Vec<(&str, u64)> {
    let mut numbers = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|it: char| it.is_ascii_digit()).map(|found| at + found) {
        at = text[start..].find(|it: char| !it.is_ascii_digit()).map_or(text.len(), |length| start + length);
        let lead = text[..start].trim_end_matches(|it: char| !it.is_alphanumeric());
        numbers.extend(text[start..at].parse().ok().map(|number| (lead, number)));
    }
    numbers
}

/// Says whether a number is the status of an answer, by the words before it.
fn is_status(lead: &str, number: u64) -> bool {
    let is_status = ["code", "error", "http", "status"].iter().any(|word| lead.ends_with(word));
    (400..600).contains(&number) && (lead.is_empty() || is_status)
}

/// Returns an expression that fits lines with their numbers before them, as Read shows them. Rows of a table begin with a number
/// and a tab as well: there the next line must have the next number, as far as its last digit tells.
fn numbered() -> String {
    let next =
        (0..10).map(|digit| format!(r"{digit}\t[^\n]*\n *[0-9]*{}", (digit + 1) % 10)).collect::<Vec<_>>();
    format!(r"(^|\n) *[0-9]+→|(^|\n) *[0-9]*({})\t", next.join("|"))
}

/// Returns an expression that fits the numbers above one.
fn above(most: u64) -> String {
    let digits = most.to_string();
    let mut ways = vec![format!(r"[1-9]\d{{{},}}", digits.len())];
    for (at, digit) in digits.bytes().enumerate().filter(|(_, digit)| *digit < b'9') {
        let rest = digits.len() - at - 1;
        ways.push(format!(r"{}[{}-9]\d{{{rest}}}", &digits[..at], char::from(digit + 1)));
    }
    format!("^({})$", ways.join("|"))
}

/// Returns an expression that fits a value and not the one that was right, by the way they are written.
fn form(old: &str, new: &str) -> Option<String> {
    if old.is_empty() || new.is_empty() || old.len().max(new.len()) > MAX_FORM || old.contains('\n') {
        return None;
    }
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let first = |text: &str| text.chars().next().unwrap_or_default();
    if is_digits(new) && !is_digits(old) {
        return Some("[^0-9]".to_owned());
    }
    if first(new).is_ascii_digit() && first(old).is_ascii_alphabetic() {
        return Some("^[A-Za-z]".to_owned());
    }
    if let Some(mark) = MARKS.iter().find(|mark| old.starts_with(**mark) && !new.starts_with(**mark)) {
        return Some(format!("^{}", escaped(mark)));
    }
    if let Some(mark) = MARKS.iter().find(|mark| old.contains(**mark) && !new.contains(**mark)) {
        return Some(if old.starts_with(mark) { format!("^{}", escaped(mark)) } else { escaped(mark) });
    }
    let mark = MARKS
        .iter()
        .find(|mark| mark.len() == 1 && **mark != " " && new.contains(**mark) && !old.contains(**mark))?;
    Some(format!("^[^{mark}]+$"))
}

/// Returns a call in writing, as examples have it: without the texts of its input.
pub fn written(tool: &str, input: &Map<String, Value>) -> String {
    let input = &shortened(input);
    let is_short = |value: &Value| match value {
        Value::String(text) => text.len() <= MAX_VALUE,
        Value::Bool(_) | Value::Number(_) => true,
        Value::Array(_) | Value::Object(_) => value.to_string().len() <= MAX_VALUE,
        Value::Null => false,
    };
    let mut fields: Map<String, Value> = input
        .iter()
        .filter(|(_, value)| is_short(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    fields.insert("tool".to_owned(), tool.into());
    Value::from(fields).to_string()
}

/// Returns an object with words in the place of the texts and names of its inner objects, which are of one call.
fn shortened(input: &Map<String, Value>) -> Map<String, Value> {
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.len() > MAX_INNER);
    let short = |value: &Value| match value {
        Value::Object(inner) => {
            let inner = inner.iter().map(|(name, value)| {
                (name.clone(), if is_long(value) { Value::from("other") } else { value.clone() })
            });
            Value::Object(inner.collect())
        }
        other => other.clone(),
    };
    input.iter().map(|(name, value)| (name.clone(), short(value))).collect()
}

/// Says whether a value is one of a few that a tool knows, as far as can be seen: a word, and no name of a file or a number.
fn is_choice(value: &str) -> bool {
    (MIN_VALUE..=MAX_VALUE).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_: ".contains(&byte))
}

/// Says whether a text has a word, and not only as a part of another.
fn has_word(text: &str, word: &str) -> bool {
    let is_inside = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_inside)
            && !text[at + word.len()..].chars().next().is_some_and(is_inside)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(before: &str, after: &str, error: &str) -> Option<(String, Flaw)> {
        Misuse::between("Agent", before, after, error).map(|it| (it.field, it.flaw))
    }

    #[test]
    fn a_value_that_the_tool_refuses_is_found_by_its_name() {
        let error = "Agent type 'reviewer' not found. Available agents: code-reviewer, Explore";
        assert_eq!(
            between(
                r#"{"subagent_type":"reviewer","prompt":"look"}"#,
                r#"{"subagent_type":"code-reviewer","prompt":"look at it"}"#,
                error
            ),
            Some(("subagent_type".into(), Flaw::Value("reviewer".into(), "code-reviewer".into())))
        );
    }

    #[test]
    fn a_file_that_is_too_large_is_read_in_parts_or_searched() {
        let error = "File content (41200 tokens) exceeds maximum allowed tokens (25000).";
        let before = r#"{"file_path":"/a/yarn.lock"}"#;
        let part = r#"{"file_path":"/a/yarn.lock","limit":100}"#;
        let found = Misuse::between("Read", before, part, error).unwrap();
        assert_eq!(found.flaw, Flaw::Large("Read".into()));
        assert_eq!(found.trigger().paths, ["**/yarn.lock"]);
        let searched = r#"{"pattern":"react","path":"/a/yarn.lock"}"#;
        let found = Misuse::of_tools("Read", "Grep", before, searched, error).unwrap();
        assert_eq!(found.flaw, Flaw::Large("Grep".into()));
        assert_eq!(Misuse::between("Read", before, r#"{"file_path":"/a/b","limit":9}"#, error), None);
        assert_eq!(Misuse::between("Read", before, part, "File does not exist."), None);
    }

    #[test]
    fn a_field_that_the_tool_does_not_have_is_found_by_its_name() {
        let error = "InputValidationError: unexpected parameter `labels_any`";
        assert_eq!(
            between(r#"{"labels_any":"bug","state":"open"}"#, r#"{"labels":"bug","state":"open"}"#, error),
            Some(("labels_any".into(), Flaw::Unknown))
        );
    }

    #[test]
    fn a_value_that_the_tool_refuses_is_no_flaw_of_its_field() {
        assert_eq!(
            between(
                r#"{"pattern":"a","type":"tsx"}"#,
                r#"{"pattern":"a","glob":"*.tsx"}"#,
                "rg: unrecognized file type: tsx"
            ),
            Some(("type".into(), Flaw::Refused("tsx".into())))
        );
    }

    #[test]
    fn a_field_of_the_wrong_type_is_found_where_its_text_tells() {
        let error = "Invalid arguments: labels: Expected array, received string";
        assert_eq!(
            between(r#"{"labels":"bug"}"#, r#"{"labels":["bug"]}"#, error),
            Some(("labels".into(), Flaw::Type(Type::Array)))
        );
        let error = "limit must be a number";
        assert_eq!(
            between(r#"{"limit":"all"}"#, r#"{"limit":100}"#, error),
            Some(("limit".into(), Flaw::Type(Type::Number)))
        );
        assert_eq!(between(r#"{"limit":"20"}"#, r#"{"limit":20}"#, error), None);
    }

    #[test]
    fn a_field_that_the_tool_needs_is_found_by_its_name() {
        let before = r#"{"repo":"shop","head":"cart"}"#;
        let error = "MCP error -32602: Invalid arguments: missing required argument `base`";
        assert_eq!(
            between(before, r#"{"repo":"shop","head":"cart","base":"main"}"#, error),
            Some(("base".into(), Flaw::Missing))
        );
        assert_eq!(between(before, r#"{"repo":"shop","head":"cart","draft":"yes"}"#, error), None);
    }

    fn of_server(before: &str, after: &str, error: &str) -> Option<(String, String)> {
        let it = Misuse::between("mcp__notion__search", before, after, error)?;
        Some((it.field.clone(), it.trigger().inputs[0].1.clone()))
    }

    #[test]
    fn a_number_above_what_the_tool_takes_is_found_with_the_bound() {
        let error = "body.page_size should be less than or equal to `100`, instead was `500`.";
        let found = of_server(r#"{"query":"a","page_size":500}"#, r#"{"query":"a","page_size":100}"#, error);
        assert_eq!(found.unwrap().0, "page_size");
        let trigger = Trigger {
            tools: vec!["mcp__x".into()],
            inputs: vec![("n".into(), above(100))],
            ..Trigger::default()
        };
        let lesson = lessons::Lesson { trigger, ..lessons::Lesson::default() };
        let applies = |number: u64| {
            let call = format!(r#"{{"tool":"mcp__x","n":{number}}}"#);
            let verdict = lessons_admin::rehearsal::judge(&lesson, &call);
            matches!(verdict, Ok(lessons::trigger::Verdict::Applies { .. }))
        };
        assert!([101, 110, 200, 999, 1000].into_iter().all(applies));
        assert!(![0, 7, 99, 100].into_iter().any(applies));
    }

    #[test]
    fn the_bound_is_what_the_error_names_and_no_other_number_of_it() {
        for (old, new, error, expected) in [
            (1000, 100, "422 Validation Failed: per_page must be at most 100", Some(100)),
            (1000, 50, "422 Validation Failed: per_page must be at most 100", Some(100)),
            (1000, 100, "HTTP 422: per_page is too large", None),
            (1000, 100, "Request failed with status code 400: per_page exceeds the maximum", None),
            (1000, 100, "per_page must be between 1 and 100", Some(100)),
            (1000, 50, "limit exceeds 500 for guests and 100 for members", None),
            (1000, 200, "limit must be at most 500", Some(500)),
            (500, 99, "first must be less than 100", Some(99)),
            (100, 99, "first must be less than 100", Some(99)),
            (500, 20, "first must be smaller than `100`", Some(99)),
            (500, 100, "first must be less than 100", Some(100)),
            (500, 100, "first must be less than or equal to 100", Some(100)),
            (500, 50, "first must not be less than 1 and at most 100", Some(100)),
        ] {
            assert_eq!(bound(old, new, &error.to_lowercase()), expected, "{old} {new} {error}");
        }
    }

    #[test]
    fn numbers_before_lines_differ_from_the_rows_of_a_table() {
        let trigger = Trigger {
            tools: vec!["Edit".into()],
            inputs: vec![("old_string".into(), numbered())],
            ..Trigger::default()
        };
        let lesson = lessons::Lesson { trigger, ..lessons::Lesson::default() };
        for (text, fires) in [
            ("     1→fn main() {", true),
            ("a\n   12→b", true),
            ("1\tfn main() {\n2\t}", true),
            ("  9\ta\n 10\tb", true),
            ("199\t\n200\tb\n", true),
            ("4012\tAda\tLondon", false),
            ("4012\tAda\n4077\tGrace", false),
            ("12|Ada|London\n13|Grace|New York", false),
            ("a→b", false),
            ("fn main() {\n\t1\n}", false),
        ] {
            let call = serde_json::json!({"tool": "Edit", "old_string": text}).to_string();
            let verdict = lessons_admin::rehearsal::judge(&lesson, &call);
            let applies = matches!(verdict, Ok(lessons::trigger::Verdict::Applies { .. }));
            assert_eq!(applies, fires, "{text}");
        }
    }

    #[test]
    fn a_value_in_another_form_is_found_by_what_tells_them_apart() {
        let error = "Invalid value for `at`: it must be an RFC 3339 timestamp";
        for (old, new, expression) in [
            ("tomorrow 10:00", "2026-11-20T10:00:00Z", Some("^[A-Za-z]")),
            ("#general", "C024BE91L", Some("^#")),
            ("https://figma.com/file/abc/Shop", "abc", Some("://")),
            ("shop", "acme/shop", Some("^[^/]+$")),
            ("latest", "412", Some("[^0-9]")),
            ("/config/app.yaml", "config/app.yaml", Some("^/")),
            ("one", "two", None),
        ] {
            let input = |value: &str| format!(r#"{{"at":"{value}"}}"#);
            let found = of_server(&input(old), &input(new), error).map(|(_, expression)| expression);
            assert_eq!(found.as_deref(), expression, "{old}");
        }
        // A name that is not there is no matter of form.
        let missing = "invalid project: my project 2 not found";
        assert_eq!(of_server(r#"{"project":"my project 2"}"#, r#"{"project":"shop"}"#, missing), None);
    }

    #[test]
    fn a_field_within_another_one_is_found_by_its_name() {
        let error = "body failed validation: body.parent.database should be not present. body.parent.database_id should be defined";
        let found = of_server(r#"{"parent":{"database":"a"}}"#, r#"{"parent":{"database_id":"a"}}"#, error);
        assert_eq!(found, Some(("parent".into(), r#""database"\s*:"#.into())));
    }

    #[test]
    fn an_edit_that_was_not_found_until_it_was_indented_as_the_file_tells_how_that_is() {
        let edit =
            |text: &str| serde_json::json!({"file_path": "/p/Makefile", "old_string": text}).to_string();
        let between = |old: &str, new: &str| {
            let error = "String to replace not found in file.";
            Misuse::between("Edit", &edit(old), &edit(new), error).map(|it| it.flaw)
        };
        assert_eq!(between("a:\n    b", "a:\n\tb"), Some(Flaw::Indent { is_tabs: true }));
        assert_eq!(between("a:\n\tb", "a:\n  b"), Some(Flaw::Indent { is_tabs: false }));
        assert_eq!(between("    12→a:\n    13→    b", "a:\n    b"), Some(Flaw::Numbered));
        assert_eq!(between("12\ta:\n13\t    b", "a:\n    b"), Some(Flaw::Numbered));
        assert_eq!(between("12|a:\n13|    b", "a:\n    b"), None);
        assert_eq!(between("a:\n    b", "a:\n\tc"), None);
        assert_eq!(between("a:\n    b", "a:\n  b"), None);
    }

    #[test]
    fn the_tool_that_an_error_names_is_the_one_for_such_files() {
        let error = "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.";
        let of = |tool: &str, path: &str, error: &str| {
            let before = serde_json::json!({"file_path": path, "old_string": "a"}).to_string();
            Misuse::of_tools(tool, "NotebookEdit", &before, "{}", error).map(|it| it.trigger().paths)
        };
        assert_eq!(of("Edit", "/p/a.ipynb", error), Some(vec!["**/*.ipynb".to_owned()]));
        assert_eq!(of("Edit", "/p/a.ipynb", "File has not been read yet."), None);
    }

    #[test]
    fn what_a_call_works_on_is_no_mistake() {
        let same = r#"{"issue":"PROJ-12"}"#;
        assert_eq!(between(same, r#"{"issue":"PROJ-21"}"#, "invalid issue: PROJ-12 is unknown"), None);
        assert_eq!(between(r#"{"query":"users"}"#, r#"{"query":"accounts"}"#, "unknown table users"), None);
        // Failed for another reason.
        assert_eq!(between(r#"{"state":"opened"}"#, r#"{"state":"open"}"#, "connection reset"), None);
    }
}
