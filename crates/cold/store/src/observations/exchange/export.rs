//! Writing the lines.

use super::{FLAT_VERSION, HEAD, SESSION, VERSION, is_flat};
use crate::observations::values;
use crate::open::{Error, Store};
use base::Timestamp;
use capture::{CLAUDE_CODE, Fields};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// What to export; by default everything.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// Only sessions of the project with this key.
    pub project: Option<String>,
    /// Only observations from this moment on, and the sessions they belong to.
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

/// What an export wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Lines.
    pub lines: u64,
    /// Observations that were passed over because their data is damaged.
    pub damaged: u64,
}

impl Export {
    /// Writes as [`Self::write_counted`] does; returns how many lines.
    pub fn write(&self, store: &Store, output: &mut impl Write) -> Result<u64, ExportError> {
        self.write_counted(store, output).map(|exported| exported.lines)
    }

    /// Writes the sessions in the order they started, each followed by its observations in the order they happened.
    ///
    /// Nothing of the database is held while the output is written: a pager may take its time, and what is forgotten
    /// meanwhile must neither wait for it nor appear in it. What is stored meanwhile may be in the export or not.
    pub fn write_counted(&self, store: &Store, output: &mut impl Write) -> Result<Exported, ExportError> {
        let connection = store.connection();
        let mut exported = Exported::default();
        for session in &self.sessions(connection)? {
            // Its line is read again when its turn comes: its title may be forgotten by now.
            let Some(session) = Session::find(connection, session)? else { continue };
            session.line().end(output)?;
            exported.lines += 1;
            let mut after = None;
            loop {
                let piece = self.read_observations(connection, &session, after)?;
                exported.lines += piece.lines;
                exported.damaged += piece.damaged;
                output.write_all(&piece.text)?;
                match piece.last {
                    Some(last) => after = Some(last),
                    None => break,
                }
            }
        }
        Ok(exported)
    }

    fn sessions(&self, connection: &Connection) -> Result<Vec<SessionKey>, Error> {
        let mut select = connection.prepare(
            "SELECT sessions.platform, sessions.id FROM sessions JOIN projects ON projects.row = sessions.project
             WHERE (?1 IS NULL OR projects.key = ?1) AND last_at >= ?2
             ORDER BY started_at, sessions.id",
        )?;
        let key = |row: &Row<'_>| Ok(SessionKey { platform: row.get(0)?, id: row.get(1)? });
        let sessions = select.query_map(params![self.project, self.since_millis()], key)?;
        Ok(sessions.collect::<Result<_, _>>()?)
    }

    /// Reads the observations of a session that come after the one at `after`, until a piece is full.
    fn read_observations(
        &self,
        connection: &Connection,
        session: &Session,
        after: Option<Place>,
    ) -> Result<Piece, ExportError> {
        // By the session's own name: its row may be another's by now.
        let mut select = connection
            .prepare_cached(
                "SELECT kind, id, at, prompt, prompt_id, cwd, agent, agent_type, failed, observations.data, payloads.data
                 FROM observations LEFT JOIN payloads ON payloads.observation = observations.row
                 WHERE session = (SELECT row FROM sessions WHERE platform = ?1 AND id = ?2) AND at >= max(?3, ?4)
                     AND (?4 < 0 OR (at, kind <> 'prompt', id, kind) > (?4, ?5, ?6, ?7))
                 ORDER BY at, kind <> 'prompt', id, kind",
            )
            .map_err(Error::from)?;
        let after = after.unwrap_or_default();
        let since = i64::try_from(self.since_millis()).unwrap_or(i64::MAX);
        let is_behind_prompts = after.kind != "prompt";
        let values =
            params![session.platform, session.id, since, after.at, is_behind_prompts, after.id, after.kind];
        let mut rows = select.query(values).map_err(Error::from)?;
        let mut piece = Piece::default();
        while let Some(row) = rows.next().map_err(Error::from)? {
            // The row itself was read: what fails now is a value that is not text or not JSON any more.
            let Ok(place) = Place::of(row) else {
                piece.damaged += 1;
                continue;
            };
            if let Ok(line) = observation_line(row, session) {
                line.end(&mut piece.text)?;
                piece.lines += 1;
            } else {
                piece.damaged += 1;
            }
            if piece.text.len() >= PIECE_BYTES {
                piece.last = Some(place);
                break;
            }
        }
        Ok(piece)
    }

    fn since_millis(&self) -> u64 {
        self.since.map_or(0, Timestamp::millis)
    }
}

/// How much of an export is in memory at a time.
const PIECE_BYTES: usize = 256 * 1024;

/// Some lines of an export.
#[derive(Default)]
struct Piece {
    text: Vec<u8>,
    lines: u64,
    damaged: u64,
    /// The last observation in it, if there may be more.
    last: Option<Place>,
}

/// Where an observation is among those of its session.
struct Place {
    /// Negative before the first one.
    at: i64,
    kind: String,
    id: String,
}

impl Default for Place {
    fn default() -> Self {
        Self { at: -1, kind: String::new(), id: String::new() }
    }
}

impl Place {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { at: row.get(2)?, kind: row.get(0)?, id: row.get(1)? })
    }
}

/// What a session is known by.
struct SessionKey {
    platform: String,
    id: String,
}

struct Session {
    id: String,
    key: String,
    name: String,
    root: String,
    cwd: String,
    title: Option<String>,
    started_at: u64,
    last_at: u64,
    prompts: u64,
    platform: String,
    author: Option<String>,
    branch: Option<String>,
    model: Option<String>,
    ended_at: Option<u64>,
    end_reason: Option<String>,
}

impl Session {
    fn find(connection: &Connection, key: &SessionKey) -> Result<Option<Self>, Error> {
        let mut select = connection.prepare_cached(
            "SELECT sessions.id, projects.key, projects.name, projects.root, cwd, title, started_at,
                 last_at, prompts, platform, author, branch, model, ended_at, end_reason
             FROM sessions JOIN projects ON projects.row = sessions.project
             WHERE platform = ?1 AND sessions.id = ?2",
        )?;
        Ok(select.query_row([&key.platform, &key.id], Self::of).optional()?)
    }

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            key: row.get(1)?,
            name: row.get(2)?,
            root: row.get(3)?,
            cwd: row.get(4)?,
            title: row.get(5)?,
            started_at: row.get(6)?,
            last_at: row.get(7)?,
            prompts: row.get(8)?,
            platform: row.get(9)?,
            author: row.get(10)?,
            branch: row.get(11)?,
            model: row.get(12)?,
            ended_at: row.get(13)?,
            end_reason: row.get(14)?,
        })
    }

    fn line(&self) -> Line {
        let project = serde_json::json!({"key": self.key, "name": self.name, "root": self.root});
        let mut line = Line::new(FLAT_VERSION, SESSION, self);
        line.push("project", &project);
        line.push("cwd", &self.cwd);
        line.push_some("title", self.title.as_ref());
        line.push("started", &stamp(self.started_at));
        line.push("last", &stamp(self.last_at));
        line.push("prompts", &self.prompts);
        line.push_some("author", self.author.as_ref());
        line.push_some("branch", self.branch.as_ref());
        line.push_some("model", self.model.as_ref());
        line.push_some("ended", self.ended_at.map(stamp).as_ref());
        line.push_some("end_reason", self.end_reason.as_ref());
        line
    }
}

fn observation_line(row: &Row<'_>, session: &Session) -> Result<Line, Error> {
    let kind: String = row.get(0)?;
    let number: u64 = row.get(3)?;
    let data = values::join(row.get(9)?, row.get(10)?)?;
    let mut line = Line::new(if is_flat(&kind) { FLAT_VERSION } else { VERSION }, &kind, session);
    line.push("id", &row.get::<_, String>(1)?);
    line.push("ts", &stamp(row.get(2)?));
    line.push("cwd", &row.get::<_, String>(5)?);
    line.push(if kind == "prompt" { "number" } else { "prompt" }, &number);
    for (column, name) in [(4, "prompt_id"), (6, "agent"), (7, "agent_type")] {
        line.push_some(name, row.get::<_, Option<String>>(column)?.as_ref());
    }
    let fields = Fields::read(data.get()).filter(|_| is_flat(&kind));
    let Some(fields) = fields else {
        line.push("data", &data);
        return Ok(line);
    };
    if kind == "tool" {
        line.push_some("command", fields.get("input").and_then(|input| command(input.get())).as_ref());
        line.push("failed", &row.get::<_, bool>(8)?);
    }
    let (hidden, fields) = fields.partition(|name, _| HEAD.contains(&name));
    line.push_fields(&fields);
    if !hidden.is_empty() {
        line.push("data", &hidden);
    }
    Ok(line)
}

/// One line that grows field by field.
struct Line(String);

impl Line {
    fn new(version: u32, kind: &str, session: &Session) -> Self {
        let mut line = Self("{".to_owned());
        line.push("v", &version);
        line.push("type", kind);
        line.push("session", &session.id);
        line.push_some("platform", Some(&session.platform).filter(|platform| *platform != CLAUDE_CODE));
        line
    }

    fn push(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        let value = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        let name = serde_json::to_string(name).unwrap_or_default();
        let comma = if self.0.len() > 1 { "," } else { "" };
        self.0.extend([comma, &name, ":", &value]);
    }

    fn push_some(&mut self, name: &str, value: Option<&impl Serialize>) {
        if let Some(value) = value {
            self.push(name, value);
        }
    }

    fn push_fields(&mut self, fields: &Fields<'_>) {
        let json = fields.json();
        if let Some(inside) = json.get(1..json.len() - 1).filter(|inside| !inside.is_empty()) {
            self.0.extend([",", inside]);
        }
    }

    fn end(mut self, output: &mut impl Write) -> io::Result<()> {
        self.0.push_str("}\n");
        output.write_all(self.0.as_bytes())
    }
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

fn stamp(millis: u64) -> String {
    Timestamp::from_millis(millis).to_string()
}
