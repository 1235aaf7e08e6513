//! What there is, for a person who looks: in the database, and in the spool as far as it was not drained. Nothing is changed.

use super::writer::Projects;
use crate::open::{Error, Store};
use base::Timestamp;
use base::project::Project;
use capture::{Observation, Spool};
use std::collections::{BTreeSet, HashMap};

/// How much is read at once.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

/// The hook that shows lessons and refuses calls.
const LESSON_HOOK: &str = "lesson-inject";

/// A lesson that spoke up, or a call that was refused because of a failure that repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoke {
    /// Whether the call was refused.
    pub refused: bool,
    /// The names of the lessons, separated by commas; `None` for a call that kept failing.
    pub lesson: Option<String>,
}

/// Returns the keys of all projects that anything was recorded, queued or paid for.
pub fn projects(store: &Store, spool: &Spool) -> Result<BTreeSet<String>, Error> {
    let mut select = store.connection().prepare(
        "SELECT key FROM projects UNION SELECT project FROM spend WHERE project <> ''
         UNION SELECT project FROM jobs WHERE project IS NOT NULL",
    )?;
    let mut keys: BTreeSet<String> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut known = Projects::default();
    for_each_undrained(Some(store), spool, |line| {
        if let Some(observation) = Observation::read(line) {
            keys.insert(known.of(&observation.cwd).project.key.clone());
        }
    })?;
    Ok(keys)
}

/// Returns the rows of `projects` that hold what was recorded of a project: its own, and the one that only has its name, where no
/// other project is called so. claude-mem knows no more than names.
pub fn project_rows(store: &Store, project: &Project) -> Result<Vec<i64>, Error> {
    let mut select = store.connection().prepare_cached(
        "SELECT row FROM projects AS named WHERE key = ?1 OR (key IN ('name:' || ?2, 'name:' || ?3) AND NOT EXISTS (
             SELECT 1 FROM projects WHERE name = substr(named.key, 6) AND key <> ?1 AND key NOT LIKE 'name:%'))
         ORDER BY key <> ?1, key",
    )?;
    let folder = project.root.file_name().map(|name| name.to_string_lossy().into_owned());
    let folder = folder.unwrap_or_else(|| project.name.clone());
    let rows = select.query_map([&project.key, &folder, &project.name], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns how lessons spoke up since a moment, in all projects.
pub fn spoken_since(store: Option<&Store>, spool: &Spool, since: Timestamp) -> Result<Vec<Spoke>, Error> {
    let mut spoken = Vec::new();
    if let Some(store) = store {
        // From the sessions on: there is no index of moments alone.
        let mut select = store.connection().prepare(
            "SELECT short ->> '$.form', coalesce(short, long) ->> '$.lesson'
             FROM (SELECT CASE WHEN json_valid(o.data) THEN o.data END AS short,
                       CASE WHEN json_valid(p.data) THEN p.data END AS long
                   FROM sessions CROSS JOIN observations AS o ON o.session = sessions.row
                   LEFT JOIN payloads AS p ON p.observation = o.row
                   WHERE sessions.last_at >= ?1 AND o.at >= ?1 AND o.kind = 'told')
             WHERE short ->> '$.hook' = ?2",
        )?;
        let since = i64::try_from(since.millis()).unwrap_or(i64::MAX);
        let rows = select.query_map(rusqlite::params![since, LESSON_HOOK], |row| {
            Ok((row.get::<_, Option<String>>(0)?.unwrap_or_default(), row.get(1)?))
        })?;
        for row in rows {
            let (form, lesson) = row?;
            spoken.extend(spoke(&form, lesson));
        }
    }
    for_each_undrained(store, spool, |line| {
        let Some(observation) = Observation::read(line).filter(|it| it.at >= since.millis()) else { return };
        if observation.data.kind() != "told" {
            return;
        }
        let Ok(json) = observation.data.json() else { return };
        let Some(fields) = capture::Fields::read(json.get()) else { return };
        if fields.text("hook").as_deref() == Some(LESSON_HOOK) {
            let form = fields.text("form").unwrap_or_default();
            spoken.extend(spoke(&form, fields.text("lesson").map(Into::into)));
        }
    })?;
    Ok(spoken)
}

fn spoke(form: &str, lesson: Option<String>) -> Option<Spoke> {
    match form {
        "block" => Some(Spoke { refused: true, lesson }),
        "context" if lesson.is_some() => Some(Spoke { refused: false, lesson }),
        _ => None,
    }
}

/// Returns the ids of the sessions that something happened in since a moment.
pub fn sessions_since(store: &Store, since: Timestamp) -> Result<Vec<String>, Error> {
    let mut select = store.connection().prepare("SELECT id FROM sessions WHERE last_at >= ?1")?;
    let since = i64::try_from(since.millis()).unwrap_or(i64::MAX);
    let ids = select.query_map([since], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(ids)
}

/// Calls `each` with every line of the spool that the database does not have.
fn for_each_undrained(
    store: Option<&Store>,
    spool: &Spool,
    mut each: impl FnMut(&[u8]),
) -> Result<(), Error> {
    let offsets: HashMap<String, u64> = store.map(super::drain::offsets).transpose()?.unwrap_or_default();
    for file in spool.files().map_err(Error::io(spool.folder()))? {
        let mut offset = offsets.get(&file.name).copied().unwrap_or_default();
        if file.size().is_ok_and(|size| offset > size) {
            offset = 0;
        }
        // What cannot be read is skipped by the drain as well.
        while let Ok(batch) = file.read(offset, usize::MAX, BYTES_AT_ONCE) {
            batch.lines.iter().for_each(|line| each(line));
            let is_stuck = batch.offset == offset;
            offset = batch.offset;
            if batch.is_complete || is_stuck {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::Drain;
    use capture::{Data, Told};

    fn tell(spool: &Spool, session: &str, millis: u64, hook: &str, form: &str, lesson: Option<&str>) {
        let data = Data::Told(Told {
            hook: hook.into(),
            form: form.into(),
            text: "x".into(),
            lesson: lesson.map(Into::into),
            tool_use_id: None,
        });
        let mut observation = Observation::new(session, format!("n:{millis}"), millis, data);
        observation.cwd = format!("/nowhere/{session}").into();
        spool.append(&observation).unwrap();
    }

    #[test]
    fn what_lessons_did_is_counted_whether_it_is_drained_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        tell(&spool, "a", 1_000, "lesson-inject", "context", Some("old"));
        tell(&spool, "a", 5_000, "lesson-inject", "context", Some("one,two"));
        tell(&spool, "a", 5_001, "lesson-inject", "systemMessage", Some("one"));
        tell(&spool, "b", 6_000, "lesson-inject", "block", Some("three"));
        tell(&spool, "b", 6_001, "lesson-inject", "block", None);
        tell(&spool, "b", 6_002, "session-start-lessons", "context", Some("start"));
        let since = Timestamp::from_millis(2_000);
        let sorted = |mut spoken: Vec<Spoke>| {
            spoken.sort_by_key(|spoke| (spoke.refused, spoke.lesson.is_none()));
            spoken
        };
        let waiting = sorted(spoken_since(None, &spool, since).unwrap());
        let shown = |refused, lesson: Option<&str>| Spoke { refused, lesson: lesson.map(str::to_owned) };
        let expected = [shown(false, Some("one,two")), shown(true, Some("three")), shown(true, None)];
        assert_eq!(waiting, expected);

        let mut store = Store::open(&folder.path().join("wyren.db"), crate::TABLES).unwrap();
        let projects_before = projects(&store, &spool).unwrap();
        Drain::unbounded(&spool).run(&mut store, Timestamp::now()).unwrap();
        assert_eq!(sorted(spoken_since(Some(&store), &spool, since).unwrap()), expected);
        tell(&spool, "c", 7_000, "lesson-inject", "block", Some("four"));
        assert_eq!(spoken_since(Some(&store), &spool, since).unwrap().len(), 4);

        assert_eq!(projects_before.into_iter().collect::<Vec<_>>(), ["path:/nowhere/a", "path:/nowhere/b"]);
        assert_eq!(projects(&store, &spool).unwrap().len(), 3);
        let mut ids = sessions_since(&store, since).unwrap();
        ids.sort();
        assert_eq!(ids, ["a", "b"]);
    }
}
