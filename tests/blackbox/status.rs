//! `docs/status.md` and `docs/reliability.md` name the test behind each promise: a renamed test must not leave a promise without
//! one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Returns the identifiers that follow `keyword` in Rust sources.
fn declared(source: &str, keyword: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut names = BTreeSet::new();
    for (at, _) in source.match_indices(keyword) {
        let name: String = source[at + keyword.len()..].chars().take_while(|next| is_part(*next)).collect();
        names.insert(name);
    }
    names
}

/// Returns the tests and modules that a page names in backticks as `module::name`; one cut short ends in `…`.
fn named(page: &str) -> Vec<&str> {
    let quoted = page.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let paths = quoted.filter(|text| text.contains("::") && !text.contains("--"));
    paths.filter_map(|path| path.rsplit("::").next()).filter(|name| *name != "*").collect()
}

fn missing<'a>(page: &'a str, source: &str) -> Vec<&'a str> {
    let names: BTreeSet<String> =
        ["fn ", "mod "].into_iter().flat_map(|word| declared(source, word)).collect();
    let exists = |name: &str| match name.strip_suffix('…') {
        Some(start) => names.iter().any(|other| other.starts_with(start)),
        None => names.contains(name),
    };
    named(page).into_iter().filter(|name| !exists(name)).collect()
}

#[test]
fn every_test_that_the_pages_name_exists() -> Result<()> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let listed = Command::new("git").args(["ls-files", "-z", "*.rs"]).current_dir(root).output()?;
    ensure!(listed.status.success(), "git ls-files failed");
    let mut source = String::new();
    for path in String::from_utf8(listed.stdout)?.split('\0').filter(|path| !path.is_empty()) {
        source += &fs::read_to_string(root.join(path)).with_context(|| path.to_owned())?;
    }
    for page in ["docs/status.md", "docs/reliability.md"] {
        let text = fs::read_to_string(root.join(page))?;
        ensure!(named(&text).len() > 50, "{page} names hardly any test");
        assert_eq!(missing(&text, &source), Vec::<&str>::new(), "{page}");
    }
    Ok(())
}

#[test]
fn a_test_that_is_gone_is_noticed() {
    let source = "mod drain { #[test] fn a_line_is_stored_once() {} }";
    let page = "| a | `drain::a_line_is_stored_once`, `drain::a_line_…`, `drain::*`, `cli::drain` |\n";
    assert_eq!(missing(page, source), Vec::<&str>::new());
    assert_eq!(missing("`drain::a_line_is_kept`, `cli::kept…`", source), ["a_line_is_kept", "kept…"]);
}
