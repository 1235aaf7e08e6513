//! Adding, replacing and removing.

use crate::{Shelf, document, open};
use proptest::collection::vec;
use proptest::prelude::*;
use search::index::{Change, Error, Index, Writer};
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn a_document_replaces_the_one_with_its_key() {
    let mut shelf = Shelf::of(&["old words"]);
    shelf.put([document("a", "new words")]);
    assert_eq!(shelf.find("new"), ["a"]);
    assert!(shelf.find("old").is_empty());
    assert_eq!(shelf.index().len(), 1);
    shelf.remove("a");
    assert!(shelf.find("new").is_empty());
    assert!(shelf.index().is_empty());
    shelf.put([document("a", "again")]);
    assert_eq!(shelf.find("again"), ["a"]);
}

#[test]
fn of_several_changes_of_one_key_the_last_counts() {
    let mut shelf = Shelf::new();
    let changes = [
        Change::Put(document("a", "first")),
        Change::Put(document("a", "second")),
        Change::Put(document("b", "third")),
        Change::Remove("b".into()),
    ];
    shelf.writer.apply(changes, "mark").unwrap();
    assert_eq!(shelf.find("second"), ["a"]);
    assert!(shelf.find("first third").is_empty());
}

#[test]
fn the_mark_is_kept_with_the_changes() {
    let mut shelf = Shelf::new();
    assert_eq!(shelf.index().mark(), "");
    shelf.writer.apply([], "42").unwrap();
    assert_eq!(shelf.index().mark(), "42");
    shelf.writer.clear().unwrap();
    assert_eq!(shelf.index().mark(), "");
}

#[test]
fn a_reader_keeps_what_it_opened_while_a_writer_changes_it() {
    let mut shelf = Shelf::of(&["old words"]);
    let before = shelf.index();
    shelf.put([document("a", "new words")]);
    shelf.writer.purge().unwrap();
    let keys: Vec<_> = before.search(&crate::query("old")).hits.into_iter().map(|hit| hit.key).collect();
    assert_eq!(keys, ["a"]);
}

#[test]
fn one_process_writes_at_a_time() {
    let shelf = Shelf::of(&["words"]);
    let second = Writer::open(shelf.folder.path(), Duration::ZERO);
    assert!(matches!(second, Err(Error::Busy)));
}

#[test]
fn many_small_changes_leave_few_files() {
    let mut shelf = Shelf::new();
    for number in 0..300 {
        shelf.put([document(&number.to_string(), "words")]);
    }
    let files = std::fs::read_dir(shelf.folder.path()).unwrap().count();
    assert!(files < 30, "{files}");
    assert_eq!(shelf.index().len(), 300);
}

#[test]
fn small_parts_are_merged_as_far_as_there_is_time() {
    let mut shelf = Shelf::new();
    for part in 0..12 {
        shelf.put((0..2_500).map(|number| document(&format!("{part}-{number}"), "words")));
    }
    let files = || std::fs::read_dir(shelf.folder.path()).unwrap().count();
    let before = files();
    assert!(!shelf.index().is_tidy());
    shelf.writer.tidy_within(Duration::ZERO).unwrap();
    assert_eq!(files(), before);
    shelf.writer.tidy_within(Duration::from_secs(3_600)).unwrap();
    let files = std::fs::read_dir(shelf.folder.path()).unwrap().count();
    assert!(files < 6 && before > 10, "{before} files, then {files}");
    assert!(shelf.index().is_tidy());
    assert_eq!(shelf.index().len(), 30_000);
}

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<(u8, Vec<u8>)>),
    Remove(u8),
    Tidy,
    Purge,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => vec((0..40_u8, vec(0..12_u8, 0..8)), 0..12).prop_map(Step::Put),
        2 => (0..40_u8).prop_map(Step::Remove),
        1 => Just(Step::Tidy),
        1 => Just(Step::Purge),
        1 => Just(Step::Reopen),
    ]
}

const WORDS: [&str; 12] =
    ["alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_was_done_each_word_finds_the_documents_that_have_it(steps in vec(step(), 1..30)) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = open(folder.path());
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(documents) => {
                    let documents: Vec<_> = documents
                        .into_iter()
                        .map(|(key, words)| (key.to_string(), words.iter().map(|word| WORDS[usize::from(*word)]).collect::<Vec<_>>().join(" ")))
                        .collect();
                    writer.apply(documents.iter().map(|(key, text)| Change::Put(document(key, text))), "put").unwrap();
                    texts.extend(documents);
                }
                Step::Remove(key) => {
                    writer.apply([Change::Remove(key.to_string())], "removed").unwrap();
                    texts.remove(&key.to_string());
                }
                Step::Tidy => while !writer.tidy(Duration::MAX).unwrap() {},
                Step::Purge => writer.purge().unwrap(),
                Step::Reopen => {
                    drop(writer);
                    writer = open(folder.path());
                }
            }
        }
        let index = Index::open(folder.path()).unwrap();
        prop_assert_eq!(index.len(), texts.len());
        for word in WORDS {
            let mut found: Vec<String> = index.search(&crate::query(&format!("{word} "))).hits.into_iter().map(|hit| hit.key).collect();
            found.sort();
            let expected: Vec<&String> =
                texts.iter().filter(|(_, text)| text.split(' ').any(|other| other == word)).map(|(key, _)| key).collect();
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{}", word);
        }
    }
}
