//! A model's summary for the journal: with the distillation's one question, or alone where there is no team memory.

use crate::desk::{Desk, NOW, SESSION, add, answer, lie};
use base::Timestamp;
use capture::Spool;
use distill::{Outcome, Session, Settings, Step, Summarised};
use serde_json::{Value, json};

fn with_summary() -> Value {
    let operations = [add("Decisions", "Postgres is the database", 1)];
    let summary = json!({"request": "Choose a database", "completed": "Postgres was chosen"});
    json!({"do": "answer", "answer": {"operations": operations, "summary": summary}, "cost_usd": 0.001})
}

/// Returns the observations of a kind in the spool.
fn kept(desk: &Desk, kind: &str) -> Vec<Value> {
    let files = Spool::new(desk.paths().spool()).files().unwrap_or_default();
    let lines = files.iter().flat_map(|file| file.read(0, usize::MAX, usize::MAX).unwrap().lines);
    lines
        .filter_map(|line| serde_json::from_slice::<Value>(&line).ok())
        .filter(|line| line["kind"] == kind)
        .collect()
}

fn summarise(desk: &Desk) -> Summarised {
    let (env, paths) = (desk.env(), desk.paths());
    let session = Session {
        env: &env,
        paths: &paths,
        cwd: &desk.app(),
        transcript: &desk.transcript(SESSION),
        id: SESSION,
        now: Timestamp::from_millis(NOW),
        settings: Settings::load(&env, &paths),
        observer: &(),
    };
    session.summarise(None).unwrap()
}

#[test]
fn one_question_gives_entries_and_a_summary() {
    let desk = Desk::new(&[with_summary()]);
    desk.decide("Postgres as the database");
    desk.distill().unwrap();
    assert_eq!(desk.questions(), 1);
    assert!(desk.memory().contains("Postgres is the database"));
    let summaries = kept(&desk, "summary");
    assert_eq!(summaries.len(), 1, "{summaries:?}");
    let data = &summaries[0]["data"];
    assert_eq!((&data["completed"], &data["source"]), (&json!("Postgres was chosen"), &json!("model")));
    assert_eq!(summaries[0]["session"], SESSION);
    assert!(data["mark"]["uuid"].is_string(), "{data}");
}

#[test]
fn a_killed_distillation_keeps_its_summary_and_asks_no_second_time() {
    for step in [Step::Intended, Step::Changed, Step::Marked] {
        let desk = Desk::new(&[with_summary()]);
        desk.decide("Postgres as the database");
        assert!(desk.distill_killed_at(step), "{step:?}");
        desk.distill().unwrap();
        assert_eq!(desk.questions(), 1, "{step:?}");
        let mut ids: Vec<Value> = kept(&desk, "summary").iter().map(|line| line["id"].clone()).collect();
        ids.dedup();
        assert_eq!(ids.len(), 1, "{step:?}: appended twice it has one id, and is stored once");
    }
}

#[test]
fn an_answer_without_a_summary_and_an_extraction_leave_none() {
    let desk = Desk::new(&[answer(&[add("Decisions", "Postgres is the database", 1)])]);
    desk.decide("Postgres as the database");
    desk.distill().unwrap();
    assert!(desk.memory().contains("Postgres is the database"));
    assert_eq!(kept(&desk, "summary").len(), 0);
}

#[test]
fn nothing_is_kept_where_nothing_is_recorded() {
    let desk = Desk::new(&[with_summary()]);
    let settings = desk.paths().hook_settings();
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(settings, "wyren hooks 1\ncapture.enabled=false\n").unwrap();
    desk.decide("Postgres as the database");
    desk.distill().unwrap();
    assert_eq!((desk.questions(), kept(&desk, "summary").len()), (1, 0));
    assert!(matches!(summarise(&desk), Summarised::ByRules(_)));
    assert_eq!(desk.questions(), 1, "a summary alone is not asked for in vain");
}

#[test]
fn a_private_prompt_and_a_secret_are_neither_asked_about_nor_kept() {
    let key = ["sk-ant-", "api03-", &"Zm9vYmFyYmF6cXV4".repeat(5)].concat();
    let summary = json!({"summary": {"request": "Choose a database", "completed": format!("used {key}")}});
    let desk = Desk::new(&[json!({"do": "answer", "answer": summary, "cost_usd": 0.001})]);
    desk.decide("Postgres as the database");
    desk.say("<private>the merger is on Friday</private>");
    desk.reply("I note the merger.");
    assert_eq!(summarise(&desk), Summarised::Kept("the provider's own choice".to_owned()));
    let text = format!("{:?}", kept(&desk, "summary"));
    assert!(text.contains("Choose a database") && !text.contains(&key) && !text.contains("merger"), "{text}");
}

#[test]
fn without_a_memory_the_same_question_asks_for_the_summary_alone_and_a_failure_is_noted_once() {
    let desk = Desk::new(&[lie("Sorry, I cannot help with that.")]);
    desk.decide("Postgres as the database");
    assert!(matches!(summarise(&desk), Summarised::ByRules(_)));
    assert_eq!((kept(&desk, "summary").len(), kept(&desk, "summary-mark").len()), (0, 1));

    let small_talk = Desk::new(&[with_summary()]);
    small_talk.say("hello");
    assert!(matches!(summarise(&small_talk), Summarised::ByRules(_)));
    assert_eq!(small_talk.questions(), 0, "small talk needs no model");
}

/// A desk at which something was done and nothing decided, which scores below any threshold.
fn plain_work(script: &[Value]) -> Desk {
    let desk = Desk::new(script);
    desk.say("run the tests please");
    desk.call("Bash", &json!({"command": "cargo test"}), "test result: ok");
    desk.reply("They pass.");
    desk
}

fn switch_summaries_on(desk: &Desk) {
    let config = desk.paths().config_file();
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "[journal]\nmodel = \"on\"\n").unwrap();
}

#[test]
fn without_a_memory_plain_work_below_the_threshold_is_summarised() {
    let desk = plain_work(&[with_summary()]);
    assert_eq!(summarise(&desk), Summarised::Kept("the provider's own choice".to_owned()));
    assert_eq!((desk.questions(), kept(&desk, "summary").len()), (1, 1));
}

#[test]
fn with_a_memory_plain_work_below_the_threshold_is_summarised_once_the_user_says_so() {
    let desk = plain_work(&[with_summary()]);
    assert_eq!(desk.distill().unwrap().outcome, Outcome::LowSignal);
    assert_eq!((desk.questions(), kept(&desk, "summary").len()), (0, 0), "no model without the user's word");

    let desk = plain_work(&[with_summary()]);
    switch_summaries_on(&desk);
    let before = desk.memory();
    let report = desk.distill().unwrap();
    assert_eq!((report.outcome, desk.questions()), (Outcome::LowSignal, 1));
    assert_eq!(kept(&desk, "summary").len(), 1);
    assert_eq!(desk.memory(), before, "the memory gets nothing of it");
    desk.distill().unwrap();
    assert_eq!(desk.questions(), 1, "what was summarised is not looked at again");

    let desk = Desk::new(&[with_summary()]);
    switch_summaries_on(&desk);
    desk.say("hello");
    desk.distill().unwrap();
    assert_eq!(desk.questions(), 0, "small talk needs no model");
}

#[test]
fn a_rehearsal_names_the_question_for_a_summary() {
    let rehearsed = |is_on: bool| {
        let desk = plain_work(&[with_summary()]);
        if is_on {
            switch_summaries_on(&desk);
        }
        let slice = crate::rehearsing::rehearse(&desk, false).slices.remove(0);
        assert!(!slice.passes() && desk.questions() == 0);
        (slice.is_summarised, slice.question)
    };
    let (is_summarised, distilling) = rehearsed(false);
    assert!(!is_summarised);
    let (is_summarised, summarising) = rehearsed(true);
    assert!(is_summarised && summarising.system != distilling.system, "{}", summarising.system);
}

#[test]
fn plain_work_whose_summary_is_interrupted_is_asked_about_once_and_an_answer_that_fails_changes_nothing() {
    for step in [Step::Intended, Step::Changed, Step::Marked] {
        let desk = plain_work(&[with_summary()]);
        switch_summaries_on(&desk);
        assert!(desk.distill_killed_at(step), "{step:?}");
        desk.distill().unwrap();
        let mut ids: Vec<Value> = kept(&desk, "summary").iter().map(|line| line["id"].clone()).collect();
        ids.dedup();
        assert_eq!((desk.questions(), ids.len()), (1, 1), "{step:?}");
    }
    let desk = plain_work(&[lie("Sorry, I cannot help with that.")]);
    switch_summaries_on(&desk);
    assert_eq!(desk.distill().unwrap().outcome, Outcome::LowSignal);
    assert_eq!(kept(&desk, "summary").len(), 0);
    desk.distill().unwrap();
    assert_eq!(desk.questions(), 1, "the summary by rules stays, and the slice is done");
}
