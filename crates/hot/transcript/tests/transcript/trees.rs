//! Scanning whole trees.

use std::fs;
use std::path::Path;

use transcript::budget::MAX_LINE_BYTES;
use transcript::scan::{self, Tally};
use transcript::tree;

use crate::sample;

fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn sample_tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (number, name) in
        ["auto_compact", "interactive_manual_compact", "tools_subagent_hookctx"].iter().enumerate()
    {
        let text = fs::read(sample(&format!("{name}.jsonl"))).unwrap();
        write(&root.path().join(format!("-home-dev-project-{number}/session.jsonl")), text);
    }
    let subagent = fs::read(sample("tools_subagent_hookctx.subagent.jsonl")).unwrap();
    write(&root.path().join("-home-dev-project-2/session/subagents/agent-a.jsonl"), subagent);
    root
}

fn scan_both_ways(root: &Path) -> [(scan::Report, Tally); 2] {
    let mut full = Tally::default();
    let full_report = scan::full(root, |_, record| full.add(record)).unwrap();
    let mut prefiltered = Tally::default();
    let prefiltered_report =
        scan::prefiltered(root, Tally::NEEDLES, |_, record| prefiltered.add(record)).unwrap();
    [(full_report, full), (prefiltered_report, prefiltered)]
}

#[test]
fn both_scans_count_the_same() {
    let root = sample_tree();
    let [(full_report, full), (prefiltered_report, prefiltered)] = scan_both_ways(root.path());
    assert_eq!((full.tool_errors, full.usage.messages()), (3, 21));
    assert_eq!(prefiltered.tool_errors, full.tool_errors);
    assert_eq!(prefiltered.usage.total(), full.usage.total());
    assert_eq!((full_report.files, full_report.bytes), (4, prefiltered_report.bytes));
    assert!(prefiltered_report.records < full_report.records);
    assert_eq!((full_report.unreadable, full_report.bad_lines, full_report.overlong_lines), (0, 0, 0));
}

#[cfg(feature = "synthetic")]
#[test]
fn a_synthetic_tree_is_read_as_it_was_written() {
    let root = tempfile::tempdir().unwrap();
    let written = transcript::synthetic::write_tree(root.path(), 8_000_000, 7).unwrap();
    assert_eq!(written.files, 3);
    let [(full_report, full), (_, prefiltered)] = scan_both_ways(root.path());
    assert_eq!(
        (full_report.files, full_report.records, full_report.bytes),
        (written.files, written.lines, written.bytes)
    );
    assert_eq!((full.tool_errors, full_report.bad_lines), (written.tool_errors, 0));
    assert_eq!(prefiltered.tool_errors, full.tool_errors);
    assert_eq!(prefiltered.usage.total(), full.usage.total());
    assert!(full.usage.messages() > 0);

    // The lines are JSON to a strict reader too, or the benchmark would measure something else.
    for path in tree::walk(root.path()).unwrap().transcripts {
        for line in fs::read_to_string(path).unwrap().lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
    }
}

#[test]
fn an_overlong_line_is_skipped_and_counted() {
    let root = tempfile::tempdir().unwrap();
    let mut text = b"{\"uuid\":\"".to_vec();
    text.resize(MAX_LINE_BYTES + 1, b'x');
    text.extend_from_slice(b"\"}\n{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"is_error\":true}]}}\n");
    write(&root.path().join("p/s.jsonl"), text);
    for (report, tally) in scan_both_ways(root.path()) {
        assert_eq!((report.records, report.overlong_lines, report.bad_lines), (1, 1, 0));
        assert_eq!(tally.tool_errors, 1);
    }
}

#[test]
fn a_walk_is_bounded_and_leaves_tool_results_out() {
    let root = tempfile::tempdir().unwrap();
    let kept = ["p/b.jsonl", "p/s/subagents/agent-a.jsonl", "a/b/c/d/deep.jsonl", "top.jsonl"];
    let left = ["p/s/tool-results/output.jsonl", "p/notes.txt", "a/b/c/d/e/too-deep.jsonl"];
    for path in kept.iter().chain(&left) {
        write(&root.path().join(path), "{}\n");
    }
    let mut expected: Vec<_> = kept.iter().map(|path| root.path().join(path)).collect();
    expected.sort();
    assert_eq!(tree::walk(root.path()).unwrap().transcripts, expected);
}

#[cfg(unix)]
#[test]
fn symlinks_are_not_followed() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    write(&outside.path().join("secret.jsonl"), "{}\n");
    let root = tempfile::tempdir().unwrap();
    write(&root.path().join("p/own.jsonl"), "{}\n");
    symlink(outside.path(), root.path().join("p/folder")).unwrap();
    symlink(outside.path().join("secret.jsonl"), root.path().join("p/file.jsonl")).unwrap();
    symlink(root.path(), root.path().join("p/loop")).unwrap();
    assert_eq!(tree::walk(root.path()).unwrap().transcripts, [root.path().join("p/own.jsonl")]);
}

#[test]
fn a_missing_root_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    assert!(tree::walk(&root.path().join("missing")).unwrap_err().is_not_found());
}
