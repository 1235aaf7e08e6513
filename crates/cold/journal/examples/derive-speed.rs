//! Measures how fast the journal is derived: `derive-speed [calls]`, 100,000 by default. Prints observations per second for the
//! drain and for deriving, and how many bytes 1,000 calls take on disk.

use base::Timestamp;
use capture::{Observation, Spool};
use serde_json::{Value, json};
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;
use store::Store;
use store::observations::Drain;

const CALLS: u64 = 100_000;
const CALLS_PER_TURN: u64 = 12;
const TURNS_PER_SESSION: u64 = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let calls = std::env::args().nth(1).map_or(Ok(CALLS), |calls| calls.parse())?;
    let folder = tempfile::tempdir()?;
    let spool = Spool::new(folder.path().join("spool"));
    let lines = fill(&spool, calls)?;
    let file = folder.path().join("wyren.db");
    let started = Instant::now();
    {
        let mut store = Store::open(&file, store::TABLES)?;
        Drain::unbounded(&spool).run(&mut store, Timestamp::now())?;
    }
    let drained = started.elapsed().as_secs_f64();
    let before = size(folder.path())?;
    let started = Instant::now();
    let mut store = Store::open(&file, store::TABLES)?.deriving(journal::DERIVED);
    // A drain derives for two seconds at most.
    while !is_derived(&store)? {
        Drain::unbounded(&spool).run(&mut store, Timestamp::now())?;
    }
    let derived = started.elapsed().as_secs_f64();
    let entries: i64 = store.connection().query_row("SELECT count(*) FROM entries", [], |row| row.get(0))?;
    drop(store);
    let after = size(folder.path())?;
    let mut out = std::io::stdout();
    writeln!(out, "drain: {:.0} observations/s ({lines} in {drained:.2} s)", lines as f64 / drained)?;
    writeln!(
        out,
        "derive: {:.0} observations/s ({lines} in {derived:.2} s), {entries} entries",
        lines as f64 / derived
    )?;
    let per = |bytes: u64| bytes as f64 * 1_000.0 / calls as f64 / 1_024.0;
    writeln!(
        out,
        "per 1,000 calls: {:.0} KiB of observations, {:.0} KiB of journal",
        per(before),
        per(after - before)
    )?;
    Ok(())
}

fn is_derived(store: &Store) -> Result<bool, Box<dyn Error>> {
    let query = "SELECT max(row) <= (SELECT coalesce(min(watermark), 0) FROM derived WHERE name = 'journal') FROM observations";
    Ok(store.connection().query_row(query, [], |row| row.get::<_, Option<bool>>(0))?.unwrap_or_default())
}

/// Returns how large the database and its log are.
fn size(folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut size = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("wyren.db") {
            size += entry.metadata()?.len();
        }
    }
    Ok(size)
}

/// Fills the spool with turns as sessions have them: a prompt, reading, edits, checks, and an answer.
fn fill(spool: &Spool, calls: u64) -> Result<u64, Box<dyn Error>> {
    let mut lines = 0;
    let start = Timestamp::now().millis();
    for turn in 0..calls.div_ceil(CALLS_PER_TURN) {
        let session = format!("5f0c1a52-0000-4000-8000-{:012}", turn / TURNS_PER_SESSION);
        let mut put = |kind: &str, id: String, data: Value| -> Result<(), Box<dyn Error>> {
            let line = json!({"v": 2, "kind": kind, "id": id, "ts": start + lines * 900, "session": session, "cwd": "/home/dev/project", "data": data});
            let line = line.to_string();
            let observation = Observation::read(line.as_bytes()).ok_or("no observation")?;
            spool.append(&observation)?;
            lines += 1;
            Ok(())
        };
        let area = turn % 97;
        let subject = subject(turn);
        put(
            "prompt",
            format!("p:{turn}"),
            json!({"text": format!("Please fix the {subject} of list {area}: it is wrong for empty rows. Keep the old order because exports need it."), "branch": "main"}),
        )?;
        for call in 0..CALLS_PER_TURN {
            put("tool", format!("t:{turn}-{call}"), self::call(turn, call, area))?;
        }
        let answer = format!(
            "`sort_{area}` now keeps empty rows last. The root cause was the {subject}, which compared strings. All 14 tests pass."
        );
        put("turn-end", format!("e:{turn}"), json!({"outcome": "done", "text": answer}))?;
    }
    Ok(lines)
}

/// Returns what a turn is about: most are about something else than those before.
fn subject(turn: u64) -> String {
    const WORDS: [&str; 16] = [
        "invoice",
        "parcel",
        "label",
        "customer",
        "upload",
        "refund",
        "webhook",
        "carrier",
        "search",
        "login",
        "export",
        "report",
        "thumbnail",
        "queue",
        "migration",
        "session",
    ];
    let word = |shift: u64| WORDS[(turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize % WORDS.len()];
    format!("{} {} {}", word(20), word(34), word(48))
}

fn call(turn: u64, call: u64, area: u64) -> Value {
    let path = format!("/home/dev/project/src/module_{area}/list.rs");
    let source: String = (0..40)
        .map(|line| format!("fn sort_{line}(rows: &mut Vec<Row>) {{\n    rows.sort();\n}}\n\n"))
        .collect();
    match call % 6 {
        0 | 1 => json!({
            "tool": "Read", "input": {"file_path": path},
            "output": {"type": "text", "file": {"filePath": path, "content": source, "startLine": 1}},
        }),
        2 => {
            json!({"tool": "Grep", "input": {"pattern": "sort_"}, "output": {"mode": "files_with_matches", "filenames": [path]}})
        }
        3 => json!({
            "tool": "Edit", "input": {"file_path": path, "old_string": "    rows.sort();", "new_string": "    rows.sort_by_key(Row::place);\n    debug(rows);"},
            "output": {"filePath": path, "structuredPatch": [{"oldStart": 4 * (turn % 40) + 1, "oldLines": 3, "newStart": 4 * (turn % 40) + 1, "newLines": 4,
                "lines": [format!(" fn sort_{}(rows: &mut Vec<Row>) {{", turn % 40), "-    rows.sort();", "+    rows.sort_by_key(Row::place);", "+    debug(rows);", " }"]}]},
        }),
        4 if turn.is_multiple_of(3) => json!({
            "tool": "Bash", "input": {"command": "cargo test --workspace 2>&1 | tail -20"},
            "error": format!("Exit code 101\ntest list::empty_{area} ... FAILED\n{}\ntest result: FAILED. 13 passed; 1 failed; 0 ignored", "a line of output\n".repeat(20)),
        }),
        _ => json!({
            "tool": "Bash", "input": {"command": "cargo test --workspace", "description": "Run all tests"},
            "output": {"stdout": format!("{}test result: ok. 14 passed; 0 failed; 0 ignored", "test list::x ... ok\n".repeat(14)), "stderr": ""},
        }),
    }
}
