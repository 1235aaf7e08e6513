//! The client's status line. The client starts it after each message, so it is as lean as a hook: it opens no database and
//! starts no git. What takes longer is in `cache/status.json` ([`cache`]), which `wyren statusline --refresh` writes.
//!
//! | question | where |
//! |---|---|
//! | what does the client tell? | [`input`] |
//! | what is shown? | [`facts`] |
//! | how, in how many columns? | [`mod@draw`] |
//! | what did the user's own status line print? | [`wrapped`] |

pub mod cache;
pub mod draw;
pub mod facts;
pub mod input;
pub mod wrapped;

use base::{Env, Paths, Timestamp, detached};
use draw::{Colour, draw};
use facts::Facts;
use input::Input;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use wrapped::Wrapped;

/// The most that the client tells, in bytes.
const MAX_INPUT_BYTES: u64 = 1024 * 1024;

/// The columns when the client does not say.
const DEFAULT_COLUMNS: usize = 80;

/// Columns that the client leaves free beside the line.
const MARGIN: usize = 4;

/// Draws the status line for what the client tells on standard input. What fails is left out: the line is only a view.
pub fn run() {
    let env = Env::process();
    let paths = Paths::of(&env);
    let mut bytes = Vec::new();
    if io::stdin().lock().take(MAX_INPUT_BYTES).read_to_end(&mut bytes).is_err() {
        return;
    }
    let wrapped = Wrapped::of_arguments(std::env::args()).and_then(|wrapped| wrapped.start(&bytes));
    let now = Timestamp::now();
    let mut text = String::new();
    if let Ok(input) = serde_json::from_slice::<Input<'_>>(&bytes) {
        let facts = Facts::gather(&input, &env, &paths, now);
        let columns = env.text("COLUMNS").and_then(|columns| columns.trim().parse().ok());
        let columns = columns.filter(|columns| *columns > 0).unwrap_or(DEFAULT_COLUMNS);
        let rows = if wrapped.is_some() { 1 } else { 2 };
        text = draw(&facts, columns.saturating_sub(MARGIN), rows, Colour::of(&env));
        if facts.is_stale {
            refresh(&facts.root, facts::session(&input), &paths);
        }
    }
    let first = wrapped.map(wrapped::Running::output).unwrap_or_default();
    let _ = io::stdout().lock().write_all(format!("{first}{text}").as_bytes());
}

/// Has the cache written anew, by a program that outlives this one.
fn refresh(root: &Path, session: Option<&str>, paths: &Paths) {
    let Ok(command) = detached::beside_us("wyren").and_then(|wyren| detached::command(&wyren, paths)) else {
        return;
    };
    let mut command = command;
    command.args(["statusline", "--refresh"]).args(session.map(|session| format!("--session={session}")));
    let _ = command.current_dir(root).spawn();
}
