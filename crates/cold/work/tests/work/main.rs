//! Work over several sessions, from lines in the spool to plans, tasks and what a new window gets of them.

mod bench;
mod lines;
mod order;
mod restored;
