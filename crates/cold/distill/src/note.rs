//! What a distillation leaves in the journal: a model's summary of the slice, as an observation.

use crate::session::Session;
use base::settings::Settings;
use base::{Timestamp, digest};
use capture::{Data, Kept, Observation, Rules, Spool};
use distiller::{Slice, Summary};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::borrow::Cow;
use transcript::Mark;

/// The kind of the observation that has a summary, and of one that only says how far a session was looked at.
const SUMMARY: &str = "summary";
const LOOKED_AT: &str = "summary-mark";

/// A summary and where it belongs. Keeping it twice stores it once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Note {
    summary: Summary,
    /// The last prompt of the slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt_id: Option<String>,
    /// When the last message of the slice was written, in milliseconds since 1970.
    at: u64,
    /// When the transcript was looked at, in milliseconds since 1970. A turn ends a moment after its last message: what ended
    /// before this is in the slice.
    looked_at: u64,
    /// Where the next slice begins.
    next: Mark,
}

impl Note {
    pub(crate) fn of(slice: &Slice, session: &Session<'_>, summary: Summary) -> Self {
        let ended_at = slice.ended_at.as_deref().and_then(|stamp| stamp.parse::<Timestamp>().ok());
        Self {
            summary,
            prompt_id: slice.prompt_id.clone(),
            at: ended_at.unwrap_or(session.now).millis(),
            looked_at: session.now.millis(),
            next: slice.next.clone(),
        }
    }

    /// Appends the summary to the spool, where the session is recorded at all.
    pub(crate) fn keep(&self, session: &Session<'_>) -> Result<(), capture::Error> {
        let mut data = serde_json::to_value(&self.summary)?;
        if let Some(fields) = data.as_object_mut() {
            fields.insert("source".to_owned(), json!("model"));
        }
        // Two slices may end in the same turn.
        self.append(session, SUMMARY, &self.place(session), data)
    }

    /// Appends that a model was asked about the slice, or would have been, and gave no summary.
    pub(crate) fn keep_mark(&self, session: &Session<'_>, problem: &str) -> Result<(), capture::Error> {
        // The same place may be looked at again: a slice may be empty.
        let place = format!("{}\n{}", self.place(session), self.looked_at);
        self.append(session, LOOKED_AT, &place, json!({"problem": problem}))
    }

    fn place(&self, session: &Session<'_>) -> String {
        format!("{}\n{:?}\n{}", session.id, self.next.uuid, self.next.message)
    }

    fn append(
        &self,
        session: &Session<'_>,
        kind: &str,
        place: &str,
        mut data: Value,
    ) -> Result<(), capture::Error> {
        if !is_recorded(session) {
            return Ok(());
        }
        if let Some(fields) = data.as_object_mut() {
            let read = [("mark", json!(self.next)), ("looked_at", json!(self.looked_at))];
            fields.extend(read.map(|(name, value)| (name.to_owned(), value)));
        }
        let data = Data::Kept(Kept { kind: kind.into(), data: Cow::Owned(to_raw_value(&data)?) });
        let observation = Observation {
            cwd: session.cwd.to_string_lossy(),
            prompt_id: self.prompt_id.as_deref().map(Cow::from),
            ..Observation::new(
                session.id,
                format!("s:{}", digest::short_hex(place.as_bytes())),
                self.at,
                data,
            )
        };
        Spool::new(session.paths.spool()).append(&observation)
    }
}

/// Returns whether the user has sessions in this folder recorded.
pub(crate) fn is_recorded(session: &Session<'_>) -> bool {
    let settings = Settings::read(session.env, &session.paths.hook_settings());
    let rules = Rules::of(&settings, session.env);
    rules.records_in(session.cwd) && rules.sees_prompts()
}
