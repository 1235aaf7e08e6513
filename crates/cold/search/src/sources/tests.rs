//! The index beside a database, a team memory and lessons, as they change.

use super::{Refreshed, folder, forget, id_of, is_current, load, refresh};
use crate::index::{Change, Index, Writer, key_hash};
use crate::meaning::{Vector, Vectors};
use crate::{Filter, Kind, Query};
use base::{Env, Paths, Timestamp};
use capture::{Observation, Spool};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use store::Store;
use store::observations::{Drain, Selection};

const AMPLE: Duration = Duration::from_secs(60);
const NOW: u64 = 1_800_000_100_000;

const MEMORY: &str = "# Team memory\n\n## Decisions\n- Prices are integers of cents <!-- by Ada -->\n\
    - <private>The acquisition is called nightingale</private>\n\n## Rejected\n- Floats for money\n";

struct Bench {
    folder: tempfile::TempDir,
    paths: Paths,
    store: Store,
    number: u64,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
        fs::create_dir_all(folder.path().join("shop/.wyren/state")).unwrap();
        let store = journal::open_store(&paths).unwrap();
        Self { folder, paths, store, number: 0 }
    }

    /// One with something of everything.
    fn filled() -> Self {
        let mut bench = Self::new();
        bench.write(".wyren/memory.md", MEMORY);
        let removal = json!({"v": 1, "when": "2026-11-16T02:26:41Z", "by": "Ada", "why": "superseded", "section": "Decisions",
            "text": "Prices are doubles"});
        bench.write(".wyren/state/history.jsonl", &format!("{removal}\n"));
        let lesson = "---\nsummary: Migrations lock the table\nkind: hint\ncommand: rails db:migrate\n---\nThe kiosk goes down.\n";
        bench.write(".wyren/lessons/migrations-lock.md", lesson);
        bench.turn("Round the subtotal properly", "src/basket.rs", "Rounded in the basket, half up.");
        bench.drain();
        bench
    }

    fn cwd(&self) -> PathBuf {
        self.folder.path().join("shop")
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.cwd().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn put(&mut self, session: &str, kind: &str, data: &Value) {
        self.number += 1;
        let line = json!({
            "v": 2, "kind": kind, "id": format!("{kind}:{}", self.number), "ts": 1_800_000_000_000_u64 + self.number,
            "session": session, "cwd": self.cwd(), "data": data,
        });
        Spool::new(self.paths.spool())
            .append(&Observation::read(line.to_string().as_bytes()).unwrap())
            .unwrap();
    }

    /// Records a turn that edits a file.
    fn turn(&mut self, prompt: &str, file: &str, said: &str) {
        let session = format!("s-{}", self.number);
        self.put(&session, "prompt", &json!({"text": prompt, "branch": "main"}));
        let patch = json!([{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-fn a() {}", "+fn b() {}"]}]);
        let edit = json!({"tool": "Edit", "input": {"file_path": self.cwd().join(file), "old_string": "a", "new_string": "b"},
            "output": {"filePath": file, "structuredPatch": patch}});
        self.put(&session, "tool", &edit);
        self.put(&session, "turn-end", &json!({"outcome": "done", "text": said}));
    }

    fn drain(&mut self) {
        let spool = Spool::new(self.paths.spool());
        Drain::unbounded(&spool).run(&mut self.store, Timestamp::from_millis(NOW)).unwrap();
    }

    fn refresh(&mut self) -> Refreshed {
        let cwd = self.cwd();
        refresh(&mut self.store, &self.paths, Some(&cwd), AMPLE).unwrap()
    }

    fn index(&self) -> Index {
        Index::open(&folder(&self.paths)).unwrap()
    }

    fn is_current(&self) -> bool {
        is_current(&self.store, &self.paths, Some(&self.cwd()), &self.index()).unwrap()
    }

    fn keys(&self, text: &str) -> Vec<String> {
        let query = Query { text: text.to_owned(), filter: Filter::default(), limit: 50, skip: 0, now: NOW };
        self.index().search(&query).hits.into_iter().map(|hit| hit.key).collect()
    }

    /// Returns the kinds and titles of what is found, sorted.
    fn found(&self, text: &str) -> Vec<(Kind, String)> {
        let loaded = load(&self.store, &self.paths, &self.keys(text)).unwrap();
        let mut found: Vec<_> =
            loaded.into_iter().map(|loaded| (loaded.document.kind.unwrap(), loaded.document.title)).collect();
        found.sort();
        found
    }

    fn kinds(&self, text: &str) -> Vec<Kind> {
        self.found(text).into_iter().map(|(kind, _)| kind).collect()
    }

    /// Returns whether a word could be read off the index's files, as bytes or as a term.
    fn is_on_disk(&self, word: &str) -> bool {
        let mut is_term = false;
        self.index().each_term(|term| is_term |= term.contains(word));
        let has = |file: &PathBuf| {
            fs::read(file).unwrap().windows(word.len()).any(|bytes| bytes == word.as_bytes())
        };
        is_term || base::files::files_in(&folder(&self.paths)).iter().any(has)
    }

    fn forget(&mut self, query: &str) {
        let selection = Selection { query: Some(query.to_owned()), ..Selection::default() };
        let notes = store::repair::notes_of_forgotten(&self.paths.database());
        let spool = Spool::new(self.paths.spool());
        selection.forget(&mut self.store, &spool, &notes, Timestamp::from_millis(NOW)).unwrap();
        forget(&mut self.store, &self.paths).unwrap();
    }
}

#[test]
fn everything_that_is_remembered_is_found() {
    let mut bench = Bench::filled();
    assert!(!bench.is_current());
    assert!(bench.refresh().is_complete);
    assert!(bench.is_current());
    assert_eq!(bench.found("prices")[0], (Kind::Memory, "Prices are integers of cents".to_owned()));
    assert_eq!(bench.found("doubles"), [(Kind::History, "Prices are doubles".to_owned())]);
    assert_eq!(bench.found("kiosk"), [(Kind::Lesson, "Migrations lock the table".to_owned())]);
    let kinds = bench.kinds("basket.rs subtotal");
    for kind in [Kind::Entry, Kind::Summary, Kind::Prompt] {
        assert!(kinds.contains(&kind), "{kind:?} of {kinds:?}");
    }
}

#[test]
fn what_is_added_and_removed_later_is_followed() {
    let mut bench = Bench::filled();
    bench.refresh();
    bench.turn("Print the barcode upside down", "src/label.rs", "Done.");
    assert!(bench.is_current(), "what is in the spool is the drain's");
    bench.drain();
    assert!(!bench.is_current());
    let refreshed = bench.refresh();
    assert!(refreshed.is_complete && refreshed.documents < 10, "{refreshed:?}");
    assert!(bench.kinds("barcode").contains(&Kind::Prompt));
    bench.write(
        ".wyren/memory.md",
        "# Team memory\n\n## Decisions\n- Prices are integers of a tenth of a cent\n",
    );
    assert!(!bench.is_current());
    bench.refresh();
    assert_eq!(bench.found("tenth"), [(Kind::Memory, "Prices are integers of a tenth of a cent".to_owned())]);
    assert_eq!(bench.kinds("floats"), []);
    assert_eq!(bench.refresh(), Refreshed { documents: 0, is_complete: true });
}

#[test]
fn an_index_that_is_gone_or_damaged_is_made_anew_with_the_same_documents() {
    let mut bench = Bench::filled();
    bench.refresh();
    let before = (bench.index().len(), bench.found("basket cents kiosk"));
    fs::remove_dir_all(folder(&bench.paths)).unwrap();
    assert!(!bench.is_current());
    bench.refresh();
    assert_eq!((bench.index().len(), bench.found("basket cents kiosk")), before);
    fs::write(folder(&bench.paths).join("list.json"), "{").unwrap();
    bench.refresh();
    assert_eq!((bench.index().len(), bench.found("basket cents kiosk")), before);
    // As after `wyren repair`: the same observations in another database.
    bench
        .store
        .write(|transaction| {
            Ok::<_, store::Error>(transaction.execute("UPDATE derived SET version = 0", [])?)
        })
        .unwrap();
    bench.drain();
    bench.refresh();
    assert_eq!((bench.index().len(), bench.found("basket cents kiosk")), before);
}

#[test]
fn a_process_killed_between_its_two_writes_leaves_an_index_that_goes_on() {
    let mut bench = Bench::filled();
    bench.refresh();
    let mark = bench.index().mark().rsplit(' ').next().unwrap().to_owned();
    // What the next piece would have left: its changes are in, and the database does not know.
    let key = bench.keys("doubles").remove(0);
    let mut writer = Writer::open(&folder(&bench.paths), AMPLE).unwrap();
    writer.apply([Change::Remove(key)], &format!("2 {mark} unknown")).unwrap();
    drop(writer);
    assert!(bench.is_current(), "it is not made anew");
    let mut writer = Writer::open(&folder(&bench.paths), AMPLE).unwrap();
    writer.apply([], "2 another unknown").unwrap();
    drop(writer);
    assert!(!bench.is_current(), "an index of another database is");
    bench.refresh();
    assert_eq!(bench.kinds("doubles"), [Kind::History]);
    let mark = bench.index().mark().rsplit(' ').next().unwrap().to_owned();
    for (version, is_current) in [(2, true), (1, false)] {
        let mut writer = Writer::open(&folder(&bench.paths), AMPLE).unwrap();
        writer.apply([], &format!("{version} {mark} {mark}")).unwrap();
        drop(writer);
        assert_eq!(bench.is_current(), is_current, "what is made of version {version}");
    }
}

#[test]
fn a_refresh_without_time_goes_on_where_it_stopped() {
    let mut bench = Bench::filled();
    let cwd = bench.cwd();
    let refreshed = refresh(&mut bench.store, &bench.paths, Some(&cwd), Duration::from_nanos(1)).unwrap();
    assert!(!refreshed.is_complete);
    assert!(!bench.is_current());
    assert!(bench.refresh().is_complete && bench.is_current());
    assert_eq!(bench.kinds("kiosk"), [Kind::Lesson]);
}

#[test]
fn forgotten_text_is_in_no_file_of_the_index() {
    let mut bench = Bench::filled();
    bench.turn("Call the zanzibar endpoint", "src/basket.rs", "The zanzibar endpoint answers.");
    bench.drain();
    bench.refresh();
    assert!(bench.is_on_disk("zanzibar"), "else this shows nothing");
    bench.forget("zanzibar");
    assert!(!bench.is_on_disk("zanzibar"));
    bench.refresh();
    assert!(!bench.is_on_disk("zanzibar"));
    assert_eq!(bench.kinds("kiosk"), [Kind::Lesson], "the rest is there");
    assert!(bench.kinds("subtotal").contains(&Kind::Prompt));
}

#[test]
fn forgotten_text_leaves_also_where_the_tables_were_lost() {
    let mut bench = Bench::filled();
    bench.refresh();
    bench
        .store
        .write(|transaction| {
            Ok::<_, store::Error>(transaction.execute("UPDATE derived SET version = 0", [])?)
        })
        .unwrap();
    forget(&mut bench.store, &bench.paths).unwrap();
    assert!(!bench.is_on_disk("basket"));
}

#[test]
fn what_retention_lets_go_leaves_the_files_with_the_next_refresh() {
    let mut bench = Bench::filled();
    bench.put(
        "old",
        "entry",
        &json!({"type": "fix", "title": "The quokka cache was stale", "source": "claude-mem"}),
    );
    bench.turn("Something later", "src/other.rs", "Done.");
    bench.drain();
    bench.refresh();
    assert!(bench.is_on_disk("quokka"));
    fs::create_dir_all(bench.paths.cache()).unwrap();
    fs::write(bench.paths.hook_settings(), "wyren hooks 1\njournal.keep_entries_days=1\n").unwrap();
    let limits = journal::retain::Limits::of(&Env::fixed([("HOME", "/nowhere")]), &bench.paths);
    let later = Timestamp::from_millis(NOW + 400 * 86_400_000);
    let released = journal::retain::release(&mut bench.store, &limits, later, AMPLE).unwrap();
    assert!(released.entries > 0, "{released:?}");
    bench.drain();
    bench.refresh();
    assert!(!bench.is_on_disk("quokka"));
}

#[test]
fn private_parts_of_a_memory_and_secrets_are_not_indexed() {
    let mut bench = Bench::filled();
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    bench.write(".wyren/memory.md", &format!("{MEMORY}- The token is {secret} and it works\n"));
    bench.refresh();
    assert!(!bench.is_on_disk("nightingale"));
    assert!(!bench.is_on_disk(&secret.to_lowercase()) && !bench.is_on_disk("292c6912e7710c838347ae178b4a"));
    assert_eq!(bench.kinds("token works"), [Kind::Memory]);
}

#[test]
fn ids_are_short_and_the_same_after_the_index_was_made_anew() {
    let mut bench = Bench::filled();
    bench.refresh();
    let before = bench.keys("basket cents kiosk doubles");
    assert!(before.len() > 4 && before.iter().all(|key| id_of(key).len() == 8), "{before:?}");
    fs::remove_dir_all(folder(&bench.paths)).unwrap();
    bench.refresh();
    assert_eq!(bench.keys("basket cents kiosk doubles"), before);
    let lesson = before.iter().find(|key| key.starts_with('l')).unwrap();
    let found = super::by_prefix(&bench.store, &bench.paths, &id_of(lesson)[..6]).unwrap();
    assert_eq!(found[0].document.title, "Migrations lock the table");
}

#[test]
fn a_project_that_is_gone_takes_its_documents_along() {
    let mut bench = Bench::filled();
    bench.refresh();
    fs::remove_dir_all(bench.cwd().join(".wyren")).unwrap();
    // In the worker, which is in no project.
    refresh(&mut bench.store, &bench.paths, None, AMPLE).unwrap();
    assert_eq!(bench.kinds("kiosk doubles floats"), []);
    assert!(bench.kinds("subtotal").contains(&Kind::Prompt));
}

#[test]
fn what_happened_before_and_after_comes_in_the_order_of_time() {
    let mut bench = Bench::filled();
    bench.turn("Print the barcode upside down", "src/label.rs", "Done.");
    bench.turn("Weigh the parcels", "src/parcel.rs", "Weighed.");
    bench.drain();
    bench.refresh();
    let prompt = bench.keys("barcode").into_iter().find(|key| key.starts_with('p')).unwrap();
    let anchor = load(&bench.store, &bench.paths, &[prompt]).unwrap().remove(0);
    let titles =
        |side: &[super::Loaded]| side.iter().map(|one| one.document.title.clone()).collect::<Vec<_>>();
    let near = super::around(&bench.store, &bench.paths, &anchor, (50, 50)).unwrap();
    let ordered = |side: &[super::Loaded]| side.is_sorted_by_key(|one| one.document.at);
    assert!(ordered(&near.before) && ordered(&near.after), "{near:?}");
    assert!(titles(&near.before).contains(&"Round the subtotal properly".to_owned()), "{near:?}");
    // The removal of the team memory has a time as well.
    assert!(titles(&near.before).contains(&"Prices are doubles".to_owned()), "{near:?}");
    assert!(titles(&near.after).contains(&"Weigh the parcels".to_owned()), "{near:?}");
    assert!(!titles(&near.before).contains(&anchor.document.title));
    let near = super::around(&bench.store, &bench.paths, &anchor, (1, 2)).unwrap();
    assert_eq!((near.before.len(), near.after.len()), (1, 2));
    let elsewhere = super::Loaded {
        document: crate::Document { project: "path:/elsewhere".to_owned(), at: NOW, ..Default::default() },
        ..Default::default()
    };
    assert_eq!(
        super::around(&bench.store, &bench.paths, &elsewhere, (5, 5)).unwrap(),
        super::Around::default()
    );
}

#[test]
fn prompts_and_documents_in_files_are_found_by_the_beginning_of_their_ids() {
    let mut bench = Bench::filled();
    bench.refresh();
    for key in bench.keys("subtotal cents kiosk doubles") {
        let found = super::by_prefix(&bench.store, &bench.paths, id_of(&key)).unwrap();
        assert_eq!(found.iter().map(|one| &*one.document.key).collect::<Vec<_>>(), [&*key]);
    }
    assert!(super::by_prefix(&bench.store, &bench.paths, "../x").unwrap().is_empty());
}

#[test]
fn the_vectors_of_what_is_forgotten_go_where_the_index_was_lost_as_well() {
    let mut bench = Bench::filled();
    bench.refresh();
    let vectors_in = folder(&bench.paths).join("meaning");
    let all = bench.keys("subtotal basket");
    let of: Vec<Vector<'_>> =
        all.iter().map(|key| Vector { key, text: "as it was", numbers: vec![1.0] }).collect();
    let mut vectors = Vectors::open(&vectors_in, "model");
    vectors.add(&of).unwrap();
    fs::remove_file(folder(&bench.paths).join("list.json")).unwrap();
    bench.forget("subtotal");
    let hashes = Vectors::open(&vectors_in, "model").hashes();
    let gone: Vec<&String> = all.iter().filter(|key| !hashes.contains(&key_hash(key))).collect();
    bench.refresh();
    let left = bench.keys("subtotal basket");
    assert!(
        gone.len() >= 3 && all.iter().all(|key| left.contains(key) || gone.contains(&key)),
        "{gone:?} of {all:?}"
    );
}

#[test]
fn what_has_a_day_and_no_time_is_of_that_day_almost_everywhere() {
    let mut bench = Bench::new();
    bench.write(".wyren/memory.md", "# M\n\n## Decisions\n- [2026-11-16] Prices are cents\n");
    bench.refresh();
    let loaded = load(&bench.store, &bench.paths, &bench.keys("cents")).unwrap();
    let at = loaded[0].document.at;
    assert_eq!(Timestamp::from_millis(at).to_string(), "2026-11-16T12:00:00.000Z");
    assert!(crate::noon_of_a_day(at) && !crate::noon_of_a_day(at + 1) && !crate::noon_of_a_day(0));
}
