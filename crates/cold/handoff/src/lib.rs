//! Handoffs: what a session leaves for the next. A folder that people read, and an observation that everything else follows from.
//!
//! [`Draft::parse`] makes named sections of Markdown, [`save`] keeps them, [`Kept`] is what was kept, and [`Resume`] words it for
//! the session that goes on. [`since`] compares the repository with what it was.

mod draft;
mod folder;
mod kept;
mod name;
mod resume;
mod save;
mod tree;

pub use draft::Draft;
pub use folder::{folder_of, folders, sweep, write_missing};
pub use kept::{Kept, Unfound, WAITS, all, find, next, of_context, of_contexts, state};
pub use name::Name;
pub use resume::Resume;
pub use save::{Error, Into, MAX_BYTES, Saved, save};
pub use tree::{since, tree_of};
pub use work::contexts::{OpenTask, Origin, STALE_DAYS, Section};
