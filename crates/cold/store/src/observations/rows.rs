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

/// Numbers the prompts of a session by time, and says of its tool calls from `from` on which prompt they fall under.
pub(crate) fn number(transaction: &Transaction<'_>, session: i64, from: u64) -> Result<(), Error> {
    let mut prompts = transaction.prepare_cached(
        "UPDATE prompts SET number = ordered.number
         FROM (SELECT row, row_number() OVER (ORDER BY at, id) AS number FROM prompts WHERE session = ?1) AS ordered
         WHERE prompts.row = ordered.row AND prompts.number <> ordered.number",
    )?;
    prompts.execute([session])?;
    let mut tool_calls = transaction.prepare_cached(
        "UPDATE tool_calls SET prompt = coalesce((
             SELECT number FROM prompts WHERE session = ?1 AND at <= tool_calls.at ORDER BY at DESC, id DESC LIMIT 1
         ), 0)
         WHERE session = ?1 AND at >= ?2",
    )?;
    tool_calls.execute(params![session, from])?;
    Ok(())
}

/// Returns the text of a session's first prompt.
pub(crate) fn first_prompt(transaction: &Transaction<'_>, session: i64) -> Result<Option<String>, Error> {
    let mut select =
        transaction.prepare_cached("SELECT text FROM prompts WHERE session = ?1 AND number = 1")?;
    Ok(select.query_row([session], |row| row.get(0)).optional()?)
}

const EVENTS: &str = "SELECT at, cwd FROM prompts WHERE session = ?1
     UNION ALL SELECT at, cwd FROM tool_calls WHERE session = ?1";

/// Files a session under the folder of the first event that it still has.
pub(crate) fn move_to_first_event(
    transaction: &Transaction<'_>,
    session: i64,
    projects: &mut Projects,
) -> Result<(), Error> {
    let first: Option<(u64, String)> = transaction
        .prepare_cached(&format!("SELECT at, cwd FROM ({EVENTS}) ORDER BY at, cwd LIMIT 1"))?
        .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((started_at, cwd)) = first else { return Ok(()) };
    let project = put_project(transaction, projects.of(&cwd))?;
    move_session(transaction, session, project)?;
    transaction
        .prepare_cached("UPDATE sessions SET cwd = ?2, started_at = ?3 WHERE row = ?1")?
        .execute(params![session, cwd, started_at])?;
    Ok(())
}

/// Makes a session fit its events anew after some of them went; without any it goes as well.
pub(crate) fn refresh_session(transaction: &Transaction<'_>, session: i64) -> Result<(), Error> {
    let last_at: Option<u64> = transaction
        .prepare_cached(&format!("SELECT max(at) FROM ({EVENTS})"))?
        .query_row([session], |row| row.get(0))?;
    let Some(last_at) = last_at else {
        transaction.execute("DELETE FROM sessions WHERE row = ?1", [session])?;
        return Ok(());
    };
    number(transaction, session, 0)?;
    let title = first_prompt(transaction, session)?.map(|text| super::title(&text));
    transaction
        .prepare_cached(
            "UPDATE sessions SET title = ?2, last_at = ?3,
                 prompts = (SELECT count(*) FROM prompts WHERE session = ?1)
             WHERE row = ?1",
        )?
        .execute(params![session, title, last_at])?;
    Ok(())
}

/// Makes all sessions fit their events anew.
pub(crate) fn refresh_sessions(transaction: &Transaction<'_>) -> Result<(), Error> {
    // Whoever knows no captured events has no sessions either.
    let Ok(mut select) = transaction.prepare("SELECT row FROM sessions") else { return Ok(()) };
    let sessions: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    sessions.into_iter().try_for_each(|session| refresh_session(transaction, session))
}
