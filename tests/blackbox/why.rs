//! `wyren why` against a repository that 200 scripted sessions and their user wrote: whose is each line?

mod world;

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use wyren_tests::sandbox::Sandbox;

use world::World;

/// The share of lines of sessions that must have the right prompt.
const RIGHT: f64 = 0.95;
/// The share of the user's own lines that may be given to a session.
const WRONG: f64 = 0.10;

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
    record(&sandbox, &world)?;

    let mut score = Score::default();
    for (path, lines) in world.files() {
        let told = told(&sandbox, path)?;
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
    ensure!(right >= RIGHT && wrong <= WRONG, "{report}\n{examples}");
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
