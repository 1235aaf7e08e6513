//! How a hook hands a job to the background worker: one small file, and the worker's start when it is needed.
//!
//! Hooks link this crate, so it knows no SQLite. Nothing here does a job or looks into the database; that is the
//! worker's.
//!
//! ```text
//! jobs/<time>-<random>.json    a job that a hook asked for, until the worker has it in the database
//! worker.lock                  locked while a worker runs; its time is when that worker began
//! worker.started               its time is when a worker was last started; the process id of that worker
//! worker.due                   when the next job is due; absent when none waits
//! worker.stop                  a worker that sees this goes away; with the word `update`, after the job it is at
//! ```

mod request;
mod worker;

pub use request::{Pending, Problem, Request, VERSION, pending, request};
pub use worker::{
    Start, Wish, due, is_running, last_started, lock_file, nudge, nudge_at_end, running_since, set_due,
    start_worker, start_worker_at, start_worker_for_work, start_worker_if_needed, stop_file, wish, wish_for,
};
