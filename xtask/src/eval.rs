//! Evaluates what needs annotated data rather than a stopwatch.

mod distiller;
mod learning;
mod lessons;
mod retrieval;

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
    /// Count how many of the mistakes in tests/data/learning become candidates, and how many candidates are wrong.
    Learning(learning::Arguments),
    /// Count how many of the commands in tests/data/commands the shipped lessons answer, and how many they disturb.
    Lessons(lessons::Arguments),
    /// Index a collection of documents with queries and judgements, and measure what search finds.
    Retrieval(retrieval::Arguments),
}

/// Evaluates.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.subject {
        Subject::Distiller(arguments) => distiller::run(arguments),
        Subject::Journal => journal(),
        Subject::Learning(arguments) => learning::run(arguments),
        Subject::Lessons(arguments) => lessons::run(arguments),
        Subject::Retrieval(arguments) => retrieval::run(arguments),
    }
}

/// The tests count already; here they say what they counted.
fn journal() -> Result<()> {
    let test = "facts::every_fact_of_the";
    let status = Command::new(env!("CARGO"))
        .args(["test", "--quiet", "--package", "wyren-journal", "--test", "journal", test])
        .env("SHOW_FACTS", "1")
        .status()?;
    ensure!(status.success(), "the journal lacks facts, or has too many lines");
    Ok(())
}
