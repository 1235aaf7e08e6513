//! Patterns in which `*` fits any text: words of commands and names of files use the same search.

/// Returns whether `pattern` fits all of `text`. `one` returns how much of a pattern without a leading star one byte of
/// the text takes, if it fits.
///
/// Works without recursion: on a mismatch the last star takes one byte more, so the product of the lengths bounds the
/// cost.
pub(crate) fn fits(pattern: &[u8], text: &[u8], one: impl Fn(&[u8], u8) -> Option<usize>) -> bool {
    let (mut at, mut in_text) = (0, 0);
    let mut star = None;
    loop {
        if pattern.get(at) == Some(&b'*') {
            at += 1;
            star = Some((at, in_text));
            continue;
        }
        let step = text.get(in_text).and_then(|byte| one(&pattern[at..], *byte));
        if let Some(length) = step {
            at += length;
            in_text += 1;
        } else if at == pattern.len() && in_text == text.len() {
            return true;
        } else if let Some((after, reached)) = star
            && reached < text.len()
        {
            star = Some((after, reached + 1));
            (at, in_text) = (after, reached + 1);
        } else {
            return false;
        }
    }
}
