//! What the run loop makes of real, hand-typed, bad and mutated input.

mod bad_input;
mod mutations;
mod payloads;

use hook::{Answer, Event, Host, Silence};
use std::path::{Path, PathBuf};

/// Returns a host whose files are all below `folder`.
fn host(folder: &Path) -> Host {
    let folder = folder.to_str().expect("a UTF-8 temporary folder");
    Host::new("test-hook", base::Env::fixed([("WYREN_DATA_DIR", folder), ("XDG_RUNTIME_DIR", folder)]))
}

/// Lets a hook that always says `x` answer `input`.
fn respond<E: hook::event::TakesContext>(input: Vec<u8>, host: &Host) -> String {
    let answer =
        hook::respond(input.leak(), host, Silence::EmptyObject, |_: E, _: &Host| Ok(Answer::context("x")));
    String::from_utf8(answer.stdout).expect("an answer in UTF-8")
}

/// Lets a hook that always stays silent answer `input`.
fn respond_silently<E: Event>(input: Vec<u8>, host: &Host) -> String {
    let answer =
        hook::respond(input.leak(), host, Silence::EmptyObject, |_: E, _: &Host| Ok(Answer::silent()));
    String::from_utf8(answer.stdout).expect("an answer in UTF-8")
}

/// Returns the lines of the hook log.
fn log_lines(host: &Host) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(host.paths.hook_log()).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Returns the inputs in `tests/data/<folder>`: the event that the file name begins with, the path and the bytes.
fn inputs(folder: &str) -> Vec<(String, PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data").join(folder);
    let files = base::files::files_in(&folder);
    assert!(!files.is_empty(), "{} is empty", folder.display());
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a file name").to_string_lossy();
        let event = name.split('.').next().unwrap_or_default().to_owned();
        let bytes = std::fs::read(&path).expect("a readable file");
        (event, path, bytes)
    };
    files.into_iter().map(read).collect()
}

/// Calls `$function::<Event>` for the event called `$name`; `None` for an event that has no type.
macro_rules! for_event {
    (@ $event:ident $function:ident ($($argument:expr),*)) => { Some($function::<hook::$event>($($argument),*)) };
    ($name:expr, $function:ident $arguments:tt) => {
        match $name {
            "SessionStart" => for_event!(@ SessionStart $function $arguments),
            "UserPromptSubmit" => for_event!(@ UserPromptSubmit $function $arguments),
            "PreToolUse" => for_event!(@ PreToolUse $function $arguments),
            "PostToolUse" => for_event!(@ PostToolUse $function $arguments),
            "PostToolUseFailure" => for_event!(@ PostToolUseFailure $function $arguments),
            "Stop" => for_event!(@ Stop $function $arguments),
            "StopFailure" => for_event!(@ StopFailure $function $arguments),
            "SubagentStart" => for_event!(@ SubagentStart $function $arguments),
            "SubagentStop" => for_event!(@ SubagentStop $function $arguments),
            "PreCompact" => for_event!(@ PreCompact $function $arguments),
            "SessionEnd" => for_event!(@ SessionEnd $function $arguments),
            "Notification" => for_event!(@ Notification $function $arguments),
            "PermissionRequest" => for_event!(@ PermissionRequest $function $arguments),
            _ => None,
        }
    };
}
pub(crate) use for_event;
