//! Distilling a session: what was decided in it goes into the team's memory. `wyren distill` and the worker's `distill` job
//! call it.
//!
//! ```text
//! plan ──► propose ──► intent written ──► apply ──► intent removed ──┬──► publish
//!   ▲                                                                │
//!   └──────────── the next slice of a long session ◄─────────────────┘
//! ```
//!
//! Each step is a module of that name. A process that is killed before the intent is written has changed nothing. One that
//! is killed later leaves the intent: the next distillation applies it, which changes nothing that is changed already, and
//! continues after it. So memory and watermark agree in the end, and each message is distilled once.

mod apply;
mod consider;
mod distill;
mod error;
mod intent;
mod note;
mod origin;
mod plan;
mod progress;
mod propose;
mod publish;
mod session;
mod size;
mod summarise;

pub use consider::{Considered, Rehearsal};
pub use distill::{Outcome, Report};
pub use error::Error;
pub use origin::session_of;
pub use progress::lock;
pub use propose::Way;
pub use session::{Observer, Session, Settings, Step, wants_summaries};
pub use summarise::Summarised;
