//! A copy of a session's transcript, for a user who wants one: the client deletes its own after a while. It has what hooks would have
//! recorded: no private prompt and nothing under one, nothing that was forgotten, no known secret.

use super::put::Forgotten;
use crate::open::Store;
use base::files;
use capture::{Rules, shrink};
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::Path;
use text::privacy;
use transcript::record::Body;
use transcript::{Act, Conversation, Record, Scope};

/// The longest line that is copied.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;

/// Writes a copy of a session's transcript; returns how many lines it has.
pub fn keep(
    store: &Store,
    rules: &Rules,
    session: &str,
    transcript: &Path,
    copy: &mut dyn Write,
) -> io::Result<u64> {
    let forgotten = Forgotten::of(store);
    let mut filter = Filter { rules, session, forgotten: &forgotten, is_hidden: false, had_hidden: false };
    let mut reader = BufReader::new(files::open_regular(transcript)?);
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
        if let Some(text) = filter.line(&line) {
            copy.write_all(text.as_bytes())?;
            copy.write_all(b"\n")?;
            kept += 1;
        }
    }
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
}

impl Filter<'_> {
    fn line<'l>(&mut self, line: &'l [u8]) -> Option<Cow<'l, str>> {
        let text = std::str::from_utf8(line).ok()?.trim();
        let record = Record::parse(text.as_bytes()).ok()?;
        // Records without a reader repeat prompts out of their order.
        let is_known = !matches!(record.body, Body::Other { .. });
        let is_its = record.session_id.as_deref() == Some(self.session);
        let is_recorded = record.cwd.as_deref().is_some_and(|cwd| self.rules.records_in(Path::new(cwd)));
        let is_meant = self.look(&record);
        let is_summary = matches!(&record.body, Body::User(user) if user.is_compact_summary);
        let is_kept = is_known
            && is_its
            && is_recorded
            && is_meant
            && !self.is_hidden
            && !(is_summary && self.had_hidden);
        is_kept.then(|| shrink::json(text))
    }

    /// Notes what a record says about what follows it; returns whether it was not forgotten itself.
    fn look(&mut self, record: &Record<'_>) -> bool {
        let is_forgotten = |kind: &str, id: &str| self.forgotten.has(self.session, &format!("{kind}:{id}"));
        let of_prompt = record.prompt_id.as_deref().is_some_and(|id| is_forgotten("p", id));
        let mut is_meant = !of_prompt;
        let is_attached = matches!(record.body, Body::Attachment(_));
        for step in Conversation::new(Scope::Main).steps(record) {
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
            let is_private = privacy::strip(&prompt).wholly_private;
            // A message that is typed in between lifts no privacy.
            self.is_hidden = is_private || of_prompt || (is_attached && self.is_hidden);
            self.had_hidden |= self.is_hidden;
        }
        is_meant
    }
}
