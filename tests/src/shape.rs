//! What `--json` of each command prints, as `docs/json.md` says it: types in a small part of TypeScript, and whether an output fits.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

/// A type of the page.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    String,
    Number,
    Boolean,
    Null,
    Unknown,
    Literal(Value),
    Array(Box<Shape>),
    Either(Vec<Shape>),
    Both(Vec<Shape>),
    Object(Object),
    Named(String),
}

/// Fields by their names, and what any other field has.
#[derive(Clone, Debug, Default, PartialEq)]
struct Object {
    /// Where it is on the page, to tell which were seen.
    number: usize,
    fields: BTreeMap<String, Field>,
    others: Option<Box<Shape>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    is_optional: bool,
    shape: Shape,
}

/// A command of the page: its words, its flags, and the type of what it prints.
#[derive(Clone, Debug)]
struct Command {
    words: Vec<String>,
    flags: Vec<String>,
    shape: String,
    is_of_lines: bool,
}

impl Command {
    fn name(&self) -> String {
        self.words.iter().chain(&self.flags).map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// The page.
struct Page {
    types: BTreeMap<String, Shape>,
    commands: Vec<Command>,
    /// The type that each object is in.
    objects: Vec<String>,
}

static PAGE: LazyLock<Page> = LazyLock::new(|| {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/json.md");
    let text = fs::read_to_string(&file).expect("docs/json.md is there");
    Page::parse(&text).expect("docs/json.md can be read")
});

/// The commands and objects that outputs of this process fitted.
static SEEN: Mutex<(BTreeSet<String>, BTreeSet<usize>)> = Mutex::new((BTreeSet::new(), BTreeSet::new()));

/// Fails when a command printed something else than `docs/json.md` says. Commands that it does not have, and that printed nothing,
/// fit.
pub fn check(arguments: &[&str], printed: &[u8]) -> Result<()> {
    let Some(command) = PAGE.command(arguments) else { return Ok(()) };
    let text = std::str::from_utf8(printed)?;
    if text.trim().is_empty() {
        return Ok(());
    }
    let shown = || format!("`wyren {}` and docs/json.md", arguments.join(" "));
    let values: Vec<Value> = if command.is_of_lines {
        text.lines().map(serde_json::from_str).collect::<Result<_, _>>().with_context(shown)?
    } else {
        vec![serde_json::from_str(text).with_context(shown)?]
    };
    let mut objects = BTreeSet::new();
    for value in &values {
        let shape = Shape::Named(command.shape.clone());
        PAGE.fits(value, &shape, &command.shape, &mut objects).with_context(shown)?;
    }
    let mut seen = SEEN.lock().expect("no thread has failed");
    seen.0.insert(command.name());
    seen.1.extend(objects);
    Ok(())
}

/// Returns the commands of the page that nothing printed in this process, and the types with an object that nothing fitted.
pub fn unseen() -> (Vec<String>, Vec<String>) {
    let seen = SEEN.lock().expect("no thread has failed");
    let commands = PAGE.commands.iter().map(Command::name).filter(|name| !seen.0.contains(name));
    let objects = (0..PAGE.objects.len()).filter(|number| !seen.1.contains(number));
    (commands.collect(), objects.map(|number| PAGE.objects[number].clone()).collect())
}

impl Page {
    fn parse(text: &str) -> Result<Self> {
        let mut page = Self { types: BTreeMap::new(), commands: Vec::new(), objects: Vec::new() };
        for part in format!("\n{text}").split("\n## ") {
            let (heading, rest) = part.split_once('\n').unwrap_or((part, ""));
            let spans: Vec<&str> = heading.split('`').skip(1).step_by(2).collect();
            let calls = spans.into_iter().filter_map(|span| span.strip_prefix("wyren "));
            let calls: Vec<&str> = calls.collect();
            let mut first = None;
            for block in rest.split("```ts\n").skip(1) {
                let block = block.split("```").next().unwrap_or_default();
                let mut reader = Reader { tokens: tokens(block), at: 0, page: &mut page, of: String::new() };
                while !reader.is_at_end() {
                    let name = reader.declaration().with_context(|| heading.to_owned())?;
                    first.get_or_insert(name);
                }
            }
            if calls.is_empty() {
                continue;
            }
            let shape = first.with_context(|| format!("no type below {heading:?}"))?;
            for call in calls {
                let (flags, words) =
                    call.split_whitespace().map(str::to_owned).partition(|word| word.starts_with('-'));
                let is_of_lines = rest.contains("One object per line");
                page.commands.push(Command { words, flags, shape: shape.clone(), is_of_lines });
            }
        }
        ensure!(page.commands.len() > 50, "only {} commands", page.commands.len());
        Ok(page)
    }

    /// Returns the command that a call is of: the one with most of its words and flags.
    fn command(&self, arguments: &[&str]) -> Option<&Command> {
        let words: Vec<&str> = arguments.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let is_meant = |command: &&Command| {
            command.words.len() <= words.len()
                && command.words.iter().zip(&words).all(|(one, other)| one == other)
                && command.flags.iter().all(|flag| arguments.contains(&flag.as_str()))
        };
        self.commands.iter().filter(is_meant).max_by_key(|command| (command.words.len(), command.flags.len()))
    }

    fn named(&self, name: &str) -> Result<&Shape> {
        self.types.get(name).with_context(|| format!("no type {name}"))
    }

    fn fits(&self, value: &Value, shape: &Shape, at: &str, seen: &mut BTreeSet<usize>) -> Result<()> {
        let is_so = match shape {
            Shape::String => value.is_string(),
            Shape::Number => value.is_number(),
            Shape::Boolean => value.is_boolean(),
            Shape::Null => value.is_null(),
            Shape::Unknown => true,
            Shape::Literal(literal) => value == literal,
            Shape::Array(of) => {
                let Some(items) = value.as_array() else { bail!("{at} is no array: {value}") };
                for (number, item) in items.iter().enumerate() {
                    self.fits(item, of, &format!("{at}[{number}]"), seen)?;
                }
                true
            }
            Shape::Either(ways) => {
                let mut reasons = Vec::new();
                for way in ways {
                    let mut seen_by_way = BTreeSet::new();
                    match self.fits(value, way, at, &mut seen_by_way) {
                        Ok(()) => {
                            seen.extend(seen_by_way);
                            return Ok(());
                        }
                        Err(reason) => reasons.push(format!("{reason:#}")),
                    }
                }
                bail!("{}", reasons.join("; or "))
            }
            Shape::Both(parts) => {
                let mut whole = Object::default();
                let mut numbers = Vec::new();
                for part in parts {
                    self.gather(part, &mut whole, &mut numbers)?;
                }
                self.fits_object(value, &whole, at, seen)?;
                seen.extend(numbers);
                true
            }
            Shape::Object(object) => {
                self.fits_object(value, object, at, seen)?;
                seen.insert(object.number);
                true
            }
            Shape::Named(name) => {
                self.fits(value, self.named(name)?, at, seen)?;
                match (&**name, value.as_str()) {
                    ("Time", Some(text)) => is_time(text),
                    ("Day", Some(text)) => is_day(text),
                    _ => true,
                }
            }
        };
        ensure!(is_so, "{at} is not {}: {value}", shown(shape));
        Ok(())
    }

    /// Adds the fields of an object, or of a name for one, to another.
    fn gather(&self, shape: &Shape, whole: &mut Object, numbers: &mut Vec<usize>) -> Result<()> {
        match shape {
            Shape::Object(object) => {
                numbers.push(object.number);
                whole.fields.extend(object.fields.clone());
                if object.others.is_some() {
                    whole.others.clone_from(&object.others);
                }
                Ok(())
            }
            Shape::Both(parts) => parts.iter().try_for_each(|part| self.gather(part, whole, numbers)),
            Shape::Named(name) => self.gather(self.named(name)?, whole, numbers),
            _ => bail!("& is for objects alone"),
        }
    }

    fn fits_object(
        &self,
        value: &Value,
        object: &Object,
        at: &str,
        seen: &mut BTreeSet<usize>,
    ) -> Result<()> {
        let Some(members) = value.as_object() else { bail!("{at} is no object: {value}") };
        for (name, member) in members {
            let at = format!("{at}.{name}");
            match (object.fields.get(name), &object.others) {
                (Some(field), _) => self.fits(member, &field.shape, &at, seen)?,
                (None, Some(others)) => self.fits(member, others, &at, seen)?,
                (None, None) => bail!("{at} is not on the page: {member}"),
            }
        }
        let is_missing =
            |(name, field): &(&String, &Field)| !field.is_optional && !members.contains_key(*name);
        match object.fields.iter().find(is_missing) {
            Some((name, _)) => bail!("{at}.{name} is missing"),
            None => Ok(()),
        }
    }
}

fn shown(shape: &Shape) -> String {
    match shape {
        Shape::Literal(value) => value.to_string(),
        Shape::Named(name) => format!("a {name}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn is_day(text: &str) -> bool {
    let is_fitting =
        |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(is_fitting)
}

fn is_time(text: &str) -> bool {
    text.len() >= 20
        && text.ends_with('Z')
        && text.is_char_boundary(10)
        && is_day(&text[..10])
        && &text[10..11] == "T"
}

/// Returns the words, texts and signs of a block, without remarks.
fn tokens(block: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for line in block.lines() {
        let line = line.split("//").next().unwrap_or_default();
        let mut rest = line.trim();
        while let Some(first) = rest.chars().next() {
            let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let end = match first {
                '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
                first if is_of_word(first) => rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len()),
                _ => first.len_utf8(),
            };
            tokens.push(rest[..end].to_owned());
            rest = rest[end..].trim_start();
        }
    }
    tokens
}

/// Reads the types of a block.
struct Reader<'p> {
    tokens: Vec<String>,
    at: usize,
    page: &'p mut Page,
    /// The type that is being read.
    of: String,
}

impl Reader<'_> {
    fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        self.at += 1;
        self.tokens.get(self.at - 1).cloned().unwrap_or_default()
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_there = self.peek() == sign;
        self.at += usize::from(is_there);
        is_there
    }

    fn must(&mut self, sign: &str) -> Result<()> {
        let found = self.next();
        ensure!(found == sign, "{}: {sign:?} is missing before {found:?}", self.of);
        Ok(())
    }

    /// Reads `type Name = …`, and returns the name.
    fn declaration(&mut self) -> Result<String> {
        self.must("type")?;
        let name = self.next();
        self.of.clone_from(&name);
        self.must("=")?;
        let shape = self.either()?;
        ensure!(self.page.types.insert(name.clone(), shape).is_none(), "{name} is there twice");
        Ok(name)
    }

    fn either(&mut self) -> Result<Shape> {
        self.takes("|");
        let mut ways = vec![self.both()?];
        while self.takes("|") {
            ways.push(self.both()?);
        }
        Ok(if ways.len() == 1 { ways.remove(0) } else { Shape::Either(ways) })
    }

    fn both(&mut self) -> Result<Shape> {
        let mut parts = vec![self.array()?];
        while self.takes("&") {
            parts.push(self.array()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Shape::Both(parts) })
    }

    fn array(&mut self) -> Result<Shape> {
        let mut shape = self.single()?;
        while self.peek() == "[" && self.tokens.get(self.at + 1).is_some_and(|next| next == "]") {
            self.at += 2;
            shape = Shape::Array(Box::new(shape));
        }
        Ok(shape)
    }

    fn single(&mut self) -> Result<Shape> {
        let token = self.next();
        Ok(match &*token {
            "string" => Shape::String,
            "number" => Shape::Number,
            "boolean" => Shape::Boolean,
            "null" => Shape::Null,
            "unknown" => Shape::Unknown,
            "true" | "false" => Shape::Literal((token == "true").into()),
            "(" => {
                let shape = self.either()?;
                self.must(")")?;
                shape
            }
            "{" => self.object()?,
            text if text.starts_with('"') => Shape::Literal(serde_json::from_str(text)?),
            number if number.starts_with(|first: char| first.is_ascii_digit()) => {
                Shape::Literal(serde_json::from_str(number)?)
            }
            name if name.starts_with(char::is_uppercase) => Shape::Named(name.to_owned()),
            other => bail!("{}: {other:?} is no type", self.of),
        })
    }

    fn object(&mut self) -> Result<Shape> {
        let mut object = Object { number: self.page.objects.len(), ..Object::default() };
        self.page.objects.push(self.of.clone());
        while !self.takes("}") {
            ensure!(!self.is_at_end(), "{}: an object without an end", self.of);
            if self.takes(",") || self.takes(";") {
                continue;
            }
            if self.takes("[") {
                self.next();
                for sign in [":", "string", "]", ":"] {
                    self.must(sign)?;
                }
                object.others = Some(Box::new(self.either()?));
                continue;
            }
            let name = self.next();
            let is_optional = self.takes("?");
            self.must(":")?;
            object.fields.insert(name, Field { is_optional, shape: self.either()? });
        }
        Ok(Shape::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(types: &str) -> Page {
        let mut page = Page { types: BTreeMap::new(), commands: Vec::new(), objects: Vec::new() };
        let mut reader = Reader { tokens: tokens(types), at: 0, page: &mut page, of: String::new() };
        while !reader.is_at_end() {
            reader.declaration().unwrap();
        }
        page
    }

    fn check(page: &Page, value: &Value) -> Result<(), String> {
        let fits = page.fits(value, &Shape::Named("Test".to_owned()), "Test", &mut BTreeSet::new());
        fits.map_err(|reason| reason.to_string())
    }

    #[test]
    fn an_output_must_have_every_field_of_its_type_and_no_other() {
        let page = page(
            "type Test = More & { a: string | null, b?: number[] // a remark: not read\n c: \"x\" | \"y\"\n d: { [name: string]: (boolean | 1)[] } }\n
             type More = { at: Time }\n type Time = string",
        );
        let good = json!({"a": null, "b": [1, 2.5], "c": "y", "d": {"e": [true, 1]}, "at": "2026-11-18T14:30:00.000Z"});
        assert_eq!(check(&page, &good), Ok(()));
        let with = |name: &str, value: Value| {
            let mut changed = good.clone();
            changed[name] = value;
            check(&page, &changed).unwrap_err()
        };
        assert_eq!(with("z", json!(1)), "Test.z is not on the page: 1");
        assert!(with("a", json!(7)).contains("Test.a is not string: 7"));
        assert!(with("b", json!(null)).contains("Test.b is no array"));
        assert!(with("c", json!("z")).contains("Test.c is not \"x\""));
        assert!(with("d", json!({"e": [2]})).contains("Test.d.e[0]"));
        assert!(with("at", json!("yesterday")).contains("Test.at is not a Time"));
        let mut less = good.clone();
        less.as_object_mut().unwrap().remove("b");
        assert_eq!(check(&page, &less), Ok(()));
        less.as_object_mut().unwrap().remove("c");
        assert_eq!(check(&page, &less), Err("Test.c is missing".to_owned()));
    }

    #[test]
    fn a_call_is_of_the_command_with_most_of_its_words_and_flags() {
        let name = |call: &str| PAGE.command(&call.split(' ').collect::<Vec<_>>()).map(Command::name);
        assert_eq!(name("distill --json --dry-run").as_deref(), Some("distill --dry-run"));
        assert_eq!(name("distill --json").as_deref(), Some("distill"));
        assert_eq!(name("memory --json list words").as_deref(), Some("memory list"));
        assert_eq!(name("lessons add --json {}"), None);
    }

    #[test]
    fn every_name_of_the_page_is_a_type_of_it() {
        let mut names = BTreeSet::new();
        fn walk(shape: &Shape, names: &mut BTreeSet<String>) {
            match shape {
                Shape::Named(name) => drop(names.insert(name.clone())),
                Shape::Array(of) => walk(of, names),
                Shape::Either(all) | Shape::Both(all) => all.iter().for_each(|one| walk(one, names)),
                Shape::Object(object) => {
                    object.fields.values().for_each(|field| walk(&field.shape, names));
                    object.others.iter().for_each(|one| walk(one, names));
                }
                _ => {}
            }
        }
        PAGE.types.values().for_each(|shape| walk(shape, &mut names));
        names.extend(PAGE.commands.iter().map(|command| command.shape.clone()));
        let unknown: Vec<&String> = names.iter().filter(|name| !PAGE.types.contains_key(*name)).collect();
        assert_eq!(unknown, Vec::<&String>::new());
        let unused: Vec<&String> = PAGE.types.keys().filter(|name| !names.contains(*name)).collect();
        assert_eq!(unused, Vec::<&String>::new());
    }
}
