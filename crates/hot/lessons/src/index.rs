//! The compiled index: one flat file that is mapped, not read, so that a call costs the same with ten thousand lessons
//! as with a hundred.
//!
//! Each lesson is filed under something that no call it applies to can lack: a program with its subcommand, a file's
//! ending or name, or the rarest bytes of a text that its expression needs. A call looks up what it has and
//! verifies only the lessons it finds. What cannot be filed is verified with every call of its tool.
//!
//! ```text
//! header | bitmap of grams | slots {key, postings, count} | postings {lesson, literal, place} | records | literals
//! ```
//!
//! Nothing in the file is trusted: every access is checked, every record has a checksum, and an index that does not
//! hold is rebuilt from the lessons.

mod build;
mod layout;
mod literals;
mod lookup;
mod record;

pub use build::{Unindexed, build};
pub use layout::Fingerprint;
pub(crate) use literals::tells_cases_apart;
pub use lookup::Index;
pub use record::Entry;
pub(crate) use record::trust_item;

/// Puts another fingerprint into an index.
pub(crate) fn restamp(file: &mut [u8], fingerprint: Fingerprint) -> Result<(), Damaged> {
    layout::Header::restamp(file, fingerprint)
}

/// Why an index cannot be used. It is rebuilt then; what exactly is wrong with it does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the index of the lessons is damaged or of another version")]
pub struct Damaged;
