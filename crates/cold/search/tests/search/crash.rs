//! A writer that is killed at any moment.

use crate::{document, open, query};
use search::index::{Change, Index};
use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Where the process that is killed writes; also tells it that it is that process.
const FOLDER: &str = "WYREN_TEST_WRITES_UNTIL_KILLED";
/// How many documents each change adds.
const EACH: usize = 40;

#[test]
fn a_killed_writer_leaves_an_index_with_all_or_none_of_a_change() {
    if let Some(folder) = env::var_os(FOLDER) {
        write_for_ever(PathBuf::from(folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut last = 0;
    for round in 0..12_u64 {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["crash::a_killed_writer_leaves_an_index_with_all_or_none_of_a_change", "--exact"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(60 + round * 13));
        child.kill().unwrap();
        child.wait().unwrap();
        let index = Index::open(folder.path()).unwrap();
        let changes: usize = index.mark().parse().unwrap_or(0);
        assert_eq!(index.len(), changes * EACH, "the mark and the documents belong together");
        assert!(changes >= last, "nothing that was kept is lost");
        if changes > 0 {
            let found = index.search(&query(&format!("change{}", changes - 1)));
            assert_eq!(found.hits.len(), EACH);
        }
        last = changes;
    }
    assert!(last > 0, "the writer came to nothing");
}

fn write_for_ever(folder: PathBuf) -> ! {
    let mut writer = open(&folder);
    let mut number: usize = writer.mark().parse().unwrap_or(0);
    loop {
        let documents = (0..EACH)
            .map(|place| document(&format!("{number}-{place}"), &format!("words of change{number}")));
        writer.apply(documents.map(Change::Put), &(number + 1).to_string()).unwrap();
        number += 1;
        if number.is_multiple_of(5) {
            writer.tidy(Duration::MAX).unwrap();
        }
    }
}
