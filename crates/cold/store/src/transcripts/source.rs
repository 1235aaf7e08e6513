//! A session that has a transcript, with those of its subagents.

use super::Agent;
use crate::open::Error;
use crate::transcribe::{Passed, Transcriber, codex, cursor};
use capture::{Observation, Rules};
use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};
use transcript::subagent;

/// A session as an agent has written it down.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// Of all its transcripts.
    pub(crate) bytes: u64,
    pub(crate) modified: SystemTime,
    form: Form,
}

#[derive(Debug)]
enum Form {
    ClaudeCode,
    /// With the session's id, and the rollouts of its subagents.
    Codex(String, Vec<codex::Helper>),
    Cursor(cursor::Session),
}

impl Source {
    pub(crate) fn claude_code(path: PathBuf) -> Self {
        let subagents = subagent::of_session(&path).unwrap_or_default();
        let bytes = subagents.iter().map(|subagent| size(&subagent.transcript)).sum();
        Self::new(path, bytes, Form::ClaudeCode)
    }

    pub(crate) fn codex(path: PathBuf, id: String, helpers: Vec<codex::Helper>) -> Self {
        let bytes = helpers.iter().map(|helper| size(&helper.path)).sum();
        Self::new(path, bytes, Form::Codex(id, helpers))
    }

    pub(crate) fn cursor(session: cursor::Session) -> Self {
        let bytes = session.helpers.iter().map(|(path, _)| size(path)).sum();
        Self::new(session.path.clone(), bytes, Form::Cursor(session))
    }

    /// Says whether hooks recorded the session, where its transcript could not be told from what they recorded: Cursor's has no ids.
    pub(crate) fn is_recorded(&self, connection: &Connection) -> Result<bool, Error> {
        let Form::Cursor(session) = &self.form else { return Ok(false) };
        let mut select = connection.prepare_cached(
            "SELECT 1 FROM sessions JOIN prompts ON prompts.session = sessions.row
             WHERE platform = ?1 AND sessions.id = ?2 AND prompts.id NOT LIKE 'u:' || ?2 || '-%' LIMIT 1",
        )?;
        Ok(select.exists(params![Agent::Cursor.name(), session.id])?)
    }

    fn new(path: PathBuf, bytes_of_others: u64, form: Form) -> Self {
        let metadata = fs::symlink_metadata(&path);
        let modified = metadata.as_ref().ok().and_then(|metadata| metadata.modified().ok());
        let bytes = metadata.map_or(0, |metadata| metadata.len()) + bytes_of_others;
        Self { path, bytes, modified: modified.unwrap_or(SystemTime::UNIX_EPOCH), form }
    }

    /// Reads the session and hands on all that it tells.
    pub(crate) fn read(
        &self,
        transcriber: &mut Transcriber<'_>,
        rules: &Rules,
        put: &mut dyn FnMut(Observation<'static>),
    ) -> io::Result<Passed> {
        match &self.form {
            Form::ClaudeCode => transcriber.session(&self.path, 0, put),
            Form::Codex(id, helpers) => codex::session(rules, (&self.path, id), helpers, put),
            Form::Cursor(session) => cursor::session(rules, session, put),
        }
    }
}

fn size(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |metadata| metadata.len())
}
