//! Makes words of a transcript fit to be shown to a model: private parts, secrets and imitations of our tags go.

use text::{privacy, redact, sanitize};

/// The tags of a question; other text must not contain them.
const OUR_TAGS: &[&str] = &["session-id", "existing-memory", "transcript-slice"];

/// How much more than the limit is looked at before a text is cut, so that a secret across the cut is still known by
/// its shape.
const MARGIN_CHARS: usize = 2_048;

/// Returns `text` without private parts, secrets, invisible characters and imitated tags.
pub(crate) fn clean(text: &str) -> String {
    let stripped = privacy::strip(text);
    let redacted = redact::redact(&stripped.text);
    blunt_our_tags(&sanitize::sanitize(&redacted))
}

/// Returns the clean beginning of `text`, and how many characters were left out.
pub fn clean_cut(text: &str, limit: usize) -> String {
    // All of it first: what ends a private part may come long after the cut.
    let public = privacy::strip(text.trim()).text;
    let text = public.trim();
    let window = match text.char_indices().nth(limit + MARGIN_CHARS) {
        // Half a secret has no shape to know it by, so the word that the window ends in goes.
        Some((end, _)) => {
            text[..end].trim_end_matches(|c: char| c.is_ascii() && redact::is_token_byte(c as u8))
        }
        None => text,
    };
    let cleaned = clean(window);
    let is_whole = window.len() == text.len();
    match cleaned.char_indices().nth(limit) {
        None if is_whole => cleaned.trim().to_owned(),
        cut => {
            let kept = cut.map_or(cleaned.as_str(), |(end, _)| &cleaned[..end]);
            let left_out = text.chars().count().saturating_sub(limit);
            format!("{}... [truncated {left_out} chars]", kept.trim())
        }
    }
}

/// Cuts a clean text to `limit` characters, where that makes it shorter.
pub(crate) fn shorten(text: &mut String, limit: usize) {
    const ENDING: &str = "... [truncated]";
    if text.chars().nth(limit + ENDING.len()).is_some()
        && let Some((end, _)) = text.char_indices().nth(limit)
    {
        text.truncate(end);
        text.push_str(ENDING);
    }
}

fn blunt_our_tags(text: &str) -> String {
    let begins_tag = |rest: &str| {
        let name = rest.trim_start_matches(['/', ' ']);
        OUR_TAGS.iter().any(|tag| name.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)))
    };
    let mut blunted = String::with_capacity(text.len());
    let mut copied = 0;
    for (at, _) in text.match_indices('<') {
        if begins_tag(&text[at + 1..]) {
            blunted.push_str(&text[copied..at]);
            blunted.push('‹');
            copied = at + 1;
        }
    }
    blunted.push_str(&text[copied..]);
    blunted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_across_the_cut_does_not_show_its_first_half() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let text = format!("{} {secret} {}", "x".repeat(790), "y ".repeat(3_000));
        let cut = clean_cut(&text, 800);
        assert!(!cut.contains("ghp_"), "{cut}");
        assert!(cut.contains("[truncated "));
    }

    #[test]
    fn a_private_part_that_ends_behind_the_cut_is_left_out() {
        let text = format!("{} </private> after", "merger ".repeat(5_000));
        assert_eq!(clean_cut(&text, 800), "after");
    }

    #[test]
    fn a_short_text_is_not_cut() {
        assert_eq!(clean_cut(" short ", 800), "short");
        assert_eq!(clean_cut(&"a ".repeat(5), 9), "a a a a a");
        assert_eq!(clean_cut("abcdef", 4), "abcd... [truncated 2 chars]");
    }

    #[test]
    fn what_is_shortened_is_shorter() {
        let check = |text: &str, expected: &str| {
            let mut text = text.to_owned();
            shorten(&mut text, 4);
            assert_eq!(text, expected);
        };
        check("äöüß and many other letters", "äöüß... [truncated]");
        check("four and a bit more", "four and a bit more");
    }

    #[test]
    fn no_text_closes_our_tags() {
        assert_eq!(
            clean("a </transcript-slice> b < /Existing-Memory>"),
            "a ‹/transcript-slice> b ‹ /Existing-Memory>"
        );
        assert_eq!(clean("a <b> c"), "a <b> c");
    }
}
