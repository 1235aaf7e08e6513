//! Keeps a text within what the client takes.

use crate::MAX_TEXT_UNITS;

/// Returns `text`, cut at a line boundary when it has more than [`MAX_TEXT_UNITS`]; `note` then says where the
/// rest is.
pub(crate) fn fit(text: String, note: impl FnOnce(&str) -> String) -> String {
    // A UTF-8 byte is at most one UTF-16 unit, so short texts need no counting.
    if text.len() <= MAX_TEXT_UNITS || text.encode_utf16().count() <= MAX_TEXT_UNITS {
        return text;
    }
    let mut note = note(&text);
    // The note is ours and short; a caller's over-long pointer must not defeat the cap.
    if note.encode_utf16().count() > MAX_TEXT_UNITS / 4 {
        note = "[cut]".to_owned();
    }
    let room = MAX_TEXT_UNITS - note.encode_utf16().count() - 1;
    let mut units = 0;
    let fitting = text.char_indices().find(|(_, character)| {
        units += character.len_utf16();
        units > room
    });
    let end = fitting.map_or(text.len(), |(at, _)| at);
    // A line boundary, unless the text is one endless line.
    let end = text[..end].rfind('\n').filter(|line_end| *line_end > end / 2).unwrap_or(end);
    format!("{}\n{note}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> String {
        fit(text.to_owned(), |_| "[the rest: wyren log]".to_owned())
    }

    #[test]
    fn a_short_text_stays_as_it_is() {
        let text = "é".repeat(MAX_TEXT_UNITS);
        assert_eq!(cut(&text), text);
    }

    #[test]
    fn a_long_text_is_cut_at_a_line_and_says_where_the_rest_is() {
        let text = "0123456789\n".repeat(2_000);
        let cut = cut(&text);
        assert!(cut.encode_utf16().count() <= MAX_TEXT_UNITS);
        assert!(cut.ends_with("0123456789\n[the rest: wyren log]"));
    }

    #[test]
    fn astral_characters_count_twice_and_one_endless_line_is_cut_anywhere() {
        let cut = cut(&"🦀".repeat(MAX_TEXT_UNITS));
        let units = cut.encode_utf16().count();
        assert!((MAX_TEXT_UNITS - 2..=MAX_TEXT_UNITS).contains(&units), "{units}");
    }

    #[test]
    fn an_endless_note_does_not_defeat_the_cap() {
        let cut = fit("x\n".repeat(20_000), |_| "y".repeat(20_000));
        assert!(cut.encode_utf16().count() <= MAX_TEXT_UNITS);
    }
}
