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
mod similar;
mod terminal;
mod when;
mod wired;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    base::limits::survive_file_size_limit();
    // A prompt waits for this one, and to make the list of all commands takes as long as the rest.
    if std::env::args_os().skip(1).eq(commands::FOR_PROMPT) {
        return exit::code(commands::run_for_prompt());
    }
    let arguments = commands::Arguments::parse();
    exit::code(commands::run(arguments))
}
