//! `wyren`: the command line.

mod commands;
mod database;
mod editor;
mod exit;
mod person;
#[cfg(test)]
mod reference;
mod terminal;
mod when;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = commands::Arguments::parse();
    exit::code(commands::run(arguments))
}
