//! No program opens a file in a way that waits for a pipe or reads without an end, and none makes folders by itself, but for
//! the places listed here.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

/// Ways to open a file without a look at what it is. `base::files` has those to use instead: `read_capped`, `read_followed`,
/// `read_start`, `read_end`, `open_regular`.
const PLAIN: [&str; 5] =
    ["fs::read(", "fs::read_to_string(", "File::open(", "OpenOptions::new()", "File::options()"];

/// Files that may, how many times, and why. One that no longer does fails the test.
const ALLOWED: [(&str, usize, &str); 25] = [
    ("bins/wyren/src/commands/distill/drop_in.rs", 1, "a transcript that the user names"),
    ("bins/wyren/src/commands/forget/leftovers.rs", 1, "the data folder, which is the user's alone"),
    ("bins/wyren/src/commands/import.rs", 1, "a file that the user names, which may be a pipe"),
    ("bins/wyren/src/commands/lessons/add.rs", 1, "a file that the user names, which may be a pipe"),
    ("bins/wyren/src/reference.rs", 2, "tests of the reference"),
    ("crates/cold/distill/src/origin.rs", 1, "a transcript, known to be a file"),
    ("crates/cold/distiller/src/evaluation.rs", 1, "the evaluation, for development"),
    ("crates/cold/distiller/src/slice.rs", 1, "a transcript, known to be a file"),
    ("crates/cold/model/src/provider/http.rs", 1, "a file of certificates that the user's environment names"),
    ("crates/cold/model/src/provider/scripted.rs", 1, "a script for tests"),
    ("crates/cold/store/src/open.rs", 1, "the data folder, which is the user's alone"),
    ("crates/cold/store/src/repair/header.rs", 3, "the data folder, which is the user's alone"),
    ("crates/cold/team-sync/src/repository/setup.rs", 1, "appends to a file that was just read by its kind"),
    ("crates/hot/base/src/files.rs", 2, "the openers themselves"),
    ("crates/hot/base/src/system/unix.rs", 2, "files of the kernel"),
    ("crates/hot/base/src/system/windows.rs", 1, "the log, to see whether it is still the same file"),
    ("crates/hot/capture/src/read.rs", 5, "the spool, in the data folder, which is the user's alone"),
    ("crates/hot/hook/src/claims.rs", 3, "the claims, in a folder that is the user's alone"),
    ("crates/hot/lessons/src/layers.rs", 1, "the index, in the data folder, which is the user's alone"),
    ("crates/hot/queue/src/worker.rs", 1, "the data folder, which is the user's alone"),
    (
        "crates/hot/recall/src/place.rs",
        1,
        "the cache of files, in the data folder, which is the user's alone",
    ),
    ("crates/hot/transcript/src/slice.rs", 1, "the client's transcripts"),
    ("crates/hot/transcript/src/stream.rs", 1, "the client's transcripts"),
    ("crates/hot/transcript/src/subagent.rs", 1, "the client's transcripts, known to be a file"),
    ("crates/hot/transcript/src/tail.rs", 2, "the client's transcripts"),
];

/// Ways to make a folder, and maybe all above it. `files::create_private_folder` makes none for a project that was removed.
const MAKING: [&str; 3] = ["create_dir(", "create_dir_all(", "DirBuilder::new()"];

/// Files that make folders by themselves, how many times, and why.
const MAKERS: [(&str, usize, &str); 5] = [
    ("crates/cold/model/src/provider/cli.rs", 1, "tests of the search for the program"),
    ("crates/cold/team-sync/src/repository/setup.rs", 1, "`.git/info`, and not what it is in"),
    ("crates/cold/team-sync/src/setup.rs", 2, "`wyren init`"),
    ("crates/hot/base/src/files.rs", 1, "the makers themselves"),
    ("crates/hot/transcript/src/synthetic.rs", 1, "transcripts for tests and benchmarks"),
];

/// Returns the number of `patterns` in a source, without its tests and comments.
fn count(source: &str, patterns: &[&str]) -> usize {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| patterns.iter().map(|pattern| line.matches(pattern).count()).sum::<usize>()).sum()
}

fn is_shipped(path: &str) -> bool {
    let is_source = path.ends_with(".rs") && path.contains("/src/") && !path.ends_with("/tests.rs");
    let is_of_tests = ["crates/fixture/", "crates/tables/"].iter().any(|folder| path.starts_with(folder));
    is_source && !is_of_tests
}

/// Checks that `patterns` are in no source but those of the list, as often as it says.
fn check(patterns: &[&str], listed: &[(&str, usize, &str)], remedy: &str) -> Result<()> {
    let allowed: BTreeMap<&str, usize> = listed.iter().map(|(path, count, _)| (*path, *count)).collect();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let listed = Command::new("git").args(["ls-files", "-z", "crates", "bins"]).current_dir(root).output()?;
    ensure!(listed.status.success(), "git ls-files failed");
    let listed = String::from_utf8(listed.stdout)?;
    let mut found = BTreeMap::new();
    for path in listed.split('\0').filter(|path| is_shipped(path) && root.join(path).is_file()) {
        let count = count(&fs::read_to_string(root.join(path))?, patterns);
        if count > 0 {
            found.insert(path, count);
        }
    }
    assert_eq!(found, allowed, "{remedy}, or list the file with its reason");
    Ok(())
}

#[test]
fn files_of_others_are_opened_through_one_opener() -> Result<()> {
    check(&PLAIN, &ALLOWED, "read through base::files")
}

#[test]
fn d3_folders_are_made_through_one_function() -> Result<()> {
    check(&MAKING, &MAKERS, "make folders through base::files")
}

#[test]
fn a_plain_opening_is_counted_and_its_harmless_neighbours_are_not() {
    let source = "let a = fs::read(path)?;\nlet b = std::fs::File::open(path)?;\n// fs::read(path)\nfs::read_dir(path)?;\n\
                  files::read_capped(path, 1)?;\n#[cfg(test)]\nmod tests { fn t() { fs::read(path); } }\n";
    assert_eq!(count(source, &PLAIN), 2);
}
