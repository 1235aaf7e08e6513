//! Puts events into the tables: each once, numbered by time, whatever order they come in.

use super::rows;
use crate::open::Error;
use base::project::Project;
use capture::{Event, Kind};
use rusqlite::{OptionalExtension as _, Transaction, params};
use std::collections::HashMap;
use std::path::Path;

/// Finds projects, each folder once: it means reading files.
#[derive(Debug, Default)]
pub(crate) struct Projects {
    by_folder: HashMap<String, Project>,
}

impl Projects {
    pub(crate) fn of(&mut self, cwd: &str) -> &Project {
        self.by_folder.entry(cwd.to_owned()).or_insert_with(|| Project::of(Path::new(cwd)))
    }
}

/// Where a session belongs, said by someone who knows better than the folders of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) project: &'a Project,
    pub(crate) cwd: &'a str,
    pub(crate) title: Option<&'a str>,
    pub(crate) started_at: u64,
    pub(crate) last_at: u64,
}

/// Writes events within one transaction.
pub(crate) struct Writer<'t> {
    transaction: &'t Transaction<'t>,
    projects: &'t mut Projects,
    sessions: HashMap<String, Session>,
}

/// What has to be known of a session to number what comes.
#[derive(Debug)]
struct Session {
    row: i64,
    cwd: String,
    started_at: u64,
    last_at: u64,
    last_event_at: Option<u64>,
    prompts: u64,
    last_prompt_at: Option<u64>,
    /// The time from which on the numbers no longer hold.
    disordered_from: Option<u64>,
    title: Option<String>,
    is_changed: bool,
}

impl<'t> Writer<'t> {
    pub(crate) fn new(transaction: &'t Transaction<'t>, projects: &'t mut Projects) -> Self {
        Self { transaction, projects, sessions: HashMap::new() }
    }

    /// Stores an event; says whether it is new. [`Self::finish`] has to follow.
    pub(crate) fn put(&mut self, event: &Event<'_>) -> Result<bool, Error> {
        if !self.sessions.contains_key(&*event.session) {
            let session = self.find_or_create(&event.session, &event.cwd, event.at)?;
            self.sessions.insert(event.session.to_string(), session);
        }
        let Some(session) = self.sessions.get_mut(&*event.session) else { return Ok(false) };
        let is_new = match event.kind {
            Kind::Prompt => session.put_prompt(self.transaction, event)?,
            Kind::Tool => session.put_tool_call(self.transaction, event)?,
        };
        if is_new {
            session.is_changed = true;
            session.last_at = session.last_at.max(event.at);
            session.last_event_at = session.last_event_at.max(Some(event.at));
            // The first event says where the session belongs, whichever event comes first.
            if (event.at, &*event.cwd) < (session.started_at, &session.cwd) {
                session.started_at = event.at;
                session.cwd = event.cwd.to_string();
                let project = rows::put_project(self.transaction, self.projects.of(&event.cwd))?;
                rows::move_session(self.transaction, session.row, project)?;
            }
        }
        Ok(is_new)
    }

    /// Stores what is known of a session apart from its events.
    pub(crate) fn put_session(&mut self, id: &str, origin: &Origin<'_>) -> Result<(), Error> {
        // What was numbered before in this transaction has to be written first.
        if let Some(before) = self.sessions.remove(id) {
            before.finish(self.transaction)?;
        }
        let project = rows::put_project(self.transaction, origin.project)?;
        let mut session = match find(self.transaction, id)? {
            Some(session) => session,
            None => create(self.transaction, id, origin.cwd, origin.started_at, project)?,
        };
        if (origin.started_at, origin.cwd) < (session.started_at, &session.cwd) {
            session.started_at = origin.started_at;
            session.cwd = origin.cwd.to_owned();
            rows::move_session(self.transaction, session.row, project)?;
        }
        if session.prompts == 0 {
            session.title = origin.title.map(super::title);
        }
        session.last_at = session.last_at.max(origin.last_at);
        session.is_changed = true;
        self.sessions.insert(id.to_owned(), session);
        Ok(())
    }

    /// Brings numbers, titles and times of the sessions that were touched up to date.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let Self { transaction, sessions, .. } = self;
        sessions.into_values().try_for_each(|session| session.finish(transaction))
    }

    fn find_or_create(&mut self, id: &str, cwd: &str, at: u64) -> Result<Session, Error> {
        if let Some(session) = find(self.transaction, id)? {
            return Ok(session);
        }
        let project = rows::put_project(self.transaction, self.projects.of(cwd))?;
        create(self.transaction, id, cwd, at, project)
    }
}

fn find(transaction: &Transaction<'_>, id: &str) -> Result<Option<Session>, Error> {
    let mut select = transaction.prepare_cached(
        "SELECT row, cwd, started_at, last_at, prompts, (SELECT max(at) FROM prompts WHERE session = sessions.row)
         FROM sessions WHERE id = ?1",
    )?;
    let session = select.query_row([id], |row| {
        Ok(Session {
            row: row.get(0)?,
            cwd: row.get(1)?,
            started_at: row.get(2)?,
            last_at: row.get(3)?,
            last_event_at: row.get(3)?,
            prompts: row.get(4)?,
            last_prompt_at: row.get(5)?,
            disordered_from: None,
            title: None,
            is_changed: false,
        })
    });
    Ok(session.optional()?)
}

fn create(
    transaction: &Transaction<'_>,
    id: &str,
    cwd: &str,
    at: u64,
    project: i64,
) -> Result<Session, Error> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO sessions (id, project, cwd, started_at, last_at) VALUES (?1, ?2, ?3, ?4, ?4)",
    )?;
    let row = insert.insert(params![id, project, cwd, at])?;
    Ok(Session {
        row,
        cwd: cwd.to_owned(),
        started_at: at,
        last_at: at,
        last_event_at: None,
        prompts: 0,
        last_prompt_at: None,
        disordered_from: None,
        title: None,
        is_changed: true,
    })
}

impl Session {
    fn put_prompt(&mut self, transaction: &Transaction<'_>, event: &Event<'_>) -> Result<bool, Error> {
        let text = event.prompt.as_deref().unwrap_or_default();
        let mut insert = transaction.prepare_cached(
            "INSERT INTO prompts (session, id, number, at, cwd, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO NOTHING",
        )?;
        let values = params![self.row, event.id, self.prompts + 1, event.at, event.cwd, text];
        if insert.execute(values)? == 0 {
            return Ok(false);
        }
        // A prompt that comes late, or with the same time as another event, shifts what was numbered before it.
        if self.last_event_at.is_some_and(|last| event.at <= last) {
            self.disorder(event.at);
        } else if self.prompts == 0 {
            self.title = Some(super::title(text));
        }
        self.prompts += 1;
        self.last_prompt_at = self.last_prompt_at.max(Some(event.at));
        Ok(true)
    }

    fn put_tool_call(&mut self, transaction: &Transaction<'_>, event: &Event<'_>) -> Result<bool, Error> {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO tool_calls (session, id, prompt, at, cwd, tool, tool_use_id, failed, input, output, error,
                 duration_ms, agent, agent_type)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT DO NOTHING",
        )?;
        let inserted = insert.execute(params![
            self.row,
            event.id,
            self.prompts,
            event.at,
            event.cwd,
            event.tool.as_deref().unwrap_or_default(),
            event.tool_use_id,
            event.error.is_some(),
            event.input.map(|input| input.get()),
            event.output.map(|output| output.get()),
            event.error,
            event.duration_ms,
            event.agent,
            event.agent_type,
        ])?;
        if inserted > 0 && self.last_prompt_at.is_some_and(|last| event.at < last) {
            self.disorder(event.at);
        }
        Ok(inserted > 0)
    }

    fn disorder(&mut self, at: u64) {
        self.disordered_from = Some(self.disordered_from.map_or(at, |from| from.min(at)));
    }

    fn finish(mut self, transaction: &Transaction<'_>) -> Result<(), Error> {
        if !self.is_changed {
            return Ok(());
        }
        if let Some(from) = self.disordered_from {
            rows::number(transaction, self.row, from)?;
            self.title = rows::first_prompt(transaction, self.row)?.map(|text| super::title(&text));
        }
        let mut update = transaction.prepare_cached(
            "UPDATE sessions SET cwd = ?2, started_at = ?3, last_at = ?4, prompts = ?5, title = coalesce(?6, title)
             WHERE row = ?1",
        )?;
        let values = params![self.row, self.cwd, self.started_at, self.last_at, self.prompts, self.title];
        update.execute(values)?;
        Ok(())
    }
}
