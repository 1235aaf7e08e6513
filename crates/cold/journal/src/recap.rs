//! What was done between two moments, for a stand-up or a weekly note: the same whenever it is asked for.

use crate::entry::{Entry, Kind, Source};
use crate::read;
use store::rusqlite::params;
use store::{Error, Store};

/// One project's part of a recap.
#[derive(Clone, Debug, Default)]
pub struct Recap {
    /// The project's key.
    pub project: String,
    /// Changes, fixes, features and refactorings, oldest first.
    pub done: Vec<Entry>,
    pub decided: Vec<Entry>,
    /// What was found out.
    pub learned: Vec<Entry>,
    /// What a person had remembered, whatever its kind.
    pub noted: Vec<Entry>,
    /// What failed and nothing later mended.
    pub failed: Vec<Entry>,
    /// What the last turn of each session left to do, with its moment in milliseconds since 1970.
    pub next_steps: Vec<(u64, String)>,
}

impl Recap {
    /// Returns whether nothing happened.
    pub fn is_empty(&self) -> bool {
        let lists = [&self.done, &self.decided, &self.learned, &self.noted, &self.failed];
        lists.iter().all(|list| list.is_empty()) && self.next_steps.is_empty()
    }

    /// Returns all its entries, in no particular order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        [&self.done, &self.decided, &self.learned, &self.noted, &self.failed].into_iter().flatten()
    }
}

/// Tells what happened from `since` until before `until`, in milliseconds since 1970, in one project or in all of them, by key.
/// Noise and what a later entry replaces are left out.
pub fn recap(store: &Store, since: u64, until: u64, project: Option<&str>) -> Result<Vec<Recap>, Error> {
    let bound = |moment: u64| i64::try_from(moment).unwrap_or(i64::MAX);
    let (since, until) = (bound(since), bound(until));
    let mut select = store
        .connection()
        .prepare_cached("SELECT row, key FROM projects WHERE ?1 IS NULL OR key = ?1 ORDER BY key")?;
    let projects = select.query_map([project], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let projects: Vec<(i64, String)> = projects.collect::<Result<_, _>>()?;
    let mut told = Vec::new();
    for (row, key) in projects {
        let entries = read::entries_where(
            store,
            "e.project = ?1 AND e.at >= ?2 AND e.at < ?3 AND e.is_noise = 0 AND e.replaced_by IS NULL ORDER BY e.at, e.id",
            params![row, since, until],
        )?;
        // Of each session the last turn alone: what an earlier one left may be done.
        let summaries = read::summaries_where(
            store,
            "s.project = ?1 AND s.at >= ?2 AND s.at < ?3 AND s.next_steps <> '' AND NOT EXISTS (
                 SELECT 1 FROM summaries AS later WHERE later.session = s.session AND (later.at, later.row) > (s.at, s.row))
             ORDER BY s.at, s.id",
            params![row, since, until],
        )?;
        let next_steps = summaries.into_iter().map(|summary| (summary.at, summary.next_steps)).collect();
        let recap = sort(Recap { project: key, next_steps, ..Recap::default() }, entries);
        if !recap.is_empty() {
            told.push(recap);
        }
    }
    Ok(told)
}

/// Puts each entry where it belongs.
fn sort(mut recap: Recap, entries: Vec<Entry>) -> Recap {
    let is_mended = |failure: &Entry, at: usize| entries[at + 1..].iter().any(|later| mends(later, failure));
    let mended: Vec<bool> = entries.iter().enumerate().map(|(at, entry)| is_mended(entry, at)).collect();
    for (entry, is_mended) in entries.into_iter().zip(mended) {
        match entry.kind.as_str() {
            _ if entry.source == Source::ByHand => recap.noted.push(entry),
            Kind::DECISION => recap.decided.push(entry),
            Kind::FAILURE if is_mended => recap.done.push(entry),
            Kind::FAILURE => recap.failed.push(entry),
            Kind::DISCOVERY | "security_note" | "security_alert" | "sensitive" => recap.learned.push(entry),
            _ => recap.done.push(entry),
        }
    }
    recap
}

/// Returns whether a later entry changed a file that an earlier failure is about, and did not fail itself.
fn mends(later: &Entry, failure: &Entry) -> bool {
    let is_work = !matches!(later.kind.as_str(), Kind::FAILURE | Kind::DISCOVERY | Kind::DECISION);
    let changes = |path: &String| later.files.iter().any(|file| file.is_changed && file.path == *path);
    is_work && failure.files.iter().any(|file| changes(&file.path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::File;

    fn entry(kind: &str, title: &str, path: &str) -> Entry {
        let files = vec![File { path: path.to_owned(), is_changed: true }];
        Entry { kind: kind.to_owned(), title: title.to_owned(), files, ..Entry::default() }
    }

    #[test]
    fn a_failure_is_open_until_a_later_entry_changes_its_file() {
        let entries = vec![
            entry("failure", "deploy failed", "deploy.yml"),
            entry("failure", "tests failed", "auth.rs"),
            entry("fix", "auth.rs: expiry is checked", "auth.rs"),
            entry("decision", "tokens expire after an hour", "auth.rs"),
        ];
        let recap = sort(Recap::default(), entries);
        let titles = |list: &[Entry]| list.iter().map(|entry| entry.title.clone()).collect::<Vec<_>>();
        assert_eq!(titles(&recap.failed), ["deploy failed"]);
        assert_eq!(titles(&recap.done), ["tests failed", "auth.rs: expiry is checked"]);
        assert_eq!(titles(&recap.decided), ["tokens expire after an hour"]);
    }
}
