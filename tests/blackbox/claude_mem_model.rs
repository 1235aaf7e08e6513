//! Lines of claude-mem's list "What Wyren must do better" that are about models, processes, what has to be installed, and ports.
//!
//! The number in a test's name is the line; docs/status.md has the list with the tests of the others.

use std::fs;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tables::hooks::{self, HOOKS};
use wyren_tests::plugin;
use wyren_tests::sandbox::{Sandbox, feed};

use crate::worker::wait_for;

const SESSION: &str = "720ff4aa-05f9-4e05-aad8-0d889a82ec5a";

/// What the model answers, and what that costs.
const ANSWER: &str = r#"{"do":"answer","answer":{"summary":{"request":"Choose a database","completed":"Postgres was chosen"}},"input":900,"output":40,"cost_usd":0.0123}"#;

/// How many turns a session has; as many make a batch.
const TURNS: usize = 3;

/// A session in a folder without a team memory, played through every hook of each event, and a model that follows a script.
struct Played {
    sandbox: Sandbox,
}

impl Played {
    fn new() -> Result<Option<Self>> {
        let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
        let played = Self { sandbox };
        fs::write(played.script(), ANSWER)?;
        Ok(Some(played))
    }

    fn script(&self) -> PathBuf {
        self.sandbox.folder().join("script.jsonl")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.sandbox.command(program);
        command.env("WYREN_MODEL_SCRIPT", self.script()).env("WYREN_WORKER_IDLE_SECONDS", "0");
        command
    }

    fn wyren(&self, arguments: &[&str]) -> Result<String> {
        let output = feed(self.command("wyren").args(arguments), b"")?;
        ensure!(output.status.success(), "wyren {arguments:?}: {output:?}");
        Ok(String::from_utf8(output.stdout)?)
    }

    fn json(&self, arguments: &[&str]) -> Result<Value> {
        Ok(serde_json::from_str(&self.wyren(&[arguments, &["--json"]].concat())?)?)
    }

    /// Sends an event to every hook that is wired to it, each with more variables.
    fn send(&self, event: &str, more: Value, variables: &[(&str, &str)]) -> Result<()> {
        for hook in HOOKS.iter().filter(|hook| hook.events.contains(&event)) {
            let mut command = self.command(hook.name);
            let input = input(&self.sandbox, event, more.clone())?;
            let output = feed(command.envs(variables.iter().copied()), input.to_string().as_bytes())?;
            ensure!(output.status.success() && output.stderr.is_empty(), "{}: {output:?}", hook.name);
        }
        Ok(())
    }

    /// Plays a session of [`TURNS`] turns, and has everything done that it left to do.
    fn play(&self, variables: &[(&str, &str)]) -> Result<()> {
        write_transcript(&self.sandbox)?;
        self.send("SessionStart", json!({"source": "startup"}), variables)?;
        for turn in 0..TURNS {
            let id = format!("prompt-{turn}");
            let prompt = json!({"prompt": "We decided to use Postgres.", "prompt_id": id});
            self.send("UserPromptSubmit", prompt, variables)?;
            self.send("PreToolUse", call(turn), variables)?;
            self.send("PostToolUse", call(turn), variables)?;
            let end = json!({"prompt_id": id, "last_assistant_message": "Postgres it is."});
            self.send("Stop", end, variables)?;
            self.end_turn(&id)?;
        }
        self.send("SessionEnd", json!({"reason": "other"}), variables)?;
        self.work(variables)
    }

    /// Records the end of a turn where no hook does.
    fn end_turn(&self, prompt: &str) -> Result<()> {
        if hooks::find("stop-summary").is_some() {
            return Ok(());
        }
        let now = u64::try_from(UNIX_EPOCH.elapsed()?.as_millis())?;
        let data =
            json!({"outcome": "done", "text": "Postgres it is.", "transcript": transcript(&self.sandbox)});
        let line = json!({
            "v": 2, "kind": "turn-end", "id": format!("e:{prompt}-{now}"), "ts": now, "session": SESSION,
            "cwd": self.sandbox.project(), "prompt_id": prompt, "data": data,
        });
        let folder = self.sandbox.data().join("spool/0123456789abcdef");
        fs::create_dir_all(&folder)?;
        let file = folder.join(format!("{}.jsonl", now / 3_600_000));
        let before = fs::read_to_string(&file).unwrap_or_default();
        Ok(fs::write(&file, format!("{before}\n{line}\n"))?)
    }

    /// Has a worker do what is left to do; twice, since the first may leave something.
    fn work(&self, variables: &[(&str, &str)]) -> Result<()> {
        for _ in 0..2 {
            wait_for("no process", || Ok(self.sandbox.processes().is_empty()))?;
            let mut command = self.command("wyren");
            command.args(["worker", "run", "--until-idle"]).envs(variables.iter().copied());
            let output = feed(&mut command, b"")?;
            ensure!(output.status.success(), "{output:?}");
        }
        Ok(())
    }

    fn questions(&self) -> u64 {
        fs::metadata(self.script().with_added_extension("position")).map_or(0, |asked| asked.len())
    }

    /// Returns the observations of a kind.
    fn observations(&self, kind: &str) -> Result<Vec<Value>> {
        let lines: Vec<Value> =
            self.wyren(&["export"])?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(lines.into_iter().filter(|line| line["type"] == kind).collect())
    }
}

fn transcript(sandbox: &Sandbox) -> PathBuf {
    sandbox.folder().join(format!("{SESSION}.jsonl"))
}

/// Returns what the client sends to a hook at an event.
fn input(sandbox: &Sandbox, event: &str, more: Value) -> Result<Value> {
    let mut input = json!({
        "session_id": SESSION, "hook_event_name": event, "cwd": sandbox.project(),
        "transcript_path": transcript(sandbox),
    });
    let fields = more.as_object().context("no fields")?.clone();
    input.as_object_mut().context("no object")?.extend(fields);
    Ok(input)
}

fn call(number: usize) -> Value {
    json!({
        "tool_name": "Bash", "tool_use_id": format!("call-{number}"), "tool_input": {"command": "cargo test"},
        "tool_response": {"stdout": "ok"},
    })
}

/// Writes a transcript that a model is worth asking about.
fn write_transcript(sandbox: &Sandbox) -> Result<()> {
    let mut text = String::new();
    let said = [
        ("user", "We decided to use Postgres. Agreed, that is settled on."),
        ("assistant", "Postgres it is."),
    ];
    for (number, (role, words)) in said.iter().cycle().take(2 * TURNS).enumerate() {
        let record = json!({
            "type": role, "uuid": format!("00000000-0000-4000-8000-{:012}", number + 1), "sessionId": SESSION,
            "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": sandbox.project(),
            "timestamp": "2026-11-16T02:26:41.123Z", "message": {"role": role, "content": words},
        });
        text.push_str(&format!("{record}\n"));
    }
    Ok(fs::write(transcript(sandbox), text)?)
}

#[test]
fn line_01_capture_asks_no_model() -> Result<()> {
    let Some(played) = Played::new()? else { return Ok(()) };
    // As many turns as make a batch.
    played.wyren(&["config", "set", "distill.turns", &TURNS.to_string()])?;
    played.play(&[])?;
    assert_eq!(played.observations("prompt")?.len(), TURNS);
    assert_eq!(played.observations("tool")?.len(), TURNS);
    assert_eq!(played.questions(), 0);
    let spend = played.json(&["spend"])?;
    assert_eq!(spend["rows"], json!([]), "{spend:#}");
    assert_eq!(played.json(&["jobs", "--all"])?["jobs"].to_string().matches("summarise").count(), 0);
    Ok(())
}

#[test]
fn line_01_with_the_users_word_a_batch_of_turns_is_one_call_whose_cost_is_shown() -> Result<()> {
    let Some(played) = Played::new()? else { return Ok(()) };
    played.wyren(&["config", "set", "distill.turns", &TURNS.to_string()])?;
    played.wyren(&["config", "set", "journal.model", "on"])?;
    played.play(&[])?;
    assert_eq!(played.questions(), 1);
    let summaries = played.observations("summary")?;
    assert_eq!(summaries.len(), 1, "{summaries:#?}");
    let text = summaries[0].to_string();
    assert!(text.contains("Postgres was chosen") && text.contains(r#""source":"model""#), "{text}");
    // One question, one job: what was summarised is not looked at again.
    let jobs = played.json(&["jobs", "--all"])?;
    let of_kind = |job: &&Value| job["kind"] == "summarise";
    let jobs: Vec<&Value> = jobs["jobs"].as_array().context("no list")?.iter().filter(of_kind).collect();
    assert_eq!(jobs.len(), 1, "{jobs:#?}");
    assert_eq!(jobs[0]["state"], "done");
    let spend = played.json(&["spend"])?;
    let row = &spend["rows"][0];
    assert_eq!(
        (&row["job"], &row["calls"], &row["spent_usd"]),
        (&json!("summarise"), &json!(1), &json!(0.0123))
    );
    let table = played.wyren(&["spend"])?;
    assert!(table.lines().any(|line| line.contains("summarise") && line.contains("$0.01")), "{table}");
    Ok(())
}

#[test]
fn line_01_a_summary_keeps_to_the_budget() -> Result<()> {
    let Some(played) = Played::new()? else { return Ok(()) };
    played.wyren(&["config", "set", "journal.model", "on"])?;
    played.wyren(&["config", "set", "model.daily_budget_usd", "0"])?;
    played.play(&[])?;
    assert_eq!((played.questions(), played.observations("summary")?.len()), (0, 0));
    // It was wanted, and found no budget.
    let jobs = played.json(&["jobs", "--all"])?["jobs"].to_string();
    assert!(jobs.contains("summarise"), "{jobs}");
    Ok(())
}

#[test]
fn line_01_neither_a_repository_nor_a_variable_nor_the_model_switches_summaries_on() -> Result<()> {
    const ON: &str = "[journal]\nmodel = \"on\"\n";
    let Some(played) = Played::new()? else { return Ok(()) };
    let project = played.sandbox.project();
    fs::create_dir_all(project.join(".claude"))?;
    fs::create_dir_all(project.join(".config/wyren"))?;
    for name in ["config.toml", "wyren.toml", ".wyren.toml", ".config/wyren/config.toml"] {
        fs::write(project.join(name), ON)?;
    }
    fs::write(project.join(".claude/settings.json"), r#"{"env": {"WYREN_JOURNAL_MODEL": "on"}}"#)?;
    let variables = [("WYREN_JOURNAL_MODEL", "on"), ("JOURNAL_MODEL", "on"), ("WYREN_TURNS_THRESHOLD", "1")];
    played.play(&variables)?;
    assert_eq!(played.questions(), 0);

    let mut of_the_model = played.command("wyren");
    of_the_model.args(["config", "set", "journal.model", "on"]).env("CLAUDECODE", "1");
    let output = feed(&mut of_the_model, b"")?;
    let problem = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && problem.contains("only a person may do this"), "{output:?}");
    assert_eq!(played.wyren(&["config", "get", "journal.model"])?.trim(), "off");
    Ok(())
}

/// Hooks that start processes in the background are among these: the worker, which asks a model that never answers, and syncs.
#[cfg(target_os = "linux")]
#[test]
fn line_02_after_a_thousand_hooks_and_a_killed_parent_no_process_remains() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    const RUNS: usize = 1_000;
    const PATIENCE: Duration = Duration::from_secs(120);
    let (Some(played), Some(plugin)) = (Played::new()?, plugin::folder()) else { return Ok(()) };
    let (sandbox, folder) = (&played.sandbox, played.sandbox.folder());
    write_transcript(sandbox)?;
    fs::create_dir_all(sandbox.project().join(".wyren"))?;
    fs::write(sandbox.project().join(".wyren/memory.md"), "# Wyren Memory\n")?;
    let (claude, born) = (folder.join("claude"), folder.join("born"));
    fs::write(&claude, format!("#!/bin/sh\necho $$ >> '{}'\nexec sleep 600\n", born.display()))?;
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755))?;

    // The parent sends one event after the other until it is killed, as a client that lives on would.
    let mut script = String::from("while :; do\n");
    for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"] {
        let mut fields = call(0);
        fields["prompt"] = json!("We decided to use Postgres.");
        fields["source"] = json!("startup");
        let file = folder.join(format!("{event}.json"));
        fs::write(&file, input(sandbox, event, fields)?.to_string())?;
        for hook in HOOKS.iter().filter(|hook| hook.events.contains(&event)) {
            let program = plugin.join("bin").join(hook.name);
            script += &format!("'{}' < '{}' > /dev/null\n", program.display(), file.display());
        }
    }
    script += "done\n";
    let mut parent = sandbox.command_for(Path::new("/bin/sh"));
    parent
        .args(["-c", &script])
        .env("WYREN_MODEL_PROVIDER", "cli")
        .env("WYREN_MODEL_COMMAND", &claude)
        .env("WYREN_MODEL_TIMEOUT_S", "2")
        .env("WYREN_TURNS_THRESHOLD", "1")
        .env("WYREN_WORKER_IDLE_SECONDS", "0")
        .process_group(0);
    let mut parent = parent.spawn()?;
    let log = sandbox.data().join("logs/hooks.jsonl");
    let runs = || fs::read(&log).map_or(0, |log| log.iter().filter(|byte| **byte == b'\n').count());
    let deadline = Instant::now() + PATIENCE;
    while runs() < RUNS || !born.exists() {
        ensure!(Instant::now() < deadline, "{} hooks ran; the model was asked: {}", runs(), born.exists());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!sandbox.processes().is_empty(), "the parent itself is one");
    parent.kill()?;
    parent.wait()?;

    wait_for("no process", || Ok(sandbox.processes().is_empty()))?;
    let children = fs::read_to_string(&born)?;
    for child in children.split_whitespace() {
        // A zombie has no command line any more.
        let is_alive = fs::read(format!("/proc/{child}/cmdline")).is_ok_and(|line| !line.is_empty());
        assert!(!is_alive, "the model's child {child} runs on");
    }
    Ok(())
}

/// Returns the files below a folder, at any depth.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

/// Returns whether a file is a program that the system runs by itself: ELF, Mach-O or Windows.
fn is_native(program: &Path) -> Result<bool> {
    let bytes = fs::read(program)?;
    let magic: [&[u8]; 4] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"];
    Ok(magic.iter().any(|magic| bytes.starts_with(magic)))
}

/// Accepts connections and never answers; a port that is in use has such a listener already.
struct Silent(Vec<TcpListener>);

impl Silent {
    fn on(ports: &[u16]) -> Result<Self> {
        let mut listeners = Vec::new();
        for port in ports {
            match TcpListener::bind((Ipv4Addr::LOCALHOST, *port)) {
                Ok(listener) => {
                    listener.set_nonblocking(true)?;
                    listeners.push(listener);
                }
                Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                Err(error) => return Err(error).context(format!("port {port}")),
            }
        }
        Ok(Self(listeners))
    }

    /// Returns how many have connected. They may stay connected: the listener says nothing.
    fn callers(&self) -> usize {
        let accept = |listener: &TcpListener| std::iter::from_fn(|| listener.accept().ok()).count();
        self.0.iter().map(accept).sum()
    }
}

#[test]
fn line_03_everything_runs_without_any_other_program_and_fetches_nothing() -> Result<()> {
    let (Some(played), Some(plugin)) = (Played::new()?, plugin::folder()) else { return Ok(()) };
    for program in files_below(&plugin.join("bin"))? {
        assert!(is_native(&program)?, "{} needs an interpreter", program.display());
    }
    let needs_more = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ["package.json", "requirements.txt", "pyproject.toml"].contains(&name.as_str())
            || [".js", ".cjs", ".mjs", ".ts", ".py", ".sh", ".node"]
                .iter()
                .any(|ending| name.ends_with(ending))
    };
    let found: Vec<PathBuf> = files_below(&plugin)?.into_iter().filter(needs_more).collect();
    assert_eq!(found, Vec::<PathBuf>::new());
    let servers: Value = serde_json::from_slice(&fs::read(plugin.join(".mcp.json"))?)?;
    for server in servers["mcpServers"].as_object().context("servers")?.values() {
        let program = server["command"].as_str().and_then(|it| it.strip_prefix("${CLAUDE_PLUGIN_ROOT}/"));
        assert!(is_native(&plugin.join(program.context("a program of the plugin")?))?, "{server}");
    }

    // A download would go through the proxy.
    let proxy = Silent::on(&[0])?;
    let address = proxy.0.first().context("a listener")?.local_addr()?;
    let address = format!("http://{address}");
    let mut variables = vec![("PATH", "")];
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        variables.push((name, &address));
    }
    played.play(&variables)?;
    for arguments in [&["export"][..], &["status"], &["jobs"], &["spend"], &["lessons", "list"]] {
        let mut command = played.command("wyren");
        let output = feed(command.args(arguments).envs(variables.iter().copied()), b"")?;
        assert!(output.status.success(), "wyren {arguments:?}: {output:?}");
    }
    assert_eq!((played.observations("prompt")?.len(), played.observations("tool")?.len()), (TURNS, TURNS));
    let is_problem = |line: &&Value| line["level"] == "warn" || line["level"] == "error";
    let log = played.sandbox.hook_log()?;
    assert_eq!(log.iter().filter(is_problem).collect::<Vec<_>>(), Vec::<&Value>::new());
    assert_eq!(proxy.callers(), 0);
    Ok(())
}

/// Returns what is wrong with the entries of a file of hooks: each has to name one program, which the client starts itself.
fn not_in_exec_form(wiring: &Value) -> Vec<String> {
    let groups = wiring["hooks"].as_object().into_iter().flat_map(|events| events.values());
    let groups = groups.flat_map(|groups| groups.as_array().into_iter().flatten());
    let entries = groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten());
    let mut wrong = Vec::new();
    for entry in entries {
        let command = entry["command"].as_str().unwrap_or_default();
        let program = command.replace("${CLAUDE_PLUGIN_ROOT}", "");
        let is_one_word = !program.is_empty()
            && !program.contains(|character: char| {
                character.is_whitespace() || "|&;<>()$`\"'*?[]#~=%{}".contains(character)
            });
        let has_words = entry["args"].as_array().is_some_and(|words| words.iter().all(Value::is_string));
        if entry["type"] != "command" || !has_words || !is_one_word {
            wrong.push(entry.to_string());
        }
    }
    wrong
}

#[test]
fn line_08_every_hook_is_started_without_a_shell() -> Result<()> {
    let (Some(sandbox), Some(plugin)) = (Sandbox::new()?, plugin::folder()) else { return Ok(()) };
    fs::create_dir_all(sandbox.folder().join("home/.claude"))?;
    let install = sandbox.wyren(&["install", "--settings"])?;
    ensure!(install.status.success(), "{install:?}");
    let mut files: Vec<PathBuf> =
        fs::read_dir(plugin.join("hooks"))?.flatten().map(|file| file.path()).collect();
    ensure!(files.len() >= 2, "{files:?}");
    files.push(sandbox.folder().join("home/.claude/settings.json"));
    for file in files {
        let wiring: Value =
            serde_json::from_slice(&fs::read(&file).with_context(|| file.display().to_string())?)?;
        assert!(wiring["hooks"].as_object().is_some_and(|events| !events.is_empty()), "{}", file.display());
        assert_eq!(not_in_exec_form(&wiring), Vec::<String>::new(), "{}", file.display());
        let text = wiring.to_string();
        for hook in HOOKS.iter().filter(|hook| text.contains(&format!("/bin/{}\"", hook.name))) {
            assert!(is_native(&plugin.join("bin").join(hook.name))?, "{}", hook.name);
        }
    }
    Ok(())
}

#[test]
fn line_08_an_entry_that_needs_a_shell_is_found() {
    let of = |entry: Value| json!({"hooks": {"Stop": [{"hooks": [entry]}]}});
    let good = json!({"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/stop-distill", "args": []});
    assert_eq!(not_in_exec_form(&of(good)), Vec::<String>::new());
    for bad in [
        json!({"type": "command", "command": "/bin/stop-distill"}),
        json!({"type": "command", "command": "/bin/stop-distill --quiet", "args": []}),
        json!({"type": "command", "command": "$HOME/stop-distill", "args": []}),
        json!({"type": "command", "command": "a;b", "args": []}),
        json!({"type": "command", "args": []}),
        json!({"type": "prompt", "command": "/bin/stop-distill", "args": []}),
    ] {
        assert_eq!(not_in_exec_form(&of(bad.clone())), [bad.to_string()]);
    }
}

/// Feeds every golden case of every hook to it, in a sandbox of its own; returns the answers. None may take as long as the client
/// waits for the hook.
fn golden_answers() -> Result<Option<Vec<(String, Output)>>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    plugin::copy(&sandbox.cases().join("team"), &sandbox.project().join(".wyren"))?;
    // The words of the fences are derived from it.
    fs::write(sandbox.data().join("secret"), [b's'; 32])?;
    let mut answers = Vec::new();
    for hook in sandbox.hooks()? {
        let timeout = Duration::from_secs(hooks::find(&hook).context("a row")?.timeout);
        for (name, input) in wyren_tests::sandbox::inputs(&hook)? {
            if !name.ends_with(".in.json") {
                continue;
            }
            let mut command = sandbox.command(&hook);
            command.env("CLAUDE_MEM_WORKER_PORT", "37777").env("WYREN_WORKER_IDLE_SECONDS", "0");
            let began = Instant::now();
            let output = feed(&mut command, &input)?;
            assert!(began.elapsed() < timeout, "{hook} < {name} took {:?}", began.elapsed());
            answers.push((format!("{hook} < {name}"), output));
        }
    }
    Ok(Some(answers))
}

#[cfg(unix)]
#[test]
fn line_09_a_foreign_listener_changes_no_answer_and_is_not_asked() -> Result<()> {
    let Some(before) = golden_answers()? else { return Ok(()) };
    assert!(before.len() >= HOOKS.len(), "{} answers", before.len());
    // The ports of claude-mem's worker: the old one, and the one for each user.
    let user = rustix::process::getuid().as_raw();
    let foreign = Silent::on(&[37_777, 37_700 + u16::try_from(user % 100)?])?;
    let after = golden_answers()?.context("no plugin any more")?;
    assert_eq!(after, before);
    assert_eq!(foreign.callers(), 0);
    Ok(())
}

#[test]
fn line_09_the_foreign_listener_counts_its_callers() -> Result<()> {
    let foreign = Silent::on(&[0])?;
    let caller = TcpStream::connect(foreign.0.first().context("a listener")?.local_addr()?)?;
    assert_eq!((foreign.callers(), foreign.callers()), (1, 0));
    drop(caller);
    Ok(())
}
