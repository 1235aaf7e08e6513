//! What every command prints with `--json`, compared with `docs/json.md`. Every other test that runs `wyren` through [`feed`] compares
//! as well; this one has each command print something.

use anyhow::{Context as _, Result, ensure};
use fixture::conversation::{self, Where};
use fixture::{ClaudeMem, Shape};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use wyren_tests::sandbox::{Sandbox, feed};
use wyren_tests::shape;

use crate::engine::{prompt, shell};
use crate::plans;
use crate::tasks;
use crate::team::{Member, Mode, Remote};

/// Types with a part that takes more than this test has: a model, a conflict with teammates, a lesson that was lifted, a client on the
/// PATH. Tests of these things print them, and what they print is compared as well.
const ELSEWHERE: [&str; 23] = [
    "Candidate",
    "Context",
    "Distilled",
    "DistilledChange",
    "Fixed",
    "HeldBack",
    "JudgedCall",
    "LeftOut",
    "Lesson",
    "LessonStats",
    "Scan",
    "Search",
    "Showing",
    "Spend",
    "Sync",
    "Today",
    "Trust",
    "UndoSteps",
    "Undone",
    "Version",
    "Why",
    "WithMemory",
    "Worker",
];

/// Runs `wyren` in a clone, which must end with one of these codes; returns what it printed, which fits the page.
fn run(member: &Member, codes: &[i32], arguments: &[&str], input: &str) -> Result<Value> {
    let mut command = member.command("wyren");
    let output = feed(command.args(arguments).arg("--json"), input.as_bytes())?;
    let code = output.status.code().unwrap_or(-1);
    ensure!(codes.contains(&code), "wyren {arguments:?} ended with {code}: {output:?}");
    let text = String::from_utf8(output.stdout)?;
    ensure!(!text.trim().is_empty(), "wyren {arguments:?} printed nothing: {:?}", output.stderr);
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

fn good(member: &Member, arguments: &[&str]) -> Result<Value> {
    run(member, &[0], arguments, "")
}

fn text<'v>(value: &'v Value, pointer: &str) -> Result<&'v str> {
    value.pointer(pointer).and_then(Value::as_str).with_context(|| format!("no {pointer} in {value:#}"))
}

/// Says what a hook would be told of a call.
fn call(event: &str, tool: &str, id: &str, member: &Member, more: &Value) -> Value {
    let mut call = json!({
        "session_id": "s", "cwd": member.sandbox.project(), "prompt_id": "1", "hook_event_name": event,
        "tool_name": tool, "tool_use_id": id,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        call[name] = value.clone();
    }
    call
}

#[test]
fn every_command_prints_what_the_page_says() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let Some(bob) = Member::new(&remote, "bob")? else { return Ok(()) };
    good(&ada, &["status"])?;
    good(&ada, &["init", "--side"])?;
    good(&ada, &["init"])?;
    team_memory(&ada, &bob)?;
    record(&ada)?;
    journal(&ada)?;
    work(&ada)?;
    lessons(&ada)?;
    imports(&ada)?;
    machine(&ada)?;
    migrate(&ada)?;
    let (commands, types) = shape::unseen();
    assert_eq!(commands, Vec::<String>::new(), "commands of docs/json.md that printed nothing");
    let types: Vec<String> = types.into_iter().filter(|name| !ELSEWHERE.contains(&&**name)).collect();
    assert_eq!(types, Vec::<String>::new(), "types of docs/json.md with a part that nothing printed");
    Ok(())
}

fn team_memory(ada: &Member, bob: &Member) -> Result<()> {
    good(ada, &["memory", "add", "Prices are integer cents"])?;
    good(ada, &["memory", "add", "Prices are integer cents"])?;
    run(ada, &[1], &["memory", "add", "Prices are integer cents always"], "")?;
    good(ada, &["memory", "add", "rejected", "decimal.js is too big"])?;
    good(bob, &["init", "--side"])?;
    good(bob, &["memory", "add", "Sessions are kept in Postgres"])?;
    good(bob, &["memory", "handoff", "the cart is done"])?;
    good(ada, &["sync"])?;
    good(ada, &["memory"])?;
    good(ada, &["memory", "show"])?;
    good(ada, &["memory", "list"])?;
    good(ada, &["memory", "remove", "decimal.js is too big"])?;
    good(ada, &["memory", "history"])?;
    good(ada, &["memory", "restore", "1"])?;
    ada.decide("Deploys need the VPN")?;
    let difference = good(ada, &["memory", "diff"])?;
    ensure!(!difference["not_published"].as_array().context("no list")?.is_empty(), "{difference:#}");
    let status = good(ada, &["status"])?;
    ensure!(status["initialized"] == true && !status["newest"].is_null(), "{status:#}");
    Ok(())
}

/// Has hooks record a turn with an edit, a plan and a task.
fn record(ada: &Member) -> Result<()> {
    let sandbox = &ada.sandbox;
    prompt(sandbox, "s", "1", "Round prices half to even, as the tax office wants it")?;
    let file = sandbox.project().join("price.rs");
    let content =
        "/// In cents.\npub fn rounded(cents: f64) -> i64 {\n    cents.round_ties_even() as i64\n}\n";
    fs::write(&file, content)?;
    let written =
        json!({"tool_input": {"file_path": file, "content": content}, "tool_response": {"type": "create"}});
    sandbox.run("tool-record", call("PostToolUse", "Write", "t1", ada, &written).to_string().as_bytes())?;
    ada.git(&["add", "price.rs"])?;
    ada.git(&["commit", "-qm", "Round half to even"])?;
    shell(sandbox, "s", "t2", "cargo test", "ok. 3 passed")?;
    plans::plan(sandbox, plans::SHOWN, "s", "p1", "# Cents everywhere\n\n- price.rs\n")?;
    plans::plan(sandbox, plans::ACCEPTED, "s", "p1", "# Cents everywhere\n\n- price.rs\n")?;
    tasks::create(
        sandbox,
        "s",
        "k1",
        1,
        &json!({"subject": "Move the cart to cents", "description": "all of it"}),
    )?;
    let end = json!({"last_assistant_message": "Prices are rounded half to even now."});
    let end = call("Stop", "", "", ada, &end);
    sandbox.run("stop-summary", end.to_string().as_bytes())?;
    Ok(())
}

fn journal(ada: &Member) -> Result<()> {
    let note = [
        "remember",
        "--type",
        "decision",
        "--file",
        "price.rs",
        "--pin",
        "Round half to even, says the tax office",
    ];
    let kept = good(ada, &note)?;
    let id = text(&kept, "/id")?.to_owned();
    good(ada, &["unpin", &id])?;
    good(ada, &["pin", &id])?;
    good(ada, &["edit", &id, "--title", "Half to even, says the tax office"])?;
    let found = good(ada, &["search", "--explain", "prices rounded half even cents"])?;
    let hits = found["hits"].as_array().context("no hits")?;
    let of = |is: &str| hits.iter().find(|hit| hit["is"] == is).and_then(|hit| hit["id"].as_str());
    let ids: Vec<&str> = ["entry", "summary", "prompt", "memory"].into_iter().filter_map(of).collect();
    ensure!(ids.len() == 4, "not of every kind: {found:#}");
    good(ada, &[&["show"], &*ids].concat())?;
    good(ada, &["timeline", ids[0]])?;
    good(ada, &["search", "roundd zzyzx", "--type", "decision"])?;
    good(ada, &["search", "--transcripts", "half to even"])?;
    good(ada, &["recap", "--since", "2d"])?;
    let why = good(ada, &["why", "price.rs:3"])?;
    ensure!(!why["edits"].as_array().context("no edits")?.is_empty(), "{why:#}");
    good(ada, &["forget", "--query", "tax office", "--dry-run"])?;
    Ok(())
}

fn work(ada: &Member) -> Result<()> {
    let made = good(ada, &["work", "new", "Move the cart to cents", "--tag", "cart"])?;
    let id = text(&made, "/contexts/0/id")?.to_owned();
    good(ada, &["work", "edit", &id, "--tag", "prices"])?;
    good(ada, &["work", "note", &id, "begin with the checkout"])?;
    good(ada, &["work", "switch", &id, "--session-id", "s"])?;
    good(ada, &["work", "show", &id])?;
    let markdown = "# Cents in the cart\n## Dead ends\ndecimal.js\n## Pending\n- checkout.js\n";
    let saved =
        run(ada, &[0, 3], &["handoff", "save", "--context", &id, "--session-id", "s", "--team"], markdown)?;
    let name = text(&saved, "/handoff/name")?.to_owned();
    good(ada, &["handoff"])?;
    good(ada, &["handoff", "list"])?;
    good(ada, &["handoff", "show", &name])?;
    fs::write(ada.sandbox.project().join("later.rs"), "fn later() {}\n")?;
    ada.git(&["add", "later.rs"])?;
    ada.git(&["commit", "-qm", "Later"])?;
    let resumed = good(ada, &["handoff", "resume", &name, "--session-id", "s2"])?;
    ensure!(resumed["since"]["count"] == 1, "{resumed:#}");
    good(ada, &["work", "done", &id])?;
    good(ada, &["work", "reopen", &id])?;
    good(ada, &["work"])?;
    good(ada, &["work", "list"])?;
    good(ada, &["work", "inventory", &id])?;
    good(ada, &["work", "plans"])?;
    good(ada, &["work", "tasks"])?;
    let folder = ada.sandbox.project().join("_output/contexts/260301-0900-move-parser");
    fs::create_dir_all(folder.join("plans"))?;
    fs::create_dir_all(ada.sandbox.project().join("_output/contexts/260302-0900-empty"))?;
    let state = json!({"summary": "move the parser", "mode": "has_staged_work", "next_artifact_type": "plan",
        "plan_path": "plans/p.md", "session_ids": ["s-1"], "created_at": "2026-03-01T09:00:00.000", "last_active": "2026-03-01T10:00:00.000"});
    fs::write(folder.join("state.json"), state.to_string())?;
    fs::write(folder.join("plans/p.md"), "# Move the parser\n")?;
    good(ada, &["work", "import"])?;
    Ok(())
}

fn lessons(ada: &Member) -> Result<()> {
    let lesson = json!({
        "summary": "frobnicate apply overwrites the local state", "kind": "guard",
        "problem": "It takes whatever the server has and drops unsaved frobs without a word.",
        "solution": "Run `frobnicate diff` first, save what is missing with `frobnicate save`, and only then apply.",
        "commands": ["frobnicate apply"], "fires": ["frobnicate apply"], "quiet": ["frobnicate diff"],
    });
    let slug = "frobnicate-apply-overwrites-the-local-state";
    ada.wyren(&["lessons", "add", "--from-json", &lesson.to_string()])?;
    let refused =
        call("PreToolUse", "Bash", "g1", ada, &json!({"tool_input": {"command": "frobnicate apply"}}));
    ada.sandbox.run("lesson-inject", refused.to_string().as_bytes())?;
    shell(&ada.sandbox, "s", "g2", "frobnicate diff", "nothing")?;
    good(ada, &["lessons", "list"])?;
    good(ada, &["lessons", "show", slug])?;
    good(ada, &["lessons", "search", "frobnicate"])?;
    good(ada, &["lessons", "test", "frobnicate apply", "--verbose"])?;
    good(ada, &["lessons", "allow"])?;
    good(ada, &["lessons", "allow", slug, "--session"])?;
    good(ada, &["lessons", "allow"])?;
    good(ada, &["lessons", "packs"])?;
    good(ada, &["lessons", "stats"])?;
    good(ada, &["lessons", "stats", slug])?;
    good(ada, &["lessons", "export", "--all"])?;
    good(ada, &["lessons", "backup"])?;
    good(ada, &["lessons", "backup", "--list"])?;
    fs::write(ada.sandbox.data().join("lessons/broken.md"), "---\nsummary: \n---\n")?;
    run(ada, &[0, 1], &["lessons", "doctor"], "")?;
    let manifest = ada.sandbox.folder().join("tmp/lessons.json");
    ada.wyren(&["lessons", "export", "--manifest", &manifest.to_string_lossy()])?;
    good(ada, &["lessons", "import", &manifest.to_string_lossy()])?;
    let folder = ada.sandbox.folder().join("transcripts");
    fs::create_dir_all(folder.join("p"))?;
    let cwd = ada.sandbox.project().to_string_lossy().into_owned();
    let said = "> build\n$ git status\n$ cargo build --jobs-max 4\n! error: unexpected argument '--jobs-max' found\n$ cargo build --jobs 4\n= Finished\n$ cargo test\n= ok\n";
    let place = Where { session: "one", cwd: &cwd, minute: 600 };
    fs::write(folder.join("p/one.jsonl"), conversation::transcript(said, place))?;
    let scan = ["lessons", "scan", "--path", &folder.to_string_lossy()];
    good(ada, &[&scan[..], &["--dry-run"]].concat())?;
    good(ada, &scan)?;
    let review = good(ada, &["lessons", "review"])?;
    ensure!(!review["candidates"].as_array().context("no list")?.is_empty(), "{review:#}");
    good(ada, &["lessons", "purge", "--below-confidence", "0.1", "--dry-run"])?;
    let shared = ada.sandbox.project().join(".wyren/lessons");
    fs::create_dir_all(&shared)?;
    fs::write(
        shared.join("no-frob.md"),
        "---\nsummary: Do not frobnicate\nkind: guard\ncommand: frobnicate\n---\nIt is bad.\n\n## Solution\nDo it otherwise.\n",
    )?;
    good(ada, &["trust"])?;
    good(ada, &["trust", "--yes"])?;
    fs::remove_file(shared.join("no-frob.md"))?;
    good(ada, &["trust"])?;
    let listed = good(ada, &["trust", "--show"])?;
    ensure!(!listed["differing"].as_array().context("no list")?.is_empty(), "{listed:#}");
    Ok(())
}

fn imports(ada: &Member) -> Result<()> {
    let line = json!({"v": 1, "type": "prompt", "session": "i", "id": "p:i", "ts": "2026-11-16T10:00:00.000Z",
        "cwd": ada.sandbox.project(), "number": 1, "text": "go on"});
    run(ada, &[0], &["import", "-"], &line.to_string())?;
    run(ada, &[1], &["import", "-"], "not a line\n")?;
    ClaudeMem::new(&ada.sandbox.folder().join("home/.claude-mem/claude-mem.db"), Shape::Current);
    good(ada, &["import", "--claude-mem"])?;
    let folder = ada.sandbox.folder().join("home/.claude/projects/-p");
    fs::create_dir_all(&folder)?;
    let said = json!({"type": "user", "promptId": "x", "sessionId": "x", "cwd": ada.sandbox.project(),
        "timestamp": "2026-11-16T10:00:00.000Z", "message": {"content": "half to even in a transcript"}});
    fs::write(folder.join("x.jsonl"), format!("{said}\n"))?;
    good(ada, &["import", "--transcripts"])?;
    let found = good(ada, &["search", "--transcripts", "transcript half"])?;
    ensure!(!found["transcripts"].as_array().context("no list")?.is_empty(), "{found:#}");
    let transcript = ada.sandbox.folder().join("tmp/decided.jsonl");
    let messages = [
        ("user", "We decided to use Postgres. Agreed, that is settled on."),
        ("assistant", "Understood: Postgres it is."),
    ];
    let mut lines = String::new();
    for (number, (role, text)) in messages.into_iter().enumerate() {
        let record = json!({
            "type": role, "uuid": format!("00000000-0000-4000-8000-{:012}", number + 1), "sessionId": "d", "parentUuid": null,
            "isSidechain": false, "userType": "external", "cwd": ada.sandbox.project(), "timestamp": "2026-11-16T02:26:41.123Z",
            "message": {"role": role, "content": text},
        });
        lines.push_str(&format!("{record}\n"));
    }
    fs::write(&transcript, lines)?;
    let path = transcript.to_string_lossy().into_owned();
    good(ada, &["distill", "--dry-run", "--prompt", "--transcript", &path])?;
    good(
        ada,
        &["distill", "--dry-run", "--since", "00000000-0000-4000-8000-000000000002", "--transcript", &path],
    )?;
    good(ada, &["distill", "--force", "--transcript", &path])?;
    run(ada, &[0, 3], &["distill", "--push", "--transcript", &path], "")?;
    Ok(())
}

fn machine(ada: &Member) -> Result<()> {
    let config = ada.sandbox.data().join("config.toml");
    fs::write(&config, "[log]\nlevle = \"warn\"\n")?;
    good(ada, &["config"])?;
    good(ada, &["config", "list"])?;
    good(ada, &["config", "set", "log.level", "warn"])?;
    good(ada, &["config", "get", "log.level"])?;
    good(ada, &["config", "unset", "log.level"])?;
    good(ada, &["capture"])?;
    good(ada, &["capture", "status"])?;
    good(ada, &["capture", "pause"])?;
    good(ada, &["capture", "resume"])?;
    ada.wyren(&["jobs", "add", "drain"])?;
    let jobs = good(ada, &["jobs", "--all"])?;
    ensure!(!jobs["jobs"].as_array().context("no list")?.is_empty(), "{jobs:#}");
    ada.wyren(&["worker", "run", "--until-idle"])?;
    good(ada, &["worker"])?;
    good(ada, &["worker", "status"])?;
    good(ada, &["worker", "logs"])?;
    good(ada, &["log", "--hooks"])?;
    good(ada, &["log", "--told", "--all"])?;
    good(ada, &["spend", "--days", "2"])?;
    good(ada, &["repair"])?;
    run(ada, &[0, 1], &["doctor", "--offline"], "")?;
    run(ada, &[0, 1], &["doctor", "--offline", "--fix", "--dry-run"], "")?;
    good(ada, &["update", "--check"])?;
    let version = good(ada, &["version"])?;
    ensure!(version["json"] == 1, "{version:#}");
    for action in ["start", "status", "stop"] {
        let output = feed(ada.command("wyren").args(["serve", action, "--port", "0"]), b"")?;
        ensure!(output.status.success(), "{output:?}");
        shape::check(&["serve", "start"], &output.stdout)?;
    }
    Ok(())
}

/// Has the Node version's hooks in the client's settings, and moves from it.
fn migrate(ada: &Member) -> Result<()> {
    let client = ada.sandbox.folder().join("home/.claude");
    let dispatcher = client.join("plugins/wyren/hooks/run-hook.cmd");
    fs::create_dir_all(dispatcher.parent().unwrap_or(Path::new("/")))?;
    fs::write(&dispatcher, "")?;
    let command = format!("\"{}\" stop", dispatcher.display());
    let hooks = json!({"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": command}]}]});
    fs::write(client.join("settings.json"), json!({"hooks": hooks}).to_string())?;
    let plan = good(ada, &["migrate", "--dry-run"])?;
    ensure!(!plan["edits"].as_array().context("no list")?.is_empty(), "{plan:#}");
    good(ada, &["migrate", "--yes"])?;
    good(ada, &["migrate", "--undo", "--dry-run"])?;
    good(ada, &["migrate", "--undo", "--yes"])?;
    Ok(())
}

/// A sandbox without a project of a team prints the rest.
#[test]
fn without_a_team_memory_the_page_holds_too() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for arguments in [
        &["status", "--json"][..],
        &["version", "--json"],
        &["spend", "--json"],
        &["jobs", "--json"],
        &["search", "nothing", "--json"],
        &["recap", "--json"],
        &["work", "--json"],
        &["handoff", "--json"],
        &["trust", "--json"],
        &["worker", "--json"],
        &["repair", "--json"],
        &["lessons", "review", "--json"],
    ] {
        let output = sandbox.wyren(arguments)?;
        ensure!(output.status.success() && !output.stdout.is_empty(), "{arguments:?}: {output:?}");
    }
    Ok(())
}
