//! What is applied, replaced and removed, and what a person wrote.

use distiller::{Change, EXTRACTED_MARK, Evidence, Operation, Source, Why, is_extracted};
use memory::Memory;

use crate::{add, apply_to, conversation, entries, id, memory, remove, replace};

const TAG: &str = "[session 11112222, turn 4, by Mo, 2026-09-20]";

fn tagged(sections: &[(&str, &[&str])]) -> Memory {
    let lines: Vec<(&str, Vec<String>)> = sections
        .iter()
        .map(|(name, lines)| (*name, lines.iter().map(|line| format!("{line} {TAG}")).collect()))
        .collect();
    let lines: Vec<(&str, Vec<&str>)> =
        lines.iter().map(|(name, lines)| (*name, lines.iter().map(String::as_str).collect())).collect();
    let sections: Vec<(&str, &[&str])> =
        lines.iter().map(|(name, lines)| (*name, lines.as_slice())).collect();
    memory(&sections)
}

#[test]
fn an_entry_says_where_it_comes_from() {
    let slice = conversation(&["hi", "hello", "let's use Redis for the price cache"]).slice();
    let applied =
        apply_to(&Memory::default(), &slice, &[add("Decisions", "Use Redis for the price cache", &[1, 3])]);
    assert_eq!(
        applied.memory.render(),
        "# Wyren Memory\n\n## Decisions\n\n- Use Redis for the price cache [session ab12cd34, turn 3, by Ada, 2026-11-16]\n"
    );
    assert!(applied.is_changed());
}

#[test]
fn an_extracted_entry_is_marked_outside_its_identity() {
    let slice = conversation(&["let's use Redis for the price cache"]).slice();
    let mut extracted = add("Decisions", "Use Redis for the price cache", &[1]);
    extracted.source = Source::Extraction;
    let memory = apply_to(&Memory::default(), &slice, &[extracted]).memory;
    let reread = Memory::parse(&memory.render());
    let (_, entry) = reread.entries().next().unwrap();
    assert!(entry.raw().contains(&format!("by Ada {EXTRACTED_MARK}, 2026-11-16]")), "{}", entry.raw());
    assert_eq!(entry.text(), "Use Redis for the price cache");
    assert!(is_extracted(entry));
    let by_model = apply_to(&reread, &slice, &[add("Decisions", "use redis for the price cache.", &[1])]);
    assert!(!by_model.is_changed());
}

#[test]
fn a_replaced_entry_keeps_its_place_and_goes_to_the_history() {
    let memory = tagged(&[("Decisions", &["Use Postgres for the queue", "Logs are JSON lines"])]);
    let slice = conversation(&["scrap postgres, the queue moves to sqs"]).slice();
    let entry = id(&memory, "Use Postgres for the queue");
    let applied = apply_to(&memory, &slice, &[replace("Decisions", &entry, "The queue is SQS", &[1])]);
    assert_eq!(entries(&applied.memory), ["Decisions: The queue is SQS", "Decisions: Logs are JSON lines"]);
    let removal = &applied.removals[0];
    assert_eq!(removal.text, "Use Postgres for the queue");
    assert_eq!(removal.replaced_by.as_deref(), Some("The queue is SQS"));
    assert_eq!(removal.provenance, TAG);
    assert_eq!((removal.why.as_str(), removal.by.as_str()), ("superseded: changed", "Ada"));
    assert_eq!(removal.when, "2026-11-16T09:00:00.000Z");
}

#[test]
fn a_removed_entry_goes_to_the_history_with_its_reason() {
    let memory = tagged(&[
        ("Live workarounds", &["Uploads are limited to 8 MB"]),
        ("Decisions", &["Logs are JSON lines"]),
    ]);
    let slice = conversation(&["uploads are not limited to 8 MB any more"]).slice();
    let entry = id(&memory, "Uploads are limited to 8 MB");
    let applied = apply_to(&memory, &slice, &[remove("Live workarounds", &entry, &[1])]);
    assert_eq!(entries(&applied.memory), ["Decisions: Logs are JSON lines"]);
    assert_eq!(applied.removals[0].why, "resolved: the release");
}

#[test]
fn an_entry_can_be_named_by_what_it_says() {
    let memory = tagged(&[("Decisions", &["Use Postgres for the queue", "Logs are JSON lines"])]);
    let slice = conversation(&["the queue moves"]).slice();
    let applied = apply_to(
        &memory,
        &slice,
        &[replace("Decisions", "use postgres for the queue", "The queue is SQS", &[1])],
    );
    assert_eq!(applied.removals.len(), 1);
}

#[test]
fn a_replacement_whose_entry_is_gone_is_still_news() {
    let memory = tagged(&[("Decisions", &["Logs are JSON lines"])]);
    let slice = conversation(&["the queue moves to sqs"]).slice();
    let applied = apply_to(&memory, &slice, &[replace("Decisions", "ffffffff", "The queue is SQS", &[1])]);
    assert_eq!(entries(&applied.memory), ["Decisions: Logs are JSON lines", "Decisions: The queue is SQS"]);
    assert!(applied.removals.is_empty());
}

#[test]
fn what_a_person_wrote_goes_only_on_the_word_of_a_person() {
    let memory = memory(&[(
        "Decisions",
        &["Releases happen on Tuesdays", "Ada owns the billing service [by Ada, 2026-09-01]"],
    )]);
    let text = "Releases happen on Tuesdays";
    let gone = |said: &[&str], turns: &[u64]| {
        let slice = conversation(said).slice();
        apply_to(&memory, &slice, &[remove("Decisions", &id(&memory, text), turns)])
    };
    let by_no_one = gone(&["fix the tests", "Releases on Tuesdays are gone, I think."], &[2]);
    let by_another_topic = gone(&["fix the tests please", "ok"], &[1]);
    for applied in [by_no_one, by_another_topic] {
        assert_eq!(applied.refused[0].why, Why::WrittenByAPerson);
        assert_eq!(applied.memory.render(), memory.render());
    }
    let by_a_person = gone(&["releases are not on Tuesdays any more, we release daily", "ok"], &[1]);
    assert_eq!(by_a_person.removals[0].text, text);
}

#[test]
fn what_a_person_wrote_is_not_replaced_by_a_contradiction_either() {
    let memory = memory(&[("Decisions", &["Retry failed mails 10 times"])]);
    let new = add("Decisions", "Retry failed mails 3 times", &[1]);
    let silent = conversation(&["look at the logs", "They are fine."]).slice();
    let applied = apply_to(&memory, &silent, std::slice::from_ref(&new));
    assert_eq!(applied.refused[0].why, Why::WrittenByAPerson);
    let spoken = conversation(&["we retry failed mails less often since today"]).slice();
    let applied = apply_to(&memory, &spoken, &[new]);
    assert_eq!(entries(&applied.memory), ["Decisions: Retry failed mails 3 times"]);
}

#[test]
fn a_word_in_passing_takes_nothing_away_that_a_person_wrote() {
    let long = "Nightly exports of the Berlin tenant go to the old warehouse over SFTP";
    for (text, said, is_gone) in [
        ("Use Redis", "why is Redis slow?", false),
        ("Use Redis", "Redis is slow today", false),
        ("Use Redis", "should we drop Redis?", false),
        ("Use Redis", "Redis is slow. drop the old branch", false),
        ("Use Redis", "we drop Redis, it is too slow", true),
        ("Use Redis", "wir nehmen Redis nicht mehr", true),
        (long, "the Berlin tenant complains", false),
        (long, "nightly exports of the Berlin tenant go to the new warehouse", true),
    ] {
        let memory = memory(&[("Decisions", &[text, "Logs are JSON lines"])]);
        let slice = conversation(&[said]).slice();
        let applied = apply_to(&memory, &slice, &[remove("Decisions", &id(&memory, text), &[1])]);
        assert_eq!(applied.removals.len(), usize::from(is_gone), "{text}: {said}");
    }
}

#[test]
fn entries_about_different_things_both_stay() {
    for (one, two) in [
        ("The nightly export of the EU tenant runs at 2", "The nightly export of the US tenant runs at 3"),
        ("Android 12 crashes on start", "Android 13 crashes on start"),
        ("Python 3.11 is supported", "Python 3.12 is supported"),
    ] {
        let memory = tagged(&[("Decisions", &[one])]);
        let slice = conversation(&["and the other one, too"]).slice();
        let applied = apply_to(&memory, &slice, &[add("Decisions", two, &[1])]);
        assert_eq!(entries(&applied.memory), [format!("Decisions: {one}"), format!("Decisions: {two}")]);
    }
}

#[test]
fn two_values_that_one_answer_adds_both_stay() {
    let memory = tagged(&[("Decisions", &["Retry failed mails 3 times", "Logs are JSON lines"])]);
    let slice = conversation(&["10 retries at night, 3 at noon"]).slice();
    let additions = [
        add("Decisions", "Retry failed mails 10 times", &[1]),
        add("Decisions", "Retry failed mails 3 times", &[1]),
    ];
    let applied = apply_to(&memory, &slice, &additions);
    assert_eq!(entries(&applied.memory).len(), 3, "{:?}", entries(&applied.memory));
    assert!(applied.removals.is_empty() && applied.refused.is_empty());
}

#[test]
fn what_contradictions_would_take_counts_as_taken() {
    let lines: Vec<String> = (0..8).map(|number| format!("Queue q{number} is drained 10 times")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let memory = tagged(&[("Decisions", &lines)]);
    let slice = conversation(&["drain them less"]).slice();
    let contradict = |count: usize| -> Vec<Operation> {
        (0..count)
            .map(|number| add("Decisions", &format!("Queue q{number} is drained 5 times"), &[1]))
            .collect()
    };
    assert_eq!(apply_to(&memory, &slice, &contradict(4)).removals.len(), 4);
    let applied = apply_to(&memory, &slice, &contradict(5));
    assert_eq!(applied.memory.render(), memory.render());
    assert!(applied.refused.iter().all(|refused| refused.why == Why::TooMuch));
}

#[test]
fn near_duplicates_collapse_and_contradictions_are_replaced() {
    let memory = tagged(&[(
        "Decisions",
        &[
            "Use Redis for the session store",
            "Retry failed mails 10 times",
            "Logs are JSON lines in production",
        ],
    )]);
    let slice = conversation(&["no redis for sessions, and only 3 retries", "ok"]).slice();
    let applied = apply_to(
        &memory,
        &slice,
        &[
            add("Decisions", "logs are `JSON` lines in production.", &[1]),
            add("Decisions", "Retry failed mails 3 times", &[1]),
            add("Rejected paths", "Redis for the session store: too much to operate", &[1]),
        ],
    );
    assert_eq!(
        entries(&applied.memory),
        [
            "Decisions: Retry failed mails 3 times",
            "Decisions: Logs are JSON lines in production",
            "Rejected paths: Redis for the session store: too much to operate",
        ]
    );
    assert_eq!(applied.done[0].change, Change::AlreadyThere);
    let gone: Vec<&str> = applied.removals.iter().map(|removal| removal.text.as_str()).collect();
    assert_eq!(gone, ["Retry failed mails 10 times", "Use Redis for the session store"]);
}

#[test]
fn an_answer_that_contradicts_itself_means_what_it_says_last() {
    let memory = tagged(&[("Decisions", &["Logs are JSON lines"])]);
    let slice = conversation(&["deploy on fridays", "Ok.", "no, never"]).slice();
    let own = "Never deploy on Fridays";
    let applied = apply_to(
        &memory,
        &slice,
        &[
            add("Decisions", "Deploy on Fridays", &[1]),
            add("Decisions", own, &[3]),
            remove("Decisions", own, &[3]),
        ],
    );
    assert_eq!(
        entries(&applied.memory),
        ["Decisions: Logs are JSON lines", "Decisions: Never deploy on Fridays"]
    );
    assert_eq!(applied.refused.iter().map(|refused| refused.why).collect::<Vec<_>>(), [Why::TakenBack; 2]);
    assert!(applied.removals.is_empty());
}

#[test]
fn an_answer_writes_a_bounded_number_of_entries() {
    let slice = conversation(&["a lot was decided"]).slice();
    let many: Vec<Operation> = (0..50)
        .map(|number| {
            add("Decisions", &format!("Component alpha{number} speaks protocol beta{number}"), &[1])
        })
        .collect();
    let applied = apply_to(&Memory::default(), &slice, &many);
    assert_eq!(entries(&applied.memory).len(), distiller::budget::WRITTEN);
    assert!(applied.refused.iter().all(|refused| refused.why == Why::TooMany));
}

#[test]
fn hand_written_prose_and_foreign_sections_stay_byte_for_byte() {
    let text = "# Wyren Memory\n\nOur rules.\n\n## Handoff notes\n\n- [2026-11-01T00:00:00Z] look at the queue\n\n## House style\n\nTabs.\n";
    let slice = conversation(&["let's use Redis for the price cache"]).slice();
    let applied =
        apply_to(&Memory::parse(text), &slice, &[add("Decisions", "Use Redis for the price cache", &[1])]);
    let rendered = applied.memory.render();
    for part in [
        "# Wyren Memory\n\nOur rules.\n",
        "## Handoff notes\n\n- [2026-11-01T00:00:00Z] look at the queue\n",
        "## House style\n\nTabs.\n",
    ] {
        assert!(rendered.contains(part), "{part} in {rendered}");
    }
}

#[test]
fn evidence_is_kept_with_a_plan_and_is_enough_to_apply_it() {
    let memory = memory(&[("Decisions", &["Releases happen on Tuesdays"])]);
    let slice = conversation(&["hi", "hello", "releases are not on Tuesdays any more"]).slice();
    let operations = [remove("Decisions", &id(&memory, "Releases happen on Tuesdays"), &[3])];
    let kept = serde_json::to_string(&Evidence::cited_by(&slice, &operations)).unwrap();
    assert!(!kept.contains("hello") && kept.len() < 200, "{kept}");
    let evidence: Evidence = serde_json::from_str(&kept).unwrap();
    let context = distiller::Context {
        session: "ab12cd34",
        author: "Ada",
        when: "2026-11-16T09:00:00Z".parse().unwrap(),
        evidence: &evidence,
        clearance: distiller::Clearance::default(),
    };
    assert_eq!(distiller::apply(&memory, &operations, &context).removals.len(), 1);
}
