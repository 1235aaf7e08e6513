//! A journal as years of work leave it, for what reads one.

use crate::workspace::run;
use anyhow::{Context as _, Result, bail, ensure};
use base::{Env, Paths, Timestamp};
use capture::{Data, Kept, Observation, Prompt, Spool};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use store::observations::{Drain, Drained};

/// How many entries a turn has, and how many turns a session.
const PER_TURN: usize = 10;
const TURNS: usize = 20;
/// How many files of the project entries are about, each of which is in the repository.
const FILES: usize = 200;
/// In how many parts the search index is made at most; each takes a second.
const MOST_PARTS: usize = 120;
const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;

/// Makes a repository and a journal with this many entries about it, in the data folder of `world`; returns the payload of a
/// session in it. The spool is empty.
pub(super) fn fill(world: &Path, payload: &str, entries: usize) -> Result<String> {
    let project = world.join("project");
    make_repository(&project)?;
    let env = Env::fixed([("WYREN_DATA_DIR", world.join("data")), ("HOME", world.join("home"))]);
    let paths = Paths::of(&env);
    let spool = Spool::new(paths.spool());
    let began = Timestamp::now().millis() - MINUTE * (entries as u64 + 1);
    for number in 0..entries {
        put(&spool, &project, number, began + MINUTE * number as u64)?;
    }
    let mut store = journal::open_store(&paths)?;
    loop {
        // Files of earlier days are deleted once they are stored.
        let tomorrow = Timestamp::from_millis(Timestamp::now().millis() + DAY);
        let drained = Drain::unbounded(&spool).run(&mut store, tomorrow)?;
        let Drained::Done(progress) = drained else { bail!("the spool is locked") };
        ensure!(progress.derive_errors.is_empty(), "could not derive: {:?}", progress.derive_errors);
        // One drain derives for a while only. What it leaves, every start that is measured would go on with.
        if progress.is_complete && progress.is_derived {
            break;
        }
    }
    let made: usize = store.connection().query_row("SELECT count(*) FROM entries", [], |row| row.get(0))?;
    ensure!(made == entries, "{made} of {entries} entries were derived");
    let mut event: Value = serde_json::from_str(payload)?;
    event["cwd"] = json!(project);
    Ok(event.to_string())
}

/// Has `wyren` make the search index of a journal.
pub(super) fn index(wyren: &Path, environment: &[(&'static str, OsString)]) -> Result<()> {
    let run = |arguments: &[&str]| -> Result<Value> {
        let mut command = Command::new(wyren);
        command.args(arguments).env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        let output = command.output().with_context(|| format!("could not run {}", wyren.display()))?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
    };
    // Each makes a part of it.
    for _ in 0..MOST_PARTS {
        if run(&["search", "part", "--json"])?["is_complete"] == true {
            // The worker that a part has started would be in the way of what is measured; another one does its work.
            run(&["worker", "stop"])?;
            run(&["worker", "run", "--until-idle"])?;
            return Ok(());
        }
    }
    bail!("the search index was not made")
}

fn make_repository(project: &Path) -> Result<()> {
    fs::create_dir_all(project.join("src"))?;
    for number in 0..FILES {
        fs::write(project.join(file(number)), format!("// {number}\n"))?;
    }
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(project).env("GIT_CONFIG_GLOBAL", "/dev/null");
        run(&mut git)
    };
    git(&["init", "--quiet", "--initial-branch=feature/7"])?;
    git(&["add", "."])?;
    let changed = project.join(file(3));
    fs::write(&changed, "// changed\n").with_context(|| format!("could not write {}", changed.display()))
}

fn file(number: usize) -> String {
    format!("src/part_{:03}.rs", number % FILES)
}

/// Records an entry, with the prompt of its turn before the first one and a summary after the last.
fn put(spool: &Spool, project: &Path, number: usize, at: u64) -> Result<()> {
    let (turn, session) = (number / PER_TURN, number / PER_TURN / TURNS);
    let append = |id: String, at: u64, data: Data<'_>| {
        let session = format!("5f0c1a52-0000-4000-8000-{session:012}");
        let observation =
            Observation { cwd: project.to_string_lossy(), ..Observation::new(&session, id, at, data) };
        spool.append(&observation)
    };
    let kept = |kind: &'static str, data: &Value| -> Result<Data<'static>> {
        Ok(Data::Kept(Kept { kind: kind.into(), data: Cow::Owned(to_raw_value(data)?) }))
    };
    if number.is_multiple_of(PER_TURN) {
        let branch =
            if turn.is_multiple_of(3) { format!("feature/{}", turn % 50) } else { "main".to_owned() };
        let text = format!("Please go on with part {turn}");
        let data = Prompt { text: text.into(), branch: Some(branch.into()), ..Prompt::default() };
        append(format!("p:{turn}"), at, Data::Prompt(data))?;
    }
    let kind = ["change", "fix", "discovery", "decision", "failure"][number % 5];
    let data = json!({
        "type": kind, "title": format!("part_{:03}.rs: `step_{number}` checks its input (+12 −3); cargo test passed", number % FILES),
        "narrative": "What was done, in a few sentences, as long as they usually are. ".repeat(4),
        "facts": ["One fact about it.", "Another fact about it."],
        "files_modified": [file(number)], "files_read": [file(number + 1), file(number + 7)],
    });
    append(format!("n:{number}"), at + 1, kept("entry", &data)?)?;
    if number % PER_TURN == PER_TURN - 1 {
        let data = json!({
            "request": format!("Please go on with part {turn}"), "completed": "All of it, with tests.", "next_steps": "The next part.",
        });
        append(format!("s:{turn}"), at + 2, kept("summary", &data)?)?;
    }
    Ok(())
}
