//! Stores observations in transactions of bounded size: nothing twice, and nothing that was forgotten.

use crate::observations::{self, Projects, Writer};
use crate::open::{Error, Store};
use capture::{CLAUDE_CODE, Fields, Observation};
use rusqlite::{Connection, Transaction, params};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

/// What goes into one transaction.
const ROWS_AT_ONCE: usize = 1_000;
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;
/// Two prompts of the same text within this time are one that was recorded by two systems; claude-mem counts so, too.
const SAME_PROMPT_MILLIS: u64 = 10_000;

/// Digests of what was forgotten.
#[derive(Debug, Default)]
pub struct Forgotten(HashSet<String>);

impl Forgotten {
    /// Reads the notes that lie beside a database.
    pub(crate) fn read(notes: &Path) -> Self {
        let notes = base::files::read_if_there(notes).ok().flatten().unwrap_or_default();
        Self(String::from_utf8_lossy(&notes).lines().map(str::to_owned).collect())
    }

    /// Reads the notes about the database that is open.
    pub fn of(store: &Store) -> Self {
        Self::beside(Path::new(store.connection().path().unwrap_or_default()))
    }

    /// Reads the notes about a database, which need not be there any more.
    pub fn beside(database: &Path) -> Self {
        Self::read(&crate::repair::notes_of_forgotten(database))
    }

    /// Says whether an observation was forgotten.
    pub fn has(&self, session: &str, id: &str) -> bool {
        !self.0.is_empty()
            && (self.0.contains(&observations::observation_digest(session, id))
                || observations::id_digest(id).is_some_and(|digest| self.0.contains(&digest)))
    }
}

/// What became of observations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) stored: u64,
    pub(super) known: u64,
    pub(super) forgotten: u64,
}

/// Collects observations and stores them.
pub(super) struct Putter<'s> {
    store: &'s mut Store,
    projects: Projects,
    /// Numbers of the ids that are stored, of every session: one that goes on under another id repeats earlier messages.
    /// See [`number_of`].
    known: HashSet<u64>,
    forgotten: Forgotten,
    waiting: Vec<Observation<'static>>,
    bytes: usize,
    is_trial: bool,
    pub(super) counts: Counts,
    /// Why something could not be stored; from then on nothing is.
    error: Option<Error>,
}

impl<'s> Putter<'s> {
    /// Prepares to store; nothing is stored in a trial.
    pub(super) fn new(store: &'s mut Store, forgotten: Forgotten, is_trial: bool) -> Result<Self, Error> {
        let mut known = HashSet::new();
        {
            let mut select = store.connection().prepare(
                "SELECT o.id, s.id, s.platform FROM observations AS o JOIN sessions AS s ON s.row = o.session",
            )?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                let text = |column: usize| Ok::<_, Error>(row.get_ref(column)?.as_str().unwrap_or_default());
                known.insert(number_of((text(2)?, text(1)?), text(0)?));
            }
        }
        Ok(Self {
            store,
            projects: Projects::default(),
            known,
            forgotten,
            waiting: Vec::new(),
            bytes: 0,
            is_trial,
            counts: Counts::default(),
            error: None,
        })
    }

    pub(super) fn connection(&self) -> &Connection {
        self.store.connection()
    }

    /// Takes an observation; it is stored with those that follow.
    pub(super) fn push(&mut self, observation: Observation<'static>) {
        if self.error.is_some() {
            return;
        }
        if self.forgotten.has(&observation.session, &observation.id) {
            self.counts.forgotten += 1;
        } else if self.is_known(&observation) {
            self.counts.known += 1;
        } else {
            self.known.insert(number_of(session_of(&observation), &observation.id));
            self.bytes += observation.data.json().map_or(0, |data| data.get().len());
            self.waiting.push(observation);
        }
        if self.waiting.len() >= ROWS_AT_ONCE || self.bytes >= BYTES_AT_ONCE {
            self.error = self.flush(|_| Ok(())).err();
        }
    }

    /// Says whether an observation is stored, be it as a call or as a refused one.
    fn is_known(&self, observation: &Observation<'_>) -> bool {
        let has = |id: &str| self.known.contains(&number_of(session_of(observation), id));
        has(&observation.id)
            || match observation.id.split_once(':') {
                Some(("t", call)) => has(&format!("r:{call}")),
                Some(("r", call)) => has(&format!("t:{call}")),
                _ => false,
            }
    }

    /// Stores what waits, and does `also` with it or not at all.
    pub(super) fn flush(
        &mut self,
        also: impl FnOnce(&Transaction<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Self { store, projects, waiting, counts, .. } = self;
        let mut new = Counts::default();
        if self.is_trial {
            for observation in waiting.iter() {
                count(&mut new, !is_repeated(store.connection(), observation)?);
            }
        } else {
            store.write(|transaction| {
                let mut writer = Writer::new(transaction, projects);
                for observation in waiting.iter() {
                    let is_new = !is_repeated(transaction, observation)? && writer.put(observation)?;
                    count(&mut new, is_new);
                }
                writer.finish()?;
                also(transaction)
            })?;
        }
        counts.stored += new.stored;
        counts.known += new.known;
        waiting.clear();
        self.bytes = 0;
        Ok(())
    }
}

fn count(counts: &mut Counts, is_new: bool) {
    counts.stored += u64::from(is_new);
    counts.known += u64::from(!is_new);
}

/// The shortest id of another agent's that no other session has: some models number their calls.
const LEAST_UNIQUE_CHARS: usize = 16;

/// Returns a number for an id: a set of numbers has room for millions. A short id of another agent's counts in its session alone.
fn number_of((platform, session): (&str, &str), id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    let name = id.split_once(':').map_or(id, |(_, name)| name);
    if platform != CLAUDE_CODE && name.len() < LEAST_UNIQUE_CHARS {
        (platform, session).hash(&mut hasher);
    }
    hasher.finish()
}

fn session_of<'o>(observation: &'o Observation<'_>) -> (&'o str, &'o str) {
    (observation.platform.as_deref().unwrap_or(CLAUDE_CODE), &observation.session)
}

/// Says whether the database has the same thing under an id that cannot be told from a transcript: the end of a turn has the
/// time of its hook in it, and a prompt may come from an earlier client or another system.
fn is_repeated(connection: &Connection, observation: &Observation<'_>) -> Result<bool, Error> {
    let platform = observation.platform.as_deref().unwrap_or(CLAUDE_CODE);
    let (session, id) = (&*observation.session, &*observation.id);
    match (observation.data.kind(), observation.prompt_id.as_deref()) {
        ("turn-end", Some(prompt)) if id.strip_prefix("e:") == Some(prompt) => {
            let mut select = connection.prepare_cached(
                "SELECT 1 FROM sessions JOIN observations AS o ON o.session = sessions.row
                 WHERE platform = ?1 AND sessions.id = ?2 AND o.kind = 'turn-end' AND o.prompt_id = ?3 AND o.id <> ?4",
            )?;
            Ok(select.exists(params![platform, session, prompt, id])?)
        }
        ("prompt", _) => {
            let data = observation.data.json()?;
            let text =
                Fields::read(data.get()).and_then(|fields| fields.text("text").map(|text| text.into_owned()));
            has_prompt_like(connection, (platform, session), id, observation.at, &text.unwrap_or_default())
        }
        _ => Ok(false),
    }
}

/// Says whether a session has this prompt under another id, from another system. The client's own ids differ for two
/// prompts. The first 1000 characters decide: claude-mem cuts what is longer than 4000.
pub(crate) fn has_prompt_like(
    connection: &Connection,
    (platform, session): (&str, &str),
    id: &str,
    at: u64,
    text: &str,
) -> Result<bool, Error> {
    let mut select = connection.prepare_cached(
        "SELECT 1 FROM sessions JOIN prompts ON prompts.session = sessions.row
         WHERE platform = ?1 AND sessions.id = ?2 AND prompts.at BETWEEN ?3 AND ?4 AND prompts.id <> ?5
             AND (?6 OR prompts.id NOT LIKE 'p:%') AND substr(trim(prompts.text), 1, 1000) = substr(trim(?7), 1, 1000)",
    )?;
    let (from, to) = (at.saturating_sub(SAME_PROMPT_MILLIS), at.saturating_add(SAME_PROMPT_MILLIS));
    Ok(select.exists(params![platform, session, from, to, id, !id.starts_with("p:"), text])?)
}
