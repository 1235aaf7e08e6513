//! The server over its own port: what is refused, what is bounded, and what listeners get.

use base::{Env, Paths};
use serve::{Limits, local, token};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(20);

struct Served {
    folder: tempfile::TempDir,
    paths: Paths,
    port: u16,
    token: String,
    thread: Option<JoinHandle<Result<(), serve::Error>>>,
}

impl Served {
    fn with(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = Env::fixed([
            ("WYREN_DATA_DIR", folder.path().join("data")),
            ("HOME", folder.path().to_owned()),
            ("CLAUDE_MEM_EXCLUDED_PROJECTS", "~/clients/nda-*".into()),
        ]);
        let paths = Paths::of(&env);
        let (sender, receiver) = mpsc::channel();
        let of_thread = paths.clone();
        let thread = std::thread::spawn(move || {
            let ready = |running: &local::Running| sender.send(running.port).unwrap();
            local::serve(env, of_thread, 0, "1.2.3", limits, ready, std::future::pending())
        });
        let port = receiver.recv_timeout(PATIENCE).unwrap();
        let token = token::read(&paths).unwrap();
        Self { folder, paths, port, token, thread: Some(thread) }
    }

    fn new() -> Self {
        Self::with(Limits { patience: Duration::from_millis(400), ..Limits::default() })
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request as it is; returns the status and the body of the answer.
    fn raw(&self, request: &[u8]) -> (u16, String) {
        let mut stream = self.connect();
        // A server that refuses does not read the rest.
        let _ = stream.write_all(request);
        answer(&mut stream)
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn get(&self, path: &str) -> (u16, String) {
        let token = format!("X-Wyren-Token: {}\r\n", self.token);
        self.raw(head("GET", path, &self.host(), &token, 0).as_bytes())
    }

    fn post(&self, path: &str, body: &str) -> (u16, String) {
        let token = format!("Authorization: Bearer {}\r\n", self.token);
        self.raw(format!("{}{body}", head("POST", path, &self.host(), &token, body.len())).as_bytes())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let is_stopped = local::stop(&self.paths, self.port);
        if !std::thread::panicking() {
            assert!(is_stopped.unwrap());
            self.thread.take().unwrap().join().unwrap().unwrap();
        }
    }
}

fn head(method: &str, path: &str, host: &str, more: &str, length: usize) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    )
}

fn answer(stream: &mut TcpStream) -> (u16, String) {
    let mut bytes = Vec::new();
    let mut part = [0; 4_096];
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&part[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}

#[test]
fn without_the_token_nothing_is_shown_and_nothing_is_recorded() {
    let served = Served::new();
    for (method, path) in serve::table() {
        let method = if method == serve::Method::Get { "GET" } else { "POST" };
        let path = path.replace("{id}", "1");
        let (status, body) = served.raw(head(method, &path, &served.host(), "", 0).as_bytes());
        let is_open = ["/health", "/api/health", "/api/readiness", "/api/admin/prove"].contains(&&*path);
        if is_open {
            assert!(matches!(status, 200 | 400), "{path}: {status}");
            assert!(
                !body.contains("1.2.3") && !body.contains(served.folder.path().to_str().unwrap()),
                "{body}"
            );
        } else {
            assert_eq!(status, 401, "{path}: {body}");
        }
        let wrong = format!("Authorization: Bearer {}\r\n", "0".repeat(64));
        let (status, _) = served.raw(head(method, &path, &served.host(), &wrong, 0).as_bytes());
        assert!(is_open || status == 401, "{path}");
    }
    let (status, _) = served.raw(head("GET", "/no/such/route", &served.host(), "", 0).as_bytes());
    assert_eq!(status, 401, "what is not served is not shown either");
    assert!(!served.paths.spool().exists());
}

#[test]
fn the_token_may_be_a_bearer_a_header_or_a_parameter() {
    let served = Served::new();
    let token = &served.token;
    for more in [format!("Authorization: Bearer {token}\r\n"), format!("X-Wyren-Token: {token}\r\n")] {
        let (status, _) = served.raw(head("GET", "/api/version", &served.host(), &more, 0).as_bytes());
        assert_eq!(status, 200);
    }
    let path = format!("/api/version?token={token}");
    assert_eq!(served.raw(head("GET", &path, &served.host(), "", 0).as_bytes()).0, 200);
}

#[test]
fn a_foreign_host_is_refused_on_every_route() {
    let served = Served::new();
    let token = format!("X-Wyren-Token: {}\r\n", served.token);
    for host in ["evil.example", &format!("evil.example:{}", served.port), "127.0.0.1", "127.0.0.1:1"] {
        for path in ["/api/health", "/api/stats", "/no/such/route"] {
            assert_eq!(served.raw(head("GET", path, host, &token, 0).as_bytes()).0, 403, "{host} {path}");
        }
    }
    let twice = format!("Host: evil.example\r\n{token}");
    assert!(matches!(
        served.raw(head("GET", "/api/stats", &served.host(), &twice, 0).as_bytes()).0,
        400 | 403
    ));
}

#[test]
fn a_foreign_origin_is_refused_and_one_of_this_machine_may_read() {
    let served = Served::new();
    let token = format!("X-Wyren-Token: {}\r\n", served.token);
    for origin in ["https://evil.example", "null", "http://localhost.evil.example"] {
        let more = format!("Origin: {origin}\r\n{token}");
        for path in ["/api/health", "/api/stats", "/api/sessions/init"] {
            assert_eq!(
                served.raw(head("POST", path, &served.host(), &more, 0).as_bytes()).0,
                403,
                "{origin}"
            );
        }
    }
    let more = "Origin: http://localhost:5173\r\nAccess-Control-Request-Method: POST\r\n";
    let mut stream = served.connect();
    stream.write_all(head("OPTIONS", "/api/sessions/init", &served.host(), more, 0).as_bytes()).unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    assert!(text.starts_with("HTTP/1.1 204"), "{text}");
    assert!(text.to_lowercase().contains("access-control-allow-origin: http://localhost:5173"), "{text}");
    let more = format!("Origin: http://localhost:5173\r\n{token}");
    assert_eq!(served.raw(head("GET", "/api/stats", &served.host(), &more, 0).as_bytes()).0, 200);
}

#[test]
fn a_body_of_100_mb_is_refused_unread_whether_or_not_it_says_its_length() {
    const SIZE: usize = 100 * 1024 * 1024;
    let served = Served::with(Limits { patience: Duration::from_secs(10), ..Limits::default() });
    let token = format!("X-Wyren-Token: {}\r\n", served.token);
    let mut stream = served.connect();
    stream.write_all(head("POST", "/api/sessions/init", &served.host(), &token, SIZE).as_bytes()).unwrap();
    assert_eq!(answer(&mut stream).0, 413);

    let mut stream = served.connect();
    let chunked = format!(
        "POST /api/sessions/init HTTP/1.1\r\nHost: {}\r\n{token}Transfer-Encoding: chunked\r\n\r\n",
        served.host()
    );
    stream.write_all(chunked.as_bytes()).unwrap();
    let part = vec![b'x'; 64 * 1024];
    let mut sent = 0;
    while sent < SIZE {
        let chunk = [format!("{:x}\r\n", part.len()).as_bytes(), &part, b"\r\n"].concat();
        if stream.write_all(&chunk).is_err() {
            break;
        }
        sent += part.len();
    }
    assert!(sent < SIZE, "all of it was taken");
    assert_eq!(served.get("/api/readiness").0, 200);
}

#[test]
fn a_slow_head_or_body_ends_in_time_and_others_are_answered_meanwhile() {
    let served = Served::new();
    let token = format!("X-Wyren-Token: {}\r\n", served.token);
    let mut body = served.connect();
    body.write_all(head("POST", "/api/sessions/init", &served.host(), &token, 1_000).as_bytes()).unwrap();
    body.write_all(b"{").unwrap();
    let mut beginning = served.connect();
    beginning.write_all(b"GET /api/health HTTP/1.1\r\nHost:").unwrap();
    assert_eq!(served.get("/api/version").0, 200);
    let began = Instant::now();
    assert_eq!(answer(&mut body).0, 408);
    assert!(matches!(answer(&mut beginning).0, 0 | 408));
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn silent_connections_above_the_bound_do_not_keep_others_out() {
    let limits = Limits { connections: 4, patience: Duration::from_millis(300), ..Limits::default() };
    let served = Served::with(limits);
    let silent: Vec<TcpStream> = (0..12).map(|_| served.connect()).collect();
    assert_eq!(served.get("/api/version").0, 200);
    drop(silent);
}

#[test]
fn a_path_leads_to_no_file() {
    let served = Served::new();
    std::fs::write(served.folder.path().join("data/private.txt"), "not for the network").unwrap();
    for path in [
        "/../private.txt",
        "/../../../../etc/passwd",
        "/..%2f..%2fprivate.txt",
        "/%2e%2e/%2e%2e/private.txt",
        "/api/observation/..%2f..%2fprivate.txt",
        "/api/observation/..",
        "/api/prompt/%00",
        "/ui/../../private.txt",
        "//etc/passwd",
        "/api/observations/by-file?path=../../../../etc/passwd",
        "/api/context/inject?project=../../../etc",
    ] {
        let (status, body) = served.get(path);
        assert!(matches!(status, 200 | 400 | 404), "{path}: {status}");
        assert!(!body.contains("not for the network") && !body.contains("root:"), "{path}: {body}");
    }
    // A project's name is one part of a path below our own folder, whatever it says.
    let body = r#"{"contentSessionId":"s","project":"../../../../etc","prompt":"where am I"}"#;
    assert_eq!(served.post("/api/sessions/init", body).0, 200);
    let (_, prompts) = served.get("/api/prompts");
    assert!(prompts.contains("\"project\":\"unknown\""), "{prompts}");
    assert!(!served.folder.path().join("data/serve/by-name").exists(), "it is only a name");
}

#[test]
fn a_listener_that_was_cut_off_gets_what_it_missed() {
    let served = Served::new();
    let listen = |more: &str| {
        let mut stream = served.connect();
        let more = format!("X-Wyren-Token: {}\r\n{more}", served.token);
        stream.write_all(head("GET", "/stream", &served.host(), &more, 0).as_bytes()).unwrap();
        stream
    };
    let until = |stream: &mut TcpStream, wanted: &str| {
        let (mut text, mut part) = (String::new(), [0; 4_096]);
        while !text.contains(wanted) {
            let read = stream.read(&mut part).unwrap();
            assert!(read > 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&part[..read]));
        }
        text
    };
    let mut first = listen("");
    let text = until(&mut first, "processing_status");
    assert!(text.contains("\"type\":\"connected\"") && text.contains("\"type\":\"initial_load\""), "{text}");
    let folder = served.folder.path().display();
    let say = |prompt: &str| {
        let body = format!(r#"{{"contentSessionId":"s","cwd":"{folder}","prompt":"{prompt}"}}"#);
        assert_eq!(served.post("/api/sessions/init", &body).0, 200);
    };
    say("one");
    let text = until(&mut first, "new_prompt");
    let id = text
        .lines()
        .rfind(|line| line.starts_with("id: "))
        .unwrap()
        .trim_start_matches("id: ")
        .trim()
        .to_owned();
    drop(first);
    say("two");
    let mut again = listen(&format!("Last-Event-ID: {id}\r\n"));
    let text = until(&mut again, "\"promptNumber\":2");
    assert!(text.contains("\"replayed\":true") && !text.contains("initial_load"), "{text}");
    assert!(!text.contains("\"promptNumber\":1"), "nothing comes twice: {text}");
    let mut stranger = listen("Last-Event-ID: another-5\r\n");
    assert!(until(&mut stranger, "processing_status").contains("initial_load"));
}

#[test]
fn a_listener_gets_all_of_a_burst() {
    const NOTES: usize = 450;
    let served = Served::new();
    let mut stream = served.connect();
    let token = format!("X-Wyren-Token: {}\r\n", served.token);
    stream.write_all(head("GET", "/stream", &served.host(), &token, 0).as_bytes()).unwrap();
    let notes: Vec<String> = (0..NOTES).map(|note| format!("the shelf {note} holds jars")).collect();
    let folder = served.folder.path().display();
    for note in &notes {
        let body = format!(r#"{{"text":"{note}","cwd":"{folder}"}}"#);
        assert_eq!(served.post("/api/memory/save", &body).0, 200);
    }
    let (mut text, mut part) = (Vec::new(), [0; 65_536]);
    let told = |text: &[u8]| {
        String::from_utf8_lossy(text).lines().filter(|line| line.contains("\"new_observation\"")).count()
    };
    while told(&text) < NOTES {
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "the stream ended after {} of {NOTES}", told(&text));
        text.extend_from_slice(&part[..read]);
    }
    let text = String::from_utf8_lossy(&text);
    let missing: Vec<&String> = notes.iter().filter(|note| !text.contains(&***note)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_is_private_secret_or_excluded_stays_out_as_it_does_from_a_hook() {
    let served = Served::new();
    let folder = served.folder.path().display().to_string();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let call = |session: &str, text: &str| {
        format!(
            r#"{{"contentSessionId":"{session}","cwd":"{folder}","tool_name":"Bash","tool_input":{{"command":"{text}"}},"tool_response":{{"stdout":"{text}"}}}}"#
        )
    };
    let (status, body) = served.post(
        "/api/sessions/init",
        &format!(r#"{{"contentSessionId":"p","cwd":"{folder}","prompt":"<private>hidden words</private>"}}"#),
    );
    assert!(status == 200 && body.contains("\"reason\":\"private\""), "{body}");
    let (_, body) = served.post("/api/sessions/observations", &call("p", "under the hidden prompt"));
    assert!(body.contains("\"reason\":\"private\""), "{body}");
    let (_, body) = served.post("/api/sessions/observations", &call("q", &secret));
    assert!(body.contains("queued"), "{body}");
    let (_, body) =
        served.post("/api/memory/save", &format!(r#"{{"text":"use {secret}","cwd":"{folder}"}}"#));
    assert!(body.contains("[redacted:github]"), "{body}");
    let (_, body) = served.post("/api/sessions/observations", &call("q", "x").replace("Bash", "TodoWrite"));
    assert!(body.contains("tool_excluded"), "{body}");
    let elsewhere = served.folder.path().join("clients/nda-shop").display().to_string();
    let prompt = |facts: &str| {
        let body = format!(r#"{{"contentSessionId":"x","prompt":"kept from everyone",{facts}}}"#);
        served.post("/api/sessions/init", &body).1
    };
    // By its folder, and by its name without a folder: claude-mem's hooks send the name with a prompt.
    for facts in [format!(r#""cwd":"{elsewhere}""#), r#""project":"nda-shop""#.to_owned()] {
        assert!(prompt(&facts).contains("\"reason\":\"project_excluded\""), "{facts}");
    }
    let kept = r#"{"text":"kept from everyone","project":"nda-shop"}"#;
    assert_eq!(served.post("/api/memory/save", kept).0, 400);
    for reason in ["<private>closed for Ada</private>", "left <private>closed for Ada", &secret] {
        let body = format!(r#"{{"contentSessionId":"q","cwd":"{folder}","reason":"{reason}"}}"#);
        assert_eq!(served.post("/api/sessions/complete", &body).0, 200, "{reason}");
    }
    served.get("/api/observations");
    for text in ["closed for Ada", "hidden words", "under the hidden prompt", "kept from everyone", &secret] {
        let found = find_in(&served.folder.path().join("data"), text);
        assert!(found.is_empty(), "{text} is in {found:?}");
    }
}

#[test]
fn another_projects_memory_is_in_no_answer_about_one() {
    let served = Served::new();
    let save = |folder: &str, text: &str| {
        let cwd = served.folder.path().join(folder);
        std::fs::create_dir_all(&cwd).unwrap();
        let body = format!(r#"{{"text":"{text}","cwd":"{}"}}"#, cwd.display());
        assert_eq!(served.post("/api/memory/save", &body).0, 200);
    };
    save("shop", "The rounding of invoice prices is half to even");
    let ask = |project: &str| {
        let body = format!(r#"{{"q":"how is the rounding of invoice prices done","project":"{project}"}}"#);
        let semantic = served.post("/api/context/semantic", &body);
        let timeline = served.get(&format!("/api/timeline?query=rounding+prices&project={project}"));
        let inject = served.get(&format!("/api/context/inject?project={project}"));
        [semantic, timeline, inject]
    };
    assert!(ask("shop").iter().all(|(status, text)| *status == 200 && text.contains("half to even")));
    for (status, text) in ask("unknown") {
        assert!(status == 200 && !text.contains("half to even"), "{text}");
    }
    // Two folders with one name: a session is shown neither's memory, and the reason.
    save("other/shop", "The shop of another customer rounds prices down");
    let [semantic, _, inject] = ask("shop");
    for (status, text) in [semantic, inject] {
        assert!(status == 400 && text.contains("names 2 projects"), "{status} {text}");
    }
}

#[test]
fn filters_that_the_index_does_not_know_find_all_that_pass_them() {
    let served = Served::new();
    let row = |number: u64, source: &str, concept: &str| {
        let at = 1_790_000_000_000 + number * 60_000;
        format!(
            r#"{{"id":{number},"memory_session_id":"{source}","project":"shop","type":"discovery","title":"The cache of part {number} was stale","concepts":"[\"{concept}\"]","created_at_epoch":{at}}}"#
        )
    };
    let mut rows: Vec<String> = (1..=40).map(|number| row(number, "claude", "gotcha")).collect();
    rows.push(row(50, "codex", "pattern"));
    let session = |number: u64, source: &str| {
        format!(
            r#"{{"id":{number},"content_session_id":"{source}","memory_session_id":"{source}","project":"shop","platform_source":"{source}","started_at_epoch":1790000000000}}"#
        )
    };
    let body = format!(
        r#"{{"sessions":[{},{}],"observations":[{}]}}"#,
        session(1, "claude"),
        session(2, "codex"),
        rows.join(",")
    );
    assert_eq!(served.post("/api/import", &body).0, 200);
    let found = |more: &str| served.get(&format!("/api/search?format=json&limit=5{more}")).1;
    for words in ["&query=stale+cache+part+1", ""] {
        for filter in ["&platformSource=codex", "&concepts=pattern"] {
            let text = found(&format!("{words}{filter}"));
            assert!(
                text.contains("part 50") && text.contains("\"totalResults\":1"),
                "{words}{filter}: {text}"
            );
        }
        let oldest = found(&format!("{words}&orderBy=date_asc&type=observations&project=shop"));
        let at = |number: u64| oldest.find(&format!("part {number} "));
        assert!(at(1).is_some() && at(1) < at(2) && at(2) < at(5) && at(6).is_none(), "{oldest}");
    }
    assert_eq!(served.get("/api/search?query=cache&orderBy=sideways").0, 400);
}

#[test]
fn an_anchor_of_another_project_is_none_of_the_one_that_was_asked_about() {
    let served = Served::new();
    let save = |folder: &str, text: &str| -> String {
        let cwd = served.folder.path().join(folder);
        std::fs::create_dir_all(&cwd).unwrap();
        let body = format!(r#"{{"text":"{text}","cwd":"{}"}}"#, cwd.display());
        let (status, answer) = served.post("/api/memory/save", &body);
        assert_eq!(status, 200, "{answer}");
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        answer["wyren_id"].as_str().unwrap().to_owned()
    };
    let (shop, bank) = (save("shop", "Prices round half to even"), save("bank", "The vault opens at nine"));
    for (anchor, project, expected) in [
        (&bank, "&project=shop", false),
        (&bank, "&project=unknown", false),
        (&bank, "&project=bank", true),
        (&bank, "", true),
        (&shop, "&project=bank", false),
    ] {
        let (status, text) = served.get(&format!("/api/timeline?anchor={anchor}{project}"));
        let is_shown = text.contains("vault") || text.contains("half to even");
        assert!(status == 200 && is_shown == expected, "{anchor}{project}: {text}");
    }
}

#[test]
fn several_files_and_types_are_all_looked_for() {
    let served = Served::new();
    let row = |number: u64, file: &str| {
        format!(
            r#"{{"id":{number},"memory_session_id":"m","project":"shop","type":"discovery","title":"The cache of part {number} was stale","files_modified":"[\"{file}\"]","created_at_epoch":{}}}"#,
            1_790_000_000_000 + number * 60_000
        )
    };
    let body = format!(
        r#"{{"sessions":[{{"id":1,"content_session_id":"m","memory_session_id":"m","project":"shop","started_at_epoch":1790000000000}}],"observations":[{},{},{}],"summaries":[{{"id":1,"memory_session_id":"m","project":"shop","request":"Look after the cache","created_at_epoch":1790000000000}}]}}"#,
        row(1, "src/price.rs"),
        row(2, "src/tax.rs"),
        row(3, "docs/price.rs.md")
    );
    assert_eq!(served.post("/api/import", &body).0, 200);
    let parts = |path: &str| -> String {
        let (status, text) = served.get(path);
        assert_eq!(status, 200, "{path}: {text}");
        (1..=3).filter(|part| text.contains(&format!("part {part} "))).map(|part| part.to_string()).collect()
    };
    for words in ["", "query=stale+cache&"] {
        for (files, expected) in [
            ("src/tax.rs", "2"),
            ("src/nothing.rs,src/price.rs", "1"),
            ("src/price.rs,src/tax.rs", "12"),
            ("/home/ada/shop/src/price.rs", "1"),
            ("src", "12"),
            ("rice.rs", ""),
        ] {
            assert_eq!(parts(&format!("/api/search?{words}files={files}")), expected, "{words}{files}");
        }
    }
    for (file, expected) in [
        ("price.rs", "1"),
        ("src/price.rs", "1"),
        ("/home/ada/shop/src/tax.rs", "2"),
        ("src/", "12"),
        (".%5Csrc%5Ctax.rs", "2"),
        ("x.rs", ""),
    ] {
        assert_eq!(parts(&format!("/api/search/by-file?filePath={file}")), expected, "{file}");
    }
    let (_, both) = served.get("/api/search?type=observations,sessions&format=json");
    assert!(both.contains("part 1 ") && both.contains("Look after the cache"), "{both}");
    let (_, one) = served.get("/api/search?type=sessions&format=json");
    assert!(!one.contains("part 1 ") && one.contains("Look after the cache"), "{one}");
}

#[test]
fn a_number_that_is_no_moment_is_refused_as_a_date() {
    let served = Served::new();
    for (date, status) in [
        ("2026", 400),
        ("20261118", 400),
        ("1790000000", 400),
        ("0", 200),
        ("1790000000000", 200),
        ("2026-11-18", 200),
    ] {
        let millis = served.get("/api/timeline?anchor=1790000000000");
        assert!(millis.0 == 200 && millis.1.contains("No observation matches"), "{millis:?}");
        for name in ["dateStart", "dateEnd"] {
            assert_eq!(served.get(&format!("/api/search?{name}={date}")).0, status, "{name}={date}");
        }
    }
}

#[test]
fn a_request_with_too_many_names_is_refused() {
    let served = Served::new();
    let paths = "path=a&".repeat(600);
    assert_eq!(served.get(&format!("/api/observations/by-file?{paths}")).0, 400);
    let names = "a,".repeat(20_000);
    for path in
        ["/api/observations?projects=", "/api/search?query=x&obs_type=", "/api/search?query=x&project="]
    {
        assert_eq!(served.get(&format!("{path}{names}")).0, 400, "{path}");
    }
}

#[test]
fn what_waits_is_drained_to_the_end_without_another_request() {
    // More than a request and the look after it drain at a time.
    const LINES: usize = 12_000;
    let served = Served::new();
    let folder = served.paths.spool().join("0123456789abcdef");
    std::fs::create_dir_all(&folder).unwrap();
    let line = |number: usize| {
        let at = 1_790_000_000_000 + number;
        format!(
            "{{\"v\":2,\"kind\":\"seen\",\"id\":\"n:{number}\",\"ts\":{at},\"session\":\"s\",\"cwd\":\"/p\",\"data\":{{}}}}\n"
        )
    };
    std::fs::write(folder.join("1.jsonl"), (0..LINES).map(line).collect::<String>()).unwrap();
    let cwd = served.folder.path().display();
    let body = format!(r#"{{"contentSessionId":"t","cwd":"{cwd}","prompt":"last"}}"#);
    assert_eq!(served.post("/api/sessions/init", &body).0, 200);
    let until = Instant::now() + PATIENCE;
    loop {
        let (_, status) = served.get("/api/processing-status");
        if status.contains("\"queueDepth\":0") {
            break;
        }
        assert!(Instant::now() < until, "{status}");
        std::thread::sleep(Duration::from_millis(20));
    }
    let store = journal::open_store(&served.paths).unwrap();
    let count: usize = store
        .connection()
        .query_row("SELECT count(*) FROM observations WHERE kind = 'seen'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, LINES);
}

#[test]
fn a_start_that_comes_too_late_makes_no_token() {
    let served = Served::new();
    // The one that comes too late changes nothing, though there is no token for a moment.
    std::fs::remove_file(token::file(&served.paths)).unwrap();
    let env = Env::fixed([("WYREN_DATA_DIR", served.folder.path().join("data"))]);
    let second =
        local::serve(env, served.paths.clone(), 0, "1", Limits::default(), |_| {}, std::future::pending());
    assert!(matches!(second, Err(serve::Error::Running)));
    assert_eq!(token::read(&served.paths), None);
    std::fs::write(token::file(&served.paths), &served.token).unwrap();
}

#[test]
fn a_prompt_is_recorded_though_the_database_is_damaged() {
    let served = Served::new();
    std::fs::write(served.paths.database(), "no database ".repeat(1_000)).unwrap();
    let cwd = served.folder.path().display();
    let body = format!(r#"{{"contentSessionId":"s","cwd":"{cwd}","prompt":"said all the same"}}"#);
    let (status, answer) = served.post("/api/sessions/init", &body);
    assert_eq!(status, 200, "{answer}");
    assert!(!find_in(&served.paths.spool(), "said all the same").is_empty());
}

#[cfg(unix)]
#[test]
fn a_database_that_was_replaced_is_opened_anew() {
    let served = Served::new();
    let save = |served: &Served, text: &str| {
        let body = format!(r#"{{"text":"{text}","cwd":"{}"}}"#, served.folder.path().display());
        assert_eq!(served.post("/api/memory/save", &body).0, 200);
        served.get("/api/observations").1
    };
    assert!(save(&served, "In the damaged one").contains("damaged"));
    let repaired = Served::new();
    assert!(save(&repaired, "In the repaired one").contains("repaired"));
    // As a repair does: everything into one file, which takes the place of the other.
    let store = journal::open_store(&repaired.paths).unwrap();
    store.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let file = served.paths.database();
    for ending in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
    }
    let fresh = file.with_extension("new");
    std::fs::copy(repaired.paths.database(), &fresh).unwrap();
    std::fs::rename(&fresh, &file).unwrap();
    let listed = save(&served, "After the repair");
    assert!(listed.contains("repaired") && listed.contains("After the repair"), "{listed}");
}

#[test]
fn what_was_forgotten_meanwhile_is_not_replayed() {
    let served = Served::new();
    let listen = |more: &str| {
        let mut stream = served.connect();
        let more = format!("X-Wyren-Token: {}\r\n{more}", served.token);
        stream.write_all(head("GET", "/stream", &served.host(), &more, 0).as_bytes()).unwrap();
        stream
    };
    let until = |stream: &mut TcpStream, wanted: &str| {
        let (mut text, mut part) = (String::new(), [0; 4_096]);
        while !text.contains(wanted) {
            let read = stream.read(&mut part).unwrap();
            assert!(read > 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&part[..read]));
        }
        text
    };
    let mut first = listen("");
    until(&mut first, "initial_load");
    let folder = served.folder.path().display();
    for text in ["The tunnel key is under the mat", "The lamp is blue"] {
        let body = format!(r#"{{"text":"{text}","cwd":"{folder}"}}"#);
        assert_eq!(served.post("/api/memory/save", &body).0, 200);
    }
    let seen = until(&mut first, "\"new_observation\"");
    let id = seen.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().trim().to_owned();
    let word = id.rsplit_once('-').unwrap().0.to_owned();
    let mut store = journal::open_store(&served.paths).unwrap();
    store
        .write(|transaction| {
            transaction.execute("DELETE FROM entries WHERE title LIKE '%tunnel%'", [])?;
            Ok::<_, store::Error>(())
        })
        .unwrap();
    let mut again = listen(&format!("Last-Event-ID: {word}-0\r\n"));
    let text = until(&mut again, "The lamp is blue");
    assert!(!text.contains("tunnel"), "{text}");
}

/// Returns the files below a folder that have a text.
fn find_in(folder: &Path, text: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(find_in(&path, text));
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn only_one_server_of_a_data_folder_runs_and_a_foreign_one_is_not_ours() {
    let served = Served::new();
    assert_eq!(local::look(&served.paths, served.port), local::Found::Ours);
    let env = Env::fixed([("WYREN_DATA_DIR", served.folder.path().join("data"))]);
    let second =
        local::serve(env, served.paths.clone(), 0, "1", Limits::default(), |_| {}, std::future::pending());
    assert!(matches!(second, Err(serve::Error::Running)));
    let other = Paths::of(&Env::fixed([("WYREN_DATA_DIR", served.folder.path().join("other"))]));
    assert_eq!(local::look(&other, served.port), local::Found::OtherWyren);
    assert!(!local::stop(&other, served.port).unwrap(), "a server of another data folder is left alone");
    let foreign = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = foreign.local_addr().unwrap().port();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = foreign.accept().unwrap();
        let mut bytes = [0; 2_048];
        let read = stream.read(&mut bytes).unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    });
    assert!(!local::stop(&served.paths, port).unwrap());
    assert!(
        !heard.join().unwrap().contains(&served.token),
        "the token is not sent to a program that is not ours"
    );
}
