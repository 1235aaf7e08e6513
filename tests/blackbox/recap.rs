//! `wyren recap` from outside: which days, which projects, in which form.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

use crate::engine::wyren;

/// Two minutes, a week apart; the zone of the tests is UTC.
const LATE: &str = "2026-11-16T10:00";
const EARLY: &str = "2026-11-09T10:00";

/// The journals of two projects.
struct Desk {
    sandbox: Sandbox,
}

impl Desk {
    fn new() -> Result<Option<Self>> {
        Ok(Sandbox::new()?.map(|sandbox| Self { sandbox }))
    }

    fn other(&self) -> PathBuf {
        self.sandbox.folder().join("other")
    }

    /// Takes in a turn of a project: each of its parts says `word`.
    fn record(&self, cwd: &Path, minute: &str, word: &str) -> Result<()> {
        fs::create_dir_all(cwd)?;
        let line = |kind: &str, second: u32, data: Value| {
            json!({
                "v": 2, "type": kind, "session": word, "id": format!("{word}:{second}"), "ts": format!("{minute}:{second:02}.000Z"),
                "cwd": cwd, "prompt_id": word, "data": data,
            })
        };
        let entry = |kind: &str, title: &str| json!({"type": kind, "title": title, "source": "by-hand"});
        let prompt = json!({
            "v": 1, "type": "prompt", "session": word, "id": format!("p:{word}"), "ts": format!("{minute}:00.000Z"), "cwd": cwd,
            "number": 1, "text": format!("go on with {word}"),
        });
        let lines = [
            prompt,
            line("entry", 1, entry("change", &format!("{word}.rs: parses_{word} reads the header"))),
            line("entry", 2, entry("decision", &format!("Keep {word} in one file <b>for now</b>"))),
            line("entry", 3, entry("discovery", &format!("{word} is slow on an empty disk"))),
            line(
                "summary",
                4,
                json!({"request": format!("go on with {word}"), "next_steps": format!("deploy {word}"), "source": "model"}),
            ),
        ];
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let output = feed(self.sandbox.command("wyren").args(["import", "-"]), lines.join("\n").as_bytes())?;
        ensure!(output.status.success(), "{output:?}");
        Ok(())
    }

    /// Records a turn of each project now, and one of a week before.
    fn record_all(&self) -> Result<()> {
        self.record(&self.sandbox.project(), LATE, "late")?;
        self.record(&self.sandbox.project(), EARLY, "early")?;
        self.record(&self.other(), LATE, "foreign")
    }

    fn recap(&self, arguments: &[&str]) -> Result<String> {
        wyren(&self.sandbox, &[&["recap"], arguments].concat())
    }

    fn json(&self, arguments: &[&str]) -> Result<Value> {
        Ok(serde_json::from_str(&self.recap(&[&["--json"], arguments].concat())?)?)
    }
}

/// Returns which turns a text is about.
fn words(text: &str) -> Vec<&'static str> {
    ["early", "late", "foreign"].into_iter().filter(|word| text.contains(&format!("deploy {word}"))).collect()
}

#[test]
fn a_recap_has_what_was_done_decided_learned_and_left_open() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    desk.record_all()?;
    let text = desk.recap(&["--since", "2026-11-15", "--until", "2026-11-20"])?;
    let mut rest = text.as_str();
    for part in [
        "Monday 16 November 2026",
        "Done",
        "✓ late.rs: parses_late reads the header",
        "Decided",
        "⚖ Keep late in one file <b>for now</b>",
        "Learned",
        "○ late is slow on an empty disk",
        "Left open",
        "→ deploy late",
    ] {
        let (_, after) =
            rest.split_once(part).with_context(|| format!("{part:?} is not at its place in\n{text}"))?;
        rest = after;
    }
    assert_eq!(words(&text), ["late"], "{text}");
    assert_eq!(text, desk.recap(&["--since", "2026-11-15", "--until", "2026-11-20"])?, "the same again");
    Ok(())
}

#[test]
fn the_bounds_of_a_recap_are_those_that_were_asked_for() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    desk.record_all()?;
    let of = |since: &str, until: &str| desk.recap(&["--since", since, "--until", until]);
    assert_eq!(words(&of("2026-11-09", "2026-11-20")?), ["early", "late"]);
    assert_eq!(words(&of("2026-11-09", "2026-11-16")?), ["early"]);
    assert_eq!(words(&of("2026-11-16T10:00:05Z", "2026-11-20")?), Vec::<&str>::new());
    for (arguments, complaint) in [
        (&["--since", "2026-11-16", "--until", "2026-11-16"][..], "--until is not later than --since"),
        (&["--since", "soon"], "soon"),
        (&["--json", "--markdown"], "cannot be used with"),
    ] {
        let output = desk.sandbox.wyren(&[&["recap"], arguments].concat())?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.code() == Some(2) && said.contains(complaint), "{arguments:?}: {output:?}");
    }
    Ok(())
}

#[test]
fn a_project_is_named_by_its_folder_or_key_and_all_are_shown_together() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    desk.record_all()?;
    let since = ["--since", "2026-11-16", "--project"];
    let of = |project: &str| desk.recap(&[&since[..], &[project]].concat());
    let other = desk.other();
    let other = other.to_str().context("a path")?;
    assert_eq!(words(&of(other)?), ["foreign"]);
    assert_eq!(words(&of("other")?), ["foreign"]);
    assert_eq!(words(&of("all")?), ["late", "foreign"]);
    let facts = desk.json(&[&since[..], &["all"]].concat())?;
    let keys: Vec<&str> = facts["days"][0]["projects"]
        .as_array()
        .context("no projects")?
        .iter()
        .filter_map(|project| project["key"].as_str())
        .collect();
    for key in &keys {
        assert_eq!(words(&of(key)?).len(), 1, "{key}");
    }
    assert_eq!(keys.len(), 2, "{facts}");
    let output = desk.sandbox.wyren(&["recap", "--project", "no-such-project"])?;
    ensure!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    Ok(())
}

#[test]
fn markdown_is_a_note_in_which_no_text_becomes_markup() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    desk.record_all()?;
    let text = desk.recap(&["--since", "2026-11-16", "--until", "2026-11-17", "--markdown"])?;
    for line in [
        "## Monday 16 November 2026",
        "**Done**",
        "- late.rs: parses\\_late reads the header",
        "**Decided**",
        "- Keep late in one file \\<b>for now\\</b>",
        "**Learned**",
        "- late is slow on an empty disk",
        "**Left open**",
        "- deploy late",
    ] {
        assert!(text.lines().any(|found| found == line), "{line:?} is no line of\n{text}");
    }
    assert!(text.lines().any(|line| line.starts_with("### ") && line.ends_with("/project")), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    Ok(())
}

#[test]
fn json_has_every_line_with_its_id_time_and_type() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    desk.record_all()?;
    let facts = desk.json(&["--since", "2026-11-09", "--until", "2026-11-17"])?;
    assert_eq!(facts["days"].as_array().map(Vec::len), Some(2), "{facts}");
    assert_eq!(
        (&facts["days"][0]["day"], &facts["days"][1]["day"]),
        (&json!("2026-11-09"), &json!("2026-11-16"))
    );
    let project = &facts["days"][1]["projects"][0];
    assert!(project["name"].as_str().is_some_and(|name| name.ends_with("/project")), "{project}");
    for (part, kind, text) in [
        ("done", json!("change"), "late.rs: parses_late reads the header"),
        ("decided", json!("decision"), "Keep late in one file <b>for now</b>"),
        ("learned", json!("discovery"), "late is slow on an empty disk"),
        ("open", Value::Null, "deploy late"),
    ] {
        let line = &project[part][0];
        assert_eq!((&line["type"], &line["text"]), (&kind, &json!(text)), "{part}: {project}");
        assert!(line["at"].as_str().is_some_and(|at| at.starts_with(LATE)), "{line}");
        let id = line["id"].as_str().context("no id")?;
        let shown: Value = serde_json::from_str(&wyren(&desk.sandbox, &["show", "--json", id])?)?;
        assert_eq!(shown["items"][0]["id"], id, "`wyren show` knows it");
    }
    Ok(())
}

#[test]
fn without_history_a_recap_says_so() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    let text = desk.recap(&[])?;
    assert!(text.starts_with("Nothing was recorded since "), "{text}");
    assert!(text.trim_end().ends_with("All projects: wyren recap --project all"), "{text}");
    let text = desk.recap(&["--project", "all"])?;
    assert!(text.starts_with("Nothing was recorded since ") && !text.contains("--project"), "{text}");
    assert_eq!(desk.json(&[])?["days"], json!([]));
    assert_eq!(desk.recap(&["--markdown"])?.lines().count(), 1);
    desk.record(&desk.other(), LATE, "foreign")?;
    assert!(desk.recap(&["--since", "2026-11-01"])?.starts_with("Nothing was recorded since "));
    Ok(())
}
