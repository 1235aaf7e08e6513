//! How far a transcript was read, so that the next reader continues there.

use serde::{Deserialize, Serialize};

/// A place in a transcript: how far a session is distilled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The last record that has a uuid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The number of the last message, counted from the start of the transcript; 0 when it is not known.
    #[serde(default, rename = "turn")]
    pub message: u64,
    /// Just past the last complete line, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

impl Mark {
    /// Returns a mark of a record alone, which is all that the Node version writes down.
    pub fn at(uuid: &str) -> Self {
        Self { uuid: Some(uuid.to_owned()), ..Self::default() }
    }

    /// Returns the mark, unless it is that of a session that was never distilled.
    pub fn known(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}
