//! `wyren spend`: the cost of model calls and today's remaining budget.

use crate::places;
use crate::projects;
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
            write_chart(output, &self.days, self.budget.daily, look)?;
            writeln!(output)?;
        }
        self.write_left(output)
    }

    fn write_table(&self, output: &mut impl Write) -> io::Result<()> {
        let titles =
            ["day (UTC)", "job", "project", "calls", "failed", "tokens in", "out", "cached", "spent"];
        let mut rows = vec![titles.map(str::to_owned)];
        rows.extend(self.totals.iter().map(|total| {
            let cached = total.usage.cache_read + total.usage.cache_write;
            [
                total.day.clone(),
                sanitize::one_line(&total.job, MAX_NAME),
                projects::name(&total.project),
                total.calls.to_string(),
                total.failed.to_string(),
                grouped(total.usage.input),
                grouped(total.usage.output),
                grouped(cached),
                cents(total.spent),
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
                 The reserved {} counts as spent.",
                cents(reserved)
            )?;
        }
        Ok(())
    }

    fn write_left(&self, output: &mut impl Write) -> io::Result<()> {
        if self.never_asks() {
            return writeln!(output, "Model calls are off (model.provider is off, or the budget is 0).");
        }
        let mut line = |what: &str, budget: Money, spent: Money| {
            let (left, budget) = (cents(budget.less(spent)), cents(budget));
            writeln!(output, "Left today (UTC){what}: {STRONG}{left}{STRONG:#} of {budget}")
        };
        line("", self.budget.daily, self.spent)?;
        let name = projects::name(&self.project);
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
        Self { width: terminal::width().unwrap_or(DEFAULT_WIDTH), blocks: io::stdout().is_terminal() }
    }
}

/// Draws one bar per day against the day's budget; a day that went over it is as long as the budget, and marked.
fn write_chart(
    output: &mut impl Write,
    days: &[(String, Money)],
    budget: Money,
    look: Look,
) -> io::Result<()> {
    // Without a budget the dearest day is the measure.
    let dearest = days.iter().map(|(_, spent)| spent.micros()).max().unwrap_or(0);
    let full = if budget == Money::ZERO { dearest } else { budget.micros() };
    let amounts: Vec<String> = days.iter().map(|(_, spent)| cents(*spent)).collect();
    let longest = amounts.iter().map(String::len).max().unwrap_or(0);
    let room = look.width.saturating_sub("2026-11-16 | +".len() + longest + 2).clamp(1, MAX_BAR);
    for ((day, spent), amount) in days.iter().zip(amounts) {
        let within = spent.micros().min(full);
        let (bar, empty) = if look.blocks {
            (block_bar(within, full, room), "·")
        } else {
            (plain_bar(within, full, room), ".")
        };
        let rest = empty.repeat(room.saturating_sub(columns_of(&bar)));
        let over = if spent.micros() > full { "+" } else { "" };
        writeln!(output, "{DIM}{day}{DIM:#} {bar}{DIM}{rest}{DIM:#}{over} {amount}")?;
    }
    if budget == Money::ZERO {
        return Ok(());
    }
    writeln!(output, "{DIM}A full bar is the daily budget of {}.{DIM:#}", cents(budget))
}

/// Returns an amount in whole cents; one that is smaller than a cent is not nothing.
pub(super) fn cents(money: Money) -> String {
    const MICROS_PER_CENT: u64 = 10_000;
    let micros = money.micros();
    if (1..MICROS_PER_CENT).contains(&micros) {
        return "<$0.01".to_owned();
    }
    let cents = micros.saturating_add(MICROS_PER_CENT / 2) / MICROS_PER_CENT;
    format!("${}.{:02}", cents / 100, cents % 100)
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
        write_chart(&mut output, &days(micros), Money::from_micros(1_000_000), look).unwrap();
        String::from_utf8(output.into_inner()).unwrap()
    }

    #[test]
    fn c20_bars_are_drawn_against_the_budget_and_what_is_spent_is_seen() {
        let drawn = chart(&[0, 1, 12_992, 500_000, 1_000_000, 1_500_000], Look { width: 32, blocks: true });
        let expected = "2026-11-01 ·········· $0.00\n\
                        2026-11-02 ▏········· <$0.01\n\
                        2026-11-03 ▏········· $0.01\n\
                        2026-11-04 █████····· $0.50\n\
                        2026-11-05 ██████████ $1.00\n\
                        2026-11-06 ██████████+ $1.50\n\
                        A full bar is the daily budget of $1.00.\n";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn a_line_fits_the_width_and_needs_no_blocks() {
        let drawn = chart(&[300_000, 1_000_000, 123_456, 9_000_000], Look { width: 40, blocks: false });
        assert!(drawn.lines().all(|line| line.chars().count() <= 40), "{drawn}");
        assert!(drawn.is_ascii() && drawn.contains("####"), "{drawn}");
        let wide = chart(&[1_000_000], Look { width: 500, blocks: true });
        assert_eq!(wide.matches('█').count(), MAX_BAR);
        assert!(!chart(&[1_000_000], Look { width: 5, blocks: true }).is_empty());
    }

    #[test]
    fn c20_amounts_are_in_cents() {
        let shown = [0, 1, 9_999, 10_000, 12_992, 24_600, 475_400, 12_345_678]
            .map(|micros| cents(Money::from_micros(micros)));
        assert_eq!(shown, ["$0.00", "<$0.01", "<$0.01", "$0.01", "$0.01", "$0.02", "$0.48", "$12.35"]);
    }

    #[test]
    fn numbers_are_easy_to_read() {
        for (number, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(grouped(number), shown);
        }
    }
}
