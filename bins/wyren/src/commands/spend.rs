//! `wyren spend`: the cost of model calls and today's remaining budget.

use crate::places;
use crate::terminal::{self, Cell, DIM, STRONG, WARNING, columns_of, counted};
use anstyle::Style;
use anyhow::Result;
use base::project::Project;
use base::{Env, Paths, Timestamp};
use clap::Args;
use config::Config;
use model::ledger::{self, Total};
use model::{Budget, Ledger, Money, Options};
use serde_json::{Value, json};
use std::io::{self, IsTerminal as _, Write};
use text::sanitize;

/// Columns when the terminal's width is unknown.
const DEFAULT_WIDTH: usize = 80;

/// In columns; keeps bars and amounts close on a wide terminal.
const MAX_BAR: usize = 60;

/// In characters.
const MAX_NAME: usize = 40;

const EXAMPLES: &str = "\
Examples:
  wyren spend                                     the last two weeks
  wyren spend --days 1                            today
  wyren spend --json                              print JSON
  wyren config set model.daily_budget_usd 0.20    spend less
  wyren config set model.daily_budget_usd 0       never call a model";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// How many days to show, including today. Days begin at midnight UTC, as budgets do.
    #[arg(long, default_value_t = 14, value_parser = clap::value_parser!(u64).range(1..=366))]
    days: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let project = Project::of(&std::env::current_dir()?);
    let options = Options::of(&Config::load(env, paths));
    let report = Report::of(paths, arguments.days, &project, &options, Timestamp::now())?;
    let mut output = terminal::output();
    if arguments.json {
        writeln!(output, "{:#}", report.to_json())?;
    } else {
        report.write(&mut output, Look::of_standard_output())?;
    }
    Ok(())
}

struct Report {
    totals: Vec<Total>,
    /// What was spent on each day of the report, oldest first.
    days: Vec<(String, Money)>,
    is_off: bool,
    budget: Budget,
    spent: Money,
    project: String,
    project_name: String,
    project_spent: Money,
}

impl Report {
    fn of(paths: &Paths, days: u64, project: &Project, options: &Options, now: Timestamp) -> Result<Self> {
        let mut report = Self {
            totals: Vec::new(),
            days: Vec::new(),
            is_off: options.provider == "off",
            budget: options.budget,
            spent: Money::ZERO,
            project: project.key.clone(),
            project_name: project.name.clone(),
            project_spent: Money::ZERO,
        };
        // Reporting must not create a database.
        if paths.database().exists() {
            places::check(paths)?;
            let ledger = Ledger::open(&paths.database())?;
            report.totals = ledger.totals(now, days)?;
            report.spent = ledger.spent(now, None)?;
            report.project_spent = ledger.spent(now, Some(&project.key))?;
        }
        let spent_on = |day: &String| {
            report.totals.iter().filter(|total| total.day == *day).map(|total| total.spent).sum()
        };
        let dates = (0..days).rev().map(|ago| ledger::day_of(ledger::days_before(now, ago)));
        report.days = dates.map(|day| (day.clone(), spent_on(&day))).collect();
        Ok(report)
    }

    fn to_json(&self) -> Value {
        let rows = self.totals.iter().map(|total| {
            json!({
                "day": total.day,
                "job": total.job,
                "project": total.project,
                "calls": total.calls,
                "failed": total.failed,
                "unsettled": total.unsettled,
                "tokens_in": total.usage.input,
                "tokens_out": total.usage.output,
                "tokens_cache_read": total.usage.cache_read,
                "tokens_cache_write": total.usage.cache_write,
                "spent_usd": total.spent.dollars(),
                "reserved_usd": total.reserved.dollars(),
            })
        });
        let days = self.days.iter().map(|(day, spent)| json!({"day": day, "spent_usd": spent.dollars()}));
        let left = |budget: Money, spent: Money| {
            json!({
                "budget_usd": budget.dollars(),
                "spent_usd": spent.dollars(),
                "left_usd": budget.less(spent).dollars(),
            })
        };
        let mut project = left(self.budget.project, self.project_spent);
        project["key"] = json!(self.project);
        json!({
            "rows": rows.collect::<Vec<_>>(),
            "days": days.collect::<Vec<_>>(),
            "today": left(self.budget.daily, self.spent),
            "project_today": project,
            "off": self.never_asks(),
        })
    }

    fn never_asks(&self) -> bool {
        self.is_off || self.budget.daily == Money::ZERO || self.budget.project == Money::ZERO
    }

    fn write(&self, output: &mut impl Write, look: Look) -> io::Result<()> {
        if self.totals.is_empty() {
            writeln!(output, "No model calls in the last {}.", counted(self.days.len(), "day", "days"))?;
        } else {
            self.write_table(output)?;
            writeln!(output)?;
            write_chart(output, &self.days, look)?;
            writeln!(output)?;
        }
        self.write_left(output)
    }

    fn write_table(&self, output: &mut impl Write) -> io::Result<()> {
        let titles = ["day (UTC)", "job", "project", "calls", "tokens in", "out", "cached", "spent"];
        let mut rows = vec![titles.map(str::to_owned)];
        rows.extend(self.totals.iter().map(|total| {
            let cached = total.usage.cache_read + total.usage.cache_write;
            [
                total.day.clone(),
                sanitize::one_line(&total.job, MAX_NAME),
                short_project(&total.project),
                total.calls.to_string(),
                grouped(total.usage.input),
                grouped(total.usage.output),
                grouped(cached),
                total.spent.to_string(),
            ]
        }));
        terminal::write_table(output, &aligned(rows))?;
        let unsettled: u64 = self.totals.iter().map(|total| total.unsettled).sum();
        if unsettled > 0 {
            let reserved: Money = self.totals.iter().map(|total| total.reserved).sum();
            let calls = counted(unsettled, "call", "calls");
            writeln!(
                output,
                "{WARNING}{calls} without a final cost{WARNING:#}: still running, or the caller was killed. \
                 The reserved {reserved} counts as spent."
            )?;
        }
        Ok(())
    }

    fn write_left(&self, output: &mut impl Write) -> io::Result<()> {
        if self.never_asks() {
            return writeln!(output, "Model calls are off (model.provider is off, or the budget is 0).");
        }
        let mut line = |what: &str, budget: Money, spent: Money| {
            let left = budget.less(spent);
            writeln!(output, "Left today (UTC){what}: {STRONG}{left}{STRONG:#} of {budget}")
        };
        line("", self.budget.daily, self.spent)?;
        let name = sanitize::one_line(&self.project_name, MAX_NAME);
        line(&format!(" for this project ({name})"), self.budget.project, self.project_spent)
    }
}

#[derive(Clone, Copy)]
struct Look {
    /// In columns.
    width: usize,
    /// Whether the output can show block characters.
    blocks: bool,
}

impl Look {
    fn of_standard_output() -> Self {
        let size = terminal_size::terminal_size();
        let width = size.map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        Self { width, blocks: io::stdout().is_terminal() }
    }
}

/// Draws one bar per day, relative to the most expensive one.
fn write_chart(output: &mut impl Write, days: &[(String, Money)], look: Look) -> io::Result<()> {
    let most = days.iter().map(|(_, spent)| spent.micros()).max().unwrap_or(0);
    let amounts: Vec<String> = days.iter().map(|(_, spent)| spent.to_string()).collect();
    let longest = amounts.iter().map(String::len).max().unwrap_or(0);
    let room = look.width.saturating_sub("2026-11-16".len() + longest + 2).clamp(1, MAX_BAR);
    for ((day, spent), amount) in days.iter().zip(amounts) {
        let bar = if look.blocks {
            block_bar(spent.micros(), most, room)
        } else {
            plain_bar(spent.micros(), most, room)
        };
        let space = if bar.is_empty() { "" } else { " " };
        writeln!(output, "{DIM}{day}{DIM:#} {bar}{space}{DIM}{amount}{DIM:#}")?;
    }
    Ok(())
}

/// Returns a bar in steps of an eighth of a column; anything above zero is visible.
fn block_bar(value: u64, most: u64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = scaled(value, most, room * 8);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

fn plain_bar(value: u64, most: u64, room: usize) -> String {
    "#".repeat(scaled(value, most, room))
}

fn scaled(value: u64, most: u64, room: usize) -> usize {
    let length = (u128::from(value) * room as u128).checked_div(u128::from(most)).unwrap_or(0);
    usize::try_from(length).unwrap_or(room).max(usize::from(value > 0))
}

/// Returns rows as cells: a dim header, numbers aligned right.
fn aligned<const COLUMNS: usize>(rows: Vec<[String; COLUMNS]>) -> Vec<Vec<Cell>> {
    const FIRST_NUMBER: usize = 3;
    let width_of = |column: usize| rows.iter().map(|row| columns_of(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..COLUMNS).map(width_of).collect();
    let cells = |(index, row): (usize, [String; COLUMNS])| {
        let style = if index == 0 { DIM } else { Style::new() };
        row.into_iter()
            .enumerate()
            .map(|(column, text)| match column {
                FIRST_NUMBER.. => (format!("{text:>width$}", width = widths[column]), style),
                _ => (text, style),
            })
            .collect()
    };
    rows.into_iter().enumerate().map(cells).collect()
}

/// Returns a short name for a project: the end of its key.
fn short_project(key: &str) -> String {
    let name = key.split_once(':').map_or(key, |(_, name)| name);
    let parts: Vec<&str> = name.rsplit('/').take(2).collect();
    let short = parts.into_iter().rev().collect::<Vec<_>>().join("/");
    if short.is_empty() { "–".to_owned() } else { sanitize::one_line(&short, MAX_NAME) }
}

/// Formats a number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let begin = digits.len() % 3;
    let mut groups = vec![&digits[..begin]];
    groups.extend((begin..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    groups.retain(|group| !group.is_empty());
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(micros: &[u64]) -> Vec<(String, Money)> {
        let day = |(index, micros): (usize, &u64)| {
            (format!("2026-11-{:02}", index + 1), Money::from_micros(*micros))
        };
        micros.iter().enumerate().map(day).collect()
    }

    fn chart(micros: &[u64], look: Look) -> String {
        let mut output = anstream::StripStream::new(Vec::new());
        write_chart(&mut output, &days(micros), look).unwrap();
        String::from_utf8(output.into_inner()).unwrap()
    }

    #[test]
    fn bars_are_in_proportion_and_what_is_spent_is_seen() {
        let drawn = chart(&[0, 1, 500_000, 1_000_000], Look { width: 31, blocks: true });
        let expected = "2026-11-01 $0.00\n\
                        2026-11-02 ▏ $0.000001\n\
                        2026-11-03 █████ $0.50\n\
                        2026-11-04 ██████████ $1.00\n";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn a_line_fits_the_width_and_needs_no_blocks() {
        let drawn = chart(&[300_000, 1_000_000, 123_456], Look { width: 40, blocks: false });
        assert!(drawn.lines().all(|line| line.chars().count() <= 40), "{drawn}");
        assert!(drawn.is_ascii() && drawn.contains("####"), "{drawn}");
        let wide = chart(&[1_000_000], Look { width: 500, blocks: true });
        assert_eq!(wide.matches('█').count(), MAX_BAR);
        assert!(!chart(&[1_000_000], Look { width: 5, blocks: true }).is_empty());
    }

    #[test]
    fn nothing_spent_draws_no_bar() {
        assert_eq!(chart(&[0], Look { width: 80, blocks: true }), "2026-11-01 $0.00\n");
    }

    #[test]
    fn numbers_and_projects_are_easy_to_read() {
        for (number, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(grouped(number), shown);
        }
        assert_eq!(short_project("git:github.com/ada/engine"), "ada/engine");
        assert_eq!(short_project("path:/home/ada/notes"), "ada/notes");
        assert_eq!(short_project(""), "–");
    }
}
