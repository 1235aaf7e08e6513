//! claude-mem's records: its database, of whichever schema version, read directly and never changed.
//!
//! Prompts, observations and summaries become observations of the kinds `prompt`, `entry` and `summary`, by claude-mem's own ids in
//! the session that they are of. A session has the platform and the id that the client gave it, so that it is the one that
//! Wyren recorded. What is private stays out, secrets are redacted; claude-mem does neither.

mod place;
mod row;
mod source;

pub use place::NAME_KEY;
pub use source::Rows;

use crate::derived;
use crate::observations::{self, Origin, Projects, Writer};
use crate::open::{Error, Store};
use crate::transcripts::{Forgotten, has_prompt_like};
use capture::{Data, Kept, Observation, Rules, Spool, shrink};
use place::{Place, Places};
use row::{Kind, Row};
use rusqlite::{Connection, Transaction, params};
use serde_json::value::RawValue;
use source::Source;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use text::privacy;

/// How many rows are imported in one transaction.
const ROWS_AT_ONCE: usize = 1_000;
/// How long an import waits for a drain.
const PATIENCE: Duration = Duration::from_secs(30);
/// What the ids of imported observations begin with.
const ID: &str = "m:";

/// An import of claude-mem's database.
#[derive(Debug)]
pub struct Import<'a> {
    spool: &'a Spool,
    rules: &'a Rules,
    source: Source,
    /// Folders of projects that the user named.
    named: BTreeMap<String, PathBuf>,
    is_trial: bool,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The version of the schema, as claude-mem notes it.
    pub schema: Option<u32>,
    pub sessions: u64,
    pub prompts: Count,
    /// Observations, as claude-mem calls them.
    pub entries: Count,
    pub summaries: Count,
    /// Prompts that are wholly private.
    pub private: u64,
    /// Rows without a text or a time.
    pub empty: u64,
    /// Rows of projects that are excluded from recording.
    pub excluded: u64,
    /// Rows that the user has forgotten, and that stay so.
    pub forgotten: u64,
    /// Sessions that were kept by name and have a folder now.
    pub refiled: u64,
    /// Projects by the name that claude-mem gives them, each with its key here.
    pub projects: BTreeMap<String, String>,
}

/// How many there are of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub stored: u64,
    /// Those that were there before.
    pub known: u64,
}

impl Imported {
    /// Returns how many are new.
    pub fn stored(&self) -> u64 {
        self.prompts.stored + self.entries.stored + self.summaries.stored
    }

    /// Returns how many were there before.
    pub fn known(&self) -> u64 {
        self.prompts.known + self.entries.known + self.summaries.known
    }

    /// Returns the names of projects that no folder is known of, or more than one.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        let is_unmatched = |(_, key): &(&String, &String)| key.starts_with(NAME_KEY);
        self.projects.iter().filter(is_unmatched).map(|(name, _)| name.as_str())
    }

    fn count(&mut self, kind: Kind) -> &mut Count {
        match kind {
            Kind::Prompt | Kind::FirstPrompt => &mut self.prompts,
            Kind::Entry => &mut self.entries,
            Kind::Summary => &mut self.summaries,
        }
    }
}

impl<'a> Import<'a> {
    /// Takes rows that a program sent, in the place of a database.
    pub fn of_rows(rows: &Rows<'_>, spool: &'a Spool, rules: &'a Rules) -> Result<Self, Error> {
        let source = Source::of_rows(rows)?;
        Ok(Self { spool, rules, source, named: BTreeMap::new(), is_trial: false })
    }

    /// Opens claude-mem's database; `spool` has the lock that keeps drains away meanwhile.
    pub fn open(database: &Path, spool: &'a Spool, rules: &'a Rules) -> Result<Self, Error> {
        let source = Source::open(database)?;
        Ok(Self { spool, rules, source, named: BTreeMap::new(), is_trial: false })
    }

    /// Says which folder a project's name means.
    #[must_use]
    pub fn with_projects(self, named: BTreeMap<String, PathBuf>) -> Self {
        Self { named, ..self }
    }

    /// Says what would be imported, and stores nothing.
    #[must_use]
    pub fn trial(self) -> Self {
        Self { is_trial: true, ..self }
    }

    /// Returns how many rows there are to read.
    pub fn rows(&self) -> Result<u64, Error> {
        self.source.count()
    }

    /// Imports; `report` hears how many rows are done. Killed at any point and repeated, it completes.
    pub fn run(&self, store: &mut Store, mut report: impl FnMut(u64)) -> Result<Imported, Error> {
        let lock = observations::lock(self.spool, PATIENCE).map_err(Error::io(self.spool.folder()))?;
        let _lock = lock.ok_or(Error::Busy)?;
        let mut work = Work {
            imported: Imported { schema: self.source.schema(), ..Imported::default() },
            places: Places::of(store.connection(), &self.named)?,
            forgotten: Forgotten::of(store),
            rules: self.rules,
            seen: BTreeSet::new(),
        };
        let mut projects = Projects::default();
        let mut done = 0;
        store.in_bulk(|store| {
            for kind in Kind::ALL {
                self.source.for_each(kind, ROWS_AT_ONCE, |rows| {
                    if self.is_trial {
                        work.try_out(store.connection(), rows)?;
                    } else {
                        store.write(|transaction| work.store(transaction, &mut projects, rows))?;
                    }
                    done += rows.len() as u64;
                    report(done);
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        work.imported.sessions = work.seen.len() as u64;
        Ok(work.imported)
    }
}

/// Takes back what imports stored after this row of `observations`; returns how many observations went. Another import brings
/// them again.
pub fn take_back(store: &mut Store, spool: &Spool, after: i64) -> Result<u64, Error> {
    let lock = observations::lock(spool, PATIENCE).map_err(Error::io(spool.folder()))?;
    let _lock = lock.ok_or(Error::Busy)?;
    let derived = store.derived();
    store.write(|transaction| {
        let mut select = transaction
            .prepare("SELECT row, session FROM observations WHERE row > ?1 AND id GLOB ?2 || '*'")?;
        let rows = select.query_map(params![after, ID], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let rows: Vec<(i64, i64)> = rows.collect::<Result<_, _>>()?;
        observations::take_out(transaction, derived, &rows)?;
        Ok(rows.len() as u64)
    })
}

/// Returns the last row of `observations`: what an import stores comes after it.
pub fn last_row(store: &Store) -> Result<i64, Error> {
    let sql = "SELECT coalesce(max(row), 0) FROM observations";
    Ok(store.connection().query_row(sql, [], |row| row.get(0))?)
}

struct Work<'a> {
    imported: Imported,
    places: Places<'a>,
    forgotten: Forgotten,
    rules: &'a Rules,
    /// The sessions that rows were of.
    seen: BTreeSet<String>,
}

impl Work<'_> {
    fn store(
        &mut self,
        transaction: &Transaction<'_>,
        projects: &mut Projects,
        rows: &[Row],
    ) -> Result<(), Error> {
        let mut writer = Writer::new(transaction, projects);
        let mut begun = BTreeSet::new();
        let mut refiled = 0;
        for row in rows {
            let Some((place, observation)) = self.observation(transaction, row)? else { continue };
            let is_repeated = is_repeated(transaction, row.kind, &observation)?;
            if begun.insert((place.platform.clone(), place.session.clone())) && !is_repeated {
                let is_moved = writer.put_session(&place.platform, &place.session, &place.origin(row))?;
                refiled += u64::from(is_moved && place.is_recorded());
            }
            let is_new = !is_repeated && writer.put(&observation)?;
            self.note(row.kind, &place, is_new);
        }
        writer.finish()?;
        // What was made of a session that only had a name belongs elsewhere now.
        self.imported.refiled += refiled;
        if refiled > 0 { derived::make_anew(transaction) } else { Ok(()) }
    }

    fn try_out(&mut self, connection: &Connection, rows: &[Row]) -> Result<(), Error> {
        for row in rows {
            let Some((place, observation)) = self.observation(connection, row)? else { continue };
            let mut select = connection.prepare_cached(
                "SELECT 1 FROM sessions JOIN observations AS o ON o.session = sessions.row
                 WHERE platform = ?1 AND sessions.id = ?2 AND o.kind = ?3 AND o.id = ?4",
            )?;
            let is_there = select.exists(params![
                place.platform,
                place.session,
                observation.data.kind(),
                observation.id
            ])?;
            let is_new = !is_there && !is_repeated(connection, row.kind, &observation)?;
            self.note(row.kind, &place, is_new);
        }
        Ok(())
    }

    fn note(&mut self, kind: Kind, place: &Place, is_new: bool) {
        let count = self.imported.count(kind);
        count.stored += u64::from(is_new);
        count.known += u64::from(!is_new);
        self.seen.insert(format!("{}\n{}", place.platform, place.session));
        self.imported.projects.entry(place.name.clone()).or_insert_with(|| place.project.key.clone());
    }

    /// Returns what a row tells, and where it belongs; nothing where it is empty, private, excluded or forgotten.
    fn observation(
        &mut self,
        connection: &Connection,
        row: &Row,
    ) -> Result<Option<(Place, Observation<'static>)>, Error> {
        let (Some(data), Some(at)) = (row.data(), row.at) else {
            self.imported.empty += 1;
            return Ok(None);
        };
        if row.kind.is_prompt() && privacy::strip(row.text("text")).wholly_private {
            self.imported.private += 1;
            return Ok(None);
        }
        let place = self.places.of_row(connection, row)?;
        let folder = if place.cwd.is_empty() { &place.name } else { &place.cwd };
        if !self.rules.records_in(Path::new(folder)) {
            self.imported.excluded += 1;
            return Ok(None);
        }
        let id = row.id();
        if self.forgotten.has(&place.session, &id) {
            self.imported.forgotten += 1;
            return Ok(None);
        }
        let data = RawValue::from_string(shrunk(&data))?;
        let text = |name: &str| Some(row.text(name).to_owned()).filter(|text| !text.is_empty());
        let observation = Observation {
            id: id.into(),
            at,
            session: place.session.clone().into(),
            platform: Some(place.platform.clone().into()),
            cwd: place.cwd.clone().into(),
            prompt_id: None,
            agent: text("agent_id").map(Cow::from),
            agent_type: text("agent_type").map(Cow::from),
            data: Data::Kept(Kept { kind: row.kind.name().into(), data: Cow::Owned(data) }),
        };
        Ok(Some((place, observation)))
    }
}

impl Place {
    fn is_recorded(&self) -> bool {
        self.started_at.is_some()
    }

    fn origin<'p>(&'p self, row: &'p Row) -> Origin<'p> {
        let at = row.at.unwrap_or_default();
        Origin {
            project: &self.project,
            cwd: &self.cwd,
            title: row.session_title.as_deref(),
            started_at: self.started_at.unwrap_or(at).min(row.session_started_at.unwrap_or(at)).min(at),
            last_at: at,
            author: None,
            branch: None,
            model: None,
        }
    }
}

/// Says whether a prompt was recorded by the client's hooks or comes from a transcript.
fn is_repeated(connection: &Connection, kind: Kind, observation: &Observation<'_>) -> Result<bool, Error> {
    if !kind.is_prompt() {
        return Ok(false);
    }
    let data = observation.data.json()?;
    let text = capture::Fields::read(data.get()).and_then(|fields| fields.text("text").map(Cow::into_owned));
    let session = (observation.platform.as_deref().unwrap_or_default(), &*observation.session);
    has_prompt_like(connection, session, &observation.id, observation.at, &text.unwrap_or_default())
}

/// Returns data whose values are cut, free of secrets and of what is private.
fn shrunk(data: &serde_json::Value) -> String {
    let json = data.to_string();
    capture::Fields::read(&json).map_or_else(|| "{}".to_owned(), |fields| fields.json_with(shrink::json))
}
