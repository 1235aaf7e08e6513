//! Agents other than Claude Code: in and out of their files, what their hooks take and answer, and runs of those that npm has.

mod dialects;
mod install;
mod run;
