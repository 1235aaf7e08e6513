//! The crate against transcripts that the real client wrote, and against files that are being written.

mod offsets;
mod samples;
mod subagents;
mod tail;
mod trees;

use std::path::{Path, PathBuf};

use transcript::Reader;

/// Returns the path of a recorded transcript.
fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Writes a transcript into a folder of its own.
fn transcript_of(text: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// Reads the uuids from `offset` on.
fn uuids_from(path: &Path, offset: u64) -> Vec<String> {
    let mut uuids = Vec::new();
    Reader::new()
        .read(path, offset, |_, record| uuids.extend(record.uuid.as_deref().map(str::to_owned)))
        .unwrap();
    uuids
}
