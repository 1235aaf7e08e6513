//! How quick search is among many documents, and how large its index is.
//!
//! `cargo run --release -p wyren-search --example search-speed -- 1000000`

#![allow(clippy::print_stdout, reason = "it prints figures")]

mod collection;

use collection::{Collection, NOW};
use search::Query;
use search::index::{Change, Index, Writer};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How many documents are added at once while the index is made.
const AT_ONCE: usize = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let documents: usize = std::env::args().nth(1).map_or(Ok(1_000_000), |argument| argument.parse())?;
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let mut collection = Collection::new(documents);

    let mut writer = Writer::open(folder, Duration::ZERO)?;
    let mut took = Duration::ZERO;
    let mut left = documents;
    while left > 0 {
        let changes: Vec<Change> =
            (0..left.min(AT_ONCE)).map(|_| Change::Put(collection.document())).collect();
        left -= changes.len();
        let began = Instant::now();
        writer.apply(changes, "made")?;
        while !writer.tidy(Duration::MAX)? {}
        took += began.elapsed();
    }
    let bytes = bytes_in(folder)?;
    println!("documents            {documents}, {} MB of text", collection.text_bytes / 1_000_000);
    println!("made in              {:.1} s", took.as_secs_f64());
    println!(
        "index                {} MB, {:.2} x the text",
        bytes / 1_000_000,
        bytes as f64 / collection.text_bytes as f64
    );

    let questions = collection.questions();
    ask(folder, &questions)?;
    add_and_forget(&mut writer, &mut collection)?;
    Ok(())
}

/// Asks every question once, after one that warms up; then compares with the exhaustive way.
fn ask(folder: &Path, questions: &[String]) -> Result<(), Box<dyn Error>> {
    let index = Index::open(folder)?;
    let query = |text: &str| Query { text: text.to_owned(), limit: 10, now: NOW, ..Query::default() };
    index.search(&query(&questions[0]));
    let mut times = Vec::new();
    let mut answers = Vec::new();
    for question in questions {
        let began = Instant::now();
        let found = index.search(&query(question));
        times.push((began.elapsed(), question));
        answers.push(found);
    }
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("slowest", 1.0)] {
        println!("{name:<20} {:.2} ms  ({})", at(share).0.as_secs_f64() * 1_000.0, at(share).1);
    }
    let mut overlap = 0.0;
    for (question, found) in questions.iter().zip(&answers) {
        let all = index.search_exhaustively(&query(question));
        let is_as_good = |score: f64| all.hits.last().is_none_or(|last| score >= last.score);
        let same = found.hits.iter().filter(|hit| is_as_good(hit.score)).count();
        overlap += same as f64 / all.hits.len().max(1) as f64;
    }
    println!("overlap of ten       {:.3} with every document judged", overlap / questions.len() as f64);
    Ok(())
}

/// Adds 1,000 documents as a worker does, several times, and removes one for good.
fn add_and_forget(writer: &mut Writer, collection: &mut Collection) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..20 {
        let changes: Vec<Change> = (0..1_000).map(|_| Change::Put(collection.document())).collect();
        let began = Instant::now();
        writer.apply(changes, "added")?;
        times.push(began.elapsed());
    }
    times.sort();
    println!("1,000 added          {:.0} ms, at most {:.0} ms", millis(times[10]), millis(times[19]));
    let began = Instant::now();
    while !writer.tidy(Duration::MAX)? {}
    println!("merged               {:.0} ms", millis(began.elapsed()));
    let began = Instant::now();
    writer.apply([Change::Remove("e7".to_owned())], "removed")?;
    let removed = began.elapsed();
    let began = Instant::now();
    writer.purge()?;
    println!(
        "one forgotten        {:.0} ms, its words off the disk {:.0} ms",
        millis(removed),
        millis(began.elapsed())
    );
    Ok(())
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

fn bytes_in(folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
