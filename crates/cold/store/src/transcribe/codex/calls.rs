//! The calls of a rollout, and their results.

use super::output::{End, Output};
use super::tool::Called;
use super::{Rollout, Running};
use capture::Fields;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// How many programs may go on at once.
const MAX_RUNNING: usize = 50;
/// The most output of a program that goes on that is held; far less of it is kept.
const MAX_HELD_BYTES: usize = 256 * 1024;
/// How many calls of a turn are remembered.
const MAX_SEEN: usize = 100_000;

impl Rollout<'_> {
    pub(super) fn call(&mut self, id: &str, called: Called) {
        self.ask();
        if id.is_empty() {
            return;
        }
        if self.seen.len() >= MAX_SEEN {
            self.seen.clear();
            self.folders.clear();
            self.polls.clear();
        }
        self.seen.insert(id.to_owned());
        self.folders.extend(called.folder.map(|folder| (id.to_owned(), folder)));
        self.reading.call(id, &called.tool, Some(&called.input));
    }

    pub(super) fn result(&mut self, id: &str, output: Option<&RawValue>) {
        let process = self.polls.remove(id);
        let tool = self.reading.calls.get(id).map(|call| call.tool.clone());
        let (Some(tool), output) = (tool.or_else(|| process.is_some().then(|| "Bash".into())), output) else {
            return;
        };
        let output = Output::of(&tool, output);
        match (process, output.process) {
            (Some(process), goes_on) => {
                let Some(running) = self.running.get_mut(&process) else { return };
                let room = MAX_HELD_BYTES.saturating_sub(running.printed.len());
                running.printed.push_str(beginning(&output.printed, room));
                if goes_on.is_none()
                    && let Some(running) = self.running.remove(&process)
                {
                    let end = output.end.with_printed(&running.printed);
                    self.ended(&running.call, &end);
                }
            }
            (None, Some(process)) if self.running.len() < MAX_RUNNING => {
                let printed = beginning(&output.printed, MAX_HELD_BYTES).to_owned();
                self.running.insert(process, Running { call: id.to_owned(), printed });
            }
            (None, _) => self.ended(id, &output.end),
        }
    }

    /// Takes a call that one record has whole; mostly an earlier record has it, too.
    pub(super) fn told_again(&mut self, record: &Fields<'_>, called: Option<Called>, end: End) {
        let id = record.text("call_id").or_else(|| record.text("id")).unwrap_or_default();
        let Some(called) = called.filter(|_| !self.seen.contains(&*id)) else { return };
        self.call(&id, called);
        self.ended(&id, &end);
    }

    pub(super) fn search(&mut self, item: &Fields<'_>) {
        let action = item.get("action").and_then(|action| Fields::read(action.get()));
        let Some(query) = action.and_then(|action| action.text("query").map(Cow::into_owned)) else {
            return;
        };
        self.searches += 1;
        let id = item.text("id").filter(|id| !id.is_empty());
        let id = id.map_or_else(|| format!("{}-web-{}", self.root, self.searches), |id| id.into_owned());
        self.call(&id, Called::search(&query));
        self.ended(&id, &End::Done("null".to_owned()));
    }

    pub(super) fn ended(&mut self, id: &str, end: &End) {
        let folder = self.folders.remove(id);
        let place = self.place(self.at, folder);
        if !self.is_recorded(&place) {
            self.reading.calls.remove(id);
            return;
        }
        let Some(call) = self.reading.ended_call(&place, id) else { return };
        let prompt_id = self.reading.told.turn.prompt_id.clone();
        let prompt_id = prompt_id.as_deref().filter(|_| self.agent.is_none());
        match end {
            End::Refused(refusal) => {
                self.reading.refused(&place, prompt_id, id, &call, &refusal.borrowed());
            }
            End::Failed(error) => self.reading.tool_call(&place, prompt_id, id, &call, (true, None), error),
            End::Done(output) => {
                self.reading.tool_call(&place, prompt_id, id, &call, (false, Some(output)), "");
            }
        }
    }

    /// Hands on the calls of programs that go on: with the turn they leave the model's sight.
    pub(super) fn leave_running(&mut self) {
        self.polls.clear();
        for (process, running) in std::mem::take(&mut self.running) {
            self.ended(&running.call, &End::in_background(&process, &running.printed));
        }
    }
}

fn beginning(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
