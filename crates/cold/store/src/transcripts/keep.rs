//! A copy of a session's transcript, for a user who wants one: the client deletes its own after a while. It has what hooks would have
//! recorded: no private prompt and nothing under one, nothing that was forgotten, no known secret.

use super::put::Forgotten;
use crate::open::Store;
use base::{Timestamp, files};
use capture::{Rules, shrink};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use text::privacy;
use transcript::record::Body;
use transcript::{Act, Conversation, Record, Scope};

/// The longest line that is copied.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;

/// The most subagents of a session whose transcripts are copied.
const MOST_SUBAGENTS: usize = 1_000;
/// The most bytes of what the client notes about a subagent.
const MAX_NOTE_BYTES: usize = 64 * 1024;

/// Writes a copy of a session's transcript, and after it those of its subagents; returns how many lines it has.
pub fn keep(
    store: &Store,
    rules: &Rules,
    session: &str,
    transcript: &Path,
    copy: &mut dyn Write,
) -> io::Result<u64> {
    let forgotten = Forgotten::of(store);
    let mut filter = Filter {
        rules,
        session,
        forgotten: &forgotten,
        is_hidden: false,
        had_hidden: false,
        is_aside: false,
        prompts: Vec::new(),
        calls: HashSet::new(),
    };
    let mut kept = filter.copy(files::open_regular(transcript)?, copy)?;
    let mut waiting = subagents(transcript);
    loop {
        // One that a subagent started is known by a call of that one.
        let (called, rest): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|subagent| filter.calls.contains(&subagent.call));
        if called.is_empty() {
            return Ok(kept);
        }
        for subagent in called {
            (filter.is_hidden, filter.is_aside) = (false, true);
            if let Ok(file) = files::open_regular(&subagent.transcript) {
                kept += filter.copy(file, copy)?;
            }
        }
        waiting = rest;
    }
}

struct Subagent {
    transcript: PathBuf,
    /// The call that started it.
    call: String,
}

/// Returns the subagents of a session with a call that started each, by their names.
fn subagents(transcript: &Path) -> Vec<Subagent> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Note {
        tool_use_id: String,
    }
    let Ok(folder) = fs::read_dir(transcript.with_extension("").join("subagents")) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    let with_call = |transcript: PathBuf| {
        let note = files::read_capped(&transcript.with_extension("meta.json"), MAX_NOTE_BYTES).ok()?;
        let Note { tool_use_id } = serde_json::from_slice(&note).ok()?;
        Some(Subagent { transcript, call: tool_use_id })
    };
    paths.into_iter().take(MOST_SUBAGENTS).filter_map(with_call).collect()
}

fn skip_line(reader: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = reader.fill_buf()?;
        let (end, is_found) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        reader.consume(end);
        if is_found {
            return Ok(());
        }
    }
}

struct Filter<'f> {
    rules: &'f Rules,
    session: &'f str,
    forgotten: &'f Forgotten,
    /// Whether the prompt that counts is private or forgotten.
    is_hidden: bool,
    /// Whether one was: a summary of the conversation may tell of it.
    had_hidden: bool,
    /// Whether a subagent's transcript is copied.
    is_aside: bool,
    /// When the prompts of the session came, and whether each was private or forgotten: a subagent may outlast the turn that
    /// started it.
    prompts: Vec<(u64, bool)>,
    /// The calls in what was copied.
    calls: HashSet<String>,
}

impl Filter<'_> {
    fn copy(&mut self, file: File, copy: &mut dyn Write) -> io::Result<u64> {
        let mut reader = BufReader::new(file);
        let (mut line, mut kept) = (Vec::new(), 0);
        loop {
            line.clear();
            let read = (&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(kept);
            }
            if line.last() != Some(&b'\n') {
                // Too long, or not written to its end.
                skip_line(&mut reader)?;
                continue;
            }
            if let Some(text) = self.line(&line) {
                copy.write_all(text.as_bytes())?;
                copy.write_all(b"\n")?;
                kept += 1;
            }
        }
    }

    fn line<'l>(&mut self, line: &'l [u8]) -> Option<Cow<'l, str>> {
        let text = std::str::from_utf8(line).ok()?.trim();
        let record = Record::parse(text.as_bytes()).ok()?;
        // Records without a reader repeat prompts out of their order.
        let is_known = !matches!(record.body, Body::Queue(_) | Body::Other { .. });
        let is_its = record.session_id.as_deref() == Some(self.session);
        let is_recorded = record.cwd.as_deref().is_some_and(|cwd| self.rules.records_in(Path::new(cwd)));
        let is_meant = self.look(&record);
        let is_summary = matches!(&record.body, Body::User(user) if user.is_compact_summary);
        let is_kept = is_known
            && is_its
            && is_recorded
            && is_meant
            && !self.is_hidden
            && !(self.is_aside && self.was_hidden(at_of(&record)))
            && !(is_summary && self.had_hidden);
        if is_kept {
            for step in Conversation::new(scope_of(&record)).steps(&record) {
                if let Act::ToolUse { id, .. } = step.act {
                    self.calls.insert(id.to_string());
                }
            }
        }
        is_kept.then(|| shrink::json(text))
    }

    /// Notes what a record says about what follows it; returns whether it was not forgotten itself.
    fn look(&mut self, record: &Record<'_>) -> bool {
        let is_forgotten = |kind: &str, id: &str| self.forgotten.has(self.session, &format!("{kind}:{id}"));
        let of_prompt = record.prompt_id.as_deref().is_some_and(|id| is_forgotten("p", id));
        let mut is_meant = !of_prompt;
        let is_attached = matches!(record.body, Body::Attachment(_));
        for step in Conversation::new(scope_of(record)).steps(record) {
            let prompt = match step.act {
                Act::Prompt { text, .. } => Some(text.into_owned()),
                Act::Command { name, arguments, is_prompt: true } => Some(format!("{name} {arguments}")),
                Act::ToolUse { id, .. } | Act::ToolResult { tool_use_id: id, .. } => {
                    is_meant &= !is_forgotten("t", id) && !is_forgotten("r", id);
                    None
                }
                _ => None,
            };
            let Some(prompt) = prompt.filter(|_| !record.is_sidechain) else { continue };
            let is_private =
                privacy::strip(&prompt).wholly_private || self.rules.left_out(record.prompt_id.as_deref());
            // A message that is typed in between lifts no privacy.
            self.is_hidden = is_private || of_prompt || (is_attached && self.is_hidden);
            self.had_hidden |= self.is_hidden;
            if !self.is_aside {
                self.prompts.push((at_of(record), self.is_hidden));
            }
        }
        is_meant
    }

    /// Returns whether the prompt that counted at this time is private or forgotten.
    fn was_hidden(&self, at: u64) -> bool {
        self.prompts.iter().rev().find(|(prompt, _)| *prompt <= at).is_some_and(|(_, is_hidden)| *is_hidden)
    }
}

/// Returns whose conversation a record is of: earlier clients wrote those of subagents into the same file.
fn scope_of(record: &Record<'_>) -> Scope {
    if record.is_sidechain { Scope::Subagent } else { Scope::Main }
}

/// Returns when a record was written, in milliseconds since 1970; 0 for one without a time.
fn at_of(record: &Record<'_>) -> u64 {
    let at = record.timestamp.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
    at.map_or(0, Timestamp::millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::settings::Settings;
    use base::{Env, Paths};
    use serde_json::{Value, json};

    const SESSION: &str = "11111111-2222-4333-8444-555555555555";

    fn line(minute: u32, more: Value) -> String {
        let mut line = json!({"uuid": format!("u-{minute}"), "sessionId": SESSION, "cwd": "/nowhere/shop",
                              "timestamp": format!("2026-11-18T10:{minute:02}:00.000Z")});
        let more = more.as_object().cloned().unwrap_or_default();
        line.as_object_mut().into_iter().for_each(|line| line.extend(more.clone()));
        format!("{line}\n")
    }

    fn said(minute: u32, text: &str) -> String {
        let message = json!({"id": format!("m-{text}"), "role": "assistant", "content": [
            {"type": "text", "text": text},
            {"type": "tool_use", "id": format!("toolu_{minute}"), "name": "Agent", "input": {}}]});
        let is_aside = text.starts_with("SUBAGENT");
        line(minute, json!({"type": "assistant", "isSidechain": is_aside, "message": message}))
    }

    #[test]
    fn what_a_subagent_does_during_a_private_turn_is_left_out_whenever_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let env = Env::fixed([("WYREN_DATA_DIR", folder.path())]);
        let store = Store::open(&Paths::of(&env).database(), crate::TABLES).unwrap();
        let rules = Rules::of(&Settings::read(&env, &folder.path().join("none")), &env);
        let asked = |minute: u32, text: &str| {
            line(minute, json!({"type": "user", "message": {"role": "user", "content": text}}))
        };
        let transcript = folder.path().join(format!("{SESSION}.jsonl"));
        let subagents = transcript.with_extension("").join("subagents");
        fs::create_dir_all(&subagents).unwrap();
        let main =
            [asked(0, "Look"), said(1, "OPEN"), asked(10, "<private>Hm</private>"), asked(20, "Go on")];
        fs::write(&transcript, main.concat()).unwrap();
        let aside = [said(2, "SUBAGENT-A"), said(12, "SUBAGENT-HIDDEN"), said(22, "SUBAGENT-B")];
        fs::write(subagents.join("agent-1.jsonl"), aside.concat()).unwrap();
        fs::write(subagents.join("agent-1.meta.json"), r#"{"toolUseId": "toolu_1"}"#).unwrap();
        let mut copy = Vec::new();
        keep(&store, &rules, SESSION, &transcript, &mut copy).unwrap();
        let copy = String::from_utf8(copy).unwrap();
        assert!(copy.contains("SUBAGENT-A") && copy.contains("SUBAGENT-B"), "{copy}");
        assert!(!copy.contains("HIDDEN"), "{copy}");
    }
}
