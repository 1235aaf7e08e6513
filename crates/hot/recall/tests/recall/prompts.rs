//! What a prompt brings, where the user wants it.

use crate::support::{Desk, contents};
use std::fs;

const STORY: &[(&str, &[&str])] = &[
    ("src/verify.rs", &["verify_token checks expiry", "Tokens are opaque"]),
    ("src/hooks.rs", &["Webhooks are retried with exponential backoff"]),
];

fn desk() -> Desk {
    Desk::new(STORY).with("CLAUDE_MEM_SEMANTIC_INJECT", "true")
}

#[test]
fn it_is_off_by_default() {
    assert_eq!(Desk::new(STORY).prompt("s", "why does verify_token fail?"), "");
}

#[test]
fn a_strong_match_brings_its_entries_once_per_window_beside_the_rest() {
    let desk = desk();
    let text = desk.prompt("s", "why does verify_token fail?");
    assert!(
        text.starts_with("Wyren: what earlier sessions did about something that this prompt names"),
        "{text}"
    );
    assert!(
        text.contains("2026-11-16 ✓ verify_token checks expiry (id0)") && !text.contains("(id1)"),
        "{text}"
    );
    // The file has another one.
    let text = desk.prompt("s", "what else is in src/verify.rs?");
    assert!(text.contains("(id1)") && !text.contains("(id0)"), "{text}");
    assert_eq!(desk.prompt("s", "why does verify_token in src/verify.rs fail?"), "");
    assert!(desk.prompt("s", "make the exponential backoff longer").contains("(id2)"));
}

#[test]
fn a_weak_match_a_short_prompt_and_private_words_bring_nothing() {
    let desk = desk();
    for prompt in [
        "make it longer, and the backoff too",
        "verify_token?",
        "look at this <private>verify_token in src/verify.rs</private> please",
        "<private>look at verify_token in src/verify.rs",
    ] {
        assert_eq!(desk.prompt("s", prompt), "", "{prompt}");
    }
}

#[test]
fn the_limit_holds_and_what_the_session_did_itself_is_left_out() {
    let desk = desk().with("CLAUDE_MEM_SEMANTIC_INJECT_LIMIT", "1");
    let text = desk.prompt("s", "tell me about src/verify.rs and src/hooks.rs");
    assert_eq!(text.matches("2026-11-16").count(), 1, "{text}");
    let mut contents = contents(STORY);
    contents.entries.iter_mut().for_each(|entry| entry.session = "t".into());
    desk.write(&contents);
    assert_eq!(desk.prompt("t", "tell me about src/verify.rs and src/hooks.rs"), "");
}

#[test]
fn a_paused_folder_is_silent() {
    let desk = desk();
    let settings = format!("wyren hooks 1\ncapture.paused_projects={}\n", desk.project().display());
    fs::write(desk.paths().hook_settings(), settings).unwrap();
    assert_eq!(desk.prompt("s", "why does verify_token fail?"), "");
}
