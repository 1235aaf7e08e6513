//! What a slice can be cited for: which messages are there, whose they are, and what people said in them.
//!
//! Operations are applied again after a crash, perhaps when the transcript is gone. So what they cite is kept with
//! them, and not the slice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::extract::sentences;
use crate::operation::Operation;
use crate::slice::{Message, Part, Role, Slice};
use language::content_words;
use language::lexicon::CONVERSATION;
use language::{Phrases, folded};

/// A person's message must share so many words with an entry to be about it, and half of the entry's words.
const SHARED_WORDS: usize = 2;

/// What sentences contain by which a person changes something.
static CHANGES: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::of(CONVERSATION, "change"));

/// The messages that may be cited, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    #[serde(rename = "turns")]
    messages: BTreeMap<u64, Voice>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "lowercase")]
enum Voice {
    /// A person spoke, in these words.
    Person {
        words: BTreeSet<String>,
        /// Those of sentences that say that something changes.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        changed: BTreeSet<String>,
    },
    /// The model spoke or acted.
    Model,
    /// A tool's output or a summary, not a speaker.
    Output,
}

impl Evidence {
    /// Returns what the whole slice can be cited for.
    pub fn of(slice: &Slice) -> Self {
        Self { messages: slice.messages.iter().map(|message| (message.number, Voice::of(message))).collect() }
    }

    /// Returns what the operations cite, to be kept with them.
    pub fn cited_by(slice: &Slice, operations: &[Operation]) -> Self {
        let cited: BTreeSet<u64> =
            operations.iter().flat_map(|operation| operation.turns.iter().copied()).collect();
        let mut evidence = Self::of(slice);
        evidence.messages.retain(|number, _| cited.contains(number));
        evidence
    }

    /// Returns the last cited message of a person or the model. Tool output alone supports nothing: it may come from a
    /// page that wants to be remembered.
    pub(crate) fn support(&self, cited: &[u64]) -> Option<u64> {
        let spoke =
            |number: &&u64| matches!(self.messages.get(number), Some(Voice::Person { .. } | Voice::Model));
        cited.iter().filter(spoke).max().copied()
    }

    /// Returns whether a person spoke about an entry that says `text` in one of the cited messages. An entry of a single
    /// word is spoken of often; it has to be said that it changes.
    pub(crate) fn is_direct(&self, cited: &[u64], text: &str) -> bool {
        let about = content_words(text);
        let needed = about.len().div_ceil(2).max(SHARED_WORDS);
        cited.iter().any(|number| match self.messages.get(number) {
            Some(Voice::Person { changed, .. }) if about.len() == 1 => about.is_subset(changed),
            Some(Voice::Person { words, .. }) => words.intersection(&about).count() >= needed,
            _ => false,
        })
    }

    /// Returns whether a person spoke about a distilled entry so that it may go: about it, or with one of
    /// its words where they say that something changes.
    pub(crate) fn is_taken_back(&self, cited: &[u64], text: &str) -> bool {
        let about = content_words(text);
        let changes = |number: &u64| match self.messages.get(number) {
            Some(Voice::Person { changed, .. }) => !changed.is_disjoint(&about),
            _ => false,
        };
        self.is_direct(cited, text) || cited.iter().any(changes)
    }
}

impl Voice {
    fn of(message: &Message) -> Self {
        if message.is_of_a_person() {
            let words = message.said().flat_map(content_words).collect();
            let changed = message
                .said()
                .flat_map(sentences)
                .filter(|sentence| !sentence.is_question && CHANGES.occur(&folded(&sentence.text)))
                .flat_map(|sentence| content_words(&sentence.text))
                .collect();
            return Self::Person { words, changed };
        }
        let speaks = |part: &Part| {
            matches!(part, Part::Said(text) if !text.is_empty()) || matches!(part, Part::Call { .. })
        };
        let is_model = message.role == Role::Assistant && message.parts.iter().any(speaks);
        if is_model { Self::Model } else { Self::Output }
    }
}
