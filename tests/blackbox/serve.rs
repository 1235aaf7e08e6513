//! `wyren serve`: claude-mem's lines and requests, and nothing lost under load when the server is killed.

use crate::worker::wait_for;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use wyren_tests::plugin;
use wyren_tests::sandbox::Sandbox;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many observations a second, and for how many seconds; `cargo xtask http` asks for more of them.
const RATE: u64 = 1_000;
const SECONDS: u64 = 3;
const SECONDS_VARIABLE: &str = "WYREN_SERVE_SECONDS";
/// What 99 of 100 answers take at most, where the time is measured: with the programs that ship.
const MOST_P99: Duration = Duration::from_millis(20);
/// How many requests schemathesis makes for each operation, besides those that cover its schema.
const EXAMPLES: &str = "10";

/// A server, ended with the test.
struct Served {
    child: Child,
    port: u16,
    token: String,
}

impl Served {
    fn start(sandbox: &Sandbox, port: u16) -> Result<Self> {
        let mut child = sandbox
            .command("wyren")
            .args(["serve", "--port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let address = line.split_once("127.0.0.1:").map(|(_, rest)| rest).unwrap_or_default();
        let digits: String = address.chars().take_while(char::is_ascii_digit).collect();
        let port = digits.parse().with_context(|| format!("no port in {line:?}"))?;
        let token = std::fs::read_to_string(sandbox.data().join("serve/token"))?.trim().to_owned();
        Ok(Self { child, port, token })
    }

    fn connect(&self) -> Result<Talk> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (port, token) = (self.port, self.token.clone());
        Ok(Talk { stream: BufReader::new(stream), port, token })
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Result<(u16, Value)> {
        self.connect()?.ask(method, path, body)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that is kept.
struct Talk {
    stream: BufReader<TcpStream>,
    port: u16,
    token: String,
}

impl Talk {
    fn ask(&mut self, method: &str, path: &str, body: &str) -> Result<(u16, Value)> {
        let (port, token) = (self.port, &self.token);
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost:{port}\r\nX-Wyren-Token: {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).context("no status")?.parse()?;
        let mut length = 0;
        loop {
            line.clear();
            ensure!(self.stream.read_line(&mut line)? > 0, "the answer ended early");
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok((status, serde_json::from_slice(&bytes).unwrap_or_else(|_| Value::from(&*text))))
    }
}

fn line_of(command: &mut Command) -> Result<Value> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(text.lines().count() == 1, "one line: {text}");
    let line: Value = serde_json::from_str(text.trim())?;
    ensure!(line["continue"] == true && line["suppressOutput"] == true, "{line}");
    Ok(line)
}

#[test]
fn start_stop_and_status_answer_with_claude_mems_line() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let serve = |words: &[&str]| line_of(sandbox.command("wyren").arg("serve").args(words));
    ensure!(serve(&["status", "--port", "0"])?["status"] == "stopped");
    let started = serve(&["start", "--port", "0"])?;
    ensure!(started["status"] == "ready" && started["started"] == true, "{started}");
    let again = serve(&["start"])?;
    ensure!(
        again["status"] == "ready" && again["started"] == false && again["port"] == started["port"],
        "{again}"
    );
    let status = serve(&["status"])?;
    ensure!(status["status"] == "running" && status["port"] == started["port"], "{status}");
    ensure!(serve(&["stop"])?["status"] == "stopped");
    ensure!(serve(&["stop", "--port", "0"])?["status"] == "stopped", "a second stop is harmless");
    ensure!(serve(&["status", "--port", "0"])?["status"] == "stopped");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_link_named_claude_mem_is_wyren_serve() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let made = sandbox.command("wyren").args(["serve", "link"]).output()?;
    ensure!(made.status.success(), "{made:?}");
    let link = sandbox.folder().join("home/.local/bin/claude-mem");
    let line = line_of(sandbox.command_for(&link).args(["status", "--port", "0"]))?;
    ensure!(line["status"] == "stopped", "{line}");
    std::fs::remove_file(&link)?;
    std::fs::write(&link, "#!/bin/sh\n")?;
    let refused = sandbox.command("wyren").args(["serve", "link"]).output()?;
    ensure!(
        !refused.status.success() && std::fs::read_to_string(&link)? == "#!/bin/sh\n",
        "theirs was replaced"
    );
    Ok(())
}

#[test]
fn a_foreign_program_on_the_port_is_named_and_left_alone() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let foreign = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = foreign.local_addr()?.port();
    let (sender, receiver) = std::sync::mpsc::channel();
    let answering = std::thread::spawn(move || {
        while let Ok((mut stream, _)) = foreign.accept() {
            let mut bytes = [0; 2_048];
            let read = stream.read(&mut bytes).unwrap_or_default();
            if bytes[..read].starts_with(b"QUIT") {
                return;
            }
            let _ = sender.send(String::from_utf8_lossy(&bytes[..read]).into_owned());
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
        }
    });
    let number = port.to_string();
    let serve = |word: &str| line_of(sandbox.command("wyren").args(["serve", word, "--port", &number]));
    let started = serve("start")?;
    let message = started["message"].as_str().unwrap_or_default().to_owned();
    ensure!(started["status"] == "error" && message.contains("another program"), "{started}");
    if cfg!(target_os = "linux") {
        ensure!(message.contains(&format!("process {}", std::process::id())), "{message}");
    }
    ensure!(serve("stop")?["status"] == "stopped");
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).context("it was ended")?;
    stream.write_all(b"QUIT")?;
    drop(stream);
    answering.join().ok().context("the foreign program failed")?;
    ensure!(
        receiver.try_iter().all(|request| !request.to_lowercase().contains("x-wyren-token")),
        "it got the token"
    );
    Ok(())
}

/// Requests as claude-mem's documentation and hooks send them, with what a program reads of the answers.
#[test]
fn a_program_written_for_claude_mems_worker_gets_equivalent_answers() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let served = Served::start(&sandbox, 0)?;
    let recorded = std::fs::read_to_string(sandbox.cases().join("serve/claude-mem.jsonl"))?;
    let project = sandbox.project().to_string_lossy().into_owned();
    let mut id = String::new();
    let mut count = 0;
    for line in recorded.lines().filter(|line| !line.is_empty()) {
        let filled = line.replace("{project}", &project).replace("{id}", &id);
        let case: Value = serde_json::from_str(&filled)?;
        let body = if case["body"].is_null() { String::new() } else { case["body"].to_string() };
        let (method, path) =
            (case["method"].as_str().unwrap_or("GET"), case["path"].as_str().context("path")?);
        let (status, answer) = served.ask(method, path, &body)?;
        ensure!(status == case["status"].as_u64().unwrap_or(200) as u16, "{path}: {status} {answer}");
        is_like(&case["answer"], &answer).with_context(|| format!("{method} {path}: {answer}"))?;
        if let Some(first) =
            answer["items"][0]["id"].as_u64().filter(|_| path.starts_with("/api/observations"))
        {
            id = first.to_string();
        }
        count += 1;
    }
    ensure!(count >= 30, "{count} requests");
    Ok(())
}

/// Compares an answer with what is expected: every field that is named must be there and alike; `"…x…"` is a part of a text,
/// `"<kind>"` any value of a kind.
fn is_like(expected: &Value, found: &Value) -> Result<()> {
    match (expected, found) {
        (Value::Null, _) => Ok(()),
        (Value::Object(fields), _) => fields
            .iter()
            .try_for_each(|(name, value)| is_like(value, &found[name]).with_context(|| name.clone())),
        (Value::Array(items), Value::Array(others)) => {
            ensure!(items.len() == others.len(), "{} items, not {}", others.len(), items.len());
            items.iter().zip(others).try_for_each(|(item, other)| is_like(item, other))
        }
        (Value::String(kind), _) if kind.starts_with('<') => {
            let is_so = match kind.as_str() {
                "<number>" => found.is_u64(),
                "<text>" => found.is_string(),
                "<list>" => found.is_array(),
                _ => found.is_object(),
            };
            ensure!(is_so, "{found} is no {kind}");
            Ok(())
        }
        (Value::String(part), Value::String(text)) if part.starts_with('…') => {
            ensure!(text.contains(part.trim_matches('…')), "{part} is not in {text}");
            Ok(())
        }
        _ => {
            ensure!(expected == found, "{found} is not {expected}");
            Ok(())
        }
    }
}

#[test]
fn every_acknowledged_observation_is_exported_though_the_server_is_killed_under_load() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut served = Served::start(&sandbox, 0)?;
    let port = served.port;
    let cwd = sandbox.project().to_string_lossy().into_owned();
    let measured = std::env::var(SECONDS_VARIABLE).ok().map(|seconds| seconds.parse::<u64>()).transpose()?;
    let (mut began, all) = (Instant::now(), RATE * measured.unwrap_or(SECONDS));
    let mut times = Vec::with_capacity(all as usize);
    let mut acknowledged = BTreeSet::new();
    let mut talk = served.connect()?;
    let mut is_killed = false;
    for number in 0..all {
        let due = Duration::from_micros(number * 1_000_000 / RATE);
        if let Some(early) = due.checked_sub(began.elapsed()) {
            std::thread::sleep(early);
        }
        if number == all / 2 {
            let paused = Instant::now();
            served.child.kill()?;
            served.child.wait()?;
            served = Served::start(&sandbox, port)?;
            is_killed = true;
            talk = served.connect()?;
            began += paused.elapsed();
        }
        let body = json!({
            "contentSessionId": format!("load-{}", number % 8), "tool_name": "Bash", "cwd": cwd,
            "tool_use_id": format!("toolu_{number}"), "tool_input": {"command": format!("echo {number}")},
            "tool_response": {"stdout": number.to_string()},
        });
        let asked = Instant::now();
        let (status, answer) = talk.ask("POST", "/api/sessions/observations", &body.to_string())?;
        times.push(asked.elapsed());
        ensure!(status == 200 && answer["status"] == "queued", "{status}: {answer}");
        acknowledged.insert(format!("t:toolu_{number}"));
    }
    ensure!(is_killed && acknowledged.len() as u64 == all);
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    if measured.is_some() {
        let took = began.elapsed();
        let mut errors = std::io::stderr();
        writeln!(errors, "{all} observations in {took:.1?}: p50 {:.2?}, p99 {:.2?}", at(50), at(99))?;
        ensure!(at(99) <= MOST_P99, "p99 is {:?}", at(99));
        ensure!(took <= Duration::from_secs(all / RATE + 1), "{all} took {took:?}");
    }
    drop(served);
    let exported = sandbox.command("wyren").args(["export"]).output()?;
    ensure!(exported.status.success(), "{exported:?}");
    let text = String::from_utf8(exported.stdout)?;
    let ids: BTreeSet<String> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|line| line["id"].as_str().map(str::to_owned))
        .collect();
    let lost: Vec<&String> = acknowledged.difference(&ids).take(5).collect();
    ensure!(lost.is_empty(), "acknowledged, and not exported: {lost:?}");
    Ok(())
}

#[test]
fn uninstalling_ends_the_server_and_purging_removes_its_token() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let started = line_of(sandbox.command("wyren").args(["serve", "start", "--port", "0"]))?;
    let port = u16::try_from(started["port"].as_u64().context("no port")?)?;
    ensure!(sandbox.data().join("serve/token").is_file());
    let removed = sandbox.command("wyren").args(["uninstall", "--purge", "--yes"]).output()?;
    ensure!(removed.status.success(), "{removed:?}");
    wait_for("the server's end", || Ok(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err()))?;
    ensure!(!sandbox.data().join("serve").exists(), "the token stayed");
    Ok(())
}

#[test]
fn requests_made_of_the_openapi_document_find_no_server_error_and_no_other_shape() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let Some(schemathesis) = plugin::schemathesis() else { return Ok(()) };
    let served = Served::start(&sandbox, 0)?;
    let cwd = sandbox.project();
    let prompt = json!({"contentSessionId": "s", "cwd": cwd, "prompt": "Fix the rounding of prices"});
    ensure!(served.ask("POST", "/api/sessions/init", &prompt.to_string())?.0 == 200);
    let (status, document) = served.ask("GET", "/openapi.json", "")?;
    ensure!(status == 200);
    let file = sandbox.folder().join("openapi.json");
    std::fs::write(&file, document.to_string())?;
    let tested = sandbox
        .command_for(&schemathesis)
        .arg("run")
        .arg(&file)
        .args(["--url", &format!("http://127.0.0.1:{}", served.port)])
        .args(["--header", &format!("X-Wyren-Token: {}", served.token)])
        .args(["--max-examples", EXAMPLES, "--phases", "coverage,fuzzing", "--generation-database", "none"])
        .args([
            "--checks",
            "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        ])
        // One ends the server, the other does not end.
        .args(["--exclude-path", "/api/admin/shutdown", "--exclude-path", "/stream"])
        .args(["--continue-on-failure", "--no-color"])
        .output()?;
    let said = String::from_utf8_lossy(&tested.stdout);
    ensure!(tested.status.success(), "{said}{}", String::from_utf8_lossy(&tested.stderr));
    let operations = document["paths"].as_object().context("no paths")?.len() - 2;
    ensure!(said.contains(&format!("Tested: {operations}")), "{said}");
    Ok(())
}
