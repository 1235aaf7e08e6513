//! How many turns a session has had since it was last distilled, and when that is due again.
//!
//! The count stands in `.wyren/state/watermark.json`, the Node system's file with a map of sessions added to it. Hooks
//! link this crate: it reads and writes files, asks for jobs and starts the worker. What a distillation is, is the
//! worker's.
//!
//! ```text
//! state/watermark.json          counts and marks, of the clone and of each session; see `watermark`
//! state/watermark.spare         the file that it replaced last; the next takes its place
//! state/watermark.lock          locked while the file above is read and written
//! state/marks.json              how far each session is distilled; see `marks`
//! state/distill-trigger.lock    the Node system's: who is about to start a distillation
//! ```

mod alive;
mod ask;
mod end;
mod leftovers;
pub mod marks;
mod replace;
mod stop;
mod trigger;
pub mod watermark;

pub use ask::{KIND, Payload};
pub use end::end;
pub use leftovers::{leftovers, request_leftovers, see_to_leftovers};
pub use stop::count;
pub use watermark::{Hold, Session, Watermark};
