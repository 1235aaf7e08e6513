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

#[test]
fn a_repair_leaves_them_out_and_makes_them_anew() {
    let (data, store) = filled();
    drop(store);
    let mut bytes = fs::read(data.database()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 3 * 4_096].fill(0xA5);
    fs::write(data.database(), bytes).unwrap();
    let transcripts = data.folder.path().join("projects");
    let sources = Sources {
        spool: &data.spool,
        transcripts: &transcripts,
        rules: capture::Rules::default(),
        derived: DERIVED,
    };
    let repaired =
        repair::repair(&data.database(), &[observations::TABLES], &sources, Timestamp::now()).unwrap();
    assert!(repaired.aside.is_some());
    let store = data.store();
    store.check().unwrap();
    assert_eq!((matches(&store, "merger"), matches(&store, "weather")), (25, 2_475));
    store.connection().execute_batch("INSERT INTO words (words) VALUES ('integrity-check')").unwrap();
}
