//! The tables are a function of the observations alone: neither their order, nor repetition, nor when they are drained matters.

use crate::bench::Bench;
use crate::facts::sessions;
use proptest::prelude::*;
use std::fs;

/// Every table, with rows named by what they are about: row numbers say in which order things came.
const TABLES: [&str; 6] = [
    "SELECT json_array(e.id, s.id, coalesce(t.id, 0), a.id, p.key, e.at, e.kind, e.title, e.detail, e.branch, e.tokens, e.source,
         e.is_noise, e.is_pinned, e.replaced_by, e.is_repeated, e.times)
     FROM entries AS e JOIN sessions AS s ON s.row = e.session LEFT JOIN observations AS t ON t.row = e.turn
     JOIN observations AS a ON a.row = e.anchor JOIN projects AS p ON p.row = e.project ORDER BY 1",
    "SELECT json_array(f.path, e.id, f.is_changed) FROM entry_files AS f JOIN entries AS e ON e.row = f.entry ORDER BY 1",
    "SELECT json_array(p.key, k.key, k.place, e.id) FROM entry_keys AS k JOIN entries AS e ON e.row = k.entry
     JOIN projects AS p ON p.row = k.project ORDER BY 1",
    "SELECT json_array(m.id, s.id, coalesce(t.id, 0), a.id, p.key, m.at, m.request, m.investigated, m.learned, m.completed,
         m.next_steps, m.notes, m.files_read, m.files_edited, m.tokens, m.source)
     FROM summaries AS m JOIN sessions AS s ON s.row = m.session LEFT JOIN observations AS t ON t.row = m.turn
     JOIN observations AS a ON a.row = m.anchor JOIN projects AS p ON p.row = m.project ORDER BY 1",
    "SELECT json_array(s.id, t.number) FROM turns AS t JOIN sessions AS s ON s.row = t.session ORDER BY 1",
    "SELECT json_array(o.id, m.entry, m.at, m.data) FROM amends AS m JOIN observations AS o ON o.row = m.observation ORDER BY 1",
];

fn tables(bench: &mut Bench) -> Vec<Vec<String>> {
    bench.drain();
    let connection = bench.store.connection();
    let rows = |query: &str| -> Vec<String> {
        let mut select = connection.prepare(query).unwrap();
        select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    TABLES.iter().map(|query| rows(query)).collect()
}

/// The observations of some sessions, a session that repeats one of them later, and amendments.
fn observations() -> Vec<String> {
    let mut lines = Vec::new();
    let folders = sessions();
    for folder in [&folders[0], &folders[4], &folders[16], &folders[20], &folders[21]] {
        let text = fs::read_to_string(folder.join("session.jsonl")).unwrap();
        lines.extend(text.lines().map(str::to_owned));
    }
    let again: Vec<String> = lines
        .iter()
        .take(12)
        .map(|line| {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            value["session"] = "again".into();
            value["ts"] = (value["ts"].as_u64().unwrap() + 90_000_000).into();
            value.to_string()
        })
        .collect();
    lines.extend(again);
    lines
}

/// Shuffles by a seed, without a library.
fn shuffled(mut lines: Vec<String>, mut seed: u64) -> Vec<String> {
    for at in (1..lines.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lines.swap(at, (seed >> 33) as usize % (at + 1));
    }
    lines
}

#[test]
fn a_session_told_again_is_merged_and_counted() {
    let mut bench = Bench::new();
    observations().iter().for_each(|line| bench.line(line));
    let entries = bench.entries();
    let repeated: Vec<_> = entries.iter().filter(|entry| entry.times > 1).collect();
    assert!(!repeated.is_empty(), "{entries:#?}");
    assert!(repeated[0].line().ends_with("(2 times)"), "{}", repeated[0].line());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_tables_do_not_depend_on_order_repetition_or_drains(seed in any::<u64>(), pieces in 1usize..7) {
        let lines = observations();
        let mut expected = Bench::new();
        lines.iter().for_each(|line| expected.line(line));
        let expected = tables(&mut expected);

        let mut bench = Bench::new();
        let mut mixed = shuffled(lines, seed);
        let repeated: Vec<String> = mixed.iter().step_by(3).cloned().collect();
        mixed.extend(repeated);
        for piece in mixed.chunks(mixed.len().div_ceil(pieces)) {
            piece.iter().for_each(|line| bench.line(line));
            bench.drain();
        }
        let found = tables(&mut bench);
        for (table, (found, expected)) in found.iter().zip(&expected).enumerate() {
            prop_assert_eq!(found, expected, "table {}", table);
        }
    }
}
