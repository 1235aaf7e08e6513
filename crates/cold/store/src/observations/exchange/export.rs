//! Writing the lines.

use super::{ProjectRecord, Record, Type};
use crate::open::{Error, Store};
use base::Timestamp;
use rusqlite::{Connection, Row, params};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::{self, Write};

/// What to export; by default everything.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// Only sessions of the project with this key.
    pub project: Option<String>,
    /// Only events from this moment on, and the sessions they belong to.
    pub since: Option<Timestamp>,
}

/// Why an export ended early.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The database refused.
    #[error(transparent)]
    Store(#[from] Error),
    /// The output refused.
    #[error("could not write the export")]
    Io(#[from] io::Error),
}

impl Export {
    /// Writes the sessions in the order they started, each followed by its events in the order they happened; returns
    /// how many lines.
    pub fn write(&self, store: &Store, output: &mut impl Write) -> Result<u64, ExportError> {
        // One transaction, so that what is stored meanwhile is seen whole or not at all.
        let snapshot = store.connection().unchecked_transaction().map_err(Error::from)?;
        let sessions = self.sessions(&snapshot)?;
        let mut lines = 0;
        for session in &sessions {
            write_line(output, &session.record())?;
            lines += 1 + self.write_events(&snapshot, session, output)?;
        }
        Ok(lines)
    }

    fn sessions(&self, connection: &Connection) -> Result<Vec<SessionRow>, Error> {
        let mut select = connection.prepare(
            "SELECT sessions.row, sessions.id, projects.key, projects.name, projects.root, cwd, title, started_at,
                 last_at, prompts
             FROM sessions JOIN projects ON projects.row = sessions.project
             WHERE (?1 IS NULL OR projects.key = ?1) AND last_at >= ?2
             ORDER BY started_at, sessions.id",
        )?;
        let sessions = select.query_map(params![self.project, self.since_millis()], SessionRow::of)?;
        Ok(sessions.collect::<Result<_, _>>()?)
    }

    fn write_events(
        &self,
        connection: &Connection,
        session: &SessionRow,
        output: &mut impl Write,
    ) -> Result<u64, ExportError> {
        let mut lines = 0;
        let mut prompts = self.prompts(connection, session)?.into_iter().peekable();
        let mut select = connection
            .prepare_cached(
                "SELECT at, cwd, id, prompt, tool, tool_use_id, failed, input, output, error, duration_ms, agent,
                     agent_type
                 FROM tool_calls WHERE session = ?1 AND at >= ?2 ORDER BY at, id",
            )
            .map_err(Error::from)?;
        let mut calls = select.query(params![session.row, self.since_millis()]).map_err(Error::from)?;
        while let Some(call) = calls.next().map_err(Error::from)? {
            let at: u64 = call.get(0).map_err(Error::from)?;
            while let Some((_, prompt)) = prompts.next_if(|(prompt_at, _)| *prompt_at <= at) {
                write_line(output, &prompt)?;
                lines += 1;
            }
            write_tool_call(call, at, &session.id, output)?;
            lines += 1;
        }
        for (_, prompt) in prompts {
            write_line(output, &prompt)?;
            lines += 1;
        }
        Ok(lines)
    }

    fn prompts<'s>(
        &self,
        connection: &Connection,
        session: &'s SessionRow,
    ) -> Result<Vec<(u64, Record<'s>)>, Error> {
        let mut select = connection.prepare_cached(
            "SELECT at, cwd, id, number, text FROM prompts WHERE session = ?1 AND at >= ?2 ORDER BY at, id",
        )?;
        let prompts = select.query_map(params![session.row, self.since_millis()], |row| {
            let at = row.get(0)?;
            let record = Record {
                id: Some(row.get::<_, String>(2)?.into()),
                ts: stamp(at),
                number: row.get(3)?,
                text: Some(row.get::<_, String>(4)?.into()),
                ..Record::new(Type::Prompt, &session.id, row.get(1)?)
            };
            Ok((at, record))
        })?;
        Ok(prompts.collect::<Result<_, _>>()?)
    }

    fn since_millis(&self) -> u64 {
        self.since.map_or(0, Timestamp::millis)
    }
}

struct SessionRow {
    row: i64,
    id: String,
    project: ProjectRecord<'static>,
    cwd: String,
    title: Option<String>,
    started_at: u64,
    last_at: u64,
    prompts: u64,
}

impl SessionRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let text = |column: usize| row.get::<_, String>(column).map(Cow::from);
        Ok(Self {
            row: row.get(0)?,
            id: row.get(1)?,
            project: ProjectRecord { key: text(2)?, name: text(3)?, root: text(4)? },
            cwd: row.get(5)?,
            title: row.get(6)?,
            started_at: row.get(7)?,
            last_at: row.get(8)?,
            prompts: row.get(9)?,
        })
    }

    fn record(&self) -> Record<'_> {
        Record {
            project: Some(self.project.clone()),
            title: self.title.as_deref().map(Cow::from),
            started: stamp(self.started_at),
            last: stamp(self.last_at),
            prompts: Some(self.prompts),
            ..Record::new(Type::Session, &self.id, self.cwd.clone())
        }
    }
}

fn write_tool_call(
    call: &Row<'_>,
    at: u64,
    session: &str,
    output: &mut impl Write,
) -> Result<(), ExportError> {
    let text = |column: usize| call.get::<_, Option<String>>(column).map_err(Error::from);
    let (input, result) = (text(7)?, text(8)?);
    let (input, result) = (input.as_deref().map(json), result.as_deref().map(json));
    let input = input.transpose().map_err(Error::from)?;
    let result = result.transpose().map_err(Error::from)?;
    let record = Record {
        id: text(2)?.map(Cow::from),
        ts: stamp(at),
        prompt: call.get(3).map_err(Error::from)?,
        tool: text(4)?.map(Cow::from),
        tool_use_id: text(5)?.map(Cow::from),
        command: input.and_then(|input| command(input.get())).map(Cow::from),
        failed: call.get(6).map_err(Error::from)?,
        input,
        output: result,
        error: text(9)?.map(Cow::from),
        duration_ms: call.get(10).map_err(Error::from)?,
        agent: text(11)?.map(Cow::from),
        agent_type: text(12)?.map(Cow::from),
        ..Record::new(Type::Tool, session, text(1)?.unwrap_or_default())
    };
    Ok(write_line(output, &record)?)
}

fn json(text: &str) -> Result<&RawValue, serde_json::Error> {
    serde_json::from_str(text)
}

/// Returns what a shell was asked to do: one string, or the words of an argument list.
fn command(input: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Command {
        Line(String),
        Words(Vec<String>),
    }
    #[derive(Deserialize)]
    struct Input {
        command: Command,
    }
    match serde_json::from_str::<Input>(input).ok()?.command {
        Command::Line(line) => Some(line),
        Command::Words(words) => Some(words.join(" ")),
    }
}

fn stamp<'a>(millis: u64) -> Option<Cow<'a, str>> {
    Some(Timestamp::from_millis(millis).to_string().into())
}

fn write_line(output: &mut impl Write, record: &Record<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *output, record)?;
    output.write_all(b"\n")
}
