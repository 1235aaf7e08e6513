//! Evaluates what needs annotated data rather than a stopwatch.

mod distiller;
mod lessons;

use anyhow::Result;
use clap::{Args, Subcommand};

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
    /// Count how many of the commands in tests/data/commands the shipped lessons answer, and how many they disturb.
    Lessons(lessons::Arguments),
}

/// Evaluates.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.subject {
        Subject::Distiller(arguments) => distiller::run(arguments),
        Subject::Lessons(arguments) => lessons::run(arguments),
    }
}
