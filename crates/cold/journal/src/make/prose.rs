//! What prompts and answers say: the gist, what they decide, what they found out, what is left.

use super::mood;
use crate::turn::Before;
use language::lexicon::{self, JOURNAL};
use language::{Phrases, Sentence, content_words, folded, sentences, words};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use text::sanitize;

/// A sentence of fewer words says nothing a month later.
const FEWEST_WORDS: usize = 4;
/// How many words of a discovery say what it is about: `I found it, and it is not that` has none.
const FEWEST_CONTENT_WORDS: usize = 3;
/// Of what is left open, a name is enough: `docs are missing`.
const FEWEST_WORDS_LEFT: usize = 2;
/// What is before a question that the user was asked, and before the answer.
pub(crate) const ASKED: &str = "asked the user: ";
pub(crate) const ANSWERED: &str = " → answered ";
/// The longest sentence that is kept, in characters.
const MOST_CHARS: usize = 300;

/// Tables of one heading each.
macro_rules! phrases {
    ($($name:ident, $heading:literal;)*) => {
        $(static $name: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::of(JOURNAL, $heading));)*
    };
}
phrases! {
    HEADING_FOUND, "heading found";
    HEADING_DECIDED, "heading decided";
    HEADING_ADVISED, "heading advised";
    HEADING_LEFT, "heading left";
    NONE, "none";
    NOTHING, "nothing";
    REFERS, "refers";
    DANGLES, "dangles";
    POINTS, "points";
    GREETS, "greets";
    WANTS, "wants";
    FIX, "fix";
    FEATURE, "feature";
    REFACTOR, "refactor";
    SUPERSEDES, "supersedes";
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
    const FEWEST_WORDS: usize = 3;
    let mut said = Said::default();
    for sentence in sentences(&without_comments(text)) {
        if sentence.is_question || words(&sentence.text).len() < FEWEST_WORDS {
            continue;
        }
        let heard = mood::heard(&sentence.text);
        if mood::is_settled_by_person(&heard) {
            said.decisions.push(shown(without_link(&sentence.text)));
        } else if says_something(&sentence.text) && mood::finds(&heard) && has_figures(&sentence.text) {
            said.discoveries.push(shown(&sentence.text));
        }
    }
    said
}

/// Returns what a model's text says that it chose, found and left. What it recommends or offers is none of these.
pub(super) fn of_model(text: &str) -> Said {
    let mut said = Said::default();
    for (topic, is_first, sentence) in by_topic(text) {
        let shown = shown(&sentence.text);
        if topic == Topic::Left {
            said.next.extend(left(&sentence));
            continue;
        }
        // What ends with a colon only announces what follows.
        let announces = sentence.text.ends_with([':', '：']);
        if sentence.is_question || announces || !says_something(&sentence.text) {
            continue;
        }
        let heard = mood::heard(&sentence.text);
        let is_finding = || says_what(&sentence.text) && !only_announces(&sentence.text);
        match topic {
            Topic::Found if is_first && is_finding() && !mood::is_unsure(&heard) => {
                said.discoveries.push(shown);
            }
            Topic::Decided if is_first && mood::is_statement(&heard) => said.decisions.push(shown),
            Topic::Advised => {}
            _ if mood::leaves_open(&heard) => {
                let is_named = content_words(&sentence.text).len() >= FEWEST_WORDS_LEFT;
                said.next.extend(is_named.then_some(shown));
            }
            Topic::Other if mood::is_choice_of_model(&heard) => said.decisions.push(shown),
            _ if mood::finds(&heard) || (compares_figures(&sentence.text) && mood::is_statement(&heard)) => {
                said.discoveries.extend(is_finding().then_some(shown));
            }
            _ => {}
        }
    }
    said
}

/// Returns what a sentence below a heading such as "Not done" leaves open; nothing where it says that there is nothing.
fn left(sentence: &Sentence) -> Option<String> {
    const OFFERS: [&str; 12] = [
        "let me know",
        "want me",
        "shall i",
        "should i",
        "do you want",
        "would you like",
        "soll ich",
        "möchtest du",
        "veux tu",
        "quieres que",
        "quer que",
        "如果您",
    ];
    let folded = folded(&sentence.text);
    let is_named = words(&sentence.text).len() >= FEWEST_WORDS_LEFT;
    let is_none = NONE.begin(&folded) && content_words(&sentence.text).len() < FEWEST_WORDS_LEFT;
    let is_offer = OFFERS.iter().any(|offer| folded.starts_with(offer));
    let mark = if sentence.is_question { "?" } else { "" };
    (is_named && !is_none && !is_offer).then(|| shown(&format!("{}{mark}", sentence.text)))
}

/// Returns a text without lines of code without a fence: what a comment says was not said here.
fn without_comments(text: &str) -> String {
    let is_comment = |line: &&str| {
        let line = line.trim_start();
        ["//", "/*", "*/", "<!--", "$ ", "--- ", "+++ "].iter().any(|mark| line.starts_with(mark))
            || ["; //", "{ //", "; /*"].iter().any(|mark| line.contains(mark))
    };
    text.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n")
}

/// What the heading or label over a sentence says that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Found,
    Decided,
    Advised,
    Left,
    Other,
}

impl Topic {
    /// Returns the topic of a heading.
    fn of(heading: &str) -> Self {
        let folded = folded(heading);
        // What is in parentheses behind it says how much: `Not done (yet)`, `Left (2)`.
        let folded = folded.split_once('(').map_or(&*folded, |(before, _)| before);
        match () {
            () if HEADING_LEFT.head(folded) => Self::Left,
            () if HEADING_ADVISED.head(folded) => Self::Advised,
            () if HEADING_DECIDED.head(folded) => Self::Decided,
            () if HEADING_FOUND.head(folded) => Self::Found,
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
    for line in without_comments(&language::without_code(text)).lines() {
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
        let (of_line, rest) = match label(line) {
            // A box that is not ticked is left to do, whatever is above it.
            _ if is_unticked(line) => (Topic::Left, &line[line.find(']').map_or(0, |at| at + 1)..]),
            Some((label, rest)) if Topic::of(label) != Topic::Other => (Topic::of(label), rest),
            _ => (topic, line),
        };
        let mut sentences = sentences(rest);
        if of_line != Topic::Other {
            join_first_two(rest, &mut sentences);
        }
        join_what_refers(rest, &mut sentences);
        for (place, sentence) in sentences.into_iter().enumerate() {
            let of_sentence = label(&sentence.text).map_or(Topic::Other, |(label, _)| Topic::of(label));
            let of_sentence = if of_sentence == Topic::Other { of_line } else { of_sentence };
            found.push((of_sentence, place == 0 || of_sentence != of_line, sentence));
        }
    }
    found
}

/// Returns whether a line is a box that is not ticked: `- [ ] write docs`.
fn is_unticked(line: &str) -> bool {
    language::without_bullet(line).starts_with("[ ]")
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
            () if mood::leaves_open(&mood::heard(&this.text))
                && !says_what(&this.text)
                && REFERS.occur(&folded) =>
            {
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
    let numbers = folded
        .split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | ':')))
        .filter(is_number)
        .count();
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
    // A whole clause is understood, where it is most of what there is room for.
    let clause =
        [", ", "; ", ": ", " – ", " — ", " (", "，", "；"].iter().filter_map(|mark| head.rfind(mark)).max();
    if let Some(clause) = clause.filter(|clause| clause * 4 >= head.len() * 3) {
        return format!("{}…", &head[..clause]);
    }
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

/// Returns a prompt that names nothing, with what the turn before was about: `fix it (after: Why does the login fail?)`.
pub(super) fn with_before(prompt: &str, before: &Before) -> String {
    const MOST_BEFORE: usize = 100;
    let asked = asked(prompt, MOST_BEFORE);
    let is_telling =
        !before.prompt.trim().is_empty() && !is_nothing(&before.prompt) && !dangles(&before.prompt);
    let about = match is_telling {
        true => self::asked(&before.prompt, MOST_BEFORE),
        false => gist(&first_of_answer(&before.answer), MOST_BEFORE),
    };
    match about.trim_end_matches(['.', '。']) {
        "" => asked,
        about => format!("{} (after: {about})", asked.trim_end_matches(['.', '。'])),
    }
}

/// Returns whether a prompt points at something that it does not name: `do the same there`, `now the other one`.
pub(crate) fn dangles(prompt: &str) -> bool {
    const MOST_WORDS: usize = 8;
    const MOST_CHARS: usize = 60;
    let folded = folded(prompt.trim());
    let is_short = folded.chars().count() <= MOST_CHARS && words(&folded).len() <= MOST_WORDS;
    if !is_short || !POINTS.occur(&folded) || slash_command(prompt).is_some() {
        return false;
    }
    let is_unspaced = folded.chars().any(language::is_unspaced);
    let is_named = |word: &String| {
        let is_long = word.chars().count() > 2 && !word.bytes().all(|byte| byte.is_ascii_digit());
        is_long && !language::is_stop_word(word) && !DANGLES.occur(word)
    };
    match is_unspaced {
        true => folded.chars().count() <= MOST_WORDS,
        false => !words(&folded).iter().any(is_named),
    }
}

/// Returns whether a prompt wants an answer: it is a question, or asks to find something out.
pub(super) fn wants_answer(prompt: &str) -> bool {
    const REQUESTS: [&str; 18] = [
        "can you ",
        "could you ",
        "would you ",
        "will you ",
        "please ",
        "bitte ",
        "kannst du ",
        "könntest du ",
        "kannst du bitte ",
        "peux tu ",
        "peux-tu ",
        "pourrais-tu ",
        "pouvez-vous ",
        "puedes ",
        "podrías ",
        "pode ",
        "você pode ",
        "можешь ",
    ];
    if slash_command(prompt).is_some() {
        return false;
    }
    let wants = |sentence: &Sentence| {
        let heard = mood::heard(&sentence.text);
        let heard = heard.trim_start_matches('¿');
        let mut rest = heard;
        while let Some(behind) = REQUESTS.iter().find_map(|request| rest.strip_prefix(request)) {
            rest = behind;
        }
        match rest.len() == heard.len() {
            true => sentence.is_question || mood::asks(heard) || WANTS.begin(heard),
            false => WANTS.begin(rest),
        }
    };
    let sentences = sentences(without_greeting(prompt.trim()));
    sentences.first().is_some_and(wants) || sentences.last().is_some_and(wants)
}

/// Returns a prompt without a greeting or thanks at its beginning and end, where there is something else.
fn without_greeting(prompt: &str) -> &str {
    const MARKS: [char; 10] = [',', '!', '.', '，', '！', '。', '、', ':', ' ', '\n'];
    let mut rest = prompt;
    while let Some(behind) =
        greeted(rest).map(|behind| behind.trim_start_matches(MARKS)).filter(|rest| says_more(rest))
    {
        rest = behind;
    }
    let end = rest.trim_end_matches(MARKS);
    let last = end.rfind(['.', '!', '?', '\n', '。', '！', '？']);
    let last = last.map(|at| at + end[at..].chars().next().map_or(0, char::len_utf8));
    match last.filter(|at| greeted(end[*at..].trim_start()).is_some_and(|behind| !says_more(behind))) {
        Some(at) => rest[..at].trim_end(),
        None => rest,
    }
}

fn says_more(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Returns what is behind the greeting that a text begins with.
fn greeted(text: &str) -> Option<&str> {
    const MOST_CHARS: usize = 40;
    let head: String = folded(text).chars().take(MOST_CHARS).collect();
    let start = head.find(char::is_alphanumeric)?;
    let hits = GREETS.find(&head);
    let end = hits.iter().filter(|hit| hit.start == start).map(|hit| hit.end).max()?;
    let behind = text.get(end..).filter(|_| text.is_char_boundary(end))?;
    let is_apart = behind.is_empty() || behind.starts_with([',', '!', '.', '，', '！', '。', '、', '\n']);
    is_apart.then_some(behind)
}

/// What a prompt asks for, as a person would repeat it.
pub(super) fn asked(prompt: &str, most: usize) -> String {
    let prompt = without_greeting(prompt.trim());
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
    fn a_prompt_that_names_nothing_is_known() {
        let mut wrong = Vec::new();
        for prompt in [
            "fix it",
            "do the same there",
            "now the other one",
            "this",
            "step 3",
            "same for the rest please",
            "and that one?",
            "try it again",
            "now do the second part",
            "undo that",
            "the other way round",
            "ok, and the rest?",
            "can you also do it here",
            "make it better",
            "again but with the other option",
            "mach das auch dort",
            "jetzt das andere",
            "und jetzt Schritt 2",
            "dasselbe nochmal hier",
            "et l'autre ?",
            "ahora el otro",
            "faz o mesmo aqui",
            "исправь это",
            "同じように直して",
            "corrige ça",
            "fais pareil ici",
            "arréglalo",
            "haz lo mismo allí",
            "то же самое там",
            "这个也一样",
        ] {
            wrong.extend((!dangles(prompt)).then_some(prompt));
        }
        for prompt in [
            "fix the login page",
            "commit it",
            "push that to staging",
            "run the tests",
            "why?",
            "rename it to carrier",
            "do the same in billing",
            "/review 214",
            "entferne die Spalte dort",
            "update the changelog for this",
            "deploy it to staging",
            "use UTC there",
            "delete the cache folder",
            "supprime la colonne",
        ] {
            wrong.extend(dangles(prompt).then_some(prompt));
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn what_wants_an_answer_is_known() {
        let mut wrong = Vec::new();
        for prompt in [
            "Where are the labels stored?",
            "are the tests green on main",
            "How many orders are open on staging?",
            "Check whether the index is used",
            "Can you check if port 25 is open?",
            "Run the suite. Does it pass?",
            "Hi, which version of node do we use?",
            "wie viele Bestellungen sind offen",
            "Kannst du prüfen, ob der Port offen ist?",
            "combien de commandes sont ouvertes",
            "¿Pasan las pruebas?",
            "сколько заказов открыто",
            "测试通过了吗",
            "show me who calls `flush`",
            "Is the index used for this query?",
            "count the rows without a tenant",
            "tell me why the build is red",
            "Please explain how the cache is emptied",
            "where is the retry done",
            "welche Tests schlagen fehl?",
            "pourquoi la page est lente",
            "¿cuántos pedidos hay sin pagar?",
            "哪些测试失败了？",
            "テストは通りますか",
            "quantos pedidos estão abertos?",
        ] {
            wrong.extend((!wants_answer(prompt)).then_some(prompt));
        }
        for prompt in [
            "Fix the login page",
            "Can you run the tests?",
            "Please add a test for that",
            "Could you restart the worker?",
            "run the linter",
            "/review 214",
            "Kannst du die Tests laufen lassen?",
            "please run the migration on staging",
            "commit this",
            "lance les tests",
            "ejecuta las pruebas",
        ] {
            wrong.extend(wants_answer(prompt).then_some(prompt));
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn greetings_and_thanks_are_not_what_was_asked() {
        for (prompt, expected) in [
            ("Hi! Fix the login page.", "Fix the login page."),
            ("hey claude, thanks, that works. Now add a test for it", "that works. Now add a test for it"),
            ("Fix the login page. Thanks!", "Fix the login page."),
            ("Guten Morgen! Die Suche ist langsam. Danke dir", "Die Suche ist langsam."),
            ("Bonjour, la recherche est lente", "la recherche est lente"),
            ("Hello world is printed twice", "Hello world is printed twice"),
            ("thanks!", "thanks!"),
        ] {
            assert_eq!(asked(prompt, 80), expected);
        }
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
