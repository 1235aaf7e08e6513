//! Words that stay out of sources, docs, commands, skills and lessons. ARCHITECTURE.md has the glossary of those that are in.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Words and phrases that are out, in lower case, with what to write instead. A phrase also matches across line breaks,
/// hyphens and underscores, so names in code count.
const OUT: [(&str, &str); 21] = [
    ("nobody", "name the program or person, or use the passive"),
    ("somebody", "name the program or person"),
    ("whoever", "name the program or person"),
    ("is told", "gets, receives, is shown"),
    ("are told", "get, receive, are shown"),
    ("was told", "got, received, was shown"),
    ("were told", "got, received, were shown"),
    ("is said", "is shown, is printed"),
    ("are said", "are shown, are printed"),
    ("was said", "was shown, was printed"),
    ("were said", "were shown, were printed"),
    ("what came of", "the result of"),
    ("what comes of", "the result of"),
    ("stands", "is"),
    ("stood", "was"),
    ("distil", "distill"),
    ("distils", "distills"),
    ("node system", "the Node version"),
    ("node systems", "the Node version"),
    ("node wyren", "the Node version"),
    ("node wyrens", "the Node version"),
];

/// File extensions that are checked.
const EXTENSIONS: [&str; 5] = ["md", "rs", "txt", "json", "toml"];

/// Data, by the beginning of its path: conversations, payloads and answers that are as they were recorded.
const DATA: [&str; 1] = ["tests/data/"];

/// This file, which has to name the words.
const OWN: &str = "tests/blackbox/words.rs";

/// Exceptions: a path, a word in it, and the reason. One that matches nothing any more fails the test.
const ALLOWED: [(&str, &str, &str); 3] = [
    ("crates/cold/language/phrases/journal.txt", "nobody", "a word that denies"),
    ("crates/cold/language/phrases/people.txt", "nobody", "what people say in conversations"),
    ("crates/cold/search/src/index/common.rs", "somebody", "a word that people ask with"),
];

#[derive(Debug, PartialEq)]
struct Finding {
    path: String,
    line: usize,
    word: &'static str,
}

/// Splits a text into lower-case words, each with its line and whether only spacing separates it from the one before.
fn words(text: &str) -> Vec<(String, usize, bool)> {
    let mut words = Vec::new();
    let (mut word, mut line, mut is_joined) = (String::new(), 1, true);
    for character in text.chars().chain([' ']) {
        if character.is_alphabetic() {
            word.extend(character.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push((std::mem::take(&mut word), line, is_joined));
            is_joined = true;
        }
        // Between the words of a phrase: spaces, line breaks with comment marks, and what joins words to names.
        is_joined &= character.is_whitespace() || "_-/!".contains(character);
        line += usize::from(character == '\n');
    }
    words
}

fn findings(path: &str, text: &str) -> Vec<Finding> {
    let words = words(text);
    let begins = |at: usize, phrase: &str| {
        phrase.split(' ').enumerate().all(|(index, wanted)| {
            words
                .get(at + index)
                .is_some_and(|(word, _, is_joined)| word == wanted && (index == 0 || *is_joined))
        })
    };
    let mut found = Vec::new();
    for (at, (_, line, _)) in words.iter().enumerate() {
        let out = OUT.iter().filter(|(phrase, _)| begins(at, phrase));
        found.extend(out.map(|(word, _)| Finding { path: path.to_owned(), line: *line, word }));
    }
    found
}

/// Returns the findings in `files`, relative to `root`; those below `left_out` are not checked.
fn check(root: &Path, files: &[&str], left_out: &[&str]) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    for path in files {
        let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
        let is_checked = !left_out.iter().any(|prefix| path.starts_with(prefix))
            && extension.is_some_and(|extension| EXTENSIONS.contains(&extension));
        if is_checked && root.join(path).is_file() {
            let text =
                fs::read_to_string(root.join(path)).with_context(|| format!("could not read {path}"))?;
            found.extend(findings(path, &text));
        }
    }
    Ok(found)
}

#[test]
fn sources_and_docs_use_plain_words() -> Result<()> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output()?;
    ensure!(listed.status.success(), "git ls-files failed");
    let listed = String::from_utf8(listed.stdout)?;
    let files: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
    let found = check(root, &files, &[&DATA[..], &[OWN]].concat())?;
    let is_allowed = |finding: &&Finding, (path, word, _): &(&str, &str, &str)| {
        finding.path == *path && finding.word == *word
    };
    for allowed in &ALLOWED {
        assert!(found.iter().any(|finding| is_allowed(&finding, allowed)), "no longer needed: {allowed:?}");
    }
    let out: Vec<String> = found
        .iter()
        .filter(|finding| !ALLOWED.iter().any(|allowed| is_allowed(finding, allowed)))
        .map(|Finding { path, line, word }| {
            let instead = OUT.iter().find(|(out, _)| out == word).map_or("", |(_, instead)| instead);
            format!("{path}:{line}: \"{word}\"; write: {instead}")
        })
        .collect();
    assert!(out.is_empty(), "{}", out.join("\n"));
    Ok(())
}

#[test]
fn a_planted_word_is_found_and_its_harmless_neighbours_are_not() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    let planted =
        "//! What a session\n//! is told.\nfn what_came_of_it() {}\n// Nobody distils like the Node-Wyren.\n";
    let harmless = "standard, understood, stand-alone, `is`: told, distilled, distiller, Node.js, nobodys";
    fs::create_dir_all(root.join("src"))?;
    fs::write(root.join("src/planted.rs"), planted)?;
    fs::write(root.join("src/harmless.md"), harmless)?;
    fs::write(root.join("src/image.png"), "nobody")?;
    fs::write(root.join("other.md"), "nobody")?;
    let files = ["src/planted.rs", "src/harmless.md", "src/image.png", "other.md", "src/gone.md"];
    let found = check(root, &files, &["other"])?;
    let found: Vec<(&str, usize, &str)> =
        found.iter().map(|finding| (&*finding.path, finding.line, finding.word)).collect();
    let expected = [(2, "is told"), (3, "what came of"), (4, "nobody"), (4, "distils"), (4, "node wyren")];
    assert_eq!(found, expected.map(|(line, word)| ("src/planted.rs", line, word)));
    Ok(())
}
