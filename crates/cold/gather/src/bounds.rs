//! What of a transcript may be kept: what hooks would have recorded, and was not forgotten since.

use capture::Rules;
use distiller::machinery;
use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use text::privacy;
use transcript::record::Body;
use transcript::{Act, Record};

/// The rules of recording, and what the user had forgotten.
#[derive(Clone, Copy)]
pub struct Bounds<'b> {
    pub rules: &'b Rules,
    /// Whether an observation of the session was forgotten, by its id.
    pub is_forgotten: &'b dyn Fn(&str) -> bool,
}

impl fmt::Debug for Bounds<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Bounds").field("rules", self.rules).finish_non_exhaustive()
    }
}

impl Bounds<'_> {
    /// Says whether a prompt hides itself and what is done under it: it is wholly private, of a slash command its arguments, it
    /// was forgotten, or it was typed in a folder that is not recorded.
    pub(crate) fn hide(&self, record: &Record<'_>, prompt: &str) -> bool {
        let arguments = || prompt.strip_prefix('/').and_then(|command| command.split_once(' '));
        self.leave_out(record)
            || privacy::strip(prompt).wholly_private
            || arguments().is_some_and(|(_, arguments)| privacy::strip(arguments).wholly_private)
    }

    /// Says whether a record is of a folder that is not recorded, or of a prompt that hooks left out or that was forgotten.
    pub(crate) fn leave_out(&self, record: &Record<'_>) -> bool {
        let prompt = record.prompt_id.as_deref();
        let of_prompt = || self.rules.left_out(prompt) || prompt.is_some_and(|id| self.forgot("p", id));
        record.cwd.as_deref().is_some_and(|cwd| !self.rules.records_in(Path::new(cwd))) || of_prompt()
    }

    fn admit_call(&self, id: &str, name: &str, input: &str) -> bool {
        self.rules.records_call(name, Some(input))
            && !machinery::is_our_call(name, input)
            && !self.forgot("t", id)
            && !self.forgot("r", id)
    }

    fn forgot(&self, kind: &str, id: &str) -> bool {
        (self.is_forgotten)(&format!("{kind}:{id}"))
    }
}

/// Lets through what may be kept, record by record.
#[derive(Debug)]
pub(crate) struct Screen<'b> {
    bounds: Bounds<'b>,
    /// Whether the prompt that counts hides what is done under it.
    pub(crate) is_hidden: bool,
    /// The calls that were not let through: neither are their results.
    calls: HashSet<String>,
}

impl<'b> Screen<'b> {
    pub(crate) fn new(bounds: Bounds<'b>, is_hidden: bool) -> Self {
        Self { bounds, is_hidden, calls: HashSet::new() }
    }

    /// Says whether a part of a record may be kept.
    pub(crate) fn admits(&mut self, record: &Record<'_>, act: &Act<'_>) -> bool {
        let prompt = match act {
            Act::Prompt { text, .. } => Some(text.clone().into_owned()),
            Act::Command { name, arguments, is_prompt: true } => Some(format!("{name} {arguments}")),
            _ => None,
        };
        if let Some(prompt) = prompt {
            // What is typed during a turn lifts no privacy.
            let was_hidden = self.is_hidden && matches!(record.body, Body::Attachment(_));
            self.is_hidden = was_hidden || self.bounds.hide(record, &prompt);
            return !self.is_hidden;
        }
        if self.leaves_out(record) {
            return false;
        }
        match act {
            Act::ToolUse { id, name, input } => {
                let is_kept = self.bounds.admit_call(id, name, input.unwrap_or("{}"));
                if !is_kept {
                    self.calls.insert((*id).to_owned());
                }
                is_kept
            }
            Act::ToolResult { tool_use_id, .. } => !self.calls.contains(*tool_use_id),
            _ => true,
        }
    }

    /// Says whether a message hides itself.
    pub(crate) fn hides(&self, record: &Record<'_>, message: &str) -> bool {
        self.bounds.hide(record, message)
    }

    /// Says whether nothing of a record may be kept, as far as is known so far.
    pub(crate) fn leaves_out(&self, record: &Record<'_>) -> bool {
        self.is_hidden || self.bounds.leave_out(record)
    }
}
