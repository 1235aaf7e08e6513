//! The background worker: one at a time, none while nothing happens, nothing lost when it is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use wyren_tests::process::kill;
use wyren_tests::sandbox::{Sandbox, feed};

/// How long a condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(20);

/// A model that never answers, until it is asked a second time.
const HANGS_ONCE: &str = "{\"do\":\"hang\"}\n{\"do\":\"answer\",\"answer\":{\"word\":\"pong\"}}\n";

pub(crate) fn wait_for(what: &str, condition: impl Fn() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !condition()? {
        ensure!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A sandbox whose model follows a script, and whose failed jobs come again at once.
struct Workplace {
    sandbox: Sandbox,
    script: PathBuf,
}

impl Workplace {
    fn new(script: &str) -> Result<Option<Self>> {
        let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
        let file = sandbox.folder().join("script.jsonl");
        fs::write(&file, script)?;
        Ok(Some(Self { sandbox, script: file }))
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.sandbox.command(program);
        command
            .env("WYREN_MODEL_SCRIPT", &self.script)
            .env("WYREN_MODEL_TIMEOUT_S", "60")
            .env("WYREN_WORKER_IDLE_SECONDS", "60")
            .env("WYREN_WORKER_RETRY_SECONDS", "0");
        command
    }

    fn wyren(&self, arguments: &[&str]) -> Result<Output> {
        Ok(self.command("wyren").args(arguments).output()?)
    }

    fn succeed(&self, arguments: &[&str]) -> Result<String> {
        let output = self.wyren(arguments)?;
        ensure!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        Ok(stdout(&output))
    }

    fn status(&self) -> Result<Value> {
        Ok(serde_json::from_str(&self.succeed(&["worker", "status", "--json"])?)?)
    }

    fn jobs(&self) -> Result<Vec<Value>> {
        let listed: Value = serde_json::from_str(&self.succeed(&["jobs", "--all", "--json"])?)?;
        Ok(listed["jobs"].as_array().context("no list")?.clone())
    }

    fn wait_for_state(&self, state: &str) -> Result<()> {
        wait_for(state, || Ok(self.jobs()?.iter().all(|job| job["state"] == state)))
    }

    /// Waits until the model was asked: a lease comes earlier than the question.
    fn wait_for_question(&self) -> Result<()> {
        let asked = self.sandbox.folder().join("script.jsonl.position");
        wait_for("a question", || Ok(fs::metadata(&asked).is_ok_and(|asked| asked.len() > 0)))
    }

    fn wait_for_silence(&self) -> Result<()> {
        wait_for("no process", || Ok(self.sandbox.processes().is_empty()))
    }

    fn log(&self) -> Result<Vec<Value>> {
        let text = fs::read_to_string(self.sandbox.data().join("logs/worker.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
    }
}

#[test]
fn of_several_workers_that_start_at_once_one_works() -> Result<()> {
    let Some(place) = Workplace::new("")? else { return Ok(()) };
    let mut workers: Vec<_> =
        (0..5).map(|_| place.command("wyren-worker").spawn()).collect::<Result<_, _>>()?;
    wait_for("one worker", || Ok(place.sandbox.processes().len() == 1))?;
    assert_eq!(place.status()?["running"], true);
    place.succeed(&["worker", "stop"])?;
    for worker in &mut workers {
        assert!(worker.wait()?.success());
    }
    let begun = place.log()?.iter().filter(|line| line["msg"] == "began").count();
    assert_eq!(begun, 1);
    Ok(())
}

#[test]
fn while_nothing_is_recorded_nothing_runs() -> Result<()> {
    let Some(place) = Workplace::new("")? else { return Ok(()) };
    for hook in place.sandbox.hooks()? {
        feed(
            place.sandbox.command(&hook).env("WYREN_CAPTURE", "false"),
            br#"{"session_id":"s","prompt":"hello","tool_name":"Bash","source":"startup"}"#,
        )?;
    }
    for arguments in [&["worker"][..], &["jobs"], &["doctor"], &["worker", "stop"]] {
        place.succeed(arguments)?;
    }
    assert_eq!(place.sandbox.processes(), Vec::<u32>::new());
    assert_eq!(place.status()?["running"], false);
    Ok(())
}

#[test]
fn a_job_starts_a_worker_that_goes_when_it_is_done() -> Result<()> {
    let Some(place) = Workplace::new("")? else { return Ok(()) };
    let prompt = br#"{"session_id":"s","prompt":"what hooks recorded is drained as well"}"#;
    place.sandbox.run("prompt-record", prompt)?;
    let added = place
        .command("wyren")
        .args(["jobs", "add", "drain"])
        .env("WYREN_WORKER_IDLE_SECONDS", "0")
        .output()?;
    assert!(added.status.success(), "{}", stderr(&added));
    place.wait_for_silence()?;
    let jobs = place.jobs()?;
    assert_eq!((jobs.len(), &jobs[0]["state"], &jobs[0]["attempts"]), (1, &"done".into(), &1.into()));
    assert_eq!(place.status()?["running"], false);
    let doctor: Value = serde_json::from_str(&place.succeed(&["doctor", "--json"])?)?;
    let spool =
        doctor["checks"].as_array().and_then(|checks| checks.iter().find(|check| check["name"] == "spool"));
    assert_eq!(spool.context("no check")?["message"], "empty: everything is in the database");
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_started_worker_shares_nothing_with_who_started_it() -> Result<()> {
    let Some(place) = Workplace::new("")? else { return Ok(()) };
    let added = place.command("wyren").args(["jobs", "add", "drain"]).env("CLAUDECODE", "1").output()?;
    assert!(added.status.success(), "{}", stderr(&added));
    wait_for("a worker", || Ok(place.status()?["running"] == true))?;
    let [worker] = place.sandbox.processes()[..] else { anyhow::bail!("{:?}", place.sandbox.processes()) };
    let process = PathBuf::from(format!("/proc/{worker}"));
    for stream in ["0", "1", "2"] {
        assert_eq!(fs::read_link(process.join("fd").join(stream))?, Path::new("/dev/null"));
    }
    assert_eq!(fs::read_link(process.join("cwd"))?, place.sandbox.data());
    let environment = String::from_utf8_lossy(&fs::read(process.join("environ"))?).into_owned();
    assert!(!environment.split('\0').any(|variable| variable.starts_with("CLAUDECODE=")), "{environment}");
    // Behind the name in brackets: state, parent, group, session.
    let stat = fs::read_to_string(process.join("stat"))?;
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    assert_eq!((fields[2], fields[3]), (&*worker.to_string(), &*worker.to_string()));
    Ok(())
}

#[test]
fn a_worker_killed_in_the_middle_of_a_job_leaves_it_to_the_next() -> Result<()> {
    let Some(place) = Workplace::new(HANGS_ONCE)? else { return Ok(()) };
    place.succeed(&["jobs", "add", "probe"])?;
    place.wait_for_question()?;
    place.sandbox.processes().into_iter().for_each(kill);
    place.wait_for_silence()?;
    // A process gives its locks back a moment after its name is gone.
    wait_for("the lock", || Ok(place.status()?["running"] == false))?;
    assert_eq!(place.status()?["leased"], 1);

    place.succeed(&["worker", "run", "--until-idle"])?;
    let job = &place.jobs()?[0];
    assert_eq!((&job["state"], &job["attempts"]), (&"done".into(), &2.into()));
    assert_eq!(place.sandbox.processes(), Vec::<u32>::new());
    Ok(())
}

#[test]
fn stop_gives_a_job_back_that_does_not_end() -> Result<()> {
    let Some(place) = Workplace::new(HANGS_ONCE)? else { return Ok(()) };
    place.succeed(&["jobs", "add", "probe"])?;
    place.wait_for_question()?;
    place.succeed(&["worker", "stop"])?;
    place.wait_for_silence()?;
    let job = &place.jobs()?[0];
    assert_eq!((&job["state"], &job["attempts"]), (&"queued".into(), &0.into()));
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_worker_that_is_asked_to_end_by_signal_does_so_in_good_order() -> Result<()> {
    let Some(place) = Workplace::new("")? else { return Ok(()) };
    let mut worker = place.command("wyren-worker").spawn()?;
    wait_for("a worker", || Ok(place.log()?.iter().any(|line| line["msg"] == "began")))?;
    let pid = rustix::process::Pid::from_child(&worker);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    assert!(worker.wait()?.success());
    assert_eq!(place.log()?.last().context("no line")?["msg"], "ended: asked to stop");
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_worker_takes_its_model_child_with_it() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(place) = Workplace::new("")? else { return Ok(()) };
    let (claude, born) = (place.sandbox.folder().join("claude"), place.sandbox.folder().join("born"));
    fs::write(&claude, format!("#!/bin/sh\necho $$ > '{}'\nexec sleep 600\n", born.display()))?;
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755))?;
    let mut worker = place
        .command("wyren-worker")
        .env_remove("WYREN_MODEL_SCRIPT")
        .env("WYREN_MODEL_COMMAND", &claude)
        .spawn()?;
    wait_for("a worker", || Ok(place.status()?["running"] == true))?;
    place.succeed(&["jobs", "add", "probe"])?;
    let child = || fs::read_to_string(&born).ok().and_then(|pid| pid.trim().parse::<u32>().ok());
    wait_for("a model child", || Ok(child().is_some()))?;
    let child = child().context("it was there")?;
    worker.kill()?;
    worker.wait()?;
    // A zombie process has no command line any more.
    let is_alive = || fs::read(format!("/proc/{child}/cmdline")).is_ok_and(|line| !line.is_empty());
    wait_for("the child's end", || Ok(!is_alive()))
}

#[test]
fn what_cannot_be_done_is_given_up_with_the_reason_and_can_be_retried_or_dropped() -> Result<()> {
    let Some(place) = Workplace::new("{\"do\":\"crash\"}\n")? else { return Ok(()) };
    // A hook of a later version asks for a job that this version does not know.
    let jobs = place.sandbox.data().join("jobs");
    fs::create_dir_all(&jobs)?;
    let request = r#"{"v":1,"kind":"of-tomorrow","payload":{"a":1}}"#;
    fs::write(jobs.join("0000000000001-0000000000000001.json"), request)?;
    place.succeed(&["jobs", "add", "probe"])?;
    place.wait_for_state("dead")?;
    let jobs = place.jobs()?;
    let reason = |job: &Value| job["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason(&jobs[0]).contains("of-tomorrow"), "{jobs:?}");
    assert!(reason(&jobs[1]).contains("the script says so"), "{jobs:?}");
    assert_eq!((&jobs[1]["attempts"], &jobs[0]["payload"]["a"]), (&5.into(), &1.into()));
    let table = place.succeed(&["jobs"])?;
    assert!(table.contains("failed") && table.contains("the script says so"), "{table}");

    fs::write(&place.script, "{\"do\":\"answer\",\"answer\":{\"word\":\"pong\"}}\n")?;
    let id = jobs[1]["id"].to_string();
    assert!(place.succeed(&["jobs", "retry", &id])?.starts_with("Queued 1 again"));
    wait_for("the retried job", || Ok(place.jobs()?[1]["state"] == "done"))?;
    place.succeed(&["jobs", "drop", &jobs[0]["id"].to_string()])?;
    assert_eq!(place.jobs()?.len(), 1);
    let missing = place.wyren(&["jobs", "retry", "99"])?;
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("no failed job 99"), "{}", stderr(&missing));
    Ok(())
}

#[test]
fn help_has_examples() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for command in ["worker", "jobs", "doctor"] {
        let output = sandbox.wyren(&[command, "--help"])?;
        assert!(output.status.success() && stdout(&output).contains("Examples:"), "{command}");
    }
    Ok(())
}

/// Returns the checks of `wyren doctor --json` by name, and its exit code.
pub(crate) fn examine(command: &mut Command) -> Result<(Option<i32>, Value)> {
    let output = command.args(["doctor", "--json"]).output()?;
    let report: Value = serde_json::from_slice(&output.stdout).with_context(|| stderr(&output))?;
    let checks = report["checks"].as_array().context("no checks")?;
    let by_name =
        checks.iter().map(|check| (check["name"].as_str().unwrap_or_default().to_owned(), check.clone()));
    Ok((output.status.code(), Value::Object(by_name.collect())))
}

#[test]
fn doctor_finds_nothing_wrong_where_there_is_nothing_and_makes_nothing() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    fs::remove_dir_all(sandbox.data())?;
    let (code, checks) = examine(&mut sandbox.command("wyren"))?;
    assert_eq!(code, Some(0), "{checks:#}");
    assert!(!sandbox.data().exists());
    assert_eq!((&checks["plugin"]["state"], &checks["hooks"]["state"]), (&"ok".into(), &"warn".into()));
    let shown = stdout(&sandbox.wyren(&["doctor"])?);
    assert!(shown.contains('✓') && !shown.contains('\u{1b}'), "{shown}");
    Ok(())
}

#[test]
fn doctor_names_what_is_broken_and_the_command_that_helps() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let data = sandbox.data();
    fs::create_dir_all(data.join("logs"))?;
    fs::write(data.join("wyren.db"), "this is not a database; ".repeat(1_000))?;
    fs::write(data.join("config.toml"), "[log]\nlevle = \"warn\"\n")?;
    sandbox.run("session-start-reset", br#"{"session_id":"s","source":"startup"}"#)?;
    let (code, checks) = examine(&mut sandbox.command("wyren"))?;
    assert_eq!(code, Some(1), "{checks:#}");
    assert_eq!(
        (&checks["database"]["state"], &checks["database"]["fix"]),
        (&"bad".into(), &"wyren repair".into())
    );
    assert_eq!(checks["settings"]["fix"], "wyren config list");
    assert_eq!(checks["hooks"]["state"], "ok", "{checks:#}");
    let shown = sandbox.wyren(&["doctor"])?;
    assert!(stdout(&shown).contains("→ wyren repair"), "{}", stdout(&shown));
    assert_eq!(stderr(&shown), "wyren: 1 check failed\n");

    sandbox.wyren(&["export"])?;
    let (code, checks) = examine(&mut sandbox.command("wyren"))?;
    assert_eq!((code, &checks["database"]["state"]), (Some(0), &"ok".into()), "{checks:#}");
    Ok(())
}

#[test]
fn doctor_sees_a_data_folder_that_is_none_and_a_hook_that_fails() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    fs::remove_dir_all(sandbox.data())?;
    fs::write(sandbox.data(), "a file")?;
    let (code, checks) = examine(&mut sandbox.command("wyren"))?;
    assert_eq!((code, &checks["data folder"]["state"]), (Some(1), &"bad".into()));
    assert!(checks["data folder"]["fix"].as_str().is_some_and(|fix| fix.starts_with("mv ")), "{checks:#}");

    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let stamp = "2999-01-01T00:00:00.000Z";
    let line =
        format!("{{\"ts\":\"{stamp}\",\"level\":\"error\",\"hook\":\"tool-record\",\"msg\":\"no\"}}\n");
    fs::create_dir_all(sandbox.data().join("logs"))?;
    fs::write(sandbox.data().join("logs/hooks.jsonl"), line)?;
    let (_, checks) = examine(&mut sandbox.command("wyren"))?;
    assert_eq!(checks["hooks"]["message"], "errors in the last 24 hours: tool-record 1×");
    assert_eq!(checks["hooks"]["fix"], "wyren log --hooks --level error");
    Ok(())
}

#[test]
fn doctor_misses_a_program_that_is_wired() -> Result<()> {
    let (Some(sandbox), Some(plugin)) = (Sandbox::new()?, wyren_tests::plugin::folder()) else {
        return Ok(());
    };
    let copy = wyren_tests::plugin::PluginCopy::of(&plugin)?;
    fs::remove_file(copy.folder().join("bin").join(format!("tool-record{}", std::env::consts::EXE_SUFFIX)))?;
    let wyren = copy.folder().join("bin").join(format!("wyren{}", std::env::consts::EXE_SUFFIX));
    let (code, checks) = examine(&mut sandbox.command_for(&wyren))?;
    assert_eq!((code, &checks["plugin"]["state"]), (Some(1), &"bad".into()));
    assert!(
        checks["plugin"]["message"].as_str().is_some_and(|text| text.ends_with("bin/tool-record")),
        "{checks:#}"
    );
    Ok(())
}
