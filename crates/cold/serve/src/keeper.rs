//! Drains what came in, and tells those who listen what became of it.

use crate::feed::{Event, Row};
use crate::rows::{self, Condition};
use crate::server::{Failed, Server};
use base::Timestamp;
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use store::rusqlite::types::Value as Sql;

/// How long nothing must come in before a drain, and after how long one is due all the same: appends are not to wait for it.
const QUIET: Duration = Duration::from_millis(300);
const AT_LATEST: Duration = Duration::from_secs(5);
/// How often it looks for what hooks and other programs recorded, while someone listens.
const LOOK: Duration = Duration::from_secs(2);
/// After how long without a request the database is closed.
const IDLE: Duration = Duration::from_secs(30);
/// How many ids are remembered as told.
const MOST_TOLD: usize = 10_000;
/// How many rows are read at once, and how many times at most in one look: of a burst, as many as are kept for replay.
const ROWS: usize = 200;
const MOST_READS: usize = 5;

/// Runs until the server is over.
pub(crate) fn run(server: &Server) {
    let mut told = Told { since: Timestamp::now().millis(), ids: HashSet::new() };
    let (mut last_drain, mut was_busy) = (Instant::now(), false);
    while !server.is_over.load(Ordering::Relaxed) {
        let guard = server.last_came.lock().unwrap_or_else(PoisonError::into_inner);
        let (last_came, _) = server.wake.wait_timeout(guard, QUIET).unwrap_or_else(PoisonError::into_inner);
        let came = *last_came;
        drop(last_came);
        let is_waiting = server.waiting.load(Ordering::Relaxed) > 0;
        let is_quiet = came.is_none_or(|came| came.elapsed() >= QUIET);
        let is_due = is_waiting && (is_quiet || last_drain.elapsed() >= AT_LATEST);
        let is_looking = !is_waiting && server.feed.listeners() > 0 && last_drain.elapsed() >= LOOK;
        if is_waiting != was_busy {
            was_busy = is_waiting;
            server.feed.tell(status(server), Timestamp::now().millis());
        }
        if is_due || is_looking {
            // What fails stays in the spool, and the next drain or program takes it.
            let _ = told.tell(server);
            last_drain = Instant::now();
        } else if last_drain.elapsed() >= IDLE && is_quiet {
            server.close();
            last_drain = Instant::now();
        }
    }
}

/// Returns what is not drained yet.
pub(crate) fn status(server: &Server) -> Value {
    let waiting = server.waiting.load(Ordering::Relaxed);
    json!({"type": "processing_status", "isProcessing": waiting > 0, "queueDepth": waiting})
}

struct Told {
    /// Rows from before the server began are no news.
    since: u64,
    ids: HashSet<String>,
}

impl Told {
    fn tell(&mut self, server: &Server) -> Result<(), Failed> {
        let observations = self.news(server, rows::observations)?;
        let summaries = self.news(server, rows::summaries)?;
        if self.ids.len() > MOST_TOLD {
            self.ids.clear();
            self.since = Timestamp::now().millis();
        }
        for (kind, name, rows) in
            [("new_observation", "observation", observations), ("new_summary", "summary", summaries)]
        {
            for row in rows.into_iter().rev() {
                let id = id_of(&row).to_owned();
                if self.ids.insert(id.clone()) {
                    server.feed.tell_row(kind, Row { name, id }, row, Timestamp::now().millis());
                }
            }
        }
        Ok(())
    }

    /// Returns rows that were not told yet, the latest first.
    fn news(&self, server: &Server, list: rows::List) -> Result<Vec<Value>, Failed> {
        let mut condition = Condition::default();
        condition.add("e.at >= ?", [Sql::Integer(self.since as i64)]);
        server.read(|store| {
            let mut news = Vec::new();
            for read in 0..MOST_READS {
                let rest = format!("ORDER BY e.at DESC, e.row DESC LIMIT {ROWS} OFFSET {}", read * ROWS);
                let rows = list(store, &condition, &rest)?;
                let all = rows.len();
                news.extend(rows.into_iter().filter(|row| !self.ids.contains(id_of(row))));
                // Behind one that was sent, all were, but for what an import brings.
                if news.len() < (read + 1) * ROWS || all < ROWS {
                    break;
                }
            }
            Ok(news)
        })
    }
}

fn id_of(row: &Value) -> &str {
    row["wyren_id"].as_str().unwrap_or_default()
}

/// Returns events that were missed with their rows as they are now, without those whose rows are gone; `None` when the database
/// cannot be read: the listener then loads everything anew.
pub(crate) fn as_they_are(server: &Server, missed: Vec<Event>) -> Option<VecDeque<Event>> {
    if missed.iter().all(|event| event.row.is_none()) {
        return Some(missed.into());
    }
    let (mut told, with_rows): (Vec<Event>, Vec<Event>) =
        missed.into_iter().partition(|event| event.row.is_none());
    let read = server.read(|store| {
        let mut told = Vec::new();
        for event in with_rows {
            let Some(Row { name, id }) = &event.row else { continue };
            let mut condition = Condition::default();
            condition.add("e.id = ?", [Sql::Text(id.clone())]);
            let list = if *name == "summary" { rows::summaries } else { rows::observations };
            let Some(row) = list(store, &condition, "LIMIT 1")?.pop() else { continue };
            let mut data: Value = serde_json::from_str(&event.data).unwrap_or_default();
            data[*name] = row;
            told.push(Event { data: data.to_string(), row: None, ..event });
        }
        Ok(told)
    });
    told.extend(read.ok()?);
    told.sort_by_key(|event| event.number);
    Some(told.into())
}
