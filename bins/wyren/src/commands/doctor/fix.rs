//! `wyren doctor --fix`: makes the repairs that checks come with, one by one, and looks again after each.

use super::{CHECKS, Check, Health, Subject};
use crate::person;
use crate::terminal::{DIM, FAILURE, SUCCESS, WARNING};
use anyhow::Result;
use serde_json::{Value, json};
use std::io::Write;

/// How many problems of one check are solved: a repair that solves nothing must not go on for ever.
const MOST_REPAIRS: usize = 8;

/// A repair, and how it went.
pub(super) struct Fixed {
    name: &'static str,
    before: String,
    what: String,
    outcome: Outcome,
}

enum Outcome {
    /// It was made; what the check says since.
    Done {
        health: Health,
        after: String,
    },
    Failed(String),
    /// It would be made.
    Due,
    /// Only a person may have it made, and a model asked.
    OfAPerson,
}

impl Fixed {
    pub(super) fn to_json(&self) -> Value {
        let (outcome, state, after) = match &self.outcome {
            Outcome::Done { health, after } => ("done", Some(health.name()), Some(after)),
            Outcome::Failed(problem) => ("failed", None, Some(problem)),
            Outcome::Due => ("due", None, None),
            Outcome::OfAPerson => ("needs a person", None, None),
        };
        json!({
            "name": self.name, "before": self.before, "did": self.what, "outcome": outcome, "state": state, "after": after,
        })
    }
}

/// Runs every check, and makes the repairs unless `is_dry`; returns what the checks say afterwards.
pub(super) fn all(subject: &Subject<'_>, is_dry: bool) -> (Vec<Check>, Vec<Fixed>) {
    let (mut checks, mut fixed) = (Vec::new(), Vec::new());
    for examine in CHECKS {
        let mut check = examine(subject);
        for _ in 0..MOST_REPAIRS {
            let Some(repair) = check.repair.take() else { break };
            let (name, before, what) = (check.name, check.message.clone(), repair.what);
            let is_refused = repair.is_of_a_person && !person::is_here(subject.env);
            if is_dry || is_refused {
                let outcome = if is_refused { Outcome::OfAPerson } else { Outcome::Due };
                fixed.push(Fixed { name, before, what, outcome });
                break;
            }
            let made = (repair.act)();
            check = examine(subject);
            let is_failed = made.is_err();
            let outcome = match made {
                Ok(()) => Outcome::Done { health: check.health, after: check.message.clone() },
                Err(error) => Outcome::Failed(format!("{error:#}")),
            };
            fixed.push(Fixed { name, before, what, outcome });
            if is_failed {
                break;
            }
        }
        checks.push(check);
    }
    (checks, fixed)
}

/// Shows each repair: what was wrong, what was done, and what the check says since.
pub(super) fn show(output: &mut impl Write, fixed: &[Fixed]) -> Result<()> {
    if fixed.is_empty() {
        writeln!(output, "No problem that --fix can solve.")?;
    }
    for Fixed { name, before, what, outcome } in fixed {
        match outcome {
            Outcome::Done { health: Health::Good, .. } => {
                writeln!(output, "{SUCCESS}Fixed{SUCCESS:#} {name}: {what}")?
            }
            Outcome::Done { .. } => writeln!(output, "{WARNING}Done{WARNING:#} {name}: {what}")?,
            Outcome::Failed(problem) => {
                writeln!(output, "{FAILURE}Not fixed{FAILURE:#} {name}: could not {what}: {problem}")?
            }
            Outcome::Due => writeln!(output, "Would fix {name}: {what}")?,
            Outcome::OfAPerson => writeln!(
                output,
                "{WARNING}Left{WARNING:#} {name}: only a person may {what}; run `wyren doctor --fix` in a terminal of your own"
            )?,
        }
        writeln!(output, "  {DIM}before: {before}{DIM:#}")?;
        if let Outcome::Done { after, .. } = outcome {
            writeln!(output, "  {DIM}after:  {after}{DIM:#}")?;
        }
    }
    Ok(writeln!(output)?)
}
