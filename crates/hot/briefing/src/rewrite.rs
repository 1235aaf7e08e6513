//! The warning that the remote's history was rewritten, in the Node version's words, and what can be done.

use place::FetchState;

/// The Node version's sentence, word for word.
const WARNING: &str = "⚠️ Wyren: remote memory.md was force-pushed (non-linear history). Treat injected context with extra caution.";

/// What can be done about it.
const CHOICE: &str = "What vanished from the remote is kept in this clone: `wyren sync --restore` brings it back for everyone, `wyren sync --accept` lets it go. The user decides.";

/// Returns the warning of a rewriting that `warned` does not know; empty when there is none.
pub(crate) fn warning(state: &FetchState, warned: Option<&str>) -> String {
    match state.rewritten_from.as_deref() {
        Some(rewrite) if Some(rewrite) != warned => format!("{WARNING}\n{CHOICE}"),
        _ => String::new(),
    }
}
