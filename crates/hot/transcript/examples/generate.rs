//! Writes a made-up projects folder: `generate <dir> <bytes>`.

#![expect(clippy::print_stdout, reason = "an example reports on its standard output")]

use std::path::Path;

/// Any number will do; it is fixed so that two runs measure the same tree.
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, bytes] = arguments.as_slice() else {
        return Err("usage: generate <dir> <bytes>".into());
    };
    let written = transcript::synthetic::write_tree(Path::new(folder), bytes.parse()?, SEED)?;
    println!(
        "{} files, {} lines, {} bytes, {} bytes per line",
        written.files,
        written.lines,
        written.bytes,
        written.bytes / written.lines.max(1)
    );
    Ok(())
}
