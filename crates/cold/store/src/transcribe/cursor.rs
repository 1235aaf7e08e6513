//! What Cursor's transcripts tell, as observations.
//!
//! Cursor keeps `~/.cursor/projects/<folder>/agent-transcripts/<session>/<session>.jsonl`, with `subagents/*.jsonl` beside it: lines
//! `{role, message: {content}}` in the form of Anthropic's messages, and `{type: "turn_ended", status, error}`. They have no results of
//! calls, no ids, no times but the one before a prompt, and no folder but in the inputs of calls and the name of the project's.
//!
//! So a prompt is known by its number and text, a call by its number and input; a command has no outcome; and a session whose
//! folder cannot be told is left out, for it may be in one that the user excluded.

mod find;
mod stamp;
mod tool;

pub(crate) use find::find;

use super::{Asked, MEDIA_PROMPT, Passed, Reading, Told, Wanted, Whereabouts};
use crate::transcripts::Agent;
use base::{Timestamp, digest, files};
use capture::{Fields, Observation, Rules, shrink};
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use transcript::stream;

/// What the user typed is between these.
const TYPED: (&str, &str) = ("<user_query>", "</user_query>");
/// When it was typed.
const STAMP: (&str, &str) = ("<timestamp>", "</timestamp>");
/// What is in the place of a picture, and of what the model thought.
const PICTURE: &str = "[Image]";
const THOUGHT: &str = "[REDACTED]";

/// A session as Cursor keeps it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) path: PathBuf,
    pub(crate) id: String,
    /// The folder that it worked in.
    pub(crate) cwd: String,
    /// The transcripts of its subagents, with their ids.
    pub(crate) helpers: Vec<(PathBuf, String)>,
}

/// Reads the transcript of a session, then those of the subagents that it started.
pub(crate) fn session(
    rules: &Rules,
    session: &Session,
    put: &mut dyn FnMut(Observation<'static>),
) -> io::Result<Passed> {
    if session.cwd.is_empty() {
        return Ok(Passed { unplaced: 1, ..Passed::default() });
    }
    let mut told = Told::default();
    if !rules.records_in(Path::new(&session.cwd)) {
        return Ok(Passed::default());
    }
    read(rules, session, &session.path, None, &mut told, put)?;
    let passed = Passed { private: told.private, ..Passed::default() };
    // A subagent does not say when it worked: under a private prompt, perhaps.
    let helpers = if told.private == 0 { session.helpers.as_slice() } else { &[] };
    for (path, id) in helpers {
        // A transcript that cannot be read tells nothing; the others still do.
        let _ = read(rules, session, path, Some(id.clone()), &mut told, put);
    }
    Ok(passed)
}

fn read(
    rules: &Rules,
    session: &Session,
    path: &Path,
    agent: Option<String>,
    told: &mut Told,
    put: &mut dyn FnMut(Observation<'static>),
) -> io::Result<()> {
    let mut file = files::open_regular(path)?;
    let metadata = file.metadata()?;
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    // Some file systems do not know it, and a copy has one that is too late.
    let begun = metadata.created().map_or(modified, |created| created.min(modified));
    let reading = Reading { rules, wanted: Wanted::Everything, told, put, calls: HashMap::new() };
    let mut transcript = Transcript {
        reading,
        session,
        agent,
        at: Timestamp::from(begun).millis(),
        has_stamp: false,
        has_ends: false,
        is_open: false,
        prompts: 0,
        calls: 0,
    };
    stream::read_lines(&mut file, 0, |offset, line| transcript.take(offset, line))?;
    transcript.end();
    Ok(())
}

struct Transcript<'r> {
    reading: Reading<'r>,
    session: &'r Session,
    agent: Option<String>,
    at: u64,
    /// Whether the time is one that Cursor wrote.
    has_stamp: bool,
    /// Whether Cursor says where turns end.
    has_ends: bool,
    is_open: bool,
    /// How many prompts there were, and how many calls since the last.
    prompts: u64,
    calls: u64,
}

impl Transcript<'_> {
    fn take(&mut self, offset: u64, line: &str) {
        let Some(fields) = Fields::read(line) else { return };
        let stamp = fields.text("timestamp").and_then(|stamp| stamp.parse::<Timestamp>().ok());
        self.pass_time(stamp);
        if fields.text("type").as_deref() == Some("turn_ended") {
            return self.ended(fields.text("status").as_deref(), fields.text("error").as_deref());
        }
        let message = fields.get("message").and_then(|message| Fields::read(message.get()));
        let Some(content) = message.as_ref().and_then(|message| message.get("content")) else { return };
        match fields.text("role").as_deref() {
            Some("user") => self.asked(offset, content),
            Some("assistant") => self.answered(content),
            _ => {}
        }
    }

    fn pass_time(&mut self, stamp: Option<Timestamp>) {
        let later = self.at.saturating_add(1);
        let stamp = stamp.map(Timestamp::millis).filter(|stamp| i64::try_from(*stamp).is_ok());
        self.at = match stamp {
            // A stamp is of the minute: what came before it in the same minute stays before it.
            Some(stamp) if self.has_stamp => stamp.max(later),
            Some(stamp) => stamp,
            None => later,
        };
        self.has_stamp |= stamp.is_some();
    }

    fn asked(&mut self, offset: u64, content: &RawValue) {
        let texts = texts_of(content);
        let stamp = texts.iter().find_map(|text| stamp::read(between(text, STAMP)?));
        if stamp.is_some() {
            self.pass_time(stamp);
        }
        let typed: Vec<&str> = texts.iter().filter_map(|text| between(text, TYPED)).collect();
        let has_picture = texts.iter().any(|text| text.contains(PICTURE));
        let text = match typed.is_empty() {
            false => typed.join("\n"),
            // Versions before the tags wrote what was typed, and only that.
            true => {
                let texts =
                    texts.iter().filter(|text| !text.trim_start().starts_with('<') || is_private(text));
                texts.map(|text| text.replace(PICTURE, "")).collect::<Vec<_>>().join("\n")
            }
        };
        let text = text.trim();
        let text = if text.is_empty() && has_picture { MEDIA_PROMPT } else { text };
        if text.is_empty() || self.agent.is_some() {
            return;
        }
        self.prompts += 1;
        (self.calls, self.is_open) = (0, true);
        let record = digest::short_hex(shrink::text(text).as_bytes());
        let record = format!("{}-{}-{record}", self.session.id, self.prompts);
        let place = self.place();
        let asked = Asked { record: Some(&record), ..Asked::default() };
        self.reading.prompt(offset, &place, &asked, text, true);
    }

    fn answered(&mut self, content: &RawValue) {
        for text in texts_of(content) {
            let text = text.trim_end().trim_end_matches(THOUGHT).trim();
            if self.agent.is_none() && !text.is_empty() && self.reading.keeps_replies() {
                self.reading.told.turn.reply = Some((self.place(), text.to_owned()));
            }
        }
        for block in blocks_of(content) {
            if block.text("type").as_deref() == Some("tool_use")
                && let Some((tool, input)) = tool::called(&block)
            {
                self.call(&tool, &input, block.text("id").as_deref());
            }
        }
    }

    fn call(&mut self, tool: &str, input: &str, id: Option<&str>) {
        self.calls += 1;
        let who = self.agent.as_deref().unwrap_or(&self.session.id);
        let digest = digest::short_hex(format!("{tool} {}", shrink::json(input)).as_bytes());
        let number = format!("{who}-{}-{}-{digest}", self.prompts, self.calls);
        let id = id.filter(|id| !id.is_empty()).map_or(number, str::to_owned);
        let place = self.place();
        self.reading.call(&id, tool, Some(input));
        if let Some(call) = self.reading.ended_call(&place, &id) {
            // Cursor does not write what came back.
            self.reading.tool_call(&place, None, &id, &call, (false, Some("null")), "");
        }
    }

    fn ended(&mut self, status: Option<&str>, error: Option<&str>) {
        self.has_ends = true;
        self.is_open = false;
        if self.agent.is_some() {
            return;
        }
        let place = self.place();
        let turn = &mut self.reading.told.turn;
        let is_private = turn.is_private;
        let error = error.unwrap_or_default();
        let is_interrupted = matches!(status, Some("aborted" | "cancelled" | "canceled"))
            || error.starts_with("User aborted")
            || error.starts_with("User cancel");
        if is_interrupted && !is_private {
            if let Some(id) = turn.id.take() {
                let mut data = json!({"outcome": "interrupted"});
                if let Some((_, text)) = turn.reply.take() {
                    data["text"] = shrink::text(&text).into();
                }
                self.reading.put_with(&place, format!("e:{id}"), None, "turn-end", &data);
            }
        } else if status.is_some_and(|status| status != "success") && !is_private {
            turn.error = Some(shrink::text(error).into_owned());
            turn.reply.get_or_insert_with(|| (place, String::new()));
        }
        self.reading.end_turn();
        self.reading.told.turn.is_private = is_private;
    }

    /// Ends the transcript. Where Cursor says when turns end, one without an end goes on.
    fn end(&mut self) {
        if self.agent.is_none() && !(self.has_ends && self.is_open) {
            self.reading.end_turn();
        }
    }

    fn place(&self) -> Whereabouts {
        Whereabouts {
            platform: Some(Agent::Cursor.name()),
            session: self.session.id.clone(),
            cwd: self.session.cwd.clone(),
            at: self.at,
            agent: self.agent.clone().map(|agent| (agent, None)),
        }
    }
}

/// Says whether a text is the user's although it begins with a tag.
fn is_private(text: &str) -> bool {
    text.trim_start().get(..8).is_some_and(|tag| tag.eq_ignore_ascii_case("<private"))
}

/// Returns what is between the first beginning and the last end: what was typed may have either in it.
fn between<'t>(text: &'t str, (begin, end): (&str, &str)) -> Option<&'t str> {
    let (_, rest) = text.split_once(begin)?;
    Some(rest.rsplit_once(end).map_or(rest, |(inner, _)| inner))
}

fn blocks_of(content: &RawValue) -> Vec<Fields<'_>> {
    let blocks = serde_json::from_str::<Vec<&RawValue>>(content.get()).unwrap_or_default();
    blocks.into_iter().filter_map(|block| Fields::read(block.get())).collect()
}

/// Returns the texts of a message, which is a text itself in some versions.
fn texts_of(content: &RawValue) -> Vec<String> {
    if let Ok(text) = serde_json::from_str::<String>(content.get()) {
        return vec![text];
    }
    let is_text = |block: &Fields<'_>| block.text("type").as_deref() == Some("text");
    let blocks = blocks_of(content).into_iter().filter(is_text);
    blocks.filter_map(|block| Some(block.text("text")?.into_owned())).collect()
}
