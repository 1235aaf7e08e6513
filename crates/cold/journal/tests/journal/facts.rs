//! The sessions by which the journal is judged (`tests/data/journal/README.md`): every fact that was listed by hand is in a
//! line, and there are not many lines more than facts.

use crate::bench::{Bench, default_rules};
use serde::Deserialize;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use store::transcripts::Import;

/// The most lines per fact.
const MOST_LINES_PER_FACT: f64 = 1.5;

#[derive(Deserialize)]
struct Facts {
    facts: Vec<Fact>,
    #[serde(default)]
    noise: Vec<String>,
}

#[derive(Deserialize)]
struct Fact {
    kind: String,
    turn: u64,
    all: Vec<String>,
    #[serde(default)]
    any: Vec<String>,
}

impl Fact {
    fn is_in(&self, line: &str) -> bool {
        let line = line.to_lowercase();
        let has = |phrase: &String| line.contains(&phrase.to_lowercase());
        self.all.iter().all(has) && (self.any.is_empty() || self.any.iter().any(has))
    }
}

/// What was found of one session.
struct Judged {
    name: String,
    facts: usize,
    missing: Vec<String>,
    lines: Vec<String>,
    bad: Vec<String>,
}

#[test]
fn every_fact_of_the_sessions_is_in_a_line() {
    let judged = sessions().iter().map(|folder| judge(folder, spooled(folder))).collect();
    assert_all_told(judged);
}

#[test]
fn every_fact_of_the_recorded_sessions_is_in_a_line_after_their_import() {
    let recorded = folders_with("transcript.jsonl");
    assert!(recorded.len() >= 3, "{recorded:?}");
    assert_all_told(recorded.iter().map(|folder| judge(folder, imported(folder))).collect());
}

fn assert_all_told(judged: Vec<Judged>) {
    let (mut facts, mut missing, mut lines) = (0, 0, 0);
    let mut report = String::new();
    for session in &judged {
        facts += session.facts;
        missing += session.missing.len();
        lines += session.lines.len();
        let is_long = session.lines.len() as f64 > MOST_LINES_PER_FACT * session.facts as f64;
        let mark = if is_long { " TOO LONG" } else { "" };
        report.push_str(&format!(
            "{}: {} of {} facts, {} lines{mark}\n",
            session.name,
            session.facts - session.missing.len(),
            session.facts,
            session.lines.len()
        ));
        let shows_all = std::env::var("SHOW_FACTS").is_ok_and(|what| what == "lines");
        if shows_all || is_long || !session.missing.is_empty() || !session.bad.is_empty() {
            session.lines.iter().for_each(|line| report.push_str(&format!("      {line}\n")));
            session.missing.iter().for_each(|fact| report.push_str(&format!("   missing: {fact}\n")));
            session.bad.iter().for_each(|line| report.push_str(&format!("   says nothing: {line}\n")));
        }
    }
    report.push_str(&format!(
        "{} of {facts} facts in {lines} lines: {:.2} lines per fact\n",
        facts - missing,
        lines as f64 / facts as f64
    ));
    // `cargo xtask eval journal` asks for it; `SHOW_FACTS=lines` shows every line.
    if std::env::var_os("SHOW_FACTS").is_some() {
        std::io::stdout().write_all(report.as_bytes()).unwrap();
    }
    let is_good = judged.iter().all(|session| {
        session.missing.is_empty()
            && session.bad.is_empty()
            && session.lines.len() as f64 <= MOST_LINES_PER_FACT * session.facts as f64
    });
    assert!(is_good, "{report}");
}

pub(crate) fn sessions() -> Vec<PathBuf> {
    let folders = folders_with("session.jsonl");
    assert!(folders.len() >= 51, "{folders:?}");
    folders
}

fn folders_with(file: &str) -> Vec<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/journal");
    let folders = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.join(file).is_file()).collect();
    folders.sort();
    folders
}

/// A session as hooks recorded it.
fn spooled(folder: &Path) -> Bench {
    let bench = Bench::new();
    for line in fs::read_to_string(folder.join("session.jsonl")).unwrap().lines() {
        bench.line_of_hook(line);
    }
    bench
}

/// A session from the transcript of a real client, with its subagents where the client has them.
fn imported(folder: &Path) -> Bench {
    let mut bench = Bench::new();
    let projects = tempfile::tempdir().unwrap();
    let project = projects.path().join("-project");
    fs::create_dir_all(project.join("session/subagents")).unwrap();
    fs::copy(folder.join("transcript.jsonl"), project.join("session.jsonl")).unwrap();
    for subagent in fs::read_dir(folder.join("subagents")).into_iter().flatten() {
        let subagent = subagent.unwrap();
        fs::copy(subagent.path(), project.join("session/subagents").join(subagent.file_name())).unwrap();
    }
    let rules = default_rules();
    let import = Import::of(projects.path(), &bench.spool, &rules).unwrap();
    let imported = import.run(&mut bench.store, |_| ()).unwrap();
    assert_eq!((imported.sessions, imported.unreadable), (1, 0), "{}", folder.display());
    bench
}

fn judge(folder: &Path, mut bench: Bench) -> Judged {
    let facts: Facts = serde_json::from_slice(&fs::read(folder.join("facts.json")).unwrap()).unwrap();
    let plain = bench.plain_lines();
    let missing = facts.facts.iter().filter(|fact| !plain.iter().any(|line| fact.is_in(line)));
    let missing = missing
        .map(|fact| format!("turn {} {}: {:?} {:?}", fact.turn, fact.kind, fact.all, fact.any))
        .collect();
    let bad = plain.iter().filter(|line| says_nothing(line, &facts.noise)).cloned().collect();
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    Judged { name, facts: facts.facts.len(), missing, lines: bench.lines(), bad }
}

/// Returns whether a line only names a tool and a path, or is about what the corpus calls noise.
fn says_nothing(line: &str, noise: &[String]) -> bool {
    let bare = line.strip_prefix("asked: ").unwrap_or(line).to_lowercase();
    let bare = bare.strip_suffix("; no change").unwrap_or(&bare);
    let is_noise = noise
        .iter()
        .any(|noise| bare.trim_end_matches(['.', '!']) == noise.to_lowercase().trim_end_matches(['.', '!']));
    let words: Vec<&str> = bare.split_whitespace().collect();
    let is_tool = matches!(
        words.first(),
        Some(&("read" | "edit" | "write" | "bash" | "grep" | "glob" | "edited" | "wrote" | "ran"))
    );
    let is_short = words.len() <= 1 && bare.is_ascii();
    is_noise || is_short || (is_tool && words.len() == 2)
}
