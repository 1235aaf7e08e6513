//! What retention does to observations, one transaction at a time: lets the payloads of calls go, and deletes rows. Which ones
//! is the journal's to say, which first keeps what it made of them.

use super::rows;
use super::writer::{Projects, Writer};
use crate::derived;
use crate::open::{Error, Store};
use capture::Observation;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

/// The field of a call whose payload was let go; it is true.
pub const LET_GO: &str = "let_go";

/// The fields of a call that are its payload.
const PAYLOAD: [&str; 3] = ["input", "output", "error"];

/// A turn by the row of its session and the number of its prompt.
pub type Turn = (i64, u64);

/// Stores an observation of a session that is known; says whether it is new.
pub fn put(transaction: &Transaction<'_>, observation: &Observation<'_>) -> Result<bool, Error> {
    let mut projects = Projects::default();
    let mut writer = Writer::new(transaction, &mut projects);
    let is_new = writer.put(observation)?;
    writer.finish()?;
    Ok(is_new)
}

/// Returns the turns with observations that fit a condition on `o`, in the order of their first such row, from the one behind
/// `after` on, each with that row. Turns in which something happened since `before`, in milliseconds, are left out.
pub fn old_turns(
    connection: &Connection,
    condition: &str,
    before: u64,
    after: i64,
    most: usize,
) -> Result<Vec<(Turn, i64)>, Error> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT o.session, o.prompt, min(o.row) AS first FROM observations AS o
         WHERE o.row > ?1 AND o.at < ?2 AND ({condition})
             AND NOT EXISTS (SELECT 1 FROM observations AS later WHERE later.session = o.session AND later.at >= ?2
                 AND later.prompt = o.prompt)
         GROUP BY o.session, o.prompt ORDER BY first LIMIT ?3"
    ))?;
    let values = params![after, i64::try_from(before).unwrap_or(i64::MAX), most];
    let turns = select.query_map(values, |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    Ok(turns.collect::<Result<_, _>>()?)
}

/// The condition on `o` that a call with a payload satisfies.
pub const HAS_PAYLOAD: &str = "o.kind IN ('tool', 'refused') AND (o.data IS NULL OR NOT json_valid(o.data) OR o.data ->> '$.let_go' IS NULL)";

/// Takes the payloads of a turn's calls out, and marks each call; returns how many.
pub fn let_go(transaction: &Transaction<'_>, (session, prompt): Turn) -> Result<u64, Error> {
    let calls: Vec<i64> = transaction
        .prepare_cached(&format!(
            "SELECT o.row FROM observations AS o WHERE o.session = ?1 AND o.prompt = ?2 AND {HAS_PAYLOAD}"
        ))?
        .query_map(params![session, prompt], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for row in &calls {
        let short: Option<String> = transaction
            .prepare_cached("SELECT data FROM observations WHERE row = ?1")?
            .query_row([row], |row| row.get(0))
            .optional()?
            .flatten();
        let short = short.and_then(|short| serde_json::from_str(&short).ok()).unwrap_or_default();
        let mut fields = match short {
            serde_json::Value::Object(fields) => fields,
            _ => serde_json::Map::new(),
        };
        fields.retain(|name, _| !PAYLOAD.contains(&name.as_str()));
        fields.insert(LET_GO.to_owned(), true.into());
        transaction
            .prepare_cached("UPDATE observations SET data = ?2 WHERE row = ?1")?
            .execute(params![row, serde_json::Value::from(fields).to_string()])?;
        transaction.prepare_cached("DELETE FROM payloads WHERE observation = ?1")?.execute([row])?;
    }
    Ok(calls.len() as u64)
}

/// Deletes observations for good, with what was derived from them. Unlike `wyren forget` it leaves no note: an import may
/// bring them back.
pub fn delete(
    transaction: &Transaction<'_>,
    all: &[&dyn derived::Derived],
    gone: &[i64],
) -> Result<(), Error> {
    derived::forget(transaction, all, gone)?;
    let mut sessions = std::collections::BTreeSet::new();
    for row in gone {
        let session: Option<i64> = transaction
            .prepare_cached("DELETE FROM observations WHERE row = ?1 RETURNING session")?
            .query_row([row], |row| row.get(0))
            .optional()?;
        sessions.extend(session);
    }
    derived::lower_watermarks(transaction)?;
    for session in sessions {
        rows::refresh_session(transaction, session)?;
    }
    derived::forget_projects(transaction, all)
}

/// Returns how many bytes of the database are in use.
pub fn used_bytes(store: &Store) -> Result<u64, Error> {
    let number = |pragma: &str| -> Result<u64, Error> {
        Ok(store.connection().query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))?)
    };
    Ok((number("page_count")? - number("freelist_count")?) * number("page_size")?)
}

/// Gives the room that is no longer used back to the disk.
pub fn give_back(store: &Store) -> Result<(), Error> {
    store.give_back_pages()
}
