//! Pipes, devices, links, foreign folders and a `.git` that leads elsewhere: no program waits for one, fills the memory with
//! it, shows what is behind it or publishes through it.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use wyren_tests::sandbox::Sandbox;

use crate::team::{Member, Mode, Remote, git};
use crate::worker::wait_for;

/// How long a program may run before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most memory that a program may have taken, in KiB.
const MAX_MEMORY: u64 = 200 * 1024;

/// The address space that programs get, in KiB, so that a failure of these tests spares the machine.
const ADDRESS_SPACE: &str = "1500000";

/// Another user of the machine.
const STRANGER: u32 = 12_345;

/// The commands that a user may type.
const COMMANDS: [&[&str]; 8] = [
    &["status"],
    &["memory"],
    &["memory", "history"],
    &["log"],
    &["sync"],
    &["doctor"],
    &["config"],
    &["lessons", "list"],
];

/// A hook with the fields of its event.
type Event = (&'static str, &'static str, serde_json::Value);

fn events() -> Vec<Event> {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "frobnicate"}, "tool_use_id": "t1"});
    vec![
        ("session-start-lessons", "SessionStart", json!({"source": "startup"})),
        ("session-start-memory", "SessionStart", json!({"source": "startup"})),
        ("prompt-sync", "UserPromptSubmit", json!({"prompt": "go on"})),
        ("lesson-inject", "PreToolUse", call.clone()),
        ("tool-record", "PostToolUse", {
            let mut result = call;
            result["tool_response"] = json!({"stdout": "done"});
            result
        }),
        ("subagent-start-lessons", "SubagentStart", json!({"agent_id": "a1", "agent_type": "Explore"})),
        ("stop-distill", "Stop", json!({})),
        ("session-end", "SessionEnd", json!({"reason": "other"})),
    ]
}

fn input(sandbox: &Sandbox, cwd: &Path, session: &str, (_, name, fields): &Event) -> String {
    let mut event = json!({
        "session_id": session, "cwd": cwd, "hook_event_name": name,
        "transcript_path": sandbox.folder().join(format!("{session}.jsonl")),
    });
    if let (Some(event), Some(fields)) = (event.as_object_mut(), fields.as_object()) {
        event.extend(fields.clone());
    }
    event.to_string()
}

/// A program that runs within bounds.
struct Run {
    name: String,
    child: Child,
    peak: u64,
    is_hanging: bool,
    output: PathBuf,
}

impl Run {
    fn start(sandbox: &Sandbox, program: &str, arguments: &[&str], cwd: &Path, input: &str) -> Result<Self> {
        let whole = sandbox.command(program);
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit -v {ADDRESS_SPACE}; exec \"$0\" \"$@\"")])
            .arg(whole.get_program())
            .args(arguments)
            .current_dir(cwd)
            .env_clear()
            .envs(whole.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("WYREN_WORKER_IDLE_SECONDS", "0")
            .env("WYREN_MODEL_PROVIDER", "off");
        let name = format!("{program} {}", arguments.join(" "));
        let output = tempfile::NamedTempFile::new()?.into_temp_path().keep()?;
        let file = fs::File::create(&output)?;
        command.stdin(Stdio::piped()).stdout(file.try_clone()?).stderr(file);
        let mut child = command.spawn()?;
        let _ = child.stdin.take().context("no standard input")?.write_all(input.as_bytes());
        Ok(Self { name, child, peak: 0, is_hanging: false, output })
    }

    /// Returns what it printed, on either stream.
    fn printed(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.output).unwrap_or_default()).into_owned()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.output);
    }
}

/// Waits for the end of all, and kills what still runs when [`PATIENCE`] is over.
fn finish(runs: &mut [Run]) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut is_done = true;
        for run in runs.iter_mut() {
            let status = fs::read_to_string(format!("/proc/{}/status", run.child.id())).unwrap_or_default();
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let peak = peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok());
            run.peak = run.peak.max(peak.unwrap_or_default());
            if run.child.try_wait()?.is_none() {
                is_done = false;
                if Instant::now() >= deadline {
                    run.is_hanging = true;
                    run.child.kill()?;
                }
            }
        }
        if is_done {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns what is wrong with programs that have ended.
fn complaints(place: &str, runs: &mut [Run]) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for run in runs {
        let signal = run.child.wait()?.signal();
        if run.is_hanging {
            complaints.push(format!("{place}: {} hangs", run.name));
        } else if let Some(signal) = signal {
            complaints.push(format!("{place}: {} ended by signal {signal}", run.name));
        }
        if run.peak > MAX_MEMORY {
            complaints.push(format!("{place}: {} took {} KiB", run.name, run.peak));
        }
    }
    Ok(complaints)
}

fn make_pipe(path: &Path) -> Result<()> {
    ensure!(Command::new("mkfifo").arg(path).status()?.success(), "no pipe at {}", path.display());
    Ok(())
}

fn link_to_zero(path: &Path) -> Result<()> {
    Ok(symlink("/dev/zero", path)?)
}

/// Puts something else at a path for a while.
struct Planted {
    path: PathBuf,
    aside: Option<PathBuf>,
}

impl Planted {
    fn new(path: PathBuf, plant: fn(&Path) -> Result<()>) -> Result<Self> {
        fs::create_dir_all(path.parent().context("no folder")?)?;
        let aside = path.with_extension("aside");
        let aside = fs::rename(&path, &aside).is_ok().then_some(aside);
        plant(&path)?;
        Ok(Self { path, aside })
    }

    fn take_away(self) -> Result<()> {
        // A program may have replaced it by a file of its own, which is right.
        let _ = fs::remove_file(&self.path);
        if let Some(aside) = &self.aside {
            fs::rename(aside, &self.path)?;
        }
        Ok(())
    }
}

/// Everything that is read below `.wyren/` and `.git/` in side mode, for the session `s`.
const READ: [&str; 31] = [
    ".wyren/memory.md",
    ".wyren/log",
    ".wyren/config.toml",
    ".wyren/lessons/planted.md",
    ".wyren/broadcast/planted.md",
    ".wyren/broadcast/skills/planted.md",
    ".wyren/state/log.1",
    ".wyren/state/fetch.json",
    ".wyren/state/watermark.json",
    ".wyren/state/watermark.lock",
    ".wyren/state/watermark.spare",
    ".wyren/state/marks.json",
    ".wyren/state/ups-state.json",
    ".wyren/state/last-injected-memory.md",
    ".wyren/state/distill-trigger.lock",
    ".wyren/state/sync.lock",
    ".wyren/state/memory.lock",
    ".wyren/state/.lock",
    ".wyren/state/history.jsonl",
    ".wyren/state/held-back.json",
    ".wyren/state/folded.json",
    ".wyren/state/sessions/043a718774c572bd",
    ".git",
    ".git/HEAD",
    ".git/config",
    ".git/index",
    ".git/packed-refs",
    ".git/commondir",
    ".git/info/exclude",
    "CLAUDE.md",
    ".gitignore",
];

/// What is read in branch mode besides.
const READ_BESIDE: [&str; 6] = [
    ".wyren/memory.md",
    ".wyren/state/memory.md",
    ".wyren/state/copy-of",
    ".wyren/state/folded.json",
    ".wyren/state/lessons/planted.md",
    ".wyren/state/broadcast/planted.md",
];

/// A clone with a memory of one entry, a lesson and a skill, whose session `s` has begun.
fn busy_clone(mode: Mode) -> Result<Option<(Remote, Member)>> {
    let remote = Remote::new(mode)?;
    let Some(member) = Member::set_up(&remote, "ada", mode)? else { return Ok(None) };
    member.decide("Use Postgres for the queue")?;
    member.start("s")?;
    member.prompt("s")?;
    wait_for("silence", || Ok(member.sandbox.processes().is_empty()))?;
    Ok(Some((remote, member)))
}

fn check_every_place(mode: Mode, places: &[&str], plant: fn(&Path) -> Result<()>) -> Result<()> {
    let Some((_remote, member)) = busy_clone(mode)? else { return Ok(()) };
    let clone = member.clone_folder();
    let (sandbox, mut found) = (&member.sandbox, Vec::new());
    for place in places {
        let planted = Planted::new(clone.join(place), plant)?;
        let mut runs = Vec::new();
        for arguments in COMMANDS {
            runs.push(Run::start(sandbox, "wyren", arguments, &clone, "")?);
        }
        let _ = fs::remove_file(sandbox.data().join("logs/hooks.jsonl"));
        for event in events() {
            runs.push(Run::start(sandbox, event.0, &[], &clone, &input(sandbox, &clone, "s", &event))?);
        }
        finish(&mut runs)?;
        found.extend(complaints(place, &mut runs)?);
        for line in sandbox.hook_log()? {
            if line["msg"].as_str().is_some_and(|message| message.starts_with("HOOK_DEADLINE")) {
                found.push(format!("{place}: {} reached its deadline", line["hook"]));
            }
        }
        if wait_for("silence", || Ok(sandbox.processes().is_empty())).is_err() {
            found.push(format!("{place}: a background process goes on"));
            sandbox.processes().into_iter().for_each(wyren_tests::process::kill);
        }
        planted.take_away()?;
    }
    assert!(found.is_empty(), "{found:#?}");
    // The memory is as it was.
    assert!(member.memory()?.contains("Use Postgres for the queue"));
    Ok(())
}

#[test]
fn a_pipe_keeps_no_command_hook_or_background_process_waiting() -> Result<()> {
    check_every_place(Mode::Side, &READ, make_pipe)?;
    check_every_place(Mode::Branch, &READ_BESIDE, make_pipe)
}

#[test]
fn a_file_without_an_end_fills_no_memory() -> Result<()> {
    check_every_place(Mode::Side, &READ, link_to_zero)?;
    check_every_place(Mode::Branch, &READ_BESIDE, link_to_zero)
}

#[test]
fn a_pipe_in_the_data_folder_keeps_no_command_waiting() -> Result<()> {
    let Some((_remote, member)) = busy_clone(Mode::Side)? else { return Ok(()) };
    let (sandbox, clone) = (&member.sandbox, member.clone_folder());
    let mut found = Vec::new();
    for place in ["config.toml", "cache/hooks.conf", "lessons/planted.md"] {
        let planted = Planted::new(sandbox.data().join(place), make_pipe)?;
        let mut runs = Vec::new();
        for arguments in COMMANDS {
            runs.push(Run::start(sandbox, "wyren", arguments, &clone, "")?);
        }
        let call = &events()[3];
        runs.push(Run::start(sandbox, call.0, &[], &clone, &input(sandbox, &clone, "s", call))?);
        finish(&mut runs)?;
        found.extend(complaints(place, &mut runs)?);
        planted.take_away()?;
    }
    assert!(found.is_empty(), "{found:#?}");
    Ok(())
}

/// Writes a transcript in which something is decided.
fn write_transcript(path: &Path, cwd: &Path, session: &str, what: &str) -> Result<()> {
    let said = [
        ("user", json!(format!("We decided to use {what}. Agreed, that is settled on."))),
        ("assistant", json!([{"type": "text", "text": format!("Understood: {what} it is.")}])),
    ];
    let mut text = String::new();
    for (number, (role, content)) in said.into_iter().enumerate() {
        let record = json!({
            "type": role, "uuid": format!("00000000-0000-4000-8000-{:012}", number + 1), "sessionId": session,
            "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": cwd,
            "timestamp": "2026-11-16T02:26:41.123Z", "message": {"role": role, "content": content},
        });
        text.push_str(&format!("{record}\n"));
    }
    Ok(fs::write(path, text)?)
}

#[test]
fn a_pipe_in_one_repository_keeps_no_other_from_being_distilled() -> Result<()> {
    let places = [
        "state/marks.json",
        "state/watermark.json",
        "state/watermark.lock",
        "state/distill.lock",
        "state/memory.lock",
        "state/plans/first.json",
        "state/intents/first.json",
        "memory.md",
    ];
    for place in places {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let session = |name: &str| -> Result<PathBuf> {
            let project = sandbox.folder().join(name);
            fs::create_dir_all(project.join(".wyren"))?;
            fs::write(project.join(".wyren/memory.md"), "# Wyren Memory\n")?;
            write_transcript(&sandbox.folder().join(format!("{name}.jsonl")), &project, name, "Postgres")?;
            Ok(project)
        };
        let (first, second) = (session("first")?, session("second")?);
        let script = sandbox.folder().join("script.jsonl");
        let operation = json!({"do": "add", "section": "Decisions", "text": "Postgres is the database", "confidence": 0.9, "turns": [1]});
        let answer = json!({"do": "answer", "answer": {"operations": [operation]}, "cost_usd": 0.001});
        fs::write(&script, format!("{answer}\n{answer}\n"))?;
        let stop = |project: &Path, name: &str| -> Result<()> {
            let event = ("stop-distill", "Stop", json!({}));
            let mut command = sandbox.command("stop-distill");
            command
                .env("WYREN_TURNS_THRESHOLD", "1")
                .env("WYREN_MODEL_SCRIPT", &script)
                .env("WYREN_WORKER_IDLE_SECONDS", "0")
                .env("WYREN_WORKER_RETRY_SECONDS", "600");
            let input = input(&sandbox, project, name, &event);
            let output = wyren_tests::sandbox::feed(&mut command, input.as_bytes())?;
            ensure!(output.status.success(), "{output:?}");
            Ok(())
        };
        let planted = Planted::new(first.join(".wyren").join(place), make_pipe)?;
        stop(&first, "first")?;
        stop(&second, "second")?;
        let memory = second.join(".wyren/memory.md");
        wait_for("the other repository's entry", || {
            Ok(fs::read_to_string(&memory).is_ok_and(|text| text.contains("Postgres is the database")))
        })
        .with_context(|| place.to_owned())?;
        wait_for("silence", || Ok(sandbox.processes().is_empty())).with_context(|| place.to_owned())?;
        planted.take_away()?;
    }
    Ok(())
}

const HINT: &str = "---\nsummary: STRANGERS-HINT\nkind: hint\ncommand: frobnicate\n---\nSTRANGERS-HINT\n\n## Solution\nSTRANGERS-HINT\n";
const DIRECTIVE: &str = "---\nsummary: STRANGERS-DIRECTIVE\nkind: directive\n---\nSTRANGERS-DIRECTIVE\n\n## Solution\nSTRANGERS-DIRECTIVE\n";

/// Fills a `.wyren/` with texts that can be recognised.
fn fill(wyren: &Path) -> Result<()> {
    for folder in ["lessons", "broadcast/skills", "state"] {
        fs::create_dir_all(wyren.join(folder))?;
    }
    fs::write(wyren.join("memory.md"), "# Wyren Memory\n\n## Decisions\n- STRANGERS-MEMORY\n")?;
    fs::write(wyren.join("broadcast/skills/s.md"), "STRANGERS-SKILL\n")?;
    fs::write(wyren.join("lessons/hint.md"), HINT)?;
    fs::write(wyren.join("lessons/directive.md"), DIRECTIVE)?;
    Ok(())
}

/// Returns what all hooks and some commands print in `cwd`.
fn everything(sandbox: &Sandbox, cwd: &Path, session: &str) -> Result<String> {
    let mut printed = String::new();
    for event in events() {
        let mut run = [Run::start(sandbox, event.0, &[], cwd, &input(sandbox, cwd, session, &event))?];
        finish(&mut run)?;
        printed.push_str(&run[0].printed());
    }
    for arguments in [&["memory"][..], &["lessons", "list"], &["log"], &["lessons", "show", "hint"]] {
        let mut run = [Run::start(sandbox, "wyren", arguments, cwd, "")?];
        finish(&mut run)?;
        printed.push_str(&run[0].printed());
    }
    wait_for("silence", || Ok(sandbox.processes().is_empty()))?;
    Ok(printed)
}

#[test]
fn what_a_link_at_or_below_the_memory_leads_to_is_not_shown() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    fs::create_dir_all(sandbox.folder().join("home"))?;
    let elsewhere = sandbox.folder().join("elsewhere");
    fill(&elsewhere)?;
    let linked = [
        "",
        "memory.md",
        "lessons",
        "broadcast",
        "broadcast/skills",
        "broadcast/skills/s.md",
        "lessons/hint.md",
    ];
    for (number, part) in linked.into_iter().enumerate() {
        for has_git in [true, false] {
            let project = sandbox.folder().join(format!("p{number}-{has_git}"));
            fs::create_dir_all(&project)?;
            if has_git {
                git(&project, &["init", "--quiet"])?;
            }
            let (link, target) = (project.join(".wyren").join(part), elsewhere.join(part));
            fs::create_dir_all(link.parent().context("no folder")?)?;
            symlink(&target, if part.is_empty() { project.join(".wyren") } else { link })?;
            let shown = everything(&sandbox, &project, &format!("s{number}{has_git}"))?;
            assert!(!shown.contains("STRANGERS"), "{part:?}: {shown}");
        }
    }
    Ok(())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Gives a folder with all that is in it to another user.
fn give_away(folder: &Path) -> Result<()> {
    let owner = format!("{STRANGER}:{STRANGER}");
    ensure!(Command::new("chown").args(["-R", &owner]).arg(folder).status()?.success(), "chown failed");
    Ok(())
}

/// Returns every file below a folder with its contents.
fn listing(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.clone(), fs::read(&path).unwrap_or_default()));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[test]
fn another_users_memory_is_neither_shown_nor_written_until_git_calls_its_folder_safe() -> Result<()> {
    if !is_root() {
        return Ok(());
    }
    for has_git in [true, false] {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let (home, theirs) = (sandbox.folder().join("home"), sandbox.folder().join("theirs"));
        fs::create_dir_all(&home)?;
        fs::create_dir_all(&theirs)?;
        if has_git {
            git(&theirs, &["init", "--quiet"])?;
        }
        fill(&theirs.join(".wyren"))?;
        give_away(&theirs)?;
        // The session runs in a folder of the user's own below it.
        let cwd = theirs.join("mine");
        fs::create_dir(&cwd)?;
        let before = listing(&theirs)?;
        let shown = everything(&sandbox, &cwd, "s")?;
        assert!(!shown.contains("STRANGERS"), "{has_git}: {shown}");
        assert_eq!(listing(&theirs)?, before, "{has_git}");
        for command in ["status", "doctor"] {
            let mut run = [Run::start(&sandbox, "wyren", &[command], &cwd, "")?];
            finish(&mut run)?;
            let printed = run[0].printed();
            assert!(printed.contains("belongs to another user"), "{has_git} {command}: {printed}");
            assert!(printed.contains("safe.directory"), "{has_git} {command}: {printed}");
        }
        let empty = sandbox.folder().join("empty");
        fs::create_dir_all(&empty)?;
        give_away(&empty)?;
        let mut run = [Run::start(&sandbox, "wyren", &["init"], &empty, "")?];
        finish(&mut run)?;
        let printed = run[0].printed();
        assert!(printed.contains("belongs to another user"), "{printed}");
        assert_eq!(fs::read_dir(&empty)?.count(), 0, "{printed}");
        let config = format!("[safe]\n\tdirectory = {}\n", theirs.canonicalize()?.display());
        fs::write(home.join(".gitconfig"), config)?;
        let shown = everything(&sandbox, &cwd, "t")?;
        assert!(shown.contains("STRANGERS-MEMORY") && shown.contains("STRANGERS-HINT"), "{has_git}: {shown}");
    }
    Ok(())
}

/// Starts a session in a folder that came out of an archive, and syncs by hand as well.
fn open_archive(member: &Member, folder: &Path) -> Result<String> {
    let mut printed = everything(&member.sandbox, folder, "s")?;
    for arguments in [&["sync"][..], &["memory", "handoff", "ATTACKERS-NOTE"], &["status"], &["doctor"]] {
        let mut run = [Run::start(&member.sandbox, "wyren", arguments, folder, "")?];
        finish(&mut run)?;
        printed.push_str(&run[0].printed());
    }
    wait_for("silence", || Ok(member.sandbox.processes().is_empty()))?;
    Ok(printed)
}

fn fill_archive(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join(".wyren/broadcast/skills"))?;
    fs::write(folder.join(".wyren/memory.md"), "# Wyren Memory\n\n## Decisions\n- ATTACKERS-ENTRY\n")?;
    Ok(fs::write(folder.join(".wyren/broadcast/skills/evil.md"), "ATTACKERS-SKILL\n")?)
}

#[test]
fn an_archive_does_not_publish_another_projects_memory_to_its_own_remote() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(member) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    member.decide("TEAMS-SECRET plan")?;
    member.wyren(&["sync"])?;
    let attackers = member.sandbox.folder().join("attackers.git");
    git(member.sandbox.folder(), &["init", "--quiet", "--bare", "attackers.git"])?;
    // Once as the plainest forgery, once with every pointer of an honest linked work tree.
    for (number, has_pointer_back) in [false, true].into_iter().enumerate() {
        let archive = member.sandbox.folder().join(format!("archive{number}"));
        let common = archive.join("common.git");
        git(member.sandbox.folder(), &["init", "--quiet", "--bare", &common.display().to_string()])?;
        let linked = common.join("worktrees/tree");
        fs::create_dir_all(&linked)?;
        fs::create_dir_all(archive.join("info"))?;
        fs::write(linked.join("HEAD"), "ref: refs/heads/main\n")?;
        fs::write(linked.join("commondir"), "../..\n")?;
        if has_pointer_back {
            fs::write(linked.join("gitdir"), "../../../.git\n")?;
        }
        fs::write(archive.join(".git"), "gitdir: common.git/worktrees/tree\n")?;
        fs::write(common.join("info/exclude"), "/.wyren/\n")?;
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../../project\n[remote \"origin\"]\n\turl = {}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            attackers.display()
        );
        fs::write(common.join("config"), config)?;
        let shown = open_archive(&member, &archive)?;
        assert!(!shown.contains("TEAMS-SECRET"), "{shown}");
        let objects = git(&attackers, &["cat-file", "--batch-all-objects", "--batch-check"])?;
        assert_eq!(objects, "", "something was pushed to the archive's remote");
    }
    Ok(())
}

#[test]
fn an_archive_whose_git_leads_to_the_users_repository_publishes_nothing_there() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(member) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    member.decide("TEAMS-ENTRY to keep")?;
    member.wyren(&["sync"])?;
    let before = git(&remote.path(), &["rev-parse", "wyren/memory"])?;
    let victim = member.clone_folder();
    member.git(&["worktree", "add", "--quiet", "../tree", "-b", "other"])?;
    type Forge = fn(&Path, &Path) -> Result<()>;
    let forgeries: [(&str, Forge); 5] = [
        ("a file", |archive, _| Ok(fs::write(archive.join(".git"), "gitdir: ../project/.git\n")?)),
        ("a link", |archive, _| Ok(symlink("../project/.git", archive.join(".git"))?)),
        ("a file to a linked work tree", |archive, _| {
            Ok(fs::write(archive.join(".git"), "gitdir: ../project/.git/worktrees/tree\n")?)
        }),
        ("a folder with a commondir", |archive, _| {
            fs::create_dir(archive.join(".git"))?;
            fs::write(archive.join(".git/HEAD"), "ref: refs/heads/main\n")?;
            Ok(fs::write(archive.join(".git/commondir"), "../../project/.git\n")?)
        }),
        ("a work tree of its own with the victim's commondir", |archive, victim| {
            let own = archive.join("own");
            fs::create_dir_all(&own)?;
            fs::write(own.join("HEAD"), "ref: refs/heads/main\n")?;
            fs::write(own.join("commondir"), victim.join(".git").display().to_string())?;
            fs::write(own.join("gitdir"), archive.join(".git").display().to_string())?;
            Ok(fs::write(archive.join(".git"), "gitdir: own\n")?)
        }),
    ];
    for (number, (name, forge)) in forgeries.into_iter().enumerate() {
        let archive = member.sandbox.folder().join(format!("archive{number}"));
        fill_archive(&archive)?;
        forge(&archive, &victim)?;
        let shown = open_archive(&member, &archive)?;
        assert_eq!(git(&remote.path(), &["rev-parse", "wyren/memory"])?, before, "{name}: {shown}");
        assert!(shown.contains(".git"), "{name}: {shown}");
        assert!(!fs::read_to_string(victim.join(".wyren/memory.md"))?.contains("ATTACKERS"), "{name}");
    }
    assert!(remote.memory(Mode::Side).contains("TEAMS-ENTRY to keep"));
    Ok(())
}
