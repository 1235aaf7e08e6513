//! `wyren lessons test`: what would fire for a call, what nearly would, and why.

use super::look::kind_style;
use super::{folder, shown};
use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, SUCCESS, WARNING};
use anstyle::Style;
use anyhow::{Result, anyhow};
use clap::Args;
use lessons_admin::catalogue::{Catalogue, Places, State};
use lessons_admin::rehearsal::{self, Finding, Outcome, Rehearsal, Written};
use serde_json::{Map, Value, json};
use std::io::Write as _;
use std::path::PathBuf;

/// How many lessons that nearly fire are shown.
const MOST_NEAR: usize = 10;

const EXAMPLES: &str = "\
Examples:
  wyren lessons test 'git push --force origin main'
  wyren lessons test '{\"tool\":\"Write\",\"file_path\":\"src/a.py\",\"content\":\"eval(x)\"}'
  wyren lessons test 'git push --force-with-lease' --verbose
  wyren lessons test 'cd api && pytest' --cwd ~/src/api --json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What the shell would run, or a call as a JSON object with its tool.
    #[arg(value_name = "COMMAND|JSON", allow_hyphen_values = true)]
    call: String,
    /// Also show the lessons that nearly match, and why they do not.
    #[arg(long, short)]
    verbose: bool,
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
    let written = Written::read(&arguments.call).map_err(|reason| {
        match serde_json::from_str::<Map<String, Value>>(&arguments.call) {
            Ok(_) => anyhow!("the call {reason}"),
            Err(error) => anyhow!("the call is not a JSON object: {error}"),
        }
    })?;
    let catalogue = Catalogue::read(&places);
    let rehearsal = rehearsal::rehearse(&places, &catalogue, &written);
    if arguments.json {
        writeln!(terminal::output(), "{:#}", as_json(&rehearsal))?;
        return Ok(());
    }
    show(&rehearsal, &catalogue, arguments.verbose)
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

fn show(rehearsal: &Rehearsal, catalogue: &Catalogue, is_verbose: bool) -> Result<()> {
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
        Outcome::Told(hints) => {
            writeln!(output, "{SUCCESS}Allowed{SUCCESS:#}; Claude would be told: {}.", names(&hints))?;
        }
        Outcome::Silent if rehearsal.applying.is_empty() => {
            writeln!(output, "{SUCCESS}Allowed{SUCCESS:#}, silent. No lesson matches.")?;
        }
        Outcome::Silent => {
            writeln!(output, "{SUCCESS}Allowed{SUCCESS:#}, silent. No active lesson matches.")?
        }
    }
    let is_disabled = |finding: &&Finding| {
        let item = catalogue.find_in(&finding.slug, Some(finding.layer), |state| state != State::Archived);
        finding.acts_as.is_none() && item.is_ok_and(|item| item.state == State::Disabled)
    };
    let (disabled, applying): (Vec<_>, Vec<_>) = rehearsal.applying.iter().partition(is_disabled);
    let (acting, passive): (Vec<_>, Vec<_>) =
        applying.into_iter().partition(|finding| finding.acts_as.is_some());
    write_findings(&mut output, "Applies", "because of", acting)?;
    write_findings(&mut output, "Matches, but is not shown", "because of", passive)?;
    write_findings(&mut output, "Matches, but disabled", "because of", disabled)?;
    if !is_verbose {
        return Ok(());
    }
    let near = &rehearsal.nearly[..rehearsal.nearly.len().min(MOST_NEAR)];
    write_findings(&mut output, "Nearly applies", "but", near.iter().collect())?;
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
    findings: Vec<&Finding>,
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
