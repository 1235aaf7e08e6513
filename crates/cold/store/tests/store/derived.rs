//! The contract of derived tables, with a full-text index of prompts.

use super::*;
use std::fs;
use store::observations::Selection;
use store::repair::{self, Sources};
use store::rusqlite::{Transaction, params};
use store::{Derived, Error};

/// Words of prompts, and how many letters each prompt has.
#[derive(Debug)]
struct Words {
    version: u32,
}

impl Derived for Words {
    fn name(&self) -> &'static str {
        "words"
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn tables(&self) -> &'static [&'static str] {
        &["words", "letters"]
    }

    fn schema(&self) -> &'static str {
        "CREATE VIRTUAL TABLE words USING fts5 (text);
         INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
         CREATE TABLE letters (observation INTEGER PRIMARY KEY, count INTEGER NOT NULL) STRICT"
    }

    fn derive(&self, transaction: &Transaction<'_>, after: i64, last: i64) -> Result<(), Error> {
        let rows = params![after, last];
        transaction.execute(
            "INSERT INTO words (rowid, text) SELECT row, text FROM prompts WHERE row > ?1 AND row <= ?2",
            rows,
        )?;
        let rows = params![after, last];
        transaction.execute(
            "INSERT INTO letters SELECT row, length(text) FROM prompts WHERE row > ?1 AND row <= ?2",
            rows,
        )?;
        Ok(())
    }

    fn forget(&self, transaction: &Transaction<'_>, rows: &[i64]) -> Result<(), Error> {
        for row in rows {
            transaction.execute("DELETE FROM words WHERE rowid = ?1", [row])?;
            transaction.execute("DELETE FROM letters WHERE observation = ?1", [row])?;
        }
        Ok(())
    }
}

/// Fails to derive, or to forget.
#[derive(Debug)]
struct Failing {
    derives: bool,
}

impl Derived for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn version(&self) -> u32 {
        1
    }

    fn tables(&self) -> &'static [&'static str] {
        &["texts"]
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE texts (text TEXT NOT NULL) STRICT"
    }

    fn derive(&self, transaction: &Transaction<'_>, after: i64, last: i64) -> Result<(), Error> {
        let table = if self.derives { "texts" } else { "nowhere" };
        let sql = format!("INSERT INTO {table} SELECT text FROM prompts WHERE row > ?1 AND row <= ?2");
        transaction.execute(&sql, [after, last])?;
        Ok(())
    }

    fn forget(&self, transaction: &Transaction<'_>, _: &[i64]) -> Result<(), Error> {
        transaction.execute("DELETE FROM nowhere", [])?;
        Ok(())
    }
}

static BROKEN: &[&dyn Derived] = &[&Failing { derives: false }, &FIRST];
static STUBBORN: &[&dyn Derived] = &[&Failing { derives: true }, &FIRST];
static FIRST: Words = Words { version: 1 };
static SECOND: Words = Words { version: 2 };
static DERIVED: &[&dyn Derived] = &[&FIRST];
static LATER: &[&dyn Derived] = &[&SECOND];

fn filled() -> (Data, Store) {
    let data = Data::new();
    let mut store = data.store().deriving(DERIVED);
    for number in 0..2_500 {
        let text = if number % 100 == 0 { "about the merger" } else { "about the weather" };
        data.append(&prompt("s", &number.to_string(), number, text));
    }
    data.drain(&mut store);
    (data, store)
}

fn matches(store: &Store, word: &str) -> i64 {
    count(store, &format!("SELECT count(*) FROM words WHERE words MATCH '{word}'"))
}

#[test]
fn every_drain_derives_from_what_came_since() {
    let (data, mut store) = filled();
    assert_eq!((matches(&store, "merger"), matches(&store, "weather")), (25, 2_475));
    data.append(&prompt("s", "x", 9_000, "another merger"));
    data.drain(&mut store);
    assert_eq!(matches(&store, "merger"), 26);
    assert_eq!(count(&store, "SELECT count(*) FROM letters"), 2_501);
}

#[test]
fn another_version_is_made_anew() {
    let (data, store) = filled();
    drop(store);
    let mut store = data.store().deriving(LATER);
    data.drain(&mut store);
    assert_eq!(matches(&store, "merger"), 25);
    assert_eq!(count(&store, "SELECT version FROM derived WHERE name = 'words'"), 2);
}

#[test]
fn what_is_forgotten_is_forgotten_there_as_well_and_rows_that_are_used_again_are_derived() {
    let (data, mut store) = filled();
    let notes = repair::notes_of_forgotten(&data.database());
    let selection = Selection { query: Some("merger".into()), ..Selection::default() };
    selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    assert_eq!((matches(&store, "merger"), count(&store, "SELECT count(*) FROM letters")), (0, 2_475));
    let last = Selection { ids: vec!["2499".into()], ..Selection::default() };
    last.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    data.append(&prompt("s", "y", 9_000, "sunshine"));
    data.drain(&mut store);
    assert_eq!(matches(&store, "sunshine"), 1);
    drop(store);
    for file in base::files::files_in(data.folder.path()) {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"merger"), "{}", file.display());
    }
}

fn damage_and_repair(data: &Data, derived: &'static [&'static dyn Derived]) {
    let mut bytes = fs::read(data.database()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 3 * 4_096].fill(0xA5);
    fs::write(data.database(), bytes).unwrap();
    let transcripts = data.folder.path().join("projects");
    let sources =
        Sources { spool: &data.spool, transcripts: &transcripts, rules: capture::Rules::default(), derived };
    let repaired =
        repair::repair(&data.database(), &[observations::TABLES], &sources, Timestamp::now()).unwrap();
    assert!(repaired.aside.is_some());
}

#[test]
fn one_that_fails_to_derive_stops_neither_the_others_nor_a_drain_a_forgetting_or_a_repair() {
    let (data, store) = filled();
    drop(store);
    let mut store = data.store().deriving(BROKEN);
    data.append(&prompt("s", "x", 9_000, "another merger"));
    let progress = data.drain(&mut store);
    assert!(progress.is_complete);
    let [error] = &progress.derive_errors[..] else { panic!("{progress:?}") };
    assert!(error.starts_with("failing: ") && error.contains("nowhere"), "{error}");
    assert_eq!(matches(&store, "merger"), 26);

    let selection = Selection { query: Some("merger".into()), ..Selection::default() };
    let preview = selection.preview(&mut store, &data.spool, Timestamp::now()).unwrap();
    assert_eq!(preview.prompts, 26);
    let notes = repair::notes_of_forgotten(&data.database());
    selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    assert_eq!((matches(&store, "merger"), matches(&store, "weather")), (0, 2_475));
    drop(store);
    damage_and_repair(&data, BROKEN);
    assert_eq!(matches(&data.store(), "weather"), 2_475);
}

#[test]
fn tables_of_one_that_fails_to_forget_are_dropped_and_made_by_the_next_drain() {
    let (data, store) = filled();
    drop(store);
    let mut store = data.store().deriving(STUBBORN);
    assert_eq!(data.drain(&mut store).derive_errors, Vec::<String>::new());
    assert_eq!(count(&store, "SELECT count(*) FROM texts"), 2_500);
    let selection = Selection { query: Some("merger".into()), ..Selection::default() };
    let notes = repair::notes_of_forgotten(&data.database());
    selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'texts'";
    assert_eq!((count(&store, tables), matches(&store, "weather")), (0, 2_475));
    data.drain(&mut store);
    assert_eq!(count(&store, "SELECT count(*) FROM texts"), 2_475);
    assert_eq!(count(&store, "SELECT count(*) FROM texts WHERE text LIKE '%merger%'"), 0);
}

#[test]
fn a_repair_leaves_them_out_and_makes_them_anew() {
    let (data, store) = filled();
    drop(store);
    damage_and_repair(&data, DERIVED);
    let store = data.store();
    store.check().unwrap();
    assert_eq!((matches(&store, "merger"), matches(&store, "weather")), (25, 2_475));
    store.connection().execute_batch("INSERT INTO words (words) VALUES ('integrity-check')").unwrap();
}
