//! Plans over several sessions: each once, however often it was shown, in versions, and whether the user accepted it.
//!
//! The client tells of an acceptance alone, and not of each: a plan that is accepted with a new window is followed by the end of
//! the session under the same prompt, and one that is refused by another prompt, by another plan, or by nothing.

use crate::observed::{Observed, ordered};
use crate::{line, observed};
use serde::Serialize;
use std::collections::BTreeMap;
use store::Error;
use store::rusqlite::Connection;

/// How the ids of what was imported begin.
const IMPORTED: &str = "i:";
/// The kinds that say something about plans.
const KINDS: [&str; 4] = ["plan", "prompt", "session-end", "refused"];

/// What became of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It was shown, and nothing followed.
    #[default]
    Shown,
    /// The user refused it, or asked for something else.
    Rejected,
    /// The user changed it and accepted the result, which is a plan of its own.
    Changed,
    /// The user accepted it.
    Accepted,
}

impl Status {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Rejected => "rejected",
            Self::Changed => "changed",
            Self::Accepted => "accepted",
        }
    }
}

/// One plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The digest of its text, see [`capture::plan::digest`].
    pub digest: String,
    /// Its number among the plans of the same file, from 1.
    pub version: usize,
    pub status: Status,
    pub text: String,
    /// The client's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The session that showed it first.
    pub session: String,
    /// The subagent that showed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// When it was shown first, in milliseconds since 1970.
    pub shown_at: u64,
    /// When the user accepted it; the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<u64>,
    /// The last time.
    #[serde(skip)]
    pub accepted_last_at: Option<u64>,
    /// Whether a file that was imported says all of this.
    #[serde(skip)]
    pub is_imported: bool,
    /// The prompt whose end began a new window with this plan: the client puts it into that window itself.
    #[serde(skip)]
    pub cleared_by: Option<String>,
}

impl Plan {
    /// Returns its title: the first heading, else the first line.
    pub fn title(&self) -> &str {
        let lines = || self.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let heading = lines().find(|line| line.starts_with('#')).or_else(|| lines().next());
        heading.unwrap_or_default().trim_start_matches('#').trim()
    }
}

/// Returns the plan that was accepted last; a subagent's are its own.
pub fn last_accepted(plans: &[Plan]) -> Option<&Plan> {
    let accepted = plans.iter().filter(|plan| plan.status == Status::Accepted && plan.agent.is_none());
    accepted.max_by_key(|plan| (plan.accepted_last_at, plan.shown_at, &plan.digest))
}

/// Returns the plans of these sessions, the oldest first.
pub fn of_sessions(connection: &Connection, sessions: &[i64]) -> Result<Vec<Plan>, Error> {
    let plans = observed::of_sessions(connection, sessions, &KINDS[..1])?;
    // Most sessions have none.
    if plans.is_empty() {
        return Ok(Vec::new());
    }
    let rest = observed::of_sessions(connection, sessions, &KINDS[1..])?;
    Ok(state(&[plans, rest].concat()))
}

/// Returns the plans of a session and of those that continue it or that it continues.
pub fn of_line(connection: &Connection, session: i64) -> Result<Vec<Plan>, Error> {
    of_sessions(connection, &line::around(connection, session)?)
}

/// Returns the plans after these observations: the same for the same observations in any order, with or without repetition.
pub fn state(observations: &[Observed]) -> Vec<Plan> {
    let observations = ordered(observations);
    let mut plans: BTreeMap<&str, Plan> = BTreeMap::new();
    for (place, observed) in observations.iter().enumerate().filter(|(_, observed)| observed.kind == "plan") {
        let outcome = if observed.is("accepted") {
            Outcome { status: Status::Accepted, at: Some(observed.at), cleared_by: None }
        } else {
            outcome(observed, &observations, &observations[place + 1..])
        };
        let plan = plans.entry(observed.text("digest")).or_insert_with(|| Plan {
            digest: observed.text("digest").to_owned(),
            text: observed.text("text").to_owned(),
            path: Some(observed.text("path").to_owned()).filter(|path| !path.is_empty()),
            session: observed.session.clone(),
            agent: observed.agent.clone(),
            is_imported: true,
            shown_at: observed.at,
            ..Plan::default()
        });
        plan.is_imported &= observed.id.starts_with(IMPORTED);
        // Shown again, it may be accepted at last; once accepted, it stays so.
        if plan.status != Status::Accepted {
            plan.status = outcome.status;
        }
        plan.accepted_at = plan.accepted_at.or(outcome.at);
        plan.accepted_last_at = plan.accepted_last_at.max(outcome.at);
        plan.cleared_by = plan.cleared_by.take().or(outcome.cleared_by);
    }
    let mut plans: Vec<Plan> = plans.into_values().collect();
    plans.sort_by(|one, other| (one.shown_at, &one.digest).cmp(&(other.shown_at, &other.digest)));
    let mut versions: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for plan in &mut plans {
        let version = versions.entry(plan.path.clone()).or_default();
        *version += 1;
        plan.version = *version;
    }
    plans
}

#[derive(Default)]
struct Outcome {
    status: Status,
    at: Option<u64>,
    cleared_by: Option<String>,
}

/// Returns what became of a plan that was shown, from everything that happened and from what happened later.
fn outcome(shown: &Observed, all: &[&Observed], later: &[&Observed]) -> Outcome {
    let call = shown.text("tool_use_id");
    let is_answer = |observed: &&&Observed| {
        observed.session == shown.session && observed.text("tool_use_id") == call && !call.is_empty()
    };
    let answer =
        all.iter().filter(is_answer).find(|observed| observed.kind == "plan" && observed.is("accepted"));
    if let Some(answer) = answer {
        let is_same = answer.text("digest") == shown.text("digest");
        return match is_same {
            true => Outcome { status: Status::Accepted, at: Some(answer.at), cleared_by: None },
            false => Outcome { status: Status::Changed, ..Outcome::default() },
        };
    }
    let rejected = Outcome { status: Status::Rejected, ..Outcome::default() };
    if all.iter().filter(is_answer).any(|observed| observed.kind == "refused") {
        return rejected;
    }
    let in_window =
        later.iter().filter(|observed| observed.session == shown.session && observed.agent == shown.agent);
    for observed in in_window {
        match observed.kind.as_str() {
            // `/clear` has a prompt of its own, and is typed after the question was left with Esc: under the plan's, the user accepted
            // it with a new window.
            "session-end" if observed.text("reason") == "clear" => {
                let id = |of: &Observed| of.prompt_id.clone().filter(|prompt| !prompt.is_empty());
                return match (id(observed), id(shown)) {
                    (Some(prompt), Some(of_plan)) if prompt == of_plan => {
                        Outcome { status: Status::Accepted, at: Some(observed.at), cleared_by: Some(prompt) }
                    }
                    (Some(_), Some(_)) => rejected,
                    _ => continue,
                };
            }
            "prompt" | "plan" => return rejected,
            _ => {}
        }
    }
    Outcome::default()
}

#[cfg(test)]
mod tests;
