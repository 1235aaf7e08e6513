//! `wyren why` against a repository that 200 scripted sessions and their user wrote: whose is each line?

mod world;

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::Sandbox;

use crate::engine::{prompt, wyren};
use world::{Way, World};

/// The share of lines of sessions that must have the right prompt.
const RIGHT: f64 = 0.95;
/// The share of the user's own lines that may be given to a session.
const WRONG: f64 = 0.10;
/// The same where sessions move code between files that the user renames, formats and moves, too: every line has a history of
/// several files.
const RIGHT_WHERE_MOVED: f64 = 0.89;
const WRONG_WHERE_MOVED: f64 = 0.30;

/// Returns what `wyren why` says of each line: the prompt, or `None` for lines that are from no recorded session.
fn told(sandbox: &Sandbox, path: &str) -> Result<Vec<Option<String>>> {
    let output = sandbox.wyren(&["why", path, "--json"])?;
    ensure!(output.status.success(), "{path}: {output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let mut told = Vec::new();
    for block in answer["blocks"].as_array().context("no blocks")? {
        let edit = block["edit"].as_u64().map(|edit| &answer["edits"][edit as usize]);
        let prompt = edit.and_then(|edit| edit["prompt"].as_str()).map(str::to_owned);
        let count = block["to"].as_u64().context("to")? + 1 - block["from"].as_u64().context("from")?;
        told.extend((0..count).map(|_| prompt.clone()));
    }
    Ok(told)
}

/// Hands over what was recorded.
fn record(sandbox: &Sandbox, world: &World) -> Result<()> {
    let spool = sandbox.data().join("spool/scripted");
    fs::create_dir_all(&spool)?;
    Ok(fs::write(spool.join("1.jsonl"), world.spool())?)
}

/// How often an answer is right, by the kind of the lines.
#[derive(Default)]
struct Score {
    /// Lines of sessions: right, all.
    recorded: (u32, u32),
    /// The user's own lines: given to a session, all.
    own: (u32, u32),
    /// Some of the wrong ones, to look at.
    wrong: Vec<String>,
}

impl Score {
    fn count(&mut self, path: &str, number: usize, line: &world::Line, told: Option<&str>) {
        let is_right = line.prompt.as_deref() == told;
        match &line.prompt {
            Some(_) => {
                self.recorded.0 += u32::from(is_right);
                self.recorded.1 += 1;
            }
            None => {
                self.own.0 += u32::from(!is_right);
                self.own.1 += 1;
            }
        }
        if !is_right {
            self.wrong.push(format!(
                "{path}:{} {:?}: {:?}, told {told:?}",
                number + 1,
                line.text,
                line.prompt
            ));
        }
    }
}

#[test]
fn the_right_prompt_is_named_for_the_lines_of_200_sessions() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut world = World::new(&sandbox.project(), 7);
    world.run(200);
    judge(&sandbox, &world, RIGHT, WRONG)
}

#[test]
fn the_right_prompt_is_named_where_sessions_split_files_and_move_code_between_them() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut world = World::new(&sandbox.project(), 7);
    world.moves_code = true;
    world.run(200);
    judge(&sandbox, &world, RIGHT_WHERE_MOVED, WRONG_WHERE_MOVED)
}

/// Asks about every line.
fn judge(sandbox: &Sandbox, world: &World, least: f64, most: f64) -> Result<()> {
    record(sandbox, world)?;
    let mut score = Score::default();
    for (path, lines) in world.files() {
        let told = told(sandbox, path)?;
        ensure!(told.len() == lines.len(), "{path}: {} of {} lines", told.len(), lines.len());
        for (number, (line, told)) in lines.iter().zip(&told).enumerate() {
            score.count(path, number, line, told.as_deref());
        }
    }
    let share = |(some, all): (u32, u32)| f64::from(some) / f64::from(all.max(1));
    let (right, wrong) = (share(score.recorded), share(score.own));
    let report =
        format!("sessions {:?}: {right:.3} right; user {:?}: {wrong:.3} wrong", score.recorded, score.own);
    // The figures of docs/status.md.
    writeln!(std::io::stderr(), "{report}")?;
    let examples = score.wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    ensure!(right >= least && wrong <= most, "{report}\n{examples}");
    Ok(())
}

#[test]
fn moved_lines_have_the_prompt_that_wrote_them_and_the_one_that_moved_them() -> Result<()> {
    for way in
        [Way::CutAndPaste, Way::PasteAndCut, Way::InTwoPrompts, Way::SplitAndRemove, Way::RenameAndEdit]
    {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let mut world = World::new(&sandbox.project(), 7);
        let (path, writer, mover) = world.write_and_move(way);
        record(&sandbox, &world)?;
        let lines = world.files().find(|(name, _)| **name == path).context("no file")?.1;
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| line.text.starts_with("fn ")) {
            let target = format!("{path}:{}", number + 1);
            let answer: Value = serde_json::from_str(&wyren(&sandbox, &["why", &target, "--json"])?)?;
            let block = &answer["blocks"][0];
            let prompt = |name: &str| {
                block[name].as_u64().and_then(|edit| answer["edits"][edit as usize]["prompt"].as_str())
            };
            let is_moved = line.prompt.as_deref() == Some(&writer);
            ensure!(prompt("edit") == line.prompt.as_deref(), "{way:?} {target} {line:?}: {answer:#}");
            let moved_by = prompt("moved").map(|prompt| prompt == mover || prompt == "go on");
            ensure!(moved_by == is_moved.then_some(true), "{way:?} {target} {line:?}: {answer:#}");
            let text = wyren(&sandbox, &["why", &target])?;
            ensure!(text.contains("moved     from src/orders.rs") == is_moved, "{way:?}: {text}");
        }
    }
    Ok(())
}

#[test]
fn a_file_of_2000_lines_is_answered_for_at_once() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut world = World::new(&sandbox.project(), 7);
    world.grow("src/orders.rs", 2_000);
    record(&sandbox, &world)?;
    told(&sandbox, "src/orders.rs")?;
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let began = Instant::now();
        told(&sandbox, "src/orders.rs")?;
        best = best.min(began.elapsed());
    }
    writeln!(std::io::stderr(), "2,000 lines: {best:?}")?;
    // What ships takes a tenth of it: docs/status.md has the figure.
    ensure!(best < Duration::from_secs(2), "{best:?}");
    Ok(())
}

#[test]
fn a_line_has_its_prompt_edit_session_and_commit_and_an_own_line_has_none() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut world = World::new(&sandbox.project(), 7);
    world.run(12);
    record(&sandbox, &world)?;
    let (path, number, line) = world.line_of_session().context("no line of a session")?;
    let shown = sandbox.wyren(&["why", &format!("{path}:{}", number + 1)])?;
    let text = String::from_utf8(shown.stdout)?;
    let prompt = line.prompt.clone().unwrap_or_default();
    for part in [line.text.trim(), "when", &prompt, "session", "session-", "commit"] {
        ensure!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let (path, number) = world.line_of_user().context("no line of the user")?;
    let shown = sandbox.wyren(&["why", &format!("{path}:{}", number + 1)])?;
    let text = String::from_utf8(shown.stdout)?;
    ensure!(text.contains("not from a recorded session"), "{text}");
    let table = String::from_utf8(sandbox.wyren(&["why", path])?.stdout)?;
    ensure!(table.starts_with("LINES") && table.contains("not from a recorded session"), "{table}");
    for (arguments, code) in [(["why", "src/gone.rs"], 1), (["why", &format!("{path}:99999")], 2)] {
        let output = sandbox.wyren(&arguments)?;
        ensure!(output.status.code() == Some(code), "{arguments:?}: {output:?}");
    }
    Ok(())
}

/// Has the hooks see a session that edits `src/auth.rs`, which a lesson is about, and ends with a decision about it.
fn edit_auth(sandbox: &Sandbox) -> Result<()> {
    let file = sandbox.project().join("src/auth.rs");
    let (before, after) = (
        "fn verify(claims: &Claims) {}\n",
        "fn verify(claims: &Claims) { check_expiry(claims.expires_at) }\n",
    );
    fs::create_dir_all(sandbox.project().join("src"))?;
    fs::write(&file, after)?;
    let send = |hook: &str, fields: Value| -> Result<String> {
        let mut event = json!({"session_id": "s", "cwd": sandbox.project(), "prompt_id": "1"});
        event
            .as_object_mut()
            .into_iter()
            .for_each(|event| event.extend(fields.as_object().cloned().unwrap_or_default()));
        let output = sandbox.run(hook, event.to_string().as_bytes())?;
        ensure!(output.status.success(), "{hook}: {output:?}");
        Ok(String::from_utf8(output.stdout)?)
    };
    prompt(sandbox, "s", "1", "tokens must expire")?;
    let input = json!({"file_path": file, "old_string": before, "new_string": after});
    let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": "t1", "tool_input": input});
    // The first call compiles the index of the lessons.
    send(
        "lesson-inject",
        json!({"session_id": "warm-up", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": "t0"}),
    )?;
    let shown = send("lesson-inject", call)?;
    ensure!(shown.contains("expires_at is in seconds"), "the lesson was not shown: {shown}");
    let lines: Vec<String> = [format!("-{}", before.trim_end()), format!("+{}", after.trim_end())].into();
    let patch = json!([{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": lines}]);
    let response = json!({"filePath": file, "oldString": before, "newString": after, "originalFile": before, "structuredPatch": patch});
    send(
        "tool-record",
        json!({"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "t1", "tool_input": input, "tool_response": response}),
    )?;
    let message = "Done. We decided that check_expiry in auth.rs compares expires_at with the server's clock instead of the client's.";
    send("stop-summary", json!({"hook_event_name": "Stop", "last_assistant_message": message}))?;
    Ok(())
}

#[test]
fn the_lesson_and_the_decisions_behind_a_line_are_named() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let lessons = sandbox.data().join("lessons");
    fs::create_dir_all(&lessons)?;
    for (slug, path, summary) in [
        ("expiry-in-seconds", "*.rs", "expires_at is in seconds, check_expiry multiplies it"),
        ("other-matters", "*.rs", "borrowing is better than cloning"),
    ] {
        let text = format!(
            "---\nsummary: {summary}\nkind: hint\ntools: Edit\npath: {path}\n---\n{summary}.\n\n## Solution\nSee {summary}.\n"
        );
        fs::write(lessons.join(format!("{slug}.md")), text)?;
    }
    edit_auth(&sandbox)?;
    wyren(
        &sandbox,
        &[
            "remember",
            "--type",
            "decision",
            "--file",
            "src/auth.rs",
            "auth.rs: check_expiry is called by verify alone",
        ],
    )?;
    wyren(
        &sandbox,
        &["remember", "--type", "decision", "--file", "src/auth.rs", "auth.rs is split in two next month"],
    )?;
    let answer: Value = serde_json::from_str(&wyren(&sandbox, &["why", "src/auth.rs:1", "--json"])?)?;
    let reasons =
        answer["edits"][0]["reasons"].as_array().with_context(|| format!("no reasons in {answer:#}"))?;
    let of = |kind: &str| -> Vec<&str> {
        reasons
            .iter()
            .filter(|reason| reason["kind"] == kind)
            .filter_map(|reason| reason["text"].as_str())
            .collect()
    };
    let (decisions, lessons) = (of("decision"), of("lesson"));
    ensure!(lessons.len() == 1 && lessons[0].contains("expires_at is in seconds"), "{lessons:?}");
    ensure!(
        decisions.iter().any(|text| text.contains("server's clock")),
        "made of the turn's end: {decisions:?}"
    );
    ensure!(decisions.iter().any(|text| text.contains("by verify alone")), "by hand: {decisions:?}");
    ensure!(decisions.len() == 2, "nothing in the line is about the third: {decisions:?}");
    let text = wyren(&sandbox, &["why", "src/auth.rs:1"])?;
    let edit = text.lines().find(|line| line.trim_start().starts_with("edit ")).context("no edit")?;
    ensure!(edit.contains("auth.rs") && !edit.contains("decided"), "{text}");
    for part in ["tokens must expire", "server's clock", "by verify alone", "expiry-in-seconds"] {
        ensure!(text.contains(part), "{part:?} is not in\n{text}");
    }
    ensure!(!text.contains("other-matters") && !text.contains("split in two"), "{text}");
    Ok(())
}

#[test]
fn no_program_that_a_repository_names_is_run() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut world = World::new(&sandbox.project(), 7);
    world.run(3);
    record(&sandbox, &world)?;
    let path = world.files().next().context("no file")?.0;
    let mark = sandbox.folder().join("was-run");
    let program = format!("sh -c 'cat; touch {}'", mark.display());
    fs::write(sandbox.project().join(".gitattributes"), "*.rs filter=evil diff=evil\n")?;
    for name in [
        "filter.evil.clean",
        "filter.evil.smudge",
        "diff.evil.textconv",
        "core.fsmonitor",
        "core.pager",
        "diff.external",
    ] {
        world.git(&["config", name, &program]);
    }
    world.git(&["config", "blame.ignoreRevsFile", "missing"]);
    fs::write(sandbox.project().join(path), "fn changed_by_hand() {}\n")?;
    let output = sandbox.wyren(&["why", path])?;
    ensure!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("LINES"),
        "{output:?}"
    );
    ensure!(!mark.exists(), "a program of the repository was run");
    Ok(())
}
