//! Reading the lines.

use super::{HEAD, SESSION, VERSION, is_flat};
use crate::observations::writer::{Origin, Projects, Writer};
use crate::open::{Error, Store};
use base::Timestamp;
use base::project::Project;
use capture::{CLAUDE_CODE, Data, Fields, Kept, Observation, Spool, shrink};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::{self, BufRead};
use std::time::Duration;
use text::privacy;

/// How many lines are imported in one transaction.
const LINES_AT_ONCE: usize = 2_000;
/// How many bad lines are remembered one by one.
const MAX_BAD_LINES: usize = 100;
/// How long an import waits for a drain.
const PATIENCE: Duration = Duration::from_secs(30);

/// An import into the database.
#[derive(Debug)]
pub struct Import<'s> {
    spool: &'s Spool,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Observations that were new.
    pub stored: u64,
    /// Those that were there before.
    pub known: u64,
    /// Prompts that are wholly private and were left out.
    pub private: u64,
    /// Lines that a later version wrote and this one makes no sense of; they were passed over.
    pub later: u64,
    /// The first lines that were refused.
    pub bad_lines: Vec<BadLine>,
    /// How many lines were refused in all.
    pub bad: u64,
}

/// A line that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number; the first line has 1.
    pub number: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl<'s> Import<'s> {
    /// Prepares an import; `spool` has the lock that keeps drains away meanwhile.
    pub fn new(spool: &'s Spool) -> Self {
        Self { spool }
    }

    /// Stores the lines of `input`, each observation once; `report` hears how many bytes were taken.
    pub fn read(
        &self,
        store: &mut Store,
        mut input: impl BufRead,
        mut report: impl FnMut(u64),
    ) -> Result<Imported, Error> {
        let lock = crate::observations::lock(self.spool, PATIENCE).map_err(Error::io(self.spool.folder()))?;
        let _lock = lock.ok_or(Error::Busy)?;
        let mut projects = Projects::default();
        let mut imported = Imported::default();
        let (mut number, mut bytes) = (0, 0);
        loop {
            let lines = next_lines(&mut input).map_err(Error::io("the import".as_ref()))?;
            if lines.is_empty() {
                return Ok(imported);
            }
            store.write(|transaction| {
                let mut writer = Writer::new(transaction, &mut projects);
                for line in &lines {
                    number += 1;
                    bytes += line.len() as u64;
                    imported.take(&mut writer, number, line)?;
                }
                writer.finish()
            })?;
            report(bytes);
        }
    }
}

fn next_lines(input: &mut impl BufRead) -> io::Result<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    while lines.len() < LINES_AT_ONCE {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        lines.push(line);
    }
    Ok(lines)
}

impl Imported {
    fn take(&mut self, writer: &mut Writer<'_>, number: u64, line: &[u8]) -> Result<(), Error> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let taken = match serde_json::from_slice::<Fields<'_>>(line) {
            Ok(fields) => store_line(writer, fields)?,
            Err(error) => Taken::Bad(error.to_string()),
        };
        match taken {
            Taken::Session => {}
            Taken::New => self.stored += 1,
            Taken::Known => self.known += 1,
            Taken::Private => self.private += 1,
            Taken::Later => self.later += 1,
            Taken::Bad(reason) => {
                self.bad += 1;
                if self.bad_lines.len() < MAX_BAD_LINES {
                    self.bad_lines.push(BadLine { number, reason });
                }
            }
        }
        Ok(())
    }
}

/// What became of a line.
enum Taken {
    Session,
    New,
    Known,
    Private,
    Later,
    Bad(String),
}

impl Taken {
    fn bad(reason: &str) -> Self {
        Self::Bad(reason.to_owned())
    }
}

fn store_line(writer: &mut Writer<'_>, fields: Fields<'_>) -> Result<Taken, Error> {
    let version = fields.get("v").and_then(|version| serde_json::from_str::<u32>(version.get()).ok());
    let Some(kind) = fields.text("type").filter(|kind| !kind.is_empty()) else {
        return Ok(Taken::bad("`type` is missing"));
    };
    match version {
        None => return Ok(Taken::bad("`v` is missing")),
        Some(version) if version > VERSION => return Ok(Taken::Later),
        Some(_) => {}
    }
    let Some(session) = fields.text("session").filter(|session| !session.is_empty()) else {
        return Ok(if is_flat(&kind) || kind == SESSION {
            Taken::bad("`session` is missing")
        } else {
            Taken::Later
        });
    };
    if kind == SESSION {
        return store_session(writer, &session, &fields);
    }
    match store_observation(writer, &session, &kind, fields)? {
        // A type of a later version need not be an observation.
        Taken::Bad(_) if !is_flat(&kind) => Ok(Taken::Later),
        taken => Ok(taken),
    }
}

fn store_session(writer: &mut Writer<'_>, session: &str, fields: &Fields<'_>) -> Result<Taken, Error> {
    let (Some(started_at), Some(last_at)) = (time(fields, "started"), time(fields, "last")) else {
        return Ok(Taken::bad("`started` or `last` is no time"));
    };
    let project = fields.get("project").and_then(|project| Fields::read(project.get())).unwrap_or_default();
    let text = |name: &str| project.text(name).unwrap_or_default().into_owned();
    let project = Project { key: text("key"), name: text("name"), root: text("root").into() };
    if project.key.is_empty() {
        return Ok(Taken::bad("`project` has no key"));
    }
    let shrunk = |name: &str| fields.text(name).map(|text| shrink::text(&text).into_owned());
    let (title, author, branch, model) =
        (shrunk("title"), shrunk("author"), shrunk("branch"), shrunk("model"));
    let origin = Origin {
        project: &project,
        cwd: &fields.text("cwd").unwrap_or_default(),
        title: title.as_deref(),
        started_at,
        last_at,
        author: author.as_deref(),
        branch: branch.as_deref(),
        model: model.as_deref(),
    };
    writer.put_session(&fields.text("platform").unwrap_or(CLAUDE_CODE.into()), session, &origin)?;
    Ok(Taken::Session)
}

fn store_observation(
    writer: &mut Writer<'_>,
    session: &str,
    kind: &str,
    fields: Fields<'_>,
) -> Result<Taken, Error> {
    let Some(id) = fields.text("id").filter(|id| !id.is_empty()) else {
        return Ok(Taken::bad("`id` is missing"));
    };
    let Some(at) = time(&fields, "ts") else { return Ok(Taken::bad("`ts` is no time")) };
    match kind {
        "prompt" => match fields.text("text") {
            None => return Ok(Taken::bad("`text` is missing")),
            Some(text) if privacy::strip(&text).wholly_private => return Ok(Taken::Private),
            Some(_) => {}
        },
        "tool" if fields.text("tool").is_none() => return Ok(Taken::bad("`tool` is missing")),
        _ => {}
    }
    let is_failed = fields.get("failed").is_some_and(|failed| failed.get() == "true");
    let (platform, cwd, prompt_id, agent, agent_type) = (
        fields.text("platform"),
        fields.text("cwd").unwrap_or_default(),
        fields.text("prompt_id"),
        fields.text("agent"),
        fields.text("agent_type"),
    );
    let data = match (is_flat(kind), fields.get("data")) {
        (false, data) => data.map_or_else(|| "null".to_owned(), |data| shrunk(data.get())),
        (true, hidden) => {
            let (_, mut flat) = fields.partition(|name, _| HEAD.contains(&name));
            flat.extend(hidden.and_then(|hidden| Fields::read(hidden.get())).unwrap_or_default());
            if is_failed && flat.get("error").is_none() {
                flat.extend(Fields::read(r#"{"error":""}"#).unwrap_or_default());
            }
            shrunk(&flat.json())
        }
    };
    let observation = Observation {
        platform,
        cwd,
        prompt_id,
        agent,
        agent_type,
        data: Data::Kept(Kept { kind: kind.into(), data: Cow::Owned(RawValue::from_string(data)?) }),
        ..Observation::new(session, id, at, Data::Prompt(Default::default()))
    };
    Ok(if writer.put(&observation)? { Taken::New } else { Taken::Known })
}

/// Returns data whose values are cut and free of secrets: the file may come from anywhere.
fn shrunk(data: &str) -> String {
    match Fields::read(data) {
        Some(fields) => fields.json_with(shrink::json),
        None => shrink::json(data).into_owned(),
    }
}

fn time(fields: &Fields<'_>, name: &str) -> Option<u64> {
    fields.text(name)?.parse().ok().map(Timestamp::millis)
}
