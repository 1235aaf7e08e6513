//! Scans all transcripts below a folder, into a database of its own, and once more with nothing new: prints how long each took.

use base::{Env, Paths};
use learning::scan::{self, Options, Silent};
use lessons_admin::catalogue::Places;
use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: scan-speed FOLDER")?);
    let data = tempfile::tempdir()?;
    let env = Env::fixed([("WYREN_DATA_DIR", data.path().as_os_str()), ("HOME", "/home/dev".as_ref())]);
    let places = Places { paths: Paths::of(&env), cwd: data.path().to_owned(), env };
    let options = Options { folders: vec![folder], ..Options::of(&places.env, &places.paths) };
    let mut store = store::open_store(&places.paths, &[])?;
    for _ in 0..2 {
        let began = Instant::now();
        let report = scan::run(&mut store, &places, &options, &mut Silent)?;
        let millis = began.elapsed().as_secs_f64() * 1e3;
        let (files, read, new) = (report.files, report.read, report.kept.new.len());
        writeln!(
            std::io::stdout(),
            "{millis:.1} ms: {files} files, {read} read, {} bytes, {new} new",
            report.bytes
        )?;
    }
    Ok(())
}
