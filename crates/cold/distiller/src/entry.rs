//! How operations name entries, which sections they may write, and who wrote an entry.

use base::digest;
use memory::section::{BROKEN, DECISIONS, QUESTIONS, REJECTED, SCOPE, WORKAROUNDS};
use memory::{Entry, Memory};

/// The sections that distillation writes, in the order of the file.
pub const SECTIONS: [&str; 6] = [DECISIONS, REJECTED, WORKAROUNDS, BROKEN, SCOPE, QUESTIONS];

/// Follows the author's name when no model was called: `[…, by Ada (extracted), …]`. It is part of the tag, not of the
/// entry's identity.
pub const EXTRACTED_MARK: &str = "(extracted)";

/// How many hexadecimal digits an id has: enough for thousands of entries, few enough to be copied without a slip.
const ID_DIGITS: usize = 8;

/// Returns the section of that name as the memory spells it, if distillation may write it.
pub(crate) fn section(name: &str) -> Option<&'static str> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    SECTIONS.into_iter().find(|known| known.eq_ignore_ascii_case(&name))
}

/// Returns the id by which operations name an entry. It comes from what the entry says, so that operations mean the same
/// when they are applied again, or after a merge.
pub fn id_of(section: &str, entry: &Entry) -> String {
    id_of_identity(section, &entry.identity())
}

/// Returns the id that an entry of that text has.
pub(crate) fn id_of_text(section: &str, text: &str) -> String {
    id_of_identity(section, &memory::identity(text))
}

/// Returns an id as models write it, without what they put around it.
pub(crate) fn plain_id(name: &str) -> String {
    name.trim_matches(['[', ']', '#', ' ']).to_ascii_lowercase()
}

fn id_of_identity(section: &str, identity: &str) -> String {
    let mut id = digest::short_hex(format!("{}\n{identity}", section.to_lowercase()).as_bytes());
    id.truncate(ID_DIGITS);
    id
}

/// Returns whether a person wrote the entry: no session did.
pub fn is_written_by_a_person(entry: &Entry) -> bool {
    entry.provenance().session.is_none()
}

/// Returns whether the entry was extracted without a model.
pub fn is_extracted(entry: &Entry) -> bool {
    entry.provenance().author.is_some_and(|author| author.ends_with(EXTRACTED_MARK))
}

/// Returns the entries that distillation may touch, with their sections as the memory spells them.
pub(crate) fn entries(memory: &Memory) -> impl Iterator<Item = (&'static str, &Entry)> {
    memory.entries().filter_map(|(name, entry)| Some((section(name)?, entry)))
}

/// Finds the entry that an operation names: by its id, or by what it says.
pub(crate) fn find<'m>(memory: &'m Memory, name: &str) -> Option<(&'static str, &'m Entry)> {
    let id = plain_id(name);
    entries(memory).find(|(section, entry)| id_of(section, entry) == id).or_else(|| {
        let identity = memory::identity(name);
        entries(memory).find(|(_, entry)| entry.identity() == identity)
    })
}
