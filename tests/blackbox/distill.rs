//! Distillation through the built programs: hooks that count, the worker, `wyren distill`, and a bare remote.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::process::kill;
use wyren_tests::sandbox::{Sandbox, feed};

use crate::team::{Member, Mode, Remote, git};
use crate::worker::wait_for;

const SESSION: &str = "720ff4aa-05f9-4e05-aad8-0d889a82ec5a";

/// Returns a line of a model's script: one new entry.
fn answer(text: &str, turn: u64) -> Value {
    let operation =
        json!({"do": "add", "section": "Decisions", "text": text, "confidence": 0.9, "turns": [turn]});
    json!({"do": "answer", "answer": {"operations": [operation]}, "cost_usd": 0.001})
}

/// Writes a transcript of messages, each with who said it.
/// Writes a transcript; the records of one without `cwd` say nothing of a folder.
fn write_transcript(
    path: &Path,
    cwd: Option<&Path>,
    session: &str,
    messages: &[(&str, Value)],
) -> Result<()> {
    let mut text = String::new();
    for (number, (role, content)) in messages.iter().enumerate() {
        let mut record = json!({
            "type": role, "uuid": format!("00000000-0000-4000-8000-{:012}", number + 1), "sessionId": session,
            "parentUuid": null, "isSidechain": false, "userType": "external",
            "timestamp": "2026-11-16T02:26:41.123Z", "message": {"role": role, "content": content},
        });
        if let Some(cwd) = cwd {
            record["cwd"] = json!(cwd);
        }
        text.push_str(&format!("{record}\n"));
    }
    Ok(fs::write(path, text)?)
}

fn decision(what: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("user", json!(format!("We decided to use {what}. Agreed, that is settled on."))),
        ("assistant", json!([{"type": "text", "text": format!("Understood: {what} it is.")}])),
    ]
}

/// A project with a local team memory, and a model that follows a script.
struct Place {
    sandbox: Sandbox,
}

impl Place {
    fn new(script: &[Value]) -> Result<Option<Self>> {
        let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
        let place = Self { sandbox };
        fs::create_dir_all(place.sandbox.folder().join("home"))?;
        fs::create_dir_all(place.project().join(".wyren"))?;
        fs::write(place.memory_file(), "# Wyren Memory\n")?;
        place.follow(script)?;
        Ok(Some(place))
    }

    fn follow(&self, script: &[Value]) -> Result<()> {
        let lines: Vec<String> = script.iter().map(Value::to_string).collect();
        Ok(fs::write(self.script(), lines.join("\n"))?)
    }

    fn script(&self) -> PathBuf {
        self.sandbox.folder().join("script.jsonl")
    }

    fn project(&self) -> PathBuf {
        self.sandbox.project()
    }

    fn state(&self) -> PathBuf {
        self.project().join(".wyren/state")
    }

    fn memory_file(&self) -> PathBuf {
        self.project().join(".wyren/memory.md")
    }

    fn memory(&self) -> Result<String> {
        Ok(fs::read_to_string(self.memory_file())?)
    }

    fn transcript(&self) -> PathBuf {
        self.sandbox.folder().join(format!("{SESSION}.jsonl"))
    }

    fn say(&self, messages: &[(&str, Value)]) -> Result<()> {
        write_transcript(&self.transcript(), Some(&self.project()), SESSION, messages)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.sandbox.command(program);
        command
            .env("WYREN_MODEL_SCRIPT", self.script())
            .env("WYREN_MODEL_TIMEOUT_S", "20")
            .env("WYREN_WORKER_IDLE_SECONDS", "0")
            .env("WYREN_WORKER_RETRY_SECONDS", "0");
        command
    }

    fn hook(&self, hook: &str, session: &str) -> Result<Output> {
        feed(&mut self.command(hook), self.input(session).to_string().as_bytes())
    }

    fn input(&self, session: &str) -> Value {
        json!({"session_id": session, "cwd": self.project(), "transcript_path": self.transcript(), "prompt": "go on"})
    }

    /// Ends a turn that is one too many.
    fn stop(&self) -> Result<()> {
        let mut command = self.command("stop-distill");
        command.env("WYREN_TURNS_THRESHOLD", "1");
        let output = feed(&mut command, self.input(SESSION).to_string().as_bytes())?;
        ensure!(
            output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
        Ok(())
    }

    fn distill(&self, arguments: &[&str]) -> Result<Output> {
        feed(self.command("wyren").arg("distill").args(arguments), b"")
    }

    fn watermark(&self) -> Result<Value> {
        Ok(serde_json::from_slice(&fs::read(self.state().join("watermark.json"))?)?)
    }

    fn questions(&self) -> u64 {
        fs::metadata(self.script().with_added_extension("position")).map_or(0, |asked| asked.len())
    }

    /// Does what is queued, here and now.
    fn work(&self) -> Result<()> {
        let output = feed(self.command("wyren").args(["worker", "run", "--until-idle"]), b"")?;
        ensure!(output.status.success(), "{output:?}");
        Ok(())
    }

    fn wait_for_silence(&self) -> Result<()> {
        wait_for("no process", || Ok(self.sandbox.processes().is_empty()))
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_stop_at_the_threshold_has_the_session_distilled() -> Result<()> {
    let Some(place) = Place::new(&[answer("Postgres is the database", 1)])? else { return Ok(()) };
    place.say(&decision("Postgres"))?;
    place.stop()?;
    // Right after the hook has returned: users of the Node version look at it.
    let watermark = place.watermark()?;
    assert_eq!(
        (&watermark["distiller_running"], &watermark["turns_since_distill"]),
        (&json!(true), &json!(0))
    );
    assert!(watermark["distiller_pid"].is_u64(), "{watermark:#}");
    wait_for("an entry", || {
        Ok(place.memory()?.contains("- Postgres is the database [session 720ff4aa, turn 1,"))
    })?;
    wait_for("the end", || Ok(place.watermark()?.get("distiller_running").is_none()))?;
    place.wait_for_silence()?;
    let watermark = place.watermark()?;
    assert_eq!(watermark["last_uuid"], "00000000-0000-4000-8000-000000000002");
    assert_eq!(watermark["last_transcript"], json!(place.transcript()));
    assert!(
        watermark.get("distiller_pid").is_none() && watermark["last_distilled_at"].is_u64(),
        "{watermark:#}"
    );
    let jobs = feed(place.command("wyren").args(["jobs", "--all", "--json"]), b"")?;
    let jobs: Value = serde_json::from_slice(&jobs.stdout)?;
    assert_eq!(
        (&jobs["jobs"][0]["kind"], &jobs["jobs"][0]["state"]),
        (&json!("distill"), &json!("done")),
        "{jobs:#}"
    );
    Ok(())
}

// What Wyren must do better, line 12: the last turns of a session are distilled.
#[test]
fn the_end_of_a_session_has_its_last_turns_distilled() -> Result<()> {
    let Some(place) = Place::new(&[answer("Postgres is the database", 1)])? else { return Ok(()) };
    place.say(&decision("Postgres"))?;
    place.hook("stop-distill", SESSION)?;
    assert_eq!(place.watermark()?["turns_since_distill"], 1);
    let output = place.hook("session-end", SESSION)?;
    assert_eq!(stdout(&output), "{\"continue\":true,\"suppressOutput\":true}\n");
    wait_for("an entry", || Ok(place.memory()?.contains("Postgres is the database")))?;
    place.wait_for_silence()
}

// What Wyren must do better, line 8: with the guard variable set, every hook exits 0 with empty stdout and touches no file.
#[test]
fn with_a_guard_no_turn_is_counted() -> Result<()> {
    let Some(place) = Place::new(&[])? else { return Ok(()) };
    for guard in tables::GUARDS {
        for hook in ["stop-distill", "session-end"] {
            let mut command = place.command(hook);
            command.env(guard, "1").env("WYREN_TURNS_THRESHOLD", "1");
            let output = feed(&mut command, place.input(SESSION).to_string().as_bytes())?;
            assert_eq!((output.status.code(), stdout(&output)), (Some(0), String::new()));
        }
    }
    // The sandbox itself wrote one.
    fs::remove_dir_all(place.sandbox.data().join("told"))?;
    assert!(!place.state().exists() && fs::read_dir(place.sandbox.data())?.next().is_none());
    Ok(())
}

// Users of the Node version rely on it: stops and prompts in parallel leave both files valid, with their own keys.
#[test]
fn stops_and_prompts_in_parallel_keep_both_files() -> Result<()> {
    let Some(place) = Place::new(&[])? else { return Ok(()) };
    fs::write(place.memory_file(), "# Wyren Memory\n\n## Decisions\n\n- One\n")?;
    thread::scope(|scope| {
        let mut calls = Vec::new();
        for number in 0..20 {
            let (place, hook) = (&place, if number % 2 == 0 { "stop-distill" } else { "prompt-sync" });
            calls.push(scope.spawn(move || {
                let mut command = place.command(hook);
                command.env("WYREN_TURNS_THRESHOLD", "1000").env("WYREN_SKIP_PULL", "1");
                feed(&mut command, place.input(&format!("s-{}", number % 4)).to_string().as_bytes())
            }));
        }
        calls.into_iter().try_for_each(|call| {
            let output = call.join().expect("no call panics")?;
            ensure!(output.status.success(), "{output:?}");
            Ok(())
        })
    })?;
    let watermark = place.watermark()?;
    assert_eq!(watermark["turns_since_distill"], 10);
    let prompts: Value = serde_json::from_slice(&fs::read(place.state().join("ups-state.json"))?)?;
    assert!(
        prompts["last_injected_hash"].is_string() && prompts.get("turns_since_distill").is_none(),
        "{prompts:#}"
    );
    for entry in fs::read_dir(place.state())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        assert!(!name.ends_with(".tmp"), "{name}");
    }
    Ok(())
}

#[test]
fn a_worker_killed_while_the_model_thinks_leaves_the_session_to_the_next() -> Result<()> {
    let script = [json!({"do": "hang"}), answer("Postgres is the database", 1)];
    let Some(place) = Place::new(&script)? else { return Ok(()) };
    place.say(&decision("Postgres"))?;
    place.stop()?;
    wait_for("a question", || Ok(place.questions() == 1))?;
    place.sandbox.processes().into_iter().for_each(kill);
    place.wait_for_silence()?;
    assert_eq!(place.memory()?, "# Wyren Memory\n");
    // The flag of a dead process blocks nothing.
    assert_eq!(place.watermark()?["distiller_running"], true);
    place.work()?;
    assert_eq!(place.memory()?.matches("Postgres is the database").count(), 1);
    assert!(place.watermark()?.get("distiller_running").is_none());
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn workers_killed_at_any_moment_distill_everything_once() -> Result<()> {
    const ROUNDS: usize = 12;
    let areas =
        ["billing", "search", "login", "export", "mobile", "queue", "cache", "metrics", "docs", "build"];
    let entry = |round: usize| match areas.get(round) {
        Some(area) => format!("Postgres {round} keeps the {area} data"),
        None => format!("Redis {round} holds sessions of region {round}"),
    };
    let take_out = |place: &Place, kept: &mut Vec<usize>| -> Result<()> {
        let memory = place.memory()?;
        kept.iter_mut()
            .enumerate()
            .for_each(|(round, count)| *count += memory.matches(&entry(round)).count());
        Ok(fs::write(place.memory_file(), "# Wyren Memory\n")?)
    };
    let Some(place) = Place::new(&[])? else { return Ok(()) };
    let (mut said, mut operations, mut kept) = (Vec::new(), Vec::new(), vec![0; ROUNDS]);
    for round in 0..ROUNDS {
        // The answer is about everything that was ever said; what is not in the slice finds no support there. So a decision
        // that is missing was passed over.
        let turn = said.len() + 1;
        operations.push(answer(&entry(round), turn as u64)["answer"]["operations"][0].clone());
        said.extend(decision(&entry(round)));
        place.follow(&[json!({"do": "answer", "answer": {"operations": operations}, "cost_usd": 0.001})])?;
        place.say(&said)?;
        place.stop()?;
        let mut worker = place.command("wyren-worker").spawn()?;
        // What dies when is the point: each round a little later.
        thread::sleep(Duration::from_millis(round as u64 * 23));
        worker.kill()?;
        worker.wait()?;
        place.sandbox.processes().into_iter().for_each(kill);
        place.wait_for_silence()?;
        // What is in the memory and has no intent any more is taken out: what comes back was distilled twice.
        if fs::read_dir(place.state().join("intents")).map_or(0, Iterator::count) == 0 {
            take_out(&place, &mut kept)?;
        }
    }
    place.stop()?;
    place.work()?;
    place.stop()?;
    place.work()?;
    take_out(&place, &mut kept)?;
    assert_eq!(kept, [1; ROUNDS]);
    let session = &place.watermark()?["sessions"];
    let session = session.as_object().and_then(|map| map.values().next()).context("no session")?.clone();
    assert_eq!(session["turn"], said.len());
    assert!(place.watermark()?.get("distiller_running").is_none());
    let intents = fs::read_dir(place.state().join("intents")).map_or(0, Iterator::count);
    assert_eq!(intents, 0);
    Ok(())
}

#[test]
fn what_a_session_distilled_reaches_the_remote_and_leaves_the_users_git_alone() -> Result<()> {
    for mode in [Mode::Side, Mode::Branch] {
        let remote = Remote::new(mode)?;
        let Some(member) = Member::set_up(&remote, "ada", mode)? else { return Ok(()) };
        let script = member.sandbox.folder().join("script.jsonl");
        fs::write(&script, answer("Postgres is the database", 1).to_string())?;
        let transcript = member.sandbox.folder().join(format!("{SESSION}.jsonl"));
        write_transcript(&transcript, None, SESSION, &decision("Postgres"))?;
        let before = member.footprint()?;
        let mut command = member.command("stop-distill");
        command.env("WYREN_MODEL_SCRIPT", &script).env("WYREN_TURNS_THRESHOLD", "1");
        feed(&mut command, member.event("stop-distill", SESSION, &json!({})).as_bytes())?;
        let entry = "- Postgres is the database [session 720ff4aa, turn 1, by ada,";
        wait_for("an entry on the remote", || Ok(remote.memory(mode).contains(entry)))?;
        wait_for("no process", || Ok(member.sandbox.processes().is_empty()))?;
        assert_eq!(member.footprint()?, before, "{mode:?}");
        assert!(member.memory()?.contains("Postgres is the database"), "{mode:?}");
        let subject = git(&remote.path(), &["log", "-1", "--format=%s", mode.branch()])?;
        assert_eq!(subject, "[wyren] memory update (session 720ff4aa)", "{mode:?}");
    }
    Ok(())
}

// What Wyren must do better, line 24: `distill` without `--push` makes no network write.
#[test]
fn without_push_nothing_leaves_the_machine() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(member) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    let script = member.sandbox.folder().join("script.jsonl");
    fs::write(&script, answer("Postgres is the database", 1).to_string())?;
    let transcript = member.sandbox.folder().join(format!("{SESSION}.jsonl"));
    write_transcript(&transcript, None, SESSION, &decision("Postgres"))?;
    let refs = || git(&remote.path(), &["for-each-ref"]);
    let distill = |arguments: &[&str]| {
        let mut command = member.command("wyren");
        command.arg("distill").args(arguments).arg("--transcript").arg(&transcript);
        feed(command.env("WYREN_MODEL_SCRIPT", &script), b"")
    };
    let before = refs()?;
    let output = distill(&[])?;
    assert!(output.status.success(), "{output:?}");
    assert!(stdout(&output).contains("Memory updated locally. Run: wyren distill --push"), "{output:?}");
    assert!(member.memory()?.contains("Postgres is the database"));
    assert_eq!(refs()?, before);

    let output = distill(&["--push"])?;
    assert!(stdout(&output).contains("Pushed to remote."), "{output:?}");
    assert!(remote.memory(Mode::Side).contains("Postgres is the database"));
    Ok(())
}

// What Wyren must do better, line 24: `--model` is honoured.
#[test]
fn the_model_that_was_named_is_the_one_that_is_asked() -> Result<()> {
    let Some(place) = Place::new(&[answer("Postgres is the database", 1)])? else { return Ok(()) };
    place.say(&decision("Postgres"))?;
    let output =
        place.distill(&["--transcript", &place.transcript().to_string_lossy(), "--model", "opus"])?;
    assert!(output.status.success() && stdout(&output).contains("Distilled by opus."), "{output:?}");
    let database = rusqlite::Connection::open(place.sandbox.data().join("wyren.db"))?;
    let asked: (String, String) =
        database.query_row("SELECT job, model FROM spend", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    assert_eq!(asked, ("distill".to_owned(), "opus".to_owned()));
    Ok(())
}

#[test]
fn without_anything_to_distill_the_messages_are_those_of_the_node_version() -> Result<()> {
    let Some(place) = Place::new(&[])? else { return Ok(()) };
    let output = place.distill(&[])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("No transcript found.\n"), "{output:?}");
    let output = place.distill(&["--transcript", "/nowhere/at/all.jsonl"])?;
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(1), "Transcript not found: /nowhere/at/all.jsonl\n".into())
    );
    fs::remove_dir_all(place.project().join(".wyren"))?;
    let output = place.distill(&[])?;
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(1), "Wyren not initialized. Run: wyren init\n".into())
    );
    Ok(())
}

#[test]
fn a_second_distillation_ends_with_4_while_the_first_runs() -> Result<()> {
    let Some(place) = Place::new(&[answer("x", 1)])? else { return Ok(()) };
    place.say(&decision("Postgres"))?;
    fs::create_dir_all(place.state())?;
    let lock = fs::File::create(place.state().join("distill.lock"))?;
    lock.lock()?;
    let output = place.distill(&["--transcript", &place.transcript().to_string_lossy()])?;
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(stderr(&output).contains("another distillation"), "{output:?}");
    assert_eq!(place.questions(), 0);
    Ok(())
}

#[test]
fn a_dry_run_shows_score_prompt_and_changes_and_writes_nothing() -> Result<()> {
    let Some(place) = Place::new(&[answer("Redis keeps the sessions", 1)])? else { return Ok(()) };
    let edit = json!([{"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "a.rs"}}]);
    let mut messages = decision("dark mode as the default theme");
    messages.push(("assistant", edit));
    while messages.len() < 200 {
        messages.push(("user", json!(format!("message number {}", messages.len() + 1))));
    }
    place.say(&messages)?;
    let transcript = place.transcript().to_string_lossy().into_owned();
    let output = place.distill(&["--dry-run", "--prompt", "--transcript", &transcript])?;
    assert!(output.status.success(), "{output:?}");
    let text = stdout(&output);
    for part in [
        "<existing-memory>\n(empty — first distillation)\n</existing-memory>",
        "<transcript-slice>\n[turn 1, user]\n",
        "[tool_use Edit]",
        "[turn 200, user]",
        "decision",
        "\n+ Decisions: ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("[turn 201"));
    assert_eq!((place.questions(), place.memory()?), (0, "# Wyren Memory\n".to_owned()));
    assert!(!place.state().exists());

    // With a model it is asked, and still nothing is written.
    let output = place.distill(&["--dry-run", "--model", "haiku", "--transcript", &transcript])?;
    assert!(stdout(&output).contains("\n+ Decisions: Redis keeps the sessions\n"), "{output:?}");
    assert_eq!((place.questions(), place.memory()?), (1, "# Wyren Memory\n".to_owned()));
    let output = place.distill(&["--dry-run", "--json", "--transcript", &transcript])?;
    let facts: Value = serde_json::from_slice(&output.stdout)?;
    assert!(facts["passes"] == true && facts["score"]["signals"].is_array(), "{facts:#}");
    assert!(!place.state().exists());
    Ok(())
}

#[test]
fn c6_a_dry_run_begins_with_score_and_result_and_shows_the_prompt_only_on_request() -> Result<()> {
    let Some(place) = Place::new(&[])? else { return Ok(()) };
    place.say(&decision("dark mode as the default theme"))?;
    let transcript = place.transcript().to_string_lossy().into_owned();
    let dry = |flags: &[&str]| -> Result<String> {
        let dry = ["--dry-run", "--transcript", &transcript];
        Ok(stdout(&place.distill(&[&dry[..], flags].concat())?))
    };
    let text = dry(&[])?;
    let lines: Vec<&str> = text.lines().collect();
    let score = lines[0].strip_prefix("Score ").and_then(|rest| rest.strip_suffix(" (3 needed)"));
    assert!(score.is_some_and(|points| points.parse::<u32>().is_ok()), "{text}");
    assert!(lines[1].starts_with("+ Decisions: "), "{text}");
    assert!(!text.contains("<transcript-slice>") && lines.len() <= 12, "{text}");
    let with_prompt = dry(&["--prompt"])?;
    assert!(with_prompt.starts_with(&text) && with_prompt.contains("<transcript-slice>"), "{with_prompt}");
    Ok(())
}

#[test]
fn c7_a_session_that_was_distilled_is_read_again_from_the_start() -> Result<()> {
    let answers = [answer("Postgres is the database", 1), answer("Postgres is the database", 1)];
    let Some(place) = Place::new(&answers)? else { return Ok(()) };
    place.say(&decision("Postgres"))?;
    let transcript = place.transcript().to_string_lossy().into_owned();
    let distill = |flags: &[&str]| place.distill(&[&["--transcript", transcript.as_str()], flags].concat());
    assert!(distill(&["--model", "haiku"])?.status.success());
    let (memory, asked) = (place.memory()?, place.questions());
    assert_eq!((memory.matches("- Postgres is the database [").count(), asked), (1, 1));

    let text = stdout(&distill(&["--dry-run"])?);
    assert!(text.starts_with("Nothing new since the last distillation; --from-start reads"), "{text}");
    let text = stdout(&distill(&["--dry-run", "--from-start"])?);
    assert!(text.starts_with("Score ") && text.contains("(messages 1 to 2)"), "{text}");
    assert_eq!((place.memory()?, place.questions()), (memory.clone(), asked));

    let output = distill(&["--from-start", "--model", "haiku"])?;
    assert!(output.status.success(), "{output:?}");
    assert!(stderr(&output).contains("entries that the memory has are not added again"), "{output:?}");
    assert_eq!((place.memory()?, place.questions()), (memory, asked + 1));
    let output = distill(&["--from-start", "--since", "x"])?;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    Ok(())
}

#[test]
fn chatter_counts_as_low_signal_and_no_model_is_called_unless_forced() -> Result<()> {
    let Some(place) = Place::new(&[answer("The clock shows the time", 1)])? else { return Ok(()) };
    place.say(&[
        ("user", json!("What time is it?")),
        ("assistant", json!([{"type": "text", "text": "Noon."}])),
    ])?;
    let transcript = place.transcript().to_string_lossy().into_owned();
    let output = place.distill(&["--transcript", &transcript])?;
    assert!(output.status.success() && stderr(&output).contains("low-signal session"), "{output:?}");
    assert_eq!(place.questions(), 0);
    let output = place.distill(&["--force", "--transcript", &transcript])?;
    assert!(stdout(&output).contains("Nothing new since"), "{output:?}");
    place.say(&[
        ("user", json!("What time is it?")),
        ("assistant", json!([{"type": "text", "text": "Noon."}])),
        ("user", json!("And now?")),
    ])?;
    let output = place.distill(&["--force"])?;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(place.questions(), 1);
    Ok(())
}

#[test]
fn the_old_distillers_flags_still_work() -> Result<()> {
    let Some(place) = Place::new(&[answer("Postgres is the database", 1)])? else { return Ok(()) };
    place.say(&decision("Postgres"))?;
    let folder = place.sandbox.folder();
    let [transcript, memory, out] = [place.transcript(), folder.join("old.md"), folder.join("new.md")]
        .map(|path| path.to_string_lossy().into_owned());
    let output = place.distill(&["--transcript", &transcript, "--memory", &memory])?;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).starts_with("usage: "), "{output:?}");
    let output = place.distill(&["--transcript", "/nowhere.jsonl", "--memory", &memory, "--out", &out])?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");

    let hand = "# Wyren Memory\n\n## Decisions\n\n- By hand\n";
    fs::write(&memory, hand)?;
    let flags = ["--transcript", &transcript, "--memory", &memory, "--out", &out];
    let output = place.distill(&[&flags[..], &["--cwd", &place.project().to_string_lossy()]].concat())?;
    assert!(output.status.success(), "{output:?}");
    assert!(
        stdout(&output).contains("distiller: wrote ") && stdout(&output).contains("last_uuid=00000000"),
        "{output:?}"
    );
    let written = fs::read_to_string(&out)?;
    assert!(written.contains("- By hand\n") && written.contains("- Postgres is the database ["), "{written}");
    assert_eq!(
        (fs::read_to_string(&memory)?, place.memory()?),
        (hand.to_owned(), "# Wyren Memory\n".to_owned())
    );
    // The memory of this clone knows nothing of it.
    assert!(!place.state().exists());

    let since = "00000000-0000-4000-8000-000000000002";
    let output = place.distill(&[&flags[..], &["--since", since]].concat())?;
    assert!(output.status.success() && stderr(&output).contains("empty transcript slice"), "{output:?}");
    let output = place.distill(&[&flags[..], &["--limit", "1", "--dry-run"]].concat())?;
    assert!(
        stdout(&output).contains("[turn 1, user]") && !stdout(&output).contains("[turn 2,"),
        "{output:?}"
    );
    assert_eq!(place.questions(), 1);
    Ok(())
}

#[test]
fn the_old_flags_keep_what_came_into_the_memory_while_the_model_was_thinking() -> Result<()> {
    let mut line = answer("Postgres is the database", 1);
    line["after_ms"] = json!(1_500);
    let Some(place) = Place::new(&[line])? else { return Ok(()) };
    place.say(&decision("Postgres"))?;
    let [transcript, memory] =
        [place.transcript(), place.memory_file()].map(|path| path.to_string_lossy().into_owned());
    let flags = ["--transcript", &transcript, "--memory", &memory, "--out", &memory];
    // The caller with these flags may be the Node version, which clears its flag itself.
    let flag = json!({"distiller_running": true, "distiller_pid": std::process::id()});
    fs::create_dir_all(place.state())?;
    fs::write(place.state().join("watermark.json"), flag.to_string())?;
    let output = thread::scope(|scope| -> Result<Output> {
        let call = scope.spawn(|| place.distill(&flags));
        wait_for("a question", || Ok(place.questions() == 1))?;
        fs::write(place.memory_file(), "# Wyren Memory\n\n## Decisions\n\n- Of a teammate\n")?;
        let second = place.distill(&flags)?;
        assert_eq!(second.status.code(), Some(4), "{second:?}");
        call.join().expect("no call panics")
    })?;
    assert!(output.status.success() && stdout(&output).contains("distiller: wrote "), "{output:?}");
    let memory = place.memory()?;
    assert!(
        memory.contains("- Of a teammate\n") && memory.contains("- Postgres is the database ["),
        "{memory}"
    );
    let watermark = place.watermark()?;
    assert_eq!(watermark["last_uuid"], "00000000-0000-4000-8000-000000000002");
    assert_eq!(watermark["distiller_running"], true, "{watermark:#}");
    Ok(())
}

#[test]
fn a_record_that_is_not_in_the_transcript_is_no_beginning() -> Result<()> {
    let Some(place) = Place::new(&[answer("Postgres is the database", 1)])? else { return Ok(()) };
    place.say(&decision("Postgres"))?;
    let transcript = place.transcript().to_string_lossy().into_owned();
    let output = place.distill(&["--transcript", &transcript, "--since", "unknown-uuid"])?;
    assert_eq!((output.status.code(), place.questions()), (Some(1), 0), "{output:?}");
    assert!(stderr(&output).starts_with("No such record in the transcript: unknown-uuid"), "{output:?}");
    Ok(())
}

#[test]
fn a_transcript_that_is_named_from_here_is_noted_as_seen_from_anywhere() -> Result<()> {
    let Some(place) = Place::new(&[answer("Postgres is the database", 1)])? else { return Ok(()) };
    write_transcript(&place.project().join("here.jsonl"), None, SESSION, &decision("Postgres"))?;
    let output = place.distill(&["--transcript", "here.jsonl"])?;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(place.watermark()?["last_transcript"], json!(place.project().join("here.jsonl")));
    Ok(())
}

#[test]
fn a_bad_answer_leaves_the_memory_as_it_is_and_is_reported() -> Result<()> {
    let Some(place) = Place::new(&[json!({"do": "lie", "text": "```json\n{}\n```"})])? else { return Ok(()) };
    place.say(&decision("Postgres"))?;
    let transcript = place.transcript().to_string_lossy().into_owned();
    let output = place.distill(&["--transcript", &transcript])?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("the memory is unchanged"), "{output:?}");
    assert_eq!((place.memory()?, place.questions()), ("# Wyren Memory\n".to_owned(), 1));
    let output = place.distill(&["--json", "--transcript", &transcript])?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(report["outcome"], "bad-answer");
    Ok(())
}

#[test]
fn five_repositories_at_once_keep_to_the_budget_and_to_one_question_each() -> Result<()> {
    const BUDGET: f64 = 0.07;
    let Some(place) = Place::new(&[])? else { return Ok(()) };
    let mut line = answer("Postgres is the database", 1);
    line["cost_usd"] = json!(0.02);
    place.follow(&[line])?;
    let repositories: Vec<PathBuf> =
        (0..5).map(|number| place.sandbox.folder().join(format!("repo-{number}"))).collect();
    thread::scope(|scope| {
        let mut calls = Vec::new();
        for (number, repository) in repositories.iter().enumerate() {
            let place = &place;
            calls.push(scope.spawn(move || -> Result<()> {
                fs::create_dir_all(repository.join(".wyren"))?;
                let session = format!("session-{number}");
                let transcript = place.sandbox.folder().join(format!("{session}.jsonl"));
                write_transcript(&transcript, None, &session, &decision("Postgres for the billing service"))?;
                let mut command = place.command("wyren");
                command
                    .args(["distill", "--transcript"])
                    .arg(&transcript)
                    .current_dir(repository)
                    .env("WYREN_DAILY_BUDGET_USD", BUDGET.to_string())
                    .env("WYREN_PROJECT_BUDGET_USD", BUDGET.to_string());
                let output = feed(&mut command, b"")?;
                ensure!(output.status.success(), "{output:?}");
                Ok(())
            }));
        }
        calls.into_iter().try_for_each(|call| call.join().expect("no call panics"))
    })?;
    let report = feed(place.command("wyren").args(["spend", "--json"]), b"")?;
    let report: Value = serde_json::from_slice(&report.stdout)?;
    let spent = report["today"]["spent_usd"].as_f64().context("no sum")?;
    assert!(spent > 0.0 && spent <= BUDGET, "{report:#}");
    assert!((1..=3).contains(&place.questions()), "{}", place.questions());
    // With the budget spent, the others worked without a model.
    for repository in &repositories {
        let memory = fs::read_to_string(repository.join(".wyren/memory.md"))?;
        assert!(memory.contains("Postgres"), "{}: {memory}", repository.display());
    }
    Ok(())
}

/// Returns a memory of entries about different things, each with the tag.
fn facts(count: usize, tag: &str) -> String {
    let lines: String =
        (0..count).map(|n| format!("- Module m{n} follows rule r{n} of team t{n} {tag}\n")).collect();
    format!("# Wyren Memory\n\n## Decisions\n\n{lines}")
}

#[test]
fn d2_a_distillation_of_a_large_memory_without_dates_publishes_one_entry_more() -> Result<()> {
    for (mode, count) in [(Mode::Side, 100), (Mode::Branch, 200)] {
        let remote = Remote::new(mode)?;
        let Some(member) = Member::set_up(&remote, "ada", mode)? else { return Ok(()) };
        let entries: Vec<String> = (0..count)
            .map(|n| format!("Module m{n} follows rule r{n} of team t{n} [session aaaaaaaa, turn {n}]"))
            .collect();
        let edited = member.editing(&entries)?.output()?;
        ensure!(edited.status.success(), "{edited:?}");
        let script = member.sandbox.folder().join("script.jsonl");
        fs::write(&script, answer("Postgres is the database", 1).to_string())?;
        let transcript = member.sandbox.folder().join(format!("{SESSION}.jsonl"));
        write_transcript(&transcript, None, SESSION, &decision("Postgres"))?;
        let mut command = member.command("wyren");
        command
            .args(["distill", "--push", "--transcript"])
            .arg(&transcript)
            .env("WYREN_MODEL_SCRIPT", &script);
        let output = feed(&mut command, b"")?;
        ensure!(output.status.success(), "{output:?}");
        let published = remote.memory(mode);
        assert_eq!(published.matches("follows rule").count(), count, "{mode:?}");
        assert!(published.contains("Postgres is the database"), "{mode:?}");
        let again = member.wyren(&["status"])?;
        assert!(!again.contains("Removed:"), "{again}");
    }
    Ok(())
}

#[test]
fn d2_what_left_to_make_room_is_shown_once_and_comes_back_for_good() -> Result<()> {
    let script: Vec<Value> =
        (0..3).map(|n| answer(&format!("Choice c{n} is made for unit u{n}"), n * 2 + 1)).collect();
    let Some(place) = Place::new(&script)? else { return Ok(()) };
    fs::write(place.memory_file(), facts(100, "[session 11112222, turn 4, by Mo, 2024-01-01]"))?;
    fs::create_dir_all(place.state())?;
    fs::write(place.state().join("size.json"), json!({"v": 1, "over_since": 1}).to_string())?;
    let start =
        |session: &str| -> Result<String> { Ok(stdout(&place.hook("session-start-memory", session)?)) };
    assert!(!start("before")?.contains("systemMessage"));
    place.say(&decision("choice c0"))?;
    let transcript = place.transcript().to_string_lossy().into_owned();
    let dry = stdout(&place.distill(&["--dry-run", "--transcript", &transcript])?);
    assert!(dry.contains("- Decisions: Module m0 follows rule r0 of team t0"), "{dry}");
    let output = place.distill(&["--transcript", &transcript])?;
    ensure!(output.status.success(), "{output:?}");
    assert!(stderr(&output).contains("distiller: left the memory: \"Module m0 follows"), "{output:?}");
    assert_eq!(place.memory()?.matches("follows rule").count(), 98);

    let wyren = |arguments: &[&str]| feed(place.command("wyren").args(arguments), b"");
    let status = stdout(&wyren(&["status"])?);
    let removed = status.lines().find(|line| line.starts_with("Removed:")).context("a line of the status")?;
    assert!(removed.contains("2 entries") && removed.contains("wyren memory restore"), "{removed}");
    let facts: Value = serde_json::from_slice(&wyren(&["status", "--json"])?.stdout)?;
    assert_eq!(facts["removed"].as_array().map(Vec::len), Some(2), "{facts:#}");
    // The running session shows it at its next prompt, and a new one does not again.
    let told = stdout(&place.hook("prompt-sync", "before")?);
    let answer: Value = serde_json::from_str(&told)?;
    let message = answer["systemMessage"].as_str().context("a message to the person")?;
    assert!(message.contains("removed 2 entries from the team memory"), "{message}");
    assert!(!start("after")?.contains("systemMessage"));

    let history: Value = serde_json::from_slice(&wyren(&["memory", "history", "m0", "--json"])?.stdout)?;
    let number = history["removals"][0]["number"].to_string();
    let listed = stdout(&wyren(&["memory", "history"])?);
    assert!(listed.starts_with("1  "), "{listed}");
    let restored = wyren(&["memory", "restore", &number])?;
    ensure!(restored.status.success(), "{restored:?}");
    assert!(stdout(&restored).contains("+ Module m0 follows rule r0 of team t0"), "{restored:?}");
    assert_eq!(wyren(&["memory", "restore", "99"])?.status.code(), Some(1));
    assert_eq!(wyren(&["memory", "restore"])?.status.code(), Some(2));
    let mut messages = decision("choice c0");
    messages.extend(decision("choice c1"));
    place.say(&messages)?;
    place.distill(&["--transcript", &transcript])?;
    let memory = place.memory()?;
    assert!(memory.contains("- Module m0 follows rule r0 of team t0 [by "), "{memory}");
    assert_eq!(memory.matches("follows rule").count(), 97);
    Ok(())
}

#[test]
fn d6_a_dry_run_begins_at_the_record_that_the_node_version_noted() -> Result<()> {
    let Some(place) = Place::new(&[answer("Redis is the cache", 3)])? else { return Ok(()) };
    let mut messages = decision("Postgres");
    messages.extend(decision("Redis"));
    place.say(&messages)?;
    fs::create_dir_all(place.state())?;
    let node =
        json!({"last_uuid": "00000000-0000-4000-8000-000000000002", "last_transcript": place.transcript()});
    fs::write(place.state().join("watermark.json"), node.to_string())?;
    let facts: Value = serde_json::from_slice(&place.distill(&["--dry-run", "--json"])?.stdout)?;
    assert_eq!(
        (&facts["turns"], &facts["slices"][0]["turns"]),
        (&json!([3, 4]), &json!([3, 4])),
        "{facts:#}"
    );
    assert_eq!((&facts["rest_after"], &facts["continued"]), (&Value::Null, &Value::Null));
    Ok(())
}

#[test]
fn d6_a_dry_run_shows_every_part_of_a_long_transcript() -> Result<()> {
    let Some(place) = Place::new(&[])? else { return Ok(()) };
    let mut messages = Vec::new();
    for _ in 0..20 {
        messages.push((
            "user",
            json!(format!("We decided to use Redis. Agreed, settled on. {}", "word ".repeat(1_590))),
        ));
    }
    messages.extend(decision("dark mode as the default theme"));
    place.say(&messages)?;
    let transcript = place.transcript().to_string_lossy().into_owned();
    let text = stdout(&place.distill(&["--dry-run", "--prompt", "--transcript", &transcript])?);
    for part in ["Part 1 of 2", "Part 2 of 2", "[turn 1, user]", "[turn 22, assistant]"] {
        assert!(text.contains(part), "{part}");
    }
    Ok(())
}
