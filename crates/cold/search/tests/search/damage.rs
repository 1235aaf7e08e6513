//! Files that are damaged, missing or of another version.

use crate::{Shelf, document, open, query};
use proptest::prelude::*;
use search::index::{Error, Index};
use std::fs;
use std::path::PathBuf;

fn files(shelf: &Shelf) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(shelf.folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn with_ending(shelf: &Shelf, ending: &str) -> PathBuf {
    files(shelf).into_iter().find(|path| path.extension().is_some_and(|found| found == ending)).unwrap()
}

fn shelf() -> Shelf {
    let mut shelf = Shelf::new();
    let text = |number: usize| format!("verifyToken number {number}\nFehlerbehandlung src/auth.rs 数据库");
    shelf.put((0..300).map(|number| document(&number.to_string(), &text(number))));
    shelf.remove("7");
    shelf
}

/// Asks an index that may be damaged; it may find less, but has to answer.
fn ask(index: &Index) {
    for question in ["verifyToken number", "behandlung", "数据", "tok", "12", "the"] {
        index.search(&query(question));
    }
    index.nearest("verifitoken");
    index.each_term(|_| {});
}

#[test]
fn an_index_of_another_version_is_made_anew() {
    let shelf = shelf();
    let folder = shelf.folder.path().to_owned();
    let list = folder.join("list.json");
    let text = fs::read_to_string(&list).unwrap().replace("\"version\":", "\"version\":9");
    fs::write(&list, text).unwrap();
    assert!(matches!(Index::open(&folder), Err(Error::Unusable(_))));
    drop(shelf.writer);
    let writer = open(&folder);
    assert!(writer.index().is_empty() && writer.mark().is_empty());
    assert!(Index::open(&folder).unwrap().is_empty());
}

#[test]
fn a_list_that_names_other_places_is_not_followed() {
    let shelf = shelf();
    let list = shelf.folder.path().join("list.json");
    for name in ["../list.json", "/etc/passwd", "a\\\\b", ""] {
        fs::write(&list, format!(r#"{{"version":1,"mark":"","next":9,"segments":[{{"file":"{name}"}}]}}"#))
            .unwrap();
        assert!(matches!(Index::open(shelf.folder.path()), Err(Error::Unusable(_))), "{name}");
    }
}

#[test]
fn a_missing_or_cut_segment_is_noticed() {
    let shelf = shelf();
    let segment = with_ending(&shelf, "seg");
    let bytes = fs::read(&segment).unwrap();
    fs::write(&segment, &bytes[..bytes.len() - 1]).unwrap();
    assert!(matches!(Index::open(shelf.folder.path()), Err(Error::Unusable(_))));
    fs::remove_file(&segment).unwrap();
    assert!(matches!(Index::open(shelf.folder.path()), Err(Error::Unusable(_))));
}

#[test]
fn a_damaged_file_of_removed_documents_brings_none_of_them_back() {
    let shelf = shelf();
    let dead = with_ending(&shelf, "dead");
    let mut bytes = fs::read(&dead).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&dead, bytes).unwrap();
    assert!(matches!(Index::open(shelf.folder.path()), Err(Error::Unusable(_))));
}

#[test]
fn what_a_killed_writer_left_is_removed_by_the_next() {
    let shelf = shelf();
    let folder = shelf.folder.path().to_owned();
    let known = files(&shelf);
    for name in ["000000ff.seg", "000000fe.dead"] {
        fs::write(folder.join(name), "half").unwrap();
    }
    assert_eq!(Index::open(&folder).unwrap().len(), 299);
    drop(shelf.writer);
    let _writer = open(&folder);
    let mut left: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    left.sort();
    assert_eq!(left, known);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_damaged_byte_leaves_an_index_that_answers_or_says_that_it_is_damaged(at in 0.0..1.0_f64, to in 0..=255_u8, more in 0..4_usize) {
        let shelf = shelf();
        let segment = with_ending(&shelf, "seg");
        let mut bytes = fs::read(&segment).unwrap();
        let place = (bytes.len() as f64 * at) as usize;
        for place in place..(place + 1 + more).min(bytes.len()) {
            bytes[place] = to;
        }
        fs::write(&segment, bytes).unwrap();
        if let Ok(index) = Index::open(shelf.folder.path()) {
            ask(&index);
        }
        // A writer that goes on from it must not fail by it either.
        let mut shelf = shelf;
        let folder = shelf.folder.path().to_owned();
        drop(shelf.writer);
        let mut writer = open(&folder);
        writer.purge().unwrap();
        shelf.writer = writer;
        shelf.put([document("new", "another text")]);
        prop_assert_eq!(shelf.find("another"), ["new"]);
    }
}
