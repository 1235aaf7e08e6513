//! How much a source of lessons may hold. What is over is left out of the index, and named.
//!
//! A hook makes the index when it is out of date, so what a repository brings is counted before it is read, and its
//! expressions are measured without compiling them.

use crate::format::Flaw;
use crate::layers::Layer;
use crate::lesson::Lesson;
use crate::path_glob;

/// The limits of one source.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most entries of its folder that are looked at.
    pub(crate) entries: usize,
    /// The most lessons.
    pub(crate) lessons: usize,
    /// The most bytes of a file.
    pub(crate) file_bytes: u64,
    /// The most bytes of all files together.
    pub(crate) all_bytes: u64,
    /// What counts for the patterns of a lesson; `None` for the user's own lessons.
    pub(crate) patterns: Option<Patterns>,
}

/// The limits of the patterns of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patterns {
    /// The most in one lesson.
    per_lesson: usize,
    /// The most bytes of one pattern.
    bytes: usize,
    /// The most bytes of all patterns together, those of globs with their braces written out.
    all_bytes: usize,
    /// The most states that an expression has when its repetitions are written out.
    states: usize,
}

const OTHERS: Patterns = Patterns { per_lesson: 50, bytes: 1_024, all_bytes: 256 * 1_024, states: 2_000 };

impl Limits {
    /// Without limits but for the size of a file: for lessons that the user wrote, imports or gets with the plugin.
    pub const OWN: Self = Self {
        entries: usize::MAX,
        lessons: usize::MAX,
        file_bytes: 1024 * 1024,
        all_bytes: u64::MAX,
        patterns: None,
    };

    /// For the lessons of a repository.
    pub const PROJECT: Self = Self {
        entries: 10_000,
        lessons: 500,
        file_bytes: 64 * 1024,
        all_bytes: 4 * 1024 * 1024,
        patterns: Some(OTHERS),
    };

    /// For a manifest of lessons-learned, all of which is in one file that the environment names. It is looked at after the
    /// user's own lessons, and for as long as a repository's: what counts here is that it can be read at all.
    pub const MANIFEST: Self = Self {
        lessons: 20_000,
        file_bytes: 32 * 1024 * 1024,
        patterns: Some(Patterns { all_bytes: 4 * 1024 * 1024, ..OTHERS }),
        ..Self::OWN
    };

    /// Returns the limits of a layer.
    pub fn of(layer: Layer) -> Self {
        match layer {
            Layer::Shipped | Layer::Personal => Self::OWN,
            Layer::Project => Self::PROJECT,
            Layer::Manifest => Self::MANIFEST,
        }
    }

    /// Returns the flaw of a source with `count` lessons, if those are too many.
    pub(crate) fn too_many(&self, count: usize) -> Option<Flaw> {
        let most = self.lessons;
        let reason = || format!("there are {count} lessons; only the first {most} by name count");
        (count > most).then(|| flaw("number", reason()))
    }

    pub(crate) fn too_large(bytes: u64, most: u64) -> Option<Flaw> {
        (bytes > most).then(|| flaw("size", format!("has {bytes} bytes, expected at most {most}")))
    }
}

/// Counts the patterns of a source, lesson by lesson.
#[derive(Debug)]
pub(crate) struct Count {
    limits: Option<Patterns>,
    pattern_bytes: usize,
}

impl Count {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { limits: limits.patterns, pattern_bytes: 0 }
    }

    /// Counts a lesson, or returns why it is left out.
    pub(crate) fn take(&mut self, lesson: &Lesson) -> Result<(), Flaw> {
        let Some(limits) = self.limits else { return Ok(()) };
        let trigger = &lesson.trigger;
        let words = [
            ("tools", &trigger.tools),
            ("command", &trigger.commands),
            ("without", &trigger.without),
            ("with", &trigger.with),
            ("writes", &trigger.writes),
            ("piped_to", &trigger.piped_to),
            ("path", &trigger.paths),
        ];
        let expressions = [
            ("match", &trigger.matches),
            ("raw", &trigger.raw),
            ("content", &trigger.content),
            ("sql", &trigger.sql),
        ];
        let lists = words.iter().chain(&expressions);
        let number = lists.clone().map(|(_, list)| list.len()).sum::<usize>() + trigger.inputs.len();
        if number > limits.per_lesson {
            let most = limits.per_lesson;
            return Err(flaw("patterns", format!("there are {number}, expected at most {most}")));
        }
        let inputs = trigger.inputs.iter().map(|(_, expression)| ("input", expression));
        let plain =
            |list: &(&'static str, &'_ Vec<String>)| list.1.iter().map(String::len).max().unwrap_or(0);
        let longest = lists.clone().map(|list| (list.0, plain(list)));
        let longest = longest.chain(inputs.clone().map(|(field, expression)| (field, expression.len())));
        if let Some((field, bytes)) =
            longest.max_by_key(|(_, bytes)| *bytes).filter(|(_, bytes)| *bytes > limits.bytes)
        {
            return Err(flaw(field, format!("has {bytes} bytes, expected at most {}", limits.bytes)));
        }
        let listed = expressions.iter().flat_map(|(field, list)| list.iter().map(move |text| (*field, text)));
        for (field, expression) in listed.chain(inputs.clone()) {
            if states(expression) > limits.states {
                let most = limits.states;
                let reason = format!("with its repetitions written out it has more than {most} states");
                return Err(flaw(field, reason));
            }
        }
        let listed: usize = lists.flat_map(|(_, list)| list.iter()).map(String::len).sum();
        let globs: usize = trigger.paths.iter().map(|glob| path_glob::expanded_bytes(glob)).sum();
        let bytes = listed + globs + inputs.map(|(_, expression)| expression.len()).sum::<usize>();
        if self.pattern_bytes + bytes > limits.all_bytes {
            let most = limits.all_bytes;
            let reason = format!("with those of the lessons before it they have more than {most} bytes");
            return Err(flaw("patterns", reason));
        }
        self.pattern_bytes += bytes;
        Ok(())
    }
}

fn flaw(field: &str, reason: String) -> Flaw {
    Flaw { line: 0, field: field.to_owned(), reason }
}

/// How deep groups may be nested before an expression counts as too large.
const MAX_NESTING: usize = 32;

/// Estimates the states of a compiled expression from its text, in one pass and without memory: what is in a repetition
/// counts as often as it may be repeated. An expression that cannot be read gets some number; it never matches.
pub(crate) fn states(expression: &str) -> usize {
    let bytes = expression.as_bytes();
    // The states of each open group, and of the last thing in it, which a repetition would be about.
    let mut groups = [(0_usize, 0_usize); MAX_NESTING];
    let (mut depth, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        let (total, last) = &mut groups[depth];
        let mut add = |states: usize| {
            *total = total.saturating_add(*last);
            *last = states;
        };
        match byte {
            b'\\' => {
                let is_named = bytes.get(at).is_some_and(|name| b"xuUpP".contains(name));
                at += 1;
                if is_named && bytes.get(at) == Some(&b'{') {
                    at = end_of(bytes, at, b'}');
                }
                add(2);
            }
            b'[' => {
                // A bracket right at the beginning, or after `^`, is one of the class.
                let skipped = 1 + usize::from(bytes.get(at) == Some(&b'^'));
                let end = end_of(bytes, at + skipped, b']');
                add(1 + (end - at) / 16);
                at = end;
            }
            b'(' => {
                depth += 1;
                if depth == MAX_NESTING {
                    return usize::MAX;
                }
                groups[depth] = (2, 0);
            }
            b')' if depth > 0 => {
                let (total, last) = groups[depth];
                depth -= 1;
                let (outer_total, outer_last) = &mut groups[depth];
                *outer_total = outer_total.saturating_add(*outer_last);
                *outer_last = total.saturating_add(last);
            }
            b'{' => {
                let end = end_of(bytes, at, b'}');
                let counts = expression.get(at..end.saturating_sub(1)).unwrap_or_default();
                let count = |text: &str| text.trim().parse::<usize>().ok();
                let most = match counts.split_once(',') {
                    Some((least, most)) => count(most).max(count(least).map(|least| least.saturating_add(1))),
                    None => count(counts),
                };
                match most {
                    Some(most) => {
                        *last = last.saturating_add(1).saturating_mul(most.max(1));
                        at = end;
                    }
                    None => add(1),
                }
            }
            b'*' | b'+' | b'?' => *last = last.saturating_add(1),
            // With the flag `x` a repetition may follow after a space.
            byte if byte.is_ascii_whitespace() => *total = total.saturating_add(1),
            _ => add(1),
        }
    }
    groups[..=depth].iter().fold(0, |sum, (total, last)| sum.saturating_add(*total).saturating_add(*last))
}

/// Returns the place after the next `closing` byte, else the end.
fn end_of(bytes: &[u8], from: usize, closing: u8) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().position(|byte| *byte == closing).map_or(bytes.len(), |place| from + place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allowance::{Allowance, OTHERS_TIME};
    use crate::lesson::Trigger;

    fn reason(trigger: Trigger) -> String {
        let mut count = Count::new(&Limits::PROJECT);
        count.take(&Lesson { trigger, ..Lesson::default() }).unwrap_err().to_string()
    }

    #[test]
    fn states_count_what_repetitions_write_out() {
        assert!(states(r"\bgit\s+push\b.*--force") < 40);
        assert!((100..300).contains(&states("[a-z]{100}")));
        assert!(states("(a{1000}){1000}") >= 1_000_000);
        assert!(states("(?x) (abcdefgh) {500}") >= 4_000);
        assert!(states("a{10}{10}{10}{10}") >= 10_000);
        assert!(states("(.{0,60}){0,15}z") >= 900);
        assert_eq!(states(&"(".repeat(MAX_NESTING)), usize::MAX);
        // Braces and brackets that repeat nothing.
        assert!(states(r"\{1000\} [{]1000} \x{1000} ${1000x}") < 60);
        for odd in
            ["", "{", "[", "[]", "[^]", "\\", "\\x{", "a{", "a{,", "a{99999999999999999999}", ")", "é{3}"]
        {
            assert!(states(odd) < 50, "{odd}");
        }
    }

    #[test]
    fn what_is_admitted_can_be_compiled() {
        let allowance = Allowance::of(OTHERS_TIME * 1_000);
        for expression in [
            r"[\w\s]{300}",
            "(abc|d[e-g]+){60}",
            r"(?i)abcdefghij{90}",
            r"((((a?)?)?)?){90}",
            r"[^\d]{990}",
            "[a-df-hj-mo-qs-uw-z0-24-68]{0,490}",
        ] {
            let fits = states(expression) <= OTHERS.states;
            assert!(!fits || allowance.compile(expression).is_some(), "{expression}: {}", states(expression));
        }
    }

    #[test]
    fn a_reason_names_the_field_and_the_limit() {
        let raw = vec!["abcd".to_owned(); 51];
        assert_eq!(
            reason(Trigger { raw, ..Trigger::default() }),
            "line 0: patterns: there are 51, expected at most 50"
        );
        assert_eq!(
            reason(Trigger { paths: vec!["x".repeat(1_025)], ..Trigger::default() }),
            "line 0: path: has 1025 bytes, expected at most 1024"
        );
        assert_eq!(
            reason(Trigger { content: vec!["(a{1000}){1000}".into()], ..Trigger::default() }),
            "line 0: content: with its repetitions written out it has more than 2000 states"
        );
    }

    #[test]
    fn patterns_of_all_lessons_count_together() {
        let lesson = Lesson {
            trigger: Trigger { raw: vec!["x".repeat(1_000); 50], ..Trigger::default() },
            ..Lesson::default()
        };
        let mut count = Count::new(&Limits::PROJECT);
        let taken = (0..10).take_while(|_| count.take(&lesson).is_ok()).count();
        assert_eq!(taken, 5);
        let mut count = Count::new(&Limits::PROJECT);
        let paths = vec!["{a,b,**,*}/".repeat(60); 40];
        let braces = Lesson { trigger: Trigger { paths, ..Trigger::default() }, ..Lesson::default() };
        assert!(count.take(&braces).is_err());
        let mut own = Count::new(&Limits::OWN);
        assert!((0..10).all(|_| own.take(&lesson).is_ok()));
    }
}
