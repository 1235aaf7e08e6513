//! Tokens: of one message, and of many without counting any twice.

use std::collections::HashMap;
use std::ops::AddAssign;

use crate::json::{Cursor, Malformed};
use crate::record::{Body, Record};

/// The tokens that one request used, or several together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input that was neither read from nor written to the cache.
    pub input_tokens: u64,
    /// Input that was written to the cache.
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub output_tokens: u64,
}

impl Usage {
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Option<Self>, Malformed> {
        let mut usage = Self::default();
        let is_object = cursor.object(|field, cursor| {
            let figure = match field {
                "input_tokens" => &mut usage.input_tokens,
                "cache_creation_input_tokens" => &mut usage.cache_creation_input_tokens,
                "cache_read_input_tokens" => &mut usage.cache_read_input_tokens,
                "output_tokens" => &mut usage.output_tokens,
                _ => return cursor.pass().map(drop),
            };
            *figure = cursor.count()?.unwrap_or_default();
            Ok(())
        })?;
        Ok(is_object.then_some(usage))
    }

    /// Returns how much of the context window the conversation fills after this message.
    pub fn context_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_creation_input_tokens)
            .saturating_add(self.cache_read_input_tokens)
            .saturating_add(self.output_tokens)
    }

    /// Returns the larger of each figure: while a message streams its blocks repeat the usage, and only the last
    /// one has the final output.
    fn max(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.max(other.input_tokens),
            cache_creation_input_tokens: self
                .cache_creation_input_tokens
                .max(other.cache_creation_input_tokens),
            cache_read_input_tokens: self.cache_read_input_tokens.max(other.cache_read_input_tokens),
            output_tokens: self.output_tokens.max(other.output_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cache_creation_input_tokens =
            self.cache_creation_input_tokens.saturating_add(other.cache_creation_input_tokens);
        self.cache_read_input_tokens =
            self.cache_read_input_tokens.saturating_add(other.cache_read_input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

/// Adds up the usage of many records, each message once. It may be fed several transcripts: a resumed session
/// repeats the messages of the one it continues.
#[derive(Debug, Default)]
pub struct UsageTotals {
    messages: HashMap<Box<str>, Usage>,
    without_id: Usage,
}

impl UsageTotals {
    /// Counts the record's usage, if it has one. What the client made up itself is not counted.
    pub fn add(&mut self, record: &Record<'_>) {
        let Body::Assistant(assistant) = &record.body else { return };
        let Some(usage) = assistant.usage else { return };
        if assistant.is_synthetic() {
            return;
        }
        let Some(id) = assistant.message_id.as_deref().or(assistant.request_id.as_deref()) else {
            self.without_id += usage;
            return;
        };
        match self.messages.get_mut(id) {
            Some(known) => *known = known.max(usage),
            None => {
                self.messages.insert(id.into(), usage);
            }
        }
    }

    pub fn total(&self) -> Usage {
        let mut total = self.without_id;
        for usage in self.messages.values() {
            total += *usage;
        }
        total
    }

    /// Returns how many different messages were counted.
    pub fn messages(&self) -> usize {
        self.messages.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(lines: &[&str]) -> UsageTotals {
        let mut totals = UsageTotals::default();
        for line in lines {
            totals.add(&Record::parse(line.as_bytes()).unwrap());
        }
        totals
    }

    #[test]
    fn the_blocks_of_one_message_count_once_with_the_final_output() {
        let totals = totals(&[
            r#"{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":10,"output_tokens":1}}}"#,
            r#"{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":10,"output_tokens":43}}}"#,
            r#"{"type":"assistant","message":{"id":"m2","usage":{"cache_read_input_tokens":5}}}"#,
        ]);
        assert_eq!(totals.messages(), 2);
        assert_eq!(
            totals.total(),
            Usage { input_tokens: 10, output_tokens: 43, cache_read_input_tokens: 5, ..Usage::default() }
        );
    }

    #[test]
    fn what_no_model_said_is_not_counted() {
        let totals = totals(&[
            r#"{"type":"assistant","message":{"id":"m1","model":"<synthetic>","usage":{"input_tokens":10}}}"#,
            r#"{"type":"user","message":{"content":""},"toolUseResult":{"usage":{"input_tokens":7}}}"#,
        ]);
        assert_eq!(totals.total(), Usage::default());
    }

    #[test]
    fn absurd_figures_do_not_overflow() {
        let line = format!(r#"{{"type":"assistant","message":{{"usage":{{"input_tokens":{}}}}}}}"#, u64::MAX);
        assert_eq!(totals(&[&line, &line]).total().input_tokens, u64::MAX);
    }
}
