//! `wyren lessons doctor`: what is wrong with the lessons.

use super::{layer, shown};
use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, SUCCESS, WARNING, counted};
use anstyle::Style;
use anyhow::{Result, bail};
use base::Timestamp;
use clap::Args;
use lessons::layers::Layer;
use lessons_admin::catalogue::{Catalogue, Places};
use lessons_admin::doctor::{self, Diagnosis, Facts};
use lessons_admin::intake::Problem;
use serde_json::{Value, json};
use std::io::Write as _;
use text::sanitize;

/// How much of a problem is shown.
const PROBLEM_CHARS: usize = 240;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only this layer: shipped, personal, project, manifest.
    #[arg(long, value_parser = layer)]
    layer: Option<Layer>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, places: &Places) -> Result<()> {
    let diagnosis = doctor::examine(places, &Catalogue::read(places), arguments.layer, &facts(places));
    let mut output = terminal::output();
    if arguments.json {
        writeln!(output, "{:#}", as_json(&diagnosis))?;
    } else {
        show(&mut output, &diagnosis)?;
    }
    output.flush()?;
    if diagnosis.is_grave() {
        bail!("some lessons are broken: run `wyren lessons edit NAME` to fix one");
    }
    Ok(())
}

/// Returns what was recorded of the user's work. Looking makes no database, and a locked one keeps no one from looking.
fn facts(places: &Places) -> Facts {
    let record = || -> Result<Facts> {
        let store = journal::open_store(&places.paths)?;
        let mut select = store.connection().prepare("SELECT key, root FROM projects")?;
        let rows = select.query_map([], |row| Ok([row.get::<_, String>(0)?, row.get::<_, String>(1)?]))?;
        let projects: Vec<[String; 2]> = rows.collect::<Result<_, _>>()?;
        let failing = effect::failing::failing(&store, Timestamp::now())?;
        Ok(Facts {
            projects: Some(projects.into_iter().flatten().collect()),
            failing: failing.into_iter().map(|it| (it.name, it.failed, it.calls)).collect(),
        })
    };
    if places.paths.database().exists() { record().unwrap_or_default() } else { Facts::default() }
}

fn as_json(diagnosis: &Diagnosis) -> Value {
    let problem = |problem: &Problem| {
        let state = if problem.is_grave { "bad" } else { "warn" };
        json!({"field": problem.field, "reason": problem.reason, "state": state})
    };
    let lessons: Vec<Value> = diagnosis
        .lessons
        .iter()
        .map(|patient| {
            let issues: Vec<Value> = patient.problems.iter().map(problem).collect();
            json!({"slug": patient.slug, "layer": patient.layer.name(), "file": patient.file, "issues": issues})
        })
        .collect();
    let store: Vec<Value> = diagnosis.store.iter().map(problem).collect();
    json!({"ok": !diagnosis.is_grave(), "examined": diagnosis.examined, "lessons": lessons, "store": store})
}

fn show(output: &mut impl std::io::Write, diagnosis: &Diagnosis) -> Result<()> {
    let row = |problem: &Problem| -> Vec<Cell> {
        let (word, style) = if problem.is_grave { ("bad", FAILURE) } else { ("warn", WARNING) };
        vec![
            (format!("  {word}"), style),
            (shown(&problem.field), Style::new()),
            (sanitize::one_line(&problem.reason, PROBLEM_CHARS), Style::new()),
        ]
    };
    for patient in &diagnosis.lessons {
        writeln!(
            output,
            "{STRONG}{}{STRONG:#} {DIM}({}){DIM:#}",
            shown(&patient.slug),
            patient.layer.name()
        )?;
        terminal::write_table(output, &patient.problems.iter().map(row).collect::<Vec<_>>())?;
    }
    if !diagnosis.store.is_empty() {
        writeln!(output, "{STRONG}All lessons{STRONG:#}")?;
        terminal::write_table(output, &diagnosis.store.iter().map(row).collect::<Vec<_>>())?;
    }
    let count = diagnosis.examined;
    if diagnosis.lessons.is_empty() && diagnosis.store.is_empty() {
        writeln!(output, "{SUCCESS}No problems{SUCCESS:#} in {}.", counted(count, "lesson", "lessons"))?;
    } else {
        let sick = diagnosis.lessons.len();
        let lessons = counted(count, "lesson", "lessons");
        let need = if sick == 1 { "needs" } else { "need" };
        writeln!(output, "{DIM}{sick} of {lessons} {need} attention{DIM:#}")?;
    }
    Ok(())
}
