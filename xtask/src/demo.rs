//! Plays a short day through the real programs, in a temporary folder, and prints what Claude would see.

use crate::picture::{Ink, Picture};
use crate::plugin;
use crate::workspace::{read, run};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a fetch from the same disk may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(20);

/// How many lines of a text the demo shows.
const SHOWN_LINES: usize = 16;

/// The turn of work that the demo records.
const REQUEST: &str = "Expired tokens are accepted. Fix that";
const SIGNATURE: &str = "fn verify_token(token: &str) -> Result<Claims>";
const BEFORE: &str = "    Ok(claims)";
const AFTER: &str = "    check_expiry(&claims)?;";
const ANSWER: &str = "Fixed. We decided to compare with the server's clock, since clients' clocks drift.\n\n\
     Next step: shorten the lifetime to an hour.";

/// What the model of the demo leaves for the next session.
const HANDOFF: &str = "\
# Expired tokens are refused
## Completed work
src/auth.rs compares with the server's clock; cargo test passes
## Dead ends
Checking in the middleware: it has no claims yet
## Pending
- shorten the lifetime to an hour: begin with `cargo test lifetime`
";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Draw the picture of the README into this file instead of printing the day.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

/// Builds the plugin and plays the day.
pub(crate) fn run_demo(arguments: &Arguments) -> Result<()> {
    // A picture shows how quick the programs are that ship.
    let is_to_show = arguments.picture.is_none();
    let plugin = if is_to_show { plugin::assemble_to_show()? } else { plugin::assemble()? };
    let folder = tempfile::tempdir().context("could not make a temporary folder")?;
    let stage = Stage {
        bin: plugin.join("bin"),
        folder: folder.path().to_owned(),
        cwd: folder.path().to_owned(),
        data: folder.path().join("data"),
        session: "demo",
    };
    let Some(file) = &arguments.picture else { return play(&stage) };
    std::fs::write(file, draw(&stage)?).with_context(|| format!("could not write {}", file.display()))
}

fn play(stage: &Stage) -> Result<()> {
    heading("Morning: a session starts");
    stage.session_start("startup")?;
    heading("The user asks for something, and it is recorded");
    stage.hook("prompt-record", &stage.prompt("Clean up the build and push it"))?;
    heading("The model is about to do something that is nearly always wrong: a guard refuses");
    stage.shell("git push --force origin main")?;
    heading("Something that deserves a second thought: a pause refuses once, and lets the repeat through");
    stage.shell("git reset --hard HEAD~1")?;
    stage.shell("git reset --hard HEAD~1")?;
    heading("Something ordinary: no lesson matches, no output");
    stage.shell("cargo build --release && ls -la target/release")?;
    heading("What the shell said is recorded, secrets taken out");
    let key = concat!("gh", "p_abcdefghijklmnopqrstuvwxyz0123456789");
    let output = json!({
        "tool_name": "Bash", "tool_use_id": "toolu_demo", "tool_input": {"command": "printenv GITHUB_TOKEN"},
        "tool_response": {"stdout": key},
    });
    stage.hook("tool-record", &stage.event("PostToolUse", output))?;
    print!("{}", stage.wyren(&["export"])?);
    heading(
        "The same session goes on after a break: its window still holds the text, so nothing is repeated",
    );
    stage.session_start("resume")?;
    heading("A bad day: half a payload arrives. The hook fails open, and says so in its log");
    stage.hook("session-start-lessons", r#"{"session_id": "demo", "sour"#)?;
    let desk = journal(stage)?;
    work(&desk)?;
    learning(stage)?;
    team(stage)?;
    heading("What the hooks did: wyren log --hooks");
    print!("{}", stage.wyren(&["log", "--hooks"])?);
    println!("\nNothing was left behind: the day took place in {}", stage.folder.display());
    Ok(())
}

/// Returns the picture of the README: a decision on its way to a teammate, a call that is refused, what was done, and where to go
/// on.
fn draw(stage: &Stage) -> Result<String> {
    let (ada, bob) = clones(stage)?;
    let mut picture = Picture::default();
    ada.wyren(&["init"])?;
    ada.wyren(&["sync"])?;
    picture.add(Ink::Person, "", "Ada, in her clone");
    let decision = "Prices are integer cents, because float sums drifted";
    picture.add(Ink::Typed, "$ ", &format!("wyren memory add '{decision}'"));
    picture.add(Ink::Said, "  ", ada.wyren(&["memory", "add", decision])?.trim_end());

    let start = bob.event("SessionStart", json!({"source": "startup"}));
    // He has had a session before, which said what Wyren does.
    let elsewhere = Stage { cwd: stage.folder.clone(), ..bob.clone() };
    elsewhere
        .answer("session-start-memory", &elsewhere.event("SessionStart", json!({"source": "startup"})))?;
    picture.gap();
    picture.add(
        Ink::Person,
        "",
        "Bob starts a session in his clone: he reads the green line, Claude the grey ones",
    );
    bob.drawn(&mut picture, "session-start-memory", &start)?;

    picture.gap();
    picture.add(Ink::Person, "", "Claude is about to run a command");
    for command in ["git push --force origin main", "git push origin HEAD:cents"] {
        picture.add(Ink::Typed, "$ ", command);
        bob.drawn(&mut picture, "lesson-inject", &bob.call(command))?;
    }

    picture.gap();
    picture.add(Ink::Person, "", "Bob's git is as it was");
    picture.add(Ink::Typed, "$ ", "git status --short --branch");
    picture.add(Ink::Context, "  ", bob.git_status()?.trim_end());

    let desk = ada;
    desk.turn(&desk.cwd.join("src/auth.rs"))?;
    desk.end()?;
    let next = Stage { session: "the next one", ..desk };
    picture.gap();
    picture.add(Ink::Person, "", "Ada, the next day: what was done, and what is open");
    picture.add(Ink::Typed, "$ ", "wyren recap");
    picture.add(Ink::Said, "  ", next.wyren(&["recap"])?.trim_end());
    picture.add(Ink::Typed, "> ", "^");
    let answer = next.answer("prompt-bind", &next.prompt("^"))?;
    let list = answer.json["reason"].as_str().context("prompt-bind did not answer `^`")?;
    // Below the contexts is what to type.
    let (contexts, _) = list.rsplit_once("\n\n").context("`^` has no usage")?;
    picture.add(Ink::Said, "  ", &contexts.replace("\n\n", "\n"));
    Ok(picture.svg("Wyren: what one session decides, the next one knows"))
}

/// Makes the clones of two members of a team.
fn clones(stage: &Stage) -> Result<(Stage, Stage)> {
    let remote = stage.folder.join("acme/shop.git");
    let address = remote.display().to_string();
    git(&stage.folder, &["init", "--quiet", "--bare", "--initial-branch=main", &address])?;
    let [ada, bob] =
        [("ada", "Ada"), ("bob", "Bob")].map(|(folder, name)| (stage.member(folder), folder, name));
    for (member, folder, name) in [&ada, &bob] {
        git(&stage.folder, &["clone", "--quiet", &address, folder])?;
        git(&member.cwd, &["config", "user.name", name])?;
        git(&member.cwd, &["config", "user.email", &format!("{folder}@localhost")])?;
        if *name == "Ada" {
            git(&member.cwd, &["commit", "--quiet", "--allow-empty", "--message", "begin"])?;
            git(&member.cwd, &["push", "--quiet", "origin", "HEAD:main"])?;
        }
    }
    Ok((ada.0, bob.0))
}

/// Plays what two members of a team get of each other: two clones of one remote.
fn team(stage: &Stage) -> Result<()> {
    let (ada, bob) = clones(stage)?;
    heading("A team: Ada sets a memory up in her clone; nothing of it shows in code review");
    print!("{}", ada.wyren(&["init"])?);
    let memory = ada.cwd.join(".wyren/memory.md");
    let text = std::fs::read_to_string(&memory)?;
    std::fs::write(&memory, format!("{text}\n## Decisions\n- Queue: Postgres, not Redis\n"))?;
    print!("{}", ada.wyren(&["sync"])?);
    heading("Bob starts a session in his clone, without any set-up: the memory is there");
    let start = bob.event("SessionStart", json!({"source": "startup"}));
    bob.hook("session-start-memory", &start)?;
    heading(
        "Ada decides something else. Bob's prompt does not wait for the network; his next tool result brings it",
    );
    let text = std::fs::read_to_string(&memory)?;
    std::fs::write(&memory, text + "- Retries: three, then the dead letter\n")?;
    print!("{}", ada.wyren(&["sync"])?);
    let prompt = bob.prompt("Write the consumer");
    bob.hook("prompt-sync", &prompt)?;
    bob.wait_for_news()?;
    let call =
        json!({"prompt_id": "1", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {}});
    bob.hook("context-monitor", &bob.event("PostToolUse", call))?;
    heading("The prompt after that: nothing new, nothing said");
    bob.hook("prompt-sync", &prompt)?;
    heading("Bob's git is as it was: git status --short --branch");
    print!("{}", bob.git_status()?);
    Ok(())
}

/// Plays a turn of work, and what is left of it for a stand-up, for the next session and for one that reads the file; returns where
/// it was done.
fn journal(stage: &Stage) -> Result<Stage> {
    let desk = stage.member("shop");
    let file = desk.cwd.join("src/auth.rs");
    std::fs::create_dir_all(desk.cwd.join("src"))?;
    git(&desk.cwd, &["init", "--quiet", "--initial-branch=main"])?;
    std::fs::write(&file, format!("{SIGNATURE} {{\n{AFTER}\n{BEFORE}\n}}\n"))?;
    heading("The journal: a turn of work is recorded, call by call, without a model");
    println!("  > {REQUEST}");
    desk.turn(&file)?;
    heading("What was done, for a stand-up: wyren recap");
    print!("{}", desk.wyren(&["recap"])?);
    heading("Everything that was recorded is found by its words: wyren search");
    print!("{}", desk.wyren(&["search", "clock", "drift"])?);
    heading("What the next session knows at its start");
    let next = Stage { session: "the next one", ..desk.clone() };
    next.hook("session-start-recall", &next.event("SessionStart", json!({"source": "startup"})))?;
    heading("And when it reads the file, once");
    let read = json!({"tool_name": "Read", "tool_use_id": "toolu_4", "tool_input": {"file_path": file}});
    next.hook("file-recall", &next.event("PreToolUse", read))?;
    Ok(desk)
}

/// Plays how work goes on in another session: a handoff, the list of what is open, and what the model gets of it.
fn work(desk: &Stage) -> Result<()> {
    heading("Before the session ends, /wyren:handoff: the model writes what the next one must know");
    print!("{}", desk.decide(&["handoff", "save", "--session-id", desk.session], HANDOFF)?);
    desk.end()?;
    let tomorrow = Stage { session: "tomorrow's", ..desk.clone() };
    heading("Tomorrow, in a new session. What was I at? The user types ^");
    tomorrow.hook("prompt-bind", &tomorrow.prompt("^"))?;
    heading("^1 goes on with it: the model gets the dead ends and what is pending");
    tomorrow.hook("prompt-bind", &tomorrow.prompt("^1"))
}

/// Plays how a mistake becomes a lesson: made, found, promoted, shown before it is made again, and counted.
fn learning(stage: &Stage) -> Result<()> {
    let desk = stage.member("engine");
    std::fs::create_dir_all(&desk.cwd)?;
    let (wrong, right) = ("cargo build --jobs-max 4", "cargo build --jobs 4");
    let error = "error: unexpected argument '--jobs-max' found";
    heading("Learning: a command fails, another form of it works. The hooks record both");
    desk.ran("toolu_1", "git status", Ok("nothing to commit"))?;
    desk.ran("toolu_2", wrong, Err(error))?;
    desk.ran("toolu_3", right, Ok("Finished"))?;
    desk.ran("toolu_4", "cargo test", Ok("test result: ok. 8 passed"))?;
    println!("  $ {wrong}\n    {error}\n  $ {right}\n    Finished");
    heading("Once a day, in the background, or now: wyren lessons scan");
    print!("{}", desk.wyren(&["lessons", "scan"])?);
    heading("A person decides, with one key: wyren lessons review");
    print!("{}", desk.decide(&["lessons", "review"], "p\n")?);
    heading("The next session makes the same mistake: the lesson comes with the call");
    let tomorrow = Stage { session: "the next one", ..desk };
    let again = "cargo build --jobs-max 8";
    tomorrow.shell(again)?;
    tomorrow.ran("toolu_demo", again, Err(error))?;
    heading("It uses the other form, and the lesson counts as heeded: wyren lessons stats");
    // Three calls of the program tell whether a hint helped.
    for (id, command) in
        [("toolu_5", "cargo build --jobs 8"), ("toolu_6", "cargo test"), ("toolu_7", "cargo clippy")]
    {
        println!("  $ {command}");
        tomorrow.ran(id, command, Ok("ok"))?;
    }
    print!("{}", tomorrow.wyren(&["lessons", "stats"])?);
    Ok(())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    // A clone of an empty repository is worth a warning to git, not to us.
    run(Command::new("git").args(arguments).current_dir(folder).stderr(Stdio::null()))
}

/// Where the day takes place.
#[derive(Clone)]
struct Stage {
    bin: PathBuf,
    folder: PathBuf,
    /// The folder of the session.
    cwd: PathBuf,
    data: PathBuf,
    /// The session's id.
    session: &'static str,
}

impl Stage {
    /// Returns the stage of a member of a team: a machine of their own.
    fn member(&self, name: &str) -> Self {
        Self {
            bin: self.bin.clone(),
            folder: self.folder.clone(),
            cwd: self.folder.join(name),
            data: self.folder.join(format!("data-of-{name}")),
            session: self.session,
        }
    }

    fn session_start(&self, source: &str) -> Result<()> {
        let event = self.event("SessionStart", json!({"source": source}));
        for hook in ["session-start-reset", "session-start-lessons"] {
            self.hook(hook, &event)?;
        }
        Ok(())
    }

    /// Has the model about to run a command.
    fn shell(&self, command: &str) -> Result<()> {
        println!("  $ {command}");
        self.hook("lesson-inject", &self.call(command))
    }

    /// Returns the event of a command that the model is about to run.
    fn call(&self, command: &str) -> String {
        let call =
            json!({"tool_name": "Bash", "tool_use_id": "toolu_demo", "tool_input": {"command": command}});
        self.event("PreToolUse", call)
    }

    /// Has the hooks record a turn of work: a test that fails, an edit of `file`, the test that passes.
    fn turn(&self, file: &Path) -> Result<()> {
        for hook in ["prompt-record", "prompt-bind"] {
            self.answer(hook, &self.prompt(REQUEST))?;
        }
        let lines = [format!(" {SIGNATURE} {{"), format!("+{AFTER}"), format!(" {BEFORE}")];
        let patch = json!([{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 3, "lines": lines}]);
        let edit = json!({
            "tool_name": "Edit", "tool_use_id": "toolu_2",
            "tool_input": {"file_path": file, "old_string": BEFORE, "new_string": format!("{AFTER}\n{BEFORE}")},
            "tool_response": {"filePath": file, "structuredPatch": patch},
        });
        self.ran("toolu_1", "cargo test", Ok("test result: FAILED. 7 passed; 1 failed"))?;
        self.answer("tool-record", &self.event("PostToolUse", edit))?;
        self.ran("toolu_3", "cargo test", Ok("test result: ok. 8 passed"))?;
        self.answer("stop-summary", &self.event("Stop", json!({"last_assistant_message": ANSWER})))?;
        Ok(())
    }

    /// Ends the session.
    fn end(&self) -> Result<()> {
        self.answer("session-end", &self.event("SessionEnd", json!({"reason": "prompt_input_exit"})))
            .map(drop)
    }

    /// Returns the event of a prompt.
    fn prompt(&self, text: &str) -> String {
        self.event("UserPromptSubmit", json!({"prompt": text}))
    }

    fn git_status(&self) -> Result<String> {
        read(Command::new("git").args(["status", "--short", "--branch"]).current_dir(&self.cwd))
    }

    /// Returns an event of the day's session as the client would send it.
    fn event(&self, name: &str, fields: Value) -> String {
        let mut event = json!({"session_id": self.session, "cwd": self.cwd, "hook_event_name": name});
        if let (Some(event), Some(fields)) = (event.as_object_mut(), fields.as_object()) {
            event.extend(fields.clone());
        }
        event.to_string()
    }

    /// Feeds `input` to a hook and prints what Claude would see of its answer.
    fn hook(&self, hook: &str, input: &str) -> Result<()> {
        let answer = self.answer(hook, input)?;
        println!("  {hook}: exit {}, {:.1} ms", answer.exit_code, answer.millis);
        let line = answer.json["systemMessage"].as_str().or(answer.json["reason"].as_str());
        if let Some(line) = line {
            println!("    the user reads:");
            print_quoted(line);
        }
        match said(&answer.json) {
            Some((how, text)) => {
                println!("    {how}");
                print_quoted(&text);
            }
            None if line.is_none() => println!("    (says nothing)"),
            None => {}
        }
        Ok(())
    }

    /// Feeds `input` to a hook and draws what the user and Claude would see of its answer.
    fn drawn(&self, picture: &mut Picture, hook: &str, input: &str) -> Result<()> {
        let answer = self.answer(hook, input)?;
        if let Some(line) = answer.json["systemMessage"].as_str() {
            picture.add(Ink::Said, "  ", line);
        }
        let silence = match said(&answer.json) {
            Some(("refused:", text)) => {
                picture.add(Ink::Refused, "  ", &text);
                ""
            }
            Some((_, text)) => {
                picture.add(Ink::Context, "  ", &text);
                ""
            }
            None => ", says nothing",
        };
        picture.add(Ink::Quiet, "  ", &format!("{hook}: {:.1} ms{silence}", answer.millis));
        Ok(())
    }

    fn answer(&self, hook: &str, input: &str) -> Result<Answer> {
        let started = Instant::now();
        let mut child = self
            .command(hook)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start {hook}"))?;
        child.stdin.take().context("no standard input")?.write_all(input.as_bytes())?;
        let output = child.wait_with_output()?;
        Ok(Answer {
            exit_code: output.status.code().unwrap_or(-1),
            millis: started.elapsed().as_secs_f64() * 1_000.0,
            json: serde_json::from_slice(&output.stdout).unwrap_or_default(),
        })
    }

    /// Waits until the fetch that a prompt began has brought something.
    fn wait_for_news(&self) -> Result<()> {
        let deadline = Instant::now() + FETCH_TIMEOUT;
        let has_news =
            || self.data.join("cache/news").read_dir().is_ok_and(|mut notes| notes.next().is_some());
        while !has_news() {
            ensure!(Instant::now() < deadline, "the fetch of the prompt brought nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Has the hooks record a command that ran.
    fn ran(&self, id: &str, command: &str, result: Result<&str, &str>) -> Result<()> {
        let mut call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}});
        let event = match result {
            Ok(stdout) => {
                call["tool_response"] = json!({"stdout": stdout});
                "PostToolUse"
            }
            Err(error) => {
                call["error"] = format!("Exit code 1\n{error}").into();
                "PostToolUseFailure"
            }
        };
        self.answer("tool-record", &self.event(event, call)).map(drop)
    }

    fn wyren(&self, arguments: &[&str]) -> Result<String> {
        read(self.command("wyren").args(arguments))
    }

    /// Runs a command that reads standard input, as a person would.
    fn decide(&self, arguments: &[&str], answers: &str) -> Result<String> {
        let mut command = self.command("wyren");
        for shell in &base::env::SHELLS {
            command.env_remove(shell.variable);
        }
        let mut child = command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("could not start wyren")?;
        child.stdin.take().context("no standard input")?.write_all(answers.as_bytes())?;
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "wyren {} failed", arguments.join(" "));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Returns a command that finds all of its files on the stage.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)));
        command
            .current_dir(&self.cwd)
            .env("WYREN_DATA_DIR", &self.data)
            // No transcript of the user's own is read.
            .env("CLAUDE_CONFIG_DIR", self.folder.join("client"))
            // The demo does not wait: every prompt looks at the remote.
            .env("WYREN_FETCH_SECONDS", "0")
            .env("WYREN_WORKER_IDLE_SECONDS", "0")
            .env("XDG_RUNTIME_DIR", &self.folder)
            .env("CLAUDE_PLUGIN_ROOT", self.bin.parent().unwrap_or(Path::new(".")));
        command
    }
}

/// What a hook did with an event.
struct Answer {
    exit_code: i32,
    millis: f64,
    /// `null` when it says nothing.
    json: Value,
}

/// Returns how Claude sees an answer, and what it sees.
fn said(answer: &Value) -> Option<(&'static str, String)> {
    let specific = &answer["hookSpecificOutput"];
    let text = |field: &str| specific[field].as_str().map(str::to_owned);
    let denied = text("permissionDecisionReason").map(|reason| ("refused:", reason));
    denied.or_else(|| Some(("context:", text("additionalContext")?)))
}

fn heading(text: &str) {
    println!("\n── {text}");
}

fn print_quoted(text: &str) {
    for line in text.lines().take(SHOWN_LINES) {
        println!("    │ {line}");
    }
    let more = text.lines().count().saturating_sub(SHOWN_LINES);
    if more > 0 {
        println!("    │ … and {more} more lines");
    }
}
