//! One turn as it was observed.

use std::path::PathBuf;

/// What is known of one turn: its prompt and everything until the next one, in the order in which it happened.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    pub platform: String,
    /// The session's id, as the platform gave it.
    pub session: String,
    /// The number of the prompt; 0 before the first.
    pub number: u64,
    /// The branch of the turn's prompt, else of the session.
    pub branch: Option<String>,
    pub before: Before,
    pub observed: Vec<Observed>,
}

/// What the turn before said, which a short prompt may be about; empty where the prompt needs it not.
#[derive(Clone, Debug, Default)]
pub struct Before {
    pub prompt: String,
    /// The model's last message.
    pub answer: String,
}

/// One observation of a turn.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Its row in `observations`.
    pub row: i64,
    pub kind: String,
    pub id: String,
    /// In milliseconds since 1970.
    pub at: u64,
    pub cwd: String,
    /// The root of its project, which paths are made relative to.
    pub root: PathBuf,
    /// The row of its project.
    pub project: i64,
    pub agent: Option<String>,
    pub failed: bool,
    /// The data of its kind, as JSON.
    pub data: serde_json::Value,
}

impl Observed {
    /// Returns a text of the data; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.data.get(name).and_then(serde_json::Value::as_str).unwrap_or_default()
    }

    /// Returns the strings of a list in the data.
    pub fn list(&self, name: &str) -> Vec<String> {
        let items = self.data.get(name).and_then(serde_json::Value::as_array);
        items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }
}
