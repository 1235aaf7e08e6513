//! The texts that hooks gave the model and the person.

use crate::open::{Error, Store};
use base::Timestamp;
use rusqlite::params;

/// A text that a hook gave the model or the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldText {
    /// When.
    pub at: Timestamp,
    /// The session's id.
    pub session: String,
    /// The hook's name.
    pub hook: String,
    /// `context`, `block`, `systemMessage`, …
    pub form: String,
    /// The lessons in it, separated by commas.
    pub lesson: Option<String>,
    /// The text.
    pub text: String,
}

/// Returns the last `most` texts, oldest first, of one hook or session or of all.
pub fn told(
    store: &Store,
    hook: Option<&str>,
    session: Option<&str>,
    most: usize,
) -> Result<Vec<ToldText>, Error> {
    let mut select = store.connection().prepare(
        "SELECT o.at, sessions.id, short ->> '$.hook', short ->> '$.form', coalesce(short, long) ->> '$.lesson',
             coalesce(short ->> '$.text', long ->> '$.text', '')
         FROM (SELECT o.*, CASE WHEN json_valid(o.data) THEN o.data END AS short,
                   CASE WHEN json_valid(p.data) THEN p.data END AS long
               FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row) AS o
         JOIN sessions ON sessions.row = o.session
         WHERE o.kind = 'told' AND (?1 IS NULL OR short ->> '$.hook' = ?1) AND (?2 IS NULL OR sessions.id = ?2)
         ORDER BY o.at DESC, o.row DESC LIMIT ?3",
    )?;
    let texts = select.query_map(params![hook, session, i64::try_from(most).unwrap_or(i64::MAX)], |row| {
        Ok(ToldText {
            at: Timestamp::from_millis(row.get(0)?),
            session: row.get(1)?,
            hook: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
            form: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
            lesson: row.get(4)?,
            text: row.get(5)?,
        })
    })?;
    let mut texts: Vec<ToldText> = texts.collect::<Result<_, _>>()?;
    texts.reverse();
    Ok(texts)
}

/// Returns the session of the project called `key` that was given a text last.
pub fn last_told_session(store: &Store, key: &str) -> Result<Option<String>, Error> {
    let mut select = store.connection().prepare(
        "SELECT sessions.id FROM observations AS o
         JOIN sessions ON sessions.row = o.session JOIN projects ON projects.row = sessions.project
         WHERE o.kind = 'told' AND projects.key = ?1 ORDER BY o.at DESC, o.row DESC LIMIT 1",
    )?;
    Ok(select.query_map([key], |row| row.get(0))?.next().transpose()?)
}
