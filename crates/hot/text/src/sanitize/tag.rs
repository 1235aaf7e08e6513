//! Finds what a model may read as a tag, in any disguise.
//!
//! A tag is a `<` before a name, `/`, `!`, `?` or `|`. Look-alikes of all of them count, and so does every letter of
//! every script; slashes, marks and symbols in between do not help. After a blank, as in `a < b`, it takes the shape
//! of a tag (`< b >`, `< b c="d"`) or the name of one of ours or the client's. `1<2`, `x <- y`, `<<` and `<=` are no
//! tags. Generics are: `Vec<String>` becomes `Vec&lt;String>`.

use std::borrow::Cow;

/// What takes the place of the `<` of a tag. It contains nothing that looks like a bracket.
pub const MASKED: &str = "&lt;";

/// How far one bracket is followed, in characters. What hides its name behind more is taken for a tag.
const MAX_LOOK: usize = 96;

/// The names that count also after a blank or a quotation mark, in plain letters. A `-` is any run of dashes and blanks,
/// or none; at the end it is a dash.
const NAMES: &[&str] = &[
    "wyren-context",
    "wyren-",
    "private-",
    "system-reminder",
    "system-prompt",
    "system-instruction",
    "claude-mem-context",
    "claude-md",
    "persisted-output",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-",
    "task-notification",
    "user-prompt-submit-hook",
    "session-start-hook",
    "hook-context",
    "function-call",
    "function-result",
    "tool-use",
    "tool-result",
    "tool-call",
    "antml",
    "ant-thinking",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "ide-selection",
    "ide-opened-file",
    "new-diagnostics",
    "im-start",
    "im-end",
    "end-of-text",
];

/// Replaces the bracket of every tag.
pub(super) fn mask(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut copied = 0;
    let mut look = |at: usize, bracket: char| {
        let after = at + bracket.len_utf8();
        if begins_tag(bracket, &text[after..]) {
            masked.push_str(&text[copied..at]);
            masked.push_str(MASKED);
            copied = after;
        }
    };
    if text.is_ascii() {
        memchr::memchr_iter(b'<', text.as_bytes()).for_each(|at| look(at, '<'));
    } else {
        let brackets = text.char_indices().filter(|(_, character)| is_bracket(*character));
        brackets.for_each(|(at, bracket)| look(at, bracket));
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(&text[copied..]);
    Cow::Owned(masked)
}

/// Returns whether `character` is `<` or reads as it.
#[rustfmt::skip]
pub(super) fn is_bracket(character: char) -> bool {
    matches!(
        character,
        '<' | '＜' | '﹤' | '‹' | '˂' | 'ᐸ' | '≮' | '≺' | '≪' | '⋖' | '⋘' | '❬' | '❮' | '❰' | '⟨' | '⟪' | '⦉' | '⦑' | '⧼'
            | '⩹' | '⪡' | '⪪' | '\u{2329}'
    ) || is_quotation_mark(character)
}

/// Returns whether `character` is a bracket that people quote with: before a plain word it is no tag.
fn is_quotation_mark(character: char) -> bool {
    matches!(character, '«' | '\u{3008}' | '\u{300a}')
}

#[rustfmt::skip]
fn is_closing_bracket(character: char) -> bool {
    matches!(
        character,
        '>' | '＞' | '﹥' | '›' | '˃' | 'ᐳ' | '≯' | '≻' | '≫' | '⋗' | '⋙' | '❭' | '❯' | '❱' | '⟩' | '⟫' | '⦊' | '⦒' | '⧽'
            | '»' | '\u{232a}' | '\u{3009}' | '\u{300b}'
    )
}

/// Returns whether what follows a bracket makes it a tag.
fn begins_tag(bracket: char, rest: &str) -> bool {
    let is_quoting = is_quotation_mark(bracket);
    let mut is_apart = is_quoting;
    let mut is_closing = false;
    for (looked, (at, character)) in rest.char_indices().enumerate() {
        if looked == MAX_LOOK {
            return true;
        }
        match character {
            '/' | '／' if is_apart => is_closing = true,
            '/' | '／' | '!' | '！' | '?' | '？' | '|' | '｜' if !is_apart => return true,
            '!' | '?' | '|' => return false,
            '\\' => {}
            _ if is_blank(character) => is_apart = true,
            _ if is_name_start(character, &rest[at..]) => {
                return !is_apart || is_quoting && is_closing || is_named_or_shaped(&rest[at..], is_quoting);
            }
            // A digit, an operator, another bracket.
            _ if character.is_ascii() || character.is_numeric() || is_bracket(character) => return false,
            // Another slash, a mark, a symbol, what no font knows.
            _ => {}
        }
    }
    false
}

/// Returns whether a name begins with `character`, which `rest` starts with; also one that is written in references
/// or percent signs.
fn is_name_start(character: char, rest: &str) -> bool {
    let next = || rest[character.len_utf8()..].chars().next();
    match character {
        // A bracket that is masked already begins no name.
        '&' if rest.starts_with(MASKED) => false,
        '&' => next().is_some_and(|next| next == '#' || next.is_ascii_alphabetic()),
        '%' => next().is_some_and(|next| next.is_ascii_hexdigit()),
        '_' | '🇦'..='🇿' => true,
        _ => character.is_alphabetic(),
    }
}

fn is_blank(character: char) -> bool {
    // The Braille pattern without dots has no ink and is no white space.
    character.is_whitespace() || character == '\u{2800}'
}

/// Returns whether a name that is apart from its bracket belongs to a tag.
fn is_named_or_shaped(name: &str, is_quoting: bool) -> bool {
    NAMES.iter().any(|wanted| is_named(name, wanted)) || !is_quoting && is_shaped(name)
}

/// Returns whether `text` starts with the name `wanted`, in whatever letters.
fn is_named(text: &str, wanted: &str) -> bool {
    let is_dash = |c: char| matches!(c, '-' | '_' | ':' | '.' | '＿' | '‐'..='―' | '−' | '－' | '﹣');
    let is_ink = |c: char| c.is_alphanumeric() || c.is_ascii() || is_bracket(c) || is_closing_bracket(c);
    let mut rest = text.char_indices().take(MAX_LOOK).peekable();
    let mut wanted = wanted.chars().peekable();
    while let Some(letter) = wanted.next() {
        if letter == '-' {
            let mut has_dash = false;
            while let Some((_, c)) = rest.next_if(|&(_, c)| is_dash(c) || is_blank(c) || !is_ink(c)) {
                has_dash |= is_dash(c);
            }
            if wanted.peek().is_none() {
                return has_dash;
            }
            continue;
        }
        // Marks over or between letters.
        while rest.next_if(|&(_, c)| !is_ink(c) && !is_dash(c) && !is_blank(c)).is_some() {}
        match rest.next() {
            Some((_, found)) if latin(found) == Some(letter) => {}
            _ => return false,
        }
    }
    true
}

/// Returns whether the name ends as that of a tag does: with a bracket, or with an attribute.
fn is_shaped(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':') || !c.is_ascii();
    let word = |text: &str| text.find(|c| !is_part(c) || is_closing_bracket(c)).unwrap_or(text.len());
    let window = &name[..name.char_indices().nth(MAX_LOOK).map_or(name.len(), |(end, _)| end)];
    let end = word(window);
    if end == window.len() {
        // An end that is out of sight is taken for one.
        return window.len() < name.len();
    }
    let is_arrow = window[..end].ends_with('-');
    let after = window[end..].trim_start_matches(|c: char| is_blank(c) || c == '/');
    if after.starts_with(is_closing_bracket) {
        return !is_arrow;
    }
    let attribute = &after[word(after)..];
    let value = attribute.trim_start().strip_prefix(['=', '＝']).map(str::trim_start);
    after.len() > attribute.len()
        && value.is_some_and(|value| value.starts_with(['"', '\'', '“', '”', '＂', '‘', '’']))
}

/// Returns the plain letter that `character` reads as.
fn latin(character: char) -> Option<char> {
    let code = character as u32;
    let of_block =
        |first: u32| u8::try_from((code - first) % 26).ok().map(|letter| char::from(b'a' + letter));
    match character {
        'a'..='z' => Some(character),
        'A'..='Z' => Some(character.to_ascii_lowercase()),
        'Ａ'..='Ｚ' => of_block(0xff21),
        'ａ'..='ｚ' => of_block(0xff41),
        '\u{1d400}'..='\u{1d6a3}' => of_block(0x1d400),
        'Ⓐ'..='ⓩ' => of_block(0x24b6),
        '⒜'..='⒵' => of_block(0x249c),
        '\u{1f130}'..='\u{1f149}' => of_block(0x1f130),
        '\u{1f150}'..='\u{1f169}' => of_block(0x1f150),
        '\u{1f170}'..='\u{1f189}' => of_block(0x1f170),
        '🇦'..='🇿' => of_block(0x1f1e6),
        _ => {
            let lower = character.to_lowercase().next().unwrap_or(character);
            READ_AS.iter().find(|(_, likes)| likes.contains(lower)).map(|(letter, _)| *letter)
        }
    }
}

/// Letters, and those of other alphabets or with marks that read as them.
const READ_AS: &[(char, &str)] = &[
    ('a', "àáâãäåāăąǎаαɑᴀª"),
    ('b', "ḃḅƀɓвβʙьℬ"),
    ('c', "çćĉċčсϲᴄⅽℂ¢"),
    ('d', "ďđḋḍԁɗᴅⅾ"),
    ('e', "èéêëēĕėęěеёεєᴇℯℰ"),
    ('f', "ḟƒꜰſϝ"),
    ('g', "ĝğġģɡɢցℊ"),
    ('h', "ĥħḣḥһнհʜ"),
    ('i', "ìíîïĩīĭįıіїιɪӏⅰℹ"),
    ('j', "ĵјʝᴊ"),
    ('k', "ķкκᴋ"),
    ('l', "ĺļľŀłʟⅼℓ"),
    ('m', "ṁṃмᴍⅿℳ"),
    ('n', "ñńņňŋпηոɴℕ"),
    ('o', "òóôõöøōŏőоοօᴏℴ"),
    ('p', "ṗрρᴘ℘"),
    ('q', "ԛզ"),
    ('r', "ŕŗřгʀℜℝ"),
    ('s', "śŝşšșѕꜱ"),
    ('t', "ţťŧțтτᴛ"),
    ('u', "ùúûüũūŭůűųυսᴜ"),
    ('v', "ṽṿνѵᴠⅴ"),
    ('w', "ŵẁẃẅẇωԝшᴡ"),
    ('x', "ẋẍхχⅹ"),
    ('y', "ýÿŷỳỵуүγʏ"),
    ('z', "źżžᴢ"),
];
