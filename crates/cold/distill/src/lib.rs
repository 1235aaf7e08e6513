//! Distilling a session: plan, propose, apply, publish. `wyren distill` and the worker's `distill` job both call it.

mod distillation;
mod plan;

pub use distillation::{Considered, Distillation, Error, Outcome, Report, Step, Way, session_of};
