//! Months of days: the memory comes back to its size a little at a time, and nothing that left it is lost.

use std::collections::HashSet;

use base::Timestamp;
use distiller::{Clearance, Context, Evidence, Operation, apply, budget, is_over};
use memory::Memory;
use memory::history::{History, Removal};

use crate::{add, conversation, entries, memory, replace};

const DAY: u64 = 86_400_000;

const SECTIONS: [&str; 6] = [
    "Decisions",
    "Rejected paths",
    "Live workarounds",
    "Known broken state",
    "Scope changes",
    "Open questions",
];

/// Distills a day as a clone does that remembers since when the memory is over its size.
fn day(
    memory: &Memory,
    number: u64,
    over_since: &mut Option<u64>,
    operations: &[Operation],
) -> distiller::Applied {
    let slice = conversation(&["we talked about this and that", "Noted."]).slice();
    let evidence = Evidence::of(&slice);
    let start: Timestamp = "2026-10-01T09:00:00Z".parse().unwrap();
    let when = Timestamp::from_millis(start.millis() + number * DAY);
    let session = format!("{number:08}-session");
    if !is_over(memory) {
        *over_since = None;
    } else if over_since.is_none() {
        *over_since = Some(number);
    }
    let is_long_over = over_since.is_some_and(|since| (number - since) * DAY >= budget::OVER_MILLIS);
    let clearance = Clearance { is_long_over, ..Clearance::default() };
    let context = Context { session: &session, author: "Ada", when, evidence: &evidence, clearance };
    let applied = apply(memory, operations, &context);
    assert_eq!(
        apply(&applied.memory, operations, &context).memory.render(),
        applied.memory.render(),
        "day {number}"
    );
    applied
}

#[test]
fn months_of_days_make_room_two_old_entries_at_a_time_and_lose_nothing() {
    let mut memory = Memory::fresh(None);
    let by_hand = memory.render() + "\n## Decisions\n\n- The office plant is called Kurt\n";
    memory = Memory::parse(&by_hand);
    let mut history = History::default();
    let mut said: Vec<(u64, String)> = Vec::new();
    let (mut over_since, mut made_room) = (None, 0);
    for number in 0..120_u64 {
        let mut operations: Vec<Operation> = Vec::new();
        // Two busy months, then two in which little is decided.
        for section in &SECTIONS[..if number < 60 { 2 } else { usize::from(number % 4 == 0) }] {
            let text = format!("Module m{number} in {section} follows rule r{number} of team t{number}");
            said.push((number, text.clone()));
            operations.push(add(section, &text, &[1]));
        }
        // Every day one decision of before is superseded.
        if let Some((section, entry)) = memory.entries().filter(|(name, _)| *name == "Decisions").nth(1) {
            let text = format!("Module m{number} has a ruling for part p{number}");
            said.push((number, text.clone()));
            operations.push(replace(section, &distiller::id_of(section, entry), &text, &[1]));
        }
        let applied = day(&memory, number, &mut over_since, &operations);
        assert!(applied.refused.is_empty(), "{:?}", applied.refused);
        let unreplaced: Vec<&Removal> =
            applied.removals.iter().filter(|removal| removal.replaced_by.is_none()).collect();
        assert!(unreplaced.len() <= 2, "day {number}: {unreplaced:?}");
        for removal in &unreplaced {
            let (day, _) =
                said.iter().find(|(_, text)| *text == removal.text).expect("an entry of an earlier day");
            assert!(number - day > 30, "day {number}: {} is of day {day}", removal.text);
        }
        made_room += unreplaced.len();
        memory = applied.memory;
        history = history.merge(History { removals: applied.removals, unreadable: Vec::new() });
    }
    assert!(made_room > 20 && !is_over(&memory), "{made_room}:\n{}", memory.render());
    let kept: HashSet<String> = memory.entries().map(|(_, entry)| entry.text().into_owned()).collect();
    assert!(kept.contains("The office plant is called Kurt"), "what a person wrote stays");
    assert!(kept.len() > 30, "the page is used");
    assert!(kept.iter().any(|text| text.contains("m119 ")), "the newest stays");
    for (_, text) in said {
        let is_findable = kept.contains(&text) || !history.search(&text).is_empty();
        assert!(is_findable, "lost: {text}");
    }
    assert!(history.removals.iter().any(|removal| removal.replaced_by.is_some()));
}

#[test]
fn the_oldest_leaves_first_and_of_one_day_what_no_model_confirmed() {
    let mut memory = Memory::default();
    let mut over_since = None;
    for number in 0..32_u64 {
        let text = format!("Guess g{number} about area a{number} of part p{number}");
        let mut operation = add("Decisions", &text, &[1]);
        if number % 2 == 1 {
            operation.source = distiller::Source::Extraction;
        }
        memory = day(&memory, number / 2, &mut over_since, &[operation]).memory;
    }
    let fact = add("Decisions", "Facts are about thing t of unit u", &[1]);
    let left = day(&memory, 60, &mut Some(50), &[fact]).removals;
    let left: Vec<&str> = left.iter().map(|removal| removal.text.as_str()).collect();
    assert_eq!(left, ["Guess g1 about area a1 of part p1", "Guess g0 about area a0 of part p0"]);
}

#[test]
fn a_person_who_wrote_more_than_the_size_keeps_it_all_and_distillation_its_floor() {
    let lines: Vec<String> = (0..80).map(|number| format!("House rule {number} of part {number}x")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut memory = memory(&[("Decisions", &lines)]);
    let (mut over_since, mut fewest) = (None, usize::MAX);
    for number in 0..90 {
        let fact = format!("Component alpha{number} speaks protocol beta{number} since gamma{number}");
        let operations = if number < 20 {
            vec![add("Rejected paths", &fact, &[1])]
        } else {
            vec![replace("Rejected paths", &fact, &format!("Component omega{number} is silent"), &[1])]
        };
        memory = day(&memory, number, &mut over_since, &operations).memory;
        let count = |word: &str| entries(&memory).iter().filter(|entry| entry.contains(word)).count();
        assert_eq!(count("House rule"), 80);
        if number > 60 {
            fewest = fewest.min(count("Component"));
        }
    }
    assert!(fewest >= budget::FLOOR_LINES, "{fewest}");
}
