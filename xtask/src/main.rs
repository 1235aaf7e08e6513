//! Builds, tests, measures and shows Wyren, without shell scripts.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people at a terminal")]

mod agents;
mod archive;
mod bench;
mod cross;
mod demo;
mod eval;
mod generate;
mod graph;
mod http;
mod npm;
mod picture;
mod plugin;
mod test;
mod torture;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Builds, tests, measures and shows Wyren.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Assemble the complete plugin in target/plugin.
    Plugin(plugin::Arguments),
    /// Pack target/plugin for npm, in target/npm.
    Npm(npm::Arguments),
    /// Pack target/plugin as a release does, with `dist`.
    Archive,
    /// Write the scripts that install a release, for the archives in target/distrib.
    Installers,
    /// Build everything and play a short day through the real programs, in a temporary folder.
    Demo(demo::Arguments),
    /// Build for other systems and have every hook answer under emulation.
    Cross(cross::Arguments),
    /// Run every test, the real client's included.
    Test,
    /// Run the other agents that npm has with a scripted model: Codex, Gemini CLI, OpenCode.
    Agents,
    /// Test `wyren serve` with schemathesis from PyPI, and with 30 s of load.
    Http,
    /// Load the plugin for a minute while whatever runs is killed at random, and see that nothing is lost.
    Torture(torture::Arguments),
    /// Measure every program against the yardsticks.
    Bench(bench::Arguments),
    /// Evaluate what needs annotated data: the distiller, the shipped lessons.
    Eval(eval::Arguments),
    /// Write everything that is generated from a table: wiring, and blocks of the documents.
    Tables,
    /// Make a new hook: program, wiring, tests, a run to measure, documents.
    NewHook(generate::NewHook),
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Npm(arguments) => npm::run_with(&arguments),
        Command::Demo(arguments) => demo::run_demo(&arguments),
        Command::Cross(arguments) => cross::run(&arguments),
        Command::Plugin(arguments) => plugin::run(&arguments),
        Command::Archive => archive::pack().map(|_| ()),
        Command::Installers => archive::write_installers(),
        Command::Test => test::run_all(),
        Command::Agents => agents::run_all(),
        Command::Http => http::run_all(),
        Command::Torture(arguments) => torture::torture(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Tables => generate::write(),
        Command::NewHook(arguments) => generate::new_hook(&arguments),
    }
}
