//! Keeps the index in step, one bounded piece after the other. A process killed between any two lines leaves work that the next
//! one does again, to the same end.

use super::file::Source;
use super::ledger::{self, FileRow, PASSES, State};
use super::recorded::{Reader, Rows};
use super::{Error, folder, id_of};
use crate::index::{Change, Index, Writer};
use crate::meaning;
use base::Paths;
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};
use store::Store;

/// How many changes are made at once: some 0.1 s of work.
const AT_ONCE: usize = 2_000;
/// The same while the index is made anew: larger pieces are merged less often.
const ANEW_AT_ONCE: usize = 10_000;
/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_millis(200);
/// The same where words of what was forgotten have to leave the index.
const FORGET_PATIENCE: Duration = Duration::from_secs(10);

/// How far the index came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// How many documents were put in or taken out.
    pub documents: u64,
    /// Whether nothing was left to do.
    pub is_complete: bool,
}

/// Returns whether an index lacks nothing that a search in `cwd` could find.
pub fn is_current(store: &Store, paths: &Paths, cwd: Option<&Path>, index: &Index) -> Result<bool, Error> {
    let Some(state) = ledger::state(store)? else { return Ok(false) };
    if !state.is_settled() || !state.is_derived || !state.agrees_with(index.mark()) {
        return Ok(false);
    }
    let known = ledger::files(store.connection())?;
    Ok(changed_files(&known, paths, cwd).is_empty())
}

/// Brings the index in step with the database and with the files of the project that `cwd` is in, for about `most_time`. Without
/// a folder, the files of every project that was searched in are looked at.
pub fn refresh(
    store: &mut Store,
    paths: &Paths,
    cwd: Option<&Path>,
    most_time: Duration,
) -> Result<Refreshed, Error> {
    if store.ahead().is_some() || ledger::state(store)?.is_none() {
        return Ok(Refreshed::default());
    }
    // Most often there is nothing to do, which is no reason to keep others from writing.
    let index = Index::open(&folder(paths));
    if let Ok(index) = &index
        && is_current(store, paths, cwd, index)?
        && (cwd.is_some() || changed_files(&ledger::files(store.connection())?, paths, None).is_empty())
    {
        // What searches have added is in many small parts, which only a process with time merges.
        if cwd.is_none() && folder(paths).is_dir() {
            Writer::open(&folder(paths), PATIENCE)?.tidy(most_time)?;
        }
        return Ok(Refreshed { documents: 0, is_complete: true });
    }
    let mut writer = Writer::open(&folder(paths), PATIENCE)?;
    Keeper::new(store, &mut writer).refresh(paths, cwd, most_time)
}

/// Takes out of the index, and of its files, what the database has forgotten. A process killed before leaves it to
/// [`refresh`].
pub fn forget(store: &mut Store, paths: &Paths) -> Result<(), Error> {
    // Without an index no file has a word.
    if !folder(paths).is_dir() {
        return Ok(());
    }
    let mut writer = Writer::open(&folder(paths), FORGET_PATIENCE)?;
    // Where the tables were dropped, what the index was made of is not known any more.
    if store.ahead().is_some() || ledger::state(store)?.is_none() {
        meaning::clear(&folder(paths))?;
        return Ok(writer.clear()?);
    }
    Keeper::new(store, &mut writer).forget()
}

/// Returns the sources whose files are not as they were when they were read, each as it is now.
fn changed_files(known: &[FileRow], paths: &Paths, cwd: Option<&Path>) -> Vec<(Source, FileRow)> {
    let mut sources = Source::at(cwd);
    if cwd.is_none() {
        let others = known.iter().filter(|row| !row.project.is_empty());
        sources.extend(others.filter_map(Source::named));
    }
    let is_known =
        |now: &FileRow| match known.iter().find(|row| row.source == now.source && row.project == now.project)
        {
            // The same files seen from another clone are other files.
            Some(row) => row == now,
            None => now.fingerprint.is_empty(),
        };
    let rows = sources.into_iter().map(|source| {
        let row = source.row(paths);
        (source, row)
    });
    rows.filter(|(_, row)| !is_known(row)).collect()
}

/// Writes what the database has into an index.
struct Keeper<'a> {
    store: &'a mut Store,
    writer: &'a mut Writer,
    reader: Reader,
    began: Instant,
    documents: u64,
}

impl<'a> Keeper<'a> {
    fn new(store: &'a mut Store, writer: &'a mut Writer) -> Self {
        Self { store, writer, reader: Reader::default(), began: Instant::now(), documents: 0 }
    }

    fn refresh(mut self, paths: &Paths, cwd: Option<&Path>, most_time: Duration) -> Result<Refreshed, Error> {
        let is_complete = self.take_changes(Some(most_time))?
            && self.purge()?
            && self.take_files(paths, cwd, most_time)?
            // Documents that files no longer have.
            && self.take_changes(Some(most_time))?
            && self.go_on_anew(most_time)?;
        if is_complete {
            let left = most_time.saturating_sub(self.began.elapsed());
            // Merging large parts takes seconds: not while a person waits.
            if cwd.is_none() {
                self.writer.tidy(left)?;
            } else {
                self.writer.tidy_within(left)?;
            }
        }
        // What the journal is still to be made of is missing as well.
        let is_complete = is_complete && self.state()?.is_derived;
        Ok(Refreshed { documents: self.documents, is_complete })
    }

    fn forget(mut self) -> Result<(), Error> {
        self.take_changes(None)?;
        self.purge()?;
        Ok(())
    }

    /// Returns the state. An index that is not of this database, or not of all of it, begins anew.
    fn state(&mut self) -> Result<State, Error> {
        // The tables are there: the caller has looked, and only a drain makes others.
        let state = ledger::state(self.store)?.ok_or(store::Error::Busy)?;
        if state.agrees_with(self.writer.mark()) {
            return Ok(state);
        }
        // What waits may be what was forgotten. Its words go with the index, and then no row says any more whose vectors have to
        // go; those of what is still there are asked for again.
        let (keys, _) = ledger::waiting(self.store.connection(), usize::MAX)?;
        meaning::before(self.writer.folder(), &keys.into_iter().map(Change::Remove).collect::<Vec<_>>())?;
        let mark = ledger::unique();
        self.store.write(|transaction| ledger::begin_anew(transaction, &mark))?;
        self.writer.clear()?;
        let state = ledger::state(self.store)?.ok_or(store::Error::Busy)?;
        // With the mark the index is one that is being made, and no longer one that was lost.
        let (of_index, mark) = state.next_mark();
        self.writer.apply(Vec::new(), &of_index)?;
        self.store.write(|transaction| ledger::set_mark(transaction, &mark))?;
        Ok(State { mark, ..state })
    }

    fn is_late(&self, most_time: Duration) -> bool {
        self.began.elapsed() >= most_time
    }

    /// Makes changes, and notes in the database what was done, with the mark that the index has then.
    fn apply(
        &mut self,
        changes: Vec<Change>,
        note: impl FnOnce(&store::rusqlite::Transaction<'_>) -> Result<(), store::Error>,
    ) -> Result<(), Error> {
        let state = self.state()?;
        let (of_index, mark) = state.next_mark();
        self.documents += changes.len() as u64;
        meaning::before(self.writer.folder(), &changes)?;
        self.writer.apply(changes, &of_index)?;
        self.store.write(|transaction| {
            note(transaction)?;
            ledger::set_mark(transaction, &mark)
        })?;
        Ok(())
    }

    /// Takes the changes that wait, all of them without a limit; returns whether none is left.
    fn take_changes(&mut self, most_time: Option<Duration>) -> Result<bool, Error> {
        loop {
            if !self.state()?.is_waiting {
                return Ok(true);
            }
            if most_time.is_some_and(|most_time| self.is_late(most_time)) {
                return Ok(false);
            }
            let (keys, last) = ledger::waiting(self.store.connection(), AT_ONCE)?;
            let changes = self.changes(&keys)?;
            self.apply(changes, |transaction| ledger::took(transaction, last))?;
        }
    }

    /// Returns what becomes of documents with these keys: those that are there are put in anew, the others go.
    fn changes(&mut self, keys: &[String]) -> Result<Vec<Change>, Error> {
        let connection = self.store.connection();
        let mut changes = Vec::with_capacity(keys.len());
        let mut kept: HashSet<String> = ledger::kept_in_files(connection, keys)?.into_iter().collect();
        for (sort, _) in PASSES {
            let of_sort = keys.iter().filter(|key| key.starts_with(sort));
            let ids: Vec<String> = of_sort.map(|key| id_of(key).to_owned()).collect();
            if ids.is_empty() {
                continue;
            }
            let (loaded, _) = self.reader.read(connection, sort, Rows::Ids(&ids))?;
            for loaded in loaded {
                kept.insert(loaded.document.key.clone());
                changes.push(Change::Put(loaded.document));
            }
        }
        changes.extend(keys.iter().filter(|key| !kept.contains(*key)).cloned().map(Change::Remove));
        Ok(changes)
    }

    /// Has no word of what was deleted for good stay in a file of the index.
    fn purge(&mut self) -> Result<bool, Error> {
        if self.state()?.must_purge {
            self.writer.purge()?;
            self.store.write(ledger::purged)?;
        }
        Ok(true)
    }

    /// Reads the files that changed; returns whether there was time for all.
    fn take_files(&mut self, paths: &Paths, cwd: Option<&Path>, most_time: Duration) -> Result<bool, Error> {
        let known = ledger::files(self.store.connection())?;
        for (source, row) in changed_files(&known, paths, cwd) {
            if self.is_late(most_time) {
                return Ok(false);
            }
            if row.fingerprint.is_empty() {
                self.store.write(|transaction| ledger::drop_file(transaction, &row))?;
                continue;
            }
            let documents = source.documents(paths);
            let keys: Vec<String> = documents.iter().map(|document| document.key.clone()).collect();
            // Before they are in the index, so that none of them is there unknown.
            self.store.write(|transaction| ledger::begin_file(transaction, &row, &keys))?;
            let changes = documents.into_iter().map(Change::Put).collect();
            self.apply(changes, |transaction| ledger::read_file(transaction, &row))?;
        }
        Ok(true)
    }

    /// Goes on to make the index anew, if it is being made; returns whether that is done.
    fn go_on_anew(&mut self, most_time: Duration) -> Result<bool, Error> {
        loop {
            let state = self.state()?;
            let Some((pass, from)) =
                state.from.iter().enumerate().find_map(|(pass, from)| Some((pass, (*from)?)))
            else {
                return Ok(true);
            };
            if self.is_late(most_time) {
                return Ok(false);
            }
            let rows = Rows::From { row: from, most: ANEW_AT_ONCE };
            let (loaded, last) = self.reader.read(self.store.connection(), PASSES[pass].0, rows)?;
            let next = last.map(|last| last + 1);
            let changes = loaded.into_iter().map(|loaded| Change::Put(loaded.document)).collect();
            self.apply(changes, |transaction| ledger::set_from(transaction, pass, next))?;
        }
    }
}
