//! `wyren-mcp`: the memory for the model, as a client sees it.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use wyren_tests::prerequisite;
use wyren_tests::sandbox::Sandbox;

/// How long a server may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with a client that writes lines.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    number: u64,
}

impl Server {
    fn start(sandbox: &Sandbox) -> Result<Self> {
        let mut command = sandbox.command("wyren-mcp");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let mut server = Self { child, input, output, number: 0 };
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let answer = server.ask("initialize", &hello)?;
        ensure!(answer["serverInfo"]["name"] == "wyren", "{answer}");
        ensure!(answer["instructions"].as_str().is_some_and(|text| text.contains("`timeline`")), "{answer}");
        server.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())?;
        Ok(server)
    }

    fn write(&mut self, line: &str) -> Result<()> {
        let input = self.input.as_mut().context("closed")?;
        input.write_all(format!("{line}\n").as_bytes())?;
        Ok(input.flush()?)
    }

    fn read(&mut self) -> Result<Value> {
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "the server is gone");
        Ok(serde_json::from_str(&line)?)
    }

    /// Returns the whole message that answers a request.
    fn request(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.number += 1;
        let number = self.number;
        self.write(
            &json!({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}).to_string(),
        )?;
        loop {
            let message = self.read()?;
            if message["id"] == number {
                return Ok(message);
            }
        }
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        let message = self.request(method, parameters)?;
        ensure!(message["error"].is_null(), "{message}");
        Ok(message["result"].clone())
    }

    /// Returns the text of a tool's answer, and whether it is an error.
    fn call(&mut self, name: &str, arguments: &Value) -> Result<(String, bool)> {
        let answer = self.ask("tools/call", &json!({"name": name, "arguments": arguments}))?;
        let text = answer["content"][0]["text"].as_str().context("no text")?.to_owned();
        Ok((text, answer["isError"] == true))
    }

    fn wait_for_end(&mut self) -> Result<()> {
        let began = Instant::now();
        while self.child.try_wait()?.is_none() {
            ensure!(began.elapsed() < PATIENCE, "the server is still there");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn tools_are_listed_once_and_answer_from_what_was_recorded() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    sandbox.wyren(&["remember", "--type", "decision", "Prices are integer cents"])?;
    let mut server = Server::start(&sandbox)?;
    let tools = server.ask("tools/list", &json!({}))?;
    let names: Vec<&str> =
        tools["tools"].as_array().into_iter().flatten().filter_map(|it| it["name"].as_str()).collect();
    let expected = ["search", "timeline", "get", "decisions", "why", "lessons", "handoff", "remember", "pin"];
    assert_eq!(names, expected);
    let size = tools.to_string().len();
    assert!(size < 8_000, "the list has {size} bytes");

    let (found, _) = server.call("search", &json!({"query": "cents", "limit": "3"}))?;
    assert!(found.contains("Prices are integer cents") && found.starts_with("<wyren-context"), "{found}");
    let (decisions, _) = server.call("decisions", &json!({}))?;
    assert!(decisions.contains("Prices are integer cents"), "{decisions}");
    let (kept, is_error) = server.call("remember", &json!({"text": "Deploys need the VPN"}))?;
    assert!(!is_error && kept.starts_with("Remembered as "), "{kept}");
    let shown = sandbox.wyren(&["search", "VPN"])?;
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Deploys need the VPN"));
    let (recent, _) = server.call("session_start_context", &json!({}))?;
    assert!(recent.contains("Deploys need the VPN"), "{recent}");
    let (refusal, is_error) = server.call("get", &json!({"ids": "zzzzzzzz"}))?;
    assert!(is_error && refusal.contains("nothing has the id"), "{refusal}");
    Ok(())
}

#[test]
fn the_team_memory_and_recent_summaries_can_be_attached() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    std::fs::create_dir_all(sandbox.project().join(".wyren"))?;
    let memory = "# Wyren Memory\n\n## Decisions\n\n- Cents, <private>not this</private>not floats\n";
    std::fs::write(sandbox.project().join(".wyren/memory.md"), memory)?;
    let mut server = Server::start(&sandbox)?;
    let listed = server.ask("resources/list", &json!({}))?;
    assert_eq!(listed["resources"].as_array().map(Vec::len), Some(2), "{listed}");
    let read = server.ask("resources/read", &json!({"uri": "wyren://memory"}))?.to_string();
    assert!(read.contains("not floats") && !read.contains("not this"), "{read}");
    server.ask("resources/read", &json!({"uri": "wyren://summaries"}))?;
    let refused = server.request("resources/read", &json!({"uri": "file:///etc/passwd"}))?;
    assert!(
        refused["error"]["message"].as_str().is_some_and(|text| text.contains("no resource")),
        "{refused}"
    );
    Ok(())
}

#[test]
fn malformed_messages_do_not_end_the_server() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut server = Server::start(&sandbox)?;
    for line in [
        "",
        "{",
        "not json",
        "[]",
        "null",
        "{\"jsonrpc\": \"2.0\"}",
        "{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"tools/list\"}",
        "{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"tools/call\", \"params\": 7}",
        "{\"jsonrpc\": \"2.0\", \"method\": \"no/such\"}",
        &"[".repeat(100_000),
        &format!("\"{}\"", "x".repeat(1_000_000)),
    ] {
        server.write(line)?;
    }
    let refused = server.request("tools/call", &json!({"name": "forget", "arguments": {}}))?;
    assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("no tool")), "{refused}");
    server.request("tools/call", &json!({"name": 7}))?;
    server.request("no/such", &json!({}))?;
    let (found, _) = server.call("search", &json!({"query": "anything"}))?;
    assert!(found.starts_with("Nothing found."), "{found}");
    Ok(())
}

#[test]
fn the_server_ends_with_its_client() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut server = Server::start(&sandbox)?;
    server.input = None;
    server.wait_for_end()?;

    // A client that is killed closes nothing itself.
    let mut keeper = Command::new("sh");
    let wyren = sandbox.command("wyren-mcp");
    keeper.envs(wyren.get_envs().filter_map(|(name, value)| Some((name, value?))));
    keeper
        .args(["-c", "mkfifo in && (\"$0\" < in > out & echo $! > pid); exec sleep 600 > in"])
        .arg(wyren.get_program());
    let folder = tempfile::tempdir()?;
    let mut keeper = keeper.current_dir(folder.path()).stdin(Stdio::null()).spawn()?;
    // By its own name only once it runs: before, it is a shell that waits for the pipe.
    let is_alive = |pid: &str| {
        let words = std::fs::read(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
        words.starts_with(b"wyren-mcp\0")
    };
    let began = Instant::now();
    let pid = loop {
        let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap_or_default();
        if pid.ends_with('\n') && is_alive(&pid) {
            break pid;
        }
        ensure!(began.elapsed() < PATIENCE, "the server did not start");
        std::thread::sleep(Duration::from_millis(5));
    };
    keeper.kill()?;
    keeper.wait()?;
    let began = Instant::now();
    while is_alive(&pid) {
        ensure!(began.elapsed() < PATIENCE, "the server outlived its client");
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// How many entries the journal of years has, and how much memory the server may have after questions to it.
const ENTRIES: usize = 100_000;
const MOST_KIB: u64 = 25 * 1024;
const SEARCHES: usize = 100;
/// The largest program that is optimised, in bytes.
const MOST_SHIPPED_BYTES: u64 = 30_000_000;

#[test]
fn a_hundred_searches_over_a_hundred_thousand_entries_take_less_than_25_mb() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = sandbox.data().join("spool/0123456789abcdef");
    std::fs::create_dir_all(&folder)?;
    let mut lines = String::new();
    for number in 0..ENTRIES {
        let line = json!({
            "v": 2, "kind": "entry", "id": format!("n:{number}"), "ts": 1_700_000_000_000_u64 + 60_000 * number as u64,
            "session": format!("5f0c1a52-0000-4000-8000-{:012}", number / 200), "cwd": sandbox.project(),
            "data": {
                "type": "fix", "title": format!("part_{:03}.rs: `step_{number}` checks its input", number % 200),
                "narrative": "What was done, in a few sentences, as long as they usually are.",
            },
        });
        lines.push_str(&format!("{line}\n"));
    }
    std::fs::write(folder.join("1.jsonl"), lines)?;
    let began = Instant::now();
    loop {
        let found = sandbox.wyren(&["search", "step_4711", "--json"])?;
        let found: Value = serde_json::from_slice(&found.stdout)?;
        if found["is_complete"] == true
            && found["hits"][0]["title"].as_str().is_some_and(|it| it.contains("step_4711"))
        {
            break;
        }
        ensure!(began.elapsed() < Duration::from_secs(900), "the index was not made: {found}");
    }
    sandbox.wyren(&["worker", "stop"])?;
    let mut server = Server::start(&sandbox)?;
    for number in 0..SEARCHES {
        let query = format!("step_{} checks the input of part", number * 997);
        let (found, _) = server.call("search", &json!({"query": query}))?;
        ensure!(found.contains(&format!("step_{}`", number * 997)), "{query}: {found}");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id()))?;
    // The code of a program that is not optimised takes more than that by itself.
    let program = wyren_tests::plugin::folder().context("no plugin")?.join("bin/wyren");
    let is_shipped = program.metadata()?.len() < MOST_SHIPPED_BYTES;
    let figure = if is_shipped { "VmRSS:" } else { "RssAnon:" };
    let line = status.lines().find_map(|line| line.strip_prefix(figure)).context("no figure")?;
    let resident: u64 = line.trim().trim_end_matches(" kB").parse()?;
    assert!(resident < MOST_KIB, "{figure} {resident} KiB");
    Ok(())
}

/// The official SDK for JavaScript, which many clients use.
#[test]
fn the_official_client_of_npm_is_answered() -> Result<()> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/mcp");
    let (Some(_), Some(sandbox)) = (prerequisite::mcp_sdk(), Sandbox::new()?) else { return Ok(()) };
    sandbox.wyren(&["remember", "Prices are integer cents"])?;
    let server = sandbox.command("wyren-mcp");
    let mut node = Command::new("node");
    node.arg(format!("{folder}/drive.mjs")).arg(server.get_program()).current_dir(sandbox.project());
    node.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = node.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_str(&text)?;
    assert_eq!(seen["tools"], 9, "{seen}");
    assert!(seen["found"].as_str().is_some_and(|found| found.contains("integer cents")), "{seen}");
    assert!(seen["memory"].as_str().is_some_and(|text| text.contains("no team memory")), "{seen}");
    Ok(())
}
