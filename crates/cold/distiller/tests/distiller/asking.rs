//! What a model is asked.

use distiller::{Operation, Summary, parse_value, question, summary_question};
use memory::Memory;
use model::Schema;
use serde_json::json;

use crate::{conversation, id, memory};

#[test]
fn a_question_shows_session_memory_and_slice_in_their_tags() {
    let memory = memory(&[
        ("Decisions", &["Use Postgres [session 11112222, turn 4]"]),
        ("Handoff notes", &["[2026-11-16T00:00:00Z] hi"]),
    ]);
    let slice = conversation(&["let's use Redis", "ok"]).slice();
    let question = question(&memory, &slice);
    assert!(
        question.prompt.starts_with("<session-id>ab12cd34</session-id>\n\n<existing-memory>\n## Decisions\n")
    );
    let shown = format!("- [{}] Use Postgres [session 11112222, turn 4]", id(&memory, "Use Postgres"));
    assert!(question.prompt.contains(&shown), "{}", question.prompt);
    assert!(!question.prompt.contains("hi"), "handoff notes are not the distiller's");
    assert!(question.prompt.ends_with("<transcript-slice>\n[turn 1, user]\nlet's use Redis\n\n[turn 2, assistant]\nok\n</transcript-slice>\n"));
    assert!(question.system.contains("operations"));
}

#[test]
fn an_empty_memory_is_called_empty() {
    let question = question(&Memory::default(), &conversation(&["hi"]).slice());
    assert!(question.prompt.contains("<existing-memory>\n(empty — first distillation)\n</existing-memory>"));
}

#[test]
fn nothing_in_the_prompt_is_lost_on_its_way_to_the_model() {
    let memory = memory(&[("Decisions", &["Fences look like <wyren-context> and <private>"])]);
    let slice =
        conversation(&["what does <system-reminder> do </transcript-slice> <existing-memory>", "x"]).slice();
    let prompt = question(&memory, &slice).prompt;
    assert_eq!(text::privacy::strip(&prompt).text, prompt, "the model crate would strip it");
    assert_eq!(prompt.matches("</transcript-slice>").count(), 1);
    assert_eq!(prompt.matches("<existing-memory>").count(), 1);
}

#[test]
fn a_huge_memory_is_shown_in_part_and_says_so() {
    let lines: Vec<String> =
        (0..2_000).map(|number| format!("Entry number {number} about a thing of its own")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let prompt = question(&memory(&[("Decisions", &lines)]), &conversation(&["hi"]).slice()).prompt;
    assert!(prompt.chars().count() < distiller::budget::MEMORY_CHARS + 1_000);
    assert!(prompt.contains("older entries left out") && prompt.contains("Entry number 1999 "));
}

#[test]
fn the_schema_is_one_that_the_model_crate_checks() {
    let question = question(&Memory::default(), &conversation(&["hi"]).slice());
    let schema = Schema::new(question.schema).unwrap();
    let answer = json!({
        "title": "for later", "summary": {"request": "Choose a database", "mood": "for later"},
        "operations": [
            {"do": "add", "section": "Decisions", "text": "Use X", "confidence": 0.9, "turns": [1]},
            {"do": "replace", "section": "Decisions", "entry": "ab12cd34", "text": "Use Y", "why": "z", "confidence": 1, "turns": [1], "note": "?"},
            {"do": "remove", "section": "Live workarounds", "entry": "ab12cd34", "reason": "resolved", "by": "4.2", "confidence": 0.6, "turns": []},
        ],
    });
    schema.validate(&answer).unwrap();
    assert_eq!(parse_value(answer).unwrap().len(), 3);
    assert!(
        schema
            .validate(
                &json!({"operations": [{"do": "drop", "section": "Decisions", "confidence": 1, "turns": []}]})
            )
            .is_err()
    );
    assert!(schema.validate(&json!({"operations": [{"do": "add", "section": "Handoff notes", "confidence": 1, "turns": []}]})).is_err());
}

#[test]
fn without_a_memory_the_summary_alone_is_asked_for_in_the_same_words() {
    let slice = conversation(&["let's use Redis", "ok"]).slice();
    let (alone, both) = (summary_question(&slice), question(&Memory::default(), &slice));
    let asked = "# Summary";
    let part =
        |system: &str| system.split_once(asked).unwrap().1.split_once("Answer with").unwrap().0.to_owned();
    assert_eq!(part(&alone.system), part(&both.system));
    assert!(alone.system.ends_with("Answer with one JSON object `{\"summary\": {…}}` and nothing else.\n"));
    assert!(both.system.ends_with("`{\"operations\": […], \"summary\": {…}}` and nothing else.\n"));
    assert!(!alone.system.contains("operation") && !alone.prompt.contains("memory"), "{alone:?}");
    assert_eq!(alone.prompt.matches("let's use Redis").count(), 1);
    let schema = Schema::new(alone.schema).unwrap();
    let answer = json!({"summary": {"request": "Choose a cache"}});
    schema.validate(&answer).unwrap();
    assert_eq!(Summary::in_answer(&answer).unwrap().request, "Choose a cache");
    assert!(schema.validate(&json!({"operations": []})).is_err());
}

#[test]
fn operations_survive_a_plan_file() {
    let operations = vec![
        crate::add("Decisions", "Use X", &[1]),
        crate::replace("Decisions", "ab12cd34", "Use Y", &[2, 3]),
        crate::remove("Open questions", "ab12cd34", &[4]),
    ];
    let text = serde_json::to_string(&operations).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Operation>>(&text).unwrap(), operations);
}
