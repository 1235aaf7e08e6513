//! What a session had planned and not finished, from its calls of the client's task tools.

use serde_json::Value;
use std::collections::BTreeMap;

/// The tools that say something about tasks.
pub(super) const TOOLS: [&str; 3] = ["TaskCreate", "TaskUpdate", "TodoWrite"];

/// Returns the subjects of the tasks that are open after these calls: each a tool with its data, in the order in which they
/// were made.
pub(super) fn open<'c>(calls: impl IntoIterator<Item = (&'c str, &'c Value)>) -> Vec<String> {
    let mut tasks = Tasks::default();
    for (tool, data) in calls {
        match tool {
            "TaskCreate" => tasks.create(data),
            "TaskUpdate" => tasks.update(data),
            "TodoWrite" => tasks.write_all(data),
            _ => {}
        }
    }
    tasks.by_id.into_values().chain(tasks.todos).collect()
}

#[derive(Default)]
struct Tasks {
    /// The client counts tasks from 1.
    by_id: BTreeMap<u64, String>,
    todos: Vec<String>,
}

impl Tasks {
    fn create(&mut self, data: &Value) {
        let task = &data["output"]["task"];
        let subject = task["subject"].as_str().or_else(|| data["input"]["subject"].as_str());
        if let (Some(id), Some(subject)) = (id(&task["id"]), subject) {
            self.by_id.insert(id, subject.to_owned());
        }
    }

    fn update(&mut self, data: &Value) {
        let input = &data["input"];
        let Some(id) = id(&input["taskId"]) else { return };
        if is_over(&input["status"]) {
            self.by_id.remove(&id);
        } else if let Some(subject) = input["subject"].as_str() {
            self.by_id.insert(id, subject.to_owned());
        }
    }

    fn write_all(&mut self, data: &Value) {
        let todos = data["input"]["todos"].as_array().into_iter().flatten();
        let open = todos.filter(|todo| !is_over(&todo["status"]));
        self.todos = open.filter_map(|todo| todo["content"].as_str().map(str::to_owned)).collect();
    }
}

fn id(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn is_over(status: &Value) -> bool {
    matches!(status.as_str(), Some("completed" | "deleted" | "cancelled"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_task_is_open_until_it_is_completed_or_deleted() {
        let create = |id: &str, subject: &str| json!({"input": {"subject": subject}, "output": {"task": {"id": id, "subject": subject}}});
        let calls = [
            ("TaskCreate", create("1", "Write the test")),
            ("TaskCreate", create("2", "Fix it")),
            ("TaskCreate", create("10", "Tell them")),
            ("TaskUpdate", json!({"input": {"taskId": "1", "status": "completed"}})),
            ("TaskUpdate", json!({"input": {"taskId": "2", "status": "in_progress"}})),
            ("TodoWrite", json!({"input": {"todos": [{"content": "old", "status": "pending"}]}})),
            (
                "TodoWrite",
                json!({"input": {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]}}),
            ),
            ("Bash", json!({"input": {"todos": 1}})),
            ("TaskCreate", json!({"output": "cut"})),
        ];
        assert_eq!(open(calls.iter().map(|(tool, data)| (*tool, data))), ["Fix it", "Tell them", "b"]);
    }
}
