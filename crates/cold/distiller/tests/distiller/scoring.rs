//! Tier 0: what is worth a model.

use distiller::{DEFAULT_THRESHOLD, Score, score};
use serde_json::json;

use crate::{Transcript, conversation};

fn score_of(said: &[&str]) -> Score {
    score(&conversation(said).slice())
}

fn points(score: &Score, category: &str) -> u32 {
    score.signals.iter().filter(|signal| signal.category == category).map(|signal| signal.points).sum()
}

#[test]
fn neutral_chatter_scores_low() {
    for said in [
        &["what time is it", "It is nine."][..],
        &["hello", "Hi, what can I do?", "how does the parser work", "It reads line by line."],
        &["wie spät ist es", "Neun Uhr.", "danke"],
        &["今天天气怎么样", "我不知道。"],
    ] {
        let score = score_of(said);
        assert!(!score.passes(DEFAULT_THRESHOLD), "{said:?}: {score}");
    }
}

#[test]
fn a_plain_spoken_decision_passes() {
    for said in ["let's go with dark mode", "ok do tabs instead", "we'll use pnpm", "Let’s stick with REST"]
    {
        let score = score_of(&[said]);
        assert!(score.passes(DEFAULT_THRESHOLD), "{said}: {score}");
    }
}

#[test]
fn decisions_pass_in_ten_languages() {
    for (language, said) in [
        ("English", "we decided to use Postgres"),
        ("Chinese", "我们决定用 Postgres"),
        ("Spanish", "Hemos decidido usar Postgres"),
        ("Hindi", "हमने Postgres का फैसला किया"),
        ("Portuguese", "Vamos usar o Postgres"),
        ("Russian", "Решили взять Postgres"),
        ("Japanese", "Postgresを採用することにしました"),
        ("German", "Wir haben uns für Postgres entschieden"),
        ("French", "On part sur Postgres"),
        ("Korean", "Postgres를 사용하기로 했습니다"),
    ] {
        let score = score_of(&[said]);
        assert!(score.passes(DEFAULT_THRESHOLD), "{language}: {score}");
    }
}

#[test]
fn rejections_hacks_and_open_questions_are_heard_in_other_languages() {
    for said in [
        "das funktioniert nicht",
        "ça ne marche pas",
        "no funciona",
        "não funciona",
        "не работает",
        "行不通",
        "うまくいきません",
        "작동하지 않아요",
        "काम नहीं करता",
        "vorübergehend",
        "en attendant",
        "de momento",
        "por enquanto",
        "временно",
        "暂时",
        "とりあえず",
        "임시로",
        "फिलहाल",
    ] {
        let score = score_of(&[said]);
        assert!(score.passes(DEFAULT_THRESHOLD), "{said}: {score}");
    }
    for said in [
        "noch offen",
        "à voir avec Luc",
        "por decidir",
        "a definir",
        "пока не ясно",
        "待定",
        "検討中",
        "미정",
        "तय नहीं",
    ] {
        let score = score_of(&[said]);
        assert_eq!(points(&score, "open, other language"), 3, "{said}: {score}");
    }
}

#[test]
fn the_weights_of_the_old_distiller_keep_their_meaning() {
    for (said, category, expected) in [
        ("we chose it", "decision", 3),
        ("chose chose chose chose chose", "decision", 9),
        ("rejected", "rejection", 3),
        ("I tried the cache but no", "rejection", 3),
        ("it is hardcoded", "hack", 3),
        ("a known issue", "broken", 3),
        ("leaving it broken", "broken", 3),
        ("out of scope", "scope", 2),
        ("TBD", "open", 2),
        ("TODO", "maintenance", 2),
    ] {
        assert_eq!(points(&score_of(&["hm", said]), category), expected, "{said}");
    }
    assert_eq!(points(&score_of(&["maybe later"]), "weak"), 1);
    assert_eq!(
        points(&score_of(&["hm", "maybe later"]), "weak"),
        0,
        "a model says that in every other reply"
    );
}

/// Adds so many edits.
fn edited(transcript: Transcript, count: usize) -> Transcript {
    (0..count)
        .fold(transcript, |transcript, _| transcript.tool("Edit", json!({"file_path": "a"}), "ok", false))
}

#[test]
fn a_single_edit_and_mere_length_do_not_pass() {
    let check = |transcript: &Transcript, expected: u32| {
        let score = score(&transcript.slice());
        assert_eq!(score.points, expected, "{score}");
        assert!(!score.passes(DEFAULT_THRESHOLD));
    };
    let asked = || Transcript::new().user("rename the field everywhere");
    check(&edited(asked(), 1), 0);
    check(&edited(asked(), 5), 1);
    check(&edited(asked(), 40), 2);
    let long: String = "Here is the whole stack trace of the crash. ".repeat(20);
    let tested = |transcript: Transcript| {
        transcript.tool("Bash", json!({"command": "cargo test"}), "test result: FAILED", true).tool(
            "Bash",
            json!({"command": "cargo test"}),
            "test result: ok. 3 passed; 0 failed",
            false,
        )
    };
    check(&tested(edited(Transcript::new().user(&long), 40)), 2);
}

/// Prompts, replies, code and output of a day on which nothing was decided.
#[test]
fn a_plain_working_slice_does_not_pass() {
    let code = "// TODO: mock this later\nfn stub() { let choice = 1; } // hack, placeholder, rejected";
    let transcript = Transcript::new()
        .user("the cart total is off by one cent, can you find out why?")
        .assistant("I'll look at the cart first.")
        .tool("Read", json!({"file_path": "src/cart.rs"}), code, false)
        .assistant("The sum is rounded per line. I round the total instead.")
        .tool(
            "Edit",
            json!({"file_path": "src/cart.rs", "old_string": code, "new_string": code}),
            "ok",
            false,
        )
        .tool("Bash", json!({"command": "cargo test"}), "1 failed: known issue, won't fix", true)
        .assistant("One test still expects the old value; I update it.")
        .tool("Edit", json!({"file_path": "src/cart.rs"}), "ok", false)
        .tool("Bash", json!({"command": "cargo test"}), "test result: ok. 3 passed; 0 failed", false)
        .user(&format!("thanks, now add a test for an empty cart. This is what I have:\n```\n{code}\n```"))
        .tool("Write", json!({"file_path": "tests/cart.rs"}), "ok", false)
        .assistant("Added, and it passes.")
        .user("run the linter and commit")
        .tool("Bash", json!({"command": "git commit -m 'Round the total'"}), "", false)
        .assistant("Committed.");
    let score = score(&transcript.slice());
    assert!(!score.passes(DEFAULT_THRESHOLD), "{score}");
}

#[test]
fn a_correction_passes() {
    for said in ["that's wrong, the API counts from one", "I told you to leave the lock file alone"] {
        let score = score_of(&["fix the index", "Done.", said]);
        assert!(score.passes(DEFAULT_THRESHOLD), "{said}: {score}");
    }
}

const OUR_REFUSALS: [&str; 4] = [
    "## Lesson: git reset --hard throws away changes\nEdits are gone; skip for now.\n**Instead**: `git stash`",
    "Wyren paused this call once (lesson git-reset-hard): it was rejected, decided and settled on instead.",
    "Wyren refused this call (guard git-reset-hard): known issue, won't fix. wyren lessons allow git-reset-hard",
    "This call failed twice with the same error, and nothing has changed since.\n\nWe chose a workaround.",
];

const REFUSALS: [&str; 3] = [
    "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing.",
    "Permission to use Bash with command git reset --hard has been denied.",
    "git in '/srv/shop' was blocked. For security, Claude Code may only create or modify files in /srv/shop.",
];

#[test]
fn refusals_and_what_they_refused_do_not_score() {
    for refusal in OUR_REFUSALS.iter().chain(&REFUSALS) {
        let refused = Transcript::new()
            .user("get rid of my changes")
            .tool("Bash", json!({"command": "git reset --hard origin/main"}), refusal, true)
            .tool("Edit", json!({"file_path": "a"}), refusal, true)
            .assistant("I stop here.");
        let slice = refused.slice();
        assert_eq!(score(&slice).points, 0, "{refusal}: {}", score(&slice));
        assert_eq!(
            slice.render(),
            "[turn 1, user]\nget rid of my changes\n\n[turn 3, user]\n[call refused]\n\n\
             [turn 5, user]\n[call refused]\n\n[turn 6, assistant]\nI stop here."
        );
    }
    let done = Transcript::new().tool("Bash", json!({"command": "git reset --hard origin/main"}), "", false);
    assert_eq!(points(&score(&done.slice()), "approach reverted"), 3);
}

#[test]
fn what_a_person_says_about_a_call_they_refuse_counts() {
    let refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nwe decided to use pnpm";
    let refused = Transcript::new().tool("Bash", json!({"command": "npm install"}), refusal, true);
    let slice = refused.slice();
    assert_eq!(slice.render(), "[turn 2, user]\n[call refused; the user said] we decided to use pnpm");
    assert!(score(&slice).passes(DEFAULT_THRESHOLD), "{}", score(&slice));
}

#[test]
fn a_plan_that_was_refused_is_still_read() {
    let refusal = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nno Redis";
    let refused = Transcript::new().tool("ExitPlanMode", json!({"plan": "Cache in Redis"}), refusal, true);
    let rendered = refused.slice().render();
    assert!(rendered.contains("Cache in Redis") && rendered.contains("no Redis"), "{rendered}");
}

#[test]
fn commands_of_wyren_and_what_they_print_are_not_conversation() {
    let memory = "## Decisions\n- We decided to use Postgres, a workaround until v2";
    let command = "<command-message>wyren:wyren-handoff</command-message>\n<command-name>/wyren:wyren-handoff</command-name>\n<command-args>we decided to stop here</command-args>";
    let transcript = Transcript::new()
        .user(command)
        .tool("Bash", json!({"command": "\"/opt/wyren//bin/wyren\" memory handoff -"}), memory, false)
        .tool("Read", json!({"file_path": "/srv/shop/.wyren/memory.md"}), memory, false)
        .user("<bash-input>wyren memory</bash-input>")
        .user(&format!(
            "<wyren-context id=\"a1\" source=\"team memory\">\n{memory}\n</wyren-context id=\"a1\">\nhello"
        ))
        .assistant("Handed over.");
    let slice = transcript.slice();
    assert_eq!(slice.render(), "[turn 7, user]\nhello\n\n[turn 8, assistant]\nHanded over.");
    assert_eq!(score(&slice).points, 0, "{}", score(&slice));
}

#[test]
fn what_the_tools_show_counts() {
    let transcript = Transcript::new()
        .tool("ExitPlanMode", json!({"plan": "# Plan"}), "User has approved your plan.", false)
        .tool("Bash", json!({"command": "cargo test"}), "test result: FAILED", true)
        .tool("Bash", json!({"command": "git checkout -- src"}), "", false)
        .tool("Bash", json!({"command": "cargo test"}), "test result: ok. 3 passed; 0 failed", false);
    let score = score(&transcript.slice());
    for (category, turn) in [("plan accepted", 2), ("approach reverted", 5)] {
        let signal = score.signals.iter().find(|signal| signal.category == category);
        assert_eq!(signal.and_then(|signal| signal.message), Some(turn), "{category} in {score}");
    }
    assert_eq!(points(&score, "test turned green"), 1);
    let refused =
        Transcript::new().tool("ExitPlanMode", json!({"plan": "x"}), "The user does not want this", true);
    assert_eq!(points(&distiller::score(&refused.slice()), "plan accepted"), 0);
}

#[test]
fn a_score_says_why() {
    let score = score_of(&["hi", "hello", "let's go with dark mode"]);
    let why = "8 (decision, spoken 1× +3 turn 3, found by rules 1× +3 turn 3, statement 1× +2 turn 3)";
    assert_eq!(score.to_string(), why);
}
