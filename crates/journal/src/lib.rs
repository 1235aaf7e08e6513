//! The journal: what was done. So far its first half, capture: prompts and tool calls go to the spool.

pub mod capture;
