//! The queue of background jobs: who may do what next, how often it was tried, and why it failed.
//!
//! A job is *queued* until a worker leases it, *leased* while it runs, and then *done*, queued again, or *dead*: it
//! failed for good, with the reason, until a person retries or drops it. Every step is one immediate transaction, so a process may
//! die between any two of them. Time and tokens are passed in.

#[cfg(test)]
mod tests;

use crate::{Error, Store, Tables};
use base::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use std::fmt;
use std::time::Duration;

/// How often a job is tried unless it says otherwise.
pub const MAX_ATTEMPTS: u32 = 5;
/// The reason on record when a lease is taken back.
pub const WORKER_ENDED: &str = "the worker ended before the job did";

/// The tables of the queue.
pub const TABLES: Tables = Tables {
    owner: "jobs",
    migrations: &["CREATE TABLE jobs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            project TEXT,
            payload TEXT NOT NULL,
            dedup_key TEXT,
            request TEXT UNIQUE,
            state TEXT NOT NULL CHECK (state IN ('queued', 'leased', 'done', 'dead')),
            attempts INTEGER NOT NULL DEFAULT 0,
            max_attempts INTEGER NOT NULL,
            not_before INTEGER NOT NULL,
            lease_until INTEGER,
            lease_holder TEXT,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            reason TEXT
        ) STRICT;
        CREATE INDEX jobs_queued ON jobs (not_before, id) WHERE state = 'queued';
        CREATE INDEX jobs_leased ON jobs (lease_until) WHERE state = 'leased';
        CREATE INDEX jobs_by_key ON jobs (kind, dedup_key) WHERE state = 'queued'"],
};

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for its turn.
    Queued,
    /// A worker is at it.
    Leased,
    /// Was done.
    Done,
    /// Failed, and is not tried again by itself.
    Dead,
}

impl State {
    const ALL: [Self; 4] = [Self::Queued, Self::Leased, Self::Done, Self::Dead];

    /// Returns the state's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Leased => "leased",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A job that is to be queued.
#[derive(Clone, Copy, Debug)]
pub struct NewJob<'a> {
    /// What is to be done: the name of its handler.
    pub kind: &'a str,
    /// The project that it is for.
    pub project: Option<&'a str>,
    /// What the handler needs to know, as JSON.
    pub payload: &'a str,
    /// What makes two jobs of a kind the same work: while one is queued, another is not added.
    pub dedup_key: Option<&'a str>,
    /// The request that it came from: taking it in twice queues one job.
    pub request: Option<&'a str>,
    /// How often it is tried before it is dead.
    pub max_attempts: u32,
    /// The earliest moment to begin it; at once without one.
    pub not_before: Option<Timestamp>,
}

impl<'a> NewJob<'a> {
    /// Returns a job of a kind, without a project or a key, that is due at once.
    pub const fn new(kind: &'a str, payload: &'a str) -> Self {
        Self {
            kind,
            project: None,
            payload,
            dedup_key: None,
            request: None,
            max_attempts: MAX_ATTEMPTS,
            not_before: None,
        }
    }
}

/// What became of a job that was to be queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// It is queued.
    Added(i64),
    /// The same work is queued already, or this very request was taken in before.
    Known(i64),
}

/// A job on record.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its number.
    pub id: i64,
    /// What is to be done.
    pub kind: String,
    /// The project that it is for.
    pub project: Option<String>,
    /// What the handler needs to know, as JSON.
    pub payload: String,
    pub state: State,
    /// How often it was begun.
    pub attempts: u32,
    /// How often it may be begun.
    pub max_attempts: u32,
    /// When it may be begun next.
    pub not_before: Timestamp,
    /// Until when it is leased.
    pub lease_until: Option<Timestamp>,
    /// When it was queued.
    pub created: Timestamp,
    /// When it last changed.
    pub updated: Timestamp,
    /// Why it failed last.
    pub reason: Option<String>,
}

/// The right of one worker to do one job.
#[derive(Clone, Copy, Debug)]
pub struct Lease<'a> {
    /// The job.
    pub job: i64,
    /// The worker's token.
    pub holder: &'a str,
}

/// Why a job was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It may work later.
    Again(String),
    /// It never will.
    Final(String),
}

/// What a failure led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The job is tried again, not before this moment.
    Again(Timestamp),
    /// The job failed for good.
    Dead,
    /// The lease was taken back before; nothing changed.
    NotHeld,
}

/// How long a failed job rests: twice as long each time, up to a cap.
#[derive(Clone, Copy, Debug)]
pub struct BackOff {
    /// The rest after the first failure.
    pub first: Duration,
    /// The longest rest.
    pub cap: Duration,
}

impl BackOff {
    /// Returns the rest after `attempts` failures: up to a quarter more than the doubled one, so that jobs which
    /// failed together do not come back together. The addition depends on the job and the attempt alone.
    pub fn rest(self, job: i64, attempts: u32) -> Duration {
        let doubled =
            self.first.saturating_mul(1_u32.checked_shl(attempts.saturating_sub(1)).unwrap_or(u32::MAX));
        let rest = doubled.min(self.cap);
        rest + rest.mul_f64(jitter(job, attempts) / 4.0)
    }
}

/// Returns a number from 0 to 1 that is fixed for a job and an attempt, and looks random across them.
fn jitter(job: i64, attempt: u32) -> f64 {
    // The finaliser of SplitMix64.
    let mut bits =
        job.cast_unsigned().wrapping_add(u64::from(attempt) << 48).wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    f64::from(u32::try_from((bits ^ (bits >> 31)) >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

/// Queues a job, unless the same one is queued already. One that is queued for later and was never tried comes forward
/// to the new job's moment; one that failed keeps its rest.
pub fn enqueue(store: &mut Store, job: &NewJob<'_>, now: Timestamp) -> Result<Enqueued, Error> {
    store.write(|transaction| {
        let known = transaction
            .query_row(
                "SELECT id FROM jobs WHERE request = ?1
                 UNION ALL
                 SELECT id FROM jobs WHERE kind = ?2 AND dedup_key = ?3 AND state = 'queued'
                 LIMIT 1",
                params![job.request, job.kind, job.dedup_key],
                |row| row.get(0),
            )
            .optional()?;
        let not_before = stored(job.not_before.unwrap_or(now));
        if let Some(id) = known {
            transaction.execute(
                "UPDATE jobs SET not_before = ?2
                 WHERE id = ?1 AND state = 'queued' AND attempts = 0 AND not_before > ?2",
                params![id, not_before],
            )?;
            return Ok(Enqueued::Known(id));
        }
        transaction.execute(
            "INSERT INTO jobs
                 (kind, project, payload, dedup_key, request, state, max_attempts, not_before, created, updated)
             VALUES (?1, ?2, ?3, ?4, ?5, 'queued', ?6, ?7, ?8, ?8)",
            params![
                job.kind,
                job.project,
                job.payload,
                job.dedup_key,
                job.request,
                job.max_attempts.max(1),
                not_before,
                stored(now)
            ],
        )?;
        Ok(Enqueued::Added(transaction.last_insert_rowid()))
    })
}

impl Job {
    /// Returns what jobs share that must not run at the same time: their project, or the kind where they have none.
    pub fn place(&self) -> &str {
        self.project.as_deref().unwrap_or(&self.kind)
    }
}

/// Leases the job that has been due for longest to `holder`, and counts the attempt.
pub fn lease(
    store: &mut Store,
    holder: &str,
    now: Timestamp,
    duration: Duration,
) -> Result<Option<Job>, Error> {
    lease_elsewhere(store, holder, now, duration, &[])
}

/// Leases a job as [`lease`] does, but none whose [`Job::place`] is among `taken`. Nothing is written where there is none.
pub fn lease_elsewhere(
    store: &mut Store,
    holder: &str,
    now: Timestamp,
    duration: Duration,
    taken: &[&str],
) -> Result<Option<Job>, Error> {
    const NEXT: &str = "SELECT id FROM jobs WHERE state = 'queued' AND not_before <= ?1
             AND coalesce(project, kind) NOT IN (SELECT value FROM json_each(?2))
         ORDER BY not_before, id LIMIT 1";
    let taken = serde_json::to_string(taken)?;
    let find = |connection: &Connection| -> rusqlite::Result<Option<i64>> {
        connection.query_row(NEXT, params![stored(now), taken], |row| row.get(0)).optional()
    };
    // A transaction that may write keeps others from writing.
    if find(store.connection())?.is_none() {
        return Ok(None);
    }
    store.write(|transaction| {
        let Some(id) = find(transaction)? else { return Ok(None) };
        let job = transaction.query_row(
            "UPDATE jobs
             SET state = 'leased', attempts = attempts + 1, lease_holder = ?1, lease_until = ?2, updated = ?3
             WHERE id = ?4
             RETURNING *",
            params![holder, stored(after(now, duration)), stored(now), id],
            read,
        )?;
        Ok(Some(job))
    })
}

/// Extends a lease; `false` when it is not held any more.
pub fn renew(store: &mut Store, lease: Lease<'_>, now: Timestamp, duration: Duration) -> Result<bool, Error> {
    change_held(
        store,
        lease,
        "UPDATE jobs SET lease_until = ?3 WHERE id = ?1 AND lease_holder = ?2 AND state = 'leased'",
        after(now, duration),
    )
}

/// Notes that a job was done; `false` when its lease is not held any more.
pub fn complete(store: &mut Store, lease: Lease<'_>, now: Timestamp) -> Result<bool, Error> {
    change_held(
        store,
        lease,
        "UPDATE jobs SET state = 'done', reason = NULL, lease_holder = NULL, lease_until = NULL, updated = ?3
         WHERE id = ?1 AND lease_holder = ?2 AND state = 'leased'",
        now,
    )
}

/// Notes that a job needs no doing any more, and why; `false` when its lease is not held any more.
pub fn abandon(store: &mut Store, lease: Lease<'_>, reason: &str, now: Timestamp) -> Result<bool, Error> {
    store.write(|transaction| {
        let changed = transaction.execute(
            "UPDATE jobs SET state = 'done', reason = ?3, lease_holder = NULL, lease_until = NULL, updated = ?4
             WHERE id = ?1 AND lease_holder = ?2 AND state = 'leased'",
            params![lease.job, lease.holder, reason, stored(now)],
        )?;
        Ok(changed == 1)
    })
}

/// Queues a job again of which a piece was done, to go on at `not_before`; `false` when its lease is not held any more.
/// Its attempts begin anew: they count how often one piece failed.
pub fn go_on(
    store: &mut Store,
    lease: Lease<'_>,
    not_before: Timestamp,
    now: Timestamp,
) -> Result<bool, Error> {
    store.write(|transaction| {
        let changed = transaction.execute(
            "UPDATE jobs
             SET state = 'queued', attempts = 0, reason = NULL, not_before = ?3, updated = ?4,
                 lease_holder = NULL, lease_until = NULL
             WHERE id = ?1 AND lease_holder = ?2 AND state = 'leased'",
            params![lease.job, lease.holder, stored(not_before), stored(now)],
        )?;
        Ok(changed == 1)
    })
}

/// Gives a lease back as if it had never been taken; `false` when it is not held any more.
pub fn give_back(store: &mut Store, lease: Lease<'_>, now: Timestamp) -> Result<bool, Error> {
    change_held(
        store,
        lease,
        "UPDATE jobs
         SET state = 'queued', attempts = attempts - 1, lease_holder = NULL, lease_until = NULL, updated = ?3
         WHERE id = ?1 AND lease_holder = ?2 AND state = 'leased'",
        now,
    )
}

fn change_held(store: &mut Store, lease: Lease<'_>, sql: &str, at: Timestamp) -> Result<bool, Error> {
    store
        .write(|transaction| Ok(transaction.execute(sql, params![lease.job, lease.holder, stored(at)])? == 1))
}

/// Notes that a job failed: it rests and is tried again, or is dead.
pub fn fail(
    store: &mut Store,
    lease: Lease<'_>,
    failure: &Failure,
    back_off: BackOff,
    now: Timestamp,
) -> Result<Verdict, Error> {
    store.write(|transaction| {
        let held = transaction
            .query_row(
                "SELECT * FROM jobs WHERE id = ?1 AND lease_holder = ?2 AND state = 'leased'",
                params![lease.job, lease.holder],
                read,
            )
            .optional()?;
        let Some(job) = held else { return Ok(Verdict::NotHeld) };
        end_attempt(transaction, &job, failure, back_off, now)
    })
}

/// Whose leases are taken back.
#[derive(Clone, Copy, Debug)]
pub enum Gone<'a> {
    /// Those that were not renewed in time.
    Expired,
    /// All but those of this holder. Call it with the worker's lock held: no other worker can be alive.
    AllBut(&'a str),
}

/// Takes back the leases of workers that are gone, each as a failed attempt; returns how many there were.
pub fn reclaim(store: &mut Store, gone: Gone<'_>, back_off: BackOff, now: Timestamp) -> Result<usize, Error> {
    let (survivor, deadline) = match gone {
        Gone::Expired => (None, now),
        Gone::AllBut(holder) => (Some(holder), Timestamp::from_millis(0)),
    };
    store.write(|transaction| {
        let lost: Vec<Job> = transaction
            .prepare(
                "SELECT * FROM jobs WHERE state = 'leased'
                 AND (lease_until <= ?1 OR (?2 IS NOT NULL AND lease_holder IS NOT ?2))",
            )?
            .query_map(params![stored(deadline), survivor], read)?
            .collect::<Result<_, _>>()?;
        for job in &lost {
            end_attempt(transaction, job, &Failure::Again(WORKER_ENDED.to_owned()), back_off, now)?;
        }
        Ok(lost.len())
    })
}

fn end_attempt(
    transaction: &rusqlite::Transaction<'_>,
    job: &Job,
    failure: &Failure,
    back_off: BackOff,
    now: Timestamp,
) -> Result<Verdict, Error> {
    let (reason, verdict) = match failure {
        Failure::Again(reason) if job.attempts < job.max_attempts => {
            (reason, Verdict::Again(after(now, back_off.rest(job.id, job.attempts))))
        }
        Failure::Again(reason) | Failure::Final(reason) => (reason, Verdict::Dead),
    };
    let (state, not_before) = match verdict {
        Verdict::Again(at) => (State::Queued, at),
        _ => (State::Dead, job.not_before),
    };
    transaction.execute(
        "UPDATE jobs
         SET state = ?2, not_before = ?3, reason = ?4, updated = ?5, lease_holder = NULL, lease_until = NULL
         WHERE id = ?1",
        params![job.id, state.name(), stored(not_before), reason, stored(now)],
    )?;
    Ok(verdict)
}

/// Queues a dead job again (every one without `id`), its attempts forgotten; returns how many there were.
pub fn retry(store: &mut Store, id: Option<i64>, now: Timestamp) -> Result<usize, Error> {
    store.write(|transaction| {
        Ok(transaction.execute(
            "UPDATE jobs SET state = 'queued', attempts = 0, not_before = ?2, updated = ?2
             WHERE state = 'dead' AND (?1 IS NULL OR id = ?1)",
            params![id, stored(now)],
        )?)
    })
}

/// Removes a job that is not running; `false` when there is none of that number.
pub fn drop(store: &mut Store, id: i64) -> Result<bool, Error> {
    store.write(|transaction| {
        Ok(transaction.execute("DELETE FROM jobs WHERE id = ?1 AND state <> 'leased'", [id])? == 1)
    })
}

/// Removes jobs that were done before `moment`; returns how many there were.
pub fn forget_done(store: &mut Store, moment: Timestamp) -> Result<usize, Error> {
    store.write(|transaction| {
        Ok(transaction.execute("DELETE FROM jobs WHERE state = 'done' AND updated < ?1", [stored(moment)])?)
    })
}

/// Returns every job on record, oldest first.
pub fn list(store: &Store) -> Result<Vec<Job>, Error> {
    let mut statement = store.connection().prepare("SELECT * FROM jobs ORDER BY id")?;
    Ok(statement.query_map([], read)?.collect::<Result<_, _>>()?)
}

/// How many jobs there are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Waiting.
    pub queued: u64,
    /// Running.
    pub leased: u64,
    /// Done.
    pub done: u64,
    /// Failed.
    pub dead: u64,
}

/// Counts the jobs in each state.
pub fn counts(store: &Store) -> Result<Counts, Error> {
    let mut statement =
        store.connection().prepare("SELECT state, count(*) AS number FROM jobs GROUP BY state")?;
    let mut counts = Counts::default();
    for row in statement.query_map([], |row| Ok((state(row)?, row.get::<_, i64>("number")?)))? {
        let (state, number) = row?;
        *match state {
            State::Queued => &mut counts.queued,
            State::Leased => &mut counts.leased,
            State::Done => &mut counts.done,
            State::Dead => &mut counts.dead,
        } = number.unsigned_abs();
    }
    Ok(counts)
}

/// Returns when the next queued job may be begun.
pub fn next_due(store: &Store) -> Result<Option<Timestamp>, Error> {
    let millis: Option<i64> = store.connection().query_row(
        "SELECT min(not_before) FROM jobs WHERE state = 'queued'",
        [],
        |row| row.get(0),
    )?;
    Ok(millis.map(moment))
}

fn read(row: &Row<'_>) -> rusqlite::Result<Job> {
    let lease_until: Option<i64> = row.get("lease_until")?;
    Ok(Job {
        id: row.get("id")?,
        kind: row.get("kind")?,
        project: row.get("project")?,
        payload: row.get("payload")?,
        state: state(row)?,
        attempts: row.get("attempts")?,
        max_attempts: row.get("max_attempts")?,
        not_before: moment(row.get("not_before")?),
        lease_until: lease_until.map(moment),
        created: moment(row.get("created")?),
        updated: moment(row.get("updated")?),
        reason: row.get("reason")?,
    })
}

fn state(row: &Row<'_>) -> rusqlite::Result<State> {
    let name: String = row.get("state")?;
    // The table takes no other name.
    Ok(State::ALL.into_iter().find(|state| state.name() == name).unwrap_or(State::Dead))
}

fn after(moment: Timestamp, duration: Duration) -> Timestamp {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Timestamp::from_millis(moment.millis().saturating_add(millis))
}

/// Returns the milliseconds as SQLite keeps them.
fn stored(moment: Timestamp) -> i64 {
    i64::try_from(moment.millis()).unwrap_or(i64::MAX)
}

fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis.unsigned_abs())
}
