//! `wyren lessons add` by answers to questions: each is checked when it is given, and none is lost.

use std::fs;
use std::process::Output;

use anyhow::Result;
use wyren_tests::sandbox::{Sandbox, feed};

use super::{SLUG, lessons_json, names_in, personal, stderr, stdout};

const SUMMARY: &str = "frobnicate apply overwrites the local state\n";
const PROBLEM: &str = "It takes whatever the server has and drops unsaved frobs without a word.\n\n";
const SOLUTION: &str =
    "Run `frobnicate diff` first, save what is missing with `frobnicate save`, and only then apply.\n\n";
const REST: &str = "\nfrobnicate apply\n\n--dry-run\n\n\nfrobnicate apply\n\n\ntool:frobnicate\n\n";

fn answer(sandbox: &Sandbox, answers: &str) -> Result<Output> {
    feed(sandbox.command("wyren").args(["lessons", "add", "--interactive"]), answers.as_bytes())
}

fn drafts(sandbox: &Sandbox) -> Vec<String> {
    names_in(&sandbox.data().join("cache/drafts"))
}

#[test]
fn c16_an_answer_that_will_not_do_is_asked_for_again() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let answers = format!(
        "short\n{SUMMARY}\n{PROBLEM}\nToo short.\n\n{SOLUTION}hnt\nhint\n-f x\n\nfrobnicate apply\n\n--dry-run\n\n\n\
         frobnicate diff\n\nfrobnicate apply\n\n\ntool:frobnicate\n\n"
    );
    let output = answer(&sandbox, &answers)?;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with(&format!("Added hint {SLUG} (yours).")), "{}", stdout(&output));
    for problem in [
        "summary: has 5 characters, expected at least 10",
        "problem: is missing",
        "solution: is missing",
        "solution: has 10 characters, expected at least 60",
        "kind: expected one of hint",
        "commands: \"-f x\": the first word must be the program",
        "fires: \"frobnicate diff\" does not fire it",
    ] {
        assert!(stderr(&output).contains(problem), "{problem}: {}", stderr(&output));
    }
    assert_eq!(drafts(&sandbox), [""; 0]);
    Ok(())
}

#[test]
fn c16_a_lesson_needs_commands_or_files() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let answers = format!("{SUMMARY}{PROBLEM}{SOLUTION}\n\n\n**/*.frob\n\n\n\n\n");
    let output = answer(&sandbox, &answers)?;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("trigger: a hint needs one"), "{}", stderr(&output));
    let lesson = lessons_json(&sandbox, &["show", SLUG, "--json"])?;
    assert_eq!(lesson["paths"][0], "**/*.frob");
    Ok(())
}

#[test]
fn c16_answers_outlive_an_interruption_and_the_next_interview_goes_on() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let output = answer(&sandbox, &format!("{SUMMARY}{PROBLEM}too short\n\n"))?;
    assert_eq!(output.status.code(), Some(1));
    let error = stderr(&output);
    assert!(
        error.contains("the answers ended before the questions\nnothing was added; your answers are kept"),
        "{error}"
    );
    let draft = sandbox.data().join("cache/drafts/new-lesson.json");
    assert!(fs::read_to_string(&draft)?.contains("unsaved frobs"));
    assert!(error.contains(&format!("wyren lessons add --file {}", draft.display())), "{error}");
    assert_eq!(names_in(&personal(&sandbox)), [""; 0]);

    let output = answer(&sandbox, &format!("y\n{SOLUTION}{REST}"))?;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let question = "Go on with your draft, \"frobnicate apply overwrites the local state\"? [Y/n]";
    assert!(stderr(&output).contains(question), "{}", stderr(&output));
    assert_eq!(names_in(&personal(&sandbox)), [format!("{SLUG}.md")]);
    assert_eq!(drafts(&sandbox), [""; 0]);
    Ok(())
}

#[test]
fn c16_what_another_lesson_says_already_keeps_the_draft() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let answers = format!("{SUMMARY}{PROBLEM}{SOLUTION}{REST}");
    assert_eq!(answer(&sandbox, &answers)?.status.code(), Some(0));
    let output = answer(&sandbox, &answers)?;
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("your answers are kept"), "{}", stderr(&output));
    assert_eq!(drafts(&sandbox), ["new-lesson.json"]);
    // Another lesson begins anew.
    let output = answer(&sandbox, "n\nanother summary of it\n")?;
    assert!(
        fs::read_to_string(sandbox.data().join("cache/drafts/new-lesson.json"))?.contains("another summary")
    );
    assert_eq!(output.status.code(), Some(1));
    Ok(())
}
