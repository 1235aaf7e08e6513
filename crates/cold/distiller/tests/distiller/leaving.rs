//! What leaves the memory: what is superseded, contradicted or repeated, and beyond that two old entries at most.

use std::collections::BTreeMap;

use base::Timestamp;
use distiller::{
    Action, Applied, Clearance, Context, Evidence, Operation, Reason, Slice, Why, apply, budget, id_of,
};
use memory::Memory;
use proptest::prelude::*;

use crate::{NOW, add, conversation, entries, id, memory, operation, replace};

const OLD: &str = "[session 11112222, turn 4, by Mo, 2026-09-20]";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn days_ago(days: u64) -> Timestamp {
    Timestamp::from_millis(now().millis() - days * 86_400_000)
}

fn apply_with(memory: &Memory, slice: &Slice, operations: &[Operation], clearance: Clearance<'_>) -> Applied {
    let evidence = Evidence::of(slice);
    let context =
        Context { session: &slice.session, author: "Ada", when: now(), evidence: &evidence, clearance };
    let applied = apply(memory, operations, &context);
    let again = apply(&applied.memory, operations, &context);
    assert_eq!(again.memory.render(), applied.memory.render(), "applying twice is applying once");
    applied
}

fn chatter() -> Slice {
    conversation(&["let's use Redis for the price cache", "Done."]).slice()
}

/// Returns a memory of distilled entries about different things, each with the tag.
fn facts(count: usize, tag: &str) -> Memory {
    let lines: Vec<String> =
        (0..count).map(|n| format!("Module m{n} follows rule r{n} of team t{n} {tag}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    memory(&[("Decisions", &lines)])
}

fn remove_as(entry: &str, reason: Reason, by: &str) -> Operation {
    let action = Action::Remove { entry: entry.to_owned(), reason, by: by.to_owned() };
    operation(action, "Decisions", &[1])
}

fn removals_of(memory: &Memory, count: usize) -> Vec<Operation> {
    let named = memory.entries().take(count).map(|(section, entry)| id_of(section, entry));
    named.map(|name| remove_as(&name, Reason::Superseded, "everything changed")).collect()
}

fn why(applied: &Applied) -> Vec<Why> {
    applied.refused.iter().map(|refused| refused.why).collect()
}

#[test]
fn d2_a_large_memory_without_dates_loses_nothing_to_one_distillation() {
    for count in [60, 100, 200] {
        let memory = facts(count, "[session 11112222, turn 4]");
        let new = add("Decisions", "Use Redis for the price cache", &[1]);
        for is_long_over in [false, true] {
            let clearance = Clearance { is_long_over, ..Clearance::default() };
            let applied = apply_with(&memory, &chatter(), std::slice::from_ref(&new), clearance);
            assert_eq!(entries(&applied.memory).len(), count + 1);
            assert!(applied.removals.is_empty());
        }
    }
}

#[test]
fn d2_entries_of_seconds_ago_stay_however_long_the_memory_is_over_its_size() {
    for tag in
        ["[session 11112222, turn 4, by Mo, 2026-11-16]", "[session 11112222, turn 4, by Mo, 2031-01-01]"]
    {
        let memory = facts(90, tag);
        let clearance = Clearance { is_long_over: true, ..Clearance::default() };
        let new = add("Decisions", "Use Redis for the price cache", &[1]);
        let applied = apply_with(&memory, &chatter(), &[new], clearance);
        assert_eq!(entries(&applied.memory).len(), 91, "{tag}");
    }
}

#[test]
fn d2_two_of_the_oldest_leave_a_memory_that_is_over_its_size_for_long() {
    let mut lines: Vec<String> =
        (0..70).map(|n| format!("Module m{n} follows rule r{n} of team t{n} {OLD}")).collect();
    lines[40] = lines[40].replace("2026-09-20", "2026-08-01");
    lines[50] = lines[50].replace("2026-09-20", "2026-07-01");
    lines[60] = "House rule h60 of the office".to_owned();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let memory = memory(&[("Decisions", &lines)]);
    let new = [add("Decisions", "Use Redis for the price cache", &[1])];
    let kept = apply_with(&memory, &chatter(), &new, Clearance::default());
    assert_eq!(entries(&kept.memory).len(), 71, "not over for long");
    let clearance = Clearance { is_long_over: true, ..Clearance::default() };
    let applied = apply_with(&memory, &chatter(), &new, clearance);
    let left: Vec<&str> = applied.removals.iter().map(|removal| removal.text.as_str()).collect();
    assert_eq!(left, ["Module m50 follows rule r50 of team t50", "Module m40 follows rule r40 of team t40"]);
    assert_eq!((applied.taken, entries(&applied.memory).len()), (2, 69));
    assert!(applied.removals.iter().all(|removal| removal.why.starts_with("made room")));
    assert_eq!(applied.removals[0].other["session"], "ab12cd34");
    // An earlier slice of the same distillation took one already.
    let rest = apply_with(&memory, &chatter(), &new, Clearance { taken: 1, ..clearance });
    assert_eq!((rest.taken, entries(&rest.memory).len()), (1, 70));
}

#[test]
fn d2_an_entry_without_a_date_counts_from_when_git_first_saw_it() {
    let memory = facts(70, "[session 11112222, turn 4]");
    let keys: Vec<String> = memory.entries().map(|(_, entry)| entry.key()).collect();
    let new = [add("Decisions", "Use Redis for the price cache", &[1])];
    let left = |first_seen: &BTreeMap<String, Timestamp>| -> Vec<String> {
        let clearance = Clearance { is_long_over: true, first_seen: Some(first_seen), taken: 0 };
        let applied = apply_with(&memory, &chatter(), &new, clearance);
        applied.removals.into_iter().map(|removal| removal.text).collect()
    };
    let young: BTreeMap<String, Timestamp> = keys.iter().map(|key| (key.clone(), days_ago(29))).collect();
    assert_eq!(left(&young), [] as [&str; 0]);
    let mut mixed = young;
    mixed.insert(keys[7].clone(), days_ago(31));
    assert_eq!(left(&mixed), ["Module m7 follows rule r7 of team t7"]);
    mixed.insert(keys[3].clone(), days_ago(400));
    assert_eq!(
        left(&mixed),
        ["Module m3 follows rule r3 of team t3", "Module m7 follows rule r7 of team t7"]
    );
}

#[test]
fn d2_a_day_counts_from_its_end() {
    let new = [add("Decisions", "Use Redis for the price cache", &[1])];
    let clearance = Clearance { is_long_over: true, ..Clearance::default() };
    for (day, left) in [("2026-10-16", 2), ("2026-10-17", 0), ("2026-13-99", 0)] {
        let memory = facts(70, &format!("[session 11112222, turn 4, by Mo, {day}]"));
        assert_eq!(apply_with(&memory, &chatter(), &new, clearance).removals.len(), left, "{day}");
    }
}

#[test]
fn d2_a_models_word_alone_takes_nothing_out() {
    let memory = facts(40, OLD);
    let applied = apply_with(&memory, &chatter(), &removals_of(&memory, 10), Clearance::default());
    assert_eq!(why(&applied), [Why::HasRoom; 10]);
    assert_eq!(applied.memory.render(), memory.render());
}

#[test]
fn d2_a_models_removals_and_those_that_make_room_are_two_together() {
    let memory = facts(70, OLD);
    let clearance = Clearance { is_long_over: true, ..Clearance::default() };
    for (asked, refused) in [(1, 0), (2, 0), (10, 8)] {
        let applied = apply_with(&memory, &chatter(), &removals_of(&memory, asked), clearance);
        assert_eq!(applied.removals.len(), 2, "{asked}");
        assert_eq!(why(&applied), vec![Why::Enough; refused]);
    }
    let young = facts(70, "[session 11112222, turn 4, by Mo, 2026-11-10]");
    let applied = apply_with(&young, &chatter(), &removals_of(&young, 3), clearance);
    assert_eq!(why(&applied), [Why::Young; 3]);
}

#[test]
fn d2_on_the_word_of_a_person_two_leave_at_most() {
    let memory = facts(20, "[session 11112222, turn 4, by Mo, 2026-11-15]");
    let said: Vec<String> =
        (0..4).map(|n| format!("module m{n} no longer follows rule r{n} of team t{n}.")).collect();
    let slice = conversation(&[&said.join(" "), "Ok."]).slice();
    let applied = apply_with(&memory, &slice, &removals_of(&memory, 4), Clearance::default());
    assert_eq!((applied.removals.len(), why(&applied)), (2, vec![Why::Enough; 2]));
}

#[test]
fn an_entry_goes_where_code_sees_what_takes_its_place() {
    let memory = memory(&[
        (
            "Decisions",
            &[&format!("Logs are JSON lines in production {OLD}"), "Logs are JSON lines in production."],
        ),
        ("Open questions", &[&format!("Where the versioned docs are hosted {OLD}")]),
    ]);
    let question = id(&memory, "Where the versioned docs are hosted");
    let answer = "The versioned docs are hosted in the downloads bucket";
    let removal = operation(
        Action::Remove { entry: question, reason: Reason::Resolved, by: String::new() },
        "Open questions",
        &[1],
    );
    let alone = apply_with(&memory, &chatter(), std::slice::from_ref(&removal), Clearance::default());
    assert_eq!(why(&alone), [Why::HasRoom]);
    let both = [removal.clone(), add("Decisions", answer, &[1])];
    let applied = apply_with(&memory, &chatter(), &both, Clearance::default());
    assert_eq!(applied.removals[0].replaced_by.as_deref(), Some(answer));
    assert_eq!(applied.taken, 0);
    // It may also be in the memory already, if the operation names it.
    let named = crate::apply_to(&memory, &chatter(), &both[1..]).memory;
    let mut by_name = removal;
    if let Action::Remove { by, .. } = &mut by_name.action {
        *by = answer.to_owned();
    }
    assert_eq!(apply_with(&named, &chatter(), &[by_name], Clearance::default()).removals.len(), 1);
}

#[test]
fn one_text_takes_the_place_of_one_entry_that_it_has_nothing_in_common_with() {
    let lines = ["CI runs on Jenkins", "Uploads end at 8 MB", "Mails are retried", "Themes are dark"];
    let lines: Vec<String> = lines.iter().map(|line| format!("{line} {OLD}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let memory = memory(&[("Decisions", &lines)]);
    let replaced = |at: usize, text: &str| {
        let (section, entry) = memory.entries().nth(at).unwrap();
        replace(section, &id_of(section, entry), text, &[1])
    };
    let same: Vec<Operation> = (0..3).map(|at| replaced(at, "Nothing holds any more")).collect();
    let applied = apply_with(&memory, &chatter(), &same, Clearance::default());
    assert_eq!((applied.removals.len(), entries(&applied.memory).len()), (1, 4));
    let own: Vec<Operation> =
        (0..3).map(|at| replaced(at, &format!("Statement number s{at} holds"))).collect();
    let applied = apply_with(&memory, &chatter(), &own, Clearance::default());
    assert_eq!((applied.taken, applied.removals.len(), entries(&applied.memory).len()), (2, 2, 5));
    let related = ["CI moved from Jenkins", "Uploads end at 16 MB", "Mails are not retried"];
    let related: Vec<Operation> = related.iter().enumerate().map(|(at, text)| replaced(at, text)).collect();
    let applied = apply_with(&memory, &chatter(), &related, Clearance::default());
    assert_eq!((applied.taken, applied.removals.len(), entries(&applied.memory).len()), (0, 3, 4));
}

#[test]
fn of_two_duplicates_one_may_go() {
    let line = |text: &str| format!("{text} {OLD}");
    let lines = [
        line("Retry failed mails of the billing service three times"),
        line("Retry the failed mails of the billing service three times"),
        line("Logs are JSON lines"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let memory = memory(&[("Decisions", &lines)]);
    let both = apply_with(&memory, &chatter(), &removals_of(&memory, 2), Clearance::default());
    assert_eq!(why(&both), [Why::HasRoom; 2]);
    let applied = apply_with(&memory, &chatter(), &removals_of(&memory, 1), Clearance::default());
    assert_eq!((applied.removals.len(), applied.taken), (1, 0));
    assert!(applied.removals[0].replaced_by.is_some());
}

const TEXTS: [&str; 12] = [
    "Use Redis for the session store",
    "Never use Redis for the session store",
    "Redis for the session store: too much to operate",
    "Retry failed mails 15 times",
    "Retry failed mails 16 times",
    "Deploy from main only",
    "Deploys come from main alone",
    "The export is a known issue on Windows",
    "Who owns the billing service",
    "Mo owns the billing service",
    "Uploads are limited to 8 MB",
    "Nothing holds any more",
];

/// A memory of some size with entries of every age, and when git first saw those without a date.
fn any_memory() -> impl Strategy<Value = (Memory, BTreeMap<String, Timestamp>)> {
    let entry =
        (prop::sample::select(&distiller::SECTIONS[..]), 0..TEXTS.len(), 0..90_u32, 0..4_u8, 0..90_u64);
    prop::collection::vec(entry, 0..90).prop_map(|entries| {
        let (mut memory, mut first_seen) = (Memory::default(), BTreeMap::new());
        for (section, text, area, kind, days) in entries {
            let text = format!("{} in area a{area}", TEXTS[text]);
            let day: String = days_ago(days).to_string().chars().take(10).collect();
            let provenance = match kind {
                0 => memory::Provenance::of_author("Mo", &day),
                1 => memory::Provenance { date: None, ..memory::Provenance::new("11112222", 3, "Mo", &day) },
                _ => memory::Provenance::new("11112222", 3, "Mo", &day),
            };
            memory.add_distinct(section, &text, &provenance);
            if kind == 1 && days % 3 > 0 {
                let seen = memory.entries().find(|(_, entry)| entry.text() == text).unwrap().1.key();
                first_seen.insert(seen, days_ago(days));
            }
        }
        (memory, first_seen)
    })
}

fn any_operations(memory: &Memory) -> impl Strategy<Value = Vec<Operation>> + use<> {
    let mut names: Vec<String> = memory.entries().map(|(section, entry)| id_of(section, entry)).collect();
    names.push("ffffffff".to_owned());
    let sections = &distiller::SECTIONS[..];
    let action = (
        0..3_u8,
        0..TEXTS.len(),
        0..90_u32,
        prop::sample::select(names.clone()),
        prop::sample::select(names),
    );
    let operation = (action, prop::sample::select(sections), 1..5_u64).prop_map(
        |((kind, text, area, entry, by), section, turn)| {
            let text = format!("{} in area a{area}", TEXTS[text]);
            let action = match kind {
                0 => Action::Add { text },
                1 => Action::Replace { entry, text, why: String::new() },
                _ => Action::Remove { entry, reason: Reason::Superseded, by },
            };
            operation(action, section, &[turn])
        },
    );
    prop::collection::vec(operation, 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn d2_no_entry_leaves_but_by_the_rules(
        ((memory, first_seen), operations) in any_memory().prop_flat_map(|(memory, first_seen)| {
            let operations = any_operations(&memory);
            (Just((memory, first_seen)), operations)
        }),
        (is_long_over, taken) in (any::<bool>(), 0..3_usize),
    ) {
        // A person speaks about none of the entries.
        let slice = conversation(&["good morning", "Hello.", "thank you", "Bye."]).slice();
        let clearance = Clearance { taken, is_long_over, first_seen: Some(&first_seen) };
        let applied = apply_with(&memory, &slice, &operations, clearance);
        let is_there = |text: &str| {
            applied.memory.entries().any(|(_, entry)| {
                memory::identity(&entry.text()) == memory::identity(text) || memory::is_near_duplicate(&entry.text(), text)
            })
        };
        // What took an entry's place may have been contradicted by another text of the answer.
        let has_heir = |text: &str| {
            let mut heir = text.to_owned();
            for _ in 0..applied.removals.len() {
                if is_there(&heir) {
                    return true;
                }
                let next = applied.removals.iter().find(|removal| removal.text == heir);
                heir = next.and_then(|removal| removal.replaced_by.clone()).unwrap_or_default();
            }
            is_there(&heir)
        };
        let before = memory.entries().count();
        let mut unreplaced = 0;
        for removal in &applied.removals {
            if let Some(text) = &removal.replaced_by {
                prop_assert!(has_heir(text), "{} was replaced by {text}, which is not there", removal.text);
                continue;
            }
            unreplaced += 1;
            let found = memory.entries().find(|(section, entry)| *section == removal.section && entry.text() == removal.text);
            let (_, entry) = found.expect("it was there");
            let age = match &entry.provenance().date {
                Some(day) => now().millis_since(format!("{day}T00:00:00Z").parse().unwrap()),
                None => first_seen.get(&entry.key()).map_or(0, |seen| now().millis_since(*seen)),
            };
            prop_assert!(is_long_over && age >= budget::YOUNG_MILLIS, "{} left at {age} ms", entry.raw());
            prop_assert!(entry.provenance().session.is_some(), "a person wrote {}", entry.raw());
        }
        prop_assert!(unreplaced <= applied.taken && applied.taken + taken <= budget::UNREPLACED.max(taken));
        for (section, entry) in memory.entries() {
            let stays = applied.memory.entries().any(|(name, other)| name == section && other.raw() == entry.raw());
            let is_recorded = applied.removals.iter().any(|removal| removal.section == section && removal.text == entry.text());
            prop_assert!(stays || is_recorded, "lost: {}", entry.raw());
        }
        prop_assert!(applied.memory.entries().count() + applied.removals.len() >= before);
    }
}
