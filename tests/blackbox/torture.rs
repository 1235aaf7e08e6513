//! Load and sudden death: sessions record, jobs are queued, the model hangs, lies and crashes, and processes are killed
//! at random. Afterwards everything acknowledged is stored once, and nothing else is left.
//!
//! Runs for ten seconds; `cargo xtask torture` for a minute (`WYREN_TORTURE_SECONDS`). The kills are random, from a seed
//! that is printed at the end (`WYREN_TORTURE_SEED`).
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::process::kill;
use wyren_tests::sandbox::Sandbox;

use crate::worker::{examine, wait_for};

const DEFAULT_SECONDS: u64 = 10;
const SESSIONS: u64 = 4;
/// Events of all sessions together, per second.
const EVENTS_PER_SECOND: u64 = 50;
/// The pause between two jobs.
const JOB_PAUSE: Duration = Duration::from_millis(400);
/// The longest pause between two kills of whatever runs.
const KILL_PAUSE_MILLIS: u64 = 700;
/// One hook or command in so many is killed by its own caller, in the middle of its work: they are gone before anyone
/// else could find them.
const CALLS_PER_KILL: u64 = 6;
/// The longest life of such a one.
const SHORT_LIFE_MICROS: u64 = 3_000;
/// What model calls may cost: less than all of them would.
const BUDGET: &str = "0.05";

/// What the model does, question by question.
const SCRIPT: [&str; 8] = [
    r#"{"do":"answer","answer":{"word":"pong"},"cost_usd":0.0002}"#,
    r#"{"do":"lie","text":"I would rather not say.","cost_usd":0.0002}"#,
    r#"{"do":"answer","answer":{"word":"pong"},"after_ms":50,"cost_usd":0.0002}"#,
    r#"{"do":"hang"}"#,
    r#"{"do":"answer","answer":{"words":7},"cost_usd":0.0002}"#,
    r#"{"do":"answer","answer":{"word":"pong"},"cost_usd":0.0002}"#,
    r#"{"do":"crash"}"#,
    r#"{"do":"refuse","reason":"not today"}"#,
];

/// Numbers that look random and come again with the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // Nothing comes of zero.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// What was asked for, and what of it was acknowledged.
#[derive(Default)]
struct Account {
    asked: BTreeSet<String>,
    acknowledged: BTreeSet<String>,
}

impl Account {
    fn note(account: &Mutex<Self>, name: String, is_acknowledged: bool) {
        let mut account = account.lock().expect("no thread panics with the account");
        if is_acknowledged {
            account.acknowledged.insert(name.clone());
        }
        account.asked.insert(name);
    }

    /// Fails unless everything acknowledged was found once, and nothing was found twice or unasked.
    fn settle(&self, what: &str, found: &BTreeMap<String, usize>) -> Result<()> {
        let lost: Vec<&String> = self.acknowledged.iter().filter(|name| !found.contains_key(*name)).collect();
        ensure!(lost.is_empty(), "{what} acknowledged and lost: {lost:?}");
        let odd: Vec<_> =
            found.iter().filter(|(name, count)| **count > 1 || !self.asked.contains(*name)).collect();
        ensure!(odd.is_empty(), "{what} found twice or never asked for: {odd:?}");
        Ok(())
    }
}

struct Load {
    sandbox: Sandbox,
    until: Instant,
    events: Mutex<Account>,
    jobs: Mutex<Account>,
    kills: Mutex<BTreeMap<String, usize>>,
}

impl Load {
    fn command(&self, program: &str) -> Command {
        let mut command = self.sandbox.command(program);
        command
            .env("WYREN_MODEL_SCRIPT", self.sandbox.folder().join("script.jsonl"))
            .env("WYREN_MODEL_TIMEOUT_S", "1")
            .env("WYREN_DAILY_BUDGET_USD", BUDGET)
            .env("WYREN_PROJECT_BUDGET_USD", BUDGET)
            .env("WYREN_WORKER_IDLE_SECONDS", "1")
            .env("WYREN_WORKER_RETRY_SECONDS", "0")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Plays one session: prompts and tool calls through the real hooks, some of which do not live to the end.
    fn play_session(&self, session: u64, mut random: Random) -> Result<()> {
        let pause = Duration::from_millis(1_000 * SESSIONS / EVENTS_PER_SECOND);
        let mut next = Instant::now();
        for number in 0.. {
            if self.is_over() {
                break;
            }
            let name = format!("event-{session}-{number}");
            let (hook, input) = if number % 10 == 0 {
                ("prompt-record", json!({"prompt": name, "prompt_id": name}))
            } else {
                let input = json!({"command": format!("echo {name}")});
                let output = json!({"stdout": "x".repeat(random.below(3_000) as usize)});
                (
                    "tool-record",
                    json!({"tool_name": "Bash", "tool_use_id": name, "tool_input": input, "tool_response": output}),
                )
            };
            let mut input = input;
            input["session_id"] = format!("torture-{session}").into();
            let mut command = self.command(hook);
            let is_acknowledged = self.call(&mut command, input.to_string().as_bytes(), &mut random)?;
            Account::note(&self.events, name, is_acknowledged);
            next += pause;
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        Ok(())
    }

    /// Runs a program, now and then for a very short time; returns whether it acknowledged its input.
    fn call(&self, command: &mut Command, input: &[u8], random: &mut Random) -> Result<bool> {
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        // A program that was killed does not read to the end.
        let _ = child.stdin.take().context("no standard input")?.write_all(input);
        if random.below(CALLS_PER_KILL) == 0 {
            thread::sleep(Duration::from_micros(random.below(SHORT_LIFE_MICROS)));
            child.kill()?;
        }
        Ok(child.wait()?.success())
    }

    fn queue_jobs(&self, mut random: Random) -> Result<()> {
        for number in 0.. {
            if self.is_over() {
                break;
            }
            let name = format!("job-{number}");
            let payload = json!({"name": name}).to_string();
            let kind = if number % 5 == 4 { "drain" } else { "probe" };
            let mut command = self.command("wyren");
            command.args(["jobs", "add", kind, &payload]);
            let is_acknowledged = self.call(&mut command, b"", &mut random)?;
            Account::note(&self.jobs, name, is_acknowledged);
            thread::sleep(JOB_PAUSE);
        }
        Ok(())
    }

    /// Starts a worker whenever there is none: the hooks would wait for half a minute after each death.
    fn keep_a_worker(&self) -> Result<()> {
        while !self.is_over() {
            self.command("wyren-worker").status()?;
        }
        Ok(())
    }

    fn kill_at_random(&self, mut random: Random) {
        while !self.is_over() {
            thread::sleep(Duration::from_millis(random.below(KILL_PAUSE_MILLIS)));
            let processes = self.sandbox.processes();
            let Some(victim) = processes.get(random.below(processes.len().max(1) as u64) as usize) else {
                continue;
            };
            let name = fs::read_to_string(format!("/proc/{victim}/comm")).unwrap_or_default();
            kill(*victim);
            *self
                .kills
                .lock()
                .expect("no thread panics with the list")
                .entry(name.trim().to_owned())
                .or_default() += 1;
        }
    }

    /// Runs `wyren` in peace and returns what it printed.
    fn wyren(&self, arguments: &[&str]) -> Result<String> {
        let output =
            self.command("wyren").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
        ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }
}

#[test]
fn load_and_sudden_death_lose_nothing_double_nothing_and_leave_no_process_behind() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let duration = Duration::from_secs(number("WYREN_TORTURE_SECONDS").unwrap_or(DEFAULT_SECONDS));
    let seed =
        number("WYREN_TORTURE_SEED").unwrap_or_else(|| UNIX_EPOCH.elapsed().map_or(1, |now| now.as_secs()));
    fs::write(sandbox.folder().join("script.jsonl"), SCRIPT.join("\n"))?;
    let load = Load {
        sandbox,
        until: Instant::now() + duration,
        events: Mutex::default(),
        jobs: Mutex::default(),
        kills: Mutex::default(),
    };
    thread::scope(|scope| {
        let mut parts = Vec::new();
        for session in 0..SESSIONS {
            let load = &load;
            parts.push(scope.spawn(move || load.play_session(session, Random::new(seed + session))));
        }
        parts.push(scope.spawn(|| load.queue_jobs(Random::new(seed + SESSIONS + 1))));
        parts.push(scope.spawn(|| load.keep_a_worker()));
        scope.spawn(|| load.kill_at_random(Random::new(seed + SESSIONS)));
        parts.into_iter().try_for_each(|part| part.join().expect("no part panics"))
    })?;

    // In peace again, what was left is seen to.
    load.wyren(&["worker", "stop"])?;
    load.wyren(&["worker", "run", "--until-idle"])?;
    wait_for("no process", || Ok(load.sandbox.processes().is_empty()))?;
    let (events, jobs) = (check_events(&load)?, check_jobs(&load)?);
    let spent = check_budget(&load)?;
    let (_, checks) = examine(load.command("wyren").stdout(Stdio::piped()))?;
    ensure!(checks["database"]["state"] == "ok", "{checks:#}");
    // Not `println`: the figures are worth seeing when the test passes, too.
    let kills = load.kills.into_inner()?;
    writeln!(
        io::stderr(),
        "torture, {duration:?}, seed {seed}: {events}; {jobs}; {spent}; killed at random: {kills:?}"
    )?;
    Ok(())
}

fn check_events(load: &Load) -> Result<String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for line in load.wyren(&["export"])?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let name = match line["type"].as_str() {
            Some("prompt") => &line["text"],
            Some("tool") => &line["tool_use_id"],
            _ => continue,
        };
        *found.entry(name.as_str().context("a line without a name")?.to_owned()).or_default() += 1;
    }
    let events = load.events.lock().expect("no thread panics with the account");
    events.settle("events", &found)?;
    Ok(format!("{} events, {} acknowledged", events.asked.len(), events.acknowledged.len()))
}

fn check_jobs(load: &Load) -> Result<String> {
    let listed: Value = serde_json::from_str(&load.wyren(&["jobs", "--all", "--json"])?)?;
    let (mut found, mut dead) = (BTreeMap::new(), 0);
    for job in listed["jobs"].as_array().context("no list")? {
        let name = job["payload"]["name"].as_str().context("a job without a name")?;
        *found.entry(name.to_owned()).or_default() += 1;
        match job["state"].as_str() {
            Some("done") => {}
            Some("dead") => {
                dead += 1;
                ensure!(
                    job["reason"].as_str().is_some_and(|reason| !reason.is_empty()),
                    "without a reason: {job}"
                );
            }
            _ => anyhow::bail!("neither done nor given up: {job}"),
        }
    }
    let jobs = load.jobs.lock().expect("no thread panics with the account");
    jobs.settle("jobs", &found)?;
    Ok(format!("{} jobs, {} acknowledged, {dead} given up", jobs.asked.len(), jobs.acknowledged.len()))
}

fn check_budget(load: &Load) -> Result<String> {
    let report: Value = serde_json::from_str(&load.wyren(&["spend", "--json"])?)?;
    let budget: f64 = BUDGET.parse()?;
    let days = report["days"].as_array().context("no days")?;
    let spent: Vec<f64> = days.iter().filter_map(|day| day["spent_usd"].as_f64()).collect();
    ensure!(spent.iter().any(|spent| *spent > 0.0), "the model was never asked: {report:#}");
    ensure!(spent.iter().all(|spent| *spent <= budget), "more than ${budget} a day: {report:#}");
    let unsettled: u64 =
        report["rows"].as_array().into_iter().flatten().filter_map(|row| row["unsettled"].as_u64()).sum();
    Ok(format!("${:.4} of ${budget} spent, {unsettled} calls cut short", spent.iter().sum::<f64>()))
}
