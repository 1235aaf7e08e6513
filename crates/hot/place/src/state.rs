//! `.wyren/state/fetch.json`: what the last fetch saw. It is all that hooks read about the remote.

use crate::{Mode, state_folder};
use base::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the format.
const VERSION: u32 = 1;

/// How long a remote is left alone after its first failure; doubled with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(60);

/// The longest that a failing remote is left alone.
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 60);

/// What a fetch found, compared with the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The branch was not known before.
    New,
    /// Nothing has happened.
    Unchanged,
    /// Commits came on top of the tip that was known.
    FastForward,
    /// The tip that was known is no longer part of the branch.
    Rewritten,
    /// The branch is not on the remote and never was.
    Absent,
    /// The branch was on the remote and is not any more.
    Gone,
}

/// What is known about the remote. Unknown fields are ignored, missing ones are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FetchState {
    /// The version of the format.
    pub v: u32,
    /// The mode when this was written.
    pub mode: Option<Mode>,
    /// The name of the remote.
    pub remote: Option<String>,
    /// The branch on the remote.
    pub branch: Option<String>,
    /// Its tip, in hexadecimal.
    pub tip: Option<String>,
    /// Its tip before that.
    pub previous: Option<String>,
    /// How the two are related.
    pub verdict: Option<Verdict>,
    /// The tip before a rewriting that is not accepted yet.
    pub rewritten_from: Option<String>,
    /// When the remote last answered, in milliseconds since 1970.
    pub fetched_at: u64,
    /// When it was last asked.
    pub tried_at: u64,
    /// How often in a row it has failed.
    pub failures: u32,
    /// Until when it is left alone.
    pub retry_at: u64,
    /// What it said when it failed, sanitised.
    pub error: Option<String>,
}

impl FetchState {
    /// Reads the state below a `.wyren/` folder; an empty one when there is none that can be read.
    pub fn read(folder: &Path) -> Self {
        let text = fs::read(path(folder)).unwrap_or_default();
        let state: Self = serde_json::from_slice(&text).unwrap_or_default();
        if state.v == VERSION { state } else { Self::default() }
    }

    /// Returns until when the remote is left alone, if it is at `now`.
    pub fn backing_off(&self, now: Timestamp) -> Option<Timestamp> {
        // A clock that was set back must not keep us away for longer than the longest pause.
        let longest = u64::try_from(LONGEST_PAUSE.as_millis()).unwrap_or(u64::MAX);
        let is_ahead = self.retry_at > now.millis() && self.retry_at - now.millis() <= longest;
        is_ahead.then(|| Timestamp::from_millis(self.retry_at))
    }
}

/// What only the fetcher does.
impl FetchState {
    /// Notes that the remote answered.
    pub fn succeed(&mut self, now: Timestamp) {
        *self = Self { fetched_at: now.millis(), failures: 0, retry_at: 0, error: None, ..self.clone() };
    }

    /// Notes that the remote failed, and leaves it alone for a while.
    pub fn fail(&mut self, now: Timestamp, words: String) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(16)).min(LONGEST_PAUSE);
        self.failures = self.failures.saturating_add(1);
        self.retry_at = now.millis() + u64::try_from(pause.as_millis()).unwrap_or_default();
        self.error = Some(words);
    }

    /// Replaces the state below a `.wyren/` folder.
    pub fn write(&mut self, folder: &Path) -> std::io::Result<()> {
        self.v = VERSION;
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        base::files::write_atomic(&path(folder), &text)
    }
}

fn path(folder: &Path) -> PathBuf {
    state_folder(folder).join("fetch.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_remote_is_left_alone_for_a_minute_doubling_to_thirty() {
        let mut state = FetchState::default();
        let now = Timestamp::from_millis(1_000_000);
        let mut minutes = Vec::new();
        for _ in 0..7 {
            state.fail(now, "no".to_owned());
            minutes.push((state.retry_at - now.millis()) / 60_000);
        }
        assert_eq!(minutes, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(state.backing_off(now).unwrap().millis(), state.retry_at);
        assert_eq!(state.backing_off(Timestamp::from_millis(state.retry_at)), None);
        state.succeed(now);
        assert_eq!((state.failures, state.backing_off(now)), (0, None));
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_stop_fetching_for_long() {
        let mut state = FetchState::default();
        state.fail(Timestamp::from_millis(10_000_000_000), "no".to_owned());
        assert_eq!(state.backing_off(Timestamp::from_millis(1_000)), None);
    }

    #[test]
    fn a_state_is_read_back_and_nonsense_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = FetchState { verdict: Some(Verdict::FastForward), ..FetchState::default() };
        state.write(folder.path()).unwrap();
        assert_eq!(FetchState::read(folder.path()), state);
        let text = fs::read_to_string(path(folder.path())).unwrap();
        assert!(text.contains(r#""verdict":"fast-forward""#), "{text}");
        for nonsense in ["", "{", r#"{"v":2,"failures":3}"#] {
            fs::write(path(folder.path()), nonsense).unwrap();
            assert_eq!(FetchState::read(folder.path()), FetchState::default());
        }
    }
}
