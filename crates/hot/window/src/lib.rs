//! The window: how large it is, how much of it is left, and the warning when that is little.
//!
//! | question | where |
//! |---|---|
//! | how large is the window, and who says so? | [`size`] |
//! | what do hooks and the status line leave for each other about a session? | [`notes`] |
//! | is it time to warn? | [`mod@warn`] |
//! | has the window moved on so far that reminders of its start are to be shown again? | [`again`] |
//!
//! How full a window is comes from the end of its transcript ([`transcript::tail::last_usage`]), so that a call costs the same
//! however long the session is. Nothing here records or hands over anything.

pub mod again;
pub mod notes;
pub mod size;
pub mod warn;

use base::log::Level;
use hook::{Event, Host};

pub use again::is_time_to_repeat;
pub use notes::Notes;
pub use size::{Origin, Size};
pub use warn::{last_usage, warn};

/// Notes the permission mode that a hook of the main window got, for a status line.
pub fn note_mode(call: &impl Event, mode: Option<&str>, host: &Host) {
    if host.agent().is_some() || call.agent_id().is_some() {
        return;
    }
    let noted = Notes::beside(&host.claims(call)).set_mode(mode, call.prompt_id());
    noted.unwrap_or_else(|error| {
        host.log(Level::Warn, &format!("could not note the permission mode: {error}"))
    });
}

/// The size of an ordinary window, in tokens.
pub const ORDINARY: u64 = 200_000;

/// The size of a window of a model whose name ends with `[1m]`, in tokens.
pub const LARGE: u64 = 1_000_000;
