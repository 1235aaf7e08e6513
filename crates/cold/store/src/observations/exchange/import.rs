//! Reading the lines.

use super::{Record, Type, VERSION};
use crate::observations::writer::{Origin, Projects, Writer};
use crate::open::{Error, Store};
use base::Timestamp;
use base::project::Project;
use capture::{Event, Kind, Spool, shrink};
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
const PATIENCE: Duration = Duration::from_secs(10);

/// An import into the database.
#[derive(Debug)]
pub struct Import<'s> {
    spool: &'s Spool,
}

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Prompts and tool calls that were new.
    pub stored: u64,
    /// Those that were there before.
    pub known: u64,
    /// Prompts that are wholly private and were left out.
    pub private: u64,
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

    /// Stores the lines of `input`, each event once; `report` hears how many bytes were taken.
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
        let taken = match serde_json::from_slice::<Record<'_>>(line) {
            Ok(record) => store_record(writer, &record)?,
            Err(error) => Taken::Bad(error.to_string()),
        };
        match taken {
            Taken::Session => {}
            Taken::New => self.stored += 1,
            Taken::Known => self.known += 1,
            Taken::Private => self.private += 1,
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
    Bad(String),
}

fn store_record(writer: &mut Writer<'_>, record: &Record<'_>) -> Result<Taken, Error> {
    if record.v > VERSION {
        return Ok(Taken::Bad(format!("version {} is later than this program", record.v)));
    }
    if record.session.is_empty() {
        return Ok(Taken::Bad("`session` is empty".to_owned()));
    }
    match record.kind {
        Type::Session => store_session(writer, record),
        Type::Prompt | Type::Tool => store_event(writer, record),
    }
}

fn store_session(writer: &mut Writer<'_>, record: &Record<'_>) -> Result<Taken, Error> {
    let (Some(started), Some(last)) = (time(record.started.as_deref()), time(record.last.as_deref())) else {
        return Ok(Taken::Bad("`started` or `last` is no time".to_owned()));
    };
    let Some(project) = record.project.as_ref().filter(|project| !project.key.is_empty()) else {
        return Ok(Taken::Bad("`project` has no key".to_owned()));
    };
    let title = record.title.as_deref().map(shrink::text);
    let project = Project {
        key: project.key.to_string(),
        name: project.name.to_string(),
        root: project.root.to_string().into(),
    };
    let origin = Origin {
        project: &project,
        cwd: &record.cwd,
        title: title.as_deref(),
        started_at: started,
        last_at: last,
    };
    writer.put_session(&record.session, &origin)?;
    Ok(Taken::Session)
}

fn store_event(writer: &mut Writer<'_>, record: &Record<'_>) -> Result<Taken, Error> {
    let Some(id) = record.id.as_deref().filter(|id| !id.is_empty()) else {
        return Ok(Taken::Bad("`id` is missing".to_owned()));
    };
    let Some(at) = time(record.ts.as_deref()) else { return Ok(Taken::Bad("`ts` is no time".to_owned())) };
    let kind = match record.kind {
        Type::Prompt if record.text.is_none() => return Ok(Taken::Bad("`text` is missing".to_owned())),
        Type::Prompt => Kind::Prompt,
        _ if record.tool.is_none() => return Ok(Taken::Bad("`tool` is missing".to_owned())),
        _ => Kind::Tool,
    };
    let text = record.text.as_deref();
    if text.is_some_and(|text| privacy::strip(text).wholly_private) {
        return Ok(Taken::Private);
    }
    // The file may come from anywhere: what is stored is cut and free of secrets all the same.
    let shrunk = |value: &RawValue| RawValue::from_string(shrink::json(value.get()).into_owned());
    let input = record.input.map(shrunk).transpose()?;
    let output = record.output.map(shrunk).transpose()?;
    let error = record.error.as_deref().or_else(|| record.failed.unwrap_or_default().then_some(""));
    let event = Event {
        version: capture::VERSION,
        kind,
        id: id.into(),
        at,
        session: record.session.as_ref().into(),
        cwd: record.cwd.as_ref().into(),
        agent: record.agent.as_deref().map(Cow::from),
        agent_type: record.agent_type.as_deref().map(Cow::from),
        prompt: text.map(shrink::text),
        tool: record.tool.as_deref().map(Cow::from),
        tool_use_id: record.tool_use_id.as_deref().map(Cow::from),
        input: input.as_deref(),
        output: output.as_deref(),
        error: error.map(shrink::text),
        duration_ms: record.duration_ms,
    };
    Ok(if writer.put(&event)? { Taken::New } else { Taken::Known })
}

fn time(text: Option<&str>) -> Option<u64> {
    text?.parse().ok().map(Timestamp::millis)
}
