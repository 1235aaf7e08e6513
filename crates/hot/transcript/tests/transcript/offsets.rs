//! Reading a transcript bit by bit while it is written.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use proptest::prelude::*;
use transcript::{Progress, Reader};

use crate::{transcript_of, uuids_from};

/// Reads from `offset` and returns the offset of each record and its uuid.
fn read(path: &Path, offset: u64) -> (Vec<(u64, String)>, Progress) {
    let mut found = Vec::new();
    let progress = Reader::new()
        .read(path, offset, |at, record| {
            found.push((at, record.uuid.as_deref().unwrap_or_default().to_owned()))
        })
        .unwrap();
    (found, progress)
}

#[test]
fn a_half_written_line_is_left_for_the_next_time() {
    let (_folder, path) = transcript_of("{\"uuid\":\"a\"}\n{\"uuid\":\"b");
    let (found, progress) = read(&path, 0);
    assert_eq!(found, [(0, "a".to_owned())]);
    assert_eq!((progress.offset, progress.records, progress.bad_lines), (13, 1, 0));

    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"\"}\n").unwrap();
    let (found, progress) = read(&path, progress.offset);
    assert_eq!(found, [(13, "b".to_owned())]);
    assert_eq!(progress.offset, 26);
    assert_eq!(read(&path, progress.offset).1.bytes(), 0);
}

#[test]
fn carriage_returns_and_a_missing_last_newline_keep_offsets_exact() {
    let (_folder, path) = transcript_of("{\"uuid\":\"a\"}\r\n\r\n{\"uuid\":\"b\"}");
    let (found, progress) = read(&path, 0);
    assert_eq!(found, [(0, "a".to_owned()), (16, "b".to_owned())]);
    assert_eq!(progress.offset, 28);

    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"\r\n{\"uuid\":\"c\"}\r\n").unwrap();
    let (found, progress) = read(&path, progress.offset);
    assert_eq!(found, [(30, "c".to_owned())]);
    assert_eq!((progress.offset, progress.bad_lines), (44, 0));
}

#[test]
fn a_transcript_that_shrank_is_read_from_its_start_and_says_so() {
    let (_folder, path) = transcript_of("{\"uuid\":\"new\"}\n");
    let (found, progress) = read(&path, 1_000);
    assert_eq!(found, [(0, "new".to_owned())]);
    assert!(progress.restarted);
    assert!(!read(&path, progress.offset).1.restarted);
}

#[test]
fn bad_lines_are_counted_and_skipped() {
    let (_folder, path) =
        transcript_of(b"{\"uuid\":\"a\"}\nnonsense\n{\"cut\n\xff\xfe\n[1]\n{\"uuid\":\"b\"}\n");
    let (found, progress) = read(&path, 0);
    assert_eq!(found.len(), 2);
    assert_eq!((progress.records, progress.bad_lines), (2, 4));
}

#[test]
fn a_missing_transcript_differs_from_an_unreadable_one() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.jsonl");
    let error = Reader::new().read(&missing, 0, |_, _| {}).unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(error.to_string(), format!("open transcript {}", missing.display()));
    assert!(!Reader::new().read(folder.path(), 0, |_, _| {}).unwrap_err().is_not_found());
}

/// Lines of every sort: records, bad ones, blank ones, both line endings.
fn any_transcript() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => (0_u16..1000, "[a-zé\\\\n\"]{0,30}").prop_map(|(number, text)| {
            serde_json::json!({"type": "user", "uuid": format!("u{number}"), "message": {"content": text}}).to_string()
        }),
        1 => Just(String::new()),
        1 => Just("  ".to_owned()),
        1 => "[a-z{}\"]{1,10}".prop_map(|text| format!("x{text}")),
    ];
    let ending = prop_oneof![Just("\n"), Just("\r\n")];
    (prop::collection::vec((line, ending), 0..12), any::<bool>()).prop_map(|(lines, last_newline)| {
        let mut text: String = lines.into_iter().map(|(line, ending)| line + ending).collect();
        if !last_newline {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_increments_give_the_records_of_the_whole(
        text in any_transcript(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let (_folder, whole) = transcript_of(&text);
        let (expected, at_once) = read(&whole, 0);

        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).chain([text.len()]).collect();
        cuts.sort_unstable();
        let (_folder, growing) = transcript_of("");
        let mut found = Vec::new();
        let mut bad_lines = 0;
        let mut offset = 0;
        for cut in cuts {
            std::fs::write(&growing, &text.as_bytes()[..cut]).unwrap();
            let (more, progress) = read(&growing, offset);
            prop_assert!(!progress.restarted);
            prop_assert!(progress.offset >= offset);
            found.extend(more);
            bad_lines += progress.bad_lines;
            offset = progress.offset;
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(bad_lines, at_once.bad_lines);
        // A line ending that arrives on its own is used up with the next line, or with nothing.
        prop_assert_eq!(offset, at_once.offset);
    }

    #[test]
    fn a_prefiltered_pass_finds_what_a_full_pass_would(text in any_transcript()) {
        let (_folder, path) = transcript_of(&text);
        let mut expected = Vec::new();
        Reader::new().read(&path, 0, |at, record| {
            if record.uuid.as_deref().is_some_and(|uuid| uuid.contains('7')) || record.uuid.as_deref() == Some("u3") {
                expected.push(at);
            }
        }).unwrap();
        let mut found = Vec::new();
        let needles = ["7", "\"uuid\":\"u3\""];
        Reader::only_lines_with(&needles).read(&path, 0, |at, _| found.push(at)).unwrap();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn every_offset_from_the_tail_is_where_a_record_begins(text in any_transcript(), count in 0_usize..8) {
        let (_folder, path) = transcript_of(&text);
        let all = uuids_from(&path, 0);
        let offset = transcript::tail::offset_of_last_records(&path, count).unwrap();
        prop_assert_eq!(uuids_from(&path, offset), &all[all.len().saturating_sub(count)..]);
    }
}
