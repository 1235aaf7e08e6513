//! A scan of the client's transcripts, word for word. They are never indexed.
//!
//! The newest come first, for a bounded time. Prompts that are private and everything under them are left out, and so are what the
//! client wrote about the conversation itself (its summaries may quote them), thinking, and folders that the user excluded.
//! What is handed on has no known secret and no private part.

use crate::highlight::Words;
use crate::query::Filter;
use base::project::Project;
use base::{Timestamp, files};
use capture::Rules;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use text::{privacy, redact};
use transcript::record::{Body, Record};
use transcript::{Act, Conversation, Reader, Scope, subagent, tree};

/// How much of one message is looked at.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Person,
    Model,
    /// A call, or what it returned.
    Tool,
}

impl By {
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "prompt",
            Self::Model => "reply",
            Self::Tool => "tool",
        }
    }
}

/// A message with words of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub by: By,
    pub session: String,
    /// The project's key.
    pub project: String,
    /// Milliseconds since 1970.
    pub at: u64,
    /// The line that has most of the words.
    pub line: String,
    /// How many of the words the message has.
    pub has: usize,
}

/// What a scan found, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    pub said: Vec<Said>,
    pub sessions: usize,
    /// How many sessions there was no time for.
    pub left: usize,
}

/// A scan of the transcripts below a folder.
#[derive(Debug)]
pub struct Scan<'a> {
    pub folder: &'a Path,
    pub rules: &'a Rules,
    /// Of it, project, session, branch and times count.
    pub filter: &'a Filter,
    pub limit: usize,
    pub most_time: Duration,
}

impl Scan<'_> {
    /// Scans; `report` hears how many bytes of how many are done.
    pub fn run(
        &self,
        words: &mut Words,
        mut report: impl FnMut(u64, u64),
    ) -> Result<Scanned, transcript::Error> {
        let began = Instant::now();
        let is_of_session =
            |path: &PathBuf| path.parent().and_then(Path::file_name) != Some(OsStr::new("subagents"));
        let paths = tree::walk(self.folder)?.transcripts.into_iter().filter(is_of_session);
        let mut sessions: Vec<(SystemTime, u64, PathBuf)> = paths
            .filter_map(|path| {
                let metadata = fs::symlink_metadata(&path).ok()?;
                Some((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), metadata.len(), path))
            })
            .collect();
        sessions.sort_by(|one, other| (other.0, &other.2).cmp(&(one.0, &one.2)));
        let all: u64 = sessions.iter().map(|(_, bytes, _)| bytes).sum();
        let mut done = 0;
        let mut scanned = Scanned::default();
        let mut look = Look { scan: self, words, projects: HashMap::new(), found: Vec::new() };
        for (number, (_, bytes, path)) in sessions.iter().enumerate() {
            if began.elapsed() >= self.most_time {
                scanned.left = sessions.len() - number;
                break;
            }
            look.session(path);
            scanned.sessions += 1;
            done += bytes;
            report(done, all);
        }
        scanned.said = look.found;
        sort(&mut scanned.said);
        scanned.said.truncate(self.limit);
        Ok(scanned)
    }
}

fn sort(said: &mut [Said]) {
    said.sort_by(|one, other| {
        let by_words = (Reverse(one.has), Reverse(one.at)).cmp(&(Reverse(other.has), Reverse(other.at)));
        by_words.then_with(|| one.line.cmp(&other.line))
    });
}

struct Look<'s, 'w> {
    scan: &'s Scan<'s>,
    words: &'w mut Words,
    /// The project of each folder; `None` where nothing is looked at.
    projects: HashMap<String, Option<String>>,
    found: Vec<Said>,
}

/// What is known of a session while its transcripts are read.
#[derive(Default)]
struct Session {
    /// When prompts came, and whether each was private.
    prompts: Vec<(u64, bool)>,
    is_private: bool,
    /// Calls under private prompts: the subagents that they started are private, too.
    private_calls: HashSet<String>,
}

impl Session {
    fn prompt(&mut self, at: u64, text: &str, is_queued: bool, is_left_out: bool) {
        // Typed while the model worked, it belongs to the turn, and lifts no privacy.
        self.is_private =
            privacy::strip(text).wholly_private || is_left_out || (is_queued && self.is_private);
        self.prompts.push((at, self.is_private));
    }

    /// Returns whether what a subagent did at this time is private.
    fn was_private(&self, at: u64) -> bool {
        self.prompts.iter().rev().find(|(prompt, _)| *prompt <= at).is_some_and(|(_, is_private)| *is_private)
    }
}

impl Look<'_, '_> {
    /// Looks at a session and at its subagents. A transcript that cannot be read tells nothing; the others still do.
    fn session(&mut self, path: &Path) {
        let mut session = Session::default();
        let mut reader = Reader::new();
        if let Ok(mut file) = files::open_regular(path) {
            let _ = reader.read_file(&mut file, 0, |_, record| self.record(record, &mut session, false));
        }
        for subagent in subagent::of_session(path).unwrap_or_default() {
            let started_by = subagent.meta.tool_use_id.as_ref();
            if started_by.is_some_and(|call| session.private_calls.contains(call)) {
                continue;
            }
            if let Ok(mut file) = files::open_regular(&subagent.transcript) {
                let _ = reader.read_file(&mut file, 0, |_, record| self.record(record, &mut session, true));
            }
        }
        sort(&mut self.found);
        self.found.truncate(self.scan.limit);
    }

    fn record(&mut self, record: &Record<'_>, session: &mut Session, is_subagents: bool) {
        let is_aside = is_subagents || record.is_sidechain;
        let scope = if is_aside { Scope::Subagent } else { Scope::Main };
        let at = record
            .timestamp
            .as_deref()
            .and_then(|at| at.parse::<Timestamp>().ok())
            .map_or(0, Timestamp::millis);
        let is_queued = matches!(record.body, Body::Attachment(_));
        // Under a private prompt of another session, or while recording was paused.
        let is_left_out = self.scan.rules.keeps_from_team(record.prompt_id.as_deref());
        for step in Conversation::new(scope).steps(record) {
            let (by, text) = match &step.act {
                Act::Prompt { text, .. } => {
                    if !is_aside {
                        session.prompt(at, text, is_queued, is_left_out);
                    }
                    (By::Person, text.clone())
                }
                Act::Command { name, arguments, is_prompt } => {
                    let text = format!("{name} {arguments}");
                    if *is_prompt && !is_aside {
                        session.prompt(at, &text, is_queued, is_left_out);
                    }
                    (By::Person, text.into())
                }
                Act::Shell(command) => (By::Person, command.into()),
                Act::Reply(text) => (By::Model, text.clone()),
                Act::ToolUse { id, input, .. } => {
                    if session.is_private {
                        session.private_calls.insert((*id).to_owned());
                    }
                    (By::Tool, input.unwrap_or_default().into())
                }
                Act::ToolResult { output, .. } => (By::Tool, output.clone()),
                Act::Thinking(_) | Act::Interruption | Act::Compaction(_) | Act::Summary(_) => continue,
            };
            let is_private = if is_aside { session.was_private(at) } else { session.is_private };
            if !is_private {
                self.text(record, at, by, &text);
            }
        }
    }

    fn text(&mut self, record: &Record<'_>, at: u64, by: By, text: &str) {
        let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
        let has = self.words.has(text);
        // Half of the words at least: one common word of five says nothing.
        if has == 0 || has * 2 < self.words.count() || !self.passes(record, at) {
            return;
        }
        let Some(project) = self.project(record.cwd.as_deref().unwrap_or_default()) else { return };
        // The whole text is cleaned: a key may go over many lines.
        let public = privacy::strip(text);
        let public = redact::redact(&public.text);
        let Some(line) = self.words.best_line(&public).map(str::to_owned) else { return };
        let session = record.session_id.as_deref().unwrap_or_default().to_owned();
        self.found.push(Said { by, session, project, at, line, has: self.words.has(&public) });
    }

    fn passes(&self, record: &Record<'_>, at: u64) -> bool {
        let filter = self.scan.filter;
        let session = record.session_id.as_deref().unwrap_or_default();
        session.starts_with(&filter.session)
            && (filter.branch.is_empty() || record.git_branch.as_deref() == Some(&filter.branch))
            && filter.since.is_none_or(|since| at >= since)
            && filter.until.is_none_or(|until| at < until)
    }

    /// Returns the project of a folder; `None` where it is not asked for, or excluded.
    fn project(&mut self, cwd: &str) -> Option<String> {
        if let Some(known) = self.projects.get(cwd) {
            return known.clone();
        }
        let folder = Path::new(cwd);
        let key = Project::of(folder).key;
        let wanted = &self.scan.filter.projects;
        let is_wanted = !self.scan.rules.excludes(folder) && (wanted.is_empty() || wanted.contains(&key));
        let project = is_wanted.then_some(key);
        self.projects.insert(cwd.to_owned(), project.clone());
        project
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;
    use base::settings::Settings;
    use serde_json::{Value, json};

    struct Bench {
        folder: tempfile::TempDir,
        lines: Vec<Value>,
    }

    impl Bench {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap(), lines: Vec::new() }
        }

        fn put(&mut self, kind: &str, content: Value) -> &mut Self {
            let number = self.lines.len();
            self.lines.push(json!({
                "type": kind, "uuid": format!("u{number}"), "sessionId": "s-1", "cwd": "/nowhere/shop",
                "timestamp": format!("2026-11-16T10:00:{number:02}.000Z"), "message": {"role": kind, "content": content},
            }));
            self
        }

        fn scan(&self, question: &str, filter: &Filter) -> Vec<(By, String)> {
            let projects = self.folder.path().join("projects");
            fs::create_dir_all(projects.join("shop")).unwrap();
            let lines: Vec<String> = self.lines.iter().map(Value::to_string).collect();
            fs::write(projects.join("shop/s-1.jsonl"), lines.join("\n") + "\n").unwrap();
            let env = Env::fixed([("HOME", "/nowhere")]);
            let rules = Rules::of(&Settings::read(&env, &self.folder.path().join("none")), &env);
            let most_time = Duration::from_secs(60);
            let scan = Scan { folder: &projects, rules: &rules, filter, limit: 5, most_time };
            let scanned = scan.run(&mut Words::of(question.split(' ')), |_, _| {}).unwrap();
            scanned.said.into_iter().map(|said| (said.by, said.line)).collect()
        }
    }

    #[test]
    fn messages_calls_and_results_are_found_and_the_best_come_first() {
        let mut bench = Bench::new();
        bench
            .put("user", json!("Why is the cache stale?"))
            .put("assistant", json!([{"type": "text", "text": "I look.\nThe stale cache is never evicted."}]))
            .put("assistant", json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "grep evict cache.rs"}}]))
            .put("user", json!([{"type": "tool_result", "tool_use_id": "t1", "content": "cache.rs:9: fn evict()"}]));
        let found = bench.scan("stale cache evicted", &Filter::default());
        assert_eq!(found[0], (By::Model, "The stale cache is never evicted.".to_owned()));
        assert_eq!(
            found.iter().map(|(by, _)| *by).collect::<Vec<_>>(),
            [By::Model, By::Tool, By::Tool, By::Person]
        );
        let elsewhere = Filter { projects: vec!["path:/elsewhere".to_owned()], ..Filter::default() };
        assert_eq!(bench.scan("stale cache evicted", &elsewhere), []);
        let later = Filter { since: Some(u64::MAX), ..Filter::default() };
        assert_eq!(bench.scan("stale cache evicted", &later), []);
    }

    #[test]
    fn private_prompts_and_what_is_under_them_are_left_out_until_the_next_prompt() {
        let mut bench = Bench::new();
        bench
            .put("user", json!("<private>the merger is called heron</private>"))
            .put("assistant", json!([{"type": "text", "text": "The heron merger is planned."}]))
            .put(
                "assistant",
                json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "echo heron"}}]),
            )
            .put("user", json!([{"type": "tool_result", "tool_use_id": "t1", "content": "heron"}]))
            .put("user", json!("A bird: the heron. <private>heron secret</private>"));
        assert_eq!(bench.scan("heron", &Filter::default()), [(By::Person, "A bird: the heron.".to_owned())]);
    }

    #[test]
    fn what_is_typed_during_a_private_turn_lifts_no_privacy() {
        let command = "<command-message>go</command-message><command-name>/go</command-name>";
        for typed in ["go on", command] {
            let mut bench = Bench::new();
            bench
                .put("user", json!("<private>the merger</private>"))
                .put("attachment", json!(null))
                .put("assistant", json!([{"type": "text", "text": "The heron merger is planned."}]));
            bench.lines[1]["attachment"] =
                json!({"type": "queued_command", "prompt": typed, "commandMode": "prompt"});
            assert_eq!(bench.scan("heron", &Filter::default()), [], "{typed}");
        }
    }

    #[test]
    fn secrets_are_taken_out() {
        let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let mut bench = Bench::new();
        bench.put("user", json!(format!("use the token {key} for the registry")));
        let found = bench.scan("registry token", &Filter::default());
        assert!(found.len() == 1 && !found[0].1.contains("16C7e42F"), "{found:?}");
    }

    #[test]
    fn the_summary_of_a_compaction_and_thinking_are_left_out() {
        let mut bench = Bench::new();
        bench.put("assistant", json!([{"type": "thinking", "thinking": "the heron again"}]));
        bench.put("user", json!("This session continues: the heron merger"));
        bench.lines[1]["isCompactSummary"] = json!(true);
        assert_eq!(bench.scan("heron", &Filter::default()), []);
    }
}
