//! Globs over folders, as the old systems write them: `*` stays within a name, `**` does not, `?` is one character.

use crate::system;
use std::path::{MAIN_SEPARATOR, Path};

/// Returns whether `pattern` matches the folder or its last name; a leading `~` means `home`.
pub fn fits_folder(pattern: &str, folder: &Path, home: Option<&Path>) -> bool {
    let expanded = match (pattern.strip_prefix('~'), home.and_then(Path::to_str)) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with(['/', MAIN_SEPARATOR]) => {
            format!("{home}{rest}")
        }
        _ => pattern.to_owned(),
    };
    let (pattern, text) = (system::comparable(&expanded), folder.to_string_lossy());
    let (pattern, text) = (pattern.trim_end_matches('/'), system::comparable(&text));
    let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    fits(pattern.as_bytes(), text.trim_end_matches('/').as_bytes())
        || fits(pattern.as_bytes(), system::comparable(&name).as_bytes())
}

/// Matches without recursion: on a mismatch the last star takes one more byte, so the cost is bounded by the product of
/// the lengths.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut in_text) = (0, 0);
    // The last `*` and the last `**`, each with the place in the text up to which it reaches.
    let (mut star, mut double_star) = (None, None);
    loop {
        if pattern[at..].starts_with(b"**") {
            at += 2;
            double_star = Some((at, in_text));
            star = None;
        } else if pattern.get(at) == Some(&b'*') {
            at += 1;
            star = Some((at, in_text));
        } else if in_text < text.len()
            && pattern
                .get(at)
                .is_some_and(|byte| *byte == text[in_text] || (*byte == b'?' && text[in_text] != b'/'))
        {
            at += 1;
            in_text += 1;
        } else if at == pattern.len() && in_text == text.len() {
            return true;
        } else if let Some((after, reached)) = star
            && reached < text.len()
            && text[reached] != b'/'
        {
            star = Some((after, reached + 1));
            (at, in_text) = (after, reached + 1);
        } else if let Some((after, reached)) = double_star
            && reached < text.len()
        {
            double_star = Some((after, reached + 1));
            star = None;
            (at, in_text) = (after, reached + 1);
        } else {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, folder: &str, expected: bool) {
        let home = Path::new("/home/ada");
        assert_eq!(fits_folder(pattern, Path::new(folder), Some(home)), expected, "{pattern} on {folder}");
    }

    #[test]
    fn stars_stay_within_a_name_and_double_stars_do_not() {
        check("/srv/*", "/srv/app", true);
        check("/srv/*", "/srv/app/src", false);
        check("/srv/**", "/srv/app/src", true);
        check("/srv/*/src", "/srv/app/src", true);
        check("/srv/**/deep/*", "/srv/a/b/deep/c", true);
        check("/srv/**/deep/*", "/srv/a/b/deep/c/d", false);
        check("/s?v", "/srv", true);
        check("/s?v", "/s/v", false);
    }

    #[test]
    fn a_name_alone_fits_the_last_name() {
        check("secret", "/home/ada/secret", true);
        check("*secret*", "/home/ada/my-secret-app", true);
        check("secret", "/home/ada/secret/below", false);
    }

    #[test]
    fn the_tilde_is_the_home() {
        check("~/clients/**", "/home/ada/clients/a/b", true);
        check("~", "/home/ada", true);
        check("~ada", "/home/ada", false);
        check("~/x", "/home/bob/x", false);
    }

    #[test]
    fn a_hostile_pattern_ends() {
        check(&"*a".repeat(30), &format!("/{}b", "a".repeat(200)), false);
        check(&"**a".repeat(30), &format!("/{}b", "a".repeat(500)), false);
    }
}
