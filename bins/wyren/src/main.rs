//! `wyren`: the command line.

mod bounded;
mod claude;
mod commands;
mod database;
mod editor;
mod exit;
mod finder;
mod hits;
mod items;
mod key;
mod person;
mod places;
mod projects;
#[cfg(test)]
mod reference;
mod terminal;
mod wired;

use answers::{similar, when};
use std::ffi::OsString;
use std::process::ExitCode;

/// Most commands end within milliseconds, and half of their time would go into memory. What lives longer takes the rest from
/// the system.
#[global_allocator]
static ARENA: hook::Arena = hook::Arena::new();

fn main() -> ExitCode {
    base::limits::survive_file_size_limit();
    // A prompt waits for this one, and to make the list of all commands takes as long as the rest.
    if std::env::args_os().skip(1).eq(commands::FOR_PROMPT) {
        return exit::code(commands::run_for_prompt());
    }
    // The client waits for this one before its first request.
    if std::env::args_os().skip(1).eq(commands::FOR_MODEL) {
        return exit::code(commands::run_for_model());
    }
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if commands::is_quick(&words) {
        store::memory::use_allocator_of_program();
    }
    if commands::serve::is_called_by_link(words.first().map(OsString::as_os_str)) {
        words.splice(..1, ["wyren".into(), "serve".into()]);
    }
    let arguments = commands::Arguments::read(&words);
    exit::code(commands::run(arguments))
}
