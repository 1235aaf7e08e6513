use super::*;
use base::Env;
use std::fs;

fn arguments(prompt: &str) -> String {
    ours(prompt).map_or_else(|| "none".to_owned(), |command| command.arguments(Some("s-1")).join(" "))
}

#[test]
fn a_command_of_ours_becomes_arguments_of_wyren() {
    for (prompt, expected) in [
        ("/wyren:status", "status --screen"),
        ("  /wyren:status\n", "status --screen"),
        ("/wyren:init --yes", "init --yes"),
        ("/wyren:doctor", "doctor --offline"),
        ("/wyren:trust", "trust"),
        ("/wyren:trust yes", "trust --yes"),
        ("/wyren:trust no", "untrust"),
        ("/wyren:trust --show", "trust --show"),
        ("/wyren:allow", "lessons allow"),
        ("/wyren:allow git-push", "lessons allow git-push --session-id s-1"),
        ("/wyren:allow git-push once", "lessons allow git-push --once --session-id s-1"),
        ("/wyren:allow git-push session", "lessons allow git-push --session --session-id s-1"),
        ("/wyren:log", "log --told --session s-1"),
        ("/wyren:log --lines 3", "log --told --lines 3"),
        ("/wyren:memory", "memory list --"),
        ("/wyren:memory queue", "memory list -- queue"),
        ("/wyren:memory diff", "memory diff"),
        ("/wyren:memory add decision: use\n--force here", "memory add -- decision: use\n--force here"),
        ("/wyren:memory add --force Use tabs", "memory add --force -- Use tabs"),
        ("/wyren:memory remove 3", "memory remove -- 3"),
        ("/wyren:remember use\n--force", "remember --session-id s-1 -- use\n--force"),
        ("/wyren:remember --pin --type=fix x", "remember --session-id s-1 --pin --type=fix -- x"),
        ("/wyren:remember", "remember --session-id s-1 --"),
        ("/wyren:search stale cache", "search stale cache"),
        ("/wyren:search cache --type fix", "search cache --type fix"),
        ("/wyren:search", "search"),
        ("/wyren:wyren-handoff it's {\"half\"} done", "memory handoff -- it's {\"half\"} done"),
    ] {
        assert_eq!(arguments(prompt), expected, "{prompt}");
    }
    let alone = ours("/wyren:allow x").map(|command| command.arguments(None).join(" "));
    assert_eq!(alone.as_deref(), Some("lessons allow x"));
}

#[test]
fn review_20_what_follows_trust_is_one_answer() {
    let arguments = ours("/wyren:trust yes please").map(|command| command.arguments(None));
    assert_eq!(arguments, Some(vec!["trust".to_owned(), "yes please".to_owned()]));
}

#[test]
fn review_18_a_text_keeps_its_lines() {
    let text = "First  part.\n\n- a\n  - b";
    for (command, expected) in [
        ("wyren-handoff", &["memory", "handoff", "--", text][..]),
        ("memory add", &["memory", "add", "--", text]),
        ("memory  add\n --force", &["memory", "add", "--force", "--", text]),
        ("memory handoff", &["memory", "handoff", "--", text]),
    ] {
        let prompt = format!("/wyren:{command} {text}\n");
        let arguments = ours(&prompt).map(|command| command.arguments(None)).unwrap_or_default();
        assert_eq!(arguments, expected, "{prompt}");
    }
    assert_eq!(arguments("/wyren:memory add "), "memory add --");
}

#[test]
fn any_other_prompt_is_the_models() {
    for prompt in [
        "",
        "/",
        "/wyren",
        "/wyren:",
        "/wyren:stat",
        "/wyren:statuses",
        "/wyren:lessons-add npm install",
        "/wyren:wyren-handoff",
        "/other:status",
        "what does /wyren:status do?",
        "<private>/wyren:status</private>",
        "status",
    ] {
        assert_eq!(ours(prompt), None, "{prompt}");
    }
}

#[test]
fn what_changes_something_goes_on_when_time_is_up() {
    for (prompt, expected) in [
        ("/wyren:status", false),
        ("/wyren:doctor", false),
        ("/wyren:memory", false),
        ("/wyren:memory added", false),
        ("/wyren:memory add x", true),
        ("/wyren:memory restore 1", true),
        ("/wyren:init", true),
        ("/wyren:remember x", true),
        ("/wyren:search x", false),
        ("/wyren:trust yes", true),
        ("/wyren:allow x", true),
        ("/wyren:wyren-handoff x", true),
    ] {
        assert_eq!(ours(prompt).map(|command| command.changes()), Some(expected), "{prompt}");
    }
}

#[test]
fn every_command_has_a_file_that_costs_the_model_nothing() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../commands");
    for name in NAMES {
        let text = fs::read_to_string(format!("{folder}/{name}.md")).expect(name);
        let is_hidden = text.contains("\ndisable-model-invocation: true\n");
        // The model writes the note where the user gives none.
        assert_eq!(is_hidden, name != HANDOFF, "{name}");
    }
}

#[test]
fn a_program_that_cannot_run_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new(HOOK, Env::fixed([("WYREN_DATA_DIR", folder.path())]));
    let call: UserPromptSubmit = serde_json::from_str(r#"{"prompt":"/wyren:status","cwd":"/"}"#).unwrap();
    let command = ours("/wyren:status").unwrap();
    let answer = answer_with(&command, &folder.path().join("gone"), &call, &host).unwrap();
    let texts = answer.texts();
    let [("block", text)] = texts[..] else { panic!("{texts:?}") };
    assert!(text.starts_with("Wyren could not run `wyren status`: "), "{text}");
    assert!(text.ends_with("Try it in a terminal."), "{text}");
}

#[cfg(unix)]
#[test]
fn the_output_is_shown_without_control_characters_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new(HOOK, Env::fixed([("WYREN_DATA_DIR", folder.path())]));
    let call: UserPromptSubmit = serde_json::from_str(r#"{"prompt":"x","cwd":"/"}"#).unwrap();
    let command = ours("/wyren:wyren-handoff one\u{1b}[2J two").unwrap();
    let answer = answer_with(&command, Path::new("/bin/echo"), &call, &host).unwrap();
    assert_eq!(answer.texts(), [("block", "memory handoff -- one two")]);
    assert_eq!(fs::read_dir(host.paths.cache()).unwrap().count(), 0);
}
