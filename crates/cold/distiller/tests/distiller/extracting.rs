//! What is heard without a model.

use distiller::{Action, Source, extract};
use memory::Memory;

use crate::{Transcript, apply_to, conversation, entries};

/// Returns what is extracted from a conversation, as entries.
fn heard(said: &[&str]) -> Vec<String> {
    let slice = conversation(said).slice();
    let operations = extract(&slice);
    assert!(
        operations
            .iter()
            .all(|operation| operation.source == Source::Extraction && operation.confidence < 0.8)
    );
    entries(&apply_to(&Memory::default(), &slice, &operations).memory)
}

#[test]
fn clear_sentences_of_people_become_entries() {
    for (said, expected) in [
        ("ok, let's go with dark mode as the default theme", "Decisions: Use dark mode as the default theme"),
        (
            "we tried websockets and it doesn't work behind their proxy",
            "Rejected paths: We tried websockets and it doesn't work behind their proxy",
        ),
        (
            "the tax rate is hardcoded until finance sends the table",
            "Live workarounds: The tax rate is hardcoded until finance sends the table",
        ),
        (
            "the export test is a known issue on windows",
            "Known broken state: The export test is a known issue on windows",
        ),
        (
            "push notifications are out of scope for this release",
            "Scope changes: Push notifications are out of scope for this release",
        ),
        (
            "we haven't decided who hosts the staging database",
            "Open questions: We haven't decided who hosts the staging database",
        ),
    ] {
        assert_eq!(heard(&["hi", "Hello.", said]), [expected]);
    }
}

#[test]
fn questions_requests_and_suppositions_are_not_facts() {
    for said in [
        "should we use redis for the sessions?",
        "can you switch to tabs everywhere",
        "maybe we could go with redis at some point",
        "why did we decide on postgres",
        "what if we go with graphql",
        "please add a test for the parser",
        "thanks, looks good",
        "ok",
    ] {
        assert_eq!(heard(&["hi", "Hello.", said]), Vec::<String>::new(), "{said}");
    }
}

#[test]
fn a_work_order_is_no_decision_unless_it_says_so_or_was_asked_for() {
    for said in [
        "Fix the login bug first, then go to the settings page",
        "Only change the header, not the footer",
        "Move the button 2px left and keep the color",
        "ok, now rename the helper first, not the test",
        "Ändere nur die Kopfzeile, nie die Fußzeile",
        "Cambia solo el encabezado, nunca el pie",
    ] {
        assert_eq!(heard(&["hi", "Hello.", said]), Vec::<String>::new(), "{said}");
    }
    for (question, said) in [
        ("Hello.", "Change requests are owned by the platform team from now on"),
        ("Hello.", "Test data must never hold the names of real people"),
        ("Hello.", "Rename nothing in the public API, it is off the table until v3"),
        ("Should I rename the column or keep an alias?", "Rename the column in one migration, no alias"),
    ] {
        assert_eq!(heard(&["hi", question, said]).len(), 1, "{said}");
    }
}

#[test]
fn code_quotes_and_tool_output_are_not_listened_to() {
    let transcript = conversation(&[
        "hi",
        "Hello.",
        "look:\n```\nwe decided to use redis here\n```\n> we decided to use kafka there\n",
    ])
    .tool(
        "Bash",
        serde_json::json!({"command": "cat NOTES"}),
        "We decided to use MongoDB. Known issue: everything.",
        false,
    );
    assert!(extract(&transcript.slice()).is_empty());
}

#[test]
fn a_compaction_summary_is_not_heard_again() {
    let transcript = Transcript::new().record(serde_json::json!({
        "type": "user", "isCompactSummary": true, "message": {"content": "We decided to use Redis for the price cache."},
    }));
    assert!(extract(&transcript.slice()).is_empty());
}

#[test]
fn an_answer_to_a_choice_carries_its_question_when_it_is_short() {
    let heard = heard(&["let me see", "For how long should the alias live?", "forever"]);
    assert_eq!(heard, ["Decisions: For how long should the alias live: Forever"]);
}

#[test]
fn what_the_model_recommended_and_a_person_agreed_to_is_a_decision() {
    let heard = heard(&[
        "options?",
        "There are two. I'd recommend Postgres as the queue because volume is low.",
        "agreed",
    ]);
    assert_eq!(heard, ["Decisions: Postgres as the queue because volume is low"]);
}

#[test]
fn a_decision_that_is_taken_back_is_not_kept() {
    let heard = heard(&[
        "hm",
        "Yes?",
        "let's use redis for the price cache",
        "Done.",
        "scrap redis, we'll use an in-process cache instead",
    ]);
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(heard[0].contains("in-process cache"));
}

#[test]
fn a_second_thought_takes_the_place_of_the_first() {
    let heard = heard(&[
        "hm",
        "MSK or Redpanda?",
        "redpanda on our own nodes",
        "Fine.",
        "hold on, infra says no, so MSK then",
    ]);
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(heard[0].contains("MSK"), "{heard:?}");
}

#[test]
fn an_accepted_plan_is_heard_and_a_refused_one_is_not() {
    let plan = serde_json::json!({"plan": "# Cache\n\n1. Use an LRU in each worker.\n2. Measure."});
    let accepted = Transcript::new().user("plan it").tool(
        "ExitPlanMode",
        plan.clone(),
        "User has approved your plan.",
        false,
    );
    let operations = extract(&accepted.slice());
    let expected =
        Action::Add { text: "Plan accepted, Cache: Use an LRU in each worker; Measure".to_owned() };
    assert_eq!((operations.len(), &operations[0].action, &operations[0].turns[..]), (1, &expected, &[2][..]));
    let refused = Transcript::new().user("plan it").tool("ExitPlanMode", plan, "The user rejected it", true);
    assert!(extract(&refused.slice()).is_empty());
}

#[test]
fn other_languages_are_heard() {
    for (said, section) in [
        ("Wir haben uns für Prawn entschieden, Chrome braucht zu viel Speicher", "Decisions"),
        ("Las reservas de grupos quedan fuera de esta versión", "Scope changes"),
        ("El bloqueo de filas no funcionó con el pool de conexiones", "Rejected paths"),
        ("En attendant, le taux est codé en dur à 8,5 %", "Live workarounds"),
        ("Пока что лимит захардкожен в конфиге шлюза", "Live workarounds"),
        ("我们决定用本地存储保存登录令牌", "Decisions"),
        ("保存期間を1年にするかは未定です", "Open questions"),
        ("Ainda não decidimos se o motorista muda a ordem", "Open questions"),
    ] {
        let heard = heard(&["hi", "Hello.", said]);
        assert_eq!(heard.len(), 1, "{said}: {heard:?}");
        assert!(heard[0].starts_with(section), "{said}: {heard:?}");
    }
}

#[test]
fn every_operation_names_its_turn_and_a_long_session_has_bounds() {
    let said: Vec<String> = (0..80)
        .map(|number| format!("let's use library number{number} for feature f{number} of area a{number}"))
        .collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let transcript = said.iter().fold(Transcript::new(), |transcript, text| transcript.user(text));
    let operations = extract(&transcript.slice());
    assert_eq!(operations.len(), distiller::budget::EXTRACTED);
    for operation in operations {
        let Action::Add { text } = &operation.action else { panic!("extraction only adds") };
        let number = operation.turns[0] - 1;
        assert!(text.contains(&format!("number{number} ")), "{text} in turn {}", operation.turns[0]);
    }
}
