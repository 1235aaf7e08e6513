//! After forgetting, no word of a removed document is on disk.

use crate::{Shelf, document};
use std::fs;

/// Says whether a term is in the index, or its end is in a file: terms are stored without what they share with the one before.
fn is_on_disk(shelf: &Shelf, word: &str) -> bool {
    let mut is_term = false;
    shelf.index().each_term(|term| is_term |= term.contains(word));
    let end = &word.as_bytes()[word.len() - 6..];
    let in_file = fs::read_dir(shelf.folder.path()).unwrap().any(|file| {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        bytes.windows(end.len()).any(|window| window == end)
    });
    is_term || in_file
}

#[test]
fn words_of_removed_documents_are_in_no_file_after_a_purge() {
    let mut shelf = Shelf::new();
    shelf.put((0..50).map(|number| document(&number.to_string(), "ordinary words about nothing")));
    shelf.put([document("secret", "the codename is Zyxwvutsrqp")]);
    shelf.tidy();
    assert!(is_on_disk(&shelf, "zyxwvutsrqp"));
    shelf.remove("secret");
    assert!(shelf.find("zyxwvutsrqp").is_empty());
    shelf.writer.purge().unwrap();
    assert!(!is_on_disk(&shelf, "zyxwvutsrqp"));
    assert_eq!(shelf.find("ordinary").len(), 50);
}

#[test]
fn names_and_paths_of_removed_documents_are_in_no_file_after_a_purge() {
    let mut shelf = Shelf::of(&["ordinary words"]);
    shelf.put([search::Document {
        author: "Qwertzuiopa".into(),
        branch: "feature/asdfghjkloe".into(),
        files: vec!["src/yxcvbnmlkj.rs".into()],
        ..document("plokijuhzgt", "text")
    }]);
    let planted = ["Qwertzuiopa", "asdfghjkloe", "yxcvbnmlkj", "plokijuhzgt"];
    assert!(planted.iter().all(|word| is_on_disk(&shelf, word)));
    shelf.remove("plokijuhzgt");
    shelf.writer.purge().unwrap();
    for word in planted {
        assert!(!is_on_disk(&shelf, word), "{word}");
    }
}

#[test]
fn words_of_replaced_documents_are_gone_as_well() {
    let mut shelf = Shelf::of(&["Zyxwvutsrqp", "other"]);
    shelf.put([document("a", "redacted")]);
    shelf.writer.purge().unwrap();
    assert!(!is_on_disk(&shelf, "zyxwvutsrqp"));
    assert_eq!(shelf.find("redacted"), ["a"]);
}

#[test]
fn nothing_is_left_when_the_last_document_goes() {
    let mut shelf = Shelf::of(&["Zyxwvutsrqp"]);
    shelf.remove("a");
    shelf.writer.purge().unwrap();
    assert!(!is_on_disk(&shelf, "zyxwvutsrqp"));
    shelf.put([document("b", "new")]);
    assert_eq!(shelf.find("new"), ["b"]);
    shelf.writer.clear().unwrap();
    assert!(shelf.index().is_empty());
}
