//! Finding by meaning, with vectors that stand for a model's.

use crate::{Shelf, document, query};
use search::index::Change;
use search::index::Index;
use search::meaning::{self, Allowance, Error, Refreshed, Vector, Vectors};
use search::{Document, Filter, Query};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const ALLOWANCE: u64 = 1_000;

/// One number for each of three topics: what a model would know.
fn vector(text: &str) -> Vec<f32> {
    let topics = [["car", "vehicle"], ["login", "sign-in"], ["rain", "weather"]];
    let of = |words: &[&str; 2]| f32::from(u8::from(words.iter().any(|word| text.contains(word)))) + 0.01;
    topics.iter().map(of).collect()
}

fn allowance(daily: u64, day: u64) -> Allowance {
    Allowance { daily, day, until: Instant::now() + Duration::from_secs(60) }
}

/// Gets the vectors of everything, from the texts that the documents were made of.
fn refresh(
    folder: &Path,
    index: &Index,
    texts: &[(&str, &str)],
    allowance: Allowance,
) -> Result<Refreshed, Error> {
    let mut vectors = Vectors::open(folder, "model");
    let load = |keys: &[String]| {
        let of = |key: &String| texts.iter().find(|(known, _)| known == key);
        Ok(keys.iter().filter_map(of).map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect())
    };
    meaning::refresh(&mut vectors, folder, index, allowance, load, |texts| {
        Ok(texts.iter().map(|text| vector(text)).collect())
    })
}

const TEXTS: [(&str, &str); 3] = [("a", "the vehicle broke"), ("b", "sign-in fails"), ("c", "a login page")];

fn shelf() -> (Shelf, std::path::PathBuf) {
    let mut shelf = Shelf::new();
    shelf.put(TEXTS.map(|(key, text)| document(key, text)));
    let folder = meaning::folder(shelf.folder.path());
    (shelf, folder)
}

fn keys(found: &search::query::Found) -> Vec<&str> {
    found.hits.iter().map(|hit| &*hit.key).collect()
}

#[test]
fn what_has_other_words_is_found_by_what_it_means() {
    let (shelf, folder) = shelf();
    refresh(&folder, &shelf.index(), &TEXTS, allowance(ALLOWANCE, 1)).unwrap();
    let vectors = Vectors::open(&folder, "model");
    assert_eq!(vectors.len(), 3);
    assert!(shelf.find("car").is_empty());
    let found = meaning::search(&shelf.index(), &vectors, &vector("car"), &query("car"));
    assert_eq!(keys(&found)[0], "a");
    // Both rankings agree on one, and only one of them knows the other.
    let found = meaning::search(&shelf.index(), &vectors, &vector("login"), &query("login"));
    assert_eq!(keys(&found)[..2], ["c", "b"]);
    for hit in &found.hits {
        let sum: f64 = hit.parts.iter().map(|(_, part)| part).sum();
        assert!((sum - hit.score).abs() < 1e-9);
    }
}

#[test]
fn what_has_no_vector_yet_keeps_its_place_by_words() {
    let texts = [("a", "the pump broke again"), ("b", "login broke while the weather changed")];
    let mut shelf = Shelf::new();
    shelf.put(texts.map(|(key, text)| document(key, text)));
    let folder = meaning::folder(shelf.folder.path());
    // The other one has to wait for tomorrow.
    refresh(&folder, &shelf.index(), &texts, allowance(1, 1)).unwrap();
    let vectors = Vectors::open(&folder, "model");
    assert_eq!(vectors.len(), 1);
    let asked = query("pump broke");
    assert_eq!(keys(&shelf.index().search(&asked)), ["a", "b"]);
    assert_eq!(keys(&meaning::search(&shelf.index(), &vectors, &vector("login"), &asked)), ["a", "b"]);
}

#[test]
fn filters_and_pages_hold_for_both_rankings() {
    let (mut shelf, folder) = shelf();
    shelf.put([Document { project: "other".into(), ..document("d", "a car") }]);
    let texts = [TEXTS[0], TEXTS[1], TEXTS[2], ("d", "a car")];
    refresh(&folder, &shelf.index(), &texts, allowance(ALLOWANCE, 1)).unwrap();
    let vectors = Vectors::open(&folder, "model");
    let search = |query: &Query| {
        let found = meaning::search(&shelf.index(), &vectors, &vector("car"), query);
        keys(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let here = Query { filter: Filter { projects: vec!["app".into()], ..Filter::default() }, ..query("car") };
    assert!(!search(&here).contains(&"d".to_owned()));
    let whole = search(&query("car"));
    assert_eq!(whole[..2], ["d", "a"]);
    let pages = [0, 2].map(|skip| search(&Query { skip, limit: 2, ..query("car") }));
    assert_eq!(pages.concat(), whole);
}

#[test]
fn no_more_is_asked_in_a_day_than_is_allowed() {
    let (shelf, folder) = shelf();
    let index = shelf.index();
    let first = refresh(&folder, &index, &TEXTS, allowance(2, 1)).unwrap();
    assert_eq!(first, Refreshed { added: 2, left: 1, is_spent: true });
    assert_eq!(refresh(&folder, &index, &TEXTS, allowance(2, 1)).unwrap().added, 0);
    assert_eq!(
        refresh(&folder, &index, &TEXTS, allowance(2, 2)).unwrap(),
        Refreshed { added: 1, left: 0, is_spent: false }
    );
    let late = Allowance { until: Instant::now(), ..allowance(2, 3) };
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(
        refresh(&folder, &index, &TEXTS, late).unwrap(),
        Refreshed { added: 0, left: 3, is_spent: false }
    );
}

#[test]
fn a_server_that_fails_leaves_what_came_before() {
    let (shelf, folder) = shelf();
    let mut vectors = Vectors::open(&folder, "model");
    let load = |keys: &[String]| Ok(keys.iter().map(|key| (key.clone(), "text".to_owned())).collect());
    let fails = |_: &[&str]| Err(Error::Busy);
    let failed =
        meaning::refresh(&mut vectors, &folder, &shelf.index(), allowance(ALLOWANCE, 1), load, fails);
    assert!(matches!(failed, Err(Error::Busy)));
    assert_eq!(refresh(&folder, &shelf.index(), &TEXTS, allowance(ALLOWANCE, 1)).unwrap().added, 3);
}

#[test]
fn removed_vectors_are_in_no_file() {
    let (shelf, folder) = shelf();
    refresh(&folder, &shelf.index(), &TEXTS, allowance(ALLOWANCE, 1)).unwrap();
    let files = || {
        let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "vec")).collect::<Vec<_>>()
    };
    let before = files();
    let remove = |keys: &[&str]| {
        let changes: Vec<Change> = keys.iter().map(|key| Change::Remove((*key).to_owned())).collect();
        meaning::before(shelf.folder.path(), &changes).unwrap();
    };
    remove(&["b", "unknown"]);
    assert_eq!(Vectors::open(&folder, "model").len(), 2);
    assert!(files().iter().all(|path| !before.contains(path)), "the file that had it is gone");
    remove(&["a", "c"]);
    assert!(files().is_empty());
}

#[test]
fn a_vector_stays_until_its_text_changes() {
    let (shelf, folder) = shelf();
    let put = |key: &str, text: &str| Change::Put(document(key, text));
    let texts = TEXTS.map(|(key, text)| (key, meaning::text_of(&document(key, text))));
    let texts: Vec<(&str, &str)> = texts.iter().map(|(key, text)| (*key, &**text)).collect();
    refresh(&folder, &shelf.index(), &texts, allowance(ALLOWANCE, 1)).unwrap();
    meaning::before(shelf.folder.path(), &[put("a", TEXTS[0].1)]).unwrap();
    assert_eq!(Vectors::open(&folder, "model").len(), 3);
    meaning::before(shelf.folder.path(), &[put("a", "another text")]).unwrap();
    assert_eq!(Vectors::open(&folder, "model").len(), 2);
    meaning::clear(shelf.folder.path()).unwrap();
    assert!(Vectors::open(&folder, "model").is_empty());
}

#[test]
fn vectors_of_documents_that_are_no_more_go_with_the_next_refresh() {
    let (mut shelf, folder) = shelf();
    refresh(&folder, &shelf.index(), &TEXTS, allowance(ALLOWANCE, 1)).unwrap();
    shelf.remove("b");
    refresh(&folder, &shelf.index(), &TEXTS, allowance(ALLOWANCE, 1)).unwrap();
    assert_eq!(Vectors::open(&folder, "model").len(), 2);
}

#[test]
fn vectors_of_another_model_are_not_compared_and_go() {
    let (shelf, folder) = shelf();
    refresh(&folder, &shelf.index(), &TEXTS, allowance(ALLOWANCE, 1)).unwrap();
    let other = Vectors::open(&folder, "other");
    assert!(other.is_empty());
    assert_eq!(keys(&meaning::search(&shelf.index(), &other, &vector("login"), &query("login"))), ["c"]);
    let mut other = other;
    other.keep_only(&std::collections::HashSet::new()).unwrap();
    assert!(Vectors::open(&folder, "model").is_empty());
}

#[test]
fn many_small_files_become_one_and_vectors_of_another_length_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = Vectors::open(folder.path(), "model");
    fn vector(key: &str, numbers: Vec<f32>) -> Vector<'_> {
        Vector { key, text: "text", numbers }
    }
    for number in 0..100_u16 {
        vectors.add(&[vector(&number.to_string(), vec![1.0, f32::from(number)])]).unwrap();
    }
    assert_eq!(Vectors::open(folder.path(), "model").len(), 100);
    assert!(fs::read_dir(folder.path()).unwrap().count() < 20);
    let refused = vectors.add(&[vector("7", vec![1.0])]);
    assert!(matches!(refused, Err(Error::Length { expected: 2, found: 1 })));
    let nearest = vectors.nearest(&[1.0, 0.0], 2);
    assert!(nearest[0].1 > 0.999 && nearest[1].1 < 0.999, "{nearest:?}");
}

#[test]
fn damaged_files_are_as_if_they_were_not_there() {
    let (shelf, folder) = shelf();
    refresh(&folder, &shelf.index(), &TEXTS, allowance(ALLOWANCE, 1)).unwrap();
    let file = folder.join("00000001.vec");
    let bytes = fs::read(&file).unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        fs::write(&file, &damaged).unwrap();
        Vectors::open(&folder, "model").nearest(&vector("login"), 10);
        fs::write(&file, &bytes[..at]).unwrap();
        assert!(Vectors::open(&folder, "model").is_empty());
    }
}
