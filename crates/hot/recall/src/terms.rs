//! The words of titles and prompts that entries are found by.

/// The shortest name of a file or from code that is enough by itself, in bytes.
pub(crate) const MIN_NAME: usize = 6;
/// The shortest word that counts, in bytes.
const MIN_WORD: usize = 5;

/// Words of so many titles and prompts that two of them in common mean nothing, however small the journal is.
const COMMON: &[&str] = &[
    "about", "added", "after", "again", "asked", "before", "being", "branch", "build", "builds", "cargo",
    "change", "changed", "changes", "check", "checks", "commit", "could", "error", "errors", "every",
    "failed", "fails", "files", "first", "fixed", "fixes", "found", "function", "instead", "issue", "lines",
    "little", "makes", "never", "other", "passed", "passes", "please", "problem", "project", "reads",
    "removed", "returns", "right", "should", "still", "tests", "there", "these", "thing", "think", "times",
    "twice", "update", "updated", "using", "value", "wants", "where", "which", "while", "without", "works",
    "would", "write", "writes", "wrong",
];

/// Returns the runs of a text that may be names: letters, digits and what is inside of paths and names in code.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_inside = |character: char| character.is_alphanumeric() || "_./\\-:".contains(character);
    text.split(move |character| !is_inside(character)).map(trimmed).filter(|token| !token.is_empty())
}

/// Takes off what a sentence puts around a name, and the line of a file (`auth.rs:42`).
fn trimmed(token: &str) -> &str {
    let token = token.trim_end_matches(['.', ':', '-', '/', '\\']).trim_start_matches(['-', ':']);
    let token = token.strip_prefix("./").unwrap_or(token);
    match token.rsplit_once(':') {
        Some((name, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => trimmed(name),
        _ => token,
    }
}

/// Returns the names from code in a token: `verify_token`, `auth::verify_token`, `verifyToken`.
pub(crate) fn names(token: &str) -> impl Iterator<Item = &str> {
    let parts = token.split("::").flat_map(|part| part.split(['.', '/', '\\', '-', ':']));
    parts.filter(|part| part.len() >= MIN_NAME && is_from_code(part))
}

fn is_from_code(name: &str) -> bool {
    let letters = || name.chars().zip(name.chars().skip(1));
    let is_plain = name.chars().all(|character| character.is_alphanumeric() || character == '_');
    let has_hump = letters().any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    is_plain && (has_hump || name.trim_matches('_').contains('_'))
}

/// Returns the words of a token that say something, in lower case.
pub(crate) fn words(token: &str) -> impl Iterator<Item = String> {
    token.split(|character: char| !character.is_alphanumeric()).filter_map(|word| {
        let word = word.to_lowercase();
        let is_telling = word.len() >= MIN_WORD
            && !word.bytes().all(|byte| byte.is_ascii_digit())
            && COMMON.binary_search(&word.as_str()).is_err();
        is_telling.then_some(word)
    })
}

/// Returns the last part of a path, if it is long enough to be a name by itself.
pub(crate) fn base_name(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).next().filter(|name| name.len() >= MIN_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_sorted() {
        assert!(COMMON.is_sorted(), "{COMMON:?}");
    }

    #[test]
    fn names_are_found_in_a_sentence() {
        let found: Vec<&str> =
            tokens("Why does `./src/auth.rs:42` call auth::verify_token(x)? See README.").collect();
        assert_eq!(found, ["Why", "does", "src/auth.rs", "call", "auth::verify_token", "x", "See", "README"]);
        let names = |text| tokens(text).flat_map(names).collect::<Vec<_>>();
        assert_eq!(
            names("auth::verify_token and verifyToken, not verifying or a_b"),
            ["verify_token", "verifyToken"]
        );
        let words = |text| tokens(text).flat_map(words).collect::<Vec<_>>();
        assert_eq!(words("The expiry of Tokens failed 12345 times"), ["expiry", "tokens"]);
        assert_eq!(base_name("src/auth.rs"), Some("auth.rs"));
    }
}
