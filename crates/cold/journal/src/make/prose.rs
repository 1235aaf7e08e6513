//! What prompts and answers say: the gist, what they decide, what they found out, what is left.

use language::lexicon::{self, JOURNAL, LANGUAGES, PEOPLE};
use language::{Phrases, Sentence, content_words, folded, sentences, words};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use text::sanitize;

/// What a person's sentence must weigh to count as a decision.
const DECIDES: f64 = 0.7;
/// What a phrase of another language weighs, and a normative word.
const FOREIGN: f64 = 0.7;
const NORMATIVE: f64 = 0.3;
/// What a phrase weighs that rejects something, or only reports that it does not work.
const REPORTS: f64 = 0.3;
/// A sentence of fewer words says nothing a month later.
const FEWEST_WORDS: usize = 4;
/// How many words of a discovery say what it is about: `I found it, and it is not that` has none.
const FEWEST_CONTENT_WORDS: usize = 3;
/// What is before a question that the user was asked, and before the answer.
pub(crate) const ASKED: &str = "asked the user: ";
pub(crate) const ANSWERED: &str = " → answered ";
/// The longest sentence that is kept, in characters.
const MOST_CHARS: usize = 300;

/// Phrases of a person that decide, reject or cut, with what each counts.
static DECISIONS: LazyLock<Phrases<f64>> = LazyLock::new(|| {
    let is_wanted = |name: &str| matches!(name, "decision" | "rejection" | "scope");
    let reports: BTreeSet<&str> = lexicon::list(JOURNAL, "reports").collect();
    let people = lexicon::weighed(PEOPLE)
        .filter(move |(name, ..)| is_wanted(name))
        .map(|(_, phrase, weight)| (phrase, weight));
    let foreign = lexicon::phrases(LANGUAGES).filter_map(move |(heading, phrase)| match heading {
        "normative" => Some((phrase, NORMATIVE)),
        heading => is_wanted(heading).then_some((phrase, FOREIGN)),
    });
    let weighed = people.chain(foreign);
    Phrases::new(
        weighed
            .map(move |(phrase, weight)| (phrase, if reports.contains(phrase) { REPORTS } else { weight })),
    )
});

/// Tables of one heading each.
macro_rules! phrases {
    ($($name:ident, $file:expr, $heading:literal;)*) => {
        $(static $name: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::of($file, $heading));)*
    };
}
phrases! {
    FOUND, JOURNAL, "found";
    CHOSE, JOURNAL, "chose";
    NORMS, JOURNAL, "norms";
    NEXT, JOURNAL, "next";
    WEIGHS, JOURNAL, "weighs";
    REASONS, JOURNAL, "reasons";
    HEADING_FOUND, JOURNAL, "heading found";
    HEADING_DECIDED, JOURNAL, "heading decided";
    HEADING_LEFT, JOURNAL, "heading left";
    NOTHING, JOURNAL, "nothing";
    REFERS, JOURNAL, "refers";
    FIX, JOURNAL, "fix";
    FEATURE, JOURNAL, "feature";
    REFACTOR, JOURNAL, "refactor";
    SUPERSEDES, JOURNAL, "supersedes";
    DECIDED, LANGUAGES, "decision";
}

/// What a text says.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) decisions: Vec<String>,
    pub(super) discoveries: Vec<String>,
    pub(super) next: Vec<String>,
}

/// Returns what a person's text decides.
pub(super) fn of_person(text: &str) -> Said {
    let mut said = Said::default();
    for sentence in sentences(text) {
        if sentence.is_question || !says_something(&sentence.text) {
            continue;
        }
        let folded = folded(&sentence.text);
        if weight(&DECISIONS, &folded) >= DECIDES {
            said.decisions.push(shown(without_link(&sentence.text)));
        } else if FOUND.occur(&folded) && has_figures(&sentence.text) {
            said.discoveries.push(shown(&sentence.text));
        }
    }
    said
}

/// Returns what a model's text says that it chose, found and left.
pub(super) fn of_model(text: &str) -> Said {
    let mut said = Said::default();
    for (topic, is_first, sentence) in by_topic(text) {
        if sentence.is_question || !says_something(&sentence.text) {
            continue;
        }
        let folded = folded(&sentence.text);
        let shown = shown(&sentence.text);
        let chose = || {
            let weighs = WEIGHS.occur(&folded) && REASONS.occur(&folded);
            weighs || CHOSE.occur(&folded) || DECIDED.occur(&folded) || NORMS.begin(&folded)
        };
        match topic {
            Topic::Left => said.next.push(shown),
            Topic::Found if is_first && says_what(&sentence.text) && !only_announces(&sentence.text) => {
                said.discoveries.push(shown);
            }
            Topic::Decided if is_first => said.decisions.push(shown),
            _ if NEXT.occur(&folded) => said.next.extend(says_what(&sentence.text).then_some(shown)),
            _ if FOUND.occur(&folded) || compares_figures(&sentence.text) => {
                let says = says_what(&sentence.text) && !only_announces(&sentence.text);
                said.discoveries.extend(says.then_some(shown));
            }
            Topic::Other if chose() => said.decisions.push(shown),
            _ => {}
        }
    }
    said
}

/// What the heading or label over a sentence says that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Found,
    Decided,
    Left,
    Other,
}

impl Topic {
    /// Returns the topic of a heading.
    fn of(heading: &str) -> Self {
        let folded = folded(heading);
        match () {
            () if HEADING_LEFT.head(&folded) => Self::Left,
            () if HEADING_DECIDED.head(&folded) => Self::Decided,
            () if HEADING_FOUND.head(&folded) => Self::Found,
            () => Self::Other,
        }
    }
}

/// Returns the sentences of a text, each with its topic, and whether it is the first of its line.
fn by_topic(text: &str) -> Vec<(Topic, bool, Sentence)> {
    let mut found = Vec::new();
    let mut topic = Topic::Other;
    // A list below a label ends with the first paragraph behind it.
    let (mut has_items, mut is_behind_blank) = (false, false);
    for line in language::without_code(text).lines() {
        let line = without_emphasis(line.trim());
        let line = line.as_str();
        if let Some(heading) = heading(line) {
            (topic, has_items) = (Topic::of(heading), false);
            continue;
        }
        let is_item =
            language::without_bullet(line) != line || line.starts_with(|c: char| c.is_ascii_digit());
        if has_items && is_behind_blank && !is_item && !line.is_empty() {
            topic = Topic::Other;
        }
        has_items |= is_item;
        is_behind_blank = line.is_empty();
        let label = label(line);
        let (of_line, rest) = match label {
            Some((label, rest)) if Topic::of(label) != Topic::Other => (Topic::of(label), rest),
            _ => (topic, line),
        };
        let mut sentences = sentences(rest);
        if of_line != Topic::Other {
            join_first_two(rest, &mut sentences);
        }
        join_what_refers(rest, &mut sentences);
        let sentences = sentences.into_iter().enumerate();
        found.extend(sentences.map(|(place, sentence)| (of_line, place == 0, sentence)));
    }
    found
}

/// Makes one sentence of the first two: of what is below a heading, the second often says what the first one means.
fn join_first_two(line: &str, sentences: &mut Vec<Sentence>) {
    let [first, second, ..] = sentences.as_slice() else { return };
    let by_semicolon = format!("{}; {}", first.text, second.text);
    let joined = match line.contains(&by_semicolon) {
        true => by_semicolon,
        false => format!("{}. {}", first.text, second.text),
    };
    if !first.is_question && !second.is_question && joined.chars().count() <= MOST_CHARS {
        sentences.splice(..2, [Sentence { text: joined, is_question: false }]);
    }
}

/// Makes one sentence of two where the second says only by the first what it is about: behind a semicolon, `it has to wait`, and
/// `I haven't handled that yet`.
fn join_what_refers(line: &str, sentences: &mut Vec<Sentence>) {
    let mut at = 1;
    while at < sentences.len() {
        let (before, this) = (&sentences[at - 1], &sentences[at]);
        let folded = folded(&this.text);
        let by_semicolon = format!("{}; {}", before.text, this.text);
        let joined = match () {
            () if REFERS.begin(&folded) && line.contains(&by_semicolon) => Some(by_semicolon),
            () if NEXT.occur(&folded) && !says_what(&this.text) && REFERS.occur(&folded) => {
                Some(format!("{}. {}", before.text, this.text))
            }
            () => None,
        };
        let is_fit = |joined: &String| {
            !before.is_question && !this.is_question && joined.chars().count() <= MOST_CHARS
        };
        match joined.filter(is_fit) {
            Some(text) => drop(sentences.splice(at - 1..=at, [Sentence { text, is_question: false }])),
            None => at += 1,
        }
    }
}

/// Returns what a line says that is nothing but a heading: `## Cause`, `**Cause**`, `Cause:`.
fn heading(line: &str) -> Option<&str> {
    const MOST_WORDS: usize = 8;
    let line = line.trim();
    let marked = line.strip_prefix('#').map(|line| line.trim_start_matches('#'));
    let bold = || {
        let inside = line.trim_end_matches([':', '：']).strip_prefix("**")?;
        inside.strip_suffix("**").filter(|inside| !inside.contains("**"))
    };
    let bare = || line.strip_suffix([':', '：']).filter(|line| !line.starts_with(['-', '*', '|']));
    let text = marked.or_else(bold).or_else(|| bare().filter(|line| Topic::of(line) != Topic::Other))?;
    let text = text.trim().trim_end_matches([':', '：']).trim_matches('*');
    (text.split_whitespace().count() <= MOST_WORDS).then_some(text)
}

/// Returns the label that a line begins with, and what is behind it: `**Cause:** …`, `Cause: …`, `- **Cause** – …`.
fn label(line: &str) -> Option<(&str, &str)> {
    const MOST_CHARS: usize = 40;
    let line = language::without_bullet(line);
    let (label, rest) = match line.strip_prefix("**").and_then(|line| line.split_once("**")) {
        Some((label, rest)) => (label, rest.trim_start().trim_start_matches([':', '：', '–', '—', '-'])),
        None => {
            let at = line.find([':', '：'])?;
            (&line[..at], line[at..].trim_start_matches([':', '：']))
        }
    };
    let is_short = label.chars().count() <= MOST_CHARS;
    (is_short && !rest.trim().is_empty()).then_some((label.trim_end_matches([':', '：', ' ']), rest.trim()))
}

/// Returns whether a sentence has words enough to say something.
fn says_something(sentence: &str) -> bool {
    words(sentence).len() >= FEWEST_WORDS
}

/// Returns whether a sentence says what it is about without those around it.
fn says_what(sentence: &str) -> bool {
    content_words(sentence).len() >= FEWEST_CONTENT_WORDS
}

/// Returns whether a sentence says that something was found, and not what: `I found the cause and fixed it`.
pub(super) fn only_announces(sentence: &str) -> bool {
    static ANNOUNCING: LazyLock<BTreeSet<&str>> =
        LazyLock::new(|| lexicon::list(JOURNAL, "announces").collect());
    let words = content_words(sentence);
    !words.is_empty() && words.iter().all(|word| ANNOUNCING.contains(word.as_str()))
}

/// Returns a sentence without the word that links it to the one before: `and from now on we use UTC`.
fn without_link(sentence: &str) -> &str {
    const LINKS: [&str; 8] = ["and ", "but ", "also ", "so ", "und ", "aber ", "y ", "et "];
    let rest = LINKS.iter().find_map(|link| {
        let (head, rest) = sentence.split_at_checked(link.len())?;
        head.eq_ignore_ascii_case(link).then(|| rest.trim_start())
    });
    rest.filter(|rest| says_something(rest)).unwrap_or(sentence)
}

fn weight(table: &Phrases<f64>, folded: &str) -> f64 {
    let (mut weight, mut covered) = (0.0, 0);
    for hit in table.find(folded) {
        // A phrase inside another one has been heard already.
        if hit.start >= covered {
            weight += hit.label;
            covered = hit.end;
        }
    }
    weight
}

fn shown(sentence: &str) -> String {
    sanitize::one_line(sentence, MOST_CHARS)
}

/// Returns whether a sentence has a number in it.
fn has_figures(sentence: &str) -> bool {
    sentence.chars().any(|c| c.is_ascii_digit())
}

/// Returns whether a sentence compares two figures: `from 3 s to 20 ms`, `480 → 12`, `40 % faster`.
fn compares_figures(sentence: &str) -> bool {
    let folded = folded(sentence);
    let is_number = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
    let numbers =
        folded.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).filter(is_number).count();
    let has = |marks: &[&str]| marks.iter().any(|mark| folded.contains(mark));
    if numbers == 1 {
        return has(&[
            "faster",
            "slower",
            "smaller",
            "larger",
            "fewer",
            "schneller",
            "langsamer",
            "plus rapide",
            "más rápido",
        ]);
    }
    let pairs = [
        (" from ", " to "),
        ("from ", " to "),
        ("von ", " auf "),
        ("de ", " à "),
        ("de ", " a "),
        ("was ", "now"),
        ("から", "に"),
        ("从", "到"),
    ];
    numbers >= 2
        && (has(&[
            "→",
            "->",
            "instead of",
            "down to",
            " vs ",
            "versus",
            "before",
            "compared to",
            " statt ",
            "vorher",
            "au lieu de",
            "en vez de",
        ]) || pairs.iter().any(|(one, other)| compares(&folded, one, other)))
}

/// Returns whether a figure follows on each of two words, which are in this order: `from 3 s to 20 ms`. Where no spaces are
/// written, figures are before them.
fn compares(folded: &str, one: &str, other: &str) -> bool {
    let Some((_, behind)) = folded.split_once(one) else { return false };
    if !one.is_ascii() {
        return behind.contains(other);
    }
    let about = [
        "about ", "around ", "roughly ", "some ", "over ", "etwa ", "rund ", "environ ", "unos ", "~", "≈",
        "$", "€",
    ];
    let is_figure = |text: &str| {
        let text = about.iter().find_map(|about| text.strip_prefix(about)).unwrap_or(text);
        text.starts_with(|c: char| c.is_ascii_digit())
    };
    let follows = |(at, _): (usize, &str)| is_figure(behind[at + other.len()..].trim_start());
    is_figure(behind) && behind.match_indices(other).any(follows)
}

/// Returns whether a later decision says that it takes the place of an earlier one, and the words behind that phrase.
pub(crate) fn superseded(text: &str) -> Option<String> {
    let folded = folded(text);
    let hit = *SUPERSEDES.find(&folded).first()?;
    Some(folded[hit.end..].to_owned())
}

/// Returns whether a prompt says nothing by itself: `continue`, `yes, please`.
pub(crate) fn is_nothing(prompt: &str) -> bool {
    const MOST_WORDS: usize = 6;
    let folded = folded(prompt.trim());
    if folded.chars().count() > 60 || words(&folded).len() > MOST_WORDS {
        return false;
    }
    let mut covered = vec![false; folded.len()];
    for hit in NOTHING.find(&folded) {
        covered[hit.start..hit.end].fill(true);
    }
    folded.char_indices().all(|(at, character)| !character.is_alphanumeric() || covered[at])
}

/// The kinds of work, told from what was asked for and what commits say.
pub(super) fn kind_of_work(texts: &[&str]) -> &'static str {
    use crate::entry::Kind;
    let folded: Vec<String> = texts.iter().map(|text| folded(text)).collect();
    let first =
        |table: &Phrases<()>| folded.iter().find_map(|text| table.find(text).first().map(|hit| hit.start));
    let found =
        [(first(&FIX), Kind::FIX), (first(&REFACTOR), Kind::REFACTOR), (first(&FEATURE), Kind::FEATURE)];
    let found = found.into_iter().filter_map(|(start, kind)| Some((start?, kind)));
    found.min_by_key(|(start, _)| *start).map_or(Kind::CHANGE, |(_, kind)| kind)
}

/// Returns the beginning of a text on one line, without code: whole sentences up to `most` characters where possible.
pub(super) fn gist(text: &str, most: usize) -> String {
    let text = memory_free(text);
    let line = sanitize::one_line(&text, most * 4);
    let line = line.trim();
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let end = line.char_indices().nth(most).map_or(line.len(), |(at, _)| at);
    let head = &line[..end];
    let stop = head
        .char_indices()
        .filter(|(at, c)| match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => head[at + 1..].starts_with(' ') && !language::is_abbreviation(&head[..*at]),
            _ => false,
        })
        .map(|(at, c)| at + c.len_utf8())
        .next_back();
    match stop {
        Some(stop) if stop * 2 >= head.len() => head[..stop].to_owned(),
        _ => cut(line, most),
    }
}

/// Returns at most `most` characters of a line, without a part of a word where words have spaces between them.
pub(super) fn cut(line: &str, most: usize) -> String {
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let end = line.char_indices().nth(most.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
    let head = &line[..end];
    let end = match head.rfind(' ') {
        Some(space) if !line[end..].starts_with(' ') && space * 3 >= head.len() * 2 => space,
        _ => end,
    };
    format!("{}…", head[..end].trim_end_matches([' ', ',', ';', ':']))
}

/// Returns a text without blocks of code, bullets, emphasis and the marks of headings; a row of a table is a sentence.
fn memory_free(text: &str) -> String {
    flat(text, true)
}

fn flat(text: &str, has_headings: bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_code = false;
    let mut heads: Vec<&str> = Vec::new();
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(bare) = lines.next() {
        if bare.starts_with("```") || bare.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        let is_heading = !has_headings && heading(bare).is_some();
        let is_of_table = bare.starts_with('|') && lines.peek().is_some_and(|next| is_rule(next));
        if is_of_table {
            heads = cells(bare);
        }
        if is_code || bare.is_empty() || is_heading || is_of_table || is_rule(bare) {
            continue;
        }
        if let Some(row) = row(bare, &heads) {
            kept.push_str(&row.replace("**", ""));
            kept.push_str(". ");
            continue;
        }
        let is_item = bare.starts_with(['-', '*', '#']);
        let bare = bare.trim_start_matches(['#', '>', ' ']);
        let bare = ["- ", "* ", "• "].iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare);
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let bare = bare[digits..].strip_prefix(". ").filter(|_| digits > 0).unwrap_or(bare);
        kept.push_str(&without_emphasis(&bare.replace("**", "")));
        kept.push(' ');
        // A line without an end of a sentence is one all the same.
        if is_item && kept.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == '`' || c == ')') {
            let length = kept.trim_end().len();
            kept.truncate(length);
            kept.push_str(". ");
        }
    }
    kept
}

/// Returns a line without the marks around words that are emphasised: `*so*`.
fn without_emphasis(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let (mut is_code, mut open, mut previous) = (false, None, ' ');
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        is_code ^= character == '`';
        // Two of them are another mark.
        if character == '*' && !is_code && previous != '*' && next != '*' {
            let opens = !previous.is_alphanumeric() && previous != '/' && next.is_alphanumeric();
            let closes = !previous.is_whitespace() && !next.is_alphanumeric();
            if let (true, Some(at)) = (closes, open.take()) {
                kept.remove(at);
                previous = character;
                continue;
            }
            open = opens.then_some(kept.len());
        }
        kept.push(character);
        previous = character;
    }
    kept
}

/// Returns whether a line parts what is above from what is below: `---`, `|---|:-:|`.
fn is_rule(line: &str) -> bool {
    line.contains("--") && line.chars().all(|c| matches!(c, '-' | '|' | ':' | ' '))
}

/// Returns the cells of a row of a table.
fn cells(line: &str) -> Vec<&str> {
    let inside = line.strip_prefix('|').unwrap_or(line);
    inside.strip_suffix('|').unwrap_or(inside).split('|').map(str::trim).collect()
}

/// Returns what a row of a table says: its first cell, and the others behind a colon, by the heads of their columns where there
/// are several.
fn row(line: &str, heads: &[&str]) -> Option<String> {
    let mut cells = if line.starts_with('|') { cells(line) } else { return None };
    let mut heads = if heads.len() == cells.len() { heads } else { &[] };
    // The number of a row says nothing.
    if cells.len() > 1 && cells[0].bytes().all(|byte| byte.is_ascii_digit()) {
        cells.remove(0);
        heads = heads.get(1..).unwrap_or_default();
    }
    let (first, rest) = cells.split_first()?;
    let is_labelled = rest.len() > 1;
    let named = rest.iter().enumerate().filter(|(_, cell)| !cell.is_empty()).map(|(at, cell)| {
        match heads.get(at + 1).filter(|head| is_labelled && !head.is_empty()) {
            Some(head) => format!("{head} {cell}"),
            None => (*cell).to_owned(),
        }
    });
    let rest = named.collect::<Vec<_>>().join(", ");
    match (first.is_empty(), rest.is_empty()) {
        (true, true) => None,
        (true, false) => Some(rest),
        (false, true) => Some((*first).to_owned()),
        (false, false) => Some(format!("{first}: {rest}")),
    }
}

/// Returns the sentences of a text with their marks, without code and headings, on one line each.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let text = flat(text, false);
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let is_end = match character {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                text[end..].starts_with(char::is_whitespace)
                    && at > start + 3
                    && !language::is_abbreviation(&text[start..at])
            }
            _ => false,
        };
        if is_end {
            pieces.push(text[start..end].trim().to_owned());
            start = end;
        }
    }
    pieces.push(text[start..].trim().to_owned());
    pieces.retain(|piece| piece.chars().any(char::is_alphanumeric));
    pieces
}

/// Returns the first sentence of an answer that says something by itself; empty where none does.
pub(super) fn first_of_answer(text: &str) -> String {
    let says = |piece: &String| says_something(piece) && says_what(piece) && !piece.ends_with(['?', '？']);
    pieces(text).into_iter().find(says).unwrap_or_default()
}

/// What a prompt asks for, as a person would repeat it.
pub(super) fn asked(prompt: &str, most: usize) -> String {
    let prompt = prompt.trim();
    if let Some(command) = slash_command(prompt) {
        return sanitize::one_line(&command, most);
    }
    let is_media = prompt.is_empty() || (prompt.starts_with("[Image") && prompt.ends_with(']'));
    if is_media {
        return "[media prompt]".to_owned();
    }
    gist(prompt, most)
}

/// Returns the slash command that a prompt is, with its arguments.
pub(super) fn slash_command(prompt: &str) -> Option<String> {
    let between = |tag: &str| {
        let rest = prompt.split_once(&format!("<{tag}>"))?.1;
        rest.split_once(&format!("</{tag}>")).map(|(inside, _)| inside.trim().to_owned())
    };
    if let Some(name) = between("command-name") {
        let name = format!("/{}", name.trim_start_matches('/'));
        let arguments = between("command-args").unwrap_or_default();
        return Some(format!("{name} {arguments}").trim().to_owned());
    }
    let first = prompt.split_whitespace().next()?;
    let is_command = first.len() > 1
        && first.starts_with('/')
        && first[1..].chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    is_command.then(|| prompt.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_and_discoveries_are_heard() {
        let said = of_person(
            "Fix the login. We'll use Redis for sessions because Postgres is too slow. Is that ok?",
        );
        assert_eq!(said.decisions, ["We'll use Redis for sessions because Postgres is too slow"]);
        let said = of_model(
            "Done. The root cause was a missing index on orders.created_at. The query went from 480 ms to 12 ms. I kept the retry in the client instead of the queue, because jobs are not idempotent. Next step: add a metric for it.",
        );
        assert_eq!(
            said.discoveries,
            [
                "The root cause was a missing index on orders.created_at",
                "The query went from 480 ms to 12 ms"
            ]
        );
        assert_eq!(
            said.decisions,
            ["I kept the retry in the client instead of the queue, because jobs are not idempotent"]
        );
        assert_eq!(said.next.len(), 1);
        assert_eq!(of_person("Wir nehmen Postgres statt MySQL, weil es schon da ist.").decisions.len(), 1);
    }

    #[test]
    fn headings_and_labels_say_what_is_below_them() {
        let said = of_model(
            "Done, all 12 tests pass.\n\n## Root cause\nThe key made React remount the fields. It came with #212.\n\n\
             ### What I changed\n- the values live in the form\n\n**Decisions I made for you**\n- a trait object rather than a parameter\n\n\
             **Worth knowing:** manifests have the same bug.\n\n## Not done\n- The benches use the old clock.",
        );
        assert_eq!(
            said.discoveries,
            ["The key made React remount the fields. It came with #212", "manifests have the same bug"]
        );
        assert_eq!(said.decisions, ["a trait object rather than a parameter"]);
        assert_eq!(said.next, ["The benches use the old clock"]);
        let said = of_model(
            "**原因**：`onScan` 直接调用 `postScan`，请求失败时没有重试。\n\n还没做：网络恢复时自动上传。",
        );
        assert_eq!((said.discoveries.len(), said.next.len()), (1, 1), "{said:?}");
    }

    #[test]
    fn a_report_that_something_does_not_work_is_no_decision() {
        assert_eq!(
            of_person("Das Zertifikat läuft am Freitag ab, der Renew hat nicht funktioniert.")
                .decisions
                .len(),
            0
        );
        assert_eq!(
            of_person("We tried Redis, it didn't work for us, so no queue in Redis.").decisions.len(),
            1
        );
    }

    #[test]
    fn what_was_wrong_is_no_decision() {
        let said = of_model(
            "`wait` compared with `>` instead of `>=`. I used a list instead of a map. A map instead of a list, to keep the order.",
        );
        assert_eq!(
            said.decisions,
            ["I used a list instead of a map", "A map instead of a list, to keep the order"]
        );
    }

    #[test]
    fn emphasis_goes_and_stars_of_code_stay() {
        for (line, plain) in [
            ("written *after* the delivery, *at last*.", "written after the delivery, at last."),
            ("**Cause** and *so*", "**Cause** and so"),
            ("2 * 3 = 6, 2*3, src/*.rs, crash* and `*p`", "2 * 3 = 6, 2*3, src/*.rs, crash* and `*p`"),
        ] {
            assert_eq!(without_emphasis(line), plain);
        }
    }

    #[test]
    fn figures_are_compared_where_they_follow_on_the_words() {
        for text in [
            "from 3 s to 20 ms",
            "it took about 480 → 12",
            "von 5 auf 3 Minuten",
            "de 12 s à 3 s",
            "从12秒到3秒",
            "was 300 MB, now 3",
        ] {
            assert!(compares_figures(text), "{text}");
        }
        for text in ["une facture de mars 2024 à 5,5 % donne 5,50", "from July to August 2026, 12 cases"] {
            assert!(!compares_figures(text), "{text}");
        }
    }

    #[test]
    fn tables_are_sentences_and_headings_are_none() {
        assert_eq!(
            pieces(
                "## Result\nThree leaks:\n\n| # | Leak | MAE |\n|---|:--|--:|\n| 1 | `done_at` is late | 3.1 → 7.6 |\n\n**Why**\n\nIt is so."
            ),
            ["Three leaks: `done_at` is late: 3.1 → 7.6.", "It is so."]
        );
    }

    #[test]
    fn columns_of_a_table_have_their_names() {
        assert_eq!(
            pieces(
                "| Case | Before | After |\n|---|---|---|\n| retry | 2 invoices | 1 invoice |\n| none | | 1 |"
            ),
            ["retry: Before 2 invoices, After 1 invoice.", "none: After 1."]
        );
    }

    #[test]
    fn what_only_announces_is_no_discovery_and_what_refers_comes_with_what_it_is_about() {
        let said = of_model(
            "I found the cause and fixed it.\n\n## What was wrong\nThe form lets people enter values above 100.\n\n\
             ## Changes\nThe caller still uses `setInterval(poll)`; it has to schedule by the delay, which is not done yet.\n\
             Two requests with one key can still race. I haven't handled that yet.",
        );
        assert_eq!(said.discoveries, ["The form lets people enter values above 100"]);
        assert_eq!(
            said.next,
            [
                "The caller still uses `setInterval(poll)`; it has to schedule by the delay, which is not done yet",
                "Two requests with one key can still race. I haven't handled that yet"
            ]
        );
        for found in ["I found the cause of the memory leak", "The root cause was a missing index on orders"]
        {
            assert_eq!(of_model(found).discoveries.len(), 1, "{found}");
        }
        assert_eq!(
            of_person("great, commit it. and from now on we never use floats for money").decisions,
            ["from now on we never use floats for money"]
        );
    }

    #[test]
    fn a_date_ends_no_sentence() {
        assert_eq!(
            pieces("Port 25 ist seit dem 17. November zu, z.B. bei Azure. Wir nehmen 587."),
            ["Port 25 ist seit dem 17. November zu, z.B. bei Azure.", "Wir nehmen 587."]
        );
    }

    #[test]
    fn a_prompt_that_says_nothing_is_known() {
        for prompt in
            ["continue", "Yes, please.", "ok go ahead", "はい", "ja, mach weiter", "thanks!", "继续"]
        {
            assert!(is_nothing(prompt), "{prompt}");
        }
        for prompt in ["yes, use Redis", "fix it in auth.rs", "why?"] {
            assert!(!is_nothing(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_gist_ends_with_a_sentence() {
        assert_eq!(
            gist(
                "Fix the login page. It shows the wrong name for users. And more that is not needed here.",
                60
            ),
            "Fix the login page. It shows the wrong name for users."
        );
        assert_eq!(
            asked("<command-name>/review</command-name><command-args>src</command-args>", 60),
            "/review src"
        );
        assert_eq!(asked("[Image #1]", 60), "[media prompt]");
    }
}
