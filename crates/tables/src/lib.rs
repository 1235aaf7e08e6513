//! What several places list: the hooks, and the blocks of the documentation that are generated.
//!
//! For development: used by `xtask` and by tests, linked by no program that ships.

pub mod commands;
pub mod document;
pub mod hooks;
pub mod new_hook;

/// The variables that mark a model call of Wyren or of its predecessors; with one of them set, every hook exits at once.
pub const GUARDS: [&str; 4] =
    ["WYREN_INTERNAL", "_CC_INTERNAL", "AIWCLI_INTERNAL_CALL", "CLAUDE_MEM_INTERNAL"];
