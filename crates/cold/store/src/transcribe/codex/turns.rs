//! The turns of a rollout: what the user asked, what the model answered, and how it ended.

use super::{Pending, Rollout, output};
use crate::transcribe::{Asked, MEDIA_PROMPT};
use base::digest;
use capture::{Fields, shrink};

/// How the text of a prompt begins that an editor has put its state before, and what comes before the user's words then.
const EDITOR_STATE: &str = "# Context from my IDE setup:";
const REQUEST: &str = "## My request for Codex:";
/// How Codex hands on the instructions of a project.
const AGENTS_MD: &str = "# AGENTS.md instructions";
/// How Codex says in which folder it works, in earlier generations.
const FOLDER: [(&str, &str); 2] = [("<cwd>", "</cwd>"), ("Current working directory: ", "\n")];

impl Rollout<'_> {
    /// Takes a message that Codex sent as the user: it may be what the user typed, or the environment.
    pub(super) fn message(&mut self, offset: u64, item: &Fields<'_>) {
        let (mut typed, mut has_media) = (Vec::new(), false);
        for block in output::blocks(item.get("content")) {
            match block.text("text") {
                Some(text) if is_injected(&text) => self.folder_in(&text),
                Some(text) => typed.push(text.into_owned()),
                None => has_media |= block.text("type").is_some_and(|kind| kind.contains("image")),
            }
        }
        let is_typed = self.pending.as_ref().is_some_and(|pending| pending.is_typed);
        if is_typed || (typed.is_empty() && !has_media) {
            return;
        }
        self.ask();
        let text = typed.join("\n");
        self.pending = Some(Pending { text, has_media, offset, at: self.at, is_typed: false });
    }

    /// Takes the folder from the environment that earlier generations sent, where nothing else says it.
    fn folder_in(&mut self, text: &str) {
        let named = FOLDER.iter().find_map(|(begin, end)| {
            let (_, rest) = text.split_once(begin)?;
            Some(rest.split(end).next().unwrap_or(rest).trim())
        });
        if let Some(folder) = named.filter(|_| self.cwd.is_empty()) {
            folder.clone_into(&mut self.cwd);
        }
    }

    /// Decides about what the user seems to have asked.
    pub(super) fn ask(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        if self.agent.is_some() || (self.has_typed && !pending.is_typed) {
            return;
        }
        let text = words_of(&pending.text);
        let text = if text.is_empty() && pending.has_media { MEDIA_PROMPT } else { text };
        if text.is_empty() {
            return;
        }
        let place = self.place(pending.at, None);
        let is_recorded = self.is_recorded(&place);
        let turn_id = self.turn_id.clone();
        if self.has_prompt && self.is_open {
            self.said += 1;
            let id = format!("{}-{}", turn_id.as_deref().unwrap_or(&self.session), self.said);
            return self.reading.said(&place, Some(&id), text, is_recorded);
        }
        self.leave_running();
        self.prompts += 1;
        let record = digest::short_hex(shrink::text(text).as_bytes());
        let record = format!("{}-{}-{record}", self.root, self.prompts);
        let asked = Asked {
            prompt_id: turn_id.as_deref().filter(|_| !self.has_prompt),
            record: Some(&record),
            mode: None,
            branch: self.branch.as_deref(),
        };
        self.reading.prompt(pending.offset, &place, &asked, text, is_recorded);
        self.has_prompt = true;
        self.seen.clear();
        self.folders.clear();
    }

    pub(super) fn reply(&mut self, text: &str) {
        if self.agent.is_some() || text.trim().is_empty() || !self.reading.keeps_replies() {
            return;
        }
        let place = self.place(self.at, None);
        if self.is_recorded(&place) {
            self.reading.told.turn.reply = Some((place, text.to_owned()));
            self.reading.told.turn.error = None;
        }
    }

    pub(super) fn failed(&mut self, message: &str) {
        self.ask();
        let place = self.place(self.at, None);
        if self.agent.is_none() && self.reading.keeps_replies() && self.is_recorded(&place) {
            let turn = &mut self.reading.told.turn;
            turn.error = Some(shrink::text(message).into_owned());
            turn.reply.get_or_insert_with(|| (place, String::new()));
        }
    }

    pub(super) fn aborted(&mut self, reason: Option<&str>) {
        self.ask();
        if self.agent.is_none() && matches!(reason, Some("interrupted" | "replaced")) {
            self.leave_running();
            let place = self.place(self.at, None);
            if self.is_recorded(&place) {
                self.reading.interrupted(&place);
            }
        }
        self.finish();
    }

    /// Ends the turn. What still comes before the next prompt belongs to it, and is private if it was.
    pub(super) fn finish(&mut self) {
        self.leave_running();
        self.is_open = false;
        if self.agent.is_some() {
            return;
        }
        self.reading.calls.clear();
        let is_private = self.reading.told.turn.is_private;
        self.reading.end_turn();
        self.reading.told.turn.is_private = is_private;
    }

    /// Ends the rollout. A turn that is open goes on, as far as can be told.
    pub(super) fn end(&mut self) {
        self.ask();
        if !self.is_open {
            self.leave_running();
            if self.agent.is_none() {
                self.reading.end_turn();
            }
        }
    }
}

/// Says whether a message was put there by Codex: it is wholly inside of a tag, or the instructions of a project.
fn is_injected(text: &str) -> bool {
    let text = text.trim();
    let name = text.strip_prefix('<').and_then(|rest| rest.split(['>', ' ', '\n', '<']).next());
    let is_tag = name.is_some_and(|name| {
        !name.is_empty() && !name.eq_ignore_ascii_case("private") && text.ends_with(&format!("</{name}>"))
    });
    is_tag || text.starts_with(AGENTS_MD) || (text.starts_with("<permissions ") && text.ends_with('>'))
}

/// Returns what the user typed, without what an editor put before it.
fn words_of(text: &str) -> &str {
    let text = text.trim();
    let below = text.starts_with(EDITOR_STATE).then(|| text.split_once(REQUEST)).flatten();
    below.map_or(text, |(_, words)| words.trim())
}
