//! What a session gets to know at its start, judged by scripted follow-up sessions: each names the lines of the past that it
//! needs (`tests/data/journal/README.md`).

use crate::bench::Bench;
use base::Timestamp;
use base::project::Project;
use journal::recall::{self, Index, Moment, Order, Past, Situation, Taste};
use journal::{Entry, read};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use text::sanitize::Fence;

#[derive(Deserialize)]
struct FollowUp {
    about: String,
    history: Vec<String>,
    branch: String,
    changed_files: BTreeSet<String>,
    open_tasks: Vec<String>,
    needed: Vec<Needed>,
}

#[derive(Deserialize)]
struct Needed {
    session: String,
    all: Vec<String>,
}

impl Needed {
    fn is_in(&self, line: &str) -> bool {
        let line = line.to_lowercase();
        self.all.iter().all(|phrase| line.contains(&phrase.to_lowercase()))
    }

    /// Returns whether an entry has the line, in its title or below it.
    fn is_of(&self, entry: &Entry) -> bool {
        let detail = &entry.detail;
        let more = [&detail.subtitle, &detail.narrative].into_iter().chain(&detail.facts);
        std::iter::once(&entry.title).chain(more).any(|line| self.is_in(line))
    }
}

/// How many needed lines an index has: in its text, or in an entry that it names.
#[derive(Clone, Copy, Default)]
struct Score {
    shown: usize,
    in_reach: usize,
}

/// Prints what each follow-up session gets of what it needs (`--nocapture`, and `SHOW=07` for the text of one).
#[test]
#[expect(clippy::print_stdout, reason = "the figures are the result")]
fn line_19_by_relevance_more_of_what_is_needed_is_recalled_than_by_age() {
    let (mut relevance, mut newest, mut needed, mut largest) = (Score::default(), Score::default(), 0, 0);
    let mut report = String::new();
    for (name, follow_up) in follow_ups() {
        let scene = Scene::of(&follow_up);
        let judge = |order: Order| {
            let index = scene.index(order);
            let score = Score {
                shown: follow_up
                    .needed
                    .iter()
                    .filter(|needed| index.text.lines().any(|line| needed.is_in(line)))
                    .count(),
                in_reach: follow_up.needed.iter().filter(|needed| scene.has(&index, needed)).count(),
            };
            (score, index)
        };
        let ((by_relevance, index), (by_age, _)) = (judge(Order::Relevance), judge(Order::Newest));
        largest = largest.max(index.text.len());
        needed += follow_up.needed.len();
        for (sum, score) in [(&mut relevance, by_relevance), (&mut newest, by_age)] {
            sum.shown += score.shown;
            sum.in_reach += score.in_reach;
        }
        report.push_str(&format!(
            "{name} {}: {} needed; by relevance {} shown, {} in reach; newest first {}, {}; {} of {} entries\n",
            follow_up.about, follow_up.needed.len(), by_relevance.shown, by_relevance.in_reach, by_age.shown, by_age.in_reach,
            index.ids.len(), scene.by_relevance.entries.len(),
        ));
        for needed in follow_up.needed.iter().filter(|needed| !scene.has(&index, needed)) {
            let known = if scene.entries.iter().any(|entry| needed.is_of(entry)) {
                "left out"
            } else {
                "in no entry"
            };
            report.push_str(&format!("    {known}: {} {:?}\n", needed.session, needed.all));
        }
        if std::env::var("SHOW").is_ok_and(|show| show == name) {
            report.push_str(&index.text);
        }
    }
    let share = |count: usize| count * 100 / needed;
    report.push_str(&format!(
        "of {needed} needed lines, by relevance {} % shown and {} % in reach; newest first {} % and {} %; largest {largest} bytes\n",
        share(relevance.shown), share(relevance.in_reach), share(newest.shown), share(newest.in_reach),
    ));
    println!("{report}");
    assert!(relevance.in_reach > newest.in_reach && relevance.shown >= newest.shown, "{report}");
    assert!(largest <= 2_048, "{report}");
}

/// What a follow-up session finds.
struct Scene {
    by_relevance: Past,
    by_age: Past,
    /// Every entry, with its details.
    entries: Vec<Entry>,
}

impl Scene {
    fn of(follow_up: &FollowUp) -> Self {
        let mut bench = Bench::new();
        for session in &follow_up.history {
            let file = data().join(session).join("session.jsonl");
            let lines = fs::read_to_string(file).unwrap();
            // Their folders count as one project.
            lines.lines().for_each(|line| {
                bench.line_of_hook(&line.replace("/home/dev/parcel-infra", "/home/dev/parcel"))
            });
        }
        bench.drain();
        let known = Situation {
            branch: Some(follow_up.branch.clone()),
            changed: follow_up.changed_files.clone(),
            tasks: follow_up.open_tasks.clone(),
        };
        let project = Project::of(Path::new("/home/dev/parcel"));
        let past = |order: Order| {
            let taste = Taste { order, ..Taste::default() };
            let past = recall::look(&bench.store, &project, &taste, |_| known.clone()).unwrap().unwrap();
            // The sessions of the history have open tasks of their own.
            Past { tasks: follow_up.open_tasks.clone(), ..past }
        };
        let (by_relevance, by_age) = (past(Order::Relevance), past(Order::Newest));
        let entries = read::entries_where(&bench.store, "1 ORDER BY e.id", []).unwrap();
        Self { by_relevance, by_age, entries }
    }

    fn index(&self, order: Order) -> Index {
        let past = match order {
            Order::Relevance => &self.by_relevance,
            Order::Newest => &self.by_age,
        };
        recall::index(past, &Taste::default(), &Fence::new("0123456789abcdef"), &utc)
    }

    fn has(&self, index: &Index, needed: &Needed) -> bool {
        let shown = index.text.lines().any(|line| needed.is_in(line));
        let entries = self.entries.iter().filter(|entry| index.ids.contains(&entry.id));
        shown || entries.into_iter().any(|entry| needed.is_of(entry))
    }
}

fn utc(millis: u64) -> Moment {
    let time = Timestamp::from_millis(millis).to_string();
    Moment { day: time[..10].to_owned(), time: time[11..16].to_owned() }
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/journal")
}

fn follow_ups() -> Vec<(String, FollowUp)> {
    let files = fs::read_dir(data().join("follow-up")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    assert_eq!(files.len(), 20);
    let read = |file: PathBuf| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_slice(&fs::read(file).unwrap()).unwrap())
    };
    files.into_iter().map(read).collect()
}
