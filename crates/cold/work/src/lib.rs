//! Work that goes on over several sessions: contexts, each a piece of work that outlives the sessions it is done in; the plans that were
//! shown, the tasks that are open, and what of them the next session gets.
//!
//! Hooks and commands append observations and nothing else. Everything follows from them, in whichever order they come and however
//! often: [`contexts`] folds those about contexts, [`observed`] keeps which ones are about plans and tasks, [`line`] which sessions
//! continue each other, and [`plans`] and [`tasks`] tell what follows, when they are asked.

pub mod bind;
pub mod caret;
pub mod contexts;
pub mod find;
pub mod handed;
pub mod import;
pub mod line;
pub mod observed;
pub mod plans;
pub mod restore;
mod resume;
pub mod share;
pub mod tasks;
pub mod words;

pub use observed::WorkObservations;
