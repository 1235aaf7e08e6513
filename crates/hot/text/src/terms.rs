//! The words of a text as search knows them: one way to take a text apart, for the index and for questions.
//!
//! - Letters are folded: lower case, without accents; full-width forms and ligatures count as the plain ones.
//! - A name from code is found whole and by its parts: `verifyToken`, `verify_token` and `verify-token` all have the terms
//!   `verify`, `token` and `verifytoken`. `E0382` and `sha256` stay whole, and so does `1.2.3`, by which `v1.2.3` is found, too.
//! - English endings are taken off ([`stem`]), those of names as well: `fileName` is found by `filename`.
//! - Scripts without spaces between words come in pairs of letters.
//!
//! Which terms are common words is for a question to decide: here each of them counts.

mod fold;
mod stem;

pub use stem::{stem, stem_of_ending};

use std::ops::Range;

/// The longest term, in bytes: what is longer is cut.
pub const MAX_TERM_BYTES: usize = 64;
/// A name of more parts than this has no term as a whole: it is a sentence or a path.
const MAX_PARTS: usize = 6;

/// A term of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term<'t> {
    /// What it is looked up by.
    pub text: &'t str,
    /// The number of the word; a name and its first part have the same one.
    pub position: u32,
    /// Where it is in the text.
    pub bytes: (usize, usize),
    /// Whether it is a name as a whole, beside its parts.
    pub is_whole: bool,
}

impl Term<'_> {
    pub fn range(&self) -> Range<usize> {
        self.bytes.0..self.bytes.1
    }
}

/// Takes texts apart. One of these serves many texts: it keeps its buffers.
#[derive(Debug, Default)]
pub struct Terms {
    /// The folded letters of the part, and of the name.
    part: String,
    whole: String,
    stemmed: String,
    /// The parts of the name: where each ends in `whole`, and its place in the text.
    parts: Vec<Part>,
    /// Whether there is a dot between them: it is the name of a file or a version, and no word.
    is_dotted: bool,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    folded: (usize, usize),
    bytes: (usize, usize),
}

/// What a character is for a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    /// Belongs to a script without spaces.
    Unspaced,
    /// `_`, `.` and hyphens: between the parts of a name.
    Link,
    /// Belongs to the letter before it: accents, vowel signs, and what is not seen, such as the place where a word may be broken.
    Mark,
    Apostrophe,
    Other,
}

impl Terms {
    /// Calls `each` for every term of `text`, whose first word has the number `position`; returns the number after the last word.
    pub fn each(&mut self, text: &str, mut position: u32, mut each: impl FnMut(Term<'_>)) -> u32 {
        let mut letters = text.char_indices().peekable();
        let mut previous = Class::Other;
        // The last letter of a script without spaces, and whether it is already in a pair.
        let mut unspaced: Option<(usize, char, bool)> = None;
        let mut link: Option<usize> = None;
        let mut part_start = 0;
        while let Some((at, mut letter)) = letters.next() {
            let mut end = at + letter.len_utf8();
            // Names of files may have their letters taken apart.
            while let Some((at_next, next)) = letters.peek().copied()
                && let Some(composed) = fold::composed(letter, next)
            {
                letter = composed;
                end = at_next + next.len_utf8();
                letters.next();
            }
            let class = class_of(letter);
            if class == Class::Unspaced {
                self.end_name(at, part_start, &mut position, &mut each);
                if let Some((before, other, _)) = unspaced {
                    self.part.clear();
                    self.part.extend([other, letter]);
                    each(Term { text: &self.part, position, bytes: (before, end), is_whole: false });
                    self.part.clear();
                    position += 1;
                }
                unspaced = Some((at, letter, unspaced.is_some()));
                previous = class;
                continue;
            }
            if let Some((before, other, is_paired)) = unspaced.take()
                && !is_paired
            {
                self.part.clear();
                self.part.push(other);
                let bytes = (before, before + other.len_utf8());
                each(Term { text: &self.part, position, bytes, is_whole: false });
                self.part.clear();
                position += 1;
            }
            match class {
                Class::Lower | Class::Upper | Class::Digit => {
                    let starts_word = match (previous, class) {
                        (Class::Lower, Class::Upper) => true,
                        // The last capital of several begins the next word: `HTTPServer`.
                        (Class::Upper, Class::Upper) => {
                            letters.peek().is_some_and(|(_, next)| class_of(*next) == Class::Lower)
                                && !is_plural_of_capitals(&text[at + letter.len_utf8()..])
                        }
                        (Class::Digit, Class::Upper) => {
                            letters.peek().is_some_and(|(_, next)| class_of(*next) == Class::Lower)
                        }
                        _ => false,
                    };
                    if let Some(link_at) = link.take() {
                        let is_number = text.as_bytes()[link_at] == b'.'
                            && class == Class::Digit
                            && self.part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                            && !self.part.is_empty();
                        if is_number {
                            self.part.push('.');
                        } else {
                            let is_dot = text.as_bytes()[link_at] == b'.';
                            let is_version = is_dot
                                && class == Class::Digit
                                && self.part.ends_with(|last: char| last.is_ascii_digit());
                            self.end_part(link_at, part_start);
                            self.is_dotted |= is_dot;
                            if is_version {
                                self.whole.push('.');
                            }
                        }
                    } else if starts_word {
                        self.end_part(at, part_start);
                    }
                    if self.part.is_empty() {
                        part_start = at;
                    }
                    fold::fold_into(letter, &mut self.part);
                }
                Class::Mark => {
                    if !self.part.is_empty() {
                        fold::fold_into(letter, &mut self.part);
                    }
                }
                Class::Link if link.is_none() && !self.part.is_empty() => link = Some(at),
                Class::Apostrophe if !self.part.is_empty() => {
                    // `user's`, `don't`, `I'll`: the end says nothing. `l'état`, `l'IA`, `d'accord`: the beginning does not.
                    let rest: usize = text[at + letter.len_utf8()..]
                        .chars()
                        .take(3)
                        .take_while(|next| matches!(class_of(*next), Class::Lower | Class::Upper))
                        .count();
                    let is_beginning = rest > 2 || (rest == 2 && self.part != "i");
                    if self.parts.is_empty() && self.part.chars().count() == 1 && is_beginning {
                        self.part.clear();
                    } else {
                        self.end_name(at, part_start, &mut position, &mut each);
                        if rest <= 2 {
                            for _ in 0..rest {
                                letters.next();
                            }
                        }
                    }
                }
                _ => {
                    let end = link.take().unwrap_or(at);
                    self.end_name(end, part_start, &mut position, &mut each);
                }
            }
            if !matches!(class, Class::Mark) {
                previous = class;
            }
        }
        if let Some((before, other, false)) = unspaced {
            self.part.clear();
            self.part.push(other);
            let bytes = (before, before + other.len_utf8());
            each(Term { text: &self.part, position, bytes, is_whole: false });
            self.part.clear();
            position += 1;
        }
        self.end_name(link.unwrap_or(text.len()), part_start, &mut position, &mut each);
        position
    }

    fn end_part(&mut self, end: usize, start: usize) {
        if self.part.is_empty() {
            return;
        }
        let folded = self.whole.len();
        self.whole.push_str(&self.part);
        self.parts.push(Part { folded: (folded, self.whole.len()), bytes: (start, end) });
        self.part.clear();
    }

    /// Ends a name: its parts, and itself where it has several.
    fn end_name(&mut self, end: usize, start: usize, position: &mut u32, each: &mut impl FnMut(Term<'_>)) {
        self.end_part(end, start);
        let (Some(first), Some(last)) = (self.parts.first(), self.parts.last()) else { return };
        if self.parts.len() > 1 && self.parts.len() <= MAX_PARTS {
            self.stemmed.clear();
            self.stemmed.push_str(cut(version_in(&self.whole, first.folded.1).unwrap_or(&self.whole)));
            // Somewhere else the same word may have no seam.
            if !self.is_dotted {
                stem(&mut self.stemmed);
            }
            let bytes = (first.bytes.0, last.bytes.1);
            each(Term { text: &self.stemmed, position: *position, bytes, is_whole: true });
        }
        for part in &self.parts {
            self.stemmed.clear();
            self.stemmed.push_str(cut(&self.whole[part.folded.0..part.folded.1]));
            stem(&mut self.stemmed);
            each(Term { text: &self.stemmed, position: *position, bytes: part.bytes, is_whole: false });
            *position += 1;
        }
        self.parts.clear();
        self.whole.clear();
        self.is_dotted = false;
    }
}

/// Says whether what follows capitals is the ending of their plural: `URLs`, but not `HTTPServer`.
fn is_plural_of_capitals(rest: &str) -> bool {
    let after = rest.strip_prefix('s').map(|after| after.chars().next().map_or(Class::Other, class_of));
    after.is_some_and(|after| !matches!(after, Class::Lower | Class::Digit))
}

/// Returns the version in a name whose first part, which ends there, has letters before it: `1.2.3` of `v1.2.3`, `3.11` of
/// `python3.11`.
fn version_in(name: &str, end_of_first: usize) -> Option<&str> {
    let start = name.find(|letter: char| !letter.is_ascii_lowercase())?;
    let rest = &name[start..];
    let length = rest.find(|letter: char| letter != '.' && !letter.is_ascii_digit()).unwrap_or(rest.len());
    let version = rest[..length].trim_end_matches('.');
    (0 < start && start < end_of_first && version.contains('.')).then_some(version)
}

/// Returns a word with folded letters and its ending: what the beginning of a word is compared with.
pub fn folded(word: &str) -> String {
    let mut folded = String::new();
    for letter in word.chars() {
        if !matches!(class_of(letter), Class::Link | Class::Apostrophe | Class::Other) {
            fold::fold_into(letter, &mut folded);
        }
    }
    folded.truncate(cut(&folded).len());
    folded
}

/// Returns the beginning of a term that is not too long.
fn cut(text: &str) -> &str {
    if text.len() <= MAX_TERM_BYTES { text } else { &text[..text.floor_char_boundary(MAX_TERM_BYTES)] }
}

fn class_of(letter: char) -> Class {
    match letter {
        'a'..='z' => Class::Lower,
        'A'..='Z' => Class::Upper,
        '0'..='9' => Class::Digit,
        '_' | '-' | '.' | '\u{2010}' | '\u{2011}' => Class::Link,
        '\'' | '’' | 'ʼ' => Class::Apostrophe,
        '\0'..='\x7f' => Class::Other,
        _ if is_unspaced(letter) => Class::Unspaced,
        '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{962}' | '\u{963}' => Class::Mark,
        _ if fold::is_ornament(letter) => Class::Mark,
        _ if letter.is_uppercase() => Class::Upper,
        _ if letter.is_numeric() => Class::Digit,
        _ if letter.is_alphanumeric() => Class::Lower,
        _ => Class::Other,
    }
}

/// Returns whether a letter belongs to a script that puts no spaces between words, or, as Korean does, endings on every word.
pub const fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0e01}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        Terms::default().each(text, 0, |term| found.push(term.text.to_owned()));
        found
    }

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected, "{text}");
    }

    #[test]
    fn names_are_found_whole_and_by_their_parts() {
        check("verifyToken", &["verifytoken", "verifi", "token"]);
        check("verify_token", &["verifytoken", "verifi", "token"]);
        check("VERIFY-TOKEN.", &["verifytoken", "verifi", "token"]);
        check("HTTPServer2Go", &["httpserver2go", "http", "server2", "go"]);
        check("src/auth/token.rs:12", &["src", "auth", "tokenrs", "token", "rs", "12"]);
        check("std::env::var", &["std", "env", "var"]);
        check("E0382 sha256 1.2.3", &["e0382", "sha256", "1.2.3"]);
        check("--dry-run __init__", &["dryrun", "dry", "run", "init"]);
    }

    #[test]
    fn a_name_has_the_term_of_the_word_without_a_seam() {
        for (name, word) in [
            ("fileName", "filename"),
            ("user_names", "username"),
            ("DataBase", "databases"),
            ("YouTube", "youtube"),
            ("name-space", "namespaces"),
            ("dry\u{2011}run", "dry-run"),
        ] {
            assert_eq!(terms(name)[0], terms(word)[0], "{name} {word}");
        }
        // The ending of a file's name is none of a word.
        check("token.rs", &["tokenrs", "token", "rs"]);
    }

    #[test]
    fn plurals_of_capitals_are_one_word() {
        check("URLs, APIs; PDFs_of", &["url", "api", "pdfsof", "pdf", "of"]);
        check("parseURLsFrom HTTPs", &["parseurlsfrom", "pars", "url", "from", "http"]);
        check("IDs of PRs", &["id", "of", "pr"]);
        check("ids of the id", &["id", "of", "the", "id"]);
        check("getIDs HTTPServer", &["getid", "get", "id", "httpserver", "http", "server"]);
    }

    #[test]
    fn a_version_is_found_with_what_goes_before_it_and_without() {
        check("1.2.3", &["1.2.3"]);
        check("v1.2.3", &["1.2.3", "v1", "2.3"]);
        check("V1.2.3-rc1", &["1.2.3", "v1", "2.3", "rc1"]);
        check("python3.11", &["3.11", "python3", "11"]);
        check("wyren-1.2.3", &["wyren1.2.3", "wyren", "1.2.3"]);
        check("x86.64 x86_64", &["86.64", "x86", "64", "x8664", "x86", "64"]);
        check("v2 main.rs", &["v2", "mainrs", "main", "rs"]);
    }

    #[test]
    fn letters_are_folded_and_endings_taken_off() {
        check("Café naïve Straße Ｆｕｌｌ", &["cafe", "naiv", "strass", "full"]);
        check("cafe\u{301}", &["cafe"]);
        check("caches cached caching", &["cach", "cach", "cach"]);
        check("the user's files don't match; l'état", &["the", "user", "file", "don", "match", "etat"]);
        check("Йод ёлка", &["иод", "елка"]);
        check("I'll l'IA d'un b'ok'", &["i", "ia", "un", "ok"]);
    }

    #[test]
    fn what_is_not_heard_or_seen_does_not_matter() {
        for (written, plain) in [
            ("ﬁle oﬃce", "file office"),
            ("Fehler\u{ad}behandlung", "Fehlerbehandlung"),
            ("verify\u{200b}Token", "verifyToken"),
            ("أحمد إلى آخر", "احمد الى اخر"),
            ("مُحَمَّد", "محمد"),
            ("مـــرحبا", "مرحبا"),
            ("مدرسة على", "مدرسه علي"),
            ("שָׁלוֹם", "שלום"),
            ("Ά\u{301}λφα", "αλφα"),
        ] {
            assert_eq!(terms(written), terms(plain), "{written}");
        }
    }

    #[test]
    fn scripts_without_spaces_come_in_pairs() {
        check("用回调", &["用回", "回调"]);
        check("用 Rust 写", &["用", "rust", "写"]);
        check("データベース", &["デー", "ータ", "タベ", "ベー", "ース"]);
        check("한국어", &["한국", "국어"]);
        for whole in ["한국어로 검색", "データベースの接続", "ガ"] {
            let apart: String = unicode_normalization::UnicodeNormalization::nfd(whole).collect();
            assert!(apart != whole && terms(&apart) == terms(whole), "{whole}");
        }
    }

    #[test]
    fn positions_count_words_and_ranges_are_those_of_the_text() {
        let text = "call verifyToken, über alles";
        let mut found = Vec::new();
        let after = Terms::default().each(text, 5, |term| {
            found.push((term.position, text[term.range()].to_owned(), term.is_whole));
        });
        assert_eq!(after, 10);
        let found: Vec<_> =
            found.iter().map(|(position, text, is_whole)| (*position, &**text, *is_whole)).collect();
        assert_eq!(
            found,
            [
                (5, "call", false),
                (6, "verifyToken", true),
                (6, "verify", false),
                (7, "Token", false),
                (8, "über", false),
                (9, "alles", false)
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_terms_within_it(text in "\\PC{0,60}|[a-zA-Z0-9_.'’ é\u{301}用ж-]{0,60}") {
            let mut last = 0;
            Terms::default().each(&text, 0, |term| {
                assert!(!term.text.is_empty() && term.text.len() <= MAX_TERM_BYTES);
                assert!(text.get(term.range()).is_some_and(|bytes| !bytes.is_empty()), "{term:?}");
                assert!(term.position >= last);
                last = term.position;
            });
        }
    }
}
