//! What is known of a block of lines, in words.

use super::{Answer, Known};
use crate::{counted, when};
use base::Timestamp;
use journal::why::{How, ReasonKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use text::sanitize;

/// The longest texts, in characters.
const MAX_PROMPT: usize = 400;
const MAX_TITLE: usize = 100;
/// How much of ids is shown.
const COMMIT_CHARS: usize = 8;
const SESSION_CHARS: usize = 8;

/// Consecutive lines that are from one prompt and one commit; from 0 on.
pub struct Block {
    pub from: usize,
    pub to: usize,
}

impl Answer {
    /// Returns the blocks of lines for which `key` says the same.
    pub fn blocks<K: PartialEq>(
        &self,
        range: &RangeInclusive<usize>,
        key: impl Fn(usize) -> K,
    ) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for at in range.clone().map(|line| line - 1) {
            match blocks.last_mut() {
                Some(last) if key(last.from) == key(at) => last.to = at,
                _ => blocks.push(Block { from: at, to: at }),
            }
        }
        blocks
    }

    pub fn known(&self, at: usize) -> Option<&Known> {
        self.calls.get(&self.origins[at]?.edit)
    }

    /// Returns each fact with its name.
    pub fn facts(&self, block: &Block) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        match self.known(block.from) {
            Some(known) => {
                facts.extend(known.facts(self.how(block.from)));
                facts.extend(self.moved(block.from).map(|moved| ("moved", moved)));
            }
            None => facts.push(("edit", "not from a recorded session".to_owned())),
        }
        let commit = match self.commit_of[block.from] {
            Some(commit) => {
                let commit = &self.commits[commit];
                let day = when::spoken_moment(commit.when, when::day(Timestamp::now()));
                let id = commit.id.get(..COMMIT_CHARS).unwrap_or_default();
                format!("{id} {} ({}, {day})", commit.subject, commit.author)
            }
            None => "none yet".to_owned(),
        };
        facts.push(("commit", commit));
        facts
    }

    /// Returns where a line was before, and who moved it here.
    fn moved(&self, at: usize) -> Option<String> {
        let origin = self.origins[at]?;
        let known = self.calls.get(&origin.moved?)?;
        let path = sanitize::one_line(self.paths.get(origin.edit)?, MAX_PROMPT);
        let moment = when::local_minute(Timestamp::from_millis(known.call.at));
        Some(format!("from {path}, {moment}: {} ({})", known.prompt(MAX_TITLE), known.session()))
    }

    /// Returns the turn of each line; a blank line between two of one turn does not part them.
    pub fn with_blank_lines(&self) -> Vec<Option<(&str, u64)>> {
        let mut turns: Vec<Option<(&str, u64)>> = (0..self.lines.len()).map(|at| self.turn(at)).collect();
        for at in 1..turns.len() {
            if self.lines[at].trim().is_empty() && turns[at].is_none() {
                let next = (at + 1..turns.len()).find(|next| !self.lines[*next].trim().is_empty());
                if next.is_none_or(|next| turns[next] == turns[at - 1]) {
                    turns[at] = turns[at - 1];
                }
            }
        }
        turns
    }

    pub fn commits_in(&self, block: &Block) -> String {
        let commits: BTreeSet<Option<usize>> =
            self.commit_of[block.from..=block.to].iter().copied().collect();
        let mut known = commits.iter().flatten();
        match (known.next(), known.next()) {
            (Some(only), None) => self.commits[*only].id.get(..COMMIT_CHARS).unwrap_or_default().to_owned(),
            (Some(_), Some(_)) => counted(commits.iter().flatten().count(), "commit", "commits"),
            (None, _) if self.is_committed => "none yet".to_owned(),
            (None, _) => "–".to_owned(),
        }
    }

    pub fn to_json(&self, file: &str, range: Option<&RangeInclusive<usize>>) -> Value {
        let range = range.cloned().unwrap_or(1..=self.lines.len());
        let edits: Vec<usize> = self.calls.keys().copied().collect();
        let place = |edit: usize| edits.iter().position(|known| *known == edit);
        let blocks = self.blocks(&range, |at| (self.origins[at], self.commit_of[at]));
        let blocks = blocks.iter().map(|block| {
            let origin = self.origins[block.from];
            json!({
                "from": block.from + 1,
                "to": block.to + 1,
                "edit": origin.and_then(|origin| place(origin.edit)),
                "moved": origin.and_then(|origin| place(origin.moved?)),
                "how": origin.map(|origin| match origin.how {
                    How::Same => "same",
                    How::Reformatted => "reformatted",
                    How::Between => "between",
                }),
                "commit": self.commit_of[block.from].map(|commit| self.commits[commit].id.clone()),
            })
        });
        let used: BTreeSet<usize> = range.clone().filter_map(|line| self.commit_of[line - 1]).collect();
        let commits = used.iter().map(|commit| &self.commits[*commit]).map(|commit| {
            json!({
                "id": commit.id,
                "author": commit.author,
                "at": commit.when.to_string(),
                "subject": commit.subject,
                "path": commit.path,
            })
        });
        json!({
            "file": file,
            "lines": self.lines.len(),
            "recorded": range.clone().filter(|line| self.origins[line - 1].is_some()).count(),
            "blocks": blocks.collect::<Vec<_>>(),
            "edits": self.calls.values().map(Known::to_json).collect::<Vec<_>>(),
            "commits": commits.collect::<Vec<_>>(),
        })
    }
}

impl Known {
    pub fn prompt(&self, most: usize) -> String {
        match (&self.call.prompt, &self.call.asked_before) {
            (Some(prompt), Some(before)) => {
                sanitize::one_line(&format!("{} (after: {before})", prompt.trim()), most)
            }
            (Some(prompt), None) => sanitize::one_line(prompt, most),
            (None, _) => "(the prompt is not recorded)".to_owned(),
        }
    }

    fn facts(&self, how: Option<How>) -> Vec<(&'static str, String)> {
        let call = &self.call;
        let now = Timestamp::now();
        let edit = match &call.entry {
            Some((id, _, title)) => format!("{} ({id})", sanitize::one_line(title, MAX_PROMPT)),
            None => call.tool.clone(),
        };
        let edit = match how {
            Some(How::Reformatted) => format!("{edit}; reformatted since"),
            Some(How::Between) => format!("{edit}; too long to be recorded whole"),
            _ => edit,
        };
        let moment = Timestamp::from_millis(call.at);
        let mut facts = vec![
            ("when", format!("{} ({})", when::local_minute(moment), when::ago(moment, now))),
            ("prompt", self.prompt(MAX_PROMPT)),
            ("edit", edit),
        ];
        for reason in &self.reasons {
            let text = sanitize::one_line(&reason.text, MAX_PROMPT);
            facts.push(match (reason.kind, &reason.id) {
                (ReasonKind::Decision, Some(id)) => ("decision", format!("{text} ({id})")),
                (ReasonKind::Discovery, Some(id)) => ("learned", format!("{text} ({id})")),
                (ReasonKind::Lesson, Some(name)) => ("lesson", format!("{name}: {text}")),
                (ReasonKind::Memory, _) => ("memory", text),
                (_, None) => ("decision", text),
            });
        }
        facts.push(("session", self.session()));
        facts
    }

    fn session(&self) -> String {
        let call = &self.call;
        let title = call.title.as_deref().map(|title| sanitize::one_line(title, MAX_TITLE));
        let mut about = vec![call.session.chars().take(SESSION_CHARS).collect::<String>()];
        about.push(format!("prompt {}", call.prompt_number));
        about.extend(call.agent.iter().map(|agent| format!("subagent {agent}")));
        about.extend(call.branch.iter().map(|branch| format!("branch {branch}")));
        let about = sanitize::one_line(&about.join(", "), MAX_PROMPT);
        match title.filter(|title| !title.is_empty()) {
            Some(title) => format!("{title} ({about})"),
            None => about,
        }
    }

    fn to_json(&self) -> Value {
        let call = &self.call;
        let entry =
            call.entry.as_ref().map(|(id, kind, title)| json!({"id": id, "type": kind, "title": title}));
        let reasons = self.reasons.iter().map(|reason| {
            let kind = match reason.kind {
                ReasonKind::Decision => "decision",
                ReasonKind::Discovery => "discovery",
                ReasonKind::Lesson => "lesson",
                ReasonKind::Memory => "memory",
            };
            json!({"kind": kind, "id": reason.id, "text": reason.text})
        });
        json!({
            "at": Timestamp::from_millis(call.at).to_string(),
            "tool": call.tool,
            "agent": call.agent,
            "platform": call.platform,
            "session": call.session,
            "title": call.title,
            "author": call.author,
            "branch": call.branch,
            "prompt_number": call.prompt_number,
            "prompt": call.prompt,
            "entry": entry,
            "reasons": reasons.collect::<Vec<_>>(),
        })
    }
}
