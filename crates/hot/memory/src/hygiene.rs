//! Makes a sentence of a model, or of anybody, fit to be an entry.

use text::{redact, sanitize};

/// The longest entry that a distillation may write, in characters.
pub const MAX_ENTRY_CHARS: usize = 400;

/// Returns `text` as one plain line of at most `max_chars` characters, or nothing when nothing is left.
///
/// Blocks of code, bullets, quotation marks around the whole and secrets go.
pub fn tidy(text: &str, max_chars: usize) -> Option<String> {
    let line = sanitize::one_line(&redact::redact(&without_code(text)), usize::MAX);
    let line = unquoted(without_bullet(&line));
    let line = sanitize::one_line(line, max_chars);
    line.chars().any(char::is_alphanumeric).then_some(line)
}

/// Returns `text` without its blocks of code. An opened one that never closes takes the rest.
pub fn without_code(text: &str) -> String {
    let mut kept = String::new();
    let mut open: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (open, mark) {
            (None, Some(_)) => open = mark,
            (Some(opened), Some(mark)) if opened == mark => open = None,
            (None, None) => kept.push_str(line),
            _ => {}
        }
    }
    kept
}

/// Returns `line` without the bullet or the quote mark it begins with.
pub fn without_bullet(line: &str) -> &str {
    let mut line = line.trim();
    while let Some(rest) = ["- ", "* ", "+ ", "• ", "> "].into_iter().find_map(|mark| line.strip_prefix(mark))
    {
        line = rest.trim_start();
    }
    line
}

/// Returns `line` without the quotation marks that enclose it as a whole.
pub fn unquoted(line: &str) -> &str {
    const PAIRS: [(char, char); 5] = [('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('«', '»')];
    let line = line.trim();
    let inner = PAIRS.into_iter().find_map(|(open, close)| {
        let inner = line.strip_prefix(open)?.strip_suffix(close)?;
        // Quotation marks within would be torn from their partners.
        (!inner.contains([open, close])).then_some(inner)
    });
    inner.map_or(line, str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(tidy(text, 40).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn an_entry_is_one_plain_line() {
        check("- Use\n  Postgres", Some("Use Postgres"));
        check("\"Use Postgres\"", Some("Use Postgres"));
        check("“a” and “b”", Some("“a” and “b”"));
        check("> - quoted", Some("quoted"));
        check("before\n```rust\nlet x = 1;\n```\nafter", Some("before after"));
        check("```\nall code", None);
        check("  \n", None);
        check("---", None);
        check(&"word ".repeat(30), Some("word word word word word word word word…"));
    }

    #[test]
    fn a_secret_does_not_become_an_entry() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let tidied = tidy(&format!("the token is {token}"), 200).unwrap_or_default();
        assert!(!tidied.contains(&token) && tidied.contains("[redacted:"), "{tidied}");
    }
}
