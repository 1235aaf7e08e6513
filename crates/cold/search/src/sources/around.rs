//! What happened before and after a moment.

use super::file::Source;
use super::load::{Loaded, load};
use super::{Error, ledger, letter};
use base::Paths;
use store::Store;
use store::rusqlite::{Connection, OptionalExtension as _};

/// A key with its moment.
type Moment = (u64, String);

/// What surrounds a moment, in the order of time; what happened at the moment itself is in neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    pub before: Vec<Loaded>,
    pub after: Vec<Loaded>,
}

/// Returns the entries, summaries, prompts and removals of a project nearest to a document: at most `before` and `after` of them.
pub fn around(
    store: &Store,
    paths: &Paths,
    anchor: &Loaded,
    (before, after): (usize, usize),
) -> Result<Around, Error> {
    if !journal::is_made(store)? {
        return Ok(Around::default());
    }
    let document = &anchor.document;
    let here = (document.at, document.key.clone());
    let mut earlier = moments(store.connection(), &document.project, &here, before, Side::Before)?;
    let mut later = moments(store.connection(), &document.project, &here, after, Side::After)?;
    for moment in removals(store, paths, &document.project)? {
        if moment < here { earlier.push(moment) } else { later.push(moment) }
    }
    for side in [&mut earlier, &mut later] {
        side.retain(|moment| *moment != here);
        side.sort();
        side.dedup();
    }
    let earlier = earlier.split_off(earlier.len().saturating_sub(before));
    later.truncate(after);
    let loaded = |moments: Vec<Moment>| {
        let keys: Vec<String> = moments.into_iter().map(|(_, key)| key).collect();
        load(store, paths, &keys)
    };
    Ok(Around { before: loaded(earlier)?, after: loaded(later)? })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// Each with `?1` the project, and the column of the moment. Noise is not what happened.
const RECORDED: [(char, &str, &str); 3] = [
    (letter::ENTRY, "SELECT e.at, e.id FROM entries AS e WHERE e.project = ?1 AND e.is_noise = 0", "e.at"),
    (letter::SUMMARY, "SELECT t.at, t.id FROM summaries AS t WHERE t.project = ?1", "t.at"),
    (
        letter::PROMPT,
        "SELECT o.at, i.id FROM sessions AS s JOIN observations AS o ON o.session = s.row AND o.kind IN ('prompt', 'plan', 'work')
             JOIN prompt_ids AS i ON i.observation = o.row WHERE s.project = ?1",
        "o.at",
    ),
];

/// Returns the nearest moments of a project on one side of another; some more than `most`, where several are of one time.
fn moments(
    connection: &Connection,
    project: &str,
    here: &Moment,
    most: usize,
    side: Side,
) -> Result<Vec<Moment>, Error> {
    let mut select = connection.prepare_cached("SELECT row FROM projects WHERE key = ?1")?;
    let row: Option<i64> = select.query_row([project], |row| row.get(0)).optional()?;
    let Some(row) = row else { return Ok(Vec::new()) };
    let (comparison, order) = match side {
        Side::Before => ("<=", "DESC"),
        Side::After => (">=", "ASC"),
    };
    let mut found = Vec::new();
    for (sort, select, at) in RECORDED {
        let sql = format!("{select} AND {at} {comparison} ?2 ORDER BY {at} {order} LIMIT ?3");
        let mut select = connection.prepare_cached(&sql)?;
        // The document itself, and others of the same time, may be among them.
        let limit = i64::try_from(most).unwrap_or(i64::MAX).saturating_add(OF_ONE_TIME);
        let rows = select.query_map((row, i64::try_from(here.0).unwrap_or(i64::MAX), limit), |row| {
            Ok((row.get::<_, u64>(0)?, format!("{sort}:{}", row.get::<_, String>(1)?)))
        })?;
        for moment in rows {
            let moment: Moment = moment?;
            let is_on_side = if side == Side::Before { moment < *here } else { moment > *here };
            if is_on_side {
                found.push(moment);
            }
        }
    }
    Ok(found)
}

/// How many documents of one time there may be on the wrong side.
const OF_ONE_TIME: i64 = 50;

/// Returns when entries left the team memory of a project.
fn removals(store: &Store, paths: &Paths, project: &str) -> Result<Vec<Moment>, Error> {
    let files = ledger::files(store.connection())?;
    let of_project = files.iter().filter(|row| row.project == project).filter_map(Source::named);
    let documents = of_project.filter(Source::is_history).flat_map(|source| source.documents(paths));
    Ok(documents.filter(|document| document.at > 0).map(|document| (document.at, document.key)).collect())
}
