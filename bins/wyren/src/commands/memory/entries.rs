//! Single entries: numbered, added and removed, and published at once.

use super::{DAY_CHARS, MAX_CHARS, SESSION_VARIABLE, entry_json, fold};
use crate::commands::sync::{self as syncing, PATIENCE};
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, Cell, DIM, STRONG, counted};
use anstyle::Style;
use anyhow::{Context as _, Result};
use base::{Env, Timestamp};
use chrono::{Datelike as _, Local, NaiveDate};
use memory::section::{self, DECISIONS, HANDOFF, ORDER, SEEDED};
use memory::{Added, Entry, Memory, Provenance, identity};
use place::Reason;
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Instant;
use team_sync::Share;
use team_sync::repository::Published;
use text::{privacy, redact, sanitize};

/// Words for the known sections, besides their names.
const SHORT: [(&str, &str); 10] = [
    ("decision", DECISIONS),
    ("rejected", section::REJECTED),
    ("workaround", section::WORKAROUNDS),
    ("workarounds", section::WORKAROUNDS),
    ("broken", section::BROKEN),
    ("scope", section::SCOPE),
    ("question", section::QUESTIONS),
    ("questions", section::QUESTIONS),
    ("handoff", HANDOFF),
    ("handoffs", HANDOFF),
];

/// How every mark in the place of a secret begins.
const MARK: &str = "[redacted:";

/// Prints the entries that have all of the words, each with its number.
pub(super) fn list(share: &Share, words: &[String], env: &Env, json: bool) -> Result<()> {
    fold(share)?;
    let memory = share.memory()?;
    let found = having(&memory, words);
    let mut output = terminal::output();
    if json {
        let entries: Vec<Value> = found.iter().map(Numbered::to_json).collect();
        return Ok(writeln!(output, "{:#}", json!({"entries": entries}))?);
    }
    if found.is_empty() {
        let typed = |prompt: &str, arguments: &str| person::command_for(env, prompt, arguments);
        let message = match (words.is_empty(), memory.is_blank()) {
            (true, true) => {
                let add =
                    typed("memory add We store prices in cents", "memory add 'We store prices in cents'");
                format!("The memory has no entries yet. To add one: {add}")
            }
            (true, false) => {
                let show = typed("memory show", "memory show");
                format!("The memory has no entries, only text. To read it: {show}")
            }
            (false, _) => {
                let list = typed("memory", "memory list");
                format!("No entry has these words. To see all: {list}")
            }
        };
        return Ok(writeln!(terminal::errors(), "{message}")?);
    }
    write_entries(&mut output, &found)
}

fn write_entries(output: &mut impl std::io::Write, entries: &[Numbered<'_>]) -> Result<()> {
    let width = entries.iter().map(|entry| entry.number.to_string().len()).max().unwrap_or(0);
    for of_section in entries.chunk_by(|one, two| one.section == two.section) {
        let name = sanitize::one_line(of_section[0].section, MAX_CHARS);
        writeln!(output, "{STRONG}{name}{STRONG:#}")?;
        let row = |entry: &Numbered<'_>| -> Vec<Cell> {
            let number = format!("  {:>width$}", entry.number);
            vec![(number, DIM), (format!("{}{}", entry.text(), entry.origin()), Style::new())]
        };
        let rows: Vec<Vec<Cell>> = of_section.iter().map(row).collect();
        terminal::write_table(output, &rows)?;
    }
    Ok(())
}

/// An entry with its place in the memory, from 1.
struct Numbered<'a> {
    number: usize,
    section: &'a str,
    entry: &'a Entry,
}

impl Numbered<'_> {
    fn text(&self) -> String {
        sanitize::one_line(&self.entry.note().text, MAX_CHARS)
    }

    /// Returns who wrote it and when: ` (Ada, 16 Nov)`; nothing where neither is known.
    fn origin(&self) -> String {
        let date = self.entry.provenance().date;
        let date = date.as_deref().and_then(|date| date.get(..DAY_CHARS));
        let date = date.and_then(|date| date.parse::<NaiveDate>().ok()).map(|day| {
            let is_this_year = day.year() == Local::now().year();
            day.format(if is_this_year { "%-d %b" } else { "%-d %b %Y" }).to_string()
        });
        let author = self.entry.note().author.map(|author| sanitize::one_line(&author, MAX_CHARS));
        let parts: Vec<String> = author.into_iter().chain(date).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    fn to_json(&self) -> Value {
        let mut facts = entry_json(self.entry);
        facts["number"] = json!(self.number);
        facts["section"] = json!(self.section);
        facts
    }
}

fn numbered(memory: &Memory) -> impl Iterator<Item = Numbered<'_>> {
    let all = memory.entries().enumerate();
    all.map(|(at, (section, entry))| Numbered { number: at + 1, section, entry })
}

/// Returns the entries that have all of the words, in any case.
fn having<'a>(memory: &'a Memory, words: &[String]) -> Vec<Numbered<'a>> {
    let words: Vec<String> =
        words.iter().flat_map(|word| word.split_whitespace()).map(str::to_lowercase).collect();
    let has_all = |entry: &Numbered<'_>| {
        let text = format!("{} {}", entry.section, entry.entry.text()).to_lowercase();
        words.iter().all(|word| text.contains(&**word))
    };
    numbered(memory).filter(has_all).collect()
}

/// What `wyren memory add` is asked for.
pub(super) struct Wish {
    pub(super) section: Option<String>,
    /// Also where the section has an entry that says nearly the same.
    pub(super) force: bool,
    pub(super) words: Vec<String>,
}

/// Adds an entry and publishes it.
pub(super) fn add(share: &Share, wish: &Wish, env: &Env, json: bool) -> Result<()> {
    fold(share)?;
    let memory = share.memory()?;
    let (section, text) = match &wish.section {
        Some(name) => (named(&memory, name).unwrap_or_else(|| name.trim().to_owned()), wish.words.join(" ")),
        None => in_section(&memory, &wish.words),
    };
    if section == HANDOFF {
        let handoff = person::command_for(env, "wyren-handoff NOTE", "memory handoff NOTE");
        return Err(Ending::misused(format!("wyren: for a handoff note use: {handoff}")).into());
    }
    let kept = Kept::of(&text);
    if kept.text.is_empty() || section.is_empty() {
        return Err(Ending::misused(format!("wyren: no text to add{}", kept.without())).into());
    }
    person::allow_publishing(share, env, "wyren memory add")?;
    let session = env.text(SESSION_VARIABLE).filter(|_| !person::is_here(env));
    let author = share.author();
    let today: String = Timestamp::now().to_string().chars().take(DAY_CHARS).collect();
    let from = Provenance {
        // The model knows what it wrote; what the user wrote is news to the session.
        session: session.as_deref().and_then(super::short_session),
        ..Provenance::of_author(&author, &today)
    };
    let added = share.change_with(|before| {
        let mut after = before.clone();
        let added = match wish.force {
            true => after.add_anyway(&section, &text, &from),
            false => after.add(&section, &text, &from),
        };
        ((added == Added::New).then_some((after, Vec::new())), added)
    })?;
    let facts = |result: &str| json!({"result": result, "section": section, "text": kept.text, "secrets": kept.secrets});
    let shown = sanitize::one_line(&section, MAX_CHARS);
    match added {
        Added::New => {
            // What the team reads, so that a word that was taken for a section is missed at once.
            let done = format!("Added to {shown}: {}", sanitize::one_line(&kept.text, MAX_CHARS));
            publish(share, session.as_deref(), &done, &kept.without(), facts("added"), json)
        }
        Added::Duplicate | Added::Blank if json => {
            Ok(writeln!(terminal::output(), "{:#}", facts("duplicate"))?)
        }
        Added::Duplicate | Added::Blank => {
            Ok(writeln!(terminal::output(), "{shown} has this entry already; nothing changed.")?)
        }
        Added::Similar(entry) => {
            if json {
                let mut facts = facts("similar");
                facts["similar"] = entry_json(&entry);
                writeln!(terminal::output(), "{facts:#}")?;
            }
            let entry = sanitize::one_line(&entry.text(), MAX_CHARS);
            let message = format!(
                "wyren: {shown} has an entry that says nearly the same; nothing changed: {entry}\n\
                 To add yours as well: {} …",
                person::command_for(env, "memory add --force", "memory add --force")
            );
            Err(Ending::failed(message).into())
        }
    }
}

/// Removes one entry, which goes to the history, and publishes that.
pub(super) fn remove(share: &Share, words: &[String], env: &Env, json: bool) -> Result<()> {
    fold(share)?;
    let memory = share.memory()?;
    let found = match to_remove(&memory, words) {
        Ok(found) => found,
        Err(candidates) => return Err(undecided(&candidates, words, env)?),
    };
    person::allow_publishing(share, env, "wyren memory remove")?;
    let (section, text) = (found.section.to_owned(), found.entry.text().into_owned());
    let (facts, shown) = (found.to_json(), found.text());
    let delta = share.change(&share.author(), "removed", |memory| {
        let mut memory = memory.clone();
        memory.remove(&section, &text);
        memory
    })?;
    if delta.is_empty() {
        return Err(Ending::failed("wyren: the entry is gone already; nothing changed").into());
    }
    let done = format!("Removed from {}: {shown}", sanitize::one_line(&section, MAX_CHARS));
    let back = person::command_for(env, "memory restore 1", "memory restore 1");
    publish(share, None, &done, &format!(" To bring it back: {back}."), json!({"removed": facts}), json)
}

/// Returns the entry with that number, exactly that text, or the only one with these words; else those that it could be.
fn to_remove<'a>(memory: &'a Memory, words: &[String]) -> Result<Numbered<'a>, Vec<Numbered<'a>>> {
    let text = words.join(" ");
    if let Ok(number) = text.trim().parse::<usize>() {
        return numbered(memory).find(|entry| entry.number == number).ok_or_else(Vec::new);
    }
    let wanted = identity(&text);
    let mut exact: Vec<Numbered<'_>> = numbered(memory)
        .filter(|entry| entry.entry.identity() == wanted || identity(&entry.text()) == wanted)
        .collect();
    match exact.len() {
        1 => Ok(exact.remove(0)),
        0 => only(having(memory, words), &text),
        _ => Err(exact),
    }
}

/// Returns the candidate if there is one alone whose own text has the words: not one that is found by its section.
fn only<'a>(mut candidates: Vec<Numbered<'a>>, text: &str) -> Result<Numbered<'a>, Vec<Numbered<'a>>> {
    let has_all = |entry: &Numbered<'_>| {
        let said = entry.text().to_lowercase();
        text.split_whitespace().all(|word| said.contains(&word.to_lowercase()))
    };
    match &*candidates {
        [entry] if !text.trim().is_empty() && has_all(entry) => Ok(candidates.remove(0)),
        _ => Err(candidates),
    }
}

/// Lists the entries that were not named exactly enough.
fn undecided(candidates: &[Numbered<'_>], words: &[String], env: &Env) -> Result<anyhow::Error> {
    if candidates.is_empty() {
        let typed = sanitize::one_line(&words.join(" "), MAX_CHARS);
        let list = person::command_for(env, "memory", "memory list");
        let message = format!("wyren: no entry is {typed:?}; to see all with their numbers: {list}");
        return Ok(Ending::failed(message).into());
    }
    let mut errors = terminal::errors();
    write_entries(&mut errors, candidates)?;
    let entries = counted(candidates.len(), "entry has these words", "entries have these words");
    let remove = person::command_for(env, "memory remove", "memory remove");
    let message = format!("wyren: {entries}; nothing changed. To remove one: {remove} NUMBER");
    Ok(Ending::failed(message).into())
}

/// Syncs after a change, and says where it is now: `done` as a sentence, the result, and `more`.
fn publish(
    share: &Share,
    session: Option<&str>,
    done: &str,
    more: &str,
    mut facts: Value,
    json: bool,
) -> Result<()> {
    let spinner = terminal::spinner("publishing");
    let synced = share.sync(session, Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let synced = synced.with_context(|| format!("{done}, but it could not be published"))?;
    if json {
        facts["sync"] = syncing::to_json(&synced);
        writeln!(terminal::output(), "{facts:#}")?;
    }
    syncing::warn(&synced)?;
    let remote = share.team().and_then(|team| team.remote()).unwrap_or("the remote");
    let remote = sanitize::one_line(remote, MAX_CHARS);
    let result = match &synced.published {
        Published::Landed(_) => format!(" Pushed to {remote}."),
        Published::Nothing => format!(" It is on {remote} already."),
        Published::Queued(Reason::NoRemote) => " It stays here: the repository has no remote.".to_owned(),
        Published::Queued(_) => String::new(),
    };
    if !json {
        let end = if done.ends_with(['.', '!', '?', '…']) { "" } else { "." };
        writeln!(terminal::output(), "{done}{end}{result}{more}")?;
    }
    match &synced.published {
        Published::Queued(Reason::NoRemote) => Ok(()),
        Published::Queued(reason) => Err(Ending::queued(syncing::waiting(reason)).into()),
        _ => Ok(()),
    }
}

/// A text without its secrets and private parts, as an entry holds it.
pub(super) struct Kept {
    pub(super) text: String,
    secrets: usize,
    has_private: bool,
}

impl Kept {
    pub(super) fn of(text: &str) -> Self {
        let public = privacy::strip_private(text);
        let redacted = redact::redact(&public);
        let marks = |text: &str| text.matches(MARK).count();
        Self {
            secrets: marks(&redacted).saturating_sub(marks(&public)),
            has_private: public.len() != text.len(),
            text: sanitize::one_line(&redacted, usize::MAX),
        }
    }

    /// Returns a sentence, after a space, for what was taken out; nothing where nothing was.
    pub(super) fn without(&self) -> String {
        without(self.secrets, self.has_private)
    }
}

/// Returns a sentence, after a space, for secrets and private parts that were taken out; nothing where there were none.
pub(in crate::commands) fn without(secrets: usize, has_private: bool) -> String {
    let secrets = match secrets {
        0 => String::new(),
        secrets => format!(" {} taken out.", counted(secrets, "secret was", "secrets were")),
    };
    let private = if has_private { " What is marked as private was left out." } else { "" };
    format!("{secrets}{private}")
}

/// Returns the section that was named, and the text; else the decisions and all words. A section is a name with a colon, or
/// a short word as an argument of its own before a text that the shell was given as one: no word of a text is lost because
/// it is also the name of a section.
fn in_section(memory: &Memory, words: &[String]) -> (String, String) {
    if let [name, text] = words
        && let Some(section) = short(&name.to_lowercase())
        && text.trim().contains(char::is_whitespace)
    {
        return (section.to_owned(), text.clone());
    }
    let text = words.join(" ");
    before_colon(memory, text.trim_start()).unwrap_or((DECISIONS.to_owned(), text))
}

/// Returns the section whose name, directly followed by a colon, begins a text, and the rest of it.
fn before_colon(memory: &Memory, text: &str) -> Option<(String, String)> {
    let (name, rest) = text.split_once(':')?;
    let is_name = !name.contains(['\n', '\r']) && !name.ends_with(char::is_whitespace);
    let is_apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let section = named(memory, name).filter(|_| is_name && is_apart)?;
    Some((section, rest.trim_start().to_owned()))
}

fn short(name: &str) -> Option<&'static str> {
    SHORT.iter().find(|(short, _)| *short == name).map(|(_, section)| *section)
}

/// Returns the section with that name or short name, as the memory writes it.
fn named(memory: &Memory, name: &str) -> Option<String> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let known = ORDER.into_iter().filter(|known| *known != SEEDED);
    let names = memory.sections().iter().map(memory::Section::name).chain(known);
    let full = names.into_iter().find(|known| known.to_lowercase() == name);
    full.or(short(&name)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = "# Wyren Memory\n\n## Handoff notes\n\n- [2026-11-16T09:11:32.758Z] Do checkout next [by Ada]\n\n\
        ## Decisions\n\n- Use tabs [by Ada, 2025-01-02]\n- Use tabs in Makefiles\n\n## House rules\n\n- Be kind\n";

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn review_2_no_word_of_a_text_is_lost_because_it_names_a_section() {
        let memory = Memory::parse(MEMORY);
        for (typed, section, text) in [
            ("Prices are cents", DECISIONS, "Prices are cents"),
            ("decision: Prices are cents", DECISIONS, "Prices are cents"),
            ("Decisions: Prices are cents", DECISIONS, "Prices are cents"),
            ("rejected: decimal.js", section::REJECTED, "decimal.js"),
            ("Rejected paths: decimal.js", section::REJECTED, "decimal.js"),
            ("open questions: who pays", section::QUESTIONS, "who pays"),
            ("house rules: No shouting: ever", "House rules", "No shouting: ever"),
            ("handoff: x", HANDOFF, "x"),
            ("scope:", section::SCOPE, ""),
            // Without a colon directly behind it, a word is a word.
            ("decisions are made on Fridays", DECISIONS, "decisions are made on Fridays"),
            ("scope creep killed v1", DECISIONS, "scope creep killed v1"),
            ("scope creep", DECISIONS, "scope creep"),
            ("rejected paths are listed", DECISIONS, "rejected paths are listed"),
            ("broken : see below", DECISIONS, "broken : see below"),
            ("scope:all is the default", DECISIONS, "scope:all is the default"),
            ("scope", DECISIONS, "scope"),
        ] {
            let expected = (section.to_owned(), text.to_owned());
            assert_eq!(in_section(&memory, &words(typed)), expected, "{typed}");
            assert_eq!(in_section(&memory, &[typed.to_owned()]), expected, "{typed}, as one argument");
        }
        // The shell tells a word from a text.
        let two = |name: &str, text: &str| in_section(&memory, &[name.to_owned(), text.to_owned()]);
        let rejected = (section::REJECTED.to_owned(), "decimal.js: 40 KB".to_owned());
        assert_eq!(two("Rejected", "decimal.js: 40 KB"), rejected);
        assert_eq!(two("Prices", "are cents").1, "Prices are cents");
        assert_eq!(two("Decisions", "are made on Fridays").1, "Decisions are made on Fridays");
    }

    #[test]
    fn review_21_an_entry_is_removed_by_its_number_its_text_or_words_that_only_it_has() {
        let memory = Memory::parse(MEMORY);
        let outcome = |typed: &str| match to_remove(&memory, &words(typed)) {
            Ok(entry) => format!("removes {}", entry.number),
            Err(candidates) => {
                let numbers: Vec<String> = candidates.iter().map(|entry| entry.number.to_string()).collect();
                format!("lists {}", numbers.join(","))
            }
        };
        for (typed, expected) in [
            ("2", "removes 2"),
            ("use TABS", "removes 2"),
            ("Do checkout next", "removes 1"),
            ("tabs", "lists 2,3"),
            ("makefiles", "removes 3"),
            ("MAKEFILES tabs", "removes 3"),
            // Its section has the word, not its text.
            ("rules", "lists 4"),
            (" ", "lists 1,2,3,4"),
            ("9", "lists "),
            ("0", "lists "),
            ("spaces", "lists "),
        ] {
            assert_eq!(outcome(typed), expected, "{typed}");
        }
    }

    #[test]
    fn an_entry_shows_who_wrote_it_and_a_note_its_text_alone() {
        let memory = Memory::parse(MEMORY);
        let shown: Vec<String> =
            numbered(&memory).map(|entry| format!("{}{}", entry.text(), entry.origin())).collect();
        assert!(shown[0].starts_with("Do checkout next (Ada, 16 Nov"), "{shown:?}");
        assert_eq!(shown[1..], ["Use tabs (Ada, 2 Jan 2025)", "Use tabs in Makefiles", "Be kind"]);
    }

    #[test]
    fn c4_what_was_taken_out_is_counted() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        for (text, kept, without) in [
            ("plain".to_owned(), "plain", ""),
            (format!("a {token} b"), "a [redacted:github] b", " 1 secret was taken out."),
            (format!("{token} {token}"), "[redacted:github] [redacted:github]", " 2 secrets were taken out."),
            ("a <private>b</private>".to_owned(), "a", " What is marked as private was left out."),
        ] {
            let found = Kept::of(&text);
            assert_eq!((&*found.text, &*found.without()), (kept, without), "{text}");
        }
    }
}
