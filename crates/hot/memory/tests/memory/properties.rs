//! Laws that hold for any memory.

use std::collections::BTreeSet;

use memory::{
    BroadcastFile, Delta, INJECTION_UNITS, LIVE_UPDATE_BYTES, Memory, Provenance, diff, merge, section,
};
use proptest::prelude::*;

use crate::{inject, render};

/// What a memory says: section and identity of each entry.
fn said(memory: &Memory) -> BTreeSet<(String, String)> {
    memory.entries().map(|(section, entry)| (section.to_owned(), entry.identity())).collect()
}

fn merged(base: &Memory, ours: &Memory, theirs: &Memory) -> Memory {
    merge(base, ours, theirs).memory
}

/// A memory of the known sections, from a small vocabulary, so that sides meet in the same entries.
fn memory() -> impl Strategy<Value = Memory> {
    let text = prop_oneof![
        4 => (0..24_u8).prop_map(|n| format!("fact {n}")),
        2 => (0..12_u8, 0..3_u8).prop_map(|(n, m)| format!("use tool number {n} for job {m}")),
        1 => (0..6_u8).prop_map(|n| format!("**Fact** {n}.")),
        1 => (0..4_u8).prop_map(|n| format!("決定 {n} を使う")),
    ];
    let tag = prop_oneof![
        3 => Just(String::new()),
        1 => (0..3_u8, 0..3_u8).prop_map(|(s, t)| format!(" [session {s}{s}{s}{s}aaaa, turn {t}]")),
        1 => (0..3_u8, 1..9_u8).prop_map(|(s, d)| format!(" [session {s}{s}{s}{s}aaaa, turn 1, by Ada, 2026-11-0{d}]")),
    ];
    let entry = (0..4_usize, text, tag);
    proptest::collection::vec(entry, 0..24).prop_map(|entries| {
        let mut text = String::from("# Wyren Memory\n");
        for (at, name) in section::ORDER.iter().take(4).enumerate() {
            let of_section: Vec<_> = entries.iter().filter(|(section, ..)| *section == at).collect();
            if !of_section.is_empty() {
                text.push_str(&format!("\n## {name}\n\n"));
                of_section.iter().for_each(|(_, entry, tag)| text.push_str(&format!("- {entry}{tag}\n")));
            }
        }
        Memory::parse(&text)
    })
}

/// Lines that mean something to the parser, in any order, with any line break.
fn markdown() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("# Wyren Memory".to_owned()),
        (0..8_usize).prop_map(|at| format!("## {}", section::ORDER[at])),
        Just("## Team notes".to_owned()),
        Just("##".to_owned()),
        Just("```".to_owned()),
        Just("~~~~ rust".to_owned()),
        Just(String::new()),
        Just("  ".to_owned()),
        (0..9_u8).prop_map(|n| format!("- fact {n}")),
        (0..9_u8).prop_map(|n| format!("* fact {n} [session 0000aaaa, turn 1]")),
        (0..5_u8).prop_map(|n| format!("  more {n}")),
        (0..5_u8).prop_map(|n| format!("prose {n}")),
        Just("<!-- comment -->".to_owned()),
        Just("- [session x, turn 1]".to_owned()),
        Just("-".to_owned()),
        "\\PC{0,12}",
        any::<String>(),
    ];
    let ending = prop_oneof![8 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r"), 1 => Just("")];
    proptest::collection::vec((line, ending), 0..24)
        .prop_map(|lines| lines.into_iter().map(|(line, ending)| line + ending).collect())
}

/// Free text of one unknown section.
fn free_text() -> impl Strategy<Value = Memory> {
    proptest::collection::vec(0..10_u8, 0..12).prop_map(|lines| {
        let lines: String = lines.iter().map(|n| format!("line {n}\n")).collect();
        Memory::parse(&format!("# Wyren Memory\n\n## Team notes\n\n{lines}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_was_parsed_renders_to_the_same_bytes(text in markdown()) {
        prop_assert_eq!(Memory::parse(&text).render(), text);
    }

    #[test]
    fn a_merge_keeps_what_was_added_and_drops_what_was_removed(base in memory(), ours in memory(), theirs in memory()) {
        let result = said(&merged(&base, &ours, &theirs));
        let (base, ours, theirs) = (said(&base), said(&ours), said(&theirs));
        let mut expected: BTreeSet<_> = ours.intersection(&theirs).cloned().collect();
        expected.extend(ours.difference(&base).cloned());
        expected.extend(theirs.difference(&base).cloned());
        prop_assert_eq!(result, expected);
    }

    #[test]
    fn a_merge_is_symmetric(base in memory(), ours in memory(), theirs in memory()) {
        let (one, two) = (merged(&base, &ours, &theirs), merged(&base, &theirs, &ours));
        prop_assert_eq!(said(&one), said(&two));
        // Not only the identities: the same spelling and the same tag of each entry.
        let raws = |memory: &Memory| -> BTreeSet<String> { memory.entries().map(|(_, entry)| entry.raw().to_owned()).collect() };
        if base != ours && base != theirs {
            prop_assert_eq!(raws(&one), raws(&two));
        }
    }

    #[test]
    fn a_merge_has_every_entry_once(base in memory(), ours in memory(), theirs in memory()) {
        prop_assume!(ours != theirs && base != ours && base != theirs);
        let result = merged(&base, &ours, &theirs);
        prop_assert_eq!(result.entries().count(), said(&result).len());
    }

    #[test]
    fn merging_again_changes_nothing(base in memory(), ours in memory(), theirs in memory()) {
        let result = merged(&base, &ours, &theirs);
        prop_assert_eq!(&merged(&base, &ours, &ours), &ours);
        prop_assert_eq!(&merged(&ours, &ours, &theirs), &theirs);
        prop_assert_eq!(&merged(&theirs, &result, &theirs), &result);
        prop_assert_eq!(&merged(&ours, &result, &ours), &result);
        prop_assert_eq!(said(&merged(&base, &result, &theirs)), said(&result));
    }

    #[test]
    fn three_clones_end_alike_in_any_order(base in memory(), one in memory(), two in memory(), three in memory()) {
        // Each clone meets the tip of the remote with the base that it last saw, which is the first one.
        let clones = [&one, &two, &three];
        let sync = |order: [usize; 3]| {
            let tip = merged(&base, clones[order[1]], clones[order[0]]);
            said(&merged(&base, clones[order[2]], &tip))
        };
        let expected = sync([0, 1, 2]);
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            prop_assert_eq!(&sync(order), &expected);
        }
    }

    #[test]
    fn free_text_keeps_the_lines_that_neither_side_removed(base in free_text(), ours in free_text(), theirs in free_text()) {
        let lines = |memory: &Memory| -> BTreeSet<String> { memory.render().lines().map(str::to_owned).collect() };
        let result = lines(&merged(&base, &ours, &theirs));
        let (base, ours, theirs) = (lines(&base), lines(&ours), lines(&theirs));
        for line in ours.difference(&base).chain(theirs.difference(&base)) {
            prop_assert!(result.contains(line), "{} is lost", line);
        }
        for line in base.iter().filter(|line| ours.contains(*line) && theirs.contains(*line)) {
            prop_assert!(result.contains(line), "{} is lost", line);
        }
    }

    #[test]
    fn any_text_can_be_merged_told_and_injected(base in markdown(), ours in markdown(), theirs in markdown(), bytes in 0..5_000_usize) {
        let (base, ours, theirs) = (Memory::parse(&base), Memory::parse(&ours), Memory::parse(&theirs));
        let result = merged(&base, &ours, &theirs);
        prop_assert_eq!(&Memory::parse(&result.render()), &result);
        prop_assert!(!result.render().contains("<<<<<<<"));
        let update = render(&diff(&ours, &result), bytes);
        prop_assert!(update.text.len() <= bytes);
        update.rest.undo(&result);
        let file = BroadcastFile { path: "skills/x.md", body: &base.render(), is_trusted: false };
        let injection = inject(&theirs, &[file], bytes);
        prop_assert!(injection.text.encode_utf16().count() <= bytes);
        let mut edited = ours;
        edited.add("Decisions", "an addition", &Provenance::default());
        edited.add_handoff_note("note", "2026-11-16T00:00:00Z", None);
        let again = Memory::parse(&edited.render());
        prop_assert!(again.contains("Decisions", "an addition"));
        prop_assert!(again.contains("Handoff notes", "[2026-11-16T00:00:00Z] note"));
    }

    #[test]
    fn arbitrary_bytes_never_panic(one in any::<String>(), two in any::<String>()) {
        let (one, two) = (Memory::parse(&one), Memory::parse(&two));
        merge(&Memory::default(), &one, &two);
        render(&diff(&one, &two), LIVE_UPDATE_BYTES);
        inject(&one, &[], INJECTION_UNITS);
    }

    #[test]
    fn a_delta_leads_from_the_old_memory_to_the_new_one(old in memory(), new in memory()) {
        let delta = diff(&old, &new);
        prop_assert_eq!(said(&delta.undo(&new)), said(&old));
        prop_assert_eq!(delta.is_empty(), said(&old) == said(&new));
        prop_assert!(diff(&new, &new).is_empty());
    }

    #[test]
    fn every_change_is_shown_once_however_small_the_page(old in memory(), new in memory(), bytes in 800..1_600_usize) {
        let mut shown = old.render();
        let mut told = Vec::new();
        for _ in 0..200 {
            // As a hook does it: the snapshot is a file that is read again.
            let delta = diff(&Memory::parse(&shown), &new);
            if delta.is_empty() {
                break;
            }
            let update = render(&delta, bytes);
            prop_assert!(!update.text.is_empty() && update.text.len() <= bytes);
            told.extend(new_identities(&delta).difference(&new_identities(&update.rest)).cloned().collect::<Vec<_>>());
            shown = update.rest.undo(&new).render();
        }
        let expected: BTreeSet<_> = said(&new).difference(&said(&old)).cloned().collect();
        prop_assert_eq!(told.len(), expected.len());
        prop_assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}

fn new_identities(delta: &Delta) -> BTreeSet<(String, String)> {
    let of_section = |section: &memory::SectionDelta| -> Vec<(String, String)> {
        let edited = section.edited.iter().map(|edit| &edit.after);
        section.added.iter().chain(edited).map(|entry| (section.section.clone(), entry.identity())).collect()
    };
    delta.sections.iter().flat_map(of_section).collect()
}
