//! Publishing what was changed here, and taking in what the others have published.

use crate::authors::LOOKS;
use crate::last::LastSync;
use crate::merging::Merging;
use crate::record::{self, BY_OTHERS};
use crate::repository::{
    self, Change, CheckedOut, Fetched, Leave, LeftOut, Merge as _, Outgoing, Published, Team,
};
use crate::{Error, HeldBack, Share};
use base::{Paths, Timestamp, files, leave};
use memory::history::{self, Removal};
use memory::{Delta, Memory, diff};
use place::{FetchState, MEMORY, Mode, Reason};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Why entries left the memory that a rewritten history lacks.
const REWRITTEN: &str = "vanished when the shared history was rewritten";

/// The version of `state/held-back.json`.
const VERSION: u32 = 1;

/// How often a sync publishes at most: once what was changed here, and once what others had damaged.
const ROUNDS: usize = 2;

/// What a sync did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synced {
    /// How the publication ended.
    pub published: Published,
    /// The files that changed here, relative to `.wyren/`.
    pub changed: Vec<String>,
    /// What was not published because it is private or looks like a secret.
    pub held_back: Vec<HeldBack>,
    /// The files that a teammate emptied, removed or broke. They stayed as they were, and are published again.
    pub mended: Vec<String>,
    /// What is not synced because it is too large, too deep or oddly named, here or on the remote.
    pub left_out: Vec<LeftOut>,
    /// Files that got another name here since the team has a folder of their name, or a file of their folder's: from, to.
    pub renamed: Vec<(String, String)>,
    /// The rewriting of the shared history that waits for a decision: until then nothing is published or taken in.
    pub rewritten: Option<Rewritten>,
}

/// A shared history that was rewritten: a force-push, or a deleted branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// Whether the branch is gone altogether.
    pub is_gone: bool,
    /// The entries that vanished, with their sections.
    pub vanished: Vec<(String, String)>,
    /// The files that vanished, relative to `.wyren/`.
    pub files: Vec<String>,
}

/// What an exchange with the remote is to do.
struct Exchange<'a> {
    /// The session that publishes; `None` publishes without naming one.
    session: Option<&'a str>,
    /// Whether anything is published at all, if the user allows it.
    publishes: bool,
    /// Files to remove for the whole team.
    removed: &'a [String],
    /// What is left out on the remote and is to be removed there.
    taken_away: &'a [String],
    /// Whether what is here replaces what is left out on the remote.
    replaces: bool,
    /// Why what others removed is gone.
    why: &'a str,
    /// What the history has been told already.
    told: &'a [Removal],
}

impl Exchange<'_> {
    /// An exchange that publishes, and names no session.
    const PLAIN: Self = Self {
        session: None,
        publishes: true,
        removed: &[],
        taken_away: &[],
        replaces: false,
        why: BY_OTHERS,
        told: &[],
    };
}

impl Share {
    /// Publishes what was changed here, if the user allows this clone to, and takes in what the others have published.
    /// What does not land stays queued.
    pub fn sync(&self, session: Option<&str>, deadline: Instant) -> Result<Synced, Error> {
        self.exchange(&Exchange { session, ..Exchange::PLAIN }, &Merging::default(), deadline)
    }

    /// Takes in what the others have published, and publishes nothing.
    pub fn pull(&self, deadline: Instant) -> Result<Synced, Error> {
        self.exchange(&Exchange { publishes: false, ..Exchange::PLAIN }, &Merging::default(), deadline)
    }

    /// Syncs, and removes files for the whole team, given relative to `.wyren/`.
    pub fn sync_without(
        &self,
        removed: &[String],
        session: Option<&str>,
        deadline: Instant,
    ) -> Result<Synced, Error> {
        self.exchange(&Exchange { session, removed, ..Exchange::PLAIN }, &Merging::default(), deadline)
    }

    /// Syncs, and removes for the whole team what is left out on the remote, given as [`LeftOut`] names it, and `removed`
    /// files with it.
    pub(crate) fn sync_taking_away(
        &self,
        taken_away: &[String],
        removed: &[String],
        session: Option<&str>,
        deadline: Instant,
    ) -> Result<Synced, Error> {
        let exchange = Exchange { session, removed, taken_away, ..Exchange::PLAIN };
        self.exchange(&exchange, &Merging::default(), deadline)
    }

    /// Accepts a rewritten history: what vanished from it vanishes here, and stays in the history.
    pub fn accept(&self, session: Option<&str>, deadline: Instant) -> Result<Synced, Error> {
        let mut told = Vec::new();
        if let Some(team) = self.team() {
            // The history first: once the rewriting is accepted, what vanished is not known any more.
            if let Some(rewrite) = team.rewrite()? {
                told = removals_by_others(team, &delta_of(team, &rewrite)?, REWRITTEN)?;
                self.remember(&told)?;
            }
            team.accept_rewrite(deadline)?;
        }
        let exchange = Exchange { session, why: REWRITTEN, told: &told, ..Exchange::PLAIN };
        self.exchange(&exchange, &Merging::default(), deadline)
    }

    /// Accepts a rewritten history, and publishes what vanished from it again. What is left out on the remote, such as a
    /// memory that is too large, is replaced by what is here.
    pub fn restore(&self, session: Option<&str>, deadline: Instant) -> Result<Synced, Error> {
        let merging = Merging::default();
        let mut restored = Vec::new();
        if let Some(team) = self.team() {
            let changes = team.restore_rewrite(&merging, deadline)?;
            restored.extend(changes.into_iter().map(|change| change.path));
        }
        let exchange = Exchange { session, replaces: true, ..Exchange::PLAIN };
        let mut synced = self.exchange(&exchange, &merging, deadline)?;
        synced.changed = unique(restored, synced.changed);
        Ok(synced)
    }

    /// Notes how long a sync took that began at `began`, if the remote answered it: hooks wait for the next one only where
    /// that is short enough.
    pub fn note_duration(&self, began: Timestamp, took: Duration) -> Result<(), Error> {
        Ok(self.team().map_or(Ok(()), |team| team.note_duration(began, took))?)
    }

    /// Returns the user's leave to publish from this clone; `None` until the user gives it.
    pub fn leave(&self) -> Result<Option<Leave>, Error> {
        Ok(self.team().map(|team| team.leave(self.env())).transpose()?.flatten())
    }

    /// Takes the user's word that this clone may publish, given by `command`. Returns whether it is news.
    pub fn give_leave(&self, command: &str) -> Result<bool, Error> {
        Ok(self.team().map(|team| team.give_leave(command, self.env())).transpose()?.unwrap_or_default())
    }

    /// Returns the rewriting of the shared history that waits for a decision.
    pub fn rewritten(&self) -> Result<Option<Rewritten>, Error> {
        let Some(team) = self.team() else { return Ok(None) };
        let Some(rewrite) = team.rewrite()? else { return Ok(None) };
        let paths = |commit: Option<&str>| -> Result<Vec<String>, Error> {
            Ok(commit.map(|commit| team.files_at(commit)).transpose()?.unwrap_or_default())
        };
        let after = rewrite.after.as_deref();
        let delta = delta_of(team, &rewrite)?;
        let mut vanished = Vec::new();
        for section in &delta.sections {
            let edited = section.edited.iter().map(|edit| &edit.before);
            for entry in section.removed.iter().chain(edited) {
                vanished.push((section.section.clone(), entry.text().into_owned()));
            }
        }
        let left = paths(after)?;
        let mut files = paths(Some(&rewrite.before))?;
        files.retain(|path| !left.contains(path));
        Ok(Some(Rewritten { is_gone: rewrite.after.is_none(), vanished, files }))
    }

    fn exchange(
        &self,
        exchange: &Exchange<'_>,
        merging: &Merging,
        deadline: Instant,
    ) -> Result<Synced, Error> {
        let (before, failures) = (self.last_sync(), FetchState::read(&self.folder().wyren).failures);
        let synced = self.try_exchange(exchange, merging, &before, deadline);
        self.note_end(before, &synced);
        if synced.as_ref().is_ok_and(|synced| !synced.changed.is_empty()) {
            // Without the notes, sessions get the news with their next prompt.
            let paths = Paths::of(self.env());
            let _ = place::news::announce(&paths, &self.folder().wyren, Timestamp::now());
        }
        self.tell_of_outage(failures);
        synced
    }

    fn try_exchange(
        &self,
        exchange: &Exchange<'_>,
        merging: &Merging,
        before: &LastSync,
        deadline: Instant,
    ) -> Result<Synced, Error> {
        let mut synced = Synced {
            published: Published::Queued(self.obstacle()),
            changed: Vec::new(),
            held_back: Vec::new(),
            mended: Vec::new(),
            left_out: before.left_out.clone(),
            renamed: Vec::new(),
            rewritten: None,
        };
        let Some(team) = self.team().filter(|team| team.remote().is_some()) else {
            repository::remove_from_copy(&self.folder().wyren, &self.copy(), exchange.removed)?;
            return Ok(synced);
        };
        if team.mode() == Mode::Branch
            && (team.remote_tip()?.is_none()
                || team.is_behind_tracking()?
                || self.has_new_commits(team, deadline)?)
            // What of the user's commits is not on the remote, and what is others', cannot be told before.
            && let Fetched::Failed(_) = team.fetch(deadline)?
        {
            team.follow_tracking(deadline)?;
        }
        let folded = self.fold(deadline)?;
        let obstacle = if team.mode() == Mode::Branch { team.head_obstacle()? } else { None };
        let leave = if exchange.publishes { self.leave() } else { Ok(None) };
        let leave = leave.unwrap_or_else(|error| {
            self.log_once(&format!("sync: could not read your leave to publish: {error}"));
            None
        });
        let &Exchange { session, removed, replaces, .. } = exchange;
        let queued = self.queued_removals();
        let taken_away = [exchange.taken_away, &queued].concat();
        let taken_away = &*taken_away;
        let outgoing = leave.as_ref().filter(|_| obstacle.is_none());
        let outgoing = outgoing.map(|leave| Outgoing { leave, session, removed, taken_away, replaces });
        let mut changes = Vec::new();
        for _ in 0..ROUNDS {
            let exchanged = team.exchange(outgoing.as_ref(), merging, deadline)?;
            synced.published = exchanged.published;
            let is_checked_out = exchanged.copy.is_some();
            let CheckedOut { changes: merged, left_out, renamed } = exchanged.copy.unwrap_or_default();
            if is_checked_out {
                synced.left_out = left_out;
            }
            let is_renamed = !renamed.is_empty();
            synced.renamed.extend(renamed);
            self.note_changes(team, &merged, exchange.why, exchange.told)?;
            changes.extend(merged);
            let is_settled = matches!(synced.published, Published::Queued(_))
                || (merging.accidents().is_empty() && !is_renamed);
            if is_settled || outgoing.is_none() || !(is_renamed || team.has_queued()?) {
                break;
            }
        }
        if outgoing.is_some() && !queued.is_empty() && !matches!(synced.published, Published::Queued(_)) {
            self.queue_removals(&[])?;
        }
        if let Some(obstacle) = obstacle.filter(|_| !matches!(synced.published, Published::Queued(_))) {
            synced.published = Published::Queued(obstacle);
        }
        if exchange.publishes && leave.is_none() {
            let kept = self.count_unpublished();
            let is_kept = kept > 0 && synced.published == Published::Nothing;
            if is_kept || !(removed.is_empty() && exchange.taken_away.is_empty()) {
                synced.published = Published::Queued(Reason::NotAllowed);
            }
            // Without the notice the changes are where they are.
            let _ = leave::note_kept(&Paths::of(self.env()), &team.place().repository.common_folder, kept);
        }
        synced.changed = unique(folded, changes.into_iter().map(|change| change.path).collect());
        synced.held_back = merging.held_back();
        synced.mended = merging.accidents();
        synced.rewritten = self.rewritten()?;
        self.report(&synced);
        Ok(synced)
    }

    /// Notes what others changed in the memory: what they removed, and who brought the entries. `told` is what the history
    /// has been told already.
    pub(crate) fn note_changes(
        &self,
        team: &Team,
        changes: &[Change],
        why: &str,
        told: &[Removal],
    ) -> Result<(), Error> {
        for change in changes.iter().filter(|change| change.path == MEMORY) {
            self.remember_others(team, change, why, told)?;
            // Without it the entries are shown as what they say of themselves.
            if let Err(error) = self.learn_authors(team, change.after.as_deref().unwrap_or_default()) {
                self.log(&format!("could not tell who brought the new entries: {error}"));
            }
            self.tell_of_entries(&published(&change.before), &published(&change.after));
        }
        Ok(())
    }

    fn remember_others(
        &self,
        team: &Team,
        change: &Change,
        why: &str,
        told: &[Removal],
    ) -> Result<(), Error> {
        let delta = diff(&published(&change.before), &published(&change.after));
        let mut removals = removals_by_others(team, &delta, why)?;
        removals.retain(|removal| !told.iter().any(|told| is_same(told, removal)));
        self.remember(&removals)
    }

    /// Says in the log what a person should know, once.
    fn report(&self, synced: &Synced) {
        for path in &synced.mended {
            self.log(&format!(
                "{path} had been emptied, removed or damaged; it was kept, and is published again"
            ));
        }
        let path = self.folder().state().join("held-back.json");
        let known = self.held_back();
        if known != synced.held_back {
            // The same thing a few lines further down is nothing new.
            let is_known = |held: &&HeldBack| {
                known
                    .iter()
                    .any(|it| (&it.path, &it.shown, &it.kind) == (&held.path, &held.shown, &held.kind))
            };
            for held in synced.held_back.iter().filter(|held| !is_known(held)) {
                self.log(&format!("held back ({}): {}:{}", held.kind, held.path, held.line));
            }
            let facts = json!({"v": VERSION, "held_back": synced.held_back});
            let _ = files::write_atomic(&path, format!("{facts}\n").as_bytes());
        }
    }

    /// Returns what the last sync held back.
    pub fn held_back(&self) -> Vec<HeldBack> {
        let path = self.folder().state().join("held-back.json");
        let text = files::read_capped(&path, files::cap::TEXTS).unwrap_or_default();
        let mut facts: Value = serde_json::from_slice(&text).unwrap_or_default();
        let is_known = facts["v"] == VERSION;
        let held_back = facts.get_mut("held_back").filter(|_| is_known).map(Value::take);
        held_back.and_then(|held_back| serde_json::from_value(held_back).ok()).unwrap_or_default()
    }
}

/// Returns a memory without what is never published.
fn published(contents: &Option<Vec<u8>>) -> Memory {
    let contents = contents.as_deref().and_then(|contents| Merging::default().published(MEMORY, contents));
    Memory::parse(&String::from_utf8_lossy(&contents.unwrap_or_default()))
}

/// Returns how a rewriting changed the memory.
fn delta_of(team: &Team, rewrite: &crate::repository::Rewrite) -> Result<Delta, Error> {
    let memory = |commit: Option<&str>| -> Result<Memory, Error> {
        let contents = commit.map(|commit| team.file_at(commit, MEMORY)).transpose()?.flatten();
        Ok(Memory::parse(&String::from_utf8_lossy(&contents.unwrap_or_default())))
    };
    Ok(diff(&memory(Some(&rewrite.before))?, &memory(rewrite.after.as_deref())?))
}

/// Returns what others took out of the memory, by the author and at the time of the newest commit that did. What no commit
/// shows, as after a rewriting, is by the author of the last one.
fn removals_by_others(team: &Team, delta: &Delta, why: &str) -> Result<Vec<Removal>, Error> {
    let mut removals = history::removals(delta, Timestamp::now(), "", why);
    for most in LOOKS {
        if removals.iter().all(|removal| !removal.by.is_empty()) {
            break;
        }
        let commits = team.commits(MEMORY, most)?;
        for commit in &commits {
            let removed = record::removals_of(commit);
            for removal in removals.iter_mut().filter(|removal| removal.by.is_empty()) {
                if let Some(found) = removed.iter().find(|removed| is_same(removed, removal)) {
                    (removal.by, removal.when) = (found.by.clone(), found.when.clone());
                }
            }
        }
        let is_last = most == LOOKS[LOOKS.len() - 1];
        if let Some(last) = commits.first().filter(|_| is_last) {
            for removal in removals.iter_mut().filter(|removal| removal.by.is_empty()) {
                removal.by.clone_from(&last.author);
            }
        }
    }
    Ok(removals)
}

/// Returns whether two removals are of one entry.
fn is_same(one: &Removal, two: &Removal) -> bool {
    one.section == two.section && memory::identity(&one.text) == memory::identity(&two.text)
}

/// Returns the paths of both lists, each once.
fn unique(mut paths: Vec<String>, others: Vec<String>) -> Vec<String> {
    paths.extend(others);
    paths.sort_unstable();
    paths.dedup();
    paths
}
