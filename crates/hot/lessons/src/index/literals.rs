//! Which texts a regular expression cannot match without: what an index can look up.

use regex_syntax::hir::{Class, Hir, HirKind};

/// The shortest literal that can be looked up.
pub(super) const LITERAL_BYTES: usize = 4;
/// The most alternatives that are looked up one by one.
const MAX_ALTERNATIVES: usize = 32;

/// Returns literals, in lower case, one of which is in every text that the expression matches; `None` when there are
/// none that are long enough.
pub(super) fn required(expression: &str) -> Option<Vec<Vec<u8>>> {
    let mut literals = required_as_written(expression)?;
    literals.iter_mut().for_each(|literal| literal.make_ascii_lowercase());
    Some(literals)
}

/// Returns the literals to look for in a large text, instead of searching all of it for the expression: in lower case
/// unless the expression tells cases apart. None when the expression can do without, or when one is not text.
pub(super) fn to_search_for(expression: &str) -> Vec<String> {
    let literals =
        if tells_cases_apart(expression) { required_as_written(expression) } else { required(expression) };
    let literals = literals.unwrap_or_default().into_iter().map(String::from_utf8);
    literals.collect::<Result<_, _>>().unwrap_or_default()
}

/// Returns whether upper and lower case are certainly different to an expression.
pub(crate) fn tells_cases_apart(expression: &str) -> bool {
    !expression.contains("(?")
}

/// Returns the same literals in the case in which they are written; those of an expression that does not tell cases
/// apart are in lower case.
fn required_as_written(expression: &str) -> Option<Vec<Vec<u8>>> {
    let hir = regex_syntax::ParserBuilder::new().utf8(false).unicode(false).build().parse(expression).ok()?;
    best(&hir).filter(|literals| is_useful(literals))
}

fn is_useful(literals: &[Vec<u8>]) -> bool {
    !literals.is_empty()
        && literals.len() <= MAX_ALTERNATIVES
        && literals.iter().all(|literal| literal.len() >= LITERAL_BYTES)
}

fn best(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(vec![literal.0.to_vec()]),
        HirKind::Capture(capture) => best(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => best(&repetition.sub),
        HirKind::Alternation(branches) => {
            let branches: Option<Vec<Vec<Vec<u8>>>> = branches.iter().map(best).collect();
            Some(branches?.concat())
        }
        HirKind::Concat(parts) => best_of_concatenation(parts),
        _ => None,
    }
}

/// Joins neighbouring literals, case-insensitive letters among them, and takes the most telling part.
fn best_of_concatenation(parts: &[Hir]) -> Option<Vec<Vec<u8>>> {
    let mut found: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut run = Vec::new();
    for part in parts {
        match part.kind() {
            HirKind::Literal(literal) => run.extend(literal.0.iter()),
            HirKind::Class(class) if letter(class).is_some() => run.extend(letter(class)),
            // What takes no room does not part two literals.
            HirKind::Look(_) | HirKind::Empty => {}
            _ => {
                found.push(vec![std::mem::take(&mut run)]);
                found.extend(best(part));
            }
        }
    }
    found.push(vec![run]);
    let shortest = |literals: &Vec<Vec<u8>>| literals.iter().map(Vec::len).min().unwrap_or(0);
    found.into_iter().filter(|literals| literals.len() <= MAX_ALTERNATIVES).max_by_key(shortest)
}

/// Returns the letter of a class that holds one letter in both cases, or one byte.
fn letter(class: &Class) -> Option<u8> {
    let Class::Bytes(class) = class else { return None };
    let mut bytes = class.ranges().iter().flat_map(|range| range.start()..=range.end());
    let first = bytes.next()?.to_ascii_lowercase();
    bytes.by_ref().take(3).all(|byte| byte.to_ascii_lowercase() == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: &[&str]) {
        let found = required(expression).unwrap_or_default();
        let found: Vec<&str> = found.iter().map(|literal| std::str::from_utf8(literal).unwrap()).collect();
        assert_eq!(found, expected, "{expression}");
    }

    #[test]
    fn literals_that_no_match_lacks() {
        check(r"\bpytest\b", &["pytest"]);
        check(r"git\s+push\s+.*--force", &["--force"]);
        check(r"(?i)DROP\s+TABLE", &["table"]);
        check(r"(npm|yarn) install", &[" install"]);
        check(r"(curl|wget)x+", &["curl", "wget"]);
        check(r"eval\(.*\)", &["eval("]);
    }

    #[test]
    fn what_a_large_text_is_searched_for_is_as_written_where_case_tells() {
        assert_eq!(to_search_for(r"DROP\s+TABLE"), ["TABLE"]);
        assert_eq!(to_search_for(r"(?i)DROP\s+TABLE"), ["table"]);
        assert!(to_search_for(r"\d+").is_empty());
    }

    #[test]
    fn expressions_without_them() {
        check(r"a|bcdef", &[]);
        check(r"(longliteral)?x", &[]);
        check(r"\d+", &[]);
        check(r"(", &[]);
    }
}
