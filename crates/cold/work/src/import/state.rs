//! The state of one context, as each generation of aiwcli wrote it.

use super::read_json;
use super::tasks::{self, OldTask};
use crate::contexts::plan::Marks;
use crate::contexts::write;
use crate::contexts::{Artifact, ArtifactKind, Git, LastSession, Mode};
use base::Timestamp;
use chrono::{DateTime, Local, NaiveDateTime, TimeZone as _};
use serde_json::{Map, Value};
use std::path::Path;

/// The most sessions of a context that are bound, and files that git named.
const MOST_SESSIONS: usize = 500;
const MOST_CHANGED: usize = 10;

/// What has a place of its own in a context; everything else is kept as it is.
const KNOWN: [&str; 23] = [
    "id",
    "status",
    "summary",
    "method",
    "tags",
    "created_at",
    "last_active",
    "mode",
    "plan_path",
    "plan_hash",
    "plan_signature",
    "plan_id",
    "plan_anchors",
    "plan_hash_consumed",
    "plan_consumed",
    "handoff_path",
    "handoff_consumed",
    "work_consumed",
    "next_artifact_type",
    "session_ids",
    "last_session",
    "in_flight",
    "session_id",
];

/// A context of aiwcli.
#[derive(Clone, Debug, Default)]
pub(super) struct Old {
    pub(super) id: String,
    pub(super) summary: String,
    pub(super) tags: Vec<String>,
    pub(super) method: String,
    pub(super) mode: Mode,
    pub(super) is_done: bool,
    pub(super) created_at: Option<Timestamp>,
    pub(super) last_active: Option<Timestamp>,
    pub(super) artifact: Option<Artifact>,
    pub(super) sessions: Vec<String>,
    pub(super) last_session: Option<LastSession>,
    pub(super) git: Option<Git>,
    pub(super) tasks: Vec<OldTask>,
    pub(super) extra: Map<String, Value>,
}

impl Old {
    /// Reads `state.json`, else the `context.json` of the first generation, else what the index says.
    pub(super) fn read(id: &str, folder: &Path, is_archived: bool, index: &Value) -> Option<Self> {
        let state = read_json(&folder.join("state.json")).or_else(|| read_json(&folder.join("context.json")));
        let indexed = &index["contexts"][id];
        let state = state.or_else(|| Some(indexed.clone()).filter(Value::is_object))?;
        let state = state.as_object()?;
        let mut old = Self::of(id, state);
        old.is_done |= is_archived;
        if old.summary.is_empty() {
            old.summary = text(indexed, "summary").unwrap_or_default();
        }
        // The index knows sessions that a lost update took out of the state.
        let bound = index["sessions"].as_object().into_iter().flatten();
        let bound =
            bound.filter(|(_, context)| context.as_str() == Some(id)).map(|(session, _)| session.clone());
        for session in bound.collect::<Vec<_>>() {
            old.bind(&session);
        }
        Some(old)
    }

    /// Gives it another id, and keeps the one that it had.
    pub(super) fn renamed(mut self, id: &str) -> Self {
        self.extra.insert("aiwcli_id".to_owned(), std::mem::replace(&mut self.id, id.to_owned()).into());
        self
    }

    fn of(id: &str, state: &Map<String, Value>) -> Self {
        let whole = Value::Object(state.clone());
        // The first generation has all of it in one object.
        let flight = &whole["in_flight"];
        let mut old = Self {
            id: id.to_owned(),
            summary: text(&whole, "summary").unwrap_or_default(),
            tags: texts(&whole["tags"]),
            method: text(&whole, "method").unwrap_or_else(|| "imported".to_owned()),
            is_done: whole["status"] == "completed",
            created_at: moment(&whole["created_at"]),
            last_active: moment(&whole["last_active"]),
            tasks: OldTask::all_of(&whole[tasks::FIELD]),
            extra: state.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str())).map(kept).collect(),
            ..Self::default()
        };
        if let Some(Value::Array(tasks)) = old.extra.get_mut(tasks::FIELD) {
            tasks.retain(|task| !tasks::is_taken_over(task));
        }
        old.extra.retain(|name, value| name != tasks::FIELD || *value != Value::Array(Vec::new()));
        for source in [&whole, flight] {
            texts(&source["session_ids"]).iter().for_each(|session| old.bind(session));
            text(source, "session_id").iter().for_each(|session| old.bind(session));
        }
        (old.last_session, old.git) = last_session(&whole["last_session"]);
        let mode = text(&whole, "mode").or_else(|| text(flight, "mode")).unwrap_or_default();
        let wanted = text(&whole, "next_artifact_type");
        let plan = artifact(&whole, ArtifactKind::Plan).or_else(|| flown(flight, old.last_active));
        let handoff = artifact(&whole, ArtifactKind::Handoff).or_else(|| {
            let flown = artifact(flight, ArtifactKind::Handoff)?;
            Some(Artifact { at: old.last_active.map_or(0, millis), ..flown })
        });
        old.settle(&mode, wanted.as_deref(), plan, handoff);
        old
    }

    fn bind(&mut self, session: &str) {
        let is_known = self.sessions.iter().any(|known| known == session);
        if !session.is_empty() && session != "unknown" && !is_known && self.sessions.len() < MOST_SESSIONS {
            self.sessions.push(session.to_owned());
        }
    }

    /// Gives a context the mode that the words of its generation mean.
    fn settle(
        &mut self,
        mode: &str,
        wanted: Option<&str>,
        plan: Option<Artifact>,
        handoff: Option<Artifact>,
    ) {
        let is_staged = match mode {
            "pending_implementation" | "has_plan" | "has_handoff" | "has_staged_work" => true,
            "implementing" | "active" => {
                self.mode = Mode::Active;
                false
            }
            _ => false,
        };
        let wants_handoff = wanted == Some("handoff") || (wanted.is_none() && mode == "has_handoff");
        self.artifact = if wants_handoff { handoff.or(plan) } else { plan.or(handoff) };
        let Some(artifact) = self.artifact.as_ref().filter(|_| is_staged && !self.is_done) else { return };
        self.mode = match artifact.kind {
            _ if artifact.is_consumed => Mode::Active,
            ArtifactKind::Plan => Mode::HasPlan,
            ArtifactKind::Handoff => Mode::HasHandoff,
        };
    }
}

/// Returns what a state of the second or third generation leaves for a session.
fn artifact(state: &Value, kind: ArtifactKind) -> Option<Artifact> {
    let (path, flag) = match kind {
        ArtifactKind::Plan => ("plan_path", "plan_consumed"),
        ArtifactKind::Handoff => ("handoff_path", "handoff_consumed"),
    };
    let path = text(state, path)?;
    let is_on = |name: &str| state[name].as_bool().unwrap_or_default();
    let digest = text(state, "plan_hash").unwrap_or_default();
    let is_used = !digest.is_empty() && text(state, "plan_hash_consumed").as_ref() == Some(&digest);
    let is_plan = kind == ArtifactKind::Plan;
    let marks = is_plan.then(|| Marks {
        id: text(state, "plan_id").map(|id| id.to_lowercase()),
        digest: digest.clone(),
        anchors: texts(&state["plan_anchors"]),
        signature: text(state, "plan_signature").unwrap_or_default(),
    });
    Some(Artifact {
        kind,
        at: moment(&state["last_active"]).map_or(0, millis),
        digest: if is_plan { digest } else { path.clone() },
        marks,
        path: Some(path),
        is_consumed: is_on(flag) || is_on("work_consumed") || (is_plan && is_used),
    })
}

/// Returns the plan of the first generation.
fn flown(flight: &Value, last_active: Option<Timestamp>) -> Option<Artifact> {
    let path = text(flight, "artifact_path")?;
    let digest = text(flight, "artifact_hash").unwrap_or_default();
    let marks = Some(Marks { digest: digest.clone(), ..Marks::default() });
    let at = last_active.map_or(0, millis);
    Some(Artifact { kind: ArtifactKind::Plan, at, digest, marks, path: Some(path), is_consumed: false })
}

fn last_session(value: &Value) -> (Option<LastSession>, Option<Git>) {
    let Some(session_id) = text(value, "session_id") else { return (None, None) };
    let state = &value["git_state"];
    let mut changed = texts(&state["uncommitted_files"]);
    changed.truncate(MOST_CHANGED);
    let git = Git { branch: text(state, "branch"), commit: text(state, "last_commit_short"), changed };
    let last = LastSession {
        session_id,
        saved_at: moment(&value["saved_at"]).map_or(0, millis),
        save_reason: text(value, "save_reason"),
        context_remaining_pct: value["context_remaining_pct"].as_i64(),
        context_warnings_fired: value["context_warnings_fired"].as_array().cloned().unwrap_or_default(),
    };
    (Some(last), Some(git).filter(|git| *git != Git::default()))
}

/// Returns a value that has no name here, without private parts and secrets.
fn kept((name, value): (&String, &Value)) -> (String, Value) {
    fn clean(value: &Value) -> Value {
        match value {
            Value::String(text) => write::kept(text).into(),
            Value::Array(values) => values.iter().map(clean).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), clean(value))).collect()
            }
            value => value.clone(),
        }
    }
    (name.clone(), clean(value))
}

pub(super) fn text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().filter(|text| !text.trim().is_empty()).map(write::kept)
}

pub(super) fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(write::kept).collect()
}

fn millis(moment: Timestamp) -> i64 {
    i64::try_from(moment.millis()).unwrap_or_default()
}

/// Reads a time: aiwcli wrote local time without a zone.
pub(super) fn moment(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?;
    let millis = match DateTime::parse_from_rfc3339(text) {
        Ok(moment) => moment.timestamp_millis(),
        Err(_) => {
            let local: NaiveDateTime = text.replacen(' ', "T", 1).parse().ok()?;
            Local.from_local_datetime(&local).earliest()?.timestamp_millis()
        }
    };
    u64::try_from(millis).ok().map(Timestamp::from_millis)
}
