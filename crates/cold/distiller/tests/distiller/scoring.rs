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
        assert_eq!(score.points, 2, "{said}: {score}");
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
        ("maybe later", "weak", 1),
    ] {
        assert_eq!(points(&score_of(&["hm", said]), category), expected, "{said}");
    }
}

#[test]
fn edits_count_four_each_up_to_sixteen() {
    let edits = |count: usize| {
        let transcript = (0..count).fold(Transcript::new(), |transcript, _| {
            transcript.tool("Edit", json!({"file_path": "a"}), "ok", false)
        });
        score(&transcript.slice())
    };
    assert_eq!(points(&edits(1), "edits"), 4);
    assert_eq!(points(&edits(6), "edits"), 16);
    assert_eq!(
        (points(&edits(2), "editing"), points(&edits(5), "editing"), points(&edits(10), "editing")),
        (2, 5, 8)
    );
    assert_eq!((points(&edits(5), "length"), points(&edits(10), "length")), (2, 4));
}

#[test]
fn what_the_tools_show_counts() {
    let transcript = Transcript::new()
        .tool("ExitPlanMode", json!({"plan": "# Plan"}), "User has approved your plan.", false)
        .tool("Bash", json!({"command": "cargo test"}), "test result: FAILED", true)
        .tool("Bash", json!({"command": "git checkout -- src"}), "", false)
        .tool("Bash", json!({"command": "cargo test"}), "test result: ok. 3 passed; 0 failed", false);
    let score = score(&transcript.slice());
    for (category, turn) in [("plan accepted", 2), ("approach reverted", 5), ("test turned green", 8)] {
        let signal = score.signals.iter().find(|signal| signal.category == category);
        assert_eq!(signal.and_then(|signal| signal.message), Some(turn), "{category} in {score}");
    }
    let refused =
        Transcript::new().tool("ExitPlanMode", json!({"plan": "x"}), "The user does not want this", true);
    assert_eq!(points(&distiller::score(&refused.slice()), "plan accepted"), 0);
}

#[test]
fn a_score_says_why() {
    let score = score_of(&["hi", "hello", "let's go with dark mode"]);
    assert_eq!(score.to_string(), "3 (decision, spoken 1× +3 turn 3)");
}
