//! What was done and learned in a file before, at the moment the file is read; and, where the user turned that on, at a prompt
//! that names it.
//!
//! Deriving the journal writes a cache for each root folder of a project ([`Contents::build`]). Hooks map it, look one path
//! up and are done: nearly every Read is a miss, so neither the database nor the project's settings are looked at before
//! there is something to show.
//!
//! ```text
//! header | slots of files {key, place} | slots of terms {key, place} | places of entries | records
//! ```
//!
//! Nothing in the file is trusted: every access is checked, every record has a checksum, and a cache that does not hold counts
//! as absent. The next drain writes it anew.

mod build;
mod cache;
pub mod file;
mod layout;
mod place;
pub mod prompt;
mod terms;
mod wording;

pub use build::{Contents, Entry, MAX_ENTRIES, MAX_ENTRIES_OF_FILE, MAX_FILES};
pub use cache::{Cache, Line, Strength};
pub use place::{cache_file, folder, open, root_of};
