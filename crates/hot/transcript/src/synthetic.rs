//! Made-up project trees of any size, for benchmarks and load tests.
//!
//! The mix follows what was measured: lines of about 11.6 kB on average, most of them small and most of the bytes in
//! tool results, which the client stores twice. Escapes are about as dense as in source code: one in 29 bytes, a quote
//! in 116 (Rust sources: 26 and 105). Letters beyond ASCII, one in 480 bytes, lie between Rust's 176 and Python's
//! 2,776. Sessions, times and the ids of prompts and calls are as the client has them: a record a second, and a result for
//! nearly every call. The same seed gives the same tree.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The size at which a transcript is full: 1 GiB makes about 320 of them.
const TRANSCRIPT_BYTES: u64 = 3_350_000;

/// Every so many transcripts, one belongs to a subagent of the session before.
const TRANSCRIPTS_PER_SUBAGENT: u64 = 4;

/// Sessions in one project folder.
const TRANSCRIPTS_PER_PROJECT: u64 = 20;

/// One tool result in so many is an error.
const RESULTS_PER_ERROR: u64 = 25;

const WRITE_BUFFER_BYTES: usize = 1024 * 1024;

/// How much text is made once and then quoted from.
const POOL_LINES: usize = 2_000;

const WORDS: &[&str] = &[
    "the", "error", "value", "return", "config", "request", "struct", "parse", "file", "line", "test",
    "should", "path", "branch", "commit", "let", "match", "result", "session", "handler", "while", "import",
    "server", "index",
];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Generated {
    pub files: u64,
    /// Lines in all of them.
    pub lines: u64,
    /// Bytes in all of them.
    pub bytes: u64,
    /// Tool results that are errors.
    pub tool_errors: u64,
}

/// Writes a projects folder of about `bytes` bytes below `root`, never less.
pub fn write_tree(root: &Path, bytes: u64, seed: u64) -> Result<Generated, Error> {
    let mut writer = Writer::new(seed);
    let mut total = Generated::default();
    while total.bytes < bytes {
        let path = transcript_path(root, total.files);
        let wanted = TRANSCRIPT_BYTES.min(bytes - total.bytes);
        let written = writer.write_transcript(&path, wanted)?;
        total.files += 1;
        total.lines += written.lines;
        total.bytes += written.bytes;
        total.tool_errors += written.tool_errors;
    }
    Ok(total)
}

/// Writes one transcript of about `bytes` bytes, never less.
pub fn write_transcript(path: &Path, bytes: u64, seed: u64) -> Result<Generated, Error> {
    Writer::new(seed).write_transcript(path, bytes)
}

fn transcript_path(root: &Path, number: u64) -> PathBuf {
    let project = root.join(format!("-home-dev-project-{}", number / TRANSCRIPTS_PER_PROJECT));
    if number % TRANSCRIPTS_PER_SUBAGENT == TRANSCRIPTS_PER_SUBAGENT - 1 {
        project.join(session(number - 1)).join("subagents").join(format!("agent-a{number:016x}.jsonl"))
    } else {
        project.join(format!("{}.jsonl", session(number)))
    }
}

fn session(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012x}")
}

struct Writer {
    random: Random,
    /// Lines of text, escaped as they stand in JSON.
    pool: Vec<String>,
    line: String,
    uuid: String,
    records: u64,
    messages: u64,
    /// Calls of this transcript that have no result yet.
    calls: Vec<u64>,
    session: String,
    is_sidechain: bool,
    /// The record of the last prompt.
    prompt: u64,
}

impl Writer {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let pool = (0..POOL_LINES).map(|_| text_line(&mut random)).collect();
        Self {
            random,
            pool,
            line: String::new(),
            uuid: "null".to_owned(),
            records: 0,
            messages: 0,
            calls: Vec::new(),
            session: String::new(),
            is_sidechain: false,
            prompt: 0,
        }
    }

    fn write_transcript(&mut self, path: &Path, bytes: u64) -> Result<Generated, Error> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::write(folder))?;
        }
        let file = File::create(path).map_err(Error::write(path))?;
        let mut file = BufWriter::with_capacity(WRITE_BUFFER_BYTES, file);
        let mut written = Generated { files: 1, ..Generated::default() };
        self.uuid = "null".to_owned();
        self.calls.clear();
        let folder = path.parent().unwrap_or(path);
        self.is_sidechain = folder.ends_with("subagents");
        let named =
            if self.is_sidechain { folder.parent().and_then(Path::file_name) } else { path.file_stem() };
        self.session = named.unwrap_or_default().to_string_lossy().into_owned();
        while written.bytes < bytes {
            written.tool_errors += u64::from(self.next_line(written.lines == 0));
            file.write_all(self.line.as_bytes()).map_err(Error::write(path))?;
            written.lines += 1;
            written.bytes += self.line.len() as u64;
        }
        file.flush().map_err(Error::write(path))?;
        Ok(written)
    }

    /// Makes the next line; returns whether it is a failed tool call.
    fn next_line(&mut self, is_first: bool) -> bool {
        self.line.clear();
        let kind = if is_first { 0 } else { self.random.below(100) };
        let _ = write!(self.line, r#"{{"parentUuid":{},"isSidechain":{},"#, self.uuid, self.is_sidechain);
        let mut is_error = false;
        match kind {
            0..4 => {
                self.line.push_str(r#""type":"user","message":{"role":"user","content":""#);
                self.text(100, 1_500);
                self.prompt = self.records;
                self.calls.clear();
                let _ = write!(self.line, r#""}},"promptSource":"typed","promptId":"{:032x}","#, self.prompt);
            }
            4..18 => {
                self.line.push_str(r#""attachment":{"type":"hook_success","hookName":"PreToolUse:Bash","hookEvent":"PreToolUse","content":"","stdout":""#);
                self.text(200, 6_000);
                self.line.push_str(r#"","stderr":"","exitCode":0,"durationMs":12},"type":"attachment","#);
            }
            18..36 => {
                self.messages += 1;
                self.assistant_opening();
                self.line.push_str(r#"{"type":"text","text":""#);
                self.text(200, 4_000);
                self.line.push_str(r#""}"#);
                self.assistant_closing();
            }
            36..68 => {
                self.calls.push(self.records);
                // Half of the calls are a further block of the message before.
                self.messages += self.random.below(2);
                self.assistant_opening();
                let _ = write!(
                    self.line,
                    r#"{{"type":"tool_use","id":"toolu_{:024x}","name":"Bash","input":{{"command":""#,
                    self.records
                );
                self.text(50, 2_500);
                self.line.push_str(r#"","description":"x"}}"#);
                self.assistant_closing();
            }
            _ => {
                is_error = self.random.below(RESULTS_PER_ERROR) == 0;
                self.tool_result(is_error);
            }
        }
        self.records += 1;
        self.uuid = format!(r#""{:08x}-0000-4000-8000-{:012x}""#, self.random.next() as u32, self.records);
        let _ = writeln!(
            self.line,
            r#""uuid":{},"timestamp":"{}","userType":"external","entrypoint":"cli","cwd":"/home/dev/project","sessionId":"{}","version":"2.1.197","gitBranch":"main"}}"#,
            self.uuid,
            stamp(self.records),
            self.session
        );
        is_error
    }

    fn tool_result(&mut self, is_error: bool) {
        let _ = write!(
            self.line,
            r#""type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_{:024x}","type":"tool_result","content":""#,
            self.calls.pop().unwrap_or(self.records)
        );
        let start = self.line.len();
        match self.random.below(100) {
            0..70 => self.text(200, 8_000),
            70..95 => self.text(8_000, 48_000),
            _ => self.text(48_000, 160_000),
        }
        let output = self.line[start..].to_owned();
        let _ = write!(
            self.line,
            r#"","is_error":{is_error}}}]}},"toolUseResult":{{"stdout":"{output}","stderr":"","interrupted":false}},"#
        );
    }

    fn assistant_opening(&mut self) {
        let _ = write!(
            self.line,
            r#""message":{{"id":"msg_{:024x}","type":"message","role":"assistant","model":"claude-opus-4-8","content":["#,
            self.messages
        );
    }

    fn assistant_closing(&mut self) {
        let _ = write!(
            self.line,
            r#"],"stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":{},"cache_creation_input_tokens":100,"cache_read_input_tokens":20000,"output_tokens":43,"server_tool_use":{{"web_search_requests":0,"web_fetch_requests":0}},"service_tier":"standard","cache_creation":{{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0}}}}}},"requestId":"req_{:024x}","type":"assistant","#,
            self.messages % 1_000,
            self.messages
        );
    }

    /// Adds at least `least` and about `most` bytes of text at most.
    fn text(&mut self, least: u64, most: u64) {
        let wanted = (least + self.random.below(most - least)) as usize;
        let end = self.line.len() + wanted;
        while self.line.len() < end {
            let choice = self.random.below(self.pool.len() as u64) as usize;
            self.line.push_str(&self.pool[choice]);
        }
    }
}

/// Makes a line of text, or of code with its quotes and indentation.
fn text_line(random: &mut Random) -> String {
    let mut line = " ".repeat(4 * random.below(5) as usize);
    for _ in 0..2 + random.below(5) {
        let word = WORDS[random.below(WORDS.len() as u64) as usize];
        match random.below(100) {
            0..4 => line.push_str(&format!(r#"\"{word}\""#)),
            4..15 => line.push_str(&format!("{word}();")),
            15..17 => line.push('→'),
            _ => line.push_str(word),
        }
        line.push(' ');
    }
    line.push_str(r"\n");
    line
}

/// Returns the time of a record.
fn stamp(record: u64) -> String {
    let (day, second) = (record / 86_400 % 28 + 1, record % 86_400);
    format!("2026-11-{day:02}T{:02}:{:02}:{:02}.611Z", second / 3_600, second / 60 % 60, second % 60)
}

/// SplitMix64: small, and good enough to vary lengths.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
