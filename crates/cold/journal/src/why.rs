//! From the lines of a file to the recorded edits that put them there.
//!
//! [`patch`] reads what a call did to a file, [`attribute`] joins that with the file as it is now and with what git says of
//! its lines, and [`read`] finds the calls and what is known of the turns that they were made in. The first two touch nothing.
//!
//! Lines are joined by their text, not by their place: renames, moved blocks, rebases and squashes change places and commits,
//! and a formatter changes spaces. Text that no recorded call added is not from a recorded session, whichever commit it came
//! with.

mod attribute;
mod diff;
mod line;
pub(crate) mod patch;
mod read;

pub use attribute::{How, Origin, Present, attribute};
pub use diff::carry_over;
pub use line::of_notebook;
pub use patch::{Edit, Hunk, Part, hunks};
pub(crate) use patch::{patch_text, patched_files};
pub use read::{
    Call, LEAST_MOVED, MOST_SOURCES, Place, Reason, ReasonKind, Written, cut_from, edits_of, former_names,
    is_about, reasons, renamed_by, sources_of,
};
