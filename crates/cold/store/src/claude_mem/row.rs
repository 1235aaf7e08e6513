//! One row of claude-mem's, whichever columns its schema has.

use base::Timestamp;
use capture::shrink;
use serde_json::{Map, Value, json};
use text::sanitize;

/// The longest title that is made of a row without one.
const MAX_TITLE_CHARS: usize = 100;
/// A number of this size is a time in seconds; claude-mem counts milliseconds.
const SECONDS_BELOW: u64 = 100_000_000_000;

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Prompt,
    /// A session's first prompt, in databases from before prompts had a table.
    FirstPrompt,
    Entry,
    Summary,
}

impl Kind {
    /// Prompts first: what follows is numbered by them.
    pub(super) const ALL: [Self; 4] = [Self::Prompt, Self::FirstPrompt, Self::Entry, Self::Summary];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Prompt | Self::FirstPrompt => "prompt",
            Self::Entry => "entry",
            Self::Summary => "summary",
        }
    }

    pub(super) fn is_prompt(self) -> bool {
        self.name() == "prompt"
    }
}

/// A row, with the session that it is of.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: Kind,
    /// Its number in its table.
    pub(super) number: i64,
    /// In milliseconds since 1970.
    pub(super) at: Option<u64>,
    pub(super) platform: String,
    /// The session's id, as the client gave it; else the one that claude-mem made up.
    pub(super) session: String,
    pub(super) session_title: Option<String>,
    pub(super) session_started_at: Option<u64>,
    pub(super) session_project: String,
    /// Every column that has a value.
    pub(super) values: Map<String, Value>,
}

impl Row {
    /// Returns its id as an observation; those of a table are unique in it.
    pub(super) fn id(&self) -> String {
        let table = match self.kind {
            Kind::Prompt => "p",
            Kind::FirstPrompt => "s",
            Kind::Entry | Kind::Summary => "",
        };
        format!("{}{table}{}", super::ID, self.number)
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.values.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the name of its project: of the one that a work tree was merged into, else its own, else its session's.
    pub(super) fn project(&self) -> &str {
        let names = [self.text("merged_into_project"), self.text("project"), &self.session_project];
        names.into_iter().map(str::trim).find(|name| !name.is_empty()).unwrap_or_default()
    }

    /// Returns the data of the observation; `None` for a row that says nothing.
    pub(super) fn data(&self) -> Option<Value> {
        match self.kind {
            Kind::Prompt | Kind::FirstPrompt => {
                let text = self.text("text").trim();
                (!text.is_empty()).then(|| json!({"text": text}))
            }
            Kind::Entry => self.entry(),
            Kind::Summary => self.summary(),
        }
    }

    fn entry(&self) -> Option<Value> {
        let legacy = self.text("text").trim();
        let narrative = Some(self.text("narrative").trim()).filter(|text| !text.is_empty()).unwrap_or(legacy);
        let facts = self.list("facts");
        let said = [self.text("title"), self.text("subtitle"), narrative];
        let first =
            said.into_iter().chain(facts.iter().map(String::as_str)).find(|text| !text.trim().is_empty())?;
        // What is private goes before anything is cut: half a tag would hide nothing.
        let shown = shrink::text(first);
        let line = shown.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let mut data = Map::new();
        let kind = Some(self.text("type").trim()).filter(|kind| !kind.is_empty()).unwrap_or("discovery");
        data.insert("type".to_owned(), kind.into());
        let is_titled = !self.text("title").trim().is_empty();
        let title =
            if is_titled { first.trim().to_owned() } else { sanitize::one_line(line, MAX_TITLE_CHARS) };
        data.insert("title".to_owned(), title.into());
        self.copy(&mut data, &["subtitle"]);
        put(&mut data, "narrative", narrative.into());
        put(&mut data, "facts", facts.into());
        for name in ["concepts", "files_read", "files_modified"] {
            put(&mut data, name, self.list(name).into());
        }
        self.numbers(&mut data);
        for (theirs, ours) in [
            ("generated_by_model", "model"),
            ("relevance_count", "relevance"),
            ("content_hash", "hash"),
            ("metadata", "metadata"),
        ] {
            let value = self.values.get(theirs).cloned().unwrap_or_default();
            let parsed = value.as_str().and_then(|text| serde_json::from_str(text).ok());
            let is_nothing = value == json!(0) || value == json!("{}");
            put(
                &mut data,
                ours,
                if is_nothing { Value::Null } else { parsed.filter(Value::is_object).unwrap_or(value) },
            );
        }
        Some(data.into())
    }

    fn summary(&self) -> Option<Value> {
        const TEXTS: [&str; 6] = ["request", "investigated", "learned", "completed", "next_steps", "notes"];
        let mut data = Map::new();
        self.copy(&mut data, &TEXTS);
        if data.is_empty() {
            return None;
        }
        for name in ["files_read", "files_edited"] {
            put(&mut data, name, self.list(name).into());
        }
        self.numbers(&mut data);
        Some(data.into())
    }

    fn copy(&self, data: &mut Map<String, Value>, names: &[&str]) {
        for name in names {
            put(data, name, self.text(name).trim().into());
        }
    }

    fn numbers(&self, data: &mut Map<String, Value>) {
        for (theirs, ours) in [("prompt_number", "prompt_number"), ("discovery_tokens", "tokens")] {
            let number = self.values.get(theirs).and_then(Value::as_u64).filter(|number| *number > 0);
            put(data, ours, number.into());
        }
        data.insert("source".to_owned(), "claude-mem".into());
    }

    /// Returns the items of a column that holds a list: as JSON, or one per line as its first versions wrote them.
    fn list(&self, name: &str) -> Vec<String> {
        let text = self.text(name).trim();
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(items)) => items.into_iter().filter_map(item).collect(),
            Ok(Value::String(item)) => vec![item],
            Ok(Value::Null) => Vec::new(),
            _ => text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        }
    }
}

fn item(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text).filter(|text| !text.trim().is_empty()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

/// Puts a value in, unless it is nothing.
fn put(data: &mut Map<String, Value>, name: &str, value: Value) {
    let is_nothing = match &value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if !is_nothing {
        data.insert(name.to_owned(), value);
    }
}

/// Returns a time: in milliseconds, in seconds, or as text.
pub(super) fn time(epoch: Option<&Value>, text: Option<&Value>) -> Option<u64> {
    let number =
        epoch.and_then(|epoch| epoch.as_u64().or_else(|| epoch.as_f64().map(|number| number as u64)));
    let millis = match number.filter(|number| *number > 0) {
        Some(number) if number < SECONDS_BELOW => Some(number * 1_000),
        Some(number) => Some(number),
        None => {
            let text = text?.as_str()?.trim();
            let stamp = text.parse::<Timestamp>().or_else(|_| {
                // As SQLite's own functions write it.
                format!("{}Z", text.replacen(' ', "T", 1)).parse()
            });
            stamp.ok().map(Timestamp::millis)
        }
    };
    millis.filter(|millis| i64::try_from(*millis).is_ok())
}

/// Returns the name that a platform has here, normalised as claude-mem does.
pub(super) fn platform(name: &str) -> String {
    let name = name.trim().to_lowercase();
    if name.is_empty() || name.contains("claude") {
        return capture::CLAUDE_CODE.to_owned();
    }
    for (part, platform) in
        [("codex", "codex"), ("transcript", "codex"), ("cursor", "cursor"), ("gemini", "gemini")]
    {
        if name.contains(part) {
            return platform.to_owned();
        }
    }
    let kebab: String =
        name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    kebab.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_have_the_names_that_sessions_are_recorded_under() {
        for (theirs, ours) in [
            ("claude", "claude-code"),
            ("", "claude-code"),
            ("Claude-Code", "claude-code"),
            ("codex-cli", "codex"),
            ("transcript", "codex"),
            ("Cursor", "cursor"),
            ("gemini-cli", "gemini"),
            ("Open Claw_2", "open-claw-2"),
        ] {
            let expected = if theirs == "Open Claw_2" { "open-claw-2" } else { ours };
            assert_eq!(platform(theirs), expected, "{theirs}");
        }
    }

    #[test]
    fn times_come_in_every_form_that_its_versions_wrote() {
        let text = json!("2026-11-16T01:00:00.000Z");
        let at = time(None, Some(&text)).unwrap();
        assert_eq!(time(Some(&json!(at)), None), Some(at));
        assert_eq!(time(Some(&json!(at / 1_000)), Some(&json!("nonsense"))), Some(at));
        assert_eq!(time(Some(&json!(0)), Some(&json!("2026-11-16 01:00:00"))), Some(at));
        assert_eq!(time(None, Some(&json!("soon"))), None);
        assert_eq!(time(Some(&json!(-5)), None), None);
    }
}
