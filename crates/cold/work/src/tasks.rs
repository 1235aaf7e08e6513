//! Tasks over several sessions. The client numbers them anew in each list; here each has one id for good, made of the call
//! that added it, so that neither order, nor a deleted task, nor a second session gives an id to another task.
//!
//! A task that is added again is known by the `persistent_id` in its metadata, or by its subject while the one of an earlier list
//! is open. A call with `skip_persistence` adds nothing.

use crate::observed::{Observed, ordered};
use crate::{line, observed};
use base::digest;
use capture::task::{CREATE, TODOS};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use store::Error;
use store::rusqlite::Connection;

/// What ids begin with.
const PREFIX: &str = "t-";
/// How many digits of the SHA-256 follow.
const DIGITS: usize = 8;
/// The longest id that a call may name.
const MOST_ID_CHARS: usize = 64;

/// The state of a task that is not open any more.
pub const COMPLETED: &str = "completed";
/// The state of a task that is being worked on.
pub const IN_PROGRESS: &str = "in_progress";
/// The state of a new task.
pub const PENDING: &str = "pending";

/// What is shown of a task without a subject.
pub const UNTOLD: &str = "(its subject was not recorded)";

/// One task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Task {
    /// The same in every session.
    pub id: String,
    /// Empty where the call that added it was not recorded.
    pub subject: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub active_form: String,
    /// [`PENDING`], [`IN_PROGRESS`], [`COMPLETED`], or what else the model wrote.
    pub status: String,
    /// The ids of the tasks that it waits for; those that are over are not among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
    /// What shows that it is done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub work_summary: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<String>,
    /// In milliseconds since 1970.
    pub created_at: u64,
    pub changed_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<u64>,
    /// The session that changed it last.
    pub session: String,
    /// The session that added it.
    #[serde(skip)]
    pub began_in: String,
    /// The subagent whose own list it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether it was taken out of the list; its id is not given again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_deleted: bool,
    /// The client's number of it in each list that it was added to.
    pub numbers: BTreeMap<String, String>,
    /// Its place in a list that was written at once.
    #[serde(skip)]
    pub place: usize,
    /// Whether it comes from a list without numbers.
    #[serde(skip)]
    pub is_todo: bool,
}

impl Task {
    /// Where it belongs in a list: calls of one moment are in the order of the client's numbers.
    fn key(&self) -> (u64, usize, Option<u64>, &str) {
        let number = self.numbers.values().filter_map(|number| number.parse().ok()).min();
        (self.created_at, self.place, number, &self.id)
    }

    /// Says whether there is something left to do.
    pub fn is_open(&self) -> bool {
        !self.is_deleted && self.status != COMPLETED
    }
}

/// Returns the tasks of these sessions and of the lists that they share with others, the oldest first.
pub fn of_sessions(connection: &Connection, sessions: &[i64]) -> Result<Vec<Task>, Error> {
    let mut found = observed::of_sessions(connection, sessions, &["task"])?;
    let own: BTreeSet<String> = found.iter().map(|call| call.session.clone()).collect();
    let shared: BTreeSet<String> =
        found.iter().map(|call| call.text("list").to_owned()).filter(|list| !own.contains(list)).collect();
    for list in shared {
        found.extend(observed::of_list(connection, &list)?);
    }
    Ok(state(&found))
}

/// Returns the tasks of several groups of sessions, each once, the oldest first: equal words are one task in a group alone.
pub fn of_groups(connection: &Connection, groups: &[Vec<i64>]) -> Result<Vec<Task>, Error> {
    let mut found = BTreeMap::new();
    for group in groups {
        for task in of_sessions(connection, group)? {
            found.entry(task.id.clone()).or_insert(task);
        }
    }
    let mut tasks: Vec<Task> = found.into_values().collect();
    tasks.sort_by(|one, other| one.key().cmp(&other.key()));
    Ok(tasks)
}

/// Returns the tasks of a session and of those that continue it or that it continues.
pub fn of_line(connection: &Connection, session: i64) -> Result<Vec<Task>, Error> {
    of_sessions(connection, &line::around(connection, session)?)
}

/// Returns the tasks after these observations: the same for the same observations in any order, with or without repetition.
pub fn state(observations: &[Observed]) -> Vec<Task> {
    let mut board = Board::default();
    for call in ordered(observations).into_iter().filter(|call| call.kind == "task") {
        match call.text("tool") {
            CREATE => board.create(call),
            TODOS => board.write_all(call),
            _ => board.update(call),
        }
    }
    board.finish()
}

/// What a client's number means at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Slot {
    Task(String),
    /// A task that is not to be kept.
    Skipped,
}

#[derive(Default)]
struct Board {
    tasks: BTreeMap<String, Task>,
    /// By list and number.
    slots: BTreeMap<(String, String), Slot>,
    /// Which task waits for which.
    waits: BTreeSet<(String, String)>,
}

impl Board {
    fn create(&mut self, call: &Observed) {
        let (list, number) = (list_of(call), call.text("task").to_owned());
        let named = named_id(call);
        if call.is("skip_persistence") && named.is_none() {
            self.slots.insert((list, number), Slot::Skipped);
            return;
        }
        let subject = call.text("subject");
        // The id of a deleted task is not given again, not even to one that asks for it.
        let named = named.filter(|id| !self.tasks.get(id).is_some_and(|task| task.is_deleted));
        // A model may copy an id with a mistake in it: then the words tell which task it is.
        let known = named.clone().filter(|id| self.tasks.contains_key(id));
        let id = known
            .or_else(|| self.continued(&list, subject))
            .or(named)
            .unwrap_or_else(|| made_id(&[&call.session, &call.id]));
        self.slots.insert((list.clone(), number.clone()), Slot::Task(id.clone()));
        let is_new = !self.tasks.contains_key(&id);
        let task = self.task(&id, call);
        task.numbers.insert(list, number);
        if is_new || !call.is("skip_persistence") {
            apply(task, call);
        }
        if task.subject.is_empty() {
            subject.clone_into(&mut task.subject);
        }
        self.wait(call, &id);
    }

    fn update(&mut self, call: &Observed) {
        let place = (list_of(call), call.text("task").to_owned());
        let named = named_id(call);
        let id = match (named, self.slots.get(&place)) {
            (Some(named), _) if self.tasks.contains_key(&named) => named,
            // An id that no task has is a model's mistake where the number is known.
            (_, Some(Slot::Task(id))) => id.clone(),
            (Some(named), _) => named,
            (None, Some(Slot::Skipped)) => return,
            // The call that added it was not recorded.
            (None, None) => made_id(&[&place.0, "#", &place.1]),
        };
        if self.tasks.get(&id).is_some_and(|task| task.is_deleted) {
            return;
        }
        self.slots.insert(place.clone(), Slot::Task(id.clone()));
        let task = self.task(&id, call);
        task.numbers.insert(place.0, place.1);
        apply(task, call);
        if call.is("deleted") {
            task.is_deleted = true;
        }
        self.wait(call, &id);
    }

    /// Takes a whole list in the place of the one before it.
    fn write_all(&mut self, call: &Observed) {
        let list = list_of(call);
        let todos = call.data.get("todos").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        let mut kept = BTreeSet::new();
        for (place, todo) in todos.iter().enumerate() {
            let text = |name: &str| todo.get(name).and_then(Value::as_str).unwrap_or_default();
            let subject = text("content");
            if subject.trim().is_empty() {
                continue;
            }
            // The list has no numbers: the words are the name, and the second time that they occur another one.
            let nth = times.entry(normalised(subject)).or_default();
            *nth += 1;
            let number = format!("{nth} {}", normalised(subject));
            let slot = self.slots.get(&(list.clone(), number.clone())).cloned();
            let id = match slot {
                Some(Slot::Task(id)) => id,
                // A subagent goes on with no task of the main window.
                _ => self
                    .continued(&list, subject)
                    .filter(|id| call.agent.is_none() && !kept.contains(id))
                    .unwrap_or_else(|| made_id(&[&call.session, &call.id, &number])),
            };
            self.slots.insert((list.clone(), number), Slot::Task(id.clone()));
            kept.insert(id.clone());
            let is_new = !self.tasks.contains_key(&id);
            let task = self.task(&id, call);
            if is_new {
                (task.is_todo, task.place, task.agent) = (true, place, call.agent.clone());
            }
            subject.clone_into(&mut task.subject);
            task.numbers.entry(list.clone()).or_default();
            set_text(&mut task.active_form, text("activeForm"));
            set_status(task, text("status"), call.at);
        }
        self.drop_others(&list, &kept, call);
    }

    /// Takes out what a list had and has no more. What was completed stays so.
    fn drop_others(&mut self, list: &str, kept: &BTreeSet<String>, call: &Observed) {
        let gone: Vec<((String, String), String)> = self
            .slots
            .iter()
            .filter_map(|(place, slot)| match slot {
                Slot::Task(id) if place.0 == list && !kept.contains(id) => Some((place.clone(), id.clone())),
                _ => None,
            })
            .collect();
        for (place, id) in gone {
            let Some(task) = self.tasks.get_mut(&id).filter(|task| task.is_todo) else { continue };
            self.slots.remove(&place);
            if task.is_open() {
                task.is_deleted = true;
                task.changed_at = call.at;
            }
        }
    }

    /// Returns the open task of another list that has this subject: one of an earlier session, added again.
    fn continued(&self, list: &str, subject: &str) -> Option<String> {
        let subject = normalised(subject);
        let fits = |task: &&Task| {
            task.is_open()
                && task.agent.is_none()
                && !task.numbers.contains_key(list)
                && normalised(&task.subject) == subject
        };
        let found = self.tasks.values().filter(fits).min_by_key(|task| (task.created_at, &task.id))?;
        Some(found.id.clone())
    }

    fn task(&mut self, id: &str, call: &Observed) -> &mut Task {
        let task = self.tasks.entry(id.to_owned()).or_insert_with(|| Task {
            id: id.to_owned(),
            status: PENDING.to_owned(),
            created_at: call.at,
            began_in: call.session.clone(),
            ..Task::default()
        });
        task.changed_at = call.at;
        call.session.clone_into(&mut task.session);
        task
    }

    fn wait(&mut self, call: &Observed, id: &str) {
        let list = list_of(call);
        let other = |number: String| match self.slots.get(&(list.clone(), number.clone())) {
            Some(Slot::Task(other)) => Some(other.clone()),
            Some(Slot::Skipped) => None,
            None => Some(made_id(&[&list, "#", &number])),
        };
        let after = call.list("blocked_by").into_iter().filter_map(other);
        let mut waits: Vec<(String, String)> = after.map(|other| (id.to_owned(), other)).collect();
        let before = call.list("blocks").into_iter().filter_map(other);
        waits.extend(before.map(|other| (other, id.to_owned())));
        self.waits.extend(waits);
    }

    fn finish(mut self) -> Vec<Task> {
        let open: BTreeSet<String> =
            self.tasks.values().filter(|task| task.is_open()).map(|task| task.id.clone()).collect();
        for (id, other) in &self.waits {
            if let Some(task) = self.tasks.get_mut(id).filter(|_| open.contains(other)) {
                task.blocked_by.push(other.clone());
            }
        }
        let mut tasks: Vec<Task> = self.tasks.into_values().collect();
        tasks.sort_by(|one, other| one.key().cmp(&other.key()));
        tasks
    }
}

/// Takes over what a call says about a task.
fn apply(task: &mut Task, call: &Observed) {
    set_text(&mut task.subject, call.text("subject"));
    set_text(&mut task.description, call.text("description"));
    set_text(&mut task.active_form, call.text("active_form"));
    set_text(&mut task.evidence, call.text("evidence"));
    set_text(&mut task.work_summary, call.text("work_summary"));
    for file in call.list("files_changed") {
        if !task.files_changed.contains(&file) {
            task.files_changed.push(file);
        }
    }
    if !call.is("deleted") {
        set_status(task, call.text("status"), call.at);
    }
}

fn set_text(text: &mut String, new: &str) {
    if !new.is_empty() {
        new.clone_into(text);
    }
}

fn set_status(task: &mut Task, status: &str, at: u64) {
    if status.is_empty() {
        return;
    }
    task.completed_at = (status == COMPLETED).then(|| task.completed_at.unwrap_or(at));
    status.clone_into(&mut task.status);
}

/// Returns the list that a call is about. A subagent writes a list of its own with [`TODOS`]; the other tools change that of
/// the session.
fn list_of(call: &Observed) -> String {
    let list = call.text("list");
    match &call.agent {
        Some(agent) if call.text("tool") == TODOS => format!("{list}\n{agent}"),
        _ => list.to_owned(),
    }
}

/// Returns the id that a call names, if it can be one.
fn named_id(call: &Observed) -> Option<String> {
    let id = call.text("persistent_id").trim();
    let is_id = !id.is_empty()
        && id.chars().count() <= MOST_ID_CHARS
        && id.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    is_id.then(|| id.to_owned())
}

/// Returns an id that follows from what names a task.
pub(crate) fn made_id(parts: &[&str]) -> String {
    let digest = digest::sha256_hex(parts.join("\n").as_bytes());
    format!("{PREFIX}{}", &digest[..DIGITS.min(digest.len())])
}

fn normalised(subject: &str) -> String {
    subject.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests;
