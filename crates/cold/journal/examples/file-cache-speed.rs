//! Prints how long it takes to derive entries, and to write the cache of files that hooks look up:
//! `cargo run --release -p wyren-journal --example file-cache-speed [entries]`.

#![expect(clippy::print_stdout, reason = "an example")]

use base::{Env, Paths, Timestamp};
use capture::{Data, Kept, Observation, Spool};
use serde_json::json;
use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::time::Instant;
use store::observations::{Drain, Drained};

/// How many entries a session has.
const PER_SESSION: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(20_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let project = folder.path().join("project");
    fs::create_dir(&project)?;
    let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
    fs::create_dir_all(paths.data())?;
    let spool = Spool::new(paths.spool());
    for number in 0..count {
        let file =
            |step: usize| format!("src/part-{}/file-{}.rs", number % 100, (number + step * 13) % 10_000);
        let title = format!("file-{number}.rs: `check_{number}` handles case {number}; cargo test passed");
        let data = json!({"type": "change", "title": title, "files_modified": [file(0), file(1), file(2)]});
        let data = Data::Kept(Kept {
            kind: "entry".into(),
            data: Cow::Owned(serde_json::value::to_raw_value(&data)?),
        });
        let session = format!("session-{}", number / PER_SESSION);
        let mut observation = Observation::new(&session, format!("n:{number}"), 1_000 * number as u64, data);
        observation.cwd = project.to_string_lossy();
        spool.append(&observation)?;
    }
    let mut store = journal::open_store(&paths)?;
    let began = Instant::now();
    // One drain derives for two seconds at most.
    while journal::read::entries_where(&store, "1 ORDER BY e.at LIMIT -1 OFFSET ?1", [count as i64 - 1])?
        .is_empty()
    {
        if let Drained::Done(progress) = Drain::unbounded(&spool).run(&mut store, Timestamp::now())? {
            progress.derive_errors.iter().for_each(|error| println!("{error}"));
        }
    }
    println!("{count} entries drained and derived in {:.2} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    journal::file_cache::refresh(&store, &paths)?;
    let bytes = fs::metadata(recall::cache_file(&paths, &project))?.len();
    println!("their cache of {bytes} bytes written in {:.3} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    journal::file_cache::refresh(&store, &paths)?;
    println!("nothing changed: {:.6} s", began.elapsed().as_secs_f64());
    Ok(())
}
