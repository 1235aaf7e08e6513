//! One session of the client on a machine: every hook for each of its events, then what `wyren` says about it.

use super::machine::{Answer, Machine};
use crate::plugin::copy_folder;
use crate::workspace::{root, run};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tables::hooks::{EVENTS, HOOKS};

/// The home in the recorded payloads.
const RECORDED_HOME: &str = "/home/dev";

/// What takes its place when answers are compared.
const HOME: &str = "HOME";
const DATA: &str = "DATA";

/// The words of the fences are derived from it.
const SECRET: [u8; 32] = [b's'; 32];

/// Fields of an observation that differ between two runs.
const FLEETING: [&str; 5] = ["ts", "started", "last", "ended", "id"];

/// A conversation, so that there is a transcript to look at.
const TRANSCRIPT: &str = "tests/data/distiller/cli-tool.jsonl";

/// The client's settings before Wyren comes.
const SETTINGS: &str = "{\n  // mine\n  \"model\": \"x\"\n}\n";

/// What a session left behind, without what differs from run to run.
#[derive(Debug, PartialEq)]
pub(super) struct Session {
    /// For each run of a hook, its name and payload, and what it answered.
    answers: Vec<(String, Value)>,
    /// What `wyren export` reads back.
    observations: Vec<Value>,
    /// What `wyren` says that does not depend on the machine.
    version: String,
    settings: Value,
}

impl Session {
    /// Plays a session on a machine.
    pub(super) fn of(machine: &Machine) -> Result<Self> {
        let project = machine.home().join("project");
        fs::create_dir(&project)?;
        run(Command::new("git").args(["init", "--quiet"]).current_dir(&project))?;
        copy_folder(&root().join("tests/data/team"), &project.join(".wyren"))?;
        let player = Player { machine, project: &project };

        let version = player.wyren(&["--version"])?.output.trim().to_owned();
        // The first command makes the data folder: what follows finds the same secret on every machine.
        let settings = serde_json::from_str(&player.wyren(&["config", "list", "--json"])?.output)?;
        player.wyren(&["export"])?;
        fs::write(machine.data()?.join("secret"), SECRET)?;

        let answers = player.answers()?;
        ensure!(machine.data()?.join("spool").read_dir()?.next().is_some(), "nothing is in the spool");
        let observations = player.observations()?;
        player.check_doctor()?;
        player.check_log(answers.len())?;
        player.check_settings()?;
        if machine.starts_programs() {
            // Session-end started it.
            player.wyren(&["worker", "stop"])?;
            let log = fs::read_to_string(machine.data()?.join("logs/worker.jsonl"))?;
            ensure!(!log.is_empty(), "no worker ran");
        }
        Ok(Self { answers, observations, version, settings })
    }

    /// Fails when this session left something else behind than another one.
    pub(super) fn compare(&self, other: &Self) -> Result<()> {
        for (one, other) in self.answers.iter().zip(&other.answers) {
            ensure!(one == other, "{}: {:#}\nand on this machine {}: {:#}", one.0, one.1, other.0, other.1);
        }
        for (one, other) in self.observations.iter().zip(&other.observations) {
            ensure!(one == other, "{one:#}\nand on this machine {other:#}");
        }
        ensure!(self == other, "{self:#?}\nand on this machine {other:#?}");
        Ok(())
    }

    pub(super) fn answers(&self) -> usize {
        self.answers.len()
    }

    pub(super) fn observations(&self) -> usize {
        self.observations.len()
    }
}

struct Player<'a> {
    machine: &'a Machine,
    project: &'a Path,
}

impl Player<'_> {
    /// Runs every hook once for each of its events, in the order of a session.
    fn answers(&self) -> Result<Vec<(String, Value)>> {
        let mut answers = Vec::new();
        for event in EVENTS {
            let recorded = root().join("tests/data/payloads").join(format!("{}.json", event.payload));
            let payload =
                fs::read(&recorded).with_context(|| format!("could not read {}", recorded.display()))?;
            let payload = self.localized(serde_json::from_slice(&payload)?);
            self.put_transcript(&payload)?;
            for hook in HOOKS.iter().filter(|hook| hook.events.contains(&event.name)) {
                let about = format!("{} < {}", hook.name, event.payload);
                let input = payload.to_string();
                let answer = self.machine.run(hook.name, &[], self.project, input.as_bytes())?;
                let Answer { status, output, errors } = answer;
                ensure!(status.success() && errors.is_empty(), "{about}: {status}: {errors}");
                let answer = match output.trim() {
                    "" => Value::Null,
                    text => serde_json::from_str(text).with_context(|| format!("{about}: {text}"))?,
                };
                answers.push((about, self.neutral(answer)));
            }
        }
        ensure!(
            answers.iter().any(|(_, answer)| answer.to_string().contains("additionalContext")),
            "no hook says a thing"
        );
        Ok(answers)
    }

    /// Runs `wyren`, which must succeed.
    fn wyren(&self, arguments: &[&str]) -> Result<Answer> {
        let answer = self.machine.run("wyren", arguments, self.project, &[])?;
        ensure!(answer.status.success(), "wyren {arguments:?}: {}: {}", answer.status, answer.errors);
        Ok(answer)
    }

    fn observations(&self) -> Result<Vec<Value>> {
        let exported = self.wyren(&["export"])?.output;
        let mut observations = Vec::new();
        for line in exported.lines() {
            let mut observation = self.neutral(serde_json::from_str(line).with_context(|| line.to_owned())?);
            if let Some(fields) = observation.as_object_mut() {
                fields.retain(|name, _| !FLEETING.contains(&name.as_str()));
            }
            observations.push(observation);
        }
        let is_there = |kind: &str| observations.iter().any(|observation| observation["type"] == kind);
        ensure!(["session", "prompt", "tool", "session-end"].into_iter().all(is_there), "{exported}");
        // A prompt's context and the handoff before a compaction are what another program records.
        ensure!(is_there("work") == self.machine.starts_programs(), "{exported}");
        // The recorded compaction is of a session that has nothing else.
        let is_of_another =
            |it: &Value| it["type"] == "work" || (it["type"] == "session" && it["prompts"] == 0);
        observations.retain(|observation| !is_of_another(observation));
        Ok(observations)
    }

    /// Has the doctor look: what it finds depends on the machine, but it has to find the data folder and the hooks' runs.
    fn check_doctor(&self) -> Result<()> {
        let answer = self.machine.run("wyren", &["doctor", "--offline", "--json"], self.project, &[])?;
        let report: Value = serde_json::from_str(&answer.output)
            .with_context(|| format!("wyren doctor: {}{}", answer.output, answer.errors))?;
        let report = report.to_string();
        for check in ["data folder", "database", "hooks", "plugin"] {
            ensure!(
                report.contains(&format!("\"{check}\"")),
                "the doctor says nothing about {check}: {report}"
            );
        }
        Ok(())
    }

    /// Checks that every run of a hook is in the log, none with an error; where no program can start another, such an error is
    /// all that there may be.
    fn check_log(&self, runs: usize) -> Result<()> {
        let log = fs::read_to_string(self.machine.data()?.join("logs/hooks.jsonl"))?;
        let lines: Vec<Value> = log.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        ensure!(lines.len() >= runs, "{} lines for {runs} runs: {log}", lines.len());
        let is_bad = |line: &&Value| matches!(line["level"].as_str(), Some("warn" | "error"));
        let bad: Vec<String> = lines.iter().filter(is_bad).map(Value::to_string).collect();
        ensure!(bad.is_empty() || !self.machine.starts_programs(), "{}", bad.join("\n"));
        Ok(())
    }

    /// Checks that the hooks go into the client's settings, as paths of this machine, and come out again without a trace.
    fn check_settings(&self) -> Result<()> {
        let file = self.machine.client().join("settings.json");
        fs::write(&file, SETTINGS)?;
        self.wyren(&["install", "--settings", "user"])?;
        let settings = fs::read_to_string(&file)?;
        // As the plugin names its programs, in a folder as the system names it.
        let program = format!("{}/bin/tool-record", self.machine.name(self.machine.plugin()));
        let program = serde_json::to_string(&program)?;
        ensure!(settings.contains(&program), "{program} is not in {settings}");
        self.wyren(&["uninstall"])?;
        let settings = fs::read_to_string(&file)?;
        ensure!(settings == SETTINGS, "the settings are {settings} after leaving");
        Ok(())
    }

    /// Puts a conversation where a payload says that its transcript is.
    fn put_transcript(&self, payload: &Value) -> Result<()> {
        let recorded = payload["session_id"].as_str().unwrap_or_default();
        let folder = self.machine.client().join("projects/-home-dev-project");
        fs::create_dir_all(&folder)?;
        fs::copy(root().join(TRANSCRIPT), folder.join(format!("{recorded}.jsonl")))?;
        Ok(())
    }

    /// Puts the paths of the machine into a recorded payload.
    fn localized(&self, payload: Value) -> Value {
        let home = self.machine.name(&self.machine.home());
        map(payload, &|text| {
            let is_path = text.starts_with(RECORDED_HOME) && !text.contains(char::is_whitespace);
            let text = text.replace(RECORDED_HOME, &home);
            if is_path && self.machine.is_windows() { text.replace('/', "\\") } else { text }
        })
    }

    /// Takes the paths of the machine out of what was answered.
    fn neutral(&self, value: Value) -> Value {
        let home = self.machine.home();
        let home = home.canonicalize().unwrap_or(home);
        let home = self.machine.name(&home);
        map(value, &|text| {
            let neutral = text.replace(&home, HOME).replace(self.machine.shown_data(), DATA);
            if self.machine.is_windows() && neutral != text { neutral.replace('\\', "/") } else { neutral }
        })
    }
}

/// Changes every text in a value.
fn map(value: Value, change: &impl Fn(String) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(values) => values.into_iter().map(|value| map(value, change)).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, map(value, change))).collect(),
        other => other,
    }
}
