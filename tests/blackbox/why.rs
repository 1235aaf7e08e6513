//! `wyren why` against a repository that 200 scripted sessions and their user wrote: whose is each line?

mod world;

use std::collections::BTreeMap;
use std::fs;

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
    let spool = sandbox.data().join("spool/scripted");
    fs::create_dir_all(&spool)?;
    fs::write(spool.join("1.jsonl"), world.spool())?;

    let mut score = Score::default();
    let mut files = BTreeMap::new();
    for (path, lines) in world.files() {
        let told = told(&sandbox, path)?;
        ensure!(told.len() == lines.len(), "{path}: {} of {} lines", told.len(), lines.len());
        for (number, (line, told)) in lines.iter().zip(&told).enumerate() {
            score.count(path, number, line, told.as_deref());
        }
        files.insert(path, lines.len());
    }
    for wrong in score.wrong.iter().take(40) {
        println!("{wrong}");
    }
    let share = |(some, all): (u32, u32)| f64::from(some) / f64::from(all.max(1));
    println!("files {files:?}");
    println!("lines of sessions {:?}: {:.3} right", score.recorded, share(score.recorded));
    println!("lines of the user {:?}: {:.3} wrong", score.own, share(score.own));
    ensure!(share(score.recorded) >= RIGHT && share(score.own) <= WRONG, "see above");
    Ok(())
}
