//! What the user reads in a session about a sync: what teammates brought, a memory that was found, a remote that fails.
//!
//! Syncs run in the background and cannot speak, so each leaves a notice; see [`base::notice`]. Without one, the texts for the
//! model, the log and `wyren status` say the same.

use crate::Share;
use base::Paths;
use base::notice::{self, About, Key, Notice};
use memory::section::{DECISIONS, HANDOFF, REJECTED};
use memory::{Entry, Memory, diff};
use place::{FetchState, authors};
use std::collections::BTreeMap;
use text::{privacy, redact, sanitize};

/// The longest part of an entry that a notice quotes, in characters.
const MAX_QUOTE_CHARS: usize = 80;

/// The longest name of a teammate in a notice, in characters.
const MAX_NAME_CHARS: usize = 30;

/// The longest reason of a remote that fails, in characters.
const MAX_REASON_CHARS: usize = 54;

/// How many teammates a notice names, and the longest of these names or of a remote, in characters: what comes behind them must
/// fit.
const MAX_NAMES: usize = 2;
const MAX_LISTED_CHARS: usize = 18;

/// How the messages of git begin that say no more than that something failed.
const EMPTY_WORDS: [&str; 4] = ["the remote could not be reached: ", "fatal: ", "error: ", "ssh: "];

impl Share {
    /// Leaves notices of the entries that teammates brought. `before` and `after` are the memory without private parts.
    pub(crate) fn tell_of_entries(&self, before: &Memory, after: &Memory) {
        let paths = Paths::of(self.env());
        let known = authors::read(&paths.authors_file(&self.folder().wyren));
        let own = self.author();
        let (mut notes, mut entries) = (Vec::new(), Vec::new());
        for section in &diff(before, after).sections {
            for entry in &section.added {
                let author = author_of(entry, &known);
                if author == own || author.is_empty() {
                    continue;
                }
                let into = if section.section == HANDOFF { &mut notes } else { &mut entries };
                let text = quoted(entry);
                into.push((author, section.section.clone(), text));
            }
        }
        // The newest note comes first in the memory, the newest entry last.
        if let Some((author, _, text)) = notes.first() {
            self.leave_counted(
                &paths,
                Key::Handoff,
                notes.len(),
                &format!("{author} left a handoff note: {text}"),
            );
        }
        let rank = |section: &str| u8::from(section == DECISIONS);
        if let Some((author, section, text)) = entries.iter().max_by_key(|(_, section, _)| rank(section)) {
            let did = match section.as_str() {
                DECISIONS => "decided",
                REJECTED => "rejected",
                _ => "noted",
            };
            self.leave_counted(&paths, Key::Entries, entries.len(), &format!("{author} {did}: {text}"));
        }
    }

    /// Leaves a notice that says how many more there are beside the one that `text` is about.
    fn leave_counted(&self, paths: &Paths, key: Key, count: usize, text: &str) {
        let about = About::Memory(&self.folder().wyren);
        let count = notice::count_waiting(paths, about, key).saturating_add(count as u64);
        let more = if count > 1 { format!(" (+{} more: /wyren:memory)", count - 1) } else { String::new() };
        let _ = Notice::new(key, format!("{text}{more}")).counting(count).leave(paths, about);
    }

    /// Leaves a notice that the memory of a team was found on the remote, and takes back those of its entries.
    pub(crate) fn tell_of_discovery(&self, memory: &Memory) {
        let (paths, about) = (Paths::of(self.env()), About::Memory(&self.folder().wyren));
        self.forget_entries();
        let remote = self.team().and_then(|team| team.remote()).unwrap_or("the remote");
        let known = authors::read(&paths.authors_file(&self.folder().wyren));
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut count = 0;
        for (_, entry) in memory.entries() {
            count += 1;
            *counts.entry(author_of(entry, &known)).or_default() += 1;
        }
        counts.remove("");
        let mut names: Vec<(&String, &usize)> = counts.iter().collect();
        names.sort_by_key(|(_, count)| usize::MAX - **count);
        let more = if names.len() > MAX_NAMES { " and others" } else { "" };
        let names: Vec<String> = names
            .iter()
            .take(MAX_NAMES)
            .map(|(name, _)| sanitize::one_line(name, MAX_LISTED_CHARS))
            .collect();
        let by = if names.is_empty() { String::new() } else { format!(" by {}{more}", names.join(", ")) };
        let entries = if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") };
        let remote = sanitize::one_line(remote, MAX_LISTED_CHARS);
        let text = format!(
            "found a team memory on {remote}: {entries}{by}; to ignore it here: git config wyren.discover false"
        );
        let _ = Notice::new(Key::Found, text).leave(&paths, about);
    }

    /// Takes back the notices of entries: the user reads all of them another way.
    pub(crate) fn forget_entries(&self) {
        for key in [Key::Entries, Key::Handoff] {
            notice::withdraw(&Paths::of(self.env()), About::Memory(&self.folder().wyren), key);
        }
    }

    /// Leaves a notice at the beginning of an outage, and takes it back at the end. `failures` is how often the remote had
    /// failed before the sync.
    pub(crate) fn tell_of_outage(&self, failures: u32) {
        let state = FetchState::read(&self.folder().wyren);
        let (paths, about) = (Paths::of(self.env()), About::Memory(&self.folder().wyren));
        match (failures, state.failures) {
            (1.., 0) => notice::withdraw(&paths, about, Key::Remote),
            // Who insists reads the answer.
            (0, 1..) if !self.team().is_some_and(|team| team.is_insistent) => {
                let remote =
                    sanitize::one_line(state.remote.as_deref().unwrap_or("the remote"), MAX_LISTED_CHARS);
                let reason = reason(state.error.as_deref().unwrap_or("no answer"));
                let text = format!(
                    "could not reach {remote} ({reason}); Wyren keeps memory changes here and pushes them with the next sync"
                );
                let _ = Notice::new(Key::Remote, text).leave(&paths, about);
            }
            _ => {}
        }
    }
}

/// Returns who brought an entry: the author of the commit, else who the entry says.
fn author_of(entry: &Entry, known: &BTreeMap<String, String>) -> String {
    let author = known.get(&entry.key()).cloned().or_else(|| entry.note().author);
    sanitize::one_line(&author.unwrap_or_default(), MAX_NAME_CHARS)
}

/// Returns the beginning of an entry, without secrets, and without the stamp and the name of a note.
fn quoted(entry: &Entry) -> String {
    sanitize::one_line(&redact::redact(&privacy::strip(&entry.note().text).text), MAX_QUOTE_CHARS)
}

/// Returns the part of a message of git that says why.
fn reason(words: &str) -> String {
    let mut words = words.lines().next().unwrap_or_default().trim();
    while let Some(rest) = EMPTY_WORDS.iter().find_map(|start| words.strip_prefix(start)) {
        words = rest;
    }
    sanitize::one_line(words, MAX_REASON_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_what_git_says_after_its_empty_words() {
        assert_eq!(
            reason("the remote could not be reached: fatal: Could not resolve host: example.com\nmore"),
            "Could not resolve host: example.com"
        );
        assert_eq!(reason("the remote did not answer in time"), "the remote did not answer in time");
    }

    #[test]
    fn a_quote_has_neither_stamp_nor_tag_nor_secret() {
        let memory = Memory::parse(
            "## Handoff notes\n- [2026-11-16T09:11:32.758Z] Cart is in cents [session 21484d94, by Ada]\n- [2026-11-16T09:11:32.758Z] Checkout is next [by Ada]\n- [x] done\n- [by design]\n",
        );
        let quotes: Vec<String> = memory.entries().map(|(_, entry)| quoted(entry)).collect();
        assert_eq!(quotes, ["Cart is in cents", "Checkout is next", "[x] done", "[by design]"]);
    }
}
