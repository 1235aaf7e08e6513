//! A lesson in the index: its fields one after another, each with its length.

use super::Damaged;
use super::layout::u32_at;
use super::literals;
use crate::lesson::{Kind, Lesson};
use base::digest;
use base::trust::Item;
use xxhash_rust::xxh3::xxh3_64;

/// A lesson of an index, borrowed from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its name.
    pub slug: &'a str,
    /// What it does.
    pub kind: Kind,
    /// How much it matters.
    pub priority: u8,
    /// How sure it is, in percent.
    pub confidence: u8,
    /// What goes wrong, in one line.
    pub summary: &'a str,
    /// Why, and when.
    pub problem: &'a str,
    /// What to do instead.
    pub solution: &'a str,
    /// The command to run instead; empty for none.
    pub instead: &'a str,
    /// The project that it holds for; empty for all.
    pub scope: &'a str,
    /// The pack that it belongs to; empty for none.
    pub pack: &'a str,
    /// See [`crate::Trigger`].
    pub tools: Vec<&'a str>,
    /// See [`crate::Trigger`].
    pub commands: Vec<&'a str>,
    /// See [`crate::Trigger`].
    pub without: Vec<&'a str>,
    /// See [`crate::Trigger`].
    pub with: Vec<&'a str>,
    /// See [`crate::Trigger`].
    pub writes: Vec<&'a str>,
    /// See [`crate::Trigger`].
    pub sql: Vec<&'a str>,
    /// See [`crate::Trigger`].
    pub piped_to: Vec<&'a str>,
    /// See [`crate::Trigger`].
    pub matches: Vec<&'a str>,
    /// See [`crate::Trigger`].
    pub raw: Vec<&'a str>,
    /// See [`crate::Trigger`].
    pub paths: Vec<&'a str>,
    /// See [`crate::Trigger`].
    pub content: Vec<&'a str>,
    /// Field and expression, one after the other.
    pub inputs: Vec<&'a str>,
    /// For each of `raw`, then of `content`: texts one of which is in all that the expression matches, in lower case unless
    /// it tells cases apart; none where they are not known. Derived, so that no hook has to.
    pub(crate) needed: Vec<Vec<&'a str>>,
}

impl<'a> Entry<'a> {
    /// Returns what the expression at a place of `raw` and `content` cannot match without; empty when that is not known.
    pub(crate) fn needed_by(&self, place: usize) -> &[&'a str] {
        self.needed.get(place).map_or(&[], Vec::as_slice)
    }

    /// Returns what the user has to trust before this lesson of a project may act.
    ///
    /// Each field counts with its name and length, and one that is empty does not: a field of a later version leaves the
    /// digests of lessons without it as they are.
    pub fn trust_item(&self) -> Item {
        let mut seed = b"lesson\0".to_vec();
        let mut add = |name: &str, values: &[&str]| {
            for value in values.iter().filter(|value| !value.is_empty()) {
                seed.extend(format!("{name} {}\0", value.len()).bytes().chain(value.bytes()));
            }
        };
        let Self { slug, kind, priority, confidence, summary, problem, solution, instead, scope, .. } = self;
        add("slug", &[slug]);
        add("kind", &[kind.name()]);
        add("priority", &[&priority.to_string()]);
        add("confidence", &[&confidence.to_string()]);
        add("summary", &[summary]);
        add("problem", &[problem]);
        add("solution", &[solution]);
        add("instead", &[instead]);
        add("scope", &[scope]);
        add("tools", &self.tools);
        add("command", &self.commands);
        add("without", &self.without);
        add("piped_to", &self.piped_to);
        add("match", &self.matches);
        add("raw", &self.raw);
        add("paths", &self.paths);
        add("content", &self.content);
        add("with", &self.with);
        add("writes", &self.writes);
        add("sql", &self.sql);
        add("pack", &[self.pack]);
        self.inputs.chunks(2).for_each(|pair| add("input", &[&pair.join("\0")]));
        Item { kind: kind.name().to_owned(), name: (*slug).to_owned(), digest: digest::sha256_hex(&seed) }
    }
}

/// Returns what the user has to trust before this lesson of a project may act.
pub(crate) fn trust_item(lesson: &Lesson) -> Item {
    // The same way as the hooks: through the record that they read.
    read(&write(lesson)).map_or_else(
        |_| Item { kind: lesson.kind.name().to_owned(), name: lesson.slug.clone(), digest: String::new() },
        |entry| entry.trust_item(),
    )
}

/// Writes a lesson: checksum, length, fields.
pub(super) fn write(lesson: &Lesson) -> Vec<u8> {
    let trigger = &lesson.trigger;
    let mut body = vec![kind_number(lesson.kind), lesson.priority, lesson.confidence];
    let texts = [
        lesson.slug.as_str(),
        &lesson.summary,
        &lesson.problem,
        &lesson.solution,
        lesson.instead.as_deref().unwrap_or_default(),
        lesson.scope.as_deref().unwrap_or_default(),
        lesson.pack.as_deref().unwrap_or_default(),
    ];
    texts.iter().for_each(|text| push(&mut body, text));
    let inputs: Vec<String> =
        trigger.inputs.iter().flat_map(|(name, value)| [name.clone(), value.clone()]).collect();
    let lists = [
        &trigger.tools,
        &trigger.commands,
        &trigger.without,
        &trigger.with,
        &trigger.writes,
        &trigger.sql,
        &trigger.piped_to,
        &trigger.matches,
        &trigger.raw,
        &trigger.paths,
        &trigger.content,
        &inputs,
    ];
    for list in lists {
        body.extend(number(list.len()));
        list.iter().for_each(|text| push(&mut body, text));
    }
    body.extend(number(trigger.raw.len() + trigger.content.len()));
    for expression in trigger.raw.iter().chain(&trigger.content) {
        let needed = literals::to_search_for(expression);
        body.extend(number(needed.len()));
        needed.iter().for_each(|text| push(&mut body, text));
    }
    let mut record = checksum(&body).to_le_bytes().to_vec();
    record.extend(number(body.len()));
    record.extend(body);
    record
}

fn push(body: &mut Vec<u8>, text: &str) {
    body.extend(number(text.len()));
    body.extend(text.as_bytes());
}

fn number(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

fn checksum(body: &[u8]) -> u32 {
    // Half of the digest is plenty against accidents.
    xxh3_64(body) as u32
}

fn kind_number(kind: Kind) -> u8 {
    Kind::ALL.iter().position(|other| *other == kind).map_or(0, |place| place as u8)
}

/// Reads the lesson at the beginning of `bytes`.
pub(super) fn read(bytes: &[u8]) -> Result<Entry<'_>, Damaged> {
    let length = u32_at(bytes, 4).ok_or(Damaged)? as usize;
    let body = bytes.get(8..8_usize.checked_add(length).ok_or(Damaged)?).ok_or(Damaged)?;
    if u32_at(bytes, 0) != Some(checksum(body)) {
        return Err(Damaged);
    }
    let [kind, priority, confidence, rest @ ..] = body else { return Err(Damaged) };
    let mut fields = Fields { rest };
    Ok(Entry {
        kind: *Kind::ALL.get(usize::from(*kind)).ok_or(Damaged)?,
        priority: *priority,
        confidence: *confidence,
        slug: fields.text()?,
        summary: fields.text()?,
        problem: fields.text()?,
        solution: fields.text()?,
        instead: fields.text()?,
        scope: fields.text()?,
        pack: fields.text()?,
        tools: fields.list()?,
        commands: fields.list()?,
        without: fields.list()?,
        with: fields.list()?,
        writes: fields.list()?,
        sql: fields.list()?,
        piped_to: fields.list()?,
        matches: fields.list()?,
        raw: fields.list()?,
        paths: fields.list()?,
        content: fields.list()?,
        inputs: fields.list()?,
        needed: fields.lists()?,
    })
}

struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn number(&mut self) -> Result<usize, Damaged> {
        let number = u32_at(self.rest, 0).ok_or(Damaged)?;
        self.rest = &self.rest[4..];
        Ok(number as usize)
    }

    fn text(&mut self) -> Result<&'a str, Damaged> {
        let length = self.number()?;
        let (text, rest) = self.rest.split_at_checked(length).ok_or(Damaged)?;
        self.rest = rest;
        std::str::from_utf8(text).map_err(|_| Damaged)
    }

    fn list(&mut self) -> Result<Vec<&'a str>, Damaged> {
        let count = self.count()?;
        (0..count).map(|_| self.text()).collect()
    }

    fn lists(&mut self) -> Result<Vec<Vec<&'a str>>, Damaged> {
        let count = self.count()?;
        (0..count).map(|_| self.list()).collect()
    }

    /// Reads how many items follow. Each takes four bytes at least, so a wrong count cannot ask for more than there is.
    fn count(&mut self) -> Result<usize, Damaged> {
        self.number().and_then(|count| if count > self.rest.len() / 4 { Err(Damaged) } else { Ok(count) })
    }
}
