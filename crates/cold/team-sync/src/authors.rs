//! Who brought which entry: the author of the commit that added it, for the hooks that show it.
//!
//! An entry's own tag is a claim that its writer chose. The author of a commit is what the pusher's git said; that can
//! be made up as well, but it is the same for all that the commit brought, and the host of the repository may check it.

use crate::repository::{Commit, Team};
use crate::{Error, Share};
use base::Paths;
use memory::Memory;
use place::{MEMORY, authors};
use std::collections::BTreeSet;

/// How many commits one sync looks at to tell who changed what: first the newest ones, then more when they do not tell.
pub(crate) const LOOKS: [usize; 2] = [4, 50];

impl Share {
    /// Remembers who brought the entries of the memory that nothing is known about yet. `contents` is the memory as it
    /// is after a sync.
    pub(crate) fn learn_authors(&self, team: &Team, contents: &[u8]) -> Result<(), Error> {
        let file = &Paths::of(self.env()).authors_file(&self.folder().wyren);
        let present = keys(contents);
        let mut known = authors::read(file);
        let before = known.clone();
        known.retain(|key, _| present.contains(key));
        let mut wanted: BTreeSet<String> =
            present.into_iter().filter(|key| !known.contains_key(key)).collect();
        for most in LOOKS {
            if wanted.is_empty() {
                break;
            }
            // The newest commit that added an entry brought it, also when an older one had added it before.
            for Commit { author, before, after, .. } in team.commits(MEMORY, most)? {
                let had = keys(&before.unwrap_or_default());
                let added = keys(&after.unwrap_or_default());
                for key in added.difference(&had).filter(|_| !author.is_empty()) {
                    if wanted.remove(key) {
                        known.insert(key.clone(), author.clone());
                    }
                }
            }
        }
        if known != before {
            authors::write(file, &known).map_err(Error::file(file))?;
        }
        Ok(())
    }
}

pub(crate) fn keys(contents: &[u8]) -> BTreeSet<String> {
    let memory = Memory::parse(&String::from_utf8_lossy(contents));
    memory.entries().map(|(_, entry)| entry.key()).collect()
}
