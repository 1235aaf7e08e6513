//! A month of days: the memory stays a page, and nothing that left it is lost.

use std::collections::HashSet;

use base::Timestamp;
use distiller::{Context, Evidence, Operation, apply, budget};
use memory::Memory;
use memory::history::History;

use crate::{add, conversation, entries, replace};

const DAY: u64 = 86_400_000;

const SECTIONS: [&str; 6] = [
    "Decisions",
    "Rejected paths",
    "Live workarounds",
    "Known broken state",
    "Scope changes",
    "Open questions",
];

fn day(memory: &Memory, number: u64, operations: &[Operation]) -> distiller::Applied {
    let slice = conversation(&["we talked about this and that", "Noted."]).slice();
    let evidence = Evidence::of(&slice);
    let start: Timestamp = "2026-10-01T09:00:00Z".parse().unwrap();
    let when = Timestamp::from_millis(start.millis() + number * DAY);
    let session = format!("{number:08}-session");
    let context = Context { session: &session, author: "Ada", when, evidence: &evidence };
    let applied = apply(memory, operations, &context);
    assert_eq!(
        apply(&applied.memory, operations, &context).memory.render(),
        applied.memory.render(),
        "day {number}"
    );
    applied
}

#[test]
fn a_month_of_days_stays_within_the_target_and_loses_nothing() {
    let mut memory = Memory::fresh(None);
    let by_hand = memory.render() + "\n## Decisions\n\n- The office plant is called Kurt\n";
    memory = Memory::parse(&by_hand);
    let mut history = History::default();
    let mut said: Vec<String> = Vec::new();
    for number in 0..40_u64 {
        let mut operations: Vec<Operation> = SECTIONS
            .iter()
            .map(|section| {
                let text = format!("Module m{number} in {section} follows rule r{number} of team t{number}");
                said.push(text.clone());
                add(section, &text, &[1])
            })
            .collect();
        // Every day one decision of the day before is superseded.
        if let Some((section, entry)) = memory.entries().filter(|(name, _)| *name == "Decisions").nth(1) {
            let text = format!("Ruling {number} takes the place of an older one for part p{number}");
            said.push(text.clone());
            operations.push(replace(section, &distiller::id_of(section, entry), &text, &[1]));
        }
        let applied = day(&memory, number, &operations);
        assert!(applied.refused.is_empty(), "{:?}", applied.refused);
        memory = applied.memory;
        history = history.merge(History { removals: applied.removals, unreadable: Vec::new() });
        assert!(
            memory.render().lines().count() <= budget::TARGET_LINES,
            "day {number}:\n{}",
            memory.render()
        );
    }
    let kept: HashSet<String> = memory.entries().map(|(_, entry)| entry.text().into_owned()).collect();
    assert!(kept.contains("The office plant is called Kurt"), "what a person wrote stays");
    assert!(kept.len() > 30, "the page is used");
    assert!(kept.iter().any(|text| text.contains("m39 ")), "the newest stays");
    for text in said {
        let is_findable = kept.contains(&text) || !history.search(&text).is_empty();
        assert!(is_findable, "lost: {text}");
    }
    assert!(history.removals.iter().any(|removal| removal.replaced_by.is_some()));
}

#[test]
fn what_no_model_confirmed_goes_first() {
    let mut memory = Memory::default();
    for number in 0..25_u64 {
        let mut operation =
            add("Decisions", &format!("Guess g{number} about area a{number} of part p{number}"), &[1]);
        operation.source = distiller::Source::Extraction;
        memory = day(&memory, 30 + number, &[operation]).memory;
    }
    for number in 0..20_u64 {
        let fact = add("Decisions", &format!("Fact f{number} about thing t{number} of unit u{number}"), &[1]);
        memory = day(&memory, number, &[fact]).memory;
    }
    let entries = entries(&memory);
    assert_eq!(entries.iter().filter(|entry| entry.contains("Fact f")).count(), 20);
    assert_eq!(entries.len(), budget::SECTION_LINES);
    assert!(
        entries.iter().any(|entry| entry.contains("Guess g24"))
            && !entries.iter().any(|entry| entry.contains("Guess g0 "))
    );
}
