//! Where a session's `.wyren/` is, how it is shared, and what the last fetch said: all by reading files, without git.
//!
//! Hooks link this crate. Fetching and publishing are `team-sync`'s.

pub mod authors;
mod folder;
mod lessons;
pub mod log;
pub mod news;
pub mod node;
mod place;
mod reason;
mod state;

pub use folder::Folder;
pub use lessons::{lessons_folder, project_root};
pub use place::{
    BROADCAST, EXCLUDED, FOLDER, LESSONS, MEMORY, Mode, Place, SIDE_BRANCH, STATE, is_exclusion, is_shared,
    note_found, state_folder,
};
pub use reason::Reason;
pub use state::{FetchState, Verdict};
