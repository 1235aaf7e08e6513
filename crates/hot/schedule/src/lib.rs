//! How many turns a session has had since it was last distilled, and when that is due again; when lessons are looked for.
//!
//! The count is in `.wyren/state/watermark.json`, the Node version's file with a map of sessions added to it. Hooks link
//! this crate: it reads and writes files, requests jobs and starts the worker. The worker distills.
//!
//! ```text
//! state/watermark.json          counts and marks, of the clone and of each session; see `watermark`
//! state/watermark.spare         the file that it replaced last; the next takes its place
//! state/watermark.lock          locked while the file above is read and written
//! state/marks.json              how far each session is distilled; see `marks`
//! state/distill-trigger.lock    the Node version's: taken while a distillation is requested
//! ```

mod ask;
mod end;
mod leftovers;
pub mod marks;
mod scan;
mod stop;
pub mod watermark;

pub use ask::{KIND, Payload};
pub use end::{compaction, end};
pub use leftovers::{leftovers, request_leftovers, see_to_leftovers};
pub use scan::{SCAN, scanned_file, see_to_scan};
pub use stop::{count, folder};
pub use watermark::{Hold, Session, Watermark};
