//! `wyren`: the command line.

mod bounded;
mod claude;
mod commands;
mod database;
mod editor;
mod exit;
mod items;
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
    let arguments = commands::Arguments::parse();
    exit::code(commands::run(arguments))
}
