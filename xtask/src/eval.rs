//! Evaluates what needs annotated data rather than a stopwatch.

mod distiller;
mod lessons;

use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use std::process::Command;

/// What to evaluate.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Subcommand)]
enum Subject {
    /// Distill the annotated transcripts of tests/data/distiller and compare with their annotations.
    Distiller(distiller::Arguments),
    /// Count how many facts of the sessions in tests/data/journal the journal's lines have, and how many lines there are.
    Journal,
    /// Count how many of the commands in tests/data/commands the shipped lessons answer, and how many they disturb.
    Lessons(lessons::Arguments),
}

/// Evaluates.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.subject {
        Subject::Distiller(arguments) => distiller::run(arguments),
        Subject::Journal => journal(),
        Subject::Lessons(arguments) => lessons::run(arguments),
    }
}

/// The test counts already; here it says what it counted.
fn journal() -> Result<()> {
    let test = "facts::every_fact_of_the_sessions_is_in_a_line";
    let status = Command::new(env!("CARGO"))
        .args(["test", "--quiet", "--package", "wyren-journal", "--test", "journal", test])
        .env("SHOW_FACTS", "1")
        .status()?;
    ensure!(status.success(), "the journal lacks facts, or has too many lines");
    Ok(())
}
