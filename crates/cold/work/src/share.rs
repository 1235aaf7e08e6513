//! Whose plans and tasks are whose: a session that went from one context to another did something for each, and what it did belongs
//! to the one that it worked on at that moment.

use crate::contexts::{Context, Span, read};
use crate::import::tasks::{LIST, list_of};
use crate::plans::Plan;
use crate::tasks::Task;
use std::collections::BTreeMap;
use store::Error;
use store::rusqlite::Connection;

/// What some sessions did for one context, and not for others.
#[derive(Debug, Default)]
pub struct Share {
    /// `None` for all of them.
    context: Option<String>,
    /// When each session worked on something that is left out.
    elsewhere: BTreeMap<String, Vec<Span>>,
}

impl Share {
    /// Returns the share of a context in what these sessions did; without a context, all of it.
    pub fn of(connection: &Connection, sessions: &[i64], context: Option<&str>) -> Result<Self, Error> {
        let Some(context) = context else { return Ok(Self::default()) };
        let share = Self { context: Some(context.to_owned()), ..Self::default() };
        share.without(connection, sessions, |other| other.id != context)
    }

    /// As [`Self::of`]; without a context, all but what was done for contexts that are done by now.
    pub fn to_go_on_with(
        connection: &Connection,
        sessions: &[i64],
        context: Option<&str>,
    ) -> Result<Self, Error> {
        match context {
            Some(context) => Self::of(connection, sessions, Some(context)),
            None => Self::default().without(connection, sessions, |context| context.is_done),
        }
    }

    fn without(
        mut self,
        connection: &Connection,
        sessions: &[i64],
        is_left_out: impl Fn(&Context) -> bool,
    ) -> Result<Self, Error> {
        for other in read::of_sessions(connection, sessions)?.into_iter().filter(is_left_out) {
            for binding in other.sessions {
                self.elsewhere.entry(binding.session.id).or_default().extend(binding.spans);
            }
        }
        Ok(self)
    }

    /// Returns the share of the context that one of these sessions works on; where there is none, that of contexts that are done
    /// only `with_done`.
    pub fn of_session(
        connection: &Connection,
        sessions: &[i64],
        session: i64,
        with_done: bool,
    ) -> Result<Self, Error> {
        let context = read::current(connection, session)?;
        let share = if with_done { Self::of } else { Self::to_go_on_with };
        share(connection, sessions, context.as_deref())
    }

    /// Leaves out the plans of other contexts.
    #[must_use]
    pub fn plans(&self, mut plans: Vec<Plan>) -> Vec<Plan> {
        plans.retain(|plan| self.has(&plan.session, plan.shown_at));
        plans
    }

    /// Leaves out the tasks of other contexts.
    #[must_use]
    pub fn tasks(&self, mut tasks: Vec<Task>) -> Vec<Task> {
        tasks.retain(|task| {
            let listed = self.context.as_ref().and_then(|context| is_of_import(task, context));
            listed.unwrap_or_else(|| self.has(&task.began_in, task.created_at))
        });
        tasks
    }

    fn has(&self, session: &str, at: u64) -> bool {
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        !self.elsewhere.get(session).is_some_and(|spans| spans.iter().any(|span| span.has(at)))
    }
}

/// Says whether an imported task is of this context, which its list names; `None` for any other task.
fn is_of_import(task: &Task, context: &str) -> Option<bool> {
    let mut lists = task.numbers.keys().filter(|list| list.starts_with(LIST)).peekable();
    lists.peek()?;
    Some(lists.any(|list| *list == list_of(context)))
}
