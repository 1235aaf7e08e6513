//! Names of lessons: words of `a-z 0-9` with dashes between them, since they are names of files and of claims.

use base::digest;

/// The most characters of a name that is made from a summary.
const MADE_CHARS: usize = 48;
/// The most characters of any name: claims take no more.
pub const MAX_CHARS: usize = 100;

/// Says whether a text can name a lesson.
pub fn is_valid(slug: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !slug.is_empty()
        && slug.len() <= MAX_CHARS
        && slug.bytes().all(is_plain)
        && !slug.starts_with('-')
        && !slug.ends_with('-')
}

/// Returns a name for a lesson from its summary; one that has no Latin letters gets a name from its digest.
pub fn of(summary: &str) -> String {
    let mut slug = String::new();
    for word in
        summary.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
    {
        if slug.len() + word.len() >= MADE_CHARS {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    let foreign =
        summary.chars().filter(|character| character.is_alphabetic() && !character.is_ascii()).count();
    // A few stray letters of a text in another script name nothing.
    if slug.len() < 4 || foreign > slug.len() {
        return format!("lesson-{}", &digest::short_hex(summary.as_bytes())[..8]);
    }
    slug
}

/// Returns `slug`, or `slug-2` and so on until it is free.
pub fn free(slug: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(slug) {
        return slug.to_owned();
    }
    let numbered = (2_u32..).map(|number| format!("{slug}-{number}"));
    numbered.into_iter().find(|slug| !is_taken(slug)).unwrap_or_default()
}

/// Returns the name that a lesson of another system gets here: its own where that is fit for a file.
pub fn imported(slug: &str, summary: &str) -> String {
    if is_valid(slug) { slug.to_owned() } else { of(if slug.is_empty() { summary } else { slug }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_makes_a_name() {
        assert_eq!(of("git stash leaves untracked files behind"), "git-stash-leaves-untracked-files-behind");
        assert_eq!(of("`rm -rf /`: don't"), "rm-rf-don-t");
        assert_eq!(of(&"word ".repeat(30)).len(), 44);
        assert!(is_valid(&of("日本語の要約 git")) && of("日本語の要約 git").starts_with("lesson-"));
        assert_ne!(of("日本語"), of("中文"));
    }

    #[test]
    fn no_name_leaves_its_folder() {
        for hostile in ["../x", "a/b", "", "-rf", ".hidden", "A", "a b", "x\0"] {
            assert!(!is_valid(hostile), "{hostile:?}");
            assert!(is_valid(&imported(hostile, "a summary of it")), "{hostile:?}");
        }
        assert_eq!(imported("old-slug-1a2b", ""), "old-slug-1a2b");
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        assert_eq!(free("a", |slug| slug == "a" || slug == "a-2"), "a-3");
        assert_eq!(free("b", |slug| slug == "a"), "b");
    }
}
