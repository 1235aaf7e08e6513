//! Puts observations into the tables: each once, prompts numbered by time, whatever order they come in.

use super::{rows, values};
use crate::open::Error;
use base::project::{Project, Repository};
use capture::{CLAUDE_CODE, Fields, Observation};
use rusqlite::{OptionalExtension as _, Transaction, params};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How much later than an observation that belongs to it a prompt may be recorded: hooks of one event run side by side.
const EARLY_MILLIS: u64 = 60_000;

/// A project, and who works in it as far as its own git configuration says.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) project: Project,
    pub(crate) author: Option<String>,
}

/// Finds projects, each folder once: it means reading files.
#[derive(Debug, Default)]
pub struct Projects {
    by_folder: HashMap<String, Home>,
}

impl Projects {
    pub(crate) fn of(&mut self, cwd: &str) -> &Home {
        self.by_folder.entry(cwd.to_owned()).or_insert_with(|| {
            let folder = Path::new(cwd);
            let author = Repository::above(folder).and_then(|repository| repository.setting("user", "name"));
            Home { project: Project::of(folder), author }
        })
    }

    /// Returns the row of a folder's project, which is made where there is none, and the project's root.
    pub fn row(&mut self, transaction: &Transaction<'_>, cwd: &str) -> Result<(i64, PathBuf), Error> {
        let project = &self.of(cwd).project;
        Ok((rows::put_project(transaction, project)?, project.root.clone()))
    }
}

/// What an export says about a session: it knows better than the folders of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) project: &'a Project,
    pub(crate) cwd: &'a str,
    pub(crate) title: Option<&'a str>,
    pub(crate) started_at: u64,
    pub(crate) last_at: u64,
    pub(crate) author: Option<&'a str>,
    pub(crate) branch: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
}

/// Writes observations within one transaction.
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
    prompts: u64,
    last_prompt_at: Option<u64>,
    last_prompt: Option<String>,
    last_observation_at: Option<u64>,
    /// The time from which on the numbers no longer hold.
    disordered_from: Option<u64>,
    title: Option<String>,
    is_changed: bool,
    /// Whether something came that says more about the session itself.
    is_described: bool,
}

impl<'t> Writer<'t> {
    pub(crate) fn new(transaction: &'t Transaction<'t>, projects: &'t mut Projects) -> Self {
        Self { transaction, projects, sessions: HashMap::new() }
    }

    /// Stores an observation; says whether it is new. [`Self::finish`] has to follow.
    pub(crate) fn put(&mut self, observation: &Observation<'_>) -> Result<bool, Error> {
        let platform = observation.platform.as_deref().unwrap_or(CLAUDE_CODE);
        let key = key(platform, &observation.session);
        if !self.sessions.contains_key(&key) {
            let session =
                self.find_or_create(platform, &observation.session, &observation.cwd, observation.at)?;
            self.sessions.insert(key.clone(), session);
        }
        let Some(session) = self.sessions.get_mut(&key) else { return Ok(false) };
        let is_new = session.put(self.transaction, observation)?;
        if is_new {
            session.is_changed = true;
            session.last_at = session.last_at.max(observation.at);
            session.last_observation_at = session.last_observation_at.max(Some(observation.at));
            // The first observation says where the session belongs, whichever comes first. One without a folder says nothing.
            let is_first = (observation.at, &*observation.cwd) < (session.started_at, &session.cwd);
            session.started_at = session.started_at.min(observation.at);
            if !observation.cwd.is_empty() && (is_first || session.cwd.is_empty()) {
                session.cwd = observation.cwd.to_string();
                let home = self.projects.of(&observation.cwd);
                let project = rows::put_project(self.transaction, &home.project)?;
                rows::move_session(self.transaction, session.row, project)?;
            }
        }
        Ok(is_new)
    }

    /// Stores what is known of a session apart from its observations; returns whether one that was there is filed elsewhere now.
    pub(crate) fn put_session(
        &mut self,
        platform: &str,
        id: &str,
        origin: &Origin<'_>,
    ) -> Result<bool, Error> {
        // What was numbered before in this transaction has to be written first.
        let key = key(platform, id);
        if let Some(before) = self.sessions.remove(&key) {
            before.finish(self.transaction)?;
        }
        let project = rows::put_project(self.transaction, origin.project)?;
        let mut session = match find(self.transaction, platform, id)? {
            Some(session) => session,
            None => create(self.transaction, (platform, id), origin.cwd, origin.started_at, project)?,
        };
        // One without a folder says nothing about where the session belongs.
        let is_first = (origin.started_at, origin.cwd) < (session.started_at, &session.cwd)
            && (session.cwd.is_empty() || !origin.cwd.is_empty());
        let is_refiled = (is_first || session.cwd.is_empty()) && session.cwd != origin.cwd;
        if is_first || is_refiled {
            session.started_at = session.started_at.min(origin.started_at);
            session.cwd = origin.cwd.to_owned();
            rows::move_session(self.transaction, session.row, project)?;
        }
        if session.prompts == 0 {
            session.title = origin.title.map(super::title);
        }
        self.transaction
            .prepare_cached(
                "UPDATE sessions SET author = coalesce(author, ?2), branch = coalesce(branch, ?3),
                     model = coalesce(model, ?4) WHERE row = ?1",
            )?
            .execute(params![session.row, origin.author, origin.branch, origin.model])?;
        session.last_at = session.last_at.max(origin.last_at);
        session.is_changed = true;
        self.sessions.insert(key, session);
        Ok(is_refiled)
    }

    /// Brings numbers, titles and times of the sessions that were touched up to date.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let Self { transaction, sessions, .. } = self;
        sessions.into_values().try_for_each(|session| session.finish(transaction))
    }

    fn find_or_create(&mut self, platform: &str, id: &str, cwd: &str, at: u64) -> Result<Session, Error> {
        if let Some(session) = find(self.transaction, platform, id)? {
            return Ok(session);
        }
        let home = self.projects.of(cwd);
        let project = rows::put_project(self.transaction, &home.project)?;
        let session = create(self.transaction, (platform, id), cwd, at, project)?;
        if let Some(author) = &home.author {
            self.transaction
                .prepare_cached("UPDATE sessions SET author = ?2 WHERE row = ?1")?
                .execute(params![session.row, author])?;
        }
        Ok(session)
    }
}

/// Says whether a call failed: one that the user interrupted has an error as well.
fn is_failed(call: &Fields<'_>) -> bool {
    let is_interrupted = call.get("interrupted").is_some_and(|interrupted| interrupted.get() == "true");
    call.get("error").is_some() && !is_interrupted
}

fn key(platform: &str, id: &str) -> String {
    format!("{platform}\n{id}")
}

fn find(transaction: &Transaction<'_>, platform: &str, id: &str) -> Result<Option<Session>, Error> {
    let mut select = transaction.prepare_cached(
        "SELECT sessions.row, sessions.cwd, started_at, last_at, prompts, last.at, last.id
         FROM sessions LEFT JOIN observations AS last ON last.row = (
             SELECT row FROM observations WHERE session = sessions.row AND kind = 'prompt' ORDER BY at DESC, id DESC LIMIT 1
         )
         WHERE platform = ?1 AND sessions.id = ?2",
    )?;
    let session = select.query_row([platform, id], |row| {
        Ok(Session {
            row: row.get(0)?,
            cwd: row.get(1)?,
            started_at: row.get(2)?,
            last_at: row.get(3)?,
            prompts: row.get(4)?,
            last_prompt_at: row.get(5)?,
            last_prompt: row.get(6)?,
            last_observation_at: row.get(3)?,
            disordered_from: None,
            title: None,
            is_changed: false,
            is_described: false,
        })
    });
    Ok(session.optional()?)
}

fn create(
    transaction: &Transaction<'_>,
    (platform, id): (&str, &str),
    cwd: &str,
    at: u64,
    project: i64,
) -> Result<Session, Error> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO sessions (platform, id, project, cwd, started_at, last_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
    )?;
    let row = insert.insert(params![platform, id, project, cwd, at])?;
    Ok(Session {
        row,
        cwd: cwd.to_owned(),
        started_at: at,
        last_at: at,
        prompts: 0,
        last_prompt_at: None,
        last_prompt: None,
        last_observation_at: None,
        disordered_from: None,
        title: None,
        is_changed: true,
        is_described: false,
    })
}

impl Session {
    fn put(&mut self, transaction: &Transaction<'_>, observation: &Observation<'_>) -> Result<bool, Error> {
        let data = observation.data.json()?;
        let mut fields = Fields::read(data.get());
        let kind = observation.data.kind();
        let is_prompt = kind == "prompt";
        let text = |name: &str| fields.as_ref().and_then(|fields| fields.text(name));
        let (tool, has_failed) = match kind {
            "tool" => (text("tool"), fields.as_ref().is_some_and(is_failed)),
            _ => (None, false),
        };
        let prompt = text("text").filter(|_| is_prompt).unwrap_or_default();
        let values = values::split(&data, fields.take());
        let number = self.prompts + u64::from(is_prompt);
        let mut insert = transaction.prepare_cached(
            "INSERT INTO observations
                 (session, kind, id, at, prompt, prompt_id, cwd, agent, agent_type, tool, failed, data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT DO NOTHING",
        )?;
        let inserted = insert.execute(params![
            self.row,
            kind,
            observation.id,
            observation.at,
            number,
            observation.prompt_id,
            observation.cwd,
            observation.agent,
            observation.agent_type,
            tool,
            has_failed,
            values.inline,
        ])?;
        if inserted == 0 {
            return Ok(false);
        }
        if let Some(payload) = values.payload {
            transaction
                .prepare_cached("INSERT INTO payloads VALUES (?1, ?2)")?
                .execute(params![transaction.last_insert_rowid(), payload])?;
        }
        self.is_described |= is_prompt || matches!(kind, "session-start" | "session-end");
        if is_prompt {
            self.number_prompt(transaction, observation, &prompt)?;
        } else {
            self.number_other(observation);
        }
        Ok(true)
    }

    fn number_prompt(
        &mut self,
        transaction: &Transaction<'_>,
        observation: &Observation<'_>,
        text: &str,
    ) -> Result<(), Error> {
        // A prompt that comes late, or with the same time as another observation, shifts what was numbered before it.
        if self.last_observation_at.is_some_and(|last| observation.at <= last) {
            self.disorder(observation.at);
        } else if self.prompts == 0 {
            self.title = Some(super::title(text));
        }
        // What another hook recorded of the same prompt may be a little older than the prompt.
        if let Some(id) = &observation.prompt_id {
            let early: Option<u64> = transaction
                .prepare_cached(
                    "SELECT min(at) FROM observations
                     WHERE session = ?1 AND at BETWEEN ?2 AND ?3 AND kind <> 'prompt' AND prompt_id = ?4",
                )?
                .query_row(
                    params![self.row, observation.at.saturating_sub(EARLY_MILLIS), observation.at, id],
                    |row| row.get(0),
                )?;
            early.into_iter().for_each(|at| self.disorder(at));
        }
        self.prompts += 1;
        if self.last_prompt_at.is_none_or(|last| observation.at >= last) {
            self.last_prompt_at = Some(observation.at);
            self.last_prompt = Some(observation.id.to_string());
        }
        Ok(())
    }

    /// Checks that an observation that was given the number of the last prompt belongs to it.
    fn number_other(&mut self, observation: &Observation<'_>) {
        let last = self.last_prompt.as_deref().and_then(|id| id.strip_prefix("p:"));
        let belongs_to_last = match &observation.prompt_id {
            Some(id) if last == Some(id) => true,
            Some(_) => false,
            None => self.last_prompt_at.is_none_or(|last| observation.at >= last),
        };
        if !belongs_to_last && self.prompts > 0 {
            self.disorder(observation.at);
        }
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
        if self.is_described {
            rows::describe(transaction, self.row)?;
        }
        Ok(())
    }
}
