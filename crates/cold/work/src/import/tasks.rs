//! The tasks of a context of aiwcli, as calls that made them.

use super::state::{moment, text, texts};
use crate::tasks::{COMPLETED, IN_PROGRESS, PENDING, made_id};
use base::Timestamp;
use capture::task::{CREATE, Task, UPDATE};
use serde_json::Value;

/// The field of a state that has them.
pub(super) const FIELD: &str = "tasks";
/// The most tasks of a context.
const MOST: usize = 500;
/// The most files that one names.
const MOST_FILES: usize = 200;
/// The state of a task that waits for something.
const BLOCKED: &str = "blocked";
/// What has a place of its own.
const KNOWN: [&str; 11] = [
    "id",
    "subject",
    "description",
    "active_form",
    "status",
    "created_at",
    "completed_at",
    "evidence",
    "work_summary",
    "files_changed",
    "session_id",
];

/// A task of aiwcli.
#[derive(Clone, Debug, Default)]
pub(super) struct OldTask {
    /// `aiw-3`: unique in its context alone.
    pub(super) id: String,
    pub(super) session: Option<String>,
    pub(super) created_at: Option<Timestamp>,
    pub(super) completed_at: Option<Timestamp>,
    subject: String,
    description: Option<String>,
    active_form: Option<String>,
    status: String,
    evidence: Option<String>,
    work_summary: Option<String>,
    files_changed: Vec<String>,
}

impl OldTask {
    /// Reads the tasks of a state.
    pub(super) fn all_of(state: &Value) -> Vec<Self> {
        state.as_array().into_iter().flatten().take(MOST).filter_map(Self::of).collect()
    }

    fn of(value: &Value) -> Option<Self> {
        let status = text(value, "status").unwrap_or_else(|| PENDING.to_owned());
        if ![PENDING, IN_PROGRESS, COMPLETED, BLOCKED].contains(&status.as_str()) {
            return None;
        }
        let mut files_changed = texts(&value["files_changed"]);
        files_changed.truncate(MOST_FILES);
        Some(Self {
            id: text(value, "id")?,
            session: text(value, "session_id"),
            created_at: moment(&value["created_at"]),
            completed_at: moment(&value["completed_at"]),
            subject: text(value, "subject")?,
            description: text(value, "description"),
            active_form: text(value, "active_form"),
            status,
            evidence: text(value, "evidence"),
            work_summary: text(value, "work_summary"),
            files_changed,
        })
    }

    /// Returns the call that added it.
    pub(super) fn added<'t>(&'t self, context: &str) -> Task<'t> {
        Task {
            tool: CREATE.into(),
            list: list_of(context).into(),
            task: Some(self.id.as_str().into()),
            persistent_id: Some(made_id(&[&list_of(context), &self.id]).into()),
            subject: Some(self.subject.as_str().into()),
            ..Task::default()
        }
    }

    /// Returns a call that brought it to the state that it has.
    pub(super) fn changed<'t>(&'t self, context: &str) -> Task<'t> {
        let given = |text: &'t Option<String>| text.as_deref().map(Into::into);
        Task {
            tool: UPDATE.into(),
            description: given(&self.description),
            active_form: given(&self.active_form),
            status: Some(self.status.as_str().into()),
            evidence: given(&self.evidence),
            work_summary: given(&self.work_summary),
            files_changed: self.files_changed.iter().map(|file| file.as_str().into()).collect(),
            ..self.added(context)
        }
    }
}

/// Returns whether all of a task has a place of its own.
pub(super) fn is_taken_over(value: &Value) -> bool {
    let fields = value.as_object().into_iter().flatten();
    OldTask::of(value).is_some() && fields.into_iter().all(|(name, _)| KNOWN.contains(&name.as_str()))
}

/// What the names of their lists begin with.
pub(crate) const LIST: &str = "aiwcli ";

/// Returns the list that the tasks of a context are in.
pub(crate) fn list_of(context: &str) -> String {
    format!("{LIST}{context}")
}
