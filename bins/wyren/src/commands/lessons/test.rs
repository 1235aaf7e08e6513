//! `wyren lessons test`: what would fire for a call, what nearly would, and why.

use super::look::kind_style;
use super::{folder, shown};
use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, SUCCESS, WARNING};
use anstyle::Style;
use anyhow::{Result, anyhow};
use clap::Args;
use lessons_admin::catalogue::{Catalogue, Places};
use lessons_admin::rehearsal::{self, Finding, Outcome, Rehearsal, Written};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;

/// How many lessons that nearly fire are shown.
const MOST_NEAR: usize = 10;

const EXAMPLES: &str = "\
Examples:
  wyren lessons test 'git push --force origin main'
  wyren lessons test '{\"tool\":\"Write\",\"file_path\":\"src/a.py\",\"content\":\"eval(x)\"}'
  wyren lessons test 'cd api && pytest' --cwd ~/src/api --json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What the shell would run, or a call as a JSON object with its tool.
    #[arg(value_name = "COMMAND|JSON", allow_hyphen_values = true)]
    call: String,
    /// As if the session were in this folder.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: Arguments, mut places: Places) -> Result<()> {
    if let Some(cwd) = arguments.cwd {
        places.cwd = folder(cwd)?;
    }
    let written = Written::read(&arguments.call).map_err(|reason| anyhow!("the call {reason}"))?;
    let rehearsal = rehearsal::rehearse(&places, &Catalogue::read(&places), &written);
    if arguments.json {
        writeln!(terminal::output(), "{:#}", as_json(&rehearsal))?;
        return Ok(());
    }
    show(&rehearsal)
}

fn as_json(rehearsal: &Rehearsal) -> Value {
    let (outcome, by) = match rehearsal.outcome() {
        Outcome::Refused(guard) => ("refused", vec![guard]),
        Outcome::Paused(pauses) => ("paused", pauses),
        Outcome::Told(hints) => ("told", hints),
        Outcome::Silent => ("silent", Vec::new()),
    };
    let findings = |findings: &[Finding]| -> Vec<Value> {
        findings
            .iter()
            .map(|finding| {
                json!({
                    "slug": finding.slug, "kind": finding.kind.name(), "layer": finding.layer.name(),
                    "priority": finding.priority, "summary": finding.summary, "reason": finding.reason,
                    "kept_back": finding.kept_back,
                })
            })
            .collect()
    };
    json!({
        "outcome": outcome, "by": by, "applying": findings(&rehearsal.applying), "nearly": findings(&rehearsal.nearly),
    })
}

fn show(rehearsal: &Rehearsal) -> Result<()> {
    let mut output = terminal::output();
    let names = |slugs: &[String]| slugs.iter().map(|slug| shown(slug)).collect::<Vec<_>>().join(", ");
    match rehearsal.outcome() {
        Outcome::Refused(guard) => writeln!(output, "{FAILURE}Refused{FAILURE:#} by {}.", shown(&guard))?,
        Outcome::Paused(pauses) => {
            writeln!(
                output,
                "{WARNING}Refused once{WARNING:#} by {}; the same call again passes.",
                names(&pauses)
            )?;
        }
        Outcome::Told(hints) => writeln!(output, "{STRONG}Goes through{STRONG:#}, with {}.", names(&hints))?,
        Outcome::Silent => writeln!(output, "{SUCCESS}No lesson matches.{SUCCESS:#}")?,
    }
    write_findings(&mut output, "Applies", "because of", &rehearsal.applying)?;
    let near = &rehearsal.nearly[..rehearsal.nearly.len().min(MOST_NEAR)];
    write_findings(&mut output, "Nearly applies", "but", near)?;
    let more = rehearsal.nearly.len() - near.len();
    if more > 0 {
        writeln!(output, "{DIM}and {more} more{DIM:#}")?;
    }
    Ok(())
}

fn write_findings(
    output: &mut impl std::io::Write,
    heading: &str,
    why: &str,
    findings: &[Finding],
) -> Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    writeln!(output, "\n{STRONG}{heading}{STRONG:#}")?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for finding in findings {
        let mut reason = format!("{why} {}", finding.reason);
        if let Some(kept_back) = &finding.kept_back {
            reason = format!("{reason}; {kept_back}");
        }
        rows.push(vec![
            (format!("  {}", shown(&finding.slug)), STRONG),
            (finding.kind.to_string(), kind_style(finding.kind)),
            (finding.priority.to_string(), DIM),
            (finding.layer.name().to_owned(), DIM),
            (shown(&reason), Style::new()),
        ]);
    }
    terminal::write_table(output, &rows)?;
    Ok(())
}
