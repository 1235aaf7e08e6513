//! `.wyren/state/fetch.json`: the result of the last fetch. It is all that hooks read about the remote.

use crate::{Mode, state_folder};
use base::{Timestamp, files};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

const VERSION: u32 = 1;

/// The back-off after the first failure; doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(60);

/// The longest back-off.
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 60);

/// The result of a fetch compared with the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The branch was not known before.
    New,
    Unchanged,
    /// New commits on top of the known tip.
    FastForward,
    /// The known tip is no longer part of the branch.
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
    pub v: u32,
    /// The mode when this was written.
    pub mode: Option<Mode>,
    pub remote: Option<String>,
    pub branch: Option<String>,
    /// Hexadecimal.
    pub tip: Option<String>,
    pub previous: Option<String>,
    /// The relation of `previous` to `tip`.
    pub verdict: Option<Verdict>,
    /// The tip before a rewrite that needs a decision.
    pub rewritten_from: Option<String>,
    /// The last successful fetch, in milliseconds since 1970.
    pub fetched_at: u64,
    /// The last attempt.
    pub tried_at: u64,
    /// How long the last `wyren sync` that got an answer took in all, in milliseconds; `None` when none was measured.
    pub took_ms: Option<u64>,
    /// Consecutive failures.
    pub failures: u32,
    /// The next attempt after a failure.
    pub retry_at: u64,
    /// The last error, sanitised.
    pub error: Option<String>,
}

impl FetchState {
    /// Reads the state below a `.wyren/` folder; empty when missing or unreadable.
    pub fn read(folder: &Path) -> Self {
        let text = files::read_capped(&path(folder), files::cap::STATE).unwrap_or_default();
        let state: Self = serde_json::from_slice(&text).unwrap_or_default();
        if state.v == VERSION { state } else { Self::default() }
    }

    /// Returns the time of the next attempt while backing off.
    pub fn backing_off(&self, now: Timestamp) -> Option<Timestamp> {
        // A clock that was set back must not extend the back-off beyond its maximum.
        let longest = u64::try_from(LONGEST_PAUSE.as_millis()).unwrap_or(u64::MAX);
        let is_ahead = self.retry_at > now.millis() && self.retry_at - now.millis() <= longest;
        is_ahead.then(|| Timestamp::from_millis(self.retry_at))
    }
}

impl FetchState {
    /// Returns whether the remote answered the last time it was asked: a look that failed, was cut or is under way did not.
    pub fn is_answering(&self) -> bool {
        self.failures == 0 && self.tried_at <= self.fetched_at
    }

    pub fn succeed(&mut self, now: Timestamp) {
        *self = Self { fetched_at: now.millis(), failures: 0, retry_at: 0, error: None, ..self.clone() };
    }

    /// Starts the back-off.
    pub fn fail(&mut self, now: Timestamp, words: String) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(16)).min(LONGEST_PAUSE);
        self.failures = self.failures.saturating_add(1);
        self.retry_at = now.millis() + u64::try_from(pause.as_millis()).unwrap_or_default();
        self.error = Some(words);
    }

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
    use std::fs;

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
    fn a_remote_is_answering_unless_it_failed_or_still_owes_an_answer() {
        let is_answering = |tried_at, fetched_at, failures| {
            FetchState { tried_at, fetched_at, failures, ..FetchState::default() }.is_answering()
        };
        assert!(is_answering(0, 0, 0));
        assert!(is_answering(5, 6, 0));
        assert!(!is_answering(7, 6, 0));
        assert!(!is_answering(5, 6, 1));
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
        // Versions before 0.2 do not measure.
        fs::write(path(folder.path()), r#"{"v":1,"fetched_at":7}"#).unwrap();
        assert_eq!(FetchState::read(folder.path()).took_ms, None);
        for nonsense in ["", "{", r#"{"v":2,"failures":3}"#] {
            fs::write(path(folder.path()), nonsense).unwrap();
            assert_eq!(FetchState::read(folder.path()), FetchState::default());
        }
    }
}
