//! Runs that are prepared one by one: a remote that answers, one that hangs, a worker that is to be started.

use super::program;
use super::statistics::median;
use super::table::Table;
use crate::workspace::run;
use anyhow::{Context as _, Result, ensure};
use base::{Env, Paths, Timestamp};
use capture::Spool;
use serde::Serialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use store::observations::Drain;
use work::contexts::Action;
use work::contexts::write::{Place, Writer};

/// A long transcript, its size, and what of it comes after a compaction, in bytes.
const COMPACTED: &str = "compacted.jsonl";
const TRANSCRIPT_BYTES: usize = 50_000_000;
const SINCE_BYTES: usize = 2_000_000;

/// How often each is run.
const RUNS: usize = 5;

/// How often the start of the worker is: it is short, so that more runs are needed for a median.
const SHORT_RUNS: usize = 25;

/// How many prompts meet a remote that takes its time.
const SLOW_RUNS: usize = 6;

/// How long whatever a run left behind may take to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many contexts a project has when a session looks for its own.
const CONTEXTS: usize = 1_000;

/// An ssh that never answers, and shrugs off a polite request to end.
const HANGING_SSH: &str = "#!/bin/sh\ntrap '' TERM\nsleep 600\nsleep 600\n";

/// An ssh that needs 700 ms to reach the other side, which is this machine. Git calls it with what is to be run at the end.
const SLOW_SSH: &str = "#!/bin/sh\nsleep 0.7\nfor last; do :; done\neval \"exec $last\"\n";

/// How long ago the last look was when the remote is due again.
const LONG_AGO_MILLIS: u128 = 7_000;

/// The figures of one occasion.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Occasion {
    pub(crate) name: &'static str,
    /// The median, from spawn to exit.
    pub(crate) milliseconds: f64,
    /// The same in medians of `/bin/true` between the runs.
    pub(crate) system_true: f64,
}

/// Measures every occasion.
pub(crate) fn measure(plugin: &Path, folder: &Path) -> Result<Vec<Occasion>> {
    let desk = Desk::set(plugin, &folder.join("occasions"))?;
    let hanging_ssh = desk.ssh("hanging", HANGING_SSH)?;
    let hanging: &[(&str, &str)] = &[("GIT_SSH_COMMAND", &hanging_ssh), ("WYREN_SYNC_SECONDS", "2")];
    let slow_ssh = desk.ssh("slow", SLOW_SSH)?;
    let slow: &[(&str, &str)] = &[("GIT_SSH_COMMAND", &slow_ssh)];
    let counting: &[(&str, &str)] =
        &[("GIT_SSH_COMMAND", &slow_ssh), ("WYREN_TURNS_THRESHOLD", "10000"), ("WYREN_IDLE_MS", "86400000")];
    let slow_remote = format!("ssh://localhost{}", folder.join("occasions/remote.git").display());
    desk.begin_contexts(CONTEXTS)?;
    let mut occasions = vec![
        desk.time("session-start-memory, remote answers", RUNS, "session-start-memory", &[], || {
            desk.forget()
        })?,
        desk.time("session-start-memory, remote hangs", RUNS, "session-start-memory", hanging, || {
            desk.point_to("ssh://nowhere.invalid/x.git")?;
            desk.forget()
        })?,
        desk.time("prompt-sync, remote hangs", RUNS, "prompt-sync", hanging, || desk.forget())?,
        desk.time("prompt-sync, quick remote hangs", RUNS, "prompt-sync", hanging, || {
            desk.have_answered_in(40)
        })?,
        desk.time("prompt-sync, remote is left alone", SHORT_RUNS, "prompt-sync", hanging, || {
            desk.be_failing()
        })?,
        desk.time("prompt-bind, 1000 contexts", SHORT_RUNS, "prompt-bind", &[], || desk.unbind())?,
        desk.time("precompact-handoff, 2 MB of 50 MB", RUNS, "precompact-handoff", &[], || {
            desk.have_compacted(Some(SINCE_BYTES))
        })?,
        desk.time("precompact-handoff, 50 MB", RUNS, "precompact-handoff", &[], || {
            desk.have_compacted(None)
        })?,
        desk.time("stop-distill, worker started", SHORT_RUNS, "stop-distill", &[], || desk.forget_turns())?,
    ];
    desk.point_to(&slow_remote)?;
    let be_slow = || desk.have_answered_in(700);
    occasions.push(desk.time("prompt-sync, remote needs 700 ms", SLOW_RUNS, "prompt-sync", slow, be_slow)?);
    desk.check_answer()?;
    occasions.push(desk.time("stop-distill, fetch begun", SHORT_RUNS, "stop-distill", counting, be_slow)?);
    desk.check_answer()?;
    Ok(occasions)
}

/// Lays the figures out.
pub(crate) fn table(occasions: &[Occasion]) -> Table {
    let mut table = Table::new(1, ["occasion", "ms", "× true"]);
    for occasion in occasions {
        table.row(vec![
            occasion.name.to_owned(),
            format!("{:.2}", occasion.milliseconds),
            format!("{:.2}", occasion.system_true),
        ]);
    }
    table
}

/// A clone with a team memory, and a remote beside it.
struct Desk {
    folder: PathBuf,
    bin: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

impl Desk {
    fn set(plugin: &Path, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let mut environment = program::world(folder, plugin)?;
        let settings = [
            ("GIT_AUTHOR_NAME", "bench"),
            ("GIT_AUTHOR_EMAIL", "bench@localhost"),
            ("GIT_COMMITTER_NAME", "bench"),
            ("GIT_COMMITTER_EMAIL", "bench@localhost"),
            ("WYREN_MODEL_PROVIDER", "off"),
            ("WYREN_WORKER_IDLE_SECONDS", "0"),
            ("WYREN_FETCH_SECONDS", "0"),
            ("WYREN_TURNS_THRESHOLD", "1"),
        ];
        environment.extend(settings.map(|(name, value)| (name, value.into())));
        let desk = Self { folder: folder.to_owned(), bin: plugin.join("bin"), environment };
        desk.git(folder, &["init", "--quiet", "--bare", "--initial-branch=main", "remote.git"])?;
        desk.git(folder, &["clone", "--quiet", "remote.git", "project"])?;
        desk.git(&desk.project(), &["commit", "--quiet", "--allow-empty", "--message", "begin"])?;
        desk.git(&desk.project(), &["push", "--quiet", "origin", "HEAD:main"])?;
        let wyren = desk.bin.join("wyren");
        run(desk.command(&wyren).args(["init", "--side"]).current_dir(desk.project()).stdout(Stdio::null()))?;
        let memory = desk.project().join(".wyren/memory.md");
        let mut text = fs::read_to_string(&memory)?;
        text.push_str("\n## Decisions\n");
        for number in 0..60 {
            text.push_str(&format!("- Decision {number} is about part {number} of the whole thing\n"));
        }
        fs::write(memory, text)?;
        run(desk.command(&wyren).arg("sync").current_dir(desk.project()).stdout(Stdio::null()))?;
        Ok(desk)
    }

    /// Prepares, runs a hook, and `/bin/true` after it, as often as wanted.
    fn time(
        &self,
        name: &'static str,
        runs: usize,
        hook: &str,
        environment: &[(&str, &str)],
        prepare: impl Fn() -> Result<()>,
    ) -> Result<Occasion> {
        let stdin = self.folder.join("stdin");
        fs::write(&stdin, self.event(hook).to_string())?;
        let (mut ours, mut trues) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            self.wait_for_peace()?;
            prepare()?;
            let mut command = self.command(&self.bin.join(hook));
            command.envs(environment.iter().copied()).stdin(File::open(&stdin)?).stdout(Stdio::null());
            ours.push(timed(&mut command).with_context(|| format!("could not run {name}"))?);
            trues.push(timed(Command::new("/bin/true").env_clear())?);
        }
        self.wait_for_peace()?;
        let milliseconds = median(&ours);
        Ok(Occasion { name, milliseconds, system_true: milliseconds / median(&trues) })
    }

    /// Lets no occasion know of the one before: no fetch, no session, no turn.
    fn forget(&self) -> Result<()> {
        let state = self.project().join(".wyren/state");
        for name in ["fetch.json", "ups-state.json", "last-injected-memory.md", "watermark.json"] {
            remove(&state.join(name))?;
        }
        match fs::remove_dir_all(state.join("sessions")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Has the next turn be the one that starts a worker.
    fn forget_turns(&self) -> Result<()> {
        let state = self.project().join(".wyren/state");
        remove(&state.join("watermark.json"))?;
        remove(&state.join("distill-trigger.lock"))?;
        remove(&self.folder.join("data/worker.started"))
    }

    /// Begins contexts, and takes them in.
    fn begin_contexts(&self, count: usize) -> Result<()> {
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", self.folder.join("data"))]));
        let project = self.project();
        for number in 0..count {
            let session = format!("5f0c1a52-0000-4000-8000-{number:012}");
            let writer = Writer::new(&paths, Place::in_session(&session, &project), Timestamp::now());
            writer.make(&format!("Move part {number} into a crate"), |summary| Action::New {
                summary,
                tags: Vec::new(),
                method: "manual".to_owned(),
                bind: true,
                permission_mode: None,
            })?;
        }
        let mut store = journal::open_store(&paths)?;
        Drain::unbounded(&Spool::new(paths.spool())).run(&mut store, Timestamp::now())?;
        Ok(())
    }

    /// Has the session look for its context again.
    fn unbind(&self) -> Result<()> {
        for folder in ["data/spool", "data/work/.sessions"] {
            match fs::remove_dir_all(self.folder.join(folder)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Has the remote have failed a moment ago.
    fn be_failing(&self) -> Result<()> {
        let now = std::time::UNIX_EPOCH.elapsed()?.as_millis();
        let state = json!({
            "v": 1, "mode": "side", "remote": "origin", "branch": "wyren/memory", "fetched_at": 0,
            "tried_at": now, "failures": 1, "retry_at": now + 60_000, "error": "no answer",
        });
        Ok(fs::write(self.fetch_state(), state.to_string())?)
    }

    /// Has the remote have answered a while ago, after so many milliseconds.
    fn have_answered_in(&self, took: u64) -> Result<()> {
        let at = std::time::UNIX_EPOCH.elapsed()?.as_millis() - LONG_AGO_MILLIS;
        let state = json!({
            "v": 1, "mode": "side", "remote": "origin", "branch": "wyren/memory", "fetched_at": at, "tried_at": at,
            "took_ms": took,
        });
        Ok(fs::write(self.fetch_state(), state.to_string())?)
    }

    /// Checks that what the last hook began got the remote's answer, and that it was no quick one.
    fn check_answer(&self) -> Result<()> {
        let state: Value = serde_json::from_slice(&fs::read(self.fetch_state())?)?;
        let ago = std::time::UNIX_EPOCH.elapsed()?.as_millis()
            - u128::from(state["fetched_at"].as_u64().unwrap_or_default());
        ensure!(ago < LONG_AGO_MILLIS && state["took_ms"].as_u64() >= Some(700), "no answer: {state}");
        Ok(())
    }

    fn fetch_state(&self) -> PathBuf {
        self.project().join(".wyren/state/fetch.json")
    }

    fn point_to(&self, address: &str) -> Result<()> {
        self.git(&self.project(), &["remote", "set-url", "origin", address])
    }

    /// Writes a program that git takes for ssh by its name.
    fn ssh(&self, folder: &str, script: &str) -> Result<String> {
        let path = self.folder.join(folder).join("ssh");
        fs::create_dir_all(self.folder.join(folder))?;
        fs::write(&path, script)?;
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok(path.display().to_string())
    }

    /// Waits until nothing that an earlier run started is running: its sync and its worker.
    fn wait_for_peace(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let marker = format!("WYREN_DATA_DIR={}", self.folder.join("data").display());
        while is_anybody_there(&marker) {
            ensure!(Instant::now() < deadline, "something that a hook started does not end");
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Leaves a long transcript, with a compaction so many bytes before its end, or with none.
    fn have_compacted(&self, since: Option<usize>) -> Result<()> {
        let mark = self.folder.join(format!("{COMPACTED}-{}", since.unwrap_or_default()));
        if mark.exists() {
            return Ok(());
        }
        let mut file = File::create(self.folder.join(COMPACTED))?;
        file.write_all(turns(TRANSCRIPT_BYTES - since.unwrap_or_default()).as_bytes())?;
        if let Some(since) = since {
            let boundary = json!({
                "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "uuid": "b",
                "compactMetadata": {"trigger": "auto", "preTokens": 160_000},
            });
            file.write_all(format!("{boundary}\n{}", turns(since)).as_bytes())?;
        }
        Ok(fs::write(mark, "")?)
    }

    fn event(&self, hook: &str) -> Value {
        let name = match hook {
            "session-start-memory" => "SessionStart",
            "prompt-sync" | "prompt-bind" => "UserPromptSubmit",
            "precompact-handoff" => "PreCompact",
            _ => "Stop",
        };
        let transcript = if name == "PreCompact" { COMPACTED } else { "transcript.jsonl" };
        json!({
            "session_id": "bench", "cwd": self.project(), "hook_event_name": name, "source": "startup",
            "prompt": "go on", "trigger": "manual", "transcript_path": self.folder.join(transcript),
        })
    }

    fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> Result<()> {
        run(self.command(Path::new("git")).args(arguments).current_dir(folder).stderr(Stdio::null()))
    }
}

/// Returns turns of about this many bytes together: a prompt, a command with 40 KB of output, an edit and an answer each.
fn turns(bytes: usize) -> String {
    let output = "test cart::adds_cents ... ok, as it was \"before\"\n".repeat(800);
    let mut text = String::new();
    for turn in 0.. {
        if text.len() >= bytes {
            break;
        }
        let (run, edit) = (format!("toolu_r{turn}"), format!("toolu_e{turn}"));
        let call = |id: &str, name: &str, input: Value| json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}});
        let result = |id: &str, content: &str| json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": content}]}});
        let file = format!("/home/dev/shop/src/cart_{}.rs", turn % 50);
        let records = [
            json!({"type": "user", "message": {"role": "user", "content": format!("Now the cart of country {turn}.")}}),
            call(&run, "Bash", json!({"command": format!("cargo test -p cart country_{turn}")})),
            result(&run, &output),
            call(&edit, "Edit", json!({"file_path": file, "old_string": "f64", "new_string": "i64"})),
            result(&edit, "The file has been updated."),
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": format!("Country {turn} counts in cents.")}],
                "usage": {"input_tokens": 12, "cache_read_input_tokens": 90_000, "output_tokens": 400}}}),
        ];
        for record in records {
            text.push_str(&format!("{record}\n"));
        }
    }
    text
}

/// Runs a command; returns the milliseconds that it took.
fn timed(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let status = command.stderr(Stdio::null()).spawn().and_then(|mut child| child.wait())?;
    let elapsed = start.elapsed();
    ensure!(status.success(), "{status}");
    Ok(elapsed.as_secs_f64() * 1e3)
}

fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Returns whether a process with this variable runs; only Linux can tell.
fn is_anybody_there(variable: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("environ")).ok())
        .any(|environment| environment.split(|byte| *byte == 0).any(|found| found == variable.as_bytes()))
}
