//! Tasks: what the client's task tools changed. The client keeps a list for each session, which `/clear` leaves behind; what
//! is kept here lets `work` give the open tasks to the next session.

use crate::observation::{Data, Fields, Observation};
use crate::record::{Error, Place, keep, named, shrunk, unique_id};
use crate::{Rules, shrink};
use hook::{Event as _, Host, PostToolUse};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The tools that change the list.
pub const TOOLS: [&str; 3] = [CREATE, UPDATE, TODOS];
/// Adds a task.
pub const CREATE: &str = "TaskCreate";
/// Changes a task.
pub const UPDATE: &str = "TaskUpdate";
/// Writes a whole list, in clients whose list has no ids.
pub const TODOS: &str = "TodoWrite";
/// Names a list that several sessions share; without it each has its own, under its id.
pub const LIST_ID: &str = "CLAUDE_CODE_TASK_LIST_ID";
/// The status of a task that is taken out of the list.
const DELETED: &str = "deleted";
/// The most items of a list of files or tasks that are kept.
const MOST_ITEMS: usize = 200;

/// What a call said about the list.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Task<'a> {
    /// One of [`TOOLS`].
    pub tool: Cow<'a, str>,
    /// The list: a session's id, or what [`LIST_ID`] says.
    pub list: Cow<'a, str>,
    /// The client's id of the task, unique in its list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Cow<'a, str>>,
    /// What is to be done, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<Cow<'a, str>>,
    /// The same at length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Cow<'a, str>>,
    /// `pending`, `in_progress`, `completed`, …; absent where the call does not change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Cow<'a, str>>,
    /// What the client shows while it is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_form: Option<Cow<'a, str>>,
    /// The tasks that wait for this one; those that the call adds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Cow<'a, str>>,
    /// The tasks that this one waits for; those that the call adds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<Cow<'a, str>>,
    /// The id of the task that this one continues, from an earlier session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistent_id: Option<Cow<'a, str>>,
    /// Whether the task is one of an earlier session, made again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_persistence: bool,
    /// What shows that it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Cow<'a, str>>,
    /// What was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_summary: Option<Cow<'a, str>>,
    /// The files that were changed for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<Cow<'a, str>>,
    /// Whether the call takes the task out of the list.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// The whole list of [`TODOS`]: `content`, `status` and `activeForm` of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todos: Option<&'a RawValue>,
}

impl Task<'_> {
    /// The name of the kind.
    pub const KIND: &'static str = "task";

    /// Keeps nothing but which task it is, and that it is not to be kept.
    fn without_texts(self) -> Self {
        Self {
            tool: self.tool,
            list: self.list,
            task: self.task,
            skip_persistence: self.skip_persistence,
            ..Self::default()
        }
    }
}

/// Records what a call changed in the list of tasks.
pub fn record_task(call: &PostToolUse, host: &Host) -> Result<(), Error> {
    let (Some(tool), Some(session)) = (call.tool_name.as_deref(), call.session_id()) else { return Ok(()) };
    let rules = Rules::of(host.settings(), &host.env);
    // Calls of `TodoWrite` are not recorded unless the user wants it, since the journal makes nothing of them.
    if !TOOLS.contains(&tool) || (tool != TODOS && !rules.records_tool(tool)) {
        return Ok(());
    }
    let Some(place) = Place::of(&rules, session, call, host) else { return Ok(()) };
    let todos = match (tool, call.tool_input.map(RawValue::get).and_then(Fields::read)) {
        (TODOS, Some(input)) => input.get("todos").map(|todos| shrunk(todos.get())).transpose()?,
        _ => None,
    };
    let Some(task) = of_call(call, tool) else { return Ok(()) };
    let list = host.env.text(LIST_ID).filter(|list| !list.is_empty());
    let data = Data::Task(Task {
        list: list.as_deref().map_or(Cow::Borrowed(session), shrink::text),
        todos: todos.as_deref(),
        ..task
    });
    let id = call.tool_use_id.as_deref().filter(|id| !id.is_empty());
    let id = id.map_or_else(|| unique_id(host), |id| format!("t:{id}"));
    let observation = Observation {
        agent: call.agent_id().map(Cow::from),
        agent_type: named(call.agent_type.as_deref()),
        ..place.observation(id, named(call.prompt_id.as_deref()), data)
    };
    keep(&place.spool, &observation, host, call)
}

/// Returns what a call says; `None` when it changes nothing that is kept.
fn of_call<'a>(call: &'a PostToolUse, tool: &'a str) -> Option<Task<'a>> {
    let input = Fields::read(call.tool_input?.get())?;
    let output = call.tool_response.map(RawValue::get).and_then(Fields::read).unwrap_or_default();
    let task = Task { tool: tool.into(), ..Task::default() };
    match tool {
        TODOS => input.get("todos").map(|_| task),
        CREATE => {
            let made = output.get("task").map(RawValue::get).and_then(Fields::read).unwrap_or_default();
            let subject = text(&input, "subject").or_else(|| text(&made, "subject"))?;
            let task = Task { task: Some(id(made.get("id")?)?), subject: Some(subject), ..task };
            let task = with_metadata(with_fields(task, &input), &input);
            // Of a task that is not to be kept only the number is: what comes later for that number is not kept, either.
            let is_kept = !task.skip_persistence || task.persistent_id.is_some();
            Some(if is_kept { task } else { task.without_texts() })
        }
        _ => {
            // The client says so where it has no such task.
            let is_done = output.get("success").is_none_or(|success| success.get() != "false");
            let task =
                Task { task: Some(id(input.get("taskId")?)?), subject: text(&input, "subject"), ..task };
            let task = with_metadata(with_fields(task, &input), &input);
            (is_done && !task.skip_persistence).then_some(task)
        }
    }
}

fn with_fields<'a>(task: Task<'a>, input: &Fields<'a>) -> Task<'a> {
    let status = text(input, "status");
    Task {
        description: text(input, "description"),
        active_form: text(input, "activeForm"),
        blocks: items(input.get("addBlocks")),
        blocked_by: items(input.get("addBlockedBy")),
        deleted: status.as_deref() == Some(DELETED),
        status,
        ..task
    }
}

/// Adds what the model wrote beside the client's own fields, as aiwcli's recipes have it.
fn with_metadata<'a>(task: Task<'a>, input: &Fields<'a>) -> Task<'a> {
    let Some(metadata) = input.get("metadata").map(RawValue::get).and_then(Fields::read) else { return task };
    let is_set = |value: &RawValue| !matches!(value.get(), "false" | "null" | "0" | "\"\"" | "\"false\"");
    Task {
        persistent_id: text(&metadata, "persistent_id"),
        skip_persistence: metadata.get("skip_persistence").is_some_and(is_set),
        evidence: text(&metadata, "evidence"),
        work_summary: text(&metadata, "work_summary"),
        files_changed: items(metadata.get("files_changed")),
        ..task
    }
}

fn text<'a>(fields: &Fields<'a>, name: &str) -> Option<Cow<'a, str>> {
    fields.text(name).filter(|text| !text.is_empty()).map(kept)
}

/// A name in a list, or the number that a model writes in its place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Number(u64),
}

impl<'a> Name<'a> {
    fn kept(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => kept(text),
            Self::Number(number) => Cow::Owned(number.to_string()),
        }
    }
}

fn id<'a>(value: &'a RawValue) -> Option<Cow<'a, str>> {
    serde_json::from_str::<Name<'a>>(value.get()).ok().map(Name::kept).filter(|id| !id.is_empty())
}

fn items<'a>(value: Option<&'a RawValue>) -> Vec<Cow<'a, str>> {
    let items = value.and_then(|value| serde_json::from_str::<Vec<&'a RawValue>>(value.get()).ok());
    items.unwrap_or_default().into_iter().take(MOST_ITEMS).filter_map(id).collect()
}

fn kept(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => shrink::text(text),
        Cow::Owned(text) => Cow::Owned(shrink::text(&text).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn said(tool: &str, input: &Value, output: &Value) -> Option<Value> {
        let call = json!({"tool_name": tool, "tool_input": input, "tool_response": output});
        // As in a hook, the input lives as long as the process.
        let call: PostToolUse = serde_json::from_str(Box::leak(call.to_string().into_boxed_str())).unwrap();
        of_call(&call, tool).map(|task| serde_json::to_value(task).unwrap())
    }

    #[test]
    fn a_new_task_has_the_clients_id_and_what_the_model_wrote() {
        let input = json!({"subject": "Do A", "description": "at length", "activeForm": "Doing A"});
        let output = json!({"task": {"id": "1", "subject": "Do A"}});
        assert_eq!(
            said(CREATE, &input, &output).unwrap(),
            json!({"tool": "TaskCreate", "list": "", "task": "1", "subject": "Do A", "description": "at length",
                "active_form": "Doing A"})
        );
        assert_eq!(said(CREATE, &input, &json!("cut")), None);
        assert_eq!(said(CREATE, &input, &json!({"task": {"id": 7}})).unwrap()["task"], "7");
    }

    #[test]
    fn a_task_that_is_made_again_names_the_one_that_it_continues() {
        let output = json!({"task": {"id": "3", "subject": "Do A"}});
        let input = |metadata: Value| json!({"subject": "Do A", "metadata": metadata});
        let again =
            said(CREATE, &input(json!({"persistent_id": "task-1", "skip_persistence": true})), &output);
        let again = again.unwrap();
        assert_eq!((&again["persistent_id"], &again["skip_persistence"]), (&json!("task-1"), &json!(true)));
        assert_eq!(
            said(CREATE, &input(json!({"skip_persistence": "yes"})), &output).unwrap(),
            json!({"tool": "TaskCreate", "list": "", "task": "3", "skip_persistence": true})
        );
        let update = json!({"taskId": "3", "status": "completed", "metadata": {"skip_persistence": true}});
        assert_eq!(said(UPDATE, &update, &json!({"success": true})), None);
        let new = said(CREATE, &input(json!({"skip_persistence": false})), &output).unwrap();
        assert_eq!(new["skip_persistence"], Value::Null);
    }

    #[test]
    fn an_update_has_what_changes_and_what_shows_that_it_is_done() {
        let metadata = json!({"evidence": "42 tests pass", "work_summary": "wrote it", "files_changed": ["a.rs", 5, null]});
        let input = json!({"taskId": 2, "status": "completed", "addBlockedBy": ["1"], "addBlocks": [3], "metadata": metadata});
        let output = json!({"success": true, "taskId": "2"});
        assert_eq!(
            said(UPDATE, &input, &output).unwrap(),
            json!({"tool": "TaskUpdate", "list": "", "task": "2", "status": "completed", "blocks": ["3"],
                "blocked_by": ["1"], "evidence": "42 tests pass", "work_summary": "wrote it",
                "files_changed": ["a.rs", "5"]})
        );
        assert_eq!(said(UPDATE, &input, &json!({"success": false, "error": "Task not found"})), None);
        let deleted = said(UPDATE, &json!({"taskId": "2", "status": "deleted"}), &output).unwrap();
        assert_eq!(deleted["deleted"], true);
        assert_eq!(said(UPDATE, &json!({"status": "completed"}), &output), None);
    }

    #[test]
    fn odd_input_is_no_task() {
        for (tool, input) in
            [(CREATE, json!(null)), (UPDATE, json!([1])), (TODOS, json!({})), (CREATE, json!({"subject": 5}))]
        {
            assert_eq!(said(tool, &input, &json!({"task": {"id": "1"}})), None, "{tool} {input}");
        }
    }
}
