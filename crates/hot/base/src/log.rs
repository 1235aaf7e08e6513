//! The hook log: one JSON object per line in `logs/hooks.jsonl`. It holds no text that a hook was given or gave: those are
//! observations.
//!
//! A line is one append of one write, so parallel hooks do not mix; rotation looks at the size of the open file
//! and renames it, so a line costs the same however long the log is. A writer that still holds the renamed file
//! finishes its line there: nothing is lost.

use crate::settings::{LOG_LEVELS, Settings};
use crate::{Timestamp, files, system};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use text::{privacy, redact};

/// The most characters of a message.
const MAX_MESSAGE_CHARS: usize = 500;

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For debugging a hook.
    Debug,
    /// What a hook did.
    Info,
    /// Something was odd and worked around.
    Warn,
    /// Something failed; the hook stayed silent.
    Error,
    /// An error that is also shown to the user.
    Alert,
}

impl Level {
    const ALL: [Self; 5] = [Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Alert];

    /// Returns the level's name.
    pub fn name(self) -> &'static str {
        LOG_LEVELS[self as usize]
    }

    fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|level| level.name() == name).unwrap_or(Self::Debug)
    }
}

/// One line of the log.
#[derive(Debug)]
pub struct Line<'a> {
    /// When.
    pub at: Timestamp,
    /// How much it matters.
    pub level: Level,
    /// The hook's binary.
    pub hook: &'a str,
    pub event: &'a str,
    /// The session, where there is one.
    pub session: Option<&'a str>,
    /// Milliseconds since the hook began.
    pub millis: f64,
    /// What happened.
    pub message: &'a str,
}

impl Line<'_> {
    /// Returns the line as JSON with its line end; secrets are taken out and a long message is cut.
    pub fn to_json(&self) -> String {
        let mut json = String::with_capacity(256);
        json.push_str("{\"ts\":\"");
        json.push_str(&self.at.to_string());
        json.push_str("\",\"level\":\"");
        json.push_str(self.level.name());
        json.push('"');
        push_field(&mut json, "hook", self.hook);
        push_field(&mut json, "event", self.event);
        if let Some(session) = self.session {
            push_field(&mut json, "session", cut(session, MAX_MESSAGE_CHARS));
        }
        json.push_str(&format!(",\"ms\":{:.2}", self.millis));
        push_field(&mut json, "msg", cut(&safe(self.message), MAX_MESSAGE_CHARS));
        json.push_str("}\n");
        json
    }
}

/// Returns a text that may be logged: private parts and secrets taken out.
pub fn safe(text: &str) -> Cow<'_, str> {
    match privacy::strip_private(text) {
        Cow::Borrowed(text) => redact::redact(text),
        Cow::Owned(text) => Cow::Owned(redact::redact(&text).into_owned()),
    }
}

fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(at, _)| &text[..at])
}

fn push_field(json: &mut String, name: &str, value: &str) {
    json.push_str(",\"");
    json.push_str(name);
    json.push_str("\":");
    push_string(json, value);
}

fn push_string(json: &mut String, text: &str) {
    json.push_str(&serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned()));
}

/// The log of all hooks of one user.
#[derive(Debug)]
pub struct Log {
    file: PathBuf,
    enabled: bool,
    level: Level,
    max_bytes: u64,
}

impl Log {
    /// Returns the log at `file` as the settings want it.
    pub fn new(file: PathBuf, settings: &Settings) -> Self {
        Self {
            file,
            enabled: settings.is_on("log.enabled"),
            level: Level::from_name(&settings.get("log.level")),
            max_bytes: settings.number("log.max_bytes"),
        }
    }

    /// Returns the log's file, unless it is switched off.
    pub fn file(&self) -> Option<&Path> {
        self.enabled.then_some(&*self.file)
    }

    /// Says whether a line of this level is written.
    pub fn takes(&self, level: Level) -> bool {
        self.enabled && level >= self.level
    }

    /// Appends a line. A log that cannot be written is no reason to fail.
    pub fn write(&self, line: &Line<'_>) {
        if self.takes(line.level) {
            let _ = self.append(line.to_json().as_bytes());
        }
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut file = files::open_append(&self.file)?;
        if file.metadata()?.len() > self.max_bytes && self.rotate(&file)? {
            file = files::open_append(&self.file)?;
        }
        file.write_all(line)
    }

    /// Renames the full log; `false` when another hook is at it, or was quicker.
    fn rotate(&self, full: &File) -> io::Result<bool> {
        if system::try_lock(full).is_err() {
            return Ok(false);
        }
        if system::is_same_file(full, &self.file)? {
            system::rename(&self.file, &rotated(&self.file))?;
        }
        Ok(true)
    }
}

/// Returns the name that a full log gets: `hooks.1.jsonl` for `hooks.jsonl`.
pub fn rotated(file: &Path) -> PathBuf {
    file.with_extension("1.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Env;
    use serde_json::Value;
    use std::fs;

    fn line(message: &str) -> Line<'_> {
        Line {
            at: Timestamp::from_millis(1_794_796_001_123),
            level: Level::Info,
            hook: "lesson-inject",
            event: "PreToolUse",
            session: Some("s-1"),
            millis: 0.214,
            message,
        }
    }

    fn log(folder: &Path, variables: &[(&str, &str)], conf: &str) -> Log {
        let env = Env::fixed(variables.iter().copied());
        let settings = folder.join("hooks.conf");
        fs::write(&settings, format!("wyren hooks 1\n{conf}")).unwrap();
        Log::new(folder.join("logs/hooks.jsonl"), &Settings::read(&env, &settings))
    }

    fn lines(file: &Path) -> Vec<Value> {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    #[test]
    fn a_line_has_the_documented_fields_in_order() {
        let line = line("HOOK_OUTPUT [context] 5 chars");
        let expected = concat!(
            r#"{"ts":"2026-11-16T02:26:41.123Z","level":"info","hook":"lesson-inject","event":"PreToolUse","#,
            r#""session":"s-1","ms":0.21,"msg":"HOOK_OUTPUT [context] 5 chars"}"#,
            "\n"
        );
        assert_eq!(line.to_json(), expected);
    }

    #[test]
    fn secrets_are_taken_out_and_long_messages_cut() {
        let secret = concat!("gh", "p_abcdefghijklmnopqrstuvwxyz0123456789");
        let text = format!("key {secret} {}", "x".repeat(10_000));
        let json = line(&text).to_json();
        assert!(!json.contains(secret), "{json}");
        assert!(json.len() < 1_000);
        assert!(serde_json::from_str::<Value>(&json).is_ok());
    }

    #[test]
    fn levels_and_off_switches_are_obeyed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("logs/hooks.jsonl");
        log(folder.path(), &[("HOOK_LOG_LEVEL", "warn")], "").write(&line("mild"));
        log(folder.path(), &[("HOOK_LOG_DISABLE", "1")], "").write(&line("off"));
        assert!(!file.exists());
        for level in ["unknown", "trace"] {
            let debug = Line { level: Level::Debug, ..line(level) };
            log(folder.path(), &[("HOOK_LOG_LEVEL", level)], "").write(&debug);
        }
        assert_eq!((&lines(&file)[0]["msg"], &lines(&file)[1]["msg"]), (&"unknown".into(), &"trace".into()));
    }

    #[test]
    fn after_several_rotations_each_writers_newest_lines_are_there_without_a_gap() {
        const LINES: u64 = 10;
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path(), &[], "log.max_bytes=16384\n");
        let padding = "x".repeat(400);
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let (log, padding) = (&log, &padding);
                scope.spawn(move || {
                    for number in 0..LINES {
                        log.write(&line(&format!("{writer}:{number} {padding}")));
                    }
                });
            }
        });
        let current = folder.path().join("logs/hooks.jsonl");
        let old = rotated(&current);
        assert!(old.ends_with("hooks.1.jsonl") && fs::metadata(&old).unwrap().len() > 16_384);
        assert!(fs::metadata(&current).unwrap().len() < 20_000);
        let kept: Vec<Value> = [lines(&old), lines(&current)].concat();
        for writer in 0..8 {
            let number = |line: &Value| {
                let (of, rest) = line["msg"].as_str()?.split_once(':')?;
                let number = rest.split_once(' ')?.0.parse::<u64>().ok()?;
                (of == writer.to_string()).then_some(number)
            };
            let mut numbers: Vec<u64> = kept.iter().filter_map(number).collect();
            numbers.sort_unstable();
            let newest: Vec<u64> = (LINES - numbers.len() as u64..LINES).collect();
            assert_eq!(numbers, newest, "writer {writer}");
        }
    }

    #[test]
    fn one_rotation_keeps_every_line() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path(), &[], "log.max_bytes=16384\n");
        let padding = "x".repeat(400);
        std::thread::scope(|scope| {
            for writer in 0..5 {
                let (log, padding) = (&log, &padding);
                scope.spawn(move || {
                    for number in 0..8 {
                        log.write(&line(&format!("{writer}:{number} {padding}")));
                    }
                });
            }
        });
        let current = folder.path().join("logs/hooks.jsonl");
        assert!(rotated(&current).exists());
        let mut all = lines(&current);
        all.extend(lines(&rotated(&current)));
        let mut messages: Vec<String> = all.iter().map(|line| line["msg"].to_string()).collect();
        messages.sort();
        messages.dedup();
        assert_eq!(messages.len(), 40);
    }
}
