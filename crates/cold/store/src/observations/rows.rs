//! SQL that several writers share.

use super::writer::Projects;
use crate::open::Error;
use base::project::Project;
use rusqlite::{OptionalExtension as _, Transaction, params};

/// Returns the row of a project, which is made where there is none.
pub(crate) fn put_project(transaction: &Transaction<'_>, project: &Project) -> Result<i64, Error> {
    // The update changes nothing; it is there so that the row is returned.
    let mut insert = transaction.prepare_cached(
        "INSERT INTO projects (key, name, root) VALUES (?1, ?2, ?3)
         ON CONFLICT (key) DO UPDATE SET key = key RETURNING row",
    )?;
    let values = params![project.key, project.name, project.root.to_string_lossy()];
    Ok(insert.query_row(values, |row| row.get(0))?)
}

/// Files a session under another project.
pub(crate) fn move_session(transaction: &Transaction<'_>, session: i64, project: i64) -> Result<(), Error> {
    let mut update = transaction.prepare_cached("UPDATE sessions SET project = ?2 WHERE row = ?1")?;
    update.execute([session, project])?;
    Ok(())
}

/// Numbers the prompts of a session by time, and says of its other observations from `from` on which prompt they belong
/// to: the one that the client named, else the last one before them.
pub(crate) fn number(transaction: &Transaction<'_>, session: i64, from: u64) -> Result<(), Error> {
    let mut prompts = transaction.prepare_cached(
        "UPDATE observations SET prompt = ordered.number
         FROM (SELECT row, row_number() OVER (ORDER BY at, id) AS number
               FROM observations WHERE session = ?1 AND kind = 'prompt') AS ordered
         WHERE observations.row = ordered.row AND observations.prompt <> ordered.number",
    )?;
    prompts.execute([session])?;
    let mut others = transaction.prepare_cached(
        "UPDATE observations SET prompt = coalesce((
             SELECT named.prompt FROM observations AS named
             WHERE named.session = ?1 AND named.kind = 'prompt' AND named.id = 'p:' || observations.prompt_id
         ), (
             SELECT before.prompt FROM observations AS before
             WHERE before.session = ?1 AND before.kind = 'prompt' AND before.at <= observations.at
             ORDER BY before.at DESC, before.id DESC LIMIT 1
         ), 0)
         WHERE session = ?1 AND at >= ?2 AND kind <> 'prompt'",
    )?;
    others.execute(params![session, from])?;
    Ok(())
}

/// Returns the text of a session's first prompt.
pub(crate) fn first_prompt(transaction: &Transaction<'_>, session: i64) -> Result<Option<String>, Error> {
    let mut select =
        transaction.prepare_cached("SELECT text FROM prompts WHERE session = ?1 ORDER BY at, id LIMIT 1")?;
    Ok(select.query_row([session], |row| row.get(0)).optional()?)
}

/// Brings up to date what the observations of a session say about it: the branch of its first prompt, its last model,
/// its end unless a prompt came after it. What they do not say stays as an import said it.
pub(crate) fn describe(transaction: &Transaction<'_>, session: i64) -> Result<(), Error> {
    transaction
        .prepare_cached(
            "UPDATE sessions SET
                 branch = coalesce((SELECT data ->> '$.branch' FROM observations
                     WHERE session = ?1 AND kind = 'prompt'
                         AND CASE WHEN json_valid(data) THEN data ->> '$.branch' END IS NOT NULL
                     ORDER BY at, id LIMIT 1), branch),
                 model = coalesce((SELECT data ->> '$.model' FROM observations
                     WHERE session = ?1 AND kind = 'session-start'
                         AND CASE WHEN json_valid(data) THEN data ->> '$.model' END IS NOT NULL
                     ORDER BY at DESC LIMIT 1), model),
                 (ended_at, end_reason) = (SELECT at, CASE WHEN json_valid(data) THEN data ->> '$.reason' END
                     FROM observations
                     WHERE session = ?1 AND kind = 'session-end'
                         AND at >= coalesce((SELECT max(at) FROM observations WHERE session = ?1 AND kind = 'prompt'), 0)
                     ORDER BY at DESC LIMIT 1)
             WHERE row = ?1",
        )?
        .execute([session])?;
    Ok(())
}

/// Files a session under the folder of the first observation that it still has.
pub(crate) fn move_to_first_observation(
    transaction: &Transaction<'_>,
    session: i64,
    projects: &mut Projects,
) -> Result<(), Error> {
    let first: Option<(u64, String)> = transaction
        .prepare_cached("SELECT at, cwd FROM observations WHERE session = ?1 ORDER BY at, cwd LIMIT 1")?
        .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((started_at, cwd)) = first else { return Ok(()) };
    let project = put_project(transaction, &projects.of(&cwd).project)?;
    move_session(transaction, session, project)?;
    transaction
        .prepare_cached("UPDATE sessions SET cwd = ?2, started_at = ?3 WHERE row = ?1")?
        .execute(params![session, cwd, started_at])?;
    Ok(())
}

/// Takes out what may come from observations that were forgotten; [`refresh_session`] puts back what the others say.
pub(crate) fn clear_session(transaction: &Transaction<'_>, session: i64) -> Result<(), Error> {
    transaction
        .prepare_cached("UPDATE sessions SET title = NULL, branch = NULL, model = NULL WHERE row = ?1")?
        .execute([session])?;
    Ok(())
}

/// Makes a session fit its observations anew after some of them went; without any it goes as well. What the others do
/// not say stays: an import may have said it.
pub(crate) fn refresh_session(transaction: &Transaction<'_>, session: i64) -> Result<(), Error> {
    let last_at: Option<u64> = transaction
        .prepare_cached("SELECT max(at) FROM observations WHERE session = ?1")?
        .query_row([session], |row| row.get(0))?;
    let Some(last_at) = last_at else {
        transaction.execute("DELETE FROM sessions WHERE row = ?1", [session])?;
        return Ok(());
    };
    number(transaction, session, 0)?;
    let title = first_prompt(transaction, session)?.map(|text| super::title(&text));
    let title = title.filter(|title| !title.is_empty());
    transaction
        .prepare_cached(
            "UPDATE sessions SET title = coalesce(?2, title), last_at = ?3,
                 prompts = (SELECT count(*) FROM prompts WHERE session = ?1)
             WHERE row = ?1",
        )?
        .execute(params![session, title, last_at])?;
    describe(transaction, session)
}

/// Makes all sessions fit their observations anew.
pub(crate) fn refresh_sessions(transaction: &Transaction<'_>) -> Result<(), Error> {
    // A database without observations has no sessions either.
    let Ok(mut select) = transaction.prepare("SELECT row FROM sessions") else { return Ok(()) };
    let sessions: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    sessions.into_iter().try_for_each(|session| refresh_session(transaction, session))
}
